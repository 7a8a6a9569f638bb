import type { EmulatorContext } from './context.ts'
import { demo } from './demo.ts'
import type { Dashboard, DashboardFilter, Tile } from './store.ts'

/** A dashboard as somebody saves it in the web app: everything that it may hold, whether or not the API shows it. */
export type WebAppDashboard = Pick<Dashboard, 'name'> &
  Partial<Omit<Dashboard, 'name' | 'tiles' | 'filters'>> & {
    readonly tiles: readonly (Pick<Tile, 'config'> & Partial<Tile>)[]
    readonly filters?: readonly Partial<DashboardFilter>[]
  }

/**
 * Stores a dashboard without validating it, and returns it as it is stored. Ids and places of tiles that are left out are filled in.
 * `serviceId` is the checkout service of the demo unless given.
 */
export function saveInWebApp(
  { store, ids }: Pick<EmulatorContext, 'store' | 'ids'>,
  { tiles, filters = [], ...dashboard }: WebAppDashboard,
  serviceId: string = demo.services.checkout,
): Dashboard {
  const service = store.organizations.flatMap(({ services }) => services).find(({ id }) => id === serviceId)
  if (service === undefined) throw new Error(`service ${serviceId} does not exist`)
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
