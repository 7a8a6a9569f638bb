// Owns every reason to doubt that usage figures are the whole truth. A gate that is green on missing data is no gate.
import { addDays, type Day, eachDay } from '../core/dates.ts'
import { type Decimal, sum, zero } from '../core/decimal.ts'
import { isWithin, type Period } from './periods.ts'
import { entityKey, entityLabel, isRounding, type SpendRecord } from './records.ts'

export type Doubt =
  | { readonly kind: 'empty'; readonly period: Period }
  /** Nothing at all, of days that are too young to have records for certain. */
  | { readonly kind: 'not-yet'; readonly period: Period }
  /** No record is final, and final ones alone are judged. */
  | { readonly kind: 'nothing-final'; readonly period: Period }
  | { readonly kind: 'negative-record'; readonly date: Day; readonly entityName: string }
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
  /** Only what bears a tag was read: days without any of it prove nothing. */
  readonly isFiltered?: boolean
}

export function doubtsAbout({ period, grandTotal, records, isFiltered }: ReadUsage, today: Day): readonly Doubt[] {
  if (records.length === 0) return [{ kind: isYoung(period, today) ? 'not-yet' : 'empty', period }, ...sumDoubt(period, zero, grandTotal)]
  const outside = records.filter(({ date }) => !isWithin(date, period)).map(({ date }) => date)
  const missing = isFiltered ? [] : missingDays(period, today, new Set(records.map(({ date }) => date)))
  const negative = records.find(({ total }) => total.lt(zero))
  return [
    ...(grandTotal.lt(zero) ? [{ kind: 'negative', period, grandTotal } as const] : []),
    ...sumDoubt(period, sum(records.map(({ total }) => total)), grandTotal),
    ...(outside.length > 0 ? [{ kind: 'outside-period', days: [...new Set(outside)].sort() } as const] : []),
    ...(negative === undefined ? [] : [{ kind: 'negative-record', date: negative.date, entityName: entityLabel(negative) } as const]),
    ...repeats(records),
    ...(missing.length > 0 ? [{ kind: 'missing-days', days: missing } as const] : []),
  ]
}

const sumDoubt = (period: Period, records: Decimal, grandTotal: Decimal): readonly Doubt[] =>
  isRounding(records.minus(grandTotal), grandTotal) ? [] : [{ kind: 'sum-differs', period, records, grandTotal }]

function repeats(records: readonly SpendRecord[]): readonly Doubt[] {
  const seen = new Set<string>()
  for (const record of records) {
    const key = `${record.date}\n${entityKey(record)}`
    if (seen.has(key)) return [{ kind: 'repeated', date: record.date, entityName: entityLabel(record) }]
    seen.add(key)
  }
  return []
}

/** Whether none of its days needs to have a record yet. */
export const isYoung = ({ from }: Period, today: Day): boolean => from > settledDay(today)

/** A day that is over for a day has its records by then. */
const settledDay = (today: Day): Day => addDays(today, -2)

function missingDays({ from, to }: Period, today: Day, present: ReadonlySet<Day>): readonly Day[] {
  const settled = settledDay(today)
  return [...eachDay(from, to < settled ? to : settled)].filter((day) => !present.has(day))
}
