import { borderBefore, intervalMsOf, startMsOf } from '../../kinds/alert/schedule.ts'
import type { Body } from '../../kinds/kind.ts'
import { dayMs, minuteMs } from '../../platform/core/durations.ts'

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

/** Equal for equal schedules. */
export const keyOf = ({ intervalMs, offsetMs }: AlertSchedule): string => `${intervalMs} ${offsetMs}`

export const dayMinutes = dayMs / minuteMs

/** The minutes of a day in which an alert keeps a service awake: after each evaluation until the idle timeout, or until the next evaluation. */
export function minutesKept({ intervalMs, offsetMs }: AlertSchedule, timeoutMs: number): readonly number[] {
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

/** An alert that the service has, and since when it has been evaluated as it is now. */
export interface RunningAlert {
  readonly schedule: AlertSchedule
  readonly sinceMs: number
}

/** Empty without the time of the last change: then it is not known since when the alert has had its schedule. */
export function runningAlert(alert: Body): readonly RunningAlert[] {
  const schedule = scheduleOf(alert)
  const changedMs = Math.max(
    ...[alert.createdAt, alert.updatedAt].map((text) => (typeof text === 'string' ? Date.parse(text) : Number.NaN)),
  )
  if (schedule === undefined || Number.isNaN(changedMs)) return []
  return [{ schedule, sinceMs: Math.max(changedMs, startMsOf(alert) ?? 0) }]
}
