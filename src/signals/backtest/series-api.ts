import * as z from 'zod'
import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { collectionPath } from '../../platform/api/collection.ts'
import { type Target, under } from '../../platform/api/path.ts'
import { readOne } from '../../platform/api/wire.ts'
import { forEachConcurrently } from '../../platform/core/concurrency.ts'
import { refuseSql } from '../../platform/core/sql.ts'
import { type AlertCondition, evaluatedPart, type GroupValue, type TimeRange, type WindowValues, windowStarts } from './evaluate.ts'
import type { Formula } from './formula.ts'

// `POST /charts/series` of self-hosted HyperDX, observed on version 2.36. It only reads. The cloud API has no such endpoint.

export const maxSeries = 5

/** One series of a request. Without groups, `groupBy` is empty. */
export interface SeriesItem {
  readonly sourceId: string
  readonly aggFn: string
  readonly where: string
  readonly whereLanguage: 'sql' | 'lucene'
  readonly groupBy: readonly string[]
  readonly field?: string
  readonly level?: number
  readonly metricName?: string
  readonly metricDataType?: string
}

export interface ServerAccess {
  readonly api: ReadApi
  readonly service: Target
}

export interface SeriesRequest {
  readonly series: readonly SeriesItem[]
  readonly granularity: AlertInterval
  /** The start of the range. The first window is a part if the start is between two borders of the granularity. */
  readonly fromMs: number
  /** Excluded. */
  readonly untilMs: number
}

export interface SeriesRow {
  readonly startMs: number
  /** The group as the server names it, such as `ServiceName:cart`; empty without groups. */
  readonly group: string
  /** The values of the groups, `null` where the server has none. */
  readonly groupValues: readonly unknown[]
  /** Absent for raw SQL. */
  readonly hasNumericGroup?: boolean
  /** Values by the number of their series. A series without rows is absent; NULL and NaN are null. */
  readonly numbers: ReadonlyMap<number, number | null>
}

/** Throws an ApiError. */
export type ReadSeries = (request: SeriesRequest) => Promise<readonly SeriesRow[] | Refusal>

const bucket = '__hdx_time_bucket'

const seriesColumn = /^series_(\d)$/

const wireRows = z.array(z.looseObject({ [bucket]: z.iso.datetime({ offset: true }) }))

/** Up to five series with the same groups. Throws an ApiError. A failed request is not repeated, so that a broken query costs one. */
export async function requestSeries(api: ReadApi, target: Target, request: SeriesRequest): Promise<readonly SeriesRow[] | Refusal> {
  const { series, granularity, fromMs, untilMs } = request
  const sql = series.flatMap(({ where, whereLanguage, groupBy, field = '' }) => [whereLanguage === 'sql' ? where : '', ...groupBy, field])
  const reasons = await Promise.all(sql.map((one) => refuseSql(one, true, api.sqlFunctions)))
  const reason = reasons.find((one) => one !== undefined)
  if (reason !== undefined) return { reason }
  const rows = await api.read({
    request: {
      method: 'POST',
      isSafe: true,
      path: under(collectionPath(api, target, 'charts'), 'series'),
      // Groups by an expression overwrite each other without `column`. The server includes the end, so its bucket is left out below.
      body: { series, granularity, startTime: fromMs, endTime: untilMs, seriesReturnType: 'column' },
    },
    read: readOne(wireRows),
    about: { noun: 'source', permission: 'observability' },
    rules: { isOptional: true },
  })
  return mergeRows(rows).filter(({ startMs }) => startMs > fromMs - intervalMs[granularity] && startMs < untilMs)
}

function mergeRows(rows: z.output<typeof wireRows>): readonly SeriesRow[] {
  const merged = new Map<string, SeriesRow & { readonly numbers: Map<number, number | null> }>()
  for (const row of rows) {
    const startMs = Date.parse(row[bucket])
    const groups = Object.entries(row).filter(([name]) => name !== bucket && !seriesColumn.test(name))
    const group = groups.map(([name, value]) => `${name}:${value}`).join(', ')
    const hasNumericGroup = groups.some(([name, value]) => isNumeric(name, value))
    const key = `${startMs} ${group}`
    const groupValues = groups.map(([, value]) => value)
    const known = merged.get(key) ?? { startMs, group, groupValues, hasNumericGroup, numbers: new Map<number, number | null>() }
    for (const [name, value] of Object.entries(row)) {
      const column = seriesColumn.exec(name)?.[1]
      if (column !== undefined) known.numbers.set(Number(column), toNumber(value))
    }
    merged.set(key, known)
  }
  return [...merged.values()]
}

/** A text of digits may be a number of 64 bits. The attributes of OpenTelemetry are maps of texts. */
const isNumeric = (column: string, value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value) && !column.startsWith('arrayElement('))

function toNumber(value: unknown): number | null {
  const number = typeof value === 'string' ? Number.parseInt(value, 10) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

export interface Refusal {
  readonly reason: string
  /** The server's own words where it cannot run the query. */
  readonly queryError?: string
  readonly never?: string
  /** Raw SQL that does not bound the end of its time, or nothing. */
  readonly bounds?: 'start-only' | 'open'
  /** There was no time, or no request of the rate limit, left. */
  readonly isLate?: true
}

export type ReadResult = { readonly values: WindowValues } | Refusal

export type Combination = { readonly kind: 'last' } | { readonly kind: 'ratio' } | { readonly kind: 'formula'; readonly formula: Formula }

export interface RowFormat {
  readonly aggregates: readonly string[]
  readonly isMetric: boolean
  readonly combination: Combination
  /** Otherwise a value that charts cannot give is none. */
  readonly isExact: boolean
}

type Operand = number | null | 'unknown'

export function readRows(rows: readonly SeriesRow[], reading: RowFormat): ReadResult {
  const values = new Map<number, GroupValue[]>()
  for (const { startMs, group, numbers } of rows) {
    const value = compute(
      reading.aggregates.map((aggFn, i) => operandOf(numbers.get(i), aggFn, reading.isMetric)),
      reading,
    )
    if (value === 'unknown' && reading.isExact)
      return { reason: 'a series of the tile has no rows in a window in which another one has some' }
    const window = values.get(startMs) ?? []
    window.push({ group, value: typeof value === 'number' && Number.isFinite(value) ? value : null })
    values.set(startMs, window)
  }
  return { values }
}

/** Series of logs and traces are columns of one query, so a count without rows is 0. Those of metrics are queries of their own. */
function operandOf(number: number | null | undefined, aggFn: string, isMetric: boolean): Operand {
  if (number !== undefined) return number
  if (isMetric) return null
  if (aggFn.startsWith('count')) return 0
  return aggFn === 'avg' || aggFn === 'quantile' ? null : 'unknown'
}

function compute(operands: readonly Operand[], { combination, isMetric }: RowFormat): Operand {
  if (combination.kind === 'last') return operands.at(-1) ?? null
  if (operands.includes('unknown')) return 'unknown'
  // A missing operand of a metric counts as 0. Another one may be NULL, which counts as 0, or NaN, which does not.
  if (combination.kind === 'formula' && !isMetric && operands.includes(null)) return 'unknown'
  const numbers = operands.map((operand) => (operand === null && !isMetric ? Number.NaN : Number(operand)))
  if (combination.kind === 'formula') return combination.formula(numbers)
  const [numerator = Number.NaN, denominator = 0] = numbers
  return denominator === 0 ? null : numerator / denominator
}

type Read = Awaited<ReturnType<ReadSeries>>

interface Waiting {
  readonly request: SeriesRequest
  readonly resolve: (read: Read | Promise<Read>) => void
}

interface SharingOptions {
  readonly maxItems: number
  readonly hasOneSource: boolean
  readonly refuse: () => Refusal | undefined
}

const maxConcurrent = 4

/**
 * Queries for the same windows and groups at the same time share a request. Its error does not say which series is broken, so that each
 * query is then sent by itself.
 */
export function shareRequests(read: ReadSeries, { maxItems, hasOneSource, refuse }: SharingOptions): ReadSeries {
  let waiting: Waiting[] = []
  const readUnlessLate: ReadSeries = async (request) => refuse() ?? read(request)
  const keyOf = ({ request: { series, fromMs, untilMs, granularity } }: Waiting) =>
    JSON.stringify([fromMs, untilMs, granularity, series[0]?.groupBy, hasOneSource && series[0]?.sourceId])

  function toPacks(): readonly (readonly Waiting[])[] {
    const packs: Waiting[][] = []
    for (const alike of Map.groupBy(waiting, keyOf).values()) {
      let room = 0
      for (const one of alike) {
        const { length } = one.request.series
        if (length > room) [room] = [maxItems, packs.push([])]
        room -= length
        packs.at(-1)?.push(one)
      }
    }
    return packs
  }

  async function send(pack: readonly Waiting[]): Promise<void> {
    const [first] = pack
    if (first === undefined) return
    const series = pack.flatMap(({ request }) => request.series)
    const shared = pack.length === 1 ? undefined : await readUnlessLate({ ...first.request, series }).catch(() => undefined)
    let start = 0
    for (const { request, resolve } of pack) {
      const own = shared === undefined || 'reason' in shared ? readUnlessLate(request) : ownRows(shared, start, request.series.length)
      start += request.series.length
      resolve(own)
      await Promise.allSettled([own])
    }
  }

  return (request) => {
    const { promise, resolve } = Promise.withResolvers<Read>()
    if (waiting.length === 0)
      setImmediate(() => {
        const packs = toPacks()
        waiting = []
        void forEachConcurrently(packs, () => maxConcurrent, send)
      })
    waiting.push({ request, resolve })
    return promise
  }
}

/** The rows of the series from `start` on. */
const ownRows = (rows: readonly SeriesRow[], start: number, count: number): readonly SeriesRow[] =>
  rows.flatMap((row) => {
    const own = [...row.numbers].flatMap(([i, number]) => (i >= start && i < start + count ? [[i - start, number] as const] : []))
    return own.length === 0 ? [] : [{ ...row, numbers: new Map(own) }]
  })

// How much of a backtest has data, whatever the alert's own condition is. An alert that is quiet where its source is empty proves nothing.

export interface Coverage {
  readonly windows: number
  readonly windowsWithData: number
  readonly firstMs?: number
  readonly lastMs?: number
}

export const rowsOf = (sourceId: string): SeriesItem => ({ sourceId, aggFn: 'count', where: '', whereLanguage: 'sql', groupBy: [] })

/** All rows of the source, or the values of the metric. */
export function sourceSeries({ sourceId, metricName, metricDataType }: SeriesItem): SeriesItem {
  const counted = rowsOf(sourceId)
  if (metricName === undefined || metricDataType === undefined) return counted
  const measured = metricDataType === 'histogram' ? { aggFn: 'quantile', level: 0.5 } : { aggFn: 'max' }
  return { ...counted, ...measured, metricName, metricDataType }
}

/** `rows` are those of the source, in windows that divide those of the alert. */
export function toCoverage(rows: readonly SeriesRow[], condition: AlertCondition, range: TimeRange): Coverage {
  const lengthMs = intervalMs[condition.interval]
  const filled = new Set(rows.map(({ startMs }) => Math.floor(startMs / lengthMs) * lengthMs))
  const windows = windowStarts(evaluatedPart(condition, range), lengthMs)
  const withData = windows.filter((startMs) => filled.has(startMs))
  const [first, last] = [withData[0], withData.at(-1)]
  return {
    windows: windows.length,
    windowsWithData: withData.length,
    ...(first !== undefined && { firstMs: first }),
    ...(last !== undefined && { lastMs: last + lengthMs }),
  }
}
