import * as z from 'zod'
import { WatchkeeperError } from '../core/errors.ts'
import type { ReadApi } from './client.ts'
import { isUuid, path } from './path.ts'
import { nameOrEmpty, readList } from './wire.ts'

// Ids become parts of paths, so other ids make the list unusable.
const listedService = z.looseObject({
  id: z
    .string()
    .transform((id) => id.toLowerCase())
    .refine(isUuid, 'is not a uuid'),
  name: nameOrEmpty,
})

export type ListedService = z.output<typeof listedService>

const read = readList(listedService)

/** All services of the organization. Requires a profile with a list of services. */
export async function listServices(api: ReadApi, organizationId: string): Promise<readonly ListedService[]> {
  const { items } = await api.read(requestFor(api, organizationId))
  return items
}

const requestFor = ({ profile }: ReadApi, organizationId: string) =>
  ({
    method: 'GET',
    path: path`/v1/organizations/${organizationId}/services`,
    read,
    noun: 'organization',
    permission: profile.permissions.services,
  }) as const

/**
 * Names of services by their ids, to make a report readable. Empty where the API has no list of services, or the key cannot read it:
 * a missing name never fails a run.
 */
export async function findServiceNames(api: ReadApi, organizationId: string): Promise<ReadonlyMap<string, string>> {
  if (!api.profile.services) return new Map()
  try {
    const { items } = await api.read({ ...requestFor(api, organizationId), isOptional: true })
    return new Map(items.flatMap(({ id, name }) => (name === '' ? [] : [[id, name] as const])))
  } catch (thrown) {
    if (thrown instanceof WatchkeeperError && thrown.kind !== 'cancelled') return new Map()
    throw thrown
  }
}
