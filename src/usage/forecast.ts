import * as z from 'zod'
import { addDays, countDays, type Day, eachDay, weekdayOf } from '../core/dates.ts'
import { type Decimal, fromEstimate, largest, sum, zero } from '../core/decimal.ts'
import { mean, median, slope } from '../core/statistics.ts'
import type { CurrentPeriod } from './periods.ts'
import { type DayTotal, date, dayOn, estimate } from './records.ts'

export type Forecast = z.output<typeof forecast>

export type Expectation = Extract<Forecast, { status: 'expected' }>

const untilDate = dayOn('Last day of the period.')

export const forecast = z.discriminatedUnion('status', [
  z.object({ status: z.literal('too-early'), untilDate, completeDays: z.int().describe('Days of the period that are over.') }),
  z.object({
    status: z.literal('expected'),
    untilDate,
    total: estimate('Expected total.'),
    low: estimate('Lower end of the range that holds the total four times out of five.'),
    high: estimate('Upper end of that range.'),
    learnedFromDays: z.int().describe('Number of days that the forecast was learned from.'),
    isWeekdayAware: z.boolean().describe('Whether weekdays have patterns of their own; takes two weeks of data.'),
    byDay: z.array(z.object({ date, total: estimate('Expected usage.') })).describe('The days that are not over.'),
  }),
])

interface ForecastInput {
  readonly period: CurrentPeriod
  readonly today: Day
  /** What each day used, in the period and before it. A day without any record is not in it. */
  readonly known: ReadonlyMap<Day, Decimal>
}

/** Enough has passed after three days, or a fifth of the period. */
const enoughDays = 3
const enoughShare = 0.2

/** Four weeks: older days say little about tomorrow. */
const mostLearned = 28

/** For a period that has whole days ahead: otherwise its total is known. */
export function forecastSpend({ period, today, known }: ForecastInput): Forecast {
  const { from, end } = period
  const lastComplete = lastKnownDay(known, addDays(today, -1))
  const completeDays = lastComplete === undefined || lastComplete < from ? 0 : countDays(from, lastComplete)
  if (lastComplete === undefined || (completeDays < enoughDays && completeDays < enoughShare * countDays(from, end)))
    return { status: 'too-early', untilDate: end, completeDays }
  return expectDays(period, known, lastComplete)
}

function expectDays({ from, end }: CurrentPeriod, known: ReadonlyMap<Day, Decimal>, lastComplete: Day): Expectation {
  const rhythm = learnRhythm(learningDays(known, lastComplete))
  const usedOn = (day: Day): Decimal => known.get(day) ?? zero
  const byDay = [...eachDay(addDays(lastComplete, 1), end)].map((date, i) => {
    // A day under way has used something already; it ends with no less.
    return { date, total: largest(usedOn(date), fromEstimate(rhythm.expect(date, i + 1))) }
  })
  const spent = sum([...eachDay(from, lastComplete)].map(usedOn))
  const expected = sum(byDay.map(({ total }) => total))
  const total = spent.plus(expected)
  const margin = fromEstimate(marginOf(rhythm, byDay.length, Number(expected)))
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

/** What each day of the period used, or is expected to use. */
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

/** The last four weeks, or what there is of them; a day without records among them used nothing. */
function learningDays(known: ReadonlyMap<Day, Decimal>, last: Day): readonly DayValue[] {
  const earliest = addDays(last, 1 - mostLearned)
  const first = [...known.keys()].filter((day) => day >= earliest).sort()[0] ?? last
  return [...eachDay(first, last)].map((day) => ({ day, value: Number(known.get(day) ?? zero) }))
}

/** Of a normal distribution, 80 % lie within this many standard deviations. */
const eightyPercent = 1.2816

/** Each day strays by itself, an error of the level is in all of them; and n days never teach more than an n-th. */
function marginOf({ stray, levelError, days }: Rhythm, ahead: number, expected: number): number {
  const deviation = Math.sqrt(stray ** 2 * ahead + (levelError * ahead) ** 2)
  return Math.max(eightyPercent * deviation, expected / days)
}

interface DayValue {
  readonly day: Day
  readonly value: number
}

interface Rhythm {
  /** Number of days that it was learned from. */
  readonly days: number
  readonly isWeekdayAware: boolean
  /** What to expect `ahead` days after the last one. */
  expect(day: Day, ahead: number): number
  /** Standard deviation of a single day. */
  readonly stray: number
  /** Standard deviation of the level itself. */
  readonly levelError: number
}

/** Two weeks, so that every weekday was seen twice. */
const fewestForWeekdays = 14

/** The level is that of the last week: it follows a step within days, and no single day moves it. */
const levelDays = 7

/** Days whose straying counts for the range. */
const strayDays = 14

/** Days in order, without gaps; not empty. */
export function learnRhythm(days: readonly DayValue[]): Rhythm {
  const isWeekdayAware = days.length >= fewestForWeekdays
  const factors = isWeekdayAware ? weekdayFactors(days) : new Map<number, number>()
  const factorOf = (day: Day): number => factors.get(weekdayOf(day)) ?? 1
  // A weekday without usage has no part in the level.
  const levelled = days.flatMap(({ day, value }, i) =>
    factorOf(day) > 0 ? [{ ago: days.length - 1 - i, value: value / factorOf(day) }] : [],
  )
  const trend = isWeekdayAware ? trendOf(levelled.map(({ value }) => value)) : 0
  const now = levelled.map(({ ago, value }) => value + trend * ago)
  const level = levelOf(now.slice(-levelDays))
  const stray = deviation(now.slice(-strayDays), level)
  return {
    days: days.length,
    isWeekdayAware,
    // A trend is continued for as many days as it was seen, and no longer.
    expect: (day, ahead) => Math.max(0, level + trend * Math.min(ahead, days.length)) * factorOf(day),
    stray,
    levelError: stray / Math.sqrt(Math.min(levelDays, days.length)),
  }
}

/** Every stray day counts for the range: what happened once can happen again. */
const deviation = (values: readonly number[], centre: number): number => Math.sqrt(mean(values.map((value) => (value - centre) ** 2)))

/** How far the mean of all days but the strangest may be from the median, in parts of the larger one. */
const mostApart = 0.25

/** The median, which no single day moves; but days of two sorts have no middle, and there the mean says more. */
function levelOf(values: readonly number[]): number {
  const middle = median(values)
  const strangest = values.reduce((a, b) => (Math.abs(b - middle) > Math.abs(a - middle) ? b : a), middle)
  const others = mean(values.toSpliced(values.indexOf(strangest), values.length > 1 ? 1 : 0))
  return Math.abs(others - middle) <= mostApart * Math.max(others, middle) ? middle : others
}

/** Each weekday against the middle of the week around it, which holds every weekday once; its mean, where most days are idle. */
function weekdayFactors(days: readonly DayValue[]): ReadonlyMap<number, number> {
  const ratios = new Map<number, number[]>()
  for (const [i, { day, value }] of days.entries()) {
    const week = days.slice(Math.max(0, i - 3), i + 4)
    const middle = median(week.map((one) => one.value)) || mean(week.map((one) => one.value))
    if (week.length < 7 || middle <= 0) continue
    const weekday = weekdayOf(day)
    ratios.set(weekday, [...(ratios.get(weekday) ?? []), value / middle])
  }
  return new Map([...ratios].map(([weekday, values]) => [weekday, median(values)]))
}

/** A trend shows in both halves; a step or a spike shows in one. */
function trendOf(values: readonly number[]): number {
  const half = values.length >> 1
  const [early, late] = [slope(values.slice(0, half)), slope(values.slice(-half))]
  if (early * late <= 0) return 0
  return Math.abs(early) < Math.abs(late) ? early : late
}
