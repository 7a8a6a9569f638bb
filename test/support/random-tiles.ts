// Tiles made at random: every display type, with every optional field that the API has for it, in combinations that the server accepts.
import fc from 'fast-check'
import type { Connection, JsonObject, Service, Source, Tile } from '../../src/emulator/index.ts'
import { flag, made, name, never, novel, some, text } from './random-words.ts'

export interface Surroundings extends Pick<Service, 'sources'> {
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

const selectItem = ({ isNewer }: Surroundings) => {
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
const combined = (surroundings: Surroundings) => {
  const item = selectItem(surroundings)
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

const onClick = ({ sources }: Surroundings) => {
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

function builderConfig(surroundings: Surroundings): fc.Arbitrary<JsonObject> {
  const { sources, isNewer } = surroundings
  const sourceId = ofKind(sources, 'log', 'trace', 'metric')
  const show = (displayType: string, fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
    made<JsonObject>({ displayType: fc.constant(displayType), sourceId, ...fields })
  const series = (displayType: string, fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
    fc
      .tuple(show(displayType, { groupBy: some(text), numberFormat, ...fields }), combined(surroundings))
      .map(([own, rest]) => ({ ...own, ...rest }))
  const one = fc.tuple(selectItem(surroundings))
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
    series('table', { having: some(text), orderBy: some(text), groupByColumnsOnLeft: flag, onClick: onClick(surroundings) }),
    show('number', { ...number, select: one }),
    show('number', {
      ...number,
      select: fc.tuple(selectItem(surroundings), selectItem(surroundings)),
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

function sqlConfig(surroundings: Surroundings): fc.Arbitrary<JsonObject> {
  const { sources, connections } = surroundings
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
    show('table', { onClick: onClick(surroundings) }),
    show('number', { color: some(color) }),
    show('pie'),
    show('bar'),
  )
}

export const tileFor = (surroundings: Surroundings) =>
  made<Omit<Tile, 'id'> & { novel?: unknown }>({
    name: fc.oneof({ weight: 5, arbitrary: name }, { weight: 1, arbitrary: fc.constant('') }),
    x: fc.nat(23),
    y: fc.nat(30),
    w: fc.integer({ min: 1, max: 24 }),
    h: fc.integer({ min: 1, max: 9 }),
    config: fc.oneof({ weight: 3, arbitrary: builderConfig(surroundings) }, { weight: 1, arbitrary: sqlConfig(surroundings) }),
    novel: surroundings.isNewer ? novel : never,
  })

/** Whether the server accepts an alert on such a tile, and keeps it. */
export const carriesAlerts = ({ displayType, configType, sqlTemplate }: JsonObject): boolean =>
  displayType === 'number' ||
  ((displayType === 'line' || displayType === 'stacked_bar') && (configType !== 'sql' || String(sqlTemplate).includes('$__timeInterval')))
