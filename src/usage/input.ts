import * as z from 'zod'
import { type Day, isDay } from '../core/dates.ts'
import { type Decimal, fromText, parseAmount } from '../core/decimal.ts'
import { type Diagnostic, inputDiagnostic } from '../core/diagnostics.ts'
import { inputError } from '../core/errors.ts'
import { toKebab } from '../core/names.ts'
import { choice, filePath, integer, lines } from '../operation/fields.ts'
import type { Given } from '../operation/operation.ts'
import type { Increase } from './comparison.ts'
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
} from './periods.ts'
import { groupings } from './records.ts'

// Owns the kinds of field that only costs are about. They bring the calendar and the decimals along, which no other run needs.

/** An amount of usage credits. Text or number in, exact decimal out. */
export const amount = (description: string) =>
  z
    .union([z.string(), z.number()])
    .transform((value, context): Decimal => {
      const decimal = parseAmount(typeof value === 'number' ? plainText(value) : value)
      if (decimal !== undefined) return decimal
      context.addIssue({ code: 'custom', message: 'is no amount' })
      return z.NEVER
    })
    .meta({
      description,
      accepts: 'zero or more in plain decimals, such as 1000 or 99.5',
      pattern: '^(0|[1-9][0-9]{0,29})([.][0-9]{1,30})?$',
      minimum: 0,
    })

/** A number as a person would write it: 0.0000001 and not 1e-7. */
const plainText = (value: number): string => (Number.isFinite(value) ? fromText(String(value)).toFixed() : String(value))

export const day = (description: string) =>
  z
    .string()
    .transform((value, context): Day => {
      if (isDay(value)) return value
      context.addIssue({ code: 'custom', message: 'is no day' })
      return z.NEVER
    })
    .meta({ description, accepts: 'a UTC day of the calendar as YYYY-MM-DD' })

// Owns how users say which days they mean.

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
export function checkPeriod({ values, names }: Given<typeof schema>, hasOthers: boolean): readonly Diagnostic[] {
  const { fromDate, toDate, period } = values
  const dates = ['fromDate', 'toDate'].filter((name) => names.has(name))
  const diagnostics = hasOthers ? [] : checkCycleDay(names, period)
  if (names.has('period'))
    return [...dates.map((name) => inputDiagnostic(toKebab(name), 'cannot be given together with period')), ...diagnostics]
  if (dates.length === 0)
    return hasOthers ? diagnostics : [...diagnostics, inputDiagnostic('period', 'is missing: give period, or from-date and to-date')]
  if (dates.length === 1)
    return [...diagnostics, inputDiagnostic(names.has('fromDate') ? 'to-date' : 'from-date', 'is missing: a period has two ends')]
  if (fromDate === undefined || toDate === undefined) return diagnostics
  if (fromDate > toDate) return [...diagnostics, inputDiagnostic('to-date', `is ${toDate}, before from-date ${fromDate}`)]
  const days = daysIn({ from: fromDate, to: toDate })
  return days > mostDays
    ? [...diagnostics, inputDiagnostic('to-date', `makes a period of ${days} days; accepted: at most ${mostDays}`)]
    : diagnostics
}

function checkCycleDay(names: ReadonlySet<string>, period: string | undefined): readonly Diagnostic[] {
  if (!names.has('billingCycleDay') || period?.endsWith('billing-cycle')) return []
  return [inputDiagnostic('billing-cycle-day', 'means nothing without the period billing-cycle or previous-billing-cycle')]
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
  throw inputError('from-date', `is ${fromDate}, which is still to come: today is ${today} in UTC`)
}

// Owns the waiver: a failure that somebody answers for, with a reason and until a date.

export interface Waiver {
  /** The last day on which it counts. */
  readonly until: Day
  readonly reason: string
}

const grammar = /^until=(\S{10});\s*reason=(\S.{0,499})$/

export const waiverField = z
  .string()
  .transform((text, context): Waiver => {
    const [, until = '', reason = ''] = grammar.exec(text.trim()) ?? []
    if (isDay(until)) return { until, reason: reason.trim() }
    context.addIssue({ code: 'custom', message: 'is no waiver' })
    return z.NEVER
  })
  .optional()
  .meta({
    description: 'Turns a failure into a warning up to and including a day, and says why in every report. An expired one is an error.',
    accepts: 'until=YYYY-MM-DD; reason=why',
  })

/** Throws an InputError when it has expired: a gate must not fall silent because somebody forgot. */
export function checkWaiver(waiver: Waiver | undefined, today: Day): void {
  if (waiver === undefined || today <= waiver.until) return
  const message = `expired on ${waiver.until}, today is ${today} in UTC: remove it, or give it a new date and reason`
  throw inputError('waiver', message)
}

// Owns what users can ask of usage-cost.

const tagFilter = z.string().regex(/^tag:[^\s=]{1,128}(?:=[^\r\n]{0,256})?$/)

const increaseGrammar = /^(0|[1-9]\d{0,29})((?:\.\d{1,30})?)(\s*%)?$/

const increase = z
  .union([z.string(), z.number()])
  .transform((value, context): Increase => {
    const [, whole, fraction = '', percent] = increaseGrammar.exec(String(value).trim()) ?? []
    if (whole !== undefined) {
      const decimal = fromText(`${whole}${fraction}`)
      return percent === undefined ? { kind: 'amount', amount: decimal } : { kind: 'percent', percent: decimal }
    }
    context.addIssue({ code: 'custom', message: 'is no increase' })
    return z.NEVER
  })
  .meta({
    description: 'Most that the usage may grow against the previous period; the gate fails above it. Together with compare.',
    accepts: 'an amount such as 50, or a percentage such as 20%',
  })

const outputPath = (what: string) => filePath(`Writes ${what} to this file.`, 'a path').optional()

export const usageInput = z.strictObject({
  ...periodInput,
  budget: amount('Most that may be used, in usage credits. The gate fails above it; equal passes.').optional(),
  warnBudget: amount('The gate warns above this amount.').optional(),
  budgets: filePath('File with several budgets, each with a limit, a period and a scope; all are judged in one run.').optional(),
  forecastBudget: amount(
    'The gate fails when the forecast for the whole period is above this amount; on its last day, the total counts.',
  ).optional(),
  compare: choice(['previous-period'], 'Compares with the period of equal length just before.').optional(),
  maxIncrease: increase.optional(),
  filter: lines(
    'Only usage that bears these tags; passed on to the API. One filter a line.',
    'tag:Key=Value or tag:Key, one a line',
    tagFilter,
  ).optional(),
  unlocked: choice(['include', 'exclude'], 'Whether the gate counts records that can still change, or final ones alone.').default(
    'include',
  ),
  onMissing: choice(
    ['fail', 'warn', 'ignore'],
    'What to do when the figures are doubtful: no records at all, days without records, records that do not add up to the total. Not given, they fail the gate, but for days that have just begun and have no records yet: those are a warning.',
  ).optional(),
  groupBy: choice(groupings, 'What the first table of the report is about.').default('entity'),
  waiver: waiverField,
  csvFile: outputPath('the records as CSV'),
  focusFile: outputPath('the records as FOCUS 1.2 cost and usage rows, in CSV,'),
  metricsFile: outputPath('the figures as OpenMetrics text'),
  htmlFile: outputPath('the report as one self-contained HTML page'),
})

export type UsageInput = z.output<typeof usageInput>

export function checkUsageInput(given: Given<typeof usageInput>): readonly Diagnostic[] {
  const { values, names } = given
  return [
    ...checkPeriod(given, names.has('budgets')),
    ...(names.has('maxIncrease') && !names.has('compare')
      ? [inputDiagnostic('max-increase', 'means nothing without compare: previous-period')]
      : []),
    ...(names.has('forecastBudget') && !mayRun(values)
      ? [inputDiagnostic('forecast-budget', `means nothing for ${values.period}, of which no day is still to come`)]
      : []),
  ]
}
