import * as z from 'zod'
import {
  addDays,
  addMonths,
  countDays,
  type Day,
  daysForm,
  endOfYear,
  type GivenDays,
  lastDays,
  parseDays,
  plainDay,
  startOfYear,
  withDayOfMonth,
} from '../../platform/core/dates.ts'
import { inputError } from '../../platform/core/errors.ts'

export interface Period {
  readonly from: Day
  readonly to: Day
}

/** A period up to today. */
export interface CurrentPeriod extends Period {
  /** The last day of the whole period. It is later than `to` while the period runs. */
  readonly end: Day
  /** Whether the period moves with every day: today, yesterday, or the last days. */
  readonly isRolling?: true
}

const periodPresets = [
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

/** Ten years. A longer period is most likely a typing error. */
const maxDays = 3660

const isPeriodName = (name: string): name is PeriodName =>
  periodPresets.some((preset) => preset === name) || lastDays(name, maxDays) !== undefined

/** A day of a result. */
export const date = z.custom<Day>().meta({ type: 'string' })

export const dayOn = (description: string) => date.describe(`${description} YYYY-MM-DD, in UTC.`)

export type GivenPeriod = PeriodName | GivenDays

export const periodNames = [...periodPresets, 'last-N-days'].join(', ')

const periodAccepts = `${periodNames}; ${daysForm}; at most ${maxDays} days`

const period = z.string().transform((text, context): GivenPeriod => {
  const period = isPeriodName(text) ? text : parseDays(text, maxDays)
  if (period !== undefined) return period
  context.addIssue({ code: 'custom', message: 'is not a period' })
  return z.NEVER
})

export const periodInput = period.meta({
  description: 'Selects the days, in UTC. A period that still runs ends now. `last-N-days` are N days, of which the last is today.',
  accepts: periodAccepts,
})

export const periodOfBudget = period.meta({
  description: 'The period of the budget. The default is that of the run. `last-N-days` are the N days that end today.',
  accepts: periodAccepts,
})

export const isBillingCycle = (period: GivenPeriod | undefined): period is 'billing-cycle' | 'previous-billing-cycle' =>
  period === 'billing-cycle' || period === 'previous-billing-cycle'

export const mayHaveDaysAhead = (period: GivenPeriod | undefined): boolean =>
  typeof period !== 'string' || ['month-to-date', 'billing-cycle', 'year-to-date'].includes(period)

/** Whether it only ever has today and yesterday, whose records are not complete. */
export const isNeverComplete = (period: GivenPeriod | undefined): boolean =>
  typeof period === 'string' && /^(?:today|yesterday|last-[12]-days)$/.test(period)

/** Others begin on days that the previous month may not have. */
export const isPartOfMonth = (period: GivenPeriod | undefined): boolean => typeof period !== 'string' || /month|cycle/.test(period)

/** Month to date by default. Throws an InputError for a future period. */
export function choosePeriod(period: GivenPeriod = 'month-to-date', today: Day, billingCycleDay?: number): CurrentPeriod {
  if (typeof period === 'string') return resolvePeriod(period, today, billingCycleDay)
  const clipped = clipToToday(period, today)
  if (clipped === undefined)
    throw inputError('period', `begins on ${plainDay(period.from)}, which is in the future: today is ${plainDay(today)} in UTC`)
  return clipped
}

/** A period that still runs ends today. `last-N-days` are the N days that end today. */
export function resolvePeriod(name: PeriodName, today: Day, billingCycleDay = 1): CurrentPeriod {
  const days = lastDays(name, maxDays)
  if (days !== undefined) return rolling(addDays(today, 1 - days), today)
  const cycleDay = name.endsWith('billing-cycle') ? billingCycleDay : 1
  // Any other name has a number of days.
  switch (name as Preset) {
    case 'today':
      return rolling(today, today)
    case 'yesterday':
      return rolling(addDays(today, -1), addDays(today, -1))
    case 'month-to-date':
    case 'billing-cycle': {
      const from = startOfCycle(today, cycleDay)
      return { from, to: today, end: addDays(withDayOfMonth(addMonths(from, 1), cycleDay), -1) }
    }
    case 'previous-month':
    case 'previous-billing-cycle': {
      const to = addDays(startOfCycle(today, cycleDay), -1)
      return finished(startOfCycle(to, cycleDay), to)
    }
    case 'year-to-date':
      return { from: startOfYear(today), to: today, end: endOfYear(today) }
  }
}

const finished = (from: Day, to: Day) => ({ from, to, end: to })

const rolling = (from: Day, to: Day): CurrentPeriod => ({ ...finished(from, to), isRolling: true })

// The cycle starts on the last day of a month that is too short. The next cycle starts on the configured day again.
function startOfCycle(today: Day, cycleDay: number) {
  const thisMonth = withDayOfMonth(today, cycleDay)
  return thisMonth <= today ? thisMonth : withDayOfMonth(addMonths(today, -1), cycleDay)
}

/** Removes future days. Undefined when no day is left. */
export function clipToToday({ from, to }: GivenDays, today: Day): CurrentPeriod | undefined {
  const end = to ?? today
  return from > today ? undefined : { from, to: end < today ? end : today, end }
}

export const isWithin = (day: Day, { from, to }: Period): boolean => from <= day && day <= to

export const isOverlapping = (a: Period, b: Period): boolean => a.from <= b.to && b.from <= a.to

export const daysIn = ({ from, to }: Period): number => countDays(from, to)

/** Whether the period has a future day. Today is not one. */
export const hasDaysAhead = ({ end }: CurrentPeriod, today: Day): boolean => end > today

/** The period of equal length that ends the day before. */
export function periodBefore(period: Period): Period {
  const to = addDays(period.from, -1)
  return { from: addDays(period.from, -daysIn(period)), to }
}

/** The period one month earlier, which ends on the last day of a shorter month. */
export const monthBefore = ({ from, to }: Period): Period => ({ from: addMonths(from, -1), to: addMonths(to, -1) })

/** Spikes are based on at most this many earlier days. */
export const historyDays = 28

/** Two months end in so many days. Two requests read them. */
const forecastHistoryDays = 59

/** The days before the period that its spikes are based on, and its forecast if it has future days. */
export const historyBefore = ({ from, to, end }: CurrentPeriod): Period => ({
  from: addDays(from, -(end > to ? forecastHistoryDays : historyDays)),
  to: addDays(from, -1),
})

/** The days that are in any of the periods and not in `except`, as few periods as possible, in order. */
export function daysBeside(periods: readonly Period[], except: readonly Period[]): readonly Period[] {
  const merged: Period[] = []
  for (const period of periods.toSorted((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))) {
    const last = merged.at(-1)
    if (last === undefined || period.from > addDays(last.to, 1)) merged.push(period)
    else if (period.to > last.to) merged[merged.length - 1] = { from: last.from, to: period.to }
  }
  return except.reduce<readonly Period[]>((rest, hole) => rest.flatMap((period) => cutOut(period, hole)), merged)
}

function cutOut(period: Period, hole: Period): readonly Period[] {
  if (hole.to < period.from || hole.from > period.to) return [period]
  return [
    ...(period.from < hole.from ? [{ from: period.from, to: addDays(hole.from, -1) }] : []),
    ...(period.to > hole.to ? [{ from: addDays(hole.to, 1), to: period.to }] : []),
  ]
}
