import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkLimit, judgeBudgets } from '../../../../src/cost/usage/budgets.ts'
import type { BudgetScope } from '../../../../src/cost/usage/budgets-file.ts'
import { recordsInScope, totalOf, unmatchedNames } from '../../../../src/cost/usage/records.ts'
import type { Day } from '../../../../src/platform/core/dates.ts'
import { decimal, usageRecord as record } from '../../../support/usage.ts'

const judge = (spent: string, budget?: string, warnBudget?: string) =>
  checkLimit(decimal(spent), budget === undefined ? undefined : decimal(budget), warnBudget === undefined ? undefined : decimal(warnBudget))

describe('V2: a budget is compared digit by digit, and equal passes', () => {
  it.each([
    ['100', '100', undefined, 'within'],
    ['100.1', '100', undefined, 'exceeded'],
    ['100.00000000000000001', '100', undefined, 'exceeded'],
    ['0', '0', undefined, 'within'],
    ['0.000001', '0', undefined, 'exceeded'],
    ['90', '100', '80', 'warn'],
    ['80', '100', '80', 'within'],
    ['101', '100', '80', 'exceeded'],
    ['90', undefined, '80', 'warn'],
    ['90', undefined, undefined, 'within'],
  ])('a usage of %s of %s, warning above %s, is %s', (spent, budget, warnBudget, level) => {
    expect(judge(spent, budget, warnBudget).status).toBe(level)
  })

  it('a budget of zero has no used share of a budget of zero', () => {
    expect(judge('1', '0').usedPercent).toBeUndefined()
    expect(judge('25', '50').usedPercent?.toFixed()).toBe('50')
  })

  it('agrees with integer arithmetic', () => {
    const cents = fc.bigInt({ min: 0n, max: 10n ** 18n })
    const toText = (value: bigint): string => `${value / 10n ** 6n}.${(value % 10n ** 6n).toString().padStart(6, '0')}`
    fc.assert(
      fc.property(cents, cents, (spent, budget) => {
        expect(judge(toText(spent), toText(budget)).status).toBe(spent > budget ? 'exceeded' : 'within')
      }),
    )
  })
})

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
  it.each<[string, BudgetScope, number]>([
    ['everything', {}, 15],
    ['an entity by name', { entity: ['checkout'] }, 2],
    ['an entity by id', { entity: ['p'] }, 4],
    ['any of several entities', { entity: ['checkout', 'search'] }, 10],
    ['a type of entity', { entityType: ['service'] }, 10],
    ['a service by name, with everything that has its id', { service: ['checkout'] }, 6],
    ['a service by id', { service: ['s1'] }, 6],
    ['a warehouse by name, with every service in it', { warehouse: ['main'] }, 7],
    ['a warehouse by id', { warehouse: ['v'] }, 8],
    ['a metric', { metric: ['compute'] }, 13.5],
    ['metrics of a service', { service: ['checkout'], metric: ['compute', 'backup'] }, 6],
    ['kinds that exclude each other', { entityType: ['service'], entity: ['orders'] }, 0],
    ['an unknown entity', { entity: ['unknown'] }, 0],
  ])('selects the records of %s', (_, scope, total) => {
    expect(Number(totalOf(recordsInScope(records, scope, records)))).toBe(total)
  })

  it('counts an entity that was renamed by each of its names', () => {
    const renamed = [1, 2].map((day) => record(`2026-03-0${day}`, day, { entityId: 'a', entityName: `name ${day}` }))
    for (const name of ['name 1', 'name 2', 'a'])
      expect(Number(totalOf(recordsInScope(renamed, { entity: [name] }, renamed))), name).toBe(3)
  })

  it('looks names up in all records, not only in those of the budget period', () => {
    const pipe = records.slice(2, 3)
    expect(Number(totalOf(recordsInScope(pipe, { service: ['checkout'] }, records)))).toBe(4)
  })
})

describe('a record without id or name', () => {
  const bare = [
    record('2026-03-01', 1, { entityId: 'x', entityName: '' }),
    record('2026-03-01', 2, { entityId: 'main', entityName: 'pipe', entityType: 'clickpipe' }),
  ]
  const total = (scope: BudgetScope): number => Number(totalOf(recordsInScope(bare, scope, bare)))

  it('a record without id or name of a service matches by its entity id when the service id is missing', () => {
    expect(total({ service: ['x'] })).toBe(1)
    const named = [record('2026-03-01', 1, { entityId: 'x', entityName: 'shop' })]
    expect(Number(totalOf(recordsInScope(named, { service: ['shop'] }, named)))).toBe(1)
  })

  it('a record without id or name of a service matches by its service id when its entity has another id', () => {
    const service = record('2026-03-01', 1, { entityId: 'entity', entityName: 'shop', serviceId: 'own' })
    const pipe = record('2026-03-01', 2, { entityId: 'p', entityName: 'pipe', entityType: 'clickpipe', serviceId: 'own' })
    expect(Number(totalOf(recordsInScope([service, pipe], { service: ['shop'] }, [service, pipe])))).toBe(3)
  })

  it('a record without id or name of another type does not match a service with the same id', () => {
    expect(total({ service: ['main'] })).toBe(0)
    expect(total({ service: ['pipe'] })).toBe(0)
  })

  it('a record without id or name of another type gives no name to a warehouse', () => {
    expect(total({ warehouse: ['pipe'] })).toBe(0)
  })

  it('a record without id or name does not match an empty name', () => {
    expect(total({ service: ['unnamed'] })).toBe(0)
  })
})

describe('unmatchedNames', () => {
  it('returns the names without usage, of every kind, with the nearest name of the same kind', () => {
    const scope = {
      entity: ['checkout', 'chekout'],
      entityType: ['service', 'servise'],
      service: ['s1', 's9'],
      warehouse: ['main', 'mian'],
      metric: ['compute', 'compte'],
    }
    expect(unmatchedNames(scope, records)).toEqual([
      { name: 'chekout', nearest: 'checkout' },
      { name: 'servise', nearest: 'service' },
      { name: 's9', nearest: undefined },
      { name: 'mian', nearest: 'main' },
      { name: 'compte', nearest: 'compute' },
    ])
    const otherKinds = { warehouse: ['checkout'], service: ['orders'], metric: ['main'] }
    expect(unmatchedNames(otherKinds, records).map(({ nearest }) => nearest)).toEqual([undefined, undefined, undefined])
  })

  it('returns nothing for a scope without names, and for a tag, which records do not have', () => {
    expect(unmatchedNames({}, records)).toEqual([])
    expect(unmatchedNames({ tag: ['team=x'] }, records)).toEqual([])
  })
})

describe('judgeBudgets', () => {
  const period = { from: '2026-03-01' as Day, to: '2026-03-01' as Day, end: '2026-03-01' as Day }
  const main = { period, grandTotal: decimal(15), records, isFiltered: false }
  const judged = (scope: BudgetScope) =>
    judgeBudgets([{ name: 'b', limit: decimal(10), warnAbove: undefined, period, scope, judgesForecast: false, waiver: undefined }], {
      readings: { unit: 'Credits', main, previous: undefined, others: [], history: { readings: [], failures: [] }, tagged: new Map() },
      today: '2026-03-10' as Day,
      onMissing: undefined,
    }).map(({ scope: shown, used, status }) => [shown, used.toFixed(), status])

  it('judgeBudgets does not miss the forecast of a budget that is exceeded already', () => {
    const month = { from: '2026-03-01' as Day, to: '2026-03-10' as Day, end: '2026-03-31' as Day }
    const daily = Array.from({ length: 8 }, (_, i) => record(`2026-03-0${i + 1}`, 2))
    const failures = [{ period: { from: '2026-02-01' as Day, to: '2026-02-28' as Day }, cause: 'The API answered 500.' }]
    const missing = (limit: number) =>
      judgeBudgets(
        [{ name: 'b', limit: decimal(limit), warnAbove: undefined, period: month, scope: {}, judgesForecast: true, waiver: undefined }],
        {
          readings: {
            unit: 'CHC',
            main: { period: month, grandTotal: decimal(16), records: daily, isFiltered: false },
            previous: undefined,
            others: [],
            history: { readings: [], failures },
            tagged: new Map(),
          },
          today: month.to,
          onMissing: undefined,
        },
      ).map(({ forecast, isForecastMissing, status }) => [forecast?.status, isForecastMissing, status])
    expect(missing(16)).toEqual([['unavailable', true, 'fail']])
    expect(missing(15)).toEqual([['unavailable', false, 'fail']])
  })

  it('judgeBudgets returns what each budget is about, and what of it was used', () => {
    expect(judged({})).toEqual([[{}, '15', 'fail']])
    expect(judged({ service: ['checkout'], metric: undefined })).toEqual([[{ service: ['checkout'] }, '6', 'pass']])
  })
})
