// What an alert shows of its evaluations. Recorded on HyperDX 2.36: `executionErrors` is absent before the first evaluation, and then has the
// errors of the last one. An update of the alert keeps them until the next evaluation. The state stays as it was before the failure. Every
// evaluation, a failed one too, sets `updatedAt`.

import * as z from 'zod'
import { formatMoment } from '../../platform/core/dates.ts'
import { minuteMs } from '../../platform/core/durations.ts'
import { plural, quote } from '../../platform/core/text.ts'
import { choice } from '../../platform/operation/inputs.ts'
import type { Body } from '../kind.ts'
import { borderAfter, intervalMsOf, startMsOf } from './schedule.ts'

/** What plan, drift and doctor do about managed alerts whose last evaluation failed, or is overdue, which is never more than a warning. */
export const onFailedEvaluation = choice(
  ['fail', 'warn', 'ignore'],
  'Sets the effect of a managed alert whose last query failed. The server then sends no notification, and does not change the state of the alert. An overdue evaluation is a warning, and `ignore` ignores it, too.',
)

export type OnFailedEvaluation = z.output<typeof onFailedEvaluation>

const optionalText = z.string().nullish()

/** Why an evaluation failed: `type` is QUERY_ERROR, QUERY_TIMEOUT, WEBHOOK_ERROR, INVALID_ALERT or UNKNOWN. */
export const executionErrorSchema = z.looseObject({ timestamp: optionalText, type: optionalText, message: optionalText })

type ExecutionError = z.output<typeof executionErrorSchema>

const errorList = z.array(executionErrorSchema)

/** The errors of the last evaluation; undefined before the first one, and where they have an unexpected form. */
const executionErrorsOf = ({ executionErrors }: Body): readonly ExecutionError[] | undefined => errorList.safeParse(executionErrors).data

/** Whether the alert shows that it has been evaluated. Servers that do not know `executionErrors` show it of no alert. */
export const isEvaluated = (alert: Body): boolean => executionErrorsOf(alert) !== undefined

/** Time of the last failed evaluation, as the server states it. */
export const failedAt = (alert: Body): string | undefined => executionErrorsOf(alert)?.at(-1)?.timestamp ?? undefined

/** The messages contain whole queries. */
const maxMessage = 300

/** `QUERY_ERROR at 22 Nov 2026 19:56 UTC: Unknown identifier …`; undefined where the last evaluation did not fail, or there was none. */
export function explainFailedEvaluation(alert: Body): string | undefined {
  const errors = executionErrorsOf(alert) ?? []
  const last = errors.at(-1)
  if (last === undefined) return undefined
  const atMs = Date.parse(last.timestamp ?? '')
  const at = Number.isNaN(atMs) ? '' : ` at ${formatMoment(atMs)}`
  const message = last.message ? `: ${quote(last.message, maxMessage)}` : ''
  // Recorded: the server takes a word such as @anna for a receiver that it does not know.
  const sent = /\ba mention that is not a webhook\b/.test(last.message ?? '') ? ' The server sent the notification without the mention' : ''
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return `${quote(last.type ?? 'an error', 40)}${at}${message}${more}${sent}`
}

/** Time beyond two intervals: evaluations of a busy server are late, and clocks differ. */
const patienceMs = 10 * minuteMs

interface LastEvaluation {
  /** When the server evaluated the alert, or somebody wrote it since. */
  readonly atMs: number
  readonly isOverdue: boolean
}

/** Undefined for an alert that is disabled or silenced, and where the server shows no time. */
function lastEvaluation(alert: Body, nowMs: number): LastEvaluation | undefined {
  const intervalMs = intervalMsOf(alert.interval)
  const shown = typeof alert.updatedAt === 'string' ? alert.updatedAt : (failedAt(alert) ?? '')
  const atMs = Math.max(Date.parse(shown), startMsOf(alert) ?? 0)
  if (intervalMs === undefined || alert.state === 'DISABLED' || (startMsOf(alert) ?? 0) > nowMs || Number.isNaN(atMs)) return undefined
  return { atMs, isOverdue: atMs + 2 * intervalMs + patienceMs < nowMs }
}

/** Undefined for an alert whose evaluation is not overdue. */
export function explainOverdue(alert: Body, nowMs: number): string | undefined {
  const last = lastEvaluation(alert, nowMs)
  if (!last?.isOverdue) return undefined
  return `the server has not evaluated it since ${formatMoment(last.atMs)}, with an interval of ${String(alert.interval)}`
}

/** Why no alert is evaluated: of all alerts of a server, those that it evaluated before are overdue. Undefined where one is not. */
export function explainStoppedTask(alerts: readonly Body[], nowMs: number): string | undefined {
  const last = alerts.map((alert) => ({ alert, ...lastEvaluation(alert, nowMs) }))
  const overdue = last.flatMap(({ atMs, isOverdue }) => (isOverdue && atMs !== undefined ? [atMs] : []))
  if (overdue.length === 0 || last.some(({ alert, isOverdue }) => isOverdue === false && isEvaluated(alert))) return undefined
  return `the server has evaluated no alert since ${formatMoment(Math.max(...overdue))} (${plural(overdue.length, 'alert')} overdue), so none sends a notification: its alert task does not run`
}

/** The server looks for due evaluations once a minute. */
const tickMs = minuteMs

/** The latest time of the next evaluation. A start in the future delays it. Undefined for an interval that this version does not know. */
export function nextEvaluationMs(alert: Body, nowMs: number): number | undefined {
  const intervalMs = intervalMsOf(alert.interval)
  if (intervalMs === undefined) return undefined
  const startMs = startMsOf(alert)
  return (startMs !== undefined && startMs > nowMs ? startMs + intervalMs : borderAfter(nowMs, intervalMs)) + tickMs
}
