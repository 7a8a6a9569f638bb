// Owns how users say which days they mean.
import * as z from 'zod'
import type { Day } from '../../kernel/days.ts'
import { InputError, type Problem } from '../../kernel/errors.ts'
import { toKebab } from '../../kernel/names.ts'
import {
  type CurrentPeriod,
  clipToToday,
  daysIn,
  isPeriodName,
  isRunning,
  mostDays,
  type PeriodName,
  periodPresets,
  resolvePeriod,
} from '../../rules/period.ts'
import { integer } from '../fields.ts'
import type { Given } from '../operation.ts'
import { day } from './fields.ts'

export const periodName = z
  .string()
  .transform((name, context): PeriodName => {
    if (isPeriodName(name)) return name
    context.addIssue({ code: 'custom', message: 'is no period' })
    return z.NEVER
  })
  .meta({
    description: 'A period instead of two dates. Those that still run are told up to today; `last-N-days` are the N days that end today.',
    accepts: [...periodPresets, `last-N-days with N from 1 to ${mostDays}`].join(', '),
  })

export const periodInput = {
  fromDate: day('First day, in UTC; together with to-date.').optional(),
  toDate: day('Last day, in UTC, itself included; together with from-date.').optional(),
  period: periodName.optional(),
  billingCycleDay: integer(
    'Day of the month on which a billing cycle starts, 1 unless given; the last day of a month that is too short.',
    1,
    31,
  ).optional(),
}

const schema = z.strictObject(periodInput)

/** `hasOwn` says that something else names periods too, so that none is needed here. */
export function checkPeriod({ values, names }: Given<typeof schema>, hasOthers: boolean): readonly Problem[] {
  const { fromDate, toDate, period } = values
  const dates = ['fromDate', 'toDate'].filter((name) => names.has(name))
  const problems = hasOthers ? [] : checkCycleDay(names, period)
  if (names.has('period'))
    return [...dates.map((name) => ({ name: toKebab(name), message: 'cannot be given together with period' })), ...problems]
  if (dates.length === 0)
    return hasOthers ? problems : [...problems, { name: 'period', message: 'is missing: give period, or from-date and to-date' }]
  if (dates.length === 1)
    return [...problems, { name: names.has('fromDate') ? 'to-date' : 'from-date', message: 'is missing: a period has two ends' }]
  if (fromDate === undefined || toDate === undefined) return problems
  if (fromDate > toDate) return [...problems, { name: 'to-date', message: `is ${toDate}, before from-date ${fromDate}` }]
  const days = daysIn({ from: fromDate, to: toDate })
  return days > mostDays
    ? [...problems, { name: 'to-date', message: `makes a period of ${days} days; accepted: at most ${mostDays}` }]
    : problems
}

function checkCycleDay(names: ReadonlySet<string>, period: string | undefined): readonly Problem[] {
  if (!names.has('billingCycleDay') || period?.endsWith('billing-cycle')) return []
  return [{ name: 'billing-cycle-day', message: 'means nothing without the period billing-cycle or previous-billing-cycle' }]
}

/** Whether the period that was given can have days that are still to come. */
export const mayRun = ({ period }: Partial<z.output<typeof schema>>): boolean => period === undefined || isRunning(period)

/** Without any period, this month. Throws an InputError for one that has not begun. */
export function choosePeriod(input: z.output<typeof schema>, today: Day): CurrentPeriod {
  const { period: name, fromDate, toDate, billingCycleDay } = input
  if (name !== undefined) return resolvePeriod(name, today, billingCycleDay)
  if (fromDate === undefined || toDate === undefined) return resolvePeriod('month-to-date', today)
  const clipped = clipToToday({ from: fromDate, to: toDate }, today)
  if (clipped !== undefined) return clipped
  throw new InputError([{ name: 'from-date', message: `is ${fromDate}, which is still to come: today is ${today} in UTC` }])
}
