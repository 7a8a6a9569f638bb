import { type Day, formatDay, formatDays } from '../core/dates.ts'
import { type Decimal, formatEstimate, formatExact, formatRounded, fromText, percentOf, sum } from '../core/decimal.ts'
import type { Report } from '../operation/operation.ts'
import { type Block, type Column, countOf, data, type Line, ours, type Point, say } from '../report/blocks.ts'
import { shareBar } from '../report/chart.ts'
import type { UsageResult } from './result.ts'

// Owns how doubts about figures are put into words.

/** Most days that a sentence names. */
const mostDaysNamed = 5

export function describeDoubt(doubt: UsageResult['doubts'][number], unit: string): Line {
  const { kind, days = [], fromDate = '', toDate = '', recordsTotal = '0', grandTotal = '0', entityName = '' } = doubt
  const some = ours(
    days.slice(0, mostDaysNamed).join(', ') + (days.length > mostDaysNamed ? ` and ${days.length - mostDaysNamed} more` : ''),
  )
  const amount = (text: string): string => `${formatExact(fromText(text))} ${unit}`
  switch (kind) {
    case 'empty':
      return [ours(`there is not a single usage record from ${fromDate} to ${toDate}, so nothing is known of these days`)]
    case 'not-yet':
      return [ours(`there are no usage records yet from ${fromDate} to ${toDate}`)]
    case 'nothing-final':
      return [ours(`no record from ${fromDate} to ${toDate} is final yet, and final ones alone are judged`)]
    case 'negative-record':
      return say`the usage of ${entityName} on ${some} is negative`
    case 'sum-differs':
      return [ours(`the records from ${fromDate} to ${toDate} add up to ${amount(recordsTotal)}, the API's total is ${amount(grandTotal)}`)]
    case 'outside-period':
      return say`there are records of other days: ${some}`
    case 'repeated':
      return say`${entityName} is counted more than once on ${some}`
    case 'negative':
      return [ours(`the API's total from ${fromDate} to ${toDate} is negative`)]
    case 'missing-days':
      return say`no records of ${some}`
  }
}

/** Empty when the budget can be trusted, or when the report says the same of its whole period. */
export function describeBudgetDoubt(
  budget: UsageResult['budgets'][number],
  { fromDate, toDate, doubts }: Pick<UsageResult, 'fromDate' | 'toDate' | 'doubts'>,
): readonly Line[] {
  const { name, doubt, unmatched = [] } = budget
  if (doubt === undefined) return []
  if (doubt === 'nothing-in-scope') {
    const names = unmatched.length === 0 ? [] : say` (${unmatched.slice(0, mostDaysNamed).join(', ')})`
    return [say`budget ${name} is about something that no usage fits${names}: is it spelled right?`]
  }
  if (doubt === 'metrics-differ')
    return [say`the metrics of what budget ${name} is about do not add up to its records, so that nobody can tell what it counts`]
  if (doubt === 'nothing-final') return [say`nothing that budget ${name} counts is final yet, and final records alone are judged`]
  const isSaid = budget.fromDate === fromDate && budget.toDate === toDate && doubts.some(({ kind }) => kind === doubt)
  if (isSaid && budget.scope.tag === undefined) return []
  if (doubt === 'not-yet')
    return [say`there are no usage records yet for budget ${name} from ${ours(budget.fromDate)} to ${ours(budget.toDate)}`]
  return [say`there is not a single usage record for budget ${name} from ${ours(budget.fromDate)} to ${ours(budget.toDate)}`]
}

// Owns the chart of a period: a bar for each day, or for each week where days would be too thin to see.

/** More bars than this are thinner than a line. */
const mostBars = 62

export function chartOf({ byDay, unit }: UsageResult): readonly Block[] {
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
  const total = sum(days.map((day) => fromText(day.total)))
  const open = sum(days.map((day) => fromText(day.provisional)))
  return { label, value: Number(total), settled: Number(total.minus(open)) }
}

// Owns the tables of a cost report.

const right = (title: string): Column => ({ title, align: 'right' })

/** Small totals would round to nothing. */
const placesFor = (total: Decimal): number => (total.abs().lt(10) ? 4 : 2)

const rounded = (amount: string, total: Decimal): Line => [ours(formatRounded(fromText(amount), placesFor(total)))]

const verdictSigns = { pass: '✅', warn: '⚠️', fail: '❌' } as const

export function budgetTable({ budgets, unit }: UsageResult): Block {
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
    rows: budgets.map((budget) => {
      const limit = fromText(budget.limit)
      return [
        [ours(`${verdictSigns[budget.verdict]} `), data(budget.name), ...scopeWords(budget.scope)],
        [ours(formatExact(fromText(budget.used)))],
        [ours(formatExact(limit))],
        [ours(shareWords(budget))],
        expectedWords(budget.forecast, limit),
        [ours(budget.runsOutOn === undefined ? '–' : formatDay(budget.runsOutOn as Day))],
        rounded(budget.provisional, limit),
        [ours(formatDays(budget.fromDate as Day, budget.toDate as Day))],
      ]
    }),
  }
}

function shareWords({ usedPercent, doubt }: UsageResult['budgets'][number]): string {
  if (doubt !== undefined) return 'doubtful'
  return usedPercent === undefined ? '–' : `${shareBar(Number(usedPercent))}\u00a0${formatRounded(fromText(usedPercent), 1)}\u00a0%`
}

function scopeWords(scope: UsageResult['budgets'][number]['scope']): Line {
  const parts = Object.entries(scope).map(
    ([kind, wanted]) => say`${ours(`${kind} `)}${wanted.flatMap((one, i) => (i === 0 ? say`${one}` : say`, ${one}`))}`,
  )
  return parts.length === 0 ? [] : [ours(' ('), ...parts.flatMap((part, i) => (i === 0 ? part : [ours('; '), ...part])), ours(')')]
}

function expectedWords({ state, total = '0' }: UsageResult['forecast'], limit: Decimal): Line {
  if (state === 'expected') return rounded(total, limit)
  return [ours(state === 'too-early' ? 'not yet' : '–')]
}

export function spikeTable({ spikes, unit }: UsageResult): Block {
  const largestFirst = spikes.toSorted((a, b) => excess(b) - excess(a)).slice(0, 10)
  return {
    kind: 'table',
    title: 'Spikes',
    columns: [{ title: 'Day' }, right(`Used, ${unit}`), right('Usual'), { title: 'Mostly' }],
    rows: largestFirst.map(({ date, total, usual, culprit }) => {
      const whole = fromText(total)
      return [
        [ours(date)],
        rounded(total, whole),
        rounded(usual, whole),
        say`${culprit.entityName}, ${culprit.metric}: ${rounded(culprit.total, whole)} instead of ${rounded(culprit.usual, whole)}`,
      ]
    }),
  }
}

const excess = ({ total, usual }: UsageResult['spikes'][number]): number => Number(total) - Number(usual)

const titles = { entity: 'By entity', metric: 'By metric', date: 'By day', warehouse: 'By warehouse', type: 'By type' } as const

/** The wanted grouping first; entities and metrics are shown in any case. */
export function groupTables(result: UsageResult): readonly Block[] {
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
  const total = fromText(result.grandTotalCredits)
  const isOpen = Number(result.provisionalCredits) !== 0
  const columns = [
    { title: by === 'date' ? 'Day' : by[0]?.toUpperCase() + by.slice(1) },
    ...(by === 'entity' ? [{ title: 'Type' }] : []),
    right(`Used, ${result.unit}`),
    right('Share'),
    ...(isOpen ? [right('Can still change')] : []),
  ]
  const rows = groups.map((group) => [
    [by === 'date' ? ours(group.name) : data(group.name)],
    ...(by === 'entity' ? [[data(group.entityType ?? '')]] : []),
    rounded(group.total, total),
    [ours(shareOf(group.total, total))],
    ...(isOpen ? [rounded(group.provisional, total)] : []),
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

function shareOf(amount: string, total: Decimal): string {
  const percent = percentOf(fromText(amount), total)
  return percent === undefined ? '–' : `${formatRounded(percent, 1)} %`
}

/** What grew most, and what shrank most. */
export function moverTable({ comparison, unit, grandTotalCredits }: UsageResult): readonly Block[] {
  if (comparison === undefined) return []
  const total = fromText(grandTotalCredits)
  const isUp = ({ before, after }: (typeof comparison.movers)[number]): boolean => fromText(after).gt(before)
  const shown = [...comparison.movers.filter(isUp).slice(0, 5), ...comparison.movers.filter((mover) => !isUp(mover)).slice(0, 5)]
  return [
    {
      kind: 'table',
      title: `Movers, against ${comparison.fromDate} to ${comparison.toDate}`,
      columns: [{ title: 'Entity' }, { title: 'Metric' }, right(`Before, ${unit}`), right('Now'), right('Change')],
      rows: shown.map(({ entityName, metric, before, after }) => {
        const change = fromText(after).minus(before)
        return [
          [data(entityName)],
          [data(metric)],
          rounded(before, total),
          rounded(after, total),
          [ours(`${change.gt(0) ? '+' : ''}${formatRounded(change, placesFor(total))}`)],
        ]
      }),
    },
  ]
}

/** Rows of a report that nobody scrolls to the end of; the result file and csv-file have them all. */
const mostRecords = 1000

export function recordDetails({ records, grandTotalCredits, unit }: UsageResult): Block {
  const total = fromText(grandTotalCredits)
  const shown = records.slice(-mostRecords)
  const title = shown.length === records.length ? countOf(records, 'record').text : `The last ${shown.length} of ${records.length} records`
  return {
    kind: 'details',
    title,
    blocks: [
      {
        kind: 'table',
        columns: [{ title: 'Day' }, { title: 'Entity' }, right(`Used, ${unit}`), { title: 'Final' }],
        rows: shown.map(({ date, entityName, entityId, total: amount, locked }) => [
          [ours(date)],
          [data(entityName || entityId)],
          rounded(amount, total),
          [ours(locked ? 'yes' : 'not yet')],
        ]),
      },
    ],
  }
}

// Owns how the usage cost is shown.

export function reportUsage(result: UsageResult): Report {
  return {
    headline: headlineOf(result),
    blocks: [
      factsOf(result),
      ...notices(result).map((line): Block => ({ kind: 'paragraph', line })),
      budgetTable(result),
      ...chartOf(result),
      spikeTable(result),
      ...groupTables(result),
      ...moverTable(result),
      recordDetails(result),
    ],
  }
}

function headlineOf(result: UsageResult): Line {
  const { grandTotalCredits, unit, fromDate, toDate, budget, budgetUsedPercent, budgets, judgedCredits, records } = result
  if (records.length === 0)
    return [ours(`No usage records from ${fromDate} to ${toDate}; the API's total is ${formatExact(fromText(grandTotalCredits))} ${unit}`)]
  const share = budgetUsedPercent === undefined ? '' : ` (${budgetUsedPercent} %)`
  // Doubts come after the figure; until they are settled it is within nothing.
  const isVouchedFor = budget !== undefined && result.doubts.length === 0 && fromText(judgedCredits).lte(budget)
  const within = isVouchedFor ? `, within the budget of ${formatExact(fromText(budget))}${share}` : ''
  const kept = budgets.filter(({ verdict }) => verdict !== 'fail').length
  const others = budgets.length === 0 ? '' : `, ${kept} of ${budgets.length} budgets kept`
  const unjudged = hasLimit(result) ? '' : '; no limit was given'
  return [ours(`${formatExact(fromText(grandTotalCredits))} ${unit} used from ${fromDate} to ${toDate}${within}${others}${unjudged}`)]
}

function factsOf(result: UsageResult): Block {
  const { unit, budget, budgetUsedPercent, provisionalCredits, grandTotalCredits, judgedCredits, unlocked, days, warnBudget, comparison } =
    result
  const { forecast, forecastBudget, runsOutOn } = result
  const amount = (value: string): Line => [ours(`${formatExact(fromText(value))} ${unit}`)]
  const fact = (label: string, value: Line | undefined) => (value === undefined ? [] : [{ label, value }])
  const given = (value: string | undefined): Line | undefined => (value === undefined ? undefined : amount(value))
  return {
    kind: 'facts',
    facts: [
      { label: 'Total', value: amount(grandTotalCredits) },
      ...fact('Final', unlocked === 'exclude' ? amount(judgedCredits) : undefined),
      ...fact('Budget', hasLimit(result) ? given(budget) : [ours('none given')]),
      ...fact('Warn above', given(warnBudget)),
      ...fact('Used', budgetUsedPercent === undefined ? undefined : [ours(`${budgetUsedPercent} %`)]),
      {
        label: 'Can still change',
        value: [...amount(provisionalCredits), ours(inBrackets(percentOf(fromText(provisionalCredits), fromText(grandTotalCredits))))],
      },
      ...fact(`Expected by ${forecast.untilDate}`, expected(forecast, unit)),
      ...fact('Forecast budget', given(forecastBudget)),
      ...fact('Budget runs out on', runsOutOn === undefined ? undefined : [ours(runsOutOn)]),
      ...fact('Against the period before', comparison && [ours(changeWords(comparison, unit))]),
      { label: 'Days', value: say`${days}` },
    ],
  }
}

/** An expression that came out empty looks like no budget at all; whoever meant one can see it. */
const hasLimit = ({ budget, warnBudget, forecastBudget, budgets, comparison }: UsageResult): boolean =>
  [budget, warnBudget, forecastBudget, comparison?.maxIncrease].some((limit) => limit !== undefined) || budgets.length > 0

const inBrackets = (percent: Decimal | undefined): string => (percent === undefined ? '' : ` (${formatRounded(percent, 1)} %)`)

function expected({ state, total = '0', low = '0', high = '0' }: UsageResult['forecast'], unit: string): Line | undefined {
  if (state === 'over') return undefined
  if (state === 'too-early') return [ours('not yet: too early to tell')]
  return [ours(`${formatEstimate(fromText(total))} ${unit} (${formatEstimate(fromText(low))} to ${formatEstimate(fromText(high))})`)]
}

function changeWords({ change, changePercent, total }: NonNullable<UsageResult['comparison']>, unit: string): string {
  const amount = fromText(change)
  const sign = amount.gt(0) ? '+' : ''
  const share = changePercent === undefined ? '' : ` (${sign}${formatRounded(fromText(changePercent), 1)} %)`
  return `${sign}${formatExact(amount)} ${unit}${share}, from ${formatExact(fromText(total))}`
}

function notices(result: UsageResult): readonly Line[] {
  const { clipped, waiver, comparison, unlocked, forecast, onMissing, doubts, unit, spikeDays, days } = result
  return [
    ...(onMissing === 'ignore' ? doubts.map((doubt) => say`Ignored: ${describeDoubt(doubt, unit)}.`) : []),
    ...(waiver === undefined ? [] : [say`Waiver until ${ours(waiver.until)}: ${waiver.reason}`]),
    ...(clipped ? [say`Days that are still to come were taken off the period.`] : []),
    ...(unlocked === 'exclude' ? [say`Only records that are final are judged.`] : []),
    ...(forecast.state === 'expected'
      ? [
          say`The forecast is learnt from ${forecast.learntFrom ?? 0} days${ours(forecast.isWeekdayAware ? ', weekdays told apart' : '')}; four times out of five the total lies within its range.`,
        ]
      : []),
    ...(comparison === undefined ? [] : cameAndWent(comparison)),
    ...(spikeDays < days && days > 1
      ? [
          [
            ours(spikeDays === 0 ? 'No day was looked at for spikes' : `Only the last ${spikeDays} days were looked at for spikes`),
            ours(': it takes two weeks before a day to say what is usual.'),
          ],
        ]
      : []),
  ]
}

/** Most entities that a sentence names. */
const mostNamed = 10

function cameAndWent({ appeared, gone }: NonNullable<UsageResult['comparison']>): readonly Line[] {
  const list = (entities: readonly { readonly name: string }[]): Line =>
    entities.slice(0, mostNamed).flatMap(({ name }, i) => (i === 0 ? say`${name}` : say`, ${name}`))
  const more = (entities: readonly unknown[]): string => (entities.length > mostNamed ? ` and ${entities.length - mostNamed} more` : '')
  return [
    ...(appeared.length === 0 ? [] : [say`New against the period before: ${list(appeared)}${ours(more(appeared))}.`]),
    ...(gone.length === 0 ? [] : [say`Gone since the period before: ${list(gone)}${ours(more(gone))}.`]),
  ]
}
