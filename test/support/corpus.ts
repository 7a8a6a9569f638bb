// The strings that an API, a file or a user could hand us with bad intent, and those that are too large for a file.
import { readFileSync } from 'node:fs'

export interface Hostile {
  readonly id: string
  readonly value: string
  readonly why: string
}

export const hostile: readonly Hostile[] = [
  ...(JSON.parse(readFileSync(new URL('../corpus/hostile.json', import.meta.url), 'utf8')) as Hostile[]),
  { id: 'size-megabyte', value: 'a'.repeat(1_000_000), why: 'is a megabyte' },
  { id: 'size-emoji', value: '😀'.repeat(250_000), why: 'has more bytes than characters' },
  { id: 'size-lines', value: 'x\n'.repeat(100_000), why: 'has 100,000 lines' },
]

/** Checks every entry of a corpus in one test; a failure names its entry. */
export async function forEachEntry<T extends { readonly id: string }>(entries: readonly T[], check: (entry: T) => unknown): Promise<void> {
  for (const entry of entries) {
    try {
      await check(entry)
    } catch (cause) {
      throw new Error(`${entry.id}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
}
