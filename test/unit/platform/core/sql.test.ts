import { describe, expect, it } from 'vitest'
import { nameOfTable, refuseForm, refuseSql } from '../../../../src/platform/core/sql.ts'
import { splitTerms } from '../../../../src/signals/backtest/terms.ts'
import { expandTemplate } from '../../../../src/signals/backtest/window-sql.ts'
import { refuseCondition } from '../../../../src/signals/slos/condition.ts'
import { forEachEntry } from '../../../support/corpus.ts'

// test/conformance/sql-forms.test.ts compares the rule with ClickHouse.
describe('SQL of users', () => {
  it('may be a condition or an expression, which are parts of a query', () =>
    forEachEntry(
      ['', "ServiceName = 'cart' AND (file = 'a' OR length(url) > 2)", 'lower(file), toStartOfHour(Timestamp)', "a = 'b' -- a comment\n"],
      async (sql) => expect(await refuseSql(sql, true)).toBeUndefined(),
    ))

  it('W4: stays the part of a query that it is', () =>
    forEachEntry<[string, string]>(
      [
        ['a = 1) OR (1 = 1', 'its SQL has a bracket that is not opened'],
        ['a[1', 'its SQL has a bracket that is not closed'],
        ['a = 1 -- b', 'its SQL ends with a comment; write a line after it'],
        ['a = 1; SELECT 2', 'its SQL has a semicolon; write one SELECT without it'],
        ["a = 'b", "its SQL has 'b, and may mean something else to the server"],
        ['a /* b', 'its SQL has /* b, and may mean something else to the server'],
        ['a = $env', 'its SQL has $, and may mean something else to the server'],
        ['a = \u3000 1', 'its SQL has  \u3000 , and may mean something else to the server'],
      ],
      async (sql, reason) => {
        expect(refuseForm(sql)).toBe(reason)
        expect(await refuseSql(sql, true)).toBe(reason)
      },
    ))

  it('may have the names of tables that it is given, whatever is in them, and no other escapes in names', async () => {
    const sql = `SELECT count() FROM ${nameOfTable({ database: 'a`b', table: 'a\\b\\' })}`
    expect(await refuseSql(sql), sql).toBeUndefined()
    const url = "url('http://other.example/', 'TSV', 'x UInt8')"
    const others = [String.raw`SELECT 1 AS "a\\", "f\x69le"('/etc/hostname')`, String.raw`SELECT 1 AS "a\\\"", x FROM ${url} -- "`]
    for (const one of others) expect.soft(await refuseSql(one), one).toBeDefined()
  })

  it('says in one line what to write instead', () =>
    forEachEntry<[string, string]>(
      [
        ["SELECT * FROM url('http://other.example/')", 'its SQL uses url, which does more than read the data of the database'],
        ['SELECT * APPLY(file) FROM otel_logs', 'its SQL uses file, which does more than read the data of the database'],
        [
          'SELECT countt(1)',
          'its SQL uses countt, which is not a function of ClickHouse, as count is; add your own functions to sql-functions in .watchkeeper.yml',
        ],
        ['SELECT 1 # comment', 'its SQL has #, and may mean something else to the server'],
        ['SELECT 1; SELECT 2', 'its SQL has a semicolon; write one SELECT without it'],
        ['SHOW TABLES', 'its SQL is not a SELECT'],
        ['SELECT 1 Settings a = 1', 'its SQL has Settings a; leave that out, or write `Settings` in backticks where it is a name'],
        ['SELECT 1 FORMAT JSON', 'its SQL has FORMAT JSON; leave that out, or write `FORMAT` in backticks where it is a name'],
        ['SELECT * FROM (EXPLAIN SELECT 1)', 'its SQL has EXPLAIN; write one SELECT without it'],
        ['SELECT * FROM system.users', 'its SQL has system.users; of system, it may read tables, columns, parts, functions'],
        ["SELECT * FROM merge('system', 'x')", "its SQL does not name the tables of merge; write merge('database', 'pattern')"],
        ["SELECT * FROM cluster('c', a, b)", "its SQL does not name the tables of cluster; write cluster('name', database.table)"],
      ],
      async (sql, reason) => expect(await refuseSql(sql)).toBe(reason),
    ))

  it('S5: may call functions of sql-functions, but none that the list leaves out, and none where a table can be', async () => {
    const own = ['myScore', 'file', 'url', 'sleep']
    const refuse = (sql: string) => refuseSql(sql, false, own)
    for (const sql of [
      'SELECT a, myScore(b), `myScore`(c) FROM t WHERE myScore(b) > 1 AND ((myScore(c) = 2)) GROUP BY myScore(b)',
      'SELECT arrayMap(myScore, b), * APPLY(myScore) FROM t ORDER BY a, identity(myScore(b))',
    ])
      expect(await refuse(sql), sql).toBeUndefined()
    expect(await refuseSql('a, myScore(b)', true, own)).toBeUndefined()
    for (const sql of ["SELECT file('x')", "SELECT * FROM url('x')", 'SELECT sleep(1)', "SELECT arrayMap(file, ['x'])"])
      expect(await refuse(sql), sql).toMatch(/does more than read the data/)
    for (const sql of ['FROM myScore(1)', 'FROM a, myScore(1) AS b', 'FROM a JOIN (myScore(1) AS b)', 'FROM (a, ((myScore(1))))'])
      expect(await refuse(`SELECT 1 ${sql}`), sql).toBe('its SQL has myScore where a table can be; write identity(myScore(…))')
  })
})

describe('SQL of any length', () => {
  type Check = (text: string) => unknown
  const checks: Readonly<Record<string, Check>> = {
    'the check of a part': (text) => refuseSql(text, true, ['own']),
    'the check of a query': (text) => refuseSql(`SELECT 1 FROM a WHERE ${text}`, false, ['own']),
    'the condition of an SLO': refuseCondition,
    'the terms of a condition': (text) => splitTerms(text, 'sql'),
    'a query of a tile': (text) => expandTemplate({ text: `SELECT ${text}`, shape: 'number', tableOf: () => undefined }),
  }
  const pieces = [
    ...["'\\", "''", "'", '"\\', '``', '/*', '/* */', '*/', '--', '-- \n', '{', '{a:', '{a:Int64}', '$__', '(', ')', '[', '()', ' a', ' '],
    ...[' AS a', '.', '1e-', '||', 'a=1 AND ', '(a AND ', ', own(', '(own(', 'arrayMap(', 'arrayMap((', 'arrayMap()(', 'arrayMap(a AS '],
    ...[' apply(', 'merge(', 'cluster(a,', 'system.', 'system.tables,', 'settings,', 'If', 'a->', ' from (', '“'],
  ]

  /** In microseconds of this thread, which other processes do not slow down. */
  async function costOf(check: Check, text: string): Promise<number> {
    const before = process.threadCpuUsage()
    await check(text)
    return process.threadCpuUsage(before).user
  }

  /** How much more the longest text costs than a quarter of its length: 4 times where each character is read once, or 0 for too little to tell. */
  async function growth(check: Check, piece: string): Promise<number> {
    const costs: number[] = []
    for (let length = 2 ** 4; length <= 2 ** 14; length *= length < 2 ** 8 ? 2 : 4) {
      costs.push(await costOf(check, piece.repeat(length / piece.length)))
      const [before = 0, cost = 0] = costs.slice(-2)
      // It shows before the text is long: the longest would take minutes.
      if (cost > 100_000 && cost > 10 * before) return cost / before
    }
    const [before = 0, cost = 0] = costs.slice(-2)
    return cost < 30_000 ? 0 : cost / before
  }

  it('is checked at a cost that grows with its length, whatever is repeated in it', { tags: 'slow' }, async () => {
    for (const [name, check] of Object.entries(checks))
      for (const piece of pieces) {
        // A single measurement can have a garbage collection.
        const grows = async (tries: number): Promise<boolean> =>
          (await growth(check, piece)) > 10 && (tries === 1 || (await grows(tries - 1)))
        expect.soft(await grows(3), `${name} with ${JSON.stringify(piece)}`).toBe(false)
      }
  })

  it('is checked at once where 640 kB of a text are quotation marks and backslashes', async () =>
    expect(await refuseSql(`SELECT ${"'\\".repeat(320_000)}`)).toMatch(/^its SQL has '/))
})
