import * as z from 'zod/v3'
import { dayMs, minuteMs } from '../../platform/core/durations.ts'
import { StatusError } from '../http.ts'
import type { JsonObject, Source } from '../store.ts'
import { findById, objectId, ok, type ProductRequest, type ProductResponse, validate } from './request.ts'
import { selectTelemetry, type TelemetryKind, type TelemetryRow, telemetryKinds, visitTelemetry } from './telemetry.ts'

const bucketLengths = {
  '30s': 30_000,
  '1m': minuteMs,
  '5m': 5 * minuteMs,
  '10m': 10 * minuteMs,
  '15m': 15 * minuteMs,
  '30m': 30 * minuteMs,
  '1h': 60 * minuteMs,
  '2h': 120 * minuteMs,
  '6h': 360 * minuteMs,
  '12h': 720 * minuteMs,
  '1d': 1440 * minuteMs,
  '2d': 2880 * minuteMs,
  '7d': 10_080 * minuteMs,
  '30d': 43_200 * minuteMs,
} as const

type Granularity = keyof typeof bucketLengths

const milliseconds = z
  .number()
  .int({ message: 'Timestamp must be an integer' })
  .positive({ message: 'Timestamp must be positive' })
  .refine((value) => String(value).length >= 13, { message: 'Timestamp must be in milliseconds' })

const series = z.object({
  sourceId: objectId,
  aggFn: z.enum(['avg', 'count', 'count_distinct', 'last_value', 'max', 'min', 'quantile', 'sum', 'any', 'none', 'increase']),
  level: z.number().optional(),
  field: z.string().optional(),
  where: z.string(),
  whereLanguage: z.enum(['sql', 'lucene', 'promql']).optional(),
  groupBy: z.array(z.string()).max(10),
  metricDataType: z.enum(['gauge', 'histogram', 'sum', 'summary', 'exponential histogram']).optional(),
  metricName: z.string().optional(),
})

const schema = z.object({
  series: z
    .array(series)
    .min(1, { message: 'Series array cannot be empty' })
    .max(5)
    .refine((all) => all.every(({ groupBy }) => JSON.stringify(groupBy) === JSON.stringify(all[0]?.groupBy)), {
      message: 'All series must have the same groupBy fields',
    }),
  endTime: milliseconds,
  // zod 3 asks for a tuple.
  granularity: z.enum([...(Object.keys(bucketLengths) as [Granularity, ...Granularity[]]), 'auto']).optional(),
  startTime: milliseconds,
  seriesReturnType: z.enum(['ratio', 'column']).optional(),
})

export type ChartRequest = z.output<typeof schema>

type SeriesInput = z.output<typeof series>

/** An answer that is not 200. */
export class ChartError extends StatusError {}

/** Errors of charts are `{error}`, not `{message}`. */
export function querySeries(request: ProductRequest): ProductResponse {
  const body = validate(request, schema)
  try {
    return ok(computeSeries(body, request.service.sources, storedAt(request.nowMs)))
  } catch (cause) {
    if (!(cause instanceof ChartError)) throw cause
    return { status: cause.status, body: { error: cause.message } }
  }
}

interface StoredRange {
  readonly oldestMs: number
  readonly newestMs: number
}

/** The telemetry of 30 days. As in the product, whose tables have a partition for each day, whole days are deleted. */
export const storedAt = (nowMs: number): StoredRange => ({
  oldestMs: (Math.floor(nowMs / dayMs) - 30) * dayMs,
  newestMs: nowMs,
})

/** The rows of a chart. Throws a ChartError. */
export function computeSeries(request: ChartRequest, sources: readonly Source[], stored: StoredRange): readonly JsonObject[] {
  const { startTime, endTime } = request
  const lengthMs = bucketLength(request)
  const range = { fromMs: Math.max(startTime, stored.oldestMs), toMs: Math.min(endTime, stored.newestMs) }
  const all = request.series.flatMap((one, index) => {
    const kind = findById(sources, one.sourceId)?.kind
    return knownAnswers([one, index, kind, lengthMs, range], () => countRows(one, index, kind, { ...range, lengthMs }))
  })
  return request.seriesReturnType === 'column' ? all : mergeSeries(all, request)
}

/** Throws a ChartError for a query with these conditions in its WHERE that cannot run. */
export function checkConditions(conditions: readonly SeriesInput[], kind: string | undefined): void {
  if (kind !== undefined && isTelemetryKind(kind)) for (const condition of conditions) toMatcher(condition, kind)
}

function bucketLength({ granularity: given = 'auto', startTime, endTime }: ChartRequest) {
  if (given !== 'auto') return bucketLengths[given]
  const lengths = Object.values(bucketLengths)
  return lengths.find((length) => (endTime - startTime) / length <= 60) ?? bucketLengths['30d']
}

type ChartCell = string | number | null

type ResultRow = Readonly<Record<string, ChartCell>>

const isTelemetryKind = (kind: string): kind is TelemetryKind => telemetryKinds.some((one) => one === kind)

interface Bucket {
  readonly startMs: number
  readonly group: ResultRow
  readonly rows: TelemetryRow[]
}

/** Remembers the last results, up to a total weight, because backtests repeat their queries, and the telemetry of a range never changes. */
function remember<T>(maxWeight: number, weightOf: (result: T) => number) {
  const known = new Map<string, T>()
  return (question: unknown, compute: () => T): T => {
    const key = JSON.stringify(question)
    const found = known.get(key)
    if (found !== undefined) return found
    const result = compute()
    let left = maxWeight - weightOf(result)
    for (const [other, one] of [...known].toReversed()) {
      left -= weightOf(one)
      if (left < 0) known.delete(other)
    }
    known.set(key, result)
    return result
  }
}

const knownAnswers = remember<readonly ResultRow[]>(100_000, ({ length }) => length + 1)

/** The rows of a series, one for each bucket and group. */
function countRows(
  input: SeriesInput,
  index: number,
  kind: string | undefined,
  { lengthMs, ...range }: { readonly fromMs: number; readonly toMs: number; readonly lengthMs: number },
): readonly ResultRow[] {
  if (kind === undefined) throw new ChartError(404, `Source not found for series ${index}`)
  if (kind === 'metric' && input.metricDataType === undefined) throw new ChartError(500, 'no query support for metric type=undefined')
  if (!isTelemetryKind(kind) || (kind === 'metric' && input.metricDataType !== 'gauge')) return []
  const rowsAt = matchingRows(input, kind)
  const columns = input.groupBy.flatMap((expression) => expression.split(',').map((name) => knownColumn(name.trim(), kind)))
  const buckets: Bucket[] = []
  const byGroup = new Map<unknown, Map<number, Bucket>>()
  const [first, ...others] = columns
  const keyOf = (row: TelemetryRow): unknown =>
    first === undefined ? '' : others.length === 0 ? row[first] : columns.map((column) => row[column]).join('\n')
  visitTelemetry(rowsAt, range, (row, atMs) => {
    const startMs = Math.floor(atMs / lengthMs) * lengthMs
    const key = keyOf(row)
    const ofGroup = byGroup.get(key) ?? new Map<number, Bucket>()
    if (ofGroup.size === 0) byGroup.set(key, ofGroup)
    const bucket = ofGroup.get(startMs)
    if (bucket !== undefined) bucket.rows.push(row)
    else {
      const added = { startMs, group: Object.fromEntries(columns.map((column) => [column, row[column] ?? null])), rows: [row] }
      ofGroup.set(startMs, added)
      buckets.push(added)
    }
  })
  const toValue = toReader(input, kind)
  return buckets.map(({ startMs, group, rows }) => ({
    // The last row of each service: a gauge has its last value in a bucket.
    [`series_${index}`]: aggregate(
      input,
      (kind === 'metric' ? [...new Map(rows.map((row) => [row.ServiceName, row])).values()] : rows).map(toValue),
    ),
    ...group,
    __hdx_time_bucket: new Date(startMs).toISOString(),
  }))
}

const knownConditions = remember<ReturnType<typeof selectTelemetry>>(20, () => 1)

const matchingRows = (input: SeriesInput, kind: TelemetryKind) => {
  const { where, whereLanguage, metricName } = input
  return knownConditions([kind, where, whereLanguage, metricName], () => {
    const matches = toMatcher(input, kind)
    return selectTelemetry(kind, kind === 'metric' ? (row) => matches(row) && row.MetricName === metricName : matches)
  })
}

function aggregate({ aggFn, level = 0.5 }: SeriesInput, values: readonly number[]): ChartCell {
  const sum = () => values.reduce((total, value) => total + value, 0)
  switch (aggFn) {
    case 'count':
      return String(values.length)
    case 'count_distinct':
      return String(new Set(values).size)
    case 'avg':
      return sum() / values.length
    case 'sum':
      return sum()
    case 'min':
      return values.reduce((min, value) => Math.min(min, value))
    case 'max':
      return values.reduce((max, value) => Math.max(max, value))
    case 'any':
      return values[0] ?? null
    case 'last_value':
      return values.at(-1) ?? null
    case 'quantile':
      return quantileOf(values, level)
    default:
      throw unsupported(aggFn)
  }
}

function quantileOf(values: readonly number[], level: number) {
  const sorted = values.toSorted((a, b) => a - b)
  const position = (sorted.length - 1) * level
  const low = sorted[Math.floor(position)] ?? 0
  return low + ((sorted[Math.ceil(position)] ?? low) - low) * (position % 1)
}

function mergeSeries(rows: readonly ResultRow[], { series: [first] }: ChartRequest): readonly JsonObject[] {
  const merged = new Map<string, JsonObject>()
  for (const { __hdx_time_bucket: bucket, ...columns } of rows) {
    const group = (first?.groupBy ?? []).map((name) => columns[name] ?? null)
    const key = JSON.stringify([bucket, group])
    const row = merged.get(key) ?? { ts_bucket: Date.parse(String(bucket)), group }
    for (const [name, value] of Object.entries(columns)) if (name.startsWith('series_')) row[`${name}.data`] = value
    merged.set(key, row)
  }
  return [...merged.values()]
}

type Matcher = (row: TelemetryRow) => boolean

// The product translates any Lucene and passes on any SQL. This emulator knows comparisons of columns that are joined by AND.

/** The status is not 500, because the product could answer. */
const unsupported = (text: string) => new ChartError(501, `The emulator cannot evaluate: ${text}`)

function toMatcher({ where, whereLanguage = 'lucene' }: SeriesInput, kind: TelemetryKind): Matcher {
  if (where.trim() === '') return () => true
  const matchers = whereLanguage === 'sql' ? readSql(where, kind) : readLucene(where, kind)
  const [first, ...others] = matchers
  return first !== undefined && others.length === 0 ? first : (row) => matchers.every((matches) => matches(row))
}

function readLucene(where: string, kind: TelemetryKind): readonly Matcher[] {
  const words = (where.match(/(?:[^\s"]|"[^"]*")+/g) ?? []).filter((word) => word !== 'AND')
  if (words.some((word) => /^(?:OR|&&|\|\|)$|[()[\]{}*~^\\]|:[<>]/.test(word))) throw unsupported(where)
  return words.flatMap((word, i) => (word === 'NOT' ? [] : [readTerm(word, kind, words[i - 1] === 'NOT')]))
}

/** `field:part`, `field:"value"`; with `-` in front negated. */
function readTerm(word: string, kind: TelemetryKind, isAfterNot: boolean): Matcher {
  const [, sign, field, quoted, text = ''] = /^([-+]?)(?:([\w.]+):)?(?:"([^"]*)"|(\S+))$/.exec(word) ?? []
  if (field === undefined) throw new ChartError(500, 'Can not search bare text without an implicit column set.')
  const column = knownColumn(field, kind)
  const isNegated = isAfterNot !== (sign === '-')
  const wanted = text.toLowerCase()
  return onColumn(column, (given) => {
    const value = String(given)
    return (quoted === undefined ? value.toLowerCase().includes(wanted) : value === quoted) !== isNegated
  })
}

/** There are many rows, and few values. */
function onColumn(column: string, matches: (value: unknown) => boolean): Matcher {
  const known = new Map<unknown, boolean>()
  return (row) => {
    const value = row[column]
    const found = known.get(value)
    if (found === undefined) known.set(value, matches(value))
    return found ?? matches(value)
  }
}

const sqlCondition =
  /^(?<field>\w+)\s*(?:(?<compared>[<>]=?|!?=)\s*(?<limit>\d+(?:\.\d+)?(?:e\d+)?)|(?<operator>=|!=|<>|(?:NOT\s+)?IN)\s*(?<list>\(?\s*'[^']*'(?:\s*,\s*'[^']*')*\s*\)?))$/i

function readSql(where: string, kind: TelemetryKind): readonly Matcher[] {
  return splitConjunction(where).map((given) => {
    const bare = given.trim()
    if (/^1\s*=\s*1$/.test(bare)) return () => true
    const { field = '', compared = '', limit, operator = '', list = '' } = sqlCondition.exec(bare)?.groups ?? {}
    if (field === '') throw unsupported(where)
    const column = knownColumn(field, kind)
    if (limit !== undefined) return onColumn(column, (value) => numberChecks[compared]?.(Number(value), Number(limit)) ?? false)
    const texts = [...list.matchAll(/'([^']*)'/g)].map((match) => match[1])
    const isEqual = /^(?:=|IN)$/i.test(operator)
    return onColumn(column, (value) => texts.includes(String(value)) === isEqual)
  })
}

const numberChecks: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '=': (value, limit) => value === limit,
  '!=': (value, limit) => value !== limit,
}

function splitConjunction(where: string): readonly string[] {
  const parts: string[] = ['']
  let depth = 0
  for (const token of where.match(/'[^']*'|\bAND\b|[^']/gi) ?? []) {
    depth += token === '(' ? 1 : token === ')' ? -1 : 0
    if (depth === 0 && token.toUpperCase() === 'AND') parts.push('')
    else parts.push(`${parts.pop()}${token}`)
  }
  return parts.flatMap((part) => {
    const bare = part.trim()
    const inner = /^\((.*)\)$/s.exec(bare)?.[1]
    return inner === undefined ? [bare] : splitConjunction(inner)
  })
}

const columnsByKind: Readonly<Record<TelemetryKind, readonly string[]>> = {
  log: ['ServiceName', 'SeverityText', 'Body'],
  trace: ['ServiceName', 'SpanName', 'SpanKind', 'StatusCode', 'Duration'],
  metric: ['ServiceName', 'MetricName', 'Value'],
}

/** Columns of the tables of OpenTelemetry that this telemetry does not have. */
const otherColumns: readonly string[] = (
  'Timestamp TimestampTime TraceId SpanId ParentSpanId TraceState TraceFlags SeverityNumber ResourceAttributes ScopeName ScopeVersion ' +
  'ScopeAttributes LogAttributes SpanAttributes StatusMessage Attributes'
).split(' ')

/** Whether a table of the kind may have the column. */
export const hasColumn = (name: string, kind: string): boolean =>
  otherColumns.includes(name) || !isTelemetryKind(kind) || columnsByKind[kind].includes(name)

function knownColumn(name: string, kind: TelemetryKind) {
  if (columnsByKind[kind].includes(name)) return name
  if (!/^\w+$/.test(name) || otherColumns.includes(name)) throw unsupported(name)
  throw new ChartError(500, `Unknown expression or function identifier \`${name}\`.`)
}

/** `Duration`, `Duration / 1000000`. A field with a dot becomes a text, whose value is 0. */
function toReader({ aggFn, field = '' }: SeriesInput, kind: TelemetryKind): (row: TelemetryRow) => number {
  if (kind === 'metric') return (row) => Number(row.Value)
  if (aggFn === 'count') return () => 1
  if (field.includes('.')) return () => 0
  const [, name = field, divisor = '1'] = /^(\w+)\s*\/\s*(\d+(?:e\d+)?)$/.exec(field.trim()) ?? []
  const column = knownColumn(name, kind)
  return (row) => Number(row[column]) / Number(divisor)
}
