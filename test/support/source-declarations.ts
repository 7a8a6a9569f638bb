// Sources that refer to each other in a circle, as a file declares them.

const common = { from: { databaseName: 'default', tableName: 'otel' }, timestampValueExpression: 'Timestamp', adopt: true }

export const circle = {
  'new-logs': {
    ...common,
    name: 'New logs',
    kind: 'log',
    defaultTableSelectExpression: 'Timestamp, Body',
    traceSource: 'New traces',
    metricSource: 'New metrics',
  },
  'new-traces': {
    ...common,
    name: 'New traces',
    kind: 'trace',
    defaultTableSelectExpression: 'Timestamp, SpanName',
    durationExpression: 'Duration',
    durationPrecision: 9,
    traceIdExpression: 'TraceId',
    spanIdExpression: 'SpanId',
    parentSpanIdExpression: 'ParentSpanId',
    spanNameExpression: 'SpanName',
    spanKindExpression: 'SpanKind',
    logSource: 'New logs',
    sessionSource: 'New sessions',
  },
  'new-sessions': { ...common, name: 'New sessions', kind: 'session', traceSource: 'New traces' },
  'new-metrics': {
    ...common,
    name: 'New metrics',
    kind: 'metric',
    from: { databaseName: 'default' },
    metricTables: { gauge: 'otel_metrics_gauge' },
    resourceAttributesExpression: 'ResourceAttributes',
    logSource: 'New logs',
  },
}
