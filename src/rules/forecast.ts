// Owns the forecast to a period's end, and the day on which a budget runs out. An estimate with a range, or none at all.
import { addDays, countDays, type Day, eachDay } from '../kernel/days.ts'
import { type Decimal, fromEstimate, largest, sum, zero } from '../kernel/decimal.ts'
import type { CurrentPeriod } from './period.ts'
import { type DayValue, learnRhythm, type Rhythm } from './rhythm.ts'
import type { DayTotal } from './spend.ts'

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
