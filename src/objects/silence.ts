// Silences an alert with a start in the future: the server skips it until then, so that the silence ends by itself. docs/command-line.md
// describes what the server does.

import { borderAfter, borderBefore, hasOffset, intervalMsOf, maxAheadMs, startMsOf } from '../kinds/alert/schedule.ts'
import type { Body } from '../kinds/kind.ts'
import { hourMs } from '../platform/core/durations.ts'

/** The longest interval of the alerts that a shorter silence includes. Of a longer one, it can swallow two evaluations of a day. */
const maxIntervalMs = hourMs

/** The server evaluates an alert for the first time one interval after the start. */
interface SilenceEnd {
  readonly startMs: number
  readonly firstEvaluationMs: number
}

interface Refusal {
  readonly decision: 'refused'
  readonly reason: string
}

type SilenceDecision =
  | (SilenceEnd & { readonly decision: 'silence' | 'already-silenced' })
  | { readonly decision: 'left-out'; readonly reason: string }
  | Refusal

/** A silence that ends later stays. */
export function decideSilence(alert: Body, { nowMs, durationMs }: Readonly<Record<'nowMs' | 'durationMs', number>>): SilenceDecision {
  const schedule = readSchedule(alert)
  if ('decision' in schedule) return schedule
  const { intervalMs, startMs = nowMs } = schedule
  if (intervalMs > Math.max(maxIntervalMs, durationMs))
    return { decision: 'left-out', reason: `its interval is ${String(alert.interval)}; to include it, silence it for at least that long` }
  // A start between two borders would shift all later windows.
  const endMs = Math.min(borderAfter(nowMs + durationMs, intervalMs), borderBefore(nowMs + maxAheadMs, intervalMs))
  return startMs >= endMs
    ? { decision: 'already-silenced', ...endAt(startMs, intervalMs) }
    : { decision: 'silence', ...endAt(endMs, intervalMs) }
}

type EndDecision = (SilenceEnd & { readonly decision: 'end' }) | { readonly decision: 'not-silenced' } | Refusal

/** The start is the latest border. Without a start, the server would evaluate the silenced windows and notify about them. */
export function decideEnd(alert: Body, nowMs: number): EndDecision {
  const startMs = startMsOf(alert)
  if (startMs === undefined || startMs <= nowMs) return { decision: 'not-silenced' }
  // An offset has no effect while there is a start.
  const schedule = readSchedule({ ...alert, scheduleOffsetMinutes: undefined })
  if ('decision' in schedule) return schedule
  const { intervalMs } = schedule
  return { decision: 'end', ...endAt(borderBefore(nowMs, intervalMs), intervalMs) }
}

const endAt = (startMs: number, intervalMs: number): SilenceEnd => ({ startMs, firstEvaluationMs: startMs + intervalMs })

interface Schedule {
  readonly intervalMs: number
  readonly startMs: number | undefined
}

/** Only for windows that begin at the borders of intervals. */
function readSchedule(alert: Body): Schedule | Refusal {
  const [intervalMs, startMs] = [intervalMsOf(alert.interval), startMsOf(alert)]
  if (intervalMs === undefined) return refuse('its interval is unknown to this version')
  if (hasOffset(alert)) return refuse('it has a schedule offset, which the server resets when a start is set')
  if (startMs !== undefined && startMs % intervalMs !== 0)
    return refuse('its schedule start is not at a border of its intervals, so another start would shift its windows')
  return { intervalMs, startMs }
}

const refuse = (reason: string): Refusal => ({ decision: 'refused', reason })
