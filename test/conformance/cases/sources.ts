import { type Case, copy } from '../case.ts'
import { items, type Json, letters, list, savedSearch, undocumented, without } from './bodies.ts'

const base = (kind: string, more: Json = {}): Json => ({
  name: 'Conformance',
  kind,
  connection: '$connection',
  from: { databaseName: 'conformance', tableName: 'made_up' },
  timestampValueExpression: 'At',
  ...more,
})
const log = (more: Json = {}): Json => base('log', { defaultTableSelectExpression: 'At, Text', ...more })
const trace = (more: Json = {}): Json =>
  base('trace', {
    defaultTableSelectExpression: 'At',
    durationExpression: 'Took',
    traceIdExpression: 'Trace',
    spanIdExpression: 'Span',
    parentSpanIdExpression: 'Parent',
    spanNameExpression: 'Name',
    spanKindExpression: 'Kind',
    ...more,
  })
const metric = (more: Json = {}): Json =>
  base('metric', {
    from: { databaseName: 'conformance', tableName: '' },
    metricTables: { gauge: 'gauges' },
    resourceAttributesExpression: 'Resource',
    ...more,
  })
const session = (more: Json = {}): Json => base('session', { traceSourceId: '$Traces', ...more })

const view = (more: Json = {}): Json => ({
  databaseName: 'conformance',
  tableName: 'made_up_view',
  dimensionColumns: 'Env',
  minGranularity: '5m',
  timestampColumn: 'At',
  aggregatedColumns: [{ aggFn: 'count', mvColumn: 'n' }],
  ...more,
})

const events = {
  section: 'Shop',
  disabled: true,
  querySettings: [{ setting: 'max_threads', value: '4' }],
  serviceNameExpression: 'Service',
  eventAttributesExpression: 'Attributes',
  resourceAttributesExpression: 'Resource',
  implicitColumnExpression: 'Text',
  knownColumnsListExpression: 'At, Text',
  useTextIndexForImplicitColumn: 'enabled',
  highlightedTraceAttributeExpressions: [{ sqlExpression: 'Env' }],
  highlightedRowAttributeExpressions: [{ sqlExpression: 'Env', luceneExpression: 'env', alias: 'Environment' }],
  materializedViews: [
    view({ minDate: '2026-01-01T00:00:00Z', aggregatedColumns: [{ sourceColumn: 'Took', aggFn: 'avg', mvColumn: 'took' }] }),
  ],
  metadataMaterializedViews: { keyRollupTable: 'keys', kvRollupTable: 'values', granularity: '15m' },
}

const create = (name: string, body: unknown, changes: Partial<Case> = {}): Case => ({
  name: `create a source: ${name}`,
  request: 'POST sources',
  body,
  ...changes,
})

const kinds: readonly Case[] = [
  create('logs, the least', log(), { after: [list('sources')] }),
  create(
    'logs, everything',
    log({
      ...events,
      serviceVersionExpression: 'Version',
      severityTextExpression: 'Level',
      bodyExpression: 'Text',
      displayedTimestampValueExpression: 'At',
      metricSourceId: '$Metrics',
      traceSourceId: '$Traces',
      traceIdExpression: 'Trace',
      spanIdExpression: 'Span',
    }),
  ),
  create('traces, the least', trace()),
  create(
    'traces, everything',
    trace({
      ...events,
      serviceVersionExpression: 'Version',
      durationPrecision: 9,
      logSourceId: '$Logs',
      sessionSourceId: '$Sessions',
      metricSourceId: '$Metrics',
      statusCodeExpression: 'Status',
      statusMessageExpression: 'Message',
      spanEventsValueExpression: 'Events',
    }),
  ),
  create('metrics, the least', metric()),
  create(
    'metrics, everything',
    metric({
      section: 'Shop',
      metricTables: { gauge: 'a', histogram: 'b', sum: 'c', summary: 'd', 'exponential histogram': 'e' },
      logSourceId: '$Logs',
    }),
  ),
  create('sessions, the least', session()),
  create('promql', base('promql')),
  create(
    'fields that the cloud does not document',
    log({ orderByExpression: 'At', tableFilterExpression: 'a = 1' }),
    undocumented('orderByExpression'),
  ),
  create(
    'fields of traces that the cloud does not document',
    trace({
      sampleRateExpression: 'Rate',
      spanLinksValueExpression: 'Links',
      displayedTimestampValueExpression: 'At',
      orderByExpression: 'At',
    }),
    undocumented('sampleRateExpression'),
  ),
  create(
    'fields of metrics that the cloud does not document',
    metric({ serviceNameExpression: 'Service', seriesTable: 'series' }),
    undocumented('serviceNameExpression'),
  ),
  create(
    'fields of sessions that the cloud does not document',
    session({ resourceAttributesExpression: 'Resource' }),
    undocumented('resourceAttributesExpression'),
  ),
  create(
    'filter settings, which only the cloud has',
    log({ filterSettings: { databaseName: 'a', tableName: 'b', columns: [{ name: 'c', label: 'd' }] } }),
  ),
]

const fields: readonly Case[] = [
  create('an id is ignored', log({ id: '$gone' }), { show: ['id'] }),
  create('an unknown field', log({ nonsense: 1 }), undocumented('nonsense')),
  create('another kind', log({ kind: 'nonsense' })),
  create('without kind', without(log(), 'kind')),
  create('nothing', {}),
  create('a kind only', { kind: 'trace' }),
  create(
    'empty texts',
    log({ name: '', from: { databaseName: '', tableName: '' }, timestampValueExpression: '', defaultTableSelectExpression: '' }),
  ),
  create(
    'empty texts that are not required',
    log({ serviceNameExpression: '', bodyExpression: '', displayedTimestampValueExpression: '' }),
    { show: ['serviceNameExpression', 'bodyExpression', 'displayedTimestampValueExpression'] },
  ),
  create('null for what is not required', log({ serviceNameExpression: null, disabled: null, section: null })),
  create('null for the logs of traces', trace({ logSourceId: null }), { show: ['logSourceId'] }),
  create('a reference to a source that does not exist is stored', log({ traceSourceId: '$gone' }), { show: ['traceSourceId'] }),
  create('sessions without traces', without(session(), 'traceSourceId')),
  create('sessions without times', without(session(), 'timestampValueExpression')),
  create('metrics without tables', metric({ metricTables: {} })),
  create('metrics with a table of null', metric({ from: { databaseName: 'a', tableName: null } })),
  create('a precision of 10', trace({ durationPrecision: 10 })),
  create('a connection that does not exist', log({ connection: '$gone' })),
  create('a connection id that is none', log({ connection: 'nonsense' })),
  create('an empty connection', log({ connection: '' })),
  create('a section of 257 characters', log({ section: letters(257) })),
  create('11 settings', log({ querySettings: items(11, () => ({ setting: 'a', value: 'b' })) })),
  create('an empty setting', log({ querySettings: [{ setting: '', value: '' }] })),
  create('another text index', log({ useTextIndexForImplicitColumn: 'maybe' })),
  create('the same name twice', log({ name: 'Conformance logs' }), { show: ['name'] }),
  create('a granularity in words', log({ materializedViews: [view({ minGranularity: '5 minute' })] }), {
    show: ['materializedViews.0.minGranularity'],
  }),
  create('every granularity', log({ materializedViews: ['10s', '5m', '1h', '1d'].map((minGranularity) => view({ minGranularity })) }), {
    show: ['materializedViews'],
  }),
  create(
    'a granularity that is none',
    log({ materializedViews: [view({ minGranularity: '5 weeks' })], metadataMaterializedViews: { kvRollupTable: 'a', granularity: '1w' } }),
  ),
  create('a view without columns', log({ materializedViews: [view({ aggregatedColumns: [] })] })),
  create('an average without its column', log({ materializedViews: [view({ aggregatedColumns: [{ aggFn: 'avg', mvColumn: 'x' }] })] })),
  create(
    'an aggregation of histograms',
    log({ materializedViews: [view({ aggregatedColumns: [{ sourceColumn: 'a', aggFn: 'histogram', mvColumn: 'x' }] })] }),
    { show: ['materializedViews.0.aggregatedColumns'] },
  ),
  create('a rollup without keys', log({ metadataMaterializedViews: { kvRollupTable: 'a', granularity: '1h' } }), {
    show: ['metadataMaterializedViews'],
  }),
  create('a rollup without values', log({ metadataMaterializedViews: { granularity: '1h' } })),
]

const aSource = (body: Json) => ({ request: 'POST sources', as: 'own', body })
const update = (name: string, body: unknown, changes: Partial<Case> = {}): Case => ({
  name: `update a source: ${name}`,
  given: [aSource(log({ ...events, section: 'Old' }))],
  request: 'PUT sources/$own',
  body,
  ...changes,
})

const updates: readonly Case[] = [
  update('the least: the rest is cleared', log({ name: 'New' }), { after: [{ request: 'GET sources/$own' }] }),
  update('what it answers', copy('own')),
  update('a source that refers back to it: a circle is not checked', log({ traceSourceId: '$traces' }), {
    given: [aSource(log()), { request: 'POST sources', as: 'traces', body: trace({ name: 'Conformance traces', logSourceId: '$own' }) }],
    show: ['traceSourceId'],
  }),
  update('another kind', session(), { after: [{ request: 'GET sources/$own' }] }),
  update('to another kind and back', log(), { given: [aSource(session())], after: [{ request: 'GET sources/$own' }] }),
  update('a connection that does not exist', log({ connection: '$gone' })),
  update('without name', without(log(), 'name')),
  update('an unknown field', log({ nonsense: 1 }), undocumented('nonsense')),
  update('one that does not exist', log(), { given: [], request: 'PUT sources/$gone' }),
  update('by an id that is none', log(), { given: [], request: 'PUT sources/nonsense' }),
  update('by an id that is none, with a body that is none', {}, { given: [], request: 'PUT sources/nonsense' }),
]

const reads: readonly Case[] = [
  { name: 'get a source', request: 'GET sources/$Logs' },
  { name: 'get a source of metrics', request: 'GET sources/$Metrics' },
  { name: 'get a source of sessions', request: 'GET sources/$Sessions' },
  { name: 'get a source that does not exist', request: 'GET sources/$gone' },
  { name: 'get a source by an id that is none', request: 'GET sources/nonsense' },
  { name: 'list sources', request: 'GET sources' },
  { name: 'list sources: paging is not known', request: 'GET sources?limit=1', show: ['length'] },
  {
    name: 'delete a source',
    given: [aSource(log())],
    request: 'DELETE sources/$own',
    after: [{ request: 'GET sources/$own' }, { request: 'DELETE sources/$own' }],
  },
  { name: 'delete a source that does not exist', request: 'DELETE sources/$gone' },
  { name: 'delete a source by an id that is none', request: 'DELETE sources/nonsense' },
  {
    name: 'delete a source that a saved search uses',
    given: [aSource(log()), { request: 'POST saved-searches', as: 'search', body: savedSearch({ sourceId: '$own' }) }],
    request: 'DELETE sources/$own',
    after: [{ request: 'GET saved-searches/$search' }],
  },
]

export const sourceCases: readonly Case[] = [...kinds, ...fields, ...updates, ...reads]
