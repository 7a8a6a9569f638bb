import { demo, type ServiceName } from '../demo.ts'
import { createDemoIds, type DemoIds, type Ids } from '../ids.ts'
import type { Dialect } from '../options.ts'
import type { ApiKey, Organization, Permission, Service, Store } from '../store.ts'
import { createAlerts } from './shop-alerts.ts'
import { createBackups } from './shop-backups.ts'
import { createDashboards, createSavedSearches } from './shop-dashboards.ts'
import { createConnection, createSources, createWebhooks } from './shop-sources.ts'
import { createUsage } from './shop-usage.ts'

const dayMs = 86_400_000
const createdDaysAgo = 400

/** A small shop with three services in one warehouse. */
export function createShop(ids: Ids, atMs: number, dialect: Dialect): Store {
  const demoIds = createDemoIds(ids)
  const store = createOrganization(demoIds, atMs)
  for (const organization of store.organizations) {
    organization.usage = createUsage(atMs)
    for (const service of organization.services) fill(service, demoIds, atMs, dialect)
  }
  return store
}

/** The same organization, services and keys, with a connection in each service and nothing else. */
export function createEmpty(ids: Ids, atMs: number): Store {
  const demoIds = createDemoIds(ids)
  const store = createOrganization(demoIds, atMs)
  for (const { services } of store.organizations)
    for (const service of services) service.connections = [createConnection(demoIds, service.name as ServiceName, atMs)]
  return store
}

function createOrganization(ids: DemoIds, atMs: number): Store {
  const organization: Organization = {
    id: demo.organizationId,
    name: 'Demo shop',
    createdAt: createdAt(atMs),
    services: [createService(ids, 'checkout', atMs), createService(ids, 'catalog', atMs), createService(ids, 'search', atMs)],
    usage: [],
  }
  return { organizations: [organization], keys: createKeys() }
}

const createdAt = (atMs: number): string => new Date(atMs - createdDaysAgo * dayMs).toISOString()

function createService(ids: DemoIds, name: ServiceName, atMs: number): Service {
  const isPrimary = name === 'checkout'
  return {
    id: demo.services[name],
    name,
    provider: 'aws',
    region: 'eu-central-1',
    state: 'running',
    dataWarehouseId: demo.warehouseId,
    isPrimary,
    tags: [{ key: 'team', value: name }, { key: 'importance', value: isPrimary ? 'critical' : 'normal' }, { key: 'shop' }],
    createdAt: createdAt(atMs),
    teamId: ids.objectId(),
    connections: [],
    dashboards: [],
    alerts: [],
    sources: [],
    webhooks: [],
    savedSearches: [],
    backups: [],
    backupConfiguration: { backupPeriodInHours: 24, backupRetentionPeriodInHours: 240 },
  }
}

function fill(service: Service, ids: DemoIds, atMs: number, dialect: Dialect): void {
  const name = service.name as ServiceName
  const connection = createConnection(ids, name, atMs)
  service.connections = [connection]
  service.sources = createSources(ids, name, connection.id)
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
  createKey('billing', demo.keys.billing, ['control-plane:organization:view', 'control-plane:organization:view-billing']),
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
