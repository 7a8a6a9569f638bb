// Which alerts the tiles of dashboards are for: alerts are found before the dashboards are planned, so that a tile follows its alert.

import type { Prune } from '../../declarations/find-declarations.ts'
import { projectDashboard } from '../../kinds/alert-query.ts'
import { listOf, type TileOwners } from '../../kinds/kind.ts'
import { type Declared, isOf, type Kinds, makeProjectDashboard } from '../../kinds/kinds.ts'
import { type AdoptFrom, matchObjects } from './match.ts'
import type { StoredIndex } from './stored-objects.ts'

interface OwnersInput {
  readonly project: string
  readonly adoptFrom?: AdoptFrom
  readonly prune: Prune
  readonly kinds: Kinds
  readonly ownsAnything: boolean
  readonly alerts: StoredIndex
  readonly dashboards: StoredIndex
}

export function findTileOwners(objects: readonly Declared[], { kinds, alerts, dashboards, prune, ...owner }: OwnersInput): TileOwners {
  const { pairs, orphans } = matchObjects({ ...owner, kind: kinds.alert, declared: objects.filter(isOf('alert')), index: alerts })
  const found = pairs.flatMap(({ declared, found }) => (found === undefined ? [] : [{ declared, stored: found.stored }]))
  const tiles = new Map(found.flatMap(({ declared: { key, value }, stored }) => (value.query === undefined ? [] : [[key, stored.tileId]])))
  const ours = new Set<unknown>([...found, ...orphans].map(({ stored }) => stored.tileId))
  // A dashboard asks about tiles that it does not give to an alert: those of pruned alerts, and of alerts that move to another dashboard.
  // No file says that a pruned alert had a query. Its tile has the name that the tile of a query gets, and any other tile is a person's.
  const names = new Map(dashboards.all.flatMap(({ stored }) => listOf(stored.tiles).map(({ id, name }) => [id, name] as const)))
  const ending = new Set([
    ...found.filter(({ declared }) => declared.value.query !== undefined).map(({ stored }) => stored.id),
    ...(prune === true ? orphans : [])
      .filter(({ stored, marker }) => [stored.name, `${stored.name} (${marker?.key})`].includes(String(names.get(stored.tileId))))
      .map(({ stored }) => stored.id),
  ])
  const staying = new Set(alerts.all.flatMap(({ stored }) => (ending.has(stored.id) ? [] : [stored.tileId])))
  return {
    tileOf: (key) => tiles.get(key),
    ownerOf: (tileId) => (!ours.has(tileId) ? undefined : staying.has(tileId) ? 'ours' : 'ending'),
  }
}

/**
 * The dashboard for the queries of alerts counts as declared as long as it has tiles that are not theirs: prune must not delete it, and
 * removes only the tiles of ended alerts.
 */
export function keepProjectDashboard(
  objects: readonly Declared[],
  { kinds: { dashboard: kind }, dashboards, project, prune }: OwnersInput,
  owners: TileOwners,
): readonly Declared[] {
  const [found, second] = dashboards.byToken.get(kind.markerStyle.token(project, projectDashboard)) ?? []
  const isDeclared = objects.some((one) => isOf('dashboard')(one) && one.key === projectDashboard)
  if (found === undefined || second !== undefined || isDeclared || prune === 'forget') return objects
  if (listOf(found.stored.tiles).every(({ id }) => owners.ownerOf(id) === 'ending')) return objects
  return [...objects, makeProjectDashboard(found.stored.name ?? '', { file: 'prune' })]
}
