import * as z from 'zod'
import type { Day } from '../../platform/core/dates.ts'
import { type Decimal, percentOf, sum, zero } from '../../platform/core/decimal.ts'
import { exactAmount, percent } from './amounts.ts'
import type { Budget, BudgetScope } from './budgets-file.ts'
import { daysWithForecast, forecastSchema, forecastSpend } from './forecast.ts'
import { type CurrentPeriod, date, dayOn, hasDaysAhead, isWithin } from './periods.ts'
import {
  allReadings,
  type DayTotal,
  findHistoryFailure,
  type History,
  hasJustBegun,
  type IssueLevel,
  issueLevel,
  issueLevels,
  knownDays,
  lastCompleteDay,
  lastDayWithAllRecords,
  type Readings,
  totalByDay,
} from './readings.ts'
import {
  entityKey,
  hasDistinctMetrics,
  provisionalOf,
  recordsInScope,
  totalOf,
  type UsageReading,
  type UsageRecord,
  unmatchedNames,
} from './records.ts'

export const limitStatuses = ['within', 'warn', 'exceeded'] as const

/** Compares all digits. An equal amount is within the limit, and zero is a valid limit. */
export function checkLimit(used: Decimal, limit: Decimal | undefined, warnAbove: Decimal | undefined) {
  const isWarned = warnAbove !== undefined && used.gt(warnAbove)
  const status: (typeof limitStatuses)[number] = limit !== undefined && used.gt(limit) ? 'exceeded' : isWarned ? 'warn' : 'within'
  return { status, usedPercent: limit && percentOf(used, limit) }
}

/** The first day on which usage exceeds the limit: by its records, or as expected, from today on. Undefined when it stays within the limit. */
export function runOutDay(
  { recorded, expected, today }: { readonly recorded: readonly DayTotal[]; readonly expected: readonly DayTotal[]; readonly today: Day },
  limit: Decimal,
): Day | undefined {
  const past = firstAbove(recorded, limit)
  if (past !== undefined) return past
  const ahead = firstAbove(expected, limit)
  // The records of yesterday may still grow, but they say that usage was within the limit.
  return ahead !== undefined && ahead < today ? today : ahead
}

function firstAbove(days: readonly DayTotal[], limit: Decimal) {
  let used = zero
  return days.find(({ total }) => {
    used = used.plus(total)
    return used.gt(limit)
  })?.date
}

interface Ahead {
  readonly period: CurrentPeriod
  /** Usage of each known day of the period and of its history. */
  readonly known: ReadonlyMap<Day, Decimal>
  readonly history: History
  /** The records that count. */
  readonly records: readonly UsageRecord[]
  readonly limit: Decimal | undefined
  readonly today: Day
}

/**
 * The usage of each day of the period, its forecast where it has future days, the step of the limit that it has just reached, and the day
 * on which it exceeds the limit.
 */
export function lookAhead({ period, known, history, records, limit, today }: Ahead) {
  const hasHistory = findHistoryFailure(history, period) === undefined
  const forecast = hasDaysAhead(period, today) ? forecastSpend({ period, today, known, hasHistory }) : undefined
  const recorded = totalByDay(records, period)
  const expected = forecast?.status === 'expected' ? daysWithForecast(forecast, known, period) : recorded
  if (limit === undefined) return { forecast, recorded }
  const budgetStep = findBudgetStep({ days: recorded, period, limit, today })
  return { forecast, recorded, budgetStep, runsOutOn: runOutDay({ recorded, expected, today }, limit) }
}

type BudgetIssue = z.output<ReturnType<typeof budgetIssueSchema>>

function budgetIssueSchema() {
  const level = z.enum(issueLevels)
  return z.discriminatedUnion('kind', [
    z.object({ kind: z.enum(['no-records', 'no-records-yet', 'metrics-mismatch']), level }),
    z.object({
      kind: z.literal('nothing-in-scope'),
      level,
      unmatched: z.array(z.string()).describe('Names in the scope that match no usage.'),
      nearest: z.record(z.string(), z.string()).describe('The names of usage that unmatched ones most likely mean.'),
    }),
  ])
}

export type BudgetOutcome = z.output<ReturnType<typeof budgetOutcomeSchema>>

export const budgetOutcomeSchema = () =>
  z.object({
    name: z.string(),
    status: z.enum(['pass', 'warn', 'fail']),
    scope: z.record(z.string(), z.array(z.string())).describe('The usage that counts. Empty for all usage.'),
    fromDate: dayOn('First day.'),
    toDate: dayOn('Last day, included.'),
    limit: exactAmount('The limit.'),
    warnAbove: exactAmount('The budget warns above this amount.').optional(),
    used: exactAmount('The amount that the gate compares with the limit.'),
    usedPercent: percent('Used share of the limit. Absent for a limit of zero.').optional(),
    provisional: exactAmount('Provisional part of the usage.'),
    limitStatus: z.enum(limitStatuses).describe('Whether the usage is above the limit, or above the warning level.'),
    budgetStep: budgetStepSchema().optional().describe('The step of the limit that usage has just reached, if any.'),
    forecast: forecastSchema().optional().describe('Absent without future days.'),
    judgesForecast: z.boolean().describe('Whether the budget also fails when the forecast is above its limit.'),
    isForecastAbove: z.boolean().describe('Whether the forecast counts and is above the limit.'),
    isForecastMissing: z.boolean().describe('Whether the forecast counts and is not available, which fails the budget.'),
    runsOutOn: dayOn('The day on which usage exceeds the limit. Absent when it stays within the limit.').optional(),
    waiver: z.object({ until: date, reason: z.string() }).optional().describe('The waiver of the budget.'),
    isWaived: z.boolean().describe('Whether the waiver turned a failure into a warning.'),
    dataQualityIssue: budgetIssueSchema().optional().describe('Why the figure cannot be trusted.'),
  })

interface JudgeOptions {
  readonly readings: Readings
  readonly today: Day
  readonly onMissing: IssueLevel | undefined
}

export function judgeBudgets(budgets: readonly Budget[], options: JudgeOptions): BudgetOutcome[] {
  const { readings } = options
  // The answer for a tag may lack the record of the warehouse, which has its name.
  const everything = recordsOf([...allReadings(readings), ...[...readings.tagged.values()].flatMap((tagged) => tagged.readings)])
  return budgets.map((budget) => judgeFileBudget(budget, options, everything))
}

const recordsOf = (readings: readonly UsageReading[]): readonly UsageRecord[] => readings.flatMap(({ records }) => records)

function judgeFileBudget(budget: Budget, options: JudgeOptions, everything: readonly UsageRecord[]): BudgetOutcome {
  const { readings, today } = options
  const { name, scope, period, limit, warnAbove, judgesForecast, waiver } = budget
  const own = readingsFor(scope, readings)
  const { read, history } = own
  const inScope = recordsInScope(recordsOf(read), scope, everything)
  const records = inScope.filter(({ date }) => isWithin(date, period))
  const used = totalOf(records)
  const known = knownDays(
    period,
    [...read, ...history.readings],
    [...inScope, ...recordsInScope(recordsOf(history.readings), scope, everything)],
    lastDayWithAllRecords(readings, today),
  )
  const { forecast, budgetStep, runsOutOn } = lookAhead({ period, known, history, records, limit, today })
  const { status: limitStatus, usedPercent } = checkLimit(used, limit, warnAbove)
  const isForecastAbove = judgesForecast && forecast?.status === 'expected' && forecast.total.gt(limit)
  const isForecastMissing = judgesForecast && forecast?.status === 'unavailable' && limitStatus !== 'exceeded'
  const issue = findIssue(budget, options, { ...own, everything, inScope })
  const status = worstOf(limitStatus, isForecastAbove || isForecastMissing, issue?.level)
  const isWaived = status === 'fail' && waiver !== undefined
  return {
    name,
    status: isWaived ? 'warn' : status,
    scope: Object.fromEntries(Object.entries(scope).flatMap(([kind, wanted]) => (wanted === undefined ? [] : [[kind, [...wanted]]]))),
    fromDate: period.from,
    toDate: period.to,
    limit,
    warnAbove,
    used,
    usedPercent,
    provisional: provisionalOf(records),
    limitStatus,
    budgetStep,
    forecast,
    judgesForecast,
    isForecastAbove,
    isForecastMissing,
    runsOutOn,
    waiver,
    isWaived,
    dataQualityIssue: issue,
  }
}

interface BudgetReadings {
  readonly read: readonly UsageReading[]
  readonly history: History
  readonly unusedTags: readonly string[]
}

function readingsFor({ tag: tags }: BudgetScope, readings: Readings): BudgetReadings {
  if (tags === undefined) return { read: allReadings(readings), history: readings.history, unusedTags: [] }
  const all = tags.flatMap((tag) => readings.tagged.get(tag) ?? [])
  const hasUsage = (tag: string) => {
    const { readings: read = [], history } = readings.tagged.get(tag) ?? {}
    return recordsOf([...read, ...(history?.readings ?? [])]).length > 0
  }
  const unused = tags.filter((tag) => !hasUsage(tag))
  return {
    read: onceEach(all.map((one) => one.readings)),
    history: {
      readings: onceEach(all.map(({ history }) => history.readings)),
      failures: all.flatMap(({ history }) => history.failures),
    },
    unusedTags: unused.length < tags.length ? unused : [],
  }
}

/** The answers for several tags, in which a record counts once. An answer that has a record twice keeps it twice, which is an issue. */
function onceEach(answers: readonly (readonly UsageReading[])[]): readonly UsageReading[] {
  const seen = new Set<string>()
  return answers.flatMap((readings) => {
    const own = readings.map((reading) => ({ ...reading, records: reading.records.filter((record) => !seen.has(recordKey(record))) }))
    for (const record of recordsOf(readings)) seen.add(recordKey(record))
    return own
  })
}

const recordKey = (record: UsageRecord) => `${record.date}\n${entityKey(record)}`

function worstOf(limit: BudgetOutcome['limitStatus'], failsByForecast: boolean, issue: IssueLevel | undefined): BudgetOutcome['status'] {
  if (limit === 'exceeded' || failsByForecast || issue === 'fail') return 'fail'
  return limit === 'warn' || issue === 'warn' ? 'warn' : 'pass'
}

function findIssue(
  { scope, period, limit }: Budget,
  { today, onMissing }: JudgeOptions,
  { read, everything, inScope, unusedTags }: BudgetReadings & Readonly<Record<'everything' | 'inScope', readonly UsageRecord[]>>,
): BudgetIssue | undefined {
  const issue = (kind: Exclude<BudgetIssue['kind'], 'nothing-in-scope'>): BudgetIssue => ({ kind, level: issueLevel(kind, onMissing) })
  const ofPeriod = recordsOf(read).filter(({ date }) => isWithin(date, period))
  if (ofPeriod.length === 0) return issue(hasJustBegun(period, today) ? 'no-records-yet' : 'no-records')
  const unmatched = [...unmatchedNames(scope, everything), ...unusedTags.map((name) => ({ name, nearest: undefined }))]
  if (inScope.length === 0 || unmatched.length > 0)
    return {
      kind: 'nothing-in-scope',
      level: issueLevel('nothing-in-scope', onMissing),
      unmatched: unmatched.map(({ name }) => name),
      nearest: Object.fromEntries(unmatched.flatMap(({ name, nearest }) => (nearest === undefined ? [] : [[name, nearest]]))),
    }
  if (scope.metric !== undefined) {
    const wholeRecords = recordsInScope(ofPeriod, { ...scope, metric: undefined }, everything)
    if (!hasDistinctMetrics(wholeRecords, scope.metric, limit)) return issue('metrics-mismatch')
  }
  return undefined
}

type BudgetStep = z.output<ReturnType<typeof budgetStepSchema>>

export const budgetStepSchema = () =>
  z.object({
    percent: z.int().describe('Percent of the budget: 50, 75, 90 or 100.'),
    reachedOn: dayOn('The day on which the usage reached it.'),
    used: exactAmount('Usage up to and including this day, provisional records included.'),
  })

interface StepInput {
  /** Every day of the period, in order, with final and provisional records. */
  readonly days: readonly DayTotal[]
  readonly period: CurrentPeriod
  readonly limit: Decimal
  readonly today: Day
}

/**
 * The highest step that usage reached on the last complete day. Nothing is remembered: the usage up to that day is compared with the usage
 * up to the day before it. Records of a later day grow from run to run, which would lose steps. A period that moves with every run has none.
 */
export function findBudgetStep({ days, period, limit, today }: StepInput): BudgetStep | undefined {
  if (period.isRolling || !limit.gt(0)) return undefined
  const reachedOn = lastCompleteDay(today)
  const usedBefore = sum(days.filter(({ date }) => date < reachedOn).map(({ total }) => total))
  const used = sum(days.filter(({ date }) => date <= reachedOn).map(({ total }) => total))
  const isAtLeast = (amount: Decimal, step: number) => amount.times(100).gte(limit.times(step))
  const percent = [100, 90, 75, 50].find((step) => isAtLeast(used, step))
  return percent === undefined || isAtLeast(usedBefore, percent) ? undefined : { percent, reachedOn, used }
}
