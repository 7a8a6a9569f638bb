import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { forEachConcurrently, keepLatest } from '../../../../src/platform/core/concurrency.ts'

/** Work that ends when the test ends it, and what was started and is under way. */
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

  it('starts no other item after a failure, waits for those under way, and rejects with the first failure', async () => {
    const { work, started, open, fail } = createManualWork()
    const all = forEachConcurrently([1, 2, 3, 4], () => 2, work)
    const failure = expect(all).rejects.toThrow('failed at 2')
    await fail(2)
    expect([...open.keys()]).toEqual([1])
    await fail(1)
    await failure
    expect(started).toEqual([1, 2])
  })

  it('loses no failure when several calls end at the same time', async () => {
    const gate = Promise.withResolvers<void>()
    const delayed = async (item: number, ticks: number): Promise<void> => {
      await gate.promise
      for (let i = 0; i < ticks; i++) await undefined
      if (item === 2) throw new Error('failed at 2')
    }
    const runs = Array.from({ length: 36 }, (_, i) =>
      forEachConcurrently(
        [1, 2, 3],
        () => 2,
        (item) => delayed(item, item === 1 ? i % 6 : Math.floor(i / 6)),
      ).catch((thrown: Error) => thrown.message),
    )
    gate.resolve()
    expect(new Set(await Promise.all(runs))).toEqual(new Set(['failed at 2']))
  })

  it('does nothing for no items', async () => {
    const fail = () => Promise.reject(new Error('called'))
    await expect(forEachConcurrently([], () => 1, fail)).resolves.toBeUndefined()
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

  it('never works on two values at the same time', async () => {
    let [active, most] = [0, 0]
    const save = keepLatest(async () => {
      active += 1
      most = Math.max(most, active)
      await undefined
      active -= 1
    })
    const calls: Promise<void>[] = []
    for (let i = 0; i < 20; i++) {
      calls.push(save(i))
      for (let tick = 0; tick < i % 5; tick++) await undefined
    }
    await Promise.all(calls)
    expect(most).toBe(1)
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
