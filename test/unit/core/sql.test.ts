import { describe, expect, it } from 'vitest'
import { nameOfTable, refuseSql } from '../../../src/core/sql.ts'

const url = "url('http://other.example/', 'TSV', 'x UInt8') u"

/** Tried on ClickHouse 26.9: each of them sent a request to the host, or read the file, unless it says otherwise. */
const reaching: readonly string[] = [
  `SELECT * FROM ${url}`,
  `FROM ${url} SELECT *`,
  "SELECT * FROM `url`('http://other.example/', 'TSV', 'x UInt8')",
  `SELECT * FROM "url"('http://other.example/', 'TSV', 'x UInt8')`,
  String.raw`SELECT * FROM "u\x72l"('http://other.example/', 'TSV', 'x UInt8')`,
  `SELECT * FROM “url”('http://other.example/', 'TSV', 'x UInt8')`,
  "SELECT * FROM url /* FROM */ -- (\n ('http://other.example/', 'TSV', 'x UInt8')",
  `SELECT * FROM numbers(1) n JOIN ${url} ON n.number = u.x`,
  `SELECT * FROM numbers(1) n ARRAY JOIN [1] AS b JOIN ${url} ON n.number = u.x`,
  `SELECT * FROM numbers(1) n, ${url}`,
  `SELECT * FROM numbers(1) AS where, ${url}`,
  `SELECT * FROM numbers(1) n JOIN numbers(2) m ON n.number = m.number, ${url}`,
  `WITH 1 AS where SELECT * FROM numbers(1) n JOIN numbers(1) m ON n.number = m.number AND where, ${url}`,
  `SELECT * FROM (SELECT 1 GROUP BY 1) n, ${url}`,
  `WITH order AS (SELECT 1) SELECT * FROM order by, ${url}`,
  `SELECT 1 FROM numbers(1) GROUP BY 1 UNION ALL SELECT x FROM ${url}`,
  `WITH x AS (SELECT * FROM ${url}) SELECT * FROM x`,
  `SELECT * FROM view(SELECT * FROM ${url})`,
  `SELECT * FROM loop(url('http://other.example/', 'TSV', 'x UInt8')) LIMIT 1`,
  // The server that this was tried on has no cluster, and only the older analyzer has table functions after IN.
  "SELECT * FROM cluster('all', url('http://other.example/', 'TSV', 'x UInt8'))",
  "SELECT 1 IN url('http://other.example/', 'TSV', 'x UInt8')",
  // What follows looks like a text to those who read quotation marks in another way.
  `SELECT $a$ ' $a$, x FROM ${url} -- '`,
  `SELECT $$ ' $$, x FROM ${url} -- '`,
  `SELECT /* /* */ ' */ x FROM ${url} -- '`,
  `SELECT ‘ ' ’, x FROM ${url} -- '`,
  `SELECT 1 # '\n, x FROM ${url} -- '`,
  String.raw`SELECT 'a\' ', x FROM ${url} -- '`,
  `SELECT 1 AS "a""' ", x FROM ${url} -- '`,
  "SELECT file('/etc/hostname')",
  "SELECT `file` ('/etc/hostname')",
  String.raw`SELECT "f\x69le"('/etc/hostname')`,
  String.raw`SELECT 1 AS "a\\", "f\x69le"('/etc/hostname')`,
  String.raw`SELECT 1 AS "a\\\"", x FROM ${url} -- "`,
  "SELECT arrayMap(file, ['/etc/hostname'])",
]

const own: readonly string[] = [
  '',
  "ServiceName = 'cart' AND Body NOT LIKE '%FROM url(%' -- url('x')",
  "SELECT count() AS \"url(\" FROM `default`.`otel_logs` WHERE file = 'a' AND (file != 'b' OR url(1) > 2)",
  "SELECT toStartOfHour(Timestamp) t, lower(a) FROM otel_logs l, otel_traces t WHERE x IN (lower('A'), upper('b')) GROUP BY t, lower(a) ORDER BY max(x), min(y)",
  'WITH x AS (SELECT 1), y AS (SELECT 2) SELECT least(1, greatest(2, 3)) FROM x JOIN y USING (a) WHERE a IN (SELECT b FROM c)',
  "SELECT formatReadableSize(1), format('{}', a) FROM otel_logs AS l INNER JOIN (SELECT f(1) FROM t) AS m ON lower(l.a) = upper(m.a)",
  "SELECT count() FROM merge(currentDatabase(), '^otel_') UNION ALL SELECT toUInt64(1), plus(1, 2) FROM numbers(10)",
  "SELECT count() FROM clusterAllReplicas('default', system.parts) WHERE event_time > toDateTime(1)",
  `SELECT count() FROM ${nameOfTable({ database: 'a`b', table: 'a\\b\\' })}`,
]

describe('refuseSql', () => {
  it('W4: refuses SQL that reads other data than that of the database, however it is written', () => {
    for (const sql of reaching) expect.soft(refuseSql(sql), sql).toMatch(/^its SQL /)
  })

  it('accepts what reads the data of the database, and texts, comments and columns with the same words', () => {
    for (const sql of own) expect.soft(refuseSql(sql), sql).toBeUndefined()
  })

  it('says which function or sign is the reason', () => {
    expect(refuseSql(`SELECT * FROM ${url}`)).toBe(
      'its SQL uses the table function url, which may read other data than that of the database',
    )
    expect(refuseSql("SELECT file('x')")).toBe('its SQL uses the function file, which reads files of the server')
    expect(refuseSql('SELECT 1 # comment')).toBe('its SQL has #, and may mean something else to the server')
  })
})
