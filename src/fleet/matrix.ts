// Makes the matrix of jobs for a fleet. A leg is one job of the matrix.

import * as z from 'zod'
import { type InputError, inputError } from '../core/errors.ts'
import { counted, join, say, trusted, untrusted } from '../core/line.ts'
import { compareText, quote } from '../core/text.ts'
import { defineOperation } from '../operation/operation.ts'
import { type Condition, describeConditions } from '../operation/select.ts'
import type { Report } from '../report/report.ts'
import { facts, table } from '../report/table.ts'
import {
  type FleetOrganization,
  type FleetService,
  fleetFile,
  operationsInput,
  readFleet,
  type Settings,
  selectServices,
} from './fleet-file.ts'

/** GitHub's limit for one matrix. */
const maxLegs = 256

/** The limit of the input `services`. */
const maxServicesInLeg = 100

/**
 * Maximum characters of the output. GitHub limits all outputs of a job together to 1 MiB and counts two bytes for a character. This limit
 * leaves room for the other outputs.
 */
const maxMatrixLength = 500_000

/** One entry of `matrix.include`. A field has the name of the input that it is for. */
export const legSchema = z.object({
  name: z.string().describe('Unique, and valid as the name of a file or an artifact.'),
  organization: z.string(),
  'organization-id': z.string(),
  'service-id': z
    .string()
    .optional()
    .describe('Only in a leg with one service, so that an operation on one service does not ignore the others.'),
  services: z.string().optional().describe('Ids of the services, one per line.'),
  profile: z.string().optional(),
  'api-url-name': z.string().optional(),
  environment: z.string().optional(),
  'api-key-id-name': z.string(),
  'api-key-secret-name': z.string(),
  settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
})

const output = z.object({
  matrix: z.object({ include: z.array(legSchema) }).describe('For `strategy.matrix`, with `fromJSON`.'),
  maxParallel: z.int().describe('For `strategy.max-parallel`: the number of keys, so that few legs of one key run at once.'),
})

const keyUsage = z.object({
  key: z.string().describe('Environment of the key, if it has one, and the name of the secret with its id.'),
  services: z.int(),
  legs: z.int(),
  largestLeg: z.int().describe('Most services in one leg.'),
})

const details = z.object({
  legCount: z.int().describe('Number of legs.'),
  serviceCount: z.int().describe('Number of services in them.'),
  organizationCount: z.int().describe('Number of organizations in them.'),
  keys: z.array(keyUsage).describe('The keys, with the number of services and legs that share the rate limit of each key.'),
  legs: z.array(z.object({ name: z.string(), services: z.array(z.string()) })).describe('The legs with the names of their services.'),
})

type MatrixResult = z.output<typeof output> & z.output<typeof details>

export const fleetMatrix = defineOperation({
  summary: 'Makes the matrix of jobs for a fleet of organizations and services from a file. Sends no request.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({
    fleet: fleetFile,
    operations: operationsInput('Operations that the legs run. Those of organizations get a leg for each organization.').optional(),
    select: selectServices,
  }),
  output,
  details,
  example: { fleet: 'fleet.yml' },
  async run({ files, profile }, { fleet: path, operations = [], select }) {
    if (profile.isSelfHosted)
      throw inputError('profile', 'hyperdx has no organizations, which a fleet file lists; run one step for each self-hosted server')
    const fleet = readFleet(await files.read(path, 'fleet'), path, select)
    const legs = isOfOrganizations(operations) ? makeOrganizationLegs(fleet) : makeServiceLegs(fleet)
    if (legs.length === 0) throw noService(path, select)
    const matrixValue = { include: legs.map(({ fields }) => fields) }
    const { length } = JSON.stringify(matrixValue)
    if (length > maxMatrixLength) throw matrixTooLong(path, length)
    const keys = [...Map.groupBy(legs, ({ key }) => key)].map(([key, ofKey]) => ({ key, ...countServices(ofKey) }))
    return {
      matrix: matrixValue,
      legCount: legs.length,
      serviceCount: countServices(legs).services,
      organizationCount: new Set(legs.map(({ fields }) => fields['organization-id'])).size,
      maxParallel: keys.length,
      keys,
      legs: legs.map(({ fields, services }) => ({ name: fields.name, services: services.map(({ name }) => name) })),
    }
  },
  report: reportMatrix,
})

/** Operations about a whole organization. */
export const ofOrganizations: readonly string[] = ['usage-cost', 'audit-costs', 'check-credits']

/** Throws an InputError for operations that need different legs. */
function isOfOrganizations(operations: readonly string[]): boolean {
  const [some, others] = [
    operations.filter((one) => ofOrganizations.includes(one)),
    operations.filter((one) => !ofOrganizations.includes(one)),
  ]
  if (some.length > 0 && others.length > 0)
    throw inputError(
      'operations',
      `${some[0]} needs a leg for each organization, and ${others[0]} legs for services; make a matrix for each of them`,
    )
  return some.length > 0
}

interface Leg {
  readonly fields: z.output<typeof legSchema>
  /** Legs of one key share its rate limit. */
  readonly key: string
  readonly services: readonly FleetService[]
}

/** Services with the same key and settings, which can share a leg. */
interface Group {
  readonly organization: FleetOrganization
  readonly settings: Settings
  readonly services: readonly FleetService[]
}

/** Throws an InputError when the services do not fit into the legs of a matrix. */
function makeServiceLegs(fleet: readonly FleetOrganization[]): readonly Leg[] {
  const groups = fleet.flatMap(groupBySettings)
  const packed = pack(
    groups.map(({ services }) => services),
    { maxBins: maxLegs, maxBinSize: maxServicesInLeg },
  )
  if ('binsNeeded' in packed) throw tooFewLegs(packed.binsNeeded)
  const partCounts = new Map<FleetOrganization, number>()
  const legs = groups.flatMap(({ organization, settings }, i) =>
    (packed.groups[i] ?? []).map((services): Leg => {
      const ids = services.map(({ serviceId }) => serviceId).join('\n')
      const [only, ...others] = services
      if (only !== undefined && others.length === 0) {
        const name = `${organization.name}.${only.name}`
        return toLeg({ organization, settings, services }, { name, 'service-id': ids, services: ids })
      }
      const part = (partCounts.get(organization) ?? 0) + 1
      partCounts.set(organization, part)
      return toLeg({ organization, settings, services }, { name: `${organization.name}.part.${part}`, services: ids })
    }),
  )
  return interleaveByKey(legs)
}

/** One leg for each organization. An organization with several entries has the key of the first one. */
function makeOrganizationLegs(fleet: readonly FleetOrganization[]): readonly Leg[] {
  const byId = [...Map.groupBy(fleet, ({ organizationId }) => organizationId).values()]
  if (byId.length > maxLegs) throw tooFewLegs(byId.length)
  return interleaveByKey(
    byId.flatMap(([organization, ...others]) => {
      if (organization === undefined) return []
      const services = [organization, ...others].flatMap((one) => one.services)
      return [toLeg({ organization, settings: organization.settings, services }, { name: organization.name })]
    }),
  )
}

function groupBySettings(organization: FleetOrganization): readonly Group[] {
  const byName = organization.services.toSorted((a, b) => compareText(a.name, b.name))
  return [...Map.groupBy(byName, ({ settings }) => canonicalJson(settings)).values()].map((services) => ({
    organization,
    settings: services[0]?.settings ?? {},
    services,
  }))
}

const canonicalJson = (settings: Settings): string => JSON.stringify(Object.entries(settings).toSorted(([a], [b]) => compareText(a, b)))

/** Default names of the secrets in an environment. */
const defaultKeyIdName = 'WATCHKEEPER_API_KEY_ID'
const defaultKeySecretName = 'WATCHKEEPER_API_KEY_SECRET'

function toLeg(
  { organization, settings, services }: Group,
  { name, ...ids }: Pick<Leg['fields'], 'name' | 'service-id' | 'services'>,
): Leg {
  const { profile, environment, 'api-url-name': apiUrlName } = organization
  const { 'api-key-id-name': keyId = defaultKeyIdName, 'api-key-secret-name': keySecret = defaultKeySecretName } = organization
  return {
    key: [environment, keyId].filter(Boolean).join('/'),
    services,
    fields: {
      name,
      organization: organization.name,
      'organization-id': organization.organizationId,
      ...ids,
      ...(profile && { profile }),
      ...(apiUrlName && { 'api-url-name': apiUrlName }),
      ...(environment && { environment }),
      'api-key-id-name': keyId,
      'api-key-secret-name': keySecret,
      ...(Object.keys(settings).length > 0 && { settings }),
    },
  }
}

/** GitHub starts jobs in order, so with one job for each key at once, few jobs of the same key run together. */
const interleaveByKey = (legs: readonly Leg[]): readonly Leg[] => interleave([...Map.groupBy(legs, ({ key }) => key).values()])

/** The first item of each list, then the second of each, and so on. */
export function interleave<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const rounds = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: rounds }, (_, round) => lists.flatMap((list) => list.slice(round, round + 1))).flat()
}

/** The bins of each group in order, or the required number of bins when there are too few. */
type Packed<T> = { readonly groups: readonly (readonly (readonly T[])[])[] } | { readonly binsNeeded: number }

/** Packs items into bins that hold items of one group only, with the smallest bin size that fits. Keeps the order. */
export function pack<T>(
  groups: readonly (readonly T[])[],
  { maxBins, maxBinSize }: { readonly maxBins: number; readonly maxBinSize: number },
): Packed<T> {
  const binsAt = (size: number): number => groups.reduce((sum, { length }) => sum + Math.ceil(length / size), 0)
  const size = Array.from({ length: maxBinSize }, (_, i) => i + 1).find((one) => binsAt(one) <= maxBins)
  if (size === undefined) return { binsNeeded: binsAt(maxBinSize) }
  return { groups: groups.map((group) => splitEvenly(group, Math.ceil(group.length / size))) }
}

/** Parts whose sizes differ by at most one, the larger ones first. */
function splitEvenly<T>(items: readonly T[], partCount: number): readonly (readonly T[])[] {
  const [minSize, largerParts] = [Math.floor(items.length / partCount), items.length % partCount]
  return Array.from({ length: partCount }, (_, i) => {
    const start = i * minSize + Math.min(i, largerParts)
    return items.slice(start, start + minSize + (i < largerParts ? 1 : 0))
  })
}

function countServices(legs: readonly Leg[]) {
  const sizes = legs.map(({ services }) => services.length)
  return { services: sizes.reduce((sum, size) => sum + size, 0), legs: legs.length, largestLeg: Math.max(...sizes) }
}

const tooFewLegs = (needed: number): InputError =>
  inputError(
    'fleet',
    `needs at least ${needed} legs, and a matrix has at most ${maxLegs}. A leg has at most ${maxServicesInLeg} services of one organization with the same settings. Select services by label, or use several files`,
  )

const noService = (path: string, select: readonly Condition[] | undefined): InputError =>
  select === undefined
    ? inputError(path, 'has no services')
    : inputError('select', `no service of ${path} has ${quote(describeConditions(select), 200)}`)

const matrixTooLong = (path: string, length: number): InputError =>
  inputError(
    'fleet',
    `the matrix of ${path} has ${length} characters, and the limit for an output is ${maxMatrixLength}. Select services by label, or use several files`,
  )

function reportMatrix({ legCount, serviceCount, organizationCount, maxParallel, keys, legs }: MatrixResult): Report {
  return {
    headline: say`${counted(serviceCount, 'service')} of ${counted(organizationCount, 'organization')} in ${counted(legCount, 'leg')}`,
    blocks: [
      facts({
        Legs: legCount,
        Keys: maxParallel,
        'Largest leg': counted(Math.max(...keys.map(({ largestLeg }) => largestLeg)), 'service'),
      }),
      {
        kind: 'paragraph',
        line: say`Legs with the same key share its rate limit of 10 requests in 10 seconds. The minimum time is for one request per service.`,
      },
      table(undefined, keys, {
        Key: ({ key }) => key,
        '>Services': ({ services }) => services,
        '>Legs': ({ legs: count }) => count,
        '>Largest leg': ({ largestLeg }) => largestLeg,
        '>Minimum time': ({ services, legs: count }) => trusted(`${Math.max(services, count)} s`),
      }),
      {
        kind: 'details',
        title: 'Legs',
        blocks: [
          table(undefined, legs, {
            Leg: ({ name }) => name,
            Services: ({ services }) =>
              join(
                services.map((service) => [untrusted(service)]),
                ' ',
              ),
          }),
        ],
      },
    ],
  }
}
