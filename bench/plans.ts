// Measures a plan that finds nothing to do, from files to report, at sizes far apart: requests, time, memory, and how they grow.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../src/kernel/clock.ts'
import { ours, say } from '../src/report/line.ts'
import { type Benchmark, growthExponent, median } from './benchmark.ts'
import { perform, writeDeclarations } from './in-process.ts'
import { withServer } from './server.ts'

const inputs = { project: 'bench/watchkeeper', files: 'observability/*.yml' }

interface Measured {
  readonly size: number
  readonly requests: number
  readonly ms: number
  readonly heapBytes: number
}

export const plans: Benchmark = async ({ isShort }) => {
  const measured: Measured[] = []
  // The first one is for the compiler, and is not counted.
  for (const size of [100, 10, 100, 1000, ...(isShort ? [] : [10_000])]) measured.push(await measure(size, isShort ? 3 : 5))
  measured.shift()
  // Below a hundred objects the time is that of five requests.
  const exponent = growthExponent(measured.filter(({ size }) => size >= 100).map(({ size, ms }) => ({ size, cost: ms })))
  return [
    {
      kind: 'table',
      title: 'A plan without a change',
      columns: [
        { title: 'Objects', align: 'right' },
        { title: 'Requests', align: 'right' },
        { title: 'Median', align: 'right' },
        { title: 'For each object', align: 'right' },
        { title: 'Memory taken', align: 'right' },
      ],
      rows: measured.map(({ size, requests, ms, heapBytes }) => [
        [ours(size.toLocaleString('en'))],
        [ours(String(requests))],
        [ours(`${Math.round(ms)} ms`)],
        [ours(`${(ms / size).toFixed(2)} ms`)],
        [ours(`${Math.max(0, Math.round(heapBytes / 1e6))} MB`)],
      ]),
    },
    { kind: 'paragraph', line: say`Time grows with the number of objects to the power of ${ours(exponent.toFixed(2))}; 1 is linear.` },
  ]
}

const measure = (size: number, rounds: number): Promise<Measured> =>
  withServer(
    async ({ url, takeRequestCount }) => {
      const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'))
      try {
        writeDeclarations(directory, size)
        const place = { url, directory, clock: systemClock }
        await perform('apply', inputs, place)
        await takeRequestCount()
        const heapBefore = heapUsed()
        const times: number[] = []
        let heapBytes = 0
        for (let i = 0; i < rounds; i++) {
          const startedMs = performance.now()
          const { document } = await perform('plan', inputs, place)
          times.push(performance.now() - startedMs)
          heapBytes = Math.max(heapBytes, process.memoryUsage().heapUsed - heapBefore)
          if (document.unchanged !== size) throw new Error(`the plan of ${size} objects found ${document.unchanged} as declared`)
          heapUsed()
        }
        return { size, requests: (await takeRequestCount()) / rounds, ms: median(times), heapBytes }
      } finally {
        rmSync(directory, { recursive: true })
      }
    },
    // Longer than a list of the service itself: above 1,000 objects of a kind, the tool would not create.
    { pageLimit: 100_000 },
  )

function heapUsed(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
