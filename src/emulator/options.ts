import { createIds, type Ids } from './deterministic.ts'
import type { ProductRequest, ProductResponse } from './product/request.ts'
import type { RunSql } from './product/sql.ts'
import { createEmpty, shopMaker } from './shop/shop.ts'
import type { Store } from './store.ts'

/** A fixed window: `limit` requests per key in every `windowMs`. */
export interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

/**
 * - `clickhouse-cloud`: ClickHouse Cloud, below `/v1/organizations/{organization}/services/{service}/clickstack`, behind a strict gateway.
 * - `hyperdx`: self-hosted HyperDX or ClickStack, below `/api/v2`, with the demo's `checkout` service as the only one.
 */
export type Dialect = 'clickhouse-cloud' | 'hyperdx'

/** A server that differs from the recorded product, to test clients against what may come. */
export interface ServerVariant {
  /** Whether the gateway of ClickHouse Cloud accepts a field that the vendor does not document. Default: none. */
  readonly acceptsField?: (name: string) => boolean
  /** Answers a request. It may change the request for the product, and the product's response. Default: only passes on. */
  readonly handle?: (request: VariantRequest, product: (request: ProductRequest) => ProductResponse) => ProductResponse
}

export interface VariantRequest extends ProductRequest {
  readonly method: string
  readonly resource: string
}

export interface EmulatorOptions {
  /** Default `clickhouse-cloud`. */
  readonly dialect?: Dialect
  /** Default 0: any free port. */
  readonly port?: number
  /** Default: `clickhouse-cloud` 10 requests in 10 seconds, `hyperdx` 100 in 60. */
  readonly rateLimit?: RateLimit | 'off'
  /**
   * The longest list of a response; the rest is silently left out. Default: the product's own limits, 1000 for alerts, saved searches
   * and webhooks, and none for the others.
   */
  readonly pageLimit?: number
  /**
   * Answers queries, in the place of a database. Undefined, as by default, leaves a query to the emulator, which only counts the events of
   * an SLO.
   */
  readonly runSql?: RunSql
  /** `hyperdx` only: whether `/mcp` exists. Default: true. */
  readonly hasMcp?: boolean
  /** `hyperdx` only: the version that `/health` states, default that of the recorded product. A build from source states `''` or `local`. */
  readonly serverVersion?: string
  /** The server's wall clock in milliseconds, default `Date.now`. The windows of the rate limit follow it too. */
  readonly now?: () => number
  /** Default `shop`: a small organization with three services. */
  readonly data?: 'shop' | 'empty'
}

/** The version of HyperDX whose answers were recorded. */
const recordedVersion = '2.36.0'

const dialects = {
  // 10 requests per 10 s and key: the vendor's documentation of its limits.
  'clickhouse-cloud': { rateLimit: { limit: 10, windowMs: 10_000 }, segment: 'clickstack' },
  hyperdx: { rateLimit: { limit: 100, windowMs: 60_000 }, segment: 'api/v2' },
} as const

function toSettings({ dialect = 'clickhouse-cloud', rateLimit, ...options }: EmulatorOptions, variant: ServerVariant) {
  const { rateLimit: usual, segment } = dialects[dialect]
  const limit: RateLimit | undefined = rateLimit === 'off' ? undefined : (rateLimit ?? usual)
  const defaults = { port: 0, serverVersion: recordedVersion, hasMcp: true, now: Date.now, data: 'shop' } as const
  return { pageLimit: undefined, runSql: undefined, ...defaults, ...options, dialect, segment, rateLimit: limit, variant }
}

/** The options with the defaults of the dialect filled in. */
export type Settings = ReturnType<typeof toSettings>

export interface EmulatorContext {
  readonly settings: Settings
  readonly store: Store
  readonly ids: Ids
  /** Restores ids and data. The store stays the same object. */
  reset(): void
}

export function createContext(options: EmulatorOptions, variant: ServerVariant): EmulatorContext {
  const settings = toSettings(options, variant)
  const ids = createIds()
  // Demo data depends on the time of the start. A later reset restores the same data, not data for a later day.
  const startedAtMs = settings.now()
  const createStore = settings.data === 'shop' ? shopMaker(ids, startedAtMs) : (): Store => createEmpty(ids, startedAtMs)
  const store = createStore()
  return {
    settings,
    store,
    ids,
    reset() {
      ids.reset()
      Object.assign(store, createStore())
    },
  }
}
