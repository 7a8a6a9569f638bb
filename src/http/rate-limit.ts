import type { Clock } from '../core/clock.ts'

export type Headers = Readonly<Record<string, string | undefined>>

/** The fixed window of the key, as the headers of an answer state it. */
export interface RateLimitWindow {
  readonly limit: number
  readonly remaining: number
  /** Until the window ends. */
  readonly resetMs: number
  /** Length of a whole window, where the policy header gives it. */
  readonly windowMs: number | undefined
}

/** The cloud sends `X-RateLimit-…`, the self-hosted server `RateLimit-…`. */
const limitHeader = (headers: Headers, name: 'limit' | 'remaining' | 'reset' | 'policy'): string | undefined =>
  headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`]

// The header holds the remaining seconds, with decimals, and not a point in time (terraform-provider-clickhouse#148).
export function readRateLimitWindow(headers: Headers): RateLimitWindow | undefined {
  const limit = seconds(limitHeader(headers, 'limit'))
  const remaining = seconds(limitHeader(headers, 'remaining'))
  const reset = seconds(limitHeader(headers, 'reset'))
  if (limit === undefined || limit < 1 || remaining === undefined || reset === undefined) return undefined
  const policy = /;\s*w=(\d{1,6})\b/.exec(limitHeader(headers, 'policy') ?? '')?.[1]
  return { limit, remaining, resetMs: reset * 1000, windowMs: policy === undefined ? undefined : Number(policy) * 1000 }
}

// The clocks of server and client differ: one second more avoids the next 429.
const resetMarginMs = 1000

/**
 * How long the server asks us to wait; undefined when it does not say. `Retry-After` counts on every answer, the end of the
 * window only where the window is why it refused.
 */
export function serverWaitMs(status: number, headers: Headers, nowMs: number): number | undefined {
  const retryAfter = retryAfterMs(headers['retry-after'], instantOf(headers.date) ?? nowMs)
  const reset = status === 429 ? seconds(limitHeader(headers, 'reset')) : undefined
  const waits = [retryAfter, reset === undefined ? undefined : reset * 1000 + resetMarginMs].filter((wait) => wait !== undefined)
  return waits.length === 0 ? undefined : Math.max(...waits)
}

const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** `answeredAt` is the server's own time where the answer has a date: our clock may be a day off. */
function retryAfterMs(value: string | undefined, answeredAt: number): number | undefined {
  const delaySeconds = seconds(value)
  if (delaySeconds !== undefined) return delaySeconds * 1000
  const until = instantOf(value)
  return until !== undefined && until > answeredAt ? until - answeredAt : undefined
}

function instantOf(value: string | undefined): number | undefined {
  const instant = value !== undefined && httpDate.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(instant) ? undefined : instant
}

function seconds(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,12}(?:\.\d{1,9})?$/.test(value) ? Number(value) : undefined
}

/** A fixed window: `limit` requests of a key in every `windowMs`. */
interface Limit {
  readonly limit: number
  readonly windowMs: number
}

// Our clock starts counting when the answer arrives, so the server's window is over before ours; this is for timer grain.
const marginMs = 50

/** Keeps the requests of one key within the server's rate limit. */
export interface Pacer {
  /**
   * Resolves when one more request may be sent, first come first served. Rejects with the signal's reason when aborted.
   * `onWait` is called before a wait starts, and may throw to refuse it.
   */
  admit(options: { readonly signal: AbortSignal; readonly onWait: (waitMs: number) => void }): Promise<void>
  /** Must be called once for each admitted request: with the answer's status and headers, or with nothing when none came. */
  settle(answer?: { readonly status: number; readonly headers: Headers }): void
}

// The server's fixed window, known from the first answer that mentions it.
interface Window {
  readonly limit: number
  readonly windowMs: number
  readonly endsAt: number
  readonly remaining: number
}

/** A pacer for one key. It learns the limit from the answers, and uses the documented one before. */
export function createPacer(clock: Clock, documented: Limit): Pacer {
  let window: Window | undefined
  let sentAt: readonly number[] = []
  let inFlight = 0
  let queue: Promise<unknown> = Promise.resolve()
  /** Aborted, and replaced, whenever an answer came. */
  let news = new AbortController()

  /** How long until one more may go: 0 for now. */
  function waitMs(now: number): number {
    if (window !== undefined) return now >= window.endsAt || window.remaining > 0 ? 0 : window.endsAt - now
    // Where the server's window begins is not known yet, so the documented limit holds for any period of that length.
    const oldest = sentAt.at(-documented.limit)
    return oldest === undefined ? 0 : Math.max(0, oldest + documented.windowMs + marginMs - now)
  }

  function send(now: number): void {
    inFlight += 1
    if (window === undefined) {
      sentAt = [...sentAt, now].slice(-documented.limit)
      return
    }
    // A window that is over starts again with the next request, as the server's does; what is under way may count in it.
    const isOver = now >= window.endsAt
    const remaining = isOver ? window.limit - inFlight + 1 : window.remaining
    window = { ...window, remaining: remaining - 1, endsAt: isOver ? now + window.windowMs + marginMs : window.endsAt }
  }

  async function wait({ signal, onWait }: Parameters<Pacer['admit']>[0]): Promise<void> {
    signal.throwIfAborted()
    for (let ms = waitMs(clock.monotonicMs()); ms > 0; ms = waitMs(clock.monotonicMs())) {
      // An answer to a request under way may announce a wider window than the documented one, so the wait is not reported yet.
      const isAboutToKnow = window === undefined && inFlight > 0
      if (!isAboutToKnow) onWait(ms)
      await sleepUntilNews(Math.max(1, ms), signal)
    }
    send(clock.monotonicMs())
  }

  async function sleepUntilNews(ms: number, signal: AbortSignal): Promise<void> {
    const { signal: known } = news
    try {
      await clock.sleep(ms, AbortSignal.any([signal, known]))
    } catch (thrown) {
      if (signal.aborted || !known.aborted) throw thrown
    }
  }

  function learn(status: number, headers: Headers): void {
    const now = clock.monotonicMs()
    const news = readRateLimitWindow(headers)
    if (news !== undefined) {
      const windowMs = news.windowMs ?? window?.windowMs ?? documented.windowMs
      // What is under way may or may not be counted in the answer's figure yet; taking it off errs on the polite side.
      window = { limit: news.limit, windowMs, remaining: news.remaining - inFlight, endsAt: now + news.resetMs + marginMs }
    }
    if (status !== 429) return
    const waitMs = serverWaitMs(status, headers, clock.now()) ?? 1000
    window = { ...documented, ...window, remaining: 0, endsAt: Math.max(now + waitMs, window?.endsAt ?? 0) }
  }

  return {
    admit(options) {
      const turn = queue.then(() => wait(options))
      queue = turn.catch(() => undefined)
      return leaveOnAbort(turn, options.signal, () => {
        inFlight -= 1
      })
    },
    settle(answer) {
      inFlight -= 1
      if (answer !== undefined) learn(answer.status, answer.headers)
      news.abort()
      news = new AbortController()
    },
  }
}

/** Rejects as soon as the signal aborts; `giveBack` is called when the turn comes after that. */
function leaveOnAbort(turn: Promise<void>, signal: AbortSignal, giveBack: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let hasLeft = false
    const leave = (): void => {
      hasLeft = true
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    turn.then(() => (hasLeft ? giveBack() : resolve()), reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

// One pacer per clock, address and key: the limit belongs to the key, and several clients of one process may share it.
const pacers = new WeakMap<Clock, Map<string, Pacer>>()

interface PacerOptions {
  readonly origin: string
  readonly key: string
  readonly documented: Limit
}

/** The shared pacer of a clock, an origin and a key. */
export function pacerFor(clock: Clock, { origin, key, documented }: PacerOptions): Pacer {
  const ofClock = pacers.get(clock) ?? new Map<string, Pacer>()
  pacers.set(clock, ofClock)
  const name = `${key} ${origin}`
  const pacer = ofClock.get(name) ?? createPacer(clock, documented)
  ofClock.set(name, pacer)
  return pacer
}
