import { ApiError } from '../platform/api/api-error.ts'
import type { ReadApi } from '../platform/api/client.ts'
import type { Collection, DatedList, List } from '../platform/api/collection.ts'
import type { Target } from '../platform/api/path.ts'
import { causeOf, toFailure, WatchkeeperError } from '../platform/core/errors.ts'
import { pluralOf } from '../platform/core/text.ts'
import { type Alert, alertCollection } from './alert/alert.ts'
import { dashboardCollection } from './dashboard/dashboard-wire.ts'
import { type Body, type StoredObject, watchedNames, withWatchedNames } from './kind.ts'
import { type KindName, kindLabels } from './kind-names.ts'
import { savedSearchCollection } from './saved-search/saved-search.ts'
import { sourceCollection } from './source/source-wire.ts'
import { webhookCollection } from './webhook/webhook-wire.ts'

export const collections = {
  dashboard: dashboardCollection,
  savedSearch: savedSearchCollection,
  alert: alertCollection,
  webhook: webhookCollection,
  source: sourceCollection,
} as const satisfies Record<KindName, unknown>

export type Stored<K extends KindName> = (typeof collections)[K] extends Collection<infer T, Body> ? T : never

/** The objects of each kind that a service has. */
export type StoredLists = { readonly [K in KindName]: readonly Stored<K>[] }

export type DatedLists<K extends KindName> = { readonly [N in K]: DatedList<Stored<N>> }

/** Lists the objects of these kinds. An empty list of a wanted kind is read again: a service that just woke up may answer one. */
export async function listKinds<K extends KindName>(
  kinds: readonly K[],
  { api, service, wanted }: { readonly api: ReadApi; readonly service: Target; readonly wanted?: ReadonlySet<KindName> },
): Promise<DatedLists<K>> {
  const list = async (name: K): Promise<readonly [K, DatedList<StoredObject>]> => {
    const first: DatedList<StoredObject> = await collections[name].list(api, service)
    return [name, first.items.length === 0 && wanted?.has(name) ? await collections[name].list(api, service) : first]
  }
  const lists = kinds.map(list)
  try {
    return Object.fromEntries(await Promise.all(lists)) as DatedLists<K> // Each list is of the kind in its key.
  } catch (thrown) {
    throw isMissing(thrown) && !api.profile.isSelfHosted ? explainMissing(thrown, kinds, await Promise.allSettled(lists)) : thrown
  }
}

const isMissing = (thrown: unknown) => thrown instanceof ApiError && thrown.status === 404

/** A gateway may have some of the lists. Without any, the address or an id is wrong, as the error says. */
function explainMissing(thrown: unknown, kinds: readonly KindName[], lists: readonly PromiseSettledResult<unknown>[]): unknown {
  const missing = kinds.filter((_, i) => lists[i]?.status === 'rejected' && isMissing(lists[i].reason))
  if (!lists.some(({ status }) => status === 'fulfilled')) return thrown
  const names = missing.map((kind) => pluralOf(kindLabels[kind])).join(' and no ')
  return new WatchkeeperError('not-served', `This server has no ${names}, which this operation needs: it answers 404 for them.`)
}

interface FoundNames {
  readonly names: ReadonlyMap<string, string>
  /** Why names are missing, where a list could not be read. */
  readonly failure: string | undefined
}

const watchedKinds: readonly KindName[] = ['dashboard', 'savedSearch']

/**
 * Names of objects that alerts refer to and of tiles, by their ids and places, to make a report readable. A list that cannot be read has no names: a
 * missing name never fails a run.
 */
export async function findNames(
  api: ReadApi,
  service: Target,
  kinds: readonly KindName[] = [...watchedKinds, 'webhook'],
): Promise<FoundNames> {
  const read = async (kind: KindName): Promise<List<StoredObject>> => collections[kind].list(api, service, { isOptional: true })
  const lists = await Promise.all(kinds.map((kind) => read(kind).catch(toUnread)))
  const items = lists.flatMap((list) => ('items' in list ? list.items : []))
  return {
    names: new Map([...items.flatMap(({ id, name }) => (name ? [[id, name] as const] : [])), ...watchedNames(items)]),
    failure: lists.flatMap((list) => ('failure' in list ? [list.failure] : []))[0],
  }
}

/** The alerts, with what those without a name watch. Sends no request where each has a name. */
export async function readWatchedNames(api: ReadApi, service: Target, alerts: readonly Alert[]): Promise<readonly Alert[]> {
  if (alerts.every(({ name }) => name)) return alerts
  const { names } = await findNames(api, service, watchedKinds)
  return withWatchedNames(alerts, names)
}

const toUnread = (thrown: unknown): { readonly failure: string } => ({ failure: causeOf(toFailure(thrown)) })
