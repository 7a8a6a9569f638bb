import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Compared,
  comparedPeriod,
  compareUsage,
  type comparisons,
  findChanges,
  increaseInput,
  isAboveIncrease,
} from '../../../../src/cost/usage/comparison.ts'
import type { Period } from '../../../../src/cost/usage/periods.ts'
import { totalOf, type UsageReading } from '../../../../src/cost/usage/records.ts'
import { addDays, type Day, eachDay } from '../../../../src/platform/core/dates.ts'
import { decimal, usageRecord as record } from '../../../support/usage.ts'

const day = (text: string): Day => text as Day // The tests write valid days.

/** One credit a day, or as much as `amountOn` returns. Days for which it returns nothing have no record. */
function reading(period: Period, amountOn: (day: Day) => number | undefined = () => 1): UsageReading {
  const records = [...eachDay(period.from, period.to)].flatMap((date) => {
    const amount = amountOn(date)
    return amount === undefined ? [] : [record(date, amount)]
  })
  return { period, records, grandTotal: totalOf(records) }
}

describe('compareUsage', () => {
  const compare = (from: string, to: string, how: (typeof comparisons)[number], amountOn?: (day: Day) => number | undefined) => {
    const period = { from: day(from), to: day(to) }
    const [previous, main] = [comparedPeriod(how, period, false), period].map((one) => reading(one, amountOn))
    if (previous === undefined || main === undefined) throw new Error('there are two readings')
    return compareUsage(previous, main, { compare: how, maxIncrease: undefined, today: day('2026-11-22') })
  }
  const daysOf = ({ fromDate, toDate, ofFromDate, ofToDate, leftOut }: Compared) => ({ fromDate, toDate, ofFromDate, ofToDate, leftOut })
  const compared = (...given: Parameters<typeof compare>): Compared => {
    const comparison = compare(...given)
    if (comparison.status !== 'compared') throw new Error('there is nothing to compare')
    return comparison
  }

  it('leaves out today and yesterday, and the days of the previous month that they are compared with', () => {
    const comparison = compared('2026-11-01', '2026-11-22', 'previous-month-days', (date) => (date === '2026-11-22' ? 0.1 : 2))
    expect(daysOf(comparison)).toEqual({
      fromDate: '2026-10-01',
      toDate: '2026-10-20',
      ofFromDate: '2026-11-01',
      ofToDate: '2026-11-20',
      leftOut: ['2026-11-21', '2026-11-22'],
    })
    expect([comparison.ofTotal, comparison.total, comparison.change].map(String)).toEqual(['40', '40', '0'])
  })

  it('compares each day of a week with the same weekday of the week before', () => {
    expect(daysOf(compared('2026-11-16', '2026-11-22', 'previous-period'))).toMatchObject({ fromDate: '2026-11-09', toDate: '2026-11-13' })
  })

  it('leaves out a day without records on either side, together with its counterpart', () => {
    const missing = new Set(['2026-11-03', '2026-10-08'])
    const comparison = compared('2026-11-01', '2026-11-10', 'previous-month-days', (date) => (missing.has(date) ? undefined : 1))
    expect(comparison.leftOut).toEqual(['2026-11-03', '2026-11-08'])
    expect([comparison.ofTotal, comparison.total].map(String)).toEqual(['8', '8'])
  })

  it('compares a closed month with the whole previous month, whatever their lengths', () => {
    const comparison = compared('2026-03-01', '2026-03-31', 'previous-month-days')
    expect([comparison.ofTotal, comparison.total, comparison.leftOut].map(String)).toEqual(['31', '28', ''])
  })

  it("compareUsage has the API's totals where every day counts, because records are rounded", () => {
    const [previous, main] = ['2026-11-01', '2026-11-02'].map((date) => ({
      ...reading({ from: day(date), to: day(date) }),
      grandTotal: decimal('1.000001'),
    }))
    if (previous === undefined || main === undefined) throw new Error('there are two readings')
    const options = { compare: 'previous-period', maxIncrease: undefined, today: day('2026-11-22') } as const
    expect(compareUsage(previous, main, options)).toMatchObject({ total: decimal('1.000001'), ofTotal: decimal('1.000001') })
  })

  it.each([
    ['the period has only today and yesterday', '2026-11-21', '2026-11-22', () => 1],
    ['there are no records', '2026-11-01', '2026-11-10', () => undefined],
    ['the previous period has no records', '2026-11-01', '2026-11-10', (date: Day) => (date < '2026-11-01' ? undefined : 1)],
  ] as const)('compareUsage has nothing to compare when %s', (_, from, to, amountOn) => {
    expect(compare(from, to, 'previous-period', amountOn).status).toBe('no-complete-days')
  })

  it('counts a day of filtered usage without records as a day without usage', () => {
    const [previous, main] = [
      { from: day('2026-11-01'), to: day('2026-11-05') },
      { from: day('2026-11-06'), to: day('2026-11-10') },
    ].map((period) => ({ ...reading(period, (date) => (date === '2026-11-07' ? 1 : undefined)), isFiltered: true }))
    if (previous === undefined || main === undefined) throw new Error('there are two readings')
    const options = { compare: 'previous-period', maxIncrease: undefined, today: day('2026-11-22') } as const
    expect(compareUsage(previous, main, options)).toMatchObject({ status: 'compared', leftOut: [], change: decimal(1) })
  })

  it('V11: compareUsage has no change for equal usage on every complete day, whatever the days that are not complete have', () => {
    let compared = 0
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 1, max: 28 }),
        fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 20 }),
        fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 2, maxLength: 2 }),
        (ago, length, missing, partial) => {
          const to = addDays(day('2026-11-22'), -ago)
          const without = new Set(missing.map((days) => addDays(day('2026-11-22'), -days)))
          const amountOn = (date: Day) => (date > '2026-11-20' ? partial[date === '2026-11-21' ? 0 : 1] : without.has(date) ? undefined : 7)
          const comparison = compare(addDays(to, 1 - length), to, 'previous-period', amountOn)
          if (comparison.status === 'no-complete-days') return
          compared++
          expect([comparison.change.toFixed(), comparison.movers]).toEqual(['0', []])
          expect(comparison.ofTotal.toFixed()).toBe(String(7 * (length - comparison.leftOut.length)))
        },
      ),
    )
    expect(compared).toBeGreaterThan(50)
  })
})

describe('isAboveIncrease', () => {
  it.each([
    ['100', '120', { kind: 'percent', percent: decimal(20) }, false],
    ['100', '120.000001', { kind: 'percent', percent: decimal(20) }, true],
    ['0.3', '0.36', { kind: 'percent', percent: decimal(20) }, false],
    ['1.1234567890123456789012345', '1.1234567890123456789012345', { kind: 'percent', percent: decimal(0) }, false],
    ['1.1234567890123456789012345', '2.246913578024691357802469', { kind: 'percent', percent: decimal(100) }, false],
    ['0', '0.01', { kind: 'percent', percent: decimal(20) }, true],
    ['0', '0', { kind: 'percent', percent: decimal(0) }, false],
    ['100', '150', { kind: 'amount', amount: decimal(50) }, false],
    ['100', '150.1', { kind: 'amount', amount: decimal(50) }, true],
    ['100', '10', { kind: 'amount', amount: decimal(0) }, false],
  ] as const)('compares a growth from %s to %s with a maximum of %o: %s', (before, after, most, isAbove) => {
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
  ])('the most that usage may grow is read from %j', (given, expected) => {
    expect(increaseInput.parse(given)).toEqual(expected)
  })

  it.each(['', '-1', '1e3', '01', '.5', '5.', '1,000', '%', '5 %%', 'a 5', '5 a', '٣'])(
    'the most that usage may grow is not read from %j',
    (given) => {
      expect(increaseInput.safeParse(given).success).toBe(false)
    },
  )
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
    expect(added).toEqual([{ name: 'search', entityId: 'b', entityType: 'service' }])
    expect(removed).toEqual([{ name: 'checkout', entityId: 'a', entityType: 'service' }])
    expect(movers).toHaveLength(2)
  })

  it('identifies a renamed entity by its id', () => {
    const { added, removed, movers } = findChanges([record('2026-03-01', 1)], [record('2026-03-02', 3, { entityName: 'till' })])
    expect([added, removed]).toEqual([[], []])
    expect(movers.map(({ entityName }) => entityName)).toEqual(['till'])
  })
})
