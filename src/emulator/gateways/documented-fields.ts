import { alertFields } from '../product/alerts.ts'
import { isJsonObject, type JsonObject } from '../store.ts'

// The properties of request bodies in the vendor's OpenAPI document of 2026-07-31, with its additions of 2026-09. Only their names are
// checked here. The product checks their values.

/** `any`: any value. A list describes the items of a list. A function chooses the shape by the value. */
export type BodyShape = 'any' | FieldShapes | readonly [BodyShape] | ((value: JsonObject) => BodyShape)

interface FieldShapes {
  readonly [name: string]: BodyShape
}

const namesOnly = (names: string): FieldShapes => Object.fromEntries(names.split(' ').map((name) => [name, 'any']))

const formatted = {
  numberFormat: namesOnly('output mantissa thousandSeparated average decimalBytes factor currencySymbol numericUnit unit'),
}

const itemShape = {
  ...namesOnly('aggFn valueExpression alias level where whereLanguage metricName metricType periodAggFn'),
  ...formatted,
}

const clickShape = (value: JsonObject): BodyShape =>
  value.type === 'external'
    ? namesOnly('type urlTemplate')
    : {
        ...namesOnly('type whereTemplate whereLanguage'),
        target: namesOnly('mode id template'),
        filters: [namesOnly('kind expression template')],
      }

const formulaShape = { formulas: [{ ...namesOnly('expression alias'), ...formatted }] } as const
const selectShape = { select: [itemShape] } as const

const configs: Readonly<Record<string, FieldShapes>> = {
  line: {
    ...namesOnly('displayType sourceId groupBy asRatio alignDateRangeToGranularity fillNulls fitYAxisToData compareToPreviousPeriod'),
    ...namesOnly('seriesLimit showOperandSeries'),
    ...selectShape,
    ...formulaShape,
    ...formatted,
  },
  stacked_bar: {
    ...namesOnly('displayType sourceId groupBy asRatio alignDateRangeToGranularity fillNulls seriesLimit showOperandSeries'),
    ...selectShape,
    ...formulaShape,
    ...formatted,
  },
  table: {
    ...namesOnly('displayType sourceId groupBy having orderBy asRatio groupByColumnsOnLeft showOperandSeries'),
    onClick: clickShape,
    ...selectShape,
    ...formulaShape,
    ...formatted,
  },
  number: {
    ...namesOnly('displayType sourceId color'),
    colorRules: [namesOnly('operator value color label')],
    backgroundChart: namesOnly('type color'),
    ...selectShape,
    ...formulaShape,
    ...formatted,
  },
  pie: { ...namesOnly('displayType sourceId groupBy orderBy limit'), ...selectShape, ...formatted },
  bar: { ...namesOnly('displayType sourceId groupBy orderBy limit'), ...selectShape, ...formatted },
  heatmap: {
    ...namesOnly('displayType sourceId where whereLanguage'),
    select: [namesOnly('valueExpression countExpression heatmapScaleType')],
    ...formatted,
  },
  search: namesOnly('displayType sourceId select where whereLanguage'),
  event_patterns: namesOnly('displayType sourceId select where whereLanguage'),
  markdown: namesOnly('displayType markdown'),
}

const sqlShape = { ...namesOnly('configType connectionId sqlTemplate sourceId displayType'), ...formatted }

const sqlConfigs: Readonly<Record<string, FieldShapes>> = {
  line: { ...sqlShape, ...namesOnly('compareToPreviousPeriod fillNulls alignDateRangeToGranularity fitYAxisToData') },
  stacked_bar: { ...sqlShape, ...namesOnly('fillNulls alignDateRangeToGranularity') },
  table: { ...sqlShape, onClick: clickShape },
  number: { ...sqlShape, color: 'any' },
  pie: sqlShape,
  bar: sqlShape,
}

/** A display type that is not in the document may have any field. */
const config = ({ displayType, configType }: JsonObject): BodyShape =>
  (configType === 'sql' ? sqlConfigs : configs)[String(displayType)] ?? 'any'

const filterShape = namesOnly(
  'type name expression sourceId sourceMetricType where whereLanguage appliesToSourceIds isBroadcastEnabled isVariableEnabled variableName',
)

const dashboardShape = {
  ...namesOnly('name tags savedQuery savedQueryLanguage'),
  tiles: [
    {
      ...namesOnly('id name x y w h asRatio containerId tabId'),
      config,
    } as const,
  ],
  savedFilterValues: [namesOnly('type condition name values')],
  containers: [{ ...namesOnly('id title collapsed collapsible bordered'), tabs: [namesOnly('id title')] }],
} as const

const channelShape = namesOnly('type emailRecipients webhookId webhookService slackChannelId severity')

/** The document has the fields of alerts that the product has, with more in channels. */
const alert = { ...namesOnly(alertFields.join(' ')), channel: channelShape, channels: [channelShape] } as const

const sourceBase = {
  ...namesOnly('id name section disabled kind connection from timestampValueExpression'),
  from: namesOnly('databaseName tableName'),
  querySettings: [namesOnly('setting value')],
} as const

const sourceEvents = {
  filterSettings: {
    ...namesOnly('databaseName tableName'),
    columns: [namesOnly('name label allowAll valueExpression')],
  },
  highlightedTraceAttributeExpressions: [namesOnly('sqlExpression luceneExpression alias')],
  highlightedRowAttributeExpressions: [namesOnly('sqlExpression luceneExpression alias')],
  materializedViews: [
    {
      ...namesOnly('databaseName tableName dimensionColumns minGranularity minDate timestampColumn'),
      aggregatedColumns: [namesOnly('sourceColumn aggFn mvColumn')],
    },
  ],
  metadataMaterializedViews: namesOnly('keyRollupTable kvRollupTable granularity'),
  ...namesOnly('defaultTableSelectExpression serviceNameExpression serviceVersionExpression eventAttributesExpression'),
  ...namesOnly('resourceAttributesExpression traceIdExpression spanIdExpression implicitColumnExpression knownColumnsListExpression'),
  ...namesOnly('useTextIndexForImplicitColumn metricSourceId'),
} as const

const sourceShapes: Readonly<Record<string, FieldShapes>> = {
  log: {
    ...sourceBase,
    ...sourceEvents,
    ...namesOnly('severityTextExpression bodyExpression displayedTimestampValueExpression traceSourceId'),
  },
  trace: {
    ...sourceBase,
    ...sourceEvents,
    ...namesOnly('durationExpression durationPrecision parentSpanIdExpression spanNameExpression spanKindExpression logSourceId'),
    ...namesOnly('sessionSourceId statusCodeExpression statusMessageExpression spanEventsValueExpression'),
  },
  metric: {
    ...sourceBase,
    metricTables: { ...namesOnly('gauge histogram sum summary'), 'exponential histogram': 'any' },
    ...namesOnly('resourceAttributesExpression logSourceId'),
  },
  session: { ...sourceBase, traceSourceId: 'any' },
  promql: sourceBase,
}

export const bodyShapes: Readonly<Record<string, BodyShape>> = {
  'POST dashboards': { ...dashboardShape, filters: [filterShape] },
  'POST dashboards/validate': { ...dashboardShape, filters: [filterShape] },
  'PUT dashboards': { ...dashboardShape, filters: [{ ...filterShape, id: 'any' }] },
  'POST alerts': alert,
  'PUT alerts': alert,
  'POST saved-searches': {
    ...namesOnly('name sourceId select where whereLanguage orderBy tags'),
    filters: [namesOnly('type condition')],
  },
  'POST webhooks': namesOnly('name service url description body headers queryParams'),
  'POST sources': ({ kind }) => sourceShapes[String(kind)] ?? 'any',
}

/** The first property of the body that the document does not have, as a path such as `tiles.0.config.nonsense`. */
export function findUndocumented(
  body: JsonObject,
  {
    method,
    resource,
    isValidation,
    acceptsField,
  }: {
    readonly method: string
    readonly resource: string
    readonly isValidation: boolean
    readonly acceptsField: (name: string) => boolean
  },
): string | undefined {
  const verb = method === 'PUT' && ['saved-searches', 'webhooks', 'sources'].includes(resource) ? 'POST' : method
  const name = `${verb} ${resource}${isValidation ? '/validate' : ''}`
  return findExtra(body, bodyShapes[name] ?? 'any', [], acceptsField)
}

function findExtra(
  value: unknown,
  shape: BodyShape,
  path: readonly (string | number)[],
  acceptsField: (name: string) => boolean,
): string | undefined {
  if (shape === 'any') return undefined
  if (typeof shape === 'function') return isJsonObject(value) ? findExtra(value, shape(value), path, acceptsField) : undefined
  if (isList(shape)) {
    const items = Array.isArray(value) ? value.entries() : []
    return findFirst(items, ([index, item]) => findExtra(item, shape[0], [...path, index], acceptsField))
  }
  return findFirst(isJsonObject(value) ? Object.entries(value) : [], ([name, item]) => {
    if (acceptsField(name)) return undefined
    const inner = Object.hasOwn(shape, name) ? shape[name] : undefined
    return inner === undefined ? [...path, name].join('.') : findExtra(item, inner, [...path, name], acceptsField)
  })
}

const isList = (shape: BodyShape): shape is readonly [BodyShape] => Array.isArray(shape)

function findFirst<T>(items: Iterable<T>, find: (item: T) => string | undefined) {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
