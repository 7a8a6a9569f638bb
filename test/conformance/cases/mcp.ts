import type { RunSql, SqlResult } from '../../../src/emulator/index.ts'
import type { Case } from '../case.ts'
import type { Json } from './bodies.ts'

// Calls of the tool that runs SQL. No query reads a table.

const accept = 'application/json, text/event-stream'

const rpc = (params: Json, more: Json = {}): Json => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params, ...more })

const span = { startTime: '2026-11-10T10:00:00.000Z', endTime: '2026-11-10T11:00:00.000Z' }

const sql = (given: Json = {}): Json =>
  rpc({
    name: 'clickstack_sql',
    arguments: {
      connectionId: '$connection',
      sql: 'SELECT 1',
      ...span,
      ...given,
    },
  })

/** ClickHouse writes numbers of 64 bits as texts. */
const numbers = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => String(i))

const rowsOfNumbers = (count: number): readonly Json[] => numbers(count).map((number) => ({ number }))

/** What ClickHouse makes of each query. The emulator has no database. */
const queries: Readonly<Record<string, { readonly sql: string; readonly result: SqlResult }>> = {
  'one row': { sql: 'SELECT 1 AS one', result: { rows: [{ one: 1 }] } },
  'no rows': { sql: 'SELECT 1 AS one WHERE 0', result: { rows: [] } },
  'NULL and values that are no numbers in JSON': {
    sql: 'SELECT NULL AS nothing, nan AS wrong, inf AS much, true AS yes',
    result: { rows: [{ nothing: null, wrong: null, much: null, yes: true }] },
  },
  'the times of the request': {
    sql: 'SELECT {startDateMilliseconds:Int64} AS start, {endDateMilliseconds:Int64} AS end',
    result: { rows: [{ start: String(Date.parse(span.startTime)), end: String(Date.parse(span.endTime)) }] },
  },
  'an unknown column': { sql: 'SELECT nonsense', result: { error: 'Unknown expression identifier `nonsense`. ' } },
  'a write': {
    sql: 'CREATE TABLE conformance_none (a Int8) ENGINE=Memory',
    result: { error: 'default: Cannot execute query in readonly mode. ' },
  },
  'an answer below 50,000 characters': { sql: 'SELECT number FROM numbers(2400)', result: { rows: rowsOfNumbers(2400) } },
  'an answer above 50,000 characters': { sql: 'SELECT number FROM numbers(20000)', result: { rows: rowsOfNumbers(20_000) } },
  'a few rows that are long': {
    sql: "SELECT repeat('x', 9000) AS text FROM numbers(8)",
    result: { rows: Array.from({ length: 8 }, () => ({ text: 'x'.repeat(9000) })) },
  },
  'a long text in one cell': {
    sql: "SELECT repeat('x', 60000) AS text, 1 AS one",
    result: { rows: [{ text: 'x'.repeat(60_000), one: 1 }] },
  },
  'a long list in one cell': {
    sql: 'SELECT groupArray(number) AS list FROM numbers(20000)',
    result: { rows: [{ list: numbers(20_000) }] },
  },
}

export const runConformanceSql: RunSql = ({ sql }) => Object.values(queries).find((one) => one.sql === sql)?.result

const refused: Readonly<Record<string, Json>> = {
  'another tool': rpc({ name: 'clickstack_nope', arguments: {} }),
  'no arguments': rpc({ name: 'clickstack_sql', arguments: {} }),
  'a query that is a number': sql({ sql: 5 }),
  'an unknown connection': sql({ connectionId: '$gone' }),
  'a malformed connection': sql({ connectionId: 'nope' }),
  'an id of a connection with 12 characters': sql({ connectionId: 'twelve chars' }),
  'a malformed time': sql({ startTime: 'yesterday' }),
  'an end before the start': sql({ endTime: '2026-11-10T09:00:00.000Z' }),
  'an end at the start': sql({ endTime: '2026-11-10T10:00:00.000Z' }),
  'what is not a call': {},
}

const post = { request: 'POST /mcp', dialects: ['hyperdx'] } as const

export const mcpCases: readonly Case[] = [
  ...Object.entries(queries).map(
    ([what, query]): Case => ({ name: `mcp: ${what}`, body: sql({ sql: query.sql }), headers: { accept }, ...post }),
  ),
  ...Object.entries(refused).map(([what, body]): Case => ({ name: `mcp: ${what}`, body, headers: { accept }, ...post })),
  { name: 'mcp: no key', body: sql(), ...post, headers: { accept, authorization: null } },
  { name: 'mcp: an unknown key', body: sql(), ...post, headers: { accept, authorization: 'Bearer 00000000-0000-4000-8000-000000000000' } },
  { name: 'mcp: no accepted type', body: sql(), ...post },
  { name: 'mcp: JSON as the only accepted type', body: sql(), ...post, headers: { accept: 'application/json' } },
  { name: 'mcp: a body that is not JSON', text: '{', headers: { accept }, ...post },
  ...['GET', 'DELETE', 'PUT'].map((method): Case => ({ ...post, name: `mcp: ${method}`, request: `${method} /mcp`, headers: { accept } })),
]
