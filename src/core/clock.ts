// Owns time: what the wall says, how long something took, and waiting. Everything that waits or asks the date takes a Clock.
import { setTimeout as wait } from 'node:timers/promises'

export interface Clock {
  /** Wall clock, milliseconds since the epoch. For dates that people read; it may jump. */
  now(): number
  /** Milliseconds from an arbitrary start that never jump. For waits and deadlines. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** A signal that aborts after `ms`. */
  timeout(ms: number): AbortSignal
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await wait(ms, undefined, signal ? { signal } : {})
    } catch (cause) {
      throw signal?.aborted ? signal.reason : cause
    }
  },
  timeout: (ms) => AbortSignal.timeout(ms),
}
