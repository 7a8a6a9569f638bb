import { intervalMsOf, startMsOf } from '../../kinds/alert/schedule.ts'
import type { Body } from '../../kinds/kind.ts'
import { minuteMs } from '../../platform/core/durations.ts'
import { type Interval, union } from './intervals.ts'

/** Schedule of an alert, which is evaluated once in every interval. */
export interface AlertSchedule {
  readonly intervalMs: number
  readonly offsetMs: number
  /** Silenced alerts are not evaluated before. */
  readonly startMs: number | undefined
}

/**
 * The schedule of an alert as the API has it, or a file declares it. Undefined for a disabled one, and for an interval that this version
 * does not know. A silence by a start in the future ends the evaluation until then. A silence of the web app only suppresses notifications.
 */
export function scheduleOf(alert: Body): AlertSchedule | undefined {
  const intervalMs = intervalMsOf(alert.interval)
  if (intervalMs === undefined || alert.state === 'DISABLED') return undefined
  const { scheduleOffsetMinutes: offset } = alert
  return { intervalMs, offsetMs: typeof offset === 'number' ? offset * minuteMs : 0, startMs: startMsOf(alert) }
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
  return [{ schedule, sinceMs: Math.max(changedMs, schedule.startMs ?? 0) }]
}

/**
 * The time in which the evaluations of alerts keep a service awake: each one until the idle timeout has passed. Starts are not considered.
 */
export function awakeBy(schedules: readonly AlertSchedule[], { fromMs, toMs }: Interval, timeoutMs: number): readonly Interval[] {
  return union(
    schedules.flatMap(({ intervalMs, offsetMs }): readonly Interval[] => {
      if (intervalMs <= timeoutMs) return [{ fromMs, toMs }]
      const first = Math.floor((fromMs - timeoutMs - offsetMs) / intervalMs)
      const last = Math.floor((toMs - offsetMs) / intervalMs)
      return Array.from({ length: last - first + 1 }, (_, i) => {
        const atMs = (first + i) * intervalMs + offsetMs
        return { fromMs: Math.max(fromMs, atMs), toMs: Math.min(toMs, atMs + timeoutMs) }
      })
    }),
  )
}
