import { type Decimal, formatEstimate, formatExact, fromText } from '../core/decimal.ts'
import type { Verdict } from '../operation/operation.ts'
import { type Line, ours, say } from '../report/blocks.ts'
import type { UsageInput } from './input.ts'
import { describeBudgetDoubt, describeDoubt } from './report.ts'
import type { UsageResult } from './result.ts'

// Owns what a doubt about figures leads to.

/** What was asked for. Otherwise a failure, but for days that have just begun and have no records for a while: they wake nobody. */
export const doubtLevel = (doubt: string | undefined, wished: UsageInput['onMissing']): NonNullable<UsageInput['onMissing']> =>
  wished ?? (doubt === 'not-yet' ? 'warn' : 'fail')

// Owns what the figures of usage-cost mean for the gate.

interface Finding {
  readonly level: 'warn' | 'fail'
  readonly line: Line
}

export function judgeUsage(result: UsageResult, { onMissing }: Pick<UsageInput, 'onMissing'>): Verdict {
  const findings = [
    ...judgeTotal(result),
    ...judgeBudgets(result),
    ...judgeForecast(result),
    ...judgeIncrease(result),
    ...judgeDoubts(result, onMissing),
  ]
  if (findings.length === 0) return { status: 'pass', reasons: [] }
  // What failed comes first, so that no warning hides it.
  const reasons = (['fail', 'warn'] as const).flatMap((wanted) => findings.filter(({ level }) => level === wanted).map(({ line }) => line))
  if (findings.every(({ level }) => level === 'warn')) return { status: 'warn', reasons }
  const { waiver } = result
  return waiver === undefined ? { status: 'fail', reasons } : { status: 'warn', reasons: [...reasons, waived(waiver)] }
}

const waived = ({ until, reason }: NonNullable<UsageResult['waiver']>): Line => say`waived until ${ours(until)}: ${reason}`

/** `above the budget of 100 by 3.5 CHC`. */
function above(what: string, most: string, actual: Decimal, unit: string): Line {
  return [ours(`above ${what} of ${formatExact(fromText(most))} by ${formatExact(actual.minus(most))} ${unit}`)]
}

/** The same of a forecast, which is no more exact than the report shows it. */
function aboveAsEstimated(what: string, most: string, { total = '0' }: UsageResult['forecast'], unit: string): Line {
  return [ours(`above ${what} of ${formatExact(fromText(most))}: ${formatEstimate(fromText(total))} ${unit}`)]
}

function judgeTotal({
  judgedCredits,
  unlocked,
  budget,
  budgetUsedPercent,
  warnBudget,
  warnBudgetExceeded,
  unit,
}: UsageResult): readonly Finding[] {
  const judged = fromText(judgedCredits)
  const finals = (line: Line): Line => (unlocked === 'exclude' ? [ours('final records alone are '), ...line] : line)
  if (budget !== undefined && judged.gt(budget)) {
    const share = budgetUsedPercent === undefined ? '' : ` (${budgetUsedPercent} %)`
    return [{ level: 'fail', line: finals([...above('the budget', budget, judged, unit), ours(share)]) }]
  }
  return warnBudget !== undefined && warnBudgetExceeded
    ? [{ level: 'warn', line: finals(above('warn-budget', warnBudget, judged, unit)) }]
    : []
}

/** Most budgets of a file that a sentence names. */
const mostNamed = 5

function judgeBudgets({ budgets, unit }: UsageResult): readonly Finding[] {
  // What is doubtful is told by judgeDoubts.
  const bad = budgets.filter((budget) => budget.isExceeded || budget.isForecastAbove || isWarned(budget))
  // What failed comes first, so that it is not among those left out.
  const ordered = [...bad.filter(({ verdict }) => verdict === 'fail'), ...bad.filter(({ verdict }) => verdict === 'warn')]
  const named = ordered
    .slice(0, mostNamed)
    .map((one): Finding => ({ level: one.verdict === 'fail' ? 'fail' : 'warn', line: describeBudget(one, unit) }))
  const rest = ordered.slice(mostNamed)
  if (rest.length === 0) return named
  return [...named, { level: rest.some(({ verdict }) => verdict === 'fail') ? 'fail' : 'warn', line: say`${rest.length} more budgets` }]
}

const isWarned = ({ warnAbove, used }: UsageResult['budgets'][number]): boolean => warnAbove !== undefined && fromText(used).gt(warnAbove)

function describeBudget(
  { name, used, limit, warnAbove, isExceeded, isForecastAbove, forecast }: UsageResult['budgets'][number],
  unit: string,
): Line {
  if (isExceeded) return say`budget ${name}: ${above('its limit', limit, fromText(used), unit)}`
  if (isForecastAbove)
    return say`budget ${name}: expected by ${ours(forecast.untilDate)} to be ${aboveAsEstimated('its limit', limit, forecast, unit)}`
  return say`budget ${name}: ${above('its warn level', warnAbove ?? '0', fromText(used), unit)}`
}

function judgeForecast({ forecast, forecastBudget, forecastBudgetExceeded, judgedCredits, unit }: UsageResult): readonly Finding[] {
  if (forecastBudget === undefined || !forecastBudgetExceeded) return []
  const line =
    forecast.total === undefined
      ? above('the forecast budget', forecastBudget, fromText(judgedCredits), unit)
      : say`expected by ${ours(forecast.untilDate)} to be ${aboveAsEstimated('the forecast budget', forecastBudget, forecast, unit)}`
  return [{ level: 'fail', line }]
}

function judgeIncrease({ comparison, unit }: UsageResult): readonly Finding[] {
  if (comparison?.maxIncrease === undefined || !comparison.isAboveMaxIncrease) return []
  const { change, changePercent, maxIncrease } = comparison
  const share = changePercent === undefined ? '' : ` (${changePercent} %)`
  const most = maxIncrease.endsWith('%') ? maxIncrease : `${maxIncrease} ${unit}`
  return [{ level: 'fail', line: [ours(`grown by ${formatExact(fromText(change))} ${unit}${share}, more than the ${most} allowed`)] }]
}

function judgeDoubts({ doubts, budgets, ...result }: UsageResult, wished: UsageInput['onMissing']): readonly Finding[] {
  const all = [
    ...doubts.map((doubt) => ({ level: doubtLevel(doubt.kind, wished), line: describeDoubt(doubt, result.unit) })),
    ...budgets.flatMap((budget) =>
      describeBudgetDoubt(budget, { doubts, ...result }).map((line) => ({ level: doubtLevel(budget.doubt, wished), line })),
    ),
  ]
  return all.flatMap(({ level, line }) => (level === 'ignore' ? [] : [{ level, line }]))
}
