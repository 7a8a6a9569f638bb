import * as z from 'zod'
import { defineCollection } from '../../platform/api/collection.ts'
import { listOrEmpty, nameOrEmpty, wireId } from '../../platform/api/wire.ts'
import { comparable, withoutEmpty } from '../compare.ts'
import { clearing, encode, spellFields } from '../derive.ts'
import { adoption, declaredTags, sourceFields } from '../fields.ts'
import { type Body, type DeclaredObject, type Kind, pageFor, withoutServerFields } from '../kind.ts'
import { kindLabels } from '../kind-names.ts'
import { tagMarkers, withoutMarkerTags } from '../marker.ts'

/** A saved search as the API returns it. Unknown fields are kept. */
export const savedSearchSchema = z.looseObject({
  id: wireId,
  name: nameOrEmpty,
  tags: listOrEmpty(z.string()),
})

export type SavedSearch = z.output<typeof savedSearchSchema>

export const savedSearchCollection = defineCollection<SavedSearch, Body>({
  name: 'saved-searches',
  noun: kindLabels.savedSearch,
  listing: 'paged',
  schema: savedSearchSchema,
  toBody: withoutServerFields,
})

/** An update replaces the whole object, so leaving a field out clears it. */
const expression = (maxLength: number) => z.string().max(maxLength).optional().meta({ clear: undefined })

/** The server lists all three forms. It creates only SQL predicates that its sidebar can show, and keeps existing others. */
const savedSearchFilter = z.union([
  z.strictObject({ type: z.enum(['sql', 'lucene']).default('sql'), condition: z.string().max(8192) }),
  z.strictObject({
    type: z.literal('sql_ast'),
    operator: z.enum(['=', '<', '>', '!=', '<=', '>=']),
    left: z.string().max(8192),
    right: z.string().max(8192),
  }),
])

export const declaredSavedSearch = z
  .strictObject({
    name: z.string().trim().min(1).max(1024),
    tags: declaredTags,
    ...sourceFields,
    select: expression(4096),
    where: expression(8192),
    whereLanguage: z.enum(['lucene', 'sql']).optional().meta({ serverDefault: 'lucene', writeDefault: {}, clear: undefined }),
    orderBy: expression(1024),
    filters: z.array(savedSearchFilter).max(100).optional().meta({ clear: [] }),
    ...adoption,
  })
  .meta({ aliases: { id: 'adopt' } })

export type DeclaredSavedSearch = z.output<typeof declaredSavedSearch>

export function createSavedSearchKind(): Kind<DeclaredObject<DeclaredSavedSearch>> {
  const kind: Kind<DeclaredObject<DeclaredSavedSearch>> = {
    name: 'savedSearch',
    label: kindLabels.savedSearch,
    collection: savedSearchCollection,
    schema: declaredSavedSearch,
    canRewrite: true,
    clearsBy: clearing(declaredSavedSearch),
    resolve: (declared, context) => encode(declaredSavedSearch, declared, context),
    summarize: ({ sourceId, where }, nameOf) => `${where ? String(where) : 'all rows'} in ${nameOf(sourceId)}`,
    // The server trims the name when it stores it again.
    toBody: (savedSearch) => withoutServerFields({ ...savedSearch, name: savedSearch.name?.trim() }),
    page: ({ id }) => pageFor('search', id),
    removal: ({ id }, after) => (after === undefined ? { id, tiles: [], tilesAfter: undefined } : undefined),
    ...tagMarkers,
    canonical: (body) => withoutEmpty({ ...body, tags: withoutMarkerTags(body.tags).toSorted() }),
    withStoredIds: (desired) => desired,
    file: { name: 'saved-searches' },
    toFile: (body, context) =>
      spellFields(
        { value: { ...body, tags: withoutMarkerTags(body.tags) }, normalized: comparable(kind, body), spelled: context.spelled },
        declaredSavedSearch,
        context,
      ),
  }
  return kind
}
