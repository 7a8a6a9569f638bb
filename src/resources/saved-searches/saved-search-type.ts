// What plan and apply must know of saved searches.

import type { Collection } from '../../api/collection.ts'
import { withoutEmpty } from '../compare.ts'
import { markInTags, ownTags, snapshotInTags, tagStyle, toMarkTag, withSnapshotTag } from '../marker.ts'
import type { Actual, Body, Kind } from '../resource-type.ts'
import { declaredSavedSearch } from './saved-search-declaration.ts'
import { type SavedSearch, savedSearchCollection, toSavedSearchBody } from './saved-search-wire.ts'

export const savedSearchKind: Kind & { readonly section: 'savedSearches' } = {
  section: 'savedSearches',
  noun: 'saved search',
  collection: savedSearchCollection as Collection<Actual, Body>,
  schema: declaredSavedSearch,
  // An update replaces the whole: what it leaves out is gone.
  clearWith: { tags: [], filters: [], select: undefined, where: undefined, whereLanguage: undefined, orderBy: undefined },
  // As the server stores it when it is sent again: without blanks around its name.
  bodyOf: ({ name, ...actual }: Actual) => toSavedSearchBody({ ...actual, name: name?.trim() } as SavedSearch),
  markStyle: tagStyle,
  markIn: ({ tags }) => markInTags(tags),
  withMark: (body, mark) => ({ ...body, tags: [...ownTags(body.tags), toMarkTag(mark)] }),
  snapshotIn: ({ tags }) => snapshotInTags(tags),
  withSnapshot: (body, digest) => ({ ...body, tags: withSnapshotTag(body.tags as readonly string[], digest) }),
  plain: (body) => withoutEmpty({ ...body, tags: ownTags(body.tags).toSorted() }) as Body,
  withIds: (desired) => desired,
}
