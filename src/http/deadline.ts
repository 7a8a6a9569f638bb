import type { Clock } from '../core/clock.ts'
import { WatchkeeperError } from '../core/errors.ts'
import type { Pacer } from './rate-limit.ts'

export interface Cancellation {
  /** Aborted by the first signal: nothing new is sent, waits end. */
  readonly stop: AbortSignal
  /** Aborted a little later: what is under way ends as well. */
  readonly abort: AbortSignal
}

/** The request that waits for its turn, for messages. */
interface PlannedRequest {
  readonly method: string
  readonly path: string
}

interface Deadline {
  remainingMs(): number
  /**
   * Resolves when the request may be sent, which it must be at once. Throws kind `deadline` when its turn comes too late, and kind
   * `cancelled` when `notAfter` is aborted before.
   */
  admit(facts: PlannedRequest, notAfter?: AbortSignal): Promise<void>
}

interface DeadlineOptions {
  readonly clock: Clock
  readonly deadlineMs: number
  readonly pacer: Pacer
  readonly stop: AbortSignal
  readonly note: (line: string) => void
}

/** The time that all requests of a session share. Starts counting now. */
export function createDeadline({ clock, deadlineMs, pacer, stop, note }: DeadlineOptions): Deadline {
  const endsAt = clock.monotonicMs() + deadlineMs
  const expired = clock.timeout(deadlineMs)
  const remainingMs = (): number => endsAt - clock.monotonicMs()
  return {
    remainingMs,
    async admit(facts, notAfter) {
      const onWait = (waitMs: number): void => {
        if (waitMs >= remainingMs()) throw tooLate(facts, waitMs, clock.now())
        if (waitMs >= 1000) note(`Waiting ${inSeconds(waitMs)} for the rate limit`)
      }
      const signal = AbortSignal.any([stop, expired, ...(notAfter === undefined ? [] : [notAfter])])
      try {
        await pacer.admit({ signal, onWait })
      } catch (thrown) {
        if (stop.aborted || !signal.aborted) throw thrown
        throw expired.aborted ? tooLate(facts, 0, clock.now()) : notSent(facts)
      }
      if (remainingMs() > 0) return
      pacer.settle()
      throw tooLate(facts, 0, clock.now())
    },
  }
}

export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const notSent = ({ method, path }: PlannedRequest): WatchkeeperError => new WatchkeeperError('cancelled', `${method} ${path} was not sent.`)

function tooLate({ method, path }: PlannedRequest, waitMs: number, nowMs: number): WatchkeeperError {
  const when =
    waitMs === 0 ? '' : `: the rate limit asks to wait ${inSeconds(waitMs)}, come back after ${new Date(nowMs + waitMs).toISOString()}`
  return new WatchkeeperError(
    'deadline',
    `${method} ${path} was not sent, the time for the whole operation (timeout-seconds) is used up${when}.`,
  )
}
