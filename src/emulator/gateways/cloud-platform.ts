import { addDays, countDays, dayOf, isDay } from '../../platform/core/dates.ts'
import type { ExactNumber } from '../../platform/core/json.ts'
import type { EmulatorContext } from '../context.ts'
import type { ApiKey, Backup, CreditBalance, JsonObject, Organization, Service, Tag, UsageRecord } from '../store.ts'
import { badRequest, notFound } from './gateway.ts'

/** A read of an organization, a service, backups or the usage cost: everything but the observability resources. */
export interface PlatformCall {
  readonly context: EmulatorContext
  readonly organization: Organization
  readonly query: URLSearchParams
  param(name: string): string
}

export interface ServiceCall extends PlatformCall {
  readonly service: Service
}

export const getOrganization = ({ organization: { id, name, createdAt } }: PlatformCall): unknown => ({ id, name, createdAt })

export const listServices = ({ organization, context }: PlatformCall): unknown =>
  organization.services.map((service) => toServiceView(service, context.settings.now()))

export const getService = ({ service, context }: ServiceCall): unknown => toServiceView(service, context.settings.now())

/** The states on the way are assumed: no server was asked. */
export const stateOf = ({ state, runsAt }: Service, nowMs: number): string =>
  runsAt !== undefined && Date.parse(runsAt) > nowMs ? 'provisioning' : state

/** A new service is open to every address: the vendor's page about idling. */
const everyAddress = [{ source: '0.0.0.0/0', description: 'Anywhere' }]

/** Fields: the vendor's OpenAPI document of 2026-07-31. */
function toServiceView(service: Service, nowMs: number): JsonObject {
  const { id, name, provider, region, dataWarehouseId, isPrimary, isReadonly = false, tags, createdAt } = service
  const { idleScaling = !isPrimary, idleTimeoutMinutes = 15, ipAccessList = everyAddress } = service
  return {
    id,
    name,
    provider,
    region,
    state: stateOf(service, nowMs),
    clickhouseVersion: '26.6',
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 120,
    numReplicas: 3,
    autoscalingMode: 'vertical',
    idleScaling,
    idleTimeoutMinutes,
    ipAccessList,
    createdAt,
    dataWarehouseId,
    isPrimary,
    isReadonly,
    tags,
  }
}

export const listBackups = ({ service }: ServiceCall): unknown => service.backups.toSorted((a, b) => backupStartMs(b) - backupStartMs(a))

const backupStartMs = ({ startedAt }: Backup) => (startedAt === undefined ? 0 : Date.parse(startedAt))

export function getBackup({ service, param }: ServiceCall): unknown {
  const id = param('id')
  const backup = service.backups.find((one) => one.id === id)
  if (backup === undefined) throw notFound(`backup ${id} does not exist`)
  return backup
}

export const getBackupConfiguration = ({ service }: ServiceCall): unknown => service.backupConfiguration

/**
 * Bounds may be days or date-times: the OpenAPI document has `date-time`, and the vendor's command line sends days (clickhousectl,
 * `cloud activity list`). Whether a day as `to_date` includes that day is not documented. The order is not documented either; it is
 * assumed to be that of backups.
 */
export function listActivities({ organization, query }: PlatformCall): unknown {
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
export function getCreditBalances({ organization, context }: PlatformCall): unknown {
  const nowMs = context.settings.now()
  const isActive = ({ startDate, expirationDate, totalMicro, spentMicro }: CreditBalance): boolean =>
    Date.parse(startDate) <= nowMs && Date.parse(expirationDate) > nowMs && totalMicro > spentMicro
  const active = organization.creditBalances
    .filter(isActive)
    .toSorted((a, b) => Date.parse(a.expirationDate) - Date.parse(b.expirationDate))
  return {
    totalRemainingCredits: toCredits(sumMicro(active.map(({ totalMicro, spentMicro }) => totalMicro - spentMicro))),
    balances: active.map(({ totalMicro, spentMicro, id, type, startDate, expirationDate }) => ({
      id,
      type,
      remainingCredits: toCredits(BigInt(totalMicro - spentMicro)),
      totalAmount: toCredits(BigInt(totalMicro)),
      amountSpent: toCredits(BigInt(spentMicro)),
      startDate,
      expirationDate,
    })),
  }
}

/** Fields: the vendor's OpenAPI document of 2026-07-31. The console shows the last four characters of the id as the key's suffix. */
export const listKeys = ({ context, organization }: PlatformCall): unknown =>
  context.store.keys.filter(({ organizationId }) => organizationId === organization.id).map(toKeyView)

const toKeyView = ({ id, name, state, expireAt }: ApiKey) => ({ name, state, keySuffix: id.slice(-4), expireAt })

/** Source: "Resolve the caller identity" in the vendor's API reference of October 2026, which has no example of an answer. */
export const getWhoami = (key: ApiKey): unknown => ({ actorType: 'key', organizationId: key.organizationId, ...toKeyView(key) })

// When records become immutable is not documented. Three days are an assumption.
const openDays = 3

export function getUsageCost({ organization, query, context }: PlatformCall): unknown {
  const { from, to, filters } = toUsageQuery(query)
  const firstOpenDay = addDays(dayOf(context.settings.now()), -openDays)
  const records = organization.usage
    .filter(({ date }) => date >= from && date <= to)
    .filter((record) => isTagged(organization, record, filters))
  const views = records.map((record) => toUsageView(record, firstOpenDay))
  return {
    grandTotalCHC: toCredits(sumMicro(records.flatMap(({ micro }) => Object.values(micro)))),
    // An older copy of the documentation shows one record here instead of a list (clickhousectl#27).
    costs: views,
  }
}

// to_date is at most 30 days after from_date, both inclusive.
const maxUsageDays = 31

function toUsageQuery(query: URLSearchParams) {
  const from = requireDay(query, 'from_date')
  const to = requireDay(query, 'to_date')
  if (to < from) throw badRequest('to_date must not be before from_date')
  if (countDays(from, to) > maxUsageDays) throw badRequest('to_date must be at most 30 days after from_date')
  return { from, to, filters: query.getAll('filter').map(toFilter) }
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
    metrics: Object.fromEntries(Object.entries(micro).map(([name, amount]) => [`${name}CHC`, toCredits(BigInt(amount))])),
    totalCHC: toCredits(sumMicro(Object.values(micro))),
    locked: locked ?? record.date < firstOpenDay,
  }
}

const sumMicro = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + BigInt(amount), 0n)

/** Millionths of a credit as an exact decimal, without a float in between: 1250000 → 1.25, 3 → 0.000003. */
function toCredits(micro: bigint): ExactNumber {
  const sign = micro < 0n ? '-' : ''
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return JSON.rawJSON(`${sign}${digits.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`)
}
