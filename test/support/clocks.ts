import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '../../src/platform/core/clock.ts'

// A clock that never waits: when everybody sleeps, it jumps to the first one who wants to wake up.

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

export interface VirtualClock extends Clock {
  /** Milliseconds since the clock was made. */
  elapsedMs(): number
}

/** Before every jump, `pause` waits for what takes real time. */
export function createVirtualClock(startMs = Date.parse('2026-03-31T12:00:00Z'), pause: () => Promise<void> = nextTurn): VirtualClock {
  let elapsed = 0
  let sleepers: Sleeper[] = []
  let isTicking = false

  async function tick(): Promise<void> {
    await pause()
    const [next, ...later] = sleepers.toSorted((a, b) => a.at - b.at)
    isTicking = next !== undefined
    if (next === undefined) return
    sleepers = later
    elapsed = Math.max(elapsed, next.at)
    next.wake()
    void tick()
  }

  return {
    now: () => startMs + elapsed,
    monotonicMs: () => elapsed,
    elapsedMs: () => elapsed,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        const sleeper = { at: elapsed + ms, wake: resolve }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((other) => other !== sleeper)
          reject(signal.reason)
        })
        if (!isTicking) void tick()
        isTicking = true
      })
    },
    timeout: (ms) => AbortSignal.timeout(ms),
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

// Requests of undici take real time. A virtual clock that must not jump over them waits until they are answered.

export interface RequestWatch {
  /** A pause for a virtual clock: until no request is under way, and `isIdle` is true. */
  pause(isIdle?: () => boolean): Promise<void>
  /** Ends the watch. */
  end(): void
}

/** Watches all requests of this process. */
export function watchRequests(): RequestWatch {
  let underWay = 0
  const started = (): unknown => (underWay += 1)
  const ended = (): unknown => (underWay -= 1)
  const ends = ['undici:request:trailers', 'undici:request:error']
  subscribe('undici:request:create', started)
  for (const end of ends) subscribe(end, ended)
  return {
    async pause(isIdle = () => true) {
      for (let calm = 0; calm < 2; calm = underWay === 0 && isIdle() ? calm + 1 : 0) await sleep(1)
    },
    end() {
      unsubscribe('undici:request:create', started)
      for (const end of ends) unsubscribe(end, ended)
    },
  }
}

// A clock that runs faster than the wall's, for what must really happen at the same time.

/** A second takes 1000 / `speed` milliseconds. */
export const createScaledClock = (speed: number): Clock => ({
  now: () => Date.now(),
  monotonicMs: () => performance.now() * speed,
  sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  timeout: (ms) => AbortSignal.timeout(Math.max(1, Math.round(ms / speed))),
})

// How long this thread is busy with something, compared with something else in the same run: no test depends on the speed of a machine.

export function cpuMsOf(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** The mean of as many runs as take long enough to be measured. */
async function meanCpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  for (let runs = 1; ; runs++) {
    await work()
    const { user, system } = process.threadCpuUsage(before)
    if (user + system > 10_000) return (user + system) / 1000 / runs
  }
}

/** Ten times as much of linear work takes at most so many times as long, and of quadratic work a hundred times. */
export const tenfold = 14

/** How many times as long as `other` some work takes: the first try that is within `limit` or far beyond it, or the best of thirty. */
export async function cpuRatio(work: () => unknown, other: () => unknown, limit: number = tenfold): Promise<number> {
  // Without what only a first run does.
  await meanCpuMs(other)
  let [ms, otherMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let i = 0; i < 30; i++) {
    otherMs = Math.min(otherMs, await meanCpuMs(other))
    ms = Math.min(ms, await meanCpuMs(work))
    if (ms <= limit * otherMs || (i > 0 && ms > 3 * limit * otherMs)) break
  }
  return ms / otherMs
}
