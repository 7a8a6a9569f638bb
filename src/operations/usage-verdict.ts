// Owns what the figures of usage-cost mean for the gate.
import { formatExact, fromText } from '../kernel/decimal.ts'
import { type Line, ours, say } from '../report/line.ts'
import type { Verdict } from './operation.ts'
import type { UsageResult } from './usage-result.ts'

export function judgeUsage(result: UsageResult): Verdict {
  const { budgetExceeded, warnBudgetExceeded, onMissing } = result
  const doubts = onMissing === 'ignore' ? [] : result.doubts.map((doubt) => describeDoubt(doubt, result))
  const isFailed = budgetExceeded === true || (onMissing === 'fail' && doubts.length > 0)
  const reasons = [...(budgetExceeded ? [above(result, 'budget')] : warnBudgetExceeded ? [above(result, 'warnBudget')] : []), ...doubts]
  if (reasons.length === 0) return { status: 'pass', reasons }
  return { status: isFailed ? 'fail' : 'warn', reasons }
}

function above(result: UsageResult, limit: 'budget' | 'warnBudget'): Line {
  const total = fromText(result.grandTotalCredits)
  const most = fromText(result[limit] ?? '0')
  const name = limit === 'budget' ? 'the budget' : 'warn-budget'
  return [ours(`above ${name} of ${formatExact(most)} by ${formatExact(total.minus(most))} ${result.unit}`)]
}

/** Most days that a sentence names. */
const mostNamed = 5

function describeDoubt(
  { kind, days = [], recordsTotal, entityName }: UsageResult['doubts'][number],
  { grandTotalCredits, unit }: UsageResult,
): Line {
  const some = ours(days.slice(0, mostNamed).join(', ') + (days.length > mostNamed ? ` and ${days.length - mostNamed} more` : ''))
  switch (kind) {
    case 'empty':
      return say`there is not a single usage record, so nothing is known of this period`
    case 'sum-differs':
      return say`the records add up to ${ours(`${formatExact(fromText(recordsTotal ?? '0'))} ${unit}, the API's total is ${formatExact(fromText(grandTotalCredits))}`)}`
    case 'outside-period':
      return say`there are records of other days: ${some}`
    case 'repeated':
      return say`${entityName ?? ''} is counted more than once on ${some}`
    case 'negative':
      return say`the API's total is negative`
    case 'missing-days':
      return say`no records of ${some}`
  }
}
