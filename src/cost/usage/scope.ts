import { type Decimal, sum, zero } from '../../platform/core/decimal.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { nearestName } from '../../platform/core/names.ts'
import type { BudgetScope } from './budgets-file.ts'
import { isRounding } from './data-quality.ts'
import { entityLabel, metricsOf, otherMetric, type UsageRecord } from './records.ts'

/**
 * The records in scope, each with the part that counts. Names are looked up in `all`. A record must match every field of the scope, and
 * any name or id of a field.
 */
export function recordsInScope(records: readonly UsageRecord[], scope: BudgetScope, all: readonly UsageRecord[]): readonly UsageRecord[] {
  const services = idsOf(scope.service, all, (record) =>
    record.entityType === 'service' ? (record.serviceId ?? record.entityId) : undefined,
  )
  const warehouses = idsOf(scope.warehouse, all, (record) => (record.entityType === 'datawarehouse' ? record.warehouseId : undefined))
  return records
    .filter(
      (record) =>
        isAnyOf(scope.entity, [record.entityId, record.entityName]) &&
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
  const counted: readonly (readonly [string, Decimal])[] = metricsOf(record).filter(([name]) => wanted.includes(name))
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
  return [sum(records.map(({ total }) => total)), limit].every((whole) => isRounding(amount, whole))
}
