import { describe, expect, it } from 'vitest'
import { createPacer, type Headers, pacerFor } from '../../../src/http/rate-limit.ts'
import { createVirtualClock, type VirtualClock } from '../../support/clocks.ts'

const never = new AbortController().signal
const documented = { limit: 10, windowMs: 10_000 }
const admit = { signal: never, onWait: () => undefined }

/** The service's limiter: a window of `windowMs` starts with the first request after the last one ended. */
function createServer(clock: VirtualClock, limit: number, windowMs: number, tells: boolean) {
  let window = { endsAt: -1, used: 0 }
  const statuses: number[] = []
  return {
    statuses,
    answer(): { status: number; headers: Headers } {
      const now = clock.monotonicMs()
      if (now >= window.endsAt) window = { endsAt: now + windowMs, used: 0 }
      window.used += 1
      const status = window.used > limit ? 429 : 200
      statuses.push(status)
      const left = Math.max(0, limit - window.used)
      const told = {
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(left),
        'x-ratelimit-reset': String((window.endsAt - now) / 1000),
      }
      return { status, headers: tells ? { ...told, 'x-ratelimit-policy': `${limit};w=${windowMs / 1000}` } : {} }
    },
  }
}

async function send(count: number, concurrency: number, clock: VirtualClock, server: ReturnType<typeof createServer>): Promise<void> {
  const pacer = createPacer(clock, documented)
  let left = count
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await pacer.admit(admit)
      await clock.sleep(20)
      const answer = server.answer()
      pacer.settle(answer)
      if (answer.status === 429) left += 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

describe('createPacer', () => {
  it.each([1, 4, 16])('never exceeds the announced rate limit with %i requests at a time', async (concurrency) => {
    const clock = createVirtualClock()
    const server = createServer(clock, 10, 10_000, true)
    await send(300, concurrency, clock, server)
    expect(server.statuses.filter((status) => status === 429)).toEqual([])
  })

  it('loses less than 2 % against the limit itself over 1,000 requests', async () => {
    const clock = createVirtualClock()
    await send(1000, 1, clock, createServer(clock, 10, 10_000, true))
    expect(clock.elapsedMs()).toBeLessThan(99 * 10_000 * 1.02)
  })

  it('keeps to 10 requests in any 10 seconds when the server announces no limit', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    const sentAt: number[] = []
    for (let i = 0; i < 45; i++) {
      await pacer.admit(admit)
      sentAt.push(clock.elapsedMs())
      await clock.sleep(i % 7 === 0 ? 900 : 10)
      pacer.settle({ status: 200, headers: {} })
    }
    sentAt.forEach((at, i) => {
      expect(sentAt.slice(i).filter((other) => other < at + 10_000).length).toBeLessThanOrEqual(10)
    })
  })

  it('lets a faster service be faster', async () => {
    const clock = createVirtualClock()
    await send(500, 1, clock, createServer(clock, 100, 1000, true))
    expect(clock.elapsedMs()).toBeLessThan(12_000)
  })

  it('holds everybody back after a refusal that says how long', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    await pacer.admit(admit)
    pacer.settle({ status: 429, headers: { 'retry-after': '30' } })
    await pacer.admit(admit)
    expect(clock.elapsedMs()).toBeGreaterThanOrEqual(30_000)
  })

  it('lets the caller refuse a wait before it starts', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    pacer.settle({ status: 429, headers: { 'retry-after': '30' } })
    const onWait = (waitMs: number): void => {
      throw new Error(`too long: ${waitMs}`)
    }
    await expect(pacer.admit({ signal: never, onWait })).rejects.toThrow('too long: 30000')
  })

  it('ends a wait when it is cancelled', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    pacer.settle({ status: 429, headers: { 'retry-after': '30' } })
    const controller = new AbortController()
    const waiting = pacer.admit({ signal: controller.signal, onWait: () => controller.abort(new Error('stop')) })
    await expect(waiting).rejects.toThrow('stop')
  })

  it('lets a canceled request leave the queue without losing its slot', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    pacer.settle({ status: 429, headers: { 'retry-after': '30' } })
    const controller = new AbortController()
    const first = pacer.admit(admit)
    const second = pacer.admit({ signal: controller.signal, onWait: () => undefined })
    const third = pacer.admit(admit)
    controller.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    expect(clock.elapsedMs()).toBe(0)
    await Promise.all([first, third])
  })

  it('ignores headers that make no sense', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    await pacer.admit(admit)
    pacer.settle({ status: 200, headers: { 'x-ratelimit-limit': 'x', 'x-ratelimit-remaining': '-4', 'x-ratelimit-reset': 'NaN' } })
    await pacer.admit(admit)
    expect(clock.elapsedMs()).toBe(0)
  })
})

describe('pacerFor', () => {
  it('is one for all who use the same key at the same place', () => {
    const clock = createVirtualClock()
    const pacer = pacerFor(clock, { origin: 'https://a', key: 'key', documented })
    expect(pacerFor(clock, { origin: 'https://a', key: 'key', documented })).toBe(pacer)
    expect(pacerFor(clock, { origin: 'https://a', key: 'other', documented })).not.toBe(pacer)
    expect(pacerFor(clock, { origin: 'https://b', key: 'key', documented })).not.toBe(pacer)
    expect(pacerFor(createVirtualClock(), { origin: 'https://a', key: 'key', documented })).not.toBe(pacer)
  })
})
