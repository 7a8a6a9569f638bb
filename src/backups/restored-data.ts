// The SQL of verify-restore: databases, tables and columns of a service, its rows and their values in groups, and the value of a query.
import * as z from 'zod'
import { ApiError } from '../platform/api/api-error.ts'
import type { ReadApi } from '../platform/api/client.ts'
import type { Service } from '../platform/api/path.ts'
import { type SqlQuery, whyNoRows } from '../platform/api/sql-query.ts'
import { dayMs, hourMs, minuteMs } from '../platform/core/durations.ts'
import { causeOf } from '../platform/core/errors.ts'
import { isExactNumber } from '../platform/core/json.ts'
import { nameOfTable, quoteName, toTokens } from '../platform/core/sql.ts'
import { compareText } from '../platform/core/text.ts'
import { backupTime } from './checks-file.ts'

/** In milliseconds. The backup has the data of its start. */
export type Moments = Readonly<Record<'backupMs' | 'endMs' | 'requestedMs' | 'nowMs', number>>

/** A service that is queried, and the time of the data in the backup. */
export interface Queried {
  readonly api: ReadApi
  readonly service: Service
  readonly backupMs: number
  /** The service exists for the drill, so a query may wake it. */
  readonly mayWake?: true
}

/** What was read, or why it was not, as the end of a sentence. */
export type Unread = { readonly unread: string }

async function query({ api, service, backupMs, ...rest }: Queried, asked: Pick<SqlQuery, 'sql' | 'isOwn'>) {
  try {
    const answer = await api.runSql(service, { ...rest, ...asked, connectionId: '', startMs: 0, endMs: backupMs, isRepeated: true })
    return answer.kind === 'rows' ? answer.rows : { unread: whyNoRows(answer) }
  } catch (thrown) {
    // A server that fails again and again may do so because of this query, such as one that needs too much memory.
    if (thrown instanceof ApiError && thrown.kind === 'server') return { unread: causeOf(thrown) }
    throw thrown
  }
}

/** Why tables or rows were not read. */
export class NotRead extends Error {}

async function queryRows<T>(queried: Queried, sql: string, schema: z.ZodType<T>): Promise<T> {
  const rows = await query(queried, { sql, isOwn: true })
  const { data } = schema.safeParse(rows)
  if (data !== undefined) return data
  throw new NotRead(`${queried.mayWake ? '' : 'on the original, '}${'unread' in rows ? rows.unread : 'the answer has an unexpected form'}`)
}

/** No empty answer is a zero. */
const countField = z.union([z.number(), z.string().regex(/^-?\d+(?:\.\d+)?$/)]).transform(Number)

/** Quotes a name with a dot or backtick, so that no two tables have the same key. */
const keyPart = (name: string) => (/[.`]/.test(name) ? quoteName(name) : name)

const listedColumn = z
  .tuple([z.string(), z.string(), z.string(), z.string(), z.string(), z.string()])
  .transform(([name, type, kind, byDefault, partition, sorting]) => ({
    ...{ name, type, kind, byDefault },
    ...{ isPartitionKey: partition === '1', isSortingKey: sorting === '1', isKey: partition + sorting !== '00' },
  }))

/** Engines whose rows are elsewhere, or nowhere: a backup has only the definition of such a table, and of a database. */
const withoutRows =
  /^(?:|View|LiveView|WindowView|Dictionary|Kafka|S3Queue|AzureQueue|RabbitMQ|NATS|FileLog|Distributed|Null|Merge|Alias|GenerateRandom|S3|GCS|AzureBlobStorage|URL|File|HDFS|MySQL|PostgreSQL|MongoDB|SQLite|Redis|ODBC|JDBC|Iceberg\w*|DeltaLake\w*|Hudi\w*)$/

/** Engines that drop or join rows when they merge parts, which happens at other times after a restore. */
const merging = /(?:Replacing|Summing|Aggregating|Collapsing|Coalescing|Graphite)MergeTree$/

const listedTable = z
  .object({ database: z.string(), name: z.string(), engine: z.string(), storage: z.string(), bytes: countField, changed: countField })
  .extend({ columns: z.array(listedColumn) })
  .transform((row) => ({
    ...row,
    /** `database.table`, or the database. */
    key: [row.database, row.name].filter(Boolean).map(keyPart).join('.'),
    ...{ hasRows: !withoutRows.test(row.storage), isMerging: merging.test(row.storage) },
  }))

/**
 * A database, which has no name, or a table. The storage is the engine of the rows: of a materialized view, that of its own table, or
 * empty. The server may not say how many bytes the rows have, uncompressed, and when it made or last changed the table, in seconds: 0.
 */
export type ListedTable = z.output<typeof listedTable>
type ListedColumn = ListedTable['columns'][number]

const own = "('system', 'information_schema', 'INFORMATION_SCHEMA')"

// The inner table of a view is described as the view, because a restore changes the id in its name.
const listSql = `SELECT tables.database AS database, tables.name AS name, tables.engine AS engine,
  if(tables.engine = 'MaterializedView', stored.engine, tables.engine) AS storage,
  ifNull(if(stored.name = '', tables.total_bytes_uncompressed, stored.total_bytes_uncompressed), 0) AS bytes,
  toUnixTimestamp(tables.metadata_modification_time) AS changed, columns.list AS columns
FROM system.tables AS tables
LEFT JOIN system.tables AS stored ON stored.database = tables.database AND stored.name = concat('.inner_id.', toString(tables.uuid))
LEFT JOIN (
  SELECT database, table,
    groupArray([name, type, default_kind, default_expression, toString(is_in_partition_key), toString(is_in_sorting_key)]) AS list
  FROM system.columns GROUP BY database, table
) AS columns ON columns.database = tables.database AND columns.table = if(stored.name = '', tables.name, stored.name)
WHERE tables.database NOT IN ${own} AND NOT tables.is_temporary AND (tables.database, tables.name) NOT IN (
  SELECT database, concat('.inner_id.', arrayJoin(['', 'data.', 'tags.', 'metrics.']), toString(uuid))
  FROM system.tables WHERE engine IN ('MaterializedView', 'TimeSeries')
)
UNION ALL
SELECT name, '', engine, '', 0, 0, [] FROM system.databases WHERE name NOT IN ${own}`

export async function listTables(queried: Queried): Promise<readonly ListedTable[]> {
  const tables = await queryRows(queried, listSql, z.array(listedTable))
  return tables.toSorted((a, b) => compareText(a.key, b.key))
}

const timeType = /^(?:LowCardinality\()?(?:Nullable\()?Date(?:Time)?(?:32|64)?\b/

const isDateOnly = ({ type }: ListedColumn) => !type.includes('DateTime')

const rankOf = (column: ListedColumn) =>
  [column.type.includes('Nullable('), !column.isKey, isDateOnly(column), !column.isPartitionKey].map(Number).join('')

/** Columns that can have the time of a row. The most likely first: never NULL, in a key, with a time of day. */
export const timeColumnsOf = (columns: readonly ListedColumn[]): readonly ListedColumn[] =>
  columns.filter(({ type }) => timeType.test(type)).toSorted((a, b) => compareText(rankOf(a), rankOf(b)))

// Types whose hash needs a recent server, or changes with its version. In the text of a list, 1, '1' and NULL differ. But servers before 25.8
// quote the whole numbers of JSON, and a role that only reads cannot set this: there, 1 and "1" are equal.
const byText = /\b(?:JSON|Object|Dynamic|Variant|Geometry|QBit)\b/

/** Aggregate states whose result does not depend on the order of merges, as the state itself does. */
const stableState =
  /^AggregateFunction\((?:count|sum|min|max|uniq|uniqExact|uniqCombined|uniqCombined64|uniqHLL12|groupBitmap|argMin|argMax|sumMap)\b(?!.*Float)/

/** A column of the table that is read. Without the name of the source, one of the aliases in the same query could be meant. */
const columnSql = ({ name }: ListedColumn) => `__source.${quoteName(name)}`

/** What is compared of a column. Undefined where nothing stays the same in a restore. */
export function comparedValue(column: ListedColumn, value = columnSql(column)): string | undefined {
  if (/(?<!Simple)AggregateFunction\(/.test(column.type)) return stableState.test(column.type) ? `finalizeAggregation(${value})` : undefined
  if (!byText.test(column.type)) return value
  return /\b(?:JSON|Object)\b/.test(column.type)
    ? `replaceRegexpAll(toString([${value}]), '"(-?[0-9]+)"', '\\\\1')`
    : `toString([${value}])`
}

/** Rows of a table that are read in groups. In `key` and `where`, `__t` is the time of a row in milliseconds, and `__h` the hash of its values. */
export interface Reading {
  readonly table: ListedTable
  readonly time: ListedColumn | undefined
  /** Without compared columns, rows are only counted. */
  readonly columns: readonly ListedColumn[]
  readonly key: string
  readonly where: readonly string[]
}

/** Rows without a time or more than a day ahead, from between the end of the backup and the request to restore it, and newer ones. */
export const otherAges = { undated: -2, impossible: -3, newer: -4 } as const

/** The key of groups by age, in milliseconds: -1 in the last `withinMs` until `cutMs`, and from 0 on four for each doubling. */
export const ageKey = ({ cutMs, withinMs, endMs, requestedMs, nowMs }: Readonly<Record<'cutMs' | 'withinMs' | keyof Moments, number>>) =>
  `multiIf(isNull(__t) OR __t > ${nowMs + dayMs}, -2, __t > ${cutMs}, if(__t > ${endMs} AND __t <= ${requestedMs}, -3, -4), ${cutMs} - __t < ${withinMs}, -1, toInt32(floor(4 * log2(1 + (${cutMs} - __t - ${withinMs}) / ${hourMs}))))`

/** By hours since 1970, or longer spans: those after a time, and one of several others. */
export function inHours(reading: Reading, spanMs: number, afterMs: number, { oneOf, seed }: Record<'oneOf' | 'seed', number>): Reading {
  const hour = `intDiv(__t, ${spanMs})`
  return { ...reading, key: hour, where: [`${reading.key} >= -1`, `(__t > ${afterMs} OR cityHash64(${hour}, ${seed}) % ${oneOf} = 0)`] }
}

export const onlyGroups = (reading: Reading, groups: readonly { readonly key: string }[]): Reading => ({
  ...reading,
  where: [...reading.where, `${reading.key} IN (${groups.map(({ key }) => key).join(', ')})`],
})

/** By hash: each of those up to this limit is a group `(1,HASH)`, and all others are in 1024 groups `(0,NUMBER)`. */
export const byHash = (reading: Reading, upTo: bigint): Reading => ({ ...reading, key: `if(__h <= ${upTo}, (1, __h), (0, __h % 1024))` })

/** By its type and not by its text, so that no time zone takes part. */
function timeSql({ time }: Reading) {
  if (time === undefined) return '0'
  const value = columnSql(time)
  return isDateOnly(time) ? `toInt64(toInt32(toDate32(${value}))) * ${dayMs}` : `toUnixTimestamp64Milli(toDateTime64(${value}, 3, 'UTC'))`
}

/** Without the tuple, the hash of a row with a NULL is NULL, which is not in a sum. */
function hashSql(values: readonly (string | undefined)[]) {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? '0' : `cityHash64(tuple(${known.join(', ')}))`
}

/** Rows are read as they are after a merge. */
const rowsSql = ({ table, where }: Reading) =>
  `FROM ${nameOfTable({ database: table.database, table: table.name })} AS __source${table.isMerging ? ' FINAL' : ''}${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`}`

const [monthMs, weekMs] = [30 * dayMs, 7 * dayMs]

/** The longest step that a time keeps, such as a day for a `Date`. Weeks begin on Mondays, as 5 January 1970. */
const stepSql = `multiIf(__t % ${dayMs} = 0 AND toDayOfMonth(fromUnixTimestamp64Milli(__t, 'UTC')) = 1, ${monthMs},
    __t % ${weekMs} = ${4 * dayMs}, ${weekMs}, ${[dayMs, hourMs, minuteMs, 1000].map((ms) => `__t % ${ms} = 0, ${ms}`).join(', ')}, 1)`

export function startOfStep(ms: number, stepMs: number): number {
  const date = new Date(ms)
  if (stepMs === monthMs) return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
  const mondayMs = stepMs === weekMs ? 4 * dayMs : 0
  return Math.floor((ms - mondayMs) / stepMs) * stepMs + mondayMs
}

// One row, also for an empty table.
const groupsSql = (reading: Reading) =>
  `SELECT sum(__n) AS total, groupArray([toString(__k), toString(__n), toString(__s), toString(__d), toString(__m), toString(__p)]) AS groups
FROM (
  WITH ${timeSql(reading)} AS __t, ${hashSql(reading.columns.map((column) => comparedValue(column)))} AS __h
  SELECT ${reading.key} AS __k, count() AS __n, sum(__h) AS __s, uniq(__h) AS __d, ifNull(max(__t), 0) AS __m, min(${reading.columns.length === 0 ? stepSql : 1}) AS __p
  ${rowsSql(reading)}
  GROUP BY __k
)`

const group = z
  .tuple([z.string(), countField, z.string(), countField, countField, countField])
  .transform(([key, rows, sum, distinct, newestMs, stepMs]) => ({ key, age: Number(key), rows, sum, distinct, newestMs, stepMs }))

/** Rows with a key, the sum of their hashes, how many different ones there are (about), the newest time, and the longest step of all times. */
export type Group = z.output<typeof group>

const groupsAnswer = z
  .tuple([z.object({ total: countField, groups: z.array(group) })])
  // An answer that lost its groups is not that of an empty table.
  .refine(([{ total, groups }]) => total === groups.reduce((sum, { rows }) => sum + rows, 0))
  .transform(([{ groups }]) => groups)

export const readGroups = (queried: Queried, reading: Reading): Promise<readonly Group[]> =>
  queryRows(queried, groupsSql(reading), groupsAnswer)

const sharesAnswer = z.tuple([z.object({ shares: z.array(countField.nullable()) })]).transform(([{ shares }]) => shares)

/** The share of rows in which each of the columns has the default value of its type. Null without rows. */
export function readDefaults(queried: Queried, reading: Reading): Promise<readonly (number | null)[]> {
  const shares = reading.columns.map((column) => {
    const byDefault = comparedValue(column, `defaultValueOfArgumentType(${columnSql(column)})`)
    return `avg(${hashSql([comparedValue(column)])} = ${hashSql([byDefault])})`
  })
  const sql = `WITH ${timeSql(reading)} AS __t\nSELECT [${shares.join(', ')}] AS shares\n${rowsSql(reading)}`
  return queryRows(queried, sql, sharesAnswer)
}

const changeRows = z.array(z.object({ database: z.string(), table: z.string(), command: z.string() }))

/** Updates and deletes of rows after the backup. None where the server does not list them. */
export async function readChanges(queried: Queried): Promise<z.output<typeof changeRows>> {
  // A lightweight update is no mutation, and leaves parts with its columns.
  const sql = `SELECT database, table, command FROM system.mutations WHERE create_time > ${backupTime}
UNION ALL
SELECT database, table, concat('UPDATE ', column) FROM system.parts_columns WHERE name LIKE 'patch-%' AND modification_time > ${backupTime}`
  return changeRows.safeParse(await query(queried, { sql, isOwn: true })).data ?? []
}

/** `UPDATE a = f(b, 'c'), d = e WHERE …` assigns a and d. A list in brackets assigns nothing. */
export function assignedColumns(command: string): readonly string[] {
  const words = toTokens(command).filter((token) => token.trim() !== '')
  // The server may put the whole change in brackets.
  let depth = command.startsWith('(') ? -1 : 0
  return words.flatMap((word, i) => {
    depth += /^[([]$/.test(word) ? 1 : /^[)\]]$/.test(word) ? -1 : 0
    const isAssigned = depth === 0 && /^(?:UPDATE|COLUMN|,)$/.test(words[i - 1] ?? '')
    return isAssigned ? [word.replaceAll(/^`|`$|\\(.)/gs, '$1')] : []
  })
}

/** The value of a query with one row and one column, or why there is none. */
export async function readValue(queried: Queried, sql: string): Promise<{ readonly value: string } | Unread> {
  const rows = await query(queried, { sql })
  if ('unread' in rows) return rows
  const [value, ...more] = rows.flatMap((row) => Object.values(row))
  if (more.length > 0) return { unread: 'the query returns more than one row or column' }
  if (value === undefined || value === null) return { unread: 'the query returns no value' }
  if (isExactNumber(value)) return { value: value.rawJSON }
  // The text of a list with one number would be that number.
  return { value: typeof value === 'object' ? JSON.stringify(value) : String(value) }
}
