import * as z from 'zod'
import { digestOfText } from '../../platform/core/digest.ts'
import { isEmpty, isMapping, withoutUndefined } from '../../platform/core/keys.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import { managedPart, withoutDefaults } from '../compare.ts'
import { type Body, type DeclaredObject, type KeptTiles, listOf, type PlannedTiles, type ResolveContext } from '../kind.ts'
import { canonicalText } from '../marker.ts'
import { builtConfig, writtenConfig } from './dashboard.ts'
import { declaresNoTiles, findOverlaps, gridOf, type Place, placeTiles } from './dashboard-file.ts'
import { displayTypeOf, toDashboardBody } from './dashboard-wire.ts'

export const byId = (a: Body, b: Body): number => (String(a.id ?? a.name) < String(b.id ?? b.name) ? -1 : 1)

/** Removes `showOperandSeries` from a tile without formulas, where it has no effect and the server drops it. */
export function effectiveTile(tile: Body): Body {
  const { config } = tile
  if (!isMapping(config) || !isEmpty(config.formulas) || !Object.hasOwn(config, 'showOperandSeries')) return tile
  const { showOperandSeries: _, ...effective } = config
  return { ...tile, config: effective }
}

/**
 * Gives tiles the ids that they already have: by id, by name, by name and type, or, because a renamed tile is the same tile, by content. Tiles that
 * share a name, or have none, are paired by their content first. Of several that could be the same tile, none is.
 */
export function withTileIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const [names, others] = [Map.groupBy(desired, nameOf), Map.groupBy(before, nameOf)]
  const isShared = (name: unknown) => name === undefined || [names, others].some((all) => (all.get(name)?.length ?? 0) > 1)
  const sharedNameAndContentOf = (tile: Body): unknown => (isShared(nameOf(tile)) ? nameAndContentOf(tile) : undefined)
  const ids = pair(desired, before, [idOf, sharedNameAndContentOf], [nameOf, trimmedNameOf, nameAndTypeOf, contentOf])
  return desired.map((tile) => (ids.has(tile) ? { ...tile, id: ids.get(tile) } : tile))
}

/** Gives every filter an id, as an update requires. The server replaces unknown ids. */
export function withFilterIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const ids = pair(desired, before, [idOf, nameOf, trimmedNameOf])
  return desired.map((filter) => ({ ...filter, id: ids.get(filter) ?? filter.id ?? digestOfText(String(filter.name), 24) }))
}

type KeyOf = (item: Body) => unknown

/**
 * The ids of stored items, by the desired ones that they belong to. Items without a partner are paired by each key in turn. Several with one of
 * the first keys are as good as the same, so that their order decides; by one of the `others`, only a single one has a partner.
 */
function pair(desired: readonly Body[], before: readonly Body[], equal: readonly KeyOf[], others: readonly KeyOf[] = []) {
  const ids = new Map<Body, unknown>()
  const left = new Set(before)
  for (const keyOf of [...equal, ...others]) {
    const rest = desired.filter((one) => !ids.has(one))
    if (rest.length === 0 || left.size === 0) break
    const known = Map.groupBy(left, keyOf)
    for (const [key, items] of Map.groupBy(rest, keyOf)) {
      const found = known.get(key) ?? []
      if (key === undefined || (others.includes(keyOf) && found.length + items.length > 2)) continue
      for (const [i, one] of found.slice(0, items.length).entries()) {
        ids.set(items[i] ?? one, one.id)
        left.delete(one)
      }
    }
  }
  return ids
}

const idOf = ({ id }: Body): unknown => id

export const nameOf = ({ name }: Body): unknown => (name === '' ? undefined : name)

const nameAndTypeOf = (tile: Body): unknown => `${String(trimmedNameOf(tile))}\n${String(displayTypeOf(tile))}`

export const nameAndContentOf = (tile: Body): unknown => `${String(tile.name)}\n${contentOf(tile)}`

/** Some servers trim names. */
const trimmedNameOf = ({ name }: Body): unknown => (typeof name === 'string' && name.trim()) || undefined

const chart = z.union([builtConfig, writtenConfig])

/** The content that files can declare, as text. Fields that the server adds do not make it another tile. */
const contentOf = ({ config }: Body) =>
  canonicalText(isMapping(config) ? withoutDefaults(managedPart(config, undefined, chart), chart) : config)

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
 * it, and stays as it is for an alert that is held. Where the file declares no tiles, those of others and the containers stay, which a person
 * may have added.
 */
export function arrangeTiles(
  tiles: readonly Body[],
  { queries, spelled, value }: DeclaredObject,
  { stored, tileOwners }: ResolveContext,
): PlannedTiles & { readonly containers?: readonly Body[] } {
  if (queries === undefined) return { tiles }
  const body = stored === undefined ? {} : toDashboardBody(stored)
  const declared = ownValue(ownValue(value, 'raw'), 'containers') ?? ownValue(value, 'containers')
  const keepsContainers = declared === undefined && declaresNoTiles(spelled)
  const containers = listOf(keepsContainers ? body.containers : declared)
  const before = listOf(body.tiles).map((tile) => withoutLostContainer(tile, containers))
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
  const stays = (id: unknown): boolean => {
    const owner = tileOwners?.ownerOf(id)
    return owner === 'held' || (declaresNoTiles(spelled) && owner !== 'ending')
  }
  const kept = before.filter(({ id }) => !ids.has(id) && stays(id))
  return {
    tiles: placeQueries(known, queries, kept, before),
    keptTiles: { count: kept.length, haveOthers: kept.some(({ id }) => tileOwners?.ownerOf(id) === undefined) },
    ...(keepsContainers && containers.length > 0 && { containers }),
  }
}

/** Its place was one in the container. */
function withoutLostContainer(tile: Body, containers: readonly Body[]): Body {
  const { containerId, tabId, x: _, y: __, ...others } = tile
  const found = containers.find(({ id }) => id === containerId)
  const hasTab = tabId === undefined || listOf(found?.tabs).some(({ id }) => id === tabId)
  return containerId === undefined || (found !== undefined && hasTab) ? tile : others
}

/** With `others`. A stored tile keeps its place, unless a tile of the file is there. Those without a place are placed around all tiles. */
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
      if (old?.x === undefined) return []
      const place = Object.fromEntries(['x', 'y', 'w', 'h', 'containerId', 'tabId'].map((field) => [field, old[field]]))
      const moved: Body = { ...tile, ...withoutUndefined(place) }
      const around = ofFile.filter((one) => gridOf(one) === gridOf(moved))
      return findOverlaps([...around, moved].map(toPlace)).at(-1) === undefined ? [[tile, moved] as const] : []
    }),
  )
  const fresh = [...known.filter((tile) => isQuery(tile) && !kept.has(tile)), ...others.filter(({ x }) => x === undefined)]
  const around = [...ofFile, ...others, ...kept.values()].filter(({ containerId, x }) => containerId === undefined && x !== undefined)
  const places = placeTiles([...around.map(toPlace), ...fresh.map(({ w, h }) => ({ w: Number(w), h: Number(h) }))]).slice(around.length)
  return [...known, ...others].map((tile) => kept.get(tile) ?? { ...tile, ...places[fresh.indexOf(tile)] })
}

const toPlace = ({ x, y, w, h }: Body): Place => ({ x: Number(x), y: Number(y), w: Number(w), h: Number(h) })
