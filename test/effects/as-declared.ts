// The file that declares the intents. A language or a setting that was not chosen is left out.
import type {
  AlertIntent,
  ChartIntent,
  Condition,
  DashboardIntent,
  Intents,
  Language,
  SearchObjectIntent,
  Series,
  SourceKind,
  TileIntent,
} from './intents.ts'
import type { Json } from './product.ts'

export interface References {
  readonly sources: Readonly<Record<SourceKind, string>>
  readonly connection: string
  readonly webhook: string
}

/** Ids of existing objects to adopt, by their keys in the file. */
export type AdoptedIds = ReadonlyMap<string, string>

export const containers: readonly Json[] = [
  { id: 'top', title: 'Top', collapsed: false },
  {
    id: 'tabs',
    title: 'Tabs',
    collapsed: true,
    tabs: [
      { id: 'first', title: 'First' },
      { id: 'second', title: 'Second' },
    ],
  },
]

export const placeOf = (index: number) => ({ x: 0, y: index * 6, w: 12, h: 6 })

const isRange = ({ thresholdType }: AlertIntent): boolean => thresholdType.endsWith('between')

/** The fields that a file and the web app have in common. */
export const alertFields = (alert: AlertIntent): Json =>
  withoutUndefined({
    name: alert.name,
    threshold: alert.threshold,
    thresholdMax: isRange(alert) ? alert.thresholdMax : undefined,
    thresholdType: alert.thresholdType,
    interval: alert.interval,
    numConsecutiveWindows: alert.consecutive,
    message: alert.message,
    note: alert.note,
  })

export const withoutUndefined = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const filtered = ({ text, language, isStated }: Condition, field = 'where'): Json =>
  text === '' ? {} : { [field]: text, ...(isStated && { whereLanguage: language }) }

const item = (series: Series): Json =>
  withoutUndefined({
    aggFn: series.aggFn,
    valueExpression: series.valueExpression === '' ? undefined : series.valueExpression,
    level: series.level,
    alias: series.alias,
    ...filtered(series.condition),
    metricName: series.metric?.name,
    metricType: series.metric?.type,
  })

const combinations: Readonly<Record<ChartIntent['combination'], Json>> = {
  none: {},
  ratio: { asRatio: true },
  formula: { formulas: [{ expression: 'A / B', alias: 'rate' }] },
  'formula only': { formulas: [{ expression: 'A / (A + B)' }], showOperandSeries: false },
}

function chart(tile: ChartIntent, sourceId: string): Json {
  const { seriesLimit, ...settings } = tile.settings
  const isRanked = tile.displayType === 'pie' || tile.displayType === 'bar'
  const { showOperandSeries, ...combination } = combinations[tile.combination]
  return withoutUndefined({
    displayType: tile.displayType,
    sourceId,
    select: tile.series.map(item),
    groupBy: tile.groupBy,
    orderBy: tile.orderBy,
    having: tile.having,
    ...combination,
    // A number never shows its operands.
    showOperandSeries: tile.displayType === 'number' ? undefined : showOperandSeries,
    ...settings,
    ...(isRanked ? { limit: seriesLimit } : { seriesLimit }),
    onClick: tile.link && {
      type: 'search',
      target: { mode: 'template', template: tile.link.template },
      ...filtered(tile.link.condition, 'whereTemplate'),
    },
  })
}

function config(tile: TileIntent, { sources, connection }: References): Json {
  const sourceId = sources[tile.source]
  switch (tile.kind) {
    case 'chart':
      return chart(tile, sourceId)
    case 'search':
      return { displayType: tile.displayType, sourceId, select: tile.select, ...filtered(tile.condition) }
    case 'heatmap':
      return {
        displayType: 'heatmap',
        sourceId,
        select: [withoutUndefined({ valueExpression: tile.valueExpression, countExpression: 'count()', heatmapScaleType: tile.scale })],
        numberFormat: { output: 'duration', factor: 0.001 },
        ...filtered(tile.condition),
      }
    case 'markdown':
      return { displayType: 'markdown', markdown: tile.markdown }
    case 'sql':
      return withoutUndefined({
        configType: 'sql',
        displayType: tile.displayType,
        connectionId: connection,
        sqlTemplate: tile.template,
        sourceId: tile.hasSource ? sourceId : undefined,
        ...tile.settings,
      })
  }
}

const dashboard = (one: DashboardIntent, references: References): Json =>
  withoutUndefined({
    name: one.name,
    tags: one.tags,
    tiles: one.tiles.map((tile, i) =>
      withoutUndefined({
        name: tile.name,
        ...placeOf(i),
        containerId: tile.container?.id,
        tabId: tile.container?.tab,
        config: config(tile, references),
      }),
    ),
    filters: one.filters.map((filter) => ({
      name: filter.name,
      expression: filter.expression,
      sourceId: references.sources[filter.source],
      ...filtered(filter.condition),
      ...(filter.isVariable && { isVariableEnabled: true, variableName: filter.name }),
    })),
    ...(one.query.text !== '' && { savedQuery: one.query.text, ...(one.query.isStated && { savedQueryLanguage: one.query.language }) }),
    savedFilterValues: one.filterValues.map((condition) => ({ condition })),
    containers: one.hasContainers ? containers : undefined,
  })

const savedSearch = (one: SearchObjectIntent, { sources }: References): Json =>
  withoutUndefined({
    name: one.name,
    sourceId: sources[one.source],
    select: one.select || undefined,
    ...filtered(one.condition),
    orderBy: one.orderBy || undefined,
    filters: one.filters.map((condition) => ({ condition })),
    tags: one.tags,
  })

/** The content of the file. With ids, its objects adopt existing ones. */
export function toDeclarations({ dashboards, savedSearches }: Intents, references: References, adopted?: AdoptedIds): Json {
  const adopting = (key: string): Json => (adopted === undefined ? {} : { adopt: adopted.get(key) ?? `no id for ${key}` })
  const channel = { type: 'webhook', webhookId: references.webhook }
  const onTiles = dashboards.flatMap(({ tiles }, i) =>
    tiles.flatMap(({ alert, name }, j): (readonly [string, Json])[] =>
      alert === undefined ? [] : [[`d${i}-t${j}`, { ...alertFields(alert), dashboard: `d${i}`, tile: name, channel }]],
    ),
  )
  const onSearches = savedSearches.flatMap(({ alert }, i): (readonly [string, Json])[] =>
    alert === undefined
      ? []
      : [[`s${i}`, withoutUndefined({ ...alertFields(alert), savedSearch: `s${i}`, groupBy: alert.groupBy, channel })]],
  )
  const section = (objects: readonly (readonly [string, Json])[], prefix: string): Json =>
    Object.fromEntries(objects.map(([key, fields]) => [key, { ...fields, ...adopting(`${prefix}.${key}`) }]))
  return {
    dashboards: section(
      dashboards.map((one, i) => [`d${i}`, dashboard(one, references)]),
      'dashboards',
    ),
    savedSearches: section(
      savedSearches.map((one, i) => [`s${i}`, savedSearch(one, references)]),
      'savedSearches',
    ),
    alerts: section([...onTiles, ...onSearches], 'alerts'),
  }
}

/** What a user changes later: names, tags, thresholds and orders. */
export const changed = ({ dashboards, savedSearches }: Intents): Intents => ({
  dashboards: dashboards.map((one) => ({
    ...one,
    tags: [...one.tags, 'changed'],
    tiles: one.tiles.map((tile, i) => ({
      ...tile,
      ...(i === 0 && { name: `${tile.name} (renamed)` }),
      ...(tile.alert && { alert: { ...tile.alert, threshold: tile.alert.threshold + 1 } }),
    })),
  })),
  savedSearches: savedSearches.map((one) => ({
    ...one,
    orderBy: 'Timestamp ASC',
    ...(one.alert && { alert: { ...one.alert, threshold: one.alert.threshold + 1 } }),
  })),
})

export const languageOf = ({ text, language }: Condition): Language | undefined => (text === '' ? undefined : language)
