import type { ReadApi } from '../../api/client.ts'
import type { List } from '../../api/collection.ts'
import type { Target } from '../../api/path.ts'
import type { Body, Kind, StoredObject } from '../../kinds/kind.ts'
import type { KindName } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'

export type MarkerIndexes = Readonly<Partial<Record<KindName, MarkerIndex>>>

interface ReadListsOptions {
  readonly api: ReadApi
  readonly service: Target
  readonly kinds: Kinds
}

export async function readMarkerIndexes(
  sections: ReadonlySet<KindName>,
  { api, service, kinds }: ReadListsOptions,
): Promise<MarkerIndexes> {
  const read = [...sections].map(
    async (kind) => [kind, indexByMarker(await kinds[kind].collection.list(api, service), kinds[kind])] as const,
  )
  return Object.fromEntries(await Promise.all(read))
}

/** A list of remote objects, indexed by ownership marker, or by identity where a type has no markers. */
export interface MarkerIndex {
  readonly items: readonly StoredObject[]
  readonly mayBeCut: boolean
  readonly byToken: ReadonlyMap<string, MarkerHolders>
}

/** The objects with one marker: more than one is an error. */
interface MarkerHolders {
  /** As the marker has it; undefined for objects without markers. */
  readonly project: string | undefined
  readonly storedObjects: readonly StoredObject[]
}

/** An object that the list contains twice, because it changed while it was read, counts once. */
export function indexByMarker({ items, mayBeCut }: List<StoredObject>, kind: Kind): MarkerIndex {
  const byToken = new Map<string, { readonly project: string | undefined; readonly storedObjects: StoredObject[] }>()
  for (const stored of new Map(items.map((one) => [one.id, one])).values()) {
    const body = kind.toBody(stored)
    const token = kind.tokenOf(body)
    if (token === undefined) continue
    const holders = byToken.get(token)
    if (holders === undefined) byToken.set(token, { project: kind.readMarker(body)?.project, storedObjects: [stored] })
    else holders.storedObjects.push(stored)
  }
  return { items, mayBeCut, byToken }
}

type MarkerMatch = { readonly stored: StoredObject } | 'absent' | 'unclear'

/** The object with the marker of the desired body. */
export function findByMarker({ byToken, mayBeCut }: MarkerIndex, desired: Body, kind: Kind): MarkerMatch {
  const [stored, second] = byToken.get(kind.tokenOf(desired) ?? '')?.storedObjects ?? []
  if (stored !== undefined && second === undefined) return { stored }
  return stored === undefined && !mayBeCut ? 'absent' : 'unclear'
}
