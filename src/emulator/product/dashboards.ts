import * as z from 'zod/v3'
import { isSame } from '../../platform/core/equality.ts'
import type { Ids } from '../deterministic.ts'
import { type Dashboard, type DashboardFilter, isJsonObject, type JsonObject, type Service, type Tile } from '../store.ts'
import { deleteAlertsOfTiles, deleteAlertsWhere } from './alerts.ts'
import { addIssue, badRequest, findById, objectId, type ProductRequest, type ProductResponse, plainNotFound, validate } from './request.ts'
import { routesOf } from './resource.ts'
import { filteredTypes, metricType, patchConfig, queryLanguage, refuseMacros, tileConfig } from './tile-schema.ts'
import { hasTab, toTileView } from './tile-view.ts'

const maxIdLength = 256

const tilePlace = z.object({
  x: z.number().min(0).max(23),
  y: z.number().min(0),
  w: z.number().min(1).max(24),
  h: z.number().min(1),
  containerId: z.string().min(1).max(maxIdLength).optional(),
  tabId: z.string().min(1).max(maxIdLength).optional(),
})

const tile = z
  .object({
    name: z.string(),
    ...tilePlace.shape,
    asRatio: z.boolean().optional(),
    config: tileConfig.optional(),
  })
  .transform(({ config, asRatio, ...others }, context) => {
    if (config === undefined) addIssue(context, 'Tile must have either series or config')
    else if (asRatio !== undefined)
      addIssue(context, 'asRatio property is not supported when using config property. Specify config.asRatio instead.')
    return config === undefined ? z.NEVER : { ...others, config }
  })
  .and(z.object({ id: z.string().max(36).optional() }))

const tiles = z
  .array(tile)
  .max(500)
  .superRefine((items, context) => {
    const seen = new Set<string>()
    for (const [index, { id }] of items.entries()) {
      if (!id) continue
      if (seen.has(id)) addIssue(context, `Duplicate tile ID: ${id}. Omit the ID to generate a unique one.`, [index, 'id'])
      seen.add(id)
    }
  })

export const tags = z.array(z.string().max(32)).max(50).optional()

/** Fields in the order of the product's messages. */
const filterBody = {
  type: z.enum(['QUERY_EXPRESSION']),
  name: z.string().min(1),
  expression: z.string().min(1),
  sourceMetricType: metricType.optional(),
  where: z.string().optional(),
  whereLanguage: z.enum(['sql', 'lucene']).optional(),
  appliesToSourceIds: z.array(z.string().min(1)).optional(),
  isBroadcastEnabled: z.boolean().optional(),
  isVariableEnabled: z.boolean().optional(),
  variableName: z
    .string()
    .max(64)
    .regex(/^[a-zA-Z][a-zA-Z0-9_]*$/)
    .optional(),
  sourceId: objectId,
}

/** Unknown fields of a filter are rejected. Those of all other objects are stripped. */
const createFilter = z.object(filterBody).strict()
type FilterBody = z.output<typeof createFilter>

const containerLabel = z.string().min(1).max(maxIdLength)

const container = z.object({
  id: containerLabel,
  title: containerLabel,
  collapsed: z.boolean(),
  collapsible: z.boolean().optional(),
  bordered: z.boolean().optional(),
  tabs: z
    .array(z.object({ id: containerLabel, title: containerLabel }))
    .max(20)
    .optional(),
})

type Container = z.output<typeof container>

const bodyFields = {
  name: z.string().max(1024),
  tiles,
  tags,
  savedQuery: z.string().nullable().optional(),
  savedQueryLanguage: queryLanguage.nullable().optional(),
  savedFilterValues: z.array(z.object({ type: z.literal('sql').optional().default('sql'), condition: z.string().max(10_000) })).optional(),
  containers: z.array(container).max(50).optional(),
}

interface CrossFields {
  readonly savedQuery?: string | null | undefined
  readonly savedQueryLanguage?: string | null | undefined
  readonly containers?: readonly Container[] | undefined
  readonly filters?: readonly FilterBody[] | undefined
}

function checkCrossFields({ savedQuery, savedQueryLanguage, containers = [], filters = [] }: CrossFields, context: z.RefinementCtx) {
  if (savedQuery != null && savedQueryLanguage === null)
    addIssue(context, 'savedQueryLanguage cannot be null when savedQuery is provided', ['savedQueryLanguage'])
  refuseContainers(containers, context)
  checkVariableNames(filters, context)
  checkFilterEffects(filters, context)
  checkFilterModes(filters, context)
}

function refuseContainers(containers: readonly Container[], context: z.RefinementCtx) {
  const seen = new Set<string>()
  for (const [index, { id, tabs = [] }] of containers.entries()) {
    if (seen.has(id)) addIssue(context, `Container IDs must be unique: "${id}"`, ['containers', index, 'id'])
    seen.add(id)
    const seenTabs = new Set<string>()
    for (const [tabIndex, tab] of tabs.entries()) {
      if (seenTabs.has(tab.id))
        addIssue(context, `Duplicate tab id "${tab.id}" in container "${id}"`, ['containers', index, 'tabs', tabIndex, 'id'])
      seenTabs.add(tab.id)
    }
  }
}

function checkVariableNames(filters: readonly FilterBody[], context: z.RefinementCtx) {
  const seen = new Set<string>()
  for (const [index, filter] of filters.entries()) {
    if (filter.isVariableEnabled !== true) continue
    const name = filter.variableName?.trim() || deriveVariableName(filter.name)
    const path = ['filters', index, 'variableName']
    if (name === '') addIssue(context, `Variable name is required for filter "${filter.name}"`, path)
    else if (seen.has(name)) addIssue(context, `Variable names must be unique: "${name}"`, path)
    else seen.add(name)
  }
}

/** The filter `Deploy env` has the variable `Deploy_env` by default. */
function deriveVariableName(filterName: string) {
  const name = filterName
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_]+/g, '')
  return /^[0-9_]/.test(name) ? `v${name}` : name
}

function checkFilterEffects(filters: readonly FilterBody[], context: z.RefinementCtx) {
  for (const [index, { name, isBroadcastEnabled, isVariableEnabled }] of filters.entries()) {
    if (isBroadcastEnabled !== false || isVariableEnabled === true) continue
    const path = ['filters', index, 'isBroadcastEnabled']
    addIssue(context, `Filter "${name}" must broadcast its value, be available as a variable, or both`, path)
  }
}

function checkFilterModes(filters: readonly FilterBody[], context: z.RefinementCtx) {
  for (const [index, { name, isBroadcastEnabled, isVariableEnabled, variableName, appliesToSourceIds = [] }] of filters.entries()) {
    if (variableName !== undefined && isVariableEnabled !== true)
      addIssue(
        context,
        `Filter "${name}" sets variableName but is not available as a variable; set isVariableEnabled to true or drop variableName`,
        ['filters', index, 'variableName'],
      )
    if (appliesToSourceIds.length > 0 && isBroadcastEnabled === false)
      addIssue(
        context,
        `Filter "${name}" sets appliesToSourceIds but does not broadcast its value; set isBroadcastEnabled to true or drop appliesToSourceIds`,
        ['filters', index, 'appliesToSourceIds'],
      )
  }
}

/** Filters of a new dashboard have no ids. Filters of an update must have them. */
const newDashboard = z.object({ ...bodyFields, filters: z.array(createFilter).optional() }).superRefine(checkCrossFields)

const changedDashboard = z
  .object({ ...bodyFields, filters: z.array(z.object({ id: z.string(), ...filterBody }).strict()).optional() })
  .superRefine(checkCrossFields)

type DashboardBody = z.output<typeof newDashboard> | z.output<typeof changedDashboard>
type TileBody = DashboardBody['tiles'][number]

/**
 * The list is sorted by name, descending, and has all tiles. An update replaces the tiles, and keeps other fields that the body leaves out.
 */
export const dashboards = routesOf<Dashboard>({
  name: 'dashboards',
  itemsOf: (service) => service.dashboards,
  toView: toDashboardView,
  list: (items) => items.toSorted((a, b) => Buffer.compare(Buffer.from(b.name), Buffer.from(a.name))).map(toDashboardView),
  missing: plainNotFound,
  create(request) {
    const { service, ids } = request
    const body = validate(request, { body: newDashboard })
    demandReferences(service, body)
    return {
      id: ids.objectId(),
      name: body.name,
      tiles: toTiles(body, ids, { before: [], missingLanguage: undefined }),
      tags: [...new Set(body.tags)],
      filters: toFilters(body, ids, []),
      savedQuery: body.savedQuery ?? null,
      savedQueryLanguage: toSavedQueryLanguage(body) ?? null,
      savedFilterValues: body.savedFilterValues ?? [],
      containers: body.containers ?? [],
    }
  },
  update(request, find) {
    const { service, ids } = request
    const body = validate(request, { body: changedDashboard, hasId: true })
    const dashboard = find()
    demandReferences(service, body, dashboard)
    const before = dashboard.tiles
    const savedQueryLanguage = toSavedQueryLanguage(body)
    Object.assign(dashboard, {
      name: body.name,
      tiles: toTiles(body, ids, { before, missingLanguage: null }),
      ...(body.tags && { tags: [...new Set(body.tags)] }),
      ...(body.filters && { filters: toFilters(body, ids, dashboard.filters) }),
      ...(body.savedQuery !== undefined && { savedQuery: body.savedQuery }),
      ...(savedQueryLanguage !== undefined && { savedQueryLanguage }),
      ...(body.savedFilterValues && { savedFilterValues: body.savedFilterValues }),
      ...(body.containers && { containers: body.containers }),
    } satisfies Partial<Dashboard>)
    deleteLostAlerts(request, dashboard, before)
    return dashboard
  },
  isMissingDeleted: true,
  afterDelete: (service, { id }) => deleteAlertsWhere(service, ({ source, dashboardId }) => source === 'tile' && dashboardId === id),
})

function demandReferences(...args: Parameters<typeof findReferenceProblem>) {
  const problem = findReferenceProblem(...args)
  if (problem !== undefined) throw badRequest(problem)
}

export const patchSchema = z.object({
  dashboardId: objectId,
  name: z.string().min(1).optional(),
  tags,
  tileId: z.string().optional(),
  tile: tilePlace
    .partial()
    .extend({ name: z.string().min(1).optional(), config: patchConfig })
    .optional(),
})

type Patch = z.output<typeof patchSchema>

/** Changes the name, the tags or one tile, and leaves everything else as it is stored. Returns a text if it refuses. */
export function patchDashboard(service: Service, { dashboardId, name, tags: given, tileId, tile: patch }: Patch): JsonObject | string {
  if (name === undefined && given === undefined && (tileId === undefined || patch === undefined))
    return 'Provide at least one of: name, tags, or tileId+tile to patch.'
  if ((tileId === undefined) !== (patch === undefined)) return 'tileId and tile must both be provided or both omitted.'
  const dashboard = findById(service.dashboards, dashboardId)
  if (dashboard === undefined) return 'Dashboard not found'
  const patched = tileId !== undefined && patch !== undefined ? patchTile(service, dashboard, tileId, patch) : {}
  if (typeof patched === 'string') return patched
  Object.assign(dashboard, { ...(name !== undefined && { name }), ...(given && { tags: [...new Set(given)] }) })
  return { id: dashboard.id, name: dashboard.name, tags: dashboard.tags, ...patched }
}

function patchTile(service: Service, dashboard: Dashboard, tileId: string, patch: NonNullable<Patch['tile']>): JsonObject | string {
  const index = dashboard.tiles.findIndex(({ id }) => id === tileId)
  const before = dashboard.tiles[index]
  if (before === undefined) {
    const shown = dashboard.tiles.filter((one) => toTileView(one, dashboard) !== undefined)
    return `Tile not found: ${tileId}. Available tile IDs: ${shown.map((one) => `${one.id} (${one.name})`).join(', ')}`
  }
  const merged = Object.assign({ ...before }, patch)
  const parsed = tile.safeParse(merged)
  if (!parsed.success) return `Validation error: ${JSON.stringify(parsed.error.issues)}`
  const problem =
    refuseMacros(merged.name, merged.config) ?? findReferenceProblem(service, { name: dashboard.name, tiles: [parsed.data] }, dashboard)
  if (problem !== undefined) return problem
  dashboard.tiles[index] = { ...merged, config: toStoredConfig(parsed.data.config ?? {}, undefined) }
  if (!alertTypes.includes(merged.config.displayType)) deleteAlertsOfTiles(service, dashboard.id, [merged.id])
  return { patchedTile: merged, hint: 'Use clickstack_query_tile to test the patched tile query.' }
}

/** Stores nothing. The response has no envelope, and `normalized` is the parsed body, without the defaults that views have. */
export function validateDashboard({ service, body }: ProductRequest): ProductResponse {
  const invalid = (errors: readonly JsonObject[]): ProductResponse => ({ status: 200, body: { valid: false, errors, normalized: null } })
  const parsed = newDashboard.safeParse(body)
  if (!parsed.success) return invalid(parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })))
  const problem = findReferenceProblem(service, parsed.data)
  if (problem !== undefined) return invalid([{ path: '', message: problem }])
  return { status: 200, body: { valid: true, errors: [], normalized: parsed.data } }
}

function toDashboardView(dashboard: Dashboard): JsonObject {
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

/** Fields of a mode that the filter is not in are stored and not shown. */
function toFilterView({ variableName, appliesToSourceIds, ...filter }: DashboardFilter): JsonObject {
  return {
    ...filter,
    ...(filter.isVariableEnabled === true && variableName !== undefined && { variableName }),
    ...(filter.isBroadcastEnabled !== false && appliesToSourceIds !== undefined && { appliesToSourceIds }),
  }
}

interface TileStorage {
  readonly before: readonly Tile[]
  /** What is stored as the language of an item of a select that has none: nothing by a create, and null by an update. */
  readonly missingLanguage: null | undefined
}

/** The config as it is stored. Tiles with a condition of their own get a default language. */
function toStoredConfig(config: JsonObject, missingLanguage: TileStorage['missingLanguage']): JsonObject {
  if (config.configType === 'sql') return config
  if (filteredTypes.includes(config.displayType)) return { ...config, whereLanguage: config.whereLanguage ?? 'lucene' }
  if (!Array.isArray(config.select) || missingLanguage === undefined) return config
  return { ...config, select: config.select.map((item: JsonObject) => ({ ...item, whereLanguage: item.whereLanguage ?? missingLanguage })) }
}

/** A tile keeps its id only when the dashboard has a tile with it; every other id is replaced by a new one. */
const toTiles = ({ tiles }: DashboardBody, ids: Ids, { before, missingLanguage }: TileStorage): Tile[] =>
  tiles.map((tile) => ({
    id: keptId(before, tile.id) ?? ids.objectId(),
    name: tile.name,
    x: tile.x,
    y: tile.y,
    w: tile.w,
    h: tile.h,
    config: toStoredConfig(tile.config, missingLanguage),
    ...(tile.containerId !== undefined && { containerId: tile.containerId }),
    ...(tile.tabId !== undefined && { tabId: tile.tabId }),
  }))

const toFilters = ({ filters = [] }: DashboardBody, ids: Ids, before: readonly DashboardFilter[]): DashboardFilter[] =>
  filters.map((filter) => ({ ...filter, id: ('id' in filter ? keptId(before, filter.id) : undefined) ?? ids.objectId() }))

const keptId = (before: readonly { readonly id: string }[], id: string | undefined) => before.find((one) => one.id === id)?.id

function toSavedQueryLanguage({ savedQuery, savedQueryLanguage }: DashboardBody): string | null | undefined {
  if (savedQueryLanguage !== undefined) return savedQueryLanguage
  if (savedQuery === null) return null
  return savedQuery ? 'lucene' : undefined
}

const alertTypes: readonly unknown[] = ['line', 'stacked_bar', 'number']

/** Deletes alerts of removed tiles, hidden tiles included, and of tiles that cannot have alerts any more. Keeps alerts of unknown tiles. */
function deleteLostAlerts({ service }: ProductRequest, dashboard: Dashboard, before: readonly Tile[]) {
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

/**
 * The first missing or unsuitable reference of a dashboard, in the product's words and order. `existing` is the dashboard that is updated:
 * a tile may keep a source that does not fit any more.
 */
function findReferenceProblem(service: Service, { tiles, filters = [], containers }: DashboardBody, existing?: Dashboard) {
  const configs = tiles.flatMap(({ config }): JsonObject[] => (config === undefined ? [] : [config]))
  const before = new Map(existing?.tiles.map((tile) => [tile.id, tile]))
  const containerProblems = findContainerProblems(tiles, containers ?? existing?.containers ?? [])
  if (containerProblems.length > 0) return containerProblems.join('; ')

  const missing = (ids: readonly string[], known: readonly { readonly id: string }[]): string[] =>
    unique(ids).filter((id) => !known.some((one) => one.id === id))
  const clicks = configs.flatMap(clickTargetOf)
  const searchSources = clicks.filter(({ type }) => type === 'search').map(({ id }) => id)
  const sources = [...tiles.flatMap(sourceIdsOf), ...filters.map(({ sourceId }) => sourceId)]

  const problems: [string, readonly string[]][] = [
    ['Could not find the following source IDs', missing(sources, service.sources)],
    [
      'Could not find the following connection IDs',
      missing(
        configs.filter(isSql).map(({ connectionId }) => String(connectionId)),
        service.connections,
      ),
    ],
    ['The following source IDs do not match the specified connections', findConnectionMismatches(configs, service)],
    [
      'Heatmap tiles require a Trace source. The following source IDs are not Trace sources',
      findWrongKinds(
        service,
        tiles.filter((tile) => isHeatmap(tile.config) && isNewHeatmap(tile, before.get(tile.id ?? ''))),
        ['trace'],
      ),
    ],
    [
      'Tiles with formulas require a Metric, Log, or Trace source. The following source IDs are not formula-capable',
      findWrongKinds(
        service,
        tiles.filter((tile) => hasFormula(tile.config) && isNewFormula(tile, before.get(tile.id ?? ''))),
        ['metric', 'log', 'trace'],
      ),
    ],
    [
      'Could not find the following onClick dashboard IDs',
      missing(
        clicks.filter(({ type }) => type === 'dashboard').map(({ id }) => id),
        service.dashboards,
      ),
    ],
    [
      'The following onClick search source IDs are not log or trace sources',
      unique(searchSources).filter((id) => !['log', 'trace'].includes(kindOf(service, id) ?? '')),
    ],
  ]
  const found = problems.find(([, ids]) => ids.length > 0)
  return found && `${found[0]}: ${found[1].join(', ')}`
}

const unique = (ids: readonly string[]) => [...new Set(ids)]

function findContainerProblems(tiles: readonly TileBody[], containers: readonly JsonObject[]) {
  const byId = new Map(containers.map((container) => [container.id, container]))
  return tiles.flatMap(({ containerId, tabId }, index): string[] => {
    const container = byId.get(containerId)
    const isUnknown = containerId !== undefined && container === undefined
    const problems = isUnknown ? [`tiles.${index}.containerId: Tile references unknown containerId "${containerId}"`] : []
    if (tabId !== undefined && containerId === undefined) problems.push(`tiles.${index}.tabId: tabId requires containerId to be set`)
    if (tabId !== undefined && container !== undefined && !hasTab(container, tabId))
      problems.push(`tiles.${index}.tabId: Tile references unknown tabId "${tabId}" in container "${containerId}"`)
    return problems
  })
}

function sourceIdsOf({ config }: TileBody) {
  const own = 'sourceId' in config && config.sourceId ? [config.sourceId] : []
  const clicked = clickTargetOf(config).flatMap(({ type, id }) => (type === 'search' ? [id] : []))
  return [...own, ...clicked]
}

function clickTargetOf({ onClick }: JsonObject): { readonly type: unknown; readonly id: string }[] {
  if (!isJsonObject(onClick) || !isJsonObject(onClick.target) || onClick.target.mode !== 'id') return []
  return [{ type: onClick.type, id: String(onClick.target.id) }]
}

const isSql = ({ configType }: JsonObject) => configType === 'sql'

const findConnectionMismatches = (configs: readonly JsonObject[], { sources }: Service) =>
  configs.filter(isSql).flatMap(({ sourceId, connectionId }) => {
    const source = sources.find(({ id }) => id === sourceId)
    return source !== undefined && source.connection !== connectionId ? [source.id] : []
  })

const kindOf = ({ sources }: Service, sourceId: string) => sources.find(({ id }) => id === sourceId)?.kind

function findWrongKinds(service: Service, tiles: readonly TileBody[], kinds: readonly string[]) {
  const ids = tiles.flatMap(({ config }) => (config !== undefined && 'sourceId' in config && config.sourceId ? [config.sourceId] : []))
  return unique(ids).filter((id) => {
    const kind = kindOf(service, id)
    return kind !== undefined && !kinds.includes(kind)
  })
}

const isHeatmap = (config: JsonObject | undefined) => config?.displayType === 'heatmap'

const hasFormula = (config: JsonObject | undefined) => Array.isArray(config?.formulas) && config.formulas.length > 0

const hasSource = (tile: Tile, { config }: TileBody) =>
  config !== undefined && 'sourceId' in config && tile.config.sourceId === config.sourceId

const isNewHeatmap = (tile: TileBody, before: Tile | undefined) =>
  before === undefined || isSql(before.config) || !isHeatmap(before.config) || !hasSource(before, tile)

const isNewFormula = (tile: TileBody, before: Tile | undefined) =>
  before === undefined ||
  before.config.configType !== undefined ||
  // Most display types have no formulas.
  !isSame(before.config.formulas, (tile.config as JsonObject | undefined)?.formulas) ||
  !hasSource(before, tile)
