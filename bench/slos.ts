// Measures SLOs against an emulator in a process of its own: how many requests they take, and how long. Each check is for ten.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { demo } from '../src/emulator/index.ts'
import { systemClock } from '../src/platform/core/clock.ts'
import { say, trusted } from '../src/platform/core/line.ts'
import { type Benchmark, median } from './benchmark.ts'
import { type Place, perform } from './in-process.ts'
import { planInputs } from './plans.ts'
import { withServer } from './server.ts'

const channel = { channel: { type: 'webhook', webhook: 'oncall' } }

const declareSlos = (count: number) => ({
  slos: Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `slo-${i}`,
      {
        name: `SLO ${i}`,
        source: 'Traces',
        total: "ServiceName = 'payment'",
        good: "StatusCode != 'Error'",
        objective: 99,
        window: '30d',
        alerts: { page: channel, ticket: channel },
      },
    ]),
  ),
})

export const slos: Benchmark = ({ isShort }) =>
  withServer(
    async ({ url, takeRequestCount }) => {
      const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'))
      const place: Place = { url, directory, clock: systemClock, settings: { profile: 'hyperdx', apiKey: demo.apiKeySecret } }
      const measure = async (operation: string, inputs: Readonly<Record<string, string>>) => {
        const times: number[] = []
        let requests = 0
        for (let round = 0; round < (isShort ? 2 : 7); round++) {
          await takeRequestCount()
          const startMs = performance.now()
          await perform(operation, inputs, place)
          times.push(performance.now() - startMs)
          requests = await takeRequestCount()
        }
        return { requests, ms: median(times) }
      }
      try {
        mkdirSync(join(directory, 'observability'))
        writeFileSync(join(directory, 'observability/slos.yml'), JSON.stringify(declareSlos(10)))
        await perform('apply', planInputs, place)
        const plan = await measure('plan', planInputs)
        const check = await measure('check-slos', { files: planInputs.files })
        return [
          {
            kind: 'table',
            title: 'Ten SLOs',
            columns: ['What', 'Requests', 'Median'].map((title, i) => ({ title, align: i === 0 ? ('left' as const) : ('right' as const) })),
            rows: (
              [
                ['A plan without a change: 10 dashboards and 30 alerts', plan],
                ['check-slos: 30 days', check],
              ] as const
            ).map(([what, { requests, ms }]) => [
              say`${trusted(what)}`,
              [trusted(String(requests))],
              [trusted(`${(ms / 1000).toFixed(2)} s`)],
            ]),
          },
        ]
      } finally {
        rmSync(directory, { recursive: true })
      }
    },
    { dialect: 'hyperdx' },
  )
