// Statistics that one outlier cannot move. They serve estimates: numbers that people rely on are decimals.

/** 0 for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[upper] ?? 0
  return ((sorted[upper - 1] ?? 0) + (sorted[upper] ?? 0)) / 2
}

/** 0 for an empty list. */
export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

/** The median distance from a center, scaled to the standard deviation of normally distributed values. */
export const spread = (values: readonly number[], center = median(values)): number =>
  1.4826 * median(values.map((value) => Math.abs(value - center)))
