// Owns finding things by their names. A name that several bear, or none, is a complaint and never a guess.
import { didYouMean } from '../kernel/names.ts'
import { quote } from '../kernel/text.ts'
import type { World } from './world.ts'

interface Named {
  readonly id: string
  readonly name?: string | null | undefined
}

export type Noun = 'dashboard' | 'savedSearch' | 'source' | 'webhook'

export type Lookup = { readonly id: string } | { readonly complaint: string }

export interface Directory {
  byName(noun: Noun, name: string): Lookup
  byId(noun: Noun, id: string): Lookup
  /** The name of whatever has this id, for people. */
  nameOf(id: unknown): string | undefined
}

const words: Readonly<Record<Noun, string>> = {
  dashboard: 'dashboard',
  savedSearch: 'saved search',
  source: 'source',
  webhook: 'webhook',
}

/** More names than this are not compared for the nearest one. */
const mostCompared = 500

export function createDirectory({ dashboards, savedSearches, sources, webhooks }: World): Directory {
  const all: Readonly<Record<Noun, readonly Named[]>> = {
    dashboard: dashboards,
    savedSearch: savedSearches,
    source: sources,
    webhook: webhooks,
  }
  const names = new Map<string, string>()
  for (const things of Object.values(all)) for (const { id, name } of things) if (name) names.set(id, name)
  for (const { tiles } of dashboards) for (const { id, name } of tiles) if (name) names.set(id, name)
  return {
    byName(noun, name) {
      const [found, second] = all[noun].filter((thing) => thing.name === name)
      if (found === undefined) return { complaint: missing(noun, name, all[noun]) }
      if (second === undefined) return { id: found.id }
      return { complaint: `several ${words[noun]}s are called "${quote(name, 60)}" (${found.id}, ${second.id}): give the id` }
    },
    byId: (noun, id) =>
      all[noun].some((thing) => thing.id === id) ? { id } : { complaint: `there is no ${words[noun]} ${quote(id, 60)}` },
    nameOf: (id) => (typeof id === 'string' ? names.get(id) : undefined),
  }
}

function missing(noun: Noun, name: string, things: readonly Named[]): string {
  const known = things.slice(0, mostCompared).flatMap((thing) => thing.name || [])
  const few = known.length > 0 && known.length <= 8 ? `; there are ${known.map((one) => quote(one, 40)).join(', ')}` : ''
  return `there is no ${words[noun]} called "${quote(name, 60)}"${didYouMean(name, known) || few}`
}
