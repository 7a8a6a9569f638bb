import { isJsonObject } from './json.ts'
import type { JsonObject } from './store.ts'

/** Optional fields, and the values that a server might choose for them. Every value can be sent back. */
type Choices = Readonly<Record<string, readonly unknown[]>>

const flags = [true, false]
const texts = ['']
const formats = [{ output: 'number' }, { output: 'number', mantissa: 2 }, { output: 'duration', factor: 1 }]

/** By display type. What the product fills in by itself is not here. */
const ofConfigs: Readonly<Record<string, Choices>> = {
  line: {
    groupBy: texts,
    alignDateRangeToGranularity: flags,
    fitYAxisToData: flags,
    compareToPreviousPeriod: flags,
    numberFormat: formats,
    seriesLimit: [0, 20],
  },
  stacked_bar: { groupBy: texts, alignDateRangeToGranularity: flags, numberFormat: formats, seriesLimit: [0, 50] },
  table: { groupBy: texts, having: texts, orderBy: texts, groupByColumnsOnLeft: flags, numberFormat: formats },
  number: { color: ['chart-blue', 'chart-gray'], numberFormat: formats, backgroundChart: [{ type: 'line' }, { type: 'area' }] },
  pie: { groupBy: texts, orderBy: texts, limit: [0, 10], numberFormat: formats },
  bar: { groupBy: texts, orderBy: texts, limit: [0, 10], numberFormat: formats },
  heatmap: { numberFormat: formats },
}

const ofSqlConfigs: Readonly<Record<string, Choices>> = {
  line: { alignDateRangeToGranularity: flags, fitYAxisToData: flags, compareToPreviousPeriod: flags, numberFormat: formats },
  stacked_bar: { alignDateRangeToGranularity: flags, numberFormat: formats },
  table: { numberFormat: formats },
  number: { color: ['chart-blue', 'chart-gray'], numberFormat: formats },
  pie: { numberFormat: formats },
  bar: { numberFormat: formats },
}

const ofItems: Choices = { alias: texts, numberFormat: formats }
const ofHeatmapItems: Choices = { countExpression: ['count()'], heatmapScaleType: ['log', 'linear'] }
const ofFilters: Choices = { where: texts, whereLanguage: ['sql', 'lucene'], isBroadcastEnabled: [true], isVariableEnabled: [false] }
const ofContainers: Choices = { collapsible: flags, bordered: flags }
const ofAlerts: Choices = { scheduleOffsetMinutes: [0], numConsecutiveWindows: [1] }

/** Answers of dashboards, alerts and saved searches as a server with unknown defaults gives them. */
export function withUnknownDefaults(seed: number, resource: string, data: unknown): unknown {
  if (Array.isArray(data)) return data.map((item) => withUnknownDefaults(seed, resource, item))
  const rewrite = rewriters[resource]
  return rewrite !== undefined && isJsonObject(data) ? rewriteTexts(seed, rewrite(seed, data)) : data
}

const rewriters: Readonly<Record<string, (seed: number, view: JsonObject) => JsonObject>> = {
  dashboards: rewriteDashboard,
  alerts: rewriteAlert,
  'saved-searches': (seed, view) => ({ ...view, ...reorder(seed, view, 'tags') }),
}

function rewriteDashboard(seed: number, view: JsonObject): JsonObject {
  const tiles = itemsOf(view, 'tiles').map((tile) => ({
    ...tile,
    ...(isJsonObject(tile.config) && { config: rewriteConfig(seed, tile.config) }),
  }))
  const filters = itemsOf(view, 'filters').map((filter) => fill(seed, 'filters', filter, ofFilters))
  const containers = itemsOf(view, 'containers').map((container) => fill(seed, 'containers', container, ofContainers))
  return {
    ...view,
    ...reorder(seed, { tiles }, 'tiles'),
    ...reorder(seed, { filters }, 'filters'),
    ...reorder(seed, view, 'tags'),
    ...(view.containers !== undefined && { containers }),
  }
}

function rewriteConfig(seed: number, config: JsonObject): JsonObject {
  const { displayType, configType } = config
  const isSql = configType === 'sql'
  const place = `${isSql ? 'sql ' : ''}${displayType}`
  const choices = (isSql ? ofSqlConfigs : ofConfigs)[String(displayType)] ?? {}
  const items = displayType === 'heatmap' ? ofHeatmapItems : ofItems
  return {
    ...fill(seed, place, config, choices),
    ...(Array.isArray(config.select) && { select: itemsOf(config, 'select').map((item) => fill(seed, `${place} select`, item, items)) }),
  }
}

function rewriteAlert(seed: number, view: JsonObject): JsonObject {
  // What is not set is absent or null, depending on the field.
  const filled = {
    ...view,
    ...fill(seed, 'alerts', Object.fromEntries(Object.entries(view).filter(([, value]) => value !== null)), ofAlerts),
  }
  if (view.channels === undefined) return filled
  const { channels } = reorder(seed, view, 'channels')
  return { ...filled, channels, channel: (channels as readonly unknown[])[0] }
}

/** About half of the fields get a default. Which and what depends on the place only, as a server's defaults do. */
function fill(seed: number, place: string, view: JsonObject, choices: Choices): JsonObject {
  const missing = Object.entries(choices).flatMap(([field, values]) => {
    const number = hash(`${seed} ${place} ${field}`)
    return view[field] === undefined && number % 2 === 0 ? [[field, values[(number >>> 1) % values.length]]] : []
  })
  return { ...view, ...Object.fromEntries(missing) }
}

const itemsOf = (view: JsonObject, field: string): readonly JsonObject[] => {
  const items = view[field]
  return Array.isArray(items) ? items.filter(isJsonObject) : []
}

function reorder(seed: number, view: JsonObject, field: string): JsonObject {
  const items = view[field]
  if (!Array.isArray(items)) return {}
  const keyOf = (item: unknown): number => hash(`${seed} ${isJsonObject(item) && item.id !== undefined ? item.id : JSON.stringify(item)}`)
  return { [field]: items.toSorted((a, b) => keyOf(a) - keyOf(b)) }
}

const texted = ['name', 'title', 'alias', 'message', 'note', 'markdown', 'where', 'groupBy', 'orderBy', 'savedQuery']
const times = ['createdAt', 'updatedAt', 'scheduleStartAt']

/** Blanks around texts are cut off, and times are written with or without milliseconds. */
function rewriteTexts(seed: number, value: JsonObject): JsonObject {
  const rewrite = (item: unknown, name: string): unknown => {
    if (Array.isArray(item)) return item.map((one) => rewrite(one, ''))
    if (isJsonObject(item)) return rewriteTexts(seed, item)
    if (typeof item !== 'string') return item
    if (times.includes(name)) return seed % 2 === 0 ? item : item.replace(/\.000Z$/, 'Z')
    return texted.includes(name) && item.trim() !== '' ? item.trim() : item
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rewrite(item, name)]))
}

// FNV-1a with a last mix, so that neighboring texts differ.
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return (value ^ (value >>> 13)) >>> 0
}
