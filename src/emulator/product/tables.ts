import type { JsonObject, Service, Table } from '../store.ts'

// The queries of verify-restore: the list of tables and their columns, rows by their times, and the number of rows of a table.

interface TableQuery {
  readonly sql: string
  readonly endMs: number
}

/** Rows, or the message of the database. */
type TableAnswer = { readonly rows: readonly JsonObject[]; readonly elapsedMs?: number } | { readonly error: string }

const backupTime = String.raw`fromUnixTimestamp64Milli\(\{endDateMilliseconds:Int64\}\)`

const countShape =
  /^SELECT (?<i>\d+) AS i, count\(\) AS total, \[(?<times>\[toInt64\(countIf\(.*)\] AS times\nFROM `(?<database>.*)`\.`(?<name>.*)`$/

/** A column of times. */
const timeShape = new RegExp(String.raw`\[toInt64\(countIf\(\x60(?<column>[^\x60]*)\x60 <= ${backupTime}\)\), `, 'g')

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
    const columns = [...(found.times ?? '').matchAll(timeShape)].map(({ groups }) => groups?.column)
    const all = countOf(tables, found, nowMs, (total) => ({ total }))
    if ('error' in all) return all
    const total = Number(all.rows[0]?.total)
    const times: JsonObject[] = []
    for (const column of columns) {
      const counted = countOf(tables, { ...found, column }, endMs, (count, newestMs = 0) => ({
        time: [count, total - count, total - count, newestMs].map(String),
      }))
      if ('error' in counted) return counted
      times.push(...counted.rows)
    }
    rows.push({ i: Number(found.i), total: String(total), times: times.map(({ time }) => time) })
  }
  return { rows }
}

function countOf(
  tables: readonly Table[],
  { database, name, column }: Readonly<Record<string, string | undefined>>,
  toMs: number,
  toRow: (count: number, newestMs: number | undefined) => JsonObject,
): TableAnswer {
  const table = tables.find((one) => one.database === database && one.name === name)
  if (table === undefined)
    return { error: `Code: 60. DB::Exception: Unknown table expression identifier '${database}.${name}'. (UNKNOWN_TABLE)` }
  if (table.isTooLarge) return { error: 'Code: 241. DB::Exception: Memory limit (total) exceeded. (MEMORY_LIMIT_EXCEEDED)' }
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
  const common = { storage: '', total: null, changed: '0', columns: [] }
  return [
    ...databases.map((name) => ({ ...common, database: name, name: '', engine: 'Shared' })),
    ...tables.map((table) => {
      const { database, name, engine, timeColumn, changedMs = 0 } = table
      const total = engine.endsWith('MergeTree') ? String(rowsUntil(table, nowMs).count) : null
      const columns = [
        ['1', 'Id', 'UInt64', '', '0', '0'],
        ...(timeColumn === undefined ? [] : [['2', timeColumn, 'DateTime64(9)', '', '0', '1']]),
      ]
      return { database, name, engine, storage: engine, total, changed: String(Math.floor(changedMs / 1000)), columns }
    }),
  ]
}
