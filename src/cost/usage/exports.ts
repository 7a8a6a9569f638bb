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
  return renderOpenMetrics([...totals(result), ...groups(result), ...budgets(result), status(result, blocks)])
}

function totals(result: UsageResult): readonly MetricFamily[] {
  const { unit, organizationId, grandTotalCredits, provisionalCredits, budget, forecastCredits } = result
  const family = (name: string, help: string, value: Decimal | undefined): MetricFamily => ({
    name,
    help,
    samples: value === undefined ? [] : [{ labels: { organization: organizationId, unit }, value: value.toFixed() }],
  })
  return [
    family('usage_credits', 'Usage in the period.', grandTotalCredits),
    family('usage_provisional_credits', 'The provisional part of the usage.', provisionalCredits),
    family('usage_budget_credits', 'The budget for the period.', budget),
    family('usage_forecast_credits', 'Forecast for the whole period, an estimate.', forecastCredits),
  ]
}

function groups({ organizationId: organization, unit, byEntity, byMetric }: UsageResult): readonly MetricFamily[] {
  // Two entities can have the same name. Their ids keep them apart.
  const entities = byEntity.map(({ name: entity, entityId: entity_id = '', entityType: entity_type = '', total }) => ({
    labels: { organization, unit, entity, entity_id, entity_type },
    value: total.toFixed(),
  }))
  const metrics = byMetric.map(({ name, total }) => ({ labels: { organization, unit, metric: name }, value: total.toFixed() }))
  return [
    { name: 'usage_entity_credits', help: 'Usage of each entity in the period.', samples: entities },
    { name: 'usage_metric_credits', help: 'Usage in the period by metric.', samples: metrics },
  ]
}

function budgets({ organizationId: organization, unit, budgets: all }: UsageResult): readonly MetricFamily[] {
  const family = (name: string, help: string, amountOf: (budget: BudgetOutcome) => Decimal | undefined): MetricFamily => ({
    name,
    help,
    samples: all.flatMap((budget) => {
      const value = amountOf(budget)?.toFixed()
      return value === undefined ? [] : [{ labels: { organization, unit, budget: budget.name }, value }]
    }),
  })
  return [
    family('usage_scoped_budget_credits', 'The limit of each budget of the budgets file.', ({ limit }) => limit),
    family('usage_scoped_budget_used_credits', 'Usage of each budget of the budgets file.', ({ used }) => used),
    family('usage_scoped_budget_forecast_credits', 'Forecast for each budget of the budgets file, an estimate.', ({ forecast }) =>
      forecast?.status === 'expected' ? forecast.total : undefined,
    ),
    family('usage_scoped_budget_exceeded', '1 for a failed budget.', ({ status }) => fromText(status === 'fail' ? '1' : '0')),
  ]
}

function status({ organizationId: organization }: UsageResult, blocks: readonly Block[]): MetricFamily {
  const verdict = blocks.find((block) => block.kind === 'verdict')?.status
  const samples = (['pass', 'warn', 'fail'] as const).map((one) => ({
    labels: { organization, status: one },
    value: verdict === one ? '1' : '0',
  }))
  return { name: 'usage_status', help: '1 for the verdict of the gate.', samples }
}
