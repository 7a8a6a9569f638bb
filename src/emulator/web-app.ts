import type { EmulatorContext } from './options.ts'
import { type Dashboard, type DashboardFilter, findService, isJsonObject, type JsonObject, type Store, type Tile } from './store.ts'

// What the web app of the product does with stored dashboards: it saves them, and reads a stored text in a language.

/** A dashboard as a user saves it in the web app, with all fields, whether or not the API shows them. */
export type WebAppDashboard = Partial<Omit<Dashboard, 'tiles' | 'filters'>> & {
  readonly name: string
  readonly tiles: readonly (Partial<Tile> & { readonly config: JsonObject })[]
  readonly filters?: readonly Partial<DashboardFilter>[]
}

/** Stores a dashboard without validating it, and returns what is stored. Fills in missing ids and the missing positions of tiles. */
export function saveInWebApp(
  { store, ids }: EmulatorContext,
  { tiles, filters = [], ...dashboard }: WebAppDashboard,
  serviceId: string,
): Dashboard {
  const service = findService(store, serviceId)
  const saved: Dashboard = {
    id: ids.objectId(),
    tags: [],
    savedQuery: null,
    savedQueryLanguage: null,
    savedFilterValues: [],
    containers: [],
    ...dashboard,
    tiles: tiles.map((tile, index) => ({ id: ids.objectId(), name: '', x: 0, y: index * 6, w: 12, h: 6, ...tile })),
    filters: filters.map((filter) => ({ id: ids.objectId(), ...filter })),
  }
  service.dashboards.push(saved)
  return saved
}

export function findStored(store: Store, dashboardId: string, serviceId: string): Dashboard {
  const dashboard = findService(store, serviceId).dashboards.find(({ id }) => id === dashboardId)
  if (dashboard === undefined) throw new Error(`dashboard ${dashboardId} does not exist`)
  return dashboard
}

/** The answer to a save in the web app of a dashboard that is stored already. */
export type SaveAnswer = { readonly status: 200 } | { readonly status: 400; readonly message: string }

/** The web app sends the whole stored dashboard back. Its server accepts an absent language, and no null. */
export function saveAgainInWebApp({ tiles }: Dashboard): SaveAnswer {
  const wrong = tiles.flatMap(({ config: { select } }, i) =>
    (Array.isArray(select) ? select : []).flatMap((item: unknown, j) =>
      isJsonObject(item) && item.whereLanguage === null ? [`tiles.${i}.config.select.${j}.aggConditionLanguage`] : [],
    ),
  )
  return wrong.length === 0 ? { status: 200 } : { status: 400, message: `${wrong[0]}: Expected 'sql' | 'lucene' | 'promql', received null` }
}

/** A stored text with the language that the web app reads it in, by its path. */
export type ReadTexts = Readonly<Record<string, readonly [text: string, language: string]>>

/**
 * The conditions of a dashboard in the languages in which the web app opens them for a user who prefers this language: it takes it for
 * every text that is stored without one. A link of a table is not among them: without a language, it is Lucene everywhere.
 */
export function readInWebApp({ tiles, filters, savedQuery, savedQueryLanguage }: Dashboard, preferred: 'sql' | 'lucene'): ReadTexts {
  const read = (path: string, text: unknown, language: unknown): ReadTexts =>
    typeof text === 'string' && text !== '' ? { [path]: [text, String(language ?? preferred)] } : {}
  const readItem = (path: string, item: unknown): ReadTexts => (isJsonObject(item) ? read(path, item.where, item.whereLanguage) : {})
  const readTile = ({ config }: Tile, i: number): ReadTexts => ({
    ...read(`tiles.${i}.config`, config.where, config.whereLanguage),
    ...Object.assign(
      {},
      ...(Array.isArray(config.select) ? config.select : []).map((item: unknown, j) => readItem(`tiles.${i}.config.select.${j}`, item)),
    ),
  })
  return Object.assign(
    read('savedQuery', savedQuery, savedQueryLanguage),
    ...filters.map(({ where, whereLanguage }, i) => read(`filters.${i}`, where, whereLanguage)),
    ...tiles.map(readTile),
  )
}
