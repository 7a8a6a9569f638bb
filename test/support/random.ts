/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Parts of values that a file may have in any place. */
const pieces = [null, true, -1, 1e308, '', '$__timeFilter(', "'", '((', '{{', [], {}, [[]], { type: 'reduce' }, 'SELECT', 'now()', '\u0000']

/** The value with some of its parts removed, renamed, cut or replaced. */
export function mutate(value: unknown, random: () => number): unknown {
  if (random() < 0.02) return pieces[Math.floor(random() * pieces.length)]
  if (Array.isArray(value)) return value.map((one) => mutate(one, random))
  if (typeof value === 'string' && random() < 0.05) return value.slice(0, random() * value.length)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(() => random() > 0.02)
  return Object.fromEntries(kept.map(([key, one]) => [random() < 0.01 ? `${key}s` : key, mutate(one, random)]))
}
