// Merges the results of all legs: adds the names from the fleet file, finds missing results, and sorts the worst first.
import * as z from 'zod'
import { compareText } from '../core/text.ts'
import type { FleetOrganization } from './fleet-file.ts'
import type { TargetResult } from './result-file.ts'

/** Worst first: known problems, then unknown results, then the rest. */
export const fleetStatuses = ['fail', 'error', 'missing', 'warn', 'pass'] as const

export type FleetStatus = (typeof fleetStatuses)[number]

export const fleetResultSchema = z.object({
  status: z.enum(fleetStatuses),
  operation: z.string().optional(),
  organization: z.string().optional().describe('Name in the fleet file.'),
  organizationId: z.string().optional(),
  service: z.string().optional().describe('Name in the fleet file.'),
  serviceId: z.string().optional(),
  reason: z.string(),
  figure: z.string().optional(),
  requestId: z.string().optional(),
  file: z.string().optional(),
  isOutsideFleet: z.boolean().describe('Whether the fleet file lacks the service or organization, or `select` leaves it out.'),
})

/** The result of a target, or a missing result. */
export type FleetResult = z.output<typeof fleetResultSchema>

/** The name in the fleet file, else the ids, else the result file. */
export const targetName = ({ organization, organizationId, service, serviceId, file }: FleetResult): string =>
  [organization ?? organizationId, service ?? serviceId].filter(Boolean).join('.') || (file ?? '')

export interface ResultFile {
  readonly file: string
  readonly results: readonly TargetResult[]
}

/** A service, or an organization without the service fields. */
interface Target {
  readonly organizationId: string
  readonly organization?: string
  readonly serviceId?: string
  readonly service?: string
}

interface Fleet {
  /** What is selected. */
  readonly selected: readonly FleetOrganization[]
  /** The whole file, for the names of results that are not selected. */
  readonly all: readonly FleetOrganization[]
}

/** `operations` must have results. Any other operation is checked once it has a result. */
export function mergeResults(
  { selected, all }: Fleet,
  files: readonly ResultFile[],
  operations: readonly string[],
): readonly FleetResult[] {
  const expected = targetsOf(selected)
  const isExpected = new Set([...expected.organizations, ...expected.services].map(keyOf))
  const known = targetsOf(all)
  const names = new Map([...known.organizations, ...known.services].map((target) => [keyOf(target), target]))
  const present = files.flatMap(({ file, results }) =>
    results.map((result): FleetResult => {
      const key = keyOf(result)
      return { ...result, ...names.get(key), file, isOutsideFleet: !isExpected.has(key) && result.organizationId !== undefined }
    }),
  )
  const explanations = new Set<FleetResult>()
  const missing = findMissing({ ...expected, operations }, present).map(({ operation, target }): FleetResult => {
    const error = present.find(
      (one) => isWithoutServices(one) && one.operation === operation && one.organizationId === target.organizationId,
    )
    if (error !== undefined) explanations.add(error)
    return { status: 'missing', operation, isOutsideFleet: false, reason: '', ...error, ...target }
  })
  // One row for one cause.
  return [...present.filter((one) => !explanations.has(one)), ...missing].toSorted(byWorst)
}

/** An error before the leg knew its services, such as a secret that is not set. */
const isWithoutServices = ({ status, serviceId }: FleetResult): boolean => status === 'error' && serviceId === undefined

function targetsOf(fleet: readonly FleetOrganization[]): Pick<Expected, 'organizations' | 'services'> {
  const services = fleet.flatMap(({ name, organizationId, services: own }): readonly Target[] =>
    own.map((service) => ({ organization: name, organizationId, service: service.name, serviceId: service.serviceId })),
  )
  // An organization with several keys has several entries in the file. The last one gives the name.
  const organizations = new Map(
    fleet.map(({ name, organizationId }): [string, Target] => [organizationId, { organization: name, organizationId }]),
  )
  return { organizations: [...organizations.values()], services }
}

const byWorst = (a: FleetResult, b: FleetResult): number =>
  fleetStatuses.indexOf(a.status) - fleetStatuses.indexOf(b.status) ||
  compareText(a.organization, b.organization) ||
  compareText(a.service, b.service) ||
  compareText(a.operation, b.operation) ||
  compareText(a.file, b.file)

interface Expected {
  readonly organizations: readonly Target[]
  readonly services: readonly Target[]
  readonly operations: readonly string[]
}

interface Missing {
  /** Undefined when no result is about any part of the fleet. */
  readonly operation: string | undefined
  readonly target: Target
}

type ResultTarget = Pick<FleetResult, 'operation' | 'organizationId' | 'serviceId'>

/**
 * An operation with a result about a service must have one about every service, and an operation with results about organizations
 * only must have one about each of them. This finds legs that never ran, and legs that checked only some of their services.
 */
export function findMissing({ organizations, services, operations }: Expected, results: readonly ResultTarget[]): readonly Missing[] {
  const byOperation = Map.groupBy(
    results.filter(({ organizationId }) => organizationId !== undefined),
    ({ operation = '' }) => operation,
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

const keyOf = ({ organizationId = '', serviceId = '' }: ResultTarget): string => `${organizationId} ${serviceId}`
