import { expect, it } from 'vitest'
import { forecastSpend } from '../../src/cost/usage/forecast.ts'
import { addDays, addMonths, countDays, type Day, endOfMonth, weekdayOf } from '../../src/platform/core/dates.ts'
import { mean, median } from '../../src/platform/core/statistics.ts'
import { randomFrom } from '../support/random.ts'
import { runs } from '../support/seeds.ts'
import { daySeries } from '../support/usage.ts'

const forecastHistoryDays = 59

/** Numbers of the standard normal distribution. */
const normalFrom = (random: () => number) => (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** Expected usage of a day. `i` is its position since the first known day. */
type Course = (i: number, day: Day) => number

interface Kind {
  /** `random` chooses the size. The position `change` has at least five known days from it on. */
  readonly course: (random: () => number, change: number) => Course
  /** Standard deviation of a day, as a share of its usage; 0.03 to 0.2 where it is not given. */
  readonly deviation?: number
  /** Correlation of a day with the day before. */
  readonly similarity?: number
  /** The median half of the range of these months, as a share of the total, when days counted as independent. 15% more is too wide. */
  readonly usualWidth?: number
}

const kinds: Readonly<Record<string, Kind>> = {
  flat: { course: () => () => 100, usualWidth: 0.0359 },
  'growing by 3% a month': { course: () => (i) => 100 * 1.03 ** (i / 30), usualWidth: 0.0357 },
  'shrinking by 10% a month': { course: () => (i) => 100 * 0.9 ** (i / 30), usualWidth: 0.0366 },
  weekly: { course: (random) => weekly(random), usualWidth: 0.0376 },
  'with a step': {
    course: (random, change) => {
      const factor = [0.5, 0.7, 1.3, 1.6, 2][Math.floor(random() * 5)] ?? 1
      return (i) => (i < change ? 100 : 100 * factor)
    },
    usualWidth: 0.0408,
  },
  'with a new service': {
    course: (random, change) => {
      const [base, size] = [weekly(random), 20 + 60 * random()]
      return (i, day) => base(i, day) + (i < change ? 0 : size)
    },
    usualWidth: 0.0552,
  },
  'with a service that stops': {
    course: (random, change) => {
      const [base, size] = [weekly(random), 20 + 60 * random()]
      return (i, day) => base(i, day) + (i < change ? size : 0)
    },
    usualWidth: 0.0488,
  },
  'with a batch at the end of each month': {
    course: (random) => batch(random, 1 + Math.floor(random() * 3), (day, length) => countDays(day, endOfMonth(day)) <= length),
    usualWidth: 0.0417,
  },
  noisy: { course: () => () => 100, deviation: 0.4, usualWidth: 0.1043 },
  'with days that resemble the day before': { course: () => () => 100, deviation: 0.08, similarity: 0.5 },
  'with days that resemble the day before very much': { course: () => () => 100, deviation: 0.08, similarity: 0.7 },
  'with a higher price': { course: (random, change) => priced(1.05 + 0.2 * random(), random, change), deviation: 0.04 },
  'with a lower price': { course: (random, change) => priced(0.8 + 0.15 * random(), random, change), deviation: 0.04 },
  'with a batch on the last Friday': {
    course: (random) => batch(random, 1, (day) => weekdayOf(day) === 5 && countDays(day, endOfMonth(day)) <= 7),
    deviation: 0.05,
  },
  'with a batch on the first Monday': {
    course: (random) => batch(random, 1, (day) => weekdayOf(day) === 1 && Number(day.slice(8)) <= 7),
    deviation: 0.05,
  },
  'with a batch on the last workday': { course: (random) => batch(random, 1, isLastWorkday), deviation: 0.05 },
}

/** Kinds of usage that are outside of the range more often, and the share of their months inside of it that the documents state. */
const outside: Readonly<Record<string, Kind & { readonly stated: number }>> = {
  'with a batch every 14 days': {
    course: (random) => {
      const [size, offset] = [100 + 300 * random(), Math.floor(14 * random())]
      return (i) => (i % 14 === offset ? 100 + size : 100)
    },
    deviation: 0.05,
    stated: 0.74,
  },
  'growing by 5% a week': { course: () => (i) => 100 * 1.05 ** (i / 7), stated: 0.66 },
  'with moves of 3% a day': {
    course: (random) => {
      const chance = normalFrom(random)
      const levels = [100]
      return (i) => {
        while (levels.length <= i) levels.push((levels.at(-1) ?? 0) * (1 + 0.03 * chance()))
        return levels[i] ?? 0
      }
    },
    stated: 0.6,
  },
}

function weekly(random: () => number): Course {
  const weekend = 0.3 + 0.5 * random()
  return (_, day) => (weekdayOf(day) > 5 ? 100 * weekend : 100)
}

function priced(factor: number, random: () => number, change: number): Course {
  const base = random() < 0.5 ? weekly(random) : () => 100
  return (i, day) => base(i, day) * (i < change ? 1 : factor)
}

function batch(random: () => number, length: number, isOn: (day: Day, length: number) => boolean): Course {
  const size = 100 + 300 * random()
  return (_, day) => (isOn(day, length) ? 100 + size : 100)
}

function isLastWorkday(day: Day): boolean {
  const left = countDays(day, endOfMonth(day))
  return weekdayOf(day) < 6 && (left === 1 || (weekdayOf(day) === 5 && left <= 3))
}

/** What decides most on the coverage comes from evenly spread numbers: 800 months then say what thousands of random ones do. */
const spreadEvenly = (seed: number, step: number): number => (seed * step) % 1

/** A month after two others, of which 5 to 25 days are known, and how the forecast compares with it. */
function forecastMonth(kind: Kind, seed: number) {
  const random = randomFrom(seed)
  const chance = normalFrom(random)
  const from = addMonths('2025-03-01' as Day, seed % 24)
  const end = endOfMonth(from)
  const first = addDays(from, -forecastHistoryDays)
  const known = forecastHistoryDays + 5 + Math.floor(21 * spreadEvenly(seed, 0.618034))
  const course = kind.course(random, known - 5 - Math.floor(20 * spreadEvenly(seed, 0.754878)))
  const deviation = kind.deviation ?? 0.03 + 0.17 * spreadEvenly(seed, 0.569841)
  const { similarity = 0 } = kind
  let stray = chance()
  const days = daySeries(first, countDays(first, end), (i, day) => {
    stray = similarity * stray + Math.sqrt(1 - similarity ** 2) * chance()
    return Number((course(i, day) * Math.max(0.05, 1 + deviation * stray)).toFixed(6))
  })
  const today = addDays(first, known + 1)
  const to = today < end ? today : end
  const forecast = forecastSpend({ period: { from, to, end }, today, known: new Map([...days].slice(0, known)), hasHistory: true })
  if (forecast.status !== 'expected') throw new Error(forecast.status)
  const truth = [...days].reduce((sum, [day, total]) => (day < from ? sum : sum + Number(total)), 0)
  const [low, high] = [Number(forecast.low), Number(forecast.high)]
  return { isCovered: low <= truth && truth <= high, error: Number(forecast.total) / truth - 1, width: (high - low) / 2 / truth }
}

const seeds = Array.from({ length: Math.max(200, runs(800)) }, (_, i) => i + 1)

/** Fewer months say it less exactly. */
const slack = seeds.length < 800 ? 0.02 : 0

function judgeForecasts(all: Readonly<Record<string, Kind>>) {
  return Object.entries(all).map(([name, kind]) => {
    const forecasts = seeds.map((seed) => forecastMonth(kind, seed))
    const covered = forecasts.filter(({ isCovered }) => isCovered).length / forecasts.length
    const width = median(forecasts.map((one) => one.width))
    return { name, covered, width, error: Math.abs(mean(forecasts.map(({ error }) => error))), usualWidth: kind.usualWidth ?? width }
  })
}

it('the 80% range of a forecast has the total in 75 to 90% of simulated months of each kind, and its mean error is less than 3%', () => {
  const results = judgeForecasts(kinds)
  expect(results.filter(({ covered, error }) => covered < 0.75 - slack || covered > 0.9 + slack || error > 0.03)).toEqual([])
  expect(results.filter(({ width, usualWidth }) => width > 1.15 * usualWidth)).toEqual([])
}, 600_000)

it('the range has the total in the share of months that the documents state for what is outside of it more often', () => {
  const results = judgeForecasts(outside)
  expect(results.filter(({ name, covered }) => Math.abs(covered - (outside[name]?.stated ?? 0)) > 0.02 + slack)).toEqual([])
}, 600_000)
