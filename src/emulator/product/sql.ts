import { isJsonObject, type JsonObject, type Service } from '../store.ts'
import { answerSeries, type ChartRequest, storedAt } from './charts.ts'
import { answerTables } from './tables.ts'

/** A query as the product runs it. */
export interface SqlRequest {
  readonly sql: string
  readonly startMs: number
  readonly endMs: number
}

/** Rows, or the message of the database. `elapsedMs` is how long the query took. */
export type SqlResult =
  | {
      readonly rows: readonly JsonObject[]
      /** Types of columns. The others are numbers or texts. */
      readonly types?: Readonly<Record<string, string>>
      readonly elapsedMs?: number
    }
  | { readonly error: string }

/** Evaluates queries that the emulator cannot. Undefined leaves a query to the emulator. */
export type RunSql = (request: SqlRequest) => SqlResult | undefined

export interface SqlContext {
  readonly service: Service
  readonly nowMs: number
  readonly runSql: RunSql | undefined
}

/** Queries run no longer: recorded. */
const maxQueryMs = 30_000

/** A query that a server could run, and this emulator cannot. */
export class UnsupportedQuery extends Error {}

/**
 * This emulator has no database. It counts the events of SLOs and backtests, and the rows of tables; other queries get the answers that a test gives. Throws
 * UnsupportedQuery.
 */
export function evaluateSql(request: SqlRequest, { service, nowMs, runSql }: SqlContext): SqlResult {
  const result =
    runSql?.(request) ??
    answerSlo(request, service, nowMs) ??
    answerBurnRate(request, service, nowMs) ??
    answerCounts(request, service, nowMs) ??
    answerValues(request, service, nowMs) ??
    answerTables(request, service, nowMs)
  if (result === undefined) throw new UnsupportedQuery('The emulator cannot evaluate this query.')
  if ('error' in result || (result.elapsedMs ?? 0) <= maxQueryMs) return result
  return { error: `Timeout exceeded: elapsed ${maxQueryMs + 6.247} ms, maximum: ${maxQueryMs}.000 ms. ` }
}

/** Throws UnsupportedQuery. */
function toError(status: number, body: unknown): { readonly error: string } {
  const { error } = body as { readonly error: string } // An error of charts.
  if (status === 501) throw new UnsupportedQuery(error)
  return { error }
}

/** The format JSON of ClickHouse, as far as clients read it. */
export const toJsonFormat = ({ rows, types = {}, elapsedMs = 1 }: Exclude<SqlResult, { readonly error: string }>): JsonObject => ({
  meta: Object.entries({ ...types, ...rows[0] }).map(([name, value]) => ({
    name,
    type: types[name] ?? (typeof value === 'number' ? 'Float64' : 'String'),
  })),
  data: rows,
  rows: rows.length,
  statistics: { elapsed: elapsedMs / 1000, rows_read: rows.length, bytes_read: rows.length },
})

// The queries that this emulator evaluates: the events of an SLO, counted by hour and, in the last days, by five minutes; the burn rate of
// its alerts; counts in windows of one length; and the most frequent values of a column. Their conditions are evaluated as those of charts.

const before = String.raw`fromUnixTimestamp64Milli\(\{endDateMilliseconds:Int64\} - (\d+)\)`

const shape = new RegExp(
  [
    '^SELECT',
    String.raw`  if\((?<time>\(\w+\)) >= ${before.replace('(\\d+)', '(?<recent>\\d+)')}, .* AS (?<start>\w+),`,
    String.raw`(?:  ifNull\(toString\(\((?<group>\w+)\)\), ''\) AS (?<groupName>\w+),\n)?  toFloat64\(count\(\)\) AS (?<total>\w+),`,
    String.raw`  toFloat64\(countIf\((?<good>.*)\)\) AS (?<goodName>\w+)`,
    'FROM `(?<database>.*)`\\.`(?<table>.*)`',
    String.raw`WHERE \(\w+\) >= ${before.replace('(\\d+)', '(?<all>\\d+)')} AND \(\w+\) < fromUnixTimestamp64Milli\(\{endDateMilliseconds:Int64\}\)`,
    String.raw`    AND (?<where>[\s\S]*)`,
    'GROUP BY .*\nORDER BY .*$',
  ].join('\n'),
)

/** Undefined for another query. */
function answerSlo({ sql, endMs }: SqlRequest, { sources }: Service, nowMs: number): SqlResult | undefined {
  const found = shape.exec(sql)?.groups
  if (found === undefined) return undefined
  const { start = '', group, groupName, total = '', good = '', goodName = '', database, table, where = '' } = found
  const source = sources.find(({ from }) => isJsonObject(from) && from.databaseName === database && from.tableName === table)
  if (source === undefined) return { error: `Unknown table expression identifier '${database}.${table}'. ` }
  const item = (condition: string): ChartRequest['series'][number] => ({
    sourceId: source.id,
    aggFn: 'count',
    where: condition,
    whereLanguage: 'sql',
    groupBy: group === undefined ? [] : [group],
  })
  const recentMs = endMs - Number(found.recent)
  const parts = [
    { granularity: '1h', startTime: endMs - Number(found.all), endTime: recentMs - 1 },
    { granularity: '5m', startTime: recentMs, endTime: endMs - 1 },
  ] as const
  const rows: JsonObject[] = []
  for (const part of parts) {
    const request: ChartRequest = {
      ...part,
      series: [item(where.replaceAll('\n', ' ')), item(`${where.replaceAll('\n', ' ')} AND ${good}`)],
    }
    const { status, body } = answerSeries(request, [source.kind, source.kind], storedAt(nowMs))
    if (status !== 200) return toError(status, body)
    const { data } = body as { readonly data: readonly JsonObject[] } // Any other answer of charts.
    rows.push(
      ...data.map((row) => ({
        [start]: Number(row.ts_bucket) / 1000,
        ...(groupName !== undefined && { [groupName]: String(Array.isArray(row.group) ? (row.group[0] ?? '') : '') }),
        [total]: Number(row['series_0.data'] ?? 0),
        [goodName]: Number(row['series_1.data'] ?? 0),
      })),
    )
  }
  return { rows }
}

const burnRateShape = new RegExp(
  [
    String.raw`(?:  \w+ AS "Group",\n  |^SELECT )if\(\w+ < (?<least>\d+) OR \w+ = 0, 0, least\(\(\w+ - \w+\) \* (?<multiplier>[\d.]+) / \(\w+ \* (?<divisor>[\d.]+)\), .* AS "Burn rate"`,
    'FROM \\(',
    '  SELECT',
    String.raw`(?:    ifNull\(toString\(\((?<group>\w+)\)\), ''\) AS \w+,\n)?    toFloat64\(count\(\)\) AS \w+,`,
    String.raw`    toFloat64\(countIf\((?<good>.*)\)\) AS \w+,`,
    String.raw`    toFloat64\(countIf\(\(\w+\) >= ${before.replace('(\\d+)', '(?<short>\\d+)')}\)\) AS \w+,`,
    '.*',
    '  FROM `(?<database>.*)`\\.`(?<table>.*)`',
    String.raw`  WHERE \(\w+\) >= ${before.replace('(\\d+)', '(?<long>\\d+)')} AND .*`,
    String.raw`    AND (?<where>[\s\S]*?)(?:\n  GROUP BY \w+)?`,
    String.raw`\)(?:\nORDER BY "Group")?$`,
  ].join('\n'),
)

/** One row, or one for each group. Undefined for another query. */
function answerBurnRate({ sql, endMs }: SqlRequest, { sources }: Service, nowMs: number): SqlResult | undefined {
  const found = burnRateShape.exec(sql)?.groups
  if (found === undefined) return undefined
  const { group, good = '', database, table, where = '' } = found
  const source = sources.find(({ from }) => isJsonObject(from) && from.databaseName === database && from.tableName === table)
  if (source === undefined) return { error: `Unknown table expression identifier '${database}.${table}'. ` }
  const total = where.replaceAll('\n', ' ')
  const series = [total, `${total} AND ${good}`].map((condition) => ({
    sourceId: source.id,
    aggFn: 'count' as const,
    where: condition,
    whereLanguage: 'sql' as const,
    groupBy: group === undefined ? [] : [group],
  }))
  const request: ChartRequest = { series, granularity: '5m', startTime: endMs - Number(found.long), endTime: endMs - 1 }
  const { status, body } = answerSeries(request, [source.kind, source.kind], storedAt(nowMs))
  if (status !== 200) return toError(status, body)
  const { data } = body as { readonly data: readonly JsonObject[] } // Any other answer of charts.
  const add = (rows: readonly JsonObject[], column: string): number => rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0)
  const rateOf = (rows: readonly JsonObject[]): number => {
    const all = add(rows, 'series_0.data')
    return ((all - add(rows, 'series_1.data')) * Number(found.multiplier)) / (all * Number(found.divisor))
  }
  const nameOf = (row: JsonObject): string => String(Array.isArray(row.group) ? (row.group[0] ?? '') : '')
  const byGroup = group === undefined ? new Map([['', data]]) : Map.groupBy(data, nameOf)
  return {
    rows: [...byGroup].map(([name, rows]) => {
      const recent = rows.filter((row) => Number(row.ts_bucket) >= endMs - Number(found.short))
      const hasEnough = add(rows, 'series_0.data') >= Number(found.least) && add(recent, 'series_0.data') > 0
      return {
        ...(group !== undefined && { Time: new Date(endMs).toISOString(), Group: name }),
        'Burn rate': hasEnough ? Math.min(rateOf(rows), rateOf(recent)) : 0,
      }
    }),
  }
}

const countsShape = new RegExp(
  [
    String.raw`^SELECT intDiv\(toUnixTimestamp\(\w+\), (?<step>\d+)\) \* \d+ AS (?<start>\w+)`,
    String.raw`(?:,\n  \((?<group>\w+)\) AS (?<groupName>\w+))?(?<counts>(?:,\n  toFloat64\(count.*\) AS series_\d)+)`,
    '\nFROM `(?<database>.*)`\\.`(?<table>.*)`',
    String.raw`\nWHERE \w+ >= .*\n[\s\S]*GROUP BY .*$`,
  ].join(''),
)

const granularities: Readonly<Record<string, ChartRequest['granularity']>> = {
  60: '1m',
  300: '5m',
  900: '15m',
  1800: '30m',
  3600: '1h',
  21600: '6h',
  86400: '1d',
}

/** Undefined for another query. */
function answerCounts({ sql, startMs, endMs }: SqlRequest, { sources }: Service, nowMs: number): SqlResult | undefined {
  const found = countsShape.exec(sql)?.groups
  const granularity = granularities[found?.step ?? '']
  if (found === undefined || granularity === undefined) return undefined
  const { start = '', group, groupName = '', counts = '', database, table } = found
  const source = sources.find(({ from }) => isJsonObject(from) && from.databaseName === database && from.tableName === table)
  if (source === undefined) return { error: `Unknown table expression identifier '${database}.${table}'. ` }
  const conditions = [...counts.matchAll(/toFloat64\(count(?:\(\)|If\(\((.*)\)\))\) AS/g)].map(([, condition = '']) => condition)
  const series = conditions.map((where) => ({
    sourceId: source.id,
    aggFn: 'count' as const,
    where,
    whereLanguage: 'sql' as const,
    groupBy: group === undefined ? [] : [group],
  }))
  const request: ChartRequest = { series, granularity, startTime: startMs, endTime: endMs - 1 }
  const { status, body } = answerSeries(
    request,
    series.map(() => source.kind),
    storedAt(nowMs),
  )
  if (status !== 200) return toError(status, body)
  const { data } = body as { readonly data: readonly JsonObject[] } // Any other answer of charts.
  return {
    rows: data.map((row) => ({
      [start]: Number(row.ts_bucket) / 1000,
      ...(group !== undefined && { [groupName]: String(Array.isArray(row.group) ? (row.group[0] ?? '') : '') }),
      ...Object.fromEntries(series.map((_, i) => [`series_${i}`, Number(row[`series_${i}.data`] ?? 0)])),
    })),
  }
}

const valuesShape = new RegExp(
  [
    String.raw`^SELECT arrayJoin\(topK\((?<most>\d+)\)\(substring\(toString\((?<column>\w+)\), 1, 100\)\)\) AS value`,
    'FROM `(?<database>.*)`\\.`(?<table>.*)`',
    String.raw`WHERE \w+ >= .*$`,
  ].join('\n'),
)

/** Undefined for another query. */
function answerValues({ sql, startMs, endMs }: SqlRequest, { sources }: Service, nowMs: number): SqlResult | undefined {
  const found = valuesShape.exec(sql)?.groups
  if (found === undefined) return undefined
  const { most, column = '', database, table } = found
  const source = sources.find(({ from }) => isJsonObject(from) && from.databaseName === database && from.tableName === table)
  if (source === undefined) return { error: `Unknown table expression identifier '${database}.${table}'. ` }
  const series = [{ sourceId: source.id, aggFn: 'count' as const, where: '', groupBy: [column] }]
  const request: ChartRequest = { series, granularity: '30d', startTime: startMs, endTime: endMs - 1 }
  const { status, body } = answerSeries(request, [source.kind], storedAt(nowMs))
  if (status !== 200) return toError(status, body)
  const { data } = body as { readonly data: readonly JsonObject[] } // Any other answer of charts.
  const values = new Set(data.map(({ group }) => String(Array.isArray(group) ? group[0] : '')))
  return { rows: [...values].slice(0, Number(most)).map((value) => ({ value })) }
}
