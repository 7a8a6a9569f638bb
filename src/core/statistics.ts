// Owns statistics that one wild value cannot move. Of estimates alone: figures that people rely on are decimals.

/** The middle value, or the mean of the middle two; 0 of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[upper] ?? 0
  return ((sorted[upper - 1] ?? 0) + (sorted[upper] ?? 0)) / 2
}

/** 0 of nothing. */
export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

/** Median distance from a centre, scaled to be a standard deviation where the values are normal. */
export const spread = (values: readonly number[], centre = median(values)): number =>
  1.4826 * median(values.map((value) => Math.abs(value - centre)))

/** Theil and Sen's slope per step: the median of the slopes between all pairs. Fewer than two values have none. */
export function slope(values: readonly number[]): number {
  return median(values.flatMap((late, i) => values.slice(0, i).map((early, j) => (late - early) / (i - j))))
}
