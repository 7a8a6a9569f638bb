import type { RateLimit } from '../http/rate-limit.ts'

export const profileNames = ['clickhouse-cloud', 'hyperdx'] as const
export type ProfileName = (typeof profileNames)[number]

export const defaultProfile: ProfileName = 'clickhouse-cloud'

export interface Profile {
  readonly name: ProfileName
  readonly isSelfHosted: boolean
  readonly apiUrl: string | undefined
  /** The documented limit of one key, used until an answer states another. */
  readonly rateLimit: RateLimit
  readonly observabilityPath: string
  readonly permissions: Readonly<
    Partial<Record<'usage' | 'credits' | 'keys' | 'services' | 'activities' | 'backups' | 'observability' | 'queries', string>>
  >
}

const profiles: Readonly<Record<ProfileName, Profile>> = {
  // Source: the vendor's OpenAPI document of 2026-07-31, permissions as its command line documents them.
  'clickhouse-cloud': {
    name: 'clickhouse-cloud',
    isSelfHosted: false,
    apiUrl: 'https://api.clickhouse.cloud',
    rateLimit: { limit: 10, windowMs: 10_000 },
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
  },
  // Recorded on HyperDX 2.36.
  hyperdx: {
    name: 'hyperdx',
    isSelfHosted: true,
    apiUrl: undefined,
    rateLimit: { limit: 100, windowMs: 60_000 },
    observabilityPath: '',
    permissions: { observability: 'membership in the team', queries: 'running queries' },
  },
}

export const queryEndpointUrl = 'https://queries.clickhouse.cloud'

export const profileNamed = (name: ProfileName): Profile => profiles[name]
