// Counts the requests for long periods of usage: the API answers 31 days at most. Nothing is timed, since the emulator has a quarter of a
// year to tell of, and empty days cost little.
import { tmpdir } from 'node:os'
import { systemClock } from '../src/platform/core/clock.ts'
import { addDays, dayOf } from '../src/platform/core/dates.ts'
import { type Line, say, trusted } from '../src/platform/core/line.ts'
import type { Benchmark } from './benchmark.ts'
import { perform } from './in-process.ts'
import { withServer } from './server.ts'

const maxDays = 31

export const windows: Benchmark = () =>
  withServer(async ({ url, takeRequestCount }) => {
    const rows: Line[][] = []
    for (const count of [1, 2, 12]) {
      const toDate = dayOf(Date.now())
      const fromDate = addDays(toDate, 1 - count * maxDays)
      await perform('usage-cost', { period: `${fromDate}..${toDate}` }, { url, directory: tmpdir(), clock: systemClock })
      rows.push([say`${count * maxDays}`, [trusted(String(await takeRequestCount()))]])
    }
    return [
      {
        kind: 'table',
        title: 'Usage over long periods',
        columns: ['Days', 'Requests'].map((title) => ({ title, align: 'right' as const })),
        rows,
      },
    ]
  })
