// Owns the emulator's options, their defaults, and what the two dialects of the API differ in.

/** A fixed window: `limit` requests per key in every `windowMs`. */
export interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

export type Dialect = 'neutral' | 'clickhouse-cloud'

export interface EmulatorOptions {
  /** Default `neutral`: segment `observability`, unit `Credits`. The other is `clickstack` and `CHC`, with more endpoints and fields. */
  readonly dialect?: Dialect
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** Default 0: any free port. */
  readonly port?: number
  /** Default: neutral `off` (its contract shows none), `clickhouse-cloud` 10 requests in 10 seconds. */
  readonly rateLimit?: RateLimit | 'off'
  /** The longest list that is answered, default 1000; what lies beyond is left out without a word. */
  readonly pageLimit?: number
  /** The server's wall clock in milliseconds, default `Date.now`. The windows of the rate limit follow it too. */
  readonly now?: () => number
  /** Default `shop`: a small organization with three services. */
  readonly data?: 'shop' | 'empty'
  /** How the neutral dialect wraps observability answers: bare (default), `{data}`, or `{status, requestId, result}`. */
  readonly lists?: 'plain' | 'data' | 'envelope'
  /** Neutral only: `object` answers `costs` as an object when there is exactly one record. Default `array`. */
  readonly costs?: 'array' | 'object'
}

export interface Settings {
  readonly dialect: Dialect
  readonly host: string
  readonly port: number
  readonly rateLimit: RateLimit | undefined
  readonly pageLimit: number
  readonly now: () => number
  readonly data: 'shop' | 'empty'
  readonly lists: 'plain' | 'data' | 'envelope'
  readonly costs: 'array' | 'object'
  /** The path segment of dashboards, alerts and sources. */
  readonly segment: string
  /** The word in which cost fields end. */
  readonly unit: string
}

export function toSettings(options: EmulatorOptions): Settings {
  const dialect = options.dialect ?? 'neutral'
  const cloud = dialect === 'clickhouse-cloud'
  // 10 requests per 10 s and key: the product's own documentation of its limits.
  const rateLimit = options.rateLimit ?? (cloud ? { limit: 10, windowMs: 10_000 } : 'off')
  return {
    dialect,
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    rateLimit: rateLimit === 'off' ? undefined : rateLimit,
    pageLimit: options.pageLimit ?? 1000,
    now: options.now ?? Date.now,
    data: options.data ?? 'shop',
    lists: cloud ? 'envelope' : (options.lists ?? 'plain'),
    costs: cloud ? 'array' : (options.costs ?? 'array'),
    segment: cloud ? 'clickstack' : 'observability',
    unit: cloud ? 'CHC' : 'Credits',
  }
}
