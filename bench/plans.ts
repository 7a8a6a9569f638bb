// Measures a plan that finds nothing to do, from files to report, at sizes far apart: requests, time, memory, and how they grow.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/platform/core/clock.ts'
import { say, trusted } from '../src/platform/core/line.ts'
import type { Block } from '../src/platform/report/blocks.ts'
import { type Benchmark, growthExponent, median } from './benchmark.ts'
import { perform, writeDeclarations } from './in-process.ts'
import { withServer } from './server.ts'

export const planInputs = { project: 'watchkeeper/bench', files: 'observability/*.yml' }

/** What a process that plans tells. */
export interface Planned {
  readonly times: readonly number[]
  /** The most memory of the process. */
  readonly peakBytes: number
}

interface Measured {
  readonly size: number
  readonly requests: number
  readonly ms: number
  readonly peakBytes: number
}

export const plans: Benchmark = async ({ isShort }) => {
  const measured: Measured[] = []
  for (const size of [10, 100, 1000, ...(isShort ? [] : [10_000])]) measured.push(await measure(size, isShort ? 3 : 7))
  const table: Block = {
    kind: 'table',
    title: 'A plan without a change',
    columns: ['Objects', 'Requests', 'Median', 'For each object', 'Most memory'].map((title) => ({ title, align: 'right' as const })),
    rows: measured.map(({ size, requests, ms, peakBytes }) => [
      [trusted(size.toLocaleString('en'))],
      [trusted(String(requests))],
      [trusted(`${Math.round(ms)} ms`)],
      [trusted(`${(ms / size).toFixed(2)} ms`)],
      [trusted(`${Math.round(peakBytes / 1e6)} MB`)],
    ]),
  }
  // Below a hundred objects the time is that of five requests; two points make no curve.
  const large = measured.filter(({ size }) => size >= 100)
  if (large.length < 3) return [table]
  const exponent = growthExponent(large.map(({ size, ms }) => ({ size, cost: ms }))).toFixed(2)
  const line = say`From 100 objects on, time grows with their number to the power of ${trusted(exponent)}; 1 is linear.`
  return [table, { kind: 'paragraph', line }]
}

const measure = (size: number, rounds: number): Promise<Measured> =>
  withServer(
    async ({ url, takeRequestCount }) => {
      const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'))
      try {
        writeDeclarations(directory, size)
        await perform('apply', planInputs, { url, directory, clock: systemClock })
        await takeRequestCount()
        const { times, peakBytes } = await planIn(url, directory, size, rounds)
        return { size, requests: (await takeRequestCount()) / (rounds + 1), ms: median(times), peakBytes }
      } finally {
        rmSync(directory, { recursive: true })
      }
    },
    // Longer than a list of the service itself: above 1,000 objects of a kind, the tool would not create.
    { pageLimit: 100_000 },
  )

async function planIn(url: string, directory: string, size: number, rounds: number): Promise<Planned> {
  const child = fork(new URL('./plan-process.ts', import.meta.url), [url, directory, String(size), String(rounds)])
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the planning process ended without a result')))
  // It ends by itself after it has reported.
  ended.catch(() => undefined)
  const [planned] = (await Promise.race([once(child, 'message'), ended])) as [Planned] // What plan-process.ts sends.
  return planned
}
