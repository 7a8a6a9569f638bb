import { dayMs } from '../../platform/core/durations.ts'
import type { EvaluatedWindow } from './evaluate.ts'

/** What an alert would have done, in numbers. */
export interface Summary {
  readonly windows: number
  /** Windows in which a value violates the threshold. */
  readonly breachingWindows: number
  /** Times that the alert began to fire. */
  readonly episodes: number
  /** The first notification of each episode, in milliseconds since the epoch. */
  readonly notifiedAtMs: readonly number[]
  readonly notifications: number
  /** The most notifications on one UTC day. */
  readonly notificationsOnBusiestDay: number
  readonly longestEpisodeMs: number
  /** The part of the windows in which it fires, from 0 to 1. */
  readonly shareOfTime: number
}

export function summarize(windows: readonly EvaluatedWindow[], lengthMs: number): Summary {
  const firing = windows.filter(({ notifications }) => notifications > 0)
  const starts = new Set(firing.map(({ startMs }) => startMs))
  const notifiedAtMs: number[] = []
  let [length, longest] = [0, 0]
  for (const { startMs } of firing) {
    const goesOn = starts.has(startMs - lengthMs)
    // A notification is sent when its window has ended.
    if (!goesOn) notifiedAtMs.push(startMs + lengthMs)
    length = goesOn ? length + 1 : 1
    longest = Math.max(longest, length)
  }
  const byDay = Map.groupBy(firing, ({ startMs }) => Math.floor((startMs + lengthMs) / dayMs))
  const countOf = (some: readonly EvaluatedWindow[]): number => some.reduce((sum, { notifications }) => sum + notifications, 0)
  return {
    windows: windows.length,
    breachingWindows: windows.filter(({ isBreaching }) => isBreaching).length,
    episodes: notifiedAtMs.length,
    notifiedAtMs,
    notifications: countOf(firing),
    notificationsOnBusiestDay: Math.max(0, ...byDay.values().map(countOf)),
    longestEpisodeMs: longest * lengthMs,
    shareOfTime: windows.length === 0 ? 0 : firing.length / windows.length,
  }
}

/** One character for each part of the range: the height of its largest value, and `█` where a window breaches. */
export function drawWindows(windows: readonly EvaluatedWindow[], width = 28): string {
  const parts = Math.min(width, windows.length)
  if (parts === 0) return ''
  const cells = Array.from({ length: parts }, (_, i) =>
    windows.slice(Math.floor((i * windows.length) / parts), Math.floor(((i + 1) * windows.length) / parts)),
  )
  const peaks = cells.map((cell) => cell.reduce((peak, { values }) => values.reduce((max, value) => Math.max(max, value), peak), 0))
  const largest = Math.max(...peaks, Number.MIN_VALUE)
  return cells
    .map((cell, i) => (cell.some(({ isBreaching }) => isBreaching) ? '█' : (heights[Math.round(((peaks[i] ?? 0) / largest) * 5)] ?? '▁')))
    .join('')
}

const heights = '▁▂▃▄▅▆'
