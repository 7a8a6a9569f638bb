// Owns what the rules need of a usage record; the API's own type fits.
import type { Day } from '../kernel/days.ts'
import type { Decimal } from '../kernel/decimal.ts'

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
