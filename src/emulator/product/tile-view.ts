import { type Dashboard, isJsonObject, type JsonObject, type Tile } from '../store.ts'
import { aggregateFunction, builderFields, type ChartColor, color, colorRule, quantileLevel, sqlFields } from './tile-schema.ts'

/**
 * A tile as the API shows it, or undefined for a hidden tile. Shows the fields of the display type, with the product's defaults. Other
 * fields that the web app saved stay hidden, and an update with this view drops them.
 */
export function toTileView({ config, ...tile }: Tile, { containers }: Dashboard): JsonObject | undefined {
  const { id, name, x, y, w, h } = tile
  // This API has no form for PromQL tiles.
  if (config.configType === 'promql') return undefined
  return { id, x, y, w, h, name, config: toConfigView(config), ...toContainer(tile, containers) }
}

/** Leaves out references to deleted containers and tabs, so that the view can be sent back. */
function toContainer({ containerId, tabId }: Partial<Tile>, containers: readonly JsonObject[]): JsonObject {
  const container = containers.findLast(({ id }) => id === containerId)
  if (!containerId || container === undefined) return {}
  return { containerId, ...(tabId && hasTab(container, tabId) && { tabId }) }
}

export const hasTab = ({ tabs }: JsonObject, tabId: string): boolean =>
  Array.isArray(tabs) && tabs.some((tab) => isJsonObject(tab) && tab.id === tabId)

function toConfigView(config: JsonObject): JsonObject {
  const isSql = config.configType === 'sql'
  const displayType = String(config.displayType)
  const fields = (isSql ? sqlFields : builderFields)[displayType]
  if (fields !== undefined) return { displayType, ...pickFields(config, Object.keys(fields)) }
  const shown = pickFields(config, isSql ? ['configType', 'connectionId', 'sqlTemplate'] : ['sourceId'])
  return { displayType: 'line', ...shown, ...(!isSql && { select: [anyCount] }) }
}

/** The fields that a config has. Those of the table below are shown in another form than the stored one, or hidden. */
const pickFields = (from: JsonObject, fields: readonly string[]) =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const view = fieldViews[field]
      const value = view === undefined ? from[field] : view(from[field], from)
      return value === undefined ? [] : [[field, value]]
    }),
  )

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** The web app stores null for the default limit. */
const limitOf = (value: unknown) => value ?? undefined

const fieldViews: Readonly<Record<string, (value: unknown, config: JsonObject) => unknown>> = {
  sourceId: (id, { configType }) => (configType === 'sql' ? id : (id ?? '')),
  select: viewSelect,
  groupBy: textOf,
  orderBy: textOf,
  asRatio: (isRatio, { select }) => isRatio === true && Array.isArray(select) && select.length === 2,
  formulas: (formulas, config) => (hasFormulas(config) ? formulas : undefined),
  showOperandSeries: (isShown, config) => (hasFormulas(config) ? isShown : undefined),
  fillNulls: (isFilled) => isFilled !== false,
  seriesLimit: limitOf,
  limit: limitOf,
  color: toCurrentColor,
  colorRules: viewRules,
  where: (where) => where ?? '',
  whereLanguage: (language) => language ?? 'lucene',
  markdown: (text) => textOf(text) ?? '',
}

export const hasFormulas = ({ formulas }: JsonObject): boolean => Array.isArray(formulas) && formulas.length > 0

const anyCount = { aggFn: 'count', where: '' }

function viewSelect(select: unknown, config: JsonObject): unknown {
  const items = Array.isArray(select) ? select.filter(isJsonObject) : undefined
  switch (config.displayType) {
    case 'search':
    case 'event_patterns':
      return textOf(select) ?? ''
    case 'heatmap': {
      const item: unknown = Array.isArray(select) ? select[0] : undefined
      if (!isJsonObject(item) || !item.valueExpression) return [{ valueExpression: '' }]
      const { valueExpression, countExpression, heatmapScaleType } = item
      return [{ valueExpression, countExpression, heatmapScaleType }]
    }
    default: {
      const shown = items?.map(toItemView) ?? [anyCount]
      const hasOne = ['pie', 'bar'].includes(String(config.displayType)) || (config.displayType === 'number' && !hasFormulas(config))
      return hasOne ? [shown[0] ?? anyCount] : shown
    }
  }
}

function viewRules(rules: unknown) {
  const shown = (Array.isArray(rules) ? rules : []).flatMap((rule: unknown) => {
    const parsed = isJsonObject(rule) ? colorRule.safeParse({ ...rule, color: toCurrentColor(rule.color) }) : undefined
    return parsed?.success ? [parsed.data] : []
  })
  return shown.length === 0 ? undefined : shown
}

/** Older versions stored numbers: `chart-1` is green. */
const numberedColors = (['green', 'blue', 'orange', 'red', 'cyan', 'pink', 'purple', 'light-blue', 'brown', 'gray'] as const).map(
  (name): ChartColor => `chart-${name}`,
)

function toCurrentColor(stored: unknown): ChartColor | undefined {
  const number = typeof stored === 'string' ? /^chart-([1-9]|10)$/.exec(stored)?.[1] : undefined
  return number === undefined ? color.safeParse(stored).data : numberedColors[Number(number) - 1]
}

/** Leaves out fields that do not fit the aggregation: the editor of the web app keeps them when the aggregation is changed. */
function toItemView({ alias, metricType, metricName, numberFormat, valueExpression, where, ...item }: JsonObject): JsonObject {
  const aggFn = aggregateFunction.safeParse(item.aggFn).data ?? 'none'
  return {
    ...{ alias, metricType, metricName, numberFormat },
    ...(!(aggFn === 'count' && valueExpression) && { valueExpression: valueExpression ?? '' }),
    aggFn,
    where: where ?? '',
    whereLanguage: item.whereLanguage ?? 'lucene',
    periodAggFn: item.periodAggFn === 'delta' ? 'delta' : undefined,
    level: aggFn === 'quantile' ? quantileLevel.safeParse(item.level).data : undefined,
  }
}
