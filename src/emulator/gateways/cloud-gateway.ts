import { parseJsonOrUndefined } from '../../platform/core/json.ts'
import type { EmulatorContext } from '../context.ts'
import type { Ids } from '../deterministic.ts'
import {
  type Headers,
  type HttpRequest,
  type HttpResponse,
  isJsonType,
  jsonResponse,
  noRouteResponse,
  pathnameOf,
  queryFieldsOf,
  queryOf,
} from '../http.ts'
import type { Settings } from '../options.ts'
import { findRoute } from '../product/product.ts'
import type { ProductResponse } from '../product/request.ts'
import { evaluateSql, toJsonFormat, UnsupportedQuery } from '../product/sql.ts'
import { isJsonObject, type JsonObject, type Organization, type Permission, type Service } from '../store.ts'
import {
  getBackup,
  getBackupConfiguration,
  getCreditBalances,
  getOrganization,
  getService,
  getUsageCost,
  getWhoami,
  listActivities,
  listBackups,
  listKeys,
  listServices,
  type PlatformCall,
  type ServiceCall,
  stateOf,
} from './cloud-platform.ts'
import { findUndocumented } from './documented-fields.ts'
import { badRequest, callProduct, type Gateway, GatewayError, type Identity, isUsable, notFound, toSqlContext } from './gateway.ts'

const maxCloudBody = 5 * 1024 * 1024

/**
 * ClickHouse Cloud: organizations and services in the path, HTTP Basic, the envelope `{status, requestId,
 * result}`, and a validation of bodies before the product sees them.
 */
export function createCloudGateway(settings: Settings): Gateway {
  const platformRoutes = createPlatformRoutes()
  const resourcePattern = new URLPattern({ pathname: `${cloudServicePath}/${settings.segment}/:path+` })

  function handle(context: EmulatorContext, request: HttpRequest, identity: Identity): HttpResponse {
    try {
      return (
        handleQuery(context, request, identity) ??
        handleWhoami(context, request, identity) ??
        handlePlatform(context, request, identity) ??
        handleResource(context, request, identity) ??
        noRouteResponse(request.method, pathnameOf(request.path))
      )
    } catch (cause) {
      if (cause instanceof UnsupportedQuery) return toError(context.ids, 501, 'NOT_IMPLEMENTED', cause.message)
      if (!(cause instanceof GatewayError)) throw cause
      return toError(context.ids, cause.status, cause.code, cause.message)
    }
  }

  /** Any key may ask about itself. */
  function handleWhoami({ ids }: EmulatorContext, { method, path }: HttpRequest, { key }: Identity): HttpResponse | undefined {
    if (method !== 'GET' || pathnameOf(path) !== '/v1/whoami' || key === undefined) return undefined
    return toEnvelope(ids, getWhoami(key))
  }

  function handlePlatform(context: EmulatorContext, request: HttpRequest, identity: Identity): HttpResponse | undefined {
    for (const route of platformRoutes) {
      const match = request.method === 'GET' ? matchPath(route.pattern, request.path) : undefined
      if (match === undefined) continue
      authorize(context, match, identity, route.permission)
      const result = route.handle(toPlatformCall(context, match, request))
      return toEnvelope(context.ids, Array.isArray(result) ? result.slice(0, settings.pageLimit) : result)
    }
    return undefined
  }

  function handleResource(context: EmulatorContext, request: HttpRequest, identity: Identity): HttpResponse | undefined {
    const { method } = request
    const match = matchPath(resourcePattern, request.path)
    if (match === undefined) return undefined
    const path = match.param('path')
    const route = findRoute(method, path)
    if (route === undefined || !(route.resource !== 'connections' && route.resource !== 'charts')) return undefined
    authorize(context, match, identity, 'control-plane:service:manage-clickstack-api')
    const service = requireService(toPlatformCall(context, match, request))
    const body = method === 'POST' || method === 'PUT' ? requireObject(request) : undefined
    const undocumented = body && findUndocumented(body, method, route.resource, settings.variant.acceptsField ?? (() => false))
    // Ids included: terraform-provider-clickhouse PR#654.
    if (undocumented !== undefined) throw badRequest(`request body property can't be validated: ${undocumented}`)
    const response = callProduct({ context, service, route, method, query: queryFieldsOf(request.path), body })
    return toResourceResponse(context.ids, response)
  }

  return {
    maxBodyBytes: maxCloudBody,
    identify: identifyPair,
    isLimited: () => true,
    // Source of form and names: the server code quoted in terraform-provider-clickhouse#148.
    toLimitHeaders: ({ limit, remaining, resetMs, windowMs }) => ({
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': String(remaining),
      // Fractional seconds that remain, not an epoch.
      'X-RateLimit-Reset': String(resetMs / 1000),
      'X-RateLimit-Policy': `${limit};w=${windowMs / 1000};comment="fixed window"`,
    }),
    // The body has no status and no request id: terraform-provider-clickhouse PR#366.
    toTooManyRequests: () => jsonResponse(429, { error: 'TOO_MANY_REQUESTS' }),
    handle,
    toError,
    toResult: toEnvelope,
  }
}

/**
 * The query endpoints, which have a host of their own in the cloud. Source: the vendor's documentation of query endpoints and its command
 * line (clickhousectl). No server was asked: the forms of errors are assumed.
 */
function handleQuery(context: EmulatorContext, request: HttpRequest, identity: Identity): HttpResponse | undefined {
  const match = request.method === 'POST' ? matchPath(queryPattern, request.path) : undefined
  if (match === undefined || context.settings.dialect !== 'clickhouse-cloud') return undefined
  if (identity.key === undefined)
    throw new GatewayError(401, 'UNAUTHORIZED', 'the API key is not listed in the query endpoint of the service')
  const services = context.store.organizations.flatMap((organization) => organization.services)
  const service = services.find(({ id }) => id === match.param('serviceId'))
  if (service === undefined) throw notFound('the service does not exist')
  // A query wakes a service that sleeps.
  if (service.state === 'idle') service.state = 'running'
  const state = stateOf(service, context.settings.now())
  if (state !== 'running') throw badRequest(`the service is ${state}`)
  const { sql, queryVariables } = requireObject(request)
  const variables = isJsonObject(queryVariables) ? queryVariables : {}
  const result = evaluateSql(
    { sql: String(sql), startMs: Number(variables.startDateMilliseconds), endMs: Number(variables.endDateMilliseconds) },
    toSqlContext(context, service),
  )
  if ('error' in result) throw badRequest(result.error)
  return jsonResponse(200, toJsonFormat(result))
}

const queryPattern = new URLPattern({ pathname: '/service/:serviceId/run' })

interface PlatformRoute {
  readonly pattern: URLPattern
  readonly permission: Permission
  handle(call: PlatformCall): unknown
}

const organizationPath = '/v1/organizations/:organizationId'
const cloudServicePath = `${organizationPath}/services/:serviceId`

/**
 * All are reads. Permissions are those that the vendor's own command line asks for (clickhousectl, `src/meta/operations.rs`). That of
 * activities is what RunReveal's documentation of its ClickHouse Cloud source asks for.
 */
function createPlatformRoutes(): readonly PlatformRoute[] {
  return [
    route(`${organizationPath}/usageCost`, 'control-plane:organization:view', getUsageCost),
    route(`${cloudServicePath}/backups`, 'control-plane:service:view-backups', withService(listBackups)),
    route(`${cloudServicePath}/backups/:id`, 'control-plane:service:view-backups', withService(getBackup)),
    route(organizationPath, 'control-plane:organization:view', getOrganization),
    route(`${organizationPath}/services`, 'control-plane:service:view', listServices),
    route(`${organizationPath}/activities`, 'control-plane:organization:view-activities', listActivities),
    route(`${organizationPath}/keys`, 'control-plane:organization:view-api-keys', listKeys),
    route(`${organizationPath}/creditBalances`, 'control-plane:organization:view-billing', getCreditBalances),
    route(cloudServicePath, 'control-plane:service:view', withService(getService)),
    route(`${cloudServicePath}/backupConfiguration`, 'control-plane:service:view-backups', withService(getBackupConfiguration)),
  ]
}

const route = (pathname: string, permission: Permission, handle: PlatformRoute['handle']) => ({
  pattern: new URLPattern({ pathname }),
  permission,
  handle,
})

const withService =
  (handle: (call: ServiceCall) => unknown) =>
  (call: PlatformCall): unknown =>
    handle({ ...call, service: requireService(call) })

interface PathMatch {
  param(name: string): string
}

function matchPath(pattern: URLPattern, path: string): PathMatch | undefined {
  const pathname = pathnameOf(path)
  if (isRewrittenByUrlPattern(pathname)) return undefined
  const match = pattern.exec({ pathname })
  return match === null ? undefined : { param: (name) => match.pathname.groups[name] ?? '' }
}

// URLPattern resolves dot segments, as a browser does. The API's server does not, so that such a path must not reach a handler.
const isRewrittenByUrlPattern = (pathname: string) => !pathname.startsWith('/') || /(^|\/)(\.|%2e){1,2}(\/|$)|\\/i.test(pathname)

const toPlatformCall = (context: EmulatorContext, match: PathMatch, { path }: HttpRequest) => ({
  context,
  organization: requireOrganization(context, match),
  query: queryOf(path),
  param: match.param,
})

function requireOrganization({ store }: EmulatorContext, match: PathMatch): Organization {
  const id = match.param('organizationId')
  const found = store.organizations.find((one) => one.id === id)
  if (found === undefined) throw notFound(`organization ${id} does not exist`)
  return found
}

function requireService(call: PlatformCall): Service {
  const id = call.param('serviceId')
  const found = call.organization.services.find((one) => one.id === id)
  if (found === undefined) throw notFound(`service ${id} does not exist`)
  return found
}

function identifyPair({ store, settings }: EmulatorContext, authorization: string | undefined): Identity {
  if (authorization === undefined) return { credentials: 'absent', keyId: '' }
  const pair = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1]
  const text = pair === undefined ? '' : Buffer.from(pair, 'base64').toString()
  const colon = text.indexOf(':')
  const keyId = colon === -1 ? '' : text.slice(0, colon)
  const key = store.keys.find(({ id, secret }) => id === keyId && secret === text.slice(colon + 1))
  if (colon === -1 || key === undefined || !isUsable(key, settings.now())) return { credentials: 'wrong', keyId }
  return { credentials: 'valid', keyId, key }
}

function authorize({ store }: EmulatorContext, match: PathMatch, { key, credentials }: Identity, permission: Permission) {
  if (key === undefined) {
    const reason =
      credentials === 'absent' ? 'credentials are missing' : 'the API key is unknown, disabled or expired, or its secret is wrong'
    // The form of a 401 is not documented. It is assumed to be that of every other error.
    throw new GatewayError(401, 'UNAUTHORIZED', reason)
  }
  if (!key.permissions.includes(permission)) throw new GatewayError(403, 'FORBIDDEN', `the API key is missing permission ${permission}`)
  const organizationId = match.param('organizationId')
  const isOther = store.organizations.some(({ id }) => id === organizationId) && key.organizationId !== organizationId
  if (isOther) throw new GatewayError(403, 'FORBIDDEN', 'the API key belongs to another organization')
}

function requireObject(request: HttpRequest): JsonObject {
  if (request.isTooLarge) throw new GatewayError(413, 'PAYLOAD_TOO_LARGE', `request body is larger than ${maxCloudBody} bytes`)
  // The specification declares only this type for bodies.
  if (!isJsonType(request)) throw badRequest('request body must be sent as application/json')
  const value = parseJsonOrUndefined(request.text)
  if (value === undefined) throw badRequest('request body is not valid JSON')
  if (!isJsonObject(value)) throw badRequest('request body must be an object')
  return value
}

function toResourceResponse(ids: Ids, { status, body, total }: ProductResponse): HttpResponse {
  if (status !== 200)
    return toError(
      ids,
      status,
      { 400: 'BAD_REQUEST', 404: 'NOT_FOUND', 409: 'CONFLICT' }[status] ?? 'INTERNAL_ERROR',
      String(isJsonObject(body) ? body.message : body),
    )
  const result = !isJsonObject(body) || Object.keys(body).length === 0 ? undefined : 'data' in body ? body.data : body
  return toEnvelope(ids, result, total === undefined ? {} : { 'X-Total-Count': String(total) })
}

/** A deletion has no result. */
const toEnvelope = (ids: Ids, result: unknown, headers: Headers = {}) =>
  jsonResponse(200, { status: 200, requestId: ids.uuid(), result }, headers)

const toError = (ids: Ids, status: number, code: string, message: string) =>
  jsonResponse(status, { status, error: `${code}: ${message}`, requestId: ids.uuid() })
