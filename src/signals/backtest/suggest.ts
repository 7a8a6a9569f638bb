import { intervalMs } from '../../kinds/alert/schedule.ts'
import { type AlertCondition, evaluate, summarize, type TimeRange, type WindowValues } from './evaluate.ts'

/** A condition and its notifications on the busiest day, or the reason why no condition does what is wanted. */
export type Suggestion =
  | { readonly threshold: number; readonly windows: number; readonly notificationsOnBusiestDay: number }
  | { readonly reason: string }

export interface SuggestOptions {
  readonly maxNotifications: number
  readonly detectsAll: (condition: AlertCondition) => boolean
  /** Whether it keeps the limits on notifications outside of incidents. With a less sensitive condition it still does. */
  readonly isQuietOutside: (condition: AlertCondition) => boolean
}

const maxWindows = 6

const shortcomings = {
  tooMany: `no threshold between the values with up to ${maxWindows} windows in a row has so few notifications`,
  tooManyOutside: `no threshold with up to ${maxWindows} windows in a row keeps maxNotifications of all incidents`,
  missesOne: `no threshold with up to ${maxWindows} windows in a row detects all incidents with so few notifications`,
} as const

/** Thresholds that no value lies between have the same effect: which end of the gap they may have depends on the comparison. */
const directions: Readonly<
  Partial<Record<AlertCondition['thresholdType'], { readonly isAscending: boolean; readonly includesHigh: boolean }>>
> = {
  above: { isAscending: true, includesHigh: true },
  above_exclusive: { isAscending: true, includesHigh: false },
  below: { isAscending: false, includesHigh: true },
  below_or_equal: { isAscending: false, includesHigh: false },
}

/** The fewest windows in a row with which the most sensitive threshold within the limits on notifications detects everything. */
export function suggestCondition(condition: AlertCondition, values: WindowValues, range: TimeRange, options: SuggestOptions): Suggestion {
  const direction = directions[condition.thresholdType]
  if (direction === undefined) return { reason: `${condition.thresholdType} has no direction` }
  const compared = evaluate(condition, values, range).flatMap((window) => window.values)
  const lengthMs = intervalMs[condition.interval]
  // From the most to the least sensitive threshold.
  const sorted = [...new Set(compared)].sort((a, b) => (direction.isAscending ? a - b : b - a))
  if (sorted.length < 2) return { reason: 'all values are equal' }
  let best: keyof typeof shortcomings = 'tooMany'
  for (let windows = 1; windows <= maxWindows; windows++) {
    const evaluateWith = (index: number) => {
      const threshold = between(sorted[index - 1] ?? 0, sorted[index] ?? 0, direction)
      const tried = { ...condition, threshold, consecutive: windows }
      const { notificationsOnBusiestDay } = summarize(evaluate(tried, values, range), lengthMs)
      return { tried, notificationsOnBusiestDay }
    }
    const isRareEnough = ({ tried, notificationsOnBusiestDay }: ReturnType<typeof evaluateWith>): boolean =>
      notificationsOnBusiestDay <= options.maxNotifications && options.isQuietOutside(tried)
    const found = evaluateWith(firstIndex(sorted.length, (index) => isRareEnough(evaluateWith(index))))
    if (!isRareEnough(found)) {
      if (best === 'tooMany' && found.notificationsOnBusiestDay <= options.maxNotifications) best = 'tooManyOutside'
      continue
    }
    best = 'missesOne'
    const { tried, notificationsOnBusiestDay } = found
    if (options.detectsAll(tried)) return { threshold: tried.threshold, windows, notificationsOnBusiestDay }
  }
  return { reason: shortcomings[best] }
}

/** The first index from 1 on that fits; the last one where none does. More is needed with each index, so half of them are left out each time. */
function firstIndex(length: number, fits: (index: number) => boolean): number {
  let [low, high] = [1, length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** The number with the fewest digits between two values. */
function between(a: number, b: number, { includesHigh }: { readonly includesHigh: boolean }): number {
  const [low, high] = [Math.min(a, b), Math.max(a, b)]
  for (let digits = 1; digits <= 15; digits++) {
    const rounded = Number(((low + high) / 2).toPrecision(digits))
    if (includesHigh ? rounded > low && rounded <= high : rounded >= low && rounded < high) return rounded
  }
  return includesHigh ? high : low
}
