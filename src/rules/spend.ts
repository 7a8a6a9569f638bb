// Owns what usage adds up to: in all, day by day, and how much of it can still change.
import { type Day, eachDay } from '../kernel/days.ts'
import { type Decimal, sum } from '../kernel/decimal.ts'
import type { Period } from './period.ts'
import { createTally } from './tally.ts'
import type { SpendRecord } from './usage-record.ts'

export interface DayTotal {
  readonly day: Day
  readonly total: Decimal
}

export const totalOf = (records: readonly SpendRecord[]): Decimal => sum(records.map(({ total }) => total))

/** The part whose records can still change. */
export const provisionalOf = (records: readonly SpendRecord[]): Decimal => totalOf(records.filter(({ locked }) => !locked))

/** One entry for each day of the period, in order, used or not. */
export function totalByDay(records: readonly SpendRecord[], period: Period): readonly DayTotal[] {
  const totals = createTally<Day>()
  for (const { date, total } of records) totals.add(date, total)
  return [...eachDay(period.from, period.to)].map((day) => ({ day, total: totals.of(day) }))
}
