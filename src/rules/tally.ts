// Owns sums by key: what spend, movers and spikes are all made of.
import { type Decimal, zero } from '../kernel/decimal.ts'

export interface Tally<Key> {
  add(key: Key, amount: Decimal): void
  /** Zero for a key that was never added. */
  of(key: Key): Decimal
  /** In the order of first addition. */
  entries(): readonly (readonly [Key, Decimal])[]
}

export function createTally<Key = string>(): Tally<Key> {
  const sums = new Map<Key, Decimal>()
  return {
    add(key, amount) {
      const sum = sums.get(key)
      sums.set(key, sum === undefined ? amount : sum.plus(amount))
    },
    of: (key) => sums.get(key) ?? zero,
    entries: () => [...sums],
  }
}
