import { addDays, type Day, dayOf, eachDay } from '../../platform/core/dates.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/core/durations.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { createDemoIds, type DemoIds, hashOf, type Ids } from '../deterministic.ts'
import {
  type Activity,
  type ApiKey,
  type Backup,
  type CreditBalance,
  type Permission,
  permissions,
  type Service,
  type Source,
  type Store,
  type Table,
  type UsageRecord,
  type Webhook,
} from '../store.ts'
import { demo, type ServiceName } from './demo.ts'
import { createAlerts, createDashboards, createSavedSearches } from './shop-dashboards.ts'

const daysBefore = (atMs: number, days: number) => new Date(atMs - days * dayMs).toISOString()

/**
 * Makes a small shop with three services in one warehouse, for the start and for each reset. All have one history, which takes longest. The
 * services of an empty shop have only a connection.
 */
export function shopMaker(ids: Ids, atMs: number, isEmpty: boolean): () => Store {
  const usage = isEmpty ? [] : createUsage(atMs)
  const activities = isEmpty ? [] : createActivities(atMs)
  return () => {
    const demoIds = createDemoIds(ids)
    const services = keysOf<ServiceName>(demo.services).map((name) => createService(demoIds, name, atMs))
    for (const service of services) fillService(service, demoIds, atMs, isEmpty)
    const creditBalances = isEmpty ? [] : createCreditBalances(demoIds, atMs)
    const about = { id: demo.organizationId, name: 'Demo shop', createdAt: daysBefore(atMs, 400) }
    return {
      organizations: [{ ...about, services, usage, activities: [...activities], creditBalances }],
      keys: [
        createKey('admin', { id: demo.apiKeyId, secret: demo.apiKeySecret }, permissions),
        createKey('billing', demo.keys.billing, ['control-plane:organization:view', 'control-plane:organization:view-billing']),
        createKey('observability', demo.keys.observability, ['control-plane:service:manage-clickstack-api']),
        { ...createKey('disabled', demo.keys.disabled, permissions), state: 'disabled' },
      ],
    }
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
    backupConfiguration: { backupPeriodInHours: 24, backupRetentionPeriodInHours: 240 },
    ...{ connections: [], dashboards: [], alerts: [], sources: [], webhooks: [], savedSearches: [], backups: [], tables: [] },
  }
}

function fillService(service: Service, ids: DemoIds, atMs: number, isEmpty: boolean) {
  const name = service.name as ServiceName // The shop has only these.
  const [at, connectedAt] = [daysBefore(atMs, 120), daysBefore(atMs, 300)]
  const connection = {
    id: ids.objectId(),
    name: 'Default',
    host: `https://${name}.clickhouse.example:8443`,
    username: 'otel',
    createdAt: connectedAt,
    updatedAt: connectedAt,
  }
  service.connections = [connection]
  if (isEmpty) return
  service.sources = createSources(ids, name, connection.id)
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
    // Fake URLs that look like secrets, as in the real API.
    create(
      'oncall',
      'slack',
      `https://hooks.slack.com/services/T0DEMO000/B0DEMO000/opens-nothing-${name}`,
      `On-call channel of the ${name} team`,
    ),
    create(
      'incidents',
      'incidentio',
      `https://api.incidents.example/v2/alert_events/http/demo-${name}?token=opens-nothing`,
      'Opens an incident',
    ),
    {
      ...create('audit', 'generic', `https://audit.example/hooks/opens-nothing-${name}`, 'Keeps every notification'),
      body: '{"text":"{{title}}"}',
    },
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

function createSources(ids: DemoIds, service: ServiceName, connection: string): Source[] {
  const from = (tableName: string) => ({ databaseName: `${service}_otel`, tableName })
  const [logs, traces, metrics] = [ids.objectId(), ids.objectId(), ids.objectId()]
  /** Expressions that are the columns of their names. */
  const columns = (names: string) =>
    Object.fromEntries(names.split(' ').map((name) => [`${name.charAt(0).toLowerCase()}${name.slice(1)}Expression`, name]))
  const sources: Source[] = [
    {
      id: logs,
      name: 'Logs',
      kind: 'log',
      connection,
      from: from('otel_logs'),
      defaultTableSelectExpression: 'Timestamp, ServiceName, SeverityText, Body',
      timestampValueExpression: 'TimestampTime',
      ...columns('ServiceName ResourceAttributes SeverityText Body'),
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
      durationPrecision: 9,
      ...columns('Duration TraceId SpanId ParentSpanId SpanName SpanKind ServiceName ResourceAttributes'),
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
      ...columns('ResourceAttributes'),
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

// Amounts depend on entity and date only, except for the spike and for the part of today that has passed.

const days = 92
const spike = { service: 'search', metric: 'compute', daysAgo: 12, factor: 6 } as const

const serviceMicro: Readonly<Record<ServiceName, Readonly<Record<string, number>>>> = {
  checkout: { compute: 5_000_000, publicDataTransfer: 220_000, interRegionTier1DataTransfer: 50_000 },
  catalog: { compute: 3_000_000, publicDataTransfer: 140_000 },
  search: { compute: 2_600_000, publicDataTransfer: 100_000 },
}

function createUsage(atMs: number): UsageRecord[] {
  const today = dayOf(atMs)
  const spikeDay = addDays(today, -spike.daysAgo)
  return [...eachDay(addDays(today, 1 - days), today)].flatMap((date) => {
    const passed = date === today ? (new Date(atMs).getUTCHours() + 1) / 24 : 1
    const services = keysOf<ServiceName>(serviceMicro)
    return [
      createRecord({ storage: 1_900_000, backup: 450_000 }, date, passed),
      ...services.map((name) => {
        const record = createRecord(serviceMicro[name], date, passed, name)
        const usual = record.micro[spike.metric]
        if (name === spike.service && date === spikeDay && usual !== undefined) record.micro[spike.metric] = usual * spike.factor
        return record
      }),
    ]
  })
}

function createRecord(base: Readonly<Record<string, number>>, date: Day, passed: number, service?: ServiceName): UsageRecord {
  const entityName = service ?? 'demo-warehouse'
  const serviceId = service === undefined ? null : demo.services[service]
  // Services use less at the weekend, and the warehouse does not.
  const activity = service !== undefined && [0, 6].includes(new Date(date).getUTCDay()) ? 0.9 : 1
  const amounts = Object.entries(base).map(([metric, micro]) => {
    const jitter = 0.96 + 0.08 * (hashOf(`${entityName} ${metric} ${date}`) / 2 ** 32)
    return [metric, Math.round(micro * activity * jitter * passed)]
  })
  return {
    dataWarehouseId: demo.warehouseId,
    serviceId,
    date,
    entityType: service === undefined ? 'datawarehouse' : 'service',
    entityId: serviceId ?? demo.warehouseId,
    entityName,
    micro: Object.fromEntries(amounts),
  }
}

/** Hours since the newest backup finished, or would have finished if it had not failed, and bytes of a full one. */
const backupsOf: Readonly<Record<ServiceName, readonly [ageHours: number, fullBytes: number]>> = {
  checkout: [3, 48_318_382_080],
  catalog: [50, 21_474_836_480],
  search: [5, 8_589_934_592],
}

function createBackups(ids: DemoIds, serviceId: string, name: ServiceName, atMs: number): Backup[] {
  const [ageHours, fullBytes] = backupsOf[name]
  const newestMs = atMs - ageHours * hourMs
  return Array.from({ length: 10 }, (_, index): Backup => {
    const isFull = index % 7 === 2
    const isFailed = name === 'search' && index === 0
    const minutes = (isFull ? 42 : 9) + ((index * 5) % 7)
    const finishedMs = newestMs - index * dayMs
    const startedAt = new Date(finishedMs - minutes * minuteMs).toISOString()
    // A shop grows, so that older backups are smaller.
    const bytes = Math.round((fullBytes / (isFull ? 1 : 16)) * (1 - index * 0.004))
    return {
      id: ids.uuid(),
      status: isFailed ? 'error' : 'done',
      serviceId,
      startedAt,
      // Documented for finished backups only.
      ...(!isFailed && { finishedAt: new Date(finishedMs).toISOString() }),
      sizeInBytes: isFailed ? 0 : bytes,
      durationInSeconds: minutes * 60,
      type: isFull ? 'full' : 'incremental',
      backupName: `${name}-${startedAt.slice(0, 10)}`,
      bucket: {
        bucketProvider: 'AWS',
        bucketPath: `https://demo-shop-backups.s3.example/${name}`,
        iamRoleArn: 'arn:aws:iam::000000000000:role/demo-shop-backups',
        iamRoleSessionName: `demo-shop-${name}`,
      },
    }
  })
}

/** What the demo's sources read, and a table without a time. */
function createTables(name: ServiceName, atMs: number): Table[] {
  const start = { fromMs: atMs - 30 * dayMs, engine: 'SharedMergeTree' }
  return [
    { ...start, database: 'default', name: 'otel_logs', timeColumn: 'Timestamp', everyMs: 120_000 },
    { ...start, database: 'default', name: 'otel_traces', timeColumn: 'Timestamp', everyMs: 180_000 },
    { ...start, database: name, name: 'products', everyMs: hourMs, untilMs: atMs - 20 * dayMs },
    { ...start, database: name, name: 'products_view', engine: 'View', everyMs: hourMs },
  ]
}

type ActivitySpec = readonly [daysAgo: number, type: string, service?: ServiceName | undefined, actor?: Activity['actorType']]

// Search slept at night until its alerts were created, 50 days ago, and has not slept since then.
const activitySpecs: readonly ActivitySpec[] = [
  ...keysOf<ServiceName>(demo.services).map((name): ActivitySpec => [400, 'service_create', name, 'user']),
  ...Array.from({ length: 6 }, (_, i): ActivitySpec => [61 - 12 * i, 'user_login', undefined, 'user']),
  ...Array.from({ length: 6 }, (_, night) => 56 - night).flatMap((daysAgo): readonly ActivitySpec[] => [
    [daysAgo, 'service_idle', 'search'],
    [daysAgo - 0.4, 'service_awaken', 'search'],
  ]),
  // Catalog wakes for ten hours of each night only for its alerts, which are evaluated at each full hour. It is awake now.
  ...Array.from({ length: days / 2 }, (_, i) => i + 1).flatMap((daysAgo) =>
    Array.from({ length: 10 }, (_, hour) => daysAgo - (6 + hour) / 24).flatMap((asleep): readonly ActivitySpec[] => [
      [asleep - 1 / 96, 'service_idle', 'catalog'],
      [asleep - 1 / 24, 'service_awaken', 'catalog'],
    ]),
  ),
  [spike.daysAgo + 0.2, 'service_update_autoscaling_memory', spike.service, 'user'],
  [4, 'service_update_ip_access_list', 'checkout', 'api'],
]

/** Addresses are of a network for documentation: RFC 5737. */
const actors: Readonly<Record<string, Partial<Activity>>> = {
  user: { actorId: 'demo-user', actorDetails: 'ops@shop.example', actorIpAddress: '192.0.2.10', userAgent: 'Mozilla/5.0' },
  api: { actorId: demo.apiKeyId, actorDetails: 'admin', actorIpAddress: '192.0.2.20', userAgent: 'terraform-provider-clickhouse/3.0' },
}

function createActivities(atMs: number): Activity[] {
  const hourStartMs = atMs - (atMs % hourMs)
  return activitySpecs.map(([daysAgo, type, service, actorType = 'system'], i) => ({
    id: `c0ffee00-0000-4000-8000-${`ac${i}`.padStart(12, '0')}`,
    createdAt: new Date(hourStartMs - Math.round(daysAgo * 24 * 60) * minuteMs).toISOString(),
    type,
    actorType,
    ...actors[actorType],
    ...(service !== undefined && { serviceId: demo.services[service] }),
  }))
}

/** The older credits expire before all of them are used, and the next ones have not started. */
function createCreditBalances(ids: DemoIds, atMs: number): CreditBalance[] {
  const balance = (type: string, credits: readonly [total: number, spent: number], startDays: number, endDays: number): CreditBalance => ({
    id: ids.uuid(),
    type,
    totalMicro: credits[0] * 1_000_000,
    spentMicro: credits[1] * 1_000_000,
    startDate: `${addDays(dayOf(atMs), startDays)}T00:00:00.000Z`,
    expirationDate: `${addDays(dayOf(atMs), endDays)}T00:00:00.000Z`,
  })
  return [
    balance('prepaid', [3000, 640], -20, 345),
    balance('prepaid', [3500, 3240], -350, 15),
    balance('prepaid', [3000, 0], 345, 710),
    balance('trial', [300, 275.5], -20, 10),
  ]
}
