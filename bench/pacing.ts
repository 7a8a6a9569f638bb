// Measures creates under the service's documented limit, on a clock that does not wait, against the least that the limit allows: a window
// more would be ten seconds that are not necessary.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmulator } from '../src/emulator/index.ts'
import { type Line, say, trusted } from '../src/platform/core/line.ts'
import { createVirtualClock, watchRequests } from '../test/support/clocks.ts'
import type { Benchmark } from './benchmark.ts'
import { perform, writeDeclarations } from './in-process.ts'

const rateLimit = { limit: 10, windowMs: 10_000 }

export const pacing: Benchmark = async ({ isShort }) => {
  const rows: (readonly Line[])[] = []
  for (const size of isShort ? [100] : [100, 1000]) rows.push(await measure(size))
  return [
    {
      kind: 'table',
      title: 'Creates under a limit of 10 requests in 10 seconds',
      columns: ['Creates', 'Requests', 'Refused', 'Least possible', 'Taken', 'Taken / least'].map((title) => ({
        title,
        align: 'right' as const,
      })),
      rows,
    },
  ]
}

async function measure(size: number): Promise<readonly Line[]> {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'))
  const requests = watchRequests()
  // Answers take no time. The limits of single requests count real time, of which nothing passes here.
  const clock = { ...createVirtualClock(Date.now(), () => requests.pause()), timeout: () => new AbortController().signal }
  const emulator = await startEmulator({ dialect: 'clickhouse-cloud', rateLimit, now: clock.now })
  try {
    writeDeclarations(directory, size)
    const { document } = await perform(
      'apply',
      { project: 'watchkeeper/bench', files: 'observability/*.yml' },
      { url: emulator.url, directory, clock },
    )
    if (document.status !== 'pass') throw new Error(`apply ended as ${document.status}: ${document.failureReason}`)
    const count = emulator.requests.length
    const refused = emulator.requests.filter(({ status }) => status === 429).length
    const leastSeconds = (Math.ceil(count / rateLimit.limit) - 1) * (rateLimit.windowMs / 1000)
    const seconds = clock.elapsedMs() / 1000
    return [
      [trusted(size.toLocaleString('en'))],
      [trusted(count.toLocaleString('en'))],
      say`${refused}`,
      [trusted(`${leastSeconds} s`)],
      [trusted(`${seconds.toFixed(1)} s`)],
      [trusted((seconds / leastSeconds).toFixed(4))],
    ]
  } finally {
    requests.end()
    await emulator.close()
    rmSync(directory, { recursive: true })
  }
}
