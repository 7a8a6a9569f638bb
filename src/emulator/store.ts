/**
 * The emulated state. Everything is writable, so that a test can set any state. Fields have the names of the API's fields. Objects may
 * hold more than the API shows: what the web app saved, or what an older version left behind.
 */
export interface Store {
  organizations: Organization[]
  keys: ApiKey[]
}

export interface JsonObject {
  [name: string]: unknown
}

/** Throws for an unknown service. */
export function findService({ organizations }: Store, serviceId: string): Service {
  const service = organizations.flatMap(({ services }) => services).find(({ id }) => id === serviceId)
  if (service === undefined) throw new Error(`service ${serviceId} does not exist`)
  return service
}

export const isJsonObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

export interface Organization {
  id: string
  name: string
  createdAt: string
  services: Service[]
  usage: UsageRecord[]
  /** Activities in any order. */
  activities: Activity[]
  /** Balances in any order, with those that cannot be used. */
  creditBalances: CreditBalance[]
}

export const permissions = [
  'control-plane:organization:view',
  'control-plane:organization:view-activities',
  'control-plane:organization:view-api-keys',
  'control-plane:organization:view-billing',
  'control-plane:service:view',
  'control-plane:service:view-backups',
  'control-plane:service:manage-clickstack-api',
] as const

export type Permission = (typeof permissions)[number]

export interface CreditBalance {
  id: string
  type: string
  /** Millionths of a credit. */
  totalMicro: number
  spentMicro: number
  startDate: string
  expirationDate: string
}

export interface ApiKey {
  id: string
  secret: string
  name: string
  organizationId: string
  state: 'enabled' | 'disabled'
  expireAt: string | null
  permissions: Permission[]
}

export interface Service {
  id: string
  name: string
  provider: string
  region: string
  state: string
  dataWarehouseId: string
  isPrimary: boolean
  /** Default: false. Read-only services exist only beside a primary one. */
  isReadonly?: boolean
  /** Whether the service may sleep. Default: all but the primary one. */
  idleScaling?: boolean
  /** Default: 15. */
  idleTimeoutMinutes?: number
  /** Default: from anywhere, as for a new service. */
  ipAccessList?: { source: string; description?: string }[]
  tags: Tag[]
  createdAt: string
  /** Owner of the observability resources; they carry it as `teamId`. */
  teamId: string
  connections: Connection[]
  dashboards: Dashboard[]
  alerts: Alert[]
  sources: Source[]
  webhooks: Webhook[]
  savedSearches: SavedSearch[]
  /** Backups in any order. The API lists the most recent first. */
  backups: Backup[]
  backupConfiguration: BackupConfiguration
  /** What queries can read. */
  tables: Table[]
  /** When a restored service begins to run. Until then, it is provisioned. Absent for other services. */
  runsAt?: string
}

/** A table with a row at the start, and one after each step. */
export interface Table {
  database: string
  name: string
  engine: string
  /** Has the time of the row. */
  timeColumn?: string
  fromMs: number
  everyMs: number
  /** No row is later. Default: rows go on. */
  untilMs?: number
  /** The time and the value of each row, in place of rows after each step. */
  rows?: readonly (readonly [timeMs: number, value: number])[]
  /** Default: before every backup. */
  createdMs?: number
  /** When its columns were last changed, if the server says it. */
  changedMs?: number
  /** Whether a query of its rows needs more memory than the server has. */
  isTooLarge?: boolean
}

/** Something that happened in the organization. Every field is optional in the API's OpenAPI document. */
export interface Activity {
  id: string
  createdAt: string
  type: string
  actorType?: 'user' | 'support' | 'system' | 'api'
  actorId?: string
  actorDetails?: string
  actorIpAddress?: string
  organizationId?: string
  serviceId?: string
  userAgent?: string
}

export interface Tag {
  key: string
  value?: string
}

interface Stamped {
  id: string
  createdAt: string
  updatedAt: string
}

/** The ClickHouse server that sources and SQL tiles query. Only self-hosted installations show them. */
export interface Connection extends Stamped {
  name: string
  host: string
  username: string
  /** Answers leave the field out. */
  password?: string | undefined
  hyperdxSettingPrefix?: string
  isPrometheusEndpoint?: boolean | undefined
}

export interface Dashboard {
  id: string
  name: string
  tiles: Tile[]
  tags: string[]
  filters: DashboardFilter[]
  savedQuery: string | null
  savedQueryLanguage: string | null
  /** Shown as stored, whatever their form. */
  savedFilterValues: JsonObject[]
  containers: JsonObject[]
}

/**
 * The API shows the fields of the tile's display type, with the product's defaults. Other stored fields stay hidden until an update drops
 * them: `configType: 'promql'` (the whole tile), `granularity`, `alternateRowBackground`, `ratioMode`, `where` of a line.
 */
export interface Tile {
  id: string
  name: string
  x: number
  y: number
  w: number
  h: number
  config: JsonObject
  containerId?: string | undefined
  tabId?: string | undefined
}

/** What a dashboard has besides its id, name and tiles, where nothing else is set. */
export const emptyDashboard = () => ({
  tags: [],
  filters: [],
  savedQuery: null,
  savedQueryLanguage: null,
  savedFilterValues: [],
  containers: [],
})

export interface DashboardFilter extends JsonObject {
  id: string
}

/** null and absent are the same, except that `thresholdMax`, `scheduleStartAt` and texts that are null are shown as null. */
export interface Alert extends Stamped {
  teamId: string
  source: 'saved_search' | 'tile'
  dashboardId: string | null
  tileId: string | null
  savedSearchId: string | null
  groupBy: string | null
  threshold: number
  thresholdMax?: number | null
  thresholdType: string
  interval: string
  scheduleOffsetMinutes?: number | null
  scheduleStartAt?: string | null
  /** The first is also shown as `channel`. */
  channels: Channel[]
  name: string | null
  message: string | null
  note: string | null
  numConsecutiveWindows: number | null
  state: 'ALERT' | 'OK' | 'INSUFFICIENT_DATA' | 'DISABLED' | 'PENDING'
  silenced?: { by: string | null; at: string; until: string } | null
  executionErrors?: { timestamp: string; type: string; message: string }[]
  /** Fields of a server newer than HyperDX 2.36, as it answers them. */
  newer?: JsonObject
}

/** The cloud's OpenAPI document has more fields. The product accepts and stores only webhooks, with `type` and `webhookId`. */
export type Channel =
  | { type: 'email'; emailRecipients: string[] }
  | {
      type: 'webhook'
      webhookId: string
      webhookService?: string | null
      slackChannelId?: string | null
      severity?: 'critical' | 'error' | 'warning' | 'info' | null
    }

export interface Source extends JsonObject {
  id: string
  name: string
  kind: string
}

export interface Webhook extends Stamped {
  name: string
  service: string
  /** Shown in plain text, as by the real API, although it is a secret for Slack. */
  url?: string
  description?: string | undefined
  body?: string | undefined
  /** Answers leave these two fields out. */
  headers?: Record<string, string> | undefined
  queryParams?: Record<string, string> | undefined
}

export interface SavedSearch extends Stamped {
  name: string
  sourceId: string
  select?: string
  where?: string
  whereLanguage?: string
  orderBy?: string
  tags?: string[]
  /** The web app may store any. The API accepts only filters that the sidebar can show. */
  filters?: JsonObject[]
  teamId: string
}

/** A backup. The API's OpenAPI document requires only the id. */
export interface Backup {
  id: string
  status?: 'done' | 'error' | 'in_progress'
  serviceId?: string
  startedAt?: string
  finishedAt?: string
  sizeInBytes?: number
  durationInSeconds?: number
  type?: 'full' | 'incremental'
  backupName?: string
  bucket?: JsonObject
}

/** All fields are optional in the API's OpenAPI document. */
export interface BackupConfiguration {
  backupPeriodInHours?: number
  backupRetentionPeriodInHours?: number
  backupStartTime?: string
}

/** One entity on one day. Amounts are whole millionths of a credit, so that sums are exact. */
export interface UsageRecord {
  dataWarehouseId: string
  serviceId: string | null
  date: string
  entityType?: 'datawarehouse' | 'service' | 'clickpipe'
  entityId: string
  entityName: string
  /** Default: whether the day is older than three days before the server's today. */
  locked?: boolean
  /** Amounts by the name of the metric without the unit: `compute` is shown as `computeCredits`. */
  micro: { [metric: string]: number }
}
