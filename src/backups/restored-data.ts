// Reads what a service holds: its databases, tables and columns, the rows from before a backup, and the value of a query.

import * as z from 'zod'
import { ApiError } from '../platform/api/api-error.ts'
import type { ReadApi } from '../platform/api/client.ts'
import type { Service } from '../platform/api/path.ts'
import { type SqlQuery, type SqlRow, whyNoRows } from '../platform/api/sql.ts'
import { causeOf } from '../platform/core/errors.ts'
import { isExactNumber } from '../platform/core/json.ts'
import { nameOfTable, quoteName } from '../platform/core/sql.ts'
import { compareText } from '../platform/core/text.ts'
import { backupTime } from './checks-file.ts'

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

/** Throws an ApiError when there is no answer. */
async function query(
  { api, service, backupMs, ...rest }: Queried,
  asked: Pick<SqlQuery, 'sql' | 'isOwn'>,
): Promise<readonly SqlRow[] | Unread> {
  try {
    const answer = await api.runSql(service, { ...asked, connectionId: '', startMs: 0, endMs: backupMs, isRepeated: true, ...rest })
    return answer.kind === 'rows' ? answer.rows : { unread: whyNoRows(answer) }
  } catch (thrown) {
    // A server that fails again and again may do so because of this query, such as one that needs too much memory.
    if (thrown instanceof ApiError && thrown.kind === 'server') return { unread: causeOf(thrown) }
    throw thrown
  }
}

const count = z.coerce.number().nonnegative()

/** Quotes a name with a dot or backtick, so that no two tables have the same key. */
const keyPart = (name: string): string => (/[.`]/.test(name) ? quoteName(name) : name)

const listedColumn = z
  .tuple([count, z.string(), z.string(), z.string(), z.string(), z.string()])
  .transform(([position, name, type, kind, inPartitionKey, inSortingKey]) => ({
    ...{ position, name, type, kind },
    inPartitionKey: inPartitionKey === '1',
    inSortingKey: inSortingKey === '1',
  }))

const listedTable = z
  .object({
    database: z.string(),
    /** Empty for a database. */
    name: z.string(),
    engine: z.string(),
    /** The engine of the rows: of a materialized view, that of its own storage. */
    storage: z.string(),
    total: count.nullable(),
    /** When the server made or last changed it, in seconds; 0 where it does not say. */
    changed: count,
    columns: z.array(listedColumn),
  })
  // `database.table`, or the database.
  .transform((row) => ({ ...row, key: [row.database, row.name].filter(Boolean).map(keyPart).join('.') }))

/** A database or a table, as the system tables describe it. */
export type ListedTable = z.output<typeof listedTable>

const own = "('system', 'information_schema', 'INFORMATION_SCHEMA')"

// Inner tables of views are left out, because a restore changes the id in their names; their rows are those of the view.
const listSql = String.raw`SELECT tables.database AS database, tables.name AS name, tables.engine AS engine,
  if(tables.engine = 'MaterializedView', extract(tables.create_table_query, 'ENGINE = ([A-Za-z]+)'), tables.engine) AS storage,
  tables.total_rows AS total, toUnixTimestamp(tables.metadata_modification_time) AS changed, columns.list AS columns
FROM system.tables AS tables
LEFT JOIN (
  SELECT database, table,
    groupArray([toString(position), name, type, default_kind, toString(is_in_partition_key), toString(is_in_sorting_key)]) AS list
  FROM system.columns
  GROUP BY database, table
) AS columns ON columns.database = tables.database AND columns.table = tables.name
WHERE tables.database NOT IN ${own} AND NOT match(tables.name, '^\\.inner_id\\.([a-z]+\\.)?[0-9a-f-]{36}$') AND NOT tables.is_temporary
UNION ALL
SELECT name, '', engine, '', NULL, 0, [] FROM system.databases WHERE name NOT IN ${own}`

export async function listTables(queried: Queried): Promise<readonly ListedTable[] | Unread> {
  const rows = await query(queried, { sql: listSql, isOwn: true })
  if ('unread' in rows) return rows
  const { data } = z.array(listedTable).safeParse(rows)
  return data?.toSorted((a, b) => compareText(a.key, b.key)) ?? { unread: 'the answer has an unexpected form' }
}

/** Engines whose rows are elsewhere, or nowhere: a backup has only the definition of such a table. */
const withoutRows =
  /^(?:View|LiveView|WindowView|Dictionary|Kafka|S3Queue|AzureQueue|RabbitMQ|NATS|FileLog|Distributed|Null|Merge|Alias|GenerateRandom|S3|GCS|AzureBlobStorage|URL|File|HDFS|MySQL|PostgreSQL|MongoDB|SQLite|Redis|ODBC|JDBC|Iceberg\w*|DeltaLake\w*|Hudi\w*)$/

/** A database, a view without an inner table and a table of an engine without rows have none of their own. */
export const hasOwnRows = ({ name, engine, total }: ListedTable): boolean =>
  name !== '' && !withoutRows.test(engine) && (engine !== 'MaterializedView' || total !== null)

/** Engines that drop or join rows when they merge parts, which happens at other times after a restore. */
const isMerging = ({ storage }: ListedTable): boolean =>
  /(?:Replacing|Summing|Aggregating|Collapsing|Coalescing|Graphite)MergeTree$/.test(storage)

/** A column that can have the time of a row. */
export interface TimeColumn {
  readonly name: string
  /** Has days, and no times of day. */
  readonly isDay: boolean
  /** In the partition key or the sorting key, as a time of events usually is. */
  readonly isKey: boolean
}

const timeType = /^(?:LowCardinality\()?(?<nullable>Nullable\()?Date(?<time>Time)?(?:32|64)?\b/

/** The most likely first. */
export function timeColumnsOf({ columns }: Pick<ListedTable, 'columns'>): readonly TimeColumn[] {
  return columns
    .flatMap(({ name, type, kind, position, inPartitionKey, inSortingKey }) => {
      const found = timeType.exec(type)?.groups
      if (found === undefined || kind === 'ALIAS' || kind === 'EPHEMERAL') return []
      const column: TimeColumn = { name, isDay: found.time === undefined, isKey: inPartitionKey || inSortingKey }
      return [{ column, rank: [found.nullable !== undefined, !column.isKey, column.isDay, !inPartitionKey, position].map(Number) }]
    })
    .toSorted((a, b) => a.rank.map((value, i) => value - (b.rank[i] ?? 0)).find((difference) => difference !== 0) ?? 0)
    .map(({ column }) => column)
}

/** Rows of a table by one of its time columns. A row without a time, or with one that is more than a day ahead, is in none of these. */
export interface TimedRows {
  /** With a time before the backup. For a column of days, with a day before that of the backup. */
  readonly before: number
  /** All others. */
  readonly newer: number
  /** Certainly newer: for a column of days, without the day of the backup. */
  readonly later: number
  /** The newest time before the backup, if there is one. */
  readonly newest: string | undefined
}

export type Counted = { readonly total: number; readonly times: ReadonlyMap<string, TimedRows> } | Unread

const timedRows = z.tuple([count, count, count, z.coerce.number()]).transform(
  ([before, newer, later, newest]): TimedRows => ({
    ...{ before, newer, later },
    newest: before === 0 ? undefined : new Date(newest).toISOString(),
  }),
)

const countedRow = z.object({ i: count, total: count, times: z.array(timedRows) })

interface Asked {
  readonly table: ListedTable
  readonly columns: readonly TimeColumn[]
}

const maxTables = 20

/** Counts the rows of tables by their keys, several in one query. Where it fails, each half is tried. */
export async function countRows(service: Queried, asked: readonly Asked[]): Promise<ReadonlyMap<string, Counted>> {
  const queried = asked.filter(({ table, columns }) => columns.length > 0 || isMerging(table))
  const parts = [...Map.groupBy(queried, (one) => Math.floor(queried.indexOf(one) / maxTables)).values()]
  const counted = new Map<string, Counted>(
    asked.map(({ table: { key, total } }) => [
      key,
      total === null ? { unread: 'the server does not count its rows' } : { total, times: new Map() },
    ]),
  )
  for (const part of parts) {
    const rows = await query(service, { sql: part.map(countSql).join('\nUNION ALL\n'), isOwn: true })
    const { data } = z.array(countedRow).safeParse(rows)
    const middle = Math.ceil(part.length / 2)
    if (data === undefined && part.length > 1) parts.push(part.slice(0, middle), part.slice(middle))
    else {
      for (const [i, one] of part.entries()) {
        const row = data?.find((each) => each.i === i)
        counted.set(one.table.key, 'unread' in rows ? rows : toCounted(row, one))
      }
    }
  }
  return counted
}

function toCounted(row: z.output<typeof countedRow> | undefined, { columns }: Asked): Counted {
  if (row?.times.length !== columns.length) return { unread: 'the answer has an unexpected form' }
  return { total: row.total, times: new Map(columns.flatMap(({ name }, i) => (row.times[i] ? [[name, row.times[i]]] : []))) }
}

// As they are after a merge, with FINAL.
const countSql = ({ table, columns }: Asked, i: number): string =>
  `SELECT ${i} AS i, count() AS total, [${columns.map(timedRowsSql).join(', ')}] AS times
FROM ${nameOfTable({ database: table.database, table: table.name })}${isMerging(table) ? ' FINAL' : ''}`

function timedRowsSql({ name, isDay }: TimeColumn): string {
  const time = quoteName(name)
  const backup = isDay ? `toDate(${backupTime})` : backupTime
  const isBefore = `${time} ${isDay ? '<' : '<='} ${backup}`
  // Clocks and time zones differ.
  const isKnown = `${time} <= now() + INTERVAL 1 DAY`
  const counts = [isBefore, `NOT (${isBefore}) AND ${isKnown}`, `${time} > ${backup} AND ${isKnown}`].map(
    (one) => `toInt64(countIf(${one}))`,
  )
  return `[${counts.join(', ')}, ifNull(toUnixTimestamp64Milli(toDateTime64(maxIf(${time}, ${isBefore}), 3)), 0)]`
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
