// Owns the shape of the emulated state. Everything is writable: a test puts the world into the state that it needs.

export interface JsonObject {
  [name: string]: unknown
}

export interface Store {
  organizations: Organization[]
  keys: ApiKey[]
}

export interface Organization {
  id: string
  name: string
  createdAt: string
  services: Service[]
  usage: UsageRecord[]
}

export type Permission =
  | 'control-plane:organization:view'
  | 'control-plane:organization:view-billing'
  | 'control-plane:service:view'
  | 'control-plane:service:view-backups'
  | 'control-plane:service:manage-clickstack-api'

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
  tags: Tag[]
  /** Owner of the observability resources; they carry it as `teamId`. */
  teamId: string
  dashboards: Dashboard[]
  alerts: Alert[]
  sources: Source[]
  webhooks: Webhook[]
  savedSearches: SavedSearch[]
  /** In any order; the list is answered most recent first. */
  backups: Backup[]
  backupConfiguration: BackupConfiguration
}

export interface Tag {
  key: string
  value?: string
}

export interface Dashboard {
  id: string
  name: string
  tiles: Tile[]
  tags: string[]
  filters: DashboardFilter[]
  savedQuery: string | null
  savedQueryLanguage: string | null
  savedFilterValues: JsonObject[]
  containers: JsonObject[]
}

export interface Tile {
  id: string
  name: string
  x: number
  y: number
  w: number
  h: number
  config: JsonObject
  containerId?: string
  tabId?: string
}

export interface DashboardFilter extends JsonObject {
  id: string
}

export interface Alert {
  id: string
  teamId: string
  source: 'saved_search' | 'tile'
  dashboardId: string | null
  tileId: string | null
  savedSearchId: string | null
  groupBy: string | null
  threshold: number
  thresholdMax: number | null
  thresholdType: string
  interval: string
  scheduleOffsetMinutes: number | null
  scheduleStartAt: string | null
  /** The first is also answered as `channel`. */
  channels: Channel[]
  name: string | null
  message: string | null
  note: string | null
  numConsecutiveWindows: number | null
  state: 'ALERT' | 'OK' | 'INSUFFICIENT_DATA' | 'DISABLED' | 'PENDING'
  silenced: { by: string | null; at: string; until: string } | null
  executionErrors: { timestamp: string; type: string; message: string }[]
  createdAt: string
  updatedAt: string
}

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

export interface Webhook {
  id: string
  name: string
  service: string
  /** Answered in plain text by the real API too: for Slack it is a secret. */
  url?: string
  description?: string
  body?: string
  createdAt: string
  updatedAt: string
}

export interface SavedSearch extends JsonObject {
  id: string
  name: string
  sourceId: string
}

/** Nothing but the id is required by the API's documents. */
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

/** Nothing of it is required either. */
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
  /** Given: answered as it is. Absent: days older than three days before the server's today are locked. */
  locked?: boolean
  /** By the name that stands before the unit: `compute` is answered as `computeCredits`. */
  micro: { [metric: string]: number }
}
