// Counts the requests for a year of usage: the API answers 31 days at most.
import { tmpdir } from 'node:os'
import { systemClock } from '../src/kernel/clock.ts'
import { addDays, dayOf } from '../src/kernel/days.ts'
import { type Line, ours, say } from '../src/report/line.ts'
import { type Benchmark, median } from './benchmark.ts'
import { perform } from './in-process.ts'
import { withServer } from './server.ts'

const longestDays = 31

export const windows: Benchmark = ({ isShort }) =>
  withServer(async ({ url, takeRequestCount }) => {
    const rows: Line[][] = []
    for (const count of [1, 12]) {
      const toDate = dayOf(Date.now())
      const fromDate = addDays(toDate, 1 - count * longestDays)
      const times: number[] = []
      await takeRequestCount()
      const rounds = isShort ? 3 : 10
      for (let i = 0; i < rounds; i++) {
        const startedMs = performance.now()
        await perform('usage-cost', { fromDate, toDate }, { url, directory: tmpdir(), clock: systemClock })
        times.push(performance.now() - startedMs)
      }
      const requests = (await takeRequestCount()) / rounds
      rows.push([say`${count * longestDays}`, say`${requests}`, [ours(`${Math.round(median(times))} ms`)]])
    }
    return [
      {
        kind: 'table',
        title: 'Usage over long periods',
        columns: ['Days', 'Requests', 'Median'].map((title) => ({ title, align: 'right' as const })),
        rows,
      },
    ]
  })
