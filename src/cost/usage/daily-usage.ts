import { addDays, type Day, eachDay } from '../../platform/core/dates.ts'
import { type Decimal, zero } from '../../platform/core/decimal.ts'
import { lastCompleteDay } from './data-quality.ts'
import { type CurrentPeriod, daysBeside, historyBefore, isWithin, type Period } from './periods.ts'
import { allReadings, type Readings } from './readings.ts'
import { createTally, type UsageReading, type UsageRecord } from './records.ts'

export interface DayTotal {
  readonly date: Day
  readonly total: Decimal
}

/** One entry for each day of the period, in order, with or without usage. */
export function totalByDay(records: readonly UsageRecord[], period: Period) {
  const [totals, provisional] = [createTally<Day>(), createTally<Day>()]
  for (const { date, total, locked } of records) {
    totals.add(date, total)
    if (!locked) provisional.add(date, total)
  }
  return [...eachDay(period.from, period.to)].map((date) => ({ date, total: totals.of(date), provisional: provisional.of(date) }))
}

/** The days around the period that were read without a gap, and belong to it or its history. An unread day is not a day without usage. */
function blockAround(period: CurrentPeriod, readings: readonly UsageReading[]): Period {
  const blocks = daysBeside(
    readings.map((reading) => reading.period),
    [],
  )
  const block = blocks.find((one) => isWithin(period.from, one)) ?? period
  const earliest = historyBefore(period).from
  return { from: block.from > earliest ? block.from : earliest, to: period.to }
}

/**
 * Usage of the `counted` records on each known day, from its history to its end. A day with only other records is zero. A
 * day without any record is left out. Of filtered usage, it is zero from the first record up to `lastComplete`.
 */
export function knownDays(
  period: CurrentPeriod,
  readings: readonly UsageReading[],
  counted: readonly UsageRecord[],
  lastComplete: Day,
): ReadonlyMap<Day, Decimal> {
  const block = blockAround(period, readings)
  const days = new Set(readings.flatMap(({ records }) => records.map(({ date }) => date)))
  const totals = createTally<Day>()
  for (const { date, total } of counted) totals.add(date, total)
  const all = [...eachDay(block.from, block.to)]
  const first = readings.some(({ isFiltered }) => isFiltered) ? all.find((day) => days.has(day)) : undefined
  const isKnown = (day: Day): boolean => days.has(day) || (first !== undefined && day > first && day <= lastComplete)
  return new Map(all.filter(isKnown).map((day) => [day, totals.of(day)]))
}

/** The last day of which all records are there: earlier than usual when the API returned no records of recent days at all. */
export function lastDayWithAllRecords(readings: Readings, today: Day): Day {
  const latest = lastCompleteDay(today)
  const reading = [...allReadings(readings), ...readings.history.readings].find(
    ({ period, isFiltered }) => !isFiltered && isWithin(latest, period),
  )
  if (reading === undefined) return latest
  const days = reading.records.map(({ date }) => date).filter((day) => day <= latest)
  return days.toSorted().at(-1) ?? addDays(reading.period.from, -1)
}

/** Every day from the first known one to the end of the period. */
export function withoutGaps(known: ReadonlyMap<Day, Decimal>, { to }: Period): readonly DayTotal[] {
  const [first] = known.keys()
  return first === undefined ? [] : [...eachDay(first, to)].map((date) => ({ date, total: known.get(date) ?? zero }))
}
