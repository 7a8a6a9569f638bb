// Owns which UTC days a period means, and cutting it into windows that the API answers. Pure: today is an argument.
import { addDays, addMonths, countDays, type Day, endOfMonth, endOfYear, startOfYear, withDayOfMonth } from '../core/dates.ts'

/** Both ends included. */
export interface Period {
  readonly from: Day
  readonly to: Day
}

/** A period as it stands today. */
export interface CurrentPeriod extends Period {
  /** The last day it will have; later than `to` while it runs. */
  readonly end: Day
}

/** Longest period that the API answers in one request, in days. */
export const longestWindowDays = 31

export const periodPresets = [
  'today',
  'yesterday',
  'month-to-date',
  'previous-month',
  'billing-cycle',
  'previous-billing-cycle',
  'year-to-date',
] as const

type Preset = (typeof periodPresets)[number]

export type PeriodName = Preset | `last-${number}-days`

/** Ten years: further back is a typing error rather than a wish. */
export const mostDays = 3660

export function isPeriodName(name: string): name is PeriodName {
  if (periodPresets.some((preset) => preset === name)) return true
  const days = lastDays(name)
  return days !== undefined && days >= 1 && days <= mostDays
}

const lastDays = (name: string): number | undefined => {
  const match = /^last-([1-9]\d{0,4})-days$/.exec(name)
  return match === null ? undefined : Number(match[1])
}

/** Periods that still run are told up to today; `last-N-days` are the N days that end today. */
export function resolvePeriod(name: PeriodName, today: Day, billingCycleDay = 1): CurrentPeriod {
  const days = lastDays(name)
  if (days !== undefined) return finished(addDays(today, 1 - days), today)
  switch (name as Preset) {
    case 'today':
      return finished(today, today)
    case 'yesterday':
      return finished(addDays(today, -1), addDays(today, -1))
    case 'month-to-date':
      return { from: withDayOfMonth(today, 1), to: today, end: endOfMonth(today) }
    case 'previous-month':
      return previousCycle(today, 1)
    case 'billing-cycle':
      return { from: startOfCycle(today, billingCycleDay), to: today, end: endOfCycle(today, billingCycleDay) }
    case 'previous-billing-cycle':
      return previousCycle(today, billingCycleDay)
    case 'year-to-date':
      return { from: startOfYear(today), to: today, end: endOfYear(today) }
  }
}

const finished = (from: Day, to: Day): CurrentPeriod => ({ from, to, end: to })

/** Whether a period of this name has days before it that are still to come. */
export const isRunning = (name: PeriodName): boolean => ['month-to-date', 'billing-cycle', 'year-to-date'].includes(name)

// In a month without that day the cycle starts on the month's last day; the next one starts on the real day again.
function startOfCycle(today: Day, cycleDay: number): Day {
  const thisMonth = withDayOfMonth(today, cycleDay)
  return thisMonth <= today ? thisMonth : withDayOfMonth(addMonths(withDayOfMonth(today, 1), -1), cycleDay)
}

function endOfCycle(today: Day, cycleDay: number): Day {
  const firstOfNextMonth = addMonths(withDayOfMonth(startOfCycle(today, cycleDay), 1), 1)
  return addDays(withDayOfMonth(firstOfNextMonth, cycleDay), -1)
}

function previousCycle(today: Day, cycleDay: number): CurrentPeriod {
  const to = addDays(startOfCycle(today, cycleDay), -1)
  return finished(startOfCycle(to, cycleDay), to)
}

/** Nothing is used on a day that is still to come: such days are taken off. Undefined when none is left. */
export const clipToToday = ({ from, to }: Period, today: Day): CurrentPeriod | undefined =>
  from > today ? undefined : { from, to: to < today ? to : today, end: to }

/** The period of equal length that ends the day before. */
export function periodBefore(period: Period): Period {
  const to = addDays(period.from, -1)
  return { from: addDays(period.from, -daysIn(period)), to }
}

/** The days that are in any of the periods and not in `except`, as the fewest periods, in order. */
export function daysBeside(periods: readonly Period[], except: readonly Period[]): readonly Period[] {
  const merged: Period[] = []
  for (const period of periods.toSorted(byStart)) {
    const last = merged.at(-1)
    if (last === undefined || period.from > addDays(last.to, 1)) merged.push(period)
    else if (period.to > last.to) merged[merged.length - 1] = { from: last.from, to: period.to }
  }
  return except.reduce<readonly Period[]>((rest, hole) => rest.flatMap((period) => cutOut(period, hole)), merged)
}

const byStart = (a: Period, b: Period): number => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0)

function cutOut(period: Period, hole: Period): readonly Period[] {
  if (hole.to < period.from || hole.from > period.to) return [period]
  return [
    ...(period.from < hole.from ? [{ from: period.from, to: addDays(hole.from, -1) }] : []),
    ...(period.to > hole.to ? [{ from: addDays(hole.to, 1), to: period.to }] : []),
  ]
}

export const isWithin = (day: Day, { from, to }: Period): boolean => from <= day && day <= to

/** The fewest windows of at most 31 days that cover the period exactly once, in order. */
export function cutIntoWindows({ from, to }: Period): readonly Period[] {
  const windows: Period[] = []
  for (let start = from; start <= to; start = addDays(start, longestWindowDays)) {
    const end = addDays(start, longestWindowDays - 1)
    windows.push({ from: start, to: end < to ? end : to })
  }
  return windows
}

export const daysIn = ({ from, to }: Period): number => countDays(from, to)
