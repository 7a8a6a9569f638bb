// A batch has as many windows as the server takes, and what an answer costs decides on the next one.
import { describe, expect, it } from 'vitest'
import type { ReadApi } from '../../../../src/platform/api/client.ts'
import type { SqlAnswer, SqlColumn, SqlRow } from '../../../../src/platform/api/sql-query.ts'
import { readWindows } from '../../../../src/signals/backtest/read-windows.ts'
import type { WindowSql } from '../../../../src/signals/backtest/window-sql.ts'

const lengthMs = 300_000

const query = (parts: readonly string[] = ['SELECT count() AS n FROM t'], shape: WindowSql['shape'] = 'number'): WindowSql => ({
  ...{ template: 'q', shape, connectionId: 'c', sourceId: undefined, parts },
})

const numbers: readonly SqlColumn[] = [
  { name: 'window__', type: 'UInt16' },
  { name: 'n', type: 'UInt64' },
]

interface Server {
  readonly sql?: WindowSql
  /** Windows to read. */
  readonly count: number
  readonly maxRequests?: number
  /** The answer to a batch of so many windows, by its place. Without one, each window has a row. */
  readonly answer?: (windows: number, place: number) => Partial<Extract<SqlAnswer, { kind: 'rows' }>> | SqlAnswer | undefined
  /** What a batch takes by the clock. */
  readonly tookMs?: number
}

async function read({ sql = query(), count, maxRequests = 1000, answer, tookMs = 0 }: Server) {
  const sizes: number[] = []
  const times: (readonly [number, number])[] = []
  let [used, remainingMs] = [0, 1e6]
  const spans: (readonly number[])[] = []
  const runSql = async (_: unknown, { sql: sent, startMs, endMs }: Parameters<ReadApi['runSql']>[1]): Promise<SqlAnswer> => {
    spans.push([startMs, endMs])
    const windows = sent.split('\nUNION ALL\n').length
    const rows = Array.from({ length: windows }, (__, i): SqlRow => ({ window__: i, n: i }))
    const given = answer?.(windows, sizes.length)
    sizes.push(windows)
    remainingMs -= tookMs
    return { kind: 'rows', columns: numbers, rows, elapsedMs: 1, rowsRead: 1, ...given } as SqlAnswer
  }
  const context = {
    api: { runSql, remainingMs: () => remainingMs } as unknown as ReadApi,
    service: {} as never,
    maxRequests,
    reserve(some: number) {
      if (used + some > maxRequests) return false
      used += some
      return true
    },
    refuseTime: (spentMs: number, leftMs: number) => void times.push([spentMs, leftMs]),
  }
  const starts = Array.from({ length: count }, (_, i) => i * lengthMs)
  const found = await readWindows(context as never, sql, starts, lengthMs)
  return { found, sizes, times, used, spans }
}

const overTime = { columns: [...numbers, { name: 'at', type: 'DateTime' }], rows: [] }
const tooLarge: SqlAnswer = { kind: 'too-large', columns: [] }
const unparsed: SqlAnswer = { kind: 'refused', reason: 'AST is too big.' }

const rowsOf = (windows: number, length: number): readonly SqlRow[] =>
  Array.from({ length: windows }, (_, i) => ({ window__: i, n: i, text: 'x'.repeat(length) }))

describe('the windows of a query', () => {
  it.each<readonly [string, Server, readonly number[]]>([
    ['are at most 500 in a batch', { count: 1200 }, [500, 500, 200]],
    ['are fewer where the text of the query is long', { count: 200, sql: query(['x'.repeat(940)]) }, [95, 95, 10]],
    ['are single where two do not fit', { count: 2, sql: query(['x'.repeat(60_000)]) }, [1, 1]],
    ['are single where one hardly fits', { count: 2, sql: query(['x'.repeat(95_000)]) }, [1, 1]],
    ['are fewer where the query has many words', { count: 250, sql: query(Array(210).fill('x')) }, [100, 100, 50]],
    [
      'are the more, up to that, after an answer that is short',
      { count: 700, sql: query(undefined, 'over-time'), answer: () => overTime },
      [100, 500, 100],
    ],
    [
      'are so few that an answer has 40,000 characters',
      { count: 578, answer: (windows) => ({ rows: rowsOf(windows, 971) }) },
      [500, 39, 39],
    ],
    [
      'are one at least',
      { count: 102, sql: query(undefined, 'over-time'), answer: (windows) => ({ ...overTime, rows: rowsOf(windows, 40_000) }) },
      [100, 1, 1],
    ],
    [
      'are a quarter after an answer that is too large',
      { count: 500, answer: (_, i) => (i < 2 ? tooLarge : undefined) },
      [500, 125, 32, 468],
    ],
    ['are a quarter where the server cannot parse so many', { count: 8, answer: (_, i) => (i < 1 ? unparsed : undefined) }, [8, 2, 6]],
  ])('%s', async (_, server, sizes) => {
    const ran = await read(server)
    expect(ran.sizes).toEqual(sizes)
    expect(ran.used).toBe(sizes.length)
    expect(ran.found).not.toHaveProperty('reason')
  })

  it('are not asked for again after three answers that took too long, or where a single one is too large', async () => {
    const slow = await read({ count: 500, answer: () => ({ kind: 'too-slow' }) })
    expect([slow.sizes, slow.used, slow.found]).toEqual([
      [500, 125, 32],
      3,
      { reason: 'its SQL took longer than 30 s, the limit of the server' },
    ])
    const large = await read({ count: 500, answer: () => tooLarge })
    expect([large.sizes, large.found]).toEqual([[500, 125, 32, 8, 2, 1], { reason: 'the answer to its SQL is too large for the server' }])
  })

  it('take a request for each batch, and give back those that are not sent', async () => {
    const few = await read({ count: 1200, maxRequests: 2 })
    const reason = (needed: string): string => `too expensive: its SQL needs ${needed} queries, and the limit of 2 requests leaves fewer`
    expect([few.sizes, few.used, few.found]).toEqual([[], 0, { reason: reason('3') }])
    const more = await read({ count: 1000, maxRequests: 2, answer: (windows) => ({ rows: rowsOf(windows, 971) }) })
    expect([more.sizes, more.used, more.found]).toEqual([[500], 1, { reason: reason('13 more') }])
    const refused = await read({ count: 1200, answer: () => ({ kind: 'refused', reason: 'no' }) })
    expect([refused.used, refused.found]).toEqual([1, { reason: 'the server refused its SQL: no', queryError: 'no' }])
  })

  it('are asked for with the time from the start of the first one to the end of the last one', async () => {
    const { spans } = await read({ count: 502 })
    expect(spans.map((span) => span.map((ms) => ms / lengthMs))).toEqual([
      [0, 500],
      [500, 502],
    ])
  })

  it('take the time that the server states, or that of the clock, and no less for batches of more windows', async () => {
    expect((await read({ count: 1200, tookMs: 7 })).times).toEqual([
      [0, 0],
      [1, 2],
      [2, 1],
    ])
    const unstated = await read({
      count: 700,
      sql: query(undefined, 'over-time'),
      tookMs: 7,
      answer: () => ({ ...overTime, elapsedMs: undefined }),
    })
    expect(unstated.times).toEqual([
      [0, 0],
      [7, 14],
      [14, 7],
    ])
    const slow = await read({ count: 500, tookMs: 7, answer: (_, i) => (i === 0 ? { kind: 'too-slow' } : undefined) })
    expect(slow.times.slice(0, 2)).toEqual([
      [0, 0],
      [7, 0],
    ])
  })
})

it('a number tile has one row in each window, or no estimate', async () => {
  const rowsIn = async (...windows: readonly number[]) => {
    const { found } = await read({ count: 2, answer: () => ({ rows: windows.map((window__) => ({ window__, n: 1 })) }) })
    return 'reason' in found ? found.reason : found.rows.length
  }
  expect([await rowsIn(0, 1), await rowsIn(1)]).toEqual([2, 1])
  expect(await rowsIn(0, 1, 1)).toContain('the query of a number tile has several rows')
})

it('a tile over time has the rows whose time is the start of their window, by group, and counts windows whose rows are all before it', async () => {
  const at = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').replace('.000Z', '')
  const row = (window: number, ms: number, service: string, n: unknown): SqlRow => ({ window__: window, at: at(ms), service, m: 9, n })
  const rows = [
    ...[row(0, 0, 'a', '17'), row(0, 0, 'a', 8), row(0, 0, 'b', null), row(0, lengthMs, 'a', 1)],
    ...[row(1, 0, 'a', 2), row(2, 3 * lengthMs, 'a', 3)],
  ]
  const columns = [...numbers, { name: 'at', type: 'DateTime' }, { name: 'service', type: 'String' }, { name: 'm', type: 'UInt8' }]
  const { found } = await read({ count: 4, sql: query(undefined, 'over-time'), answer: () => ({ columns, rows }) })
  const of = (group: string, values: readonly (number | null)[]) => ({
    startMs: 0,
    group,
    groupValues: [group],
    numbers: new Map(values.entries()),
  })
  expect(found).toEqual({ rows: [of('service:a', [17, 8]), of('service:b', [null])], early: 1 })
})
