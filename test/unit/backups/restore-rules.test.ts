import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeCheck, judgeRestore, meaningOf, type RestoreResult } from '../../../src/backups/restore-rules.ts'
import { assignedColumns, startOfStep, timeColumnsOf } from '../../../src/backups/restored-data.ts'
import { verifyRestore } from '../../../src/backups/verify-restore.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { composeBlocks } from '../../../src/platform/report/blocks.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { factsIn, tablesIn } from '../../support/report-texts.ts'

it('the time of rows is a column that is never NULL, in a key, with a time of day, and the first of those', () => {
  const column = (name: string, type: string, keys = '') => ({
    ...{ name, type, kind: '', byDefault: '' },
    ...{ isPartitionKey: keys === 'partition', isSortingKey: keys === 'sorting', isKey: keys !== '' },
  })
  const columns = [
    column('deleted', 'Nullable(DateTime)', 'sorting'),
    column('created', 'DateTime'),
    column('updated', "DateTime64(3, 'UTC')"),
    column('birth', 'Date32'),
    column('day', 'Date', 'partition'),
    column('time', 'LowCardinality(DateTime)', 'sorting'),
    column('times', 'Array(DateTime)', 'sorting'),
    column('text', 'String'),
  ]
  expect(timeColumnsOf(columns).map(({ name }) => name)).toEqual(['time', 'day', 'created', 'updated', 'birth', 'deleted'])
})

it('a step begins with a month, a Monday, a day, or a multiple of shorter spans', () => {
  const [minute, day] = [60_000, 86_400_000]
  const steps = [30 * day, 7 * day, day, minute].map((stepMs) => startOfStep(Date.parse('2026-11-21T06:07:08Z'), stepMs))
  expect(steps.map((ms) => new Date(ms).toISOString())).toEqual([
    ...['2026-11-01T00:00:00.000Z', '2026-11-16T00:00:00.000Z', '2026-11-21T00:00:00.000Z', '2026-11-21T06:07:00.000Z'],
  ])
})

it('V13: a change updates the columns that it assigns, and not those that it reads, or that its texts name', () =>
  forEachEntry<[string, readonly string[]]>(
    [
      ["(UPDATE a = if(b = 1, c, [d, e = 2]), `f g` = 'h, i = 3 WHERE j', `k\\`l` = 4 WHERE m IN (5, n))", ['a', 'f g', 'k`l']],
      ['UPDATE a = (b, c), d = 1 IN PARTITION tuple() WHERE 1', ['a', 'd']],
      ['UPDATE a', ['a']],
      ['(MATERIALIZE COLUMN a)', ['a']],
      ['MATERIALIZE INDEX a', []],
      ['(DELETE WHERE a = 1)', []],
    ],
    (command, columns) => expect(assignedColumns(command)).toEqual(columns),
  ))

const resultOf = (rows: Readonly<Record<'rows' | 'identicalRows' | 'keyRows', number>>, restoredRows: number) => ({
  ...({ restoreStatus: 'verified', originalId: 'a', originalName: 'a', restoredName: 'b', state: 'running', backupId: 'c' } as const),
  ...{ requestedAt: '2026-11-21T06:00:00Z', checkedAt: '2026-11-21T07:00:00Z', dataAgeHours: 1, versions: {}, ranBy: {}, checks: [] },
  ...rows,
  tables: [{ name: 'shop.events', outcome: 'pass' as const, reason: '', ...rows, restoredRows, valuedRows: rows.rows }],
})

it('V13: rows that are identical in their keys only are named, and are not more than the original has', () =>
  expect(toPlainText(verifyRestore.report(resultOf({ rows: 100, identicalRows: 70, keyRows: 30 }, 100)).headline)).toMatch(
    / 70% of 100 rows from before the backup are identical \(1 of 1 table\), 30% in their keys only \(1 table\)$/,
  ))

it('the cause of a failure is the age of the backup, the time of the restore, or what the restored service lacks', () => {
  const result = { ...resultOf({ rows: 0, identicalRows: 0, keyRows: 0 }, 0), restoreMinutes: 9 }
  const causeOf = (more: Partial<RestoreResult>) => {
    const verdict = verifyRestore.judge?.({ ...result, ...more }, { original: 'a', id: 'c', maxAgeHours: 0.5 })
    return toPlainText(verdict?.cause ?? [])
  }
  expect([causeOf({}), causeOf({ maxRestoreMinutes: 5 }), causeOf({ restoreStatus: 'started' })]).toEqual([
    'the backup was too old',
    'the restore took too long',
    'the service was restored and runs, but its data is not verified',
  ])
})

it('rows from a million on are rounded for people', () => {
  const rows = { rows: 1_204_331, identicalRows: 1_204_331, keyRows: 0 }
  const { blocks } = verifyRestore.report(resultOf(rows, 999_999))
  const shown = composeBlocks(blocks)
  expect([factsIn(shown), tablesIn(shown)[1]?.slice(0, 3)]).toEqual([
    [
      'Backup: c',
      'Age of the data at the request (RPO): 1 h',
      'Rows compared: 1.2 million',
      'Definitions compared: engines and columns, not queries of views, sources of dictionaries or TTLs',
      'ClickHouse, original and restored: unknown, unknown',
    ],
    ['shop.events', '1.2 million', '999999'],
  ])
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

it('V13: is verified only if rows were seen, at most a third of them by their keys, nothing failed, and nothing was left uncompared', () => {
  const outcomes = ['pass', 'warn', 'fail', 'unknown', 'skipped'] as const
  const compared = fc.array(fc.record({ outcome: fc.constantFrom(...outcomes), reason: fc.constant('') }))
  fc.assert(
    fc.property(fc.boolean(), compared, fc.nat(3), fc.nat(2), (isRunning, all, rows, keyRows) => {
      const has = (outcome: string): boolean => all.some((one) => one.outcome === outcome)
      const status = judgeRestore(isRunning, all, { rows, keyRows })
      expect(status === 'verified').toBe(isRunning && rows > 0 && 3 * keyRows <= rows && !has('fail') && !has('unknown'))
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
