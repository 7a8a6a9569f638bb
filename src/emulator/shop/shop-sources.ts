import type { ServiceName } from '../demo.ts'
import type { DemoIds } from '../ids.ts'
import type { Connection, Source, Webhook } from '../store.ts'

export function createConnection(ids: DemoIds, service: ServiceName, atMs: number): Connection {
  const at = new Date(atMs - 300 * 86_400_000).toISOString()
  return {
    id: ids.objectId(),
    name: 'Default',
    host: `https://${service}.clickhouse.example:8443`,
    username: 'otel',
    createdAt: at,
    updatedAt: at,
  }
}

export function createSources(ids: DemoIds, service: ServiceName, connection: string): Source[] {
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
      // What was never set may come back as an empty text: terraform-provider-clickhouse PR#659.
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
      from: { databaseName: `${service}_otel`, tableName: '' },
      metricTables: { gauge: 'otel_metrics_gauge', sum: 'otel_metrics_sum', histogram: 'otel_metrics_histogram' },
      timestampValueExpression: 'TimeUnix',
      resourceAttributesExpression: 'ResourceAttributes',
      logSourceId: logs,
    },
  ]
  if (service === 'checkout') sources.push(createSessions(ids.objectId(), connection, traces))
  return sources
}

const createSessions = (id: string, connection: string, traceSourceId: string): Source => ({
  id,
  name: 'Sessions',
  kind: 'session',
  connection,
  from: { databaseName: 'checkout_otel', tableName: 'hyperdx_sessions' },
  traceSourceId,
})

/** They look like secrets, as they do in the real API, and open nothing. */
const hookUrls = (service: ServiceName) => ({
  oncall: `https://hooks.slack.example/services/T0DEMO000/B0DEMO000/opens-nothing-${service}`,
  incidents: `https://api.incidents.example/v2/alert_events/http/demo-${service}?token=opens-nothing`,
  audit: `https://audit.example/hooks/opens-nothing-${service}`,
})

export function createWebhooks(ids: DemoIds, service: ServiceName, atMs: number): Webhook[] {
  const at = new Date(atMs - 120 * 86_400_000).toISOString()
  const urls = hookUrls(service)
  const create = (name: string, kind: string, url: string, description: string): Webhook => ({
    id: ids.objectId(),
    name,
    service: kind,
    url,
    description,
    createdAt: at,
    updatedAt: at,
  })
  return [
    create('oncall', 'slack', urls.oncall, `On-call channel of the ${service} team`),
    create('incidents', 'incidentio', urls.incidents, 'Opens an incident'),
    { ...create('audit', 'generic', urls.audit, 'Keeps every notification'), body: '{"text":"{{title}}"}' },
  ]
}
