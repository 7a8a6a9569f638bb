// Alerts with a query of their own, beside the same alerts as a person makes them: on a tile of a dashboard, through the API of the web app.

import type { References } from './as-declared.ts'
import { withoutUndefined } from './as-declared.ts'
import type { SourceKind } from './intents.ts'
import type { Json } from './product.ts'

interface QueryCase {
  readonly name: string
  /** In the file. */
  readonly query: Json
  /** The type that a person would choose. */
  readonly displayType: 'number' | 'line'
  readonly condition: Json
}

const sourceNames: Readonly<Record<SourceKind, string>> = { log: 'Logs', trace: 'Traces', metric: 'Metrics' }

const above = (threshold: number, more: Json = {}): Json => ({ thresholdType: 'above', threshold, interval: '5m', ...more })

const chart =
  (kind: SourceKind) =>
  (name: string, select: readonly Json[], condition: Json, more: Json = {}): QueryCase => ({
    name,
    query: { kind, select, ...more },
    displayType: more.groupBy !== undefined || more.asRatio === true ? 'line' : 'number',
    condition,
  })

const [logs, traces, metrics] = [chart('log'), chart('trace'), chart('metric')]

const sqlOf =
  (displayType: QueryCase['displayType']) =>
  (name: string, text: string, condition: Json, more: Json = {}): QueryCase => ({
    name,
    query: { sql: text, ...more },
    displayType,
    condition,
  })

const [sqlNumber, sqlLine] = [sqlOf('number'), sqlOf('line')]

const count = (where?: string, whereLanguage?: 'sql' | 'lucene'): Json => withoutUndefined({ aggFn: 'count', where, whereLanguage })

const value = (aggFn: string, valueExpression: string, more: Json = {}): Json => ({ aggFn, valueExpression, ...more })

const metric = (aggFn: string, metricName: string, metricType: string, more: Json = {}): Json => ({
  aggFn,
  valueExpression: 'Value',
  metricName,
  metricType,
  ...more,
})

const errors = 'SeverityText:error'

export const queryCases: readonly QueryCase[] = [
  logs('Lucene', [count(`ServiceName:checkout ${errors}`)], above(19)),
  logs('Lucene, stated', [count(`ServiceName:"checkout" ${errors}`, 'lucene')], above(1, { interval: '1m' })),
  logs('Lucene with a phrase and NOT', [count('"request completed" NOT ServiceName:cart')], above(40)),
  logs('SQL condition', [count("ServiceName = 'payment' AND lower(SeverityText) = 'error'", 'sql')], above(1)),
  logs('no condition', [count()], { thresholdType: 'below', threshold: 61, interval: '5m' }),
  logs('groups', [count(errors)], above(1), { groupBy: 'ServiceName' }),
  logs('several groups', [count("lower(SeverityText) = 'error'", 'sql')], above(10), { groupBy: 'ServiceName, SeverityText' }),
  logs('distinct', [value('count_distinct', 'SeverityText')], { thresholdType: 'not_equal', threshold: 2, interval: '15m' }),
  logs('maximum', [value('max', 'length(Body)')], above(42)),
  logs('minimum', [value('min', 'length(Body)', { where: errors })], { thresholdType: 'below_or_equal', threshold: 0, interval: '5m' }),
  logs('sum, twice in a row', [value('sum', 'length(Body)')], above(3000, { numConsecutiveWindows: 2 })),
  logs('any value', [value('any', 'length(ServiceName)', { where: 'ServiceName:cart' })], { ...above(4), thresholdType: 'equal' }),
  logs('expression', [value('none', "countIf(SeverityText = 'info') / 4")], { ...above(10), thresholdType: 'between', thresholdMax: 15 }),
  traces('average', [value('avg', 'Duration', { where: 'ServiceName:payment' })], above(125_000_000)),
  traces('quantile', [value('quantile', 'Duration', { level: 0.95 })], above(190_000_000)),
  traces('quantile of groups', [value('quantile', 'Duration', { level: 0.5 })], above(100_000_000), { groupBy: 'ServiceName' }),
  traces('range in Lucene', [count('Duration:>140000000')], above(40)),
  traces('ratio', [count('StatusCode:Error'), count()], above(0.05), { asRatio: true }),
  traces('ratio of groups', [count("StatusCode = 'Error'", 'sql'), count()], above(0.2), { asRatio: true, groupBy: 'ServiceName' }),
  traces('formula', [count('StatusCode:Error'), count()], above(5), { formulas: [{ expression: '100 * A / B' }] }),
  traces('formula of groups', [count('StatusCode:Error'), count()], above(20), {
    formulas: [{ expression: '100 * A / B' }],
    groupBy: 'ServiceName',
  }),
  metrics('gauge', [metric('avg', 'cpu.utilization', 'gauge')], above(0.32)),
  metrics('gauge of groups', [metric('max', 'cpu.utilization', 'gauge')], above(0.4), { groupBy: "ResourceAttributes['service.name']" }),
  metrics('sum of a metric', [metric('sum', 'http.server.requests', 'sum')], above(100)),
  metrics('increase', [metric('increase', 'http.server.requests', 'sum')], above(200, { interval: '15m' })),
  metrics('quantile of a histogram', [metric('quantile', 'http.server.duration', 'histogram', { level: 0.95 })], above(100)),
  metrics('count of a histogram', [{ aggFn: 'count', metricName: 'http.server.duration', metricType: 'histogram' }], above(190)),
  sqlNumber('number', "SELECT count() FROM default.otel_logs WHERE $__timeFilter(Timestamp) AND lower(SeverityText) = 'error'", above(1)),
  sqlNumber(
    'number by parameters',
    'SELECT max(Duration) AS slowest FROM default.otel_traces WHERE Timestamp >= fromUnixTimestamp64Milli({startDateMilliseconds:Int64}) AND Timestamp < fromUnixTimestamp64Milli({endDateMilliseconds:Int64})',
    above(200_000_000),
  ),
  sqlNumber(
    'number that looks back',
    "SELECT countIf(lower(SeverityText) = 'error') / count() FROM default.otel_logs WHERE Timestamp >= $__toTime - INTERVAL 1 HOUR AND Timestamp < $__toTime",
    above(0.01),
  ),
  sqlNumber('table of a source', 'SELECT count() FROM $__sourceTable WHERE $__timeFilter_ms(Timestamp)', above(80), { kind: 'log' }),
  sqlNumber(
    'first of several rows',
    "SELECT ServiceName, count() AS n FROM default.otel_logs WHERE $__timeFilter(Timestamp) AND lower(SeverityText) = 'error' GROUP BY ServiceName ORDER BY n DESC LIMIT 1",
    { ...above(0), thresholdType: 'not_between', thresholdMax: 20 },
  ),
  sqlLine(
    'groups in SQL',
    "SELECT $__timeInterval(Timestamp) AS t, ServiceName, countIf(lower(SeverityText) = 'error') AS n FROM default.otel_logs WHERE $__timeFilter(Timestamp) GROUP BY t, ServiceName",
    above(10),
  ),
  sqlLine(
    'over time in SQL',
    'SELECT toStartOfInterval(Timestamp, INTERVAL {intervalSeconds:Int64} second) AS t, quantile(0.99)(Duration) AS q FROM default.otel_traces WHERE $__timeFilter(Timestamp) GROUP BY t',
    above(190_000_000, { interval: '15m' }),
  ),
]

/** The file: of the next version with other names and conditions, under the same keys. */
export function declaredQueries(webhook: string, connection: string, version: 'first' | 'next'): Json {
  const alerts = queryCases.map(({ name, query: { kind, ...query }, condition }, i) => [
    `a${i}`,
    {
      name: version === 'first' ? name : `${name}, renamed`,
      query: {
        ...(kind !== undefined && { source: sourceNames[kind as SourceKind] }), // Its cases have no other kinds.
        ...(query.sql !== undefined && { connection }),
        ...(version === 'first' ? query : changedQuery(query)),
      },
      ...condition,
      channel: { type: 'webhook', webhook },
    },
  ])
  return { alerts: Object.fromEntries(alerts) }
}

/** With a condition on a column that all tables have. */
function changedQuery(query: Json): Json {
  if (typeof query.sql === 'string') return { ...query, sql: query.sql.replace('WHERE ', "WHERE ServiceName != 'search' AND ") }
  const select = query.select as readonly Json[] // Each case has a list.
  return { ...query, select: select.map((item) => ({ ...item, where: "ServiceName != 'search'", whereLanguage: 'sql' })) }
}

/** A dashboard with the same name and the same alerts, as the editor of the web app stores them. */
export function twinDashboard(name: string, { sources, connection, webhook }: References): Json {
  const tiles = queryCases.map(({ name: tile, query, displayType, condition }, i) => {
    const { kind, select, sql: template, asRatio, ...rest } = query
    const source = kind === undefined ? undefined : sources[kind as SourceKind] // Its cases have no other kinds.
    const stored =
      template === undefined
        ? { where: '', whereLanguage: 'lucene', select: (select as readonly Json[]).map(toStoredItem) } // Charts have a list.
        : { configType: 'sql', sqlTemplate: template, connection }
    const ratio = asRatio === true && { seriesReturnType: 'ratio' }
    const alert = { ...condition, name: tile, channels: [{ type: 'webhook', webhookId: webhook }] }
    const config = { name: tile, source, displayType, granularity: 'auto', ...stored, ...rest, ...ratio, alert }
    return { id: `twin-${i}`, x: 0, y: i * 4, w: 12, h: 4, config: withoutUndefined(config) }
  })
  return { name, tags: [], tiles, filters: [] }
}

const toStoredItem = ({ where = '', whereLanguage = 'lucene', valueExpression = '', ...item }: Json): Json => ({
  ...item,
  valueExpression,
  aggCondition: where,
  aggConditionLanguage: whereLanguage,
})
