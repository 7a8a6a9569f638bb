// Owns which part of the usage a budget is about.
import { type Decimal, sum } from '../kernel/decimal.ts'
import { metricsOf } from './groups.ts'
import { entityLabel, type SpendRecord } from './usage-record.ts'

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
