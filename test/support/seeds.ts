const share = Number(process.env.SEED_SHARE ?? '1')

/** How many of `count` random cases run: `SEED_SHARE` of them. */
export const runs = (count: number): number => Math.max(1, Math.ceil(count * share))

/** `1` to the number of cases that run of `count`. */
export const seeds = (count: number): readonly number[] => Array.from({ length: runs(count) }, (_, i) => i + 1)

/** The numbers from `1` to `count` that are tried, evenly spread, with the first and the last. */
export const spread = (count: number): readonly number[] => {
  const tried = Math.min(count, Math.max(2, runs(count)))
  return Array.from({ length: tried }, (_, i) => 1 + Math.round((i * (count - 1)) / Math.max(1, tried - 1)))
}

/** `SEED_SHARE` of the items, others in each run. */
export function sample<T>(items: readonly T[], atLeast = 1): readonly T[] {
  const left = [...items]
  return Array.from({ length: Math.min(items.length, Math.max(atLeast, runs(items.length))) }, () =>
    left.splice(Math.floor(Math.random() * left.length), 1),
  ).flat()
}
