import { readInHalves } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { path } from '../../platform/api/path.ts'
import { mismatchAt, type Reader, typeMismatch, unwrap } from '../../platform/api/wire.ts'
import { addDays, type Day, isDay } from '../../platform/core/dates.ts'
import { type Decimal, sum, toDecimal } from '../../platform/core/decimal.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { isMapping } from '../../platform/core/keys.ts'
import type { Period } from './periods.ts'
import type { UsageRecord } from './records.ts'

export const maxWindowDays = 31

/** Cuts a period into as few windows as possible, in order, without an overlap. */
export function cutIntoWindows({ from, to }: Period): readonly Period[] {
  const windows: Period[] = []
  for (let start = from; start <= to; start = addDays(start, maxWindowDays)) {
    const end = addDays(start, maxWindowDays - 1)
    windows.push({ from: start, to: end < to ? end : to })
  }
  return windows
}

interface UsageAnswer {
  readonly unit: string
  readonly grandTotal: Decimal
  readonly records: readonly UsageRecord[]
}

/** Reads the usage of at most 31 days, both ends included. Throws an ApiError of kind `bad-answer` when a total is missing or not a number. */
export async function readUsageCost(
  api: ReadApi,
  organizationId: string,
  { from, to }: Period,
  filters: readonly string[],
): Promise<UsageAnswer> {
  const parts = await readInHalves(from, to, (first, last) => {
    const query = new URLSearchParams({ from_date: first, to_date: last })
    for (const filter of filters) query.append('filter', filter)
    return api.read({
      request: { method: 'GET', path: path`/v1/organizations/${organizationId}/usageCost`, query },
      read: readAnswer,
      about: { noun: 'organization', permission: 'usage' },
    })
  })
  return addAnswers(parts)
}

/** Throws for different units, because amounts in them cannot be added up. */
export function addAnswers(answers: readonly UsageAnswer[]): UsageAnswer {
  return {
    unit: onlyUnit(new Set(answers.map(({ unit }) => unit))),
    grandTotal: sum(answers.map(({ grandTotal }) => grandTotal)),
    records: answers.flatMap(({ records }) => records),
  }
}

export function onlyUnit(units: ReadonlySet<string>): string {
  const [unit, second] = units
  if (unit !== undefined && second === undefined) return unit
  throw new WatchkeeperError('bad-answer', `The API uses the unit ${unit} for some days and the unit ${second} for others.`)
}

// Read by hand: a zod schema takes several times as long, and 40 services have 1,240 records in a month.
const readAnswer: Reader<UsageAnswer> = (json) => {
  const { payload: wire, prefix } = unwrap(json)
  if (!isMapping(wire)) return mismatchAt(prefix, [], typeMismatch(wire, 'object'))
  const totals = Object.keys(wire).flatMap((key) => /^grandTotal([A-Z][A-Za-z]{0,15})$/.exec(key)?.[1] ?? [])
  const [unit, second] = totals
  if (unit === undefined) return { mismatch: 'the answer does not fit: result.grandTotal… is missing' }
  if (second !== undefined) return { mismatch: `the answer does not fit: it has two totals, grandTotal${unit} and grandTotal${second}` }
  try {
    const parsers = { readDay: remembering(parseDay), readDecimal: remembering(toDecimal) }
    return {
      value: {
        unit,
        grandTotal: readAmount(wire, `grandTotal${unit}`),
        records: toArray(wire.costs).map((wire, i) => {
          try {
            return readRecord(wire, unit, parsers)
          } catch (thrown) {
            throw thrown instanceof Mismatch ? new Mismatch(['costs', i, ...thrown.path], thrown.message) : thrown
          }
        }),
      },
    }
  } catch (thrown) {
    if (thrown instanceof Mismatch) return mismatchAt(prefix, thrown.path, thrown.message)
    throw thrown
  }
}

type Wire = Readonly<Record<string, unknown>>

class Mismatch extends Error {
  readonly path: readonly (string | number)[]
  constructor(path: readonly (string | number)[], message: string) {
    super(message)
    this.path = path
  }
}

// The documentation shows one object, the API returns a list. It returns nothing when there is no usage.
function toArray(costs: unknown): readonly unknown[] {
  if (Array.isArray(costs)) return costs
  return isAbsent(costs) || (typeof costs === 'object' && Object.keys(costs).length === 0) ? [] : [costs]
}

function readRecord(
  wire: unknown,
  unit: string,
  { readDay, readDecimal }: { readonly readDay: typeof parseDay; readonly readDecimal: typeof toDecimal },
): UsageRecord {
  if (!isMapping(wire)) throw new Mismatch([], typeMismatch(wire, 'object'))
  const warehouseId = textAt(wire, 'dataWarehouseId')
  const serviceId = textAt(wire, 'serviceId')
  const entityId = textAt(wire, 'entityId') ?? ''
  const { locked } = wire
  if (!isAbsent(locked) && typeof locked !== 'boolean') throw new Mismatch(['locked'], typeMismatch(locked, 'boolean'))
  return {
    date: readDay(wire.date),
    entityType: textAt(wire, 'entityType') ?? typeByIds(entityId, serviceId, warehouseId),
    entityId,
    entityName: textAt(wire, 'entityName') ?? '',
    ...(warehouseId !== undefined && { warehouseId }),
    ...(serviceId !== undefined && { serviceId }),
    total: readAmount(wire, `total${unit}`, readDecimal),
    metrics: readMetrics(wire.metrics, unit, readDecimal),
    // A record is provisional unless the API reports that it is final.
    locked: locked ?? false,
  }
}

/** The first contract of the API has no types. A record of a warehouse has no service, and a pipe has another id than its service. */
function typeByIds(entityId: string, serviceId: string | undefined, warehouseId: string | undefined) {
  if (serviceId === undefined) return warehouseId === undefined ? '' : 'datawarehouse'
  return entityId === '' || entityId === serviceId ? 'service' : 'clickpipe'
}

const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined

function textAt(wire: Wire, key: string) {
  const text = wire[key]
  if (isAbsent(text)) return undefined
  if (typeof text !== 'string') throw new Mismatch([key], typeMismatch(text, 'string'))
  return text
}

function readAmount(wire: Wire, key: string, readDecimal = toDecimal) {
  const decimal = readDecimal(wire[key])
  if (decimal === undefined) throw new Mismatch([key], wire[key] === undefined ? 'is missing' : 'is not a finite number')
  return decimal
}

/** Many records share a day and amounts, zero most of all, so each is parsed once. */
function remembering<T>(parse: (value: unknown) => T) {
  const known = new Map<unknown, T>()
  return (value: unknown): T => {
    const parsed = known.get(value) ?? parse(value)
    known.set(value, parsed)
    return parsed
  }
}

// Older answers have date-times at midnight UTC instead of days.
function parseDay(text: unknown): Day {
  if (typeof text !== 'string') throw new Mismatch(['date'], typeMismatch(text, 'string'))
  const date = text.replace(/T00:00:00(?:\.0+)?Z$/, '')
  if (!isDay(date)) throw new Mismatch(['date'], 'is not a valid day')
  return date
}

function readMetrics(wire: unknown, unit: string, readDecimal: typeof toDecimal): Record<string, Decimal> {
  if (isAbsent(wire)) return {}
  if (!isMapping(wire)) throw new Mismatch(['metrics'], typeMismatch(wire, 'object'))
  const metrics: Record<string, Decimal> = {}
  for (const [key, value] of Object.entries(wire)) {
    const name = key.endsWith(unit) && key !== unit ? key.slice(0, -unit.length) : key
    // `__proto__` would be the prototype of an object, and not a metric.
    if (isAbsent(value) || name === '__proto__') continue
    const decimal = readDecimal(value)
    if (decimal === undefined) throw new Mismatch(['metrics', key], 'is not a finite number')
    // `compute` and `computeCredits` are the same metric.
    const before = Object.hasOwn(metrics, name) ? metrics[name] : undefined
    metrics[name] = before?.plus(decimal) ?? decimal
  }
  return metrics
}
