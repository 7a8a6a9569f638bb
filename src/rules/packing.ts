// Owns packing things into a bounded number of legs: groups are never mixed, legs are as small and as even as the bound allows.

export interface Bounds {
  readonly mostLegs: number
  readonly mostInLeg: number
}

/** For each group its legs, in order; or how many legs it would take at least. */
export type Packed<T> = { readonly groups: readonly (readonly (readonly T[])[])[] } | { readonly needed: number }

/** One thing a leg while there are legs enough, then the smallest size that fits. Deterministic, and keeps the order. */
export function pack<T>(groups: readonly (readonly T[])[], { mostLegs, mostInLeg }: Bounds): Packed<T> {
  const legsAt = (size: number): number => groups.reduce((sum, { length }) => sum + Math.ceil(length / size), 0)
  const size = Array.from({ length: mostInLeg }, (_, i) => i + 1).find((one) => legsAt(one) <= mostLegs)
  if (size === undefined) return { needed: legsAt(mostInLeg) }
  return { groups: groups.map((group) => splitEvenly(group, Math.ceil(group.length / size))) }
}

/** Parts whose sizes differ by one at most, the larger ones first. */
function splitEvenly<T>(items: readonly T[], parts: number): readonly (readonly T[])[] {
  const [least, larger] = [Math.floor(items.length / parts), items.length % parts]
  return Array.from({ length: parts }, (_, i) => {
    const start = i * least + Math.min(i, larger)
    return items.slice(start, start + least + (i < larger ? 1 : 0))
  })
}

/** The first of each list, then the second of each, and so on: neighbours are of different lists as long as there are several. */
export function takeTurns<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const rounds = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: rounds }, (_, round) => lists.flatMap((list) => list.slice(round, round + 1))).flat()
}
