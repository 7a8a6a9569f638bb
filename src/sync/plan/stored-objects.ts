import { listKinds, type StoredLists } from '../../kinds/collections.ts'
import { type Body, type Kind, type KindIdentity, type StoredObject, watchedNames, withWatchedNames } from '../../kinds/kind.ts'
import { type KindName, kindNames, mapKinds } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import type { StoredMarker } from '../../kinds/marker.ts'
import { type Connection, connectionCollection } from '../../kinds/source/source-wire.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { List } from '../../platform/api/collection.ts'
import type { Target } from '../../platform/api/path.ts'
import type { Profile } from '../../platform/api/profiles.ts'

export interface StoredObjects extends StoredLists {
  /** Undefined where the service does not list them, or no file can name one. */
  readonly connection?: readonly Connection[] | undefined
  /** Why a list may be incomplete. Nothing is created or deleted because of such a list. */
  readonly incompleteLists: Readonly<Partial<Record<KindName, string>>>
  /** Of the first answer, by the clock of the requests. */
  readonly readAtMs: number
}

interface ReadOptions {
  readonly api: ReadApi
  readonly service: Target
  readonly profile: Profile
  readonly wanted: ReadonlySet<KindName>
  readonly wantsConnections: boolean
}

export async function readStoredObjects({ api, service, profile, wanted, wantsConnections }: ReadOptions): Promise<StoredObjects> {
  const [lists, connections] = await Promise.all([
    listKinds(kindNames, { api, service, wanted }),
    profile.isSelfHosted && wantsConnections ? connectionCollection.list(api, service) : undefined,
  ])
  const incompleteLists = kindNames.flatMap((kind) => {
    const reason = whyIncomplete(lists[kind])
    return reason === undefined ? [] : [[kind, reason] as const]
  })
  const items = mapKinds<readonly StoredObject[]>((kind) => onceEach(lists[kind].items))
  return {
    ...({
      ...items,
      alert: withWatchedNames(items.alert, new Map(watchedNames([...items.dashboard, ...items.savedSearch]))),
    } as StoredLists), // The list of each kind.
    connection: connections?.items,
    incompleteLists: Object.fromEntries(incompleteLists),
    readAtMs: Math.min(...Object.values(lists).map(({ readAtMs }) => readAtMs)),
  }
}

function whyIncomplete({ items, mayBeCut }: List<StoredObject>): string | undefined {
  const ids = new Set(items.map(({ id }) => id))
  if (ids.size < items.length) return 'contains an id twice, because it changed while it was read'
  return mayBeCut ? `may be incomplete, because its ${items.length} objects fill a page` : undefined
}

const onceEach = (items: readonly StoredObject[]): readonly StoredObject[] => [...new Map(items.map((one) => [one.id, one])).values()]

export interface MarkedObject {
  readonly stored: StoredObject
  readonly marker: StoredMarker | undefined
}

export interface IndexedObject extends MarkedObject {
  /** The marker, or the identity where the kind has no markers. */
  readonly token: string | undefined
  /** Why no file can declare it. Then it counts as an object without a marker: apply could only delete it. */
  readonly undeclarable: string | undefined
}

/** More than one object with a token is an error. */
export interface StoredIndex {
  readonly all: readonly IndexedObject[]
  readonly byToken: ReadonlyMap<string | undefined, readonly IndexedObject[]>
  readonly mayBeCut: boolean
}

export function indexStored(items: readonly StoredObject[], kind: Kind, mayBeCut = false): StoredIndex {
  const all = onceEach(items).map((stored): IndexedObject => {
    const body = kind.toBody(stored)
    const undeclarable = kind.explainUndeclarable?.(stored)
    return { stored, token: kind.tokenOf(body), undeclarable, marker: undeclarable === undefined ? kind.readMarker(body) : undefined }
  })
  const byToken = Map.groupBy(all, ({ token }) => token)
  byToken.delete(undefined)
  return { all, byToken, mayBeCut }
}

/** `unclear`: several have the token, or it may be in the missing part of a list. */
export function findDesired({ byToken, mayBeCut }: StoredIndex, desired: Body, kind: KindIdentity): IndexedObject | 'absent' | 'unclear' {
  const [found, second] = byToken.get(kind.tokenOf(desired)) ?? []
  if (found !== undefined && second === undefined) return found
  return found === undefined && !mayBeCut ? 'absent' : 'unclear'
}

export type StoredIndexes = Readonly<Partial<Record<KindName, StoredIndex>>>

export const indexAll = (storedObjects: StoredObjects, kinds: Kinds): Readonly<Record<KindName, StoredIndex>> =>
  mapKinds((name) => indexStored(storedObjects[name], kinds[name]))

export async function readStoredIndexes(
  names: ReadonlySet<KindName>,
  { api, service, kinds }: { readonly api: ReadApi; readonly service: Target; readonly kinds: Kinds },
): Promise<StoredIndexes> {
  const read = [...names].map(async (name) => {
    const { items, mayBeCut } = await kinds[name].collection.list(api, service)
    return [name, indexStored(items, kinds[name], mayBeCut)] as const
  })
  return Object.fromEntries(await Promise.all(read))
}
