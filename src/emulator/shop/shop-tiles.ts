import type { ServiceName } from '../demo.ts'
import type { JsonObject } from '../store.ts'

/** Ids of the sources that tiles read, and of their connection. */
export interface Catalogue {
  readonly logs: string
  readonly traces: string
  readonly metrics: string
  readonly connection: string
}

export type TileText = readonly [name: string, width: number, config: JsonObject]

interface DashboardText {
  readonly name: string
  readonly tiles: readonly TileText[]
}

const count = (where: string, alias?: string): JsonObject => ({ aggFn: 'count', where, whereLanguage: 'lucene', ...(alias && { alias }) })

const quantile = (level: number, where: string): JsonObject => ({
  aggFn: 'quantile',
  level,
  valueExpression: 'Duration',
  where,
  whereLanguage: 'lucene',
  alias: `p${level * 100}`,
})

const line = (sourceId: string, select: JsonObject[], more: JsonObject = {}): JsonObject => ({
  displayType: 'line',
  sourceId,
  select,
  ...more,
})

const number = (sourceId: string, item: JsonObject, more: JsonObject = {}): JsonObject => ({
  displayType: 'number',
  sourceId,
  select: [item],
  ...more,
})

const table = (sourceId: string, item: JsonObject, groupBy: string): JsonObject => ({
  displayType: 'table',
  sourceId,
  select: [item],
  groupBy,
  orderBy: 'count() DESC',
})

const notes = (markdown: string): JsonObject => ({ displayType: 'markdown', markdown })

/** The tiles that every service's overview begins with. */
const vitals = ({ logs, traces }: Catalogue, service: ServiceName): TileText[] => {
  const own = `ServiceName:${service}`
  return [
    ['Request rate', 12, line(traces, [count(`${own} SpanKind:Server`, 'requests')], { groupBy: 'SpanName', fillNulls: true })],
    [
      'Error rate',
      12,
      line(traces, [count(`${own} StatusCode:Error`, 'errors'), count(own, 'all')], {
        asRatio: true,
        numberFormat: { output: 'percent', mantissa: 2 },
      }),
    ],
    [
      'Latency',
      12,
      line(traces, [quantile(0.5, own), quantile(0.95, own), quantile(0.99, own)], { numberFormat: { output: 'duration', factor: 1e-9 } }),
    ],
    ['Errors in logs', 12, { displayType: 'stacked_bar', sourceId: logs, select: [count(`${own} level:error`)], groupBy: 'SeverityText' }],
  ]
}

const gauge = (metricName: string): JsonObject => ({ aggFn: 'avg', valueExpression: 'Value', metricName, metricType: 'gauge' })

export const dashboardsOf: Readonly<Record<ServiceName, (catalogue: Catalogue) => DashboardText[]>> = {
  checkout: (all) => [
    {
      name: 'Checkout overview',
      tiles: [
        ...vitals(all, 'checkout'),
        ['Orders per minute', 6, number(all.traces, count('SpanName:PlaceOrder'), { color: 'chart-green' })],
        ['How to read this', 12, notes('Error rate above 2 % for 5 minutes pages the on-call person.\n\nRunbook: `runbooks/checkout.md`')],
      ],
    },
    {
      name: 'Payments',
      tiles: [
        ['Payments by provider', 12, line(all.traces, [count('SpanName:Charge')], { groupBy: "SpanAttributes['payment.provider']" })],
        ['Declined payments', 12, line(all.logs, [count('event:payment_declined')])],
        ['Declines by reason', 12, table(all.logs, count('event:payment_declined'), "LogAttributes['reason']")],
        [
          'Payment queue',
          12,
          number(all.metrics, gauge('payments.queue.depth'), { colorRules: [{ operator: 'gt', value: 500, color: 'chart-red' }] }),
        ],
      ],
    },
    {
      name: 'Checkout logs',
      tiles: [
        [
          'Latest errors',
          12,
          { displayType: 'search', sourceId: all.logs, select: 'Timestamp, Body', where: 'level:error', whereLanguage: 'lucene' },
        ],
        ['Patterns', 12, { displayType: 'event_patterns', sourceId: all.logs, where: 'ServiceName:checkout', whereLanguage: 'lucene' }],
      ],
    },
  ],
  catalog: (all) => [
    { name: 'Catalog overview', tiles: vitals(all, 'catalog') },
    {
      name: 'Catalog imports',
      tiles: [
        [
          'Imported products',
          12,
          line(all.metrics, [{ aggFn: 'sum', valueExpression: 'Value', metricName: 'imports.products', metricType: 'sum' }]),
        ],
        ['Failed imports', 12, number(all.logs, count('event:import_failed'))],
        [
          'Failures by supplier',
          12,
          { displayType: 'bar', sourceId: all.logs, select: [count('event:import_failed')], groupBy: "LogAttributes['supplier']" },
        ],
      ],
    },
  ],
  search: (all) => [
    { name: 'Search overview', tiles: vitals(all, 'search') },
    {
      name: 'Search quality',
      tiles: [
        [
          'Searches without results',
          12,
          line(all.logs, [count('event:search hits:0', 'empty'), count('event:search', 'all')], { asRatio: true }),
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
