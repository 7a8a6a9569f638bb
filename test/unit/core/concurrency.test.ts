import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { forEachConcurrently, keepLatest } from '../../../src/core/concurrency.ts'

/** Work that ends when it is told to, and what was started and is under way. */
function createManualWork() {
  const started: number[] = []
  const open = new Map<number, PromiseWithResolvers<void>>()
  return {
    started,
    open,
    work(item: number): Promise<void> {
      started.push(item)
      const call = Promise.withResolvers<void>()
      open.set(item, call)
      return call.promise.finally(() => open.delete(item))
    },
    async end(item: number) {
      open.get(item)?.resolve()
      await setImmediate()
    },
    async fail(item: number) {
      open.get(item)?.reject(new Error(`failed at ${item}`))
      await setImmediate()
    },
  }
}

describe('forEachConcurrently', () => {
  it('starts items in their order, and never more than the limit at a time', async () => {
    const { work, started, open, end } = createManualWork()
    const all = forEachConcurrently([1, 2, 3, 4, 5], () => 2, work)
    expect(started).toEqual([1, 2])
    await end(2)
    expect(started).toEqual([1, 2, 3])
    await end(1)
    await end(3)
    expect([started, [...open.keys()]]).toEqual([
      [1, 2, 3, 4, 5],
      [4, 5],
    ])
    await end(4)
    await end(5)
    await all
  })

  it('asks for the limit before each start', async () => {
    let limit = 1
    const { work, started, end } = createManualWork()
    const all = forEachConcurrently([1, 2, 3, 4], () => limit, work)
    expect(started).toEqual([1])
    limit = 3
    await end(1)
    expect(started).toEqual([1, 2, 3, 4])
    for (const item of started) await end(item)
    await all
  })

  it('rejects with the first failure, and starts no other item', async () => {
    const { work, started, end, fail } = createManualWork()
    const all = forEachConcurrently([1, 2, 3, 4], () => 2, work)
    const failure = expect(all).rejects.toThrow('failed at 2')
    await fail(2)
    await failure
    await fail(1)
    await end(1)
    expect(started).toEqual([1, 2])
  })

  it('does nothing for no items', async () => {
    await forEachConcurrently(
      [],
      () => 1,
      () => Promise.reject(new Error('called')),
    )
  })
})

describe('keepLatest', () => {
  it('works on one value at a time, and skips those that a later one replaced', async () => {
    const { work, started, end } = createManualWork()
    const save = keepLatest(work)
    const calls = [1, 2, 3].map(save)
    expect(started).toEqual([1])
    await end(1)
    await calls[0]
    expect(started).toEqual([1, 3])
    await end(3)
    await Promise.all(calls)
    const last = save(4)
    await end(4)
    await last
    expect(started).toEqual([1, 3, 4])
  })

  it('goes on after a failure', async () => {
    const { work, started, end, fail } = createManualWork()
    const save = keepLatest(work)
    const first = expect(save(1)).rejects.toThrow('failed at 1')
    const second = save(2)
    await fail(1)
    await first
    await end(2)
    await second
    expect(started).toEqual([1, 2])
  })
})
