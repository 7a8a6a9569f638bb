// Owns filling an emulator with usage of known amounts.

import { addDays, type Day, dayOf } from '../../src/core/dates.ts'
import type { Emulator } from '../../src/emulator/index.ts'

export interface EntityUsage {
  readonly name: string
  readonly type?: 'service' | 'datawarehouse' | 'clickpipe'
  /** In millionths; `ago` is 0 for today. Undefined for a day without a record. */
  readonly microOn: (ago: number, day: Day) => Readonly<Record<string, number>> | undefined
  readonly locked?: boolean
}

const warehouseId = 'c0ffee00-0000-4000-8000-0000000000d1'

/** Replaces all usage by that of the last `days` days, today among them. Returns today. */
export function fillUsage({ store }: Emulator, days: number, entities: readonly EntityUsage[]): Day {
  const [organization] = store.organizations
  if (organization === undefined) throw new Error('the shop has no organization')
  const today = dayOf(Date.now())
  organization.usage = Array.from({ length: days }, (_, i) => days - 1 - i).flatMap((ago) => {
    const date = addDays(today, -ago)
    return entities.flatMap(({ name, type = 'service', microOn, locked }, i) => {
      const micro = microOn(ago, date)
      const entityId = `c0ffee00-0000-4000-8000-00000000ee${String(i).padStart(2, '0')}`
      if (micro === undefined) return []
      return [
        {
          dataWarehouseId: warehouseId,
          serviceId: type === 'datawarehouse' ? null : entityId,
          date,
          entityType: type,
          entityId,
          entityName: name,
          micro: { ...micro },
          ...(locked !== undefined && { locked }),
        },
      ]
    })
  })
  return today
}
