// What a report of usage decides, and how it shows that.

import { drillTag } from '../../platform/api/services.ts'
import { type Day, formatDay, formatDays, formatMoment } from '../../platform/core/dates.ts'
import { type Decimal, formatRounded, percentOf, sum } from '../../platform/core/decimal.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import {
  counted,
  join,
  joinFirst,
  type Line,
  say,
  type Trusted,
  toPlainText,
  trusted,
  untrusted,
  untrustedSentence,
} from '../../platform/core/line.ts'
import { capitalize, listFirst, plural, progressBar } from '../../platform/core/text.ts'
import { type Block, paragraph, statusLooks } from '../../platform/report/blocks.ts'
import { formatMoney, formatMoneyPair, formatPercent, formatRange, formatShare, formatShortDay } from '../../platform/report/format.ts'
import type { Report, Verdict } from '../../platform/report/report.ts'
import { type Cell, facts, shown, table } from '../../platform/report/table.ts'
import type { BudgetStep } from './budget-steps.ts'
import type { BudgetOutcome } from './budgets.ts'
import type { Compared, UsageComparison } from './comparison.ts'
import type { DataQualityIssue } from './data-quality.ts'
import type { Forecast } from './forecast.ts'
import { comparedWords, day, describeIssue, inBrackets, listDays, maxListed, ofLimit, period, unitWords } from './phrases.ts'
import { createLabels } from './records.ts'
import type { UsageResult } from './result.ts'
import { usageChart } from './usage-chart.ts'

interface Reason {
  readonly level: 'warn' | 'fail'
  /** One or more whole sentences. */
  readonly line: Line
  /** The limit of all usage that the line names, if any. */
  readonly limit?: Decimal
  /** The line has the usage already. */
  readonly hasUsage?: true
  /** For a title, where the line begins with figures. */
  readonly cause?: Line
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
    ...(first.cause && { cause: first.cause }),
    reasons: others.map((other) => join([other.line, ...waived(other)], ' ')),
  }
}

const waived = ({ budget }: Reason): readonly Line[] =>
  budget?.isWaived && budget.waiver ? [say`Waived until ${day(budget.waiver.until)}: ${untrustedSentence(budget.waiver.reason)}`] : []

function gateReasons({ gate, ...limits }: UsageResult): readonly Reason[] {
  if (gate === 'required' && !canFail(limits)) {
    const checked = limits.warnBudget === undefined ? 'nothing' : 'only the warning level'
    const advice = `With ${spellInput('gate', 'required')}, set ${['budget', 'budgets', 'forecast-budget'].map((name) => spellInput(name)).join(', ')} or ${spellInput('max-increase')}.`
    return [{ level: 'fail', line: [trusted(`No budget is set: ${checked} was checked. ${advice}`)] }]
  }
  return gate === 'auto' && !hasLimit(limits) ? [{ level: 'warn', line: [trusted('No budget is set: nothing was checked.')] }] : []
}

type Limits = Pick<UsageResult, 'budget' | 'warnBudget' | 'forecastBudget' | 'budgets' | 'comparison'>

/** An expression that evaluates to an empty text means no limit. */
const canFail = ({ budget, forecastBudget, budgets, comparison }: Limits): boolean =>
  [budget, forecastBudget, comparison?.maxIncrease].some((limit) => limit !== undefined) || budgets.length > 0

const hasLimit = (limits: Limits): boolean => canFail(limits) || limits.warnBudget !== undefined

/** `Used so far: 288.54 CHC (96%).` Empty where the first reason says it, and without records. A share is that of the limit it names. */
function usedSoFar(result: UsageResult, first: Reason): readonly Line[] {
  if (first.budget !== undefined) return usedOfBudget(first.budget, result)
  const { budget, budgetStatus, grandTotalCredits, records, unit, toDate, endDate, dataQualityIssues } = result
  if (records.length === 0 || budgetStatus !== 'within' || first.hasUsage) return []
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
    const cause = budget.limitStatus !== 'exceeded' && budget.isForecastAbove && say`forecast exceeds budget ${budget.name}`
    return line === undefined ? [] : [{ level: budget.status === 'fail' ? 'fail' : 'warn', line, budget, ...(cause && { cause }) }]
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
  const { forecast, forecastBudget, forecastBudgetExceeded, unit } = result
  if (forecastBudget === undefined) return []
  if (forecastBudgetExceeded) return exceededForecastBudget(result, forecastBudget)
  if (forecast?.status !== 'unavailable') return []
  const line = say`The forecast budget of ${trusted(`${formatMoney(forecastBudget)} ${unit}`)} was not checked, because there is no forecast.`
  return [{ level: 'fail', line, cause: say`there is no forecast` }]
}

/** What happened comes before what is expected. */
function exceededForecastBudget(result: UsageResult, limit: Decimal): readonly Reason[] {
  const { forecast, budget, budgetStatus, grandTotalCredits: used, unit, toDate } = result
  const isOnly = budget === undefined || budget.eq(limit)
  const what = isOnly ? 'budget' : 'forecast budget'
  const isSaid = isOnly && budgetStatus === 'exceeded'
  const expected = forecast?.status === 'expected' ? forecast : undefined
  const by = expected && `by ${formatShortDay(expected.untilDate, toDate)}`
  // The usage is that of the whole period only where there is no forecast.
  if (used.gt(limit) && !isSaid && (isOnly || expected === undefined)) {
    const ahead = expected === undefined ? '' : ` Forecast ${by}: ${formatMoney(expected.total)} ${unit}.`
    const exceeded = `${capitalize(what)} exceeded: ${ofLimit(used, limit, unit)}${inBrackets(used, limit)}.`
    return [{ level: 'fail', line: [trusted(`${exceeded}${ahead}`)], hasUsage: true }]
  }
  if (expected === undefined) return []
  const [amount, limitAmount] = formatMoneyPair(expected.total, limit)
  const line = [trusted(`Forecast of ${amount} ${unit} ${by} exceeds the ${what} of ${limitAmount} ${unit}.`)]
  return [{ level: 'fail', line, limit, cause: [trusted(`forecast exceeds the ${what}`)] }]
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
  return [{ level: 'fail', line, cause: say`usage increased too much` }]
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
  return all.flatMap(({ level, ...reason }) =>
    level === 'ignore' ? [] : [{ level, ...reason, cause: say`usage records are missing or inconsistent` }],
  )
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

export function reportUsage(result: UsageResult): Report {
  return {
    headline: headlineOf(result),
    milestones: milestonesOf(result),
    blocks: [
      ...nextStep(result),
      factsOf(result),
      ...notices(result).map((line): Block => ({ kind: 'paragraph', line })),
      budgetTable(result),
      ...usageChart(result),
      spikeTable(result),
      ...spikeContext(result),
      ...spikeDeployments(result),
      ...groupTables(result),
      ...moverTable(result),
      recordDetails(result),
    ],
  }
}

/** What to do about a budget that is exceeded. */
function nextStep(result: UsageResult): readonly Block[] {
  const { organizationId, budgetStatus, budgets, byEntity, grandTotalCredits: total } = result
  const isTotal = budgetStatus === 'exceeded'
  if (!isTotal && !budgets.some(({ status, limitStatus }) => status === 'fail' && limitStatus === 'exceeded')) return []
  // Budgets of a file are about parts of the total.
  const largest = (isTotal ? byEntity.slice(0, 1) : []).map(
    ({ name: entityName, entityId = '', entityType = '', total: used }) =>
      say`Most is used by ${labelsOf(result)({ entityName, entityId, entityType })}${trusted(inBrackets(used, total))}. `,
  )
  return [
    paragraph(
      say`${join(largest, '')}To find services that cost credits without need: ${`watchkeeper audit-costs --organization-id ${organizationId}`}. If the usage is right, raise the budget.`,
    ),
  ]
}

/** Total, forecast, and what costs most. */
export function usageLines(result: UsageResult): readonly Line[] {
  const { forecast, unit, toDate, grandTotalCredits: total, byEntity } = result
  const expected = forecast?.status === 'expected' ? forecast : undefined
  const labelOf = labelsOf(result)
  const largest = byEntity
    .slice(0, maxLargest)
    .map(
      ({ name: entityName, entityId = '', entityType = '', total: used }) =>
        say`${labelOf({ entityName, entityId, entityType })} ${trusted(`${formatMoney(used)} ${unit}${inBrackets(used, total)}`)}`,
    )
  const verdict = toPlainText(judgeUsage(result).sentence ?? [])
  return [
    ...(verdict.includes(formatMoney(total)) ? [] : [headlineOf(result)]),
    ...(expected === undefined
      ? []
      : [
          [
            trusted(
              `Forecast by ${formatShortDay(expected.untilDate, toDate)}: ${formatMoney(expected.total)} ${unit} (80% range ${formatRange(expected.low, expected.high)} ${unit})`,
            ),
          ],
        ]),
    ...(largest.length === 0 ? [] : [say`Costs most: ${join(largest, ', ')}`]),
  ]
}

/** Entities that a message names. */
const maxLargest = 3

/** Steps of budgets that usage has just reached. */
function milestonesOf({ budgetStep, budget, budgets, unit }: UsageResult): readonly Line[] {
  const describe = ({ percent, used, reachedOn }: BudgetStep, name: Line, limit: Decimal): Line =>
    say`Usage reached ${percent}% of ${name} on ${day(reachedOn)}: ${trusted(`${ofLimit(used, limit, unit)}.`)}`
  const all = [
    ...(budgetStep === undefined || budget === undefined ? [] : [describe(budgetStep, say`the budget`, budget)]),
    ...budgets.flatMap(({ name, budgetStep: step, limit }) => (step === undefined ? [] : [describe(step, say`budget ${name}`, limit)])),
  ]
  return listFirst(all, maxMilestones, (count) => say`${counted(count, 'more budget')} reached a step.`)
}

/** Budgets that a message names. */
const maxMilestones = 10

/** Headline of a run that passes. The verdict has sentences for the others. */
function headlineOf(result: UsageResult): Line {
  const { grandTotalCredits, unit, fromDate, toDate, budget, budgets, dataQualityIssues, records } = result
  const total = `${formatMoney(grandTotalCredits)} ${unit}`
  const days = period(fromDate, toDate)
  if (records.length === 0) return say`No usage records for ${days}. The API's total is ${trusted(`${total}.`)}`
  const [only] = budgets
  // A single budget of a file is what the run is about, not the usage of the organization.
  if (budget === undefined && only !== undefined && budgets.length === 1) return budgetHeadline(only, unit)
  const isKnown = budget !== undefined && dataQualityIssues.length === 0
  const used = isKnown ? `${ofLimit(grandTotalCredits, budget, unit)}${inBrackets(grandTotalCredits, budget)}` : total
  const sentences = [
    say`Used ${trusted(used)} from ${days}.`,
    ...(budgets.length === 0
      ? []
      : [say`${budgets.filter(({ status }) => status !== 'fail').length} of ${budgets.length} budgets passed.`]),
  ]
  return join(sentences, ' ')
}

function budgetHeadline({ name, used, limit, fromDate, toDate, dataQualityIssue }: BudgetOutcome, unit: string): Line {
  const amount = dataQualityIssue === undefined ? `${ofLimit(used, limit, unit)}${inBrackets(used, limit)}` : `${formatMoney(used)} ${unit}`
  return say`Budget ${name}: used ${trusted(amount)} from ${period(fromDate, toDate)}.`
}

function factsOf(result: UsageResult): Block {
  const { unit, creditPrice, budget, budgetStatus, provisionalCredits, grandTotalCredits, warnBudget, comparison } = result
  const { days, fromDate, toDate, forecast, forecastBudget, runsOutOn, gate } = result
  const amount = (value: Decimal): string => `${formatMoney(value)} ${unit}`
  return facts({
    Used: trusted(
      budget === undefined ? `${amount(grandTotalCredits)}${moneyWords(grandTotalCredits, creditPrice)}` : ofBudget(result, budget),
    ),
    Budget: budget === undefined && gate !== 'off' && !hasLimit(result) ? trusted('none') : undefined,
    'Warning level': shown(warnBudget, amount),
    Provisional: trusted(`${amount(provisionalCredits)}${inBrackets(provisionalCredits, grandTotalCredits)}`),
    ...(forecast && { [`Forecast by ${formatShortDay(forecast.untilDate, toDate)}`]: trusted(forecastWords(forecast, result)) }),
    'Forecast budget': forecastBudget && budget?.eq(forecastBudget) ? undefined : shown(forecastBudget, amount),
    [budgetStatus === 'exceeded' ? 'Budget exceeded on' : 'Budget will be exceeded on']: shown(runsOutOn, (on) =>
      formatShortDay(on, toDate),
    ),
    ...(comparison && { [`Change from ${comparedWords[comparison.with]}`]: trusted(changeWords(comparison, unit)) }),
    Period: trusted(`${period(fromDate, toDate).text} (${plural(days, 'day')})`),
    Unit: shown(describeUnit(result)),
  })
}

/** `319.58 of 250.00 CHC (128%), 335.56 of 262.50 USD`. */
function ofBudget({ grandTotalCredits: used, budgetUsedPercent, unit, creditPrice }: UsageResult, budget: Decimal): string {
  const share = budgetUsedPercent === undefined ? '' : ` (${formatPercent(budgetUsedPercent)})`
  const { amount, currency } = creditPrice ?? {}
  const money = amount && currency ? `, ${ofLimit(used.times(amount), budget.times(amount), currency)}` : ''
  return `${ofLimit(used, budget, unit)}${share}${money}`
}

/** ` (302.97 USD)`. Empty without a price. */
const moneyWords = (credits: Decimal, price: UsageResult['creditPrice']): string =>
  price === undefined ? '' : ` (${formatMoney(credits.times(price.amount))} ${price.currency})`

/** `CHC (ClickHouse Credits), 1.05 USD each`. Undefined for a unit that needs no explanation. */
function describeUnit({ unit, creditPrice }: UsageResult): string | undefined {
  const words = unitWords(unit)
  return creditPrice === undefined ? words : `${words ?? unit}, ${creditPrice.amount.toFixed()} ${creditPrice.currency} each`
}

/** `412.00 CHC (80% range 383–427 CHC, from 79 days with a weekday pattern; no budget judges it)`. */
function forecastWords(forecast: Forecast, result: UsageResult): string {
  if (forecast.status === 'unavailable') return 'not available: the usage before the period could not be read or is inconsistent'
  if (forecast.status === 'too-early') return 'not available yet: too early in the period'
  const { total, low, high, learnedFromDays, isWeekdayAware } = forecast
  const basis = `from ${plural(learnedFromDays, 'day')}${isWeekdayAware ? ' with a weekday pattern' : ''}`
  const { unit, creditPrice } = result
  const judged = isForecastJudged(result) ? '' : '; no budget judges it'
  return `${formatMoney(total)} ${unit}${moneyWords(total, creditPrice)} (80% range ${formatRange(low, high)} ${unit}, ${basis}${judged})`
}

/** A budget of the file may be for the same usage: all of it, in the same period. */
const isForecastJudged = ({ forecastBudget, budgets, fromDate, endDate }: UsageResult): boolean =>
  forecastBudget !== undefined ||
  budgets.some(
    ({ judgesForecast, scope, forecast, ...budget }) =>
      judgesForecast && Object.keys(scope).length === 0 && budget.fromDate === fromDate && forecast?.untilDate === endDate,
  )

function changeWords(comparison: UsageComparison, unit: string): string {
  if (comparison.status === 'no-complete-days') return 'not available: no day is complete in both periods'
  const { change, changePercent, total, ofTotal, maxIncrease } = comparison
  const sign = change.gt(0) ? '+' : ''
  const share = changePercent === undefined ? '' : ` (${sign}${formatShare(changePercent)})`
  const limit =
    maxIncrease === undefined
      ? ''
      : `, limit ${maxIncrease.kind === 'percent' ? `${maxIncrease.percent.toFixed()}%` : `${formatMoney(maxIncrease.amount)} ${unit}`}`
  return `${sign}${formatMoney(change)} ${unit}${share}, from ${formatMoney(total)} to ${formatMoney(ofTotal)} ${unit}${limit}`
}

function notices(result: UsageResult): readonly Line[] {
  const { clipped, budgets, tags, comparison, dataQualityIssues, unit, spikeDays, days, toDate, historyFailure, forecast } = result
  const ignored = dataQualityIssues.filter(({ level }) => level === 'ignore')
  const checked = ['No day was', 'Only the last day was'][spikeDays] ?? `Only the last ${spikeDays} days were`
  return [
    ...ignored.map((issue) => say`Ignored: ${describeIssue(issue, unit)}`),
    ...budgets.flatMap(({ name, waiver }) =>
      waiver === undefined ? [] : [say`Waiver of budget ${name} until ${day(waiver.until)}: ${untrustedSentence(waiver.reason)}`],
    ),
    ...(tags.length > 0 || budgets.some(({ scope }) => scope.tag !== undefined)
      ? [say`The usage of a tag is the compute of its services. The storage of a warehouse has no tags.`]
      : []),
    ...(clipped ? [say`The report ends on ${day(toDate)}, because the later days of the period are in the future.`] : []),
    ...(historyFailure === undefined ? [] : [describeHistoryFailure(historyFailure, forecast)]),
    ...(comparison?.status === 'compared' ? [...leftOutDays(comparison), ...addedAndRemoved(comparison, labelsOf(result))] : []),
    ...(spikeDays < days && days > 1
      ? [[trusted(`${checked} checked for spikes. The check of a day needs the two weeks before it.`)]]
      : []),
  ]
}

function describeHistoryFailure(
  { status, fromDate, toDate, reason }: NonNullable<UsageResult['historyFailure']>,
  forecast: UsageResult['forecast'],
): Line {
  const effect = trusted(forecast?.status === 'unavailable' ? ', so there is no forecast' : '')
  const days = period(fromDate, toDate)
  return status === 'unread'
    ? say`The usage of ${days} could not be read${effect}. ${untrustedSentence(reason)}`
    : say`The usage records for ${days} are inconsistent${effect}. ${untrustedSentence(reason)}`
}

function leftOutDays({ leftOut, fromDate, toDate, ofFromDate, ofToDate }: Compared): readonly Line[] {
  if (leftOut.length === 0) return []
  const [own, other] = [period(ofFromDate, ofToDate), period(fromDate, toDate)]
  return [
    say`The comparison is of ${own} with ${other}. It leaves out ${listDays(leftOut)}, because not all usage of these days is known in both periods.`,
  ]
}

function addedAndRemoved({ added, removed, ...comparison }: Compared, labelOf: ReturnType<typeof createLabels>): readonly Line[] {
  const before = trusted(comparedWords[comparison.with])
  const list = (entities: Compared['added']): Line =>
    joinFirst(
      10,
      entities.map(({ name, ...entity }) => say`${labelOf({ ...entity, entityName: name })}`),
    )
  return [
    ...(added.length === 0 ? [] : [say`New since ${before}: ${list(added)}.`]),
    ...(removed.length === 0 ? [] : [say`Only in ${before}: ${list(removed)}.`]),
  ]
}

const money = (amount: Decimal): Trusted => trusted(formatMoney(amount))

/** Failures first. */
const statusOrder: readonly BudgetOutcome['status'][] = ['fail', 'warn', 'pass']

function budgetTable({ budgets: inFile, unit, toDate }: UsageResult): Block {
  const budgets = inFile.toSorted((a, b) => statusOrder.indexOf(a.status) - statusOrder.indexOf(b.status))
  return table(
    'Budgets',
    budgets,
    {
      Budget: ({ status, name, scope }) => [trusted(`${statusLooks[status].sign} `), untrusted(name), ...scopeWords(scope)],
      [`>Used (${unit})`]: ({ used, limit }) => trusted(formatMoneyPair(used, limit)[0]),
      '>Limit': ({ used, limit }) => trusted(formatMoneyPair(used, limit)[1]),
      Share: shareCell,
      '>Forecast': forecastCell,
      'Exceeded on': (budget) => exceededCell(budget, toDate),
      '>Provisional': ({ provisional }) => money(provisional),
      Period: (budget) => trusted(formatDays(budget.fromDate, budget.toDate)),
    },
    ({ status }) => status,
  )
}

/** `13 Nov`, or `27 Nov (forecast)` for a budget that is not exceeded yet. */
const exceededCell = ({ runsOutOn, limitStatus }: BudgetOutcome, reference: Day): Cell =>
  runsOutOn && trusted(`${formatShortDay(runsOutOn, reference)}${limitStatus === 'exceeded' ? '' : ' (forecast)'}`)

function shareCell({ usedPercent, dataQualityIssue }: BudgetOutcome): Cell {
  if (dataQualityIssue !== undefined) return trusted('uncertain')
  return usedPercent && trusted(`${progressBar(Number(usedPercent))}\u00a0${formatShare(usedPercent)}`)
}

function scopeWords(scope: BudgetOutcome['scope']): Line {
  const parts = Object.entries(scope).map(
    ([kind, wanted]) => say`${trusted(`${kind} `)}${wanted.flatMap((one, i) => (i === 0 ? say`${one}` : say`, ${one}`))}`,
  )
  return parts.length === 0 ? [] : [trusted(' ('), ...parts.flatMap((part, i) => (i === 0 ? part : [trusted('; '), ...part])), trusted(')')]
}

function forecastCell({ forecast, judgesForecast }: BudgetOutcome): Cell {
  if (forecast?.status === 'expected') return [money(forecast.total), trusted(judgesForecast ? '' : ' (not judged)')]
  return forecast && trusted(forecast.status === 'too-early' ? 'too early' : 'not available')
}

/** Names of the entities of a report. */
const labelsOf = ({ records, otherRecords }: UsageResult) => createLabels([...otherRecords, ...records])

function spikeTable(result: UsageResult): Block {
  const { spikes, unit } = result
  const labelOf = labelsOf(result)
  const largestFirst = spikes.toSorted((a, b) => excess(b) - excess(a)).slice(0, 10)
  return table('Spikes', largestFirst, {
    Day: ({ date }) => trusted(formatDay(date)),
    Of: ({ of, driver }) => (of === 'entity' ? untrusted(labelOf(driver)) : trusted('all')),
    [`>Used (${unit})`]: ({ total }) => money(total),
    [`>Usual (${unit})`]: ({ usual }) => money(usual),
    'Main cause': ({ driver }) =>
      say`${labelOf(driver)}, ${driver.metric}: ${money(driver.total)} instead of ${money(driver.usual)} ${trusted(unit)}`,
  })
}

/** A coincidence, and not a cause: the API does not know what uses credits. */
function spikeContext({ spikeContext: found }: UsageResult): readonly Block[] {
  if (found === undefined) return []
  if (found.length === 0) return [paragraph([trusted(`No service was scaled, restored, started or created ${when}.`)])]
  return [
    table(`Changes ${when}`, found, {
      Spike: ({ spike }) => trusted(formatDay(spike)),
      Time: ({ at }) => trusted(formatMoment(at)),
      Service: ({ serviceName = '' }) => untrusted(serviceName),
      Change: ({ change }) => trusted(change),
      By: ({ actorType = '' }) => untrusted(actorType),
    }),
    paragraph([trusted('These changes happened at the same time. They need not be the cause.')]),
  ]
}

function spikeDeployments({ spikeDeployments: found }: UsageResult): readonly Block[] {
  if (found === undefined) return []
  if (found.length === 0) return [paragraph([trusted(`This repository was not deployed ${when}.`)])]
  return [
    table(`Deployments ${when}`, found, {
      Spike: ({ spike }) => trusted(formatDay(spike)),
      Time: ({ at }) => trusted(formatMoment(at)),
      Environment: ({ environment }) => untrusted(environment),
      Ref: ({ ref }) => untrusted(ref),
      Commit: ({ commit }) => untrusted(commit),
    }),
    paragraph([trusted('These deployments happened at the same time. They need not be the cause.')]),
  ]
}

const when = 'on the day of a spike or the day before'

const excess = ({ total, usual }: UsageResult['spikes'][number]): number => Number(total) - Number(usual)

function groupTables(result: UsageResult): readonly Block[] {
  // Records have no tags, and a deleted service has none that could be read.
  const { drills = [], others = [] } = Object.groupBy(result.byEntity, ({ name }) => (name.startsWith(drillTag) ? 'drills' : 'others'))
  const used = sum(drills.map(({ total }) => total))
  return [
    ...shareTable('entity', others, result),
    ...(drills.length === 0
      ? []
      : [paragraph(say`Left out of the entities: ${drills.length} of restore drills, ${money(used)} ${result.unit}.`)]),
    ...shareTable('metric', result.byMetric, result),
  ]
}

/** Rows that are not folded. */
const maxOpen = 25

function shareTable(by: 'entity' | 'metric', groups: UsageResult['byEntity'], result: UsageResult): readonly Block[] {
  const { grandTotalCredits: total, creditPrice } = result
  const isProvisional = !result.provisionalCredits.eq(0)
  const title = by === 'entity' ? 'By entity' : 'By metric'
  const labelOf = labelsOf(result)
  const nameOf = ({ name: entityName, entityId = '', entityType = '' }: (typeof groups)[number]): string =>
    by === 'entity' ? labelOf({ entityName, entityId, entityType }, true) : entityName
  const tableOf = (some: typeof groups, heading?: string): Block =>
    table(heading, some, {
      [by === 'entity' ? 'Entity' : 'Metric']: (group) => untrusted(nameOf(group)),
      ...(by === 'entity' && { Type: ({ entityType = '' }) => untrusted(entityType) }),
      [`>Used (${result.unit})`]: (group) => money(group.total),
      ...(creditPrice && { [`>${creditPrice.currency}`]: (group) => money(group.total.times(creditPrice.amount)) }),
      '>Share': (group) => shown(percentOf(group.total, total), formatShare),
      ...(isProvisional && { [`>Provisional (${result.unit})`]: ({ provisional }) => money(provisional) }),
    })
  const rest = groups.slice(maxOpen)
  return [
    tableOf(groups.slice(0, maxOpen), title),
    ...(rest.length === 0 ? [] : [{ kind: 'details' as const, title: `${title}: ${rest.length} more`, blocks: [tableOf(rest)] }]),
  ]
}

/** Smaller changes, as a share of the total, are summed up in one row. */
const minMove = '0.005'

/** Changes with a row of their own. */
const maxMovers = 10

/** The largest changes, whatever their sign. */
function moverTable(result: UsageResult): readonly Block[] {
  const { comparison, unit } = result
  if (comparison?.status !== 'compared') return []
  const labelOf = labelsOf(result)
  const minChange = comparison.ofTotal.abs().times(minMove)
  // The largest is the first.
  const named = comparison.movers.filter(({ before, after }) => after.minus(before).abs().gte(minChange)).slice(0, maxMovers)
  const rest = comparison.movers.slice(named.length)
  const rows = [
    ...named.map((mover) => ({ ...mover, entity: untrusted(labelOf(mover)), metric: [untrusted(mover.metric)] })),
    ...(rest.length === 0 ? [] : [{ entity: trusted(plural(rest.length, 'smaller change')), metric: [], ...sumUp(rest) }]),
  ]
  return [
    table(`Largest changes from ${period(comparison.fromDate, comparison.toDate).text}`, rows, {
      Entity: ({ entity }) => entity,
      Metric: ({ metric }) => metric,
      [`>Before (${unit})`]: ({ before }) => money(before),
      '>Now': ({ after }) => money(after),
      '>Change': ({ before, after }) => trusted(`${after.gt(before) ? '+' : ''}${formatMoney(after.minus(before))}`),
    }),
  ]
}

type Change = Pick<Compared['movers'][number], 'before' | 'after'>

const sumUp = (changes: readonly Change[]): Change => ({
  before: sum(changes.map(({ before }) => before)),
  after: sum(changes.map(({ after }) => after)),
})

/** Records in a report. The full result and the report in the format csv have all of them. */
const maxRecords = 1000

function recordDetails(result: UsageResult): Block {
  const { records, unit } = result
  const labelOf = labelsOf(result)
  const last = records.slice(-maxRecords)
  const title = last.length === records.length ? counted(records.length, 'record').text : `Last ${last.length} of ${records.length} records`
  const list = table(undefined, last, {
    Day: ({ date }) => trusted(formatDay(date)),
    Entity: (record) => untrusted(labelOf(record)),
    [`>Used (${unit})`]: ({ total }) => money(total),
    Final: ({ locked }) => trusted(locked ? 'yes' : 'no'),
  })
  return { kind: 'details', title, blocks: [list], isQuiet: true }
}
