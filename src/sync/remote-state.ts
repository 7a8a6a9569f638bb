import type { ReadApi } from '../api/client.ts'
import type { List } from '../api/collection.ts'
import type { Target } from '../api/path.ts'
import type { Profile } from '../api/profiles.ts'
import { type Alert, alertCollection } from '../resources/alerts/alert.ts'
import { type Dashboard, dashboardCollection } from '../resources/dashboards/dashboard.ts'
import { type RemoteObject, type Section, sectionNames } from '../resources/resource-type.ts'
import { type SavedSearch, savedSearchCollection } from '../resources/saved-searches/saved-search.ts'
import { type Source, sourceCollection } from '../resources/sources/source-wire.ts'
import { type Webhook, webhookCollection } from '../resources/webhooks/webhook-wire.ts'

export interface RemoteState {
  readonly dashboards: readonly Dashboard[]
  readonly savedSearches: readonly SavedSearch[]
  readonly alerts: readonly Alert[]
  readonly sources: readonly Source[]
  /** Undefined where the service does not list them. */
  readonly webhooks: readonly Webhook[] | undefined
  /** Why a list may be incomplete. Nothing is created or deleted because of such a list. */
  readonly doubts: Readonly<Partial<Record<Section, string>>>
}

interface Reading {
  readonly api: ReadApi
  readonly service: Target
  readonly profile: Profile
  /** Sections with declared objects: their lists are read again when they are empty. */
  readonly wanted: ReadonlySet<Section>
}

const none: List<never> = { items: [], mayBeCut: false }

export async function readRemoteState({ api, service, profile, wanted }: Reading): Promise<RemoteState> {
  const hasMore = profile.savedSearches
  const [dashboards, alerts, savedSearches, sources, webhooks] = await Promise.all([
    listTwice(() => dashboardCollection.list(api, service), wanted.has('dashboards')),
    listTwice(() => alertCollection.list(api, service), wanted.has('alerts')),
    hasMore ? listTwice(() => savedSearchCollection.list(api, service), wanted.has('savedSearches')) : none,
    sourceCollection.list(api, service),
    hasMore ? webhookCollection.list(api, service) : undefined,
  ])
  const lists = { dashboards, alerts, savedSearches }
  const doubts = sectionNames.flatMap((section) => {
    const doubt = doubtAbout(lists[section])
    return doubt === undefined ? [] : [[section, doubt] as const]
  })
  return {
    dashboards: onceEach(dashboards),
    alerts: onceEach(alerts),
    savedSearches: onceEach(savedSearches),
    sources: sources.items,
    webhooks: webhooks?.items,
    doubts: Object.fromEntries(doubts),
  }
}

/** A service that just woke up may answer an empty list; the second answer counts. */
async function listTwice<T>(list: () => Promise<List<T>>, isWanted: boolean): Promise<List<T>> {
  const first = await list()
  return first.items.length === 0 && isWanted ? list() : first
}

function doubtAbout({ items, mayBeCut }: List<RemoteObject>): string | undefined {
  const ids = new Set(items.map(({ id }) => id))
  if (ids.size < items.length) return 'contains an id twice, because it changed while it was read'
  return mayBeCut ? `may be incomplete, because its ${items.length} objects fill a page` : undefined
}

const onceEach = <T extends RemoteObject>({ items }: List<T>): readonly T[] => [...new Map(items.map((one) => [one.id, one])).values()]
