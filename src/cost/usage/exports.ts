import type { Day } from '../../platform/core/dates.ts'
import { type Decimal, fromText, zero } from '../../platform/core/decimal.ts'
import type { Block } from '../../platform/report/blocks.ts'
import { type CsvCell, renderCsv } from '../../platform/report/csv.ts'
import { type Charge, focusRows } from '../../platform/report/focus.ts'
import { type MetricFamily, renderOpenMetrics } from '../../platform/report/openmetrics.ts'
import type { BudgetOutcome } from './budgets.ts'
import { type CurrentPeriod, resolvePeriod } from './periods.ts'
import { metricsOf, warehouseNames } from './records.ts'
import type { UsageResult } from './result.ts'

/** One row for each record, one column for each metric. */
export const exportCsv = (result: UsageResult): Generator<string> => renderCsv(csvRows(result))

function* csvRows({ records, unit }: UsageResult): Generator<readonly CsvCell[]> {
  const metrics = [...new Set(records.flatMap((record) => Object.keys(record.metrics)))].sort()
  yield ['date', 'entity_type', 'entity_id', 'entity_name', 'warehouse_id', 'service_id', 'final', 'unit', 'total', ...metrics]
  for (const record of records) {
    const { date, entityType, entityId, entityName, warehouseId, serviceId, locked, total } = record
    const amounts = [total, ...metrics.map((metric) => record.metrics[metric])]
    yield [
      ...[date, entityType, entityId, entityName, warehouseId, serviceId, String(locked), unit],
      ...amounts.map((amount): CsvCell => amount && { number: amount.toFixed() }),
    ]
  }
}

/** One charge for each metric of each record that is not zero. */
export function exportFocus(result: UsageResult, billingCycleDay: number | undefined): Generator<string> {
  const { provider, organizationId, unit, creditPrice } = result
  const rows = focusRows(chargesOf(result, billingCycleDay), {
    ...provider,
    billingAccountId: organizationId,
    unit,
    listPrice: provider.listPrice,
    contractedPrice: creditPrice && { currency: creditPrice.currency, amount: creditPrice.amount.toFixed() },
  })
  return renderCsv(rows)
}

function* chargesOf({ records, services = [] }: UsageResult, billingCycleDay: number | undefined): Generator<Charge> {
  const nameOf = warehouseNames(records)
  const byId = new Map(services.map((service) => [service.id, service]))
  // All services of a warehouse are in its region.
  const byWarehouse = new Map(services.map((service) => [service.warehouseId ?? service.id, service]))
  const cycles = new Map<Day, CurrentPeriod>()
  for (const record of records) {
    const { date, entityType, entityId, entityName, warehouseId, locked } = record
    const billed = cycles.get(date) ?? resolvePeriod('billing-cycle', date, billingCycleDay)
    cycles.set(date, billed)
    const warehouse = warehouseId ? { id: warehouseId, name: nameOf(record) } : undefined
    const service = byId.get(record.serviceId ?? entityId)
    const { region: id, provider = '' } = service ?? byWarehouse.get(warehouseId ?? '') ?? {}
    const region = id === undefined ? undefined : { id, name: `${provider.toUpperCase()} ${id}`.trim() }
    const tags = service?.tags
    for (const [metric, amount] of metricsOf(record)) {
      if (!amount.eq(zero)) yield { date, billed, metric, amount, entityType, entityId, entityName, warehouse, region, tags, locked }
    }
  }
}

export function exportMetrics(result: UsageResult, blocks: readonly Block[]): string {
  const { organizationId: organization, unit, grandTotalCredits, provisionalCredits, budget, forecastCredits, budgets } = result
  const total = (name: string, help: string, value: Decimal | undefined) => family(name, help, [[{ organization, unit }, value]])
  // Two entities can have the same name. Their ids keep them apart.
  const entities = result.byEntity.map(({ name: entity, entityId: entity_id = '', entityType: entity_type = '', ...one }) => {
    return [{ organization, unit, entity, entity_id, entity_type }, one.total] as const
  })
  const metrics = result.byMetric.map((one) => [{ organization, unit, metric: one.name }, one.total] as const)
  const ofBudgets = (name: string, help: string, amountOf: (budget: BudgetOutcome) => Decimal | undefined) =>
    family(
      `usage_scoped_budget_${name}`,
      help,
      budgets.map((one) => [{ organization, unit, budget: one.name }, amountOf(one)]),
    )
  const verdict = blocks.find((block) => block.kind === 'verdict')?.status
  const statuses = (['pass', 'warn', 'fail'] as const).map((status) => [{ organization, status }, toFlag(verdict === status)] as const)
  return renderOpenMetrics([
    total('usage_credits', 'Usage in the period.', grandTotalCredits),
    total('usage_provisional_credits', 'The provisional part of the usage.', provisionalCredits),
    total('usage_budget_credits', 'The budget for the period.', budget),
    total('usage_forecast_credits', 'Forecast for the whole period, an estimate.', forecastCredits),
    family('usage_entity_credits', 'Usage of each entity in the period.', entities),
    family('usage_metric_credits', 'Usage in the period by metric.', metrics),
    ofBudgets('credits', 'The limit of each budget of the budgets file.', ({ limit }) => limit),
    ofBudgets('used_credits', 'Usage of each budget of the budgets file.', ({ used }) => used),
    ofBudgets('forecast_credits', 'Forecast for each budget of the budgets file, an estimate.', ({ forecast }) =>
      forecast?.status === 'expected' ? forecast.total : undefined,
    ),
    ofBudgets('exceeded', '1 for a failed budget.', ({ status }) => toFlag(status === 'fail')),
    family('usage_status', '1 for the verdict of the gate.', statuses),
  ])
}

const toFlag = (is: boolean) => fromText(is ? '1' : '0')

type MetricSample = readonly [labels: Readonly<Record<string, string>>, value: Decimal | undefined]

const family = (name: string, help: string, samples: readonly MetricSample[]): MetricFamily => ({
  name,
  help,
  samples: samples.flatMap(([labels, value]) => (value === undefined ? [] : [{ labels, value: value.toFixed() }])),
})
