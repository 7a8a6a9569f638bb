import { dayMs, hourMs } from '../../platform/core/durations.ts'
import { mean } from '../../platform/core/statistics.ts'
import { type Interval, intersect, lengthMs, subtract, union } from './intervals.ts'
import type { KnownDay, ServiceProfile } from './profile.ts'
import { type AlertSchedule, awakeBy, type RunningAlert } from './schedules.ts'

// What alerts add to the awake time of a service. It rests on the vendor's statement that alerts which are evaluated continuously generally
// keep a service awake, and on the assumption that an alert queries the service in its path. docs/cost.md has the limits.

/** Credits a month of 30 days. */
export interface Range {
  readonly low: number
  readonly expected: number
  readonly high: number
}

export const monthDays = 30

interface PriceOptions {
  readonly profile: ServiceProfile
  /** Alerts that stay as they are. */
  readonly others: readonly AlertSchedule[]
  /** The alerts in question as they are now. */
  readonly before: readonly AlertSchedule[]
  /** The alerts in question after the change. */
  readonly after: readonly AlertSchedule[]
  readonly nowMs: number
}

/** What a change of alerts adds, and what it saves at most: activities do not say which query kept a service awake. */
export interface AlertPrice {
  readonly added: Range
  readonly savedUpTo: number
  /** Share of the time in which the service is awake with all alerts. */
  readonly awakeShareAfter: number
}

export function priceAlerts(options: PriceOptions): AlertPrice {
  const { profile } = options
  const [low, high] = [daysAdded(options, profile.timeoutMs.low), daysAdded(options, profile.timeoutMs.high)]
  // Evaluations with a longer timeout leave less time to add, so that neither is always the smaller one.
  const [fewer, more] = mean(low.map(({ added }) => added)) <= mean(high.map(({ added }) => added)) ? [low, high] : [high, low]
  const expected = (mean(fewer.map(({ added }) => added)) + mean(more.map(({ added }) => added))) / 2
  const { low: lowRate, mean: meanRate } = profile.rate
  return {
    added: {
      low: hoursOfMonth(fewer, -1) * lowRate,
      expected: (expected / hourMs) * monthDays * ((lowRate + meanRate) / 2),
      high: hoursOfMonth(more, 1) * meanRate,
    },
    savedUpTo: (Math.max(...[low, high].map((days) => mean(days.map(({ saved }) => saved)))) / hourMs) * monthDays * meanRate,
    awakeShareAfter: mean(low.map(({ awakeAfter }) => awakeAfter)) / dayMs,
  }
}

interface DayDifference {
  readonly added: number
  readonly saved: number
  readonly awakeAfter: number
}

/** Returns what the change adds and saves on each day, in milliseconds of awake time. */
function daysAdded({ profile, others, before, after, nowMs }: PriceOptions, timeoutMs: number): readonly DayDifference[] {
  const parts = partsOfMonth([...others, ...before, ...after], nowMs)
  return profile.days.map((day) => {
    const differences = parts.map(({ share, atMs }) => {
      const active = (schedules: readonly AlertSchedule[]) => schedules.filter(({ startMs }) => startMs === undefined || startMs <= atMs)
      return { share, ...dayDifference(day, { others: active(others), before: active(before), after: active(after), timeoutMs }) }
    })
    const weigh = (pick: (one: DayDifference) => number): number => differences.reduce((sum, one) => sum + one.share * pick(one), 0)
    return {
      added: weigh(({ added }) => added),
      saved: weigh(({ saved }) => saved),
      awakeAfter: weigh(({ awakeAfter }) => awakeAfter),
    }
  })
}

/** The next month in parts with the same active alerts: a silenced alert counts after its silence. */
function partsOfMonth(schedules: readonly AlertSchedule[], nowMs: number): readonly { readonly share: number; readonly atMs: number }[] {
  const endMs = nowMs + monthDays * dayMs
  const starts = schedules.flatMap(({ startMs }) => (startMs !== undefined && startMs > nowMs && startMs < endMs ? [startMs] : []))
  const borders = [...new Set([nowMs, ...starts])].toSorted((a, b) => a - b)
  return borders.map((atMs, i) => ({ atMs, share: ((borders[i + 1] ?? endMs) - atMs) / (endMs - nowMs) }))
}

interface ActiveAlerts {
  readonly others: readonly AlertSchedule[]
  readonly before: readonly AlertSchedule[]
  readonly after: readonly AlertSchedule[]
  readonly timeoutMs: number
}

function dayDifference(day: KnownDay, { others, before, after, timeoutMs }: ActiveAlerts): DayDifference {
  const by = (schedules: readonly AlertSchedule[]): readonly Interval[] => subtract(awakeBy(schedules, day, timeoutMs), day.stopped)
  const now = union([...day.awake, ...by([...others, ...before])])
  const next = union([...now, ...by(after)])
  // The saving counts only what these alerts may have caused: awake time of their evaluations that no other alert covers.
  const saved = lengthMs(subtract(intersect(by(before), day.awake), by([...others, ...after])))
  return { added: lengthMs(next) - lengthMs(now), saved, awakeAfter: lengthMs(next) }
}

/** Two standard deviations cover about 95% of normally distributed months. */
const deviations = 2

/**
 * Hours of the next month at one end of a range. The month differs from the known days by chance: by as much as the days differ from each
 * other.
 */
function hoursOfMonth(days: readonly DayDifference[], sign: -1 | 1): number {
  const added = days.map((day) => day.added)
  const center = mean(added)
  const variance = added.reduce((sum, one) => sum + (one - center) ** 2, 0) / Math.max(1, added.length - 1)
  const margin = deviations * Math.sqrt(variance * (1 / added.length + 1 / monthDays))
  return (Math.min(dayMs, Math.max(0, center + sign * margin)) / hourMs) * monthDays
}

/** Whether the service slept through most evaluations of an alert: then the alert queries another service, or does not wake this one. */
export function sleepsThroughAlerts({ days, timeoutMs }: ServiceProfile, alerts: readonly RunningAlert[]): boolean {
  return alerts.some(({ schedule, sinceMs }) => {
    const since = days.filter(({ fromMs }) => fromMs >= sinceMs)
    const expected = since.map((day) => ({ day, by: subtract(awakeBy([schedule], day, timeoutMs.low), day.stopped) }))
    const expectedMs = expected.reduce((sum, { by }) => sum + lengthMs(by), 0)
    const awakeMs = expected.reduce((sum, { day, by }) => sum + lengthMs(intersect(by, day.awake)), 0)
    return awakeMs < expectedMs / 2
  })
}
