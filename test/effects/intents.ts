// What somebody wants on a dashboard, made at random: the same for a file and for the editor of the web app.
import fc from 'fast-check'

export type Language = 'lucene' | 'sql'

/** `isStated`: whether a file states the language; without one, it is Lucene (SQL in a filter). */
export interface Condition {
  readonly text: string
  readonly language: Language
  readonly isStated: boolean
}

export interface Series {
  readonly aggFn: string
  readonly valueExpression: string
  readonly level?: number | undefined
  readonly alias?: string | undefined
  readonly condition: Condition
  readonly metric?: { readonly name: string; readonly type: string } | undefined
  /** Whether the web app has it from a template, which leaves the value of a metric empty. */
  readonly isImported: boolean
}

export type SourceKind = 'log' | 'trace' | 'metric'

/** Undefined for what was not chosen. */
export interface DisplaySettings {
  readonly alignDateRangeToGranularity?: boolean | undefined
  readonly fillNulls?: boolean | undefined
  readonly compareToPreviousPeriod?: boolean | undefined
  readonly fitYAxisToData?: boolean | undefined
  readonly groupByColumnsOnLeft?: boolean | undefined
  readonly seriesLimit?: number | undefined
  readonly color?: string | undefined
}

interface CommonTile {
  readonly name: string
  readonly source: SourceKind
  readonly settings: DisplaySettings
  readonly container?: { readonly id: string; readonly tab?: string | undefined } | undefined
  readonly alert?: AlertIntent | undefined
}

export interface ChartIntent extends CommonTile {
  readonly kind: 'chart'
  readonly displayType: 'line' | 'stacked_bar' | 'table' | 'number' | 'pie' | 'bar'
  readonly series: readonly Series[]
  readonly groupBy?: string | undefined
  readonly orderBy?: string | undefined
  readonly having?: string | undefined
  readonly combination: 'none' | 'ratio' | 'formula' | 'formula only'
  readonly link?: { readonly template: string; readonly condition: Condition } | undefined
}

export interface SearchIntent extends CommonTile {
  readonly kind: 'search'
  readonly displayType: 'search' | 'event_patterns'
  readonly select: string
  readonly condition: Condition
}

export interface HeatmapIntent extends CommonTile {
  readonly kind: 'heatmap'
  readonly valueExpression: string
  readonly scale?: 'log' | 'linear' | undefined
  readonly condition: Condition
}

export interface TextIntent extends CommonTile {
  readonly kind: 'markdown'
  readonly markdown: string
}

export interface SqlIntent extends CommonTile {
  readonly kind: 'sql'
  readonly displayType: 'line' | 'stacked_bar' | 'table' | 'number' | 'pie' | 'bar'
  readonly template: string
  readonly hasSource: boolean
}

export type TileIntent = ChartIntent | SearchIntent | HeatmapIntent | TextIntent | SqlIntent

export interface FilterIntent {
  readonly name: string
  readonly expression: string
  readonly source: SourceKind
  readonly condition: Condition
  readonly isVariable: boolean
}

export interface AlertIntent {
  readonly threshold: number
  readonly thresholdMax: number
  readonly thresholdType: string
  readonly interval: string
  readonly consecutive?: number | undefined
  readonly name: string
  readonly message?: string | undefined
  readonly note?: string | undefined
}

export interface DashboardIntent {
  readonly name: string
  readonly tags: readonly string[]
  readonly tiles: readonly TileIntent[]
  readonly filters: readonly FilterIntent[]
  readonly query: Condition
  readonly filterValues: readonly string[]
  readonly hasContainers: boolean
}

export interface SearchObjectIntent {
  readonly name: string
  readonly source: 'log' | 'trace'
  readonly select: string
  readonly condition: Condition
  readonly orderBy: string
  readonly filters: readonly string[]
  readonly tags: readonly string[]
  readonly alert?: (AlertIntent & { readonly groupBy?: string | undefined }) | undefined
}

export interface Intents {
  readonly dashboards: readonly DashboardIntent[]
  readonly savedSearches: readonly SearchObjectIntent[]
}

const some = <T>(arbitrary: fc.Arbitrary<T>, freq = 2) => fc.option(arbitrary, { nil: undefined, freq })

const texts: Readonly<Record<SourceKind, Readonly<Record<Language, readonly string[]>>>> = {
  log: {
    lucene: [
      'SeverityText:error',
      'ServiceName:cart SeverityText:error',
      'ServiceName:"checkout"',
      'Body:declined',
      'NOT SeverityText:info',
      'SeverityText:(error OR fatal)',
      'ServiceName:c* AND Body:"request completed"',
      'LogAttributes.http.status_code:500',
      'declined',
    ],
    sql: [
      "SeverityText = 'error'",
      "ServiceName IN ('cart', 'payment')",
      "Body LIKE '%declined%'",
      "LogAttributes['http.status_code'] = '500'",
    ],
  },
  trace: {
    lucene: ['ServiceName:payment', 'StatusCode:Error', 'Duration:>150000000', 'SpanName:"/api/cart"', '-ServiceName:search'],
    sql: ["StatusCode = 'Error'", 'Duration > 150000000', "ServiceName != 'search' AND SpanKind = 'Server'"],
  },
  metric: {
    lucene: ['ServiceName:cart', 'ServiceName:"search"'],
    sql: ["ServiceName = 'cart'", "ServiceName IN ('cart', 'search')"],
  },
}

function conditionFor(source: SourceKind, standard: Language): fc.Arbitrary<Condition> {
  const of = (language: Language) =>
    fc.record({
      text: fc.constantFrom(...texts[source][language]),
      language: fc.constant(language),
      // A file has to state another language than the default.
      isStated: language === standard ? fc.boolean() : fc.constant(true),
    })
  const none = fc.record({ text: fc.constant(''), language: fc.constant(standard), isStated: fc.boolean() })
  return fc.oneof({ weight: 4, arbitrary: of('lucene') }, { weight: 2, arbitrary: of('sql') }, { weight: 1, arbitrary: none })
}

const values: Readonly<Record<'log' | 'trace', readonly string[]>> = {
  log: ['length(Body)', 'toUInt8(SeverityNumber)'],
  trace: ['Duration', 'Duration / 1000000'],
}

const metrics = [
  { name: 'cpu.utilization', type: 'gauge' },
  { name: 'http.server.requests', type: 'sum' },
  { name: 'http.server.duration', type: 'histogram' },
] as const

type Aggregation = Omit<Series, 'condition' | 'isImported' | 'alias'>

function aggregationFor(source: SourceKind): fc.Arbitrary<Aggregation> {
  if (source === 'metric') {
    const [gauge, sum, histogram] = metrics
    const on = (metric: (typeof metrics)[number], ...aggFns: readonly string[]) =>
      fc.constantFrom(...aggFns).map((aggFn) => ({ aggFn, valueExpression: aggFn === 'count' ? '' : 'Value', metric }))
    const quantile = fc.constantFrom(0.5, 0.95).map((level) => ({ aggFn: 'quantile', valueExpression: 'Value', level, metric: histogram }))
    return fc.oneof(on(gauge, 'avg', 'max', 'min', 'sum', 'last_value'), on(sum, 'sum', 'increase', 'max'), quantile)
  }
  const value = fc.constantFrom(...values[source])
  const distinct = { aggFn: 'count_distinct', valueExpression: source === 'log' ? 'ServiceName' : 'SpanName' }
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant<Aggregation>({ aggFn: 'count', valueExpression: '' }) },
    { weight: 4, arbitrary: fc.record({ aggFn: fc.constantFrom('avg', 'max', 'min', 'sum', 'any'), valueExpression: value }) },
    {
      weight: 2,
      arbitrary: fc.record({ aggFn: fc.constant('quantile'), valueExpression: value, level: fc.constantFrom(0.5, 0.9, 0.95, 0.99) }),
    },
    { weight: 1, arbitrary: fc.constant<Aggregation>(distinct) },
    { weight: 1, arbitrary: fc.constant<Aggregation>({ aggFn: 'none', valueExpression: 'count() / 2' }) },
  )
}

const seriesFor = (source: SourceKind, index: number): fc.Arbitrary<Series> =>
  fc
    .record({
      aggregation: aggregationFor(source),
      condition: conditionFor(source, 'lucene'),
      alias: some(fc.constant(`series ${index}`)),
      isImported: fc.boolean(),
    })
    .map(({ aggregation, ...rest }) => ({ ...aggregation, ...rest }))

const flag = some(fc.boolean())

const overTime = { alignDateRangeToGranularity: flag, fillNulls: flag, seriesLimit: some(fc.constantFrom(0, 5), 4) }

const settingsOf: Readonly<Record<string, fc.Arbitrary<DisplaySettings>>> = {
  line: fc.record({ ...overTime, compareToPreviousPeriod: flag, fitYAxisToData: flag }),
  stacked_bar: fc.record(overTime),
  table: fc.record({ groupByColumnsOnLeft: flag }),
  number: fc.record({ color: some(fc.constantFrom('chart-red', 'chart-green')) }),
  pie: fc.record({ seriesLimit: some(fc.constantFrom(3, 10)) }),
  bar: fc.record({ seriesLimit: some(fc.constantFrom(3, 10)) }),
}

const noSettings = fc.constant<DisplaySettings>({})

const alert: fc.Arbitrary<AlertIntent> = fc.record({
  threshold: fc.constantFrom(0, 1, 2, 5, 20, 100),
  thresholdMax: fc.constantFrom(200, 1000),
  thresholdType: fc.constantFrom(
    'above',
    'above',
    'below',
    'above_exclusive',
    'below_or_equal',
    'equal',
    'not_equal',
    'between',
    'not_between',
  ),
  interval: fc.constantFrom('1m', '5m', '5m', '15m'),
  consecutive: some(fc.constantFrom(1, 2), 4),
  name: fc.constantFrom('Errors', 'Slow', 'Quiet'),
  message: some(fc.constant('Look at the dashboard')),
  note: some(fc.constant('Call Ada.\n\nThen Grace.')),
})

type Place = Pick<CommonTile, 'name' | 'container'>

const groups: Readonly<Record<SourceKind, readonly string[]>> = {
  log: ['ServiceName', 'SeverityText'],
  trace: ['ServiceName', 'SpanName'],
  metric: ['ServiceName'],
}

function chartFor(place: Place): fc.Arbitrary<ChartIntent> {
  const displayTypes = fc.constantFrom('line', 'line', 'stacked_bar', 'number', 'number', 'table', 'pie', 'bar') as fc.Arbitrary<
    ChartIntent['displayType']
  >
  return fc
    .tuple(
      displayTypes,
      fc.constantFrom<SourceKind>('log', 'log', 'trace', 'metric'),
      fc.constantFrom('none', 'none', 'ratio', 'formula', 'formula only'),
    )
    .chain(([displayType, source, wanted]) => {
      // The API has no ratio of a number.
      const isPlain = ranked.includes(displayType) || (displayType === 'number' && wanted === 'ratio')
      const combination = isPlain ? 'none' : (wanted as ChartIntent['combination'])
      const isTable = displayType === 'table'
      const link = fc.record({ template: fc.constantFrom('Logs', 'Traces'), condition: conditionFor(source, 'lucene') })
      return fc.record<ChartIntent>({
        kind: fc.constant('chart'),
        name: fc.constant(place.name),
        container: fc.constant(place.container),
        source: fc.constant(source),
        displayType: fc.constant(displayType),
        series: seriesOf(displayType, source, combination),
        combination: fc.constant(combination),
        groupBy: only(displayType !== 'number', fc.constantFrom(...groups[source]), 2),
        orderBy: only(isTable || ranked.includes(displayType), fc.constant('count() DESC')),
        having: only(isTable, fc.constant('count() > 0')),
        settings: settingsOf[displayType] ?? noSettings,
        alert: only(alertable.includes(displayType), alert),
        link: only(isTable && source !== 'metric', link, 2),
      })
    })
}

const ranked: readonly string[] = ['pie', 'bar']
const alertable: readonly string[] = ['line', 'stacked_bar', 'number']

const only = <T>(condition: boolean, arbitrary: fc.Arbitrary<T>, freq = 4): fc.Arbitrary<T | undefined> =>
  condition ? some(arbitrary, freq) : fc.constant(undefined)

function seriesOf(displayType: string, source: SourceKind, combination: string): fc.Arbitrary<readonly Series[]> {
  const one = fc.tuple(seriesFor(source, 1)) as fc.Arbitrary<readonly Series[]>
  const two = fc.tuple(seriesFor(source, 1), seriesFor(source, 2)) as fc.Arbitrary<readonly Series[]>
  if (combination !== 'none') return two
  return ranked.includes(displayType) || displayType === 'number' ? one : fc.oneof(one, two)
}

const searchFor = (place: Place): fc.Arbitrary<SearchIntent> =>
  fc.constantFrom<SourceKind>('log', 'trace').chain((source) =>
    fc.record<SearchIntent>({
      kind: fc.constant('search'),
      name: fc.constant(place.name),
      container: fc.constant(place.container),
      source: fc.constant(source),
      displayType: fc.constantFrom('search', 'event_patterns'),
      select: fc.constantFrom(source === 'log' ? 'Timestamp, Body' : 'Timestamp, SpanName', 'ServiceName'),
      condition: conditionFor(source, 'lucene'),
      settings: noSettings,
    }),
  )

const heatmapFor = (place: Place): fc.Arbitrary<HeatmapIntent> =>
  fc.record<HeatmapIntent>({
    kind: fc.constant('heatmap'),
    name: fc.constant(place.name),
    container: fc.constant(place.container),
    source: fc.constant('trace'),
    valueExpression: fc.constant('Duration / 1000000'),
    scale: some(fc.constantFrom('log', 'linear')),
    condition: conditionFor('trace', 'lucene'),
    settings: noSettings,
  })

const textFor = (place: Place): fc.Arbitrary<TextIntent> =>
  fc.record<TextIntent>({
    kind: fc.constant('markdown'),
    name: fc.constant(place.name),
    container: fc.constant(place.container),
    source: fc.constant('log'),
    markdown: fc.constantFrom('# Runbook\n\nCall Ada.', 'Notes'),
    settings: noSettings,
  })

const templates: Readonly<Record<SqlIntent['displayType'], string>> = {
  line: "SELECT $__timeInterval(Timestamp) AS t, count() AS n FROM otel_logs WHERE $__timeFilter(Timestamp) AND SeverityText = 'error' GROUP BY t ORDER BY t",
  stacked_bar:
    'SELECT $__timeInterval(Timestamp) AS t, ServiceName, count() AS n FROM otel_logs WHERE $__timeFilter(Timestamp) GROUP BY t, ServiceName ORDER BY t',
  table: 'SELECT ServiceName, count() FROM otel_logs WHERE $__timeFilter(Timestamp) GROUP BY ServiceName',
  number: "SELECT count() FROM otel_logs WHERE $__timeFilter(Timestamp) AND SeverityText = 'error'",
  pie: 'SELECT ServiceName, count() FROM otel_logs GROUP BY ServiceName',
  bar: 'SELECT ServiceName, count() FROM otel_logs GROUP BY ServiceName',
}

const sqlFor = (place: Place): fc.Arbitrary<SqlIntent> =>
  fc.constantFrom(...(Object.keys(templates) as SqlIntent['displayType'][])).chain((displayType) => {
    const isOverTime = displayType === 'line' || displayType === 'stacked_bar'
    return fc.record<SqlIntent>({
      kind: fc.constant('sql'),
      name: fc.constant(place.name),
      container: fc.constant(place.container),
      source: fc.constant('log'),
      displayType: fc.constant(displayType),
      template: fc.constant(templates[displayType]),
      hasSource: fc.boolean(),
      // The editor drops the other settings of raw SQL.
      settings: isOverTime ? fc.record({ alignDateRangeToGranularity: flag, fillNulls: flag }) : noSettings,
      alert: isOverTime || displayType === 'number' ? some(alert) : fc.constant(undefined),
    })
  })

const filter: fc.Arbitrary<FilterIntent> = fc.constantFrom<SourceKind>('log', 'trace').chain((source) =>
  fc.record<FilterIntent>({
    name: fc.constantFrom('Service', 'Where'),
    expression: fc.constant('ServiceName'),
    source: fc.constant(source),
    condition: conditionFor(source, 'sql'),
    isVariable: fc.boolean(),
  }),
)

const containers = [{ id: 'top', tab: undefined }, { id: 'tabs', tab: 'first' }, { id: 'tabs', tab: 'second' }, undefined] as const

function dashboardFor(name: string): fc.Arbitrary<DashboardIntent> {
  return fc.tuple(fc.integer({ min: 3, max: 7 }), fc.boolean()).chain(([count, hasContainers]) => {
    const places = Array.from(
      { length: count },
      (_, i): Place => ({
        name: `${name} tile ${i}`,
        container: hasContainers ? containers[i % containers.length] : undefined,
      }),
    )
    const tiles = places.map((place) =>
      fc.oneof(
        { weight: 8, arbitrary: chartFor(place) as fc.Arbitrary<TileIntent> },
        { weight: 2, arbitrary: searchFor(place) },
        { weight: 1, arbitrary: heatmapFor(place) },
        { weight: 1, arbitrary: textFor(place) },
        { weight: 3, arbitrary: sqlFor(place) },
      ),
    )
    return fc.record<DashboardIntent>({
      name: fc.constant(name),
      tags: fc.constantFrom([], ['shop'], ['shop', 'a b']),
      tiles: fc.tuple(...tiles) as unknown as fc.Arbitrary<readonly TileIntent[]>,
      filters: fc.uniqueArray(filter, { maxLength: 2, selector: (one) => one.name }),
      query: conditionFor('log', 'lucene'),
      filterValues: fc.constantFrom([], ["ServiceName IN ('cart')"]),
      hasContainers: fc.constant(hasContainers),
    })
  })
}

const savedSearchFor = (name: string): fc.Arbitrary<SearchObjectIntent> =>
  fc.constantFrom<'log' | 'trace'>('log', 'trace').chain((source) =>
    fc.record<SearchObjectIntent>({
      name: fc.constant(name),
      source: fc.constant(source),
      select: fc.constantFrom('', 'Timestamp, ServiceName'),
      condition: conditionFor(source, 'lucene'),
      orderBy: fc.constantFrom('', 'Timestamp DESC'),
      filters: fc.constantFrom([], ["ServiceName IN ('cart', 'checkout')"]),
      tags: fc.constantFrom([], ['shop']),
      alert: some(
        fc.tuple(alert, some(fc.constantFrom(...groups[source]))).map(([one, groupBy]) => ({ ...one, groupBy })),
        8,
      ),
    }),
  )

/** The same for the same seed. */
export function createIntents(seed: number, count: number): Intents {
  const names = (noun: string, length: number): readonly string[] => Array.from({ length }, (_, i) => `${noun} ${i}`)
  const all = fc.record({
    dashboards: fc.tuple(...names('Dashboard', count).map(dashboardFor)),
    savedSearches: fc.tuple(...names('Search', Math.ceil(count / 2)).map(savedSearchFor)),
  })
  const [intents] = fc.sample(all, { seed, numRuns: 1 })
  if (intents === undefined) throw new Error('fast-check made no sample')
  return intents
}
