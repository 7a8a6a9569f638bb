// Files made at random: objects with every optional field that files can have, which refer to each other by key and by name.
import fc from 'fast-check'
import type { Alert, Dialect, JsonObject, Service } from '../../src/emulator/index.ts'
import { alertFor, type DashboardDraft, dashboardFor, type SavedSearchDraft, savedSearchFor } from './random-service.ts'
import { carriesAlerts } from './random-tiles.ts'

export interface RandomFile {
  readonly dashboards: Readonly<Record<string, JsonObject>>
  readonly savedSearches: Readonly<Record<string, JsonObject>>
  readonly alerts: Readonly<Record<string, JsonObject>>
}

type Surroundings = Pick<Service, 'sources' | 'webhooks' | 'connections'>

/** For a service with these sources, connections and webhooks. */
export function randomFile({ sources, webhooks, connections }: Surroundings, dialect: Dialect): fc.Arbitrary<RandomFile> {
  const surroundings = { sources, connections, isNewer: false }
  const names = new Map(sources.map(({ id, name }) => [id, name]))
  const webhookNames = new Map(webhooks.map(({ id, name }) => [id, name]))
  const isNeutral = dialect === 'neutral'
  const webhookIds = webhooks.map(({ id }) => id)
  return fc
    .record({
      dashboards: fc.array(dashboardFor(surroundings), { minLength: 1, maxLength: 3 }),
      savedSearches: isNeutral ? fc.constant<SavedSearchDraft[]>([]) : fc.array(savedSearchFor(surroundings), { maxLength: 2 }),
      alerts: fc.array(alertFor(webhookIds, { dialect, isNewer: false }), { maxLength: 3 }),
      byName: fc.boolean(),
    })
    .map(({ byName, ...drafts }) => {
      const dashboards = keyed('dashboard', drafts.dashboards.map(declaredDashboard))
      const savedSearches = keyed('search', drafts.savedSearches.map(declaredSavedSearch))
      const places = Object.entries(dashboards).flatMap(([dashboard, { tiles }]) =>
        (tiles as readonly JsonObject[]).flatMap(({ name, config }) =>
          carriesAlerts(config as JsonObject) ? [{ dashboard, tile: name }] : [],
        ),
      )
      const alerts = drafts.alerts.flatMap(({ target, fields, onSearch }): JsonObject[] => {
        const search = Object.keys(savedSearches)[target % Math.max(1, drafts.savedSearches.length)]
        const { groupBy, ...rest } = declaredAlert(fields, byName && !isNeutral ? webhookNames : undefined)
        if (onSearch && search !== undefined) return [{ ...rest, groupBy, savedSearch: search }]
        const place = places[target % places.length]
        return place === undefined ? [] : [{ ...rest, ...place }]
      })
      const file = { dashboards, savedSearches, alerts: keyed('alert', alerts) }
      return (byName && !isNeutral ? withNames(file, names) : file) as RandomFile
    })
}

const keyed = (prefix: string, items: readonly JsonObject[]): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(items.map((item, i) => [`${prefix}-${i}`, item]))

/** Tiles need names, and those with alerts need names of their own. */
const declaredDashboard = ({ tiles, ...draft }: DashboardDraft): JsonObject => ({
  ...draft,
  tiles: tiles.map(({ name, ...tile }, i) => ({ ...tile, name: `${name} ${i}` })),
})

const declaredSavedSearch = (draft: SavedSearchDraft): JsonObject => ({ ...draft, name: draft.name.trim() })

function declaredAlert({ channels = [], ...fields }: Partial<Alert>, names: ReadonlyMap<string, string> | undefined): JsonObject {
  const declared = channels.map((channel) =>
    names !== undefined && channel.type === 'webhook' ? { type: 'webhook', webhook: names.get(channel.webhookId) } : channel,
  )
  return { ...fields, ...(declared.length === 1 ? { channel: declared[0] } : { channels: declared }) }
}

/** Sources by their names instead of their ids. */
function withNames(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withNames(item, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, item]) => [field, field === 'sourceId' ? { source: names.get(item) } : withNames(item, names)]),
  )
}
