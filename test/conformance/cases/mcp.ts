import type { Case } from '../case.ts'
import type { Json } from './bodies.ts'

// Calls of the tool that runs SQL. The fixtures have no tables, so no case gets as far as a result. test/integration/api/sql.test.ts has the
// forms of results: rows, trimmed rows and cells, and the limit of time.

const accept = 'application/json, text/event-stream'

const rpc = (params: Json, more: Json = {}): Json => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params, ...more })

const sql = (given: Json = {}): Json =>
  rpc({
    name: 'clickstack_sql',
    arguments: {
      connectionId: '$connection',
      sql: 'SELECT 1',
      startTime: '2026-11-10T10:00:00.000Z',
      endTime: '2026-11-10T11:00:00.000Z',
      ...given,
    },
  })

const refused: Readonly<Record<string, Json>> = {
  'another tool': rpc({ name: 'clickstack_nope', arguments: {} }),
  'no arguments': rpc({ name: 'clickstack_sql', arguments: {} }),
  'a query that is a number': sql({ sql: 5 }),
  'an unknown connection': sql({ connectionId: '$gone' }),
  'a malformed connection': sql({ connectionId: 'nope' }),
  'a malformed time': sql({ startTime: 'yesterday' }),
  'an end before the start': sql({ endTime: '2026-11-10T09:00:00.000Z' }),
  'an end at the start': sql({ endTime: '2026-11-10T10:00:00.000Z' }),
}

const post = { request: 'POST /mcp', dialects: ['hyperdx'] } as const

export const mcpCases: readonly Case[] = [
  ...Object.entries(refused).map(([what, body]): Case => ({ name: `mcp: ${what}`, body, headers: { accept }, ...post })),
  { name: 'mcp: no key', body: sql(), ...post, headers: { accept, authorization: null } },
  { name: 'mcp: an unknown key', body: sql(), ...post, headers: { accept, authorization: 'Bearer 00000000-0000-4000-8000-000000000000' } },
  { name: 'mcp: no accepted type', body: sql(), ...post },
  { name: 'mcp: JSON as the only accepted type', body: sql(), ...post, headers: { accept: 'application/json' } },
  { name: 'mcp: GET', request: 'GET /mcp', headers: { accept }, dialects: ['hyperdx'] },
]
