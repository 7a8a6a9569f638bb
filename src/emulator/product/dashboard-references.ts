import { isSame } from '../../core/equality.ts'
import { isJsonObject } from '../json.ts'
import type { Dashboard, JsonObject, Service, Source, Tile } from '../store.ts'
import type { DashboardBody, TileBody } from './dashboard-schema.ts'

/**
 * The first thing that a dashboard refers to and that is not there or does not fit, in the product's words and order; undefined when
 * everything is well. `existing` is the dashboard that is updated: tiles that keep a source which does not fit any more are left in peace.
 */
export function findReferenceProblem(
  service: Service,
  { tiles, filters = [], containers }: DashboardBody,
  existing?: Dashboard,
): string | undefined {
  const configs = tiles.flatMap(({ config }): JsonObject[] => (config === undefined ? [] : [config]))
  const before = new Map(existing?.tiles.map((tile) => [tile.id, tile]))
  const places = findPlaceProblems(tiles, containers ?? existing?.containers ?? [])
  if (places.length > 0) return places.join('; ')

  const missing = (ids: readonly string[], known: readonly { readonly id: string }[]): string[] =>
    unique(ids).filter((id) => !known.some((one) => one.id === id))
  const clicks = configs.flatMap(clickTargetOf)
  const searchSources = clicks.filter(({ type }) => type === 'search').map(({ id }) => id)
  const sources = [...tiles.flatMap(sourcesOf), ...filters.map(({ sourceId }) => sourceId)]

  const problems: [string, readonly string[]][] = [
    ['Could not find the following source IDs', missing(sources, service.sources)],
    ['Could not find the following connection IDs', missing(configs.filter(isSql).map(connectionOf), service.connections)],
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
        tiles.filter((tile) => hasFormulas(tile.config) && isNewFormula(tile, before.get(tile.id ?? ''))),
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

const unique = (ids: readonly string[]): string[] => [...new Set(ids)]

function findPlaceProblems(tiles: readonly TileBody[], containers: readonly JsonObject[]): string[] {
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

export const hasTab = ({ tabs }: JsonObject, tabId: string): boolean =>
  Array.isArray(tabs) && tabs.some((tab) => isJsonObject(tab) && tab.id === tabId)

function sourcesOf({ series = [], config }: TileBody): string[] {
  const own = config !== undefined && 'sourceId' in config && config.sourceId ? [config.sourceId] : []
  const clicked = config === undefined ? [] : clickTargetOf(config).flatMap(({ type, id }) => (type === 'search' ? [id] : []))
  return [...series.flatMap((item) => ('sourceId' in item ? [item.sourceId] : [])), ...own, ...clicked]
}

function clickTargetOf({ onClick }: JsonObject): { readonly type: unknown; readonly id: string }[] {
  if (!isJsonObject(onClick) || !isJsonObject(onClick.target) || onClick.target.mode !== 'id') return []
  return [{ type: onClick.type, id: String(onClick.target.id) }]
}

const isSql = ({ configType }: JsonObject): boolean => configType === 'sql'

const connectionOf = ({ connectionId }: JsonObject): string => String(connectionId)

const findConnectionMismatches = (configs: readonly JsonObject[], { sources }: Service): string[] =>
  configs.filter(isSql).flatMap(({ sourceId, connectionId }) => {
    const source = sources.find(({ id }) => id === sourceId)
    return source !== undefined && source.connection !== connectionId ? [source.id] : []
  })

const kindOf = ({ sources }: Service, sourceId: string): Source['kind'] | undefined => sources.find(({ id }) => id === sourceId)?.kind

function findWrongKinds(service: Service, tiles: readonly TileBody[], kinds: readonly string[]): string[] {
  const ids = tiles.flatMap(({ config }) => (config !== undefined && 'sourceId' in config && config.sourceId ? [config.sourceId] : []))
  return unique(ids).filter((id) => {
    const kind = kindOf(service, id)
    return kind !== undefined && !kinds.includes(kind)
  })
}

const isHeatmap = (config: JsonObject | undefined): boolean => config?.displayType === 'heatmap'

const hasFormulas = (config: JsonObject | undefined): boolean => Array.isArray(config?.formulas) && config.formulas.length > 0

const hasSource = (tile: Tile, { config }: TileBody): boolean =>
  config !== undefined && 'sourceId' in config && tile.config.sourceId === config.sourceId

const isNewHeatmap = (tile: TileBody, before: Tile | undefined): boolean =>
  before === undefined || isSql(before.config) || !isHeatmap(before.config) || !hasSource(before, tile)

const isNewFormula = (tile: TileBody, before: Tile | undefined): boolean =>
  before === undefined ||
  before.config.configType !== undefined ||
  !isSame(before.config.formulas, (tile.config as JsonObject | undefined)?.formulas) ||
  !hasSource(before, tile)
