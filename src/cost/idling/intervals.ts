/** A part of time in milliseconds since the epoch. The end is not included. */
export interface Interval {
  readonly fromMs: number
  readonly toMs: number
}

/** The time that any of the intervals covers: sorted, and without overlaps. */
export function union(intervals: readonly Interval[]): readonly Interval[] {
  const joined: Interval[] = []
  for (const one of intervals.filter(({ fromMs, toMs }) => fromMs < toMs).toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1)
    if (last !== undefined && one.fromMs <= last.toMs)
      joined[joined.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, one.toMs) }
    else joined.push(one)
  }
  return joined
}

/** The time that both lists cover. Each list is sorted and without overlaps. */
export function intersect(a: readonly Interval[], b: readonly Interval[]): readonly Interval[] {
  const shared: Interval[] = []
  let [i, j] = [0, 0]
  for (let [left, right] = [a[i], b[j]]; left !== undefined && right !== undefined; [left, right] = [a[i], b[j]]) {
    const [fromMs, toMs] = [Math.max(left.fromMs, right.fromMs), Math.min(left.toMs, right.toMs)]
    if (fromMs < toMs) shared.push({ fromMs, toMs })
    if (left.toMs < right.toMs) i++
    else j++
  }
  return shared
}

/** Length of a list without overlaps. */
export const lengthMs = (intervals: readonly Interval[]): number => intervals.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
