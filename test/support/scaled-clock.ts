// A clock that runs faster than the wall's, for what must really happen at the same time.
import { type Clock, systemClock } from '../../src/core/clock.ts'

/** A second takes 1000 / `speed` milliseconds. */
export const createScaledClock = (speed: number): Clock => ({
  now: () => Date.now(),
  monotonicMs: () => performance.now() * speed,
  sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
  timeout: (ms) => AbortSignal.timeout(Math.max(1, Math.round(ms / speed))),
})
