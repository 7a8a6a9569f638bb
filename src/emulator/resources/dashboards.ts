// Owns the operations on dashboards: ids of tiles and filters, what an update keeps, and the alerts that go with a tile.
import type { Ids } from '../ids.ts'
import { toRefusal } from '../problems.ts'
import { notFound } from '../refusal.ts'
import { demandById, objectIdOf, removeById, type ServiceCall } from '../route.ts'
import type { Dashboard, DashboardFilter, Tile } from '../store.ts'
import { checkDashboard, type DashboardBody, type Purpose } from './dashboard-body.ts'
import { dropAlertsOf, dropOrphanedAlerts } from './tile-alerts.ts'

/** By name, descending, with all tiles: HyperDX server code. */
export const listDashboards = ({ service }: ServiceCall): unknown => service.dashboards.toSorted(byNameDescending)

const byNameDescending = (a: Dashboard, b: Dashboard): number => (a.name < b.name ? 1 : a.name > b.name ? -1 : 0)

export const getDashboard = (call: ServiceCall): unknown => existing(call)

export function createDashboard(call: ServiceCall): unknown {
  const { service, world } = call
  const body = demandDashboard(call, 'create')
  const dashboard: Dashboard = {
    id: world.ids.objectId(),
    name: body.name,
    tiles: toTiles(body, world.ids, []),
    tags: [...new Set(body.tags)],
    filters: toFilters(body, world.ids, []),
    savedQuery: body.savedQuery ?? null,
    savedQueryLanguage: body.savedQueryLanguage ?? null,
    savedFilterValues: body.savedFilterValues ?? [],
    containers: body.containers ?? [],
  }
  service.dashboards.push(dashboard)
  return dashboard
}

/** Tiles are replaced; tags, filters, containers and everything saved are kept when the body leaves them out. */
export function updateDashboard(call: ServiceCall): unknown {
  const { service, world } = call
  const dashboard = existing(call)
  const body = demandDashboard(call, 'update')
  const { savedQuery, savedQueryLanguage, savedFilterValues, containers } = body
  Object.assign(dashboard, {
    name: body.name,
    tiles: toTiles(body, world.ids, dashboard.tiles),
    ...(body.tags && { tags: [...new Set(body.tags)] }),
    ...(body.filters && { filters: toFilters(body, world.ids, dashboard.filters) }),
    ...(savedQuery !== undefined && { savedQuery }),
    ...(savedQueryLanguage !== undefined && { savedQueryLanguage }),
    ...(savedFilterValues && { savedFilterValues }),
    ...(containers && { containers }),
  } satisfies Partial<Dashboard>)
  dropOrphanedAlerts(service, dashboard)
  return dashboard
}

export function deleteDashboard(call: ServiceCall): undefined {
  const { service, world } = call
  const id = objectIdOf(call)
  const found = service.dashboards.some((dashboard) => dashboard.id === id)
  // The product's server answers 200 for a dashboard that it never had, although its specification lists a 404.
  if (!found && world.settings.dialect === 'neutral') throw notFound(`dashboard ${id} does not exist`)
  removeById(service.dashboards, id)
  dropAlertsOf(service, id)
}

/** Judges a body as a create would, and persists nothing. What the gateway refuses, it refuses here too. */
export function validateDashboard(call: ServiceCall): unknown {
  const checked = checkDashboard(call.body(), 'create', call.service)
  if (!('problems' in checked)) return { valid: true, errors: [], normalized: { ...checked.value, tags: [...new Set(checked.value.tags)] } }
  if (checked.problems.some((problem) => problem.unknownProperty)) throw toRefusal(checked.problems)
  return { valid: false, errors: checked.problems.map(({ path, message }) => ({ path, message })), normalized: null }
}

const existing = (call: ServiceCall): Dashboard => demandById(call.service.dashboards, objectIdOf(call), 'dashboard')

function demandDashboard(call: ServiceCall, purpose: Purpose): DashboardBody {
  const checked = checkDashboard(call.body(), purpose, call.service)
  if ('problems' in checked) throw toRefusal(checked.problems)
  return checked.value
}

/** A tile keeps its id only when the dashboard has a tile with it; every other id is replaced by a new one. */
const toTiles = ({ tiles }: DashboardBody, ids: Ids, before: readonly Tile[]): Tile[] =>
  tiles.map((tile) => ({ ...tile, id: keptId(before, tile.id) ?? ids.objectId() }))

const toFilters = ({ filters = [] }: DashboardBody, ids: Ids, before: readonly DashboardFilter[]): DashboardFilter[] =>
  filters.map((filter) => ({ ...filter, id: ('id' in filter ? keptId(before, filter.id) : undefined) ?? ids.objectId() }))

const keptId = (before: readonly { id: string }[], id: string | undefined): string | undefined => before.find((one) => one.id === id)?.id
