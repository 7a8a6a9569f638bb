import { describe, expect, it } from 'vitest'
import { findChanges, increaseInput, isAboveIncrease } from '../../../src/usage/comparison.ts'
import { decimal, usageRecord as record } from '../../support/usage.ts'

describe('isAboveIncrease', () => {
  it.each([
    ['100', '120', { kind: 'percent', percent: decimal(20) }, false],
    ['100', '120.000001', { kind: 'percent', percent: decimal(20) }, true],
    ['0.3', '0.36', { kind: 'percent', percent: decimal(20) }, false],
    ['0', '0.01', { kind: 'percent', percent: decimal(20) }, true],
    ['0', '0', { kind: 'percent', percent: decimal(0) }, false],
    ['100', '150', { kind: 'amount', amount: decimal(50) }, false],
    ['100', '150.1', { kind: 'amount', amount: decimal(50) }, true],
    ['100', '10', { kind: 'amount', amount: decimal(0) }, false],
  ] as const)('from %s to %s, at most %o: %s', (before, after, most, isAbove) => {
    expect(isAboveIncrease(decimal(before), decimal(after), most)).toBe(isAbove)
  })
})

describe('the most that usage may grow', () => {
  it.each([
    ['50', { kind: 'amount', amount: decimal(50) }],
    [50, { kind: 'amount', amount: decimal(50) }],
    ['0.5', { kind: 'amount', amount: decimal('0.5') }],
    ['20%', { kind: 'percent', percent: decimal(20) }],
    [' 2.5 % ', { kind: 'percent', percent: decimal('2.5') }],
  ])('is read from %j', (given, expected) => {
    expect(increaseInput.parse(given)).toEqual(expected)
  })

  it.each(['', '-1', '1e3', '01', '.5', '5.', '1,000', '%', '5 %%', 'a 5', '5 a', '٣'])('is not read from %j', (given) => {
    expect(increaseInput.safeParse(given).success).toBe(false)
  })
})

describe('findChanges', () => {
  const other = { entityId: 'b', entityName: 'search' }

  it('orders equal changes by name', () => {
    const after = ['c', 'a', 'b'].map((name) => record('2026-03-02', 5, { entityId: name, entityName: name }))
    expect(findChanges([], after).movers.map(({ entityName }) => entityName)).toEqual(['a', 'b', 'c'])
    expect(findChanges([], after.toReversed()).movers.map(({ entityName }) => entityName)).toEqual(['a', 'b', 'c'])
  })

  it('orders changes by size, up or down, and leaves out equal amounts', () => {
    const before = [
      record('2026-03-01', 10),
      record('2026-03-01', 50, other),
      record('2026-03-01', 7, { entityId: 'c', entityName: 'same' }),
    ]
    const after = [
      record('2026-03-02', 15),
      record('2026-03-02', 20, other),
      record('2026-03-02', 7, { entityId: 'c', entityName: 'same' }),
    ]
    const { movers } = findChanges(before, after)
    expect(movers.map((mover) => [mover.entityName, mover.metric, mover.before.toFixed(), mover.after.toFixed()])).toEqual([
      ['search', 'compute', '50', '20'],
      ['checkout', 'compute', '10', '15'],
    ])
  })

  it('returns new and removed entities', () => {
    const { added, removed, movers } = findChanges([record('2026-03-01', 1)], [record('2026-03-02', 2, other)])
    expect(added).toEqual([{ name: 'search', entityType: 'service' }])
    expect(removed).toEqual([{ name: 'checkout', entityType: 'service' }])
    expect(movers).toHaveLength(2)
  })

  it('identifies a renamed entity by its id', () => {
    const { added, removed, movers } = findChanges([record('2026-03-01', 1)], [record('2026-03-02', 3, { entityName: 'till' })])
    expect([added, removed]).toEqual([[], []])
    expect(movers.map(({ entityName }) => entityName)).toEqual(['till'])
  })
})
