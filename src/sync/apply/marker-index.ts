import type { ReadApi } from '../../api/client.ts'
import type { List } from '../../api/collection.ts'
import type { Target } from '../../api/path.ts'
import type { Body, RemoteObject, ResourceType } from '../../resources/resource-type.ts'
import type { ResourceTypes } from '../../resources/resource-types.ts'
import type { Section } from '../../resources/section.ts'

export type MarkerIndexes = Readonly<Partial<Record<Section, MarkerIndex>>>

interface ReadListsOptions {
  readonly api: ReadApi
  readonly service: Target
  readonly types: ResourceTypes
}

export async function readMarkerIndexes(sections: ReadonlySet<Section>, { api, service, types }: ReadListsOptions): Promise<MarkerIndexes> {
  const read = [...sections].map(
    async (section) => [section, indexByMarker(await types[section].collection.list(api, service), types[section])] as const,
  )
  return Object.fromEntries(await Promise.all(read))
}

/** A list of remote objects, indexed by ownership marker, or by identity where a type has no markers. */
export interface MarkerIndex {
  readonly items: readonly RemoteObject[]
  readonly mayBeCut: boolean
  readonly byToken: ReadonlyMap<string, MarkerHolders>
}

/** The objects with one marker: more than one is an error. */
interface MarkerHolders {
  /** As the marker has it; undefined for objects without markers. */
  readonly project: string | undefined
  readonly actuals: readonly RemoteObject[]
}

/** An object that the list contains twice, because it changed while it was read, counts once. */
export function indexByMarker({ items, mayBeCut }: List<RemoteObject>, type: ResourceType): MarkerIndex {
  const byToken = new Map<string, { readonly project: string | undefined; readonly actuals: RemoteObject[] }>()
  for (const actual of new Map(items.map((one) => [one.id, one])).values()) {
    const body = type.toBody(actual)
    const token = type.tokenOf(body)
    if (token === undefined) continue
    const holders = byToken.get(token)
    if (holders === undefined) byToken.set(token, { project: type.readMarker(body)?.project, actuals: [actual] })
    else holders.actuals.push(actual)
  }
  return { items, mayBeCut, byToken }
}

type MarkerMatch = { readonly actual: RemoteObject } | 'absent' | 'unclear'

/** The object with the marker of the desired body. */
export function findByMarker({ byToken, mayBeCut }: MarkerIndex, desired: Body, type: ResourceType): MarkerMatch {
  const [actual, second] = byToken.get(type.tokenOf(desired) ?? '')?.actuals ?? []
  if (actual !== undefined && second === undefined) return { actual }
  return actual === undefined && !mayBeCut ? 'absent' : 'unclear'
}
