import { type Dashboard, isJsonObject, type JsonObject, type Tile } from '../store.ts'
import { aggregateFunction, type ChartColor, color, colorRule, isTimeSeries, quantileLevel } from './tile-schema.ts'

/**
 * A tile as the API shows it, or undefined for a hidden tile. Shows the fields of the display type, with the product's defaults. Other
 * fields that the web app saved stay hidden, and an update with this view drops them.
 */
export function toTileView(tile: Tile, { containers }: Dashboard): JsonObject | undefined {
  const { id, name, x, y, w, h, config } = tile
  // This API has no form for PromQL tiles.
  if (config.configType === 'promql') return undefined
  const shown = config.configType === 'sql' ? toSqlView(config) : toBuilderView(config)
  return {
    id,
    x,
    y,
    w,
    h,
    name,
    config:
      shown ??
      (config.configType === 'sql'
        ? { configType: config.configType, displayType: 'line', connectionId: config.connectionId, sqlTemplate: config.sqlTemplate }
        : { displayType: 'line', sourceId: config.sourceId ?? '', select: [anyCount] }),
    ...toContainer(tile, containers),
  }
}

/** Leaves out references to deleted containers and tabs, so that the view can be sent back. */
function toContainer({ containerId, tabId }: Tile, containers: readonly JsonObject[]): JsonObject {
  const container = containers.findLast(({ id }) => id === containerId)
  if (!containerId || container === undefined) return {}
  return { containerId, ...(tabId && hasTab(container, tabId) && { tabId }) }
}

export const hasTab = ({ tabs }: JsonObject, tabId: string): boolean =>
  Array.isArray(tabs) && tabs.some((tab) => isJsonObject(tab) && tab.id === tabId)

const anyCount = { aggFn: 'count', where: '' }

const sqlFields: Readonly<Record<string, readonly string[]>> = {
  line: ['alignDateRangeToGranularity', 'fitYAxisToData', 'compareToPreviousPeriod'],
  stacked_bar: ['alignDateRangeToGranularity'],
  table: ['onClick'],
  number: [],
  pie: [],
  bar: [],
}

function toSqlView(config: JsonObject) {
  const displayType = String(config.displayType)
  const fields = sqlFields[displayType]
  if (fields === undefined) return undefined
  return {
    configType: 'sql',
    displayType,
    ...pickFields(config, ['connectionId', 'sqlTemplate', 'sourceId', 'numberFormat', ...fields]),
    ...(isTimeSeries(displayType) && { fillNulls: config.fillNulls !== false, ...toLimit(config, 'seriesLimit') }),
    ...(displayType === 'number' && colorView(config)),
  }
}

function toBuilderView(config: JsonObject) {
  const head = { displayType: config.displayType, sourceId: config.sourceId ?? '' }
  const text = (field: string): JsonObject => (typeof config[field] === 'string' ? { [field]: config[field] } : {})
  const filter = { where: config.where ?? '', whereLanguage: config.whereLanguage ?? 'lucene' }
  switch (config.displayType) {
    case 'line':
    case 'stacked_bar':
      return {
        ...head,
        ...combinedView(config),
        ...text('groupBy'),
        fillNulls: config.fillNulls !== false,
        ...pickFields(config, ['alignDateRangeToGranularity', 'numberFormat']),
        ...toLimit(config, 'seriesLimit'),
        ...(config.displayType === 'line' && pickFields(config, ['fitYAxisToData', 'compareToPreviousPeriod'])),
      }
    case 'table':
      return {
        ...head,
        ...combinedView(config),
        ...text('groupBy'),
        ...text('orderBy'),
        ...pickFields(config, ['having', 'numberFormat', 'groupByColumnsOnLeft', 'onClick']),
      }
    case 'number':
      return toNumberView(config, head)
    case 'pie':
    case 'bar':
      return {
        ...head,
        select: [firstItemOf(config)],
        ...text('groupBy'),
        ...text('orderBy'),
        ...toLimit(config, 'limit'),
        ...pickFields(config, ['numberFormat']),
      }
    case 'heatmap':
      return { ...head, select: [toHeatmapItem(config)], ...filter, ...pickFields(config, ['numberFormat']) }
    case 'search':
    case 'event_patterns':
      return { ...head, select: typeof config.select === 'string' ? config.select : '', ...filter }
    case 'markdown':
      return { displayType: 'markdown', markdown: typeof config.markdown === 'string' ? config.markdown : '' }
    default:
      return undefined
  }
}

function toNumberView(config: JsonObject, head: JsonObject): JsonObject {
  const rules = (Array.isArray(config.colorRules) ? config.colorRules : []).flatMap((rule: unknown) => {
    const parsed = isJsonObject(rule) ? colorRule.safeParse({ ...rule, color: toCurrentColor(rule.color) }) : undefined
    return parsed?.success ? [parsed.data] : []
  })
  return {
    ...head,
    select: hasFormulas(config) ? itemsOf(config) : [firstItemOf(config)],
    ...toFormulas(config),
    ...colorView(config),
    ...(rules.length > 0 && { colorRules: rules }),
    ...pickFields(config, ['numberFormat', 'backgroundChart']),
  }
}

/** Older versions stored numbers: `chart-1` is green. */
const numberedColors = (['green', 'blue', 'orange', 'red', 'cyan', 'pink', 'purple', 'light-blue', 'brown', 'gray'] as const).map(
  (name): ChartColor => `chart-${name}`,
)

function toCurrentColor(stored: unknown): ChartColor | undefined {
  const number = typeof stored === 'string' ? /^chart-([1-9]|10)$/.exec(stored)?.[1] : undefined
  return number === undefined ? color.safeParse(stored).data : numberedColors[Number(number) - 1]
}

function colorView(config: JsonObject): JsonObject {
  const current = toCurrentColor(config.color)
  return current === undefined ? {} : { color: current }
}

/** The web app stores null for the default limit. */
const toLimit = (config: JsonObject, field: string) => (config[field] == null ? {} : { [field]: config[field] })

const hasFormulas = ({ formulas }: JsonObject) => Array.isArray(formulas) && formulas.length > 0

const toFormulas = (config: JsonObject) => (hasFormulas(config) ? { formulas: config.formulas } : {})

/** Several items side by side, as a ratio, or as operands of formulas. */
function combinedView(config: JsonObject): JsonObject {
  return {
    select: itemsOf(config),
    asRatio: config.asRatio === true && Array.isArray(config.select) && config.select.length === 2,
    ...toFormulas(config),
    ...(hasFormulas(config) && pickFields(config, ['showOperandSeries'])),
  }
}

const itemsOf = ({ select }: JsonObject): readonly unknown[] =>
  Array.isArray(select) ? select.filter(isJsonObject).map(toItemView) : [anyCount]

const firstItemOf = (config: JsonObject) => itemsOf(config)[0] ?? anyCount

/** Leaves out fields that do not fit the aggregation: the editor of the web app keeps them when the aggregation is changed. */
function toItemView(item: JsonObject): JsonObject {
  const known = aggregateFunction.safeParse(item.aggFn)
  const aggFn = known.success ? known.data : 'none'
  const level = aggFn === 'quantile' ? quantileLevel.safeParse(item.level) : undefined
  const isStale = aggFn === 'count' && Boolean(item.valueExpression)
  return {
    ...pickFields(item, ['alias', 'metricType', 'metricName', 'numberFormat']),
    ...(!isStale && { valueExpression: item.valueExpression ?? '' }),
    aggFn,
    where: item.where ?? '',
    whereLanguage: item.whereLanguage ?? 'lucene',
    ...(item.periodAggFn === 'delta' && { periodAggFn: 'delta' }),
    ...(level?.success && { level: level.data }),
  }
}

function toHeatmapItem({ select }: JsonObject): JsonObject {
  const item: unknown = Array.isArray(select) ? select[0] : undefined
  if (!isJsonObject(item) || !item.valueExpression) return { valueExpression: '' }
  return pickFields(item, ['valueExpression', 'countExpression', 'heatmapScaleType'])
}

const pickFields = (from: JsonObject, fields: readonly string[]) =>
  Object.fromEntries(fields.flatMap((field) => (from[field] === undefined ? [] : [[field, from[field]]])))
