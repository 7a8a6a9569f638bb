import { type Day, eachDay } from '../core/dates.ts'
import { type Decimal, sum, zero } from '../core/decimal.ts'
import type { Period } from './periods.ts'

// Owns what the rules need of a usage record; the API's own type fits.

/** What one entity used on one UTC day. */
export interface SpendRecord {
  readonly date: Day
  readonly entityType: string
  readonly entityId: string
  readonly entityName: string
  readonly warehouseId: string | undefined
  readonly serviceId: string | undefined
  readonly total: Decimal
  /** By metric, without the unit word; they need not add up to the total. */
  readonly metrics: Readonly<Record<string, Decimal>>
  /** False while the figure can still change. */
  readonly locked: boolean
}

/** Identity of the entity: names can change and repeat. */
export const entityKey = ({ entityType, entityId, entityName }: SpendRecord): string => `${entityType}\n${entityId || entityName}`

/** How people know the entity. */
export const entityLabel = ({ entityName, entityId }: SpendRecord): string => entityName || entityId || 'unnamed'

// Owns sums by key: what spend, movers and spikes are all made of.

export interface Tally<Key> {
  add(key: Key, amount: Decimal): void
  /** Zero for a key that was never added. */
  of(key: Key): Decimal
  /** In the order of first addition. */
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

// Owns how far two figures of the API may be apart and still be the same: it rounds rows, metrics and totals each on their own.

/** 0.01 % of the total, and never less than a millionth, is no difference. */
export function isRounding(difference: Decimal, total: Decimal): boolean {
  const relative = total.abs().times('0.0001')
  return difference.abs().lte(relative.lt('0.000001') ? '0.000001' : relative)
}

// Owns what usage adds up to: in all, day by day, and how much of it can still change.

export interface DayTotal {
  readonly day: Day
  readonly total: Decimal
}

export const totalOf = (records: readonly SpendRecord[]): Decimal => sum(records.map(({ total }) => total))

/** The part whose records can still change. */
export const provisionalOf = (records: readonly SpendRecord[]): Decimal => totalOf(records.filter(({ locked }) => !locked))

/** One entry for each day of the period, in order, used or not. */
export function totalByDay(records: readonly SpendRecord[], period: Period): readonly DayTotal[] {
  const totals = createTally<Day>()
  for (const { date, total } of records) totals.add(date, total)
  return [...eachDay(period.from, period.to)].map((day) => ({ day, total: totals.of(day) }))
}

// Owns what usage adds up to by entity, metric, day, warehouse or type.

export const groupings = ['entity', 'metric', 'date', 'warehouse', 'type'] as const

export type Grouping = (typeof groupings)[number]

export interface Group {
  readonly name: string
  /** Of an entity: service, datawarehouse, clickpipe. */
  readonly entityType?: string
  readonly total: Decimal
  /** The part of it that can still change. */
  readonly provisional: Decimal
}

/** Largest first; days in their order. */
export function groupRecords(records: readonly SpendRecord[], by: Grouping): readonly Group[] {
  if (by === 'metric') return groupByMetric(records)
  const keyOf = keys[by]
  const [totals, provisional] = [createTally(), createTally()]
  // The newest record names the group: entities can be renamed, their id stays.
  const newest = new Map<string, SpendRecord>()
  for (const record of records) {
    const key = keyOf(record)
    totals.add(key, record.total)
    if (!record.locked) provisional.add(key, record.total)
    const known = newest.get(key)
    if (known === undefined || known.date < record.date) newest.set(key, record)
  }
  const nameOf = by === 'warehouse' ? warehouseNames(records) : labels[by]
  const groups = [...newest].map(([key, record]) => ({
    name: nameOf(record),
    ...(by === 'entity' && { entityType: record.entityType }),
    total: totals.of(key),
    provisional: provisional.of(key),
  }))
  return groups.sort(by === 'date' ? byName : largestFirst)
}

const keys = {
  entity: entityKey,
  date: ({ date }: SpendRecord): string => date,
  warehouse: ({ warehouseId }: SpendRecord): string => warehouseId ?? '',
  type: ({ entityType }: SpendRecord): string => entityType,
}

const labels = {
  entity: entityLabel,
  date: keys.date,
  type: ({ entityType }: SpendRecord): string => entityType || 'unknown type',
}

/** The row of the warehouse itself, where there is one, tells what it is called. */
function warehouseNames(records: readonly SpendRecord[]): (record: SpendRecord) => string {
  const names = new Map(
    records.filter(({ entityType }) => entityType === 'datawarehouse').map((row) => [row.warehouseId, entityLabel(row)]),
  )
  return ({ warehouseId }) => names.get(warehouseId) ?? warehouseId ?? 'no warehouse'
}

const byName = (a: Group, b: Group): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

const largestFirst = (a: Group, b: Group): number => b.total.cmp(a.total) || byName(a, b)

/** What the metrics leave of a record's total. */
export const otherMetric = 'other'

function groupByMetric(records: readonly SpendRecord[]): readonly Group[] {
  const [totals, provisional] = [createTally(), createTally()]
  for (const record of records) {
    for (const [name, amount] of metricsOf(record)) {
      totals.add(name, amount)
      if (!record.locked) provisional.add(name, amount)
    }
  }
  return totals
    .entries()
    .map(([name, total]) => ({ name, total, provisional: provisional.of(name) }))
    .filter(({ total }) => !total.eq(zero))
    .sort(largestFirst)
}

/** A record's metrics, so completed that they add up to its total. */
export function metricsOf({ total, metrics }: Pick<SpendRecord, 'total' | 'metrics'>): readonly (readonly [string, Decimal])[] {
  const named = Object.entries(metrics)
  const rest = named.reduce((left, [, amount]) => left.minus(amount), total)
  return rest.eq(zero) ? named : [...named, [otherMetric, rest]]
}

/**
 * Whether each of these metrics can be told from the others: none is below nothing, and what the records hold more, or less, than their
 * metrics say is too little to decide about a limit. What is left over is no doubt where it is counted itself.
 */
export function tellsMetrics(records: readonly SpendRecord[], wanted: readonly string[], limit: Decimal): boolean {
  if (records.some(({ metrics }) => Object.values(metrics).some((amount) => amount.lt(zero)))) return false
  const rests = records.map(({ total, metrics }) => total.minus(sum(Object.values(metrics))))
  const unclear = wanted.includes(otherMetric) ? rests.filter((rest) => rest.lt(zero)) : rests
  const amount = sum(unclear.map((rest) => rest.abs()))
  return [sum(records.map(({ total }) => total)), limit].every((whole) => isRounding(amount, whole))
}

// Owns which part of the usage a budget is about.

/** Within a list any, across the kinds all. Names and ids both fit. */
export interface Scope {
  readonly entity?: readonly string[] | undefined
  readonly entityType?: readonly string[] | undefined
  /** The service itself and what else bears its id. */
  readonly service?: readonly string[] | undefined
  /** The warehouse itself and every service in it. */
  readonly warehouse?: readonly string[] | undefined
  /** Counts these metrics alone, instead of the whole record. */
  readonly metric?: readonly string[] | undefined
  /** Judged by the API: records do not say their tags. */
  readonly tag?: readonly string[] | undefined
}

/** The records in scope, each with the part of it that counts. `all` is what names are looked up in. */
export function recordsInScope(records: readonly SpendRecord[], scope: Scope, all: readonly SpendRecord[]): readonly SpendRecord[] {
  const services = idsOf(scope.service, all, (record) =>
    record.entityType === 'service' ? (record.serviceId ?? record.entityId) : undefined,
  )
  const warehouses = idsOf(scope.warehouse, all, (record) => (record.entityType === 'datawarehouse' ? record.warehouseId : undefined))
  return records
    .filter(
      (record) =>
        holds(scope.entity, [record.entityId, record.entityName]) &&
        holds(scope.entityType, [record.entityType]) &&
        holds(services, [record.serviceId ?? (record.entityType === 'service' ? record.entityId : '')]) &&
        holds(warehouses, [record.warehouseId ?? '']),
    )
    .flatMap((record) => countMetrics(record, scope.metric))
}

const holds = (wanted: readonly string[] | undefined, having: readonly string[]): boolean =>
  wanted === undefined || wanted.some((one) => having.includes(one))

/** What was given, and the id of everything that is called so. */
function idsOf(
  wanted: readonly string[] | undefined,
  all: readonly SpendRecord[],
  idOf: (record: SpendRecord) => string | undefined,
): readonly string[] | undefined {
  if (wanted === undefined) return undefined
  const named = all.filter((record) => wanted.includes(entityLabel(record))).flatMap((record) => idOf(record) ?? [])
  return [...new Set([...wanted, ...named])]
}

/** What is named in a scope and fits nothing at all: most likely misspelt. */
export function unmatchedNames(scope: Scope, all: readonly SpendRecord[]): readonly string[] {
  const kinds = ['entity', 'entityType', 'service', 'warehouse', 'metric'] as const
  return kinds.flatMap((kind) => (scope[kind] ?? []).filter((name) => recordsInScope(all, { [kind]: [name] }, all).length === 0))
}

function countMetrics(record: SpendRecord, wanted: readonly string[] | undefined): readonly SpendRecord[] {
  if (wanted === undefined) return [record]
  const counted: readonly (readonly [string, Decimal])[] = metricsOf(record).filter(([name]) => wanted.includes(name))
  if (counted.length === 0) return []
  return [{ ...record, total: sum(counted.map(([, amount]) => amount)), metrics: Object.fromEntries(counted) }]
}
