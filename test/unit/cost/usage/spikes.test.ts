import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { totalOf, type UsageRecord } from '../../../../src/cost/usage/records.ts'
import { findSpikes } from '../../../../src/cost/usage/spikes.ts'
import { addDays, countDays, type Day, endOfMonth, weekdayOf } from '../../../../src/platform/core/dates.ts'
import { randomFrom } from '../../../support/random.ts'
import { daySeries, decimal, usageRecord } from '../../../support/usage.ts'

const first = '2026-05-04' as Day

function spikesOf(amountOn: (i: number, day: Day) => number, length = 56) {
  const series = daySeries(first, length, amountOn)
  const records = [...series].map(([day, total]) => usageRecord(day, total.toFixed()))
  return findSpikes(
    records,
    [...series].map(([date, total]) => ({ date, total })),
    first,
  ).map(({ date }) => date)
}

const isWeekend = (day: Day): boolean => weekdayOf(day) > 5

describe('findSpikes', () => {
  it.each<[string, (i: number, day: Day) => number]>([
    ['a flat series', () => 10],
    ['a series of nothing', () => 0],
    ['quiet weekends', (_, day) => (isWeekend(day) ? 2 : 10)],
    ['busy weekends', (_, day) => (isWeekend(day) ? 40 : 10)],
    ['slow growth', (i) => 10 + 0.2 * i],
    ['an ordinary rise of a quarter', (i) => (i === 40 ? 12.5 : 10)],
    ['a fall', (i) => (i === 40 ? 0 : 10)],
  ])('finds no spike in %s', (_, amountOn) => {
    expect(spikesOf(amountOn)).toEqual([])
  })

  it('finds no spike in noise', { tags: 'slow' }, () => {
    const noise = fc.array(fc.double({ min: 0.9, max: 1.1, noNaN: true }), { minLength: 56, maxLength: 56 })
    fc.assert(
      fc.property(noise, (factors) => {
        expect(spikesOf((i) => 10 * (factors[i] ?? 1))).toEqual([])
      }),
    )
  })

  it('finds a day far above the others, and only that one', () => {
    expect(spikesOf((i) => (i === 40 ? 30 : 10))).toEqual([addDays(first, 40)])
    expect(spikesOf((i) => (i === 40 ? 30 : 0))).toEqual([addDays(first, 40)])
  })

  it('finds a weekday with the usage of a weekend', () => {
    expect(spikesOf((i, day) => (i === 44 || isWeekend(day) ? 40 : 10))).toEqual([addDays(first, 44)])
  })

  it('finds a weekend with the usage of a weekday, and no spike on a weekday after a holiday', () => {
    const usual = (day: Day): number => (isWeekend(day) ? 2 : 10)
    expect(spikesOf((i, day) => (i === 40 ? 10 : usual(day)))).toEqual([addDays(first, 40)])
    expect(spikesOf((i, day) => (i === 11 || i === 39 ? 0 : usual(day)))).toEqual([])
  })

  it('finds no spike on the last days of a month that were above the others in both months before, unless they are higher', () => {
    const batch = (day: Day): number => (countDays(day, endOfMonth(day)) <= 2 ? 60 : 10)
    const inAugust = (days: readonly Day[]): readonly Day[] => days.filter((day) => day >= '2026-07-30')
    expect(inAugust(spikesOf((_, day) => batch(day), 100))).toEqual([])
    expect(inAugust(spikesOf((_, day) => (day === '2026-07-31' ? 120 : batch(day)), 100))).toEqual(['2026-07-31'])
  })

  it('accepts a new level as usual within four days', () => {
    expect(spikesOf((i) => (i < 40 ? 10 : 20))).toEqual([40, 41, 42, 43].map((i) => addDays(first, i)))
  })

  it('judges no day with less than two weeks before it', () => {
    expect(spikesOf((i) => (i === 13 ? 100 : 10))).toEqual([])
    expect(spikesOf((i) => (i === 14 ? 100 : 10))).toEqual([addDays(first, 14)])
  })

  it('judges no day before the period', () => {
    const series = daySeries(first, 56, (i) => (i === 20 || i === 40 ? 100 : 10))
    const days = [...series].map(([date, total]) => ({ date, total }))
    const records = days.map(({ date, total }) => usageRecord(date, total.toFixed()))
    expect(findSpikes(records, days, addDays(first, 28)).map(({ date }) => date)).toEqual([addDays(first, 40)])
  })

  it('finds the days of one of 60 services that the total of the organization hides', () => {
    const random = randomFrom(5)
    const days = Array.from({ length: 56 }, (_, i) => addDays(first, i))
    const spiking = [33, 40, 41, 52]
    const courses: readonly ((i: number) => number)[] = [
      (i) => (spiking.includes(i) ? 50 : 10),
      // Has no usual usage.
      (i) => (i % 5 === 0 ? 40 : 0),
      ...Array.from({ length: 58 }, (_, k) => () => (k < 30 ? 10 : 1)),
    ]
    const usageOn = (date: Day): number => (isWeekend(date) ? 0.6 : 1) * (0.85 + 0.3 * random())
    const records = days.flatMap((date, i) =>
      courses.map((course, k) =>
        usageRecord(date, (course(i) * usageOn(date)).toFixed(6), { entityId: String(k), entityName: `service ${k}` }),
      ),
    )
    const totals = days.map((date) => ({ date, total: totalOf(records.filter((one) => one.date === date)) }))
    const found = findSpikes(records, totals, addDays(first, 28))
    expect(found.map(({ date, of, driver }) => [date, of, driver.entityName])).toEqual(
      spiking.map((i) => [addDays(first, i), 'entity', 'service 0']),
    )
  })

  it('finds a service that rises by 1% of the usage of the organization, and none that rises by less', () => {
    const days = Array.from({ length: 30 }, (_, i) => addDays(first, i))
    const risesTo = (amount: number) => {
      const records = days.flatMap((day, i) => [
        usageRecord(day, 996),
        usageRecord(day, i === 29 ? amount : 4, { entityId: 'b', entityName: 'search' }),
      ])
      const totals = days.map((date) => ({ date, total: totalOf(records.filter((one) => one.date === date)) }))
      return findSpikes(records, totals, first).map(({ date, driver }) => [date, driver.entityName])
    }
    expect(risesTo(14)).toEqual([[addDays(first, 29), 'search']])
    expect(risesTo(13.9)).toEqual([])
  })

  it('names the entity and the metric that grew most', () => {
    const days = Array.from({ length: 30 }, (_, i) => addDays(first, i))
    const records = days.flatMap((day, i): UsageRecord[] => [
      usageRecord(day, 100),
      usageRecord(day, i === 29 ? 65 : 15, {
        entityId: 'b',
        entityName: 'search',
        metrics: { compute: decimal(5), storage: decimal(i === 29 ? 60 : 10) },
      }),
    ])
    const totals = days.map((date, i) => ({ date, total: decimal(i === 29 ? 165 : 115) }))
    const [spike, ...others] = findSpikes(records, totals, first)
    expect(others).toEqual([])
    expect(spike?.usual.toFixed()).toBe('115')
    expect({ ...spike?.driver, total: spike?.driver.total.toFixed(), usual: spike?.driver.usual.toFixed() }).toEqual({
      entityName: 'search',
      entityId: 'b',
      entityType: 'service',
      metric: 'storage',
      total: '60',
      usual: '10',
    })
  })

  it('compares the entity and metric of a spike on a weekend with other weekends', () => {
    const days = Array.from({ length: 34 }, (_, i) => addDays(first, i))
    const amountsOn = (day: Day, i: number) => ({ 'weekend-batch': isWeekend(day) ? 100 : 1, shop: i === 33 ? 110 : 50 })
    const records = days.flatMap((day, i) =>
      Object.entries(amountsOn(day, i)).map(([entityName, amount]) => usageRecord(day, amount, { entityId: entityName, entityName })),
    )
    const totals = days.map((date) => ({ date, total: totalOf(records.filter((one) => one.date === date)) }))
    expect(findSpikes(records, totals, first)).toMatchObject([
      { date: addDays(first, 33), of: 'organization', driver: { entityName: 'shop', total: decimal(110), usual: decimal(50) } },
    ])
  })

  it('finds a spike of an entity beside that of another one with the same name', () => {
    const days = Array.from({ length: 30 }, (_, i) => addDays(first, i))
    const amountsOn = (i: number) => ({ a: 100, b: i === 29 ? 160 : 10, c: i === 29 ? 40 : 10 })
    const records = days.flatMap((day, i) =>
      Object.entries(amountsOn(i)).map(([entityId, amount]) => usageRecord(day, amount, { entityId, entityName: 'shop' })),
    )
    const totals = days.map((date, i) => ({ date, total: decimal(i === 29 ? 300 : 120) }))
    expect(findSpikes(records, totals, first).map(({ of, driver }) => [of, driver.entityId])).toEqual([
      ['organization', 'b'],
      ['entity', 'c'],
    ])
  })
})
