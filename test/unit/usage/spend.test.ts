import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../../src/core/dates.ts'
import { groupRecords, provisionalOf, totalByDay, totalOf } from '../../../src/usage/records.ts'
import { decimal } from '../../support/decimal.ts'
import { usageRecord as record } from '../../support/usage-records.ts'

const march = { from: '2026-03-01' as Day, to: '2026-03-03' as Day }
const whole = [record('2026-03-01', '1'), record('2026-03-02', '2'), record('2026-03-03', '3')]
const named = (groups: ReturnType<typeof groupRecords>) => groups.map(({ name, total }) => [name, total.toFixed()])

describe('spend', () => {
  it('gives every day of the period, used or not', () => {
    expect(totalByDay([record('2026-03-02', '2')], march).map(({ date, total }) => [date, total.toFixed()])).toEqual([
      ['2026-03-01', '0'],
      ['2026-03-02', '2'],
      ['2026-03-03', '0'],
    ])
  })

  it('sums what can still change', () => {
    expect(provisionalOf([...whole, record('2026-03-03', '0.5', { locked: false })]).toFixed()).toBe('0.5')
  })

  it('sums 10,000 rows of 0.1 and 0.2 exactly', () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => record('2026-03-01', i % 2 === 0 ? '0.1' : '0.2'))
    expect(totalOf(rows).toFixed()).toBe('1500')
    expect(groupRecords(rows, 'metric')[0]?.total.toFixed()).toBe('1500')
  })

  it('sums any decimals as integers of their smallest unit would', () => {
    const amounts = fc.array(fc.tuple(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.integer({ min: 0, max: 12 })), {
      maxLength: 50,
    })
    fc.assert(
      fc.property(amounts, (parts) => {
        const shift = (places: number): string => `1${'0'.repeat(places)}`
        const rows = parts.map(([units, places]) => record('2026-03-01', decimal(String(units)).div(shift(places)).toFixed()))
        const wanted = parts.reduce((sum, [units, places]) => sum + units * 10n ** BigInt(12 - places), 0n)
        expect(totalOf(rows).times(shift(12)).toFixed()).toBe(wanted.toString())
      }),
    )
  })
})

describe('groupRecords', () => {
  it('puts the largest entity first, under its newest name', () => {
    const records = [
      ...whole,
      record('2026-03-02', '1', { entityId: 'b', entityName: 'new' }),
      record('2026-03-01', '9', { entityId: 'b', entityName: 'old' }),
    ]
    expect(named(groupRecords(records, 'entity'))).toEqual([
      ['new', '10'],
      ['checkout', '6'],
    ])
  })

  it('counts what the metrics leave of a total as other, whatever the metrics are called', () => {
    const records = [record('2026-03-01', '5', { metrics: { compute: decimal(3), novelty: decimal(1) } })]
    expect(named(groupRecords(records, 'metric'))).toEqual([
      ['compute', '3'],
      ['novelty', '1'],
      ['other', '1'],
    ])
  })

  it('leaves out metrics that come to nothing', () => {
    expect(named(groupRecords([record('2026-03-01', '2', { metrics: { compute: decimal(2), backup: decimal(0) } })], 'metric'))).toEqual([
      ['compute', '2'],
    ])
  })

  it('names a warehouse after its own row', () => {
    const records = [
      record('2026-03-01', '1', { warehouseId: 'w', entityType: 'datawarehouse', entityId: 'w', entityName: 'main' }),
      record('2026-03-01', '2', { warehouseId: 'w' }),
      record('2026-03-01', '5', { warehouseId: 'v' }),
    ]
    expect(named(groupRecords(records, 'warehouse'))).toEqual([
      ['v', '5'],
      ['main', '3'],
    ])
  })

  it('keeps days in their order, and the part of each group that can change', () => {
    const groups = groupRecords(
      [record('2026-03-02', '1', { locked: false }), record('2026-03-01', '2'), record('2026-03-02', '3')],
      'date',
    )
    expect(groups.map(({ name, total, provisional }) => [name, total.toFixed(), provisional.toFixed()])).toEqual([
      ['2026-03-01', '2', '0'],
      ['2026-03-02', '4', '1'],
    ])
  })
})
