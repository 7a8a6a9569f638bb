import * as z from 'zod/v3'
import { isSame } from '../../platform/core/equality.ts'
import { type Dashboard, type DashboardFilter, emptyDashboard, isJsonObject, type JsonObject, type Service, type Tile } from '../store.ts'
import { deleteAlertsOfTiles, deleteAlertsWhere } from './alerts.ts'
import { addIssue, badRequest, findById, objectId, type ProductRequest, type ProductResponse, plainNotFound, routesOf } from './request.ts'
import { filteredTypes, metricType, patchConfig, queryLanguage, refuseMacros, tileConfig } from './tile-schema.ts'
import { hasFormulas, hasTab, toTileView } from './tile-view.ts'

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
    for (const [index, { id }] of items.entries())
      if (id && isRepeated(items, index))
        addIssue(context, `Duplicate tile ID: ${id}. Omit the ID to generate a unique one.`, [index, 'id'])
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

const bodyFields = {
  name: z.string().max(1024),
  tiles,
  tags,
  savedQuery: z.string().nullable().optional(),
  savedQueryLanguage: queryLanguage.nullable().optional(),
  savedFilterValues: z.array(z.object({ type: z.literal('sql').optional().default('sql'), condition: z.string().max(10_000) })).optional(),
  containers: z.array(container).max(50).optional(),
}

type CrossFields = z.output<z.ZodObject<typeof bodyFields>> & { readonly filters?: readonly FilterBody[] | undefined }

function checkCrossFields({ savedQuery, savedQueryLanguage, containers = [], filters = [] }: CrossFields, context: z.RefinementCtx) {
  if (savedQuery != null && savedQueryLanguage === null)
    addIssue(context, 'savedQueryLanguage cannot be null when savedQuery is provided', ['savedQueryLanguage'])
  for (const [index, { id, tabs = [] }] of containers.entries()) {
    if (isRepeated(containers, index)) addIssue(context, `Container IDs must be unique: "${id}"`, ['containers', index, 'id'])
    for (const [i, tab] of tabs.entries())
      if (isRepeated(tabs, i))
        addIssue(context, `Duplicate tab id "${tab.id}" in container "${id}"`, ['containers', index, 'tabs', i, 'id'])
  }
  for (const rule of filterRules)
    for (const [index, filter] of filters.entries())
      for (const [field, message] of Object.entries(rule(filter, filters.slice(0, index))))
        if (message) addIssue(context, message, ['filters', index, field])
}

const isRepeated = (items: readonly { readonly id?: string | undefined }[], index: number) =>
  items.findIndex(({ id }) => id === items[index]?.id) < index

/** What is wrong with the fields of a filter. A rule is checked for all filters before the next one. */
const filterRules: readonly ((filter: FilterBody, earlier: readonly FilterBody[]) => Readonly<Record<string, string | false>>)[] = [
  (filter, earlier) => {
    const variable = variableOf(filter)
    if (variable === '') return { variableName: `Variable name is required for filter "${filter.name}"` }
    const isTaken = variable !== undefined && earlier.some((other) => variableOf(other) === variable)
    return { variableName: isTaken && `Variable names must be unique: "${variable}"` }
  },
  ({ name, isBroadcastEnabled, isVariableEnabled }) => ({
    isBroadcastEnabled:
      isBroadcastEnabled === false &&
      isVariableEnabled !== true &&
      `Filter "${name}" must broadcast its value, be available as a variable, or both`,
  }),
  ({ name, isBroadcastEnabled, isVariableEnabled, variableName, appliesToSourceIds = [] }) => ({
    variableName:
      variableName !== undefined &&
      isVariableEnabled !== true &&
      `Filter "${name}" sets variableName but is not available as a variable; set isVariableEnabled to true or drop variableName`,
    appliesToSourceIds:
      appliesToSourceIds.length > 0 &&
      isBroadcastEnabled === false &&
      `Filter "${name}" sets appliesToSourceIds but does not broadcast its value; set isBroadcastEnabled to true or drop appliesToSourceIds`,
  }),
]

/** Undefined for a filter without a variable. The filter `Deploy env` has the variable `Deploy_env` by default. */
function variableOf({ isVariableEnabled, variableName, name: filterName }: FilterBody) {
  if (isVariableEnabled !== true) return undefined
  const name = filterName
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_]+/g, '')
  return variableName?.trim() || (/^[0-9_]/.test(name) ? `v${name}` : name)
}

/** Filters of a new dashboard have no ids. Filters of an update must have them. */
export const newDashboard = z.object({ ...bodyFields, filters: z.array(createFilter).optional() }).superRefine(checkCrossFields)

export const changedDashboard = z
  .object({ ...bodyFields, filters: z.array(z.object({ id: z.string(), ...filterBody }).strict()).optional() })
  .superRefine(checkCrossFields)

type DashboardBody = z.output<typeof newDashboard> | z.output<typeof changedDashboard>

/**
 * The list is sorted by name, descending, and has all tiles. An update replaces the tiles, and keeps other fields that the body leaves out.
 */
export const dashboards = routesOf<Dashboard, DashboardBody>({
  name: 'dashboards',
  itemsOf: (service) => service.dashboards,
  toView: toDashboardView,
  list: (items) => items.toSorted((a, b) => Buffer.compare(Buffer.from(b.name), Buffer.from(a.name))).map(toDashboardView),
  missing: plainNotFound,
  schema: (_, isUpdate) => (isUpdate ? changedDashboard : newDashboard),
  write({ service, ids }, body, existing) {
    const problem = findReferenceProblem(service, body, existing)
    if (problem !== undefined) throw badRequest(problem)
    const { savedQuery, savedFilterValues, containers } = body
    const usualLanguage = savedQuery === null ? null : savedQuery ? 'lucene' : undefined
    const { savedQueryLanguage = usualLanguage } = body
    const before = existing?.tiles ?? []
    const dashboard = Object.assign(existing ?? { id: ids.objectId(), ...emptyDashboard() }, {
      name: body.name,
      // A tile keeps its id only when the dashboard has a tile with it; every other id is replaced by a new one.
      tiles: body.tiles.map((tile) => ({
        ...tile,
        id: keptId(before, tile.id) ?? ids.objectId(),
        config: toStoredConfig(tile.config, existing && null),
      })),
      ...(body.tags && { tags: [...new Set(body.tags)] }),
      ...(body.filters && {
        filters: body.filters.map((filter) => ({
          ...filter,
          id: keptId(existing?.filters, 'id' in filter ? filter.id : undefined) ?? ids.objectId(),
        })),
      }),
      ...(savedQuery !== undefined && { savedQuery }),
      ...(savedQueryLanguage !== undefined && { savedQueryLanguage }),
      ...(savedFilterValues && { savedFilterValues }),
      ...(containers && { containers }),
    })
    deleteLostAlerts(service, dashboard, before)
    return dashboard
  },
  isMissingDeleted: true,
  afterDelete: (service, { id }) => deleteAlertsWhere(service, ({ source, dashboardId }) => source === 'tile' && dashboardId === id),
})

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
  dashboard.tiles[index] = { ...merged, config: toStoredConfig(parsed.data.config, undefined) }
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
  const { tiles, filters, containers, ...shown } = dashboard
  return {
    ...shown,
    tiles: tiles.flatMap((tile) => toTileView(tile, dashboard) ?? []),
    filters: filters.map(toFilterView),
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

/**
 * The config as it is stored. Tiles with a condition of their own get a default language. An item of a select without a language gets the
 * missing one: nothing by a create, and null by an update.
 */
function toStoredConfig(config: JsonObject, missingLanguage: null | undefined): JsonObject {
  if (config.configType === 'sql') return config
  if (filteredTypes.includes(config.displayType)) return { ...config, whereLanguage: config.whereLanguage ?? 'lucene' }
  if (!Array.isArray(config.select) || missingLanguage === undefined) return config
  return { ...config, select: config.select.map((item: JsonObject) => ({ ...item, whereLanguage: item.whereLanguage ?? missingLanguage })) }
}

const keptId = (before: readonly { readonly id: string }[] = [], id: string | undefined) => before.find((one) => one.id === id)?.id

const alertTypes: readonly unknown[] = ['line', 'stacked_bar', 'number']

/** Deletes alerts of removed tiles, hidden tiles included, and of tiles that cannot have alerts any more. Keeps alerts of unknown tiles. */
function deleteLostAlerts(service: Service, { id, tiles }: Dashboard, before: readonly Tile[]) {
  const kept = new Set(tiles.map((tile) => tile.id))
  const lost = [...before.filter((tile) => !kept.has(tile.id)), ...tiles.filter(({ config }) => !alertTypes.includes(config.displayType))]
  deleteAlertsOfTiles(
    service,
    id,
    lost.map((tile) => tile.id),
  )
}

/**
 * The first missing or unsuitable reference of a dashboard, in the product's words and order. `existing` is the dashboard that is updated:
 * a tile may keep a source that does not fit any more.
 */
function findReferenceProblem(service: Service, { tiles, filters = [], containers }: DashboardBody, existing?: Dashboard) {
  const containerProblems = findContainerProblems(tiles, containers ?? existing?.containers ?? [])
  if (containerProblems.length > 0) return containerProblems.join('; ')
  const { sources, connections } = service
  const configs: readonly JsonObject[] = tiles.map(({ config }) => config)
  const ofSql = configs.filter(isSql)
  const clicked = (type: string) => configs.flatMap((config) => clickTargetOf(config, type))
  const missing = (ids: readonly string[], known: readonly { readonly id: string }[]) =>
    unique(ids).filter((id) => !known.some((one) => one.id === id))
  const ofOtherKind = (ids: readonly string[], ...kinds: readonly string[]) =>
    unique(ids).filter((id) => sources.some((source) => source.id === id && !kinds.includes(source.kind)))
  /** The sources of tiles that are new or changed. */
  const changed = (isMeant: (config: JsonObject) => boolean, isKept: (stored: JsonObject, config: JsonObject) => boolean) =>
    tiles
      .filter(({ config }) => isMeant(config))
      .flatMap(({ id, config }) => {
        const stored = existing?.tiles.find((tile) => tile.id === id)?.config
        return stored?.sourceId === config.sourceId && stored !== undefined && isKept(stored, config) ? [] : ownSourceIds(config)
      })
  const problems: readonly (readonly [string, readonly unknown[]])[] = [
    [
      'Could not find the following source IDs',
      missing(
        [
          ...configs.flatMap((config) => [...ownSourceIds(config), ...clickTargetOf(config, 'search')]),
          ...filters.map(({ sourceId }) => sourceId),
        ],
        sources,
      ),
    ],
    [
      'Could not find the following connection IDs',
      missing(
        ofSql.map(({ connectionId }) => String(connectionId)),
        connections,
      ),
    ],
    [
      'The following source IDs do not match the specified connections',
      ofSql
        .filter(({ sourceId, connectionId }) => sources.some(({ id, connection }) => id === sourceId && connection !== connectionId))
        .map(({ sourceId }) => sourceId),
    ],
    [
      'Heatmap tiles require a Trace source. The following source IDs are not Trace sources',
      ofOtherKind(
        changed(isHeatmap, (stored) => !isSql(stored) && isHeatmap(stored)),
        'trace',
      ),
    ],
    [
      'Tiles with formulas require a Metric, Log, or Trace source. The following source IDs are not formula-capable',
      ofOtherKind(
        changed(hasFormulas, (stored, { formulas }) => stored.configType === undefined && isSame(stored.formulas, formulas)),
        'metric',
        'log',
        'trace',
      ),
    ],
    ['Could not find the following onClick dashboard IDs', missing(clicked('dashboard'), service.dashboards)],
    ['The following onClick search source IDs are not log or trace sources', ofOtherKind(clicked('search'), 'log', 'trace')],
  ]
  const found = problems.find(([, ids]) => ids.length > 0)
  return found && `${found[0]}: ${found[1].join(', ')}`
}

const unique = (ids: readonly string[]) => [...new Set(ids)]

function findContainerProblems(tiles: DashboardBody['tiles'], containers: readonly JsonObject[]) {
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

const ownSourceIds = ({ sourceId }: JsonObject) => (sourceId ? [String(sourceId)] : [])

/** The id that a click of this type leads to. */
const clickTargetOf = ({ onClick }: JsonObject, type: string) =>
  isJsonObject(onClick) && onClick.type === type && isJsonObject(onClick.target) && onClick.target.mode === 'id'
    ? [String(onClick.target.id)]
    : []

const isSql = ({ configType }: JsonObject) => configType === 'sql'

const isHeatmap = ({ displayType }: JsonObject) => displayType === 'heatmap'
