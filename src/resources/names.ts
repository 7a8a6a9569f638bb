import type { ReadApi } from '../api/client.ts'
import type { Collection } from '../api/collection.ts'
import type { Target } from '../api/path.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { dashboardCollection } from './dashboards/dashboard.ts'
import { savedSearchCollection } from './saved-searches/saved-search.ts'
import { webhookCollection } from './webhooks/webhook-wire.ts'

type Named = Pick<Collection<{ readonly id: string; readonly name?: string | null | undefined }, unknown>, 'list'>

export interface FoundNames {
  readonly names: ReadonlyMap<string, string>
  /** Why names are missing, where a list could not be read. */
  readonly failure: string | undefined
}

/**
 * Names of dashboards, saved searches and webhooks by their ids, to make a report readable. A list that cannot be read has no names: a
 * missing name never fails a run.
 */
export async function findNames(api: ReadApi, service: Target): Promise<FoundNames> {
  const collections: readonly Named[] = [
    dashboardCollection,
    ...(api.profile.savedSearches ? [savedSearchCollection, webhookCollection] : []),
  ]
  const lists = await Promise.all(collections.map((one) => one.list(api, service, { isOptional: true }).catch(toFailure)))
  const named = lists.flatMap((list) => ('items' in list ? list.items : []))
  return {
    names: new Map(named.flatMap(({ id, name }) => (name ? [[id, name] as const] : []))),
    failure: lists.flatMap((list) => ('failure' in list ? [list.failure] : []))[0],
  }
}

function toFailure(thrown: unknown): { readonly failure: string } {
  if (!(thrown instanceof WatchkeeperError) || thrown.kind === 'cancelled') throw thrown
  return { failure: thrown.message.split('\n', 1)[0] ?? '' }
}
