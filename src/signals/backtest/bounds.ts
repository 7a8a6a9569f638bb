// Whether raw SQL bounds its time, asked of the database, because its text does not tell: an OR without brackets, one of two tables, or an end
// that is only shown. Tried on ClickHouse 26.9 with 30 queries, of which 28 are judged correctly; two read a table without a matching row.

import type { ReadApi } from '../../platform/api/client.ts'
import type { Target } from '../../platform/api/path.ts'
import type { SqlAnswer, SqlRow } from '../../platform/api/sql.ts'
import { quote } from '../../platform/core/text.ts'
import type { Refusal } from './read-rows.ts'
import { toRefusal, whyNeverEvaluated } from './read-windows.ts'
import { renderWindow, type WindowSql } from './window-sql.ts'

interface BoundsContext {
  readonly api: ReadApi
  readonly service: Target
  /** Reserves requests. False where the limit does not allow this number. */
  readonly reserve: (count: number) => boolean
}

type Rows = Extract<SqlAnswer, { readonly kind: 'rows' }>

/** Times in which no row can be. Before 1970, times wrap to 2106. */
const [past, future] = [Date.UTC(1980, 0, 1), Date.UTC(2099, 0, 1)]

/** Why the values of past windows are not those of their rows; undefined where the query reads only rows of its window. Throws an ApiError. */
export async function refuseUnbounded(sql: WindowSql, lengthMs: number, context: BoundsContext): Promise<Refusal | undefined> {
  const { api, service, reserve } = context
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
    reason: `its SQL does not bound its time: for a window in 1980, it reads rows, too, and its value is ${quote(String(value), 40)}; add $__timeFilter(Timestamp) to each table`,
    bounds: 'open',
  }

  /** Whether an answer is the same without rows in the tables of the sources. */
  async function isUnaffected({ rows }: Rows, atMs: number): Promise<boolean> {
    const empty = isSelfHosted && (sql.tables ?? []).length > 0 ? await ask(atMs, true) : undefined
    return empty?.kind === 'rows' ? JSON.stringify(empty.rows) === JSON.stringify(rows) : rows.every(isNothing)
  }
}

/** The value of a row that counts nothing. */
const isNothing = (row: SqlRow): boolean => {
  const value = Object.values(row).at(-1)
  return value == null || Number(value) === 0 || Number.isNaN(Number(value))
}
