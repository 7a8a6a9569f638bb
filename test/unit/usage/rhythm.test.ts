import { describe, expect, it } from 'vitest'
import { addDays, type Day } from '../../../src/core/dates.ts'
import { mean, median, slope, spread } from '../../../src/core/statistics.ts'
import { learnRhythm } from '../../../src/usage/forecast.ts'

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
    ['the mean without the strangest, where days of two sorts have no middle', [0, 0, 0, 0, 12, 12, 12], 4],
    ['the last week, whatever was before', [90, 90, 90, 10, 10, 10, 10, 10, 10, 10], 10],
  ])('is %s', (_, values, expected) => {
    expect(ahead(values)).toBeCloseTo(expected, 10)
  })

  it('is the middle up to a quarter away from the mean of the others, and that mean beyond', () => {
    expect(ahead([8, 8, 8, 8, 12, 12, 12])).toBeCloseTo(8, 10)
    expect(ahead([8, 8, 8, 8, 20, 20, 20])).toBeCloseTo(12, 10)
  })
})

describe('the trend', () => {
  it('goes on as both halves show it', () => {
    expect(ahead(weeks(3, (i) => 100 + 2 * i))).toBeCloseTo(100 + 2 * 21, 6)
  })

  it('is the flatter of the two', () => {
    const values = weeks(4, (i) => (i < 14 ? 100 + i : 114 + 5 * (i - 14)))
    expect(ahead(values, 2) - ahead(values, 1)).toBeCloseTo(1, 6)
  })

  it('is none where the halves disagree, or one of them stands still', () => {
    const roof = weeks(4, (i) => (i < 14 ? 100 + i : 128 - i))
    const step = weeks(4, (i) => (i < 14 ? 100 : 200))
    for (const values of [roof, step]) expect(ahead(values, 10)).toBeCloseTo(ahead(values, 1), 6)
  })

  it('lasts no longer than it was seen, and never goes below nothing', () => {
    const rising = weeks(2, (i) => 100 + i)
    expect(ahead(rising, 500)).toBeCloseTo(ahead(rising, 14), 6)
    expect(
      ahead(
        weeks(2, (i) => 14 - i),
        14,
      ),
    ).toBe(0)
  })

  it('needs two weeks', () => {
    expect(ahead([10, 20, 30, 40, 50, 60, 70])).toBeCloseTo(40, 10)
  })
})

describe('the week', () => {
  const idle = weeks(3, (i) => (i % 7 > 4 ? 0 : 12))

  it('is known after two of them', () => {
    expect([13, 14].map((count) => learn(idle.slice(0, count)).isWeekdayAware)).toEqual([false, true])
    expect(learn(idle).days).toBe(21)
  })

  it('tells each weekday apart', () => {
    const { expect: expectOn } = learn(idle)
    expect(Array.from({ length: 7 }, (_, i) => Math.round(expectOn(addDays(monday, 21 + i), i + 1)))).toEqual([12, 12, 12, 12, 12, 0, 0])
  })
})

describe('how far days stray', () => {
  it('is not at all where they are all alike', () => {
    expect(learn([5, 5, 5, 5])).toMatchObject({ stray: 0, levelError: 0 })
  })

  it('is the standard deviation from the level, and of the level a part of it', () => {
    const { stray, levelError } = learn([8, 12, 8, 12, 10])
    expect(stray).toBeCloseTo(Math.sqrt((4 * 4 + 0) / 5), 10)
    expect(levelError).toBeCloseTo(stray / Math.sqrt(5), 10)
  })

  it('counts two weeks, and the level a single one', () => {
    const values = [...Array(6).fill(1000), ...Array(7).fill(10)] as number[]
    const { stray, levelError } = learn(values)
    expect(stray).toBeCloseTo(Math.sqrt((6 * 990 ** 2) / 13), 6)
    expect(levelError).toBeCloseTo(stray / Math.sqrt(7), 6)
  })
})

describe('robust statistics', () => {
  it.each([
    [[], 0, 0, 0],
    [[3], 3, 3, 0],
    [[1, 2, 4, 9], 3, 4, 1.4826 * 1.5],
    [[9, 1, 2], 2, 4, 1.4826],
  ])('of %j: median %d, mean %d, spread %d', (values, middle, average, distance) => {
    expect([median(values), mean(values), spread(values)]).toEqual([middle, average, expect.closeTo(distance, 10)])
  })

  it('slope is the middle one of all pairs', () => {
    expect(slope([1, 3, 5, 7])).toBe(2)
    expect(slope([0, 0, 0, 100])).toBeCloseTo(16.666, 2)
    expect(slope([4])).toBe(0)
  })
})
