import * as z from 'zod'
import type { FleetOrganization } from './fleet-file.ts'
import type { Told } from './result-file.ts'

// Owns what is missing among results: what nobody told of is not all right.

/** A service; or an organization, where there is no service. */
export interface Target {
  readonly organizationId: string
  readonly serviceId?: string | undefined
}

/** What one result is about, as far as it says. */
export interface CoveredService {
  readonly operation: string
  readonly organizationId?: string | undefined
  readonly serviceId?: string | undefined
}

export interface Missing<T extends Target> {
  /** Undefined when no result is about anything of the fleet. */
  readonly operation: string | undefined
  readonly target: T
}

interface Expected<T extends Target> {
  readonly organizations: readonly T[]
  readonly services: readonly T[]
  /** Operations that must have told; those that any result is of must in any case. */
  readonly operations: readonly string[]
}

/**
 * An operation that told of one service is expected to tell of all, and one that told of organizations alone of all of those.
 * So a leg that forgot all but its first service, or that never came, shows.
 */
export function missingFrom<T extends Target>(
  { organizations, services, operations }: Expected<T>,
  told: readonly CoveredService[],
): readonly Missing<T>[] {
  const byOperation = Map.groupBy(
    told.filter(({ organizationId }) => organizationId !== undefined),
    ({ operation }) => operation,
  )
  const names = new Set([...operations, ...byOperation.keys()])
  if (names.size === 0) return (services.length > 0 ? services : organizations).map((target) => ({ operation: undefined, target }))
  return [...names].flatMap((operation) => {
    const ofOperation = byOperation.get(operation) ?? []
    const expected = ofOperation.some(({ serviceId }) => serviceId !== undefined) ? services : organizations
    const covered = new Set(ofOperation.map(keyOf))
    return expected.filter((target) => !covered.has(keyOf(target))).map((target) => ({ operation, target }))
  })
}

export const keyOf = ({ organizationId = '', serviceId = '' }: Omit<CoveredService, 'operation'>): string =>
  `${organizationId} ${serviceId}`

// Owns the shape of a merged result: what the report of a fleet says, as data.

/** Worst first: what is known to be bad, then what is not known, then the rest. */
export const mergedStatuses = ['fail', 'error', 'missing', 'warn', 'pass'] as const

export type MergedStatus = (typeof mergedStatuses)[number]

const merged = z.object({
  status: z.enum(mergedStatuses),
  operation: z.string().optional(),
  organization: z.string().optional().describe('As the fleet calls it.'),
  organizationId: z.string().optional(),
  service: z.string().optional().describe('As the fleet calls it.'),
  serviceId: z.string().optional(),
  reason: z.string(),
  figure: z.string().optional(),
  requestId: z.string().optional(),
  file: z.string().optional(),
  isStranger: z.boolean().describe('The fleet has no such service or organization, or it was not chosen.'),
})

/** One result, or one that is missing. */
export type Merged = z.output<typeof merged>

export const mergedOutput = z.object({
  resultCount: z.int().describe('Number of result files that were read.'),
  serviceCount: z.int().describe('Number of services of the fleet, as far as they were chosen.'),
  passCount: z.int().describe('Number of results that are a pass.'),
  warnCount: z.int().describe('Number of results that are a warning.'),
  failCount: z.int().describe('Number of results that are a failure.'),
  errorCount: z.int().describe('Number of results that say that it could not be done.'),
  missingCount: z.int().describe('Number of results that should be there and are not.'),
  unreadableCount: z.int().describe('Number of files that are no results.'),
})

export const mergedDetails = z.object({
  results: z.array(merged).describe('Every result, and every one that is missing, worst first.'),
  unreadable: z.array(z.object({ file: z.string(), reason: z.string() })).describe('Files that are no results, and why.'),
})

export type MergedResult = z.output<typeof mergedOutput> & z.output<typeof mergedDetails>

/** How a result is called in a sentence: by the names of the fleet, else by its ids, else by the file that it stands in. */
export const nameOf = ({ organization, organizationId, service, serviceId, file }: Merged): string =>
  [organization ?? organizationId, service ?? serviceId].filter(Boolean).join('.') || (file ?? '')

// Owns putting the results of all legs together: each with the names of the fleet, what is missing among them, worst first.

/** What one file told. */
export interface ToldFile {
  readonly file: string
  readonly told: readonly Told[]
}

interface Member {
  readonly organizationId: string
  readonly organization: string
  readonly serviceId?: string
  readonly service?: string
}

export function merge(fleet: readonly FleetOrganization[], files: readonly ToldFile[], operations: readonly string[]): readonly Merged[] {
  const organizations: readonly Member[] = fleet.map(({ name, organizationId }) => ({ organization: name, organizationId }))
  const services: readonly Member[] = fleet.flatMap(({ name, organizationId, services: own }) =>
    own.map((service) => ({ organization: name, organizationId, service: service.name, serviceId: service.serviceId })),
  )
  const members = new Map([...organizations, ...services].map((member) => [keyOf(member), member]))
  const told = files.flatMap(({ file, told: ofFile }) => ofFile.map((one) => toMerged(one, file, members)))
  const everyTold = files.flatMap(({ told: ofFile }) => ofFile)
  // An organization with several keys stands in the fleet several times.
  const distinct = [...new Map(organizations.map((member) => [member.organizationId, member])).values()]
  const missing = missingFrom({ organizations: distinct, services, operations }, everyTold).map(
    ({ operation, target }): Merged => ({
      status: 'missing',
      ...(operation !== undefined && { operation }),
      ...target,
      reason: '',
      isStranger: false,
    }),
  )
  return [...told, ...missing].toSorted(byWorst)
}

function toMerged(
  { organizationId, serviceId, figure, requestId, ...rest }: Told,
  file: string,
  members: ReadonlyMap<string, Member>,
): Merged {
  const member = members.get(keyOf({ organizationId, serviceId }))
  return {
    ...rest,
    ...(organizationId !== undefined && { organizationId }),
    ...(serviceId !== undefined && { serviceId }),
    ...member,
    ...(figure !== undefined && { figure }),
    ...(requestId !== undefined && { requestId }),
    file,
    isStranger: member === undefined && organizationId !== undefined,
  }
}

const byWorst = (a: Merged, b: Merged): number =>
  mergedStatuses.indexOf(a.status) - mergedStatuses.indexOf(b.status) ||
  compare(a.organization, b.organization) ||
  compare(a.service, b.service) ||
  compare(a.operation, b.operation) ||
  compare(a.file, b.file)

const compare = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0)
