// Owns the tables of a cost report.

import { type Day, formatDay, formatDays } from '../../kernel/days.ts'
import { type Decimal, formatExact, formatRounded, fromText, percentOf } from '../../kernel/decimal.ts'
import type { Block, Column } from '../../report/blocks.ts'
import { shareBar } from '../../report/chart.ts'
import { countOf, data, type Line, ours, say } from '../../report/line.ts'
import type { UsageResult } from './result.ts'

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
