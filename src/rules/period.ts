// Owns which UTC days a period means, and cutting it into windows that the API answers. Pure: today is an argument.
import { addDays, addMonths, countDays, type Day, startOfYear, withDayOfMonth } from '../kernel/days.ts'

/** Both ends included. */
export interface Period {
  readonly from: Day
  readonly to: Day
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

/** Periods that still run end today; `last-N-days` are the N days that end today. */
export function resolvePeriod(name: PeriodName, today: Day, billingCycleDay = 1): Period {
  const days = lastDays(name)
  if (days !== undefined) return { from: addDays(today, 1 - days), to: today }
  switch (name as Preset) {
    case 'today':
      return { from: today, to: today }
    case 'yesterday':
      return { from: addDays(today, -1), to: addDays(today, -1) }
    case 'month-to-date':
      return { from: withDayOfMonth(today, 1), to: today }
    case 'previous-month':
      return previousCycle(today, 1)
    case 'billing-cycle':
      return { from: startOfCycle(today, billingCycleDay), to: today }
    case 'previous-billing-cycle':
      return previousCycle(today, billingCycleDay)
    case 'year-to-date':
      return { from: startOfYear(today), to: today }
  }
}

// In a month without that day the cycle starts on the month's last day; the next one starts on the real day again.
function startOfCycle(today: Day, cycleDay: number): Day {
  const thisMonth = withDayOfMonth(today, cycleDay)
  return thisMonth <= today ? thisMonth : withDayOfMonth(addMonths(withDayOfMonth(today, 1), -1), cycleDay)
}

function previousCycle(today: Day, cycleDay: number): Period {
  const to = addDays(startOfCycle(today, cycleDay), -1)
  return { from: startOfCycle(to, cycleDay), to }
}

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
