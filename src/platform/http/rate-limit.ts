import type { Clock } from '../core/clock.ts'
import { unlessAborted } from './cancellation.ts'

export const rateLimitStatus = 429

/** Names are in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

/** The cloud sends `X-RateLimit-…`, the self-hosted server `RateLimit-…`. */
const limitHeader = (headers: Headers, name: 'limit' | 'remaining' | 'reset' | 'policy') =>
  headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`]

// Seconds that remain, and not a point in time (terraform-provider-clickhouse#148).
export function readRateLimitWindow(headers: Headers) {
  const limit = secondsGrammar(limitHeader(headers, 'limit'))
  const remaining = secondsGrammar(limitHeader(headers, 'remaining'))
  const reset = secondsGrammar(limitHeader(headers, 'reset'))
  if (limit === undefined || limit < 1 || remaining === undefined || reset === undefined) return undefined
  const policy = /;\s*w=(\d{1,6})\b/.exec(limitHeader(headers, 'policy') ?? '')?.[1]
  // Only a policy states the length of a whole window.
  return { limit, remaining, resetMs: reset * 1000, windowMs: policy === undefined ? undefined : Number(policy) * 1000 }
}

// The clocks of server and client differ: one second more avoids the next refusal.
const resetMarginMs = 1000

/** The end of the window counts only where the window is why the server refused. */
export function serverWaitMs(status: number, headers: Headers, nowMs: number): number | undefined {
  const retryAfter = retryAfterMs(headers['retry-after'], instantOf(headers.date) ?? nowMs)
  const reset = status === rateLimitStatus ? secondsGrammar(limitHeader(headers, 'reset')) : undefined
  const waits = [retryAfter, reset === undefined ? undefined : reset * 1000 + resetMarginMs].filter((wait) => wait !== undefined)
  return waits.length === 0 ? undefined : Math.max(...waits)
}

/** The server's own time, where the answer has a date: our clock may be a day off. */
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

export interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

// Timers may fire early. The server's window is over before ours, which starts when the answer arrives.
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

/** Ends between two times of our clock: an answer that states its rest was on its way for some time. */
interface Window {
  endsAfter: number
  endsBefore: number
  count: number
}

/**
 * Counts the requests of one key. Uses the documented limit until an answer states one. Every request counts from its sending to the end of
 * its window. Answers may arrive in any order: none of them frees a window before its end.
 */
function createWindows(clock: Clock, documented: RateLimit) {
  let { limit, windowMs } = documented
  let isLimitStated = false
  let windows: readonly Window[] = []
  let inFlight = 0
  let blockedUntil = Number.NEGATIVE_INFINITY

  const countUsed = (): number => windows.reduce((sum, { count }) => sum + count, inFlight)

  /** Returns the time on the monotonic clock. */
  function dropEndedWindows(): number {
    const now = clock.monotonicMs()
    windows = windows.filter(({ endsBefore }) => endsBefore > now)
    return now
  }

  function learn(sentAt: number, answer: Parameters<Admission['settle']>[0]): void {
    const now = clock.monotonicMs()
    const stated = answer && readRateLimitWindow(answer.headers)
    if (stated === undefined) {
      // A server that states its limit does not limit what it answers without it, unless a gateway answered.
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

  function place(endsAfter: number, endsBefore: number): Window {
    const window = windows.find((known) => isSameWindow(known, endsAfter, endsBefore, windowMs)) ?? { endsAfter, endsBefore, count: 0 }
    if (!windows.includes(window)) windows = [...windows, window]
    window.endsAfter = Math.max(window.endsAfter, endsAfter)
    window.endsBefore = Math.min(window.endsBefore, endsBefore)
    return window
  }

  return {
    /** 0 for now, infinite where only an answer can tell. */
    waitMs(): number {
      const now = dropEndedWindows()
      if (now < blockedUntil) return blockedUntil - now
      let missing = countUsed() + 1 - limit
      if (missing <= 0) return 0
      for (const { endsBefore, count } of windows.toSorted((a, b) => a.endsBefore - b.endsBefore)) {
        missing -= count
        if (missing <= 0) return endsBefore - now
      }
      return Number.POSITIVE_INFINITY
    },
    /** An answer under way may announce a wider window than the documented one. */
    isAboutToKnow: () => !isLimitStated && inFlight > 0,
    start(): Admission {
      inFlight += 1
      const sentAt = clock.monotonicMs()
      return {
        settle(answer) {
          inFlight -= 1
          learn(sentAt, answer)
        },
        cancel() {
          inFlight -= 1
        },
      }
    },
    quota(): Quota | undefined {
      if (!isLimitStated) return undefined
      return { limit, remaining: dropEndedWindows() < blockedUntil ? 0 : Math.max(0, limit - countUsed()) }
    },
  }
}

/** The ends of two windows are at least one window apart. */
const isSameWindow = (known: Window, endsAfter: number, endsBefore: number, windowMs: number) =>
  Math.max(known.endsAfter, endsAfter) <= Math.min(known.endsBefore, endsBefore) &&
  Math.max(known.endsBefore - endsAfter, endsBefore - known.endsAfter) < windowMs

export function createPacer(clock: Clock, documented: RateLimit): Pacer {
  const { waitMs, isAboutToKnow, start, quota } = createWindows(clock, documented)
  const answers = createAnswerNews()
  let queue: Promise<unknown> = Promise.resolve()

  async function wait({ signal, onWait }: Parameters<Pacer['admit']>[0]): Promise<Admission> {
    signal.throwIfAborted()
    for (let ms = waitMs(); ms > 0; ms = waitMs()) {
      if (ms !== Number.POSITIVE_INFINITY && !isAboutToKnow()) onWait(ms)
      await sleepUntilNews(ms, signal)
    }
    const { settle, cancel } = start()
    return {
      settle(answer) {
        settle(answer)
        answers.announce()
      },
      cancel() {
        cancel()
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
    quota,
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

// The limit belongs to the key, and several clients of one process may share it.
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
