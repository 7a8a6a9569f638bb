import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CreditBalance, type CreditForecast, forecastCredits, latestFinalDays } from '../../../../src/cost/usage/credits.ts'
import { addDays, type Day } from '../../../../src/platform/core/dates.ts'
import { decimal, usageRecord } from '../../../support/usage.ts'

const horizonDays = 3650

const day = (text: string): Day => text as Day // The tests write valid days.

const today = day('2026-11-22')

/** `expires` is the first day on which the credits cannot be used. */
const balance = (remaining: number, expires?: Day): CreditBalance => ({
  type: 'prepaid',
  state: 'active',
  remaining: decimal(remaining),
  ...(expires !== undefined && { expiresAt: `${expires}T00:00:00.000Z` }),
})

const daysOf = (values: readonly number[]) =>
  values.map((total, i) => ({ date: addDays(today, i - values.length - 1), total: decimal(total) }))

/** At the end of today, unless a test says how much of today is left. */
function estimated(
  balances: readonly CreditBalance[],
  values: readonly number[],
  restOfToday = 0,
): Extract<CreditForecast, { status: 'estimated' }> {
  const forecast = forecastCredits(balances, daysOf(values), today, restOfToday)
  if (forecast.status !== 'estimated') throw new Error(forecast.reason)
  return forecast
}

const tenADay = Array.from({ length: 14 }, () => 10)

describe('the days that credits last', () => {
  it('are the whole days that the use per day leaves', () => {
    const { daysLeft, perDay, days, fromDate, toDate, expiring } = estimated([balance(105)], tenADay)
    expect([daysLeft.expected, perDay.expected.toFixed(), days, expiring.expected.toFixed()]).toEqual([10, '10', 14, '0'])
    expect([fromDate, toDate]).toEqual([addDays(today, -15), addDays(today, -2)])
  })

  it('begin after what the rest of today uses', () => {
    const at = (restOfToday: number) => {
      const { daysLeft, course } = estimated([balance(105)], tenADay, restOfToday)
      return [daysLeft.expected, course[0]?.remaining.toFixed(), course.at(-1)?.date]
    }
    expect([at(0), at(0.5), at(0.6), at(1)]).toEqual([
      [10, '105', addDays(today, 11)],
      [10, '100', addDays(today, 11)],
      [9, '99', addDays(today, 10)],
      [9, '95', addDays(today, 10)],
    ])
  })

  it('are none when the credits run out today, which is then the last day of the course', () => {
    const { daysLeft, course } = estimated([balance(4)], tenADay, 0.5)
    expect([daysLeft.expected, course.map(({ date }) => date)]).toEqual([0, [today]])
  })

  it('end before the day on which all credits expire, and the rest is lost', () => {
    const { daysLeft, expiring, losses } = estimated([balance(100.5, addDays(today, 11))], tenADay)
    expect([daysLeft.expected, expiring.expected.toFixed()]).toEqual([10, '0.5'])
    expect(losses.map(({ balance: i, expected }) => [i, expected.toFixed()])).toEqual([[0, '0.5']])
  })

  it('use the balance that expires first, whatever the order of the answer', () => {
    const [soon, late] = [balance(50, addDays(today, 6)), balance(100, addDays(today, 300))]
    for (const balances of [
      [soon, late],
      [late, soon],
    ]) {
      const { daysLeft, expiring } = estimated(balances, tenADay)
      expect([daysLeft.expected, expiring.expected.toFixed()]).toEqual([15, '0'])
    }
  })

  it('are limited by the horizon for credits that nothing uses and that never expire', () => {
    const { daysLeft, expiring } = estimated([balance(1)], [0, 0, 0, 0, 0, 0, 0])
    expect([daysLeft, expiring.expected.toFixed()]).toEqual([{ expected: horizonDays, low: horizonDays, high: horizonDays }, '0'])
  })

  it('end with the last balance when nothing is used', () => {
    const { daysLeft, expiring } = estimated([balance(7, addDays(today, 3)), balance(5, addDays(today, 8))], [0, 0, 0, 0, 0, 0, 0])
    expect([daysLeft.expected, expiring.expected.toFixed()]).toEqual([7, '12'])
  })

  it('are not estimable with fewer than seven final days', () => {
    expect(forecastCredits([balance(5)], daysOf([1, 2, 3]), today, 0)).toEqual({
      status: 'not-estimable',
      reason: 'there are 3 final days of usage in a row, and an estimate needs 7',
    })
    expect(forecastCredits([balance(5)], [], today, 0)).toMatchObject({ status: 'not-estimable' })
  })

  it('have a range around the expected value, lose or use every credit once, and never run out later with more use', () => {
    const amounts = fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 7, maxLength: 28 })
    const owned = fc.array(
      fc.record({ remaining: fc.integer({ min: 1, max: 5000 }), days: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }) }),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(amounts, owned, fc.double({ min: 0, max: 1, noNaN: true }), (values, given, rest) => {
        const balances = given.map(({ remaining, days }) => balance(remaining, days === undefined ? undefined : addDays(today, days)))
        const { daysLeft, expiring, losses, course } = estimated(balances, values, rest)
        expect(daysLeft.low).toBeLessThanOrEqual(daysLeft.expected)
        expect(daysLeft.expected).toBeLessThanOrEqual(daysLeft.high)
        expect(expiring.low.lte(expiring.expected) && expiring.expected.lte(expiring.high)).toBe(true)
        for (const { balance: i, expected } of losses) expect(Number(expected)).toBeLessThanOrEqual((given[i]?.remaining ?? 0) + 1e-6)
        const left = course.map(({ remaining }) => Number(remaining))
        expect(left.every((value, i) => i === 0 || value <= (left[i - 1] ?? 0) + 1e-6)).toBe(true)
        const more = estimated(
          balances,
          values.map((value) => value * 2),
          rest,
        )
        expect(more.daysLeft.expected).toBeLessThanOrEqual(daysLeft.expected)
      }),
      { numRuns: 60 },
    )
  })

  it.each([0, 0.5, 0.7])(
    'are inside of the range of 80 percent for at least three in four random organizations, where a day resembles the day before by %d',
    { tags: 'slow' },
    (similarity) => {
      // A linear congruential generator: the same organizations in every run.
      let state = 7
      const random = (): number => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
        return state / 2_147_483_648
      }
      let stray = 0
      const useOf = (level: number, i: number): number => {
        stray = similarity * stray + Math.sqrt(1 - similarity ** 2) * (0.8 * random() - 0.4)
        return level * (i % 7 > 4 ? 0.7 : 1) * Math.max(0, 1 + stray)
      }
      const isInside = Array.from({ length: 200 }, () => {
        const level = 5 + 95 * random()
        const past = Array.from({ length: 28 }, (_, i) => useOf(level, i))
        const credits = level * (10 + 120 * random())
        let [left, truth] = [credits, -1]
        for (let i = 28; left >= 0; i++) {
          left -= useOf(level, i)
          truth++
        }
        const { daysLeft } = estimated([balance(credits)], past)
        return daysLeft.low <= truth && truth <= daysLeft.high
      })
      expect(isInside.filter(Boolean).length).toBeGreaterThanOrEqual(150)
    },
  )
})

describe('the final days that count', () => {
  const recordsFor = (days: number, more: (ago: number) => { locked?: boolean } | undefined = () => ({})) =>
    Array.from({ length: days }, (_, ago) => ago).flatMap((ago) => {
      const change = more(ago)
      return change === undefined ? [] : [usageRecord(addDays(today, -ago), 3, change)]
    })
  const span = (records: Parameters<typeof latestFinalDays>[0]) => {
    const days = latestFinalDays(records, today)
    return [days.length, days[0]?.date, days.at(-1)?.date]
  }

  it('are the latest 28 that are locked, without today and yesterday', () => {
    expect(span(recordsFor(40))).toEqual([28, '2026-10-24', '2026-11-20'])
    expect(span(recordsFor(40, (ago) => ({ locked: ago > 3 })))).toEqual([28, '2026-10-22', '2026-11-18'])
  })

  it('are whole weeks, so that each weekday counts as often as the others', () => {
    expect(span(recordsFor(20))).toEqual([14, '2026-11-07', '2026-11-20'])
    expect(span(recordsFor(8))).toEqual([0, undefined, undefined])
  })

  it('begin after the last day that is provisional or has no records', () => {
    expect(span(recordsFor(40, (ago) => (ago === 11 ? undefined : {})))).toEqual([7, '2026-11-14', '2026-11-20'])
    expect(span(recordsFor(40, (ago) => ({ locked: ago !== 11 })))).toEqual([7, '2026-11-14', '2026-11-20'])
  })

  it('end before a day with one record that is provisional', () => {
    const records = [...recordsFor(40), usageRecord(addDays(today, -3), 1, { entityId: 'b', locked: false })]
    expect(span(records)).toEqual([0, undefined, undefined])
  })

  it('add up all records of a day', () => {
    const records = [...recordsFor(9), ...recordsFor(9, () => ({ locked: true }))]
    expect(latestFinalDays(records, today).map(({ total }) => total.toFixed())).toEqual(Array(7).fill('6'))
  })
})
