import fc from 'fast-check'
import { parse, stringify } from 'yaml'
import type { Alert, Channel, Connection, Dashboard, JsonObject, SavedSearch, Service, Source, Tile } from '../../src/emulator/index.ts'
import { type DashboardFields, expandDashboard } from '../../src/kinds/dashboard/dashboard-file.ts'
import { escapeExpressions } from '../../src/platform/documents/expressions.ts'

// Random words and fields: names that people use, and texts that are hard to write to YAML.

/** Names that need quotes or escapes in YAML. */
export const awkwardNames = [
  'Errors',
  'Errors ',
  'errors',
  'Überlast',
  '障害',
  'a: b',
  '# not a comment',
  '- item',
  'yes',
  '404',
  '1e3',
  'null',
  'it\'s "quoted"',
  '{ a: 1 }',
  '[x](y)',
  '*alias',
  '&anchor',
  '!tag',
  '%directive',
  '::error::x',
  'two\nlines',
  'tab\there',
  'bell\u0007',
  '\u202egnp.exe',
  'con',
  '../../etc/passwd',
  'a'.repeat(200),
  '---',
  '<<',
] as const

export const name = fc.constantFrom(...awkwardNames)

export const text = fc.oneof(
  name,
  fc.constantFrom(
    'level:error',
    "ServiceName:'x' AND y",
    'count() DESC',
    'Look\n\n1. first\n2. second\n',
    ' leading',
    'trailing \nline',
    '\n\nx\n\n',
  ),
  fc.string({ maxLength: 30 }),
  fc.constantFrom('‹ ServiceName }}', '$‹', '‹ not closed').map((one) => one.replace('‹', () => `$${'{{'}`)),
)

export const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

/** Without what is undefined, as JSON has it. */
const made = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(fields).map((value) => Object.fromEntries(Object.entries(value as object).filter(([, item]) => item !== undefined)) as T)

/** What this tool has never heard of, now and then. */
export const novel = fc.option(fc.constantFrom<unknown>('x', 1, true, { deep: [1, { a: null }] }), { nil: undefined, freq: 6 })

export const never = fc.constant(undefined)

export const flag = some(fc.boolean())

// Tiles made at random: every display type, with every optional field that the API has for it, in combinations that the server accepts.

interface ServiceContext extends Pick<Service, 'sources'> {
  readonly connections: readonly Pick<Connection, 'id'>[]
  /** Whether there are fields that only a newer server knows. */
  readonly isNewer: boolean
}

const ofKind = (sources: readonly Source[], ...kinds: readonly string[]) =>
  fc.constantFrom(...sources.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id))

const language = fc.constantFrom('lucene', 'sql')
const count = some(fc.nat(9))
const color = fc.constantFrom('chart-red', 'chart-blue', 'chart-success', 'chart-light-blue')

const numberFormat = some(
  made<JsonObject>({
    output: fc.constantFrom('currency', 'percent', 'byte', 'time', 'number', 'data_rate', 'throughput', 'duration'),
    mantissa: some(fc.nat(4)),
    thousandSeparated: flag,
    average: flag,
    decimalBytes: flag,
    factor: some(fc.constantFrom(1, 0.001, 1e9)),
    currencySymbol: some(fc.constantFrom('€', '')),
    numericUnit: some(fc.constantFrom('bytes_iec', 'gigabits_sec', 'rpm_reads')),
    unit: some(fc.constantFrom('req', '')),
  }),
)

const selectItem = ({ isNewer }: ServiceContext) => {
  const common = {
    alias: some(text),
    where: some(text),
    whereLanguage: some(language),
    metricName: some(fc.constantFrom('queue.size', '')),
    metricType: some(fc.constantFrom('sum', 'gauge', 'histogram', 'summary', 'exponential histogram')),
    periodAggFn: some(fc.constant('delta')),
    numberFormat,
    novel: isNewer ? novel : never,
  }
  return fc.oneof(
    made<JsonObject>({ ...common, aggFn: fc.constant('count') }),
    made<JsonObject>({
      ...common,
      aggFn: fc.constantFrom('avg', 'count_distinct', 'increase', 'last_value', 'max', 'min', 'sum', 'any', 'none'),
      valueExpression: fc.constantFrom('Duration', 'x + 1'),
    }),
    made<JsonObject>({
      ...common,
      aggFn: fc.constant('quantile'),
      valueExpression: fc.constant('Duration'),
      level: some(fc.constantFrom(0.5, 0.9, 0.95, 0.99)),
    }),
  )
}

/** Several series, and what is computed from them. */
const combined = (context: ServiceContext) => {
  const item = selectItem(context)
  const two = fc.tuple(item, item)
  return fc.oneof(
    made<JsonObject>({
      select: fc.array(item, { minLength: 1, maxLength: 3 }),
      showOperandSeries: flag,
      asRatio: some(fc.constant(false)),
    }),
    made<JsonObject>({ select: two, asRatio: fc.constant(true), formulas: some(fc.constant([])) }),
    made<JsonObject>({
      select: two,
      formulas: fc.array(
        made<JsonObject>({ expression: fc.constantFrom('A / B', '(A + B) * 100', '-A'), alias: some(text), numberFormat }),
        { minLength: 1, maxLength: 3 },
      ),
      showOperandSeries: flag,
    }),
  )
}

const colorRule = made<JsonObject>({
  operator: fc.constantFrom('gt', 'gte', 'lt', 'lte', 'eq', 'neq'),
  value: fc.constantFrom(5, 0, -1.5),
  color,
  label: some(fc.constantFrom('x', '')),
})
const rangeRule = made<JsonObject>({ operator: fc.constant('between'), value: fc.constant([1, 2]), color })
const textRule = made<JsonObject>({ operator: fc.constantFrom('eq', 'neq'), value: fc.constantFrom('', 'down'), color })

const onClick = ({ sources }: ServiceContext) => {
  const template = fc.constant({ mode: 'template', template: '{{ServiceName}}' })
  const link = {
    whereTemplate: some(text),
    whereLanguage: some(language),
    filters: some(fc.constantFrom([], [{ kind: 'expressionTemplate', expression: 'a', template: '{{b}}' }])),
  }
  return some(
    fc.oneof(
      made<JsonObject>({
        type: fc.constant('search'),
        target: fc.oneof(
          ofKind(sources, 'log', 'trace').map((id) => ({ mode: 'id', id })),
          template,
        ),
        ...link,
      }),
      made<JsonObject>({ type: fc.constant('dashboard'), target: template, ...link }),
      made<JsonObject>({ type: fc.constant('external'), urlTemplate: fc.constant('https://x.example/{{a}}') }),
    ),
  )
}

const overTime = { alignDateRangeToGranularity: flag, fillNulls: flag }
const asLine = { ...overTime, fitYAxisToData: flag, compareToPreviousPeriod: flag }

function builderConfig(context: ServiceContext): fc.Arbitrary<JsonObject> {
  const { sources, isNewer } = context
  const sourceId = ofKind(sources, 'log', 'trace', 'metric')
  const show = (displayType: string, fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
    made<JsonObject>({ displayType: fc.constant(displayType), sourceId, ...fields })
  const series = (displayType: string, fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
    fc
      .tuple(show(displayType, { groupBy: some(text), numberFormat, ...fields }), combined(context))
      .map(([own, rest]) => ({ ...own, ...rest }))
  const one = fc.tuple(selectItem(context))
  const ranked = { select: one, groupBy: some(text), orderBy: some(text), limit: count, numberFormat }
  const filtered = { where: some(text), whereLanguage: some(language) }
  const number = {
    numberFormat,
    color: some(color),
    colorRules: some(fc.array(fc.oneof(colorRule, rangeRule, textRule), { maxLength: 2 })),
    backgroundChart: some(made<JsonObject>({ type: fc.constantFrom('line', 'area'), color: some(color) })),
  }
  return fc.oneof(
    series('line', { ...asLine, seriesLimit: count, novel: isNewer ? novel : never }),
    series('stacked_bar', { ...overTime, seriesLimit: count }),
    series('table', { having: some(text), orderBy: some(text), groupByColumnsOnLeft: flag, onClick: onClick(context) }),
    show('number', { ...number, select: one }),
    show('number', {
      ...number,
      select: fc.tuple(selectItem(context), selectItem(context)),
      formulas: fc.tuple(made<JsonObject>({ expression: fc.constant('A / B'), alias: some(text), numberFormat })),
    }),
    show('pie', ranked),
    show('bar', ranked),
    show('heatmap', {
      ...filtered,
      numberFormat,
      sourceId: ofKind(sources, 'trace'),
      select: fc.tuple(
        made<JsonObject>({
          valueExpression: fc.constant('Duration'),
          countExpression: some(fc.constantFrom('count()', '')),
          heatmapScaleType: some(fc.constantFrom('log', 'linear')),
        }),
      ),
    }),
    show('search', { select: fc.oneof(fc.constant(''), text), where: some(text), whereLanguage: language }),
    show('event_patterns', { select: some(text), ...filtered }),
    made<JsonObject>({ displayType: fc.constant('markdown'), markdown: some(text) }),
  )
}

function sqlConfig(context: ServiceContext): fc.Arbitrary<JsonObject> {
  const { sources, connections } = context
  const place = fc.oneof(
    fc.constantFrom(...connections.map(({ id }): JsonObject => ({ connectionId: id }))),
    fc.constantFrom(
      ...sources
        .filter(({ connection }) => connections.some(({ id }) => id === connection))
        .map(({ id, connection }): JsonObject => ({ connectionId: connection, sourceId: id })),
    ),
  )
  const show = (displayType: string, fields: Readonly<Record<string, fc.Arbitrary<unknown>>> = {}) =>
    fc
      .tuple(
        place,
        made<JsonObject>({
          displayType: fc.constant(displayType),
          configType: fc.constant('sql'),
          sqlTemplate: fc.oneof(text, fc.constant('SELECT $__timeInterval(ts) t, count() FROM x GROUP BY t')),
          numberFormat,
          ...fields,
        }),
      )
      .map(([where, own]) => ({ ...own, ...where }))
  return fc.oneof(
    // Strict gateways refuse a seriesLimit here: it is in no document yet.
    show('line', asLine),
    show('stacked_bar', overTime),
    show('table', { onClick: onClick(context) }),
    show('number', { color: some(color) }),
    show('pie'),
    show('bar'),
  )
}

const tileFor = (context: ServiceContext) =>
  made<Omit<Tile, 'id'> & { novel?: unknown }>({
    name: fc.oneof({ weight: 5, arbitrary: name }, { weight: 1, arbitrary: fc.constant('') }),
    x: fc.nat(23),
    y: fc.nat(30),
    w: fc.integer({ min: 1, max: 24 }),
    h: fc.integer({ min: 1, max: 9 }),
    config: fc.oneof({ weight: 3, arbitrary: builderConfig(context) }, { weight: 1, arbitrary: sqlConfig(context) }),
    novel: context.isNewer ? novel : never,
  })

/** Whether the server accepts an alert on such a tile, and keeps it. */
const carriesAlerts = ({ displayType, configType, sqlTemplate }: JsonObject): boolean =>
  displayType === 'number' ||
  ((displayType === 'line' || displayType === 'stacked_bar') && (configType !== 'sql' || String(sqlTemplate).includes('$__timeInterval')))

// Dashboards, saved searches and alerts as a service may have them, made at random.

const objectId = (n: number): string => n.toString(16).padStart(24, 'e')

const filterFor = (sources: readonly string[]) => {
  const common = {
    type: fc.constant('QUERY_EXPRESSION'),
    name: text.filter((one) => one !== ''),
    expression: text.filter((one) => one !== ''),
    sourceId: fc.constantFrom(...sources),
    sourceMetricType: some(fc.constant('gauge')),
    where: some(text),
    whereLanguage: some(language),
  }
  const broadcast = {
    isBroadcastEnabled: some(fc.constant(true)),
    appliesToSourceIds: some(fc.uniqueArray(fc.constantFrom(...sources))),
  }
  const variable = { isVariableEnabled: fc.constant(true), variableName: fc.constantFrom('env', 'Region2', 'a_b') }
  return fc.oneof(
    made<JsonObject>({ ...common, ...broadcast, isVariableEnabled: some(fc.constant(false)) }),
    made<JsonObject>({ ...common, ...variable, isBroadcastEnabled: flag }),
    made<JsonObject>({ ...common, ...broadcast, ...variable }),
  )
}

const savedFilterValue = fc.constantFrom<JsonObject>({ condition: 'a = 1' }, { type: 'sql', condition: '' })

const container = fc.constantFrom<JsonObject>(
  { id: 'c1', title: 'Top', collapsed: false, collapsible: true, bordered: true },
  { id: 'c2', title: 'More', collapsed: true, bordered: false, tabs: [{ id: 't', title: 'T' }] },
  { id: 'c3', title: 'Last', collapsed: false, collapsible: false, tabs: [] },
)

const query = fc.constantFrom(
  { savedQuery: null, savedQueryLanguage: null },
  { savedQuery: 'level:error', savedQueryLanguage: 'lucene' },
  { savedQuery: 'a = 1', savedQueryLanguage: 'sql' },
  { savedQuery: '', savedQueryLanguage: 'sql' },
)

type Draft<T> = Omit<T, 'id'> & { readonly novel?: unknown }
type DashboardDraft = Draft<Omit<Dashboard, 'tiles' | 'filters'>> & { tiles: Omit<Tile, 'id'>[]; filters: JsonObject[] }

const dashboardFor = (context: ServiceContext, otherTags: readonly string[] = []): fc.Arbitrary<DashboardDraft> =>
  fc
    .tuple(
      query,
      fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }),
      fc.boolean(),
      made<Omit<DashboardDraft, 'savedQuery' | 'savedQueryLanguage'>>({
        name,
        tags: fc.uniqueArray(fc.constantFrom('shop', 'a b', 'x,y', 'true', ...otherTags), { maxLength: 3 }),
        tiles: fc.array(tileFor(context), { maxLength: 4 }),
        filters: fc.uniqueArray(filterFor(context.sources.map(({ id }) => id)), {
          maxLength: 2,
          selector: ({ variableName }) => variableName ?? Symbol('none'),
        }),
        savedFilterValues: fc.array(savedFilterValue, { maxLength: 2 }),
        containers: fc.uniqueArray(container, { maxLength: 2, selector: ({ id }) => id }),
        novel: context.isNewer ? novel : never,
      }),
    )
    .map(([search, choices, isOrderly, draft]) => {
      const tiles = draft.tiles.map((tile, i) => ({ ...tile, ...placeIn(draft.containers[choices[i] ?? 0]) }))
      return { ...draft, ...search, tiles: isOrderly ? withOrderlyPlaces(tiles) : tiles }
    })

/** Places that follow from the order of the tiles, so that a file needs none. */
function withOrderlyPlaces(tiles: readonly Omit<Tile, 'id'>[]): Omit<Tile, 'id'>[] {
  const withoutPlaces = tiles.map(({ x: _, y: __, w: ___, h, ...tile }) => ({ ...tile, ...(h > 6 && { h }) }))
  const { value } = expandDashboard({ name: '', tiles: withoutPlaces } as unknown as DashboardFields)
  return tiles.map((tile, i) => {
    const { x = 0, y = 0, w = 1, h = 1 } = value.tiles[i] ?? {}
    return { ...tile, x, y, w, h }
  })
}

/** In its last tab, where it has one. */
function placeIn(box: JsonObject | undefined): Pick<Tile, 'containerId' | 'tabId'> {
  if (box === undefined) return {}
  const tab = ((box.tabs ?? []) as readonly { readonly id: string }[]).at(-1)
  return { containerId: String(box.id), ...(tab && { tabId: tab.id }) }
}

type SavedSearchDraft = Draft<SavedSearch>

const savedSearchFor = ({ sources, isNewer }: ServiceContext) =>
  made<SavedSearchDraft>({
    name,
    sourceId: fc.constantFrom(...sources.map(({ id }) => id)),
    select: some(text),
    where: some(text),
    whereLanguage: some(language),
    orderBy: some(text),
    tags: some(fc.constantFrom([], ['shop'])),
    filters: some(
      fc.array(
        fc.constantFrom<JsonObject>(
          { type: 'sql', condition: "level IN ('error', 'it''s')" },
          { type: 'sql', condition: 'duration BETWEEN 1 AND 2.5' },
          { type: 'sql', condition: "a.b NOT IN ('')" },
        ),
        { maxLength: 2 },
      ),
    ),
    novel: isNewer ? novel : never,
  } as never)

interface AlertDraft {
  readonly target: number
  readonly fields: Partial<Alert>
  readonly onSearch: boolean
}

const alertFor = (webhooks: readonly string[], { isNewer }: AlertOptions): fc.Arbitrary<AlertDraft> => {
  const channels = fc
    .uniqueArray(fc.constantFrom(...webhooks), { minLength: 1, maxLength: 2 })
    .map((ids) => ids.map((webhookId): Channel => ({ type: 'webhook', webhookId })))
  const ranges = fc.record({
    thresholdType: fc.constantFrom('between', 'not_between'),
    threshold: fc.constant(1),
    thresholdMax: fc.constantFrom(1, 3),
  })
  const sides = fc.record({
    thresholdType: fc.constantFrom('above', 'below', 'above_exclusive', 'below_or_equal', 'equal', 'not_equal'),
    threshold: fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: -1e9, max: 1e9 }).map((one) => one / 1000),
    ),
  })
  const words = fc.option(text.filter((one) => one !== ''))
  const schedule = fc.constantFrom<Partial<Alert>>(
    {},
    { scheduleStartAt: null },
    { scheduleOffsetMinutes: 0 },
    { interval: '1h', scheduleOffsetMinutes: 59 },
    { scheduleStartAt: '2026-01-31T06:00:00.000Z', scheduleOffsetMinutes: 0 },
  )
  return fc.record({
    target: fc.nat(99),
    onSearch: fc.boolean(),
    fields: fc
      .tuple(
        fc.oneof(sides, ranges),
        schedule,
        made<Partial<Alert>>({
          name,
          interval: fc.constantFrom('1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'),
          message: words,
          channels,
          note: words,
          numConsecutiveWindows: fc.constantFrom(null, 1, 3),
          groupBy: fc.constantFrom(null, 'ServiceName'),
          ...(isNewer && { novel }),
        } as never),
      )
      .map(([side, when, rest]) => ({ ...rest, ...side, ...when })),
  })
}

interface AlertOptions {
  /** Whether there are fields that only a newer server knows. */
  readonly isNewer: boolean
  /** Whether some dashboards have the ownership marker of another project. */
  readonly hasForeign?: boolean
}

export interface RandomService {
  readonly dashboards: Dashboard[]
  readonly savedSearches: SavedSearch[]
  readonly alerts: Alert[]
}

/** Objects for this service, whose sources, webhooks and first alert are the model. */
export function randomService(service: Service, wishes: AlertOptions): fc.Arbitrary<RandomService> {
  const {
    sources,
    connections,
    webhooks,
    alerts: [model],
  } = service
  if (model === undefined) throw new Error('the shop has no alerts')
  const { isNewer, hasForeign = false } = wishes
  const context = { sources, connections, isNewer }
  return fc
    .record({
      dashboards: fc.array(dashboardFor(context, hasForeign ? ['wk:0a1b2c:other:abcdef'] : []), { maxLength: 4 }),
      savedSearches: fc.array(savedSearchFor(context), { maxLength: 2 }),
      alerts: fc.array(
        alertFor(
          webhooks.map(({ id }) => id),
          wishes,
        ),
        { maxLength: 5 },
      ),
    })
    .map((drafts) => {
      let count = 0
      const nextId = (): string => objectId(++count)
      const dashboards = drafts.dashboards.map(
        (one): Dashboard => ({
          ...one,
          id: nextId(),
          tiles: one.tiles.map((tile) => ({ ...tile, id: nextId() })),
          filters: one.filters.map((filter) => ({ ...filter, id: nextId() })),
        }),
      )
      const savedSearches = drafts.savedSearches.map((one): SavedSearch => ({ ...one, id: nextId() }) as SavedSearch)
      const places = dashboards.flatMap(({ id, tiles }) =>
        tiles.filter(({ config }) => carriesAlerts(config)).map((tile) => ({ dashboardId: id, tileId: tile.id })),
      )
      const alerts = drafts.alerts.flatMap(({ target, fields, onSearch }): Alert[] => {
        const place = places[target % places.length]
        const search = savedSearches[target % savedSearches.length]
        const common = { ...model, note: null, numConsecutiveWindows: null, ...fields, id: nextId() }
        if (onSearch && search !== undefined)
          return [{ ...common, source: 'saved_search', dashboardId: null, tileId: null, savedSearchId: search.id }]
        return place === undefined ? [] : [{ ...common, source: 'tile', ...place, savedSearchId: null, groupBy: null }]
      })
      return { dashboards, savedSearches, alerts }
    })
}

// Files made at random: objects with every optional field that files can have, which refer to each other by key and by name.

export interface RandomFile {
  readonly dashboards: Readonly<Record<string, JsonObject>>
  readonly savedSearches: Readonly<Record<string, JsonObject>>
  readonly alerts: Readonly<Record<string, JsonObject>>
}

type FileContext = Pick<Service, 'sources' | 'webhooks' | 'connections'>

/** For a service with these sources, connections and webhooks. */
export function randomFile({ sources, webhooks, connections }: FileContext): fc.Arbitrary<RandomFile> {
  const context = { sources, connections, isNewer: false }
  const names = new Map(sources.map(({ id, name }) => [id, name]))
  const webhookNames = new Map(webhooks.map(({ id, name }) => [id, name]))
  const webhookIds = webhooks.map(({ id }) => id)
  return fc
    .record({
      dashboards: fc.array(dashboardFor(context), { minLength: 1, maxLength: 3 }),
      savedSearches: fc.array(savedSearchFor(context), { maxLength: 2 }),
      alerts: fc.array(alertFor(webhookIds, { isNewer: false }), { maxLength: 3 }),
      byName: fc.boolean(),
    })
    .map(({ byName, ...drafts }) => {
      const dashboards = keyed('dashboard', drafts.dashboards.map(declaredDashboard))
      const savedSearches = keyed('search', drafts.savedSearches.map(declaredSavedSearch))
      const places = Object.entries(dashboards).flatMap(([dashboard, { tiles }]) =>
        (tiles as readonly JsonObject[]).flatMap(({ name, config }) =>
          carriesAlerts(config as JsonObject) ? [{ dashboard, tile: name }] : [],
        ),
      )
      const alerts = drafts.alerts.flatMap(({ target, fields, onSearch }): JsonObject[] => {
        const search = Object.keys(savedSearches)[target % Math.max(1, drafts.savedSearches.length)]
        const { groupBy, ...rest } = declaredAlert(fields, byName ? webhookNames : undefined)
        if (onSearch && search !== undefined) return [{ ...rest, groupBy, savedSearch: search }]
        const place = places[target % places.length]
        return place === undefined ? [] : [{ ...rest, ...place }]
      })
      const file = { dashboards, savedSearches, alerts: keyed('alert', alerts) }
      return escapeExpressions(byName ? withNames(file, names) : file) as RandomFile
    })
}

const keyed = (prefix: string, items: readonly JsonObject[]): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(items.map((item, i) => [`${prefix}-${i}`, item]))

/** Tiles need names, and those with alerts need names of their own. */
const declaredDashboard = ({ tiles, ...draft }: DashboardDraft): JsonObject => ({
  ...draft,
  tiles: tiles.map(({ name, ...tile }, i) => ({ ...tile, name: `${name} ${i}` })),
})

const declaredSavedSearch = (draft: SavedSearchDraft): JsonObject => ({ ...draft, name: draft.name.trim() })

function declaredAlert({ channels = [], ...fields }: Partial<Alert>, names: ReadonlyMap<string, string> | undefined): JsonObject {
  const declared = channels.map((channel) =>
    names !== undefined && channel.type === 'webhook' ? { type: 'webhook', webhook: names.get(channel.webhookId) } : channel,
  )
  return { ...fields, ...(declared.length === 1 ? { channel: declared[0] } : { channels: declared }) }
}

/** Sources by their names instead of their ids. */
function withNames(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withNames(item, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, item]) => [field, field === 'sourceId' ? { source: names.get(item) } : withNames(item, names)]),
  )
}

// A later state of a service: the same objects, many of them with other fields.

/** The first service, with what the second one has in place of some of it, under the ids of the first. */
export function blend(first: RandomService, second: RandomService, choices: readonly number[]): RandomService {
  let at = 0
  const choose = (): number => choices[at++ % choices.length] ?? 0
  const pick = <T>(ones: readonly T[], others: readonly T[], mix: (one: T, other: T) => T): T[] =>
    ones.flatMap((one, i) => {
      const [choice, other] = [choose(), others[i % others.length]]
      if (choice === 0) return []
      return [other === undefined || choice < 3 ? one : mix(one, other)]
    })
  const dashboards = pick(first.dashboards, second.dashboards, (one, other) => {
    const tiles = other.tiles.map((tile, i) => ({ ...tile, id: one.tiles[i]?.id ?? tile.id.replace('e', 'f') }))
    return { ...other, id: one.id, tiles: [...tiles, ...one.tiles.slice(tiles.length)].filter(() => choose() > 0) }
  })
  const savedSearches = pick(first.savedSearches, second.savedSearches, (one, other) => ({ ...other, id: one.id }))
  const places = new Set([
    ...dashboards.flatMap(({ tiles }) => tiles.filter(({ config }) => carriesAlerts(config)).map(({ id }) => id)),
    ...savedSearches.map(({ id }) => id),
  ])
  const alerts = pick(first.alerts, second.alerts, (one, other) => {
    const { id, source, dashboardId, tileId, savedSearchId } = one
    return { ...other, id, source, dashboardId, tileId, savedSearchId }
  })
  // What hung on something that went, went with it.
  return { dashboards, savedSearches, alerts: alerts.filter(({ tileId, savedSearchId }) => places.has(tileId ?? savedSearchId ?? '')) }
}

// Formats declarations in ways that people use: indentation, quotes, brackets, comments, JSON.

export interface Spelling {
  readonly json: boolean
  readonly indent: number
  readonly indentSeq: boolean
  readonly flow: boolean
  readonly quotes: 'QUOTE_SINGLE' | 'QUOTE_DOUBLE' | 'PLAIN'
  readonly returns: boolean
  readonly isCommented: boolean
  /** Whether every tile has x, y, w and h, and containers are not rows. */
  readonly hasLongLayout: boolean
}

export const spelling: fc.Arbitrary<Spelling> = fc.record({
  json: fc.boolean(),
  indent: fc.constantFrom(2, 4, 3),
  indentSeq: fc.boolean(),
  flow: fc.boolean(),
  quotes: fc.constantFrom('QUOTE_SINGLE', 'QUOTE_DOUBLE', 'PLAIN'),
  returns: fc.boolean(),
  isCommented: fc.boolean(),
  hasLongLayout: fc.boolean(),
})

type Sections = Record<string, Record<string, Record<string, unknown>>>

export function respell(text: string, how: Spelling): string {
  const { $schema: _, ...value } = parse(text) as Sections
  if (how.hasLongLayout) Object.assign(value, { ...(value.dashboards && { dashboards: longLayouts(value.dashboards) }) })
  if (how.json) return JSON.stringify(value, null, how.indent)
  const spelt = stringify(value, {
    indent: how.indent,
    indentSeq: how.indentSeq,
    defaultStringType: how.quotes,
    defaultKeyType: 'PLAIN',
    lineWidth: 60,
    collectionStyle: how.flow ? 'flow' : 'any',
  })
  const commented = how.flow ? `# first\n${spelt}# last\n` : how.isCommented ? withComments(spelt) : spelt
  return how.returns ? commented.replaceAll('\n', '\r\n') : commented
}

const longLayouts = (dashboards: Sections[string]): Sections[string] =>
  Object.fromEntries(
    Object.entries(dashboards).map(([key, object]) => {
      const { rows: _, ...dashboard } = object
      const { value } = expandDashboard(object as unknown as DashboardFields)
      return [key, { ...dashboard, tiles: value.tiles, ...(value.containers !== undefined && { containers: value.containers }) }]
    }),
  )

/** A comment before and behind the key of every object. */
const withComments = (text: string): string =>
  text
    .split('\n')
    .flatMap((line, i, lines) => (isKey(line, lines[i - 1]) ? [`${/^ */.exec(line)?.[0]}# about ${i}`, `${line} # at ${i}`] : [line]))
    .join('\n')

const isKey = (line: string, before = ''): boolean =>
  /^ {2,4}[a-z0-9][a-z0-9._-]*:$/.test(line) && (/^\S/.test(before) || !/^ {4}/.test(line))

export const commentsIn = (text: string): readonly string[] => text.match(/# (?:about|at) \d+|# (?:first|last)/g) ?? []
