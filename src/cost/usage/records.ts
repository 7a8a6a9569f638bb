import * as z from 'zod'
import type { Day } from '../../platform/core/dates.ts'
import { type Decimal, sum, zero } from '../../platform/core/decimal.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { nearestName } from '../../platform/core/names.ts'
import { amount, exactAmount } from './amounts.ts'
import type { BudgetScope } from './budgets-file.ts'
import { date, type Period } from './periods.ts'

export type UsageRecord = z.output<ReturnType<typeof usageRecordSchema>>

export const usageRecordSchema = () =>
  z.object({
    date,
    entityType: z.string(),
    entityId: z.string(),
    entityName: z.string(),
    warehouseId: z.string().optional(),
    serviceId: z.string().optional().describe('Absent for records of warehouses, which have storage and backups.'),
    total: amount,
    metrics: z.record(z.string(), amount).describe('By metric, without the unit word. They might not add up to the total.'),
    locked: z.boolean().describe('False while the record is provisional.'),
  })

/** Usage of a period: the API's own total, and the records that should add up to it. */
export interface UsageReading {
  readonly period: Period
  readonly grandTotal: Decimal
  readonly records: readonly UsageRecord[]
  /** Whether only usage with certain tags was read. A day without records is then normal. */
  readonly isFiltered?: boolean
}

/** Identity of the entity: names can change and repeat. */
export const entityKey = ({ entityType, entityId, entityName }: Entity): string => `${entityType}\n${entityId || entityName}`

type Entity = Readonly<Record<'entityType' | 'entityId' | 'entityName', string>>

/** The entity of a record in results: its name for people, id and type. */
export const entityOf = (record: UsageRecord) => ({
  entityName: entityLabel(record),
  entityId: record.entityId,
  entityType: record.entityType,
})

export const entityLabel = ({ entityName, entityId }: Entity): string => entityName || entityId || 'unnamed'

/** Names entities where several are shown: with the type or the id, if others have the same name. */
export function createLabels(records: readonly Entity[]): (entity: Entity, isTypeShown?: boolean) => string {
  const entities = new Map(records.map((record) => [entityKey(record), record]))
  const byLabel = Map.groupBy(entities.values(), entityLabel)
  return (entity, isTypeShown = false) => {
    const label = entityLabel(entity)
    const others = (byLabel.get(label) ?? []).filter((one) => entityKey(one) !== entityKey(entity))
    if (others.some(({ entityType }) => entityType === entity.entityType)) return `${label} (${entity.entityId})`
    return others.length === 0 || isTypeShown ? label : `${label} (${entity.entityType})`
  }
}

/** The name comes from the warehouse's own record, otherwise it is the id. */
export function warehouseNames(records: readonly UsageRecord[]): (record: UsageRecord) => string {
  const rows = records.filter(({ entityType, entityName }) => entityType === 'datawarehouse' && entityName !== '')
  const names = new Map(rows.map(({ warehouseId, entityName }) => [warehouseId, entityName]))
  return ({ warehouseId }) => names.get(warehouseId) ?? (warehouseId || 'no warehouse')
}

export const totalOf = (records: readonly UsageRecord[]): Decimal => sum(records.map(({ total }) => total))

export const provisionalOf = (records: readonly UsageRecord[]): Decimal => totalOf(records.filter(({ locked }) => !locked))

/** The part of a record's total that no metric covers. */
const otherMetric = 'other'

/** A record's metrics, with the metric `other` where they do not add up to its total. */
export function metricsOf({ total, metrics }: Pick<UsageRecord, 'total' | 'metrics'>): readonly (readonly [string, Decimal])[] {
  const named = Object.entries(metrics)
  const rest = named.reduce((left, [, amount]) => left.minus(amount), total)
  return rest.eq(zero) ? named : [...named, [otherMetric, rest]]
}

export interface Tally<Key> {
  add(key: Key, amount: Decimal): void
  of(key: Key): Decimal
  entries(): readonly (readonly [Key, Decimal])[]
}

export function createTally<Key = string>(): Tally<Key> {
  const sums = new Map<Key, Decimal>()
  return {
    add(key, amount) {
      const sum = sums.get(key)
      sums.set(key, sum === undefined ? amount : sum.plus(amount))
    },
    of: (key) => sums.get(key) ?? zero,
    entries: () => [...sums],
  }
}

/** Sums of all records, and of the provisional ones, by the keys of their amounts. */
function tallyRecords<Key>(
  records: readonly UsageRecord[],
  amountsOf: (record: UsageRecord) => readonly (readonly [Key, Decimal])[],
): Readonly<Record<'totals' | 'provisional', Tally<Key>>> {
  const [totals, provisional] = [createTally<Key>(), createTally<Key>()]
  for (const record of records)
    for (const [key, amount] of amountsOf(record)) {
      totals.add(key, amount)
      if (!record.locked) provisional.add(key, amount)
    }
  return { totals, provisional }
}

export const tallyDays = (records: readonly UsageRecord[]) => tallyRecords<Day>(records, ({ date, total }) => [[date, total]])

export type UsageGroup = z.output<ReturnType<typeof groupSchema>>

export const groupSchema = () =>
  z.object({
    name: z.string(),
    entityId: z.string().optional().describe('Of an entity. Empty where the API has none.'),
    entityType: z.string().optional().describe('Of an entity, such as service, datawarehouse or clickpipe.'),
    total: exactAmount('Usage.'),
    provisional: exactAmount('Provisional part of the usage.'),
  })

/** Largest first. */
export function groupByEntity(records: readonly UsageRecord[]): UsageGroup[] {
  const { totals, provisional } = tallyRecords(records, (record) => [[entityKey(record), record.total]])
  // The newest record gives the name, because entities can be renamed.
  const newest = new Map<string, UsageRecord>()
  for (const record of records) {
    const key = entityKey(record)
    const known = newest.get(key)
    if (known === undefined || known.date < record.date) newest.set(key, record)
  }
  const groups = [...newest].map(([key, record]) => {
    const { entityName: name, ...entity } = entityOf(record)
    return { name, ...entity, total: totals.of(key), provisional: provisional.of(key) }
  })
  return groups.sort(largestFirst)
}

const largestFirst = (a: UsageGroup, b: UsageGroup) => b.total.cmp(a.total) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

/** Largest first, without metrics whose total is zero. */
export function groupByMetric(records: readonly UsageRecord[]): UsageGroup[] {
  const { totals, provisional } = tallyRecords(records, metricsOf)
  return totals
    .entries()
    .map(([name, total]) => ({ name, total, provisional: provisional.of(name) }))
    .filter(({ total }) => !total.eq(zero))
    .sort(largestFirst)
}

/**
 * The records in scope, each with the part that counts. Names are looked up in `all`. A record must match every field of the scope, and
 * any name or id of a field.
 */
export function recordsInScope(records: readonly UsageRecord[], scope: BudgetScope, all: readonly UsageRecord[]): readonly UsageRecord[] {
  const entities = idsOf(scope.entity, all, ({ entityId }) => entityId || undefined)
  const services = idsOf(scope.service, all, (record) =>
    record.entityType === 'service' ? (record.serviceId ?? record.entityId) : undefined,
  )
  const warehouses = idsOf(scope.warehouse, all, (record) => (record.entityType === 'datawarehouse' ? record.warehouseId : undefined))
  return records
    .filter(
      (record) =>
        isAnyOf(entities, [record.entityId || record.entityName]) &&
        isAnyOf(scope.entityType, [record.entityType]) &&
        isAnyOf(services, [record.serviceId ?? (record.entityType === 'service' ? record.entityId : '')]) &&
        isAnyOf(warehouses, [record.warehouseId ?? '']),
    )
    .flatMap((record) => countMetrics(record, scope.metric))
}

const isAnyOf = (wanted: readonly string[] | undefined, having: readonly string[]) =>
  wanted === undefined || wanted.some((one) => having.includes(one))

function idsOf(
  wanted: readonly string[] | undefined,
  all: readonly UsageRecord[],
  idOf: (record: UsageRecord) => string | undefined,
): readonly string[] | undefined {
  if (wanted === undefined) return undefined
  const named = all.filter((record) => wanted.includes(entityLabel(record))).flatMap((record) => idOf(record) ?? [])
  return [...new Set([...wanted, ...named])]
}

const labelIf = (record: UsageRecord, isOfKind: boolean) => (isOfKind ? [entityLabel(record)] : [])

const namesByField: Readonly<Record<Exclude<keyof BudgetScope, 'tag'>, (record: UsageRecord) => readonly string[]>> = {
  entity: (record) => labelIf(record, true),
  entityType: ({ entityType }) => [entityType],
  service: (record) => labelIf(record, record.entityType === 'service'),
  warehouse: (record) => labelIf(record, record.entityType === 'datawarehouse'),
  metric: (record) => metricsOf(record).map(([metric]) => metric),
}

/** Names in a scope that match no usage, most likely because of a typing error, and the nearest ones that usage has. */
export function unmatchedNames(
  scope: BudgetScope,
  all: readonly UsageRecord[],
): readonly { readonly name: string; readonly nearest: string | undefined }[] {
  return keysOf<keyof typeof namesByField>(namesByField).flatMap((kind) =>
    (scope[kind] ?? [])
      .filter((name) => recordsInScope(all, { [kind]: [name] }, all).length === 0)
      .map((name) => ({ name, nearest: nearestName(name, new Set(all.flatMap(namesByField[kind]))) })),
  )
}

function countMetrics(record: UsageRecord, wanted: readonly string[] | undefined): readonly UsageRecord[] {
  if (wanted === undefined) return [record]
  const counted = metricsOf(record).filter(([name]) => wanted.includes(name))
  if (counted.length === 0) return []
  return [{ ...record, total: sum(counted.map(([, amount]) => amount)), metrics: Object.fromEntries(counted) }]
}

/**
 * Whether the wanted metrics are exact enough for a limit: no metric is negative, and records differ from the sum of their metrics by
 * rounding only. A positive difference is the metric `other`, so it does not matter where `other` counts.
 */
export function hasDistinctMetrics(records: readonly UsageRecord[], wanted: readonly string[], limit: Decimal): boolean {
  if (records.some(({ metrics }) => Object.values(metrics).some((amount) => amount.lt(zero)))) return false
  const rests = records.map(({ total, metrics }) => total.minus(sum(Object.values(metrics))))
  const unclear = wanted.includes(otherMetric) ? rests.filter((rest) => rest.lt(zero)) : rests
  const amount = sum(unclear.map((rest) => rest.abs()))
  return [totalOf(records), limit].every((whole) => isRounding(amount, whole))
}

/** The API rounds records, metrics and totals separately: a difference of 0.01% of the total, or a millionth, is rounding. */
export function isRounding(difference: Decimal, total: Decimal): boolean {
  const relative = total.abs().times('0.0001')
  return difference.abs().lte(relative.lt('0.000001') ? '0.000001' : relative)
}
