import type { SqlAnswer, SqlColumn, SqlRow } from '../../platform/api/sql-query.ts'
import { spellVariable } from '../../platform/core/input-spelling.ts'
import { namesAtMost, quote } from '../../platform/core/text.ts'
import type { Refusal, SeriesRow, ServerAccess } from './series-api.ts'
import { renderBatch, renderWindow, type SqlShape, type WindowSql, windowColumn } from './window-sql.ts'

// Past windows of a raw SQL tile are parts of one query. Limits of HyperDX 2.36: 100,000 characters in a query, 50,000 in an answer, and
// ClickHouse parses at most 50,000 elements.

interface WindowsContext extends ServerAccess {
  /** A negative number gives requests back. False where the limit does not allow the number. */
  readonly reserve: (count: number) => boolean
  readonly maxRequests: number
  /** Why an alert is not read on: it took this time so far, and needs at least that much more. Undefined where it may go on. */
  readonly refuseTime: (spentMs: number, leftMs: number) => Refusal | undefined
}

type SqlRows = Extract<SqlAnswer, { readonly kind: 'rows' }>

type WindowRows = { readonly rows: readonly SeriesRow[]; readonly early: number } | Refusal

/** The rows of the tile in these windows. Throws an ApiError. */
export async function readWindows(
  context: WindowsContext,
  sql: WindowSql,
  starts: readonly number[],
  lengthMs: number,
): Promise<WindowRows> {
  const largest = batchSize(sql, lengthMs)
  const rows: SeriesRow[] = []
  let [reserved, done, slow, size, spentMs, leftMs, early] = [0, 0, 0, largest, 0, 0, 0]
  // A tile over time can have many rows in a window.
  let isMeasured = sql.shape === 'number'
  try {
    while (done < starts.length) {
      const needed = Math.ceil((starts.length - done) / size)
      if (needed > reserved && !context.reserve(needed - reserved)) return tooExpensive(needed, done, context.maxRequests)
      reserved = Math.max(reserved, needed)
      const refusal = context.refuseTime(spentMs, leftMs)
      if (refusal !== undefined) return refusal
      reserved--
      const batch = starts.slice(done, done + (isMeasured ? size : Math.min(size, 100)))
      const { answer, elapsedMs } = await runBatch(context, sql, batch, lengthMs)
      spentMs += elapsedMs
      isMeasured = true
      slow += Number(answer.kind === 'too-slow')
      // Each try with fewer windows takes up to 30 s of the service.
      if (isTooMuch(answer) && batch.length > 1 && slow <= 2) {
        size = Math.ceil(batch.length / 4)
        continue
      }
      if (answer.kind !== 'rows') return toRefusal(answer)
      const read = toRows(answer, sql.shape, batch)
      if ('reason' in read) return read
      for (const row of read.rows) rows.push(row)
      early += read.early
      done += batch.length
      const { length } = JSON.stringify(answer.rows)
      size = Math.min(largest, Math.max(1, Math.floor((batch.length * 40_000) / length)))
      // More windows take no less time.
      leftMs = elapsedMs * Math.ceil((starts.length - done) / Math.max(size, batch.length))
    }
    return { rows, early }
  } finally {
    context.reserve(-reserved)
  }
}

const tooExpensive = (needed: number, done: number, max: number): Refusal => ({
  reason: `too expensive: its SQL needs ${needed}${done === 0 ? '' : ' more'} queries, and the limit of ${max} requests leaves fewer`,
})

/** The time is that on the server where it states that, because this has no wait for the rate limit. */
async function runBatch({ api, service }: WindowsContext, sql: WindowSql, batch: readonly number[], lengthMs: number) {
  const startedMs = api.remainingMs()
  const answer = await api.runSql(service, {
    sql: renderBatch(sql, batch, lengthMs),
    connectionId: sql.connectionId,
    startMs: batch[0] ?? 0,
    endMs: (batch.at(-1) ?? 0) + lengthMs,
  })
  const statedMs = answer.kind === 'rows' ? answer.elapsedMs : undefined
  return { answer, elapsedMs: statedMs ?? startedMs - api.remainingMs() }
}

function batchSize(sql: WindowSql, lengthMs: number) {
  const length = renderWindow(sql, Date.UTC(2026, 0, 1), lengthMs).length + 60
  // Measured on queries of many kinds. All limits have a margin.
  const elements = 2 * sql.parts.filter((part) => part !== ' ').length + 30
  return Math.max(1, Math.min(500, Math.floor(95_000 / length), Math.floor(45_000 / elements)))
}

const isTooMuch = (answer: SqlAnswer) =>
  answer.kind === 'too-large' || answer.kind === 'too-slow' || (answer.kind === 'refused' && answer.reason.includes('AST is too big'))

export function toRefusal(answer: Exclude<SqlAnswer, { readonly kind: 'rows' }>): Refusal {
  switch (answer.kind) {
    case 'asleep':
      return { reason: `asleep, not checked: a query would wake the service; set ${spellVariable('wake-service', 'true')} to allow that` }
    case 'too-slow':
      return { reason: 'its SQL took longer than 30 s, the limit of the server' }
    case 'too-large':
      return { reason: 'the answer to its SQL is too large for the server' }
    case 'refused':
      return { reason: `the server refused its SQL: ${answer.reason}`, queryError: answer.reason }
    case 'unsent':
      return { reason: answer.reason }
  }
}

type ColumnKind = 'number' | 'time' | 'other'

/** Decides by the name of a type, as the server does, which does not treat a decimal as a number. */
export function kindOfType(type: string): ColumnKind {
  if (type.startsWith('Date')) return 'time'
  if (/^(?:U?Int|Float)/.test(type)) return 'number'
  const [, name, inner = ''] = /^(LowCardinality|Nullable|Variant)\((.*)\)$/.exec(type) ?? []
  if (name === 'Variant') return inner.split(', ').every((one) => kindOfType(one) === 'number') ? 'number' : 'other'
  return name === undefined ? 'other' : kindOfType(inner)
}

/** What the server compares: of each row the last number, and what is neither a number nor the time names the group. */
function toRows({ columns: all, rows }: SqlRows, shape: SqlShape, starts: readonly number[]): WindowRows {
  const own = all.filter(({ name }) => name !== windowColumn)
  const never = whyNeverEvaluated(own, shape)
  if (never !== undefined) return { reason: `never evaluated: ${never}`, never }
  const time = shape === 'number' ? undefined : own.find(({ type }) => kindOfType(type) === 'time')
  const zone = time && refuseZone(time, rows)
  if (zone !== undefined) return zone
  const byWindow = Map.groupBy(rows, (row) => Number(row[windowColumn]))
  if (time === undefined && [...byWindow.values()].some((ofWindow) => ofWindow.length > 1))
    return { reason: 'the query of a number tile has several rows, of which the server takes the first; end it with LIMIT 1' }
  const numbers = numbersIn(own)
  const read = starts.map((startMs, i) => toSeriesRows(byWindow.get(i) ?? [], startMs, numbers, time?.name))
  return { rows: read.flatMap((one) => one.rows), early: read.filter(({ isEarly }) => isEarly).length }
}

const numbersIn = (columns: readonly SqlColumn[]) =>
  new Set(columns.filter(({ type }) => kindOfType(type) === 'number').map(({ name }) => name))

export function whyNeverEvaluated(columns: readonly SqlColumn[], shape: SqlShape): string | undefined {
  const has = (kind: ColumnKind): boolean => columns.some(({ type }) => kindOfType(type) === kind)
  if (!has('number')) {
    const types = namesAtMost(3, [...new Set(columns.map(({ type }) => quote(type)))])
    return `the query has no column that is a number, but ${types}; convert one, such as with toFloat64`
  }
  return shape === 'over-time' && !has('time') ? 'the query has no column that is a time' : undefined
}

/** One for each group. Of a tile over time, the server takes the rows whose time is the start of the window. */
function toSeriesRows(rows: readonly SqlRow[], startMs: number, numbers: ReadonlySet<string>, time: string | undefined) {
  const compared = time === undefined ? rows : rows.filter((row) => toTimeMs(row[time]) === startMs)
  const groups = Map.groupBy(compared, (row) => (time === undefined ? '' : groupOf(row, numbers, time)))
  const isEarly = time !== undefined && compared.length === 0 && rows.some((row) => toTimeMs(row[time]) < startMs)
  const series = [...groups].map(([group, own]): SeriesRow => {
    const values = own.map((row) => lastNumber(row, numbers))
    return { startMs, group, groupValues: [group], numbers: new Map(values.entries()) }
  })
  return { rows: series, isEarly }
}

export const valueOfNumber = ({ columns, rows: [row] }: SqlRows): number => (row && lastNumber(row, numbersIn(columns))) ?? 0

/** The cloud writes a time in the zone of its column. */
function refuseZone({ name, type }: SqlColumn, rows: readonly SqlRow[]) {
  const zone = /'([^']*)'/.exec(type)?.[1] ?? 'UTC'
  return zone === 'UTC' || rows.every((row) => String(row[name]).endsWith('Z'))
    ? undefined
    : { reason: `the times of its query are in the zone ${zone}; use UTC` }
}

/** `2026-11-12T08:50:00Z`, and the same without zone. */
function toTimeMs(value: unknown) {
  const text = String(value).replace(' ', 'T')
  return Date.parse(/T[^TZ]*$/.test(text) ? `${text}Z` : text)
}

/** Whole numbers of 64 bits are texts of digits. */
function lastNumber(row: SqlRow, numbers: ReadonlySet<string>): number | null {
  const [, value] = Object.entries(row).findLast(([name]) => numbers.has(name)) ?? []
  const number = typeof value === 'string' ? Number.parseInt(value, 10) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

const groupOf = (row: SqlRow, numbers: ReadonlySet<string>, time: string) =>
  Object.entries(row)
    .filter(([name]) => name !== windowColumn && name !== time && !numbers.has(name))
    .map(([name, value]) => `${name}:${String(value)}`)
    .join(', ')

// Whether raw SQL bounds its time, asked of the database, because its text does not tell: an OR without brackets, one of two tables, or an
// end
// that is only shown. Tried on ClickHouse 26.9 with 30 queries, of which 28 are judged correctly; two read a table without a matching row.

/** Times in which no row can be. Before 1970, times wrap to 2106. */
const [past, future] = [Date.UTC(1980, 0, 1), Date.UTC(2099, 0, 1)]

/**
 * Why the values of past windows are not those of their rows; undefined where the query reads only rows of its window. Throws an ApiError.
 */
export async function refuseUnbounded(
  sql: WindowSql,
  lengthMs: number,
  { api, service, reserve }: WindowsContext,
): Promise<Refusal | undefined> {
  const { isSelfHosted } = api.profile
  const ask = async (atMs: number, isEmpty: boolean): Promise<SqlAnswer | undefined> => {
    if (!reserve(1)) return undefined
    return api.runSql(service, {
      sql: `SELECT * FROM (${renderWindow(sql, atMs, lengthMs)})`,
      connectionId: sql.connectionId,
      startMs: atMs,
      endMs: atMs + lengthMs,
      // A role of ClickHouse Cloud that only reads must not change settings.
      ...(isSelfHosted && { settings: { use_query_condition_cache: 0, ...(isEmpty && { emptyTables: sql.tables }) } }),
    })
  }
  const found = await ask(past, false)
  if (found === undefined) return { reason: 'the limit of requests is used up' }
  if (found.kind !== 'rows') return toRefusal(found)
  const never = found.columns.length > 0 ? whyNeverEvaluated(found.columns, sql.shape) : undefined
  if (never !== undefined) return { reason: `never evaluated: ${never}`, never }
  if (found.rowsRead === 0 || (await isUnaffected(found, past))) return undefined
  const later = await ask(future, false)
  if (later?.kind === 'rows' && (await isUnaffected(later, future)))
    return {
      reason:
        'its SQL does not bound the end of the window, so values of the past would include later rows; add AND Timestamp <= $__toTime',
      bounds: 'start-only',
    }
  const value = Object.values(found.rows[0] ?? {}).at(-1)
  return {
    reason: `its SQL does not bound its time: for a window in 1980, it reads rows, too, and its value is ${quote(String(value))}; add $__timeFilter(Timestamp) to each table`,
    bounds: 'open',
  }

  /** Whether an answer is the same without rows in the tables. */
  async function isUnaffected({ rows }: SqlRows, atMs: number): Promise<boolean> {
    const empty = isSelfHosted && (sql.tables ?? []).length > 0 ? await ask(atMs, true) : undefined
    return empty?.kind === 'rows' ? JSON.stringify(empty.rows) === JSON.stringify(rows) : rows.every(isNothing)
  }
}

const isNothing = (row: SqlRow) => {
  const value = Object.values(row).at(-1)
  return value == null || Number(value) === 0 || Number.isNaN(Number(value))
}
