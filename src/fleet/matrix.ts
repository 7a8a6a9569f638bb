import * as z from 'zod'
import { inputDiagnostic } from '../core/diagnostics.ts'
import { InputError, inputError } from '../core/errors.ts'
import { choice, integer } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { counted, data, ours, say } from '../report/blocks.ts'
import { type FleetOrganization, type FleetService, fleetFile, labels, readFleet, type Settings } from './fleet-file.ts'

// Owns packing things into a bounded number of legs: groups are never mixed, legs are as small and as even as the bound allows.

export interface Bounds {
  readonly mostLegs: number
  readonly mostInLeg: number
}

/** For each group its legs, in order; or how many legs it would take at least. */
export type Packed<T> = { readonly groups: readonly (readonly (readonly T[])[])[] } | { readonly needed: number }

/** One thing a leg while there are legs enough, then the smallest size that fits. Deterministic, and keeps the order. */
export function pack<T>(groups: readonly (readonly T[])[], { mostLegs, mostInLeg }: Bounds): Packed<T> {
  const legsAt = (size: number): number => groups.reduce((sum, { length }) => sum + Math.ceil(length / size), 0)
  const size = Array.from({ length: mostInLeg }, (_, i) => i + 1).find((one) => legsAt(one) <= mostLegs)
  if (size === undefined) return { needed: legsAt(mostInLeg) }
  return { groups: groups.map((group) => splitEvenly(group, Math.ceil(group.length / size))) }
}

/** Parts whose sizes differ by one at most, the larger ones first. */
function splitEvenly<T>(items: readonly T[], parts: number): readonly (readonly T[])[] {
  const [least, larger] = [Math.floor(items.length / parts), items.length % parts]
  return Array.from({ length: parts }, (_, i) => {
    const start = i * least + Math.min(i, larger)
    return items.slice(start, start + least + (i < larger ? 1 : 0))
  })
}

/** The first of each list, then the second of each, and so on: neighbours are of different lists as long as there are several. */
export function takeTurns<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const rounds = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: rounds }, (_, round) => lists.flatMap((list) => list.slice(round, round + 1))).flat()
}

// Owns the legs of a matrix: what each job of `strategy.matrix` is told. Field names are those of the inputs that they are for.

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
  inputError(
    'fleet',
    `needs at least ${needed} legs, and there may be ${most}: no leg holds more than ${mostInLeg} services, or services of two organizations or of different settings. Raise max-legs, choose by labels, or use several files`,
  )

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

// Owns the operation that makes a matrix of jobs from a fleet. It schedules nothing: GitHub's runners do.

// GitHub takes 1 MiB for all outputs of a job together and counts two bytes a character; a little is left for the others.
const longestMatrix = 500_000

const shared = z.object({
  key: z.string().describe('Name of the secret with the id of the key, after its environment.'),
  services: z.int(),
  legs: z.int(),
  largestLeg: z.int().describe('Most services in one leg.'),
})

export const matrix = defineOperation({
  summary: 'Makes the matrix of jobs that goes over a fleet of organizations and services, from a file and offline.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({
    fleet: fleetFile,
    per: choice(['service', 'organization'], 'What a leg is about; services share legs where there are more of them than legs.').default(
      'service',
    ),
    labels,
    maxLegs: integer(
      'Most legs. A leg is a job: fewer legs cost fewer minutes, and those of one key share its rate limit.',
      1,
      mostLegs,
    ).default(mostLegs),
  }),
  output: z.object({
    matrix: z.object({ include: z.array(legSchema) }).describe('For `strategy.matrix`, by way of `fromJSON`.'),
    legCount: z.int().describe('Number of legs.'),
    serviceCount: z.int().describe('Number of services in them.'),
    organizationCount: z.int().describe('Number of organizations in them.'),
    maxParallel: z.int().describe('For `strategy.max-parallel`: the number of keys, so that few legs of one key run at once.'),
  }),
  details: z.object({
    keys: z.array(shared).describe('What the legs of each key have to share its rate limit among.'),
    legs: z.array(z.object({ name: z.string(), services: z.array(z.string()) })).describe('The legs, with the names of their services.'),
  }),
  example: { fleet: 'examples/fleet.yml' },
  async run({ files }, { fleet: path, per, labels: wanted, maxLegs }) {
    const fleet = readFleet(await files.read(path, 'fleet'), path, wanted)
    const legs = per === 'service' ? legsOfServices(fleet, maxLegs) : legsOfOrganizations(fleet, maxLegs)
    const [first] = legs
    if (first === undefined) throw nothing(path, wanted)
    const made = { include: legs.map(({ fields }) => fields) }
    const { length } = JSON.stringify(made)
    if (length > longestMatrix) throw tooLong(path, length)
    const keys = [...Map.groupBy(legs, ({ key }) => key)].map(([key, ofKey]) => ({ key, ...sharesOf(ofKey) }))
    return {
      matrix: made,
      legCount: legs.length,
      serviceCount: legs.reduce((sum, { services }) => sum + services.length, 0),
      organizationCount: new Set(legs.map(({ fields }) => fields['organization-id'])).size,
      maxParallel: keys.length,
      keys,
      legs: legs.map(({ fields, services }) => ({ name: fields.name, services: services.map(({ name }) => name) })),
    }
  },
  report: ({ legCount, serviceCount, organizationCount, maxParallel, keys, legs }) => ({
    headline: say`${counted(serviceCount, 'service')} of ${counted(organizationCount, 'organization')} in ${counted(legCount, 'leg')}`,
    blocks: [
      {
        kind: 'facts',
        facts: [
          { label: 'Legs', value: say`${legCount}` },
          { label: 'Keys', value: say`${maxParallel}` },
          { label: 'Largest leg', value: [counted(Math.max(...keys.map(({ largestLeg }) => largestLeg)), 'service')] },
        ],
      },
      {
        kind: 'paragraph',
        line: [ours('Legs of one key share its rate limit; least time is one request for each service, at 10 in 10 seconds.')],
      },
      {
        kind: 'table',
        columns: [{ title: 'Key' }, ...['Services', 'Legs', 'Largest leg', 'Least time'].map(onTheRight)],
        rows: keys.map(({ key, services, legs: count, largestLeg }) => [
          [data(key)],
          say`${services}`,
          say`${count}`,
          say`${largestLeg}`,
          say`${Math.max(services, count)} s`,
        ]),
      },
      {
        kind: 'details',
        title: 'Legs',
        blocks: [
          {
            kind: 'table',
            columns: [{ title: 'Leg' }, { title: 'Services' }],
            rows: legs.map(({ name, services }) => [
              [data(name)],
              services.flatMap((service, i) => (i === 0 ? [data(service)] : [ours(' '), data(service)])),
            ]),
          },
        ],
      },
    ],
  }),
})

const onTheRight = (title: string) => ({ title, align: 'right' as const })

function sharesOf(legs: readonly Leg[]) {
  const sizes = legs.map(({ services }) => services.length)
  return { services: sizes.reduce((sum, size) => sum + size, 0), legs: legs.length, largestLeg: Math.max(...sizes) }
}

const nothing = (path: string, labels: readonly string[] | undefined): InputError =>
  new InputError([
    labels === undefined
      ? inputDiagnostic(path, 'has no service')
      : inputDiagnostic('labels', `no service of ${path} bears ${labels.join(' or ')}`),
  ])

const tooLong = (path: string, length: number): InputError =>
  inputError(
    'fleet',
    `${path} makes a matrix of ${length} characters, and an output of a job holds ${longestMatrix}. Choose services by labels, or use several files`,
  )
