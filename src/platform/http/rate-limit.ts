import type { Clock } from '../core/clock.ts'
import { unlessAborted } from './cancellation.ts'

export const rateLimitStatus = 429

/** Names are in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

interface RateLimitWindow {
  readonly limit: number
  readonly remaining: number
  readonly resetMs: number
  /** Undefined without a policy header. */
  readonly windowMs: number | undefined
}

/** The cloud sends `X-RateLimit-…`, the self-hosted server `RateLimit-…`. */
const limitHeader = (headers: Headers, name: 'limit' | 'remaining' | 'reset' | 'policy') =>
  headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`]

// The header holds the remaining seconds, with decimals, and not a point in time (terraform-provider-clickhouse#148).
export function readRateLimitWindow(headers: Headers): RateLimitWindow | undefined {
  const limit = secondsGrammar(limitHeader(headers, 'limit'))
  const remaining = secondsGrammar(limitHeader(headers, 'remaining'))
  const reset = secondsGrammar(limitHeader(headers, 'reset'))
  if (limit === undefined || limit < 1 || remaining === undefined || reset === undefined) return undefined
  const policy = /;\s*w=(\d{1,6})\b/.exec(limitHeader(headers, 'policy') ?? '')?.[1]
  return { limit, remaining, resetMs: reset * 1000, windowMs: policy === undefined ? undefined : Number(policy) * 1000 }
}

// The clocks of server and client differ: one second more avoids the next refusal.
const resetMarginMs = 1000

/** `Retry-After` counts on every answer, the end of the window only where the window is why the server refused. */
export function serverWaitMs(status: number, headers: Headers, nowMs: number): number | undefined {
  const retryAfter = retryAfterMs(headers['retry-after'], instantOf(headers.date) ?? nowMs)
  const reset = status === rateLimitStatus ? secondsGrammar(limitHeader(headers, 'reset')) : undefined
  const waits = [retryAfter, reset === undefined ? undefined : reset * 1000 + resetMarginMs].filter((wait) => wait !== undefined)
  return waits.length === 0 ? undefined : Math.max(...waits)
}

/** `answeredAt` is the server's own time where the answer has a date: our clock may be a day off. */
function retryAfterMs(value: string | undefined, answeredAt: number) {
  const delaySeconds = secondsGrammar(value)
  if (delaySeconds !== undefined) return delaySeconds * 1000
  const until = instantOf(value)
  return until !== undefined && until > answeredAt ? until - answeredAt : undefined
}

function instantOf(value: string | undefined) {
  const instant =
    value !== undefined && /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value)
      ? Date.parse(value)
      : Number.NaN
  return Number.isNaN(instant) ? undefined : instant
}

function secondsGrammar(value: string | undefined) {
  return value !== undefined && /^\d{1,12}(?:\.\d{1,9})?$/.test(value) ? Number(value) : undefined
}

/** `limit` requests of a key in every `windowMs`. */
export interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

// Our clock starts counting when the answer arrives, so the server's window is over before ours; this is for timer grain.
const timerMarginMs = 50

// A self-hosted server rounds the rest of the window up to whole seconds.
const roundingMs = 1000

/** One of both functions must be called once. */
export interface Admission {
  /** Gets nothing when no answer came. */
  settle(answer?: { readonly status: number; readonly headers: Headers }): void
  /** The request was not sent. */
  cancel(): void
}

/** Requests that may be sent now without a wait. */
export interface Quota {
  readonly limit: number
  readonly remaining: number
}

export interface Pacer {
  /**
   * First come first served. Rejects with the signal's reason when aborted. `onWait` is called before a wait, and may throw to refuse it.
   */
  admit(options: { readonly signal: AbortSignal; readonly onWait: (waitMs: number) => void }): Promise<Admission>
  /** Undefined until an answer states the limit. */
  quota(): Quota | undefined
}

/** A window of the server. It ends between two times of our clock: its rest is stated in an answer, which was on its way for some time. */
interface Window {
  endsAfter: number
  endsBefore: number
  count: number
}

/**
 * Learns the limit from the answers, and uses the documented one before. Every request counts from its sending to the end of the window
 * that its answer states. Answers may arrive in any order: none of them frees a window before its end.
 */
export function createPacer(clock: Clock, documented: RateLimit): Pacer {
  let { limit, windowMs } = documented
  let isLimitStated = false
  let windows: readonly Window[] = []
  let inFlight = 0
  let blockedUntil = Number.NEGATIVE_INFINITY
  let queue: Promise<unknown> = Promise.resolve()
  const answers = createAnswerNews()

  const countUsed = (): number => windows.reduce((sum, { count }) => sum + count, inFlight)

  const dropEndedWindows = (now: number): void => {
    windows = windows.filter(({ endsBefore }) => endsBefore > now)
  }

  /** 0 for now, infinite where only an answer can tell. */
  function waitMs(now: number): number {
    dropEndedWindows(now)
    if (now < blockedUntil) return blockedUntil - now
    let missing = countUsed() + 1 - limit
    if (missing <= 0) return 0
    for (const { endsBefore, count } of windows.toSorted((a, b) => a.endsBefore - b.endsBefore)) {
      missing -= count
      if (missing <= 0) return endsBefore - now
    }
    return Number.POSITIVE_INFINITY
  }

  async function wait({ signal, onWait }: Parameters<Pacer['admit']>[0]): Promise<Admission> {
    signal.throwIfAborted()
    for (let ms = waitMs(clock.monotonicMs()); ms > 0; ms = waitMs(clock.monotonicMs())) {
      // An answer to a request under way may announce a wider window than the documented one, so the wait is not reported yet.
      const isAboutToKnow = ms === Number.POSITIVE_INFINITY || (!isLimitStated && inFlight > 0)
      if (!isAboutToKnow) onWait(ms)
      await sleepUntilNews(ms, signal)
    }
    inFlight += 1
    const sentAt = clock.monotonicMs()
    return {
      settle(answer) {
        inFlight -= 1
        learn(sentAt, answer)
        answers.announce()
      },
      cancel() {
        inFlight -= 1
        answers.announce()
      },
    }
  }

  async function sleepUntilNews(ms: number, signal: AbortSignal): Promise<void> {
    const known = answers.next()
    const either = AbortSignal.any([signal, known])
    try {
      if (ms === Number.POSITIVE_INFINITY) await unlessAborted(either, new Promise<never>(() => undefined))
      else await clock.sleep(Math.max(1, ms), either)
    } catch (thrown) {
      if (signal.aborted || !known.aborted) throw thrown
    }
  }

  function learn(sentAt: number, answer: Parameters<Admission['settle']>[0]): void {
    const now = clock.monotonicMs()
    const stated = answer && readRateLimitWindow(answer.headers)
    if (stated === undefined) {
      // A server that states its limit does not limit what it answers without it. What got no answer, or one of a gateway, may count.
      const isUnlimited = isLimitStated && answer !== undefined && answer.status < 500
      if (!isUnlimited) place(sentAt, now + windowMs + timerMarginMs).count += 1
    } else {
      ;({ limit } = stated)
      windowMs = stated.windowMs ?? windowMs
      // The first statement covers everything before it.
      if (!isLimitStated) windows = []
      isLimitStated = true
      const window = place(sentAt + stated.resetMs - roundingMs, now + stated.resetMs + timerMarginMs)
      window.count += 1
      // More than this client sent are requests of others.
      window.count += Math.max(0, limit - stated.remaining - countUsed())
    }
    if (answer?.status === rateLimitStatus)
      blockedUntil = Math.max(blockedUntil, now + (serverWaitMs(answer.status, answer.headers, clock.now()) ?? 1000))
  }

  /** The known window that this one certainly is, or a new one. The ends of two windows are at least one window apart. */
  function place(endsAfter: number, endsBefore: number): Window {
    const same = windows.find(
      (known) =>
        Math.max(known.endsAfter, endsAfter) <= Math.min(known.endsBefore, endsBefore) &&
        Math.max(known.endsBefore - endsAfter, endsBefore - known.endsAfter) < windowMs,
    )
    const window = same ?? { endsAfter, endsBefore, count: 0 }
    if (same === undefined) windows = [...windows, window]
    window.endsAfter = Math.max(window.endsAfter, endsAfter)
    window.endsBefore = Math.min(window.endsBefore, endsBefore)
    return window
  }

  return {
    admit(options) {
      const turn = queue.then(() => wait(options))
      queue = turn.catch(() => undefined)
      return unlessAborted(options.signal, turn).catch((thrown: unknown) => {
        // A turn that comes after that is given back.
        void turn.then((admission) => admission.cancel()).catch(() => undefined)
        throw thrown
      })
    },
    quota() {
      if (!isLimitStated) return undefined
      const now = clock.monotonicMs()
      dropEndedWindows(now)
      return { limit, remaining: now < blockedUntil ? 0 : Math.max(0, limit - countUsed()) }
    },
  }
}

/** Makes a signal only when a request waits. */
function createAnswerNews() {
  let next: AbortController | undefined
  return {
    announce(): void {
      next?.abort()
      next = undefined
    },
    next(): AbortSignal {
      next ??= new AbortController()
      return next.signal
    },
  }
}

// One pacer per clock, address and key: the limit belongs to the key, and several clients of one process may share it.
const pacers = new WeakMap<Clock, Map<string, Pacer>>()

export function pacerFor(
  clock: Clock,
  { origin, key, documented }: { readonly origin: string; readonly key: string; readonly documented: RateLimit },
): Pacer {
  const ofClock = pacers.get(clock) ?? new Map<string, Pacer>()
  pacers.set(clock, ofClock)
  const name = `${key} ${origin}`
  const pacer = ofClock.get(name) ?? createPacer(clock, documented)
  ofClock.set(name, pacer)
  return pacer
}
