import { dayMs, hourMs } from '../../platform/core/durations.ts'
import type { DemoIds } from '../deterministic.ts'
import { type AlertBody, toFields } from '../product/alerts.ts'
import { type Alert, type Dashboard, emptyDashboard, type JsonObject, type SavedSearch, type Service, type Source } from '../store.ts'
import type { ServiceName } from './demo.ts'

export const createDashboards = (ids: DemoIds, service: ServiceName, sources: readonly Source[]): Dashboard[] =>
  dashboardsOf[service].map(({ name, tiles }) => ({
    ...emptyDashboard(),
    id: ids.objectId(),
    name,
    tiles: tiles.map((spec, index) => createTile(ids, spec, index, sources)),
    tags: ['shop', service],
    filters: [
      {
        id: ids.objectId(),
        type: 'QUERY_EXPRESSION',
        name: 'Environment',
        expression: "ResourceAttributes['deployment.environment']",
        sourceId: sourceIdOf(sources, 'Logs'),
      },
    ],
  }))

/** A tile with its config. Without a source, it has no table of its own to read. */
interface TileSpec extends JsonObject {
  readonly name: string
  readonly source?: 'Logs' | 'Traces' | 'Metrics'
  /** Default: 12, so that two tiles are side by side on the grid's 24 columns. */
  readonly w?: number
}

const createTile = (ids: DemoIds, { name, source, w = 12, ...config }: TileSpec, index: number, sources: readonly Source[]) => ({
  id: ids.objectId(),
  name,
  x: index % 2 === 0 ? 0 : 12,
  y: Math.floor(index / 2) * 6,
  w,
  h: 6,
  config: {
    displayType: 'line',
    ...(source !== undefined && { sourceId: sourceIdOf(sources, source) }),
    ...(config.configType === 'sql' && { connectionId: sources[0]?.connection }),
    // A test may change what is stored.
    ...structuredClone(config),
  },
})

const sourceIdOf = (sources: readonly Source[], name: string) => sources.find((source) => source.name === name)?.id ?? ''

const countItem = (where: string, alias?: string): JsonObject => ({
  aggFn: 'count',
  where,
  whereLanguage: 'lucene',
  ...(alias && { alias }),
})

const quantileItem = (level: number, where: string): JsonObject => ({
  aggFn: 'quantile',
  level,
  valueExpression: 'Duration',
  where,
  whereLanguage: 'lucene',
  alias: `p${level * 100}`,
})

const metricItem = (aggFn: string, metricName: string, metricType: string): JsonObject => ({
  aggFn,
  valueExpression: 'Value',
  metricName,
  metricType,
})

function overviewTiles(service: ServiceName): readonly TileSpec[] {
  const own = `ServiceName:${service}`
  const [ratio, duration] = [
    { output: 'percent', mantissa: 2 },
    { output: 'duration', factor: 1e-9 },
  ]
  const errors = [countItem(`${own} StatusCode:Error`, 'errors'), countItem(own, 'all')]
  const latencies = [0.5, 0.95, 0.99].map((level) => quantileItem(level, own))
  const errorLogs = [countItem(`${own} SeverityText:error`)]
  return [
    {
      name: 'Request rate',
      source: 'Traces',
      select: [countItem(`${own} SpanKind:Server`, 'requests')],
      groupBy: 'SpanName',
      fillNulls: true,
    },
    { name: 'Error rate', source: 'Traces', select: errors, asRatio: true, numberFormat: ratio },
    { name: 'Latency', source: 'Traces', select: latencies, numberFormat: duration },
    { name: 'Errors in logs', displayType: 'stacked_bar', source: 'Logs', select: errorLogs, groupBy: 'SeverityText' },
  ]
}

const declined = [countItem('LogAttributes.event:payment_declined')]
const failedImports = [countItem('LogAttributes.event:import_failed')]
const queue = [metricItem('avg', 'payments.queue.depth', 'gauge')]
const searches = 'LogAttributes.event:search'
const emptySearches = [countItem(`${searches} LogAttributes.hits:0`, 'empty'), countItem(searches, 'all')]
const guide = 'Error rate above 2% for 5 minutes pages the on-call person.\n\nRunbook: `runbooks/checkout.md`'
const errorsOnly = { where: 'SeverityText:error', whereLanguage: 'lucene' }
const indexAge = "SELECT dateDiff('minute', max(indexed_at), now()) FROM search.index_state"

const dashboardsOf: Readonly<Record<ServiceName, readonly { readonly name: string; readonly tiles: readonly TileSpec[] }[]>> = {
  checkout: [
    {
      name: 'Checkout overview',
      tiles: [
        ...overviewTiles('checkout'),
        { name: 'Orders', w: 6, displayType: 'number', source: 'Traces', select: [countItem('SpanName:PlaceOrder')], color: 'chart-green' },
        { name: 'How to read this', displayType: 'markdown', markdown: guide },
      ],
    },
    {
      name: 'Payments',
      tiles: [
        {
          name: 'Payments by provider',
          source: 'Traces',
          select: [countItem('SpanName:Charge')],
          groupBy: "SpanAttributes['payment.provider']",
        },
        { name: 'Declined payments', source: 'Logs', select: declined },
        {
          name: 'Declines by reason',
          displayType: 'table',
          source: 'Logs',
          select: declined,
          groupBy: "LogAttributes['reason']",
          orderBy: 'count() DESC',
        },
        {
          name: 'Payment queue',
          displayType: 'number',
          source: 'Metrics',
          select: queue,
          colorRules: [{ operator: 'gt', value: 500, color: 'chart-red' }],
        },
      ],
    },
    {
      name: 'Checkout logs',
      tiles: [
        { name: 'Latest errors', displayType: 'search', source: 'Logs', select: 'Timestamp, Body', ...errorsOnly },
        { name: 'Patterns', displayType: 'event_patterns', source: 'Logs', where: 'ServiceName:checkout', whereLanguage: 'lucene' },
      ],
    },
  ],
  catalog: [
    { name: 'Catalog overview', tiles: overviewTiles('catalog') },
    {
      name: 'Catalog imports',
      tiles: [
        { name: 'Imported products', source: 'Metrics', select: [metricItem('sum', 'imports.products', 'sum')] },
        { name: 'Failed imports', displayType: 'number', source: 'Logs', select: failedImports },
        { name: 'Failures by supplier', displayType: 'bar', source: 'Logs', select: failedImports, groupBy: "LogAttributes['supplier']" },
      ],
    },
  ],
  search: [
    { name: 'Search overview', tiles: overviewTiles('search') },
    {
      name: 'Search quality',
      tiles: [
        { name: 'Searches without results', source: 'Logs', select: emptySearches, asRatio: true },
        {
          name: 'Slow queries',
          displayType: 'heatmap',
          source: 'Traces',
          select: [{ valueExpression: 'Duration', heatmapScaleType: 'log' }],
        },
        { name: 'Index age', displayType: 'number', configType: 'sql', sqlTemplate: indexAge },
      ],
    },
  ],
}

export function createSavedSearches(ids: DemoIds, { name, sources, teamId }: Service, atMs: number): SavedSearch[] {
  const at = new Date(atMs - 60 * dayMs).toISOString()
  return [
    {
      id: ids.objectId(),
      name: `Errors in ${name}`,
      sourceId: sourceIdOf(sources, 'Logs'),
      select: 'Timestamp, SeverityText, Body',
      where: `ServiceName:${name} SeverityText:error`,
      whereLanguage: 'lucene',
      orderBy: 'Timestamp DESC',
      tags: ['shop'],
      filters: [],
      teamId,
      createdAt: at,
      updatedAt: at,
    },
  ]
}

interface AlertOverrides {
  readonly thresholdType?: AlertBody['thresholdType']
  readonly state?: Alert['state']
  readonly webhook?: string
}

type AlertSpec = readonly [
  name: string,
  dashboard: string,
  tile: string,
  threshold: number,
  interval: AlertBody['interval'],
  message: string,
  overrides?: AlertOverrides,
]

const auditOnly: AlertOverrides = { webhook: 'audit' }
const belowOnly: AlertOverrides = { thresholdType: 'below' }
const aboveOnly: AlertOverrides = { thresholdType: 'above_exclusive' }

// Alerts on latency compare nanoseconds, because the factor of a tile's number format is only for people.
const alertsOf: Readonly<Record<ServiceName, readonly AlertSpec[]>> = {
  checkout: [
    ['Checkout errors', 'Checkout overview', 'Error rate', 0.02, '5m', 'More than 2% of checkouts fail', { state: 'ALERT' }],
    ['Checkout is slow', 'Checkout overview', 'Latency', 1_500_000_000, '15m', 'p99 above 1.5 s'],
    ['No orders', 'Checkout overview', 'Orders', 1, '15m', 'No orders for 15 minutes', { ...belowOnly, webhook: 'incidents' }],
    ['Declined payments', 'Payments', 'Declined payments', 50, '1h', 'Many payments are declined', { state: 'PENDING' }],
    ['Payment queue grows', 'Payments', 'Payment queue', 500, '30m', 'The queue is longer than 500', { ...auditOnly, state: 'DISABLED' }],
  ],
  catalog: [
    ['Catalog errors', 'Catalog overview', 'Error rate', 0.05, '1h', 'More than 5% of requests fail'],
    ['Catalog error logs', 'Catalog overview', 'Errors in logs', 200, '1h', 'Unusually many errors in the logs', auditOnly],
    ['Imports fail', 'Catalog imports', 'Failed imports', 0, '1d', 'An import failed', { ...aboveOnly, state: 'ALERT' }],
    ['Imports stopped', 'Catalog imports', 'Imported products', 1, '12h', 'Nothing came', { ...belowOnly, state: 'INSUFFICIENT_DATA' }],
  ],
  search: [
    ['Search errors', 'Search overview', 'Error rate', 0.05, '5m', 'More than 5% of searches fail'],
    ['Search is slow', 'Search overview', 'Latency', 800_000_000, '15m', 'p99 above 0.8 s'],
    ['Empty results', 'Search quality', 'Searches without results', 0.2, '6h', 'A fifth of the searches find nothing', auditOnly],
    ['Index is old', 'Search quality', 'Index age', 60, '30m', 'The index is older than an hour', { state: 'INSUFFICIENT_DATA' }],
  ],
}

export function createAlerts(ids: DemoIds, service: Service, atMs: number): Alert[] {
  const name = service.name as ServiceName // The shop has only these.
  const before = (hours: number): string => new Date(atMs - hours * hourMs).toISOString()
  const alerts = alertsOf[name].map((spec): Alert => {
    const alert = toAlert(ids, service, spec)
    // The alert task has run until now.
    return { ...alert, createdAt: before(1200), updatedAt: before(alert.state === 'DISABLED' ? 400 : 0) }
  })
  const [first] = alerts
  if (name === 'catalog' && first) first.silenced = { by: 'ops@shop.example', at: before(2), until: before(-6) }
  if (name === 'search' && first) {
    first.executionErrors = [{ timestamp: before(1), type: 'QUERY_ERROR', message: "Unknown identifier 'StatusCod' in the query" }]
  }
  if (first === undefined) return alerts
  const { silenced: _, executionErrors: __, ...like } = first
  const onSearch = { source: 'saved_search', savedSearchId: service.savedSearches[0]?.id ?? null, dashboardId: null, tileId: null } as const
  const about = { name: `Errors in ${name}`, message: null, threshold: 100, interval: '1h', state: 'OK' } as const
  return [...alerts, { ...like, id: ids.objectId(), ...onSearch, ...about }]
}

function toAlert(ids: DemoIds, { dashboards, webhooks, teamId }: Service, spec: AlertSpec) {
  const [name, dashboardName, tileName, threshold, interval, message, { thresholdType = 'above', state = 'OK', webhook = 'oncall' } = {}] =
    spec
  const dashboard = dashboards.find((one) => one.name === dashboardName)
  return {
    id: ids.objectId(),
    teamId,
    ...toFields({
      source: 'tile',
      dashboardId: dashboard?.id ?? '',
      tileId: dashboard?.tiles.find((tile) => tile.name === tileName)?.id ?? '',
      threshold,
      thresholdType,
      interval,
      channels: [{ type: 'webhook', webhookId: webhooks.find((one) => one.name === webhook)?.id ?? '' }],
      name,
      message,
    }),
    state,
  }
}
