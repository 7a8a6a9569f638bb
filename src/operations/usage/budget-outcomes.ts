// Owns what each budget of a file comes to.
import type { Day } from '../../kernel/days.ts'
import type { Decimal } from '../../kernel/decimal.ts'
import { type BudgetJudgement, judgeBudget } from '../../rules/budget.ts'
import { type Forecast, forecastSpend, runOutDay } from '../../rules/forecast.ts'
import { knownDays } from '../../rules/history.ts'
import { isWithin } from '../../rules/period.ts'
import { recordsInScope } from '../../rules/scope.ts'
import { provisionalOf, totalByDay, totalOf } from '../../rules/spend.ts'
import type { Budget } from './budgets-file.ts'
import { allReadings, type Readings } from './reading.ts'

export interface BudgetOutcome {
  readonly budget: Budget
  readonly used: Decimal
  readonly provisional: Decimal
  readonly judgement: BudgetJudgement
  readonly forecast: Forecast
  /** Whether the forecast is judged, and above the limit. */
  readonly isForecastAbove: boolean
  readonly runsOutOn: Day | undefined
  /** Nothing was read for it, or nothing of all that was read is in its scope. */
  readonly doubt: 'empty' | 'nothing-in-scope' | undefined
}

export interface Judging {
  readonly readings: Readings
  readonly today: Day
  readonly lockedOnly: boolean
}

export function judgeBudgets(budgets: readonly Budget[], judging: Judging): readonly BudgetOutcome[] {
  return budgets.map((budget) => toOutcome(budget, judging))
}

function toOutcome(budget: Budget, { readings, today, lockedOnly }: Judging): BudgetOutcome {
  const { scope, period, limit, warnAbove, judgesForecast } = budget
  const read = scope.tag === undefined ? allReadings(readings) : (readings.tagged.get(scope.tag[0] ?? '') ?? [])
  const all = read.flatMap(({ records }) => records)
  const inScope = recordsInScope(all, scope, all)
  const records = inScope.filter(({ date }) => isWithin(date, period))
  const used = totalOf(lockedOnly ? records.filter(({ locked }) => locked) : records)
  const forecast = forecastSpend({ period, today, known: knownDays(period, read, inScope) })
  const days = forecast.kind === 'expected' ? forecast.days : totalByDay(records, period)
  return {
    budget,
    used,
    provisional: provisionalOf(records),
    judgement: judgeBudget(used, { budget: limit, warnBudget: warnAbove }),
    forecast,
    isForecastAbove: judgesForecast && forecast.kind === 'expected' && forecast.total.gt(limit),
    runsOutOn: runOutDay(days, limit),
    doubt: all.some(({ date }) => isWithin(date, period)) ? (inScope.length === 0 ? 'nothing-in-scope' : undefined) : 'empty',
  }
}
