import * as z from 'zod'
import type { ReadApi } from '../api/client.ts'
import { path } from '../api/path.ts'
import { type Reader, readOne } from '../api/wire.ts'
import { addDays, type Day, isDay } from '../core/dates.ts'
import { type Decimal, sum, toDecimal } from '../core/decimal.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { daysBeside, type Period, periodBefore } from './periods.ts'
import type { UsageReading, UsageRecord } from './records.ts'

/** Everything that a run reads. */
export interface Readings {
  readonly unit: string
  /** The period of the report. */
  readonly main: UsageReading
  /** The period before, for a comparison. */
  readonly previous: UsageReading | undefined
  /** Other days that budgets need. */
  readonly others: readonly UsageReading[]
  /** For budgets with a tag in their scope, by tag. */
  readonly tagged: ReadonlyMap<string, readonly UsageReading[]>
}

interface ReadUsageOptions {
  readonly period: Period
  readonly hasComparison: boolean
  /** The days that budgets need, with a tag where the API has to filter for them. */
  readonly budgets: readonly { readonly period: Period; readonly scope: { readonly tag?: readonly string[] | undefined } }[]
  readonly filters: readonly string[]
}

/** Reads every day once. Throws when any part cannot be read: a partial total would be a wrong total. */
export async function readUsage(api: ReadApi, organizationId: string, options: ReadUsageOptions): Promise<Readings> {
  const { period, budgets, filters } = options
  const previous = options.hasComparison ? periodBefore(period) : undefined
  const untagged = budgets.filter(({ scope }) => scope.tag === undefined)
  const others = daysBeside(periodsOf(untagged), [period, ...(previous === undefined ? [] : [previous])])
  const tags = [...new Set(budgets.flatMap(({ scope }) => scope.tag ?? []))]
  const units = new Set<string>()
  const read = async (days: Period, wanted: readonly string[]): Promise<UsageReading> => {
    const answers = await Promise.all(cutIntoWindows(days).map((window) => readUsageCost(api, organizationId, window, wanted)))
    for (const { unit } of answers) units.add(unit)
    return {
      period: days,
      grandTotal: sum(answers.map(({ grandTotal }) => grandTotal)),
      records: answers.flatMap(({ records }) => records),
      isFiltered: wanted.length > 0,
    }
  }
  const readTagged = async (tag: string): Promise<readonly [string, readonly UsageReading[]]> => {
    const wanted = daysBeside(periodsOf(budgets.filter(({ scope }) => scope.tag?.includes(tag))), [])
    return [tag, await Promise.all(wanted.map((days) => read(days, [...filters, `tag:${tag}`])))]
  }
  const [main, before, rest, tagged] = await Promise.all([
    read(period, filters),
    previous === undefined ? undefined : read(previous, filters),
    Promise.all(others.map((days) => read(days, filters))),
    Promise.all(tags.map(readTagged)),
  ])
  return { unit: onlyUnit(units), main, previous: before, others: rest, tagged: new Map(tagged) }
}

const periodsOf = (budgets: ReadUsageOptions['budgets']): readonly Period[] => budgets.map(({ period }) => period)

function onlyUnit(units: ReadonlySet<string>): string {
  const [unit, second] = units
  if (unit !== undefined && second === undefined) return unit
  throw new WatchkeeperError('bad-answer', `The API counts in ${unit} for one part of the days and in ${second} for another.`)
}

/** What was read without a tag, in no particular order; no day is in two of them. */
export const allReadings = ({ main, previous, others }: Readings): readonly UsageReading[] => [
  main,
  ...(previous === undefined ? [] : [previous]),
  ...others,
]

/** Longest period that the API answers in one request, in days. */
export const longestWindowDays = 31

/** The fewest windows that cover the period exactly once, in order. */
export function cutIntoWindows({ from, to }: Period): readonly Period[] {
  const windows: Period[] = []
  for (let start = from; start <= to; start = addDays(start, longestWindowDays)) {
    const end = addDays(start, longestWindowDays - 1)
    windows.push({ from: start, to: end < to ? end : to })
  }
  return windows
}

interface UsageAnswer {
  /** The unit word of the fields: `Credits`, `CHC`. */
  readonly unit: string
  readonly grandTotal: Decimal
  readonly records: readonly UsageRecord[]
}

/** Both days included, at most 31 days. Throws an ApiError of kind `bad-answer` when a total is missing or not a number. */
export function readUsageCost(
  api: ReadApi,
  organizationId: string,
  { from, to }: Period,
  filters: readonly string[],
): Promise<UsageAnswer> {
  const query = new URLSearchParams({ from_date: from, to_date: to })
  for (const filter of filters) query.append('filter', filter)
  return api.read({
    method: 'GET',
    path: path`/v1/organizations/${organizationId}/usageCost`,
    query,
    read: readAnswer,
    noun: 'organization',
    permission: api.profile.permissions.usage,
  })
}

// Compiling a schema takes longer than reading a small answer: each unit has one for the whole process.
const readers = new Map<string, Reader<UsageAnswer>>()

const readAnswer: Reader<UsageAnswer> = (json, headers) => {
  const outer = readOne(z.looseObject({}))(json, headers)
  if ('mismatch' in outer) return outer
  const totals = Object.keys(outer.value).flatMap((key) => /^grandTotal([A-Z][A-Za-z]{0,15})$/.exec(key)?.[1] ?? [])
  const [unit, second] = totals
  if (unit === undefined) return { mismatch: 'the answer does not fit: result.grandTotal… is missing' }
  if (second !== undefined) return { mismatch: `the answer does not fit: it has two totals, grandTotal${unit} and grandTotal${second}` }
  const read = readers.get(unit) ?? readOne(answerSchema(unit))
  // Units come from the server: a few are kept, and no more.
  if (readers.size < 8) readers.set(unit, read)
  return read(json, headers)
}

type Context = z.core.$RefinementCtx

// The name of the field ends in the unit word, so no schema can hold it; the issue states where it is.
function amountAt(wire: Readonly<Record<string, unknown>>, key: string, context: Context): Decimal {
  const decimal = toDecimal(wire[key])
  if (decimal !== undefined) return decimal
  context.addIssue({ code: 'custom', path: [key], message: wire[key] === undefined ? 'is missing' : 'is not a finite number' })
  return z.NEVER
}

// Older answers give days as date-times at midnight UTC. Many records share a day: each is parsed once.
function createDaySchema(): z.ZodType<Day> {
  const known = new Map<string, Day>()
  return z.string().transform((text, context): Day => {
    const before = known.get(text)
    if (before !== undefined) return before
    const date = text.replace(/T00:00:00(?:\.0+)?Z$/, '')
    if (isDay(date)) {
      known.set(text, date)
      return date
    }
    context.addIssue({ code: 'custom', message: 'is not a day' })
    return z.NEVER
  })
}

const text = z.string().nullish()

const wireRecord = z.looseObject({
  date: z.unknown(),
  entityType: text,
  entityId: text,
  entityName: text,
  dataWarehouseId: text,
  serviceId: text,
  locked: z.boolean().nullish(),
  metrics: z.record(z.string(), z.unknown()).nullish(),
})

function answerSchema(unit: string): z.ZodType<UsageAnswer> {
  const record = wireRecord.extend({ date: createDaySchema() }).transform((wire, context) => toRecord(wire, unit, context))
  return z
    .looseObject({ costs: z.unknown().optional().transform(toArray).pipe(z.array(record)) })
    .transform((wire, context) => ({ unit, grandTotal: amountAt(wire, `grandTotal${unit}`, context), records: wire.costs }))
}

// Documented as one object, in practice a list; nothing at all when nothing was used.
function toArray(costs: unknown): readonly unknown[] {
  if (Array.isArray(costs)) return costs
  const isNothing = costs === null || costs === undefined || (typeof costs === 'object' && Object.keys(costs).length === 0)
  return isNothing ? [] : [costs]
}

function toRecord(wire: z.output<typeof wireRecord> & { readonly date: Day }, unit: string, context: Context): UsageRecord {
  const { dataWarehouseId: warehouseId, serviceId } = wire
  return {
    date: wire.date,
    entityType: wire.entityType ?? '',
    entityId: wire.entityId ?? '',
    entityName: wire.entityName ?? '',
    ...(isGiven(warehouseId) && { warehouseId }),
    ...(isGiven(serviceId) && { serviceId }),
    total: amountAt(wire, `total${unit}`, context),
    metrics: toMetrics(wire.metrics ?? {}, unit, context),
    // A record is provisional unless the API says that it is final.
    locked: wire.locked ?? false,
  }
}

const isGiven = (id: string | null | undefined): id is string => id !== null && id !== undefined

function toMetrics(wire: Readonly<Record<string, unknown>>, unit: string, context: Context): Record<string, Decimal> {
  const metrics = new Map<string, Decimal>()
  for (const [key, value] of Object.entries(wire)) {
    if (value === null || value === undefined) continue
    const decimal = toDecimal(value)
    if (decimal === undefined) context.addIssue({ code: 'custom', path: ['metrics', key], message: 'is not a finite number' })
    else {
      const name = key.endsWith(unit) && key !== unit ? key.slice(0, -unit.length) : key
      // `compute` beside `computeCredits` is the same metric.
      metrics.set(name, metrics.get(name)?.plus(decimal) ?? decimal)
    }
  }
  return Object.fromEntries(metrics)
}
