import type { RateLimit } from '../http/rate-limit.ts'

/** The values of the input `profile`. */
export const profileNames = ['clickhouse-cloud', 'hyperdx'] as const
export type ProfileName = (typeof profileNames)[number]

/** The known facts about a server behind the API. Without a profile, the contract is neutral and guarantees less. */
export interface Profile {
  readonly name: ProfileName | 'neutral'
  /** Self-hosted: the key is a bearer token, and there are no organizations, no usage costs and no backups. */
  readonly isSelfHosted: boolean
  /** Base url, where the server has just one. */
  readonly apiUrl: string | undefined
  /** The documented limit of one key, used until an answer states another. */
  readonly rateLimit: RateLimit
  /** Path segment of dashboards, alerts and sources. */
  readonly observabilityPath: string
  /** The permissions that the key's role needs, by the names of the vendor. */
  readonly permissions: {
    readonly usage: string
    readonly credits: string
    readonly keys: string
    readonly services: string
    readonly activities: string
    readonly backups: string
    readonly observability: string
    readonly queries: string
  }
  /**
   * Whether the server is known: it has saved searches, validates dashboards without storing them, pages lists, and shows all fields in them.
   * Writes to it state defaults that readers of the stored object do not share (see `stateDefault` in the file schemas).
   */
  readonly isKnown: boolean
  /** The company that runs the server and bills for it: its API also has services, keys, activities and the configuration of backups. */
  readonly provider: BillingProvider | undefined
}

interface BillingProvider {
  readonly name: string
  readonly serviceName: string
  /** One of the service categories of FOCUS. */
  readonly serviceCategory: string
  /** What one unit of usage costs by the public price list. */
  readonly listPrice: { readonly currency: string; readonly amount: string }
}

/** The facts without a profile: only what every server with this API has. */
export const neutral: Profile = {
  name: 'neutral',
  isSelfHosted: false,
  apiUrl: undefined,
  rateLimit: { limit: 10, windowMs: 10_000 },
  observabilityPath: 'observability',
  permissions: {
    usage: 'reading billing',
    credits: 'reading billing',
    keys: 'reading API keys',
    services: 'reading services',
    activities: 'reading activities',
    backups: 'reading backups',
    observability: 'managing alerts and dashboards',
    queries: 'running queries',
  },
  isKnown: false,
  provider: undefined,
}

const profiles: Readonly<Record<ProfileName, Profile>> = {
  // Source: the vendor's OpenAPI document of 2026-07-31, permissions as its command line documents them.
  'clickhouse-cloud': {
    ...neutral,
    isKnown: true,
    name: 'clickhouse-cloud',
    apiUrl: 'https://api.clickhouse.cloud',
    observabilityPath: 'clickstack',
    permissions: {
      usage: 'control-plane:organization:view',
      credits: 'control-plane:organization:view-billing',
      keys: 'control-plane:organization:view-api-keys',
      services: 'control-plane:service:view',
      activities: 'control-plane:organization:view-activities',
      backups: 'control-plane:service:view-backups',
      observability: 'control-plane:service:manage-clickstack-api',
      queries: 'running queries',
    },
    // The vendor's billing documentation says that a ClickHouse Credit is worth one US dollar of the published price list.
    provider: {
      name: 'ClickHouse',
      serviceName: 'ClickHouse Cloud',
      serviceCategory: 'Databases',
      listPrice: { currency: 'USD', amount: '1' },
    },
  },
  // Recorded on HyperDX 2.36.
  hyperdx: {
    ...neutral,
    isKnown: true,
    name: 'hyperdx',
    isSelfHosted: true,
    rateLimit: { limit: 100, windowMs: 60_000 },
    observabilityPath: '',
    permissions: { ...neutral.permissions, observability: 'membership in the team' },
  },
}

/** Base URL of the query endpoints of ClickHouse Cloud. */
export const queryEndpointUrl = 'https://queries.clickhouse.cloud'

/** Profiles of servers with organizations. */
export const cloudProfileNames = ['clickhouse-cloud'] as const satisfies readonly ProfileName[]

/** The profile with this name; the neutral one without a name. */
export const profileNamed = (name: ProfileName | undefined): Profile => (name === undefined ? neutral : profiles[name])
