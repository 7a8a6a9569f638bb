// Owns which charges the records are in FOCUS: one for each metric of each record.
import type { Day } from '../../kernel/days.ts'
import { fromText } from '../../kernel/decimal.ts'
import { type Charge, renderFocus } from '../../report/focus.ts'
import { metricsOf } from '../../rules/groups.ts'
import type { UsageResult } from './result.ts'

export function exportFocus(result: UsageResult): string {
  const { provider, organizationId, unit } = result
  return renderFocus(chargesOf(result), { ...provider, billingAccountId: organizationId, unit, listPrice: provider.listPrice })
}

function* chargesOf({ records }: UsageResult): Generator<Charge> {
  for (const { date, entityType, entityId, entityName, warehouseId, locked, total, metrics } of records) {
    const amounts = Object.fromEntries(Object.entries(metrics).map(([name, amount]) => [name, fromText(amount)]))
    for (const [metric, amount] of metricsOf({ total: fromText(total), metrics: amounts })) {
      yield { date: date as Day, metric, amount, entityType, entityId, entityName, warehouseId, locked }
    }
  }
}
