// R3 and R4 over a long time: thousands of requests in a process of their own.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { Soak } from '../../support/soak-process.ts'

const program = new URL('../../support/soak-process.ts', import.meta.url).pathname

it('R3: thousands of requests leak nothing, are never refused, lose no time, and the process ends by itself', {
  timeout: 180_000,
}, async () => {
  // No --test-force-exit or the like: what is still open would keep it alive until the timeout.
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program, '2000'], { timeout: 170_000 })
  const { requests, refused, heap, elapsedSeconds, resources } = JSON.parse(stdout) as Soak
  expect(requests).toBeGreaterThanOrEqual(2000)
  expect(refused).toBe(0)
  // A tenth of the time is for getting warm; from then on, memory is flat.
  const [first = 0, ...later] = heap.slice(1)
  expect(Math.max(...later)).toBeLessThan(first * 1.1)
  // Ten in each ten seconds is the limit: the waits for it, and two in a hundred for everything else.
  expect(elapsedSeconds).toBeLessThan(requests * 1.02 + 100)
  expect(resources.filter((kind) => kind !== 'PipeWrap' && kind !== 'TTYWrap')).toEqual([])
})
