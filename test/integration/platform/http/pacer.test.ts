import { describe, expect, it } from 'vitest'
import { createPacer, type Headers, type Pacer, pacerFor } from '../../../../src/platform/http/rate-limit.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/clocks.ts'
import { randomFrom } from '../../../support/random.ts'

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
        'x-ratelimit-reset': ((window.endsAt - now) / 1000).toFixed(3),
      }
      return { status, headers: tells ? { ...told, 'x-ratelimit-policy': `${limit};w=${windowMs / 1000}` } : {} }
    },
  }
}

/** Milliseconds until a request arrives at the server, and until its answer is back. */
type Latency = () => readonly [number, number]

const immediate: Latency = () => [20, 0]

interface Load {
  readonly count: number
  readonly concurrency: number
  readonly latency?: Latency
}

async function send({ count, concurrency, latency = immediate }: Load, clock: VirtualClock, server: ReturnType<typeof createServer>) {
  const pacer = createPacer(clock, documented)
  let left = count
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const admission = await pacer.admit(admit)
      const [thereMs, backMs] = latency()
      await clock.sleep(thereMs)
      const answer = server.answer()
      await clock.sleep(backMs)
      admission.settle(answer)
      if (answer.status === 429) left += 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

/** Each way takes up to `maxMs`, so that answers overtake each other. */
function randomLatency(seed: number, maxMs: number): Latency {
  const random = randomFrom(seed)
  return () => [random() * maxMs, random() * maxMs]
}

const seeds = [1, 2, 3, 4, 5]

const countRefused = ({ statuses }: ReturnType<typeof createServer>): number => statuses.filter((status) => status === 429).length

async function refuse(pacer: Pacer): Promise<void> {
  const admission = await pacer.admit(admit)
  admission.settle({ status: 429, headers: { 'retry-after': '30' } })
}

describe('createPacer', () => {
  it('never exceeds the announced rate limit with 1, 4 or 16 requests at a time', async () => {
    for (const concurrency of [1, 4, 16]) {
      const clock = createVirtualClock()
      const server = createServer(clock, 10, 10_000, true)
      await send({ count: 300, concurrency }, clock, server)
      expect(countRefused(server), `${concurrency} at a time`).toBe(0)
    }
  })

  it('never exceeds the announced rate limit when answers arrive late and in any order', async () => {
    for (const maxMs of [5, 300, 3000, 30_000]) {
      for (const seed of seeds) {
        const clock = createVirtualClock()
        const server = createServer(clock, 10, 10_000, true)
        await send({ count: 200, concurrency: 10, latency: randomLatency(seed, maxMs) }, clock, server)
        expect(countRefused(server), `up to ${maxMs} ms each way, seed ${seed}`).toBe(0)
      }
    }
  })

  it('never exceeds a limit that only the documentation states when answers arrive late and in any order', async () => {
    for (const seed of seeds) {
      const clock = createVirtualClock()
      const server = createServer(clock, 10, 10_000, false)
      await send({ count: 200, concurrency: 10, latency: randomLatency(seed, 300) }, clock, server)
      expect(countRefused(server), `seed ${seed}`).toBe(0)
    }
  })

  it('R3: loses less than 2% against the limit itself over 100 and 1,000 requests, also when answers arrive in any order', {
    tags: 'slow',
  }, async () => {
    for (const count of [100, 1000]) {
      const loads: readonly Omit<Load, 'count'>[] = [
        { concurrency: 1 },
        { concurrency: 10 },
        ...seeds.map((seed) => ({ concurrency: 10, latency: randomLatency(seed, 100) })),
      ]
      for (const load of loads) {
        const clock = createVirtualClock()
        await send({ count, ...load }, clock, createServer(clock, 10, 10_000, true))
        expect(clock.elapsedMs(), `${count} requests, ${load.concurrency} at a time`).toBeLessThan((count / 10 - 1) * 10_000 * 1.02)
      }
    }
  })

  it('leaves the requests of other clients of the key out of its own share', async () => {
    const clock = createVirtualClock()
    const server = createServer(clock, 10, 10_000, true)
    const pacer = createPacer(clock, documented)
    for (let i = 0; i < 7; i++) server.answer()
    for (let i = 0; i < 4; i++) {
      const admission = await pacer.admit(admit)
      admission.settle(server.answer())
    }
    expect(countRefused(server)).toBe(0)
    expect(clock.elapsedMs()).toBeGreaterThanOrEqual(10_000)
  })

  it('reports how many requests may be sent at once, which a late answer does not raise', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    expect(pacer.quota()).toBeUndefined()
    const [first, second] = [await pacer.admit(admit), await pacer.admit(admit)]
    const headersOf = (remaining: number): Headers => ({
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': '9.5',
    })
    second.settle({ status: 200, headers: headersOf(5) })
    expect(pacer.quota()).toEqual({ limit: 10, remaining: 5 })
    first.settle({ status: 200, headers: headersOf(9) })
    expect(pacer.quota()).toEqual({ limit: 10, remaining: 5 })
    await clock.sleep(9600)
    expect(pacer.quota()).toEqual({ limit: 10, remaining: 10 })
  })

  it('waits for the window that ends first, also when its answer comes last', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    const [first, second] = [await pacer.admit(admit), await pacer.admit(admit)]
    const headersOf = (reset: string): Headers => ({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': reset })
    await clock.sleep(10_100)
    second.settle({ status: 200, headers: headersOf('9.9') })
    first.settle({ status: 200, headers: headersOf('0.5') })
    await pacer.admit(admit)
    expect(clock.elapsedMs()).toBe(10_650)
  })

  it('keeps to 10 requests in any 10 seconds when the server announces no limit', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    const sentAt: number[] = []
    for (let i = 0; i < 45; i++) {
      const admission = await pacer.admit(admit)
      sentAt.push(clock.elapsedMs())
      await clock.sleep(i % 7 === 0 ? 900 : 10)
      admission.settle({ status: 200, headers: {} })
    }
    sentAt.forEach((at, i) => {
      expect(sentAt.slice(i).filter((other) => other < at + 10_000).length).toBeLessThanOrEqual(10)
    })
  })

  it('lets a faster service be faster', async () => {
    const clock = createVirtualClock()
    await send({ count: 500, concurrency: 1 }, clock, createServer(clock, 100, 1000, true))
    expect(clock.elapsedMs()).toBeLessThan(12_000)
  })

  it('stops all requests after a refusal that says how long', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    await refuse(pacer)
    await pacer.admit(admit)
    expect(clock.elapsedMs()).toBeGreaterThanOrEqual(30_000)
  })

  it('waits for the longest of several refusals', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    const [first, second] = [await pacer.admit(admit), await pacer.admit(admit)]
    first.settle({ status: 429, headers: { 'retry-after': '30' } })
    second.settle({ status: 429, headers: { 'retry-after': '1' } })
    await pacer.admit(admit)
    expect(clock.elapsedMs()).toBeGreaterThanOrEqual(30_000)
  })

  it('lets the caller refuse a wait before it starts', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    await refuse(pacer)
    const onWait = (waitMs: number): void => {
      throw new Error(`too long: ${waitMs}`)
    }
    await expect(pacer.admit({ signal: never, onWait })).rejects.toThrow('too long: 30000')
  })

  it('createPacer ends a wait when it is canceled', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    await refuse(pacer)
    const controller = new AbortController()
    const waiting = pacer.admit({ signal: controller.signal, onWait: () => controller.abort(new Error('stop')) })
    await expect(waiting).rejects.toThrow('stop')
  })

  it('lets a canceled request leave the queue without losing its slot', async () => {
    const clock = createVirtualClock()
    const pacer = createPacer(clock, documented)
    await refuse(pacer)
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
    const admission = await pacer.admit(admit)
    admission.settle({ status: 200, headers: { 'x-ratelimit-limit': 'x', 'x-ratelimit-remaining': '-4', 'x-ratelimit-reset': 'NaN' } })
    await pacer.admit(admit)
    expect(clock.elapsedMs()).toBe(0)
  })
})

describe('pacerFor', () => {
  it('pacerFor returns one pacer for all users of a key at an address', () => {
    const clock = createVirtualClock()
    const pacer = pacerFor(clock, { origin: 'https://a', key: 'key', documented })
    expect(pacerFor(clock, { origin: 'https://a', key: 'key', documented })).toBe(pacer)
    expect(pacerFor(clock, { origin: 'https://a', key: 'other', documented })).not.toBe(pacer)
    expect(pacerFor(clock, { origin: 'https://b', key: 'key', documented })).not.toBe(pacer)
    expect(pacerFor(createVirtualClock(), { origin: 'https://a', key: 'key', documented })).not.toBe(pacer)
  })
})
