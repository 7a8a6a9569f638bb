import * as z from 'zod'
import type { Collection } from '../../api/collection.ts'
import { digestOfText } from '../../core/digest.ts'
import { isEmpty, isMap, managedPart, normalForm, withoutEmpty } from '../compare.ts'
import { canonicalText, readTagMarker, readTagSnapshot, tagStyle, toMarkerTag, withoutMarkerTags, withTagSnapshot } from '../marker.ts'
import { type Body, listOf, type RemoteObject, type ResourceType } from '../resource-type.ts'
import { builtConfig, declaredDashboard, writtenConfig } from './dashboard-declaration.ts'
import { type Dashboard, dashboardCollection, toDashboardBody } from './dashboard-wire.ts'

// Owns which tile or filter of a changed dashboard is which one of those that exist. A tile that loses its id loses its alerts.

/** By id or name; what is left over by what it shows, because a tile that was merely renamed is the same tile. */
export function withTileIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const hasTwins = new Set(before.map(nameOf)).size < before.length
  const { ids, left } = pair(desired, before, [idOf, ...(hasTwins ? [nameAndContentOf] : []), nameOf, trimmedNameOf])
  const rest = desired.filter((tile) => !ids.has(tile))
  if (rest.length > 0 && left.size > 0) {
    const [wanted, known] = [Map.groupBy(rest, contentOf), Map.groupBy(left, contentOf)]
    for (const [content, [tile, second]] of wanted) {
      const [only, another] = known.get(content) ?? []
      // Two that show the same could be mistaken for each other.
      if (tile !== undefined && only !== undefined && second === undefined && another === undefined) ids.set(tile, only.id)
    }
  }
  return desired.map((tile) => (ids.has(tile) ? { ...tile, id: ids.get(tile) } : tile))
}

/** An update must give every filter an id; the server replaces the ones that it does not know. */
export function withFilterIds(desired: readonly Body[], before: readonly Body[]): readonly Body[] {
  const { ids } = pair(desired, before, [idOf, nameOf, trimmedNameOf])
  return desired.map((filter) => ({ ...filter, id: ids.get(filter) ?? filter.id ?? digestOfText(String(filter.name), 24) }))
}

interface Pairing {
  /** Of what was there before, by what is desired. */
  readonly ids: Map<Body, unknown>
  /** What was there before and is not desired. */
  readonly left: ReadonlySet<Body>
}

/** By each key in turn. */
function pair(desired: readonly Body[], before: readonly Body[], keys: readonly ((item: Body) => unknown)[]): Pairing {
  const ids = new Map<Body, unknown>()
  const left = new Set(before)
  for (const keyOf of keys) {
    const known = Map.groupBy(left, keyOf)
    for (const one of desired) {
      const key = keyOf(one)
      const found = ids.has(one) || key === undefined ? undefined : known.get(key)?.shift()
      if (found === undefined) continue
      ids.set(one, found.id)
      left.delete(found)
    }
  }
  return { ids, left }
}

const idOf = ({ id }: Body): unknown => id
const nameOf = ({ name }: Body): unknown => name
/** Two tiles may have the same name. */
const nameAndContentOf = (tile: Body): unknown => `${String(tile.name)}\n${contentOf(tile)}`
/** Some servers trim names. */
const trimmedNameOf = ({ name }: Body): unknown => (typeof name === 'string' ? name.trim() : undefined)

const chart = z.union([builtConfig, writtenConfig])

/** What it shows as far as files have a say in it: what the server adds makes no other tile of it. */
const contentOf = ({ config }: Body): string => canonicalText(normalForm(managedPart(config, undefined, chart), chart))

// What plan and apply must know of dashboards: above all that a tile keeps its id, because its alerts hang on it.

export const dashboardType: ResourceType & { readonly section: 'dashboards' } = {
  section: 'dashboards',
  noun: 'dashboard',
  collection: dashboardCollection as Collection<RemoteObject, Body>,
  schema: declaredDashboard,
  // The server resets the language with the query, and refuses null as the language of a query.
  clearWith: { tags: [], tiles: [], filters: [], savedQuery: null, savedQueryLanguage: undefined, savedFilterValues: [], containers: [] },
  toBody: (actual: RemoteObject) => toDashboardBody(actual as Dashboard),
  markerStyle: tagStyle,
  readMarker: ({ tags }) => readTagMarker(tags),
  withMarker: (body, mark) => ({ ...body, tags: [...withoutMarkerTags(body.tags), toMarkerTag(mark)] }),
  readSnapshot: ({ tags }) => readTagSnapshot(tags),
  withSnapshot: (body, digest) => ({ ...body, tags: withTagSnapshot(body.tags as readonly string[], digest) }),
  canonical: ({ tags, tiles, ...body }) =>
    withoutEmpty({
      ...body,
      tags: withoutMarkerTags(tags).toSorted(),
      tiles: Array.isArray(tiles) ? tiles.map(effectiveTile).toSorted(byId) : tiles,
    }) as Body,
  carryOverIds: (desired, actual) => ({
    ...desired,
    tiles: withTileIds(listOf(desired.tiles), listOf(actual.tiles)),
    ...(Array.isArray(desired.filters) && { filters: withFilterIds(desired.filters as readonly Body[], listOf(actual.filters)) }),
  }),
}

const byId = (a: Body, b: Body): number => (String(a.id ?? a.name) < String(b.id ?? b.name) ? -1 : 1)

/** Whether the raw series beside formulas are shown means nothing where there are no formulas: the server forgets it. */
function effectiveTile(tile: Body): Body {
  const { config } = tile
  if (!isMap(config) || !isEmpty(config.formulas) || !Object.hasOwn(config, 'showOperandSeries')) return tile
  const { showOperandSeries: _, ...effective } = config
  return { ...tile, config: effective }
}
