import * as z from 'zod'
import { toFailure } from '../core/errors.ts'
import type { ReadApi } from './client.ts'
import { isUuid, path, type Service, servicePath } from './path.ts'
import { nameOrEmpty, readList, readOne, wireNumber } from './wire.ts'

/** A value of another type counts as absent, so that it never fails a run. */
const optional = <T>(schema: z.ZodType<T>) => schema.optional().catch(undefined)

/** Source of the settings: the vendor's OpenAPI document of 2026-07-31. */
const listedService = z.looseObject({
  id: z
    .string()
    .transform((id) => id.toLowerCase())
    .refine(isUuid, 'is not a uuid'),
  name: nameOrEmpty,
  state: optional(z.string()),
  clickhouseVersion: optional(z.string()),
  createdAt: optional(z.string()),
  dataWarehouseId: optional(z.string()),
  provider: optional(z.string()),
  region: optional(z.string()),
  isPrimary: optional(z.boolean()),
  isReadonly: optional(z.boolean()),
  idleScaling: optional(z.boolean()),
  idleTimeoutMinutes: optional(wireNumber),
  minReplicaMemoryGb: optional(wireNumber),
  maxReplicaMemoryGb: optional(wireNumber),
  autoscalingMode: optional(z.string()),
  ipAccessList: optional(z.array(z.looseObject({ source: z.string() }))),
  tags: optional(z.array(z.looseObject({ key: z.string(), value: z.unknown().optional() }))),
})

export type ListedService = z.output<typeof listedService>

export async function listServices(api: ReadApi, organizationId: string): Promise<readonly ListedService[]> {
  const { items } = await api.read(listCall(organizationId))
  return items
}

const listCall = (organizationId: string) =>
  ({
    request: { method: 'GET', path: path`/v1/organizations/${organizationId}/services` },
    read: readList(listedService),
    about: { noun: 'organization', permission: 'services' },
  }) as const

/** Throws kind `not-found` for a service that does not exist. */
export const fetchService = (api: ReadApi, service: Service): Promise<ListedService> =>
  api.read({
    request: { method: 'GET', path: servicePath(service) },
    read: readOne(listedService),
    about: { noun: 'service', permission: 'services' },
  })

/** Empty where they cannot be read: a missing name never fails a run. Retried only if `isRepeated`. */
export async function findServices(api: ReadApi, organizationId: string, isRepeated = false): Promise<readonly ListedService[]> {
  try {
    const { items } = await api.read({ ...listCall(organizationId), rules: { isOptional: !isRepeated } })
    return items
  } catch (thrown) {
    toFailure(thrown)
    return []
  }
}

/** The tag of services that a restore drill creates, and deletes at its end. */
export const drillTag = 'restore-drill'

export const isOfDrill = ({ tags = [] }: ListedService): boolean => tags.some(({ key }) => key === drillTag)

/** The tag is `Key=Value` or `Key`. */
export const hasTag = (service: ListedService, tag: string): boolean => tagsOf(service).includes(tag)

export const tagsOf = ({ tags = [] }: ListedService): readonly string[] =>
  tags.flatMap(({ key, value }) => (value === undefined ? [key] : [key, `${key}=${String(value)}`]))
