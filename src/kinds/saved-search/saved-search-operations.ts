import { defineList, tagsCell } from '../list-operation.ts'
import { tagMarkers } from '../marker.ts'
import { savedSearchCollection, savedSearchSchema } from './saved-search.ts'

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
