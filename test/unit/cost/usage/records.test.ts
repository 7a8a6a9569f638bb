import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { groupByMetric, metricsOf, provisionalOf, totalOf } from '../../../../src/cost/usage/records.ts'
import { decimal, usageRecord as record } from '../../../support/usage.ts'

describe('totals', () => {
  it('sums provisional records', () => {
    expect(provisionalOf([record('2026-03-03', '3'), record('2026-03-03', '0.5', { locked: false })]).toFixed()).toBe('0.5')
  })

  it('sums 10,000 rows of 0.1 and 0.2 exactly', () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => record('2026-03-01', i % 2 === 0 ? '0.1' : '0.2'))
    expect(totalOf(rows).toFixed()).toBe('1500')
    expect(groupByMetric(rows)[0]?.total.toFixed()).toBe('1500')
  })

  it('agrees with integer arithmetic for any decimals', () => {
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

describe('metricsOf', () => {
  const metricsOfRecord = (total: number, metrics: Record<string, number>) =>
    metricsOf({
      total: decimal(total),
      metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, decimal(value)])),
    }).map(([name, amount]) => [name, Number(amount)])

  it.each([
    [
      'that add up',
      3,
      { compute: 1, storage: 2 },
      [
        ['compute', 1],
        ['storage', 2],
      ],
    ],
    [
      'that leave something',
      3,
      { compute: 1 },
      [
        ['compute', 1],
        ['other', 2],
      ],
    ],
    [
      'that are too much',
      3,
      { compute: 4 },
      [
        ['compute', 4],
        ['other', -1],
      ],
    ],
    ['of which there is none', 3, {}, [['other', 3]]],
  ])('completes metrics %s', (_, total, metrics, expected) => {
    expect(metricsOfRecord(total, metrics)).toEqual(expected)
  })
})
