import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ChecksFile, checksFileSchema } from '../../../src/backups/checks-file.ts'
import {
  chooseTime,
  type HeldRows,
  judgeCheck,
  judgeRestore,
  judgeTable,
  meaningOf,
  type TwoTables,
} from '../../../src/backups/restore-rules.ts'
import { type ListedTable, timeColumnsOf } from '../../../src/backups/restored-data.ts'
import { forEachEntry } from '../../support/corpus.ts'

const backupMs = Date.parse('2026-11-24T03:00:00Z')
const at = (minutesBefore: number): string => new Date(backupMs - minutesBefore * 60_000).toISOString()

const rulesOf = (tables: object = {}): ChecksFile['tables'] => checksFileSchema.parse({ tables }).tables

const column = (name: string, type: string, more: object = {}): ListedTable['columns'][number] => ({
  ...{ position: 1, name, type, kind: '', inPartitionKey: false, inSortingKey: false },
  ...more,
})

const logs: ListedTable = {
  key: 'default.logs',
  database: 'default',
  name: 'logs',
  engine: 'SharedMergeTree',
  storage: 'SharedMergeTree',
  total: 100,
  changed: 0,
  columns: [column('Timestamp', 'DateTime64(9)'), column('Body', 'String')],
}

type Rows = Exclude<HeldRows, { readonly unread: string }>

/** Rows that are all from before the backup. */
const rows = (total: number, minutesBefore = 1, more: Partial<Rows> = {}): Rows => ({
  ...{ total, before: total, newer: 0, later: 0, newest: total === 0 ? undefined : at(minutesBefore) },
  ...more,
})

const judge = (more: Partial<TwoTables> = {}, tables: object = {}) =>
  judgeTable({ listed: logs, twin: logs, original: rows(100), restored: rows(100), ...more }, rulesOf(tables), backupMs)

describe('a restored table', () => {
  it('passes with the rows of the original', () => expect(judge()).toEqual({ outcome: 'pass', reason: '' }))

  it('fails without the rows that the original has from before the backup', () =>
    expect(judge({ restored: rows(0) })).toEqual({
      outcome: 'fail',
      reason: 'is empty, and the original has 100 rows from before the backup',
    }))

  it('fails when its newest row is older than the tolerance, and passes at the tolerance', () => {
    expect(judge({ restored: rows(100, 16) }).outcome).toBe('pass')
    expect(judge({ restored: rows(100, 17) })).toEqual({
      outcome: 'fail',
      reason:
        'its newest row is 16 min older than in the original, and newestWithin is 15m; late events, merges, TTL and deletes after the backup can explain a difference',
    })
    expect(judge({ restored: rows(100, 2) }, { newestWithin: '0m' }).outcome).toBe('fail')
    expect(judge({ restored: rows(100, 60) }, { newestWithin: '1h' }).outcome).toBe('pass')
  })

  it('V13: has a warning below 98% of the rows, and fails below nine of ten, or the share of the file', () => {
    expect(judge({ restored: rows(98) }).outcome).toBe('pass')
    expect(judge({ restored: rows(97) })).toEqual({
      outcome: 'warn',
      reason: 'has 97 of 100 rows from before the backup; late events, merges, TTL and deletes after the backup can explain a difference',
    })
    expect(judge({ restored: rows(90) }).outcome).toBe('warn')
    expect(judge({ restored: rows(89) }).reason).toMatch(/^has 89 of 100 rows from before the backup, and minRowRatio is 0\.9;/)
    expect(judge({ restored: rows(98) }, { minRowRatio: 0.99 }).outcome).toBe('fail')
    expect(judge({ restored: rows(50) }, { minRowRatio: 0.5 }).outcome).toBe('warn')
  })

  it('counts all rows where no column has a time', () => {
    expect(judge({ original: { total: 3 }, restored: { total: 3 } }).outcome).toBe('pass')
    expect(judge({ original: { total: 3 }, restored: { total: 0 } }).reason).toBe('is empty, and the original has 3 rows')
  })

  it('need not have the rows that are newer than the backup', () =>
    expect(judge({ original: rows(150, 1, { before: 100, newer: 50, later: 50 }) }).outcome).toBe('pass'))

  it('V13: needs the rows without a time, and those of a far future', () => {
    const original = rows(100, 1, { before: 60 })
    expect(judge({ original, restored: rows(100, 1, { before: 60 }) }).outcome).toBe('pass')
    expect(judge({ original, restored: rows(60) }).outcome).toBe('fail')
  })

  it('V13: needs all rows where the restore has rows that are newer than the backup by their time', () => {
    const original = rows(100, 1, { before: 60, newer: 40, later: 40 })
    expect(judge({ original, restored: rows(100, 1, { before: 60, newer: 40, later: 40 }) }).outcome).toBe('pass')
    expect(judge({ original, restored: rows(70, 1, { before: 60, newer: 10, later: 10 }) })).toEqual({
      outcome: 'unknown',
      reason:
        'has 70 of 100 rows, and their times do not show which of them the backup had; compare the table by a check, or list it in tables.ignore',
    })
    expect(judge({ original, restored: rows(50, 1, { before: 40, newer: 10, later: 10 }) }).outcome).toBe('fail')
  })

  it('V13: is unknown where most rows of the original are newer than the backup, unless it has them all', () => {
    const original = rows(1000, 1, { before: 10, newer: 990, later: 990 })
    expect(judge({ original, restored: rows(10) }).outcome).toBe('unknown')
    expect(judge({ original, restored: rows(950) }).outcome).toBe('warn')
    expect(judge({ original: rows(1000, 1, { before: 0, newer: 1000, later: 1000, newest: undefined }), restored: rows(0) }).outcome).toBe(
      'unknown',
    )
  })

  it('of days can have rows of the day of the backup', () => {
    const days = rows(600, 1, { before: 590, newer: 10, later: 0 })
    expect(judge({ original: rows(700, 1, { before: 590, newer: 110, later: 0 }), restored: days }).outcome).toBe('pass')
    expect(judge({ original: days, restored: rows(20, 1, { before: 10, newer: 10, later: 0 }) }).reason).toMatch(/^has 10 of 590 rows/)
  })

  it('need not be compared when the original has no rows', () =>
    expect(judge({ original: rows(0), restored: rows(0) }).outcome).toBe('skipped'))

  it('has rows of its own unless its engine is known to have none', () => {
    const of = (engine: string) => ({ listed: { ...logs, engine }, original: undefined, restored: undefined })
    for (const engine of ['MergeTree', 'Log', 'Memory', 'Join', 'Set', 'EmbeddedRocksDB', 'KeeperMap', 'Buffer', 'NewEngine'])
      expect(judge(of(engine)).outcome, engine).toBe('unknown')
    for (const engine of ['View', 'Dictionary', 'Kafka', 'S3Queue', 'Distributed']) expect(judge(of(engine)).outcome, engine).toBe('pass')
  })

  it('is unknown when its rows were not counted on one of the services, and fails without a row with a time', () => {
    const unread = { unread: 'the query takes more than 30 s' }
    for (const more of [{ original: unread }, { restored: unread }, { original: undefined }, { restored: undefined }])
      expect(judge(more).outcome, JSON.stringify(more)).toBe('unknown')
    expect(judge({ restored: rows(100, 1, { before: 0, newest: undefined }) }).reason).toMatch(/^has no row with a time before the backup/)
  })

  it('that has no rows of its own must only exist, with its columns', () => {
    const view = { ...logs, engine: 'View', total: null }
    const none = { original: undefined, restored: undefined }
    expect(judge({ listed: view, twin: view, ...none }).outcome).toBe('pass')
    expect(judge({ listed: view, twin: undefined, ...none }).outcome).toBe('fail')
    expect(judge({ listed: view, twin: { ...view, columns: [] }, ...none }).outcome).toBe('fail')
  })

  it('V13: has the columns of the original with their types, and may have more', () => {
    const [time, body] = [column('Timestamp', 'DateTime64(9)'), column('Body', 'String')]
    const withColumns = (columns: ListedTable['columns'], changed = 0) =>
      judge({ listed: { ...logs, changed: changed / 1000 }, twin: { ...logs, columns } })
    expect(withColumns([body, column('Extra', 'UInt8'), time]).outcome).toBe('pass')
    expect(withColumns([time])).toEqual({
      outcome: 'fail',
      reason: 'lacks the column Body; if the original was changed after the backup, verify a newer one',
    })
    expect(withColumns([]).reason).toMatch(/^lacks the columns Timestamp, Body;/)
    expect(withColumns([time, column('Body', 'LowCardinality(String)')]).reason).toMatch(
      /^its column Body is LowCardinality\(String\), and String in the original;/,
    )
    expect(withColumns([time], backupMs + 60_000)).toEqual({
      outcome: 'unknown',
      reason: 'lacks the column Body, and the original was changed after the backup; verify a newer backup',
    })
  })

  it('that lacks rows fails, also if its columns are unknown', () => {
    const listed = { ...logs, changed: backupMs / 1000 + 60, columns: [...logs.columns, column('New', 'UInt8')] }
    expect(judge({ listed, restored: rows(10) }).outcome).toBe('fail')
  })

  it('that is missing fails, also if it was changed after the backup, unless it has no rows from before', () => {
    const changed = { ...logs, changed: backupMs / 1000 + 60 }
    const missing = { twin: undefined, restored: undefined }
    const newer = rows(10, 1, { before: 0, newer: 10, later: 10 })
    expect(judge(missing)).toEqual({ outcome: 'fail', reason: 'is missing' })
    expect(judge({ ...missing, original: newer }).outcome).toBe('fail')
    expect(judge({ ...missing, listed: changed }).outcome).toBe('fail')
    expect(judge({ ...missing, listed: changed, original: { unread: 'x' } }).outcome).toBe('fail')
    expect(judge({ ...missing, listed: changed, original: { total: 0 } }).outcome).toBe('fail')
    expect(judge({ ...missing, listed: changed, original: { ...newer, later: 9 } }).outcome).toBe('fail')
    expect(judge({ ...missing, listed: changed, original: newer })).toEqual({ outcome: 'skipped', reason: 'made after the backup' })
  })

  it('that the file ignores is skipped, by its name or its database', () => {
    for (const one of ['default.logs', 'default.*']) expect(judge({ twin: undefined }, { ignore: [one] }).outcome, one).toBe('skipped')
    expect(judge({ twin: undefined }, { ignore: ['default', 'logs', 'other.*'] }).outcome).toBe('fail')
  })
})

describe('the time of rows', () => {
  const timesOf = (...columns: ListedTable['columns']) => timeColumnsOf({ columns }).map(({ name }) => name)

  it('the time of rows is a column that is never NULL, in a key, with a time of day, and the first of those', () => {
    const sorting = { inSortingKey: true }
    expect(
      timesOf(
        column('deleted', 'Nullable(DateTime)', { position: 1, ...sorting }),
        column('created', 'DateTime', { position: 2 }),
        column('updated', "DateTime64(3, 'UTC')", { position: 3 }),
        column('birth', 'Date32', { position: 4 }),
        column('day', 'Date', { position: 5, inPartitionKey: true }),
        column('time', 'LowCardinality(DateTime)', { position: 6, ...sorting }),
        column('alias', 'DateTime', { position: 7, kind: 'ALIAS' }),
        column('times', 'Array(DateTime)', { position: 8, ...sorting }),
        column('text', 'String', { position: 9 }),
      ),
    ).toEqual(['time', 'day', 'created', 'updated', 'birth', 'deleted'])
  })

  it('the time of rows is the column by which most of them are from before the backup', () => {
    const columns = timeColumnsOf({
      columns: [column('expires', 'DateTime', { position: 1 }), column('created', 'DateTime', { position: 2 })],
    })
    const counted = (expires: number, created: number) => ({
      total: 100,
      times: new Map([
        ['expires', { before: expires, newer: 0, later: 0, newest: undefined }],
        ['created', { before: created, newer: 0, later: 0, newest: undefined }],
      ]),
    })
    expect(chooseTime(columns, counted(10, 90))?.name).toBe('created')
    expect(chooseTime(columns, counted(90, 90))?.name).toBe('expires')
  })
})

type Check = Parameters<typeof judgeCheck>[0]

const check = (expected: Partial<Check>): Check => ({ name: 'orders', sql: 'SELECT 1', ...expected })

describe('a check', () => {
  it('a check passes at its limits, and fails beyond them', () =>
    forEachEntry<[Partial<Check>, string, string]>(
      [
        [{ atLeast: 10 }, '10', 'pass'],
        [{ atLeast: 10 }, '9.999', 'fail'],
        [{ atMost: 10 }, '10', 'pass'],
        [{ atMost: 10 }, '10.001', 'fail'],
        [{ equals: 0 }, '0', 'pass'],
        [{ equals: 0 }, '1', 'fail'],
        [{ atLeast: 1, atMost: 3 }, '4', 'fail'],
        [{ atLeast: 1 }, 'many', 'fail'],
        [{ atLeast: 1 }, '', 'fail'],
        [{ atLeast: 1 }, 'nan', 'fail'],
      ],
      (expected, restored, outcome) => expect(judgeCheck(check(expected), { value: restored }, undefined).outcome).toBe(outcome),
    ))

  it('a check compares with the original, digit by digit', () =>
    forEachEntry<[string, string, string, string]>(
      [
        ['0%', '18446744073709551615', '18446744073709551615', 'pass'],
        ['0%', '18446744073709551615', '18446744073709551614', 'fail'],
        ['2%', '98', '100', 'pass'],
        ['2%', '102', '100', 'pass'],
        ['2%', '97.99', '100', 'fail'],
        ['2%', '-98', '-100', 'pass'],
        ['100%', '0', '100', 'pass'],
        ['5%', '0', '0', 'unknown'],
        ['5%', '1', '0', 'fail'],
        ['5%', '1', 'x', 'unknown'],
      ],
      (tolerance, restored, original, outcome) =>
        expect(judgeCheck(check({ tolerance }), { value: restored }, { value: original }).outcome).toBe(outcome),
    ))

  it('a check is unknown without a value on one of the services, whatever else it expects', () => {
    expect(judgeCheck(check({ atLeast: 0 }), { unread: 'the query returns no value' }, undefined).outcome).toBe('unknown')
    expect(judgeCheck(check({ atLeast: 0, tolerance: '5%' }), { value: '1' }, { unread: 'asleep' }).outcome).toBe('unknown')
    expect(judgeCheck(check({ tolerance: '5%' }), { value: '1' }, undefined).outcome).toBe('unknown')
  })

  it('a check that fails a limit says so, and not that it was not compared', () =>
    expect(judgeCheck(check({ atLeast: 5, tolerance: '5%' }), { value: '1' }, { unread: 'asleep' }).outcome).toBe('fail'))
})

it('V13: is verified only if rows were seen, nothing failed, and nothing was left uncompared', () => {
  const outcomes = ['pass', 'warn', 'fail', 'unknown', 'skipped'] as const
  const compared = fc.array(fc.record({ outcome: fc.constantFrom(...outcomes), reason: fc.constant('') }))
  fc.assert(
    fc.property(fc.boolean(), compared, fc.nat(3), (isRunning, all, rows) => {
      const has = (outcome: string): boolean => all.some((one) => one.outcome === outcome)
      const status = judgeRestore(isRunning, all, rows)
      expect(status === 'verified').toBe(isRunning && rows > 0 && !has('fail') && !has('unknown'))
      expect(status === 'not-started').toBe(!isRunning)
      expect(status === 'different').toBe(isRunning && has('fail'))
    }),
  )
})

it('knows what every documented state means for a restore', () => {
  const states = [
    ...['starting', 'stopping', 'terminating', 'softdeleting', 'awaking', 'partially_running', 'provisioning', 'running', 'stopped'],
    ...['terminated', 'softdeleted', 'degraded', 'failed', 'idle'],
  ]
  expect(Object.groupBy(states, meaningOf)).toEqual({
    running: ['running', 'idle'],
    ended: ['stopping', 'terminating', 'softdeleting', 'stopped', 'terminated', 'softdeleted', 'failed'],
    waiting: ['starting', 'awaking', 'partially_running', 'provisioning', 'degraded'],
  })
  expect(meaningOf(undefined)).toBe('waiting')
})
