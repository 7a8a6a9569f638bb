import { withoutEmpty } from '../compare.ts'
import { tagMarkers, withoutMarkerTags } from '../marker.ts'
import type { DeclaredObject, ResourceType } from '../resource-type.ts'
import { type DeclaredSavedSearch, declaredSavedSearch, resolveSavedSearch } from './saved-search-declaration.ts'
import { savedSearchCollection, toSavedSearchBody } from './saved-search-wire.ts'

export const savedSearchType: ResourceType<DeclaredObject<DeclaredSavedSearch>> = {
  section: 'savedSearches',
  noun: 'saved search',
  collection: savedSearchCollection,
  schema: declaredSavedSearch,
  // An update replaces the whole: what it leaves out is gone.
  clearWith: { tags: [], filters: [], select: undefined, where: undefined, whereLanguage: undefined, orderBy: undefined },
  resolve: resolveSavedSearch,
  // The server trims the name when it stores it again.
  toBody: (savedSearch) => toSavedSearchBody({ ...savedSearch, name: savedSearch.name?.trim() }),
  ...tagMarkers,
  canonical: (body) => withoutEmpty({ ...body, tags: withoutMarkerTags(body.tags).toSorted() }),
  carryOverIds: (desired) => desired,
}
