import { hourMs } from '../../platform/core/durations.ts'
import { isJsonObject, type JsonObject, type Service, type Table } from '../store.ts'
import { ChartError, type ChartRequest, computeSeries, hasColumn, storedAt } from './charts.ts'

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
    if (source === undefined) return noSuchTable(database, table)
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

const tableForm = 'FROM `(?<database>.*)`\\.`(?<table>.*)`'

const noSuchTable = (database: string | undefined, table: string | undefined) => ({
  error: `Unknown table expression identifier '${database}.${table}'. `,
})

const columnsShape = new RegExp(
  String.raw`^SELECT (?<columns>[\s\S]*)\n${tableForm}\n(?:GROUP BY (?<group>.*)\n)?(?:ORDER BY (?<order>.*)\n)?LIMIT 0$`,
)

function answerColumns({ sql }: SqlRequest, { sources }: Service): SqlResult | undefined {
  const { columns = '', database, table = '', group = '', order = '' } = columnsShape.exec(sql)?.groups ?? {}
  if (database === undefined) return undefined
  const source = sources.find(
    ({ from, metricTables }) =>
      isJsonObject(from) &&
      from.databaseName === database &&
      (from.tableName === table || (isJsonObject(metricTables) && Object.values(metricTables).includes(table))),
  )
  if (source === undefined) return noSuchTable(database, table)
  const expressions = [columns, group, order].join(' ').replace(/'(?:[^'\\]|\\.)*'/g, '')
  const aliases = [...expressions.matchAll(/\bAS "?(\w+)/gi)].map(([, alias]) => alias)
  // Columns of OpenTelemetry begin with a capital letter, and functions of ClickHouse do not.
  const names = expressions.match(/\b[A-Z][a-z]\w*\b(?!\s*\()/g) ?? []
  const missing = names.find((name) => !hasColumn(name, source.kind) && !aliases.includes(name))
  return missing === undefined ? { rows: [] } : { error: `Unknown expression or function identifier \`${missing}\`. ` }
}

const endSql = String.raw`fromUnixTimestamp64Milli\(\{endDateMilliseconds:Int64\}`

/** A time so many milliseconds before the end. */
const beforeEnd = (name: string) => String.raw`${endSql} - (?<${name}>\d+)\)`

const sloShape = new RegExp(
  [
    '^SELECT',
    String.raw`  if\((?<time>\(\w+\)) >= ${beforeEnd('recent')}, .* AS (?<start>\w+),`,
    String.raw`(?:  ifNull\(toString\(\((?<group>\w+)\)\), ''\) AS (?<groupName>\w+),\n)?  toFloat64\(count\(\)\) AS (?<total>\w+),`,
    String.raw`  toFloat64\(countIf\((?<good>.*)\)\) AS (?<goodName>\w+)`,
    tableForm,
    String.raw`WHERE \(\w+\) >= ${beforeEnd('all')} AND \(\w+\) < ${endSql}\)`,
    String.raw`    AND (?<where>[\s\S]*)`,
    'GROUP BY .*\nORDER BY .*$',
  ].join('\n'),
)

/** The conditions of all events, and of the good ones. */
function eventConditions(where = '', good = '') {
  const all = where.replaceAll('\n', ' ')
  return [all, `${all} AND ${good}`]
}

function answerSlo(
  { start = '', groupName, total = '', good, goodName = '', recent, all, where }: ShapeGroups,
  count: Count,
  { endMs }: SqlRequest,
) {
  const recentMs = endMs - Number(recent)
  const conditions = eventConditions(where, good)
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
  const counted = count({
    conditions: eventConditions(where, good),
    granularity: '5m',
    startTime: endMs - Number(long),
    endTime: endMs - 1,
  })
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

// The queries of verify-restore: the list of tables and their columns, rows in groups, and the number of rows of a table.

const sourceForm = String.raw`FROM \x60(?<database>.*)\x60\.\x60(?<name>.*)\x60 AS __source(?: WHERE (?<where>.*))?`

const groupsShape = new RegExp(
  String.raw`^SELECT sum\(__n\) AS total, groupArray\(.*\) AS groups\nFROM \(\n {2}WITH (?<time>.*) AS __t, (?<hash>.*) AS __h\n {2}SELECT (?<key>.*) AS __k, count\(\) AS __n, [\s\S]* AS __p\n {2}${sourceForm}\n {2}GROUP BY __k\n\)$`,
)

const defaultsShape = new RegExp(String.raw`^WITH (?<time>.*) AS __t\nSELECT \[(?<shares>avg\(.*)\] AS shares\n${sourceForm}$`)

const checkShape =
  /^SELECT \* FROM \(\nSELECT count\(\) FROM (?<database>\w+)\.(?<name>\w+)(?: WHERE (?<column>\w+) <= fromUnixTimestamp64Milli\(\{endDateMilliseconds:Int64\}\))?\n\)\nLIMIT 2$/

/** Undefined for another query. */
function answerTables({ sql, endMs }: SqlRequest, { tables }: Service, nowMs: number): SqlResult | undefined {
  if (sql.startsWith('SELECT tables.database AS database,')) return { rows: tableRows(tables) }
  if (sql.startsWith('SELECT database, table, command FROM system.mutations')) return { rows: [] }
  const check = checkShape.exec(sql)?.groups
  if (check !== undefined) {
    const table = findTable(tables, check, check.column)
    return 'error' in table ? table : { rows: [{ 'count()': String(rowsUntil(table, check.column === undefined ? nowMs : endMs).length) }] }
  }
  const defaults = defaultsShape.exec(sql)?.groups
  if (defaults !== undefined) {
    const table = findTable(tables, defaults, timeColumnIn(defaults.time))
    return 'error' in table ? table : { rows: [{ shares: (defaults.shares ?? '').split(', avg(').map(() => 0) }] }
  }
  const groups = groupsShape.exec(sql)?.groups
  return groups && countGroups(tables, groups, nowMs)
}

const timeColumnIn = (time = '') => /`([^`]*)`/.exec(time)?.[1]

function findTable(
  tables: readonly Table[],
  { database, name }: ShapeGroups,
  column: string | undefined,
): Table | { readonly error: string } {
  const table = tables.find((one) => one.database === database && one.name === name)
  if (table === undefined)
    return { error: `Code: 60. DB::Exception: Unknown table expression identifier '${database}.${name}'. (UNKNOWN_TABLE)` }
  if (table.isTooLarge) return { error: 'Code: 241. DB::Exception: Memory limit (total) exceeded. (MEMORY_LIMIT_EXCEEDED)' }
  if (column !== undefined && column !== table.timeColumn)
    return { error: `Code: 47. DB::Exception: Unknown expression identifier \`${column}\`. (UNKNOWN_IDENTIFIER)` }
  return table
}

/** Times and values of rows until a time. Without rows of its own, a table has one at its start, and one after each step. */
function rowsUntil({ rows, fromMs, everyMs, untilMs = Number.POSITIVE_INFINITY }: Table, toMs: number): NonNullable<Table['rows']> {
  if (rows !== undefined) return rows.filter(([timeMs]) => timeMs <= toMs)
  const length = Math.max(0, Math.floor((Math.min(toMs, untilMs) - fromMs) / everyMs) + 1)
  return Array.from({ length }, (_, i) => [fromMs + i * everyMs, i] as const)
}

/** 32 of the 64 bits of a row's hash. */
function halfHash(seed: number, timeMs: number, value: number): number {
  let mixed = Math.imul(seed ^ timeMs, 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 15) ^ Math.floor(timeMs / 2 ** 32), 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 15) ^ value, 0x9e3779b1)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

const joinHalves = (high: number, low: number): bigint => (BigInt(high) << 32n) + BigInt(low)

const startGroup = () => ({ rows: 0, high: 0, low: 0, newestMs: 0, stepMs: 24 * hourMs, hashes: new Set<number>() })

function addToGroup(group: ReturnType<typeof startGroup>, timeMs: number, high: number, low: number) {
  group.rows++
  group.high += high
  group.low += low
  group.newestMs = Math.max(group.newestMs, timeMs)
  if (timeMs % group.stepMs !== 0) group.stepMs = [hourMs, 60_000, 1000].find((step) => timeMs % step === 0) ?? 1
  // A number has 53 bits.
  group.hashes.add(high * 2 ** 20 + (low >>> 12))
  return group
}

function sampledGroup(limit: bigint, high: number, low: number): string {
  const hashed = joinHalves(high, low)
  return hashed <= limit ? `(1,${hashed})` : `(0,${low % 1024})`
}

function countGroups(tables: readonly Table[], found: ShapeGroups, nowMs: number): SqlResult | undefined {
  const { time, hash, key = '', where } = found
  const table = findTable(tables, found, timeColumnIn(time))
  if ('error' in table) return table
  const [, whereKey = '0', list] = /^(.*) IN \(([^()]*)\)$/.exec(where ?? '') ?? []
  const limit = /^if\(__h <= (\d+), \(1, __h\), \(0, __h % 1024\)\)$/.exec(key)?.[1]
  const ageAt = toAge(limit === undefined ? key : whereKey)
  if (ageAt === undefined || (where !== undefined && list === undefined)) return undefined
  const listed = list === undefined ? undefined : new Set(list.split(', '))
  const groups = new Map<string, ReturnType<typeof startGroup>>()
  for (const [rowMs, value] of table.rows ?? rowsUntil(table, nowMs)) {
    const timeMs = time === '0' ? 0 : rowMs
    const age = ageAt(timeMs)
    if (listed !== undefined && !listed.has(age)) continue
    const [high, low] = hash === '0' ? [0, 0] : [halfHash(1, rowMs, value), halfHash(2, rowMs, value)]
    const of = limit === undefined ? age : sampledGroup(BigInt(limit), high, low)
    groups.set(of, addToGroup(groups.get(of) ?? startGroup(), timeMs, high, low))
  }
  const answers = [...groups].map(([of, { rows, high, low, newestMs, stepMs, hashes }]) =>
    [of, rows, BigInt.asUintN(64, joinHalves(high, low)), hashes.size, newestMs, stepMs].map(String),
  )
  return { rows: [{ total: String([...groups.values()].reduce((sum, { rows }) => sum + rows, 0)), groups: answers }] }
}

const ages = /^multiIf\(isNull\(__t\) OR __t > (\d+), -2, __t > (\d+), if\(__t > (\d+) AND __t <= (\d+), -3, -4\), \d+ - __t < (\d+), -1, /

/** The group of a time. Undefined for another key. */
function toAge(key: string): ((time: number) => string) | undefined {
  if (key === '0') return () => '0'
  const found = ages.exec(key)
  if (found === null) return undefined
  const [now = 0, cut = 0, end = 0, requested = 0, within = 0] = found.slice(1).map(Number)
  return (time) => {
    if (time > now) return '-2'
    if (time > cut) return time > end && time <= requested ? '-3' : '-4'
    return String(cut - time < within ? -1 : Math.floor(4 * Math.log2(1 + (cut - time - within) / hourMs)))
  }
}

function tableRows(tables: readonly Table[]): JsonObject[] {
  const databases = [...new Set(['default', ...tables.map(({ database }) => database)])]
  const common = { storage: '', bytes: '0', changed: '0', columns: [] }
  return [
    ...databases.map((name) => ({ ...common, database: name, name: '', engine: 'Shared' })),
    ...tables.map(({ database, name, engine, timeColumn, changedMs = 0 }) => {
      const columns = [
        ['Id', 'UInt64', '', '', '0', '0'],
        ...(timeColumn === undefined ? [] : [[timeColumn, 'DateTime64(9)', '', '', '0', '1']]),
      ]
      return { ...common, database, name, engine, storage: engine, changed: String(Math.floor(changedMs / 1000)), columns }
    }),
  ]
}
