import { describe, expect, it } from 'vitest'
import { recordsInScope, type Scope } from '../../src/rules/scope.ts'
import { totalOf } from '../../src/rules/spend.ts'
import { decimal } from '../support/decimal.ts'
import { usageRecord as record } from '../support/usage-records.ts'

const records = [
  record('2026-03-01', 1, {
    entityType: 'datawarehouse',
    entityId: 'w',
    entityName: 'main',
    warehouseId: 'w',
    metrics: { storage: decimal(1) },
  }),
  record('2026-03-01', 2, {
    entityId: 's1',
    entityName: 'checkout',
    serviceId: 's1',
    warehouseId: 'w',
    metrics: { compute: decimal(1.5), backup: decimal(0.5) },
  }),
  record('2026-03-01', 4, { entityType: 'clickpipe', entityId: 'p', entityName: 'orders', serviceId: 's1', warehouseId: 'w' }),
  record('2026-03-01', 8, { entityId: 's2', entityName: 'search', serviceId: 's2', warehouseId: 'v' }),
]

describe('recordsInScope', () => {
  it.each<[string, Scope, number]>([
    ['everything', {}, 15],
    ['an entity by name', { entity: ['checkout'] }, 2],
    ['an entity by id', { entity: ['p'] }, 4],
    ['any of several entities', { entity: ['checkout', 'search'] }, 10],
    ['a type of entity', { entityType: ['service'] }, 10],
    ['a service by name, with all that bears its id', { service: ['checkout'] }, 6],
    ['a service by id', { service: ['s1'] }, 6],
    ['a warehouse by name, with every service in it', { warehouse: ['main'] }, 7],
    ['a warehouse by id', { warehouse: ['v'] }, 8],
    ['a metric', { metric: ['compute'] }, 13.5],
    ['metrics of a service', { service: ['checkout'], metric: ['compute', 'backup'] }, 6],
    ['kinds that exclude each other', { entityType: ['service'], entity: ['orders'] }, 0],
    ['nobody', { entity: ['nobody'] }, 0],
  ])('%s', (_, scope, total) => {
    expect(Number(totalOf(recordsInScope(records, scope, records)))).toBe(total)
  })

  it('looks names up in all that was read, not in the days of the budget alone', () => {
    const pipe = records.slice(2, 3)
    expect(Number(totalOf(recordsInScope(pipe, { service: ['checkout'] }, records)))).toBe(4)
  })
})
