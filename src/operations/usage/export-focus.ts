// Owns which charges the records are in FOCUS: one for each metric of each record.
import type { Day } from '../../kernel/days.ts'
import { fromText } from '../../kernel/decimal.ts'
import { type Charge, renderFocus } from '../../report/focus.ts'
import { metricsOf } from '../../rules/groups.ts'
import { type CurrentPeriod, resolvePeriod } from '../../rules/period.ts'
import type { UsageResult } from './result.ts'

export function exportFocus(result: UsageResult, billingCycleDay: number | undefined): string {
  const { provider, organizationId, unit } = result
  return renderFocus(chargesOf(result, billingCycleDay), {
    ...provider,
    billingAccountId: organizationId,
    unit,
    listPrice: provider.listPrice,
  })
}

function* chargesOf({ records }: UsageResult, billingCycleDay: number | undefined): Generator<Charge> {
  const nameOf = warehouseNames(records)
  const cycles = new Map<string, CurrentPeriod>()
  for (const { date, entityType, entityId, entityName, warehouseId, locked, total, metrics } of records) {
    const billed = cycles.get(date) ?? resolvePeriod('billing-cycle', date as Day, billingCycleDay)
    cycles.set(date, billed)
    const warehouse = warehouseId ? { id: warehouseId, name: nameOf.get(warehouseId) ?? warehouseId } : undefined
    const amounts = Object.fromEntries(Object.entries(metrics).map(([name, amount]) => [name, fromText(amount)]))
    for (const [metric, amount] of metricsOf({ total: fromText(total), metrics: amounts })) {
      yield { date: date as Day, billed, metric, amount, entityType, entityId, entityName, warehouse, locked }
    }
  }
}

/** The row of the warehouse itself, where there is one, tells what it is called. */
const warehouseNames = (records: UsageResult['records']): ReadonlyMap<string | undefined, string> =>
  new Map(
    records
      .filter(({ entityType, entityName }) => entityType === 'datawarehouse' && entityName !== '')
      .map(({ warehouseId, entityName }) => [warehouseId, entityName]),
  )
