import * as z from 'zod'
import { addDays, countDays, type Day, daysLeftInMonth, eachDay, weekdayOf } from '../../platform/core/dates.ts'
import { type Decimal, fromEstimate, largest, sum, zero } from '../../platform/core/decimal.ts'
import { mean, median, spread } from '../../platform/core/statistics.ts'
import { estimate } from './amounts.ts'
import { type CurrentPeriod, date, dayOn } from './periods.ts'
import { type DayTotal, lastCompleteDay } from './readings.ts'

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
  /** Usage of each day, in order, in the period and before it. A day without records has no entry. */
  readonly known: ReadonlyMap<Day, Decimal>
  /** Whether the days before the period are reliably known. Without them, the same month could have several forecasts. */
  readonly hasHistory: boolean
}

export function forecastSpend({ period, today, known, hasHistory }: ForecastInput): Forecast {
  const { from, end } = period
  const lastComplete = [...known.keys()].findLast((day) => day <= lastCompleteDay(today))
  const completeDays = lastComplete === undefined || lastComplete < from ? 0 : countDays(from, lastComplete)
  // A forecast needs three complete days, or a fifth of the period.
  if (lastComplete === undefined || (completeDays < 3 && completeDays < countDays(from, end) / 5))
    return { status: 'too-early', untilDate: end, completeDays }
  if (!hasHistory) return { status: 'unavailable', untilDate: end }
  return expectDays(period, known, lastComplete)
}

function expectDays({ from, end }: CurrentPeriod, known: ReadonlyMap<Day, Decimal>, lastComplete: Day): Expectation {
  // Three months, so that two ends of months are always among them.
  const earliest = addDays(lastComplete, 1 - 93)
  const first = known.keys().find((day) => day >= earliest) ?? lastComplete
  const rhythm = learnRhythm([...eachDay(first, lastComplete)].map((day) => ({ day, value: Number(known.get(day) ?? zero) })))
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

export function daysWithForecast(
  { byDay }: Expectation,
  known: ReadonlyMap<Day, Decimal>,
  { from, end }: CurrentPeriod,
): readonly DayTotal[] {
  const expected = new Map(byDay.map(({ date, total }) => [date, total]))
  return [...eachDay(from, end)].map((date) => ({ date, total: expected.get(date) ?? known.get(date) ?? zero }))
}

/** A day stands out if it is this many deviations above what is usual, and at least this share of it, because flat series have no deviation. */
export const deviations = 5
export const minRise = 0.3

/** 80% of a normal distribution is within this many standard deviations. */
export const eightyPercent = 1.2816

interface DayValue {
  readonly day: Day
  readonly value: number
}

const minDaysForWeekdays = 14

/** Days in order, without gaps; not empty. */
export function learnRhythm(days: readonly DayValue[]) {
  const isWeekdayAware = days.length >= minDaysForWeekdays
  const factors = isWeekdayAware ? weekdayFactors(days) : new Map<number, number>()
  const factorOf = (day: Day) => factors.get(weekdayOf(day)) ?? 1
  const judge = (isCounted: (day: Day) => boolean) => {
    // Weekdays without usage show no level.
    const levels = days.map(({ day, value }) => (factorOf(day) > 0 && isCounted(day) ? value / factorOf(day) : undefined))
    const usual = levels.map((_, i) => median(weekAround(levels, i).filter((one) => one !== undefined)))
    const judged = days.map(({ day, value }, i) => {
      return { day, ago: days.length - 1 - i, level: levels[i], excess: value - factorOf(day) * (usual[i] ?? 0) }
    })
    const deviation = spread(judged.map(excessOf), 0)
    const limitOf = (count: number) => Math.max(count * deviation, minRise * median(usual))
    // Months that agree need fewer deviations than a single day.
    return { judged, limitOf, monthly: monthlyUsage(judged, limitOf(2)) }
  }
  const { monthly: excluded } = judge(() => true)
  const { judged, limitOf, monthly } = judge((day) => excluded(day) === undefined)
  const ordinary = judged.filter(({ day }) => monthly(day) === undefined)
  const far = ordinary.filter(({ excess }) => Math.abs(excess) > limitOf(deviations))
  // If more days are strays, days are of two kinds, and all count.
  const strays = far.length > days.length / 3 ? [] : far
  const points = ordinary.flatMap((one) => (one.level === undefined || strays.includes(one) ? [] : [{ ago: one.ago, value: one.level }]))
  // The level and the trend are those of the last four weeks, or since the last step.
  const line = lastLine(points.slice(-28), correlation(points))
  // A trend continues for at most as many days as it was observed.
  const trendDays = (ahead: number) => Math.min(ahead, line.days)
  return {
    days: days.length,
    isWeekdayAware,
    monthly,
    /** Factor of the variance of a sum of days: 1 for independent days, and more for days that resemble the day before. */
    inflation: line.inflation,
    /** Expected usage `ahead` days after the last known day. */
    expect: (day: Day, ahead: number) =>
      Math.max(0, line.level + line.slope * trendDays(ahead)) * factorOf(day) + (monthly(day)?.usual ?? 0),
    /** Standard deviation of the total of the next days, which are given. */
    // Days deviate independently. An error of the level or the trend affects all of them.
    deviation(ahead: readonly Day[]) {
      const factors = ahead.map(factorOf)
      const all = addNumbers(factors)
      const trended = addNumbers(factors.map((factor, i) => factor * (trendDays(i + 1) + line.meanAgo)))
      // Stray days can happen again, and those of the last week can be a new level.
      const again = squares(strays.map(excessOf)) * (ahead.length / days.length)
      const lasting = (addNumbers(strays.filter(({ ago }) => ago < 7).map(excessOf)) / 7) * all
      const ofMonths = ahead.map((day) => monthly(day)?.range ?? 0)
      return Math.sqrt(
        line.noise ** 2 * squares(factors) +
          (line.levelError * all) ** 2 +
          (line.slopeError * trended) ** 2 +
          again +
          lasting ** 2 +
          squares(ofMonths),
      )
    },
  }
}

const addNumbers = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0)

const squares = (values: readonly number[]) => addNumbers(values.map((one) => one ** 2))

export const weekAround = <Value>(values: readonly Value[], i: number): readonly Value[] => {
  const start = Math.max(0, Math.min(i - 3, values.length - 7))
  return values.slice(start, start + 7)
}

interface JudgedDay {
  readonly day: Day
  /** Usage above what is usual around the day. */
  readonly excess: number
}

const excessOf = ({ excess }: JudgedDay) => excess

/** The positions of a day in its month: its date, from both ends; its workday, from the end; and its weekday, as "2nd Monday" or "last Friday". */
const positions: readonly ((day: Day, left: number) => readonly string[])[] = [
  (day, left) => [day.slice(8), `-${left}`],
  (day, left) => (isWorkday(weekdayOf(day)) ? [`workday -${workdaysIn(weekdayOf(day), left)}`] : []),
  (day, left) => [`${left > 7 ? Math.ceil(Number(day.slice(8)) / 7) : 'last'} weekday ${weekdayOf(day)}`],
]

const isWorkday = (weekday: number) => weekday < 6

const workdaysIn = (weekday: number, length: number) =>
  Array.from({ length }, (_, i) => ((weekday + i - 1) % 7) + 1).filter(isWorkday).length

/** Usage that came in each of the last months at the same position. A day that one kind of position explains is no evidence for the next kind. */
function monthlyUsage(days: readonly JudgedDay[], limit: number) {
  const usages = new Map<string, MonthlyUsage>()
  const explained = new Set<Day>()
  const isEvidence = ({ day, excess }: JudgedDay) => excess > limit && !explained.has(day)
  for (const positionsOf of days.filter(isEvidence).length < 2 ? [] : positions) {
    const byPosition = Map.groupBy(
      days.flatMap((one) => positionsOf(one.day, daysLeftInMonth(one.day)).map((position) => ({ ...one, position }))),
      ({ position }) => position,
    )
    const found = [...byPosition].filter(([, all]) => all.length > 1 && all.every(isEvidence))
    for (const [position, all] of found) {
      const values = all.map(excessOf)
      // The next of a few values is within 1.25 of their ranges of their mean.
      usages.set(position, { usual: mean(values), range: 1.25 * (Math.max(...values) - Math.min(...values)) })
    }
    for (const { day } of found.flatMap(([, all]) => all)) explained.add(day)
  }
  return (day: Day): MonthlyUsage | undefined =>
    (usages.size === 0 ? [] : positions)
      .flatMap((positionsOf) => positionsOf(day, daysLeftInMonth(day)))
      .map((position) => usages.get(position))
      .find((usage) => usage !== undefined)
}

type MonthlyUsage = Readonly<Record<'usual' | 'range', number>>

export function monthlyRise(before: readonly DayTotal[], day: Day): number {
  const monthly = learnRhythm(before.map(({ date, total }) => ({ day: date, value: Number(total) }))).monthly(day)
  return monthly === undefined ? 0 : monthly.usual + monthly.range
}

interface LinePoint {
  /** Days before the last known day. */
  readonly ago: number
  readonly value: number
}

/** Standard deviation of trends, per day, as a share of the level: without evidence, a trend is small. */
const usualTrend = 0.004

const minStepDays = 4

/** The level, the trend, and the share of these days in the weekday pattern. */
const learnedValues = 4

/**
 * The line through the points since the last step: its level on the last known day, and the standard errors. `similar` is the correlation
 * of a day with the day before, which inflates the variance of a sum of days.
 */
function lastLine(points: readonly LinePoint[], similar: number) {
  const inflation = (1 + similar) / (1 - similar)
  const values = points.map(({ value }) => value)
  const center = median(values)
  const differences = values.slice(1).map((value, i) => value - (values[i] ?? 0))
  const variance = spread(differences) ** 2 / 2 / (1 - similar)
  const penalty = points.length < minDaysForWeekdays ? Number.POSITIVE_INFINITY : (inflation * variance) / (usualTrend * center) ** 2
  const strays: number[] = []
  let since = points
  let line = fitLine(since, penalty)
  for (let step = findStep(); step !== undefined; step = findStep()) {
    strays.push(...step.before.strays)
    since = since.slice(step.at)
    line = step.after
  }
  strays.push(...line.strays)
  const level = Math.max(0, line.at(0))
  const noise = level * Math.sqrt((squares(strays) / Math.max(1, strays.length - learnedValues + 1 - inflation)) * inflation)
  const trend = usualTrend * level
  return {
    level,
    slope: line.slope,
    noise,
    levelError: noise / Math.sqrt(Math.max(1, since.length)),
    slopeError: (noise * trend) / Math.hypot(Math.sqrt(line.squares) * trend, noise) || 0,
    meanAgo: line.meanAgo,
    days: since.length,
    inflation,
  }

  function findStep() {
    const steps = since.slice(2 * minStepDays - 1).map((_, i) => {
      const at = i + minStepDays
      const [before, after] = [fitLine(since.slice(0, at), penalty), fitLine(since.slice(at), penalty)]
      const rest = before.rest + after.rest
      // Rounding is no deviation.
      const variance = Math.max(rest / (since.length - 2), (center / 1000) ** 2)
      return { at, before, after, gain: (line.rest - rest) / variance }
    })
    // A step reduces the sum of squares by this many variances of a day.
    return steps.filter(({ gain }) => gain > 10 * inflation).sort((a, b) => b.gain - a.gain)[0]
  }
}

/**
 * Correlation r of a day with the day before, from 0 to 0.85: differences over two days have 1 + r times the variance of those over one day.
 * A step is in one or two of the differences, and those count only up to three deviations.
 */
function correlation(points: readonly LinePoint[]) {
  const values = new Map(points.map(({ ago, value }) => [ago, value]))
  const over = (days: number) => {
    const found = points.flatMap(({ ago, value }) => {
      const before = values.get(ago + days)
      return before === undefined ? [] : [value - before]
    })
    const limit = 3 * spread(found, 0)
    return mean(found.map((one) => Math.min(limit, Math.abs(one)) ** 2))
  }
  return Math.min(0.85, Math.max(0, over(2) / over(1) - 1 || 0))
}

/** Least squares with a penalty for the slope. Strays are shares of the line, because more usage varies more. */
function fitLine(points: readonly LinePoint[], penalty: number) {
  const meanAgo = mean(points.map(({ ago }) => ago))
  const center = mean(points.map(({ value }) => value))
  const squaresOfTime = squares(points.map(({ ago }) => meanAgo - ago))
  const slope = addNumbers(points.map(({ ago, value }) => (meanAgo - ago) * (value - center))) / (squaresOfTime + penalty) || 0
  const at = (ago: number) => center + slope * (meanAgo - ago)
  return {
    at,
    slope,
    meanAgo,
    squares: squaresOfTime,
    strays: points.flatMap(({ ago, value }) => (at(ago) > 0 ? [value / at(ago) - 1] : [])),
    rest: squares(points.map(({ ago, value }) => value - at(ago))),
  }
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
    const week = weekAround(days, i).map(amountOf)
    const middle = median(week) || mean(week)
    if (middle <= 0 || spikes.has(day)) continue
    const ratios = i >= 3 && i + 3 < days.length ? inner : outer
    ratios.set(weekdayOf(day), [...(ratios.get(weekdayOf(day)) ?? []), value / middle])
  }
  return new Map([...outer, ...inner].map(([weekday, values]) => [weekday, median(values)]))
}

/** Days far above the same weekday in the other weeks, and above the other days around them. Requires two weeks of days. */
function spikesIn(days: readonly DayValue[]): ReadonlySet<Day> {
  const byWeekday = Map.groupBy(days, ({ day }) => weekdayOf(day))
  const usual = days.map((one) => median((byWeekday.get(weekdayOf(one.day)) ?? []).filter((other) => other !== one).map(amountOf)))
  const strays = days.map(({ value }, i) => value - (usual[i] ?? 0))
  const margin = Math.max(deviations * spread(strays, 0), minRise * median(days.map(amountOf)))
  const aroundOf = (at: number) => median(days.filter((_, i) => i !== at && Math.abs(i - at) <= 3).map(amountOf))
  return new Set(days.filter(({ value }, i) => value > Math.max(usual[i] ?? 0, aroundOf(i)) + margin).map(({ day }) => day))
}

const amountOf = ({ value }: DayValue) => value
