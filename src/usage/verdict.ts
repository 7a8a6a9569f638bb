import type { Day } from '../core/dates.ts'
import { type Decimal, formatRounded } from '../core/decimal.ts'
import { counted, join, type Line, say, sentence, trusted } from '../core/line.ts'
import { formatMoney, formatMoneyPair, formatPercent, formatShortDay } from '../report/format.ts'
import type { Verdict } from '../report/report.ts'
import type { BudgetOutcome } from './budgets.ts'
import type { DataQualityIssue } from './data-quality.ts'
import { comparedWords, day, describeIssue, inBrackets, maxListed, ofLimit, period } from './phrases.ts'
import type { UsageResult } from './result.ts'

interface Reason {
  readonly level: 'warn' | 'fail'
  /** One or more whole sentences. */
  readonly line: Line
  /** The limit of all usage that the line names, if any. */
  readonly limit?: Decimal
  /** The budget of the file that the line is about. The sentence after it then has the usage of this budget. */
  readonly budget?: BudgetOutcome
}

/** The judgments are in the result already. This puts those that fail or warn into words. */
export function judgeUsage(result: UsageResult): Verdict {
  const all = [
    ...gateReasons(result),
    ...totalReasons(result),
    ...budgetReasons(result),
    ...forecastReasons(result),
    ...increaseReasons(result),
    ...issueReasons(result),
  ]
  // Failures come first, so that no warning hides them.
  const [first, ...others] = (['fail', 'warn'] as const).flatMap((wanted) => all.filter(({ level }) => level === wanted))
  if (first === undefined) return { status: 'pass', reasons: [] }
  return {
    status: first.level,
    sentence: join([first.line, ...usedSoFar(result, first), ...waived(first)], ' '),
    reasons: others.map((other) => join([other.line, ...waived(other)], ' ')),
  }
}

const waived = ({ budget }: Reason): readonly Line[] =>
  budget?.isWaived && budget.waiver ? [say`Waived until ${day(budget.waiver.until)}: ${sentence(budget.waiver.reason)}`] : []

function gateReasons({ gate, ...limits }: UsageResult): readonly Reason[] {
  if (gate === 'required' && !canFail(limits)) {
    const checked = limits.warnBudget === undefined ? 'nothing' : 'only the warning level'
    const advice = 'With gate: required, set budget, budgets, forecast-budget or max-increase.'
    return [{ level: 'fail', line: [trusted(`No budget is set: ${checked} was checked. ${advice}`)] }]
  }
  return gate === 'auto' && !hasLimit(limits) ? [{ level: 'warn', line: [trusted('No budget is set: nothing was checked.')] }] : []
}

type Limits = Pick<UsageResult, 'budget' | 'warnBudget' | 'forecastBudget' | 'budgets' | 'comparison'>

/** An expression that evaluates to an empty text means no limit. */
const canFail = ({ budget, forecastBudget, budgets, comparison }: Limits): boolean =>
  [budget, forecastBudget, comparison?.maxIncrease].some((limit) => limit !== undefined) || budgets.length > 0

export const hasLimit = (limits: Limits): boolean => canFail(limits) || limits.warnBudget !== undefined

/** `Used so far: 288.54 CHC (96%).` Empty where the first reason says it, and without records. A share is that of the limit it names. */
function usedSoFar(result: UsageResult, first: Reason): readonly Line[] {
  if (first.budget !== undefined) return usedOfBudget(first.budget, result)
  const { budget, budgetStatus, grandTotalCredits, records, unit, toDate, endDate, dataQualityIssues } = result
  if (records.length === 0 || budgetStatus !== 'within') return []
  // A share of the budget would suggest a figure that can be trusted.
  const limit = dataQualityIssues.length > 0 ? undefined : first.limit
  const what = endDate > toDate ? 'Used so far' : 'Total used'
  // The facts have the share of the budget.
  const ofWhat = limit === undefined || budget === undefined || budget.eq(limit) ? '' : ' of the forecast budget'
  const share = limit === undefined ? '' : inBrackets(grandTotalCredits, limit, ofWhat)
  return [[trusted(`${what}: ${formatMoney(grandTotalCredits)} ${unit}${share}.`)]]
}

/** The reason of a limit has the usage already. */
function usedOfBudget({ limitStatus, forecast, dataQualityIssue, used, limit }: BudgetOutcome, { unit }: UsageResult): readonly Line[] {
  if (limitStatus !== 'within') return []
  const what = forecast === undefined ? 'Total used' : 'Used so far'
  const share = dataQualityIssue === undefined ? inBrackets(used, limit) : ''
  return [[trusted(`${what}: ${formatMoney(used)} ${unit}${share}.`)]]
}

function totalReasons({ grandTotalCredits, budget, budgetStatus, warnBudget, unit }: UsageResult): readonly Reason[] {
  if (budget !== undefined && budgetStatus === 'exceeded') {
    const share = inBrackets(grandTotalCredits, budget)
    return [{ level: 'fail', line: [trusted(`Budget exceeded: ${ofLimit(grandTotalCredits, budget, unit)}${share}.`)] }]
  }
  if (warnBudget === undefined || budgetStatus !== 'warn') return []
  return [{ level: 'warn', line: [trusted(`Warning level exceeded: ${ofLimit(grandTotalCredits, warnBudget, unit)}.`)] }]
}

/** Budgets of a file that the verdict names. */
const maxNamedBudgets = 5

function budgetReasons({ budgets, unit, toDate }: UsageResult): readonly Reason[] {
  const all = budgets.flatMap((budget): readonly Reason[] => {
    const line = describeBudget(budget, unit, toDate)
    return line === undefined ? [] : [{ level: budget.status === 'fail' ? 'fail' : 'warn', line, budget }]
  })
  // Failures come first, so that the verdict names them before warnings.
  const ordered = [...all.filter(({ level }) => level === 'fail'), ...all.filter(({ level }) => level === 'warn')]
  const rest = ordered.slice(maxNamedBudgets)
  const [next] = rest
  if (next === undefined) return ordered
  const line = say`${counted(rest.length, 'more budget')} failed or exceeded the warning level.`
  return [...ordered.slice(0, maxNamedBudgets), { level: next.level, line }]
}

/** Undefined for a budget that passes. Data quality issues have reasons of their own. */
function describeBudget(budget: BudgetOutcome, unit: string, reference: Day): Line | undefined {
  const { name, used, limit, warnAbove, limitStatus, isForecastAbove, isForecastMissing, forecast } = budget
  if (limitStatus === 'exceeded')
    return say`Budget ${name} exceeded: ${trusted(`${ofLimit(used, limit, unit)}${inBrackets(used, limit)}.`)}`
  if (isForecastAbove && forecast?.status === 'expected') {
    const [expected, limitAmount] = formatMoneyPair(forecast.total, limit)
    const by = formatShortDay(forecast.untilDate, reference)
    return say`Budget ${name}: ${trusted(`forecast of ${expected} ${unit} by ${by} exceeds the limit of ${limitAmount} ${unit}.`)}`
  }
  if (isForecastMissing)
    return say`Budget ${name} has no forecast, because the usage before its period could not be read or is inconsistent.`
  if (limitStatus !== 'warn' || warnAbove === undefined) return undefined
  return say`Budget ${name} exceeded its warning level: ${trusted(`${ofLimit(used, warnAbove, unit)}.`)}`
}

function forecastReasons(result: UsageResult): readonly Reason[] {
  const { forecast, budget, forecastBudget, forecastBudgetExceeded, grandTotalCredits, unit, toDate } = result
  if (forecastBudget === undefined) return []
  if (forecast?.status === 'unavailable' && !forecastBudgetExceeded) {
    const line = say`The forecast budget of ${trusted(`${formatMoney(forecastBudget)} ${unit}`)} was not checked, because there is no forecast.`
    return [{ level: 'fail', line }]
  }
  if (!forecastBudgetExceeded) return []
  const isExpected = forecast?.status === 'expected'
  const [amount, limitAmount] = formatMoneyPair(isExpected ? forecast.total : grandTotalCredits, forecastBudget)
  const what = isExpected ? 'Forecast' : 'Usage'
  const by = isExpected ? ` by ${formatShortDay(forecast.untilDate, toDate)}` : ''
  const limit = budget === undefined || budget.eq(forecastBudget) ? 'budget' : 'forecast budget'
  const line = [trusted(`${what} of ${amount} ${unit}${by} exceeds the ${limit} of ${limitAmount} ${unit}.`)]
  return [{ level: 'fail', line, limit: forecastBudget }]
}

function increaseReasons({ comparison, unit }: UsageResult): readonly Reason[] {
  if (comparison?.status !== 'compared' || comparison.maxIncrease === undefined || !comparison.isAboveMaxIncrease) return []
  const { change, changePercent, maxIncrease } = comparison
  const isPercent = maxIncrease.kind === 'percent'
  const [amount, maxAmount] = isPercent ? [formatMoney(change)] : formatMoneyPair(change, maxIncrease.amount)
  const allowed = isPercent ? `${maxIncrease.percent.toFixed()}%` : `${maxAmount} ${unit}`
  const share =
    changePercent === undefined
      ? ''
      : ` (${isPercent ? differentPercent(changePercent, maxIncrease.percent) : formatPercent(changePercent)})`
  const line = [trusted(`Usage increased by ${amount} ${unit}${share} from ${comparedWords[comparison.with]}. The limit is ${allowed}.`)]
  return [{ level: 'fail', line }]
}

/** Formats with as many decimals as the value needs to look different from the limit. */
function differentPercent(value: Decimal, limit: Decimal): string {
  const places = [0, 1, 2, 3, 4, 5].find((count) => !value.round(count).eq(limit)) ?? 6
  return `${formatRounded(value, places)}%`
}

function issueReasons(result: UsageResult): readonly Reason[] {
  const all = [
    ...result.dataQualityIssues.map((issue) => ({ level: issue.level, line: describeIssue(issue, result.unit) })),
    ...result.budgets.flatMap((budget) => describeBudgetIssue(budget, result).map((reason) => ({ ...reason, budget }))),
  ]
  return all.flatMap(({ level, ...reason }) => (level === 'ignore' ? [] : [{ level, ...reason }]))
}

/** Empty when the figure can be trusted, or when the report says the same of its whole period. */
function describeBudgetIssue(
  { name, fromDate, toDate, scope, isWaived, dataQualityIssue: issue }: BudgetOutcome,
  result: UsageResult,
): readonly (Pick<DataQualityIssue, 'level'> & { readonly line: Line })[] {
  if (issue === undefined) return []
  const level = isWaived && issue.level === 'fail' ? 'warn' : issue.level
  switch (issue.kind) {
    case 'nothing-in-scope': {
      const names = issue.unmatched.slice(0, maxListed).map((one) => {
        const nearest = issue.nearest[one]
        return nearest === undefined ? say`${one}` : say`${one} (did you mean ${nearest}?)`
      })
      const line =
        names.length === 0
          ? say`The scope of budget ${name} matches no usage.`
          : say`The scope of budget ${name} has names that match no usage: ${join(names, ', ')}. Check the spelling.`
      return [{ level, line }]
    }
    case 'metrics-mismatch':
      return [
        { level, line: say`The usage of budget ${name} is unknown, because the metrics of its records do not add up to their totals.` },
      ]
    case 'no-records':
    case 'no-records-yet': {
      const isSamePeriod = fromDate === result.fromDate && toDate === result.toDate && scope.tag === undefined
      if (isSamePeriod && result.dataQualityIssues.some(({ kind }) => kind === issue.kind)) return []
      const yet = trusted(issue.kind === 'no-records' ? '' : ' yet')
      return [{ level, line: say`Budget ${name} has no usage records${yet} for ${period(fromDate, toDate)}.` }]
    }
  }
}
