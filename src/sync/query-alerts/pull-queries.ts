// What `pull` writes of alerts that were applied with a query: files have the query, and not its tile.

import { type AlertQuery, queryDashboardKey, toTileConfig } from '../../kinds/alert-query/alert-query.ts'
import { declaresNoTiles } from '../../kinds/dashboard/dashboard-file.ts'
import { displayTypeOf } from '../../kinds/dashboard/dashboard-wire.ts'
import { type Body, type FileContext, type KindWire, listOf } from '../../kinds/kind.ts'
import type { Declared, Kinds } from '../../kinds/kinds.ts'
import type { NewObject } from '../pull/select.ts'

export interface QueriesInFiles extends Required<Pick<FileContext, 'isForQueries'>> {
  isQueryTile(tile: Body): boolean
}

/** All tiles of dashboards that leave them to alerts, and the tiles of new alerts. */
export function queriesInFiles(
  objects: readonly Declared[],
  { keyOf }: Pick<FileContext, 'keyOf'>,
  queryTiles: ReadonlySet<unknown>,
): QueriesInFiles {
  const withoutTiles = objects.filter(({ kind, spelled }) => kind === 'dashboard' && declaresNoTiles(spelled))
  const keys = new Set([queryDashboardKey, ...withoutTiles.map(({ key }) => key)])
  return {
    isForQueries: (id, tileId) => keys.has(keyOf('dashboard', id) ?? '') || queryTiles.has(tileId),
    isQueryTile: ({ id }) => queryTiles.has(id),
  }
}

/** `spell` gives the fields that a file can have. */
export function findQueryTiles(
  added: readonly NewObject[],
  { kinds, tilesOf }: Pick<FileContext, 'tilesOf'> & { readonly kinds: Kinds },
  spell: (one: NewObject) => Body | undefined,
): ReadonlySet<unknown> {
  // A person who renames the tile, or makes it another chart, means it as a tile.
  const isQuery = (one: NewObject): boolean => {
    const { kind, key, stored } = one
    const { queryTile } = kinds[kind].readMarker(kinds[kind].toBody(stored)) ?? {}
    const tile = tilesOf(stored.dashboardId).find(({ id }) => id === queryTile && id === stored.tileId)
    const name = stored.name || key
    if (tile === undefined || ![name, `${name} (${key})`].includes(String(tile.name))) return false
    const { query, dashboard = '' } = spell(one) ?? {}
    // The fields are those of a file.
    return query !== undefined && typeof dashboard === 'string' && toTileConfig(query as AlertQuery).displayType === displayTypeOf(tile)
  }
  return new Set(added.filter(isQuery).map(({ stored }) => stored.tileId))
}

export function withoutQueries(
  stored: Body,
  desired: Body,
  kind: KindWire,
  { queries, spelled, isQueryTile }: Pick<Declared, 'queries' | 'spelled'> & Pick<QueriesInFiles, 'isQueryTile'>,
): readonly [Body, Body] {
  const declared = kind.withStoredIds(desired, stored)
  if (queries === undefined && !listOf(stored.tiles).some(isQueryTile)) return [stored, declared]
  const isQuery = ({ name }: Body): boolean => queries?.has(String(name)) ?? false
  const ids = new Set(listOf(declared.tiles).flatMap((tile) => (isQuery(tile) ? [tile.id] : [])))
  const isInFile = (tile: Body): boolean =>
    !declaresNoTiles(spelled) && !ids.has(tile.id) && !isQueryTile(tile) && !(tile.id === undefined && isQuery(tile))
  const [before, after] = [stored, declared].map((one) => ({ ...one, tiles: listOf(one.tiles).filter(isInFile) }))
  return [before ?? stored, after ?? declared]
}
