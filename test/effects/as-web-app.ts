// The documents that the editors of the web app send for the intents, and the requests in which they send them (source: packages/app of
// HyperDX 2.36: ChartUtils, ChartEditor/utils, ChartDisplaySettingsDrawer, DashboardFiltersModal, DBDashboardPage, DBSearchPage).
import { alertFields, containers, languageOf, placeOf, type References, withoutUndefined } from './as-declared.ts'
import type { ChartIntent, DashboardIntent, DisplaySettings, Intents, SearchObjectIntent, Series, TileIntent } from './intents.ts'
import type { Json } from './product.ts'

/** A new tile, before somebody edits it. */
const newTile = { where: '', whereLanguage: 'lucene', granularity: 'auto', alignDateRangeToGranularity: true }

const item = ({ aggFn, valueExpression, level, alias, condition, metric, isImported }: Series): Json =>
  withoutUndefined({
    aggFn,
    aggCondition: condition.text,
    aggConditionLanguage: condition.text === '' ? 'lucene' : condition.language,
    valueExpression: isImported && metric !== undefined ? '' : valueExpression,
    level,
    alias,
    metricName: metric?.name,
    metricType: metric?.type,
  })

/** The drawer of display settings writes all of them, once somebody uses it. */
function settingsOf(settings: DisplaySettings): Json {
  if (Object.values(settings).every((value) => value === undefined)) return {}
  return withoutUndefined({
    alignDateRangeToGranularity: settings.alignDateRangeToGranularity ?? true,
    fillNulls: settings.fillNulls === false ? false : 0,
    compareToPreviousPeriod: settings.compareToPreviousPeriod ?? false,
    fitYAxisToData: settings.fitYAxisToData ?? false,
    groupByColumnsOnLeft: settings.groupByColumnsOnLeft ?? false,
    alternateRowBackground: false,
    seriesLimit: settings.seriesLimit ?? null,
    color: settings.color,
  })
}

const combinations: Readonly<Record<ChartIntent['combination'], Json>> = {
  none: {},
  ratio: { seriesReturnType: 'ratio' },
  formula: { formulas: [{ expression: 'A / B', alias: 'rate' }] },
  'formula only': { formulas: [{ expression: 'A / (A + B)' }], showOperandSeries: false },
}

function chart(tile: ChartIntent, source: string): Json {
  const hasFormula = tile.combination.startsWith('formula')
  return withoutUndefined({
    ...newTile,
    name: tile.name,
    source,
    displayType: tile.displayType,
    select: tile.series.map(item),
    groupBy: tile.groupBy,
    orderBy: tile.orderBy,
    having: tile.having,
    ...combinations[tile.combination],
    ...(tile.displayType === 'number' && hasFormula && { showOperandSeries: false }),
    ...settingsOf(tile.settings),
    onClick: tile.link && {
      type: 'search',
      target: { mode: 'template', template: tile.link.template },
      ...(tile.link.condition.text !== '' && { whereTemplate: tile.link.condition.text }),
      whereLanguage: tile.link.condition.language,
    },
  })
}

const filtered = ({ text, language }: SearchObjectIntent['condition']): Json => ({
  where: text,
  whereLanguage: text === '' ? 'lucene' : language,
})

function config(tile: TileIntent, { sources, connection }: References): Json {
  const source = sources[tile.source]
  const { name } = tile
  switch (tile.kind) {
    case 'chart':
      return chart(tile, source)
    case 'search':
      return { ...newTile, name, source, displayType: tile.displayType, select: tile.select, ...filtered(tile.condition) }
    case 'heatmap':
      return {
        ...newTile,
        name,
        source,
        displayType: 'heatmap',
        select: [
          withoutUndefined({
            aggFn: 'count',
            aggCondition: '',
            aggConditionLanguage: 'lucene',
            valueExpression: tile.valueExpression,
            countExpression: 'count()',
            heatmapScaleType: tile.scale,
          }),
        ],
        numberFormat: { output: 'duration', factor: 0.001 },
        ...filtered(tile.condition),
      }
    case 'markdown':
      return { ...newTile, name, source, displayType: 'markdown', markdown: tile.markdown, select: [] }
    case 'sql': {
      const { alignDateRangeToGranularity, fillNulls } = tile.settings
      return withoutUndefined({
        configType: 'sql',
        name,
        displayType: tile.displayType,
        granularity: 'auto',
        alignDateRangeToGranularity: alignDateRangeToGranularity ?? true,
        fillNulls: fillNulls === undefined ? undefined : fillNulls ? 0 : false,
        sqlTemplate: tile.template,
        connection,
        source: tile.hasSource ? source : undefined,
      })
    }
  }
}

/** Ids that the web app gives to parts of a dashboard, or those that they have already. */
interface PartIds {
  readonly tiles: readonly string[]
  readonly filters: readonly string[]
}

const newIds = (intent: DashboardIntent): PartIds => ({
  tiles: intent.tiles.map(() => crypto.randomUUID().slice(0, 8)),
  filters: intent.filters.map(() => crypto.randomUUID()),
})

function toDashboard(intent: DashboardIntent, references: References, ids: PartIds): Json {
  const query = languageOf(intent.query)
  return {
    name: intent.name,
    tags: intent.tags,
    tiles: intent.tiles.map((tile, i) =>
      withoutUndefined({
        id: ids.tiles[i],
        ...placeOf(i),
        containerId: tile.container?.id,
        tabId: tile.container?.tab,
        config: withoutUndefined({
          ...config(tile, references),
          alert: tile.alert && { ...alertFields(tile.alert), channels: [{ type: 'webhook', webhookId: references.webhook }] },
        }),
      }),
    ),
    filters: intent.filters.map((filter, i) =>
      withoutUndefined({
        id: ids.filters[i],
        type: 'QUERY_EXPRESSION',
        name: filter.name,
        expression: filter.expression,
        source: references.sources[filter.source],
        where: filter.condition.text || undefined,
        whereLanguage: languageOf(filter.condition),
        isBroadcastEnabled: true,
        isVariableEnabled: filter.isVariable,
        variableName: filter.isVariable ? filter.name : undefined,
      }),
    ),
    savedQuery: query === undefined ? null : intent.query.text,
    savedQueryLanguage: query ?? null,
    savedFilterValues: intent.filterValues.map((condition) => ({ type: 'sql', condition })),
    ...(intent.hasContainers && { containers }),
  }
}

/** What the web app exports, which has no alerts. `references` has names in place of ids. */
export function toExport(intent: DashboardIntent, references: References): Json {
  const { tiles, ...document } = toDashboard(intent, references, newIds(intent))
  const withoutAlerts = (tiles as readonly Json[]).map(({ config, ...tile }) => {
    const { alert: _, ...chart } = config as Json
    return { ...tile, config: chart }
  })
  return { version: '0.1.0', ...document, tiles: withoutAlerts }
}

/** `defaultSelects`: what a source shows in a search without a select; the web app stores it. */
const toSavedSearch = (intent: SearchObjectIntent, { sources }: References, defaultSelects: ReadonlyMap<string, string>): Json => ({
  name: intent.name,
  select: intent.select || defaultSelects.get(sources[intent.source]) || '',
  ...filtered(intent.condition),
  source: sources[intent.source],
  orderBy: intent.orderBy,
  filters: intent.filters.map((condition) => ({ type: 'sql', condition })),
  tags: intent.tags,
})

export interface StoredDashboard extends Json {
  readonly _id: string
  readonly tiles: readonly (Json & { readonly id: string })[]
  readonly filters: readonly (Json & { readonly id: string })[]
}

/** Objects of one writer, in the order of the intents. */
export interface WrittenIds {
  readonly dashboards: readonly string[]
  readonly savedSearches: readonly string[]
}

export interface WebApp {
  create(intents: Intents, references: References): Promise<WrittenIds>
  update(intents: Intents, references: References, ids: WrittenIds): Promise<void>
  /** Stores a dashboard as it is given, as an import does. Returns its id. */
  importDashboard(dashboard: Json): Promise<string>
  /** Saves a dashboard as after any edit: with everything that is stored. Returns the status, and the answer if it is an error. */
  saveAgain(dashboardId: string): Promise<string>
}

/** A session of the web app with its own API. */
export function openWebApp(url: string, cookie: string, defaultSelects: ReadonlyMap<string, string>): WebApp {
  const send = async (method: string, path: string, body?: Json): Promise<Response> =>
    fetch(`${url}/${path}`, {
      method,
      headers: { 'content-type': 'application/json', cookie },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const ask = async (method: string, path: string, body?: Json): Promise<Json> => {
    const response = await send(method, path, body)
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}\n${JSON.stringify(body)}`)
    return (await response.json()) as Json
  }
  const find = async (id: string): Promise<StoredDashboard> => {
    const found = ((await ask('GET', 'dashboards')) as unknown as readonly StoredDashboard[]).find(({ _id }) => _id === id)
    if (found === undefined) throw new Error(`the web app does not show the dashboard ${id}`)
    return found
  }
  const alertOn = (savedSearchId: string, { alert }: SearchObjectIntent, { webhook }: References): Json | undefined =>
    alert && {
      ...alertFields(alert),
      source: 'saved_search',
      savedSearchId,
      groupBy: alert.groupBy,
      channels: [{ type: 'webhook', webhookId: webhook }],
    }
  return {
    async create({ dashboards, savedSearches }, references) {
      const ids = { dashboards: [] as string[], savedSearches: [] as string[] }
      for (const intent of dashboards) ids.dashboards.push(await this.importDashboard(toDashboard(intent, references, newIds(intent))))
      for (const intent of savedSearches) {
        const id = String((await ask('POST', 'saved-search', toSavedSearch(intent, references, defaultSelects)))._id)
        ids.savedSearches.push(id)
        const alert = alertOn(id, intent, references)
        if (alert !== undefined) await ask('POST', 'alerts', alert)
      }
      return ids
    },
    async update({ dashboards, savedSearches }, references, ids) {
      for (const [i, intent] of dashboards.entries()) {
        const id = ids.dashboards[i] ?? ''
        const { tiles, filters } = await find(id)
        const known = { tiles: tiles.map((tile) => tile.id), filters: filters.map((filter) => filter.id) }
        await ask('PATCH', `dashboards/${id}`, { id, ...toDashboard(intent, references, known) })
      }
      const alerts = ((await ask('GET', 'alerts')).data ?? []) as readonly (Json & { readonly _id: string })[]
      for (const [i, intent] of savedSearches.entries()) {
        const id = ids.savedSearches[i] ?? ''
        await ask('PATCH', `saved-search/${id}`, { id, ...toSavedSearch(intent, references, defaultSelects) })
        const known = alerts.find(({ savedSearchId }) => savedSearchId === id)
        const alert = alertOn(id, intent, references)
        if (known !== undefined && alert !== undefined) await ask('PUT', `alerts/${known._id}`, { id: known._id, ...alert })
      }
    },
    importDashboard: async (dashboard) => String((await ask('POST', 'dashboards', dashboard))._id),
    async saveAgain(id) {
      const { _id, ...stored } = await find(id)
      const response = await send('PATCH', `dashboards/${id}`, { ...stored, id })
      return response.ok ? String(response.status) : `${response.status}: ${(await response.text()).slice(0, 2000)}`
    },
  }
}
