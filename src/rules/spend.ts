// Owns what usage records add up to, and every reason to doubt the figure. Pure: answers in, a value out.
import { addDays, type Day, eachDay } from '../kernel/days.ts'
import { type Decimal, sum, zero } from '../kernel/decimal.ts'
import type { Period } from './period.ts'

/** What the rules need of a usage record; the API's own type fits. */
export interface SpendRecord {
  readonly date: Day
  readonly entityType: string
  readonly entityId: string
  readonly entityName: string
  readonly total: Decimal
  readonly metrics: Readonly<Record<string, Decimal>>
  readonly locked: boolean
}

export interface Share {
  readonly name: string
  readonly total: Decimal
}

/** Why a figure may not be the whole truth. */
export type Doubt =
  | { readonly kind: 'empty' }
  | { readonly kind: 'sum-differs'; readonly records: Decimal; readonly grandTotal: Decimal }
  | { readonly kind: 'outside-period'; readonly days: readonly Day[] }
  | { readonly kind: 'repeated'; readonly date: Day; readonly entityName: string }
  | { readonly kind: 'negative'; readonly grandTotal: Decimal }
  | { readonly kind: 'missing-days'; readonly days: readonly Day[] }

export interface Spend {
  readonly period: Period
  /** The API's own grand total. */
  readonly total: Decimal
  /** Share of the total whose records can still change. */
  readonly provisional: Decimal
  /** One entry for each day of the period, in order. */
  readonly byDay: readonly { readonly day: Day; readonly total: Decimal }[]
  /** Largest first. */
  readonly byEntity: readonly (Share & { readonly entityType: string })[]
  /** Largest first; what the metrics leave of a record's total is `other`. */
  readonly byMetric: readonly Share[]
  readonly doubts: readonly Doubt[]
}

export interface SpendInput {
  readonly period: Period
  readonly today: Day
  readonly grandTotal: Decimal
  readonly records: readonly SpendRecord[]
}

export function toSpend({ period, today, grandTotal, records }: SpendInput): Spend {
  const totals = totalsBy(records, ({ date }) => date)
  return {
    period,
    total: grandTotal,
    provisional: sum(records.filter(({ locked }) => !locked).map(({ total }) => total)),
    byDay: [...eachDay(period.from, period.to)].map((day) => ({ day, total: totals.get(day) ?? zero })),
    byEntity: entities(records),
    byMetric: metrics(records),
    doubts: doubtsAbout({ period, today, grandTotal, records }),
  }
}

function totalsBy(records: readonly SpendRecord[], keyOf: (record: SpendRecord) => string): Map<string, Decimal> {
  const totals = new Map<string, Decimal>()
  for (const record of records) totals.set(keyOf(record), (totals.get(keyOf(record)) ?? zero).plus(record.total))
  return totals
}

const largestFirst = (a: Share, b: Share): number => b.total.cmp(a.total) || (a.name < b.name ? -1 : 1)

function entities(records: readonly SpendRecord[]): Spend['byEntity'] {
  const identity = ({ entityType, entityId }: SpendRecord): string => `${entityType} ${entityId}`
  const totals = totalsBy(records, identity)
  // The name of the newest record: entities can be renamed, their id stays.
  const newest = new Map(records.toSorted((a, b) => (a.date < b.date ? -1 : 1)).map((record) => [identity(record), record]))
  return [...newest]
    .map(([key, { entityName, entityId, entityType }]) => ({
      name: entityName || entityId || 'unnamed',
      entityType,
      total: totals.get(key) ?? zero,
    }))
    .sort(largestFirst)
}

function metrics(records: readonly SpendRecord[]): readonly Share[] {
  const totals = new Map<string, Decimal>()
  const add = (name: string, value: Decimal): void => {
    totals.set(name, (totals.get(name) ?? zero).plus(value))
  }
  for (const record of records) {
    for (const [name, value] of Object.entries(record.metrics)) add(name, value)
    add('other', record.total.minus(sum(Object.values(record.metrics))))
  }
  return [...totals]
    .map(([name, total]) => ({ name, total }))
    .filter(({ total }) => !total.eq(0))
    .sort(largestFirst)
}

function doubtsAbout({ period, today, grandTotal, records }: SpendInput): readonly Doubt[] {
  if (records.length === 0) return [{ kind: 'empty' }, ...sumDoubt(zero, grandTotal)]
  const outside = records.filter(({ date }) => date < period.from || date > period.to).map(({ date }) => date)
  const missing = missingDays(period, today, new Set(records.map(({ date }) => date)))
  return [
    ...(grandTotal.lt(0) ? [{ kind: 'negative', grandTotal } as const] : []),
    ...sumDoubt(sum(records.map(({ total }) => total)), grandTotal),
    ...(outside.length > 0 ? [{ kind: 'outside-period', days: [...new Set(outside)].sort() } as const] : []),
    ...repeats(records),
    ...(missing.length > 0 ? [{ kind: 'missing-days', days: missing } as const] : []),
  ]
}

// The API rounds rows and total on its own: 0.01 % of the total, and never less than a millionth, is no difference.
function sumDoubt(records: Decimal, grandTotal: Decimal): readonly Doubt[] {
  const relative = grandTotal.abs().times('0.0001')
  const tolerance = relative.lt('0.000001') ? '0.000001' : relative
  return records.minus(grandTotal).abs().lte(tolerance) ? [] : [{ kind: 'sum-differs', records, grandTotal }]
}

function repeats(records: readonly SpendRecord[]): readonly Doubt[] {
  const seen = new Set<string>()
  for (const { date, entityType, entityId, entityName } of records) {
    const key = JSON.stringify([date, entityType, entityId])
    if (seen.has(key)) return [{ kind: 'repeated', date, entityName }]
    seen.add(key)
  }
  return []
}

// A day that is over for a day has its records by then. Days before the first record are an organization's time before its
// first use, as far as anybody can tell from here.
function missingDays({ to }: Period, today: Day, present: ReadonlySet<Day>): readonly Day[] {
  const first = [...present].sort()[0]
  const settled = addDays(today, -2)
  const last = to < settled ? to : settled
  return first === undefined ? [] : [...eachDay(first, last)].filter((day) => !present.has(day))
}
