// Owns saved searches: their body, and that their alerts go with them.
import { z } from 'zod'
import { demand, type Problem, toRefusal } from '../problems.ts'
import { demandById, objectIdOf, removeById, type ServiceCall } from '../route.ts'
import type { SavedSearch, Service } from '../store.ts'

const body = z.strictObject({
  name: z.string().min(1),
  sourceId: z.string(),
  select: z.string().exactOptional(),
  where: z.string().exactOptional(),
  whereLanguage: z.enum(['lucene', 'sql']).exactOptional(),
  orderBy: z.string().exactOptional(),
  tags: z.array(z.string().max(32)).max(50).exactOptional(),
  filters: z.array(z.strictObject({ type: z.literal('sql').default('sql'), condition: z.string() })).exactOptional(),
})

type Body = z.output<typeof body>

export const listSavedSearches = ({ service }: ServiceCall): unknown => service.savedSearches

export const getSavedSearch = (call: ServiceCall): unknown => demandById(call.service.savedSearches, objectIdOf(call), 'saved search')

export function createSavedSearch(call: ServiceCall): unknown {
  const { service, world } = call
  const fields = demandBody(call)
  const at = new Date(world.clock.now()).toISOString()
  const savedSearch: SavedSearch = { ...fields, id: world.ids.objectId(), teamId: service.teamId, createdAt: at, updatedAt: at }
  service.savedSearches.push(savedSearch)
  return savedSearch
}

/** A full replacement: what the body leaves out is gone. */
export function updateSavedSearch(call: ServiceCall): unknown {
  const { service, world } = call
  const existing = demandById(service.savedSearches, objectIdOf(call), 'saved search')
  const fields = demandBody(call)
  const { id, teamId, createdAt } = existing
  const updated: SavedSearch = { ...fields, id, teamId, createdAt, updatedAt: new Date(world.clock.now()).toISOString() }
  service.savedSearches.splice(service.savedSearches.indexOf(existing), 1, updated)
  return updated
}

export function deleteSavedSearch(call: ServiceCall): undefined {
  const { service } = call
  const { id } = demandById(service.savedSearches, objectIdOf(call), 'saved search')
  removeById(service.savedSearches, id)
  // HyperDX server code: the alerts of a saved search are deleted with it.
  service.alerts = service.alerts.filter((alert) => alert.savedSearchId !== id)
}

function demandBody(call: ServiceCall): Body {
  const fields = demand(body, call.body())
  const problems = checkSource(call.service, fields.sourceId, 'sourceId')
  if (problems.length > 0) throw toRefusal(problems)
  return fields
}

export const checkSource = (service: Service, sourceId: string, path: string): Problem[] =>
  service.sources.some(({ id }) => id === sourceId) ? [] : [{ path, message: `source ${sourceId} does not exist` }]
