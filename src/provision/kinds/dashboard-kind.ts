// What plan and apply must know of dashboards: above all that a tile keeps its id, because its alerts hang on it.
import { type Dashboard, toDashboardBody } from '../../api/dashboards.ts'
import { isMarkerTag, markInTags, snapshotInTags, tagStyle, toMarkTag, withSnapshotTag } from '../marker.ts'
import { isEmpty, isMap, withoutEmpty } from '../normal-form.ts'
import { declaredDashboard } from './declared-dashboard.ts'
import type { Actual, Body, Kind } from './kind.ts'
import { withFilterIds, withTileIds } from './tile-ids.ts'

export const dashboardKind: Kind & { readonly section: 'dashboards' } = {
  section: 'dashboards',
  noun: 'dashboard',
  schema: declaredDashboard,
  // The server resets the language with the query, and refuses null as the language of a query.
  clearWith: { tags: [], tiles: [], filters: [], savedQuery: null, savedQueryLanguage: undefined, savedFilterValues: [], containers: [] },
  bodyOf: (actual: Actual) => toDashboardBody(actual as Dashboard),
  markStyle: tagStyle,
  markIn: ({ tags }) => markInTags(tags),
  withMark: (body, mark) => ({ ...body, tags: [...ownTags(body.tags), toMarkTag(mark)] }),
  snapshotIn: ({ tags }) => snapshotInTags(tags),
  withSnapshot: (body, digest) => ({ ...body, tags: withSnapshotTag(body.tags as readonly string[], digest) }),
  plain: ({ tags, tiles, ...body }) =>
    withoutEmpty({
      ...body,
      tags: ownTags(tags).toSorted(),
      tiles: Array.isArray(tiles) ? tiles.map(effectiveTile).toSorted(byId) : tiles,
    }) as Body,
  withIds: (desired, actual) => ({
    ...desired,
    tiles: withTileIds(listOf(desired.tiles), listOf(actual.tiles)),
    ...(Array.isArray(desired.filters) && { filters: withFilterIds(desired.filters as readonly Body[], listOf(actual.filters)) }),
  }),
}

export const ownTags = (tags: unknown): readonly string[] =>
  Array.isArray(tags) ? [...new Set(tags.filter((tag): tag is string => typeof tag === 'string' && !isMarkerTag(tag)))] : []

export const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? (value as readonly Body[]) : [])

const byId = (a: Body, b: Body): number => (String(a.id ?? a.name) < String(b.id ?? b.name) ? -1 : 1)

/** Whether the raw series beside formulas are shown means nothing where there are no formulas: the server forgets it. */
function effectiveTile(tile: Body): Body {
  const { config } = tile
  if (!isMap(config) || !isEmpty(config.formulas) || !Object.hasOwn(config, 'showOperandSeries')) return tile
  const { showOperandSeries: _, ...effective } = config
  return { ...tile, config: effective }
}
