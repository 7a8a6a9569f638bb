import type { Exchange } from '../case.ts'

/** Objects that every case can refer to. Their tables do not exist, because nothing is queried. */
export const fixtures: readonly Exchange[] = [
  {
    request: 'POST sources',
    as: 'Logs',
    body: {
      name: 'Conformance logs',
      kind: 'log',
      connection: '$connection',
      from: { databaseName: 'conformance', tableName: 'made_up_logs' },
      defaultTableSelectExpression: 'At, Text',
      timestampValueExpression: 'At',
    },
  },
  {
    request: 'POST sources',
    as: 'Traces',
    body: {
      name: 'Conformance traces',
      kind: 'trace',
      connection: '$connection',
      from: { databaseName: 'conformance', tableName: 'made_up_traces' },
      defaultTableSelectExpression: 'At, Name',
      timestampValueExpression: 'At',
      durationExpression: 'Took',
      durationPrecision: 9,
      traceIdExpression: 'Trace',
      spanIdExpression: 'Span',
      parentSpanIdExpression: 'Parent',
      spanNameExpression: 'Name',
      spanKindExpression: 'Kind',
    },
  },
  {
    request: 'POST sources',
    as: 'Metrics',
    body: {
      name: 'Conformance metrics',
      kind: 'metric',
      connection: '$connection',
      from: { databaseName: 'conformance', tableName: '' },
      metricTables: { gauge: 'made_up_gauges', sum: 'made_up_sums' },
      timestampValueExpression: 'At',
      resourceAttributesExpression: 'Resource',
    },
  },
  {
    request: 'POST sources',
    as: 'Sessions',
    body: {
      name: 'Conformance sessions',
      kind: 'session',
      connection: '$connection',
      from: { databaseName: 'conformance', tableName: 'made_up_sessions' },
      timestampValueExpression: 'At',
      traceSourceId: '$Traces',
    },
  },
  {
    request: 'POST webhooks',
    as: 'oncall',
    body: { name: 'Conformance on-call', service: 'generic', url: 'https://hooks.example.com/conformance/oncall' },
  },
  {
    request: 'POST webhooks',
    as: 'audit',
    body: { name: 'Conformance audit', service: 'generic', url: 'https://hooks.example.com/conformance/audit' },
  },
]
