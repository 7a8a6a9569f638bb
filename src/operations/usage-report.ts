// Owns how the usage cost is shown.
import { type Decimal, formatExact, formatRounded, fromText, percentOf } from '../kernel/decimal.ts'
import type { Block } from '../report/blocks.ts'
import { data, type Line, ours, say } from '../report/line.ts'
import type { Report } from './operation.ts'
import type { UsageResult } from './usage-result.ts'

export function reportUsage(result: UsageResult): Report {
  const { grandTotalCredits, unit, fromDate, toDate, budget, budgetExceeded, budgetUsedPercent } = result
  const total = fromText(grandTotalCredits)
  const share = budgetUsedPercent === undefined ? '' : ` (${budgetUsedPercent} %)`
  // Doubts come after the figure; until they are settled it is within nothing.
  const isVouchedFor = budget !== undefined && !budgetExceeded && result.doubts.length === 0
  const within = !isVouchedFor ? '' : `, within the budget of ${formatExact(fromText(budget))}${share}`
  return {
    headline: [ours(`${formatExact(total)} ${unit} used from ${fromDate} to ${toDate}${within}`)],
    blocks: [
      factsOf(result),
      ...(result.clipped ? [{ kind: 'paragraph', line: say`Days that are still to come were taken off the period.` } as const] : []),
      ...chartOf(result),
      shareTable(
        'By entity',
        result.byEntity.map(({ name, entityType, total: amount }) => ({ cells: [[data(name)], [data(entityType)]], amount })),
        ['Entity', 'Type'],
        total,
      ),
      shareTable(
        'By metric',
        result.byMetric.map(({ name, total: amount }) => ({ cells: [[data(name)]], amount })),
        ['Metric'],
        total,
      ),
      { kind: 'details', title: `${result.records.length} records`, blocks: [recordTable(result, total)] },
    ],
  }
}

function factsOf({ unit, budget, budgetUsedPercent, provisionalCredits, grandTotalCredits, days, warnBudget }: UsageResult): Block {
  const amount = (value: string): Line => [ours(`${formatExact(fromText(value))} ${unit}`)]
  const provisionalShare = percentOf(fromText(provisionalCredits), fromText(grandTotalCredits))
  return {
    kind: 'facts',
    facts: [
      { label: 'Total', value: amount(grandTotalCredits) },
      ...(budget === undefined ? [] : [{ label: 'Budget', value: amount(budget) }]),
      ...(warnBudget === undefined ? [] : [{ label: 'Warn above', value: amount(warnBudget) }]),
      ...(budgetUsedPercent === undefined ? [] : [{ label: 'Used', value: [ours(`${budgetUsedPercent} %`)] }]),
      {
        label: 'Can still change',
        value: [...amount(provisionalCredits), ours(provisionalShare === undefined ? '' : ` (${formatRounded(provisionalShare, 1)} %)`)],
      },
      { label: 'Days', value: say`${days}` },
    ],
  }
}

function chartOf({ byDay, unit }: UsageResult): readonly Block[] {
  if (byDay.length < 2 || byDay.every(({ total }) => Number(total) === 0)) return []
  const points = byDay.map(({ date, total }) => ({ label: date.slice(5), value: Number(total) }))
  return [{ kind: 'chart', title: `${unit} per day`, unit, points }]
}

interface ShareRow {
  readonly cells: readonly Line[]
  readonly amount: string
}

function shareTable(title: string, rows: readonly ShareRow[], columns: readonly string[], total: Decimal): Block {
  return {
    kind: 'table',
    title,
    columns: [...columns.map((column) => ({ title: column })), { title: 'Amount', align: 'right' }, { title: 'Share', align: 'right' }],
    rows: rows.map(({ cells, amount }) => [...cells, [ours(rounded(amount, total))], [ours(shareOf(amount, total))]]),
  }
}

// Small totals would round to nothing.
const rounded = (amount: string, total: Decimal): string => formatRounded(fromText(amount), total.abs().lt(10) ? 4 : 2)

function shareOf(amount: string, total: Decimal): string {
  const percent = percentOf(fromText(amount), total)
  return percent === undefined ? '–' : `${formatRounded(percent, 1)} %`
}

function recordTable({ records }: UsageResult, total: Decimal): Block {
  return {
    kind: 'table',
    columns: [{ title: 'Day' }, { title: 'Entity' }, { title: 'Amount', align: 'right' }, { title: 'Final' }],
    rows: records.map(({ date, entityName, total: amount, locked }) => [
      [ours(date)],
      [data(entityName)],
      [ours(rounded(amount, total))],
      [ours(locked ? 'yes' : 'not yet')],
    ]),
  }
}
