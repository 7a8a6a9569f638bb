import type { Day } from '../core/dates.ts'
import { type Decimal, percentOf } from '../core/decimal.ts'
import type { Budget } from './budgets-file.ts'
import { isYoung, type ReadUsage } from './data-quality.ts'
import { type Forecast, forecastSpend, knownDays, runOutDay } from './forecast.ts'
import { isWithin } from './periods.ts'
import { allReadings, type Readings } from './read-usage.ts'
import { provisionalOf, recordsInScope, type SpendRecord, tellsMetrics, totalByDay, totalOf, unmatchedNames } from './records.ts'

// Owns the comparison of a figure with its limits. Exact: equal is within the limit, and zero is a limit.

export interface Limits {
  /** Above it the gate fails. */
  readonly budget: Decimal | undefined
  /** Above it the gate warns. */
  readonly warnBudget: Decimal | undefined
}

export interface BudgetJudgement {
  readonly level: 'within' | 'warn' | 'exceeded'
  /** Undefined without a budget, and for a budget of zero. */
  readonly usedPercent: Decimal | undefined
}

export function judgeBudget(spent: Decimal, { budget, warnBudget }: Limits): BudgetJudgement {
  const usedPercent = budget === undefined ? undefined : percentOf(spent, budget)
  if (budget !== undefined && spent.gt(budget)) return { level: 'exceeded', usedPercent }
  return { level: warnBudget !== undefined && spent.gt(warnBudget) ? 'warn' : 'within', usedPercent }
}

// Owns what each budget of a file comes to.

/** Nothing was read, or nothing yet of days that have just begun, nothing that was read is in scope, its metrics cannot be told from the rest, nothing in scope is final. */
export const budgetDoubts = ['empty', 'not-yet', 'nothing-in-scope', 'metrics-differ', 'nothing-final'] as const

export type BudgetDoubt = (typeof budgetDoubts)[number]

export interface BudgetOutcome {
  readonly budget: Budget
  readonly used: Decimal
  readonly provisional: Decimal
  readonly judgement: BudgetJudgement
  readonly forecast: Forecast
  /** Whether the forecast is judged, and above the limit. */
  readonly isForecastAbove: boolean
  readonly runsOutOn: Day | undefined
  /** Why the figure may mean nothing. */
  readonly doubt: BudgetDoubt | undefined
  /** Names in its scope that fit nothing. */
  readonly unmatched: readonly string[]
}

export interface Judging {
  readonly readings: Readings
  readonly today: Day
  readonly lockedOnly: boolean
}

export function judgeBudgets(budgets: readonly Budget[], judging: Judging): readonly BudgetOutcome[] {
  const { readings } = judging
  // A tagged answer need not hold the warehouse's own row, which says what the warehouse is called.
  const everything = recordsOf([...allReadings(readings), ...[...readings.tagged.values()].flat()])
  return budgets.map((budget) => toOutcome(budget, judging, everything))
}

const recordsOf = (read: readonly ReadUsage[]): readonly SpendRecord[] => read.flatMap(({ records }) => records)

function toOutcome(budget: Budget, { readings, today, lockedOnly }: Judging, everything: readonly SpendRecord[]): BudgetOutcome {
  const { scope, period, limit, warnAbove, judgesForecast } = budget
  const read = scope.tag === undefined ? allReadings(readings) : (readings.tagged.get(scope.tag[0] ?? '') ?? [])
  const all = recordsOf(read)
  const inScope = recordsInScope(all, scope, everything)
  const records = inScope.filter(({ date }) => isWithin(date, period))
  const judged = lockedOnly ? records.filter(({ locked }) => locked) : records
  const used = totalOf(judged)
  const forecast = forecastSpend({ period, today, known: knownDays(period, read, inScope) })
  const days = forecast.kind === 'expected' && !lockedOnly ? forecast.days : totalByDay(judged, period)
  const unmatched = unmatchedNames(scope, everything)
  const wholeRecords = () =>
    recordsInScope(all, { ...scope, metric: undefined }, everything).filter(
      ({ date, locked }) => isWithin(date, period) && (locked || !lockedOnly),
    )
  return {
    budget,
    used,
    provisional: provisionalOf(records),
    judgement: judgeBudget(used, { budget: limit, warnBudget: warnAbove }),
    forecast,
    isForecastAbove: judgesForecast && forecast.kind === 'expected' && forecast.total.gt(limit),
    runsOutOn: runOutDay(days, limit),
    unmatched,
    doubt: doubtOf({
      isRead: all.some(({ date }) => isWithin(date, period)),
      isYoung: isYoung(period, today),
      fits: inScope.length > 0 && unmatched.length === 0,
      tells: scope.metric === undefined || tellsMetrics(wholeRecords(), scope.metric, limit),
      records,
      judged,
    }),
  }
}

interface Basis {
  /** Whether there is any record of the budget's days, in scope or not. */
  readonly isRead: boolean
  readonly isYoung: boolean
  readonly fits: boolean
  /** Whether what its metrics are is said. */
  readonly tells: boolean
  readonly records: readonly SpendRecord[]
  readonly judged: readonly SpendRecord[]
}

function doubtOf({ isRead, isYoung: isEarly, fits, tells, records, judged }: Basis): BudgetDoubt | undefined {
  if (!isRead) return isEarly ? 'not-yet' : 'empty'
  if (!fits) return 'nothing-in-scope'
  if (!tells) return 'metrics-differ'
  return records.length > 0 && judged.length === 0 ? 'nothing-final' : undefined
}
