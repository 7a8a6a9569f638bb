import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ChecksFile, readChecksFile } from '../../../src/backups/checks-file.ts'
import { judgeCheck, judgeRestore, judgeTable, meaningOf, type TwoTables } from '../../../src/backups/restore-rules.ts'
import type { ListedTable } from '../../../src/backups/restored-data.ts'
import { forEachEntry } from '../../support/corpus.ts'

const backupMs = Date.parse('2026-11-24T03:00:00Z')
const at = (minutesBefore: number): string => new Date(backupMs - minutesBefore * 60_000).toISOString()

const rulesOf = (tables: object = {}): ChecksFile['tables'] => readChecksFile(JSON.stringify({ tables }), 'checks.yml').tables

const logs: ListedTable = {
  key: 'default.logs',
  database: 'default',
  name: 'logs',
  engine: 'SharedMergeTree',
  total: 100,
  changed: 0,
  timeColumn: 'Timestamp',
}

const same = { rows: 100, newest: at(1) }

const judge = (more: Partial<TwoTables> = {}, tables: object = {}) =>
  judgeTable({ listed: logs, isRestored: true, original: same, restored: same, ...more }, rulesOf(tables), backupMs)

describe('a restored table', () => {
  it('passes with the rows of the original', () => expect(judge()).toEqual({ outcome: 'pass', reason: '' }))

  it('fails without the rows that the original has from before the backup', () =>
    expect(judge({ restored: { rows: 0 } })).toEqual({
      outcome: 'fail',
      reason: 'is empty, and the original has 100 rows from before the backup',
    }))

  it('fails when its newest row is older than the tolerance, and passes at the tolerance', () => {
    expect(judge({ restored: { rows: 100, newest: at(16) } }).outcome).toBe('pass')
    expect(judge({ restored: { rows: 100, newest: at(17) } })).toEqual({
      outcome: 'fail',
      reason:
        'its newest row is 16 min older than in the original, and newestWithin is 15m; late events, merges, TTL and deletes after the backup can explain a difference',
    })
    expect(judge({ restored: { rows: 100, newest: at(2) } }, { newestWithin: '0m' }).outcome).toBe('fail')
    expect(judge({ restored: { rows: 100, newest: at(60) } }, { newestWithin: '1h' }).outcome).toBe('pass')
  })

  it('fails with less than half of the rows, or the share of the file', () => {
    expect(judge({ restored: { rows: 50, newest: at(1) } }).outcome).toBe('pass')
    expect(judge({ restored: { rows: 49, newest: at(1) } }).reason).toMatch(
      /^has 49 of 100 rows from before the backup, and minRowRatio is 0\.5;/,
    )
    expect(judge({ restored: { rows: 98, newest: at(1) } }, { minRowRatio: 0.99 }).outcome).toBe('fail')
  })

  it('counts all rows where no column has a time', () => {
    const listed = { ...logs, timeColumn: '' }
    expect(judge({ listed, original: { rows: 3 }, restored: { rows: 3 } }).outcome).toBe('pass')
    expect(judge({ listed, original: { rows: 3 }, restored: { rows: 0 } }).reason).toBe('is empty, and the original has 3 rows')
  })

  it('need not be compared when the original has no rows', () =>
    expect(judge({ listed: { ...logs, total: 0 }, original: { rows: 0 }, restored: { rows: 0 } }).outcome).toBe('skipped'))

  it('is unknown when the original has rows, and none with a time before the backup', () =>
    expect(judge({ listed: { ...logs, total: 1 }, original: { rows: 0 }, restored: { rows: 0 } }).outcome).toBe('unknown'))

  it('has rows of its own unless its engine is known to have none', () => {
    for (const engine of ['MergeTree', 'Log', 'Memory', 'Join', 'Set', 'EmbeddedRocksDB', 'KeeperMap', 'Buffer', 'NewEngine'])
      expect(judge({ listed: { ...logs, engine }, original: undefined, restored: undefined }).outcome, engine).toBe('unknown')
    for (const engine of ['View', 'Dictionary', 'Kafka', 'S3Queue', 'Distributed'])
      expect(judge({ listed: { ...logs, engine }, original: undefined, restored: undefined }).outcome, engine).toBe('pass')
  })

  it('is unknown when its rows were not counted on one of the services', () => {
    const unread = { unread: 'the query takes more than 30 s' }
    for (const more of [{ original: unread }, { restored: unread }, { original: undefined }, { restored: undefined }])
      expect(judge(more).outcome, JSON.stringify(more)).toBe('unknown')
    expect(judge({ restored: { rows: 100, newest: undefined } }).outcome).toBe('unknown')
  })

  it('that has no rows of its own must only exist', () => {
    const view = { ...logs, engine: 'View', total: null }
    expect(judge({ listed: view, original: undefined, restored: undefined }).outcome).toBe('pass')
    expect(judge({ listed: view, isRestored: false, original: undefined, restored: undefined }).outcome).toBe('fail')
  })

  it('that is missing fails, also if it was changed after the backup, unless it has no rows from before', () => {
    const changed = { ...logs, changed: backupMs / 1000 + 60 }
    const missing = { isRestored: false, restored: undefined }
    expect(judge(missing)).toEqual({ outcome: 'fail', reason: 'is missing' })
    expect(judge({ ...missing, original: { rows: 0 } }).outcome).toBe('fail')
    expect(judge({ ...missing, listed: changed }).outcome).toBe('fail')
    expect(judge({ ...missing, listed: changed, original: { unread: 'x' } }).outcome).toBe('fail')
    expect(judge({ ...missing, listed: { ...changed, timeColumn: '' }, original: { rows: 0 } }).outcome).toBe('fail')
    expect(judge({ ...missing, listed: changed, original: { rows: 0 } })).toEqual({ outcome: 'skipped', reason: 'made after the backup' })
  })

  it('that the file ignores is skipped, by its name or its database', () => {
    for (const one of ['default.logs', 'default.*']) expect(judge({ isRestored: false }, { ignore: [one] }).outcome, one).toBe('skipped')
    expect(judge({ isRestored: false }, { ignore: ['default', 'logs', 'other.*'] }).outcome).toBe('fail')
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
  const outcomes = ['pass', 'fail', 'unknown', 'skipped'] as const
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
