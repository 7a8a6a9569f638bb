import { type Day, formatDay, formatDays } from '../core/dates.ts'
import { type Decimal, formatEstimate, formatExact, formatRounded, percentOf, sum } from '../core/decimal.ts'
import { counted, type Line, say, trusted, untrusted } from '../core/line.ts'
import { progressBar } from '../core/text.ts'
import type { Report, Verdict } from '../operation/operation.ts'
import type { Block, Column, Point } from '../report/blocks.ts'

import type { BudgetOutcome } from './budgets.ts'
import type { Forecast } from './forecast.ts'
import type { DataQualityIssue } from './records.ts'
import type { UsageResult } from './result.ts'

interface Reason {
  readonly level: 'warn' | 'fail'
  readonly line: Line
}

/** All judgments are in the result already: this puts those that fail or warn into words. */
export function judgeUsage(result: UsageResult): Verdict {
  const all = [
    ...totalReasons(result),
    ...budgetReasons(result),
    ...forecastReasons(result),
    ...increaseReasons(result),
    ...issueReasons(result),
  ]
  if (all.length === 0) return { status: 'pass', reasons: [] }
  // Failures come first, so that no warning hides them.
  const reasons = (['fail', 'warn'] as const).flatMap((wanted) => all.filter(({ level }) => level === wanted).map(({ line }) => line))
  if (all.every(({ level }) => level === 'warn')) return { status: 'warn', reasons }
  const { waiver } = result
  if (waiver === undefined) return { status: 'fail', reasons }
  return { status: 'warn', reasons: [...reasons, say`waived until ${trusted(waiver.until)}: ${waiver.reason}`] }
}

/** `above the budget of 100 by 3.5 CHC`. */
const aboveLimit = (what: string, limit: Decimal, used: Decimal, unit: string): Line => [
  trusted(`above ${what} of ${formatExact(limit)} by ${formatExact(used.minus(limit))} ${unit}`),
]

/** The same for a forecast, which is no more exact than the report shows it. */
const forecastAbove = (what: string, limit: Decimal, { untilDate, total }: Expected, unit: string): Line => [
  trusted(`expected by ${untilDate} to be above ${what} of ${formatExact(limit)}: ${formatEstimate(total)} ${unit}`),
]

type Expected = Extract<Forecast, { status: 'expected' }>

function totalReasons({
  judgedCredits,
  unlocked,
  budget,
  budgetStatus,
  budgetUsedPercent,
  warnBudget,
  unit,
}: UsageResult): readonly Reason[] {
  const prefix = unlocked === 'exclude' ? [trusted('final records alone are ')] : []
  if (budget !== undefined && budgetStatus === 'exceeded') {
    const line = [...prefix, ...aboveLimit('the budget', budget, judgedCredits, unit), trusted(inBrackets(budgetUsedPercent, 2))]
    return [{ level: 'fail', line }]
  }
  if (warnBudget === undefined || budgetStatus !== 'warn') return []
  return [{ level: 'warn', line: [...prefix, ...aboveLimit('warn-budget', warnBudget, judgedCredits, unit)] }]
}

/** Most budgets of a file that a sentence names. */
const mostBudgetsNamed = 5

function budgetReasons({ budgets, unit }: UsageResult): readonly Reason[] {
  const all = budgets.flatMap((budget): readonly Reason[] => {
    const line = describeBudget(budget, unit)
    return line === undefined ? [] : [{ level: budget.status === 'fail' ? 'fail' : 'warn', line }]
  })
  // Failures come first, so that they are not among those left out.
  const ordered = [...all.filter(({ level }) => level === 'fail'), ...all.filter(({ level }) => level === 'warn')]
  const rest = ordered.slice(mostBudgetsNamed)
  if (rest.length === 0) return ordered
  const level = rest.some((one) => one.level === 'fail') ? 'fail' : 'warn'
  return [...ordered.slice(0, mostBudgetsNamed), { level, line: say`${rest.length} more budgets` }]
}

/** Undefined for a budget that is kept; data quality issues have reasons of their own. */
function describeBudget(budget: BudgetOutcome, unit: string): Line | undefined {
  const { name, used, limit, warnAbove, limitStatus, isForecastAbove, forecast } = budget
  if (limitStatus === 'exceeded') return say`budget ${name}: ${aboveLimit('its limit', limit, used, unit)}`
  if (isForecastAbove && forecast?.status === 'expected') return say`budget ${name}: ${forecastAbove('its limit', limit, forecast, unit)}`
  if (limitStatus !== 'warn' || warnAbove === undefined) return undefined
  return say`budget ${name}: ${aboveLimit('its warn level', warnAbove, used, unit)}`
}

function forecastReasons({ forecast, forecastBudget, forecastBudgetExceeded, judgedCredits, unit }: UsageResult): readonly Reason[] {
  if (forecastBudget === undefined || !forecastBudgetExceeded) return []
  const line =
    forecast?.status === 'expected'
      ? forecastAbove('the forecast budget', forecastBudget, forecast, unit)
      : aboveLimit('the forecast budget', forecastBudget, judgedCredits, unit)
  return [{ level: 'fail', line }]
}

function increaseReasons({ comparison, unit }: UsageResult): readonly Reason[] {
  if (comparison?.maxIncrease === undefined || !comparison.isAboveMaxIncrease) return []
  const { change, changePercent, maxIncrease } = comparison
  const most = maxIncrease.kind === 'percent' ? `${maxIncrease.percent.toFixed()}%` : `${maxIncrease.amount.toFixed()} ${unit}`
  const line = [trusted(`grown by ${formatExact(change)} ${unit}${inBrackets(changePercent, 2)}, more than the ${most} allowed`)]
  return [{ level: 'fail', line }]
}

function issueReasons(result: UsageResult): readonly Reason[] {
  const all = [
    ...result.dataQualityIssues.map((issue) => ({ level: issue.level, line: describeIssue(issue, result.unit) })),
    ...result.budgets.flatMap((budget) => describeBudgetIssue(budget, result)),
  ]
  return all.flatMap(({ level, line }) => (level === 'ignore' ? [] : [{ level, line }]))
}

/** Most days or names that a sentence lists. */
const mostListed = 5

function describeIssue(issue: DataQualityIssue, unit: string): Line {
  const amount = (value: Decimal): string => `${formatExact(value)} ${unit}`
  switch (issue.kind) {
    case 'no-records':
      return [trusted(`there is not a single usage record from ${issue.fromDate} to ${issue.toDate}, so nothing is known of these days`)]
    case 'no-records-yet':
      return [trusted(`there are no usage records yet from ${issue.fromDate} to ${issue.toDate}`)]
    case 'no-final-records':
      return [trusted(`no record from ${issue.fromDate} to ${issue.toDate} is final yet, and final ones alone are judged`)]
    case 'total-mismatch': {
      const { fromDate, toDate, recordsTotal, grandTotal } = issue
      return [
        trusted(`the records from ${fromDate} to ${toDate} add up to ${amount(recordsTotal)}, the API's total is ${amount(grandTotal)}`),
      ]
    }
    case 'negative-total':
      return [trusted(`the API's total from ${issue.fromDate} to ${issue.toDate} is negative`)]
    case 'negative-record':
      return say`the usage of ${issue.entityName} on ${trusted(issue.date)} is negative`
    case 'duplicate-record':
      return say`${issue.entityName} is counted more than once on ${trusted(issue.date)}`
    case 'outside-period':
      return say`there are records of other days: ${trusted(listDays(issue.days))}`
    case 'missing-days':
      return say`no records of ${trusted(listDays(issue.days))}`
  }
}

const listDays = (days: readonly Day[]): string =>
  days.slice(0, mostListed).join(', ') + (days.length > mostListed ? ` and ${days.length - mostListed} more` : '')

/** Empty when the figure can be trusted, or when the report says the same of its whole period. */
function describeBudgetIssue(
  { name, fromDate, toDate, scope, dataQualityIssue: issue }: BudgetOutcome,
  result: UsageResult,
): readonly (Pick<DataQualityIssue, 'level'> & { readonly line: Line })[] {
  if (issue === undefined) return []
  const { level } = issue
  switch (issue.kind) {
    case 'nothing-in-scope': {
      const names = issue.unmatched.length === 0 ? [] : say` (${issue.unmatched.slice(0, mostListed).join(', ')})`
      return [{ level, line: say`budget ${name} is about something that no usage fits${names}: is it spelled right?` }]
    }
    case 'metrics-mismatch':
      return [{ level, line: say`the metrics of what budget ${name} is about do not add up to its records, so its usage is not known` }]
    case 'no-final-records':
      return [{ level, line: say`nothing that budget ${name} counts is final yet, and final records alone are judged` }]
    case 'no-records':
    case 'no-records-yet': {
      const isSamePeriod = fromDate === result.fromDate && toDate === result.toDate && scope.tag === undefined
      if (isSamePeriod && result.dataQualityIssues.some(({ kind }) => kind === issue.kind)) return []
      const what = issue.kind === 'no-records' ? 'there is not a single usage record' : 'there are no usage records yet'
      return [{ level, line: say`${trusted(what)} for budget ${name} from ${trusted(fromDate)} to ${trusted(toDate)}` }]
    }
  }
}

export function reportUsage(result: UsageResult): Report {
  return {
    headline: headlineOf(result),
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

function headlineOf(result: UsageResult): Line {
  const { grandTotalCredits, unit, fromDate, toDate, budget, budgetStatus, budgetUsedPercent, budgets, dataQualityIssues, records } = result
  const total = `${formatExact(grandTotalCredits)} ${unit}`
  if (records.length === 0) return [trusted(`No usage records from ${fromDate} to ${toDate}; the API's total is ${total}`)]
  // A figure that cannot be trusted is within nothing.
  const isWithin = budget !== undefined && budgetStatus !== 'exceeded' && dataQualityIssues.length === 0
  const within = isWithin ? `, within the budget of ${formatExact(budget)}${inBrackets(budgetUsedPercent, 2)}` : ''
  const kept = budgets.filter(({ status }) => status !== 'fail').length
  const others = budgets.length === 0 ? '' : `, ${kept} of ${budgets.length} budgets kept`
  const unjudged = hasLimit(result) ? '' : '; no limit was given'
  return [trusted(`${total} used from ${fromDate} to ${toDate}${within}${others}${unjudged}`)]
}

function factsOf(result: UsageResult): Block {
  const { unit, budget, budgetUsedPercent, provisionalCredits, grandTotalCredits, warnBudget, comparison } = result
  const { judgedCredits, unlocked, days, forecast, forecastBudget, runsOutOn } = result
  const amount = (value: Decimal): string => `${formatExact(value)} ${unit}`
  const fact = (label: string, value: string | undefined) => (value === undefined ? [] : [{ label, value: [trusted(value)] }])
  return {
    kind: 'facts',
    facts: [
      ...fact('Total', amount(grandTotalCredits)),
      ...fact('Final', unlocked === 'exclude' ? amount(judgedCredits) : undefined),
      ...fact('Budget', hasLimit(result) ? budget && amount(budget) : 'none given'),
      ...fact('Warn above', warnBudget && amount(warnBudget)),
      ...fact('Used', budgetUsedPercent && `${budgetUsedPercent.toFixed(2)} %`),
      ...fact('Can still change', `${amount(provisionalCredits)}${inBrackets(percentOf(provisionalCredits, grandTotalCredits), 1)}`),
      ...(forecast ? fact(`Expected by ${forecast.untilDate}`, expectedWords(forecast, unit)) : []),
      ...fact('Forecast budget', forecastBudget && amount(forecastBudget)),
      ...fact('Budget runs out on', runsOutOn),
      ...fact('Against the period before', comparison && changeWords(comparison, unit)),
      ...fact('Days', String(days)),
    ],
  }
}

/** An expression that came out empty looks like no budget at all: the report has to show it. */
const hasLimit = ({ budget, warnBudget, forecastBudget, budgets, comparison }: UsageResult): boolean =>
  [budget, warnBudget, forecastBudget, comparison?.maxIncrease].some((limit) => limit !== undefined) || budgets.length > 0

const inBrackets = (share: Decimal | undefined, places: number): string =>
  share === undefined ? '' : ` (${formatRounded(share, places)} %)`

function expectedWords(forecast: Forecast, unit: string): string {
  if (forecast.status === 'too-early') return 'not yet: too early to tell'
  const { total, low, high } = forecast
  return `${formatEstimate(total)} ${unit} (${formatEstimate(low)} to ${formatEstimate(high)})`
}

function changeWords({ change, changePercent, total }: Comparison, unit: string): string {
  const sign = change.gt(0) ? '+' : ''
  const share = changePercent === undefined ? '' : ` (${sign}${formatRounded(changePercent, 1)} %)`
  return `${sign}${formatExact(change)} ${unit}${share}, from ${formatExact(total)}`
}

type Comparison = NonNullable<UsageResult['comparison']>

function notices(result: UsageResult): readonly Line[] {
  const { clipped, waiver, comparison, unlocked, forecast, dataQualityIssues, unit, spikeDays, days } = result
  const ignored = dataQualityIssues.filter(({ level }) => level === 'ignore')
  return [
    ...ignored.map((issue) => say`Ignored: ${describeIssue(issue, unit)}.`),
    ...(waiver === undefined ? [] : [say`Waiver until ${trusted(waiver.until)}: ${waiver.reason}`]),
    ...(clipped ? [say`Days that are still to come were taken off the period.`] : []),
    ...(unlocked === 'exclude' ? [say`Only records that are final are judged.`] : []),
    ...(forecast?.status === 'expected'
      ? [
          say`The forecast is learned from ${forecast.learnedFromDays} days${trusted(forecast.isWeekdayAware ? ', by weekday' : '')}; four times out of five the total lies within its range.`,
        ]
      : []),
    ...(comparison === undefined ? [] : addedAndRemoved(comparison)),
    ...(spikeDays < days && days > 1
      ? [
          [
            trusted(spikeDays === 0 ? 'No day was checked for spikes' : `Only the last ${spikeDays} days were checked for spikes`),
            trusted(': a day needs two weeks of data before it.'),
          ],
        ]
      : []),
  ]
}

/** Most entities that a sentence names. */
const mostEntitiesNamed = 10

function addedAndRemoved({ added, removed }: Comparison): readonly Line[] {
  const list = (entities: readonly { readonly name: string }[]): Line =>
    entities.slice(0, mostEntitiesNamed).flatMap(({ name }, i) => (i === 0 ? say`${name}` : say`, ${name}`))
  const more = (entities: readonly unknown[]): string =>
    entities.length > mostEntitiesNamed ? ` and ${entities.length - mostEntitiesNamed} more` : ''
  return [
    ...(added.length === 0 ? [] : [say`New against the period before: ${list(added)}${trusted(more(added))}.`]),
    ...(removed.length === 0 ? [] : [say`Gone since the period before: ${list(removed)}${trusted(more(removed))}.`]),
  ]
}

/** More bars than this are thinner than a line. */
const mostBars = 62

function chart({ byDay, unit }: UsageResult): readonly Block[] {
  if (byDay.length < 2 || byDay.every(({ total }) => Number(total) === 0)) return []
  const isWeekly = byDay.length > mostBars
  const points = isWeekly ? byWeek(byDay) : byDay.map((day) => toPoint([day], day.date.slice(5)))
  return [{ kind: 'chart', title: `${unit} per ${isWeekly ? 'week' : 'day'}`, unit, points }]
}

type Days = UsageResult['byDay']

/** Weeks of seven days from the first day on; the last one may be shorter. */
function byWeek(days: Days): readonly Point[] {
  const starts = days.filter((_, i) => i % 7 === 0)
  return starts.map(({ date }, i) => toPoint(days.slice(i * 7, i * 7 + 7), date))
}

function toPoint(days: Days, label: string): Point {
  const total = sum(days.map((day) => day.total))
  const provisional = sum(days.map((day) => day.provisional))
  return { label, value: Number(total), finalValue: Number(total.minus(provisional)) }
}

const right = (title: string): Column => ({ title, align: 'right' })

/** Small totals would round to nothing. */
const placesFor = (total: Decimal): number => (total.abs().lt(10) ? 4 : 2)

const rounded = (amount: Decimal, total: Decimal): Line => [trusted(formatRounded(amount, placesFor(total)))]

const statusSigns = { pass: '✅', warn: '⚠️', fail: '❌' } as const

function budgetTable({ budgets, unit }: UsageResult): Block {
  return {
    kind: 'table',
    title: 'Budgets',
    columns: [
      { title: 'Budget' },
      right(`Used, ${unit}`),
      right('Limit'),
      { title: 'Share' },
      right('Expected'),
      { title: 'Runs out' },
      right('Can still change'),
      { title: 'Days' },
    ],
    rows: budgets.map((budget) => [
      [trusted(`${statusSigns[budget.status]} `), untrusted(budget.name), ...scopeWords(budget.scope)],
      [trusted(formatExact(budget.used))],
      [trusted(formatExact(budget.limit))],
      [trusted(shareWords(budget))],
      forecastCell(budget),
      [trusted(budget.runsOutOn === undefined ? '–' : formatDay(budget.runsOutOn))],
      rounded(budget.provisional, budget.limit),
      [trusted(formatDays(budget.fromDate, budget.toDate))],
    ]),
  }
}

function shareWords({ usedPercent, dataQualityIssue }: BudgetOutcome): string {
  if (dataQualityIssue !== undefined) return 'uncertain'
  return usedPercent === undefined ? '–' : `${progressBar(Number(usedPercent))}\u00a0${formatRounded(usedPercent, 1)}\u00a0%`
}

function scopeWords(scope: BudgetOutcome['scope']): Line {
  const parts = Object.entries(scope).map(
    ([kind, wanted]) => say`${trusted(`${kind} `)}${wanted.flatMap((one, i) => (i === 0 ? say`${one}` : say`, ${one}`))}`,
  )
  return parts.length === 0 ? [] : [trusted(' ('), ...parts.flatMap((part, i) => (i === 0 ? part : [trusted('; '), ...part])), trusted(')')]
}

function forecastCell({ forecast, limit }: BudgetOutcome): Line {
  if (forecast?.status === 'expected') return rounded(forecast.total, limit)
  return [trusted(forecast === undefined ? '–' : 'not yet')]
}

function spikeTable({ spikes, unit }: UsageResult): Block {
  const largestFirst = spikes.toSorted((a, b) => excess(b) - excess(a)).slice(0, 10)
  return {
    kind: 'table',
    title: 'Spikes',
    columns: [{ title: 'Day' }, right(`Used, ${unit}`), right('Usual'), { title: 'Mostly' }],
    rows: largestFirst.map(({ date, total, usual, driver }) => [
      [trusted(date)],
      rounded(total, total),
      rounded(usual, total),
      say`${driver.entityName}, ${driver.metric}: ${rounded(driver.total, total)} instead of ${rounded(driver.usual, total)}`,
    ]),
  }
}

const excess = ({ total, usual }: UsageResult['spikes'][number]): number => Number(total) - Number(usual)

const titles = { entity: 'By entity', metric: 'By metric', date: 'By day', warehouse: 'By warehouse', type: 'By type' } as const

/** The wanted grouping first; entities and metrics are shown in any case. */
function groupTables(result: UsageResult): readonly Block[] {
  const { groupBy, groups, byEntity, byMetric } = result
  return [
    ...shareTable(groupBy, groups, result),
    ...(groupBy === 'entity' ? [] : shareTable('entity', byEntity, result)),
    ...(groupBy === 'metric' ? [] : shareTable('metric', byMetric, result)),
  ]
}

/** Rows that are seen without unfolding. */
const mostOpen = 25

function shareTable(by: UsageResult['groupBy'], groups: UsageResult['groups'], result: UsageResult): readonly Block[] {
  const total = result.grandTotalCredits
  const isProvisional = !result.provisionalCredits.eq(0)
  const columns = [
    { title: by === 'date' ? 'Day' : by[0]?.toUpperCase() + by.slice(1) },
    ...(by === 'entity' ? [{ title: 'Type' }] : []),
    right(`Used, ${result.unit}`),
    right('Share'),
    ...(isProvisional ? [right('Can still change')] : []),
  ]
  const rows = groups.map((group) => [
    [by === 'date' ? trusted(group.name) : untrusted(group.name)],
    ...(by === 'entity' ? [[untrusted(group.entityType ?? '')]] : []),
    rounded(group.total, total),
    [trusted(shareOf(group.total, total))],
    ...(isProvisional ? [rounded(group.provisional, total)] : []),
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
  return share === undefined ? '–' : `${formatRounded(share, 1)} %`
}

/** What grew most, and what shrank most. */
function moverTable({ comparison, unit, grandTotalCredits: total }: UsageResult): readonly Block[] {
  if (comparison === undefined) return []
  const isUp = ({ before, after }: Comparison['movers'][number]): boolean => after.gt(before)
  const shown = [...comparison.movers.filter(isUp).slice(0, 5), ...comparison.movers.filter((mover) => !isUp(mover)).slice(0, 5)]
  return [
    {
      kind: 'table',
      title: `Movers, against ${comparison.fromDate} to ${comparison.toDate}`,
      columns: [{ title: 'Entity' }, { title: 'Metric' }, right(`Before, ${unit}`), right('Now'), right('Change')],
      rows: shown.map(({ entityName, metric, before, after }) => {
        const change = after.minus(before)
        return [
          [untrusted(entityName)],
          [untrusted(metric)],
          rounded(before, total),
          rounded(after, total),
          [trusted(`${change.gt(0) ? '+' : ''}${formatRounded(change, placesFor(total))}`)],
        ]
      }),
    },
  ]
}

/** Most records in a report; the result file and csv-file have them all. */
const mostRecords = 1000

function recordDetails({ records, grandTotalCredits, unit }: UsageResult): Block {
  const shown = records.slice(-mostRecords)
  const title =
    shown.length === records.length ? counted(records.length, 'record').text : `The last ${shown.length} of ${records.length} records`
  return {
    kind: 'details',
    title,
    blocks: [
      {
        kind: 'table',
        columns: [{ title: 'Day' }, { title: 'Entity' }, right(`Used, ${unit}`), { title: 'Final' }],
        rows: shown.map(({ date, entityName, entityId, total, locked }) => [
          [trusted(date)],
          [untrusted(entityName || entityId)],
          rounded(total, grandTotalCredits),
          [trusted(locked ? 'yes' : 'not yet')],
        ]),
      },
    ],
  }
}
