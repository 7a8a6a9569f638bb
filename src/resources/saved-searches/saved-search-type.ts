// What plan and apply must know of saved searches.

import type { Collection } from '../../api/collection.ts'
import { withoutEmpty } from '../compare.ts'
import { readTagMarker, readTagSnapshot, tagStyle, toMarkerTag, withoutMarkerTags, withTagSnapshot } from '../marker.ts'
import type { Body, RemoteObject, ResourceType } from '../resource-type.ts'
import { declaredSavedSearch } from './saved-search-declaration.ts'
import { type SavedSearch, savedSearchCollection, toSavedSearchBody } from './saved-search-wire.ts'

export const savedSearchType: ResourceType & { readonly section: 'savedSearches' } = {
  section: 'savedSearches',
  noun: 'saved search',
  collection: savedSearchCollection as Collection<RemoteObject, Body>,
  schema: declaredSavedSearch,
  // An update replaces the whole: what it leaves out is gone.
  clearWith: { tags: [], filters: [], select: undefined, where: undefined, whereLanguage: undefined, orderBy: undefined },
  // As the server stores it when it is sent again: without blanks around its name.
  toBody: ({ name, ...actual }: RemoteObject) => toSavedSearchBody({ ...actual, name: name?.trim() } as SavedSearch),
  markerStyle: tagStyle,
  readMarker: ({ tags }) => readTagMarker(tags),
  withMarker: (body, mark) => ({ ...body, tags: [...withoutMarkerTags(body.tags), toMarkerTag(mark)] }),
  readSnapshot: ({ tags }) => readTagSnapshot(tags),
  withSnapshot: (body, digest) => ({ ...body, tags: withTagSnapshot(body.tags as readonly string[], digest) }),
  canonical: (body) => withoutEmpty({ ...body, tags: withoutMarkerTags(body.tags).toSorted() }) as Body,
  carryOverIds: (desired) => desired,
}
