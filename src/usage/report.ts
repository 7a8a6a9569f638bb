import { type Day, formatDay, formatDays, isDay, plainDay, plainDays } from '../core/dates.ts'
import { type Decimal, formatRounded, percentOf, sum } from '../core/decimal.ts'
import { counted, join, type Line, say, sentence, type Trusted, trusted, untrusted } from '../core/line.ts'
import { plural, progressBar } from '../core/text.ts'
import type { Report, Verdict } from '../operation/operation.ts'
import type { Block, ChartLimit, Column, Point } from '../report/blocks.ts'
import { formatMoney, formatMoneyPair, formatPercent, formatRange, formatShare, formatShortDay } from '../report/format.ts'

import type { BudgetStep } from './budget-steps.ts'
import type { BudgetOutcome } from './budgets.ts'
import type { Forecast } from './forecast.ts'
import type { DataQualityIssue } from './records.ts'
import type { UsageResult } from './result.ts'

interface Reason {
  readonly level: 'warn' | 'fail'
  /** One or more whole sentences. */
  readonly line: Line
  /** The limit of all usage that the line names, if any. */
  readonly limit?: Decimal
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
  const { waiver } = result
  const isWaived = first.level === 'fail' && waiver !== undefined
  const sentences = [
    first.line,
    ...usedSoFar(result, first),
    ...(isWaived ? [say`Waived until ${day(waiver.until)}: ${waiver.reason}`] : []),
  ]
  return {
    status: isWaived ? 'warn' : first.level,
    sentence: join(sentences, ' '),
    reasons: others.map(({ line }) => line),
  }
}

function gateReasons({ gate, ...limits }: UsageResult): readonly Reason[] {
  if (gate === 'required' && !canFail(limits)) {
    const checked = limits.warnBudget === undefined ? 'nothing' : 'only the warning level'
    return [{ level: 'fail', line: [trusted(`No budget is set: ${checked} was checked.`)] }]
  }
  return gate === 'auto' && !hasLimit(limits) ? [{ level: 'warn', line: [trusted('No budget is set: nothing was checked.')] }] : []
}

type Limits = Pick<UsageResult, 'budget' | 'warnBudget' | 'forecastBudget' | 'budgets' | 'comparison'>

/** An expression that evaluates to an empty text means no limit. */
const canFail = ({ budget, forecastBudget, budgets, comparison }: Limits): boolean =>
  [budget, forecastBudget, comparison?.maxIncrease].some((limit) => limit !== undefined) || budgets.length > 0

const hasLimit = (limits: Limits): boolean => canFail(limits) || limits.warnBudget !== undefined

const day = (date: Day): Trusted => trusted(plainDay(date))

/** `1 – 22 Nov 2026`. */
const period = (from: Day, to: Day): Trusted => trusted(plainDays(from, to))

/** `Used so far: 288.54 CHC (96%).` Empty where the first reason says it, and without records. A share is that of the limit it names. */
function usedSoFar(result: UsageResult, first: Reason): readonly Line[] {
  const { budget, budgetStatus, judgedCredits, records, unit, toDate, endDate, dataQualityIssues } = result
  if (records.length === 0 || budgetStatus !== 'within') return []
  // A share of the budget would suggest a figure that can be trusted.
  const limit = dataQualityIssues.length > 0 ? undefined : first.limit
  const what = endDate > toDate ? 'Used so far' : 'Total used'
  // The facts have the share of the budget.
  const ofWhat = limit === undefined || budget === undefined || budget.eq(limit) ? '' : ' of the forecast budget'
  const share = limit === undefined ? '' : inBrackets(judgedCredits, limit, ofWhat)
  return [[trusted(`${what}: ${formatMoney(judgedCredits)} ${unit}${share}.`)]]
}

/** `283.33 of 250.00 CHC`. */
function ofLimit(used: Decimal, limit: Decimal, unit: string): string {
  const [usedText, limitText] = formatMoneyPair(used, limit)
  return `${usedText} of ${limitText} ${unit}`
}

/** ` (96%)`. Empty for a whole of zero. */
function inBrackets(part: Decimal, whole: Decimal, ofWhat = ''): string {
  const share = percentOf(part, whole)
  if (share === undefined) return ''
  // A difference in the last of many digits gets lost in the division.
  const isRounded = share.eq(100) && !part.eq(whole)
  return ` (${isRounded ? `just ${part.gt(whole) ? 'over' : 'under'} 100%` : formatPercent(share)}${ofWhat})`
}

function totalReasons({ judgedCredits, unlocked, budget, budgetStatus, warnBudget, unit }: UsageResult): readonly Reason[] {
  const ofFinal = unlocked === 'exclude' ? ' in final records' : ''
  if (budget !== undefined && budgetStatus === 'exceeded') {
    const share = inBrackets(judgedCredits, budget)
    return [{ level: 'fail', line: [trusted(`Budget exceeded: ${ofLimit(judgedCredits, budget, unit)}${ofFinal}${share}.`)] }]
  }
  if (warnBudget === undefined || budgetStatus !== 'warn') return []
  return [{ level: 'warn', line: [trusted(`Warning level exceeded: ${ofLimit(judgedCredits, warnBudget, unit)}${ofFinal}.`)] }]
}

/** Budgets of a file that the verdict names. */
const mostBudgetsNamed = 5

function budgetReasons({ budgets, unit, toDate }: UsageResult): readonly Reason[] {
  const all = budgets.flatMap((budget): readonly Reason[] => {
    const line = describeBudget(budget, unit, toDate)
    return line === undefined ? [] : [{ level: budget.status === 'fail' ? 'fail' : 'warn', line }]
  })
  // Failures come first, so that the verdict names them before warnings.
  const ordered = [...all.filter(({ level }) => level === 'fail'), ...all.filter(({ level }) => level === 'warn')]
  const rest = ordered.slice(mostBudgetsNamed)
  if (rest.length === 0) return ordered
  const level = rest.some((one) => one.level === 'fail') ? 'fail' : 'warn'
  const line = say`${counted(rest.length, 'more budget')} failed or exceeded the warning level.`
  return [...ordered.slice(0, mostBudgetsNamed), { level, line }]
}

/** Undefined for a budget that passes. Data quality issues have reasons of their own. */
function describeBudget(budget: BudgetOutcome, unit: string, reference: Day): Line | undefined {
  const { name, used, limit, warnAbove, limitStatus, isForecastAbove, isForecastMissing, forecast } = budget
  if (limitStatus === 'exceeded')
    return say`Budget ${name} exceeded: ${trusted(`${ofLimit(used, limit, unit)}${inBrackets(used, limit)}.`)}`
  if (isForecastAbove && forecast?.status === 'expected') {
    const [expected, most] = formatMoneyPair(forecast.total, limit)
    const by = formatShortDay(forecast.untilDate, reference)
    return say`Budget ${name}: ${trusted(`forecast of ${expected} ${unit} by ${by} exceeds the limit of ${most} ${unit}.`)}`
  }
  if (isForecastMissing)
    return say`Budget ${name} has no forecast, because the usage before its period could not be read or is inconsistent.`
  if (limitStatus !== 'warn' || warnAbove === undefined) return undefined
  return say`Budget ${name} exceeded its warning level: ${trusted(`${ofLimit(used, warnAbove, unit)}.`)}`
}

function forecastReasons(result: UsageResult): readonly Reason[] {
  const { forecast, budget, forecastBudget, forecastBudgetExceeded, judgedCredits, unit, toDate } = result
  if (forecastBudget === undefined) return []
  if (forecast?.status === 'unavailable' && !forecastBudgetExceeded) {
    const line = say`The forecast budget of ${trusted(`${formatMoney(forecastBudget)} ${unit}`)} was not checked, because there is no forecast.`
    return [{ level: 'fail', line }]
  }
  if (!forecastBudgetExceeded) return []
  const isExpected = forecast?.status === 'expected'
  const [amount, most] = formatMoneyPair(isExpected ? forecast.total : judgedCredits, forecastBudget)
  const what = isExpected ? 'Forecast' : 'Usage'
  const by = isExpected ? ` by ${formatShortDay(forecast.untilDate, toDate)}` : ''
  const limit = budget === undefined || budget.eq(forecastBudget) ? 'budget' : 'forecast budget'
  const line = [trusted(`${what} of ${amount} ${unit}${by} exceeds the ${limit} of ${most} ${unit}.`)]
  return [{ level: 'fail', line, limit: forecastBudget }]
}

const comparedWords = {
  'previous-period': 'the previous period',
  'previous-month-days': 'the same days of the previous month',
} as const satisfies Readonly<Record<Comparison['with'], string>>

function increaseReasons({ comparison, unit }: UsageResult): readonly Reason[] {
  if (comparison?.maxIncrease === undefined || !comparison.isAboveMaxIncrease) return []
  const { change, changePercent, maxIncrease } = comparison
  const isPercent = maxIncrease.kind === 'percent'
  const [amount, mostAmount] = isPercent ? [formatMoney(change)] : formatMoneyPair(change, maxIncrease.amount)
  const most = isPercent ? `${maxIncrease.percent.toFixed()}%` : `${mostAmount} ${unit}`
  const share =
    changePercent === undefined
      ? ''
      : ` (${isPercent ? differentPercent(changePercent, maxIncrease.percent) : formatPercent(changePercent)})`
  const line = [trusted(`Usage increased by ${amount} ${unit}${share} from ${comparedWords[comparison.with]}. The limit is ${most}.`)]
  return [{ level: 'fail', line }]
}

/** With as many decimals as the value needs to look different from the limit. */
function differentPercent(value: Decimal, limit: Decimal): string {
  const places = [0, 1, 2, 3, 4, 5].find((count) => !value.round(count).eq(limit)) ?? 6
  return `${formatRounded(value, places)}%`
}

function issueReasons(result: UsageResult): readonly Reason[] {
  const all = [
    ...result.dataQualityIssues.map((issue) => ({ level: issue.level, line: describeIssue(issue, result.unit) })),
    ...result.budgets.flatMap((budget) => describeBudgetIssue(budget, result)),
  ]
  return all.flatMap(({ level, line }) => (level === 'ignore' ? [] : [{ level, line }]))
}

/** A data quality issue before its effect on the verdict is known. */
type UnjudgedIssue = DataQualityIssue extends infer Issue ? (Issue extends DataQualityIssue ? Omit<Issue, 'level'> : never) : never

/** Days or names that a sentence lists. */
const mostListed = 5

export function describeIssue(issue: UnjudgedIssue, unit: string): Line {
  switch (issue.kind) {
    case 'no-records':
      return say`No usage records for ${period(issue.fromDate, issue.toDate)}, so the usage of these days is unknown.`
    case 'no-records-yet':
      return say`No usage records yet for ${period(issue.fromDate, issue.toDate)}.`
    case 'no-final-records':
      return say`All usage records for ${period(issue.fromDate, issue.toDate)} are provisional, and only final records count.`
    case 'total-mismatch': {
      const [records, total] = formatMoneyPair(issue.recordsTotal, issue.grandTotal)
      const days = period(issue.fromDate, issue.toDate)
      return say`The usage records for ${days} add up to ${trusted(`${records} ${unit}, but the API's total is ${total} ${unit}.`)}`
    }
    case 'negative-total':
      return say`The API's total for ${period(issue.fromDate, issue.toDate)} is negative.`
    case 'negative-record':
      return say`The usage of ${issue.entityName} on ${day(issue.date)} is negative.`
    case 'duplicate-record':
      return say`${issue.entityName} has more than one usage record for ${day(issue.date)}.`
    case 'outside-period':
      return say`The API returned usage records of other days: ${listDays(issue.days)}.`
    case 'missing-days':
      return say`No usage records for ${listDays(issue.days)}.`
  }
}

const listDays = (days: readonly Day[]): Trusted => {
  const more = days.length > mostListed ? ` and ${days.length - mostListed} more` : ''
  return trusted(`${days.slice(0, mostListed).map(plainDay).join(', ')}${more}`)
}

/** Empty when the figure can be trusted, or when the report says the same of its whole period. */
function describeBudgetIssue(
  { name, fromDate, toDate, scope, dataQualityIssue: issue }: BudgetOutcome,
  result: UsageResult,
): readonly (Pick<DataQualityIssue, 'level'> & { readonly line: Line })[] {
  if (issue === undefined) return []
  const { level } = issue
  switch (issue.kind) {
    case 'nothing-in-scope': {
      const names = issue.unmatched.slice(0, mostListed).map((one) => {
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
    case 'no-final-records':
      return [{ level, line: say`All usage records of budget ${name} are provisional, and only final records count.` }]
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
      factsOf(result),
      ...notices(result).map((line): Block => ({ kind: 'paragraph', line })),
      budgetTable(result),
      ...chart(result),
      spikeTable(result),
      ...groupTables(result),
      ...moverTable(result),
      recordDetails(result),
    ],
  }
}

/** Steps of budgets that usage has just reached. */
function milestonesOf({ budgetStep, budget, budgets, unit }: UsageResult): readonly Line[] {
  const describe = ({ percent, used, reachedOn }: BudgetStep, name: Line, limit: Decimal): Line =>
    say`Usage reached ${percent}% of ${name} on ${day(reachedOn)}: ${trusted(`${ofLimit(used, limit, unit)}.`)}`
  const all = [
    ...(budgetStep === undefined || budget === undefined ? [] : [describe(budgetStep, say`the budget`, budget)]),
    ...budgets.flatMap(({ name, budgetStep: step, limit }) => (step === undefined ? [] : [describe(step, say`budget ${name}`, limit)])),
  ]
  const rest = all.length - mostMilestones
  return rest > 0 ? [...all.slice(0, mostMilestones), say`${counted(rest, 'more budget')} reached a step.`] : all
}

/** Budgets that a message names. */
const mostMilestones = 10

/** For a run that passes. The verdict has sentences for the others. */
function headlineOf(result: UsageResult): Line {
  const { grandTotalCredits, judgedCredits, unit, fromDate, toDate, budget, budgets, dataQualityIssues, records } = result
  const total = `${formatMoney(grandTotalCredits)} ${unit}`
  const days = period(fromDate, toDate)
  if (records.length === 0) return say`No usage records for ${days}. The API's total is ${trusted(`${total}.`)}`
  const isKnown = budget !== undefined && dataQualityIssues.length === 0
  const used = isKnown ? `${ofLimit(judgedCredits, budget, unit)}${inBrackets(judgedCredits, budget)}` : total
  const sentences = [
    say`Used ${trusted(used)} from ${days}.`,
    ...(budgets.length === 0
      ? []
      : [say`${budgets.filter(({ status }) => status !== 'fail').length} of ${budgets.length} budgets passed.`]),
  ]
  return join(sentences, ' ')
}

function factsOf(result: UsageResult): Block {
  const { unit, budget, budgetStatus, budgetUsedPercent, provisionalCredits, grandTotalCredits, warnBudget, comparison } = result
  const { judgedCredits, unlocked, days, fromDate, toDate, forecast, forecastBudget, runsOutOn, gate } = result
  const amount = (value: Decimal): string => `${formatMoney(value)} ${unit}`
  const fact = (label: string, value: string | undefined) => (value === undefined ? [] : [{ label, value: [trusted(value)] }])
  return {
    kind: 'facts',
    facts: [
      ...fact('Total', amount(grandTotalCredits)),
      ...fact('Final', unlocked === 'exclude' ? amount(judgedCredits) : undefined),
      ...fact('Budget', hasLimit(result) || gate === 'off' ? budget && amount(budget) : 'none'),
      ...fact('Warning level', warnBudget && amount(warnBudget)),
      ...fact('Used', budgetUsedPercent && formatPercent(budgetUsedPercent)),
      ...fact('Provisional', `${amount(provisionalCredits)}${inBrackets(provisionalCredits, grandTotalCredits)}`),
      ...(forecast ? fact(`Forecast by ${formatShortDay(forecast.untilDate, toDate)}`, forecastWords(forecast, unit)) : []),
      ...fact('Forecast budget', forecastBudget && amount(forecastBudget)),
      ...fact(
        budgetStatus === 'exceeded' ? 'Budget exceeded on' : 'Budget will be exceeded on',
        runsOutOn && formatShortDay(runsOutOn, toDate),
      ),
      ...(comparison ? fact(`Change from ${comparedWords[comparison.with]}`, changeWords(comparison, unit)) : []),
      ...fact('Period', `${period(fromDate, toDate).text} (${plural(days, 'day')})`),
    ],
  }
}

/** `412.00 CHC (80% range 383–427 CHC, from 28 days with a weekday pattern)`. */
function forecastWords(forecast: Forecast, unit: string): string {
  if (forecast.status === 'unavailable') return 'not available: the usage before the period could not be read or is inconsistent'
  if (forecast.status === 'too-early') return 'not available yet: too early in the period'
  const { total, low, high, learnedFromDays, isWeekdayAware } = forecast
  const basis = `from ${plural(learnedFromDays, 'day')}${isWeekdayAware ? ' with a weekday pattern' : ''}`
  return `${formatMoney(total)} ${unit} (80% range ${formatRange(low, high)} ${unit}, ${basis})`
}

function changeWords({ change, changePercent, total }: Comparison, unit: string): string {
  const sign = change.gt(0) ? '+' : ''
  const share = changePercent === undefined ? '' : ` (${sign}${formatShare(changePercent)})`
  return `${sign}${formatMoney(change)} ${unit}${share}, from ${formatMoney(total)} ${unit}`
}

type Comparison = NonNullable<UsageResult['comparison']>

function notices(result: UsageResult): readonly Line[] {
  const { clipped, waiver, comparison, unlocked, dataQualityIssues, unit, spikeDays, days, toDate, historyFailure, forecast } = result
  const ignored = dataQualityIssues.filter(({ level }) => level === 'ignore')
  const checked = ['No day was', 'Only the last day was'][spikeDays] ?? `Only the last ${spikeDays} days were`
  return [
    ...ignored.map((issue) => say`Ignored: ${describeIssue(issue, unit)}`),
    ...(waiver === undefined ? [] : [say`Waiver until ${day(waiver.until)}: ${waiver.reason}`]),
    ...(clipped ? [say`The report ends on ${day(toDate)}, because the later days of the period are in the future.`] : []),
    ...(historyFailure === undefined ? [] : [describeHistoryFailure(historyFailure, forecast)]),
    ...(unlocked === 'exclude' ? [say`Only final records count toward the limits.`] : []),
    ...(comparison === undefined ? [] : addedAndRemoved(comparison)),
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
    ? say`The usage of ${days} could not be read${effect}. ${sentence(reason)}`
    : say`The usage records for ${days} are inconsistent${effect}. ${sentence(reason)}`
}

/** Entities that a sentence names. */
const mostEntitiesNamed = 10

function addedAndRemoved({ added, removed, ...comparison }: Comparison): readonly Line[] {
  const before = trusted(comparedWords[comparison.with])
  const list = (entities: readonly { readonly name: string }[]): Line =>
    entities.slice(0, mostEntitiesNamed).flatMap(({ name }, i) => (i === 0 ? say`${name}` : say`, ${name}`))
  const more = (entities: readonly unknown[]): string =>
    entities.length > mostEntitiesNamed ? ` and ${entities.length - mostEntitiesNamed} more` : ''
  return [
    ...(added.length === 0 ? [] : [say`New since ${before}: ${list(added)}${trusted(more(added))}.`]),
    ...(removed.length === 0 ? [] : [say`Only in ${before}: ${list(removed)}${trusted(more(removed))}.`]),
  ]
}

/** More bars would be thinner than a line. */
const mostBars = 62

function chart(result: UsageResult): readonly Block[] {
  const { byDay, unit, spikes, toDate } = result
  if (byDay.length < 2 || byDay.every(({ total }) => Number(total) === 0)) return []
  const isWeekly = byDay.length > mostBars
  const spikeDays = new Set(spikes.map(({ date }) => date))
  const points = inGroups(byDay, isWeekly).map((days): Point => {
    const total = sum(days.map((day) => day.total))
    const provisional = sum(days.map((day) => day.provisional))
    return {
      label: chartLabel(days, toDate),
      value: Number(total),
      finalValue: Number(total.minus(provisional)),
      ...(days.some(({ date }) => spikeDays.has(date)) && { isSpike: true }),
    }
  })
  return [
    {
      kind: 'chart',
      title: `${unit} per ${isWeekly ? 'week' : 'day'}`,
      unit,
      points,
      ...chartForecast(result, isWeekly),
      ...chartLimits(result),
    },
  ]
}

/** Single days, or weeks from the first day on, of which the last may be shorter. */
function inGroups<T>(days: readonly T[], isWeekly: boolean): readonly (readonly T[])[] {
  const length = isWeekly ? 7 : 1
  return days.filter((_, i) => i % length === 0).map((_, i) => days.slice(i * length, (i + 1) * length))
}

/** The first day of the group. */
const chartLabel = ([first]: readonly { readonly date: Day }[], reference: Day): string =>
  first === undefined ? '' : formatShortDay(first.date, reference)

function chartForecast({ forecast, byDay, toDate }: UsageResult, isWeekly: boolean): { readonly forecast?: readonly Point[] } {
  if (forecast?.status !== 'expected') return {}
  const expected = new Set(forecast.byDay.map(({ date }) => date))
  const days = [...byDay.filter(({ date }) => !expected.has(date)), ...forecast.byDay]
  const groups = inGroups(days, isWeekly).filter((some) => some.some(({ date }) => expected.has(date)))
  return {
    forecast: groups.map((some) => ({ label: chartLabel(some, toDate), value: Number(sum(some.map(({ total }) => total))) })),
  }
}

function chartLimits({ budget, warnBudget, forecastBudget, unit }: UsageResult): { readonly limits?: readonly ChartLimit[] } {
  const limit = (name: string, value: Decimal | undefined): readonly ChartLimit[] =>
    value === undefined ? [] : [{ label: `${name} ${formatMoney(value)} ${unit}`, value: Number(value) }]
  const isOther = budget === undefined || forecastBudget?.eq(budget) === false
  const limits = [
    ...limit('Budget', budget),
    ...limit('Warning level', warnBudget),
    ...(isOther ? limit('Forecast budget', forecastBudget) : []),
  ]
  return limits.length === 0 ? {} : { limits }
}

const right = (title: string): Column => ({ title, align: 'right' })

const money = (amount: Decimal): Line => [trusted(formatMoney(amount))]

/** Failures first. */
const statusOrder: readonly BudgetOutcome['status'][] = ['fail', 'warn', 'pass']

const statusSigns = { pass: '✅', warn: '⚠️', fail: '❌' } as const

function budgetTable({ budgets: inFile, unit, toDate }: UsageResult): Block {
  const budgets = inFile.toSorted((a, b) => statusOrder.indexOf(a.status) - statusOrder.indexOf(b.status))
  return {
    kind: 'table',
    title: 'Budgets',
    columns: [
      { title: 'Budget' },
      right(`Used (${unit})`),
      right('Limit'),
      { title: 'Share' },
      right('Forecast'),
      { title: 'Exceeded on' },
      right('Provisional'),
      { title: 'Period' },
    ],
    statuses: budgets.map(({ status }) => status),
    rows: budgets.map((budget) => {
      const [used, limit] = formatMoneyPair(budget.used, budget.limit)
      return [
        [trusted(`${statusSigns[budget.status]} `), untrusted(budget.name), ...scopeWords(budget.scope)],
        [trusted(used)],
        [trusted(limit)],
        [trusted(shareWords(budget))],
        forecastCell(budget),
        [trusted(exceededWords(budget, toDate))],
        money(budget.provisional),
        [trusted(formatDays(budget.fromDate, budget.toDate))],
      ]
    }),
  }
}

/** `13 Nov`, or `27 Nov (forecast)` for a budget that is not exceeded yet. */
function exceededWords({ runsOutOn, limitStatus }: BudgetOutcome, reference: Day): string {
  if (runsOutOn === undefined) return '–'
  return `${formatShortDay(runsOutOn, reference)}${limitStatus === 'exceeded' ? '' : ' (forecast)'}`
}

function shareWords({ usedPercent, dataQualityIssue }: BudgetOutcome): string {
  if (dataQualityIssue !== undefined) return 'uncertain'
  return usedPercent === undefined ? '–' : `${progressBar(Number(usedPercent))}\u00a0${formatShare(usedPercent)}`
}

function scopeWords(scope: BudgetOutcome['scope']): Line {
  const parts = Object.entries(scope).map(
    ([kind, wanted]) => say`${trusted(`${kind} `)}${wanted.flatMap((one, i) => (i === 0 ? say`${one}` : say`, ${one}`))}`,
  )
  return parts.length === 0 ? [] : [trusted(' ('), ...parts.flatMap((part, i) => (i === 0 ? part : [trusted('; '), ...part])), trusted(')')]
}

function forecastCell({ forecast }: BudgetOutcome): Line {
  if (forecast?.status === 'expected') return money(forecast.total)
  return [trusted(forecast === undefined ? '–' : forecast.status === 'too-early' ? 'too early' : 'not available')]
}

function spikeTable({ spikes, unit }: UsageResult): Block {
  const largestFirst = spikes.toSorted((a, b) => excess(b) - excess(a)).slice(0, 10)
  return {
    kind: 'table',
    title: 'Spikes',
    columns: [{ title: 'Day' }, right(`Used (${unit})`), right('Usual'), { title: 'Main cause' }],
    rows: largestFirst.map(({ date, total, usual, driver }) => [
      [trusted(formatDay(date))],
      money(total),
      money(usual),
      say`${driver.entityName}, ${driver.metric}: ${money(driver.total)} instead of ${money(driver.usual)}`,
    ]),
  }
}

const excess = ({ total, usual }: UsageResult['spikes'][number]): number => Number(total) - Number(usual)

const titles = { entity: 'By entity', metric: 'By metric', date: 'By day', warehouse: 'By warehouse', type: 'By type' } as const

/** The requested grouping first. Entities and metrics are always shown. */
function groupTables(result: UsageResult): readonly Block[] {
  const { groupBy, groups, byEntity, byMetric } = result
  return [
    ...shareTable(groupBy, groups, result),
    ...(groupBy === 'entity' ? [] : shareTable('entity', byEntity, result)),
    ...(groupBy === 'metric' ? [] : shareTable('metric', byMetric, result)),
  ]
}

/** Rows that are not folded. */
const mostOpen = 25

function shareTable(by: UsageResult['groupBy'], groups: UsageResult['groups'], result: UsageResult): readonly Block[] {
  const total = result.grandTotalCredits
  const isProvisional = !result.provisionalCredits.eq(0)
  const columns = [
    { title: by === 'date' ? 'Day' : by[0]?.toUpperCase() + by.slice(1) },
    ...(by === 'entity' ? [{ title: 'Type' }] : []),
    right(`Used (${result.unit})`),
    right('Share'),
    ...(isProvisional ? [right('Provisional')] : []),
  ]
  const rows = groups.map((group) => [
    [by === 'date' && isDay(group.name) ? trusted(formatDay(group.name)) : untrusted(group.name)],
    ...(by === 'entity' ? [[untrusted(group.entityType ?? '')]] : []),
    money(group.total),
    [trusted(shareOf(group.total, total))],
    ...(isProvisional ? [money(group.provisional)] : []),
  ])
  const table = (some: typeof rows, title?: string): Block => ({
    kind: 'table',
    ...(title !== undefined && { title }),
    columns,
    rows: some,
  })
  if (rows.length <= mostOpen) return [table(rows, titles[by])]
  const rest = rows.slice(mostOpen)
  return [
    table(rows.slice(0, mostOpen), titles[by]),
    { kind: 'details', title: `${titles[by]}: ${rest.length} more`, blocks: [table(rest)] },
  ]
}

function shareOf(amount: Decimal, total: Decimal): string {
  const share = percentOf(amount, total)
  return share === undefined ? '–' : formatShare(share)
}

/** Smaller changes, as a share of the total, are left out of the report. */
const leastMove = '0.005'

/** The largest increases and decreases. */
function moverTable({ comparison, grandTotalCredits, unit }: UsageResult): readonly Block[] {
  if (comparison === undefined) return []
  const least = grandTotalCredits.abs().times(leastMove)
  const movers = comparison.movers.filter(({ before, after }) => after.minus(before).abs().gte(least))
  const isUp = ({ before, after }: Comparison['movers'][number]): boolean => after.gt(before)
  const shown = [...movers.filter(isUp).slice(0, 5), ...movers.filter((mover) => !isUp(mover)).slice(0, 5)]
  return [
    {
      kind: 'table',
      title: `Largest changes from ${period(comparison.fromDate, comparison.toDate).text}`,
      columns: [{ title: 'Entity' }, { title: 'Metric' }, right(`Before (${unit})`), right('Now'), right('Change')],
      rows: shown.map(({ entityName, metric, before, after }) => {
        const change = after.minus(before)
        return [
          [untrusted(entityName)],
          [untrusted(metric)],
          money(before),
          money(after),
          [trusted(`${change.gt(0) ? '+' : ''}${formatMoney(change)}`)],
        ]
      }),
    },
  ]
}

/** Records in a report. The result file and csv-file have all of them. */
const mostRecords = 1000

function recordDetails({ records, unit }: UsageResult): Block {
  const shown = records.slice(-mostRecords)
  const title =
    shown.length === records.length ? counted(records.length, 'record').text : `Last ${shown.length} of ${records.length} records`
  return {
    kind: 'details',
    title,
    blocks: [
      {
        kind: 'table',
        columns: [{ title: 'Day' }, { title: 'Entity' }, right(`Used (${unit})`), { title: 'Final' }],
        rows: shown.map(({ date, entityName, entityId, total, locked }) => [
          [trusted(formatDay(date))],
          [untrusted(entityName || entityId)],
          money(total),
          [trusted(locked ? 'yes' : 'no')],
        ]),
      },
    ],
  }
}
