// When the server evaluates an alert. Its windows begin at multiples of the interval since the epoch, unless an offset or a start between
// two of them shifts them. An alert with a start in the future is not evaluated. Recorded on HyperDX 2.36.

import * as z from 'zod'
import { formatMoment } from '../../platform/core/dates.ts'
import { dayMs, minuteMs } from '../../platform/core/durations.ts'
import { plural, quote } from '../../platform/core/text.ts'
import { choice } from '../../platform/operation/inputs.ts'
import type { Body } from '../kind.ts'

export const alertIntervals = ['30s', '1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'] as const

export type AlertInterval = (typeof alertIntervals)[number]

export const intervalMs: Readonly<Record<AlertInterval, number>> = {
  '30s': minuteMs / 2,
  '1m': minuteMs,
  '5m': 5 * minuteMs,
  '15m': 15 * minuteMs,
  '30m': 30 * minuteMs,
  '1h': 60 * minuteMs,
  '6h': 360 * minuteMs,
  '12h': 720 * minuteMs,
  '1d': 1440 * minuteMs,
}

/** Undefined for an interval that this version does not know. */
export function intervalMsOf(interval: unknown): number | undefined {
  const known = alertIntervals.find((one) => one === interval)
  return known === undefined ? undefined : intervalMs[known]
}

/** The latest border of two intervals, at or before the time. */
export const borderBefore = (timeMs: number, intervalMs: number): number => Math.floor(timeMs / intervalMs) * intervalMs

export const borderAfter = (timeMs: number, intervalMs: number): number => Math.ceil(timeMs / intervalMs) * intervalMs

/** The server rejects a start later than this from now. */
export const maxAheadMs = 365 * dayMs

/** Undefined without a start, and for one that is not a time. */
export function startMsOf({ scheduleStartAt }: Body): number | undefined {
  const ms = typeof scheduleStartAt === 'string' ? Date.parse(scheduleStartAt) : Number.NaN
  // A later time is not one that the server accepts, and times after it could not be formatted.
  return ms <= Date.UTC(9999, 0, 1) ? ms : undefined
}

/** Whether the alert has a start, and its windows begin at the same times as without it. */
export function isAtBorder(alert: Body): boolean {
  const [startMs, intervalMs] = [startMsOf(alert), intervalMsOf(alert.interval)]
  return startMs !== undefined && intervalMs !== undefined && startMs % intervalMs === 0
}

export const toStart = (ms: number): string => new Date(ms).toISOString()

/** The end of the silence of an alert that the files leave to the service; undefined where it is evaluated, or where a file declares its start. */
export function undeclaredSilenceOf(stored: Body, desired: Body, nowMs: number): number | undefined {
  const startMs = startMsOf(stored)
  return startMs !== undefined && startMs > nowMs && desired.scheduleStartAt == null ? startMs : undefined
}

/** The desired body of an alert that is created again, silenced as long as the stored one. */
export function withSilenceOf(stored: Body, desired: Body, nowMs: number): Body {
  const [endMs, intervalMs] = [undeclaredSilenceOf(stored, desired, nowMs), intervalMsOf(desired.interval)]
  return endMs === undefined || intervalMs === undefined
    ? desired
    : { ...desired, scheduleStartAt: toStart(borderAfter(endMs, intervalMs)) }
}

/**
 * The desired body with the start that an update has to send, where no file declares one and the stored start is not harmless. Without a
 * start in the body, the server keeps the stored one. Null would make it evaluate the silenced windows afterwards, and notify about them.
 */
export function carryOverStart(desired: Body, stored: Body, nowMs: number): Body {
  const startMs = startMsOf(stored)
  const intervalMs = intervalMsOf(desired.interval)
  if (Object.hasOwn(desired, 'scheduleStartAt') || startMs === undefined || intervalMs === undefined) return desired
  const isAligned = startMs % intervalMs === 0
  if (startMs > nowMs) {
    // A silence whose end would shift the windows of the new interval.
    const isShifted = !isAligned && isAtBorder(stored)
    return isShifted ? { ...desired, scheduleStartAt: toStart(borderAfter(startMs, intervalMs)) } : desired
  }
  // A start disables the offset. It is cleared once the first window after it has been evaluated.
  if (hasOffset(desired)) return startMs + 2 * intervalMs <= nowMs ? { ...desired, scheduleStartAt: null } : desired
  return isAligned ? desired : { ...desired, scheduleStartAt: toStart(borderBefore(startMs, intervalMs)) }
}

/**
 * The stored body without a start that is not a difference: one that `carryOverStart` leaves to the service, or, where a file declares a start,
 * another one that also has no effect any more.
 */
export function withoutHarmlessStart(stored: Body, declared: Body, nowMs: number): Body {
  if (startMsOf(stored) === undefined) return stored
  if (!Object.hasOwn(carryOverStart(declared, stored, nowMs), 'scheduleStartAt')) return omitStart(stored)
  const isHarmless = ({ scheduleStartAt }: Body) => {
    const body = { interval: declared.interval, scheduleStartAt }
    return isAtBorder(body) && (startMsOf(body) ?? 0) <= nowMs
  }
  return isHarmless(stored) && isHarmless(declared) ? { ...stored, scheduleStartAt: declared.scheduleStartAt } : stored
}

/** The stored body without a start that would be no difference once the rest of the body is in the file. */
export const withoutUnpulledStart = (stored: Body, { scheduleStartAt }: Body, nowMs: number): Body =>
  withoutHarmlessStart(stored, { ...omitStart(stored), ...(scheduleStartAt != null && { scheduleStartAt }) }, nowMs)

export const omitStart = ({ scheduleStartAt: _, ...others }: Body): Body => others

export const hasOffset = ({ scheduleOffsetMinutes }: Body): boolean =>
  typeof scheduleOffsetMinutes === 'number' && scheduleOffsetMinutes > 0

// What an alert shows of its evaluations. Recorded on HyperDX 2.36: `executionErrors` is absent before the first evaluation, and then has the
// errors of the last one. An update of the alert keeps them until the next evaluation. The state stays as it was before the failure. Every
// evaluation, a failed one too, sets `updatedAt`.

/** What plan, drift and doctor do about managed alerts whose last evaluation failed, or is overdue, which is never more than a warning. */
export const onFailedEvaluation = choice(
  ['fail', 'warn', 'ignore'],
  'Sets the effect of a managed alert whose last query failed. The server then sends no notification, and does not change the state of the alert. An overdue evaluation is a warning, and `ignore` ignores it, too.',
)

export type OnFailedEvaluation = z.output<typeof onFailedEvaluation>

const optionalText = z.string().nullish()

/** Why evaluations failed: `type` is QUERY_ERROR, QUERY_TIMEOUT, WEBHOOK_ERROR, INVALID_ALERT or UNKNOWN. */
export const executionErrorList = z.array(z.looseObject({ timestamp: optionalText, type: optionalText, message: optionalText }))

const executionErrorsOf = ({ executionErrors }: Body) => executionErrorList.safeParse(executionErrors).data

/** Whether the alert shows that it has been evaluated. Servers that do not know `executionErrors` show it of no alert. */
export const isEvaluated = (alert: Body): boolean => executionErrorsOf(alert) !== undefined

export const failedAt = (alert: Body): string | undefined => executionErrorsOf(alert)?.at(-1)?.timestamp ?? undefined

/** `QUERY_ERROR at 22 Nov 2026 19:56 UTC: Unknown identifier …`; undefined where the last evaluation did not fail, or there was none. */
export function explainFailedEvaluation(alert: Body): string | undefined {
  const errors = executionErrorsOf(alert) ?? []
  const last = errors.at(-1)
  if (last === undefined) return undefined
  const atMs = Date.parse(last.timestamp ?? '')
  const at = Number.isNaN(atMs) ? '' : ` at ${formatMoment(atMs)}`
  const message = last.message ? `: ${quote(last.message, 300)}` : ''
  // Recorded: the server takes a word such as @anna for a receiver that it does not know.
  const sent = /\ba mention that is not a webhook\b/.test(last.message ?? '') ? ' The server sent the notification without the mention' : ''
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return `${quote(last.type ?? 'an error')}${at}${message}${more}${sent}`
}

/** When the server evaluated the alert, or somebody wrote it since; undefined for one that is disabled or silenced, and without a time. */
function lastEvaluation(alert: Body, nowMs: number) {
  const intervalMs = intervalMsOf(alert.interval)
  const shown = typeof alert.updatedAt === 'string' ? alert.updatedAt : (failedAt(alert) ?? '')
  const atMs = Math.max(Date.parse(shown), startMsOf(alert) ?? 0)
  if (intervalMs === undefined || alert.state === 'DISABLED' || (startMsOf(alert) ?? 0) > nowMs || Number.isNaN(atMs)) return undefined
  // Time beyond two intervals: evaluations of a busy server are late, and clocks differ.
  return { atMs, isOverdue: atMs + 2 * intervalMs + 10 * minuteMs < nowMs }
}

export function explainOverdue(alert: Body, nowMs: number): string | undefined {
  const last = lastEvaluation(alert, nowMs)
  if (!last?.isOverdue) return undefined
  return `the server has not evaluated it since ${formatMoment(last.atMs)}, with an interval of ${String(alert.interval)}`
}

/** Why no alert is evaluated: of all alerts of a server, one of them overdue, those evaluated before are. Undefined where one is not. */
export function explainStoppedTask(alerts: readonly Body[], nowMs: number): string | undefined {
  const last = alerts.map((alert) => ({ alert, ...lastEvaluation(alert, nowMs) }))
  const overdue = last.flatMap(({ atMs, isOverdue }) => (isOverdue && atMs !== undefined ? [atMs] : []))
  if (last.some(({ alert, isOverdue }) => isOverdue === false && isEvaluated(alert))) return undefined
  return `the server has evaluated no alert since ${formatMoment(Math.max(...overdue))} (${plural(overdue.length, 'alert')} overdue), so none sends a notification: its alert task does not run`
}

/** The latest time of the next evaluation. A start in the future delays it. Undefined for an interval that this version does not know. */
export function nextEvaluationMs(alert: Body, nowMs: number): number | undefined {
  const intervalMs = intervalMsOf(alert.interval)
  if (intervalMs === undefined) return undefined
  const startMs = startMsOf(alert)
  // The server looks for due evaluations once a minute.
  return (startMs !== undefined && startMs > nowMs ? startMs + intervalMs : borderAfter(nowMs, intervalMs)) + minuteMs
}
