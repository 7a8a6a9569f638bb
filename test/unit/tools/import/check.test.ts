import { describe, expect, it } from 'vitest'
import type { ReadApi } from '../../../../src/platform/api/client.ts'
import type { SqlAnswer, SqlColumn } from '../../../../src/platform/api/sql-query.ts'
import { compareQueries } from '../../../../src/tools/import/check.ts'
import { readImportedFile } from '../../../../src/tools/import/grafana-file.ts'
import { translateRule } from '../../../../src/tools/import/translate.ts'

const expression = (model: object) => ({ refId: 'B', datasourceUid: '__expr__', model })

const threshold = (target: string) => ({
  ...expression({ type: 'threshold', expression: target, conditions: [{ evaluator: { type: 'gt', params: [5] } }] }),
  refId: 'C',
})

async function translated(rawSql: string, ...between: readonly object[]) {
  const query = { refId: 'A', datasourceUid: 'ch', relativeTimeRange: { from: 3600, to: 0 }, model: { rawSql, format: 1 } }
  const rule = { title: 'a', condition: 'C', data: [query, ...between, threshold(between.length > 0 ? 'B' : 'A')] }
  const [read] = readImportedFile(JSON.stringify({ groups: [{ name: 'g', folder: 'f', interval: '1h', rules: [rule] }] }), 'a.json').rules
  const choices = { connections: new Map([['ch', 'ch']]), webhooks: new Map([['*', 'x']]) }
  const found = read && (await translateRule(read, choices)).translated
  if (found === undefined) throw new Error('not translated')
  return found
}

type Rows = readonly Readonly<Record<string, unknown>>[]

interface Answers {
  readonly columns: readonly (readonly [name: string, type: string])[]
  /** Of a window, by its number. */
  readonly rowsOf: (window: number) => Rows
}

/** A server that answers the queries of the translated rule first. At most 12 windows fit into an answer. */
function serve(...answers: readonly Answers[]) {
  const queries: string[] = []
  let [turn, done] = [0, 0]
  const runSql = async (_: unknown, { sql }: { readonly sql: string }): Promise<SqlAnswer> => {
    queries.push(sql)
    const count = sql.split('AS window__').length - 1
    if (count > 12) return { kind: 'too-large', columns: [] }
    const { columns, rowsOf } = answers[turn] ?? { columns: [], rowsOf: () => [] }
    const from = done
    done += count
    if (done === 24) [turn, done] = [turn + 1, 0]
    const rows = Array.from({ length: count }, (_value, i) => rowsOf(from + i).map((row) => ({ window__: i, ...row }))).flat()
    return { kind: 'rows', columns: columns.map(([name, type]): SqlColumn => ({ name, type })), rows, elapsedMs: undefined, rowsRead: 0 }
  }
  // Nothing else of it is used.
  return { queries, access: { api: { runSql } as unknown as ReadApi, service: { serverUrl: '' }, nowMs: 86_400_000, connectionId: 'c' } }
}

const counted = (toValue: (window: number) => unknown): Answers => ({
  columns: [['v', 'UInt64']],
  rowsOf: (window) => [{ v: toValue(window) }],
})

const count = 'SELECT count() AS v FROM logs WHERE $__timeFilter(ts)'

describe('a comparison', () => {
  it('is about 24 windows, with macros as the data source expands them', async () => {
    const { access, queries } = serve(
      counted(() => '7'),
      counted(() => 7),
    )
    expect(await compareQueries(access, await translated(count))).toEqual({ windows: 24, withValues: 24 })
    expect(queries.map((sql) => sql.split('AS window__').length - 1)).toEqual([24, 12, 12, 24, 12, 12])
    expect(queries[1]).toMatch(
      /^SELECT 0 AS window__, \* FROM \(SELECT count\(\) AS v FROM logs WHERE .*toInt64\(82800000\).*toInt64\(86400000\)/,
    )
    expect(queries[4]).toMatch(/^SELECT 0 AS window__, \* FROM \(.* WHERE ts >= toDateTime\(82800\) AND ts <= toDateTime\(86400\)\)/)
  })

  it('shows the first window that differs', async () => {
    const { access } = serve(
      counted((window) => (window === 20 ? 8 : 7)),
      counted(() => 7),
    )
    expect(await compareQueries(access, await translated(count))).toEqual({
      windows: 24,
      withValues: 24,
      difference: 'at 1970-01-01T04:00:00.000Z: 8; Grafana had 7',
    })
  })

  it('shows three groups that differ, and counts the others', async () => {
    const grouped = (values: Readonly<Record<string, number>>): Answers => ({
      columns: [
        ['service', 'String'],
        ['v', 'UInt64'],
      ],
      rowsOf: () => Object.entries(values).map(([service, v]) => ({ service, v })),
    })
    const sql = 'SELECT service, count() AS v FROM logs WHERE $__timeFilter(ts) GROUP BY service'
    const differenceOf = async (now: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) =>
      (await compareQueries(serve(grouped(now), grouped(before)).access, await translated(sql))).difference
    const at = 'at 1970-01-02T00:00:00.000Z: '
    expect(await differenceOf({ a: 1, b: 1, c: 8, d: 1 }, { a: 1, b: 1, c: 7, d: 1, e: 2 })).toBe(
      `${at}c: 8, e: no value; Grafana had c: 7, e: 2`,
    )
    expect(await differenceOf({ a: 8, b: 8, c: 8, d: 8 }, { a: 7, b: 7, c: 7, d: 7 })).toBe(
      `${at}a: 8, b: 8, c: 8 and 1 more; Grafana had a: 7, b: 7, c: 7 and 1 more`,
    )
  })

  it('takes sums of the same numbers in another order as the same', async () => {
    const differs = async (value: number) => {
      const { access } = serve(
        counted(() => value),
        counted(() => 300),
      )
      return 'difference' in (await compareQueries(access, await translated(count)))
    }
    expect([await differs(300 + 1e-8), await differs(300 - 1e-8), await differs(300 + 1e-5)]).toEqual([false, false, true])
  })

  it('takes a number that is missing for 0', async () => {
    const { access } = serve(
      counted(() => 0),
      counted(() => null),
    )
    expect(await compareQueries(access, await translated(count))).toEqual({ windows: 24, withValues: 0 })
  })

  it('reduces a series as Grafana does', async () => {
    const series: Answers = {
      columns: [
        ['t', 'DateTime'],
        ['v', 'Nullable(Float64)'],
      ],
      rowsOf: () => [
        { t: '1970-01-01 00:02:00', v: null },
        { t: '1970-01-01 00:01:00', v: 4 },
      ],
    }
    const sql = 'SELECT $__timeInterval(ts) AS t, avg(x) AS v FROM logs WHERE $__timeFilter(ts) GROUP BY t'
    const reduce = (settings: object, reducer = 'mean') => expression({ type: 'reduce', expression: 'A', reducer, settings })
    const replaced = { mode: 'replaceNN', replaceWithValue: 2 }
    for (const [settings, expected, reducer] of [
      [{}, null],
      [{ mode: 'dropNN' }, 4],
      [replaced, 3],
      [replaced, 2, 'min'],
      [replaced, 4, 'max'],
      [replaced, 6, 'sum'],
      [{ mode: 'dropNN' }, 1, 'count'],
    ] as const) {
      const { access } = serve(
        counted(() => expected),
        series,
      )
      expect(await compareQueries(access, await translated(sql, reduce(settings, reducer)))).not.toHaveProperty('difference')
    }
  })

  it('takes the last row of a series as it comes', async () => {
    const series: Answers = {
      columns: [
        ['t', 'DateTime'],
        ['v', 'Float64'],
      ],
      rowsOf: () => [
        { t: '1970-01-01 00:02:00', v: 9 },
        { t: '1970-01-01 00:01:00', v: 4 },
      ],
    }
    const sql = 'SELECT toStartOfMinute(ts) AS t, avg(x) AS v FROM logs WHERE $__timeFilter(ts) GROUP BY t ORDER BY t DESC'
    const last = await translated(sql, expression({ type: 'reduce', expression: 'A', reducer: 'last' }))
    for (const [value, isSame] of [
      [4, true],
      [9, false],
    ] as const) {
      const { access } = serve(
        counted(() => value),
        series,
      )
      expect('difference' in (await compareQueries(access, last))).toBe(!isSame)
    }
  })

  it('compares groups by their labels', async () => {
    const answers = (rows: Rows): Answers => ({
      columns: [
        ['Time', 'DateTime'],
        ['s', 'String'],
        ['v', 'UInt64'],
      ],
      rowsOf: () => rows,
    })
    const original: Answers = {
      columns: [
        ['s', 'String'],
        ['v', 'UInt64'],
      ],
      rowsOf: () => [
        { s: 'b', v: 2 },
        { s: 'a', v: 1 },
      ],
    }
    const sql = 'SELECT s, count() AS v FROM logs WHERE $__timeFilter(ts) GROUP BY s'
    const same = serve(
      answers([
        { s: 'a', v: 1 },
        { s: 'b', v: 2 },
      ]),
      original,
    )
    expect(await compareQueries(same.access, await translated(sql))).toEqual({ windows: 24, withValues: 24 })
    const other = serve(answers([{ s: 'a', v: 1 }]), original)
    expect(await compareQueries(other.access, await translated(sql))).toMatchObject({
      difference: 'at 1970-01-02T00:00:00.000Z: b: no value; Grafana had b: 2',
    })
  })

  it('says why there is none, and whether Grafana cannot evaluate the original', async () => {
    const answers = (...columns: Answers['columns']): Answers => ({ columns, rowsOf: () => [] })
    const found = async (...served: readonly Answers[]) => {
      const { reason, fails } = await compareQueries(serve(...served).access, await translated(count))
      return [reason, fails]
    }
    const one = counted(() => 1)
    expect(await found(answers(['v', 'String']))).toEqual(['the translated query has no number', undefined])
    expect(await found(one, answers(['v', 'Bool']))).toEqual(['the original query has no number', true])
    const of = (types: string): string => `the original query has ${types}; Grafana takes one number, and texts as labels`
    expect(await found(one, answers(['status', 'UInt16'], ['v', 'UInt64']))).toEqual([of('status: UInt16, v: UInt64'), true])
    expect(await found(one, answers(['a', 'Bool'], ['v', 'UInt64']))).toEqual([of('a: Bool, v: UInt64'), true])
    const series = answers(['t', 'DateTime'], ['a', 'UInt16'], ['v', 'UInt64'])
    expect(await found(one, series)).toEqual([of('t: DateTime, a: UInt16, v: UInt64'), undefined])
    for (const type of ['LowCardinality(Nullable(String))', "Enum8('a' = 1)", 'FixedString(4)', 'UUID'])
      expect(await found(one, answers(['a', type], ['v', 'UInt64']))).toEqual([undefined, undefined])
  })
})
