import { describe, expect, it } from 'vitest'
import { type Grouping, groupRecords, metricsOf } from '../../../src/usage/records.ts'
import { decimal } from '../../support/decimal.ts'
import { usageRecord as record } from '../../support/usage-records.ts'

const records = [
  record('2026-03-01', 3, { entityId: 's1', entityName: 'old name', warehouseId: 'w1' }),
  record('2026-03-02', 2, { entityId: 's1', entityName: 'checkout', warehouseId: 'w1', locked: false }),
  record('2026-03-02', 4, { entityId: 's2', entityName: '', warehouseId: 'w2' }),
  record('2026-03-01', 1, { entityId: 'd', entityName: 'main', entityType: 'datawarehouse', warehouseId: 'w1', metrics: {} }),
  record('2026-03-01', 4, { entityId: 'p', entityName: 'orders', entityType: '', locked: false, metrics: { rows: decimal(5) } }),
]

const grouped = (by: Grouping) =>
  groupRecords(records, by).map(({ name, total, provisional }) => `${name}: ${total.toFixed()}, ${provisional.toFixed()} open`)

describe('groupRecords', () => {
  it.each<[Grouping, readonly string[]]>([
    ['entity', ['checkout: 5, 2 open', 'orders: 4, 4 open', 's2: 4, 0 open', 'main: 1, 0 open']],
    ['date', ['2026-03-01: 8, 4 open', '2026-03-02: 6, 2 open']],
    ['warehouse', ['main: 6, 2 open', 'no warehouse: 4, 4 open', 'w2: 4, 0 open']],
    ['type', ['service: 9, 2 open', 'unknown type: 4, 4 open', 'datawarehouse: 1, 0 open']],
    ['metric', ['compute: 9, 2 open', 'rows: 5, 5 open']],
  ])('by %s: the largest first, equals by name, days in their order', (by, expected) => {
    expect(grouped(by)).toEqual(expected)
  })

  it('names an entity as its newest record does, wherever that stands', () => {
    const [name] = groupRecords([...records].reverse(), 'entity').map((group) => group.name)
    expect(name).toBe('checkout')
  })

  it('tells the type of an entity, and of nothing else', () => {
    expect(groupRecords(records, 'entity').map(({ entityType }) => entityType)).toEqual(['service', '', 'service', 'datawarehouse'])
    expect(groupRecords(records, 'date').some((group) => 'entityType' in group)).toBe(false)
  })

  it('has days in order whatever they cost', () => {
    const days = ['2026-03-03', '2026-03-01', '2026-03-02'].map((day, i) => record(day, i))
    expect(groupRecords(days, 'date').map(({ name }) => name)).toEqual(['2026-03-01', '2026-03-02', '2026-03-03'])
  })

  it('of nothing are none', () => {
    expect(groupRecords([], 'entity')).toEqual([])
    expect(groupRecords([], 'metric')).toEqual([])
  })
})

describe('metricsOf', () => {
  const told = (total: number, metrics: Record<string, number>) =>
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
    expect(told(total, metrics)).toEqual(expected)
  })
})
