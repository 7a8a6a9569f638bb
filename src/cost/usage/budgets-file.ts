import * as z from 'zod'
import { type Day, isDay, plainDay } from '../../platform/core/dates.ts'
import { type Decimal, fromText } from '../../platform/core/decimal.ts'
import { inputDiagnosticAt, type Location } from '../../platform/core/diagnostics.ts'
import { InputError, inputError } from '../../platform/core/errors.ts'
import { parseWithLocations } from '../../platform/documents/parse.ts'
import { flag } from '../../platform/operation/inputs.ts'
import { amountInput } from './amounts.ts'
import { type CurrentPeriod, clipToToday, date, periodOfBudget, resolvePeriod } from './periods.ts'

const warnLevel = z
  .union([z.string(), z.number()])
  .transform((value, context): { readonly percent: Decimal } | { readonly amount: Decimal } => {
    const percent = /^(\d{1,3}(?:\.\d{1,6})?)\s*%$/.exec(String(value).trim())?.[1]
    if (percent !== undefined && fromText(percent).lte(100)) return { percent: fromText(percent) }
    const plain = amountInput('').safeParse(value)
    if (plain.success) return { amount: plain.data }
    context.addIssue({ code: 'custom', message: 'is not a percentage or an amount' })
    return z.NEVER
  })
  .meta({
    description: 'The budget warns above this share of the limit, or above this amount.',
    accepts: 'a percentage such as 80%, or an amount such as 800',
  })

const tag = z.string().regex(/^[^\s=]{1,128}(?:=[^\r\n]{0,256})?$/)

const maxTags = 20

const oneOrMore = (item: z.ZodString, max: number) =>
  z
    .union([item, z.array(item).min(1).max(max)])
    .transform((given) => [given].flat())
    .optional()

const namesIn = (description: string) =>
  oneOrMore(z.string().min(1).max(256), 100).meta({ description, accepts: 'a text, or a list of texts' })

export type BudgetScope = z.output<typeof scope>

const scope = z
  .strictObject({
    entity: namesIn('Entities by name or id.'),
    entityType: namesIn('Types of entity, such as service, datawarehouse or clickpipe.'),
    service: namesIn('Services by name or id, with everything that has their id.'),
    warehouse: namesIn('Warehouses by name or id, with every service in them.'),
    metric: namesIn('Metrics that count, such as compute, storage or backup, without the unit word.'),
    tag: oneOrMore(tag, maxTags).meta({
      description: 'Usage with any of these tags. The API filters it, with a request for each tag.',
      accepts: `Key=Value or Key, or a list of at most ${maxTags} of them`,
    }),
  })
  .meta({
    description:
      'The usage that counts. Without a scope, all usage counts. Usage must match every field of the scope, and any value of a field.',
  })

const waiver = z
  .strictObject({
    until: date.refine((value) => isDay(String(value))).meta({ type: 'string', accepts: 'YYYY-MM-DD' }),
    reason: z
      .string()
      .trim()
      .regex(/[\p{L}\p{N}]/u)
      .max(500)
      .meta({ accepts: 'a text of at most 500 characters' }),
  })
  .meta({
    description:
      'Turns a failure of the budget into a warning up to and including a day. Every report shows the waiver and its reason. An expired waiver is an error.',
  })

const entry = z
  .strictObject({
    name: z.string().min(1).max(128).meta({ description: 'Name of the budget in reports.', accepts: 'a text of at most 128 characters' }),
    limit: amountInput('Limit for the period. The limit is strict: the gate fails above it (>), and an equal amount passes.'),
    warn: warnLevel.optional(),
    period: periodOfBudget.optional(),
    scope: scope.optional(),
    waiver: waiver.optional(),
    forecast: flag('The budget also fails when the forecast for the whole period is above the limit.').default(false),
  })
  .refine(({ limit, warn }) => warn === undefined || !('amount' in warn) || warn.amount.lte(limit), {
    path: ['warn'],
    message: 'is above the limit',
    params: { isComplete: true },
  })

const budgetList = z
  .array(entry)
  .min(1)
  .max(200)
  .superRefine((budgets, context) => {
    for (const [i, { name }] of budgets.entries()) {
      const first = budgets.findIndex((other) => other.name === name)
      if (first < i)
        context.addIssue({
          code: 'custom',
          path: [i, 'name'],
          message: `is already the name of budget number ${first + 1}`,
          params: { isComplete: true },
        })
    }
  })

const file = z.strictObject({ $schema: z.string().optional(), budgets: budgetList })

/** The budgets file: a list of budgets, at the top level or under the key `budgets`. */
export const budgetsFileSchema = z.union([file, budgetList])

export interface Budget {
  readonly name: string
  readonly limit: Decimal
  readonly warnAbove: Decimal | undefined
  readonly period: CurrentPeriod
  readonly scope: BudgetScope
  readonly judgesForecast: boolean
  readonly waiver: z.output<typeof entry>['waiver']
}

interface BudgetDates {
  readonly today: Day
  readonly billingCycleDay: number | undefined
  readonly period: CurrentPeriod
}

/** Throws an InputError with the location of every mistake. */
export function readBudgets(text: string, path: string, dates: BudgetDates): readonly Budget[] {
  const { value, document } = parseWithLocations(text, path, (given) =>
    Array.isArray(given) ? budgetList.transform((budgets) => ({ budgets })) : file,
  )
  const root = Array.isArray(document.value) ? [] : ['budgets']
  return value.budgets.map(({ name, limit, warn, period, scope: where = {}, forecast, waiver }, i) => ({
    name,
    limit,
    warnAbove: warn === undefined ? undefined : 'amount' in warn ? warn.amount : limit.times(warn.percent).times('0.01'),
    period: toPeriod(period, name, dates),
    scope: where,
    judgesForecast: forecast,
    waiver: current(waiver, name, document.locationOf([...root, i, 'waiver', 'until']), dates),
  }))
}

function current(waiver: Budget['waiver'], name: string, location: Location, { today }: BudgetDates): Budget['waiver'] {
  if (waiver === undefined || today <= waiver.until) return waiver
  const days = `on ${plainDay(waiver.until)}, and today is ${plainDay(today)} in UTC`
  throw new InputError([inputDiagnosticAt(location, `the waiver of "${name}" expired ${days}. Remove it, or set a new date and reason`)])
}

function toPeriod(written: z.output<typeof entry>['period'], name: string, { today, billingCycleDay, period }: BudgetDates): CurrentPeriod {
  if (written === undefined) return period
  if (typeof written === 'string') return resolvePeriod(written, today, billingCycleDay)
  const clipped = clipToToday(written, today)
  if (clipped === undefined)
    throw inputError('budgets', `the period of "${name}" begins on ${plainDay(written.from)}, which is in the future`)
  return clipped
}
