// Owns what plan and apply must know of saved searches.
import { type SavedSearch, toSavedSearchBody } from '../../api/saved-searches.ts'
import { markInTags, tagStyle, toMarkTag } from '../marker.ts'
import { normalForm } from '../normal-form.ts'
import { ownTags } from './dashboard-kind.ts'
import { declaredSavedSearch } from './declared-alert.ts'
import type { Actual, Body, Kind } from './kind.ts'

export const savedSearchKind: Kind & { readonly section: 'savedSearches' } = {
  section: 'savedSearches',
  noun: 'saved search',
  schema: declaredSavedSearch,
  // An update replaces the whole: what it leaves out is gone.
  clearWith: { tags: [], filters: [], select: undefined, where: undefined, whereLanguage: undefined, orderBy: undefined },
  bodyOf: (actual: Actual) => toSavedSearchBody(actual as SavedSearch),
  markStyle: tagStyle,
  markIn: ({ tags }) => markInTags(tags),
  withMark: (body, mark) => ({ ...body, tags: [...ownTags(body.tags), toMarkTag(mark)] }),
  comparable: ({ tags, ...body }) => normalForm({ ...body, tags: ownTags(tags).toSorted() }, { type: 'sql' }) as Body,
  withIds: (desired) => desired,
}
