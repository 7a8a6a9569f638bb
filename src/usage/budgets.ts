import * as z from 'zod'
import { type Day, plainDay } from '../core/dates.ts'
import { type Decimal, fromText, sum, zero } from '../core/decimal.ts'
import { inputError } from '../core/errors.ts'
import { nearestName } from '../core/names.ts'
import { flag } from '../operation/inputs.ts'
import { budgetStep, findBudgetStep } from './budget-steps.ts'
import { daysWithForecast, forecast, forecastSpend } from './forecast.ts'
import { type CurrentPeriod, clipToToday, day, daysIn, hasDaysAhead, isWithin, mostDays, periodName, resolvePeriod } from './periods.ts'
import {
  allReadings,
  amountInput,
  checkLimit,
  dayOn,
  entityLabel,
  exactAmount,
  finalRecords,
  findHistoryFailure,
  type History,
  hasJustBegun,
  type IssueLevel,
  isRounding,
  issueLevel,
  issueLevels,
  knownDays,
  lastDayWithAllRecords,
  limitStatuses,
  metricsOf,
  otherMetric,
  percent,
  provisionalOf,
  type Readings,
  runOutDay,
  totalByDay,
  totalOf,
  type UsageReading,
  type UsageRecord,
} from './records.ts'

const percentGrammar = /^(\d{1,3}(?:\.\d{1,6})?)\s*%$/

/** `80%` of the limit, or an amount. */
const warnLevel = z
  .union([z.string(), z.number()])
  .transform((value, context): { readonly percent: Decimal } | { readonly amount: Decimal } => {
    const percent = percentGrammar.exec(String(value).trim())?.[1]
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

const word = z.string().min(1).max(256)

const words = (description: string) =>
  z
    .union([word, z.array(word).min(1).max(100)])
    .transform((given): readonly string[] => (typeof given === 'string' ? [given] : given))
    .optional()
    .meta({ description, accepts: 'a text, or a list of texts' })

export type Scope = z.output<typeof scope>

const scope = z
  .strictObject({
    entity: words('Entities by name or id.'),
    entityType: words('Types of entity, such as service, datawarehouse or clickpipe.'),
    service: words('Services by name or id, with everything that has their id.'),
    warehouse: words('Warehouses by name or id, with every service in them.'),
    metric: words('Metrics that count, such as compute, storage or backup, without the unit word.'),
    tag: z
      .string()
      .regex(/^[^\s=]{1,128}(?:=[^\r\n]{0,256})?$/)
      .transform((tag): readonly string[] => [tag])
      .optional()
      .meta({ description: 'Usage with this tag. The API filters it in separate requests.', accepts: 'Key=Value, or Key' }),
  })
  .meta({
    description:
      'The usage that counts. Without a scope, all usage counts. Usage must match every field of the scope, and any value of a field.',
  })

const datesSchema = z
  .strictObject({ from: day('First day in UTC.'), to: day('Last day in UTC, included. It may be in the future.') })
  .refine(({ from, to }) => from <= to, { path: ['to'], message: 'is before from', params: { isComplete: true } })
  .refine(({ from, to }) => from > to || daysIn({ from, to }) <= mostDays, {
    path: ['to'],
    message: `makes a period of more than ${mostDays} days`,
    params: { isComplete: true },
  })

const entryFields = z.strictObject({
  name: z.string().min(1).max(128).meta({ description: 'Name of the budget in reports.', accepts: 'a text of at most 128 characters' }),
  limit: amountInput('Limit for the period. The gate fails above it. An equal amount passes.'),
  warn: warnLevel.optional(),
  period: z.union([datesSchema, periodName]).optional().meta({
    description: 'A period by name, or two days. The default is the period of the run.',
    accepts: 'a period such as month-to-date, previous-month or last-7-days, or { from: YYYY-MM-DD, to: YYYY-MM-DD }',
  }),
  scope: scope.optional(),
  forecast: flag('The budget also fails when the forecast for the whole period is above the limit.').default(false),
})

const entry = entryFields.refine(({ limit, warn }) => warn === undefined || !('amount' in warn) || warn.amount.lte(limit), {
  path: ['warn'],
  message: 'is above the limit',
  params: { isComplete: true },
})

const list = z
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

const file = z.strictObject({ $schema: z.string().optional(), budgets: list })

/** The budgets file: a list of budgets, at the top level or under the key `budgets`. */
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

interface BudgetDates {
  readonly today: Day
  readonly billingCycleDay: number | undefined
  /** For budgets without a period. */
  readonly period: CurrentPeriod
}

/** Throws an InputError with the location of every mistake. */
export async function readBudgets(text: string, path: string, dates: BudgetDates): Promise<readonly Budget[]> {
  // The YAML parser takes longer to load than the rest of a run without a budgets file.
  const { parseDocument } = await import('../documents/validate.ts')
  const { budgets } = parseDocument(text, path, (value) => (Array.isArray(value) ? bareList : file))
  return budgets.map(({ name, limit, warn, period, scope: where = {}, forecast }) => ({
    name,
    limit,
    warnAbove: warn === undefined ? undefined : 'amount' in warn ? warn.amount : limit.times(warn.percent).div(100),
    period: toPeriod(period, name, dates),
    scope: where,
    judgesForecast: forecast,
  }))
}

function toPeriod(written: z.output<typeof entry>['period'], name: string, { today, billingCycleDay, period }: BudgetDates): CurrentPeriod {
  if (written === undefined) return period
  if (typeof written === 'string') return resolvePeriod(written, today, billingCycleDay)
  const clipped = clipToToday(written, today)
  if (clipped === undefined)
    throw inputError('budgets', `the period of "${name}" begins on ${plainDay(written.from)}, which is in the future`)
  return clipped
}

const level = z.enum(issueLevels)

type BudgetIssue = z.output<typeof budgetIssue>

/** A reason to distrust the figure of one budget. */
const budgetIssue = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['no-records', 'no-records-yet', 'no-final-records', 'metrics-mismatch']), level }),
  z.object({
    kind: z.literal('nothing-in-scope'),
    level,
    unmatched: z.array(z.string()).describe('Names in the scope that match no usage.'),
    nearest: z.record(z.string(), z.string()).describe('The names of usage that unmatched ones most likely mean.'),
  }),
])

export type BudgetOutcome = z.output<typeof budgetOutcome>

/** The outcome of one budget. */
export const budgetOutcome = z.object({
  name: z.string(),
  status: z.enum(['pass', 'warn', 'fail']),
  scope: z.record(z.string(), z.array(z.string())).describe('The usage that counts. Empty for all usage.'),
  fromDate: dayOn('First day.'),
  toDate: dayOn('Last day, included.'),
  limit: exactAmount('The limit.'),
  warnAbove: exactAmount('The budget warns above this amount.').optional(),
  used: exactAmount('The amount that the gate compares with the limit.'),
  usedPercent: percent('Used share of the limit. Absent for a limit of zero.').optional(),
  provisional: exactAmount('Provisional part of the usage.'),
  limitStatus: z.enum(limitStatuses).describe('Whether the usage is above the limit, or above the warning level.'),
  budgetStep: budgetStep.optional().describe('The step of the limit that usage has just reached, if any.'),
  forecast: forecast.optional().describe('Absent without future days.'),
  isForecastAbove: z.boolean().describe('Whether the forecast counts and is above the limit.'),
  isForecastMissing: z.boolean().describe('Whether the forecast counts and is not available, which fails the budget.'),
  runsOutOn: dayOn('The day on which usage exceeds the limit. Absent when it stays within the limit.').optional(),
  dataQualityIssue: budgetIssue.optional().describe('Why the figure cannot be trusted.'),
})

interface JudgeOptions {
  readonly readings: Readings
  readonly today: Day
  /** Counts final records only. */
  readonly isFinalOnly: boolean
  readonly onMissing: IssueLevel | undefined
}

export function judgeBudgets(budgets: readonly Budget[], options: JudgeOptions): BudgetOutcome[] {
  const { readings } = options
  // The answer for a tag may lack the record of the warehouse, which has its name.
  const everything = recordsOf([...allReadings(readings), ...[...readings.tagged.values()].flatMap((tagged) => tagged.readings)])
  return budgets.map((budget) => judgeBudget(budget, options, everything))
}

const recordsOf = (readings: readonly UsageReading[]): readonly UsageRecord[] => readings.flatMap(({ records }) => records)

function judgeBudget(budget: Budget, options: JudgeOptions, everything: readonly UsageRecord[]): BudgetOutcome {
  const { readings, today, isFinalOnly } = options
  const { name, scope, period, limit, warnAbove, judgesForecast } = budget
  const { read, history } = readingsFor(scope, readings)
  const inScope = recordsInScope(recordsOf(read), scope, everything)
  const records = inScope.filter(({ date }) => isWithin(date, period))
  const judged = isFinalOnly ? finalRecords(records) : records
  const used = totalOf(judged)
  const known = knownDays(
    period,
    [...read, ...history.readings],
    [...inScope, ...recordsInScope(recordsOf(history.readings), scope, everything)],
    lastDayWithAllRecords(readings, today),
  )
  const hasHistory = findHistoryFailure(history, period) === undefined
  const expected = hasDaysAhead(period, today) ? forecastSpend({ period, today, known, hasHistory }) : undefined
  const days = expected?.status === 'expected' && !isFinalOnly ? daysWithForecast(expected, known, period) : totalByDay(judged, period)
  const { status: limitStatus, usedPercent } = checkLimit(used, limit, warnAbove)
  const isForecastAbove = judgesForecast && expected?.status === 'expected' && expected.total.gt(limit)
  const isForecastMissing = judgesForecast && expected?.status === 'unavailable' && limitStatus !== 'exceeded'
  const issue = findIssue(budget, options, { read, everything, inScope, records, judged })
  return {
    name,
    status: worstOf(limitStatus, isForecastAbove || isForecastMissing, issue?.level),
    scope: Object.fromEntries(Object.entries(scope).flatMap(([kind, wanted]) => (wanted === undefined ? [] : [[kind, [...wanted]]]))),
    fromDate: period.from,
    toDate: period.to,
    limit,
    warnAbove,
    used,
    usedPercent,
    provisional: provisionalOf(records),
    limitStatus,
    budgetStep: findBudgetStep({ days: totalByDay(records, period), records, period, limit, today }),
    forecast: expected,
    isForecastAbove,
    isForecastMissing,
    runsOutOn: runOutDay(days, limit),
    dataQualityIssue: issue,
  }
}

function readingsFor({ tag }: Scope, readings: Readings): { readonly read: readonly UsageReading[]; readonly history: History } {
  if (tag === undefined) return { read: allReadings(readings), history: readings.history }
  const tagged = readings.tagged.get(tag[0] ?? '')
  return { read: tagged?.readings ?? [], history: tagged?.history ?? { readings: [], failures: [] } }
}

function worstOf(limit: BudgetOutcome['limitStatus'], failsByForecast: boolean, issue: IssueLevel | undefined): BudgetOutcome['status'] {
  if (limit === 'exceeded' || failsByForecast || issue === 'fail') return 'fail'
  return limit === 'warn' || issue === 'warn' ? 'warn' : 'pass'
}

interface Counted {
  readonly read: readonly UsageReading[]
  readonly everything: readonly UsageRecord[]
  readonly inScope: readonly UsageRecord[]
  /** Those in scope on the days of the budget. */
  readonly records: readonly UsageRecord[]
  readonly judged: readonly UsageRecord[]
}

function findIssue(
  { scope, period, limit }: Budget,
  { today, isFinalOnly, onMissing }: JudgeOptions,
  { read, everything, inScope, records, judged }: Counted,
): BudgetIssue | undefined {
  const issue = (kind: Exclude<BudgetIssue['kind'], 'nothing-in-scope'>): BudgetIssue => ({ kind, level: issueLevel(kind, onMissing) })
  const ofPeriod = recordsOf(read).filter(({ date }) => isWithin(date, period))
  if (ofPeriod.length === 0) return issue(hasJustBegun(period, today) ? 'no-records-yet' : 'no-records')
  const unmatched = unmatchedNames(scope, everything)
  if (inScope.length === 0 || unmatched.length > 0)
    return {
      kind: 'nothing-in-scope',
      level: issueLevel('nothing-in-scope', onMissing),
      unmatched: [...unmatched],
      nearest: Object.fromEntries(unmatched.flatMap((one) => nearestInScope(one, everything) ?? [])),
    }
  if (scope.metric !== undefined) {
    const wholeRecords = recordsInScope(isFinalOnly ? finalRecords(ofPeriod) : ofPeriod, { ...scope, metric: undefined }, everything)
    if (!hasDistinctMetrics(wholeRecords, scope.metric, limit)) return issue('metrics-mismatch')
  }
  return records.length > 0 && judged.length === 0 ? issue('no-final-records') : undefined
}

/**
 * The records in scope, each with the part that counts. Names are looked up in `all`. A record must match every field of the scope, and
 * any name or id of a field.
 */
export function recordsInScope(records: readonly UsageRecord[], scope: Scope, all: readonly UsageRecord[]): readonly UsageRecord[] {
  const services = idsOf(scope.service, all, (record) =>
    record.entityType === 'service' ? (record.serviceId ?? record.entityId) : undefined,
  )
  const warehouses = idsOf(scope.warehouse, all, (record) => (record.entityType === 'datawarehouse' ? record.warehouseId : undefined))
  return records
    .filter(
      (record) =>
        holds(scope.entity, [record.entityId, record.entityName]) &&
        holds(scope.entityType, [record.entityType]) &&
        holds(services, [record.serviceId ?? (record.entityType === 'service' ? record.entityId : '')]) &&
        holds(warehouses, [record.warehouseId ?? '']),
    )
    .flatMap((record) => countMetrics(record, scope.metric))
}

const holds = (wanted: readonly string[] | undefined, having: readonly string[]): boolean =>
  wanted === undefined || wanted.some((one) => having.includes(one))

/** The given names and ids, and the ids that belong to the names. */
function idsOf(
  wanted: readonly string[] | undefined,
  all: readonly UsageRecord[],
  idOf: (record: UsageRecord) => string | undefined,
): readonly string[] | undefined {
  if (wanted === undefined) return undefined
  const named = all.filter((record) => wanted.includes(entityLabel(record))).flatMap((record) => idOf(record) ?? [])
  return [...new Set([...wanted, ...named])]
}

/** Names in a scope that match no usage, most likely because of a typing error. */
export function unmatchedNames(scope: Scope, all: readonly UsageRecord[]): readonly string[] {
  const kinds = ['entity', 'entityType', 'service', 'warehouse', 'metric'] as const
  return kinds.flatMap((kind) => (scope[kind] ?? []).filter((name) => recordsInScope(all, { [kind]: [name] }, all).length === 0))
}

/** The given name and the nearest one that usage has: of an entity, a type or a metric. */
function nearestInScope(name: string, all: readonly UsageRecord[]): readonly (readonly [string, string])[] | undefined {
  const known = new Set(all.flatMap((record) => [entityLabel(record), record.entityType, ...metricsOf(record).map(([metric]) => metric)]))
  const nearest = nearestName(name, known)
  return nearest === undefined ? undefined : [[name, nearest]]
}

function countMetrics(record: UsageRecord, wanted: readonly string[] | undefined): readonly UsageRecord[] {
  if (wanted === undefined) return [record]
  const counted: readonly (readonly [string, Decimal])[] = metricsOf(record).filter(([name]) => wanted.includes(name))
  if (counted.length === 0) return []
  return [{ ...record, total: sum(counted.map(([, amount]) => amount)), metrics: Object.fromEntries(counted) }]
}

/**
 * Whether the wanted metrics are exact enough for a limit: no metric is negative, and records differ from the sum of their metrics by
 * rounding only. A positive difference is the metric `other`, so it does not matter where `other` counts.
 */
function hasDistinctMetrics(records: readonly UsageRecord[], wanted: readonly string[], limit: Decimal): boolean {
  if (records.some(({ metrics }) => Object.values(metrics).some((amount) => amount.lt(zero)))) return false
  const rests = records.map(({ total, metrics }) => total.minus(sum(Object.values(metrics))))
  const unclear = wanted.includes(otherMetric) ? rests.filter((rest) => rest.lt(zero)) : rests
  const amount = sum(unclear.map((rest) => rest.abs()))
  return [sum(records.map(({ total }) => total)), limit].every((whole) => isRounding(amount, whole))
}
