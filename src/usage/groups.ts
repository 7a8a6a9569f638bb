import * as z from 'zod'
import { zero } from '../core/decimal.ts'
import { exactAmount } from './amounts.ts'
import { createTally, entityKey, entityLabel, metricsOf, type UsageRecord, warehouseNames } from './records.ts'

export const groupings = ['entity', 'metric', 'date', 'warehouse', 'type'] as const

export type Grouping = (typeof groupings)[number]

type Group = z.output<ReturnType<typeof groupSchema>>

export const groupSchema = () =>
  z.object({
    name: z.string(),
    entityId: z.string().optional().describe('Of an entity. Empty where the API has none.'),
    entityType: z.string().optional().describe('Of an entity, such as service, datawarehouse or clickpipe.'),
    total: exactAmount('Usage.'),
    provisional: exactAmount('Provisional part of the usage.'),
  })

/** Largest first. Days are in their order. */
export function groupRecords(records: readonly UsageRecord[], by: Grouping): Group[] {
  if (by === 'metric') return groupByMetric(records)
  const keyOf = keys[by]
  const [totals, provisional] = [createTally(), createTally()]
  // The newest record gives the name, because entities can be renamed.
  const newest = new Map<string, UsageRecord>()
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
    ...(by === 'entity' && { entityId: record.entityId, entityType: record.entityType }),
    total: totals.of(key),
    provisional: provisional.of(key),
  }))
  return groups.sort(by === 'date' ? byName : largestFirst)
}

const keys = {
  entity: entityKey,
  date: ({ date }: UsageRecord): string => date,
  warehouse: ({ warehouseId }: UsageRecord): string => warehouseId ?? '',
  type: ({ entityType }: UsageRecord): string => entityType,
}

const labels = {
  entity: entityLabel,
  date: keys.date,
  type: ({ entityType }: UsageRecord): string => entityType || 'unknown type',
}

const byName = (a: Group, b: Group): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

const largestFirst = (a: Group, b: Group): number => b.total.cmp(a.total) || byName(a, b)

function groupByMetric(records: readonly UsageRecord[]): Group[] {
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
