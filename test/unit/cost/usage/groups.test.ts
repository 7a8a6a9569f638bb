import { describe, expect, it } from 'vitest'
import { groupByEntity, groupByMetric } from '../../../../src/cost/usage/records.ts'
import { decimal, usageRecord as record } from '../../../support/usage.ts'

const records = [
  record('2026-03-01', 3, { entityId: 's1', entityName: 'old name', warehouseId: 'w1' }),
  record('2026-03-02', 2, { entityId: 's1', entityName: 'checkout', warehouseId: 'w1', locked: false }),
  record('2026-03-02', 4, { entityId: 's2', entityName: '', warehouseId: 'w2' }),
  record('2026-03-01', 1, { entityId: 'd', entityName: 'main', entityType: 'datawarehouse', warehouseId: 'w1', metrics: {} }),
  record('2026-03-01', 4, { entityId: 'p', entityName: 'orders', entityType: '', locked: false, metrics: { rows: decimal(5) } }),
]

const grouped = (groups: ReturnType<typeof groupByMetric>) =>
  groups.map(({ name, total, provisional }) => `${name}: ${total.toFixed()}, ${provisional.toFixed()} provisional`)

describe('groups', () => {
  it('the largest group comes first, and equal ones by name', () => {
    expect(grouped(groupByEntity(records))).toEqual([
      'checkout: 5, 2 provisional',
      'orders: 4, 4 provisional',
      's2: 4, 0 provisional',
      'main: 1, 0 provisional',
    ])
    for (const some of [records, records.toReversed()])
      expect(grouped(groupByMetric(some))).toEqual(['compute: 9, 2 provisional', 'rows: 5, 5 provisional'])
  })

  it('uses the name of the newest record of an entity, in any order of the records', () => {
    const [name] = groupByEntity([...records].reverse()).map((group) => group.name)
    expect(name).toBe('checkout')
  })

  it('counts the part of a total that no metric covers as other', () => {
    const [compute, novelty, other] = groupByMetric([
      record('2026-03-01', '5', { metrics: { compute: decimal(3), novelty: decimal(1.5) } }),
    ])
    expect([compute, novelty, other].map((group) => `${group?.name}: ${group?.total.toFixed()}`)).toEqual([
      'compute: 3',
      'novelty: 1.5',
      'other: 0.5',
    ])
  })

  it('leaves out metrics with a total of zero', () => {
    const groups = groupByMetric([record('2026-03-01', '2', { metrics: { compute: decimal(2), backup: decimal(0) } })])
    expect(groups.map(({ name }) => name)).toEqual(['compute'])
  })

  it('returns no groups without records', () => {
    expect(groupByEntity([])).toEqual([])
    expect(groupByMetric([])).toEqual([])
  })
})
