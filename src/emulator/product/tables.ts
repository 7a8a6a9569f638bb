import type { JsonObject, Service, Table } from '../store.ts'

// The queries of verify-restore: the list of tables, rows from before a time, and the number of rows of a table.

interface TableQuery {
  readonly sql: string
  readonly endMs: number
}

/** Rows, or the message of the database. */
type TableAnswer = { readonly rows: readonly JsonObject[]; readonly elapsedMs?: number } | { readonly error: string }

const backupTime = String.raw`fromUnixTimestamp64Milli\(\{endDateMilliseconds:Int64\}\)`

const countShape = new RegExp(
  String.raw`^SELECT (?<i>\d+) AS i, count\(\) AS rows, .*\nFROM \x60(?<database>.*)\x60\.\x60(?<name>.*)\x60\nWHERE \x60(?<column>.*)\x60 <= ${backupTime}$`,
)

const checkShape = new RegExp(
  String.raw`^SELECT \* FROM \(\nSELECT count\(\) FROM (?<database>\w+)\.(?<name>\w+)(?: WHERE (?<column>\w+) <= ${backupTime})?\n\)\nLIMIT 2$`,
)

/** Undefined for another query. */
export function answerTables({ sql, endMs }: TableQuery, { tables }: Pick<Service, 'tables'>, nowMs: number): TableAnswer | undefined {
  if (sql.startsWith('SELECT tables.database AS database,')) return { rows: listTables(tables, nowMs) }
  const check = checkShape.exec(sql)?.groups
  if (check !== undefined)
    return countOf(tables, check, check.column === undefined ? nowMs : endMs, (count) => ({ 'count()': String(count) }))
  const rows: JsonObject[] = []
  for (const part of sql.split('\nUNION ALL\n')) {
    const found = countShape.exec(part)?.groups
    if (found === undefined) return undefined
    const counted = countOf(tables, found, endMs, (count, newestMs) => ({
      i: Number(found.i),
      rows: String(count),
      newest: String(newestMs ?? 0),
    }))
    if ('error' in counted) return counted
    rows.push(...counted.rows)
  }
  return { rows }
}

function countOf(
  tables: readonly Table[],
  { database, name, column }: Readonly<Record<string, string>>,
  toMs: number,
  toRow: (count: number, newestMs: number | undefined) => JsonObject,
): TableAnswer {
  const table = tables.find((one) => one.database === database && one.name === name)
  if (table === undefined)
    return { error: `Code: 60. DB::Exception: Unknown table expression identifier '${database}.${name}'. (UNKNOWN_TABLE)` }
  if (column !== undefined && column !== table.timeColumn)
    return { error: `Code: 47. DB::Exception: Unknown expression identifier \`${column}\`. (UNKNOWN_IDENTIFIER)` }
  const { count, newestMs } = rowsUntil(table, toMs)
  return { rows: [toRow(count, newestMs)] }
}

/** A row at the start, and one after each step. */
function rowsUntil({ fromMs, everyMs, untilMs = Number.POSITIVE_INFINITY }: Table, toMs: number) {
  const steps = Math.floor((Math.min(toMs, untilMs) - fromMs) / everyMs)
  return steps < 0 ? { count: 0, newestMs: undefined } : { count: steps + 1, newestMs: fromMs + steps * everyMs }
}

function listTables(tables: readonly Table[], nowMs: number): JsonObject[] {
  const databases = [...new Set(['default', ...tables.map(({ database }) => database)])]
  const common = { total: null, changed: '0', timeColumn: '' }
  return [
    ...databases.map((name) => ({ ...common, database: name, name: '', engine: 'Shared' })),
    ...tables.map((table) => {
      const { database, name, engine, timeColumn = '', changedMs = 0 } = table
      const total = engine.endsWith('MergeTree') ? String(rowsUntil(table, nowMs).count) : null
      return { database, name, engine, total, changed: String(Math.floor(changedMs / 1000)), timeColumn }
    }),
  ]
}
