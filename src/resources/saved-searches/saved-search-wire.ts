// Owns the wire shape of saved searches, which some products have.

import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import { nameOrEmpty, wireId } from '../../api/wire.ts'

/** A saved search as answered. Fields that are not named here are kept. */
export const savedSearchSchema = z.looseObject({
  id: wireId,
  name: nameOrEmpty,
  tags: z
    .array(z.string())
    .nullish()
    .transform((tags) => tags ?? []),
})

export type SavedSearch = z.output<typeof savedSearchSchema>

/** What is declared of a saved search, in the API's own names. */
export type SavedSearchBody = Readonly<Record<string, unknown>>

/** The part of an answered saved search that may be sent again: a gateway refuses bodies that bear more. */
export function toSavedSearchBody(savedSearch: SavedSearch): SavedSearchBody {
  const { id: _id, teamId: _team, createdAt: _created, updatedAt: _updated, ...body } = savedSearch
  return body
}

export const savedSearchCollection = defineCollection<SavedSearch, SavedSearchBody>({
  name: 'saved-searches',
  noun: 'saved search',
  listing: 'paged',
  schema: savedSearchSchema,
  toBody: toSavedSearchBody,
})
