// ClickHouse Cloud has no values of charts: the same rows, counted with SQL.
import { expect, it } from 'vitest'
import type { ReadApi } from '../../../../src/platform/api/client.ts'
import type { SqlColumn, SqlRow } from '../../../../src/platform/api/sql-query.ts'
import { countWithSql } from '../../../../src/signals/backtest/count-with-sql.ts'
import { rowsOf, type SeriesItem } from '../../../../src/signals/backtest/series-api.ts'

const source = {
  ...{ id: 's', name: 'Logs', kind: 'log', connection: 'c', timestampValueExpression: 'T' },
  from: { databaseName: 'd', tableName: 'logs' },
}

async function count(series: readonly Partial<SeriesItem>[], rows: readonly SqlRow[] = [], columns: readonly SqlColumn[] = []) {
  const sent: string[] = []
  const api = {
    async runSql(_: unknown, { sql }: { readonly sql: string }) {
      sent.push(sql)
      return { kind: 'rows', rows, columns }
    },
  } as unknown as ReadApi
  const request = { series: series.map((one) => ({ ...rowsOf('s'), ...one })), granularity: '5m', fromMs: 0, untilMs: 300_000 } as const
  return { found: await countWithSql({ api, service: {} as never }, [source], request), sql: sent.join('\n') }
}

it('counts the rows of each series by window, and by group', async () => {
  const { sql, found } = await count([{ where: "a = 'b'" }, { where: 'c' }], [{ start__: '300', series_0: 2, series_1: 0 }])
  expect(sql).toContain("toFloat64(countIf((a = 'b'))) AS series_0,\n  toFloat64(countIf((c))) AS series_1\nFROM `d`.`logs`\nWHERE T >= ")
  expect(sql).toMatch(/\n {2}AND \(\(a = 'b'\) OR \(c\)\)\nGROUP BY start__$/)
  // As charts do, it has no value for a series without rows.
  const row = { startMs: 300_000, group: '', groupValues: [], hasNumericGroup: false, numbers: new Map([[0, 2]]) }
  expect(found).toEqual([row])
  const grouped = await count(
    [{ groupBy: ['Pod'] }],
    [{ start__: 300, group__: 'x', series_0: 2 }],
    [{ name: 'group__', type: 'LowCardinality(String)' }],
  )
  expect(grouped.sql).toMatch(/,\n {2}\(Pod\) AS group__,\n {2}toFloat64\(count\(\)\) AS series_0\n.*\nGROUP BY start__, group__$/s)
  expect(grouped.found).toEqual([{ ...row, group: 'Pod:x', groupValues: ['x'] }])
})

it('counts nothing with an expression that could change the rest of the query', async () => {
  for (const series of [{ where: 'a) OR (b' }, { groupBy: ['a) AS x, (b'] }]) {
    const { sql, found } = await count([series])
    expect([sql, found]).toEqual(['', { reason: expect.any(String) }])
  }
})
