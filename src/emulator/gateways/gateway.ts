import type { Answer, Headers } from '../answer.ts'
import type { EmulatorContext } from '../context.ts'
import type { Ids } from '../ids.ts'
import type { Incoming } from '../incoming.ts'
import { isJsonObject } from '../json.ts'
import { withNewFields } from '../new-fields.ts'
import { answerProduct, type Route } from '../product/product.ts'
import type { ProductResponse } from '../product/request.ts'
import type { Quota } from '../rate-limit.ts'
import type { ApiKey, Service } from '../store.ts'
import { withUnknownDefaults } from '../unknown-defaults.ts'

export type Credentials = 'valid' | 'absent' | 'wrong'

/** Who sent a request. */
export interface Identity {
  readonly credentials: Credentials
  /** The key as it was sent: each has its own rate limit, known or not. */
  readonly keyId: string
  readonly key?: ApiKey
}

/** What stands between a client and the product: addresses, keys, envelopes. A dialect of the emulator is a gateway. */
export interface Gateway {
  readonly longestBody: number
  identify(context: EmulatorContext, authorization: string | undefined): Identity
  /** Whether the request counts against the limit of its key. */
  isLimited(incoming: Incoming): boolean
  toLimitHeaders(quota: Quota): Headers
  toTooManyRequests(): Answer
  answer(context: EmulatorContext, incoming: Incoming, identity: Identity): Answer
  /** An error that the gateway makes up itself. */
  toError(ids: Ids, status: number, code: string, message: string): Answer
  /** A success without asking the product, for faults. */
  toResult(ids: Ids, result: unknown): Answer
}

export const isUsable = ({ state, expireAt }: ApiKey, nowMs: number): boolean =>
  state === 'enabled' && (expireAt === null || Date.parse(expireAt) > nowMs)

interface ProductCall {
  readonly context: EmulatorContext
  readonly service: Service
  readonly route: Route
  readonly method: string
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/** Asks the product, and plays the server that the options want. */
export function askProduct({ context, service, route, method, query, body }: ProductCall): ProductResponse {
  const { settings, ids, clock, unknownDefaults } = context
  const request = { service, ids, nowMs: clock.now(), settings, id: route.id, query, body }
  const { newFieldPrefix } = settings
  const response =
    newFieldPrefix === undefined
      ? answerProduct(route, request)
      : withNewFields(newFieldPrefix, request, { isWrite: method !== 'GET' }, (stripped) => answerProduct(route, stripped))
  if (unknownDefaults === undefined || response.status !== 200 || !isJsonObject(response.body) || !('data' in response.body))
    return response
  return { ...response, body: { ...response.body, data: withUnknownDefaults(unknownDefaults, route.resource, response.body.data) } }
}
