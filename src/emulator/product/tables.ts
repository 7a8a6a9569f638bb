import { hourMs } from '../../platform/core/durations.ts'
import type { JsonObject, Service, Table } from '../store.ts'

// The queries of verify-restore: the list of tables and their columns, rows in groups, and the number of rows of a table.

interface TableQuery {
  readonly sql: string
  readonly endMs: number
}

/** Rows, or the message of the database. */
type TableAnswer = { readonly rows: readonly JsonObject[]; readonly elapsedMs?: number } | { readonly error: string }

const backupTime = String.raw`fromUnixTimestamp64Milli\(\{endDateMilliseconds:Int64\}\)`

const source = String.raw`FROM \x60(?<database>.*)\x60\.\x60(?<name>.*)\x60 AS __source(?: WHERE (?<where>.*))?`

const groupsShape = new RegExp(
  String.raw`^SELECT sum\(__n\) AS total, groupArray\(.*\) AS groups\nFROM \(\n {2}WITH (?<time>.*) AS __t, (?<hash>.*) AS __h\n {2}SELECT (?<key>.*) AS __k, count\(\) AS __n, [\s\S]* AS __p\n {2}${source}\n {2}GROUP BY __k\n\)$`,
)

const defaultsShape = new RegExp(String.raw`^WITH (?<time>.*) AS __t\nSELECT \[(?<shares>avg\(.*)\] AS shares\n${source}$`)

const checkShape = new RegExp(
  String.raw`^SELECT \* FROM \(\nSELECT count\(\) FROM (?<database>\w+)\.(?<name>\w+)(?: WHERE (?<column>\w+) <= ${backupTime})?\n\)\nLIMIT 2$`,
)

/** Undefined for another query. */
export function answerTables({ sql, endMs }: TableQuery, { tables }: Pick<Service, 'tables'>, nowMs: number): TableAnswer | undefined {
  if (sql.startsWith('SELECT tables.database AS database,')) return { rows: listTables(tables) }
  if (sql.startsWith('SELECT database, table, command FROM system.mutations')) return { rows: [] }
  const check = checkShape.exec(sql)?.groups
  if (check !== undefined) {
    const table = findTable(tables, check, check.column)
    return 'error' in table ? table : { rows: [{ 'count()': String(countUntil(table, check.column === undefined ? nowMs : endMs)) }] }
  }
  const defaults = defaultsShape.exec(sql)?.groups
  if (defaults !== undefined) {
    const table = findTable(tables, defaults, timeColumnIn(defaults.time))
    return 'error' in table ? table : { rows: [{ shares: (defaults.shares ?? '').split(', avg(').map(() => 0) }] }
  }
  const groups = groupsShape.exec(sql)?.groups
  return groups && countGroups(tables, groups, nowMs)
}

type Found = Readonly<Record<string, string | undefined>>

const timeColumnIn = (time = ''): string | undefined => /`([^`]*)`/.exec(time)?.[1]

function findTable(tables: readonly Table[], { database, name }: Found, column: string | undefined): Table | { readonly error: string } {
  const table = tables.find((one) => one.database === database && one.name === name)
  if (table === undefined)
    return { error: `Code: 60. DB::Exception: Unknown table expression identifier '${database}.${name}'. (UNKNOWN_TABLE)` }
  if (table.isTooLarge) return { error: 'Code: 241. DB::Exception: Memory limit (total) exceeded. (MEMORY_LIMIT_EXCEEDED)' }
  if (column !== undefined && column !== table.timeColumn)
    return { error: `Code: 47. DB::Exception: Unknown expression identifier \`${column}\`. (UNKNOWN_IDENTIFIER)` }
  return table
}

/** Rows until a time: one at the start, and one after each step. */
const countUntil = ({ fromMs, everyMs, untilMs = Number.POSITIVE_INFINITY }: Table, toMs: number): number =>
  Math.max(0, Math.floor((Math.min(toMs, untilMs) - fromMs) / everyMs) + 1)

/** Rows one after the other, from the row with the first number until that before the last. */
interface Run {
  readonly key: string
  readonly from: number
  readonly to: number
}

function countGroups(tables: readonly Table[], found: Found, nowMs: number): TableAnswer | undefined {
  const { time, hash = '', key = '', where } = found
  const table = findTable(tables, found, timeColumnIn(time))
  if ('error' in table) return table
  const [, groupKey = key, list] = /^(.*) IN \(([^()]*)\)$/.exec(where ?? '') ?? []
  const keyAt = toKey(groupKey)
  const limit = /^if\(__h <= (\d+), \(1, __h\), \(0, __h % 1024\)\)$/.exec(key)?.[1]
  if (keyAt === undefined || (key !== groupKey && limit === undefined) || (where !== undefined && list === undefined)) return undefined
  const timeAt = (i: number): number => (time === '0' ? 0 : table.fromMs + i * table.everyMs)
  const read = findRuns(countUntil(table, nowMs), (i) => keyAt(timeAt(i))).filter(
    (run) => list === undefined || list.split(', ').includes(run.key),
  )
  const runs = limit === undefined ? read : read.flatMap((run) => splitByHash(run, BigInt(limit)))
  const groups = [...Map.groupBy(runs, (run) => run.key.split(' ')[0] ?? '')].map(([of, parts]) => {
    const rows = parts.reduce((sum, { from, to }) => sum + to - from, 0)
    const sum = hash === '0' ? 0n : parts.reduce((total, { from, to }) => total + sumHashes(from, to), 0n)
    const newestMs = Math.max(...parts.map(({ to }) => timeAt(to - 1)))
    return [of, rows, BigInt.asUintN(64, sum), rows, newestMs, stepOf([...parts.map(({ from }) => timeAt(from)), table.everyMs])].map(
      String,
    )
  })
  return { rows: [{ total: String(runs.reduce((sum, { from, to }) => sum + to - from, 0)), groups }] }
}

/** Finds where the key changes. No key comes twice. */
function findRuns(count: number, keyAt: (i: number) => string): readonly Run[] {
  const runs: Run[] = []
  for (let from = 0; from < count; from = runs.at(-1)?.to ?? count) {
    const key = keyAt(from)
    let [to, other] = [from + 1, count]
    while (to < other) {
      const middle = Math.floor((to + other) / 2)
      if (keyAt(middle) === key) to = middle + 1
      else other = middle
    }
    runs.push({ key, from, to })
  }
  return runs
}

const splitByHash = ({ from, to }: Run, limit: bigint): readonly Run[] =>
  Array.from({ length: to - from }, (_, i) => {
    const hash = hashOf(from + i)
    return { key: hash <= limit ? `(1,${hash})` : `(0,${hash % 1024n})`, from: from + i, to: from + i + 1 }
  })

const factor = 0x9e3779b97f4a7c15n

/** The values of a row depend on its number only. */
const hashOf = (i: number): bigint => BigInt.asUintN(64, BigInt(i + 1) * factor)

const sumHashes = (from: number, to: number): bigint => ((BigInt(from + 1 + to) * BigInt(to - from)) / 2n) * factor

/** The longest step of all these times. */
const stepOf = (times: readonly number[]): number =>
  [24 * hourMs, hourMs, 60_000, 1000].find((step) => times.every((time) => time % step === 0)) ?? 1

const ages = /^multiIf\(isNull\(__t\) OR __t > (\d+), -2, __t > (\d+), if\(__t > (\d+) AND __t <= (\d+), -3, -4\), \d+ - __t < (\d+), -1, /

/** The group of a time. Undefined for another key. */
function toKey(key: string): ((time: number) => string) | undefined {
  if (key === '0') return () => '0'
  const found = ages.exec(key)
  if (found === null) return undefined
  const [now, cut, end, requested, within] = found.slice(1).map(Number) as [number, number, number, number, number]
  return (time) => {
    if (time > now) return '-2'
    if (time > cut) return time <= end ? '-4' : time <= requested ? '-3' : '-4 later'
    return String(cut - time < within ? -1 : Math.floor(4 * Math.log2(1 + (cut - time - within) / hourMs)))
  }
}

function listTables(tables: readonly Table[]): JsonObject[] {
  const databases = [...new Set(['default', ...tables.map(({ database }) => database)])]
  const common = { storage: '', bytes: '0', hasTtl: 0, changed: '0', columns: [] }
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
