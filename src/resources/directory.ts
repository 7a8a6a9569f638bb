import { didYouMean } from '../core/names.ts'
import { pluralOf, quote } from '../core/text.ts'

interface Named {
  readonly id: string
  readonly name?: string | null | undefined
}

/** The objects of the service that can be found by name. */
interface DirectoryLists {
  readonly dashboards: readonly (Named & { readonly tiles: readonly Named[] })[]
  readonly savedSearches: readonly Named[]
  readonly sources: readonly Named[]
  /** Undefined where the service does not list them. */
  readonly webhooks: readonly Named[] | undefined
}

export type Noun = 'dashboard' | 'savedSearch' | 'source' | 'webhook'

/** The id, or a message that explains why there is none. */
export type Lookup = { readonly id: string } | { readonly message: string }

export interface Directory {
  byName(noun: Noun, name: string): Lookup
  byId(noun: Noun, id: string): Lookup
  /** Whether the service lists its webhooks. */
  readonly listsWebhooks: boolean
  /** The name of the object or tile with this id; undefined for an unknown id. */
  nameOf(id: unknown): string | undefined
}

const nouns: Readonly<Record<Noun, string>> = {
  dashboard: 'dashboard',
  savedSearch: 'saved search',
  source: 'source',
  webhook: 'webhook',
}

/** More names than this are not compared for the nearest one. */
const mostCompared = 500

/** Indexes the objects of the service by name and by id. */
export function createDirectory({ dashboards, savedSearches, sources, webhooks }: DirectoryLists): Directory {
  const all: Readonly<Record<Noun, readonly Named[]>> = {
    dashboard: dashboards,
    savedSearch: savedSearches,
    source: sources,
    webhook: webhooks ?? [],
  }
  const names = new Map<string, string>()
  for (const things of Object.values(all)) for (const { id, name } of things) if (name) names.set(id, name)
  for (const { tiles } of dashboards) for (const { id, name } of tiles) if (name) names.set(id, name)
  const indexes = new Map(Object.entries(all).map(([noun, things]) => [noun, toIndex(things)]))
  // Thousands of objects may refer to the same missing name.
  const messages = new Map<string, string>()
  const missing = (noun: Noun, name: string): string => {
    const message = messages.get(`${noun} ${name}`) ?? describeMissing(noun, name, all[noun])
    messages.set(`${noun} ${name}`, message)
    return message
  }
  return {
    byName(noun, name) {
      const [found, second] = indexes.get(noun)?.byName.get(name) ?? []
      if (found === undefined) return { message: missing(noun, name) }
      if (second === undefined) return { id: found.id }
      return { message: `several ${pluralOf(nouns[noun])} are named "${quote(name, 60)}" (${found.id}, ${second.id}); use the id` }
    },
    byId: (noun, id) => (indexes.get(noun)?.ids.has(id) ? { id } : { message: `${nouns[noun]} ${quote(id, 60)} does not exist` }),
    listsWebhooks: webhooks !== undefined,
    nameOf: (id) => (typeof id === 'string' ? names.get(id) : undefined),
  }
}

const toIndex = (things: readonly Named[]) => ({
  byName: Map.groupBy(things, ({ name }) => name),
  ids: new Set(things.map(({ id }) => id)),
})

function describeMissing(noun: Noun, name: string, things: readonly Named[]): string {
  const known = things.slice(0, mostCompared).flatMap((thing) => thing.name || [])
  const few = known.length > 0 && known.length <= 8 ? `; existing names: ${known.map((one) => quote(one, 40)).join(', ')}` : ''
  return `no ${nouns[noun]} is named "${quote(name, 60)}"${didYouMean(name, known) || few}`
}
