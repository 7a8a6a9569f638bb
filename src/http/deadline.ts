import type { Clock } from '../core/clock.ts'
import { WatchkeeperError } from '../core/errors.ts'
import type { Admission, Pacer } from './rate-limit.ts'
import type { WriteLog } from './write-log.ts'

export interface Cancellation {
  /** Aborted by the first signal: nothing new is sent, waits end. */
  readonly stop: AbortSignal
  /** Aborted a little later: requests under way end, too. */
  readonly abort: AbortSignal
  /** Where writes are noted, so that a canceled run can tell whether it wrote anything. */
  readonly writes?: WriteLog
}

/** What requests with retries need of their process. */
export interface RetryDeps {
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** Called for every retry and every long wait, with one line each. */
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
}

/** A request that waits for its turn, for messages. */
interface PlannedRequest {
  readonly method: string
  readonly path: string
  /** Method and shortened path, for lines of the log. */
  readonly label: string
}

interface Deadline {
  remainingMs(): number
  /**
   * Resolves when the request may be sent. It must then be sent at once. Throws kind `deadline` when its turn comes too late, and kind
   * `cancelled` when `notAfter` is aborted before.
   */
  admit(request: PlannedRequest, notAfter?: AbortSignal): Promise<Admission>
  /** Notes a wait for the rate limit. Parallel requests wait for the same window, so a wait that was already noted gets no further line. */
  noteRateLimit(waitMs: number, line: string): void
}

interface DeadlineOptions {
  readonly clock: Clock
  readonly deadlineMs: number
  readonly pacer: Pacer
  readonly stop: AbortSignal
  readonly note: (line: string) => void
}

/** Answers in flight can move the end of a wait a little. A longer extension is another wait. */
const sameWaitMs = 1000

/** The time that all requests of a session share. It starts now. */
export function createDeadline({ clock, deadlineMs, pacer, stop, note }: DeadlineOptions): Deadline {
  const endsAt = clock.monotonicMs() + deadlineMs
  const expired = clock.timeout(deadlineMs)
  const remainingMs = (): number => endsAt - clock.monotonicMs()
  let notedUntilMs = Number.NEGATIVE_INFINITY
  const noteRateLimit = (waitMs: number, line: string): void => {
    const now = clock.monotonicMs()
    if (now < notedUntilMs && now + waitMs <= notedUntilMs + sameWaitMs) return
    notedUntilMs = now + waitMs
    note(line)
  }
  return {
    remainingMs,
    noteRateLimit,
    async admit(request, notAfter) {
      const onWait = (waitMs: number): void => {
        if (waitMs >= remainingMs()) throw tooLate(request, waitMs, clock.now())
        if (waitMs >= 1000) noteRateLimit(waitMs, `Waiting ${inSeconds(waitMs)} for the rate limit before ${request.label}`)
      }
      const signal = AbortSignal.any([stop, expired, ...(notAfter === undefined ? [] : [notAfter])])
      const admission = await pacer.admit({ signal, onWait }).catch((thrown: unknown) => {
        if (stop.aborted || !signal.aborted) throw thrown
        throw expired.aborted ? tooLate(request, 0, clock.now()) : notSent(request)
      })
      if (remainingMs() > 0) return admission
      admission.cancel()
      throw tooLate(request, 0, clock.now())
    },
  }
}

/** `1.5 s`. */
export const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const notSent = ({ method, path }: PlannedRequest): WatchkeeperError => new WatchkeeperError('cancelled', `${method} ${path} was not sent.`)

function tooLate({ method, path }: PlannedRequest, waitMs: number, nowMs: number): WatchkeeperError {
  const when =
    waitMs === 0
      ? ''
      : ` The rate limit requires a wait of ${inSeconds(waitMs)}. Try again after ${new Date(nowMs + waitMs).toISOString()}.`
  return new WatchkeeperError('deadline', `${method} ${path} was not sent, because timeout-seconds leaves no time for it.${when}`)
}
