// Owns what is learnt of past days: level, trend, weekly rhythm, and how far single days stray from them.
import { type Day, weekdayOf } from '../kernel/days.ts'
import { mean, median, slope } from './robust.ts'

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
