// Owns what the headers of an answer say about waiting. Pure; anything that makes no sense is as if it were not sent.

export type Headers = Readonly<Record<string, string | undefined>>

/** The fixed window of the key as an answer tells it. */
export interface WindowNews {
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

// The header counts seconds that are left, with decimals; it is no point in time (terraform-provider-clickhouse#148).
export function readWindow(headers: Headers): WindowNews | undefined {
  const limit = seconds(limitHeader(headers, 'limit'))
  const remaining = seconds(limitHeader(headers, 'remaining'))
  const reset = seconds(limitHeader(headers, 'reset'))
  if (limit === undefined || limit < 1 || remaining === undefined || reset === undefined) return undefined
  const policy = /;\s*w=(\d{1,6})\b/.exec(limitHeader(headers, 'policy') ?? '')?.[1]
  return { limit, remaining, resetMs: reset * 1000, windowMs: policy === undefined ? undefined : Number(policy) * 1000 }
}

// The server's clock and ours do not tick together: a second more than told saves the next refusal.
const resetMarginMs = 1000

/**
 * How long the server asks us to wait; undefined when it does not say. `Retry-After` counts on every answer, the end of the
 * window only where the window is why it refused.
 */
export function toldWaitMs(status: number, headers: Headers, nowMs: number): number | undefined {
  const retryAfter = retryAfterMs(headers['retry-after'], instantOf(headers.date) ?? nowMs)
  const reset = status === 429 ? seconds(limitHeader(headers, 'reset')) : undefined
  const waits = [retryAfter, reset === undefined ? undefined : reset * 1000 + resetMarginMs].filter((wait) => wait !== undefined)
  return waits.length === 0 ? undefined : Math.max(...waits)
}

const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** `answeredAt` is by the clock that the date was read from, where the answer tells: ours may be a day off. */
function retryAfterMs(value: string | undefined, answeredAt: number): number | undefined {
  const told = seconds(value)
  if (told !== undefined) return told * 1000
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
