// Compares stored documents by their meaning: without ids, times and markers, and without values that every reader assumes for an absent
// field. The rules are few, and each says which readers were looked at. A rule that is wrong shows as a difference of queries or evaluations.
import { readTextMarker, withoutMarkerTags, withoutTextMarker } from '../../src/kinds/marker.ts'
import type { WrittenIds } from './as-web-app.ts'
import type { Json } from './product.ts'

/** Values of a field that mean the same as no value. The API writes none of them, or other ones than the web app. */
interface Assumption {
  readonly of: 'tile' | 'series' | 'filter' | 'container' | 'dashboard' | 'alert' | 'saved search'
  readonly field: string
  readonly values: readonly unknown[]
  /** Where the readers of the field are in HyperDX 2.36. */
  readonly readers: string
}

const assumptions: readonly Assumption[] = [
  { of: 'tile', field: 'granularity', values: ['auto'], readers: 'charts: auto or absent; alerts use their interval' },
  { of: 'tile', field: 'where', values: [''], readers: 'queries skip an empty condition' },
  { of: 'tile', field: 'havingLanguage', values: ['sql'], readers: 'queries assume sql; only templates state it' },
  { of: 'tile', field: 'alignDateRangeToGranularity', values: [true], readers: 'charts compare with false' },
  { of: 'tile', field: 'fillNulls', values: [0], readers: 'charts compare with false' },
  { of: 'tile', field: 'compareToPreviousPeriod', values: [false], readers: 'charts test for true' },
  { of: 'tile', field: 'fitYAxisToData', values: [false], readers: 'charts test for true' },
  { of: 'tile', field: 'groupByColumnsOnLeft', values: [false], readers: 'tables test for true' },
  { of: 'tile', field: 'alternateRowBackground', values: [false], readers: 'tables test for true' },
  { of: 'tile', field: 'seriesLimit', values: [null], readers: 'charts test for null and undefined alike' },
  { of: 'tile', field: 'groupBy', values: [''], readers: 'queries test for a text' },
  { of: 'tile', field: 'seriesReturnType', values: ['column'], readers: 'queries compare with ratio' },
  { of: 'series', field: 'aggCondition', values: [''], readers: 'queries skip an empty condition' },
  { of: 'series', field: 'isDelta', values: [false], readers: 'queries test for true' },
  { of: 'filter', field: 'isBroadcastEnabled', values: [true], readers: 'isFilterBroadcastEnabled compares with false' },
  { of: 'filter', field: 'isVariableEnabled', values: [false], readers: 'isFilterVariableEnabled compares with true' },
  { of: 'container', field: 'collapsible', values: [true], readers: 'dashboards compare with false' },
  { of: 'container', field: 'bordered', values: [true], readers: 'dashboards compare with false' },
  { of: 'dashboard', field: 'savedQuery', values: [null, ''], readers: 'dashboards test for a text' },
  { of: 'dashboard', field: 'savedQueryLanguage', values: [null], readers: 'read with a saved query only' },
  { of: 'dashboard', field: 'savedFilterValues', values: [[]], readers: 'dashboards apply each of them' },
  { of: 'dashboard', field: 'containers', values: [[]], readers: 'dashboards show each of them' },
  { of: 'alert', field: 'scheduleOffsetMinutes', values: [0, null], readers: 'the alert task takes 0 for null and undefined' },
  { of: 'alert', field: 'scheduleStartAt', values: [null], readers: 'the alert task tests for null and undefined alike' },
  { of: 'alert', field: 'thresholdMax', values: [null], readers: 'the alert task reads it for ranges only' },
  { of: 'alert', field: 'numConsecutiveWindows', values: [null], readers: 'the alert task tests for null and undefined alike' },
  ...['name', 'message', 'note', 'groupBy', 'savedSearch', 'dashboard', 'tileId', 'executionErrors'].map(
    (field): Assumption => ({ of: 'alert', field, values: [null, []], readers: 'null and undefined alike' }),
  ),
]

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

function without(of: Assumption['of'], fields: Json, ...names: readonly string[]): Json {
  const isAssumed = (field: string, value: unknown): boolean =>
    assumptions.some((one) => one.of === of && one.field === field && one.values.some((assumed) => isSame(assumed, value)))
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([field, value]) => value !== undefined && !names.includes(field) && !isAssumed(field, value))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])

function meaningOfConfig(config: Json): Json {
  const { where, whereLanguage, select, ...rest } = config
  const language = typeof where === 'string' && where !== '' ? { whereLanguage } : {}
  const items = Array.isArray(select)
    ? { select: listOf(select).map((item) => without('series', withMetricValue(withCondition(item)))) }
    : { select }
  // A text has no source.
  const ignored = config.displayType === 'markdown' ? ['source'] : []
  return without('tile', { ...rest, where, ...language, ...items }, 'alert', ...ignored)
}

/** A language has no meaning without a condition. */
const withCondition = ({ aggConditionLanguage, ...item }: Json): Json => (item.aggCondition ? { ...item, aggConditionLanguage } : item)

/** Queries of metrics do not read the expression. The editor of the web app writes `Value`, and a template leaves it empty. */
const withMetricValue = (item: Json): Json =>
  item.metricName !== undefined && item.aggFn !== 'count' && item.valueExpression === '' ? { ...item, valueExpression: 'Value' } : item

export const meaningOfDashboard = (document: Json): Json =>
  without(
    'dashboard',
    {
      ...document,
      tags: withoutMarkerTags(document.tags).toSorted(),
      tiles: listOf(document.tiles).map(({ id: _, config, ...tile }) => ({
        ...without('tile', tile),
        config: meaningOfConfig(config as Json),
      })),
      filters: listOf(document.filters).map((filter) => without('filter', filter, 'id')),
      containers: listOf(document.containers).map((one) => without('container', one)),
    },
    ...noMeaning,
    'provisioned',
  )

/** Ids, times, and who wrote the document last. */
const noMeaning = ['_id', 'id', '__v', 'team', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy'] as const

/** `defaultSelects`: what a source shows in a search without a select, and the web app stores. */
function meaningOfSavedSearch(document: Json, defaultSelects: ReadonlyMap<string, string>): Json {
  const isDefault = document.select === defaultSelects.get(String(document.source))
  const tags = withoutMarkerTags(document.tags).toSorted()
  return without('saved search', { ...document, tags, ...(isDefault && { select: '' }) }, ...noMeaning)
}

interface AlertPlace {
  readonly names: ReadonlyMap<string, string>
  readonly tiles: ReadonlyMap<string, string>
}

const targetOf = ({ dashboard, tileId, savedSearch }: Json, { names, tiles }: AlertPlace): string =>
  savedSearch == null ? `${names.get(String(dashboard))}, ${tiles.get(`${dashboard} ${tileId}`)}` : String(names.get(String(savedSearch)))

function meaningOfAlert(document: Json): Json {
  const channel = ({ webhookId: _, ...one }: Json): Json => one
  const note =
    typeof document.note === 'string' && readTextMarker(document.note) ? withoutTextMarker(document.note).trimEnd() : document.note
  return without(
    'alert',
    {
      ...document,
      note: note === '' ? null : note,
      channel: channel(document.channel as Json),
      channels: listOf(document.channels).map(channel),
    },
    ...noMeaning,
    'dashboard',
    'tileId',
    'savedSearch',
  )
}

export type Dump = Readonly<Record<'dashboards' | 'savedsearches' | 'alerts', readonly Json[]>>

/** What one writer stored, by names that are the same for all writers. */
export interface Written {
  readonly objects: ReadonlyMap<string, Json>
  /** Names of alerts by their ids. */
  readonly alerts: ReadonlyMap<string, string>
  /** Configurations as they are stored. */
  readonly tiles: ReadonlyMap<string, Json>
}

export function writtenBy(ids: WrittenIds, dump: Dump, defaultSelects: ReadonlyMap<string, string>): Written {
  const dashboards = dump.dashboards.filter(({ _id }) => ids.dashboards.includes(String(_id)))
  const searches = dump.savedsearches.filter(({ _id }) => ids.savedSearches.includes(String(_id)))
  const place: AlertPlace = {
    names: new Map([...dashboards, ...searches].map(({ _id, name }) => [String(_id), String(name)])),
    tiles: new Map(dashboards.flatMap(({ _id, tiles }) => listOf(tiles).map(({ id }, i) => [`${_id} ${id}`, `tile ${i}`] as const))),
  }
  const alerts = dump.alerts.filter(({ dashboard, savedSearch }) => place.names.has(String(savedSearch ?? dashboard)))
  return {
    objects: new Map([
      ...dashboards.map((one) => [String(one.name), meaningOfDashboard(one)] as const),
      ...searches.map((one) => [String(one.name), meaningOfSavedSearch(one, defaultSelects)] as const),
      ...alerts.map((one) => [`alert on ${targetOf(one, place)}`, meaningOfAlert(one)] as const),
    ]),
    alerts: new Map(alerts.map((one) => [String(one._id), targetOf(one, place)])),
    tiles: new Map(
      dashboards.flatMap(({ name, tiles }) => listOf(tiles).map(({ config }, i) => [`${name}, tile ${i}`, config as Json] as const)),
    ),
  }
}

/** `path: one / other` for each difference. */
export function differencesOf(one: unknown, other: unknown, path = ''): readonly string[] {
  if (isSame(one, other)) return []
  const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null
  if (!isMap(one) || !isMap(other) || Array.isArray(one) !== Array.isArray(other))
    return [`${path}: ${JSON.stringify(one)} / ${JSON.stringify(other)}`]
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return keys.flatMap((key) => differencesOf(one[key], other[key], path === '' ? key : `${path}.${key}`))
}
