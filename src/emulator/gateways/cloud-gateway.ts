import { type Answer, type Headers, toJson, toNotServed } from '../answer.ts'
import type { EmulatorContext } from '../context.ts'
import type { Ids } from '../ids.ts'
import { type Incoming, isJsonType, pathnameOf, queryFieldsOf } from '../incoming.ts'
import { isJsonObject, parseOrUndefined } from '../json.ts'
import type { Settings } from '../options.ts'
import { findHandler, type Route } from '../product/product.ts'
import type { ProductResponse } from '../product/request.ts'
import type { Quota } from '../rate-limit.ts'
import { badRequest, Refusal } from '../refusal.ts'
import type { JsonObject, Permission } from '../store.ts'
import { createPlatformRoutes, createResourcePattern, type Match, matchPath, requireService, toPlatformCall } from './cloud-routes.ts'
import { findUndocumented } from './documented-fields.ts'
import { askProduct, type Gateway, type Identity, isUsable } from './gateway.ts'

const longestBody = 5 * 1024 * 1024

/**
 * ClickHouse Cloud, and the neutral contract: organizations and services in the path, HTTP Basic, the envelope `{status, requestId,
 * result}`, and a validation of bodies before the product sees them.
 */
export function createCloudGateway(settings: Settings): Gateway {
  const platformRoutes = createPlatformRoutes(settings)
  const resourcePattern = createResourcePattern(settings)

  function answer(context: EmulatorContext, incoming: Incoming, identity: Identity): Answer {
    try {
      return (
        answerPlatform(context, incoming, identity) ??
        answerResource(context, incoming, identity) ??
        toNotServed(incoming.method, pathnameOf(incoming.path))
      )
    } catch (thrown) {
      const { status, code, message } = thrown instanceof Refusal ? thrown : toBug(thrown)
      return toError(context.ids, status, code, message)
    }
  }

  function answerPlatform(context: EmulatorContext, incoming: Incoming, identity: Identity): Answer | undefined {
    for (const route of platformRoutes) {
      const match = route.method === incoming.method ? matchPath(route.pattern, incoming.path) : undefined
      if (match === undefined) continue
      authorize(context, match, identity, route.permission)
      const result = route.handle(toPlatformCall(context, match, incoming))
      return toEnvelope(context.ids, Array.isArray(result) ? result.slice(0, settings.pageLimit) : result)
    }
    return undefined
  }

  function answerResource(context: EmulatorContext, incoming: Incoming, identity: Identity): Answer | undefined {
    const { method, path } = incoming
    const match = matchPath(resourcePattern, path)
    const route = match && findHandler(method, match.param('path'))
    if (match === undefined || route === undefined || !isServed(settings, method, route, match.param('path'))) return undefined
    authorize(context, match, identity, 'control-plane:service:manage-clickstack-api')
    const service = requireService(toPlatformCall(context, match, incoming))
    const hasBody = method === 'POST' || method === 'PUT'
    const body = hasBody ? requireDocumented(requireObject(incoming), settings, method, match.param('path')) : undefined
    const response = askProduct({ context, service, route, method, query: queryFieldsOf(path), body })
    return toResourceAnswer(settings, context.ids, route, response)
  }

  return {
    longestBody,
    identify,
    isLimited: () => true,
    toLimitHeaders,
    // Without status and request id: terraform-provider-clickhouse PR#366.
    toTooManyRequests: () => toJson(429, { error: 'TOO_MANY_REQUESTS' }),
    answer,
    toError,
    toResult: toEnvelope,
  }
}

function identify({ store, clock }: EmulatorContext, authorization: string | undefined): Identity {
  if (authorization === undefined) return { credentials: 'absent', keyId: '' }
  const pair = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  const text = pair === undefined ? '' : Buffer.from(pair, 'base64').toString()
  const colon = text.indexOf(':')
  const keyId = colon === -1 ? '' : text.slice(0, colon)
  const key = store.keys.find(({ id, secret }) => id === keyId && secret === text.slice(colon + 1))
  if (colon === -1 || key === undefined || !isUsable(key, clock.now())) return { credentials: 'wrong', keyId }
  return { credentials: 'valid', keyId, key }
}

function authorize({ store }: EmulatorContext, match: Match, { key, credentials }: Identity, permission: Permission): void {
  if (key === undefined) {
    const reason =
      credentials === 'absent' ? 'credentials are missing' : 'the API key is unknown, disabled or expired, or its secret is wrong'
    // The shape of a 401 is documented nowhere; it is taken to be that of every other error.
    throw new Refusal(401, 'UNAUTHORIZED', reason)
  }
  if (!key.permissions.includes(permission)) throw new Refusal(403, 'FORBIDDEN', `the API key is missing permission ${permission}`)
  const organizationId = match.param('organizationId')
  const isForeign = store.organizations.some(({ id }) => id === organizationId) && key.organizationId !== organizationId
  if (isForeign) throw new Refusal(403, 'FORBIDDEN', 'the API key belongs to another organization')
}

/** The cloud has no connections, and the neutral contract guarantees less than the cloud has. */
function isServed({ dialect }: Settings, method: string, { resource, id }: Route, path: string): boolean {
  if (resource === 'connections') return false
  if (dialect === 'clickhouse-cloud') return true
  if (path === 'dashboards/validate') return false
  return resource === 'dashboards' || resource === 'alerts' || (resource === 'sources' && method === 'GET' && id === '')
}

function requireObject(incoming: Incoming): JsonObject {
  if (incoming.isTooLarge) throw new Refusal(413, 'PAYLOAD_TOO_LARGE', `request body is larger than ${longestBody} bytes`)
  // The specification declares this type only for bodies; a server of this kind does not parse any other.
  if (!isJsonType(incoming)) throw badRequest('request body must be sent as application/json')
  const value = parseOrUndefined(incoming.text)
  if (value === undefined) throw badRequest('request body is not valid JSON')
  if (!isJsonObject(value)) throw badRequest('request body must be an object')
  return value
}

/** The gateway refuses what the vendor's document does not have, ids included: terraform-provider-clickhouse PR#654. */
function requireDocumented(body: JsonObject, { dialect, newFieldPrefix }: Settings, method: string, path: string): JsonObject {
  const [resource = '', last] = path.split('/')
  const facts = { method, resource, isValidation: last === 'validate', isNeutral: dialect === 'neutral', newFieldPrefix }
  const undocumented = findUndocumented(body, facts)
  if (undocumented !== undefined) throw badRequest(`request body property can't be validated: ${undocumented}`)
  return body
}

function toResourceAnswer(settings: Settings, ids: Ids, { resource }: Route, { status, body, total }: ProductResponse): Answer {
  if (status !== 200) return toError(ids, status, codeOf(status), String(isJsonObject(body) ? body.message : body))
  const headers = total === undefined || settings.isTotalHidden ? {} : { 'X-Total-Count': String(total) }
  const result = !isJsonObject(body) || Object.keys(body).length === 0 ? undefined : 'data' in body ? body.data : body
  const shown = settings.dialect === 'neutral' && resource === 'alerts' ? toNeutralAlerts(result) : result
  if (settings.lists === 'envelope') return toEnvelope(ids, shown, headers)
  if (shown === undefined) return toJson(200, {})
  return toJson(200, settings.lists === 'data' ? { data: shown } : shown)
}

const codeOf = (status: number): string => ({ 400: 'BAD_REQUEST', 404: 'NOT_FOUND', 409: 'CONFLICT' })[status] ?? 'INTERNAL_ERROR'

const neutralAlertFields = 'id teamId state dashboardId tileId threshold interval source thresholdType channel name message'.split(' ')

function toNeutralAlerts(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(toNeutralAlerts)
  if (!isJsonObject(result)) return result
  return Object.fromEntries(Object.entries(result).filter(([name]) => neutralAlertFields.includes(name)))
}

/** After a deletion there is no result. */
const toEnvelope = (ids: Ids, result: unknown, headers: Headers = {}): Answer =>
  toJson(200, { status: 200, requestId: ids.uuid(), result }, headers)

const toError = (ids: Ids, status: number, code: string, message: string): Answer =>
  toJson(status, { status, error: `${code}: ${message}`, requestId: ids.uuid() })

/** Source of form and names: the server code quoted in terraform-provider-clickhouse#148. */
const toLimitHeaders = ({ limit, remaining, resetMs, windowMs }: Quota): Headers => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(remaining),
  // Seconds that remain, fractional: no epoch, and no whole number.
  'X-RateLimit-Reset': String(resetMs / 1000),
  'X-RateLimit-Policy': `${limit};w=${windowMs / 1000};comment="fixed window"`,
})

function toBug(thrown: unknown): Refusal {
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return new Refusal(500, 'INTERNAL_ERROR', `this is a bug in the emulator, please report it: ${reason}`)
}
