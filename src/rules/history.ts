// Owns the days that are known without a gap up to a period's last one: what forecasts and spikes are learnt from.
import { type Day, eachDay } from '../kernel/days.ts'
import { type Decimal, zero } from '../kernel/decimal.ts'
import type { ReadUsage } from './doubts.ts'
import { daysBeside, isWithin, type Period } from './period.ts'
import type { DayTotal } from './spend.ts'
import { createTally } from './tally.ts'
import type { SpendRecord } from './usage-record.ts'

/** The days that were read, one after the other, around the period; a day that was not read is no day without usage. */
function blockAround(period: Period, readings: readonly ReadUsage[]): Period {
  const blocks = daysBeside(
    readings.map((reading) => reading.period),
    [],
  )
  const block = blocks.find((one) => isWithin(period.from, one)) ?? period
  return { from: block.from, to: period.to }
}

/**
 * What `counted` records used on each known day. A day on which nobody has a record is left out; one on which only others have
 * is a zero.
 */
export function knownDays(period: Period, readings: readonly ReadUsage[], counted: readonly SpendRecord[]): ReadonlyMap<Day, Decimal> {
  const block = blockAround(period, readings)
  const days = new Set(readings.flatMap(({ records }) => records.map(({ date }) => date)))
  const totals = createTally<Day>()
  for (const { date, total } of counted) totals.add(date, total)
  return new Map([...eachDay(block.from, block.to)].filter((day) => days.has(day)).map((day) => [day, totals.of(day)]))
}

/** The same up to the period's end, without gaps. */
export function withoutGaps(known: ReadonlyMap<Day, Decimal>, { to }: Period): readonly DayTotal[] {
  const [first] = known.keys()
  return first === undefined ? [] : [...eachDay(first, to)].map((day) => ({ day, total: known.get(day) ?? zero }))
}
