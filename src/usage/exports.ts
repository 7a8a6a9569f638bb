import type { Day } from '../core/dates.ts'
import { fromText } from '../core/decimal.ts'
import type { OutputFile } from '../operation/operation.ts'
import type { Block } from '../report/blocks.ts'
import { type Cell, renderCsv } from '../report/csv.ts'
import { type Charge, renderFocus } from '../report/focus.ts'
import { type MetricFamily, type MetricSample, renderOpenMetrics } from '../report/openmetrics.ts'
import { renderPage } from '../report/page.ts'
import type { UsageInput } from './input.ts'
import { type CurrentPeriod, resolvePeriod } from './periods.ts'
import { metricsOf } from './records.ts'
import type { UsageResult } from './result.ts'

// Owns the records as a table for spreadsheets and scripts: one row a record, one column a metric.

export function exportCsv({ records, unit }: UsageResult): string {
  const metrics = [...new Set(records.flatMap((record) => Object.keys(record.metrics)))].sort()
  const head = ['date', 'entity_type', 'entity_id', 'entity_name', 'warehouse_id', 'service_id', 'final', 'unit', 'total', ...metrics]
  const rows = records.map((record): readonly Cell[] => [
    record.date,
    record.entityType,
    record.entityId,
    record.entityName,
    record.warehouseId,
    record.serviceId,
    String(record.locked),
    unit,
    { number: record.total },
    ...metrics.map((metric): Cell => {
      const amount = record.metrics[metric]
      return amount === undefined ? undefined : { number: amount }
    }),
  ])
  return renderCsv([head, ...rows])
}

// Owns which charges the records are in FOCUS: one for each metric of each record.

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

// Owns which figures are metrics, and what they are called.

export function exportMetrics(result: UsageResult, blocks: readonly Block[]): string {
  return renderOpenMetrics([...totals(result), ...groups(result), ...budgets(result), status(result, blocks)])
}

function totals(result: UsageResult): readonly MetricFamily[] {
  const { unit, organizationId, grandTotalCredits, provisionalCredits, budget, forecastCredits } = result
  const family = (name: string, help: string, value: string | undefined): MetricFamily => ({
    name,
    help,
    samples: value === undefined ? [] : [{ labels: { organization: organizationId, unit }, value }],
  })
  return [
    family('usage_credits', 'What was used in the period.', grandTotalCredits),
    family('usage_provisional_credits', 'The part of it that can still change.', provisionalCredits),
    family('usage_budget_credits', 'The budget for the period.', budget),
    family('usage_forecast_credits', 'What the whole period will come to, an estimate.', forecastCredits),
  ]
}

function groups({ organizationId: organization, unit, byEntity, byMetric }: UsageResult): readonly MetricFamily[] {
  const entities = unique(
    byEntity.map(({ name, entityType = '', total }) => ({
      labels: { organization, unit, entity: name, entity_type: entityType },
      value: total,
    })),
  )
  const metrics = byMetric.map(({ name, total }) => ({ labels: { organization, unit, metric: name }, value: total }))
  return [
    { name: 'usage_entity_credits', help: 'What each entity used in the period.', samples: entities },
    { name: 'usage_metric_credits', help: 'What was used in the period, by metric.', samples: metrics },
  ]
}

/** Two entities can bear one name; two samples with the same labels would make the whole text invalid. */
function unique(samples: readonly MetricSample[]): readonly MetricSample[] {
  const byLabels = new Map<string, MetricSample>()
  for (const sample of samples) {
    const key = JSON.stringify(sample.labels)
    const known = byLabels.get(key)
    byLabels.set(key, known === undefined ? sample : { ...known, value: fromText(known.value).plus(sample.value).toFixed() })
  }
  return [...byLabels.values()]
}

function budgets({ organizationId: organization, unit, budgets: all }: UsageResult): readonly MetricFamily[] {
  const family = (name: string, help: string, amountOf: (budget: (typeof all)[number]) => string | undefined): MetricFamily => ({
    name,
    help,
    samples: all.flatMap((budget) => {
      const value = amountOf(budget)
      return value === undefined ? [] : [{ labels: { organization, unit, budget: budget.name }, value }]
    }),
  })
  return [
    family('usage_scoped_budget_credits', 'The limit of each budget of the budgets file.', ({ limit }) => limit),
    family('usage_scoped_budget_used_credits', 'What each of them has used.', ({ used }) => used),
    family('usage_scoped_budget_forecast_credits', 'What each of them will come to, an estimate.', ({ forecast }) => forecast.total),
    family('usage_scoped_budget_exceeded', '1 for a budget that failed.', ({ verdict }) => (verdict === 'fail' ? '1' : '0')),
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

// Owns the files that a report can be written to. Each format is loaded only when it is asked for.

type Render = (result: UsageResult, blocks: readonly Block[], input: UsageInput) => Promise<string>

const formats: Readonly<Record<'csvFile' | 'focusFile' | 'metricsFile' | 'htmlFile', Render>> = {
  csvFile: async (result) => exportCsv(result),
  focusFile: async (result, _, { billingCycleDay }) => exportFocus(result, billingCycleDay),
  metricsFile: async (result, blocks) => exportMetrics(result, blocks),
  htmlFile: async (_, blocks) => renderPage('Usage cost', blocks),
}

export async function renderFiles(result: UsageResult, input: UsageInput, blocks: readonly Block[]): Promise<readonly OutputFile[]> {
  const wanted = Object.entries(formats).flatMap(([name, render]) => {
    const path = input[name as keyof typeof formats]
    return path === undefined ? [] : [{ input: name, path, render }]
  })
  return Promise.all(
    wanted.map(async ({ input: name, path, render }) => ({ input: name, path, content: await render(result, blocks, input) })),
  )
}
