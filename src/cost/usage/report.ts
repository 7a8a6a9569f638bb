import { drillTag } from '../../platform/api/services.ts'
import { type Day, formatDay, formatDays, formatMoment } from '../../platform/core/dates.ts'
import { type Decimal, formatRounded, percentOf, sum } from '../../platform/core/decimal.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { counted, join, joinAtMost, type Line, say, type Trusted, trusted, untrusted, untrustedSentence } from '../../platform/core/line.ts'
import { plural, progressBar } from '../../platform/core/text.ts'
import { fold, type Part, statusStyles } from '../../platform/report/blocks.ts'
import { formatMoney, formatMoneyPair, formatPercent, formatRange, formatShare, formatShortDay } from '../../platform/report/format.ts'
import { type Reason, type Report, type Verdict, verdictOf } from '../../platform/report/report.ts'
import { type Cell, facts, shown, table } from '../../platform/report/table.ts'
import type { BudgetOutcome } from './budgets.ts'
import type { Compared, UsageComparison } from './comparison.ts'
import type { Expectation, Forecast } from './forecast.ts'
import {
  amountWords,
  comparedWords,
  day,
  describeIssue,
  inBrackets,
  listDays,
  maxListed,
  ofLimit,
  period,
  unitWords,
  withPrice,
} from './phrases.ts'
import { createLabels, type UsageGroup } from './records.ts'
import type { UsageResult } from './result.ts'
import { usageChart } from './usage-chart.ts'

/** The judgments are in the result already. This puts those that fail or warn into words. */
export const judgeUsage = (result: UsageResult): Verdict =>
  verdictOf([...missingLimit(result), ...limitReasons(result), ...increaseReasons(result), ...issueReasons(result)])

function missingLimit(result: UsageResult): readonly Reason[] {
  const { gate, warnBudget } = result
  if (canFail(result)) return []
  if (gate === 'required') {
    const checked = warnBudget === undefined ? 'nothing' : 'only the warning level'
    const advice = `With ${spellInput('gate', 'required')}, set ${['budget', 'budgets', 'forecast-budget'].map((name) => spellInput(name)).join(', ')} or ${spellInput('max-increase')}.`
    return [{ level: 'fail', line: [trusted(`No budget is set: ${checked} was checked. ${advice}`)] }]
  }
  return gate === 'auto' && warnBudget === undefined ? [{ level: 'warn', line: [trusted('No budget is set: nothing was checked.')] }] : []
}

/** An expression that evaluates to an empty text means no limit. */
const canFail = ({ budget, forecastBudget, budgets, comparison }: UsageResult) =>
  [budget, forecastBudget, comparison?.maxIncrease].some((limit) => limit !== undefined) || budgets.length > 0

interface JudgedLimit extends Partial<BudgetOutcome> {
  readonly used: Decimal
  /** Within a sentence: `the budget`, `budget checkout`. */
  readonly what: Line
  /** At its start. */
  readonly title: Line
}

function limitReasons(result: UsageResult): readonly Reason[] {
  const { grandTotalCredits: used, budget, budgetStatus, warnBudget, forecast, forecastBudget, unit, toDate } = result
  const isSame = budget === undefined || forecastBudget?.eq(budget) === true
  const total = {
    what: say`the budget`,
    title: say`Budget`,
    used,
    limitStatus: budgetStatus,
    ...(budget && { limit: budget }),
    warnAbove: warnBudget,
  }
  const isAbove = forecast?.status === 'expected' && forecastBudget !== undefined && forecast.total.gt(forecastBudget)
  const ahead = forecastBudget && {
    ...(isSame ? total : { what: say`the forecast budget`, title: say`Forecast budget`, used }),
    limit: forecastBudget,
    limitStatus: used.gt(forecastBudget) && !isAbove ? ('exceeded' as const) : ('within' as const),
    forecast,
    isForecastAbove: result.forecastBudgetExceeded,
    isForecastMissing: forecast?.status === 'unavailable',
  }
  const isSaid = isSame && budgetStatus === 'exceeded'
  const limits: readonly JudgedLimit[] = [
    total,
    ...result.budgets.map((one) => ({ ...one, what: say`budget ${one.name}`, title: say`Budget ${one.name}` })),
    ...(ahead && !isSaid ? [ahead] : []),
  ]
  // What happened comes before what is expected.
  const inOrder = limits.toSorted((a, b) => Number(b.limitStatus === 'exceeded') - Number(a.limitStatus === 'exceeded'))
  return inOrder.flatMap((limit) => describeLimit(limit, unit, toDate).map((reason) => withWaiver(reason, limit)))
}

/** Empty for a limit that is kept. Data quality issues have reasons of their own. */
function describeLimit(judged: JudgedLimit, unit: string, reference: Day): readonly Reason[] {
  const { what, title, used, limit, warnAbove, limitStatus, isForecastAbove, isForecastMissing, forecast } = judged
  if (limitStatus === 'exceeded' && limit !== undefined)
    return [{ level: 'fail', line: say`${title} exceeded: ${trusted(`${ofLimit(used, limit, unit)}${inBrackets(used, limit)}.`)}` }]
  if (isForecastAbove && forecast?.status === 'expected' && limit !== undefined) {
    const [expected, amount] = formatMoneyPair(forecast.total, limit)
    const start = trusted(`Forecast of ${expected} ${unit} by ${formatShortDay(forecast.untilDate, reference)}`)
    const line = say`${start} exceeds ${what} of ${trusted(`${amount} ${unit}.`)}`
    return [{ level: 'fail', line, cause: say`forecast exceeds ${what}` }]
  }
  if (isForecastMissing) {
    const line = say`${title} has no forecast, because the usage before its period could not be read or is inconsistent.`
    return [{ level: 'fail', line, cause: say`there is no forecast` }]
  }
  if (limitStatus !== 'warn' || warnAbove === undefined) return []
  return [{ level: 'warn', line: say`Warning level of ${what} exceeded: ${trusted(`${ofLimit(used, warnAbove, unit)}.`)}` }]
}

const withWaiver = (reason: Reason, { isWaived, waiver }: Partial<BudgetOutcome>): Reason =>
  isWaived && waiver && reason.level === 'fail'
    ? { ...reason, level: 'warn', line: say`${reason.line} Waived until ${day(waiver.until)}: ${untrustedSentence(waiver.reason)}` }
    : reason

/** Formats with as many decimals as the value needs to look different from the limit. */
function differentPercent(value: Decimal, limit: Decimal) {
  const places = [0, 1, 2, 3, 4, 5].find((count) => !value.round(count).eq(limit)) ?? 6
  return `${formatRounded(value, places)}%`
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

function issueReasons(result: UsageResult): readonly Reason[] {
  const ofBudgets = result.budgets.flatMap((budget) => {
    const { level } = budget.dataQualityIssue ?? {}
    const line = describeBudgetIssue(budget, result)
    return level === undefined || level === 'ignore' || line === undefined ? [] : [withWaiver({ level, line }, budget)]
  })
  const ofTotal = result.dataQualityIssues.flatMap((issue) =>
    issue.level === 'ignore' ? [] : [{ level: issue.level, line: describeIssue(issue, result.unit) }],
  )
  return [...ofTotal, ...ofBudgets].map((reason) => ({ ...reason, cause: say`usage records are missing or inconsistent` }))
}

/** Undefined when the figure can be trusted, or when the report says the same of its whole period. */
function describeBudgetIssue({ name, fromDate, toDate, scope, dataQualityIssue: issue }: BudgetOutcome, result: UsageResult) {
  if (issue === undefined) return undefined
  if (issue.kind === 'metrics-mismatch')
    return say`The usage of budget ${name} is unknown, because the metrics of its records do not add up to their totals.`
  if (issue.kind === 'nothing-in-scope') {
    const names = issue.unmatched.slice(0, maxListed).map((one) => {
      const nearest = issue.nearest[one]
      return nearest === undefined ? one : say`${one} (did you mean ${nearest}?)`
    })
    return names.length === 0
      ? say`The scope of budget ${name} matches no usage.`
      : say`The scope of budget ${name} has names that match no usage: ${join(names, ', ')}. Check the spelling.`
  }
  const isSamePeriod = fromDate === result.fromDate && toDate === result.toDate && scope.tag === undefined
  if (isSamePeriod && result.dataQualityIssues.some(({ kind }) => kind === issue.kind)) return undefined
  return say`Budget ${name} has no usage records${trusted(issue.kind === 'no-records' ? '' : ' yet')} for ${period(fromDate, toDate)}.`
}

export const reportUsage = (result: UsageResult): Report => ({
  headline: usageHeadline(result),
  milestones: [
    { what: say`the budget`, budgetStep: result.budgetStep, limit: result.budget },
    ...result.budgets.map((one) => ({ ...one, what: say`budget ${one.name}` })),
  ].flatMap(({ what, budgetStep: step, limit }) =>
    step === undefined || limit === undefined
      ? []
      : [
          say`Usage reached ${step.percent}% of ${what} on ${day(step.reachedOn)}: ${trusted(`${ofLimit(step.used, limit, result.unit)}.`)}`,
        ],
  ),
  blocks: [
    budgetAdvice(result),
    usageFacts(result),
    usageNotices(result),
    budgetTable(result),
    usageChart(result),
    spikeTable(result),
    aroundSpikes('Changes of services', result.spikeContext, {
      Service: ({ serviceName }) => serviceName,
      Change: ({ change }) => trusted(change),
      By: ({ actorType }) => actorType,
    }),
    aroundSpikes('Deployments of this repository', result.spikeDeployments, {
      Environment: ({ environment }) => environment,
      Ref: ({ ref }) => ref,
      Commit: ({ commit }) => commit,
    }),
    groupTables(result),
    moverTable(result),
    recordDetails(result),
  ],
})

function budgetAdvice(result: UsageResult): Part {
  const { organizationId, budgetStatus, budgets, byEntity, grandTotalCredits: total } = result
  const isTotal = budgetStatus === 'exceeded'
  if (!isTotal && !budgets.some(({ status, limitStatus }) => status === 'fail' && limitStatus === 'exceeded')) return undefined
  // Budgets of a file are about parts of the total.
  const [largest] = isTotal ? byEntity : []
  const start = largest && say`Most is used by ${entityLabels(result)(largest)}${trusted(inBrackets(largest.total, total))}. `
  return say`${start ?? []}To find services that cost credits without need: ${`watchkeeper audit-costs --organization-id ${organizationId}`}. If the usage is right, raise the budget.`
}

export function usageLines(result: UsageResult): readonly Line[] {
  const { forecast, unit, toDate, grandTotalCredits: total, byEntity, budgetStatus } = result
  const labelOf = entityLabels(result)
  const largest = byEntity
    .slice(0, 3)
    .map((entity) => say`${labelOf(entity)} ${trusted(`${amountWords(entity.total, unit)}${inBrackets(entity.total, total)}`)}`)
  const expected = forecast?.status === 'expected' ? [forecast] : []
  return [
    // The verdict has the total.
    ...(budgetStatus === 'exceeded' ? [] : [usageHeadline(result)]),
    ...expected.map((one) => [
      trusted(`Forecast by ${formatShortDay(one.untilDate, toDate)}: ${amountWords(one.total, unit)} (${rangeWords(one, unit)})`),
    ]),
    ...(largest.length === 0 ? [] : [say`Costs most: ${join(largest, ', ')}`]),
  ]
}

const rangeWords = ({ low, high }: Expectation, unit: string) => `80% range ${formatRange(low, high)} ${unit}`

function usageHeadline(result: UsageResult) {
  const { grandTotalCredits, unit, fromDate, toDate, budget, budgets, dataQualityIssues, records } = result
  if (records.length === 0)
    return say`No usage records for ${period(fromDate, toDate)}. The API's total is ${trusted(`${amountWords(grandTotalCredits, unit)}.`)}`
  const usedWords = (used: Decimal, limit: Decimal | undefined): Trusted =>
    trusted(limit === undefined ? amountWords(used, unit) : `${ofLimit(used, limit, unit)}${inBrackets(used, limit)}`)
  const [only, second] = budgets
  // A single budget of a file is what the run is about, not the usage of the organization.
  if (budget === undefined && only !== undefined && second === undefined)
    return say`Budget ${only.name}: used ${usedWords(only.used, only.dataQualityIssue ? undefined : only.limit)} from ${period(only.fromDate, only.toDate)}.`
  const passed = budgets.filter(({ status, isWaived }) => status !== 'fail' && !isWaived).length
  const ofBudgets = budgets.length === 0 ? '' : ` ${passed} of ${budgets.length} budgets passed.`
  return say`Used ${usedWords(grandTotalCredits, dataQualityIssues.length === 0 ? budget : undefined)} from ${period(fromDate, toDate)}.${trusted(ofBudgets)}`
}

function usageFacts(result: UsageResult): Part {
  const { unit, creditPrice, budget, budgetStatus, provisionalCredits, grandTotalCredits: used, warnBudget, comparison } = result
  const { days, fromDate, toDate, forecast, forecastBudget, runsOutOn, gate, budgetUsedPercent } = result
  const amount = (value: Decimal) => amountWords(value, unit)
  const share = budgetUsedPercent === undefined ? '' : ` (${formatPercent(budgetUsedPercent)})`
  const money =
    budget === undefined || creditPrice === undefined
      ? ''
      : `, ${ofLimit(used.times(creditPrice.amount), budget.times(creditPrice.amount), creditPrice.currency)}`
  return facts({
    Used: trusted(budget === undefined ? withPrice(used, unit, creditPrice) : `${ofLimit(used, budget, unit)}${share}${money}`),
    Budget: budget === undefined && gate !== 'off' && !canFail(result) && warnBudget === undefined ? trusted('none') : undefined,
    'Warning level': shown(warnBudget, amount),
    Provisional: trusted(`${amount(provisionalCredits)}${inBrackets(provisionalCredits, used)}`),
    ...(forecast && { [`Forecast by ${formatShortDay(forecast.untilDate, toDate)}`]: trusted(forecastWords(forecast, result)) }),
    'Forecast budget': forecastBudget && budget?.eq(forecastBudget) ? undefined : shown(forecastBudget, amount),
    [budgetStatus === 'exceeded' ? 'Budget exceeded on' : 'Budget will be exceeded on']: shown(runsOutOn, (on) =>
      formatShortDay(on, toDate),
    ),
    ...(comparison && { [`Change from ${comparedWords[comparison.with]}`]: trusted(changeWords(comparison, unit)) }),
    Period: trusted(`${period(fromDate, toDate).text} (${plural(days, 'day')})`),
    Unit: shown(unitWords(unit, creditPrice)),
  })
}

/** `412.00 CHC (80% range 383–427 CHC, from 79 days with a weekday pattern; no budget judges it)`. */
function forecastWords(forecast: Forecast, result: UsageResult) {
  if (forecast.status === 'unavailable') return 'not available: the usage before the period could not be read or is inconsistent'
  if (forecast.status === 'too-early') return 'not available yet: too early in the period'
  const { total, learnedFromDays, isWeekdayAware } = forecast
  const basis = `from ${plural(learnedFromDays, 'day')}${isWeekdayAware ? ' with a weekday pattern' : ''}`
  const { unit, creditPrice } = result
  const judged = isForecastJudged(result) ? '' : '; no budget judges it'
  return `${withPrice(total, unit, creditPrice)} (${rangeWords(forecast, unit)}, ${basis}${judged})`
}

const isForecastJudged = ({ forecastBudget, budgets, fromDate, endDate }: UsageResult) =>
  forecastBudget !== undefined ||
  budgets.some(
    ({ judgesForecast, scope, forecast, ...budget }) =>
      judgesForecast && Object.keys(scope).length === 0 && budget.fromDate === fromDate && forecast?.untilDate === endDate,
  )

function changeWords(comparison: UsageComparison, unit: string) {
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

function usageNotices(result: UsageResult): Part {
  const { clipped, budgets, tags, comparison, dataQualityIssues, unit, spikeDays, days, toDate } = result
  const ignored = dataQualityIssues.filter(({ level }) => level === 'ignore')
  const checked = ['No day was', 'Only the last day was'][spikeDays] ?? `Only the last ${spikeDays} days were`
  return [
    ignored.map((issue) => say`Ignored: ${describeIssue(issue, unit)}`),
    budgets.map(
      ({ name, waiver }) => waiver && say`Waiver of budget ${name} until ${day(waiver.until)}: ${untrustedSentence(waiver.reason)}`,
    ),
    (tags.length > 0 || budgets.some(({ scope }) => scope.tag !== undefined)) &&
      say`The usage of a tag is the compute of its services. The storage of a warehouse has no tags.`,
    clipped && say`The report ends on ${day(toDate)}, because the later days of the period are in the future.`,
    historyNotice(result),
    comparison?.status === 'compared' && comparisonNotices(comparison, entityLabels(result)),
    spikeDays < days && days > 1 && [trusted(`${checked} checked for spikes. The check of a day needs the two weeks before it.`)],
  ]
}

function historyNotice({ historyFailure: failure, forecast }: UsageResult): Part {
  if (failure === undefined) return undefined
  const effect = trusted(forecast?.status === 'unavailable' ? ', so there is no forecast' : '')
  const days = period(failure.fromDate, failure.toDate)
  const reason = untrustedSentence(failure.reason)
  return failure.status === 'unread'
    ? say`The usage of ${days} could not be read${effect}. ${reason}`
    : say`The usage records for ${days} are inconsistent${effect}. ${reason}`
}

function comparisonNotices({ leftOut, added, removed, ...compared }: Compared, labelOf: ReturnType<typeof entityLabels>): Part {
  const [own, other] = [period(compared.ofFromDate, compared.ofToDate), period(compared.fromDate, compared.toDate)]
  const before = trusted(comparedWords[compared.with])
  const namesOf = (entities: Compared['added']): Line =>
    joinAtMost(
      10,
      entities.map((one) => labelOf(one)),
    )
  return [
    leftOut.length > 0 &&
      say`The comparison is of ${own} with ${other}. It leaves out ${listDays(leftOut)}, because not all usage of these days is known in both periods.`,
    added.length > 0 && say`New since ${before}: ${namesOf(added)}.`,
    removed.length > 0 && say`Only in ${before}: ${namesOf(removed)}.`,
  ]
}

const statusOrder: readonly BudgetOutcome['status'][] = ['fail', 'warn', 'pass']

function budgetTable({ budgets: inFile, unit, toDate }: UsageResult): Part {
  const budgets = inFile.toSorted((a, b) => statusOrder.indexOf(a.status) - statusOrder.indexOf(b.status))
  return table(
    'Budgets',
    budgets,
    {
      Budget: ({ status, name, scope }) => say`${trusted(statusStyles[status].sign)} ${name}${scopeWords(scope)}`,
      [`>Used (${unit})`]: ({ used, limit }) => trusted(formatMoneyPair(used, limit)[0]),
      '>Limit': ({ used, limit }) => trusted(formatMoneyPair(used, limit)[1]),
      Share: shareCell,
      '>Forecast': forecastCell,
      'Exceeded on': (budget) =>
        budget.runsOutOn && trusted(`${formatShortDay(budget.runsOutOn, toDate)}${budget.limitStatus === 'exceeded' ? '' : ' (forecast)'}`),
      '>Provisional': ({ provisional }) => provisional,
      Period: (budget) => trusted(formatDays(budget.fromDate, budget.toDate)),
    },
    ({ status }) => status,
  )
}

function shareCell({ usedPercent, dataQualityIssue }: BudgetOutcome): Cell {
  if (dataQualityIssue !== undefined) return trusted('uncertain')
  return usedPercent && trusted(`${progressBar(Number(usedPercent))}\u00a0${formatShare(usedPercent)}`)
}

/** ` (service checkout, search; metric compute)`. */
function scopeWords(scope: BudgetOutcome['scope']) {
  const parts = Object.entries(scope).map(([kind, wanted]) => say`${trusted(kind)} ${join(wanted, ', ')}`)
  return parts.length === 0 ? [] : say` (${join(parts, '; ')})`
}

function forecastCell({ forecast, judgesForecast }: BudgetOutcome): Cell {
  if (forecast?.status === 'expected') return trusted(`${formatMoney(forecast.total)}${judgesForecast ? '' : ' (not judged)'}`)
  return forecast && trusted(forecast.status === 'too-early' ? 'too early' : 'not available')
}

type NamedEntity = { readonly [Key in 'name' | 'entityName' | 'entityId' | 'entityType']?: string | undefined }

function entityLabels({ records, otherRecords }: UsageResult) {
  const labelOf = createLabels([...otherRecords, ...records])
  return ({ name = '', entityName = name, entityId = '', entityType = '' }: NamedEntity, isTypeShown?: boolean) =>
    labelOf({ entityName, entityId, entityType }, isTypeShown)
}

function spikeTable(result: UsageResult): Part {
  const { spikes, unit } = result
  const labelOf = entityLabels(result)
  const largestFirst = spikes.toSorted((a, b) => excess(b) - excess(a)).slice(0, 10)
  return table('Spikes', largestFirst, {
    Day: ({ date }) => trusted(formatDay(date)),
    Of: ({ of, driver }) => (of === 'entity' ? labelOf(driver) : trusted('all')),
    [`>Used (${unit})`]: ({ total }) => total,
    [`>Usual (${unit})`]: ({ usual }) => usual,
    'Main cause': ({ driver }) =>
      say`${labelOf(driver)}, ${driver.metric}: ${trusted(`${formatMoney(driver.total)} instead of ${formatMoney(driver.usual)} ${unit}`)}`,
  })
}

const excess = ({ total, usual }: UsageResult['spikes'][number]) => Number(total) - Number(usual)

/** A coincidence, and not a cause: the API does not know what uses credits. */
function aroundSpikes<Row extends { readonly spike: Day; readonly at: string }>(
  what: string,
  found: readonly Row[] | undefined,
  columns: Readonly<Record<string, (row: Row) => Cell>>,
): Part {
  const title = `${what} on the day of a spike or the day before`
  if (found?.length === 0) return [trusted(`No ${title.toLowerCase()}.`)]
  return (
    found && [
      table(title, found, { Spike: ({ spike }) => trusted(formatDay(spike)), Time: ({ at }) => trusted(formatMoment(at)), ...columns }),
      say`They happened at the same time. They need not be the cause.`,
    ]
  )
}

function groupTables(result: UsageResult): Part {
  const labelOf = entityLabels(result)
  // Records have no tags, and a deleted service has none that could be read.
  const { drills = [], others = [] } = Object.groupBy(result.byEntity, ({ name }) => (name.startsWith(drillTag) ? 'drills' : 'others'))
  return [
    shareTable('By entity', others, result, { Entity: (one) => labelOf(one, true), Type: ({ entityType }) => entityType }),
    drills.length > 0 &&
      say`Left out of the entities: ${drills.length} of restore drills, ${trusted(amountWords(sum(drills.map(({ total }) => total)), result.unit))}.`,
    shareTable('By metric', result.byMetric, result, { Metric: ({ name }) => name }),
  ]
}

function shareTable(
  title: string,
  groups: readonly UsageGroup[],
  { grandTotalCredits, creditPrice, unit, provisionalCredits }: UsageResult,
  names: Readonly<Record<string, (group: UsageGroup) => Cell>>,
): Part {
  return table(title, groups, {
    ...names,
    [`>Used (${unit})`]: ({ total }) => total,
    [`>${creditPrice?.currency}`]: creditPrice && (({ total }) => total.times(creditPrice.amount)),
    '>Share': ({ total }) => shown(percentOf(total, grandTotalCredits), formatShare),
    [`>Provisional (${unit})`]: !provisionalCredits.eq(0) && (({ provisional }) => provisional),
  })
}

function moverTable(result: UsageResult): Part {
  const { comparison, unit } = result
  if (comparison?.status !== 'compared') return undefined
  const labelOf = entityLabels(result)
  // Smaller changes, as a share of the total, are summed up in one row.
  const minChange = comparison.ofTotal.abs().times('0.005')
  const named = comparison.movers.filter(({ before, after }) => after.minus(before).abs().gte(minChange)).slice(0, 10)
  const rest = comparison.movers.slice(named.length)
  const others = {
    entity: counted(rest.length, 'smaller change'),
    metric: '',
    before: sum(rest.map(({ before }) => before)),
    after: sum(rest.map(({ after }) => after)),
  }
  const rows = [...named.map((mover) => ({ ...mover, entity: untrusted(labelOf(mover)) })), ...(rest.length === 0 ? [] : [others])]
  return table(`Largest changes from ${period(comparison.fromDate, comparison.toDate).text}`, rows, {
    Entity: ({ entity }) => entity,
    Metric: ({ metric }) => metric,
    [`>Before (${unit})`]: ({ before }) => before,
    '>Now': ({ after }) => after,
    '>Change': ({ before, after }) => trusted(`${after.gt(before) ? '+' : ''}${formatMoney(after.minus(before))}`),
  })
}

function recordDetails(result: UsageResult): Part {
  const { records, unit } = result
  const labelOf = entityLabels(result)
  // Records in a report. The full result and the report in the format csv have all of them.
  const last = records.slice(-1000)
  const title = last.length === records.length ? plural(records.length, 'record') : `Last ${last.length} of ${records.length} records`
  const list = table(undefined, last, {
    Day: ({ date }) => trusted(formatDay(date)),
    Entity: (record) => labelOf(record),
    [`>Used (${unit})`]: ({ total }) => total,
    Final: ({ locked }) => trusted(locked ? 'yes' : 'no'),
  })
  return { ...fold(title, list), isQuiet: true }
}
