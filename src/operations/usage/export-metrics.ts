// Owns which figures are metrics, and what they are called.
import { fromText } from '../../kernel/decimal.ts'
import type { Block } from '../../report/blocks.ts'
import { type MetricFamily, type MetricSample, renderOpenMetrics } from '../../report/openmetrics.ts'
import type { UsageResult } from './result.ts'

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
