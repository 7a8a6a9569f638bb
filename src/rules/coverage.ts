// Owns what is missing among results: what nobody told of is not all right.

/** A service; or an organization, where there is no service. */
export interface Target {
  readonly organizationId: string
  readonly serviceId?: string | undefined
}

/** What one result is about, as far as it says. */
export interface Told {
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
  told: readonly Told[],
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

export const keyOf = ({ organizationId = '', serviceId = '' }: Omit<Told, 'operation'>): string => `${organizationId} ${serviceId}`
