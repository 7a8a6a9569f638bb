import { describe, expect, it } from 'vitest'
import { nameOfTable, refuseSql } from '../../../../src/platform/core/sql.ts'

// test/conformance/sql-forms.test.ts has what is refused.
describe('refuseSql', () => {
  it('accepts conditions and expressions, which are parts of a query', () => {
    const parts = [
      '',
      "ServiceName = 'cart' AND (file = 'a' OR length(url) > 2)",
      'lower(file), toStartOfHour(Timestamp)',
      "a = 'b' -- a comment\n",
    ]
    for (const sql of parts) expect.soft(refuseSql(sql), sql).toBeUndefined()
  })

  it('accepts the names of tables that it is given, whatever is in them, and no other escapes in names', () => {
    const sql = `SELECT count() FROM ${nameOfTable({ database: 'a`b', table: 'a\\b\\' })}`
    expect(refuseSql(sql), sql).toBeUndefined()
    const url = "url('http://other.example/', 'TSV', 'x UInt8')"
    const others = [String.raw`SELECT 1 AS "a\\", "f\x69le"('/etc/hostname')`, String.raw`SELECT 1 AS "a\\\"", x FROM ${url} -- "`]
    for (const one of others) expect.soft(refuseSql(one), one).toBeDefined()
  })

  it('says which function or sign is the reason', () => {
    expect(refuseSql("SELECT * FROM url('http://other.example/')")).toBe(
      'its SQL uses the table function url, which may read other data than that of the database',
    )
    expect(refuseSql('SELECT * APPLY(file) FROM otel_logs')).toBe(
      'its SQL uses the function file, which does more than read the data of the database',
    )
    expect(refuseSql('SELECT 1 # comment')).toBe('its SQL has #, and may mean something else to the server')
    expect(refuseSql('SELECT 1; SELECT 2')).toBe('its SQL has several statements')
    expect(refuseSql('a = 1 -- a comment')).toBe('its SQL ends with a comment; write a line after it')
  })
})
