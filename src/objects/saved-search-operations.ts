import { tagMarkers } from '../kinds/marker.ts'
import { savedSearchCollection, savedSearchSchema } from '../kinds/saved-search/saved-search.ts'
import { defineList, tagsCell } from './list-operation.ts'

export const listSavedSearches = defineList({
  kind: 'savedSearch',
  list: savedSearchCollection.list,
  schema: savedSearchSchema,
  markers: tagMarkers,
  fields: ['tag'],
  toSelectable: ({ tags }) => ({ tags }),
  example: { select: ['tag=shop'] },
  columns: { Tags: tagsCell },
})
