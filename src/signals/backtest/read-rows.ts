import type { GroupValue, WindowValues } from './evaluate.ts'
import type { Formula } from './formula.ts'
import type { SeriesRow } from './series-api.ts'

// Turns the rows of an answer into the values that the server compares.

export interface Refusal {
  /** Why there is no estimate. */
  readonly reason: string
  /** The server's own words where it cannot run the query, so that it cannot evaluate the alert either. */
  readonly queryError?: string
  /** Why the server would never evaluate the alert. */
  readonly never?: string
  /** Raw SQL that does not bound the end of its time, or nothing. */
  readonly bounds?: 'start-only' | 'open'
  /** The query must not be sent. */
  readonly isUnsent?: true
  /** There was no time, or no request of the rate limit, left. */
  readonly isLate?: true
}

export type ReadResult = { readonly values: WindowValues } | Refusal

export type Combination = { readonly kind: 'last' } | { readonly kind: 'ratio' } | { readonly kind: 'formula'; readonly formula: Formula }

export interface RowFormat {
  readonly aggregates: readonly string[]
  readonly isMetric: boolean
  readonly combination: Combination
  /** Otherwise a value that charts cannot give is none. */
  readonly isExact: boolean
}

/** The value of one series in a row that other series have, too: a number, null, or `unknown`. */
type Operand = number | null | 'unknown'

export function readRows(rows: readonly SeriesRow[], reading: RowFormat): ReadResult {
  const values = new Map<number, GroupValue[]>()
  for (const { startMs, group, numbers } of rows) {
    const value = compute(
      reading.aggregates.map((aggFn, i) => operandOf(numbers.get(i), aggFn, reading.isMetric)),
      reading,
    )
    if (value === 'unknown' && reading.isExact)
      return { reason: 'a series of the tile has no rows in a window in which another one has some' }
    const window = values.get(startMs) ?? []
    window.push({ group, value: typeof value === 'number' && Number.isFinite(value) ? value : null })
    values.set(startMs, window)
  }
  return { values }
}

/** All series of logs and traces are columns of one query, so a count without rows is 0. Those of metrics are queries of their own. */
function operandOf(number: number | null | undefined, aggFn: string, isMetric: boolean): Operand {
  if (number !== undefined) return number
  if (isMetric) return null
  if (aggFn.startsWith('count')) return 0
  return aggFn === 'avg' || aggFn === 'quantile' ? null : 'unknown'
}

function compute(operands: readonly Operand[], { combination, isMetric }: RowFormat): Operand {
  if (combination.kind === 'last') return operands.at(-1) ?? null
  if (operands.includes('unknown')) return 'unknown'
  // A missing operand of a metric counts as 0. Another one may be NULL, which counts as 0, or NaN, which does not.
  if (combination.kind === 'formula' && !isMetric && operands.includes(null)) return 'unknown'
  const numbers = operands.map((operand) => (operand === null && !isMetric ? Number.NaN : Number(operand ?? 0)))
  if (combination.kind === 'formula') return combination.formula(numbers)
  const [numerator = Number.NaN, denominator = 0] = numbers
  return denominator === 0 ? null : numerator / denominator
}
