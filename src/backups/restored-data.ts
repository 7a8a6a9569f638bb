// Reads what a service holds: its databases and tables, the rows from before a backup, and the value of a query.
import * as z from 'zod'
import type { ReadApi } from '../api/client.ts'
import type { Service } from '../api/path.ts'
import { type SqlRow, whyNoRows } from '../api/sql.ts'
import { nameOfTable, quoteName } from '../core/sql.ts'
import { compareText } from '../core/text.ts'
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
async function query({ api, service, backupMs, ...rest }: Queried, sql: string): Promise<readonly SqlRow[] | Unread> {
  const answer = await api.runSql(service, { sql, connectionId: '', startMs: 0, endMs: backupMs, ...rest })
  return answer.kind === 'rows' ? answer.rows : { unread: whyNoRows(answer) }
}

const count = z.coerce.number().nonnegative()

/** Quotes a name with a dot or backtick, so that no two tables have the same key. */
const keyPart = (name: string): string => (/[.`]/.test(name) ? quoteName(name) : name)

const listedTable = z
  .object({
    database: z.string(),
    /** Empty for a database. */
    name: z.string(),
    engine: z.string(),
    total: count.nullable(),
    /** When the server made or last changed it, in seconds; 0 where it does not say. */
    changed: count,
    timeColumn: z.string(),
  })
  // `database.table`, or the database.
  .transform((row) => ({ ...row, key: [row.database, row.name].filter(Boolean).map(keyPart).join('.') }))

/** A database or a table, as the system tables describe it. */
export type ListedTable = z.output<typeof listedTable>

const own = "('system', 'information_schema', 'INFORMATION_SCHEMA')"

// Inner tables of views are left out, because a restore changes the id in their names; their rows are those of the view. A time column is
// preferred in the partition key, then in the sorting key.
const listSql = `SELECT tables.database AS database, tables.name AS name, tables.engine AS engine,
  tables.total_rows AS total, toUnixTimestamp(tables.metadata_modification_time) AS changed, columns.time_column AS timeColumn
FROM system.tables AS tables
LEFT JOIN (
  SELECT database, table, argMin(name, (is_in_partition_key = 0, is_in_sorting_key = 0, position)) AS time_column
  FROM system.columns
  WHERE startsWith(replaceOne(type, 'Nullable(', ''), 'DateTime') AND default_kind NOT IN ('ALIAS', 'EPHEMERAL')
  GROUP BY database, table
) AS columns ON columns.database = tables.database AND columns.table = tables.name
WHERE tables.database NOT IN ${own} AND NOT startsWith(tables.name, '.inner') AND NOT tables.is_temporary
UNION ALL
SELECT name, '', engine, NULL, 0, '' FROM system.databases WHERE name NOT IN ${own}`

export async function listTables(queried: Queried): Promise<readonly ListedTable[] | Unread> {
  const rows = await query(queried, listSql)
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

/** Rows from before the backup, and the time of the newest one. Without a time column, all rows count. */
export type Held = { readonly rows: number; readonly newest?: string | undefined } | Unread

const countedRow = z.object({ i: count, rows: count, newest: z.coerce.number().nullable() })

const maxTables = 20

/** Counts the rows of tables by their keys, several in one query. Where it fails, each half is tried. */
export async function countRows(queried: Queried, tables: readonly ListedTable[]): Promise<ReadonlyMap<string, Held>> {
  const timed = tables.filter(({ timeColumn }) => timeColumn !== '')
  const parts = [...Map.groupBy(timed, (table) => Math.floor(timed.indexOf(table) / maxTables)).values()]
  const counted = new Map<string, Held>(
    tables.map(({ key, total }) => [key, total === null ? { unread: 'the server does not count its rows' } : { rows: total }]),
  )
  for (const part of parts) {
    const rows = await query(queried, part.map(countSql).join('\nUNION ALL\n'))
    const { data } = z.array(countedRow).safeParse(rows)
    const middle = Math.ceil(part.length / 2)
    if (data === undefined && part.length > 1) parts.push(part.slice(0, middle), part.slice(middle))
    else for (const [i, { key }] of part.entries()) counted.set(key, 'unread' in rows ? rows : toHeld(data?.find((row) => row.i === i)))
  }
  return counted
}

const countSql = ({ database, name, timeColumn }: ListedTable, i: number): string =>
  `SELECT ${i} AS i, count() AS rows, toUnixTimestamp64Milli(toDateTime64(max(${quoteName(timeColumn)}), 3)) AS newest
FROM ${nameOfTable({ database, table: name })}
WHERE ${quoteName(timeColumn)} <= ${backupTime}`

function toHeld(row: z.output<typeof countedRow> | undefined): Held {
  if (row === undefined) return { unread: 'the answer has an unexpected form' }
  return { rows: row.rows, newest: row.rows === 0 || row.newest === null ? undefined : new Date(row.newest).toISOString() }
}

/** The value of a query with one row and one column, or why there is none. */
export async function readValue(queried: Queried, sql: string): Promise<{ readonly value: string } | Unread> {
  const rows = await query(queried, sql)
  if ('unread' in rows) return rows
  const [value, ...more] = rows.flatMap((row) => Object.values(row))
  if (more.length > 0) return { unread: 'the query returns more than one row or column' }
  if (value === undefined || value === null) return { unread: 'the query returns no value' }
  return { value: JSON.isRawJSON(value) ? value.rawJSON : String(value) }
}
