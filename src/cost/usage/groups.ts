import * as z from 'zod'
import { zero } from '../../platform/core/decimal.ts'
import { exactAmount } from './amounts.ts'
import { createTally, entityKey, entityLabel, metricsOf, type UsageRecord } from './records.ts'

type UsageGroup = z.output<ReturnType<typeof groupSchema>>

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
  const [totals, provisional] = [createTally(), createTally()]
  // The newest record gives the name, because entities can be renamed.
  const newest = new Map<string, UsageRecord>()
  for (const record of records) {
    const key = entityKey(record)
    totals.add(key, record.total)
    if (!record.locked) provisional.add(key, record.total)
    const known = newest.get(key)
    if (known === undefined || known.date < record.date) newest.set(key, record)
  }
  const groups = [...newest].map(([key, record]) => ({
    name: entityLabel(record),
    entityId: record.entityId,
    entityType: record.entityType,
    total: totals.of(key),
    provisional: provisional.of(key),
  }))
  return groups.sort(largestFirst)
}

const largestFirst = (a: UsageGroup, b: UsageGroup) => b.total.cmp(a.total) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

/** Largest first, without metrics whose total is zero. */
export function groupByMetric(records: readonly UsageRecord[]): UsageGroup[] {
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
