import { alertFields } from '../product/alerts.ts'
import { isJsonObject, type JsonObject } from '../store.ts'

// The properties of request bodies in the vendor's OpenAPI document of 2026-07-31, with its additions of 2026-09. Only their names are
// checked here. The product checks their values.

/** `any`: any value. A list describes the items of a list. A function chooses the shape by the value. */
export type Shape = 'any' | Fields | readonly [Shape] | ((value: JsonObject) => Shape)

interface Fields {
  readonly [name: string]: Shape
}

const fields = (names: string): Fields => Object.fromEntries(names.split(' ').map((name) => [name, 'any']))

const numberFormat = fields('output mantissa thousandSeparated average decimalBytes factor currencySymbol numericUnit unit')
const formatted = { numberFormat }

const selectItem = {
  ...fields('aggFn valueExpression alias level where whereLanguage metricName metricType periodAggFn'),
  ...formatted,
}

const onClick = (value: JsonObject): Shape =>
  value.type === 'external'
    ? fields('type urlTemplate')
    : { ...fields('type whereTemplate whereLanguage'), target: fields('mode id template'), filters: [fields('kind expression template')] }

const formulas = { formulas: [{ ...fields('expression alias'), ...formatted }] } as const
const select = { select: [selectItem] } as const

const configs: Readonly<Record<string, Fields>> = {
  line: {
    ...fields('displayType sourceId groupBy asRatio alignDateRangeToGranularity fillNulls fitYAxisToData compareToPreviousPeriod'),
    ...fields('seriesLimit showOperandSeries'),
    ...select,
    ...formulas,
    ...formatted,
  },
  stacked_bar: {
    ...fields('displayType sourceId groupBy asRatio alignDateRangeToGranularity fillNulls seriesLimit showOperandSeries'),
    ...select,
    ...formulas,
    ...formatted,
  },
  table: {
    ...fields('displayType sourceId groupBy having orderBy asRatio groupByColumnsOnLeft showOperandSeries'),
    onClick,
    ...select,
    ...formulas,
    ...formatted,
  },
  number: {
    ...fields('displayType sourceId color'),
    colorRules: [fields('operator value color label')],
    backgroundChart: fields('type color'),
    ...select,
    ...formulas,
    ...formatted,
  },
  pie: { ...fields('displayType sourceId groupBy orderBy limit'), ...select, ...formatted },
  bar: { ...fields('displayType sourceId groupBy orderBy limit'), ...select, ...formatted },
  heatmap: {
    ...fields('displayType sourceId where whereLanguage'),
    select: [fields('valueExpression countExpression heatmapScaleType')],
    ...formatted,
  },
  search: fields('displayType sourceId select where whereLanguage'),
  event_patterns: fields('displayType sourceId select where whereLanguage'),
  markdown: fields('displayType markdown'),
}

const sql = { ...fields('configType connectionId sqlTemplate sourceId displayType'), ...formatted }

const sqlConfigs: Readonly<Record<string, Fields>> = {
  line: { ...sql, ...fields('compareToPreviousPeriod fillNulls alignDateRangeToGranularity fitYAxisToData') },
  stacked_bar: { ...sql, ...fields('fillNulls alignDateRangeToGranularity') },
  table: { ...sql, onClick },
  number: { ...sql, color: 'any' },
  pie: sql,
  bar: sql,
}

/** A display type that is not in the document may have any field. */
const config = ({ displayType, configType }: JsonObject): Shape =>
  (configType === 'sql' ? sqlConfigs : configs)[String(displayType)] ?? 'any'

const tile = {
  ...fields('id name x y w h asRatio containerId tabId'),
  config,
} as const

const filter = fields(
  'type name expression sourceId sourceMetricType where whereLanguage appliesToSourceIds isBroadcastEnabled isVariableEnabled variableName',
)

const dashboard = {
  ...fields('name tags savedQuery savedQueryLanguage'),
  tiles: [tile],
  savedFilterValues: [fields('type condition name values')],
  containers: [{ ...fields('id title collapsed collapsible bordered'), tabs: [fields('id title')] }],
} as const

const channel = fields('type emailRecipients webhookId webhookService slackChannelId severity')

/** The document has the fields of alerts that the product has, with more in channels. */
const alert = { ...fields(alertFields.join(' ')), channel, channels: [channel] } as const

const sourceBase = {
  ...fields('id name section disabled kind connection from timestampValueExpression'),
  from: fields('databaseName tableName'),
  querySettings: [fields('setting value')],
} as const

const sourceEvents = {
  filterSettings: {
    ...fields('databaseName tableName'),
    columns: [fields('name label allowAll valueExpression')],
  },
  highlightedTraceAttributeExpressions: [fields('sqlExpression luceneExpression alias')],
  highlightedRowAttributeExpressions: [fields('sqlExpression luceneExpression alias')],
  materializedViews: [
    {
      ...fields('databaseName tableName dimensionColumns minGranularity minDate timestampColumn'),
      aggregatedColumns: [fields('sourceColumn aggFn mvColumn')],
    },
  ],
  metadataMaterializedViews: fields('keyRollupTable kvRollupTable granularity'),
  ...fields('defaultTableSelectExpression serviceNameExpression serviceVersionExpression eventAttributesExpression'),
  ...fields('resourceAttributesExpression traceIdExpression spanIdExpression implicitColumnExpression knownColumnsListExpression'),
  ...fields('useTextIndexForImplicitColumn metricSourceId'),
} as const

const sourcesOf: Readonly<Record<string, Fields>> = {
  log: {
    ...sourceBase,
    ...sourceEvents,
    ...fields('severityTextExpression bodyExpression displayedTimestampValueExpression traceSourceId'),
  },
  trace: {
    ...sourceBase,
    ...sourceEvents,
    ...fields('durationExpression durationPrecision parentSpanIdExpression spanNameExpression spanKindExpression logSourceId'),
    ...fields('sessionSourceId statusCodeExpression statusMessageExpression spanEventsValueExpression'),
  },
  metric: {
    ...sourceBase,
    metricTables: { ...fields('gauge histogram sum summary'), 'exponential histogram': 'any' },
    ...fields('resourceAttributesExpression logSourceId'),
  },
  session: { ...sourceBase, traceSourceId: 'any' },
  promql: sourceBase,
}

const source = ({ kind }: JsonObject): Shape => sourcesOf[String(kind)] ?? 'any'

export const shapes: Readonly<Record<string, Shape>> = {
  'POST dashboards': { ...dashboard, filters: [filter] },
  'POST dashboards/validate': { ...dashboard, filters: [filter] },
  'PUT dashboards': { ...dashboard, filters: [{ ...filter, id: 'any' }] },
  'POST alerts': alert,
  'PUT alerts': alert,
  'POST saved-searches': {
    ...fields('name sourceId select where whereLanguage orderBy tags'),
    filters: [fields('type condition')],
  },
  'POST webhooks': fields('name service url description body headers queryParams'),
  'POST sources': source,
}

const sameAsPost = ['saved-searches', 'webhooks', 'sources']

interface BodyContext {
  readonly method: string
  readonly resource: string
  readonly isValidation: boolean
  readonly acceptsField: (name: string) => boolean
}

/** The first property of the body that the document does not have, as a path such as `tiles.0.config.nonsense`. */
export function findUndocumented(body: JsonObject, { method, resource, isValidation, acceptsField }: BodyContext): string | undefined {
  const verb = method === 'PUT' && sameAsPost.includes(resource) ? 'POST' : method
  const name = `${verb} ${resource}${isValidation ? '/validate' : ''}`
  return findIn(body, shapes[name] ?? 'any', [], acceptsField)
}

type Path = readonly (string | number)[]

function findIn(value: unknown, shape: Shape, path: Path, acceptsField: (name: string) => boolean): string | undefined {
  if (shape === 'any') return undefined
  if (typeof shape === 'function') return isJsonObject(value) ? findIn(value, shape(value), path, acceptsField) : undefined
  if (isList(shape)) {
    const items = Array.isArray(value) ? value.entries() : []
    return findFirst(items, ([index, item]) => findIn(item, shape[0], [...path, index], acceptsField))
  }
  return findFirst(isJsonObject(value) ? Object.entries(value) : [], ([name, item]) => {
    if (acceptsField(name)) return undefined
    const inner = Object.hasOwn(shape, name) ? shape[name] : undefined
    return inner === undefined ? [...path, name].join('.') : findIn(item, inner, [...path, name], acceptsField)
  })
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape)

function findFirst<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
