// What an alert shows of its evaluations. Recorded on HyperDX 2.36: `executionErrors` is absent before the first evaluation, and then has the
// errors of the last one. An update of the alert keeps them until the next evaluation. The state stays as it was before the failure.

import * as z from 'zod'
import { minuteMs } from '../../core/durations.ts'
import { quote } from '../../core/text.ts'
import { choice } from '../../operation/inputs.ts'
import { formatMoment } from '../../report/format.ts'
import type { Body } from '../resource-type.ts'
import { borderAfter, intervalMsOf, startMsOf } from './schedule.ts'

/** What plan, drift and doctor do about managed alerts whose last evaluation failed. */
export const onFailedEvaluation = choice(
  ['fail', 'warn', 'ignore'],
  'What happens if the last evaluation of a managed alert failed. The server then sends no notification, and does not change the state of the alert.',
).default('warn')

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
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return `${quote(last.type ?? 'an error', 40)}${at}${message}${more}`
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
