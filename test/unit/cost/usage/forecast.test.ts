import { describe, expect, it } from 'vitest'
import { runOutDay } from '../../../../src/cost/usage/budgets.ts'
import { daysWithForecast, type Expectation, type Forecast, forecastSpend, learnRhythm } from '../../../../src/cost/usage/forecast.ts'
import { addDays, countDays, type Day, weekdayOf } from '../../../../src/platform/core/dates.ts'
import type { Decimal } from '../../../../src/platform/core/decimal.ts'
import { daySeries, decimal } from '../../../support/usage.ts'

const june = { from: '2026-06-01' as Day, to: '2026-06-20' as Day, end: '2026-06-30' as Day }

const isWeekend = (day: Day): boolean => weekdayOf(day) > 5

/** Series whose true course is known. The forecast sees their beginning. */
const truths: Readonly<Record<string, (i: number, day: Day) => number>> = {
  flat: () => 10,
  linear: (i) => 10 + 0.5 * i,
  'weekly pattern': (_, day) => (isWeekend(day) ? 3 : 12),
  'weekly pattern with idle weekends': (_, day) => (isWeekend(day) ? 0 : 12),
  'three days a week': (_, day) => ([1, 3, 5].includes(weekdayOf(day)) ? 100 : 0),
  'Sundays alone': (_, day) => (weekdayOf(day) === 7 ? 700 : 0),
  'every second day': (i) => (i % 2 === 0 ? 100 : 0),
  'one spike': (i) => (i === 34 ? 100 : 10),
  step: (i) => (i < 36 ? 10 : 16),
  nothing: () => 0,
}

/** The forecast from all days before `day`, as soon as they are complete. */
function forecast(truth: (i: number, day: Day) => number, day: string, historyDays = 31): Forecast {
  const all = daySeries('2026-05-01', 61, truth)
  const known = new Map([...all].filter(([one]) => one < day && one >= addDays('2026-06-01' as Day, -historyDays)))
  return forecastOf(known, addDays(day as Day, 1))
}

const forecastOf = (known: ReadonlyMap<Day, Decimal>, today: string, hasHistory = true): Forecast =>
  forecastSpend({ period: june, today: today as Day, known, hasHistory })

const expected = (answer: Forecast): Expectation => {
  if (answer.status !== 'expected') throw new Error(`no forecast: ${answer.status}`)
  return answer
}

const trueTotal = (truth: (i: number, day: Day) => number): number =>
  [...daySeries('2026-05-01', 61, truth)].filter(([day]) => day >= '2026-06-01').reduce((sum, [, value]) => sum + Number(value), 0)

describe('forecastSpend', () => {
  // The largest error in percent of the true total.
  it.each([
    ['flat', '2026-06-04', 0],
    ['flat', '2026-06-21', 0],
    ['linear', '2026-06-04', 0],
    ['linear', '2026-06-21', 0],
    ['weekly pattern', '2026-06-04', 0],
    ['weekly pattern', '2026-06-21', 0],
    ['weekly pattern with idle weekends', '2026-06-21', 0],
    ['three days a week', '2026-06-21', 0],
    ['Sundays alone', '2026-06-21', 0],
    ['every second day', '2026-06-21', 6],
    ['one spike', '2026-06-05', 0],
    ['one spike', '2026-06-21', 0],
    // A step on 6 June: followed as soon as it held for most of a week.
    ['step', '2026-06-07', 32],
    ['step', '2026-06-10', 0],
    ['nothing', '2026-06-21', 0],
  ])('forecastSpend on the series "%s" seen on %s is wrong by at most %f percent', (name, today, maxPercent) => {
    const truth = truths[name] ?? (() => Number.NaN)
    const wanted = trueTotal(truth)
    const total = Number(expected(forecast(truth, today)).total)
    const error = (Math.abs(total - wanted) / Math.max(wanted, 1)) * 100
    expect(error).toBeLessThanOrEqual(maxPercent + 0.01)
  })

  it.each(['flat', 'linear', 'weekly pattern', 'one spike', 'every second day', 'three days a week'])(
    'holds the truth of the series "%s" in its range',
    (name) => {
      const truth = truths[name] ?? (() => Number.NaN)
      const { low, high } = expected(forecast(truth, '2026-06-15'))
      expect(Number(low)).toBeLessThanOrEqual(trueTotal(truth))
      expect(Number(high)).toBeGreaterThanOrEqual(trueTotal(truth))
    },
  )

  it('forecastSpend learns from the last 93 days', () => {
    const learnedFrom = (days: number) => {
      const known = daySeries(addDays('2026-06-20' as Day, -days), days, () => 10)
      return expected(forecastOf(known, '2026-06-21')).learnedFromDays
    }
    expect([92, 93, 94, 150].map(learnedFrom)).toEqual([92, 93, 93, 93])
  })

  it('forecastSpend has a weekday pattern only with two weeks of data', () => {
    const seen = (days: number) => expected(forecast(truths['weekly pattern'] ?? (() => 0), '2026-06-09', days - 8)).isWeekdayAware
    expect([seen(13), seen(14)]).toEqual([false, true])
  })

  it('forecastSpend has a wide range after a large change', () => {
    const { low, high, total } = expected(forecast((i) => (i < 48 ? 1 : 100), '2026-06-20'))
    expect(Number(high) - Number(low)).toBeGreaterThan(Number(total))
  })

  it('forecastSpend has a wider range with fewer days of data', () => {
    const width = (today: string): number => {
      const { low, high, byDay } = expected(forecast(truths.flat ?? (() => 0), today, 0))
      return Number(high.minus(low)) / byDay.length
    }
    expect(width('2026-06-05')).toBeGreaterThan(width('2026-06-15'))
  })

  it.each([
    ['no day is over', '2026-06-01', 'too-early'],
    ['two of thirty days are over', '2026-06-03', 'too-early'],
    ['three of thirty days are over', '2026-06-04', 'expected'],
  ])('forecastSpend %s', (_, today, status) => {
    expect(forecast(() => 10, today).status).toBe(status)
  })

  it('forecastSpend needs only a fifth of a short period', () => {
    const week = { from: '2026-06-01' as Day, to: '2026-06-02' as Day, end: '2026-06-07' as Day }
    const seenAfter = (days: number) =>
      forecastSpend({ period: week, today: addDays(week.from, days + 1), known: daySeries('2026-06-01', days, () => 10), hasHistory: true })
        .status
    expect([seenAfter(1), seenAfter(2)]).toEqual(['too-early', 'expected'])
  })

  it.each([1, 2, 3])('forecastSpend has a range that includes the double when it knows %i day of as many ahead', (days) => {
    const period = { from: '2026-06-01' as Day, to: addDays('2026-06-01' as Day, days), end: addDays('2026-06-01' as Day, 2 * days - 1) }
    const known = daySeries('2026-06-01', days, () => 10)
    const { total, low, high } = expected(forecastSpend({ period, today: addDays(period.from, days + 1), known, hasHistory: true }))
    expect([Number(total), Number(low), Number(high)]).toEqual([20 * days, 20 * days - 10, 20 * days + 10])
  })

  it('forecastSpend is not available without records', () => {
    expect(forecastOf(new Map(), '2026-06-20')).toEqual({
      status: 'too-early',
      untilDate: june.end,
      completeDays: 0,
    })
  })

  it('forecastSpend is not available when the days before the period could not be read', () => {
    const forecastAfter = (days: number) => {
      const known = daySeries('2026-06-01', days, () => 10)
      return forecastOf(known, addDays(june.from, days + 1), false)
    }
    expect(forecastAfter(20)).toEqual({ status: 'unavailable', untilDate: june.end })
    expect(forecastAfter(1).status).toBe('too-early')
  })

  it('does not count a day without records yet as a day without usage', () => {
    const known = daySeries('2026-06-01', 18, () => 10)
    expect(expected(forecastOf(known, '2026-06-20')).total.toFixed()).toBe('300')
  })

  it('counts the usage of today and yesterday, which are not complete, only when it is more than expected', () => {
    const totalWith = (yesterday: number, today: number): string => {
      const known = daySeries('2026-06-01', 18, () => 10)
      known.set('2026-06-19' as Day, decimal(yesterday)).set('2026-06-20' as Day, decimal(today))
      return expected(forecastOf(known, '2026-06-20')).total.toFixed()
    }
    expect([totalWith(2, 1), totalWith(2, 50), totalWith(50, 1)]).toEqual(['300', '340', '340'])
  })

  it('forecastSpend is never below the known usage, today included', () => {
    const known = new Map([...daySeries('2026-05-01', 50, (i) => (i < 48 ? 1 : 100)), ['2026-06-20' as Day, decimal(7)] as const])
    const used = [...known].filter(([day]) => day >= june.from).reduce((sum, [, value]) => sum + Number(value), 0)
    const { low, total, high } = expected(forecastSpend({ period: june, today: '2026-06-20' as Day, known, hasHistory: true }))
    expect([Number(low), total.gte(low), high.gte(total)]).toEqual([used, true, true])
  })
})

describe('runOutDay', () => {
  const known = daySeries('2026-06-01', 20, () => 10)
  const toDays = (amounts: ReadonlyMap<Day, Decimal>) => [...amounts].map(([date, total]) => ({ date, total }))
  const today = '2026-06-21' as Day
  const days = { recorded: toDays(known), expected: daysWithForecast(expected(forecast(() => 10, today)), known, june), today }

  it.each([
    ['95', '2026-06-10'],
    ['100', '2026-06-11'],
    ['250', '2026-06-26'],
    ['299.999', '2026-06-30'],
    ['300', undefined],
    ['0', '2026-06-01'],
  ])('runOutDay of %s is %s', (budget, day) => {
    expect(runOutDay(days, decimal(budget))).toBe(day)
  })

  // Usage of 10 a day is expected of yesterday and today, and their records have 4 and 2 yet.
  it.each([
    ['of today, where usage is above the limit only as expected of yesterday', '195', '2026-06-21'],
    ['that the records show, where usage as expected exceeds the limit a day earlier', '185', '2026-06-21'],
    ['of yesterday, where its records exceed the limit', '183', '2026-06-20'],
  ])('runOutDay is the day %s', (_, budget, day) => {
    const growing = new Map([
      ...daySeries('2026-06-01', 18, () => 10),
      ...daySeries('2026-06-20', 1, () => 4),
      ...daySeries(today, 1, () => 2),
    ])
    const soon = daySeries('2026-06-01', 30, () => 10)
    expect(runOutDay({ recorded: toDays(growing), expected: toDays(soon), today }, decimal(budget))).toBe(day)
  })
})

const monday = '2026-06-01' as Day

const learn = (values: readonly number[]) => learnRhythm(values.map((value, i) => ({ day: addDays(monday, i), value })))

/** What is expected so many days after the last one. */
const ahead = (values: readonly number[], days = 1): number => learn(values).expect(addDays(monday, values.length - 1 + days), days)

const weeks = (count: number, valueOn: (i: number) => number): readonly number[] => Array.from({ length: count * 7 }, (_, i) => valueOn(i))

describe('the level', () => {
  it.each([
    ['what every day says', [5, 5, 5], 5],
    ['the middle, which one wild day does not move', [10, 10, 900, 10, 10], 10],
    ['the only day', [7], 7],
    ['the middle of two days', [4, 6], 5],
    ['the mean, where more than a third of the days are far from the others', [8, 8, 8, 8, 20, 20, 22], 94 / 7],
    ['the mean of the other days, where fewer are', [8, 8, 8, 8, 8, 20, 0], 8],
    ['the mean since the last step', [90, 90, 90, 90, 10, 10, 10, 10, 10, 10], 10],
  ])('the level is %s', (_, values, expected) => {
    expect(ahead(values)).toBeCloseTo(expected, 10)
  })
})

describe('the trend', () => {
  it('continues', () => {
    expect(ahead(weeks(3, (i) => 100 + 2 * i))).toBeCloseTo(100 + 2 * 21, 6)
  })

  it('the trend is that since it changed, and a step is none', () => {
    const faster = weeks(4, (i) => (i < 14 ? 100 + i : 114 + 5 * (i - 14)))
    const step = weeks(4, (i) => (i < 14 ? 100 : 200))
    const growthOf = (values: readonly number[]): number => ahead(values, 10) - ahead(values, 9)
    expect([growthOf(faster), growthOf(step)]).toEqual([expect.closeTo(5, 6), 0])
  })

  it('the trend is small where days differ much', () => {
    const values = weeks(4, (i) => 100 + i + 40 * Math.sin(i * i))
    expect(ahead(values, 10) - ahead(values, 9)).toBeLessThan(0.5)
  })

  it('continues for at most as many days as it was observed, and never becomes negative usage', () => {
    const rising = weeks(2, (i) => 100 + i)
    expect(ahead(rising, 500)).toBeCloseTo(ahead(rising, 14), 6)
    expect(
      ahead(
        weeks(4, (i) => 28 - i),
        28,
      ),
    ).toBe(0)
  })

  it('requires two weeks of data', () => {
    expect(ahead([10, 20, 30, 40, 50, 60, 70])).toBeCloseTo(40, 10)
  })
})

describe('the weekday pattern', () => {
  const idle = weeks(3, (i) => (i % 7 > 4 ? 0 : 12))

  it('the weekday pattern is known after two weeks', () => {
    expect([13, 14].map((count) => learn(idle.slice(0, count)).isWeekdayAware)).toEqual([false, true])
    expect(learn(idle).days).toBe(21)
  })

  it('the weekday pattern has a factor for each weekday', () => {
    const { expect: expectOn } = learn(idle)
    expect(Array.from({ length: 7 }, (_, i) => Math.round(expectOn(addDays(monday, 21 + i), i + 1)))).toEqual([12, 12, 12, 12, 12, 0, 0])
  })
})

describe('a spike', () => {
  // Small amounts, because a spike is one by its share.
  const workdays = (i: number): number => (i % 7 > 4 ? 0.04 : 0.12)

  it.each([14, 15, 20, 21, 27, 28])('a spike on any of %i days changes no expected day', (count) => {
    const usual = Array.from({ length: count }, (_, i) => workdays(i))
    const aheadOf = (values: readonly number[]): readonly number[] => {
      const { expect: expectOn } = learn(values)
      return Array.from({ length: 7 }, (_, i) => expectOn(addDays(monday, count + i), i + 1))
    }
    const expected = aheadOf(usual).map((value) => expect.closeTo(value, 8))
    for (const at of usual.keys()) expect([at, aheadOf(usual.with(at, (usual[at] ?? 0) * 6))]).toEqual([at, expected])
  })

  it('a spike is a weekday with high usage in every week, and so part of the pattern', () => {
    expect(
      Math.round(
        ahead(
          weeks(2, (i) => (i % 7 === 2 ? 60 : 10)),
          3,
        ),
      ),
    ).toBe(60)
  })
})

describe('a batch', () => {
  /** Usage from 3 April to 20 June. */
  const usage = (amountOn: (day: Day) => number): readonly { day: Day; value: number }[] =>
    [...daySeries('2026-04-03', 79, (_, day) => amountOn(day))].map(([day, value]) => ({ day, value: Number(value) }))
  const onDays = (...days: string[]) => usage((day) => (days.some((end) => day.endsWith(end)) ? 250 : 100))
  const expectOn = (values: ReturnType<typeof usage>, ...days: Day[]): readonly number[] => {
    const { expect: expectOn } = learnRhythm(values)
    return days.map((day) => expectOn(day, countDays('2026-06-21' as Day, day)))
  }

  it('a batch that came at the end of each of the last months is expected again', () => {
    const batches = onDays('04-29', '04-30', '05-30', '05-31')
    expect(expectOn(batches, '2026-06-28' as Day, '2026-06-29' as Day, '2026-06-30' as Day)).toEqual([100, 250, 250])
  })

  it('a batch that came on the same day of each of the last months is expected again', () => {
    expect(expectOn(onDays('04-25', '05-25'), '2026-06-24' as Day, '2026-06-25' as Day, '2026-06-26' as Day)).toEqual([100, 250, 100])
  })

  it('a batch that came on the last workday, or on the same of a weekday, of each of the last months is expected again', () => {
    // 30 April is a Thursday, and 31 May a Sunday.
    expect(expectOn(onDays('04-30', '05-29'), '2026-06-29' as Day, '2026-06-30' as Day)).toEqual([100, 250])
    expect(expectOn(onDays('04-30', '05-28'), '2026-06-24' as Day, '2026-06-25' as Day, '2026-06-30' as Day)).toEqual([100, 250, 100])
    // The third Fridays.
    expect(expectOn(onDays('04-17', '05-15', '06-19'), '2026-07-10' as Day, '2026-07-17' as Day)).toEqual([100, 250])
  })

  it('a batch that came in one of two months is not expected again', () => {
    expect(expectOn(onDays('04-30'), '2026-06-30' as Day)).toEqual([100])
    expect(expectOn(onDays('05-31'), '2026-06-30' as Day)).toEqual([100])
  })
})

describe('the deviation of the next days', () => {
  const deviationOf = (values: readonly number[], count: number): number =>
    learn(values).deviation(Array.from({ length: count }, (_, i) => addDays(monday, values.length + i)))

  it('is zero for equal days, for a steady trend, and on weekdays without usage', () => {
    const workdays = weeks(3, (i) => (i % 7 > 4 ? 0 : 10 + (i % 3)))
    const growing = weeks(4, (i) => 100 + i)
    expect(deviationOf([5, 5, 5, 5], 10)).toBe(0)
    expect(deviationOf(growing, 10)).toBeCloseTo(0, 8)
    expect([learn(workdays).deviation([addDays(monday, 5)]), deviationOf(workdays, 1) > 0]).toEqual([0, true])
  })

  it('adds the deviation of each day, and the errors of the level and the trend, which all days share', () => {
    const stray = Math.sqrt(4 * 2 ** 2)
    const trendError = 1 / Math.hypot(Math.sqrt(10) / stray, 1 / (0.004 * 10))
    const expected = Math.hypot(2 * stray, (4 * stray) / Math.sqrt(5), (3 + 4 + 5 + 6) * trendError)
    expect(deviationOf([8, 12, 8, 12, 10], 4)).toBeCloseTo(expected, 10)
    // Four values are learned from the days, so four of eight are left.
    const ofEight = Math.sqrt((8 * 2 ** 2) / 4)
    const slopeError = 1 / Math.hypot(Math.sqrt(42) / ofEight, 1 / (0.004 * 10))
    expect(deviationOf([8, 12, 8, 12, 8, 12, 8, 12], 4)).toBeCloseTo(
      Math.hypot(2 * ofEight, (4 * ofEight) / Math.sqrt(8), (4.5 + 5.5 + 6.5 + 7.5) * slopeError),
      10,
    )
  })

  it('is larger where days resemble the day before', () => {
    const slow = weeks(4, (i) => 100 + 10 * Math.sin(i / 1.7))
    const fast = weeks(4, (i) => 100 + 10 * Math.sin(i * i))
    expect(deviationOf(slow, 10)).toBeGreaterThan(1.5 * deviationOf(fast, 10))
  })

  it('is larger after a spike, and most after one of the last week, which may be a new level', () => {
    const spikeOn = (day: number): number =>
      deviationOf(
        weeks(4, (i) => (i === day ? 500 : 100)),
        10,
      )
    expect(spikeOn(5)).toBeCloseTo(400 * Math.sqrt(10 / 28), 6)
    expect(spikeOn(25)).toBeCloseTo(Math.hypot(400 * Math.sqrt(10 / 28), (400 / 7) * 10), 6)
  })

  it('grows faster than the number of days, because the trend is uncertain', () => {
    const noise = weeks(4, (i) => 100 + 10 * Math.sin(i * i))
    expect(deviationOf(noise, 20)).toBeGreaterThan(2.1 * deviationOf(noise, 10))
    expect(deviationOf([...Array<number>(13).fill(0), 100], 10)).not.toBeNaN()
  })
})
