// Owns the budgets file: what a person may write in it, and what it means today.
import * as z from 'zod'
import type { Day } from '../core/dates.ts'
import { type Decimal, fromText } from '../core/decimal.ts'
import { inputError } from '../core/errors.ts'
import { saysItAll } from '../documents/diagnose.ts'
import { readWritten } from '../documents/written-document.ts'
import { flag } from '../operation/fields.ts'
import { amount, day, periodName } from './input.ts'
import { type CurrentPeriod, clipToToday, daysIn, mostDays, resolvePeriod } from './periods.ts'
import type { Scope } from './records.ts'

const percentGrammar = /^(\d{1,3}(?:\.\d{1,6})?)\s*%$/

/** `80%` of the limit, or an amount. */
const warnLevel = z
  .union([z.string(), z.number()])
  .transform((value, context): { readonly percent: Decimal } | { readonly amount: Decimal } => {
    const percent = percentGrammar.exec(String(value).trim())?.[1]
    if (percent !== undefined && fromText(percent).lte(100)) return { percent: fromText(percent) }
    const plain = amount('').safeParse(value)
    if (plain.success) return { amount: plain.data }
    context.addIssue({ code: 'custom', message: 'is neither' })
    return z.NEVER
  })
  .meta({
    description: 'Warn above this part of the limit, or above this amount.',
    accepts: 'a percentage such as 80%, or an amount such as 800',
  })

const word = z.string().min(1).max(256)

const words = (description: string) =>
  z
    .union([word, z.array(word).min(1).max(100)])
    .transform((given): readonly string[] => (typeof given === 'string' ? [given] : given))
    .optional()
    .meta({ description, accepts: 'a text, or a list of texts' })

const scope = z
  .strictObject({
    entity: words('Entities, by name or id.'),
    entityType: words('Types of entity: service, datawarehouse, clickpipe.'),
    service: words('Services, by name or id, with all that bears their id.'),
    warehouse: words('Warehouses, by name or id, with every service in them.'),
    metric: words('Counts these metrics alone: compute, storage, backup, and so on, without the unit word.'),
    tag: z
      .string()
      .regex(/^[^\s=]{1,128}(?:=[^\r\n]{0,256})?$/)
      .transform((tag): readonly string[] => [tag])
      .optional()
      .meta({ description: 'What bears this tag, as the API judges it; read by requests of its own.', accepts: 'Key=Value, or Key' }),
  })
  .meta({ description: 'The part of the usage that counts; all of it without. Several kinds must all fit, of one kind any.' })

const dates = z
  .strictObject({ from: day('First day, in UTC.'), to: day('Last day, in UTC, itself included; may be still to come.') })
  .refine(({ from, to }) => from <= to, { path: ['to'], message: 'is before from', params: { saysItAll } })
  .refine(({ from, to }) => from > to || daysIn({ from, to }) <= mostDays, {
    path: ['to'],
    message: `makes a period of more than ${mostDays} days`,
    params: { saysItAll },
  })

const entry = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(128)
    .meta({ description: 'What the budget is called in reports.', accepts: 'a text of at most 128 characters' }),
  limit: amount('Most that may be used in the period. Above it the gate fails; equal passes.'),
  warn: warnLevel.optional(),
  period: z.union([dates, periodName]).optional().meta({
    description: "A period by name, or two days; the run's own period without.",
    accepts: 'a period such as month-to-date, previous-month or last-7-days, or { from: YYYY-MM-DD, to: YYYY-MM-DD }',
  }),
  scope: scope.optional(),
  forecast: flag('Also fail when the forecast for the whole period is above the limit.').default(false),
})

const list = z
  .array(entry)
  .min(1)
  .max(200)
  .superRefine((budgets, context) => {
    for (const [i, { name }] of budgets.entries()) {
      const first = budgets.findIndex((other) => other.name === name)
      if (first < i)
        context.addIssue({ code: 'custom', path: [i, 'name'], message: `is also the name of number ${first + 1}`, params: { saysItAll } })
    }
  })

const file = z.strictObject({ $schema: z.string().optional(), budgets: list })

/** The file as a person writes it: a list of budgets, by itself or under the key `budgets`. */
export const budgetsFileSchema = z.union([file, list])

const bareList = list.transform((budgets) => ({ budgets }))

export interface Budget {
  readonly name: string
  readonly limit: Decimal
  readonly warnAbove: Decimal | undefined
  readonly period: CurrentPeriod
  readonly scope: Scope
  readonly judgesForecast: boolean
}

export interface Today {
  readonly today: Day
  readonly billingCycleDay: number | undefined
  /** For budgets that name no period. */
  readonly period: CurrentPeriod
}

/** Throws an InputError with the place of everything that is wrong. */
export function readBudgets(text: string, path: string, now: Today): readonly Budget[] {
  const { budgets } = readWritten(text, path, (value) => (Array.isArray(value) ? bareList : file))
  return budgets.map(({ name, limit, warn, period, scope: where = {}, forecast }) => ({
    name,
    limit,
    warnAbove: warn === undefined ? undefined : 'amount' in warn ? warn.amount : limit.times(warn.percent).div(100),
    period: toPeriod(period, name, now),
    scope: where,
    judgesForecast: forecast,
  }))
}

function toPeriod(written: z.output<typeof entry>['period'], name: string, { today, billingCycleDay, period }: Today): CurrentPeriod {
  if (written === undefined) return period
  if (typeof written === 'string') return resolvePeriod(written, today, billingCycleDay)
  const clipped = clipToToday(written, today)
  if (clipped === undefined) throw inputError('budgets', `the period of "${name}" begins on ${written.from}, which is still to come`)
  return clipped
}
