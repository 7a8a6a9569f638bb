// Owns the ids that become known while a plan is applied: of objects that others refer to, and of their tiles.
import { Pending } from './change.ts'
import { listOf } from './kinds/dashboard-kind.ts'
import type { Actual, Body } from './kinds/kind.ts'
import { withTileIds } from './kinds/tile-ids.ts'
import type { Outcome } from './outcome.ts'

export interface KnownIds {
  /** Learns the ids of an object that exists now. */
  learn(outcome: Pick<Outcome, 'change' | 'actual'>): void
  /** The body with ids for all its references; or what it waits for. */
  resolve(body: Body): { readonly body: Body } | { readonly waitsFor: Pending }
}

export function createKnownIds(): KnownIds {
  const known = new Map<string, Actual>()
  const idOf = ({ section, key, tile }: Pending): string | undefined => {
    const actual = known.get(`${section} ${key}`)
    if (tile === undefined || actual === undefined) return actual?.id
    const found = listOf(actual.tiles).filter(({ name }) => name === tile)
    return found.length === 1 ? (found[0]?.id as string | undefined) : undefined
  }
  return {
    learn({ change: { section, key, desired }, actual }) {
      if (actual === undefined) return
      // By the names that the files give: a server may trim them.
      const tiles = desired === undefined ? listOf(actual.tiles) : withTileIds(listOf(desired.tiles), listOf(actual.tiles))
      known.set(`${section} ${key}`, { ...actual, tiles })
    },
    resolve(body) {
      const entries = Object.entries(body).map(
        ([field, value]) => [field, value instanceof Pending ? (idOf(value) ?? value) : value] as const,
      )
      const open = entries.find(([, value]) => value instanceof Pending)?.[1]
      return open instanceof Pending ? { waitsFor: open } : { body: Object.fromEntries(entries) }
    },
  }
}
