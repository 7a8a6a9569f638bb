// The tiles of a dashboard that are queries of alerts. A person can move them, and can add other tiles to a dashboard that declares none.
import { withoutUndefined } from '../../platform/core/keys.ts'
import { declaresNoTiles, gridOf } from '../dashboard/dashboard-file.ts'
import { toDashboardBody } from '../dashboard/dashboard-wire.ts'
import { findOverlaps, type Place, placeTiles } from '../dashboard/layout.ts'
import { nameAndContentOf } from '../dashboard/tile-ids.ts'
import { type AlertTarget, type Body, type DeclaredObject, type KeptTiles, listOf, type ResolveContext } from '../kind.ts'

/** Three in a row. */
export const queryTileSize = { w: 8, h: 5 }

/** The tiles of a desired dashboard without those that it keeps. */
export const withoutKept = (tiles: readonly Body[], kept?: KeptTiles): readonly Body[] => tiles.slice(0, tiles.length - (kept?.count ?? 0))

/** The tiles with the name. A copy of the tile of an alert, made in the web app, has the same name. */
export function tilesNamed(tiles: readonly Body[], name: unknown, kept?: KeptTiles): readonly Body[] {
  const isNamed = (tile: Body) => tile.name === name
  const declared = withoutKept(tiles, kept).filter(isNamed)
  return declared.length > 0 ? declared : tiles.filter(isNamed)
}

/**
 * The tiles of a declared dashboard as they will be stored. The tile of an alert is the one that the stored alert is on, where a person put
 * it. Where the file declares no tiles, those of others stay.
 */
export function arrangeTiles(
  tiles: readonly Body[],
  { queries, spelled }: Pick<DeclaredObject, 'queries' | 'spelled'>,
  { stored, tileOwners }: Pick<ResolveContext, 'stored' | 'tileOwners'>,
): Pick<AlertTarget, 'tiles' | 'keptTiles'> {
  if (queries === undefined) return { tiles }
  const before = stored === undefined ? [] : listOf(toDashboardBody(stored).tiles)
  const ids = new Set<unknown>()
  const known = tiles.map((tile): Body => {
    const key = queries.get(String(tile.name))
    if (key === undefined) return tile
    const ofAlert = before.find(({ id }) => id !== undefined && !ids.has(id) && id === tileOwners?.tileOf(key))
    // The tile of an alert stays after somebody deletes the alert.
    const left = before.find(
      (one) => tileOwners?.ownerOf(one.id) === undefined && !ids.has(one.id) && nameAndContentOf(one) === nameAndContentOf(tile),
    )
    const id = (ofAlert ?? left)?.id
    if (id !== undefined) ids.add(id)
    return id === undefined ? tile : { ...tile, id }
  })
  const kept = declaresNoTiles(spelled) ? before.filter(({ id }) => !ids.has(id) && tileOwners?.ownerOf(id) !== 'ending') : []
  return {
    tiles: [...placeQueries(known, queries, kept, before), ...kept],
    keptTiles: { count: kept.length, haveOthers: kept.some(({ id }) => tileOwners?.ownerOf(id) === undefined) },
  }
}

const placeFields = ['x', 'y', 'w', 'h', 'containerId', 'tabId'] as const

/** A stored tile keeps its place, unless a tile of the file is there. The others are placed around all tiles. */
function placeQueries(
  known: readonly Body[],
  queries: ReadonlyMap<string, string>,
  others: readonly Body[],
  before: readonly Body[],
): readonly Body[] {
  const isQuery = ({ name }: Body) => queries.has(String(name))
  const ofFile = known.filter((tile) => !isQuery(tile))
  const kept = new Map(
    known.flatMap((tile) => {
      const old = isQuery(tile) && tile.id !== undefined ? before.find(({ id }) => id === tile.id) : undefined
      if (old === undefined) return []
      const place = Object.fromEntries(placeFields.map((field) => [field, old[field]]))
      const moved: Body = { ...tile, ...withoutUndefined(place) }
      const around = ofFile.filter((one) => gridOf(one) === gridOf(moved))
      return findOverlaps([...around, moved].map(toPlace)).at(-1) === undefined ? [[tile, moved] as const] : []
    }),
  )
  const fresh = known.filter((tile) => isQuery(tile) && !kept.has(tile))
  const around = [...ofFile, ...others, ...kept.values()].filter(({ containerId }) => containerId === undefined)
  const places = placeTiles([...around.map(toPlace), ...fresh.map(({ w, h }) => ({ w: Number(w), h: Number(h) }))]).slice(around.length)
  return known.map((tile) => kept.get(tile) ?? { ...tile, ...places[fresh.indexOf(tile)] })
}

const toPlace = ({ x, y, w, h }: Body): Place => ({ x: Number(x), y: Number(y), w: Number(w), h: Number(h) })
