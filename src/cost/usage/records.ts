import * as z from 'zod'
import { type Decimal, sum, zero } from '../../platform/core/decimal.ts'
import { amount } from './amounts.ts'
import { date, type Period } from './periods.ts'

export type UsageRecord = z.output<ReturnType<typeof usageRecordSchema>>

/** Usage of one entity on one UTC day. */
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

interface Entity {
  readonly entityType: string
  readonly entityId: string
  readonly entityName: string
}

/** Name of the entity for people. */
export const entityLabel = ({ entityName, entityId }: { readonly entityName: string; readonly entityId: string }): string =>
  entityName || entityId || 'unnamed'

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

/** The provisional part of the total: its records can still change. */
export const provisionalOf = (records: readonly UsageRecord[]): Decimal => totalOf(records.filter(({ locked }) => !locked))

/** The part of a record's total that no metric covers. */
export const otherMetric = 'other'

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
