import { describe, expect, it } from 'vitest'
import { readChecksFile, toQuery } from '../../../src/backups/checks-file.ts'
import { forEachEntry } from '../../support/corpus.ts'

const withSql = (sql: string): string => JSON.stringify({ checks: [{ name: 'orders', sql, atLeast: 1 }] })

const read = (text: string) => readChecksFile(text, 'checks.yml')

describe('the SQL of a check', () => {
  it('the SQL of a check runs as a subquery, with the time of the backup', () => {
    expect(toQuery('SELECT count() FROM shop.orders WHERE created <= {backup_time} -- all')).toBe(
      'SELECT * FROM (\nSELECT count() FROM shop.orders WHERE created <= fromUnixTimestamp64Milli({endDateMilliseconds:Int64}) -- all\n)\nLIMIT 2',
    )
  })

  it('the SQL of a check may be any single SELECT', () =>
    forEachEntry(
      [
        'SELECT 1',
        'select count() from shop.orders',
        '-- all orders\nSELECT count() FROM shop.orders',
        'WITH 5 AS least SELECT count() >= least FROM shop.orders',
        "SELECT count() FROM shop.orders WHERE note = 'a; b'",
        "SELECT sum(cityHash64(id)) FROM merge('shop', '^orders')",
        'SELECT count() FROM shop.orders -- all orders',
      ],
      (sql) => expect(read(withSql(sql))).resolves.toHaveProperty('checks.length', 1),
    ))

  it('the SQL of a check must be one SELECT that reads the database only', () =>
    forEachEntry<[string, RegExp]>(
      [
        ['', /is not a SELECT/],
        ['DROP TABLE shop.orders', /checks\["orders"\]\.sql: its SQL is not a SELECT/],
        ['INSERT INTO shop.orders SELECT 1', /is not a SELECT/],
        ['SHOW TABLES', /is not a SELECT/],
        ['SELECT 1; DROP TABLE shop.orders', /has a semicolon; write one SELECT without it/],
        ['SELECT 1) UNION ALL (SELECT 2', /has a bracket that is not opened/],
        ['SELECT (1', /has a bracket that is not closed/],
        ["SELECT count() FROM url('http://169.254.169.254/')", /uses url, which does more than read/],
        ["SELECT count() FROM s3('https://x/y')", /uses s3, which does more than read/],
        ["SELECT file('/etc/passwd')", /uses file, which does more than read/],
        ['SELECT count() FROM system.query_log', /has system\.query_log; of system, it may read tables, columns, parts, functions/],
        ['SELECT count() FROM shop.orders SETTINGS max_threads = 1', /has SETTINGS max_threads; leave that out/],
        ['SELECT ownFunction(1)', /uses ownFunction, which is not a function of ClickHouse/],
        ["SELECT count() FROM shop.orders WHERE created <= '{backup_time}'", /has \{backup_time\} in quotes/],
      ],
      (sql, message) => expect(read(withSql(sql))).rejects.toThrow(message),
    ))

  it('the SQL of a check may call the functions that sql-functions allows', () =>
    expect(readChecksFile(withSql('SELECT ownFunction(1)'), 'checks.yml', ['ownFunction'])).resolves.toHaveProperty('checks.length', 1))
})

describe('the file of checks', () => {
  it('names the line of each mistake', async () => {
    const text = 'checks:\n  - name: orders\n    sql: SELECT 1\n  - name: users\n    sql: DELETE FROM users\n    atLeast: 1\n'
    await expect(read(text)).rejects.toThrow(/checks\.yml:2:5: .*has no expectation: set atLeast, atMost, equals or tolerance/)
    await expect(read(text.replace('SELECT 1\n', 'SELECT 1\n    atMost: 3\n'))).rejects.toThrow(/checks\.yml:6:10: .*is not a SELECT/)
  })

  it('accepts no misspelled rule', () =>
    forEachEntry<[string, RegExp]>(
      [
        ['tables: { ignored: [a.b] }', /did you mean "ignore"/],
        ['tables: { newestWithin: 1w }', /minutes, hours or days/],
        ['tables: { minRowRatio: 50 }', /a number above 0 and at most 1/],
        ['checks: [{ name: a, sql: SELECT 1, tolerance: 5 }]', /a percentage below 100%, such as 0% or 2\.5%/],
        ['checks: [{ name: a, sql: SELECT 1, tolerance: 100% }]', /a percentage below 100%/],
        ['policies: [{ periodHour: 24 }]', /did you mean "periodHours"/],
        ['policies: [{ startTime: "02:30" }]', /HH:00/],
        ['check: []', /did you mean "checks"/],
      ],
      (text, message) => expect(read(text)).rejects.toThrow(message),
    ))

  it('has defaults for every rule', () =>
    expect(read('{}')).resolves.toEqual({ tables: { ignore: [], newestWithin: '15m', minRowRatio: 0.9 }, checks: [], policies: [] }))
})
