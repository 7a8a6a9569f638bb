import type { ReadApi } from '../api/client.ts'
import type { Collection } from '../api/collection.ts'
import type { Target } from '../api/path.ts'
import { causeOf, toFailure } from '../core/errors.ts'
import { dashboardCollection } from './dashboard/dashboard-wire.ts'
import { savedSearchCollection } from './saved-search/saved-search.ts'
import { webhookCollection } from './webhook/webhook-wire.ts'

type Named = Pick<Collection<{ readonly id: string; readonly name?: string | null | undefined }, unknown>, 'list'>

interface FoundNames {
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
  const lists = await Promise.all(collections.map((one) => one.list(api, service, { isOptional: true }).catch(toUnread)))
  const named = lists.flatMap((list) => ('items' in list ? list.items : []))
  return {
    names: new Map(named.flatMap(({ id, name }) => (name ? [[id, name] as const] : []))),
    failure: lists.flatMap((list) => ('failure' in list ? [list.failure] : []))[0],
  }
}

const toUnread = (thrown: unknown): { readonly failure: string } => ({ failure: causeOf(toFailure(thrown)) })
