import { addDays, countDays, type Day, eachDay, weekdayOf } from '../core/dates.ts'
import { type Decimal, fromEstimate, largest, sum, zero } from '../core/decimal.ts'
import { mean, median, slope } from '../core/statistics.ts'
import type { ReadUsage } from './data-quality.ts'
import { type CurrentPeriod, daysBeside, isWithin, type Period } from './periods.ts'
import { createTally, type DayTotal, type SpendRecord } from './records.ts'

// Owns what is learnt of past days: level, trend, weekly rhythm, and how far single days stray from them.

export interface DayValue {
  readonly day: Day
  readonly value: number
}

export interface Rhythm {
  /** How many days it was learnt from. */
  readonly days: number
  readonly isWeekdayAware: boolean
  /** What to expect `ahead` days after the last one. */
  expect(day: Day, ahead: number): number
  /** Standard deviation of a single day. */
  readonly stray: number
  /** Standard deviation of the level itself. */
  readonly doubt: number
}

/** Two weeks: every weekday was seen twice. */
const fewestForWeekdays = 14

/** The level is what the last week says, so that it follows a step within days and no single day moves it. */
const levelDays = 7

/** Days whose straying counts for the range. */
const strayDays = 14

/** Days in order, without gaps; not empty. */
export function learnRhythm(days: readonly DayValue[]): Rhythm {
  const isWeekdayAware = days.length >= fewestForWeekdays
  const factors = isWeekdayAware ? weekdayFactors(days) : new Map<number, number>()
  const factorOf = (day: Day): number => factors.get(weekdayOf(day)) ?? 1
  // A weekday on which nothing is used says nothing of the level.
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
    // A trend goes on for as many days as it was seen; nobody knows more.
    expect: (day, ahead) => Math.max(0, level + trend * Math.min(ahead, days.length)) * factorOf(day),
    stray,
    doubt: stray / Math.sqrt(Math.min(levelDays, days.length)),
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

/** A trend is what both halves show; a step or a spike is in one of them alone. */
function trendOf(values: readonly number[]): number {
  const half = values.length >> 1
  const [early, late] = [slope(values.slice(0, half)), slope(values.slice(-half))]
  if (early * late <= 0) return 0
  return Math.abs(early) < Math.abs(late) ? early : late
}

// Owns the days that are known without a gap up to a period's last one: what forecasts and spikes are learnt from.

/** The days that were read, one after the other, around the period; a day that was not read is no day without usage. */
function blockAround(period: Period, readings: readonly ReadUsage[]): Period {
  const blocks = daysBeside(
    readings.map((reading) => reading.period),
    [],
  )
  const block = blocks.find((one) => isWithin(period.from, one)) ?? period
  return { from: block.from, to: period.to }
}

/**
 * What `counted` records used on each known day. A day on which nobody has a record is left out; one on which only others have
 * is a zero.
 */
export function knownDays(period: Period, readings: readonly ReadUsage[], counted: readonly SpendRecord[]): ReadonlyMap<Day, Decimal> {
  const block = blockAround(period, readings)
  const days = new Set(readings.flatMap(({ records }) => records.map(({ date }) => date)))
  const totals = createTally<Day>()
  for (const { date, total } of counted) totals.add(date, total)
  return new Map([...eachDay(block.from, block.to)].filter((day) => days.has(day)).map((day) => [day, totals.of(day)]))
}

/** The same up to the period's end, without gaps. */
export function withoutGaps(known: ReadonlyMap<Day, Decimal>, { to }: Period): readonly DayTotal[] {
  const [first] = known.keys()
  return first === undefined ? [] : [...eachDay(first, to)].map((day) => ({ day, total: known.get(day) ?? zero }))
}

// Owns the forecast to a period's end, and the day on which a budget runs out. An estimate with a range, or none at all.

export interface ForecastInput {
  readonly period: CurrentPeriod
  readonly today: Day
  /** What each day used, in the period and before it. A day without any record is not in it. */
  readonly known: ReadonlyMap<Day, Decimal>
}

export interface Expectation {
  readonly kind: 'expected'
  /** Of the whole period, up to its end. */
  readonly total: Decimal
  /** Four times out of five, the total lies between these. */
  readonly low: Decimal
  readonly high: Decimal
  /** How many days it was learnt from. */
  readonly learntFrom: number
  readonly isWeekdayAware: boolean
  /** Each day of the period, in order: what was used, or what is expected. */
  readonly days: readonly { readonly day: Day; readonly total: Decimal; readonly isOver: boolean }[]
}

export type Forecast = { readonly kind: 'over' } | { readonly kind: 'too-early'; readonly completeDays: number } | Expectation

/** Enough has passed after three days, or a fifth of the period. */
const enoughDays = 3
const enoughShare = 0.2

/** Four weeks: what is older says little of tomorrow. */
const mostLearnt = 28

export function forecastSpend({ period, today, known }: ForecastInput): Forecast {
  const { from, end } = period
  // With no whole day to come there is nothing to forecast, although today is not over.
  if (end <= today) return { kind: 'over' }
  const lastComplete = lastKnownDay(known, addDays(today, -1))
  const completeDays = lastComplete === undefined || lastComplete < from ? 0 : countDays(from, lastComplete)
  if (lastComplete === undefined || (completeDays < enoughDays && completeDays < enoughShare * countDays(from, end)))
    return { kind: 'too-early', completeDays }
  return expectDays(period, known, lastComplete)
}

function expectDays({ from, end }: CurrentPeriod, known: ReadonlyMap<Day, Decimal>, lastComplete: Day): Expectation {
  const rhythm = learnRhythm(learningDays(known, lastComplete))
  const days = [...eachDay(from, end)].map((day) => {
    const used = known.get(day) ?? zero
    if (day <= lastComplete) return { day, total: used, isOver: true }
    // A day under way has used something already; it ends with no less.
    return { day, total: largest(used, fromEstimate(rhythm.expect(day, countDays(lastComplete, day) - 1))), isOver: false }
  })
  const total = sum(days.map((one) => one.total))
  const ahead = days.filter(({ isOver }) => !isOver)
  const spent = sum(days.map(({ day }) => known.get(day) ?? zero))
  const margin = fromEstimate(marginOf(rhythm, ahead.length, Number(sum(ahead.map((one) => one.total)))))
  return {
    kind: 'expected',
    total,
    low: largest(spent, total.minus(margin)),
    high: total.plus(margin),
    learntFrom: rhythm.days,
    isWeekdayAware: rhythm.isWeekdayAware,
    days,
  }
}

function lastKnownDay(known: ReadonlyMap<Day, Decimal>, latest: Day): Day | undefined {
  return [...known.keys()]
    .filter((day) => day <= latest)
    .sort()
    .at(-1)
}

/** The last four weeks, or what there is of them; a day without records among them used nothing. */
function learningDays(known: ReadonlyMap<Day, Decimal>, last: Day): readonly DayValue[] {
  const earliest = addDays(last, 1 - mostLearnt)
  const first = [...known.keys()].filter((day) => day >= earliest).sort()[0] ?? last
  return [...eachDay(first, last)].map((day) => ({ day, value: Number(known.get(day) ?? zero) }))
}

/** Of a normal distribution, 80 % lie within this many standard deviations. */
const eightyPercent = 1.2816

/** Days stray each by itself, the level is wrong for all of them; and n days never teach more than an n-th. */
function marginOf({ stray, doubt, days }: Rhythm, ahead: number, expected: number): number {
  const deviation = Math.sqrt(stray ** 2 * ahead + (doubt * ahead) ** 2)
  return Math.max(eightyPercent * deviation, expected / days)
}

/** The first day on which more than the budget is used; undefined when it lasts. */
export function runOutDay(days: readonly DayTotal[], budget: Decimal): Day | undefined {
  let used = zero
  return days.find(({ total }) => {
    used = used.plus(total)
    return used.gt(budget)
  })?.day
}
