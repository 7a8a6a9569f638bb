import { describe, expect, it } from 'vitest'
import { findDataQualityIssues } from '../../../../src/cost/usage/readings.ts'
import type { UsageRecord } from '../../../../src/cost/usage/records.ts'
import type { Day } from '../../../../src/platform/core/dates.ts'
import { decimal, usageRecord as record } from '../../../support/usage.ts'

const march = { from: '2026-03-01' as Day, to: '2026-03-03' as Day }
const whole = [record('2026-03-01', '1'), record('2026-03-02', '2'), record('2026-03-03', '3')]

const issues = (records: readonly UsageRecord[], grandTotal: string, today = '2026-03-31') =>
  findDataQualityIssues({ period: march, grandTotal: decimal(grandTotal), records }, today as Day)

describe('findDataQualityIssues', () => {
  it.each([
    ['complete records that add up', whole, '6', []],
    ['no records', [], '0', ['no-records']],
    ['a total without records', [], '5', ['no-records', 'total-mismatch']],
    ['records that miss the total', whole, '7', ['total-mismatch']],
    ['a record of another day', [...whole, record('2026-04-01', '1')], '7', ['outside-period']],
    ['a duplicate record', [...whole, record('2026-03-03', '3')], '9', ['duplicate-record']],
    ['a second amount of one entity on one day', [...whole, record('2026-03-03', '1')], '7', ['duplicate-record']],
    [
      'a negative total',
      [record('2026-03-01', '-1'), record('2026-03-02', '0'), record('2026-03-03', '0')],
      '-1',
      ['negative-total', 'negative-record'],
    ],
    ['a negative record', [...whole, record('2026-03-03', '-1', { entityId: 'b' })], '5', ['negative-record']],
    ['a day without records in between', [record('2026-03-01', '1'), record('2026-03-03', '1')], '2', ['missing-days']],
    ['records that stop early', [record('2026-03-01', '1')], '1', ['missing-days']],
    ['records that start late', [record('2026-03-03', '1')], '1', ['missing-days']],
    ['a difference of rounding', whole, '6.0005', []],
    ['a difference beyond rounding', whole, '6.0007', ['total-mismatch']],
    ['a tiny total within a millionth', [record('2026-03-01', '0'), record('2026-03-02', '0'), record('2026-03-03', '0.0000005')], '0', []],
  ])('judges %s', (_, records, grandTotal, kinds) => {
    expect(issues(records, grandTotal).map(({ kind }) => kind)).toEqual(kinds)
  })

  it('does not expect records of today and yesterday', () => {
    expect(issues([record('2026-03-01', '1')], '1', '2026-03-03')).toEqual([])
    expect(issues([record('2026-03-01', '1')], '1', '2026-03-04')).toEqual([{ kind: 'missing-days', level: 'fail', days: ['2026-03-02'] }])
  })

  it('names every day outside of the period once, in order', () => {
    const outside = ['2026-04-02', '2026-02-28', '2026-04-02'].map((day, i) => record(day, '1', { entityId: String(i) }))
    expect(issues([...whole, ...outside], '9')).toEqual([{ kind: 'outside-period', level: 'fail', days: ['2026-02-28', '2026-04-02'] }])
  })

  it('reports days that have just begun as having no records yet', () => {
    expect(issues([], '0', '2026-03-02').map(({ kind }) => kind)).toEqual(['no-records-yet'])
    expect(issues([], '0', '2026-03-03').map(({ kind }) => kind)).toEqual(['no-records'])
  })

  it('does not report missing days of filtered usage', () => {
    expect(
      findDataQualityIssues({ period: march, grandTotal: decimal(1), records: whole.slice(0, 1), isFiltered: true }, '2026-03-31' as Day),
    ).toEqual([])
  })

  it('accepts two entities on one day', () => {
    expect(issues([...whole, record('2026-03-03', '3', { entityId: 'b' })], '9')).toEqual([])
  })
})
