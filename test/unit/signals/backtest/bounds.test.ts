// What a database answers for windows in which no row can be tells whether a query bounds its time.
import { expect, it } from 'vitest'
import type { ReadApi } from '../../../../src/platform/api/client.ts'
import type { SqlAnswer, SqlQuery } from '../../../../src/platform/api/sql-query.ts'
import { refuseUnbounded } from '../../../../src/signals/backtest/read-windows.ts'
import type { WindowSql } from '../../../../src/signals/backtest/window-sql.ts'

const sql: WindowSql = {
  ...{ template: 'q', shape: 'number', connectionId: 'c', sourceId: undefined, tables: ["default.it's"], tokenCount: 1 },
  parts: ['SELECT count() FROM t WHERE at < ', { parameter: 'endDateMilliseconds', type: 'Int64' }],
}

/** The value of a query by the year of its window and whether its tables are empty, and the rows that it reads. */
type Database = (year: number, isEmpty: boolean) => readonly [value: number | null, rowsRead: number] | SqlAnswer

async function ask(database: Database, isSelfHosted = true) {
  const sent: SqlQuery[] = []
  const runSql = async (_: unknown, query: SqlQuery): Promise<SqlAnswer> => {
    sent.push(query)
    const answer = database(new Date(query.startMs).getUTCFullYear(), query.settings?.emptyTables !== undefined)
    if (!Array.isArray(answer)) return answer as SqlAnswer
    const [n, rowsRead] = answer as readonly [number | null, number]
    return { kind: 'rows', columns: [{ name: 'n', type: 'UInt64' }], rows: [{ n }], elapsedMs: 1, rowsRead }
  }
  const api = { runSql, profile: { isSelfHosted } } as unknown as ReadApi
  const context = { api, service: {} as never, reserve: () => true, maxRequests: 10, refuseTime: () => undefined }
  return { refusal: await refuseUnbounded(sql, 300_000, context), sent }
}

it('a query that reads no row for a window in 1980 bounds its time, which takes one request', async () => {
  const { refusal, sent } = await ask(() => [0, 0])
  expect([refusal, sent.length]).toEqual([undefined, 1])
  expect(sent[0]).toMatchObject({
    sql: 'SELECT * FROM (SELECT count() FROM t WHERE at < toInt64(315532800000))'.replace('315532800000', '315533100000'),
    settings: { use_query_condition_cache: 0 },
  })
})

it('a query that reads rows bounds its time where its value is that of empty tables', async () => {
  const { refusal, sent } = await ask(() => [24, 24])
  expect([refusal, sent.length]).toEqual([undefined, 2])
  expect(sent[1]?.settings?.emptyTables).toEqual(["default.it's"])
})

it('a query whose value in 1980 comes from other rows is open, or bounds only its start', async () => {
  expect((await ask((_, isEmpty) => [isEmpty ? 0 : 749, 125_725])).refusal).toMatchObject({
    bounds: 'open',
    reason: expect.stringContaining('its value is 749'),
  })
  expect((await ask((year, isEmpty) => [year === 1980 && !isEmpty ? 749 : 0, 125_725])).refusal).toMatchObject({ bounds: 'start-only' })
})

it('without settings, a value that is none or 0 is that of empty tables', async () => {
  expect((await ask(() => [null, 5], false)).refusal).toBeUndefined()
  const { refusal, sent } = await ask(() => [749, 5], false)
  expect([refusal?.bounds, sent.every(({ settings }) => settings === undefined)]).toEqual(['open', true])
  const several = await ask(
    () => ({ kind: 'rows', columns: [{ name: 'n', type: 'UInt64' }], rows: [{ n: 0 }, { n: 7 }], elapsedMs: 1, rowsRead: 5 }),
    false,
  )
  expect(several.refusal?.bounds).toBe('open')
})

it('an error of the query is its reason, and so is a result without a number', async () => {
  expect((await ask(() => ({ kind: 'refused', reason: 'Unknown table' }))).refusal).toMatchObject({ queryError: 'Unknown table' })
  const texts: SqlAnswer = { kind: 'rows', columns: [{ name: 'n', type: 'String' }], rows: [], elapsedMs: 1, rowsRead: 0 }
  expect((await ask(() => texts)).refusal).toMatchObject({ never: expect.stringContaining('no column that is a number') })
})
