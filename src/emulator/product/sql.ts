import { isJsonObject, type JsonObject, type Service } from '../store.ts'
import { ChartError, type ChartRequest, computeSeries, hasColumn, storedAt } from './charts.ts'
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
      readonly types?: Readonly<Record<string, string>>
      readonly elapsedMs?: number
      /** Rows that the query read; without it, those of the answer. */
      readonly rowsRead?: number
    }
  | { readonly error: string }

/** Evaluates queries that the emulator cannot. Undefined leaves a query to the emulator. */
export type RunSql = (request: SqlRequest) => SqlResult | undefined

export interface SqlContext {
  readonly service: Service
  readonly nowMs: number
  readonly runSql: RunSql | undefined
}

/** A query that a server could run, and this emulator cannot. */
export class UnsupportedQuery extends Error {}

/**
 * This emulator has no database. It counts the events of SLOs and backtests, and the rows of tables, and knows the columns of telemetry; other queries
 * get the answers that a test gives. Throws UnsupportedQuery.
 */
export function evaluateSql(given: SqlRequest, { service, nowMs, runSql }: SqlContext): SqlResult {
  const [, sql = given.sql, settings = ''] = /^(.*)\nSETTINGS (.*)$/s.exec(given.sql) ?? []
  const [, seconds] = /max_execution_time = (\d+)/.exec(settings) ?? []
  const request = { ...given, sql }
  const limitMs = seconds === undefined ? 30_000 : Number(seconds) * 1000
  const result =
    runSql?.(request) ?? answerCounted(request, service, nowMs) ?? answerColumns(request, service) ?? answerTables(request, service, nowMs)
  // The column has the whole end of the query as its name: recorded.
  if (result === undefined && sql === 'SHOW GRANTS FINAL')
    return { rows: [{ 'GRANTS FINAL FORMAT JSON': 'GRANT SHOW, SELECT ON *.* TO reader' }] }
  // Other queries are taken to read the rows of their period, of which there are none so early.
  if (result === undefined && request.endMs < Date.UTC(1990, 0, 1)) return { rows: [], rowsRead: 0 }
  if (result === undefined) throw new UnsupportedQuery('The emulator cannot evaluate this query.')
  if ('error' in result || (result.elapsedMs ?? 0) <= limitMs) return result
  return { error: `Timeout exceeded: elapsed ${limitMs + 6.247} ms, maximum: ${limitMs}.000 ms. ` }
}

/** The format JSON of ClickHouse, as far as clients read it. */
export const toJsonFormat = ({
  rows,
  types = {},
  elapsedMs = 1,
  rowsRead = rows.length,
}: Exclude<SqlResult, { readonly error: string }>): JsonObject => ({
  meta: Object.entries({ ...types, ...rows[0] }).map(([name, value]) => ({
    name,
    type: types[name] ?? (typeof value === 'number' ? 'Float64' : 'String'),
  })),
  data: rows,
  rows: rows.length,
  statistics: { elapsed: elapsedMs / 1000, rows_read: rowsRead, bytes_read: rowsRead },
})

// The queries that this emulator evaluates: the events of an SLO, counted by hour and, in the last days, by five minutes; the burn rate of
// its alerts; counts in windows of one length; and the most frequent values of a column. Their conditions are evaluated as those of charts.

type ShapeGroups = Readonly<Record<string, string | undefined>>

interface Counted {
  readonly startMs: number
  readonly group: string
  readonly counts: readonly number[]
}

type Count = (
  range: {
    readonly granularity: ChartRequest['granularity']
    readonly startTime: number
    readonly endTime: number
    readonly conditions: readonly string[]
  },
  group?: string,
) => readonly Counted[]

function answerCounted(request: SqlRequest, { sources }: Service, nowMs: number): SqlResult | undefined {
  for (const [shape, answer] of queryShapes) {
    const found: ShapeGroups | undefined = shape.exec(request.sql)?.groups
    if (found === undefined) continue
    const { database, table } = found
    const source = sources.find(({ from }) => isJsonObject(from) && from.databaseName === database && from.tableName === table)
    if (source === undefined) return { error: `Unknown table expression identifier '${database}.${table}'. ` }
    const count: Count = ({ conditions, ...range }, group = found.group) => {
      const common = { sourceId: source.id, aggFn: 'count', whereLanguage: 'sql', groupBy: group === undefined ? [] : [group] } as const
      const rows = computeSeries({ ...range, series: conditions.map((where) => ({ ...common, where })) }, sources, storedAt(nowMs))
      return rows.map((row) => ({
        startMs: Number(row.ts_bucket),
        group: String(Array.isArray(row.group) ? (row.group[0] ?? '') : ''),
        counts: conditions.map((_, i) => Number(row[`series_${i}.data`] ?? 0)),
      }))
    }
    try {
      return { rows: answer(found, count, request) }
    } catch (cause) {
      if (!(cause instanceof ChartError)) throw cause
      if (cause.status === 501) throw new UnsupportedQuery(cause.message)
      return { error: cause.message }
    }
  }
  return undefined
}

const columnsShape =
  /^SELECT (?<columns>[\s\S]*)\nFROM `(?<database>.*)`\.`(?<table>.*)`\n(?:GROUP BY (?<group>.*)\n)?(?:ORDER BY (?<order>.*)\n)?LIMIT 0$/

function answerColumns({ sql }: SqlRequest, { sources }: Service): SqlResult | undefined {
  const { columns = '', database, table = '', group = '', order = '' } = columnsShape.exec(sql)?.groups ?? {}
  if (database === undefined) return undefined
  const source = sources.find(
    ({ from, metricTables }) =>
      isJsonObject(from) &&
      from.databaseName === database &&
      (from.tableName === table || (isJsonObject(metricTables) && Object.values(metricTables).includes(table))),
  )
  if (source === undefined) return { error: `Unknown table expression identifier '${database}.${table}'. ` }
  const expressions = [columns, group, order].join(' ').replace(/'(?:[^'\\]|\\.)*'/g, '')
  const aliases = [...expressions.matchAll(/\bAS "?(\w+)/gi)].map(([, alias]) => alias)
  // Columns of OpenTelemetry begin with a capital letter, and functions of ClickHouse do not.
  const names = expressions.match(/\b[A-Z][a-z]\w*\b(?!\s*\()/g) ?? []
  const missing = names.find((name) => !hasColumn(name, source.kind) && !aliases.includes(name))
  return missing === undefined ? { rows: [] } : { error: `Unknown expression or function identifier \`${missing}\`. ` }
}

const end = String.raw`fromUnixTimestamp64Milli\(\{endDateMilliseconds:Int64\}`

/** A time so many milliseconds before the end. */
const beforeEnd = (name: string) => String.raw`${end} - (?<${name}>\d+)\)`

const tableForm = 'FROM `(?<database>.*)`\\.`(?<table>.*)`'

const sloShape = new RegExp(
  [
    '^SELECT',
    String.raw`  if\((?<time>\(\w+\)) >= ${beforeEnd('recent')}, .* AS (?<start>\w+),`,
    String.raw`(?:  ifNull\(toString\(\((?<group>\w+)\)\), ''\) AS (?<groupName>\w+),\n)?  toFloat64\(count\(\)\) AS (?<total>\w+),`,
    String.raw`  toFloat64\(countIf\((?<good>.*)\)\) AS (?<goodName>\w+)`,
    tableForm,
    String.raw`WHERE \(\w+\) >= ${beforeEnd('all')} AND \(\w+\) < ${end}\)`,
    String.raw`    AND (?<where>[\s\S]*)`,
    'GROUP BY .*\nORDER BY .*$',
  ].join('\n'),
)

/** The conditions of all events, and of the good ones. */
function eventsOf(where = '', good = '') {
  const all = where.replaceAll('\n', ' ')
  return [all, `${all} AND ${good}`]
}

function answerSlo(
  { start = '', groupName, total = '', good, goodName = '', recent, all, where }: ShapeGroups,
  count: Count,
  { endMs }: SqlRequest,
) {
  const recentMs = endMs - Number(recent)
  const conditions = eventsOf(where, good)
  return [
    ...count({ conditions, granularity: '1h', startTime: endMs - Number(all), endTime: recentMs - 1 }),
    ...count({ conditions, granularity: '5m', startTime: recentMs, endTime: endMs - 1 }),
  ].map(({ startMs, group, counts }) => ({
    [start]: startMs / 1000,
    ...(groupName !== undefined && { [groupName]: group }),
    [total]: counts[0],
    [goodName]: counts[1],
  }))
}

const burnRateShape = new RegExp(
  [
    String.raw`(?:  \w+ AS "Group",\n  |^SELECT )if\(\w+ < (?<least>\d+) OR \w+ = 0, 0, least\(\(\w+ - \w+\) \* (?<multiplier>[\d.]+) / \(\w+ \* (?<divisor>[\d.]+)\), .* AS "Burn rate"`,
    'FROM \\(',
    '  SELECT',
    String.raw`(?:    ifNull\(toString\(\((?<group>\w+)\)\), ''\) AS \w+,\n)?    toFloat64\(count\(\)\) AS \w+,`,
    String.raw`    toFloat64\(countIf\((?<good>.*)\)\) AS \w+,`,
    String.raw`    toFloat64\(countIf\(\(\w+\) >= ${beforeEnd('short')}\)\) AS \w+,`,
    '.*',
    `  ${tableForm}`,
    String.raw`  WHERE \(\w+\) >= ${beforeEnd('long')} AND .*`,
    String.raw`    AND (?<where>[\s\S]*?)(?:\n  GROUP BY \w+)?`,
    String.raw`\)(?:\nORDER BY "Group")?$`,
  ].join('\n'),
)

function answerBurnRate({ group, good, where, least, multiplier, divisor, short, long }: ShapeGroups, count: Count, { endMs }: SqlRequest) {
  const counted = count({ conditions: eventsOf(where, good), granularity: '5m', startTime: endMs - Number(long), endTime: endMs - 1 })
  const sumOf = (rows: readonly Counted[], column: number): number => rows.reduce((sum, { counts }) => sum + (counts[column] ?? 0), 0)
  const rateOf = (rows: readonly Counted[]): number =>
    ((sumOf(rows, 0) - sumOf(rows, 1)) * Number(multiplier)) / (sumOf(rows, 0) * Number(divisor))
  const byGroup = group === undefined ? new Map([['', counted]]) : Map.groupBy(counted, (row) => row.group)
  return [...byGroup].map(([name, rows]) => {
    const recent = rows.filter(({ startMs }) => startMs >= endMs - Number(short))
    const hasEnough = sumOf(rows, 0) >= Number(least) && sumOf(recent, 0) > 0
    return {
      ...(group !== undefined && { Time: new Date(endMs).toISOString(), Group: name }),
      'Burn rate': hasEnough ? Math.min(rateOf(rows), rateOf(recent)) : 0,
    }
  })
}

const granularities: Readonly<Record<string, ChartRequest['granularity']>> = {
  ...{ 60: '1m', 300: '5m', 900: '15m', 1800: '30m', 3600: '1h', 21600: '6h', 86400: '1d' },
}

const countsShape = new RegExp(
  [
    String.raw`^SELECT intDiv\(toUnixTimestamp\(\w+\), (?<step>${Object.keys(granularities).join('|')})\) \* \d+ AS (?<start>\w+)`,
    String.raw`(?:,\n  \((?<group>\w+)\) AS (?<groupName>\w+))?(?<counts>(?:,\n  toFloat64\(count.*\) AS series_\d)+)`,
    `\n${tableForm}`,
    String.raw`\nWHERE \w+ >= .*\n[\s\S]*GROUP BY .*$`,
  ].join(''),
)

function answerCounts({ start = '', groupName, step = '', counts: given = '' }: ShapeGroups, count: Count, { startMs, endMs }: SqlRequest) {
  const conditions = [...given.matchAll(/toFloat64\(count(?:\(\)|If\(\((.*)\)\))\) AS/g)].map(([, condition = '']) => condition)
  return count({ conditions, granularity: granularities[step], startTime: startMs, endTime: endMs - 1 }).map((row) => ({
    [start]: row.startMs / 1000,
    ...(groupName !== undefined && { [groupName]: row.group }),
    ...Object.fromEntries(row.counts.map((value, i) => [`series_${i}`, value])),
  }))
}

const listed = String.raw`topK\(\d+\)\(substring\(toString\(\w+\), 1, 100\)\)|countIf\(isNotNull\(toFloat64OrNull\(toString\(\w+\)\)\)\)`

const valuesShape = new RegExp(
  [`^SELECT (?<values>(?:${listed}) AS c0(?:, (?:${listed}) AS c\\d+)*)`, tableForm, String.raw`WHERE \w+ >= .*$`].join('\n'),
)

/** Frequent values of columns, and how many rows have a number in one. */
function answerValues({ values = '' }: ShapeGroups, count: Count, { startMs, endMs }: SqlRequest) {
  const wanted = [...values.matchAll(/(topK|countIf).*?toString\((\w+)\).*? AS (c\d+)/g)]
  return [
    Object.fromEntries(
      wanted.map(([, function_, column = '', name = '']) => {
        const counted = count({ conditions: [''], granularity: '30d', startTime: startMs, endTime: endMs - 1 }, column)
        const numbers = counted.flatMap(({ group, counts }) => (group !== '' && Number.isFinite(Number(group)) ? counts : []))
        const answer = function_ === 'topK' ? [...new Set(counted.map(({ group }) => group))] : numbers.reduce((a, b) => a + b, 0)
        return [name, answer]
      }),
    ),
  ]
}

const queryShapes: readonly (readonly [RegExp, (found: ShapeGroups, count: Count, request: SqlRequest) => readonly JsonObject[]])[] = [
  [sloShape, answerSlo],
  [burnRateShape, answerBurnRate],
  [countsShape, answerCounts],
  [valuesShape, answerValues],
]
