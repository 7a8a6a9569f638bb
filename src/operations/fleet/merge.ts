// Owns putting the results of all legs together: each with the names of the fleet, what is missing among them, worst first.
import { keyOf, missingFrom } from '../../rules/coverage.ts'
import type { FleetOrganization } from './fleet-file.ts'
import type { Told } from './leg-result.ts'
import { type Merged, mergedStatuses } from './merged-result.ts'

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
