import * as z from 'zod'
import { defineCollection } from '../../api/collection.ts'
import { nameOrEmpty, wireId } from '../../api/wire.ts'
import type { Body, RemoteObject } from '../resource-type.ts'

/** A saved search as answered. Fields that are not named here are kept. */
const savedSearchSchema = z.looseObject({
  id: wireId,
  name: nameOrEmpty,
  tags: z
    .array(z.string())
    .nullish()
    .transform((tags) => tags ?? []),
})

export type SavedSearch = z.output<typeof savedSearchSchema>

/** The part of an answered saved search that may be sent again: a gateway refuses bodies with more. */
export function toSavedSearchBody(savedSearch: RemoteObject): Body {
  const { id: _id, teamId: _team, createdAt: _created, updatedAt: _updated, ...body } = savedSearch
  return body
}

export const savedSearchCollection = defineCollection<SavedSearch, Body>({
  name: 'saved-searches',
  noun: 'saved search',
  listing: 'paged',
  schema: savedSearchSchema,
  toBody: toSavedSearchBody,
})
