// Dashboards as the web app exports them: all types of tiles, the fields that the API has, and those that it lacks.
import type { Json } from './product.ts'

const item = (more: Json = {}): Json => ({ aggFn: 'count', aggCondition: '', aggConditionLanguage: 'lucene', valueExpression: '', ...more })

const where = (text: string, language = 'lucene'): Json => ({ where: text, whereLanguage: language })

const ofItem = (text: string, language = 'lucene'): Json => ({ aggCondition: text, aggConditionLanguage: language })

/** A chart as the editor saves it. */
const chart = (name: string, displayType: string, more: Json = {}): Json => ({
  name,
  source: 'Logs',
  displayType,
  ...where(''),
  granularity: 'auto',
  alignDateRangeToGranularity: true,
  select: [item()],
  ...more,
})

const sql = (name: string, displayType: string, more: Json = {}): Json => ({
  configType: 'sql',
  name,
  displayType,
  granularity: 'auto',
  alignDateRangeToGranularity: true,
  connection: 'Local ClickHouse',
  sqlTemplate: 'SELECT $__timeInterval(Timestamp) AS t, count() AS n FROM otel_logs WHERE $__timeFilter(Timestamp) GROUP BY t',
  ...more,
})

const metric = (more: Json = {}): Json => item({ aggFn: 'avg', metricName: 'system.cpu.utilization', metricType: 'gauge', ...more })

const duration = (more: Json = {}): Json => item({ aggFn: 'avg', valueExpression: 'Duration / 1e6', ...more })

const traces = (name: string, displayType: string, select: readonly Json[], more: Json = {}): Json =>
  chart(name, displayType, { source: 'Traces', select, ...more })

const heatmapItem = item({ valueExpression: 'Duration', countExpression: 'count()', heatmapScaleType: 'log' })

const link = (more: Json): Json => ({ type: 'search', whereTemplate: 'ServiceName:"{{ServiceName}}"', whereLanguage: 'lucene', ...more })

const byId = (id: string): Json => ({ target: { mode: 'id', id } })

const filter = (name: string, more: Json = {}): Json => ({
  id: `filter-${name}`,
  type: 'QUERY_EXPRESSION',
  name,
  expression: 'ServiceName',
  source: 'Logs',
  ...more,
})

/** A dashboard that has a link to it. */
export const target = 'Target'

const rules = [
  { operator: 'lte', value: 200, color: 'chart-success' },
  { operator: 'between', value: [201, 400], color: 'chart-warning', label: 'slow' },
]

const format = { output: 'number', mantissa: 2, thousandSeparated: true }

type Tiles = readonly (Json & { readonly place?: Json; readonly config?: Json })[]

const dashboard = (name: string, configs: Tiles, more: Json = {}): Json => ({
  version: '0.1.0',
  name,
  tiles: configs.map(({ place, config, ...own }, i) => ({
    id: `t${i}`,
    x: (6 * i) % 24,
    y: 6 * Math.floor(i / 4),
    w: 6,
    h: 6,
    ...place,
    config: config ?? own,
  })),
  ...more,
})

const everyTime = ['line', 'stacked_bar'] as const

export const webDashboards: readonly Json[] = [
  dashboard('Lines', [
    chart('Plain', 'line'),
    chart('Grouped', 'line', {
      select: [item(ofItem('SeverityText:error'))],
      groupBy: 'ServiceName',
      seriesLimit: 5,
      numberFormat: format,
    }),
    chart('Settings', 'line', {
      fitYAxisToData: true,
      compareToPreviousPeriod: true,
      fillNulls: false,
      alignDateRangeToGranularity: false,
    }),
    chart('All settings of the drawer', 'line', {
      fillNulls: 0,
      fitYAxisToData: false,
      compareToPreviousPeriod: false,
      groupByColumnsOnLeft: false,
      alternateRowBackground: false,
      seriesLimit: null,
    }),
    chart('No cap', 'line', { groupBy: 'ServiceName', seriesLimit: 0 }),
  ]),
  dashboard('Bars over time', [
    traces('Quantile', 'stacked_bar', [item({ aggFn: 'quantile', level: 0.95, valueExpression: 'Duration', alias: 'p95' })], {
      groupBy: 'SpanName',
    }),
    traces('SQL condition', 'stacked_bar', [item({ ...ofItem("StatusCode = 'Error'", 'sql'), alias: 'errors' })]),
  ]),
  dashboard('Ratios and formulas', [
    ...everyTime.map((type) =>
      chart(`Ratio ${type}`, type, { select: [item(ofItem('SeverityText:error')), item()], seriesReturnType: 'ratio' }),
    ),
    chart('Columns', 'table', { select: [item(), item()], seriesReturnType: 'column', groupBy: 'ServiceName' }),
    chart('Formula', 'line', { select: [item(ofItem('SeverityText:error')), item()], formulas: [{ expression: 'A / B', alias: 'rate' }] }),
    chart('Formula only', 'table', { select: [item(), item()], formulas: [{ expression: 'A / B' }], showOperandSeries: false }),
    chart('Formula number', 'number', { select: [item(), item()], formulas: [{ expression: 'A / B' }], showOperandSeries: false }),
  ]),
  dashboard('Numbers', [
    chart('Colored', 'number', { color: 'chart-red', colorRules: rules, numberFormat: { output: 'byte', mantissa: 1 } }),
    chart('Background', 'number', { backgroundChart: { type: 'area', color: 'chart-blue' } }),
    chart('Numbered color', 'number', { color: 'chart-3' }),
  ]),
  dashboard('Tables', [
    chart('Sorted', 'table', {
      groupBy: 'ServiceName',
      orderBy: 'Errors DESC',
      having: 'Errors > 0',
      havingLanguage: 'sql',
      select: [item({ alias: 'Errors', numberFormat: format })],
      groupByColumnsOnLeft: true,
    }),
    chart('Opens a source', 'table', { groupBy: 'ServiceName', onClick: link(byId('Traces')) }),
    chart('Opens a named source', 'table', {
      groupBy: 'ServiceName',
      onClick: link({
        target: { mode: 'template', template: 'Logs' },
        filters: [{ kind: 'expressionTemplate', expression: 'ServiceName', template: '{{ServiceName}}' }],
      }),
    }),
    chart('Opens a page', 'table', {
      groupBy: 'ServiceName',
      onClick: { type: 'external', urlTemplate: 'https://wiki.example.com/{{ServiceName}}' },
    }),
  ]),
  dashboard('Ranked', [
    chart('Pie', 'pie', { groupBy: 'ServiceName', seriesLimit: 5, orderBy: 'ServiceName' }),
    traces('Bars', 'bar', [duration({ aggFn: 'max' })], { groupBy: 'SpanName', numberFormat: { output: 'duration', factor: 0.001 } }),
  ]),
  dashboard('Heatmaps', [
    traces('Durations', 'heatmap', [heatmapItem], { numberFormat: { output: 'duration', factor: 0.001 } }),
    traces('Filtered', 'heatmap', [heatmapItem], where("SpanKind = 'Server'", 'sql')),
  ]),
  dashboard('Searches', [
    chart('Errors', 'search', { select: 'Timestamp, Body', ...where('SeverityText:error') }),
    chart('Default columns', 'search', { select: '', ...where("ServiceName = 'checkout'", 'sql') }),
    chart('Patterns', 'event_patterns', { select: 'Body', ...where('SeverityText:error') }),
    chart('Patterns of all', 'event_patterns', { select: '' }),
  ]),
  dashboard('Texts', [
    { name: 'Runbook', source: '', displayType: 'markdown', markdown: '# Runbook\n\nCall Ada.', select: [], where: '' },
    { ...chart('With a source', 'markdown', { markdown: 'Notes' }), select: [] },
    { name: '', source: '', displayType: 'markdown', markdown: 'A tile without a name', select: [], where: '' },
  ]),
  dashboard('SQL', [
    sql('Line', 'line', {
      source: 'Logs',
      fillNulls: false,
      fitYAxisToData: true,
      compareToPreviousPeriod: true,
      seriesLimit: 3,
      numberFormat: format,
    }),
    sql('Stacked', 'stacked_bar', { fillNulls: 0 }),
    sql('Table', 'table', { onClick: link(byId('Logs')) }),
    sql('Number', 'number', { color: 'chart-green' }),
    sql('Pie', 'pie'),
    sql('Bar', 'bar'),
  ]),
  dashboard('Metrics', [
    chart('Gauge', 'line', { source: 'Metrics', select: [metric()], ...where('', 'sql') }),
    chart('Change', 'line', {
      source: 'Metrics',
      select: [metric({ aggFn: 'sum', metricName: 'requests', metricType: 'sum', isDelta: true, valueExpression: 'Value' })],
    }),
    chart('No condition', 'number', {
      source: 'Metrics',
      select: [{ aggFn: 'max', metricName: 'memory', metricType: 'gauge', valueExpression: 'Value' }],
    }),
    chart('Histogram', 'line', {
      source: 'Metrics',
      select: [metric({ aggFn: 'quantile', level: 0.99, metricName: 'latency', metricType: 'histogram' })],
    }),
  ]),
  dashboard(
    'Containers',
    [
      { config: chart('Top', 'line'), place: { containerId: 'top' } },
      { config: chart('First tab', 'line'), place: { containerId: 'tabs', tabId: 'first' } },
      { config: chart('Gone', 'line'), place: { containerId: 'gone', tabId: 'first' } },
    ],
    {
      containers: [
        { id: 'top', title: 'Top', collapsed: false, collapsible: false, bordered: false },
        {
          id: 'tabs',
          title: 'Tabs',
          collapsed: true,
          tabs: [
            { id: 'first', title: 'First' },
            { id: 'second', title: 'Second' },
          ],
        },
      ],
    },
  ),
  dashboard('Filters', [chart('Chart', 'line')], {
    tags: ['shop', 'a b'],
    filters: [
      filter('Service', { appliesToSourceIds: ['Logs', 'Traces'], ...where('SeverityText:error') }),
      filter('Variable', { isVariableEnabled: true, variableName: 'service', isBroadcastEnabled: false }),
      filter('Metric', { source: 'Metrics', sourceMetricType: 'gauge', isBroadcastEnabled: true, isVariableEnabled: false }),
      filter('Left over', { variableName: 'unused' }),
      filter('No language', { where: "ServiceName != ''" }),
    ],
  }),
  dashboard('Saved values', [chart('Chart', 'line')], {
    savedQuery: 'ServiceName:checkout',
    savedQueryLanguage: 'lucene',
    savedFilterValues: [
      { type: 'sql', condition: "ServiceName IN ('checkout')" },
      { type: 'lucene', condition: 'ServiceName:cart' },
      { type: 'sql_ast', operator: '=', left: 'ServiceName', right: "'cart'" },
    ],
  }),
  dashboard('Conditions of charts', [
    chart('Lucene', 'line', where('SeverityText:error')),
    chart('SQL', 'number', where("SeverityText = 'error'", 'sql')),
    chart('Of two series', 'table', { select: [item(), item({ alias: 'again' })], ...where('SeverityText:error') }),
    chart('Beside a series', 'table', { select: [item(ofItem('ServiceName:checkout'))], ...where('SeverityText:error') }),
  ]),
  dashboard('Hidden settings', [
    chart('Granularity', 'line', { granularity: '5 minute' }),
    chart('Limit', 'table', { groupBy: 'ServiceName', limit: { limit: 20 } }),
    chart('Limit of a pie', 'pie', { groupBy: 'ServiceName', limit: { limit: 3 } }),
    chart('Stripes', 'table', { alternateRowBackground: true }),
    chart('Share', 'line', { select: [item(), item()], seriesReturnType: 'ratio', ratioMode: 'share_of_total', groupBy: 'ServiceName' }),
    chart('Having in Lucene', 'table', { groupBy: 'ServiceName', having: 'n:1', havingLanguage: 'lucene' }),
    chart('Colored column', 'table', { select: [item({ color: 'chart-red' })] }),
    sql('Gaps of a pie', 'pie', { fillNulls: false }),
  ]),
  dashboard('Left over', [
    traces('Level', 'line', [duration({ level: 0.5 })]),
    traces('Expression', 'line', [item({ valueExpression: 'Duration' })]),
    chart('Second series', 'number', { select: [item(), item({ alias: 'x' })] }),
    chart('Ratio of one', 'line', { seriesReturnType: 'ratio' }),
    chart('No language', 'line', { select: [{ aggFn: 'count', aggCondition: 'SeverityText:error', valueExpression: '' }] }),
  ]),
  dashboard('Lists', [
    chart('Groups', 'line', { groupBy: [{ valueExpression: 'ServiceName' }] }),
    chart('Order', 'table', { groupBy: 'ServiceName', orderBy: [{ valueExpression: 'ServiceName', ordering: 'ASC' }] }),
    chart('Text', 'line', { select: 'count()' }),
    chart('Kept', 'line'),
  ]),
  dashboard('Not in the API', [
    {
      configType: 'promql',
      name: 'PromQL',
      displayType: 'line',
      promqlExpression: 'up',
      connection: 'Local ClickHouse',
      source: 'Metrics',
    },
    traces('Level', 'line', [item({ aggFn: 'quantile', level: 0.42, valueExpression: 'Duration' })]),
    traces('Combinator', 'line', [duration({ aggFn: 'avgIfState' })]),
    chart('Kept', 'line'),
  ]),
  dashboard('Links and names', [
    chart('Opens a dashboard', 'table', { groupBy: 'ServiceName', onClick: link({ type: 'dashboard', ...byId(target) }) }),
    chart('Twin', 'line'),
    chart('Twin', 'number'),
  ]),
]
