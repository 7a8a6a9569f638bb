// Owns turning figures into the result document.
import type { Decimal } from '../../kernel/decimal.ts'
import type { Increase } from '../../rules/comparison.ts'
import type { Doubt } from '../../rules/doubts.ts'
import type { Forecast } from '../../rules/forecast.ts'
import { type Group, type Grouping, groupRecords } from '../../rules/groups.ts'
import { type CurrentPeriod, daysIn } from '../../rules/period.ts'
import { provisionalOf, totalByDay } from '../../rules/spend.ts'
import type { Spike } from '../../rules/spikes.ts'
import type { SpendRecord } from '../../rules/usage-record.ts'
import type { BudgetOutcome } from './budget-outcomes.ts'
import { doubtLevel } from './doubt-level.ts'
import type { Comparison, Figures } from './figures.ts'
import type { UsageInput } from './inputs.ts'
import type { Readings } from './reading.ts'
import type { UsageResult } from './result.ts'

export interface ResultInput {
  readonly organizationId: string
  readonly provider: UsageResult['provider']
  readonly readings: Readings
  readonly period: CurrentPeriod
  readonly figures: Figures
  readonly input: UsageInput
}

export function toUsageResult({ organizationId, provider, readings, period, figures, input }: ResultInput): UsageResult {
  const { records } = readings.main
  return {
    ...toOutput({ organizationId, provider, readings, period, figures, input }),
    organizationId,
    provider,
    endDate: period.end,
    clipped: input.period === undefined && input.toDate !== undefined && period.end !== period.to,
    unlocked: input.unlocked,
    judgedCredits: exact(figures.judged),
    ...(input.warnBudget && { warnBudget: exact(input.warnBudget) }),
    warnBudgetExceeded: input.warnBudget !== undefined && figures.judged.gt(input.warnBudget),
    ...(input.forecastBudget && { forecastBudget: exact(input.forecastBudget) }),
    forecastBudgetExceeded: isForecastAbove(figures, input.forecastBudget),
    forecast: toForecast(figures.forecast, period),
    ...(figures.comparison && { comparison: toComparison(figures.comparison, input.maxIncrease) }),
    spikes: figures.spikes.map(toSpike),
    spikeDays: figures.spikeDays,
    budgets: figures.budgets.map((outcome) => toBudget(outcome, input.onMissing)),
    ...(input.waiver && { waiver: input.waiver }),
    onMissing: input.onMissing ?? 'fail',
    doubts: figures.doubts.map(toDoubt),
    byDay: toDays(records, period),
    ...toGroups(records, input.groupBy),
    records: records.map(toRecord),
    otherRecords: [...(readings.previous?.records ?? []), ...readings.others.flatMap((reading) => reading.records)].map(toRecord),
    taggedRecords: [...readings.tagged].map(([tag, read]) => ({
      tag,
      records: read.flatMap((reading) => reading.records).map(toRecord),
    })),
  }
}

function toOutput({ readings, period, figures, input }: ResultInput) {
  const { budget } = input
  // Of nothing, no share is known, and whether anything was exceeded neither.
  const isKnown = readings.main.records.length > 0 || !figures.total.eq(0)
  const exceeded = [
    ...(budget && isKnown ? [figures.judgement.level === 'exceeded'] : []),
    ...figures.budgets.filter(({ doubt }) => doubt === undefined).map(isExceeded),
  ]
  return {
    grandTotalCredits: exact(figures.total),
    unit: readings.unit,
    fromDate: period.from,
    toDate: period.to,
    days: daysIn(period),
    ...(budget && { budget: exact(budget) }),
    ...(exceeded.length > 0 && { budgetExceeded: exceeded.includes(true) }),
    ...(isKnown && figures.judgement.usedPercent && { budgetUsedPercent: figures.judgement.usedPercent.toFixed(2) }),
    provisionalCredits: exact(figures.provisional),
    ...(figures.forecast.kind === 'expected' && { forecastCredits: exact(figures.forecast.total) }),
    ...(figures.runsOutOn && { runsOutOn: figures.runsOutOn }),
  }
}

const exact = (value: Decimal): string => value.toFixed()

function isForecastAbove({ forecast, judged }: Figures, most: Decimal | undefined): boolean {
  // What is used up already needs no forecast.
  return most !== undefined && (judged.gt(most) || (forecast.kind === 'expected' && forecast.total.gt(most)))
}

function toForecast(forecast: Forecast, { end }: CurrentPeriod): UsageResult['forecast'] {
  if (forecast.kind === 'over') return { state: 'over', untilDate: end }
  if (forecast.kind === 'too-early') return { state: 'too-early', untilDate: end, completeDays: forecast.completeDays }
  return {
    state: 'expected',
    untilDate: end,
    total: exact(forecast.total),
    low: exact(forecast.low),
    high: exact(forecast.high),
    learntFrom: forecast.learntFrom,
    isWeekdayAware: forecast.isWeekdayAware,
    byDay: forecast.days.filter(({ isOver }) => !isOver).map(({ day, total }) => ({ date: day, total: exact(total) })),
  }
}

function toComparison(
  { period, before, after, percent, isAboveMost, movers, appeared, gone }: Comparison,
  most: Increase | undefined,
): NonNullable<UsageResult['comparison']> {
  return {
    fromDate: period.from,
    toDate: period.to,
    total: exact(before),
    change: exact(after.minus(before)),
    ...(percent && { changePercent: percent.toFixed(2) }),
    ...(most && { maxIncrease: most.kind === 'percent' ? `${exact(most.percent)}%` : exact(most.amount) }),
    isAboveMaxIncrease: isAboveMost,
    movers: movers.map((mover) => ({ ...mover, before: exact(mover.before), after: exact(mover.after) })),
    appeared: [...appeared],
    gone: [...gone],
  }
}

const toSpike = ({ day, total, usual, culprit }: Spike): UsageResult['spikes'][number] => ({
  date: day,
  total: exact(total),
  usual: exact(usual),
  culprit: { ...culprit, total: exact(culprit.total), usual: exact(culprit.usual) },
})

const isExceeded = ({ judgement }: BudgetOutcome): boolean => judgement.level === 'exceeded'

function toBudget(outcome: BudgetOutcome, wished: UsageInput['onMissing']): UsageResult['budgets'][number] {
  const { budget, used, provisional, judgement, forecast, isForecastAbove: isAhead, runsOutOn, doubt, unmatched } = outcome
  const scope = Object.entries(budget.scope as Readonly<Record<string, readonly string[] | undefined>>)
  return {
    name: budget.name,
    verdict: verdictOf(outcome, wished),
    scope: Object.fromEntries(scope.flatMap(([kind, wanted]) => (wanted === undefined ? [] : [[kind, [...wanted]]]))),
    fromDate: budget.period.from,
    toDate: budget.period.to,
    limit: exact(budget.limit),
    ...(budget.warnAbove && { warnAbove: exact(budget.warnAbove) }),
    used: exact(used),
    ...(judgement.usedPercent && { usedPercent: judgement.usedPercent.toFixed(2) }),
    provisional: exact(provisional),
    isExceeded: isExceeded(outcome),
    isForecastAbove: isAhead,
    forecast: toForecast(forecast, budget.period),
    ...(runsOutOn && { runsOutOn }),
    ...(doubt && { doubt }),
    ...(unmatched.length > 0 && { unmatched: [...unmatched] }),
  }
}

function verdictOf(outcome: BudgetOutcome, wished: UsageInput['onMissing']): 'pass' | 'warn' | 'fail' {
  const { judgement, isForecastAbove: isAhead, doubt } = outcome
  const doubted = doubt && doubtLevel(doubt, wished)
  if (isExceeded(outcome) || isAhead || doubted === 'fail') return 'fail'
  return judgement.level === 'warn' || doubted === 'warn' ? 'warn' : 'pass'
}

function toDoubt(doubt: Doubt): UsageResult['doubts'][number] {
  switch (doubt.kind) {
    case 'sum-differs':
      return { ...ends(doubt), recordsTotal: exact(doubt.records), grandTotal: exact(doubt.grandTotal) }
    case 'negative':
      return { ...ends(doubt), grandTotal: exact(doubt.grandTotal) }
    case 'empty':
    case 'not-yet':
    case 'nothing-final':
      return ends(doubt)
    case 'repeated':
    case 'negative-record':
      return { kind: doubt.kind, days: [doubt.date], entityName: doubt.entityName }
    default:
      return { kind: doubt.kind, days: [...doubt.days] }
  }
}

const ends = ({ kind, period }: Extract<Doubt, { period: unknown }>) => ({ kind, fromDate: period.from, toDate: period.to })

const toGroup = ({ total, provisional, ...rest }: Group): UsageResult['groups'][number] => ({
  ...rest,
  total: exact(total),
  provisional: exact(provisional),
})

function toGroups(records: readonly SpendRecord[], by: Grouping): Pick<UsageResult, 'groupBy' | 'groups' | 'byEntity' | 'byMetric'> {
  const byEntity = groupRecords(records, 'entity').map(toGroup)
  const byMetric = groupRecords(records, 'metric').map(toGroup)
  const groups = by === 'entity' ? byEntity : by === 'metric' ? byMetric : groupRecords(records, by).map(toGroup)
  return { groupBy: by, groups, byEntity, byMetric }
}

function toDays(records: readonly SpendRecord[], period: CurrentPeriod): UsageResult['byDay'] {
  const open = totalByDay(
    records.filter(({ locked }) => !locked),
    period,
  )
  return totalByDay(records, period).map(({ day, total }, i) => ({
    date: day,
    total: exact(total),
    provisional: exact(open[i]?.total ?? provisionalOf([])),
  }))
}

function toRecord({ warehouseId, serviceId, total, metrics, ...rest }: SpendRecord): UsageResult['records'][number] {
  return {
    ...rest,
    ...(warehouseId !== undefined && { warehouseId }),
    ...(serviceId !== undefined && { serviceId }),
    total: exact(total),
    metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, exact(value)])),
  }
}
