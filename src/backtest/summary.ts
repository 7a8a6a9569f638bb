import { dayMs } from '../core/durations.ts'
import { intervalMs } from '../resources/alerts/schedule.ts'
import { type Condition, type EvaluatedWindow, evaluate, type TimeRange, type WindowValues } from './evaluate.ts'

/** What an alert would have done, in numbers. */
export interface Summary {
  readonly windows: number
  /** Windows in which a value violates the threshold. */
  readonly breachingWindows: number
  /** Times that the alert began to fire. */
  readonly episodes: number
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
  let [episodes, length, longest] = [0, 0, 0]
  for (const { startMs } of firing) {
    const goesOn = starts.has(startMs - lengthMs)
    if (!goesOn) episodes++
    length = goesOn ? length + 1 : 1
    longest = Math.max(longest, length)
  }
  // A notification is sent when its window has ended.
  const byDay = Map.groupBy(firing, ({ startMs }) => Math.floor((startMs + lengthMs) / dayMs))
  const countOf = (some: readonly EvaluatedWindow[]): number => some.reduce((sum, { notifications }) => sum + notifications, 0)
  return {
    windows: windows.length,
    breachingWindows: windows.filter(({ isBreaching }) => isBreaching).length,
    episodes,
    notifications: countOf(firing),
    notificationsOnBusiestDay: Math.max(0, ...byDay.values().map(countOf)),
    longestEpisodeMs: longest * lengthMs,
    shareOfTime: windows.length === 0 ? 0 : firing.length / windows.length,
  }
}

export const percentiles = [50, 75, 90, 95, 99] as const

export interface Suggestion {
  readonly percentile: (typeof percentiles)[number]
  readonly threshold: number
  readonly notifications: number
}

const descending: readonly Condition['thresholdType'][] = ['below', 'below_or_equal']
const ascending: readonly Condition['thresholdType'][] = ['above', 'above_exclusive']

/**
 * The notifications with percentiles of the window values as thresholds. For `below`, the percentiles are counted from above. Empty for
 * conditions that have no direction.
 */
export function suggestThresholds(condition: Condition, series: WindowValues, range: TimeRange): readonly Suggestion[] {
  const isDescending = descending.includes(condition.thresholdType)
  if (!isDescending && !ascending.includes(condition.thresholdType)) return []
  const values = evaluate(condition, series, range).flatMap((window) => window.values)
  const sorted = values.toSorted((a, b) => (isDescending ? b - a : a - b))
  if (sorted.length === 0) return []
  return percentiles.map((percentile) => {
    const threshold = sorted[Math.ceil((percentile / 100) * sorted.length) - 1] ?? 0
    const windows = evaluate({ ...condition, threshold }, series, range)
    return { percentile, threshold, notifications: summarize(windows, intervalMs[condition.interval]).notifications }
  })
}

/** One character for each part of the range: the height of its largest value, and `█` where a window breaches. */
export function drawWindows(windows: readonly EvaluatedWindow[], width = 28): string {
  const parts = Math.min(width, windows.length)
  if (parts === 0) return ''
  const cells = Array.from({ length: parts }, (_, i) =>
    windows.slice(Math.floor((i * windows.length) / parts), Math.floor(((i + 1) * windows.length) / parts)),
  )
  const peaks = cells.map((cell) => cell.reduce((peak, { values }) => values.reduce((most, value) => Math.max(most, value), peak), 0))
  const largest = Math.max(...peaks, Number.MIN_VALUE)
  return cells
    .map((cell, i) => (cell.some(({ isBreaching }) => isBreaching) ? '█' : (heights[Math.round(((peaks[i] ?? 0) / largest) * 5)] ?? '▁')))
    .join('')
}

const heights = '▁▂▃▄▅▆'
