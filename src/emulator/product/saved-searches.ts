import * as z from 'zod/v3'
import type { JsonObject, SavedSearch } from '../store.ts'
import { deleteAlertsOfSavedSearch } from './alerts.ts'
import { tags } from './dashboard-schema.ts'
import { badRequest, notFound } from './errors.ts'
import { findById, removeById, toObjectId } from './object-id.ts'
import { answerPage } from './paging.ts'
import { isRenderable } from './renderable-filter.ts'
import { deleted, nowOf, objectId, ok, type ProductRequest, type ProductResponse, validate } from './request.ts'

const longestCondition = 8 * 1024

const filter = z.union([
  z.object({ type: z.enum(['lucene', 'sql']).optional().default('sql'), condition: z.string().max(longestCondition) }),
  z.object({
    type: z.literal('sql_ast'),
    operator: z.enum(['=', '<', '>', '!=', '<=', '>=']),
    left: z.string().max(longestCondition),
    right: z.string().max(longestCondition),
  }),
])

type Filter = z.output<typeof filter>

const savedSearch = z.object({
  name: z.string().trim().min(1).max(1024),
  sourceId: objectId,
  select: z
    .string()
    .max(4 * 1024)
    .optional()
    .default(''),
  where: z
    .string()
    .max(8 * 1024)
    .optional()
    .default(''),
  whereLanguage: z.enum(['lucene', 'sql']).optional().default('lucene'),
  orderBy: z.string().max(1024).optional().default(''),
  tags: tags.default([]),
  filters: z.array(filter).max(100).default([]),
})

export const listSavedSearches = (request: ProductRequest): ProductResponse =>
  answerPage(request, request.service.savedSearches, toSavedSearchView)

export function getSavedSearch(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  return ok(toSavedSearchView(requireSavedSearch(request)))
}

export function createSavedSearch(request: ProductRequest): ProductResponse {
  const { service, ids } = request
  const body = validate(request, { body: savedSearch })
  checkSource(request, body.sourceId)
  checkFilters(body.filters, [])
  const at = nowOf(request)
  const created: SavedSearch = {
    id: ids.objectId(),
    teamId: service.teamId,
    ...body,
    sourceId: toObjectId(body.sourceId),
    createdAt: at,
    updatedAt: at,
  }
  service.savedSearches.push(created)
  return ok(toSavedSearchView(created))
}

/** A full replacement: what the body leaves out gets its default again. */
export function updateSavedSearch(request: ProductRequest): ProductResponse {
  const body = validate(request, { body: savedSearch, hasId: true })
  checkSource(request, body.sourceId)
  const existing = requireSavedSearch(request)
  checkFilters(body.filters, existing.filters ?? [])
  Object.assign(existing, body, { sourceId: toObjectId(body.sourceId), updatedAt: nowOf(request) })
  return ok(toSavedSearchView(existing))
}

export function deleteSavedSearch(request: ProductRequest): ProductResponse {
  validate(request, { hasId: true })
  const removed = removeById(request.service.savedSearches, request.id)
  if (removed === undefined) throw savedSearchNotFound()
  deleteAlertsOfSavedSearch(request.service, removed.id)
  return deleted
}

const savedSearchNotFound = () => notFound('Saved search not found')

function requireSavedSearch({ service, id }: ProductRequest): SavedSearch {
  const found = findById(service.savedSearches, id)
  if (found === undefined) throw savedSearchNotFound()
  return found
}

function checkSource({ service }: ProductRequest, sourceId: string): void {
  if (findById(service.sources, sourceId) === undefined) throw badRequest('sourceId must be an existing source id')
}

/** What the web app stored in forms that it cannot show may be sent back as it is. */
function checkFilters(filters: readonly Filter[], stored: readonly JsonObject[]): void {
  const index = filters.findIndex((one) => !isRenderable(one) && !stored.some((other) => isSameFilter(one, other)))
  if (index === -1) return
  throw badRequest(
    `filters[${index}] must be a sidebar-renderable SQL predicate (e.g. "<column> IN ('<value>', ...)", "NOT IN (...)", or "BETWEEN <n> AND <n>"). Other shapes are only accepted on update when preserved unchanged from the stored saved search.`,
  )
}

const isSameFilter = (a: JsonObject, b: JsonObject): boolean =>
  ['type', 'condition', 'operator', 'left', 'right'].every((field) => a[field] === b[field])

export const toSavedSearchView = ({
  id,
  name,
  sourceId,
  select,
  where,
  whereLanguage,
  orderBy,
  tags: given,
  filters,
  teamId,
  createdAt,
  updatedAt,
}: SavedSearch): JsonObject => ({
  id,
  name,
  select,
  where,
  whereLanguage,
  orderBy,
  sourceId,
  tags: given ?? [],
  filters: filters ?? [],
  teamId,
  createdAt,
  updatedAt,
})
