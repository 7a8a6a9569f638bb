// Measures a thousand creates under the service's documented limit, on a clock that does not wait, against the least that the limit
// allows: a window more would be ten seconds that nobody had to wait.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { say, trusted } from '../src/core/line.ts'
import { startEmulator } from '../src/emulator/index.ts'
import { createVirtualClock } from '../test/support/clocks.ts'
import type { Benchmark } from './benchmark.ts'
import { perform, writeDeclarations } from './in-process.ts'

const rateLimit = { limit: 10, windowMs: 10_000 }

export const pacing: Benchmark = async ({ isShort }) => {
  const size = isShort ? 200 : 1000
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'))
  // The limits of single requests count real time, of which nothing passes here.
  const clock = { ...createVirtualClock(Date.now()), timeout: () => new AbortController().signal }
  const emulator = await startEmulator({ dialect: 'clickhouse-cloud', rateLimit, now: clock.now })
  try {
    writeDeclarations(directory, size)
    const { document } = await perform(
      'apply',
      { project: 'bench/watchkeeper', files: 'observability/*.yml' },
      { url: emulator.url, directory, clock },
    )
    if (document.status !== 'pass') throw new Error(`apply ended as ${document.status}: ${document.failureReason}`)
    const requests = emulator.requests.length
    const refused = emulator.requests.filter(({ status }) => status === 429).length
    const leastSeconds = (Math.ceil(requests / rateLimit.limit) - 1) * (rateLimit.windowMs / 1000)
    const seconds = clock.elapsedMs() / 1000
    return [
      {
        kind: 'table',
        title: 'Creates under a limit of 10 requests in 10 seconds',
        columns: ['Creates', 'Requests', 'Refused', 'Least possible', 'Taken', 'Taken / least'].map((title) => ({
          title,
          align: 'right' as const,
        })),
        rows: [
          [
            [trusted(size.toLocaleString('en'))],
            [trusted(requests.toLocaleString('en'))],
            say`${refused}`,
            [trusted(`${leastSeconds} s`)],
            [trusted(`${seconds.toFixed(1)} s`)],
            [trusted((seconds / leastSeconds).toFixed(4))],
          ],
        ],
      },
    ]
  } finally {
    await emulator.close()
    rmSync(directory, { recursive: true })
  }
}
