// Owns how users say which days they mean.
import * as z from 'zod'
import type { Day } from '../kernel/days.ts'
import { InputError, type Problem } from '../kernel/errors.ts'
import { toKebab } from '../kernel/names.ts'
import { daysIn, isPeriodName, mostDays, type Period, type PeriodName, periodPresets, resolvePeriod } from '../rules/period.ts'
import { day, integer } from './fields.ts'
import type { Given } from './operation.ts'

export const periodInput = {
  fromDate: day('First day, in UTC; together with to-date.').optional(),
  toDate: day('Last day, in UTC, itself included; together with from-date.').optional(),
  period: z
    .string()
    .transform((name, context): PeriodName => {
      if (isPeriodName(name)) return name
      context.addIssue({ code: 'custom', message: 'is no period' })
      return z.NEVER
    })
    .optional()
    .meta({
      description: 'A period instead of two dates. Those that still run end today; `last-N-days` are the N days that end today.',
      accepts: [...periodPresets, 'last-N-days'].join(', '),
    }),
  billingCycleDay: integer(
    'Day of the month on which a billing cycle starts; the last day of a month that is too short.',
    1,
    31,
  ).optional(),
}

const schema = z.strictObject(periodInput)

export function checkPeriod({ values, names }: Given<typeof schema>): readonly Problem[] {
  const { fromDate, toDate, period } = values
  const dates = ['fromDate', 'toDate'].filter((name) => names.has(name))
  if (names.has('period'))
    return [
      ...dates.map((name) => ({ name: toKebab(name), message: 'cannot be given together with period' })),
      ...checkCycleDay(names, period),
    ]
  const problems = checkCycleDay(names, period)
  if (dates.length === 0) return [...problems, { name: 'period', message: 'is missing: give period, or from-date and to-date' }]
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

/** Nothing is used on a day that is still to come: such days are taken off, and the caller says so. */
export function choosePeriod(input: z.output<typeof schema>, today: Day): { readonly period: Period; readonly clipped: boolean } {
  const { period: name, fromDate, toDate, billingCycleDay } = input
  if (name !== undefined) return { period: resolvePeriod(name, today, billingCycleDay), clipped: false }
  if (fromDate === undefined || toDate === undefined) throw new TypeError('checkPeriod lets no half period through')
  if (fromDate > today)
    throw new InputError([{ name: 'from-date', message: `is ${fromDate}, which is still to come: today is ${today} in UTC` }])
  return toDate > today
    ? { period: { from: fromDate, to: today }, clipped: true }
    : { period: { from: fromDate, to: toDate }, clipped: false }
}
