import type { ThresholdType } from '../../kinds/alert/alert.ts'
import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import { dayMs } from '../../platform/core/durations.ts'

// How the server evaluates an alert, observed on HyperDX 2.36 by stepping its own alert task through seven days of data. Pure: buckets and
// a condition give windows, states and notifications. test/unit/backtest compares it with the recorded notifications.

/** What an alert compares its values with. */
export interface AlertCondition {
  readonly thresholdType: ThresholdType
  readonly threshold: number
  /** The upper end of `between` and `not_between`. */
  readonly thresholdMax: number | undefined
  readonly interval: AlertInterval
  /** How many windows in a row must breach. */
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

/** A time range that excludes its end. */
export interface TimeRange {
  readonly fromMs: number
  readonly untilMs: number
}

export interface EvaluatedWindow {
  readonly startMs: number
  /** The compared values, one for each group; 0 for a window without rows. */
  readonly values: readonly number[]
  /** Whether a group violates the threshold. */
  readonly isBreaching: boolean
  /** The groups that send a notification: those that violate the threshold in enough windows in a row. */
  readonly notifications: number
  /** The groups that report to be OK again. */
  readonly resolved: number
}

/** The starts of all windows that lie in the range as a whole. Windows are aligned to the epoch. */
export function windowStarts({ fromMs, untilMs }: TimeRange, lengthMs: number): readonly number[] {
  const first = Math.ceil(fromMs / lengthMs)
  const count = Math.max(0, Math.floor(untilMs / lengthMs) - first)
  return Array.from({ length: count }, (_, i) => (first + i) * lengthMs)
}

/** Whether a value violates the threshold. The server's `above` includes the threshold, and `below` does not. */
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

/** The last evaluation of a group. */
interface GroupState {
  readonly startMs: number
  readonly isBreaching: boolean
  /** How many windows in a row it violates the threshold. */
  readonly run: number
  readonly isFiring: boolean
  /** A notification was sent that no "OK again" has followed yet. */
  readonly hasNotified: boolean
}

/** The server forgets older evaluations of a group. */
const memoryMs = 7 * dayMs

/** The part of the range in which the alert is evaluated. */
export const evaluatedPart = ({ startMs = 0 }: AlertCondition, { fromMs, untilMs }: TimeRange): TimeRange => ({
  fromMs: Math.max(fromMs, startMs),
  untilMs,
})

/** Evaluates window after window, beginning without a history. */
export function evaluate(condition: AlertCondition, series: WindowValues, range: TimeRange): readonly EvaluatedWindow[] {
  const lengthMs = intervalMs[condition.interval]
  const states = new Map<string, GroupState>()
  return windowStarts(evaluatedPart(condition, range), lengthMs).map((startMs) => {
    for (const [group, state] of states) if (startMs - state.startMs > memoryMs) states.delete(group)
    const compared = compareRows(condition, series.get(startMs) ?? [], states)
    const window = { startMs, values: [...compared.values()].flatMap(({ value }) => value ?? []) }
    let [notifications, resolved] = [0, 0]
    for (const [group, { isBreaching }] of compared) {
      const before = states.get(group)
      const after = nextState({ startMs, lengthMs, isBreaching, consecutive: condition.consecutive }, before)
      if (after.isFiring) notifications++
      if (!isBreaching && before?.hasNotified) resolved++
      states.set(group, after)
    }
    return { ...window, isBreaching: [...compared.values()].some(({ isBreaching }) => isBreaching), notifications, resolved }
  })
}

interface Step {
  readonly startMs: number
  readonly lengthMs: number
  readonly isBreaching: boolean
  readonly consecutive: number
}

function nextState({ startMs, lengthMs, isBreaching, consecutive }: Step, before: GroupState | undefined): GroupState {
  if (!isBreaching) return { startMs, isBreaching, run: 0, isFiring: false, hasNotified: false }
  const run = (before?.startMs === startMs - lengthMs ? before.run : 0) + 1
  const isFiring = run >= consecutive
  return { startMs, isBreaching, run, isFiring, hasNotified: isFiring || before?.hasNotified === true }
}

interface Compared {
  /** Undefined for a group that is only reported to be OK again. */
  readonly value: number | undefined
  readonly isBreaching: boolean
}

type States = ReadonlyMap<string, GroupState>

/** What the server compares in one window, by group. */
function compareRows(condition: AlertCondition, rows: readonly GroupValue[], states: States): ReadonlyMap<string, Compared> {
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

/** The compared row of each group: a row that violates the threshold wins over the others. */
function worstOfEachGroup(condition: AlertCondition, rows: readonly GroupValue[]): Map<string, Compared> {
  const compared = new Map<string, Compared>()
  for (const { group, value } of rows) {
    if (value === null) continue
    const isBreaching = isBreach(condition, value)
    if (isBreaching || compared.get(group)?.isBreaching !== true) compared.set(group, { value, isBreaching })
  }
  return compared
}
