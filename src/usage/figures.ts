// Owns what a report's figures are, worked out of what was read. Exact, and without I/O.
import type { Day } from '../core/dates.ts'
import { type Decimal, percentOf } from '../core/decimal.ts'
import { type BudgetJudgement, type BudgetOutcome, judgeBudget, judgeBudgets } from './budgets.ts'
import type { Budget } from './budgets-file.ts'
import { type Changes, findChanges, isAboveIncrease } from './comparison.ts'
import { type Doubt, doubtsAbout } from './data-quality.ts'
import { type Forecast, forecastSpend, knownDays, runOutDay, withoutGaps } from './forecast.ts'
import type { UsageInput } from './input.ts'
import { type CurrentPeriod, isWithin, type Period } from './periods.ts'
import { allReadings, type Readings } from './read-usage.ts'
import { provisionalOf, totalByDay, totalOf } from './records.ts'
import { findSpikes, type Spike, shortestBaseline } from './spikes.ts'

export interface Comparison extends Changes {
  readonly period: Period
  readonly before: Decimal
  readonly after: Decimal
  readonly percent: Decimal | undefined
  readonly isAboveMost: boolean
}

export interface Figures {
  /** The API's own total of the period. */
  readonly total: Decimal
  readonly provisional: Decimal
  /** What the gate compares with the budgets. */
  readonly judged: Decimal
  readonly judgement: BudgetJudgement
  readonly forecast: Forecast
  readonly runsOutOn: Day | undefined
  readonly comparison: Comparison | undefined
  readonly spikes: readonly Spike[]
  /** Days that could be looked at for spikes. */
  readonly spikeDays: number
  readonly budgets: readonly BudgetOutcome[]
  readonly doubts: readonly Doubt[]
}

export interface FigureInput {
  readonly readings: Readings
  readonly period: CurrentPeriod
  readonly today: Day
  readonly budgets: readonly Budget[]
  readonly input: UsageInput
}

export function workOut({ readings, period, today, budgets, input }: FigureInput): Figures {
  const { main } = readings
  const read = allReadings(readings)
  const records = read.flatMap((reading) => reading.records)
  // Nothing that bears a tag is said by the budget that asked for it.
  const tagged = [...readings.tagged.values()].flat().filter((reading) => reading.records.length > 0 || !reading.grandTotal.eq(0))
  const lockedOnly = input.unlocked === 'exclude'
  const judged = lockedOnly ? lockedTotal(main.records) : main.grandTotal
  const known = knownDays(period, read, records)
  const history = withoutGaps(known, period)
  const forecast = forecastSpend({ period, today, known })
  // Final records alone are judged then, and nobody knows when the others will be final.
  const days = lockedOnly
    ? totalByDay(
        main.records.filter(({ locked }) => locked),
        period,
      )
    : forecast.kind === 'expected'
      ? forecast.days
      : history.filter(({ day }) => isWithin(day, period))
  return {
    total: main.grandTotal,
    provisional: provisionalOf(main.records),
    judged,
    judgement: judgeBudget(judged, { budget: input.budget, warnBudget: input.warnBudget }),
    forecast,
    runsOutOn: input.budget === undefined ? undefined : runOutDay(days, input.budget),
    comparison: compare(readings, judged, lockedOnly, input),
    spikes: findSpikes(records, history, period.from),
    spikeDays: history.slice(shortestBaseline).filter(({ day }) => day >= period.from).length,
    budgets: judgeBudgets(budgets, { readings, today, lockedOnly }),
    doubts: [
      ...[...read, ...tagged].flatMap((reading) => doubtsAbout(reading, today)),
      ...(lockedOnly && main.records.length > 0 && !main.records.some(({ locked }) => locked)
        ? [{ kind: 'nothing-final', period } as const]
        : []),
    ],
  }
}

const lockedTotal = (records: Readings['main']['records']): Decimal => totalOf(records.filter(({ locked }) => locked))

function compare(readings: Readings, after: Decimal, lockedOnly: boolean, { maxIncrease }: UsageInput): Comparison | undefined {
  const { main, previous } = readings
  if (previous === undefined) return undefined
  const before = lockedOnly ? lockedTotal(previous.records) : previous.grandTotal
  return {
    ...findChanges(previous.records, main.records),
    period: previous.period,
    before,
    after,
    percent: percentOf(after.minus(before), before),
    isAboveMost: maxIncrease !== undefined && isAboveIncrease(before, after, maxIncrease),
  }
}
