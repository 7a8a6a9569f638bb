import { describe, expect, it } from 'vitest'
import { type Grouping, groupRecords } from '../../../src/usage/groups.ts'
import { decimal, usageRecord as record } from '../../support/usage.ts'

const records = [
  record('2026-03-01', 3, { entityId: 's1', entityName: 'old name', warehouseId: 'w1' }),
  record('2026-03-02', 2, { entityId: 's1', entityName: 'checkout', warehouseId: 'w1', locked: false }),
  record('2026-03-02', 4, { entityId: 's2', entityName: '', warehouseId: 'w2' }),
  record('2026-03-01', 1, { entityId: 'd', entityName: 'main', entityType: 'datawarehouse', warehouseId: 'w1', metrics: {} }),
  record('2026-03-01', 4, { entityId: 'p', entityName: 'orders', entityType: '', locked: false, metrics: { rows: decimal(5) } }),
]

const grouped = (by: Grouping) =>
  groupRecords(records, by).map(({ name, total, provisional }) => `${name}: ${total.toFixed()}, ${provisional.toFixed()} provisional`)

describe('groupRecords', () => {
  it.each<[Grouping, readonly string[]]>([
    ['entity', ['checkout: 5, 2 provisional', 'orders: 4, 4 provisional', 's2: 4, 0 provisional', 'main: 1, 0 provisional']],
    ['date', ['2026-03-01: 8, 4 provisional', '2026-03-02: 6, 2 provisional']],
    ['warehouse', ['main: 6, 2 provisional', 'no warehouse: 4, 4 provisional', 'w2: 4, 0 provisional']],
    ['type', ['service: 9, 2 provisional', 'unknown type: 4, 4 provisional', 'datawarehouse: 1, 0 provisional']],
    ['metric', ['compute: 9, 2 provisional', 'rows: 5, 5 provisional']],
  ])('groups by %s: the largest first, equals by name, days in their order', (by, expected) => {
    expect(grouped(by)).toEqual(expected)
  })

  it('uses the name of the newest record of an entity, in any order of the records', () => {
    const [name] = groupRecords([...records].reverse(), 'entity').map((group) => group.name)
    expect(name).toBe('checkout')
  })

  it('groupRecords has the type of an entity, and no type for other groups', () => {
    expect(groupRecords(records, 'entity').map(({ entityType }) => entityType)).toEqual(['service', '', 'service', 'datawarehouse'])
    expect(groupRecords(records, 'date').some((group) => 'entityType' in group)).toBe(false)
  })

  it('keeps days in order', () => {
    const days = ['2026-03-03', '2026-03-01', '2026-03-02'].map((day, i) => record(day, i))
    expect(groupRecords(days, 'date').map(({ name }) => name)).toEqual(['2026-03-01', '2026-03-02', '2026-03-03'])
  })

  it('counts the part of a total that no metric covers as other', () => {
    const [compute, novelty, other] = groupRecords(
      [record('2026-03-01', '5', { metrics: { compute: decimal(3), novelty: decimal(1.5) } })],
      'metric',
    )
    expect([compute, novelty, other].map((group) => `${group?.name}: ${group?.total.toFixed()}`)).toEqual([
      'compute: 3',
      'novelty: 1.5',
      'other: 0.5',
    ])
  })

  it('leaves out metrics with a total of zero', () => {
    const groups = groupRecords([record('2026-03-01', '2', { metrics: { compute: decimal(2), backup: decimal(0) } })], 'metric')
    expect(groups.map(({ name }) => name)).toEqual(['compute'])
  })

  it('returns no groups without records', () => {
    expect(groupRecords([], 'entity')).toEqual([])
    expect(groupRecords([], 'metric')).toEqual([])
  })
})
