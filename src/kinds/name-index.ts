import { mapItems } from '../platform/core/keys.ts'
import { didYouMean } from '../platform/core/names.ts'
import { pluralOf, quote } from '../platform/core/text.ts'
import { addressOf, type KindName, kindLabels, placeOfTile } from './kind-names.ts'

/** The id of an object that is not created yet. apply replaces it. */
export class PendingId {
  readonly kind: KindName
  readonly key: string
  /** The name of a tile, if the id is that of a tile and not of the object itself. */
  readonly tile: string | undefined

  constructor(kind: KindName, key: string, tile?: string) {
    this.kind = kind
    this.key = key
    this.tile = tile
  }
}

/** Whether a value refers to an object that is not created yet, at any depth. */
export function hasPendingId(value: unknown): boolean {
  if (value instanceof PendingId) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasPendingId)
}

/** The fields with something in place of the ids of objects that are not created yet, at any depth. */
export function replacePending(
  fields: Readonly<Record<string, unknown>>,
  replace: (pending: PendingId) => unknown,
): Readonly<Record<string, unknown>> {
  const replaceIn = (value: unknown): unknown => (value instanceof PendingId ? replace(value) : mapItems(value, replaceIn))
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, replaceIn(value)]))
}

export interface Named {
  /** Pending for an object that files declare and the service does not have yet. */
  readonly id: string | PendingId
  readonly name?: string | null | undefined
  readonly kind?: string | null | undefined
}

type NameIndexLists = Readonly<Partial<Record<Exclude<ReferableKind, 'dashboard'>, readonly Named[] | undefined>>> & {
  readonly dashboard?: readonly (Named & { readonly tiles: readonly Named[] })[]
}

export type ReferableKind = 'dashboard' | 'savedSearch' | 'source' | 'webhook' | 'connection'

/** The id, or a message that explains why there is none. */
export type Lookup = { readonly id: string | PendingId } | { readonly message: string }

export interface Planned extends Named {
  readonly stored: Named | undefined
}

export interface NameIndex {
  /** Finds the object with this name for which `fits` is true. */
  byName(kind: ReferableKind, name: string, fits?: (one: Named) => boolean): Lookup
  byId(kind: ReferableKind, id: string): Lookup
  /** The name of the object or tile with this id; undefined for an unknown id. */
  nameOf(id: unknown): string | undefined
  all(kind: ReferableKind): readonly Named[]
  /** The index after the plan: declared objects have the names that their files give them. */
  withPlanned(kind: ReferableKind, planned: readonly Planned[]): NameIndex
  withoutNames(objects: readonly Named[]): NameIndex
}

const labels: Readonly<Record<ReferableKind, string>> = { ...kindLabels, connection: 'connection' }

export function createNameIndex(lists: NameIndexLists): NameIndex {
  const { dashboard = [], savedSearch = [], source = [], webhook = [], connection = [] } = lists
  const tiles = dashboard.flatMap(({ id, tiles: own }) =>
    own.flatMap((tile) => [tile, { id: placeOfTile(String(id), tile.id), name: tile.name }]),
  )
  return toDirectory({ dashboard, savedSearch, source, webhook, connection }, tiles, new Set())
}

function toDirectory(
  all: Readonly<Record<ReferableKind, readonly Named[]>>,
  tiles: readonly Named[],
  unnamed: ReadonlySet<Named>,
): NameIndex {
  const names = new Map<unknown, string>()
  for (const { id, name } of [...Object.values(all).flat(), ...tiles]) if (name) names.set(id, name)
  const indexes = new Map(Object.entries(all).map(([kind, things]) => [kind, toIndex(things, unnamed)]))
  // Thousands of objects may refer to the same missing name.
  const messages = new Map<string, string>()
  const missing = (kind: ReferableKind, name: string) => {
    const message = messages.get(`${kind} ${name}`) ?? describeMissing(kind, name, all[kind])
    messages.set(`${kind} ${name}`, message)
    return message
  }
  return {
    byName(kind, name, fits = () => true) {
      const [found, second] = (indexes.get(kind)?.byName.get(name) ?? []).filter(fits)
      if (found === undefined) return { message: missing(kind, name) }
      if (second === undefined) return { id: found.id }
      const both = [found, second].map(({ id }) => (id instanceof PendingId ? addressOf(id) : id)).join(', ')
      return { message: `several ${pluralOf(labels[kind])} are named "${quote(name)}" (${both}); use the id` }
    },
    byId: (kind, id) => (indexes.get(kind)?.ids.has(id) ? { id } : { message: `${labels[kind]} ${quote(id)} does not exist` }),
    nameOf: (id) => (typeof id === 'string' ? names.get(id) : undefined),
    all: (kind) => all[kind],
    withPlanned(kind, planned) {
      if (planned.length === 0) return this
      const replaced = new Set(planned.map(({ stored }) => stored))
      return toDirectory({ ...all, [kind]: [...all[kind].filter((one) => !replaced.has(one)), ...planned] }, tiles, unnamed)
    },
    withoutNames(objects) {
      return objects.length === 0 ? this : toDirectory(all, tiles, new Set([...unnamed, ...objects]))
    },
  }
}

const toIndex = (things: readonly Named[], unnamed: ReadonlySet<Named>) => ({
  byName: Map.groupBy(
    things.filter((one) => !unnamed.has(one)),
    ({ name }) => name,
  ),
  ids: new Set<unknown>(things.map(({ id }) => id)),
})

function describeMissing(kind: ReferableKind, name: string, things: readonly Named[]) {
  const known = things.flatMap((thing) => thing.name || [])
  const few = known.length > 0 && known.length <= 8 ? `; existing names: ${known.map((one) => quote(one)).join(', ')}` : ''
  return `no ${labels[kind]} is named "${quote(name)}"${didYouMean(name, known) || few}`
}
