import * as z from 'zod'
import { addDays, countDays, type Day, eachDay, weekdayOf } from '../core/dates.ts'
import { type Decimal, fromEstimate, largest, sum, zero } from '../core/decimal.ts'
import { mean, median, slope, spread } from '../core/statistics.ts'
import { estimate } from './amounts.ts'
import type { DayTotal } from './daily-usage.ts'
import { lastCompleteDay } from './data-quality.ts'
import { type CurrentPeriod, date, dayOn, historyDays } from './periods.ts'
import { deviations, minRise } from './spikes.ts'

export type Forecast = z.output<ReturnType<typeof forecastSchema>>

export type Expectation = Extract<Forecast, { status: 'expected' }>

/** `unavailable`: the days before the period could not be read, or their records are inconsistent. */
export function forecastSchema() {
  const untilDate = dayOn('Last day of the period.')
  return z.discriminatedUnion('status', [
    z.object({ status: z.literal('unavailable'), untilDate }),
    z.object({ status: z.literal('too-early'), untilDate, completeDays: z.int().describe('Complete days of the period.') }),
    z.object({
      status: z.literal('expected'),
      untilDate,
      total: estimate('Expected total.'),
      low: estimate('Lower end of the 80% range.'),
      high: estimate('Upper end of the 80% range.'),
      learnedFromDays: z.int().describe('Number of days that the forecast is based on.'),
      isWeekdayAware: z.boolean().describe('Whether the forecast has a weekday pattern, which takes two weeks of data.'),
      byDay: z.array(z.object({ date, total: estimate('Expected usage.') })).describe('The days that are not complete.'),
    }),
  ])
}

interface ForecastInput {
  readonly period: CurrentPeriod
  readonly today: Day
  /** Usage of each day, in the period and before it. A day without records has no entry. */
  readonly known: ReadonlyMap<Day, Decimal>
  /** Whether the days before the period are reliably known. Without them, the same month could have several forecasts. */
  readonly hasHistory: boolean
}

/** A forecast needs three complete days, or a fifth of the period. */
const enoughDays = 3
const enoughShare = 0.2

/** Requires a period with future days. */
export function forecastSpend({ period, today, known, hasHistory }: ForecastInput): Forecast {
  const { from, end } = period
  const lastComplete = lastKnownDay(known, lastCompleteDay(today))
  const completeDays = lastComplete === undefined || lastComplete < from ? 0 : countDays(from, lastComplete)
  if (lastComplete === undefined || (completeDays < enoughDays && completeDays < enoughShare * countDays(from, end)))
    return { status: 'too-early', untilDate: end, completeDays }
  if (!hasHistory) return { status: 'unavailable', untilDate: end }
  return expectDays(period, known, lastComplete)
}

function expectDays({ from, end }: CurrentPeriod, known: ReadonlyMap<Day, Decimal>, lastComplete: Day): Expectation {
  const rhythm = learnRhythm(learningDays(known, lastComplete))
  const usedOn = (day: Day): Decimal => known.get(day) ?? zero
  const byDay = [...eachDay(addDays(lastComplete, 1), end)].map((date, i) => {
    // The usage of yesterday and today can only grow.
    return { date, total: largest(usedOn(date), fromEstimate(rhythm.expect(date, i + 1))) }
  })
  const spent = sum([...eachDay(from, lastComplete)].map(usedOn))
  const expected = sum(byDay.map(({ total }) => total))
  const total = spent.plus(expected)
  // Few days show little of how much days differ: the margin is at least 1/n of the expected usage for n days.
  const deviation = rhythm.deviation(byDay.map(({ date }) => date))
  const margin = fromEstimate(Math.max(eightyPercent * deviation, Number(expected) / rhythm.days))
  return {
    status: 'expected',
    untilDate: end,
    total,
    low: largest(spent.plus(sum(byDay.map(({ date }) => usedOn(date)))), total.minus(margin)),
    high: total.plus(margin),
    learnedFromDays: rhythm.days,
    isWeekdayAware: rhythm.isWeekdayAware,
    byDay,
  }
}

/** Known or expected usage of each day of the period. */
export function daysWithForecast(
  { byDay }: Expectation,
  known: ReadonlyMap<Day, Decimal>,
  { from, end }: CurrentPeriod,
): readonly DayTotal[] {
  const expected = new Map(byDay.map(({ date, total }) => [date, total]))
  return [...eachDay(from, end)].map((date) => ({ date, total: expected.get(date) ?? known.get(date) ?? zero }))
}

function lastKnownDay(known: ReadonlyMap<Day, Decimal>, latest: Day): Day | undefined {
  return [...known.keys()]
    .filter((day) => day <= latest)
    .sort()
    .at(-1)
}

/** The last four weeks, or the known part of them. A day without records among them has no usage. */
function learningDays(known: ReadonlyMap<Day, Decimal>, last: Day): readonly DayValue[] {
  const earliest = addDays(last, 1 - historyDays)
  const first = [...known.keys()].filter((day) => day >= earliest).sort()[0] ?? last
  return [...eachDay(first, last)].map((day) => ({ day, value: Number(known.get(day) ?? zero) }))
}

/** 80% of a normal distribution is within this many standard deviations. */
export const eightyPercent = 1.2816

interface DayValue {
  readonly day: Day
  readonly value: number
}

interface Rhythm {
  /** Number of days that it is based on. */
  readonly days: number
  readonly isWeekdayAware: boolean
  /** Expected usage `ahead` days after the last known day. */
  expect(day: Day, ahead: number): number
  /** Standard deviation of the total of the next days, which are given. */
  deviation(ahead: readonly Day[]): number
}

/** Two weeks have every weekday twice. */
const minDaysForWeekdays = 14

/** The level is that of the last week: it follows a step within days, and no single day changes it. */
const levelDays = 7

/** Days whose deviation counts for the range. */
const strayDays = 14

/** Days in order, without gaps; not empty. */
export function learnRhythm(days: readonly DayValue[]): Rhythm {
  const isWeekdayAware = days.length >= minDaysForWeekdays
  const factors = isWeekdayAware ? weekdayFactors(days) : new Map<number, number>()
  const factorOf = (day: Day): number => factors.get(weekdayOf(day)) ?? 1
  // Weekdays without usage do not count for the level.
  const levelled = days.flatMap(({ day, value }, i) =>
    factorOf(day) > 0 ? [{ ago: days.length - 1 - i, value: value / factorOf(day) }] : [],
  )
  const { trend, missed } = isWeekdayAware ? trendOf(levelled.map(({ value }) => value)) : { trend: 0, missed: 0 }
  const now = levelled.map(({ ago, value }) => value + trend * ago)
  const level = levelOf(now.slice(-levelDays))
  const stray = deviation(now.slice(-strayDays), level)
  const levelError = (medianError * stray) / Math.sqrt(Math.min(levelDays, days.length))
  const trendError = isWeekdayAware ? slopeError(levelled.length) * stray + Math.abs(missed) : 0
  // A trend continues for at most as many days as it was observed.
  const trendDays = (ahead: number): number => Math.min(ahead, days.length)
  return {
    days: days.length,
    isWeekdayAware,
    expect: (day, ahead) => Math.max(0, level + trend * trendDays(ahead)) * factorOf(day),
    // Days deviate independently. An error of the level or the trend affects all of them.
    deviation(ahead) {
      const factors = ahead.map(factorOf)
      const sumOf = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)
      const sinceLevel = factors.map((factor, i) => factor * (trendDays(i + 1) + (levelDays - 1) / 2))
      return Math.hypot(stray * Math.hypot(...factors), levelError * sumOf(factors), trendError * sumOf(sinceLevel))
    },
  }
}

/** The standard error of a median is that of a mean times the root of π/2. */
const medianError = Math.sqrt(Math.PI / 2)

/** The standard error of the slope of a regression line over equal steps, for a deviation of 1. */
const slopeError = (count: number): number => Math.sqrt(12 / Math.max(1, count ** 3 - count))

/** The residual standard error; level and trend take two degrees of freedom. Outliers count, because they can happen again. */
const deviation = (values: readonly number[], center: number): number =>
  Math.sqrt(values.reduce((all, value) => all + (value - center) ** 2, 0) / Math.max(1, values.length - 2))

/** Largest difference between the median and the mean without the strongest outlier, as a share of the larger value. */
const maxApart = 0.25

/** The median, which no single day changes. For a mix of two kinds of days, the mean is a better level. */
function levelOf(values: readonly number[]): number {
  const middle = median(values)
  const strangest = values.reduce((a, b) => (Math.abs(b - middle) > Math.abs(a - middle) ? b : a), middle)
  const others = mean(values.toSpliced(values.indexOf(strangest), values.length > 1 ? 1 : 0))
  return Math.abs(others - middle) <= maxApart * Math.max(others, middle) ? middle : others
}

/**
 * Each weekday compared with the median of the week around it, or with the mean where most days are idle. Spikes do not count. The first
 * and last three days have no whole week around them, so they count only for a weekday without other days.
 */
function weekdayFactors(days: readonly DayValue[]): ReadonlyMap<number, number> {
  const spikes = spikesIn(days)
  const inner = new Map<number, number[]>()
  const outer = new Map<number, number[]>()
  for (const [i, { day, value }] of days.entries()) {
    const start = Math.min(Math.max(0, i - 3), days.length - 7)
    const week = days.slice(start, start + 7).map((one) => one.value)
    const middle = median(week) || mean(week)
    if (middle <= 0 || spikes.has(day)) continue
    const ratios = start === i - 3 ? inner : outer
    ratios.set(weekdayOf(day), [...(ratios.get(weekdayOf(day)) ?? []), value / middle])
  }
  return new Map([...outer, ...inner].map(([weekday, values]) => [weekday, median(values)]))
}

/** Days far above the same weekday in the other weeks, and above the other days around them. Requires two weeks of days. */
function spikesIn(days: readonly DayValue[]): ReadonlySet<Day> {
  const usual = days.map(({ day }) => median(days.filter((one) => one.day !== day && weekdayOf(one.day) === weekdayOf(day)).map(amountOf)))
  const strays = days.map(({ value }, i) => value - (usual[i] ?? 0))
  const margin = Math.max(deviations * spread(strays, 0), minRise * median(days.map(amountOf)))
  const aroundOf = (at: number): number => median(days.filter((_, i) => i !== at && Math.abs(i - at) <= 3).map(amountOf))
  return new Set(days.filter(({ value }, i) => value > Math.max(usual[i] ?? 0, aroundOf(i)) + margin).map(({ day }) => day))
}

const amountOf = ({ value }: DayValue): number => value

/**
 * A trend is visible in both halves of the days, and a step or a spike in one only. The trend is the smallest slope of both halves and of
 * all days; `missed` is how much more a less careful forecast would see.
 */
function trendOf(values: readonly number[]): { readonly trend: number; readonly missed: number } {
  const half = values.length >> 1
  const slopes = [values, values.slice(0, half), values.slice(-half)].map(slope)
  const isShared = slopes.every((one) => one > 0) || slopes.every((one) => one < 0)
  const trend = isShared ? slopes.reduce((a, b) => (Math.abs(a) < Math.abs(b) ? a : b)) : 0
  return { trend, missed: median(slopes) - trend }
}
