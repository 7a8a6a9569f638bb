import type { Ids } from '../ids.ts'
import type { Dashboard, DashboardFilter, JsonObject, Tile } from '../store.ts'
import { deleteAlertsOfDashboard, deleteAlertsOfTiles } from './alerts.ts'
import { findReferenceProblem } from './dashboard-references.ts'
import { type DashboardBody, knownDashboard, newDashboard, type TileBody } from './dashboard-schema.ts'
import { badRequest, plainNotFound } from './errors.ts'
import { findById, removeById } from './object-id.ts'
import { answerWhole } from './paging.ts'
import { deleted, ok, type ProductRequest, type ProductResponse, validate } from './request.ts'
import { toConfig } from './series-tiles.ts'
import { toTileView } from './tile-view.ts'

/** By name, descending, with all tiles. */
export const listDashboards = (request: ProductRequest): ProductResponse =>
  answerWhole(request, request.service.dashboards.toSorted(byNameDescending).map(toDashboardView))

const byNameDescending = (a: Dashboard, b: Dashboard): number => Buffer.compare(Buffer.from(b.name), Buffer.from(a.name))

export function getDashboard(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  return ok(toDashboardView(requireDashboard(request)))
}

export function createDashboard(request: ProductRequest): ProductResponse {
  const { service, ids } = request
  const body = validate(request, { body: newDashboard })
  const problem = findReferenceProblem(service, body)
  if (problem !== undefined) throw badRequest(problem)
  const dashboard: Dashboard = {
    id: ids.objectId(),
    name: body.name,
    tiles: toTiles(body, ids, []),
    tags: [...new Set(body.tags)],
    filters: toFilters(body, ids, []),
    savedQuery: body.savedQuery ?? null,
    savedQueryLanguage: toSavedQueryLanguage(body) ?? null,
    savedFilterValues: body.savedFilterValues ?? [],
    containers: body.containers ?? [],
  }
  service.dashboards.push(dashboard)
  return ok(toDashboardView(dashboard))
}

/** Tiles are replaced. Everything else is kept when the body leaves it out. */
export function updateDashboard(request: ProductRequest): ProductResponse {
  const { service, ids } = request
  const body = validate(request, { body: knownDashboard, hasId: true })
  const dashboard = requireDashboard(request)
  const problem = findReferenceProblem(service, body, dashboard)
  if (problem !== undefined) throw badRequest(problem)
  const before = dashboard.tiles
  const savedQueryLanguage = toSavedQueryLanguage(body)
  Object.assign(dashboard, {
    name: body.name,
    tiles: toTiles(body, ids, before),
    ...(body.tags && { tags: [...new Set(body.tags)] }),
    ...(body.filters && { filters: toFilters(body, ids, dashboard.filters) }),
    ...(body.savedQuery !== undefined && { savedQuery: body.savedQuery }),
    ...(savedQueryLanguage !== undefined && { savedQueryLanguage }),
    ...(body.savedFilterValues && { savedFilterValues: body.savedFilterValues }),
    ...(body.containers && { containers: body.containers }),
  } satisfies Partial<Dashboard>)
  deleteLostAlerts(request, dashboard, before)
  return ok(toDashboardView(dashboard))
}

/** An unknown id is not an error. */
export function deleteDashboard(request: ProductRequest): ProductResponse {
  const { service } = request
  validate(request, { hasId: true })
  const removed = removeById(service.dashboards, request.id)
  if (removed !== undefined) deleteAlertsOfDashboard(service, removed.id)
  return deleted
}

/** Stores nothing. The answer has no envelope, and `normalized` is the body as it was parsed: without the defaults that answers have. */
export function validateDashboard({ service, body }: ProductRequest): ProductResponse {
  const invalid = (errors: readonly JsonObject[]): ProductResponse => ({ status: 200, body: { valid: false, errors, normalized: null } })
  const parsed = newDashboard.safeParse(body)
  if (!parsed.success) return invalid(parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })))
  const problem = findReferenceProblem(service, parsed.data)
  if (problem !== undefined) return invalid([{ path: '', message: problem }])
  return { status: 200, body: { valid: true, errors: [], normalized: parsed.data } }
}

function requireDashboard({ service, id }: ProductRequest): Dashboard {
  const dashboard = findById(service.dashboards, id)
  if (dashboard === undefined) throw plainNotFound()
  return dashboard
}

export function toDashboardView(dashboard: Dashboard): JsonObject {
  const { id, name, tiles, tags, filters, savedQuery, savedQueryLanguage, savedFilterValues, containers } = dashboard
  return {
    id,
    name,
    tiles: tiles.flatMap((tile) => toTileView(tile, dashboard) ?? []),
    tags,
    filters: filters.map(toFilterView),
    savedQuery,
    savedQueryLanguage,
    savedFilterValues,
    ...(containers.length > 0 && { containers }),
  }
}

/** Fields of a mode that the filter is not in are stored and not answered. */
function toFilterView({ variableName, appliesToSourceIds, ...filter }: DashboardFilter): JsonObject {
  return {
    ...filter,
    ...(filter.isVariableEnabled === true && variableName !== undefined && { variableName }),
    ...(filter.isBroadcastEnabled !== false && appliesToSourceIds !== undefined && { appliesToSourceIds }),
  }
}

/** A tile keeps its id only when the dashboard has a tile with it; every other id is replaced by a new one. */
const toTiles = ({ tiles }: DashboardBody, ids: Ids, before: readonly Tile[]): Tile[] =>
  tiles.map((tile) => ({
    id: keptId(before, tile.id) ?? ids.objectId(),
    name: tile.name,
    x: tile.x,
    y: tile.y,
    w: tile.w,
    h: tile.h,
    config: toStoredConfig(tile),
    ...(tile.containerId !== undefined && { containerId: tile.containerId }),
    ...(tile.tabId !== undefined && { tabId: tile.tabId }),
  }))

function toStoredConfig({ config, series, asRatio }: TileBody): JsonObject {
  if (config === undefined) return toConfig(series ?? [], asRatio)
  return config
}

const toFilters = ({ filters = [] }: DashboardBody, ids: Ids, before: readonly DashboardFilter[]): DashboardFilter[] =>
  filters.map((filter) => ({ ...filter, id: ('id' in filter ? keptId(before, filter.id) : undefined) ?? ids.objectId() }))

const keptId = (before: readonly { readonly id: string }[], id: string | undefined): string | undefined =>
  before.find((one) => one.id === id)?.id

function toSavedQueryLanguage({ savedQuery, savedQueryLanguage }: DashboardBody): string | null | undefined {
  if (savedQueryLanguage !== undefined) return savedQueryLanguage
  if (savedQuery === null) return null
  return savedQuery ? 'lucene' : undefined
}

/** Display types whose tiles can have alerts. */
const alertTypes: readonly unknown[] = ['line', 'stacked_bar', 'number']

/** Alerts of tiles that are gone, hidden ones included, or that can have none any more. Alerts of tiles that never were stay. */
function deleteLostAlerts({ service }: ProductRequest, dashboard: Dashboard, before: readonly Tile[]): void {
  const kept = new Set(dashboard.tiles.map(({ id }) => id))
  const lost = [
    ...before.filter(({ id }) => !kept.has(id)),
    ...dashboard.tiles.filter(({ config }) => !alertTypes.includes(config.displayType)),
  ]
  deleteAlertsOfTiles(
    service,
    dashboard.id,
    lost.map(({ id }) => id),
  )
}
