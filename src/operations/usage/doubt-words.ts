// Owns how doubts about figures are put into words.
import { formatExact, fromText } from '../../kernel/decimal.ts'
import { type Line, ours, say } from '../../report/line.ts'
import type { UsageResult } from './result.ts'

/** Most days that a sentence names. */
const mostNamed = 5

export function describeDoubt(doubt: UsageResult['doubts'][number], unit: string): Line {
  const { kind, days = [], fromDate = '', toDate = '', recordsTotal = '0', grandTotal = '0', entityName = '' } = doubt
  const some = ours(days.slice(0, mostNamed).join(', ') + (days.length > mostNamed ? ` and ${days.length - mostNamed} more` : ''))
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
    const names = unmatched.length === 0 ? [] : say` (${unmatched.slice(0, mostNamed).join(', ')})`
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
