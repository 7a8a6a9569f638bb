import type { EmulatorContext } from './options.ts'
import { demo } from './shop/demo.ts'
import { type Dashboard, type DashboardFilter, emptyDashboard, findService, isJsonObject, type JsonObject, type Tile } from './store.ts'

/** A dashboard as a user saves it in the web app, with all fields, whether or not the API shows them. */
export type WebAppDashboard = Partial<Omit<Dashboard, 'tiles' | 'filters'>> & {
  readonly name: string
  readonly tiles: readonly (Partial<Tile> & { readonly config: JsonObject })[]
  readonly filters?: readonly Partial<DashboardFilter>[]
}

/** The answer to a save in the web app of a dashboard that is stored already. */
export type SaveAnswer = { readonly status: 200 } | { readonly status: 400; readonly message: string }

/** A stored text with the language that the web app reads it in, by its path. */
export type ReadTexts = Readonly<Record<string, readonly [text: string, language: string]>>

export type WebApp = ReturnType<typeof createWebApp>

/** What the web app does with dashboards of a service, by default the demo's `checkout`. */
export function createWebApp({ store, ids }: EmulatorContext) {
  const { checkout }: { readonly checkout: string } = demo.services
  const find = (dashboardId: string, serviceId: string): Dashboard => {
    const dashboard = findService(store, serviceId).dashboards.find(({ id }) => id === dashboardId)
    if (dashboard === undefined) throw new Error(`dashboard ${dashboardId} does not exist`)
    return dashboard
  }
  return {
    /**
     * Stores a dashboard without validating it, so that it may hold what the API does not show, such as PromQL tiles. Fills in missing ids
     * and the missing positions of tiles. Returns the stored dashboard.
     */
    saveInWebApp({ tiles, filters = [], ...dashboard }: WebAppDashboard, serviceId = checkout): Dashboard {
      const saved: Dashboard = {
        id: ids.objectId(),
        ...emptyDashboard(),
        ...dashboard,
        tiles: tiles.map((tile, index) => ({ id: ids.objectId(), name: '', x: 0, y: index * 6, w: 12, h: 6, ...tile })),
        filters: filters.map((filter) => ({ id: ids.objectId(), ...filter })),
      }
      findService(store, serviceId).dashboards.push(saved)
      return saved
    },
    /**
     * Saves a stored dashboard again as after any edit: the web app sends everything back, and its server accepts an absent language, and
     * no null.
     */
    saveAgainInWebApp(dashboardId: string, serviceId = checkout): SaveAnswer {
      const [wrong] = find(dashboardId, serviceId).tiles.flatMap(({ config }, i) =>
        itemsOf(config).flatMap(({ whereLanguage }, j) =>
          whereLanguage === null ? [`tiles.${i}.config.select.${j}.aggConditionLanguage`] : [],
        ),
      )
      const expected = "Expected 'sql' | 'lucene' | 'promql', received null"
      return wrong === undefined ? { status: 200 } : { status: 400, message: `${wrong}: ${expected}` }
    },
    /**
     * The conditions of a stored dashboard in the languages in which the web app opens them for a user who prefers this language: it takes
     * it for every text that is stored without one. A link of a table is not among them: without a language, it is Lucene everywhere.
     */
    readInWebApp(dashboardId: string, preferred: 'sql' | 'lucene', serviceId = checkout): ReadTexts {
      const { tiles, filters, savedQuery, savedQueryLanguage } = find(dashboardId, serviceId)
      const read = (path: string, { where, whereLanguage }: JsonObject): ReadTexts =>
        typeof where === 'string' && where !== '' ? { [path]: [where, String(whereLanguage ?? preferred)] } : {}
      return Object.assign(
        read('savedQuery', { where: savedQuery, whereLanguage: savedQueryLanguage }),
        ...filters.map((filter, i) => read(`filters.${i}`, filter)),
        ...tiles.flatMap(({ config }, i) => [
          read(`tiles.${i}.config`, config),
          ...itemsOf(config).map((item, j) => read(`tiles.${i}.config.select.${j}`, item)),
        ]),
      )
    },
  }
}

const itemsOf = ({ select }: JsonObject): readonly JsonObject[] =>
  Array.isArray(select) ? select.map((item: unknown) => (isJsonObject(item) ? item : {})) : []
