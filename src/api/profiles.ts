export const profileNames = ['clickhouse-cloud'] as const
type ProfileName = (typeof profileNames)[number]

/** The known facts about a product behind the API. Without a profile, the contract is neutral and guarantees less. */
export interface Profile {
  readonly name: ProfileName | 'neutral'
  /** Base url, where the product has just one. */
  readonly apiUrl: string | undefined
  /** Path segment of dashboards, alerts and sources. */
  readonly observabilityPath: string
  /** The permissions that the key's role needs, by the product's names. */
  readonly permissions: { readonly usage: string; readonly services: string; readonly backups: string; readonly observability: string }
  /** Whether the server can validate a dashboard without storing it. */
  readonly dashboardCheck: boolean
  /** Whether saved searches can be listed and written. */
  readonly savedSearches: boolean
  /** Whether the services of the organization can be listed. */
  readonly services: boolean
  /** Whether the backup configuration of a service can be read. */
  readonly backupConfiguration: boolean
  /** The company that bills for it, where it is known. */
  readonly provider: BillingProvider | undefined
  /** How the server lists objects: those that the product pages (alerts, saved searches, webhooks), and those in one answer. */
  readonly lists: { readonly paged: 'paged' | 'unknown'; readonly whole: 'whole' | 'unknown' }
}

interface BillingProvider {
  readonly name: string
  readonly serviceName: string
  /** One of the service categories of FOCUS. */
  readonly serviceCategory: string
  /** What one unit of usage costs by the public price list. */
  readonly listPrice: { readonly currency: string; readonly amount: string }
}

export const neutral: Profile = {
  name: 'neutral',
  apiUrl: undefined,
  observabilityPath: 'observability',
  permissions: {
    usage: 'reading billing',
    services: 'reading services',
    backups: 'reading backups',
    observability: 'managing alerts and dashboards',
  },
  dashboardCheck: false,
  savedSearches: false,
  services: false,
  backupConfiguration: false,
  provider: undefined,
  lists: { paged: 'unknown', whole: 'unknown' },
}

const profiles: Readonly<Record<ProfileName, Profile>> = {
  // Source: the product's OpenAPI document of 2026-07-31, permissions as its command line documents them.
  'clickhouse-cloud': {
    name: 'clickhouse-cloud',
    apiUrl: 'https://api.clickhouse.cloud',
    observabilityPath: 'clickstack',
    permissions: {
      usage: 'control-plane:organization:view',
      services: 'control-plane:service:view',
      backups: 'control-plane:service:view-backups',
      observability: 'control-plane:service:manage-clickstack-api',
    },
    dashboardCheck: true,
    savedSearches: true,
    services: true,
    backupConfiguration: true,
    lists: { paged: 'paged', whole: 'whole' },
    // By the product's billing documentation, a ClickHouse Credit is worth one US dollar of the published price list.
    provider: {
      name: 'ClickHouse',
      serviceName: 'ClickHouse Cloud',
      serviceCategory: 'Databases',
      listPrice: { currency: 'USD', amount: '1' },
    },
  },
}

/** The profile with this name; the neutral one without a name. */
export const profileNamed = (name: ProfileName | undefined): Profile => (name === undefined ? neutral : profiles[name])
