// Owns what plan and apply must know of dashboards: above all that a tile keeps its id, because its alerts hang on it.
import { type Dashboard, toDashboardBody } from '../../api/dashboards.ts'
import { digestOfText } from '../../kernel/digest.ts'
import { isMarkTag, markInTags, tagStyle, toMarkTag } from '../marker.ts'
import { normalForm } from '../normal-form.ts'
import { assumed } from './assumed.ts'
import { declaredDashboard } from './declared-dashboard.ts'
import type { Actual, Body, Kind } from './kind.ts'
import { withTileIds } from './tile-ids.ts'

export const dashboardKind: Kind & { readonly section: 'dashboards' } = {
  section: 'dashboards',
  noun: 'dashboard',
  schema: declaredDashboard,
  clearWith: { tags: [], filters: [], savedQuery: null, savedQueryLanguage: null, savedFilterValues: [], containers: [] },
  bodyOf: (actual: Actual) => toDashboardBody(actual as Dashboard),
  markStyle: tagStyle,
  markIn: ({ tags }) => markInTags(tags),
  withMark: (body, mark) => ({ ...body, tags: [...ownTags(body.tags), toMarkTag(mark)] }),
  comparable: ({ tags, tiles, savedFilterValues, ...body }) =>
    normalForm(
      {
        ...body,
        tags: ownTags(tags).toSorted(),
        tiles: Array.isArray(tiles) ? tiles.toSorted(byId) : tiles,
        savedFilterValues: Array.isArray(savedFilterValues) ? savedFilterValues.map(withoutType) : savedFilterValues,
      },
      assumed,
    ) as Body,
  withIds: (desired, actual) => ({
    ...desired,
    tiles: withTileIds(listOf(desired.tiles), listOf(actual.tiles)),
    ...(Array.isArray(desired.filters) && { filters: withFilterIds(desired.filters as readonly Body[], listOf(actual.filters)) }),
  }),
}

export const ownTags = (tags: unknown): readonly string[] =>
  Array.isArray(tags) ? [...new Set(tags.filter((tag): tag is string => typeof tag === 'string' && !isMarkTag(tag)))] : []

export const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? (value as readonly Body[]) : [])

const byId = (a: Body, b: Body): number => (String(a.id ?? a.name) < String(b.id ?? b.name) ? -1 : 1)

/** A saved filter of a query says so by its type or by none. */
const withoutType = (value: Body): Body =>
  Object.fromEntries(Object.entries(value).filter(([key, item]) => key !== 'type' || item !== 'sql'))

/** Every filter of an update must bear an id; the server replaces the ones that it does not know. */
function withFilterIds(filters: readonly Body[], before: readonly Body[]): readonly Body[] {
  const left = [...before]
  return filters.map((filter) => {
    const index = left.findIndex(({ name }) => name === filter.name)
    const [known] = index < 0 ? [] : left.splice(index, 1)
    return { ...filter, id: known?.id ?? digestOfText(String(filter.name), 24) }
  })
}
