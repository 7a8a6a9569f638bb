import Big from 'big.js'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/kernel/days.ts'
import { type SpendRecord, toSpend } from '../../src/rules/spend.ts'

const record = (date: string, total: string, more: Partial<SpendRecord> = {}): SpendRecord => ({
  date: date as Day,
  entityType: 'service',
  entityId: 'a',
  entityName: 'checkout',
  total: new Big(total),
  metrics: { compute: new Big(total) },
  locked: true,
  ...more,
})

const spend = (records: readonly SpendRecord[], grandTotal: string, today = '2026-03-31') =>
  toSpend({ period: { from: '2026-03-01' as Day, to: '2026-03-03' as Day }, today: today as Day, grandTotal: new Big(grandTotal), records })

const whole = [record('2026-03-01', '1'), record('2026-03-02', '2'), record('2026-03-03', '3')]

describe('toSpend', () => {
  it('has no doubt about figures that are whole and add up', () => {
    expect(spend(whole, '6').doubts).toEqual([])
  })

  it('gives every day of the period, used or not', () => {
    const days = spend([record('2026-03-02', '2')], '2').byDay.map(({ day, total }) => [day, total.toFixed()])
    expect(days).toEqual([
      ['2026-03-01', '0'],
      ['2026-03-02', '2'],
      ['2026-03-03', '0'],
    ])
  })

  it('sums what can still change', () => {
    const records = [...whole, record('2026-03-03', '0.5', { entityId: 'b', locked: false })]
    expect(spend(records, '6.5').provisional.toFixed()).toBe('0.5')
  })

  it('puts the largest entity first, under its newest name', () => {
    const records = [
      ...whole,
      record('2026-03-01', '9', { entityId: 'b', entityName: 'old' }),
      record('2026-03-02', '1', { entityId: 'b', entityName: 'new' }),
    ]
    expect(spend(records, '16').byEntity.map(({ name, total }) => [name, total.toFixed()])).toEqual([
      ['new', '10'],
      ['checkout', '6'],
    ])
  })

  it('counts what the metrics leave of a total as other', () => {
    const records = [record('2026-03-01', '5', { metrics: { compute: new Big(3), novelty: new Big(1) } })]
    expect(spend(records, '5').byMetric.map(({ name, total }) => [name, total.toFixed()])).toEqual([
      ['compute', '3'],
      ['novelty', '1'],
      ['other', '1'],
    ])
  })
})

describe('doubts', () => {
  it.each([
    ['no record at all', [], '0', ['empty']],
    ['a total without records', [], '5', ['empty', 'sum-differs']],
    ['records that miss the total', whole, '7', ['sum-differs']],
    ['a record of another day', [...whole, record('2026-04-01', '1')], '7', ['outside-period']],
    ['a record that comes twice', [...whole, record('2026-03-03', '3')], '9', ['repeated']],
    ['a negative total', [record('2026-03-01', '-1'), record('2026-03-02', '0'), record('2026-03-03', '0')], '-1', ['negative']],
    ['a day without records in between', [record('2026-03-01', '1'), record('2026-03-03', '1')], '2', ['missing-days']],
    ['records that stop early', [record('2026-03-01', '1')], '1', ['missing-days']],
    ['days before the first record', [record('2026-03-03', '1')], '1', []],
    ['a difference of rounding', whole, '6.0005', []],
    ['a difference beyond rounding', whole, '6.0007', ['sum-differs']],
    ['a tiny total within a millionth', [record('2026-03-01', '0'), record('2026-03-02', '0'), record('2026-03-03', '0.0000005')], '0', []],
  ])('%s', (_, records, grandTotal, kinds) => {
    expect(spend(records, grandTotal).doubts.map(({ kind }) => kind)).toEqual(kinds)
  })

  it('does not miss records of today and yesterday yet', () => {
    expect(spend([record('2026-03-01', '1')], '1', '2026-03-03').doubts).toEqual([])
    expect(spend([record('2026-03-01', '1')], '1', '2026-03-04').doubts).toEqual([{ kind: 'missing-days', days: ['2026-03-02'] }])
  })

  it('accepts two entities on one day', () => {
    expect(spend([...whole, record('2026-03-03', '3', { entityId: 'b' })], '9').doubts).toEqual([])
  })
})
