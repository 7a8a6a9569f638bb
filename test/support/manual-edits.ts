// What somebody may change by hand in a stored object: one field, to another value that the server would take as well.
import type { JsonObject, Service } from '../../src/emulator/index.ts'

export interface ManualEdit {
  /** As in `tiles.0.config.fillNulls`. */
  readonly path: string
  /** The last name in the path. */
  readonly field: string
  /** Whether the field was stored before. */
  readonly isNew: boolean
  readonly make: () => void
}

/** Fields whose text can be any. */
const texts = (
  'name title alias markdown sqlTemplate message note savedQuery condition label where groupBy orderBy having expression ' +
  'valueExpression countExpression select'
).split(' ')

/** Every edit of what is stored. */
function editsOf(object: JsonObject, path = ''): readonly ManualEdit[] {
  return Object.entries(object).flatMap(([field, value]) => {
    const place = `${path}${field}`
    if (isMap(value)) return editsOf(value, `${place}.`)
    const next = changedValue(field, value)
    if (next !== undefined) return [{ path: place, field, isNew: false, make: () => void Object.assign(object, { [field]: next }) }]
    return Array.isArray(value) ? value.flatMap((item, i) => (isMap(item) ? editsOf(item, `${place}.${i}.`) : [])) : []
  })
}

/** Undefined for what is not changed as a whole. */
function changedValue(field: string, value: unknown): unknown {
  if (field === 'level') return value === 0.5 ? 0.9 : 0.5
  if (field === 'tags') return [...(value as readonly string[]), 'changed']
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  // The marker of an alert has a line of its own.
  const separator = field === 'message' || field === 'note' ? '\n' : ' '
  return typeof value === 'string' && texts.includes(field) ? `changed${separator}${value}` : undefined
}

const isMap = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Optional fields, and values that none of the server's defaults is. */
const ofConfigs: Readonly<Record<string, JsonObject>> = {
  line: { groupBy: 'changed', seriesLimit: 77, compareToPreviousPeriod: true, fillNulls: false, numberFormat: { output: 'percent' } },
  stacked_bar: { groupBy: 'changed', seriesLimit: 77, alignDateRangeToGranularity: false },
  table: { having: 'changed', orderBy: 'changed', groupByColumnsOnLeft: true },
  number: { color: 'chart-pink', backgroundChart: { type: 'area', color: 'chart-pink' } },
  pie: { limit: 77, orderBy: 'changed' },
  bar: { limit: 77, groupBy: 'changed' },
  heatmap: { where: 'changed' },
  event_patterns: { where: 'changed' },
}
const ofDashboards: JsonObject = { savedQuery: 'changed', savedFilterValues: [{ type: 'sql', condition: 'changed' }] }
const ofAlerts: JsonObject = { numConsecutiveWindows: 77, scheduleOffsetMinutes: 1, name: 'changed' }
const ofSavedSearches: JsonObject = { orderBy: 'changed', where: 'changed' }

/** Every edit that gives a value to a field which is not stored. */
function additionsTo(object: JsonObject, values: JsonObject, path = ''): readonly ManualEdit[] {
  return Object.entries(values).flatMap(([field, value]) =>
    object[field] === undefined || object[field] === null
      ? [{ path: `${path}${field}`, field, isNew: true, make: () => void Object.assign(object, { [field]: value }) }]
      : [],
  )
}

/** Of everything that the service holds and `isOurs`. */
export function allEdits({ dashboards, savedSearches, alerts }: Service, isOurs: (object: object) => boolean): readonly ManualEdit[] {
  const maps = (objects: readonly object[]) => objects.filter(isOurs) as readonly JsonObject[]
  return [
    ...maps(dashboards).flatMap((dashboard) => [
      ...editsOf(dashboard),
      ...additionsTo(dashboard, ofDashboards),
      ...(dashboard.tiles as readonly { config: JsonObject }[]).flatMap(({ config }, i) =>
        config.configType === 'sql' ? [] : additionsTo(config, ofConfigs[String(config.displayType)] ?? {}, `tiles.${i}.config.`),
      ),
    ]),
    ...maps(savedSearches).flatMap((search) => [...editsOf(search), ...additionsTo(search, ofSavedSearches)]),
    ...maps(alerts).flatMap((alert) => [...editsOf(alert), ...additionsTo(alert, ofAlerts)]),
  ]
}
