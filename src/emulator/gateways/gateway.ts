import type { Ids } from '../deterministic.ts'
import { type Headers, type HttpRequest, type HttpResponse, queryFieldsOf } from '../http.ts'
import type { EmulatorContext, RateLimit } from '../options.ts'
import { handleRoute, type Route } from '../product/product.ts'
import type { ProductRequest, ProductResponse } from '../product/request.ts'
import type { SqlContext } from '../product/sql.ts'
import type { ApiKey, Service } from '../store.ts'

/** The layer between a client and the product: addresses, keys, envelopes. Every dialect of the emulator is a gateway. */
export interface Gateway {
  readonly maxBodyBytes: number
  identify(context: EmulatorContext, authorization: string | undefined): Identity
  isLimited(request: HttpRequest): boolean
  toLimitHeaders(quota: Quota): Headers
  toTooManyRequests(): HttpResponse
  handle(context: EmulatorContext, request: HttpRequest, identity: Identity): HttpResponse
  toError(ids: Ids, status: number, code: string, message: string): HttpResponse
  /** A success that the product was not asked for; for faults. */
  toResult(ids: Ids, result: unknown): HttpResponse
}

export type Credentials = 'valid' | 'absent' | 'wrong'

/** Who sent a request. */
export interface Identity {
  readonly credentials: Credentials
  /** The key as it was sent. Every key has its own rate limit, unknown keys included. */
  readonly keyId: string
  readonly key?: ApiKey
}

export const isUsable = ({ state, expireAt }: ApiKey, nowMs: number): boolean =>
  state === 'enabled' && (expireAt === null || Date.parse(expireAt) > nowMs)

/** A request that the gateway rejects itself. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export const badRequest = (message: string): GatewayError => new GatewayError(400, 'BAD_REQUEST', message)

export const notFound = (message: string): GatewayError => new GatewayError(404, 'NOT_FOUND', message)

/** Passes a request on to the product. */
export function callProduct(
  { settings, ids }: EmulatorContext,
  service: Service,
  route: Route,
  { method, path, body }: HttpRequest & { readonly body: unknown },
): ProductResponse {
  const request = { service, ids, nowMs: settings.now(), settings, id: route.id, query: queryFieldsOf(path), body }
  const product = (passed: ProductRequest): ProductResponse => handleRoute(route, passed)
  const { handle } = settings.variant
  return handle === undefined ? product(request) : handle({ ...request, method, resource: route.resource }, product)
}

export const toSqlContext = ({ settings }: EmulatorContext, service: Service): SqlContext => ({
  service,
  nowMs: settings.now(),
  runSql: settings.runSql,
})

/** The state of a key's window after a request. */
export interface Quota {
  readonly isExceeded: boolean
  readonly limit: number
  readonly remaining: number
  readonly windowMs: number
  readonly resetMs: number
}

export type RateLimiter = ReturnType<typeof createRateLimiter>

/**
 * Fixed windows. A window opens with the first request of its key. With `isShared`, the windows of all keys follow each other from the
 * start of the server. A clock that is set back opens a new window.
 */
export function createRateLimiter({ limit, windowMs }: RateLimit, now: () => number, isShared: boolean) {
  const windows = new Map<string, { openedAtMs: number; used: number }>()
  const startedAtMs = now()
  return {
    take(key: string): Quota {
      const nowMs = now()
      const last = windows.get(key)
      const isOpen = last !== undefined && nowMs >= last.openedAtMs && nowMs < last.openedAtMs + windowMs
      const openedAtMs = isShared ? nowMs - ((nowMs - startedAtMs) % windowMs) : nowMs
      const window = isOpen ? last : { openedAtMs, used: 0 }
      windows.set(key, window)
      window.used++
      return {
        isExceeded: window.used > limit,
        limit,
        remaining: Math.max(0, limit - window.used),
        windowMs,
        resetMs: window.openedAtMs + windowMs - nowMs,
      }
    },
    reset: (): void => windows.clear(),
  }
}
