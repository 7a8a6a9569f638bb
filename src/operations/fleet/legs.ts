// Owns the legs of a matrix: what each job of `strategy.matrix` is told. Field names are those of the inputs that they are for.
import * as z from 'zod'
import { InputError } from '../../kernel/errors.ts'
import { pack, takeTurns } from '../../rules/packing.ts'
import type { FleetOrganization, FleetService, Settings } from './fleet-file.ts'

/** GitHub makes no more jobs of one matrix. */
export const mostLegs = 256

/** As many as `services` takes. */
const mostInLeg = 100

export const legSchema = z.object({
  name: z.string().describe('Unique, and fit for the name of a file or an artifact.'),
  organization: z.string(),
  'organization-id': z.string(),
  'service-id': z
    .string()
    .optional()
    .describe('Of a leg with one service alone: an operation on one service must not pass over the others.'),
  services: z.string().optional().describe('Ids of the services, one a line.'),
  profile: z.string().optional(),
  'api-url-name': z.string().optional(),
  environment: z.string().optional(),
  'api-key-id-name': z.string(),
  'api-key-secret-name': z.string(),
  settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
})

export interface Leg {
  readonly fields: z.output<typeof legSchema>
  /** The rate limit is the key's: legs of one key share it. */
  readonly key: string
  readonly services: readonly FleetService[]
}

type Fleet = readonly FleetOrganization[]

/** Services that are checked alike, with one key: what may share a leg. */
interface Group {
  readonly organization: FleetOrganization
  readonly settings: Settings
  readonly services: readonly FleetService[]
}

/** Legs of services, neighbours of different keys. Throws an InputError when they cannot be that few. */
export function legsOfServices(fleet: Fleet, most: number): readonly Leg[] {
  const groups = fleet.flatMap(groupsOf)
  const packed = pack(
    groups.map(({ services }) => services),
    { mostLegs: most, mostInLeg },
  )
  if ('needed' in packed) throw tooFew(packed.needed, most)
  const parts = new Map<FleetOrganization, number>()
  const legs = groups.flatMap(({ organization, settings }, i) =>
    (packed.groups[i] ?? []).map((services): Leg => {
      const part = (parts.get(organization) ?? 0) + 1
      const [first] = services
      if (services.length > 1) parts.set(organization, part)
      const name = services.length === 1 && first ? `${organization.name}.${first.name}` : `${organization.name}.part.${part}`
      const ids = services.map(({ serviceId }) => serviceId)
      return toLeg(
        { organization, settings, name, services },
        { ...(ids.length === 1 && { 'service-id': ids[0] }), services: ids.join('\n') },
      )
    }),
  )
  return inTurns(legs)
}

/** One leg for each organization, however many keys it has: the first of them does. */
export function legsOfOrganizations(fleet: Fleet, most: number): readonly Leg[] {
  const byId = [...Map.groupBy(fleet, ({ organizationId }) => organizationId).values()]
  if (byId.length > most) throw tooFew(byId.length, most)
  return inTurns(
    byId.flatMap(([organization, ...others]) => {
      if (organization === undefined) return []
      const services = [organization, ...others].flatMap((one) => one.services)
      return [toLeg({ organization, settings: organization.settings, name: organization.name, services }, {})]
    }),
  )
}

const tooFew = (needed: number, most: number): InputError =>
  new InputError([
    {
      name: 'fleet',
      message: `needs at least ${needed} legs, and there may be ${most}: no leg holds more than ${mostInLeg} services, or services of two organizations or of different settings. Raise max-legs, choose by labels, or use several files`,
    },
  ])

function groupsOf(organization: FleetOrganization): readonly Group[] {
  const byName = organization.services.toSorted((a, b) => compare(a.name, b.name))
  return [...Map.groupBy(byName, ({ settings }) => identityOf(settings)).values()].map((services) => ({
    organization,
    settings: services[0]?.settings ?? {},
    services,
  }))
}

/** By code units: the same on every machine. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const identityOf = (settings: Settings): string => JSON.stringify(Object.entries(settings).toSorted(([a], [b]) => compare(a, b)))

/** So that a matrix with as many jobs at once as there are keys has few jobs of one key at once. */
const inTurns = (legs: readonly Leg[]): readonly Leg[] => takeTurns([...Map.groupBy(legs, ({ key }) => key).values()])

function toLeg({ organization, settings, name, services }: Group & { readonly name: string }, about: Partial<Leg['fields']>): Leg {
  const { organizationId, profile, environment, 'api-url-name': apiUrlName } = organization
  const { 'api-key-id-name': keyId = defaultKeyId, 'api-key-secret-name': keySecret = defaultKeySecret } = organization
  return {
    key: [environment, keyId].filter(Boolean).join('/'),
    services,
    fields: {
      name,
      organization: organization.name,
      'organization-id': organizationId,
      ...about,
      ...(profile && { profile }),
      ...(apiUrlName && { 'api-url-name': apiUrlName }),
      ...(environment && { environment }),
      'api-key-id-name': keyId,
      'api-key-secret-name': keySecret,
      ...(Object.keys(settings).length > 0 && { settings }),
    },
  }
}

/** What the secrets of an environment are called, unless the file says otherwise. */
const [defaultKeyId, defaultKeySecret] = ['WATCHKEEPER_API_KEY_ID', 'WATCHKEEPER_API_KEY_SECRET']
