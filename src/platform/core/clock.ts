import { setImmediate, setTimeout as wait } from 'node:timers/promises'

/** Code that waits or reads the time takes a Clock, so that tests do not have to wait. */
export interface Clock {
  /** Milliseconds since the epoch, for dates that people read. May jump. */
  now(): number
  /** Milliseconds from an arbitrary start, for waits and deadlines. This clock never jumps. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  timeout(ms: number): AbortSignal
}

/** The pace of a log that keeps every line: returns true once in ten seconds, the first time after ten seconds. */
export function createPace({ monotonicMs }: { monotonicMs(): number }): () => boolean {
  let lastMs = monotonicMs()
  return () => {
    const isDue = monotonicMs() - lastMs >= 10_000
    if (isDue) lastMs = monotonicMs()
    return isDue
  }
}

/** Lets signals and timers act. A computation lets neither act, and awaiting its promises changes nothing. */
export const letEventsAct = (): Promise<void> => setImmediate()

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
