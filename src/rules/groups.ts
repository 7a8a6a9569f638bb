// Owns what usage adds up to by entity, metric, day, warehouse or type.
import { type Decimal, sum, zero } from '../kernel/decimal.ts'
import { isRounding } from './rounding.ts'
import { createTally } from './tally.ts'
import { entityKey, entityLabel, type SpendRecord } from './usage-record.ts'

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
