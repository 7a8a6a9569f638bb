import { dayMs, hourMs } from '../../platform/core/durations.ts'
import type { DemoIds } from '../deterministic.ts'
import { type AlertBody, toFields } from '../product/alerts.ts'
import type { Alert, Dashboard, JsonObject, SavedSearch, Service, Source } from '../store.ts'
import type { ServiceName } from './demo.ts'

export function createDashboards(ids: DemoIds, service: ServiceName, sources: readonly Source[]): Dashboard[] {
  const sourceIds: SourceIds = {
    logs: sourceIdOf(sources, 'Logs'),
    traces: sourceIdOf(sources, 'Traces'),
    metrics: sourceIdOf(sources, 'Metrics'),
    connection: String(sources[0]?.connection),
  }
  return dashboardsOf[service](sourceIds).map(({ name, tiles }) => ({
    id: ids.objectId(),
    name,
    tiles: tiles.map((spec, index) => createTile(ids, spec, index)),
    tags: ['shop', service],
    filters: [
      {
        id: ids.objectId(),
        type: 'QUERY_EXPRESSION',
        name: 'Environment',
        expression: "ResourceAttributes['deployment.environment']",
        sourceId: sourceIds.logs,
      },
    ],
    savedQuery: null,
    savedQueryLanguage: null,
    savedFilterValues: [],
    containers: [],
  }))
}

// Two tiles side by side on the grid's 24 columns.
const createTile = (ids: DemoIds, [name, w, config]: TileSpec, index: number) => ({
  id: ids.objectId(),
  name,
  x: index % 2 === 0 ? 0 : 12,
  y: Math.floor(index / 2) * 6,
  w,
  h: 6,
  config,
})

const sourceIdOf = (sources: readonly Source[], name: string) => sources.find((source) => source.name === name)?.id ?? ''

interface SourceIds {
  readonly logs: string
  readonly traces: string
  readonly metrics: string
  readonly connection: string
}

type TileSpec = readonly [name: string, width: number, config: JsonObject]

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

const lineTile = (sourceId: string, select: JsonObject[], more: JsonObject = {}): JsonObject => ({
  displayType: 'line',
  sourceId,
  select,
  ...more,
})

const numberTile = (sourceId: string, item: JsonObject, more: JsonObject = {}): JsonObject => ({
  displayType: 'number',
  sourceId,
  select: [item],
  ...more,
})

const overviewTiles = ({ logs, traces }: SourceIds, service: ServiceName): TileSpec[] => {
  const own = `ServiceName:${service}`
  return [
    ['Request rate', 12, lineTile(traces, [countItem(`${own} SpanKind:Server`, 'requests')], { groupBy: 'SpanName', fillNulls: true })],
    [
      'Error rate',
      12,
      lineTile(traces, [countItem(`${own} StatusCode:Error`, 'errors'), countItem(own, 'all')], {
        asRatio: true,
        numberFormat: { output: 'percent', mantissa: 2 },
      }),
    ],
    [
      'Latency',
      12,
      lineTile(traces, [quantileItem(0.5, own), quantileItem(0.95, own), quantileItem(0.99, own)], {
        numberFormat: { output: 'duration', factor: 1e-9 },
      }),
    ],
    [
      'Errors in logs',
      12,
      { displayType: 'stacked_bar', sourceId: logs, select: [countItem(`${own} SeverityText:error`)], groupBy: 'SeverityText' },
    ],
  ]
}

const dashboardsOf: Readonly<
  Record<ServiceName, (sourceIds: SourceIds) => { readonly name: string; readonly tiles: readonly TileSpec[] }[]>
> = {
  checkout: (all) => [
    {
      name: 'Checkout overview',
      tiles: [
        ...overviewTiles(all, 'checkout'),
        ['Orders', 6, numberTile(all.traces, countItem('SpanName:PlaceOrder'), { color: 'chart-green' })],
        [
          'How to read this',
          12,
          {
            displayType: 'markdown',
            markdown: 'Error rate above 2% for 5 minutes pages the on-call person.\n\nRunbook: `runbooks/checkout.md`',
          },
        ],
      ],
    },
    {
      name: 'Payments',
      tiles: [
        [
          'Payments by provider',
          12,
          lineTile(all.traces, [countItem('SpanName:Charge')], { groupBy: "SpanAttributes['payment.provider']" }),
        ],
        ['Declined payments', 12, lineTile(all.logs, [countItem('LogAttributes.event:payment_declined')])],
        [
          'Declines by reason',
          12,
          {
            displayType: 'table',
            sourceId: all.logs,
            select: [countItem('LogAttributes.event:payment_declined')],
            groupBy: "LogAttributes['reason']",
            orderBy: 'count() DESC',
          },
        ],
        [
          'Payment queue',
          12,
          numberTile(
            all.metrics,
            { aggFn: 'avg', valueExpression: 'Value', metricName: 'payments.queue.depth', metricType: 'gauge' },
            { colorRules: [{ operator: 'gt', value: 500, color: 'chart-red' }] },
          ),
        ],
      ],
    },
    {
      name: 'Checkout logs',
      tiles: [
        [
          'Latest errors',
          12,
          { displayType: 'search', sourceId: all.logs, select: 'Timestamp, Body', where: 'SeverityText:error', whereLanguage: 'lucene' },
        ],
        ['Patterns', 12, { displayType: 'event_patterns', sourceId: all.logs, where: 'ServiceName:checkout', whereLanguage: 'lucene' }],
      ],
    },
  ],
  catalog: (all) => [
    { name: 'Catalog overview', tiles: overviewTiles(all, 'catalog') },
    {
      name: 'Catalog imports',
      tiles: [
        [
          'Imported products',
          12,
          lineTile(all.metrics, [{ aggFn: 'sum', valueExpression: 'Value', metricName: 'imports.products', metricType: 'sum' }]),
        ],
        ['Failed imports', 12, numberTile(all.logs, countItem('LogAttributes.event:import_failed'))],
        [
          'Failures by supplier',
          12,
          {
            displayType: 'bar',
            sourceId: all.logs,
            select: [countItem('LogAttributes.event:import_failed')],
            groupBy: "LogAttributes['supplier']",
          },
        ],
      ],
    },
  ],
  search: (all) => [
    { name: 'Search overview', tiles: overviewTiles(all, 'search') },
    {
      name: 'Search quality',
      tiles: [
        [
          'Searches without results',
          12,
          lineTile(
            all.logs,
            [countItem('LogAttributes.event:search LogAttributes.hits:0', 'empty'), countItem('LogAttributes.event:search', 'all')],
            {
              asRatio: true,
            },
          ),
        ],
        [
          'Slow queries',
          12,
          { displayType: 'heatmap', sourceId: all.traces, select: [{ valueExpression: 'Duration', heatmapScaleType: 'log' }] },
        ],
        [
          'Index age',
          12,
          {
            displayType: 'number',
            configType: 'sql',
            connectionId: all.connection,
            sqlTemplate: "SELECT dateDiff('minute', max(indexed_at), now()) FROM search.index_state",
          },
        ],
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
    [
      'Imports fail',
      'Catalog imports',
      'Failed imports',
      0,
      '1d',
      'An import failed',
      { thresholdType: 'above_exclusive', state: 'ALERT' },
    ],
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
  if (first) alerts.push(toSavedSearchAlert(first, ids, service))
  return alerts
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

const toSavedSearchAlert = (
  { silenced: _, executionErrors: __, ...like }: Alert,
  ids: DemoIds,
  { name, savedSearches }: Service,
): Alert => ({
  ...like,
  id: ids.objectId(),
  source: 'saved_search',
  dashboardId: null,
  tileId: null,
  savedSearchId: savedSearches[0]?.id ?? null,
  name: `Errors in ${name}`,
  message: null,
  threshold: 100,
  interval: '1h',
  state: 'OK',
})
