// Owns what changed against an earlier period: in all, by entity and metric, and what came and went.
import type { Decimal } from '../core/decimal.ts'
import { createTally, entityKey, entityLabel, metricsOf, type SpendRecord, type Tally } from './records.ts'

export interface Mover {
  readonly entityName: string
  readonly entityType: string
  readonly metric: string
  readonly before: Decimal
  readonly after: Decimal
}

export interface Entity {
  readonly name: string
  readonly entityType: string
}

export interface Changes {
  /** Largest change first, up or down. */
  readonly movers: readonly Mover[]
  readonly appeared: readonly Entity[]
  readonly gone: readonly Entity[]
}

/** Most an increase may be: an amount, or a part of the earlier total. */
export type Increase = { readonly kind: 'amount'; readonly amount: Decimal } | { readonly kind: 'percent'; readonly percent: Decimal }

export function isAboveIncrease(before: Decimal, after: Decimal, most: Increase): boolean {
  const allowed = most.kind === 'amount' ? most.amount : before.times(most.percent).div(100)
  return after.minus(before).gt(allowed)
}

export function findChanges(before: readonly SpendRecord[], after: readonly SpendRecord[]): Changes {
  const [old, now] = [tallyMetrics(before), tallyMetrics(after)]
  const cells = new Map([...old.cells, ...now.cells])
  const movers = [...cells].map(([key, { entity, metric }]) => ({
    entityName: entityLabel(entity),
    entityType: entity.entityType,
    metric,
    before: old.amounts.of(key),
    after: now.amounts.of(key),
  }))
  return {
    movers: movers.filter((mover) => !mover.after.eq(mover.before)).sort(largestChangeFirst),
    appeared: [...now.entities].filter(([key]) => !old.entities.has(key)).map(([, entity]) => toEntity(entity)),
    gone: [...old.entities].filter(([key]) => !now.entities.has(key)).map(([, entity]) => toEntity(entity)),
  }
}

const toEntity = (record: SpendRecord): Entity => ({ name: entityLabel(record), entityType: record.entityType })

const largestChangeFirst = (a: Mover, b: Mover): number =>
  b.after.minus(b.before).abs().cmp(a.after.minus(a.before).abs()) || (a.entityName < b.entityName ? -1 : 1)

interface Metrics {
  readonly amounts: Tally<string>
  readonly cells: ReadonlyMap<string, { readonly entity: SpendRecord; readonly metric: string }>
  readonly entities: ReadonlyMap<string, SpendRecord>
}

function tallyMetrics(records: readonly SpendRecord[]): Metrics {
  const amounts = createTally()
  const cells = new Map<string, { readonly entity: SpendRecord; readonly metric: string }>()
  const entities = new Map<string, SpendRecord>()
  for (const entity of records) {
    entities.set(entityKey(entity), entity)
    for (const [metric, amount] of metricsOf(entity)) {
      const key = `${entityKey(entity)}\n${metric}`
      amounts.add(key, amount)
      cells.set(key, { entity, metric })
    }
  }
  return { amounts, cells, entities }
}
