import { hourMs } from '../../platform/core/durations.ts'
import type { JsonObject, Service, Table } from '../store.ts'

// The queries of verify-restore: the list of tables and their columns, rows in groups, and the number of rows of a table.

type TableAnswer = { readonly rows: readonly JsonObject[]; readonly elapsedMs?: number } | { readonly error: string }

const sourceForm = String.raw`FROM \x60(?<database>.*)\x60\.\x60(?<name>.*)\x60 AS __source(?: WHERE (?<where>.*))?`

const groupsShape = new RegExp(
  String.raw`^SELECT sum\(__n\) AS total, groupArray\(.*\) AS groups\nFROM \(\n {2}WITH (?<time>.*) AS __t, (?<hash>.*) AS __h\n {2}SELECT (?<key>.*) AS __k, count\(\) AS __n, [\s\S]* AS __p\n {2}${sourceForm}\n {2}GROUP BY __k\n\)$`,
)

const defaultsShape = new RegExp(String.raw`^WITH (?<time>.*) AS __t\nSELECT \[(?<shares>avg\(.*)\] AS shares\n${sourceForm}$`)

const checkShape =
  /^SELECT \* FROM \(\nSELECT count\(\) FROM (?<database>\w+)\.(?<name>\w+)(?: WHERE (?<column>\w+) <= fromUnixTimestamp64Milli\(\{endDateMilliseconds:Int64\}\))?\n\)\nLIMIT 2$/

/** Undefined for another query. */
export function answerTables(
  { sql, endMs }: { readonly sql: string; readonly endMs: number },
  { tables }: Service,
  nowMs: number,
): TableAnswer | undefined {
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

type TableGroups = Readonly<Record<string, string | undefined>>

const timeColumnIn = (time = '') => /`([^`]*)`/.exec(time)?.[1]

function findTable(
  tables: readonly Table[],
  { database, name }: TableGroups,
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

/** Two hashes of 32 bits as one of 64. */
function rowHash(timeMs: number, value: number): bigint {
  const half = (seed: number): number => {
    let mixed = seed
    for (const part of [timeMs, Math.floor(timeMs / 2 ** 32), value]) {
      mixed = Math.imul(mixed ^ part, 0x9e3779b1)
      mixed ^= mixed >>> 15
    }
    return mixed >>> 0
  }
  return (BigInt(half(1)) << 32n) | BigInt(half(2))
}

function countGroups(tables: readonly Table[], found: TableGroups, nowMs: number): TableAnswer | undefined {
  const { time, hash, key = '', where } = found
  const table = findTable(tables, found, timeColumnIn(time))
  if ('error' in table) return table
  const [, whereKey = '0', list] = /^(.*) IN \(([^()]*)\)$/.exec(where ?? '') ?? []
  const limit = /^if\(__h <= (\d+), \(1, __h\), \(0, __h % 1024\)\)$/.exec(key)?.[1]
  const ageAt = toAge(limit === undefined ? key : whereKey)
  if (ageAt === undefined || (where !== undefined && list === undefined)) return undefined
  const listed = list === undefined ? undefined : new Set(list.split(', '))
  const toGroup = (age: string, hashed: bigint): string =>
    limit === undefined ? age : hashed <= BigInt(limit) ? `(1,${hashed})` : `(0,${hashed % 1024n})`
  const groups = new Map<
    string,
    { readonly hashes: Set<bigint>; readonly sum: bigint } & Readonly<Record<'rows' | 'newestMs' | 'stepMs', number>>
  >()
  for (const [rowMs, value] of table.rows ?? rowsUntil(table, nowMs)) {
    const timeMs = time === '0' ? 0 : rowMs
    const age = ageAt(timeMs)
    if (listed !== undefined && !listed.has(age)) continue
    const hashed = hash === '0' ? 0n : rowHash(rowMs, value)
    const of = toGroup(age, hashed)
    const group = groups.get(of) ?? { rows: 0, sum: 0n, newestMs: 0, stepMs: 24 * hourMs, hashes: new Set() }
    groups.set(of, {
      rows: group.rows + 1,
      sum: group.sum + hashed,
      newestMs: Math.max(group.newestMs, timeMs),
      stepMs: [24 * hourMs, hourMs, 60_000, 1000].find((step) => step <= group.stepMs && timeMs % step === 0) ?? 1,
      hashes: group.hashes.add(hashed),
    })
  }
  const answers = [...groups].map(([of, { rows, sum, newestMs, stepMs, hashes }]) =>
    [of, rows, BigInt.asUintN(64, sum), hashes.size, newestMs, stepMs].map(String),
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
