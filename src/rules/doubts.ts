// Owns every reason to doubt that usage figures are the whole truth. A gate that is green on missing data is no gate.
import { addDays, type Day, eachDay } from '../kernel/days.ts'
import { type Decimal, sum, zero } from '../kernel/decimal.ts'
import { isWithin, type Period } from './period.ts'
import { entityKey, entityLabel, type SpendRecord } from './usage-record.ts'

export type Doubt =
  | { readonly kind: 'empty'; readonly period: Period }
  | { readonly kind: 'sum-differs'; readonly period: Period; readonly records: Decimal; readonly grandTotal: Decimal }
  | { readonly kind: 'outside-period'; readonly days: readonly Day[] }
  | { readonly kind: 'repeated'; readonly date: Day; readonly entityName: string }
  | { readonly kind: 'negative'; readonly period: Period; readonly grandTotal: Decimal }
  | { readonly kind: 'missing-days'; readonly days: readonly Day[] }

/** What was read for a period: the API's own total, and the records that should add up to it. */
export interface ReadUsage {
  readonly period: Period
  readonly grandTotal: Decimal
  readonly records: readonly SpendRecord[]
}

export function doubtsAbout({ period, grandTotal, records }: ReadUsage, today: Day): readonly Doubt[] {
  if (records.length === 0) return [{ kind: 'empty', period }, ...sumDoubt(period, zero, grandTotal)]
  const outside = records.filter(({ date }) => !isWithin(date, period)).map(({ date }) => date)
  const missing = missingDays(period, today, new Set(records.map(({ date }) => date)))
  return [
    ...(grandTotal.lt(zero) ? [{ kind: 'negative', period, grandTotal } as const] : []),
    ...sumDoubt(period, sum(records.map(({ total }) => total)), grandTotal),
    ...(outside.length > 0 ? [{ kind: 'outside-period', days: [...new Set(outside)].sort() } as const] : []),
    ...repeats(records),
    ...(missing.length > 0 ? [{ kind: 'missing-days', days: missing } as const] : []),
  ]
}

// The API rounds rows and total on its own: 0.01 % of the total, and never less than a millionth, is no difference.
function sumDoubt(period: Period, records: Decimal, grandTotal: Decimal): readonly Doubt[] {
  const relative = grandTotal.abs().times('0.0001')
  const tolerance = relative.lt('0.000001') ? '0.000001' : relative
  return records.minus(grandTotal).abs().lte(tolerance) ? [] : [{ kind: 'sum-differs', period, records, grandTotal }]
}

function repeats(records: readonly SpendRecord[]): readonly Doubt[] {
  const seen = new Set<string>()
  for (const record of records) {
    const key = `${record.date}\n${entityKey(record)}`
    if (seen.has(key)) return [{ kind: 'repeated', date: record.date, entityName: entityLabel(record) }]
    seen.add(key)
  }
  return []
}

// A day that is over for a day has its records by then.
function missingDays({ from, to }: Period, today: Day, present: ReadonlySet<Day>): readonly Day[] {
  const settled = addDays(today, -2)
  return [...eachDay(from, to < settled ? to : settled)].filter((day) => !present.has(day))
}
