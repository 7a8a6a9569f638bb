import * as z from 'zod'
import {
  addDays,
  addMonths,
  countDays,
  type Day,
  endOfMonth,
  endOfYear,
  isDay,
  plainDay,
  startOfYear,
  withDayOfMonth,
} from '../core/dates.ts'
import { type Diagnostic, inputDiagnostic } from '../core/diagnostics.ts'
import { inputError } from '../core/errors.ts'
import { toKebab } from '../core/names.ts'
import { integer } from '../operation/inputs.ts'
import type { Given } from '../operation/operation.ts'

/** Both ends included. */
export interface Period {
  readonly from: Day
  readonly to: Day
}

/** A period up to today. */
export interface CurrentPeriod extends Period {
  /** The last day of the whole period. Later than `to` while the period runs. */
  readonly end: Day
  /** It moves with every day: today, yesterday, or the last days. */
  readonly isRolling?: true
}

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

/** Ten years. A longer period is most likely a typing error. */
export const maxDays = 3660

export function isPeriodName(name: string): name is PeriodName {
  if (periodPresets.some((preset) => preset === name)) return true
  const days = lastDays(name)
  return days !== undefined && days >= 1 && days <= maxDays
}

const lastDays = (name: string): number | undefined => {
  const match = /^last-([1-9]\d{0,4})-days$/.exec(name)
  return match === null ? undefined : Number(match[1])
}

export const day = (description: string) =>
  z
    .string()
    .transform((value, context): Day => {
      if (isDay(value)) return value
      context.addIssue({ code: 'custom', message: 'is not a valid day' })
      return z.NEVER
    })
    .meta({ description, accepts: 'a UTC day as YYYY-MM-DD' })

/** A day of a result. */
export const date = z.custom<Day>().meta({ type: 'string' })

export const dayOn = (description: string) => date.describe(`${description} YYYY-MM-DD, in UTC.`)

export const periodName = z
  .string()
  .transform((name, context): PeriodName => {
    if (isPeriodName(name)) return name
    context.addIssue({ code: 'custom', message: 'is not a known period' })
    return z.NEVER
  })
  .meta({
    description:
      'A period instead of two dates. The default is `month-to-date`. A period that still runs is read up to today. `last-N-days` are the N days that end today.',
    accepts: [...periodPresets, `last-N-days with N from 1 to ${maxDays}`].join(', '),
  })

export const periodInput = {
  fromDate: day('First day in UTC. Requires to-date.').optional(),
  toDate: day('Last day in UTC, included. Requires from-date.').optional(),
  period: periodName.optional(),
  billingCycleDay: integer(
    'Day of the month on which a billing cycle starts. The default is 1. In a shorter month, the cycle starts on its last day.',
    1,
    31,
  ).optional(),
}

const schema = z.strictObject(periodInput)

/** `hasOthers`: a budgets file has its own periods. */
export function checkPeriod({ values, names }: Given<typeof schema>, hasOthers: boolean): readonly Diagnostic[] {
  const { fromDate, toDate, period } = values
  const dates = ['fromDate', 'toDate'].filter((name) => names.has(name))
  const diagnostics = hasOthers ? [] : checkCycleDay(names, period)
  if (names.has('period')) return [...dates.map((name) => inputDiagnostic(toKebab(name), 'cannot be combined with period')), ...diagnostics]
  if (dates.length === 0) return diagnostics
  if (dates.length === 1)
    return [...diagnostics, inputDiagnostic(names.has('fromDate') ? 'to-date' : 'from-date', 'is missing: set both from-date and to-date')]
  if (fromDate === undefined || toDate === undefined) return diagnostics
  if (fromDate > toDate)
    return [...diagnostics, inputDiagnostic('to-date', `is ${plainDay(toDate)}, before from-date ${plainDay(fromDate)}`)]
  const days = daysIn({ from: fromDate, to: toDate })
  return days > maxDays
    ? [...diagnostics, inputDiagnostic('to-date', `makes a period of ${days} days; accepted: at most ${maxDays}`)]
    : diagnostics
}

function checkCycleDay(names: ReadonlySet<string>, period: string | undefined): readonly Diagnostic[] {
  if (!names.has('billingCycleDay') || period?.endsWith('billing-cycle')) return []
  return [inputDiagnostic('billing-cycle-day', 'requires the period billing-cycle or previous-billing-cycle')]
}

/** Whether the given period can have future days. */
export const mayHaveDaysAhead = ({ period }: Partial<z.output<typeof schema>>): boolean =>
  period === undefined || ['month-to-date', 'billing-cycle', 'year-to-date'].includes(period)

/** Month to date by default. Throws an InputError for a future period. */
export function choosePeriod(input: z.output<typeof schema>, today: Day): CurrentPeriod {
  const { period: name, fromDate, toDate, billingCycleDay } = input
  if (name !== undefined) return resolvePeriod(name, today, billingCycleDay)
  if (fromDate === undefined || toDate === undefined) return resolvePeriod('month-to-date', today)
  const clipped = clipToToday({ from: fromDate, to: toDate }, today)
  if (clipped !== undefined) return clipped
  throw inputError('from-date', `is ${plainDay(fromDate)}, which is in the future: today is ${plainDay(today)} in UTC`)
}

/** A period that still runs ends today. `last-N-days` are the N days that end today. */
export function resolvePeriod(name: PeriodName, today: Day, billingCycleDay = 1): CurrentPeriod {
  const days = lastDays(name)
  if (days !== undefined) return rolling(addDays(today, 1 - days), today)
  // Any other name has a number of days.
  switch (name as Preset) {
    case 'today':
      return rolling(today, today)
    case 'yesterday':
      return rolling(addDays(today, -1), addDays(today, -1))
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

const rolling = (from: Day, to: Day): CurrentPeriod => ({ ...finished(from, to), isRolling: true })

// In a shorter month, the cycle starts on its last day. The next cycle starts on the configured day again.
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

/** Removes future days. Undefined when no day is left. */
export const clipToToday = ({ from, to }: Period, today: Day): CurrentPeriod | undefined =>
  from > today ? undefined : { from, to: to < today ? to : today, end: to }

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

/** The same days of the previous month; in a shorter month, up to its last day. */
export const monthBefore = ({ from, to }: Period): Period => ({ from: addMonths(from, -1), to: addMonths(to, -1) })

/** Forecasts and spikes are based on at most this many earlier days. */
export const historyDays = 28

/** The four weeks before the period. */
export const historyBefore = ({ from }: Period): Period => ({ from: addDays(from, -historyDays), to: addDays(from, -1) })

/** The days that are in any of the periods and not in `except`, as few periods as possible, in order. */
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
