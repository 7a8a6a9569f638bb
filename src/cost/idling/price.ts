import { borderBefore, intervalMsOf, startMsOf } from '../../kinds/alert/schedule.ts'
import type { Body } from '../../kinds/kind.ts'
import { dayMs, minuteMs } from '../../platform/core/durations.ts'
import { mean } from '../../platform/core/statistics.ts'
import type { ObservedDay, ServiceProfile } from './profile.ts'

// What alerts add to the awake time of a service. It rests on the vendor's statement that alerts which are evaluated continuously generally
// keep a service awake, and on the assumption that an alert queries the service in its path. docs/cost.md has the limits.

export const monthDays = 30

/** An alert whose schedule changes: without `before` it is new, and without `after` it is deleted. */
export interface ScheduleChange {
  readonly before?: AlertSchedule | undefined
  readonly after?: AlertSchedule | undefined
}

interface PriceOptions {
  readonly profile: ServiceProfile
  readonly others: readonly AlertSchedule[]
  readonly changes: readonly ScheduleChange[]
}

export interface AlertPrice {
  /** How much longer the service is awake in a full month with all changes than without them. Not below 0. */
  readonly added: { readonly low: number; readonly expected: number; readonly high: number }
  /** Credits of the time that only this alert keeps the service awake after the changes, less that before them. */
  shareOf(change: ScheduleChange): number
}

export function priceAlerts(options: PriceOptions): AlertPrice {
  const { timeoutMs, rate } = options.profile
  const sums = [timeoutMs.low, timeoutMs.high].map((ms) => compareSums(options, ms))
  // Evaluations with a longer timeout leave less time to add, so that neither is always the smaller one.
  const [fewer = [], more = []] = sums.map(({ added }) => added).toSorted((a, b) => mean(a) - mean(b))
  const credits = (minutes: number, rateOfHour: number) => (minutes / 60) * monthDays * rateOfHour
  const meanRate = (rate.low + rate.mean) / 2
  return {
    added: {
      low: credits(minutesAtEnd(fewer, -1), rate.low),
      expected: credits(Math.max(0, mean([...fewer, ...more])), meanRate),
      high: credits(minutesAtEnd(more, 1), rate.mean),
    },
    shareOf: (change) => credits(mean(sums.map(({ shareOf }) => shareOf(change))), meanRate),
  }
}

/**
 * Two sums over the known days: the minutes in which the service is awake with the changes and without them. What it was awake for alerts
 * that change is taken out of both, because it ends with the change. A deleted alert counts in both: its delete gives no credit.
 */
function compareSums({ profile: { days }, others, changes }: PriceOptions, timeoutMs: number) {
  const changed = changes.flatMap(({ before }) => before ?? [])
  const next = changes.flatMap(({ before, after }) => after ?? before ?? [])
  const [own = [], without = [], withChanges = []] = [changed, [...others, ...changed], [...others, ...next]].map((schedules) =>
    countAlerts(schedules, timeoutMs),
  )
  const difference = withChanges.map((count, i) => Math.sign(count) - Math.sign(without[i] ?? 0))
  const asleep = days.map((day) => minutesAwake(day).map((isAwake, i) => (isAwake === 1 && own[i] === 0 ? 0 : 1)))
  const daysAsleep = sumDays(asleep)
  const onlyKept = (counts: readonly number[]) =>
    bySchedule((one) => sumMinutes(minutesKept(one, timeoutMs).map((i) => (counts[i] === 1 ? (daysAsleep[i] ?? 0) : 0))) / days.length)
  const [keptBefore, keptAfter] = [onlyKept(without), onlyKept(withChanges)]
  return {
    added: asleep.map((ofDay) => sumMinutes(difference.map((one, i) => one * (ofDay[i] ?? 0)))),
    shareOf: ({ before, after }: ScheduleChange) => keptAfter(after) - keptBefore(before),
  }
}

function bySchedule(measure: (schedule: AlertSchedule) => number): (schedule: AlertSchedule | undefined) => number {
  const values = new Map<string, number>()
  return (schedule) => {
    if (schedule === undefined) return 0
    const value = values.get(keyOf(schedule)) ?? measure(schedule)
    values.set(keyOf(schedule), value)
    return value
  }
}

function minutesAwake({ fromMs, awake }: ObservedDay) {
  const minutes = new Array<number>(dayMinutes).fill(0)
  for (const one of awake) minutes.fill(1, Math.floor((one.fromMs - fromMs) / minuteMs), Math.floor((one.toMs - fromMs) / minuteMs))
  return minutes
}

const sumDays = (days: readonly (readonly number[])[]) =>
  Array.from({ length: dayMinutes }, (_, i) => sumMinutes(days.map((ofDay) => ofDay[i] ?? 0)))

const sumMinutes = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/**
 * Minutes of a day of the month at one end of a range. The month differs from the known days by chance: by as much as the days differ from
 * each other.
 */
function minutesAtEnd(added: readonly number[], sign: -1 | 1) {
  const center = mean(added)
  const variance = sumMinutes(added.map((one) => (one - center) ** 2)) / Math.max(1, added.length - 1)
  // Two standard deviations cover about 95% of normally distributed months.
  const margin = 2 * Math.sqrt(variance * (1 / added.length + 1 / monthDays))
  return Math.min(dayMinutes, Math.max(0, center + sign * margin))
}

/** Tells which share of the awake time the evaluations of some alerts cover, each until the idle timeout. */
export function coverageOf(days: readonly ObservedDay[], timeoutMs: number): (schedules: readonly AlertSchedule[]) => number {
  const awake = sumDays(days.map(minutesAwake))
  return (schedules) =>
    sumMinutes(countAlerts(schedules, timeoutMs).map((count, i) => (count > 0 ? (awake[i] ?? 0) : 0))) / sumMinutes(awake)
}

/**
 * Whether the service slept through most evaluations of an alert on the newest day: then the alert queries another service, or does not wake
 * this one. On earlier days, the alert may have had another schedule, which nothing tells.
 */
export function sleepsThroughAlerts({ days, timeoutMs }: ServiceProfile, alerts: readonly RunningAlert[]): boolean {
  const newest = days.at(-1)
  if (newest === undefined) return false
  const awake = minutesAwake(newest)
  const awakeAfter = bySchedule((schedule) => mean(minutesKept(schedule, timeoutMs.low).map((i) => awake[i] ?? 0)))
  return alerts.some(({ schedule, sinceMs }) => sinceMs <= newest.fromMs && awakeAfter(schedule) < 1 / 2)
}

/** When an alert is evaluated: at the same times of each UTC day, because every interval divides a day. */
export interface AlertSchedule {
  readonly intervalMs: number
  /** Time of the first evaluation after midnight. */
  readonly offsetMs: number
}

/**
 * The schedule of an alert as the API has it, or a file declares it. Undefined for a disabled one, and for an interval that this version
 * does not know. A start sets the time of the evaluations in place of an offset. A start in the future only delays them.
 */
export function scheduleOf(alert: Body): AlertSchedule | undefined {
  const intervalMs = intervalMsOf(alert.interval)
  if (intervalMs === undefined || alert.state === 'DISABLED') return undefined
  const { scheduleOffsetMinutes: offset } = alert
  const firstMs = startMsOf(alert) ?? (typeof offset === 'number' ? offset * minuteMs : 0)
  return { intervalMs, offsetMs: firstMs - borderBefore(firstMs, intervalMs) }
}

/** The schedule of an alert of the service now. One that is silenced until later keeps nothing awake, so that others beside it are not free. */
export const presentScheduleOf = (alert: Body, nowMs: number): AlertSchedule | undefined =>
  (startMsOf(alert) ?? 0) <= nowMs ? scheduleOf(alert) : undefined

export const keyOf = ({ intervalMs, offsetMs }: AlertSchedule): string => `${intervalMs} ${offsetMs}`

const dayMinutes = dayMs / minuteMs

/** The minutes of a day in which an alert keeps a service awake: after each evaluation until the idle timeout, or until the next evaluation. */
function minutesKept({ intervalMs, offsetMs }: AlertSchedule, timeoutMs: number): readonly number[] {
  // The server looks for due evaluations once a minute.
  const [interval, first] = [Math.max(1, intervalMs / minuteMs), Math.ceil(offsetMs / minuteMs)]
  const kept = Math.min(interval, Math.ceil(timeoutMs / minuteMs))
  const minutes: number[] = []
  for (let at = first; at < first + dayMinutes; at += interval) for (let i = at; i < at + kept; i++) minutes.push(i % dayMinutes)
  return minutes
}

/** How many alerts keep a service awake in each minute of a day. Alerts with the same schedule are counted in one step. */
export function countAlerts(schedules: readonly AlertSchedule[], timeoutMs: number): readonly number[] {
  const counts = new Array<number>(dayMinutes).fill(0)
  for (const [schedule, ...same] of Map.groupBy(schedules, keyOf).values())
    for (const minute of schedule === undefined ? [] : minutesKept(schedule, timeoutMs))
      counts[minute] = (counts[minute] ?? 0) + 1 + same.length
  return counts
}

/** An alert that the service has, and when its evaluations began. */
interface RunningAlert {
  readonly schedule: AlertSchedule
  readonly sinceMs: number
}

/** Empty without the time when it was made. That of its last change is no help: every evaluation sets it. */
export function runningAlert(alert: Body): readonly RunningAlert[] {
  const schedule = scheduleOf(alert)
  const createdMs = Date.parse(String(alert.createdAt))
  if (schedule === undefined || Number.isNaN(createdMs)) return []
  return [{ schedule, sinceMs: Math.max(createdMs, startMsOf(alert) ?? 0) }]
}
