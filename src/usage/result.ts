import * as z from 'zod'
import type { Decimal } from '../core/decimal.ts'
import { type BudgetOutcome, budgetDoubts } from './budgets.ts'
import type { Increase } from './comparison.ts'
import type { Doubt } from './data-quality.ts'
import type { Comparison, Figures } from './figures.ts'
import type { Forecast } from './forecast.ts'
import type { UsageInput } from './input.ts'
import { type CurrentPeriod, daysIn } from './periods.ts'
import type { Readings } from './read-usage.ts'
import { type Group, type Grouping, groupings, groupRecords, provisionalOf, type SpendRecord, totalByDay } from './records.ts'
import type { Spike } from './spikes.ts'
import { doubtLevel } from './verdict.ts'

// Owns the shape of usage-cost's result: exact decimals as text, so that nobody who reads the JSON loses a digit.

const decimal = (description: string) => z.string().describe(`${description} Exact decimal.`)
const estimate = (description: string) => z.string().describe(`${description} An estimate, as a decimal.`)
const day = (description: string) => z.string().describe(`${description} YYYY-MM-DD, in UTC.`)
const percent = (description: string) => z.string().describe(`${description} In percent, with two decimals.`)

export const usageOutput = z.object({
  grandTotalCredits: decimal("What was used in the period, by the API's own total."),
  unit: z.string().describe('Unit of all amounts, as the API names it: Credits, CHC.'),
  fromDate: day('First day.'),
  toDate: day('Last day that is counted, itself included.'),
  days: z.int().describe('Number of days.'),
  budget: decimal('The budget, where one was given.').optional(),
  budgetExceeded: z.boolean().optional().describe('Whether the budget, or one of the budgets file, is exceeded; absent without any.'),
  budgetUsedPercent: percent('Share of the budget that is used; absent for a budget of zero.').optional(),
  provisionalCredits: decimal('The part of the total whose records can still change.'),
  forecastCredits: estimate(
    'What the whole period will come to; absent when no day is still to come, and while it is too early to tell.',
  ).optional(),
  runsOutOn: day('The day on which more than the budget is used, past or expected; absent when it lasts.').optional(),
})

const group = z.object({
  name: z.string(),
  entityType: z.string().optional().describe('Of an entity.'),
  total: decimal('What it used.'),
  provisional: decimal('The part of it that can still change.'),
})

const forecast = z.object({
  state: z.enum(['expected', 'too-early', 'over']),
  untilDate: day('Last day of the period.'),
  completeDays: z.int().optional().describe('When it is too early: days of the period that are over.'),
  total: estimate('Expected total.').optional(),
  low: estimate('Four times out of five the total is above this,').optional(),
  high: estimate('and below this.').optional(),
  learntFrom: z.int().optional().describe('Number of days it was learnt from.'),
  isWeekdayAware: z.boolean().optional().describe('Whether weekdays were told apart; takes two weeks of data.'),
  byDay: z
    .array(z.object({ date: z.string(), total: z.string() }))
    .optional()
    .describe('The days that are not over.'),
})

const cell = { entityName: z.string(), entityType: z.string(), metric: z.string() }
const entity = z.object({ name: z.string(), entityType: z.string() })

const comparison = z.object({
  fromDate: day('First day of the previous period.'),
  toDate: day('Its last day.'),
  total: decimal('What was used in it.'),
  change: decimal('By how much it is more now; negative for less.'),
  changePercent: percent('The same; absent when nothing was used before.').optional(),
  maxIncrease: z.string().optional().describe('Most it may grow, as given.'),
  isAboveMaxIncrease: z.boolean(),
  movers: z.array(z.object({ ...cell, before: z.string(), after: z.string() })).describe('Largest change first, up or down.'),
  appeared: z.array(entity).describe('Entities that were not there before.'),
  gone: z.array(entity).describe('Entities that are no longer there.'),
})

const spike = z.object({
  date: z.string(),
  total: decimal('What the day cost.'),
  usual: estimate('What days like it cost.'),
  culprit: z.object({ ...cell, total: z.string(), usual: z.string() }).describe('What grew most on that day.'),
})

const budget = z.object({
  name: z.string(),
  verdict: z.enum(['pass', 'warn', 'fail']),
  scope: z.record(z.string(), z.array(z.string())).describe('What counts; all usage when empty.'),
  fromDate: day('First day.'),
  toDate: day('Last day that is counted.'),
  limit: decimal('Most that may be used.'),
  warnAbove: decimal('The budget warns above it.').optional(),
  used: decimal('What the gate compares with the limit.'),
  usedPercent: percent('Share of the limit; absent for a limit of zero.').optional(),
  provisional: decimal('What can still change.'),
  isExceeded: z.boolean(),
  isForecastAbove: z.boolean().describe('Whether the forecast is judged, and above the limit.'),
  forecast,
  runsOutOn: day('The day on which more than the limit is used; absent when it lasts.').optional(),
  doubt: z.enum(budgetDoubts).optional().describe('Why the figure may mean nothing.'),
  unmatched: z.array(z.string()).optional().describe('Names in the scope that fit nothing.'),
})

const record = z.object({
  date: z.string(),
  entityType: z.string(),
  entityId: z.string(),
  entityName: z.string(),
  warehouseId: z.string().optional(),
  serviceId: z.string().optional(),
  total: z.string(),
  metrics: z.record(z.string(), z.string()),
  locked: z.boolean(),
})

export const usageDetails = z.object({
  organizationId: z.string().describe('The organization.'),
  provider: z
    .object({
      name: z.string(),
      serviceName: z.string(),
      serviceCategory: z.string(),
      listPrice: z.object({ currency: z.string(), amount: z.string() }).optional(),
    })
    .describe('Who charges, and what one unit costs by the public price list, where that is known.'),
  endDate: day('Last day that the period will have; later than to-date while it runs.'),
  clipped: z.boolean().describe('Whether days that are still to come were taken off the dates that were given.'),
  unlocked: z.enum(['include', 'exclude']).describe('Whether records that can still change are judged.'),
  judgedCredits: decimal('What the gate compares with the budget: the total, or the sum of the final records.'),
  warnBudget: decimal('The amount above which the gate warns.').optional(),
  warnBudgetExceeded: z.boolean().describe('Whether the total is above that amount.'),
  forecastBudget: decimal('Most that the forecast may be.').optional(),
  forecastBudgetExceeded: z.boolean().describe('Whether the forecast, or the total of a period that is over, is above that.'),
  forecast: forecast.describe('What the whole period will come to.'),
  comparison: comparison.optional().describe('Against the period before, where it was asked for.'),
  spikes: z.array(spike).describe('Days far above days like them.'),
  spikeDays: z.int().describe('Number of days that were looked at for spikes: those with two weeks known before them.'),
  budgets: z.array(budget).describe('One for each budget of the file, in its order.'),
  waiver: z.object({ until: z.string(), reason: z.string() }).optional().describe('The waiver that was given.'),
  onMissing: z.enum(['fail', 'warn', 'ignore']).describe('What doubts lead to.'),
  doubts: z
    .array(
      z.object({
        kind: z.enum([
          'empty',
          'not-yet',
          'nothing-final',
          'sum-differs',
          'outside-period',
          'repeated',
          'negative',
          'negative-record',
          'missing-days',
        ]),
        fromDate: z.string().optional(),
        toDate: z.string().optional(),
        days: z.array(z.string()).optional(),
        recordsTotal: z.string().optional(),
        grandTotal: z.string().optional(),
        entityName: z.string().optional(),
      }),
    )
    .describe('Reasons to doubt the figures.'),
  byDay: z.array(z.object({ date: z.string(), total: z.string(), provisional: z.string() })).describe('Every day of the period, in order.'),
  groupBy: z.enum(groupings).describe('What the groups are.'),
  groups: z.array(group).describe('Largest first; days in their order.'),
  byEntity: z.array(group).describe('Largest first.'),
  byMetric: z.array(group).describe('Largest first; what the metrics leave of a total is `other`.'),
  records: z.array(record).describe('The records of the period, as the API answered, without the unit word in the names.'),
  otherRecords: z.array(record).describe('Those of other days that a comparison or a budget needed.'),
  taggedRecords: z
    .array(z.object({ tag: z.string(), records: z.array(record) }))
    .describe('Those that were read by tag, for the budgets that count one.'),
})

export type UsageResult = z.output<typeof usageOutput> & z.output<typeof usageDetails>

// Owns turning figures into the result document.

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
