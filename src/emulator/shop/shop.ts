import { dayMs } from '../../platform/core/durations.ts'
import { createDemoIds, type DemoIds, type Ids } from '../deterministic.ts'
import {
  type ApiKey,
  type Connection,
  type Organization,
  type Permission,
  permissions,
  type Service,
  type Source,
  type Store,
  type Webhook,
} from '../store.ts'
import { demo, type ServiceName } from './demo.ts'
import { createAlerts, createDashboards, createSavedSearches } from './shop-dashboards.ts'
import { createActivities, createBackups, createCreditBalances, createTables, createUsage } from './shop-platform.ts'

const daysBefore = (atMs: number, days: number) => new Date(atMs - days * dayMs).toISOString()

/** Makes a small shop with three services in one warehouse, for the start and for each reset. All have one history, which takes longest. */
export function shopMaker(ids: Ids, atMs: number): () => Store {
  const usage = createUsage(atMs)
  const activities = createActivities(atMs)
  return () => {
    const demoIds = createDemoIds(ids)
    const store = createOrganization(demoIds, atMs)
    for (const organization of store.organizations) {
      for (const service of organization.services) fillService(service, demoIds, atMs)
      organization.creditBalances = createCreditBalances(demoIds, atMs)
      organization.usage = usage
      organization.activities = [...activities]
    }
    return store
  }
}

/** The organization, services and keys of the shop, whose services have only a connection. */
export function createEmpty(ids: Ids, atMs: number): Store {
  const demoIds = createDemoIds(ids)
  const store = createOrganization(demoIds, atMs)
  for (const service of store.organizations.flatMap(({ services }) => services))
    service.connections = [createConnection(demoIds, service.name as ServiceName, atMs)] // The shop has only these.
  return store
}

function createOrganization(ids: DemoIds, atMs: number): Store {
  const organization: Organization = {
    id: demo.organizationId,
    name: 'Demo shop',
    createdAt: daysBefore(atMs, 400),
    services: [createService(ids, 'checkout', atMs), createService(ids, 'catalog', atMs), createService(ids, 'search', atMs)],
    usage: [],
    activities: [],
    creditBalances: [],
  }
  return {
    organizations: [organization],
    keys: [
      createKey('admin', { id: demo.apiKeyId, secret: demo.apiKeySecret }, permissions),
      createKey('billing', demo.keys.billing, ['control-plane:organization:view', 'control-plane:organization:view-billing']),
      createKey('observability', demo.keys.observability, ['control-plane:service:manage-clickstack-api']),
      { ...createKey('disabled', demo.keys.disabled, permissions), state: 'disabled' },
    ],
  }
}

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
    createdAt: daysBefore(atMs, 400),
    teamId: ids.objectId(),
    connections: [],
    dashboards: [],
    alerts: [],
    sources: [],
    webhooks: [],
    savedSearches: [],
    backups: [],
    backupConfiguration: { backupPeriodInHours: 24, backupRetentionPeriodInHours: 240 },
    tables: [],
  }
}

function fillService(service: Service, ids: DemoIds, atMs: number) {
  const name = service.name as ServiceName // The shop has only these.
  const connection = createConnection(ids, name, atMs)
  service.connections = [connection]
  service.sources = createSources(ids, name, connection.id)
  const at = daysBefore(atMs, 120)
  const urls = hookUrls(name)
  const create = (name: string, kind: string, url: string, description: string): Webhook => ({
    id: ids.objectId(),
    name,
    service: kind,
    url,
    description,
    createdAt: at,
    updatedAt: at,
  })
  service.webhooks = [
    create('oncall', 'slack', urls.oncall, `On-call channel of the ${name} team`),
    create('incidents', 'incidentio', urls.incidents, 'Opens an incident'),
    { ...create('audit', 'generic', urls.audit, 'Keeps every notification'), body: '{"text":"{{title}}"}' },
  ]
  service.dashboards = createDashboards(ids, name, service.sources)
  service.savedSearches = createSavedSearches(ids, service, atMs)
  service.alerts = createAlerts(ids, service, atMs)
  service.backups = createBackups(ids, service.id, name, atMs)
  service.tables = createTables(name, atMs)
}

const createKey = (name: string, pair: { readonly id: string; readonly secret: string }, granted: readonly Permission[]): ApiKey => ({
  ...pair,
  name,
  organizationId: demo.organizationId,
  state: 'enabled',
  expireAt: null,
  permissions: [...granted],
})

function createConnection(ids: DemoIds, service: ServiceName, atMs: number): Connection {
  const at = daysBefore(atMs, 300)
  return {
    id: ids.objectId(),
    name: 'Default',
    host: `https://${service}.clickhouse.example:8443`,
    username: 'otel',
    createdAt: at,
    updatedAt: at,
  }
}

function createSources(ids: DemoIds, service: ServiceName, connection: string): Source[] {
  const from = (tableName: string) => ({ databaseName: `${service}_otel`, tableName })
  const [logs, traces, metrics] = [ids.objectId(), ids.objectId(), ids.objectId()]
  const resource = { serviceNameExpression: 'ServiceName', resourceAttributesExpression: 'ResourceAttributes' }
  const sources: Source[] = [
    {
      id: logs,
      name: 'Logs',
      kind: 'log',
      connection,
      from: from('otel_logs'),
      defaultTableSelectExpression: 'Timestamp, ServiceName, SeverityText, Body',
      timestampValueExpression: 'TimestampTime',
      ...resource,
      severityTextExpression: 'SeverityText',
      bodyExpression: 'Body',
      // A field that was never set may be an empty text: terraform-provider-clickhouse PR#659.
      displayedTimestampValueExpression: '',
      traceSourceId: traces,
      metricSourceId: metrics,
    },
    {
      id: traces,
      name: 'Traces',
      kind: 'trace',
      connection,
      from: from('otel_traces'),
      defaultTableSelectExpression: 'Timestamp, ServiceName, SpanName, Duration',
      timestampValueExpression: 'Timestamp',
      durationExpression: 'Duration',
      durationPrecision: 9,
      traceIdExpression: 'TraceId',
      spanIdExpression: 'SpanId',
      parentSpanIdExpression: 'ParentSpanId',
      spanNameExpression: 'SpanName',
      spanKindExpression: 'SpanKind',
      ...resource,
      logSourceId: logs,
      metricSourceId: metrics,
    },
    {
      id: metrics,
      name: 'Metrics',
      kind: 'metric',
      connection,
      from: from(''),
      metricTables: { gauge: 'otel_metrics_gauge', sum: 'otel_metrics_sum', histogram: 'otel_metrics_histogram' },
      timestampValueExpression: 'TimeUnix',
      resourceAttributesExpression: 'ResourceAttributes',
      logSourceId: logs,
    },
  ]
  if (service === 'checkout')
    sources.push({
      id: ids.objectId(),
      name: 'Sessions',
      kind: 'session',
      connection,
      from: from('hyperdx_sessions'),
      traceSourceId: traces,
    })
  return sources
}

/** Fake URLs that look like secrets, as in the real API. */
const hookUrls = (service: ServiceName) => ({
  oncall: `https://hooks.slack.com/services/T0DEMO000/B0DEMO000/opens-nothing-${service}`,
  incidents: `https://api.incidents.example/v2/alert_events/http/demo-${service}?token=opens-nothing`,
  audit: `https://audit.example/hooks/opens-nothing-${service}`,
})
