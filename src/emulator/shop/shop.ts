// Owns the demo data as a whole: a small shop with three services in one warehouse, and the same organization with nothing in it.
import { demo, type ServiceName } from '../demo.ts'
import type { Ids } from '../ids.ts'
import type { Dialect } from '../options.ts'
import type { ApiKey, Organization, Permission, Service, Store } from '../store.ts'
import { createAlerts } from './shop-alerts.ts'
import { createBackups } from './shop-backups.ts'
import { createDashboards, createSavedSearches } from './shop-dashboards.ts'
import { createSources, createWebhooks } from './shop-sources.ts'
import { createUsage } from './shop-usage.ts'

const hourMs = 3_600_000
const createdDaysAgo = 400

export function createShop(ids: Ids, atMs: number, dialect: Dialect): Store {
  const store = createEmpty(ids, atMs)
  for (const organization of store.organizations) {
    organization.usage = createUsage(atMs)
    for (const service of organization.services) fill(service, ids, atMs, dialect)
  }
  return store
}

/** Organization, services and keys, and nothing else. */
export function createEmpty(ids: Ids, atMs: number): Store {
  const organization: Organization = {
    id: demo.organizationId,
    name: 'Demo shop',
    createdAt: new Date(atMs - createdDaysAgo * 24 * hourMs).toISOString(),
    services: [
      createService(ids, 'checkout', true, 'critical'),
      createService(ids, 'catalog', false, 'normal'),
      createService(ids, 'search', false, 'normal'),
    ],
    usage: [],
  }
  return { organizations: [organization], keys: createKeys() }
}

function createService(ids: Ids, name: ServiceName, isPrimary: boolean, importance: string): Service {
  return {
    id: demo.services[name],
    name,
    provider: 'aws',
    region: 'eu-central-1',
    state: 'running',
    dataWarehouseId: demo.warehouseId,
    isPrimary,
    tags: [{ key: 'team', value: name }, { key: 'importance', value: importance }, { key: 'shop' }],
    teamId: ids.objectId(),
    dashboards: [],
    alerts: [],
    sources: [],
    webhooks: [],
    savedSearches: [],
    backups: [],
    backupConfiguration: { backupPeriodInHours: 24, backupRetentionPeriodInHours: 240 },
  }
}

function fill(service: Service, ids: Ids, atMs: number, dialect: Dialect): void {
  const name = service.name as ServiceName
  service.sources = createSources(ids, name)
  service.webhooks = createWebhooks(ids, name, atMs)
  service.dashboards = createDashboards(ids, name, service.sources)
  service.savedSearches = createSavedSearches(ids, service, atMs)
  service.alerts = createAlerts(ids, service, atMs, dialect)
  service.backups = createBackups(ids, service.id, name, atMs)
}

const everything: readonly Permission[] = [
  'control-plane:organization:view',
  'control-plane:organization:view-billing',
  'control-plane:service:view',
  'control-plane:service:view-backups',
  'control-plane:service:manage-clickstack-api',
]

const createKeys = (): ApiKey[] => [
  createKey('admin', { id: demo.apiKeyId, secret: demo.apiKeySecret }, everything),
  createKey('billing', demo.keys.billing, ['control-plane:organization:view-billing']),
  createKey('observability', demo.keys.observability, ['control-plane:service:manage-clickstack-api']),
  { ...createKey('disabled', demo.keys.disabled, everything), state: 'disabled' },
]

const createKey = (name: string, pair: { readonly id: string; readonly secret: string }, permissions: readonly Permission[]): ApiKey => ({
  ...pair,
  name,
  organizationId: demo.organizationId,
  state: 'enabled',
  expireAt: null,
  permissions: [...permissions],
})
