import type { ThresholdType } from '../../kinds/alert/alert.ts'
import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import { dayMs } from '../../platform/core/durations.ts'

// How the server evaluates an alert, observed on HyperDX 2.36 by stepping its own alert task through seven days of data.

export interface AlertCondition {
  readonly thresholdType: ThresholdType
  readonly threshold: number
  readonly thresholdMax: number | undefined
  readonly interval: AlertInterval
  readonly consecutive: number
  readonly isGrouped: boolean
  /** Windows that begin before it are not evaluated. */
  readonly startMs?: number | undefined
}

/** A row of a window. The server skips a row whose value is null (NULL or NaN). */
export interface GroupValue {
  /** Empty without groups. */
  readonly group: string
  readonly value: number | null
}

/** The rows of each window, by its start. A window without rows is absent. */
export type WindowValues = ReadonlyMap<number, readonly GroupValue[]>

export interface TimeRange {
  readonly fromMs: number
  readonly untilMs: number
}

export interface EvaluatedWindow {
  readonly startMs: number
  /** The compared values, one for each group; 0 for a window without rows. */
  readonly values: readonly number[]
  readonly isBreaching: boolean
  /** Groups that violate the threshold in enough windows in a row. */
  readonly notifications: number
  /** The groups that report to be OK again. */
  readonly resolved: number
}

/** Windows that lie in the range as a whole, aligned to the epoch. */
export function windowStarts({ fromMs, untilMs }: TimeRange, lengthMs: number): readonly number[] {
  const first = Math.ceil(fromMs / lengthMs)
  const count = Math.max(0, Math.floor(untilMs / lengthMs) - first)
  return Array.from({ length: count }, (_, i) => (first + i) * lengthMs)
}

/** The server's `above` includes the threshold, and `below` does not. */
export function isBreach({ thresholdType, threshold, thresholdMax = threshold }: AlertCondition, value: number): boolean {
  switch (thresholdType) {
    case 'above':
      return value >= threshold
    case 'above_exclusive':
      return value > threshold
    case 'below':
      return value < threshold
    case 'below_or_equal':
      return value <= threshold
    case 'equal':
      return value === threshold
    case 'not_equal':
      return value !== threshold
    case 'between':
      return value >= threshold && value <= thresholdMax
    case 'not_between':
      return value < threshold || value > thresholdMax
  }
}

interface GroupState {
  readonly startMs: number
  readonly isBreaching: boolean
  readonly run: number
  readonly isFiring: boolean
  /** No "OK again" has followed a notification. */
  readonly hasNotified: boolean
}

export const evaluatedPart = ({ startMs = 0 }: AlertCondition, { fromMs, untilMs }: TimeRange): TimeRange => ({
  fromMs: Math.max(fromMs, startMs),
  untilMs,
})

/** Begins without a history. */
export function evaluate(condition: AlertCondition, series: WindowValues, range: TimeRange): readonly EvaluatedWindow[] {
  const states = new Map<string, GroupState>()
  return windowStarts(evaluatedPart(condition, range), intervalMs[condition.interval]).map((startMs) => {
    // The server forgets older evaluations of a group.
    for (const [group, state] of states) if (startMs - state.startMs > 7 * dayMs) states.delete(group)
    const compared = compareRows(condition, series.get(startMs) ?? [], states)
    const window = { startMs, values: [...compared.values()].flatMap(({ value }) => value ?? []) }
    let [notifications, resolved] = [0, 0]
    for (const [group, { isBreaching }] of compared) {
      const before = states.get(group)
      const after = nextState(condition, startMs, isBreaching, before)
      if (after.isFiring) notifications++
      if (!isBreaching && before?.hasNotified) resolved++
      states.set(group, after)
    }
    return { ...window, isBreaching: [...compared.values()].some(({ isBreaching }) => isBreaching), notifications, resolved }
  })
}

function nextState(
  { interval, consecutive }: AlertCondition,
  startMs: number,
  isBreaching: boolean,
  before: GroupState | undefined,
): GroupState {
  if (!isBreaching) return { startMs, isBreaching, run: 0, isFiring: false, hasNotified: false }
  const run = (before?.startMs === startMs - intervalMs[interval] ? before.run : 0) + 1
  const isFiring = run >= consecutive
  return { startMs, isBreaching, run, isFiring, hasNotified: isFiring || before?.hasNotified === true }
}

interface Compared {
  /** Undefined for a group that is only reported to be OK again. */
  readonly value: number | undefined
  readonly isBreaching: boolean
}

function compareRows(condition: AlertCondition, rows: readonly GroupValue[], states: ReadonlyMap<string, GroupState>) {
  const compared = worstOfEachGroup(condition, rows)
  const isZeroBreach = isBreach(condition, 0)
  const breachingBefore = [...states].filter(([, { isBreaching }]) => isBreaching).map(([group]) => group)
  // A window without rows counts as 0, as one group without a name.
  const isSilent = rows.length === 0 && (isZeroBreach || !condition.isGrouped || breachingBefore.length === 0)
  if (isSilent) compared.set('', { value: 0, isBreaching: isZeroBreach })
  // A group that is missing is OK again, unless 0 violates the threshold.
  const missing = condition.isGrouped && !isZeroBreach ? breachingBefore.filter((group) => !compared.has(group)) : []
  for (const group of missing) compared.set(group, { value: undefined, isBreaching: false })
  if (compared.size === 0) compared.set('', { value: undefined, isBreaching: false })
  return compared
}

/** A row that violates the threshold wins over the others of its group. */
function worstOfEachGroup(condition: AlertCondition, rows: readonly GroupValue[]): Map<string, Compared> {
  const compared = new Map<string, Compared>()
  for (const { group, value } of rows) {
    if (value === null) continue
    const isBreaching = isBreach(condition, value)
    if (isBreaching || compared.get(group)?.isBreaching !== true) compared.set(group, { value, isBreaching })
  }
  return compared
}

export interface Summary {
  readonly windows: number
  readonly breachingWindows: number
  /** Times that the alert began to fire. */
  readonly episodes: number
  /** The first notification of each episode, in milliseconds since the epoch. */
  readonly notifiedAtMs: readonly number[]
  readonly notifications: number
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
  const cells = Array.from({ length: parts }, (_, i) =>
    windows.slice(Math.floor((i * windows.length) / parts), Math.floor(((i + 1) * windows.length) / parts)),
  )
  const peaks = cells.map((cell) => cell.reduce((peak, { values }) => values.reduce((max, value) => Math.max(max, value), peak), 0))
  const largest = Math.max(...peaks, Number.MIN_VALUE)
  return cells
    .map((cell, i) => (cell.some(({ isBreaching }) => isBreaching) ? '█' : ('▁▂▃▄▅▆'[Math.round(((peaks[i] ?? 0) / largest) * 5)] ?? '▁')))
    .join('')
}
