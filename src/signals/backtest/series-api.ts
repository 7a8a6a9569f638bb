import * as z from 'zod'
import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import { collectionPath } from '../../platform/api/collection.ts'
import { type Target, under } from '../../platform/api/path.ts'
import { readOne } from '../../platform/api/wire.ts'
import { refuseSql } from '../../platform/core/sql.ts'

// `POST /charts/series` of self-hosted HyperDX, observed on version 2.36. It only reads. The cloud API has no such endpoint.

/** The most series in one request. */
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

export interface SeriesRequest {
  readonly series: readonly SeriesItem[]
  readonly granularity: AlertInterval
  /** The start of the range. The first window is a part if the start is between two borders of the granularity. */
  readonly fromMs: number
  /** Excluded. */
  readonly untilMs: number
}

/** The values of the series for one window and group. */
export interface SeriesRow {
  readonly startMs: number
  /** The group as the server names it, such as `ServiceName:cart`; empty without groups. */
  readonly group: string
  /** The values of the groups, `null` where the server has none. */
  readonly groupValues: readonly unknown[]
  /** Whether a value of the group is, or looks like, a number. */
  readonly hasNumericGroup: boolean
  /** Values by the number of their series. A series without rows is absent; NULL and NaN are null. */
  readonly numbers: ReadonlyMap<number, number | null>
}

const bucket = '__hdx_time_bucket'

const seriesColumn = /^series_(\d)$/

const wireRows = z.array(z.looseObject({ [bucket]: z.iso.datetime({ offset: true }) }))

/** The refusal of a query that must not be sent. */
export const toUnsent = (reason: string) => ({ reason: `not sent: ${reason}`, isUnsent: true }) as const

/**
 * Requests up to five series with the same groups, unless their SQL must not be sent. Throws an ApiError. A failed request is not repeated, so
 * that a broken query costs one.
 */
export async function requestSeries(
  api: ReadApi,
  target: Target,
  request: SeriesRequest,
): Promise<readonly SeriesRow[] | ReturnType<typeof toUnsent>> {
  const { series, granularity, fromMs, untilMs } = request
  const sql = series.flatMap(({ where, whereLanguage, groupBy, field = '' }) => [whereLanguage === 'sql' ? where : '', ...groupBy, field])
  const reasons = await Promise.all(sql.map((one) => refuseSql(one, true, api.sqlFunctions)))
  const reason = reasons.find((one) => one !== undefined)
  if (reason !== undefined) return toUnsent(reason)
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

/** The rows of all series by window and group. */
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
const isNumeric = (column: string, value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+$/.test(value) && !column.startsWith('arrayElement('))

/** Counts are texts of digits. */
function toNumber(value: unknown): number | null {
  const number = typeof value === 'string' ? Number.parseInt(value, 10) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}
