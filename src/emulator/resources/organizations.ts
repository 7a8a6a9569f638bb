// Owns the answers about the organization itself and its services.
import type { Call } from '../route.ts'

export function getOrganization({ organization: { id, name, createdAt } }: Call): unknown {
  return { id, name, createdAt, privateEndpoints: [], byocConfig: [] }
}

/** With tags and warehouse: what joins a record of the usage cost with its tags. */
export function listServices({ organization }: Call): unknown {
  return organization.services.map(({ id, name, provider, region, state, dataWarehouseId, isPrimary, tags }) => ({
    id,
    name,
    provider,
    region,
    state,
    dataWarehouseId,
    isPrimary,
    tags,
  }))
}
