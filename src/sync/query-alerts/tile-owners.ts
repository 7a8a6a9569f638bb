// Which alerts the tiles of dashboards are for: alerts are found before the dashboards are planned, so that a tile follows its alert.

import { queryDashboardKey } from '../../kinds/alert-query/alert-query.ts'
import { listOf, type StoredObject, type TileOwners } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { type Declared, isOf } from '../../kinds/kinds.ts'
import { isMapping } from '../../platform/core/keys.ts'
import type { Assumed, Facts } from '../decide/facts.ts'
import type { matchObjects } from '../decide/match.ts'
import type { MarkedObject } from '../plan/stored-objects.ts'
import { isMadeForQueries, makeProjectDashboard } from './query-alerts.ts'

type MatchedAlerts = ReturnType<typeof matchObjects<Declared<'alert'>>>

export function assignTiles(matched: MatchedAlerts, facts: Facts, assumed: Assumed) {
  const tileOwners = findTileOwners(matched, facts, assumed)
  return { tileOwners, objects: keepProjectDashboard(withoutTilesOf(facts.objects, assumed.alertsWithoutTile), facts, assumed, tileOwners) }
}

function findTileOwners({ pairs, orphans }: MatchedAlerts, { indexes }: Facts, { prune, held }: Assumed): TileOwners {
  const found = pairs.flatMap((one) => (one.found === undefined ? [] : [{ ...one.found, declared: one.declared }]))
  const names = new Map(indexes.dashboard.all.flatMap(({ stored }) => listOf(stored.tiles).map(({ id, name }) => [id, name] as const)))
  const queried = found.filter(({ declared }) => declared.value.query !== undefined)
  const tiles = new Map(queried.map((one) => [one.declared.key, queryTileOf(one)]))
  // An alert leaves its tile if it is pruned, or watches something else after the plan. One with a query counts, too, where its tile stays: a
  // dashboard asks only about tiles that it gives to no alert.
  const moved = found.filter(({ stored, declared }) => !held.has(addressOf(declared)) && !staysOn(declared, stored, names))
  const ended = [...moved, ...(prune === true ? orphans : [])]
  const leaving = new Set(ended.map(({ stored }) => stored.id))
  const staying = new Set(indexes.alert.all.flatMap(({ stored }) => (leaving.has(stored.id) ? [] : [stored.tileId])))
  const ending = new Set<unknown>(ended.flatMap(({ marker }) => marker?.queryTile ?? []).filter((id) => !staying.has(id)))
  const ours = new Set<unknown>([...found, ...orphans].flatMap(({ stored, marker }) => [stored.tileId, marker?.queryTile]))
  return {
    tileOf: (key) => tiles.get(key),
    ownerOf: (tileId) => (ending.has(tileId) ? 'ending' : ours.has(tileId) ? 'ours' : undefined),
  }
}

/** An alert leaves another tile when it gets a query, whatever the name of that is. An adopted one brings its tile. */
const queryTileOf = ({ stored, marker }: MarkedObject): unknown => (marker === undefined ? stored.tileId : marker.queryTile)

/** On a dashboard that the files do not declare. */
function staysOn({ value: { query, tile, dashboard } }: Declared<'alert'>, { tileId }: StoredObject, names: ReadonlyMap<unknown, unknown>) {
  if (query !== undefined) return false
  return isMapping(tile) ? tile.id === tileId : isMapping(dashboard) && tile === names.get(tileId)
}

/** The declarations without the tiles of these alerts, and without the dashboard that is made only for them. */
const withoutTilesOf = (objects: readonly Declared[], alerts: ReadonlySet<string>): readonly Declared[] =>
  objects.flatMap((one): readonly Declared[] => {
    if (alerts.size === 0 || !isOf('dashboard')(one)) return [one]
    const tiles = one.value.tiles.filter(({ name }) => !alerts.has(one.queries?.get(String(name)) ?? ''))
    return tiles.length === 0 && isMadeForQueries(one) ? [] : [{ ...one, value: { ...one.value, tiles } }]
  })

/**
 * The dashboard for the queries of alerts counts as declared as long as it has tiles that are not theirs: prune must not delete it, and
 * removes only the tiles of ended alerts.
 */
function keepProjectDashboard(
  objects: readonly Declared[],
  { kinds: { dashboard: kind }, indexes, project }: Facts,
  { prune }: Assumed,
  owners: TileOwners,
): readonly Declared[] {
  const [found, second] = indexes.dashboard.byToken.get(kind.markerStyle.token(project, queryDashboardKey)) ?? []
  const isDeclared = objects.some((one) => isOf('dashboard')(one) && one.key === queryDashboardKey)
  if (found === undefined || second !== undefined || isDeclared || prune === 'forget') return objects
  const tiles = listOf(found.stored.tiles)
  // Without prune, the tiles go now: nothing tells later what they were made for.
  if (tiles.length === 0 || (prune === true && tiles.every(({ id }) => owners.ownerOf(id) === 'ending'))) return objects
  return [...objects, makeProjectDashboard(found.stored.name ?? '', { file: 'alerts' })]
}
