// Owns the usage-cost answer: amounts as exact decimals, whatever the unit word, one record or many.
// Whether the figures are complete and add up is judged in rules/doubts.ts.
import * as z from 'zod'
import type { ReadApi } from '../api/client.ts'
import { path } from '../api/path.ts'
import { type Reader, readOne } from '../api/wire.ts'
import { type Day, isDay } from '../core/dates.ts'
import { type Decimal, toDecimal } from '../core/decimal.ts'

/** What one entity used on one UTC day. */
export interface UsageRecord {
  readonly date: Day
  readonly entityType: string
  readonly entityId: string
  readonly entityName: string
  readonly warehouseId: string | undefined
  /** Undefined for warehouse rows, which hold storage and backups. */
  readonly serviceId: string | undefined
  readonly total: Decimal
  /** By metric, without the unit word: `compute`, `storage`. */
  readonly metrics: Readonly<Record<string, Decimal>>
  /** False while the figure can still change. */
  readonly locked: boolean
}

export interface UsageAnswer {
  /** The unit word of the fields: `Credits`, `CHC`. */
  readonly unit: string
  readonly grandTotal: Decimal
  readonly records: readonly UsageRecord[]
}

/** Both days included, at most 31 days. Throws an ApiError of kind `bad-answer` when a total is missing or not a number. */
export function readUsageCost(
  api: ReadApi,
  organizationId: string,
  { from, to }: { readonly from: Day; readonly to: Day },
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

// The field's name ends in the unit word, so it cannot stand in a schema; the place of a mismatch is told all the same.
function amountAt(wire: Readonly<Record<string, unknown>>, key: string, context: Context): Decimal {
  const decimal = toDecimal(wire[key])
  if (decimal !== undefined) return decimal
  context.addIssue({ code: 'custom', path: [key], message: wire[key] === undefined ? 'is missing' : 'is not a finite number' })
  return z.NEVER
}

// Older answers give the days as date-times at midnight UTC. A day stands in many records: each is looked up once.
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

const recordSchema = z.looseObject({
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
  const record = recordSchema.extend({ date: createDaySchema() }).transform((wire, context) => toRecord(wire, unit, context))
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

function toRecord(wire: z.output<typeof recordSchema> & { readonly date: Day }, unit: string, context: Context): UsageRecord {
  return {
    date: wire.date,
    entityType: wire.entityType ?? '',
    entityId: wire.entityId ?? '',
    entityName: wire.entityName ?? '',
    warehouseId: wire.dataWarehouseId ?? undefined,
    serviceId: wire.serviceId ?? undefined,
    total: amountAt(wire, `total${unit}`, context),
    metrics: toMetrics(wire.metrics ?? {}, unit, context),
    // Not said to be final is taken as not final.
    locked: wire.locked ?? false,
  }
}

function toMetrics(wire: Readonly<Record<string, unknown>>, unit: string, context: Context): Readonly<Record<string, Decimal>> {
  const metrics = new Map<string, Decimal>()
  for (const [key, value] of Object.entries(wire)) {
    if (value === null || value === undefined) continue
    const decimal = toDecimal(value)
    if (decimal === undefined) context.addIssue({ code: 'custom', path: ['metrics', key], message: 'is not a finite number' })
    else {
      const name = key.endsWith(unit) && key !== unit ? key.slice(0, -unit.length) : key
      // `compute` beside `computeCredits` would be one metric told twice over.
      metrics.set(name, metrics.get(name)?.plus(decimal) ?? decimal)
    }
  }
  return Object.fromEntries(metrics)
}
