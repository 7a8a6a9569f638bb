// Made-up fleets: their file, and the same organizations and services inside an emulator.
import { stringify } from 'yaml'
import type { Emulator } from '../../src/emulator/index.ts'

interface MadeService {
  readonly name: string
  readonly id: string
  readonly settings?: Readonly<Record<string, unknown>>
}

export interface MadeOrganization {
  readonly name: string
  readonly id: string
  readonly keyId: string
  readonly keySecret: string
  readonly services: readonly MadeService[]
}

const uuid = (kind: number, n: number): string => `f1ee7${kind}00-0000-4000-8000-${String(n).padStart(12, '0')}`

/** `sizes[i]` services in the i-th organization, each organization with a key of its own. */
export const makeFleet = (sizes: readonly number[]): readonly MadeOrganization[] =>
  sizes.map((size, i) => ({
    name: `org-${i + 1}`,
    id: uuid(0, i + 1),
    keyId: `fleetKEY${String(i + 1).padStart(12, '0')}`,
    keySecret: `fleet-secret-that-opens-nothing-${String(i + 1).padStart(9, '0')}`,
    services: Array.from({ length: size }, (_, j) => ({
      name: `service-${String(j + 1).padStart(4, '0')}`,
      id: uuid(1, i * 10_000 + j + 1),
    })),
  }))

/** What a person would write. */
export const fleetDocument = (fleet: readonly MadeOrganization[]) => ({
  organizations: fleet.map(({ name, id, services }, i) => ({
    name,
    'organization-id': id,
    profile: 'clickhouse-cloud',
    'api-key-id-name': `ORG_${i + 1}_KEY_ID`,
    'api-key-secret-name': `ORG_${i + 1}_KEY_SECRET`,
    services: services.map(({ name: service, id: serviceId, settings }) => ({
      name: service,
      'service-id': serviceId,
      ...(settings && { settings }),
    })),
  })),
})

export const fleetFile = (fleet: readonly MadeOrganization[]): string => stringify(fleetDocument(fleet))

/** Puts the fleet into the emulator in place of the shop; every service has the backups of the shop's first one. */
export function loadFleet({ store }: Emulator, fleet: readonly MadeOrganization[]): void {
  const [organization] = store.organizations
  const [service] = organization?.services ?? []
  const [admin] = store.keys
  if (organization === undefined || service === undefined || admin === undefined) throw new Error('the shop has changed')
  store.organizations = fleet.map(({ id, name, services }) => ({
    ...organization,
    id,
    name,
    usage: organization.usage.map((record) => ({ ...record })),
    services: services.map((one) => ({
      ...service,
      id: one.id,
      name: one.name,
      backups: service.backups.map((backup) => ({ ...backup })),
    })),
  }))
  store.keys = fleet.map(({ id, keyId, keySecret }) => ({ ...admin, id: keyId, secret: keySecret, organizationId: id }))
}
