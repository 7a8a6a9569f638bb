import { addDays, countDays, dayOf, isDay } from '../../platform/core/dates.ts'
import type { ExactNumber } from '../../platform/core/json.ts'
import type { Ids } from '../deterministic.ts'
import { type Headers, type HttpRequest, type HttpResponse, jsonResponse, noRouteResponse, pathnameOf, queryOf } from '../http.ts'
import type { EmulatorContext, Settings } from '../options.ts'
import { findRoute } from '../product/product.ts'
import type { ProductResponse } from '../product/request.ts'
import { evaluateSql, toJsonFormat, UnsupportedQuery } from '../product/sql.ts'
import {
  type ApiKey,
  type Backup,
  type CreditBalance,
  isJsonObject,
  type JsonObject,
  type Organization,
  type Permission,
  type Service,
  type Tag,
  type UsageRecord,
} from '../store.ts'
import { findUndocumented } from './documented-fields.ts'
import {
  badRequest,
  callProduct,
  type Gateway,
  GatewayError,
  type Identity,
  identifyKey,
  notFound,
  requireJson,
  toSqlContext,
  totalHeaders,
} from './gateway.ts'

const maxCloudBody = 5 * 1024 * 1024

/**
 * ClickHouse Cloud: organizations and services in the path, HTTP Basic, the envelope `{status, requestId,
 * result}`, and a validation of bodies before the product sees them.
 */
export function createCloudGateway(settings: Settings): Gateway {
  const platformRoutes = reads.map(([pathname, permission, read]) => ({ pattern: new URLPattern({ pathname }), permission, read }))
  const resourcePattern = new URLPattern({ pathname: `${cloudServicePath}/${settings.segment}/:path+` })

  function handle(context: EmulatorContext, request: HttpRequest, identity: Identity): HttpResponse {
    const { ids } = context
    const [pathname, { key }] = [pathnameOf(request.path), identity]
    try {
      // Any key may ask about itself: "Resolve the caller identity" in the vendor's API reference of October 2026, without an example.
      if (request.method === 'GET' && pathname === '/v1/whoami' && key !== undefined)
        return toEnvelope(ids, { actorType: 'key', organizationId: key.organizationId, ...toKeyView(key) })
      return (
        handleQuery(context, request, identity) ??
        handlePlatform(context, request, identity) ??
        handleResource(context, request, identity) ??
        noRouteResponse(request.method, pathname)
      )
    } catch (cause) {
      if (cause instanceof UnsupportedQuery) return toError(ids, 501, 'NOT_IMPLEMENTED', cause.message)
      if (!(cause instanceof GatewayError)) throw cause
      return toError(ids, cause.status, cause.code, cause.message)
    }
  }

  function handlePlatform(context: EmulatorContext, request: HttpRequest, identity: Identity): HttpResponse | undefined {
    for (const { pattern, permission, read } of platformRoutes) {
      const param = request.method === 'GET' ? matchPath(pattern, request.path) : undefined
      if (param === undefined) continue
      const result = read(toPlatformCall(context, request, authorize(identity, permission), param))
      return toEnvelope(context.ids, Array.isArray(result) ? result.slice(0, settings.pageLimit) : result)
    }
    return undefined
  }

  function handleResource(context: EmulatorContext, request: HttpRequest, identity: Identity): HttpResponse | undefined {
    const { method } = request
    const param = matchPath(resourcePattern, request.path)
    const route = param && findRoute(method, param('path'))
    if (param === undefined || route === undefined || route.resource === 'connections' || route.resource === 'charts') return undefined
    const key = authorize(identity, 'control-plane:service:manage-clickstack-api')
    const service = requireService(toPlatformCall(context, request, key, param))
    const body = method === 'POST' || method === 'PUT' ? requireObject(request) : undefined
    const undocumented = body && findUndocumented(body, method, route.resource, settings.variant.acceptsField ?? (() => false))
    // Ids included: terraform-provider-clickhouse PR#654.
    if (undocumented !== undefined) throw badRequest(`request body property can't be validated: ${undocumented}`)
    return toResourceResponse(context.ids, callProduct(context, service, route, { ...request, body }))
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
  const param = request.method === 'POST' ? matchPath(queryPattern, request.path) : undefined
  if (param === undefined) return undefined
  if (identity.key === undefined)
    throw new GatewayError(401, 'UNAUTHORIZED', 'the API key is not listed in the query endpoint of the service')
  const services = context.store.organizations.flatMap((organization) => organization.services)
  const service = services.find(({ id }) => id === param('serviceId'))
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

const organizationPath = '/v1/organizations/:organizationId'
const cloudServicePath = `${organizationPath}/services/:serviceId`

/** A read of an organization, a service, backups or the usage cost: everything but the observability resources. */
interface PlatformCall {
  readonly organization: Organization
  readonly keys: readonly ApiKey[]
  readonly nowMs: number
  readonly query: URLSearchParams
  readonly param: PathParam
}

type PathParam = (name: string) => string

/**
 * Permissions are those that the vendor's own command line asks for (clickhousectl, `src/meta/operations.rs`). That of activities is what
 * RunReveal's documentation of its ClickHouse Cloud source asks for.
 */
const reads: readonly (readonly [path: string, permission: Permission, read: (call: PlatformCall) => unknown])[] = [
  [`${organizationPath}/usageCost`, 'control-plane:organization:view', getUsageCost],
  [`${cloudServicePath}/backups`, 'control-plane:service:view-backups', (call) => sortBackups(requireService(call).backups)],
  [`${cloudServicePath}/backups/:id`, 'control-plane:service:view-backups', getBackup],
  [organizationPath, 'control-plane:organization:view', ({ organization: { id, name, createdAt } }) => ({ id, name, createdAt })],
  [
    `${organizationPath}/services`,
    'control-plane:service:view',
    ({ organization, nowMs }) => organization.services.map((service) => toServiceView(service, nowMs)),
  ],
  [`${organizationPath}/activities`, 'control-plane:organization:view-activities', listActivities],
  [`${organizationPath}/keys`, 'control-plane:organization:view-api-keys', ({ keys }) => keys.map(toKeyView)],
  [`${organizationPath}/creditBalances`, 'control-plane:organization:view-billing', getCreditBalances],
  [cloudServicePath, 'control-plane:service:view', (call) => toServiceView(requireService(call), call.nowMs)],
  [`${cloudServicePath}/backupConfiguration`, 'control-plane:service:view-backups', (call) => requireService(call).backupConfiguration],
]

function matchPath(pattern: URLPattern, path: string): PathParam | undefined {
  const pathname = pathnameOf(path)
  // URLPattern resolves dot segments, as a browser does. The API's server does not, so that such a path must not reach a handler.
  const match = !pathname.startsWith('/') || /(^|\/)(\.|%2e){1,2}(\/|$)|\\/i.test(pathname) ? null : pattern.exec({ pathname })
  return match === null ? undefined : (name) => match.pathname.groups[name] ?? ''
}

function requireService({ organization, param }: PlatformCall): Service {
  const id = param('serviceId')
  const found = organization.services.find((one) => one.id === id)
  if (found === undefined) throw notFound(`service ${id} does not exist`)
  return found
}

function identifyPair(context: EmulatorContext, authorization: string | undefined): Identity {
  const pair = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '')?.[1] ?? ''
  const [, keyId, own] = /^([^:]*):(.*)$/s.exec(Buffer.from(pair, 'base64').toString()) ?? []
  return identifyKey(context, authorization, keyId, ({ id, secret }) => id === keyId && secret === own)
}

function authorize({ key, credentials }: Identity, permission: Permission): ApiKey {
  if (key === undefined) {
    const reason =
      credentials === 'absent' ? 'credentials are missing' : 'the API key is unknown, disabled or expired, or its secret is wrong'
    // The form of a 401 is not documented. It is assumed to be that of every other error.
    throw new GatewayError(401, 'UNAUTHORIZED', reason)
  }
  if (!key.permissions.includes(permission)) throw new GatewayError(403, 'FORBIDDEN', `the API key is missing permission ${permission}`)
  return key
}

function toPlatformCall({ store, settings }: EmulatorContext, { path }: HttpRequest, key: ApiKey, param: PathParam): PlatformCall {
  const organizationId = param('organizationId')
  const organization = store.organizations.find(({ id }) => id === organizationId)
  if (organization === undefined) throw notFound(`organization ${organizationId} does not exist`)
  if (key.organizationId !== organizationId) throw new GatewayError(403, 'FORBIDDEN', 'the API key belongs to another organization')
  const keys = store.keys.filter((one) => one.organizationId === organizationId)
  return { organization, keys, nowMs: settings.now(), query: queryOf(path), param }
}

function requireObject(request: HttpRequest): JsonObject {
  if (request.isTooLarge) throw new GatewayError(413, 'PAYLOAD_TOO_LARGE', `request body is larger than ${maxCloudBody} bytes`)
  const value = requireJson(request)
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
  return toEnvelope(ids, result, totalHeaders(total))
}

/** A deletion has no result. */
const toEnvelope = (ids: Ids, result: unknown, headers: Headers = {}) =>
  jsonResponse(200, { status: 200, requestId: ids.uuid(), result }, headers)

const toError = (ids: Ids, status: number, code: string, message: string) =>
  jsonResponse(status, { status, error: `${code}: ${message}`, requestId: ids.uuid() })

// Reads of the platform.

/** The states on the way are assumed: no server was asked. */
const stateOf = ({ state, runsAt }: Service, nowMs: number) => (runsAt !== undefined && Date.parse(runsAt) > nowMs ? 'provisioning' : state)

/** Fields: the vendor's OpenAPI document of 2026-07-31. */
function toServiceView(service: Service, nowMs: number): JsonObject {
  const { id, name, provider, region, dataWarehouseId, isPrimary, isReadonly = false, tags, createdAt } = service
  // A new service is open to every address: the vendor's page about idling.
  const { idleScaling = !isPrimary, idleTimeoutMinutes = 15, ipAccessList = [{ source: '0.0.0.0/0', description: 'Anywhere' }] } = service
  return {
    ...{ id, name, provider, region, state: stateOf(service, nowMs), clickhouseVersion: '26.6' },
    ...{ minReplicaMemoryGb: 16, maxReplicaMemoryGb: 120, numReplicas: 3, autoscalingMode: 'vertical' },
    ...{ idleScaling, idleTimeoutMinutes, ipAccessList, createdAt, dataWarehouseId, isPrimary, isReadonly, tags },
  }
}

const sortBackups = (backups: readonly Backup[]) => {
  const startMs = ({ startedAt }: Backup): number => (startedAt === undefined ? 0 : Date.parse(startedAt))
  return backups.toSorted((a, b) => startMs(b) - startMs(a))
}

function getBackup(call: PlatformCall): Backup {
  const id = call.param('id')
  const backup = requireService(call).backups.find((one) => one.id === id)
  if (backup === undefined) throw notFound(`backup ${id} does not exist`)
  return backup
}

/**
 * Bounds may be days or date-times: the OpenAPI document has `date-time`, and the vendor's command line sends days (clickhousectl,
 * `cloud activity list`). Whether a day as `to_date` includes that day is not documented. The order is not documented either; it is
 * assumed to be that of backups.
 */
function listActivities({ organization, query }: PlatformCall): unknown {
  const fromMs = toInstant(query, 'from_date') ?? Number.NEGATIVE_INFINITY
  const toMs = toInstant(query, 'to_date') ?? Number.POSITIVE_INFINITY
  return organization.activities
    .map((activity) => ({ activity, atMs: Date.parse(activity.createdAt) }))
    .filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
    .toSorted((a, b) => b.atMs - a.atMs)
    .map(({ activity }) => ({ organizationId: organization.id, ...activity }))
}

function toInstant(query: URLSearchParams, name: string) {
  const text = query.get(name)
  if (text === null) return undefined
  const ms = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) throw badRequest(`${name} must be a date or a date-time`)
  return ms
}

/**
 * Credits that can be used, soonest expiry first. Source: "Get organization active credit balances" in the vendor's API reference, and the
 * recorded answer in the tests of the vendor's command line (clickhousectl, `org_balance_preserves_json_and_supports_oauth`).
 */
function getCreditBalances({ organization, nowMs }: PlatformCall): unknown {
  const isActive = ({ startDate, expirationDate, totalMicro, spentMicro }: CreditBalance): boolean =>
    Date.parse(startDate) <= nowMs && Date.parse(expirationDate) > nowMs && totalMicro > spentMicro
  const active = organization.creditBalances
    .filter(isActive)
    .toSorted((a, b) => Date.parse(a.expirationDate) - Date.parse(b.expirationDate))
  return {
    totalRemainingCredits: toCredits(active.map(({ totalMicro, spentMicro }) => totalMicro - spentMicro)),
    balances: active.map(({ totalMicro, spentMicro, ...balance }) => ({
      ...balance,
      remainingCredits: toCredits([totalMicro - spentMicro]),
      totalAmount: toCredits([totalMicro]),
      amountSpent: toCredits([spentMicro]),
    })),
  }
}

/** Fields: the vendor's OpenAPI document of 2026-07-31. The console shows the last four characters of the id as the key's suffix. */
const toKeyView = ({ id, name, state, expireAt }: ApiKey) => ({ name, state, keySuffix: id.slice(-4), expireAt })

function getUsageCost({ organization, query, nowMs }: PlatformCall): unknown {
  const [from, to] = [requireDay(query, 'from_date'), requireDay(query, 'to_date')]
  if (to < from) throw badRequest('to_date must not be before from_date')
  // At most 30 days after from_date, both inclusive.
  if (countDays(from, to) > 31) throw badRequest('to_date must be at most 30 days after from_date')
  const filters = query.getAll('filter').map(toFilter)
  // When records become immutable is not documented. Three days are an assumption.
  const firstOpenDay = addDays(dayOf(nowMs), -3)
  const records = organization.usage
    .filter(({ date }) => date >= from && date <= to)
    .filter((record) => isTagged(organization, record, filters))
  const views = records.map((record) => toUsageView(record, firstOpenDay))
  return {
    grandTotalCHC: toCredits(records.flatMap(({ micro }) => Object.values(micro))),
    // An older copy of the documentation shows one record here instead of a list (clickhousectl#27).
    costs: views,
  }
}

function requireDay(query: URLSearchParams, name: string) {
  const [text, ...more] = query.getAll(name)
  if (text === undefined) throw badRequest(`${name} is required`)
  if (more.length > 0) throw badRequest(`${name} must be given once`)
  if (!isDay(text)) throw badRequest(`${name} must be a date in the form YYYY-MM-DD`)
  return text
}

// The specification's two forms: `tag:Key=Value` and `tag:Key`.
function toFilter(text: string): Tag {
  const [, key, value] = /^tag:([^=]+)(?:=(.*))?$/s.exec(text) ?? []
  if (key === undefined) throw badRequest('filter must have the form tag:Key=Value or tag:Key')
  return { key, ...(value !== undefined && { value }) }
}

// A record has the tags of its service. All filters must match. Records of a warehouse have no service and match none.
function isTagged({ services }: Organization, { serviceId }: UsageRecord, filters: readonly Tag[]) {
  const tags = services.find(({ id }) => id === serviceId)?.tags ?? []
  return filters.every(({ key, value }) => tags.some((tag) => tag.key === key && (value === undefined || tag.value === value)))
}

function toUsageView(record: UsageRecord, firstOpenDay: string): JsonObject {
  const { micro, locked, ...fields } = record
  return {
    ...fields,
    metrics: Object.fromEntries(Object.entries(micro).map(([name, amount]) => [`${name}CHC`, toCredits([amount])])),
    totalCHC: toCredits(Object.values(micro)),
    locked: locked ?? record.date < firstOpenDay,
  }
}

/** A sum of millionths of a credit as an exact decimal, without a float in between: 1250000 → 1.25, 3 → 0.000003. */
function toCredits(amounts: readonly number[]): ExactNumber {
  const micro = amounts.reduce((total, amount) => total + BigInt(amount), 0n)
  const sign = micro < 0n ? '-' : ''
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return JSON.rawJSON(`${sign}${digits.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`)
}
