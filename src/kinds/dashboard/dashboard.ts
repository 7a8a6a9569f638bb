import * as z from 'zod'
import {
  adoption,
  connectionField,
  declaredTags,
  nameDescription,
  refuseField,
  sourceFields,
  sourceReference,
  withOneConnection,
  withOneSource,
  word,
} from '../fields.ts'

const text = (maxLength: number) => z.string().max(maxLength)

export const sql = text(10_000)

export const language = z.enum(['sql', 'lucene'])

export const metricType = z.enum(['sum', 'gauge', 'histogram', 'summary', 'exponential histogram'])

const chartColors = [
  'blue',
  'orange',
  'red',
  'cyan',
  'green',
  'pink',
  'purple',
  'light-blue',
  'brown',
  'gray',
  'success',
  'warning',
  'error',
] as const

const color = z.enum(chartColors.map((name) => `chart-${name}` as const)).meta({ id: 'color' })

const sizes = ['kibi', 'kilo', 'mebi', 'mega', 'gibi', 'giga', 'tebi', 'tera', 'pebi', 'peta'] as const

const numericUnits = [
  ...(['bytes_iec', 'bytes_si', 'bits_iec', 'bits_si'] as const),
  ...sizes.map((size) => `${size}bytes` as const),
  ...(['packets_sec', 'bytes_sec_iec', 'bytes_sec_si', 'bits_sec_iec', 'bits_sec_si'] as const),
  ...sizes.flatMap((size) => [`${size}bytes_sec`, `${size}bits_sec`] as const),
  ...(['cps', 'ops', 'rps', 'reads_sec', 'wps', 'iops', 'cpm', 'opm', 'rpm_reads', 'wpm'] as const),
]

const numberFormat = z
  .strictObject({
    output: z.enum(['currency', 'percent', 'byte', 'time', 'number', 'data_rate', 'throughput', 'duration']),
    mantissa: z.int().optional(),
    thousandSeparated: z.boolean().optional(),
    average: z.boolean().optional(),
    decimalBytes: z.boolean().optional(),
    factor: z.number().optional(),
    currencySymbol: z.string().optional(),
    numericUnit: z.enum(numericUnits).optional(),
    unit: z.string().optional(),
  })
  .meta({ id: 'numberFormat' })

/** An optional field. Without it, the server stores or assumes the given default. */
const defaulted = <T extends z.ZodType>(schema: T, serverDefault: z.output<T>) => schema.optional().meta({ serverDefault })

/**
 * The language of a condition. The web app always stores one. For an item of a select, the server stores no language that a body
 * lacks, and answers lucene. The alert task and the charts then read the condition as SQL in one half of their query.
 */
const languageOf = (beside: string) => language.optional().meta({ serverDefault: 'lucene', writeDefault: { beside } })

const whereLanguage = languageOf('where')

const otherAggregates: Readonly<Record<string, string>> = {
  ...Object.fromEntries([50, 90, 95, 99].map((percent) => [`p${percent}`, `quantile, with level: ${percent / 100}`])),
  median: 'quantile, with level: 0.5',
  average: 'avg',
  mean: 'avg',
  distinct: 'count_distinct',
  uniq: 'count_distinct',
  rate: 'increase',
  last: 'last_value',
}

const select = z
  .strictObject({
    aggFn: z
      .enum(['avg', 'count', 'count_distinct', 'increase', 'last_value', 'max', 'min', 'quantile', 'sum', 'any', 'none'])
      .meta({ synonyms: otherAggregates }),
    valueExpression: sql.optional(),
    alias: sql.optional(),
    level: z.literal([0.5, 0.9, 0.95, 0.99]).optional(),
    where: sql.optional(),
    whereLanguage,
    metricName: z.string().optional(),
    metricType: metricType.optional(),
    periodAggFn: z.literal('delta').optional(),
    numberFormat: numberFormat.optional(),
  })
  .superRefine(({ aggFn, valueExpression, level }, context) => {
    const refuse = (field: string, message: string) => refuseField(context, [field], message)
    if (aggFn === 'count' && valueExpression) refuse('valueExpression', 'must not be given for aggFn count')
    if (aggFn !== 'count' && !valueExpression) refuse('valueExpression', `is required for aggFn ${aggFn}`)
    if (level !== undefined && aggFn !== 'quantile') refuse('level', 'is for aggFn quantile only')
  })
  .meta({
    id: 'select',
    aliases: { field: 'valueExpression', column: 'valueExpression', expression: 'valueExpression', metric: 'metricName' },
  })

const several = z.array(select).min(1).max(20)

const single = z.array(select).length(1)

const formula = z
  .strictObject({ expression: z.string().min(1).max(1024), alias: sql.optional(), numberFormat: numberFormat.optional() })
  .meta({ id: 'formula' })

const ruleResult = { color, label: text(40).optional() }

const colorRule = z.discriminatedUnion('operator', [
  z.strictObject({ operator: z.enum(['gt', 'gte', 'lt', 'lte']), value: z.number(), ...ruleResult }),
  z.strictObject({ operator: z.literal('between'), value: z.array(z.number()).length(2), ...ruleResult }),
  z.strictObject({ operator: z.enum(['eq', 'neq']), value: z.union([z.number(), text(200)]), ...ruleResult }),
])

const template = sql.min(1)

/** What a click opens, by id or by a name that may have values of the row in it. */
const clickThrough = (id: z.ZodType) => ({
  target: z.discriminatedUnion('mode', [
    z.strictObject({ mode: z.literal('id'), id }),
    z.strictObject({ mode: z.literal('template'), template }),
  ]),
  whereTemplate: sql.optional(),
  whereLanguage: languageOf('whereTemplate'),
  filters: z
    .array(z.strictObject({ kind: z.literal('expressionTemplate'), expression: template, template }))
    .max(50)
    .optional(),
})

const onClick = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('search'),
      ...clickThrough(sourceReference.meta({ ref: { to: 'source', wire: 'id', by: 'id' } })),
    }),
    z.strictObject({ type: z.literal('dashboard'), ...clickThrough(z.string()) }),
    z.strictObject({ type: z.literal('external'), urlTemplate: template }),
  ])
  .meta({ id: 'onClick' })

const sourced = { ...sourceFields, numberFormat: numberFormat.optional() }

const combined = {
  asRatio: defaulted(z.boolean(), false),
  formulas: z.array(formula).max(10).optional(),
  showOperandSeries: defaulted(z.boolean(), true),
}

const overTime = { alignDateRangeToGranularity: defaulted(z.boolean(), true), fillNulls: defaulted(z.boolean(), true) }

const asLine = { ...overTime, fitYAxisToData: defaulted(z.boolean(), false), compareToPreviousPeriod: defaulted(z.boolean(), false) }

const limited = { seriesLimit: z.int().min(0).optional() }

const filtered = { where: sql.optional(), whereLanguage }

const ranked = { groupBy: sql.optional(), orderBy: sql.optional(), limit: z.int().min(0).optional() }

const timeSeries = { ...sourced, select: several, groupBy: sql.optional(), ...combined, ...limited }

export const chartFields = {
  number: {
    ...sourced,
    select: several,
    formulas: z.array(formula).max(1).optional(),
    color: color.optional(),
    colorRules: z.array(colorRule).max(10).optional(),
    backgroundChart: z.strictObject({ type: z.enum(['line', 'area']), color: color.optional() }).optional(),
  },
  line: { ...timeSeries, ...asLine },
} as const

const show = <const Name extends string, Shape extends z.ZodRawShape>(displayType: Name, shape: Shape) =>
  z.strictObject({ displayType: z.literal(displayType), ...shape })

const showSource = <const Name extends string, Shape extends z.ZodRawShape>(displayType: Name, shape: Shape) =>
  withOneSource(show(displayType, shape))

const heatmapFields = {
  valueExpression: template,
  countExpression: sql.optional(),
  heatmapScaleType: z.enum(['log', 'linear']).optional(),
}

export const builtConfig = z
  .discriminatedUnion('displayType', [
    showSource('line', chartFields.line),
    showSource('stacked_bar', { ...timeSeries, ...overTime }),
    showSource('table', {
      ...sourced,
      select: several,
      groupBy: sql.optional(),
      having: sql.optional(),
      orderBy: sql.optional(),
      ...combined,
      groupByColumnsOnLeft: defaulted(z.boolean(), false),
      onClick: onClick.optional(),
    }),
    showSource('number', chartFields.number),
    showSource('pie', { ...sourced, select: single, ...ranked }),
    showSource('bar', { ...sourced, select: single, ...ranked }),
    showSource('heatmap', {
      ...sourced,
      // Other charts have an aggregation in its place.
      select: z.array(z.strictObject(heatmapFields).meta({ accepts: Object.keys(heatmapFields).join(', ') })).length(1),
      ...filtered,
    }),
    showSource('search', { ...sourceFields, select: sql, ...filtered }),
    showSource('event_patterns', { ...sourceFields, select: sql.optional(), ...filtered }),
    show('markdown', { markdown: text(50_000).optional() }),
  ])
  .meta({ id: 'chart' })

export const written = {
  configType: z.literal('sql'),
  connection: connectionField('connectionId'),
  connectionId: z.string().min(1).optional(),
  sqlTemplate: text(100_000),
  ...sourceFields,
  numberFormat: numberFormat.optional(),
}

export const sqlChartFields = { number: { color: color.optional() }, line: { ...asLine, ...limited } } as const

const showSql = <const Name extends string, Shape extends z.ZodRawShape>(displayType: Name, shape: Shape) =>
  withOneConnection(show(displayType, { ...written, ...shape }))

export const writtenConfig = z
  .discriminatedUnion('displayType', [
    showSql('line', sqlChartFields.line),
    showSql('stacked_bar', { ...overTime, ...limited }),
    showSql('table', { onClick: onClick.optional() }),
    showSql('number', sqlChartFields.number),
    showSql('pie', {}),
    showSql('bar', {}),
  ])
  .meta({ id: 'writtenChart' })

/** Fields that these schemas do not have yet. */
export const raw = z.record(z.string(), z.unknown()).meta({ description: 'Fields that are passed on to the API unchecked.' })

export const declaredTile = z
  .strictObject({
    name: z.string().max(1024).default('').meta({
      description: 'Name of the tile. Alerts refer to it, and the tile keeps its id as long as the name stays. A heading needs none.',
    }),
    x: z
      .int()
      .min(0)
      .max(23)
      .meta({ description: 'Column of its left edge. The grid has 24 columns.', accepts: 'a whole number from 0 to 23' }),
    y: z.int().min(0).meta({ description: 'Row of its upper edge.', accepts: 'a whole number from 0' }),
    w: z.int().min(1).max(24).meta({ description: 'Width in columns.', accepts: 'a whole number from 1 to 24' }),
    h: z.int().min(1).meta({ description: 'Height in rows.', accepts: 'a whole number from 1' }),
    config: z.union([builtConfig, writtenConfig]).optional().meta({ description: 'The chart or text of the tile.' }),
    containerId: word(256).optional(),
    tabId: word(256).optional(),
    raw: raw.optional(),
  })
  .meta({ id: 'placedTile' })

const variableName = z
  .string()
  .max(64)
  .regex(/^[a-zA-Z][a-zA-Z0-9_]*$/)
  .optional()

/** Only servers newer than HyperDX 2.36 have them (hyperdx#3078). They answer both only where a selection is required. */
const requirement = {
  minSelections: z.int().min(0).optional().meta({
    description: 'With 1, tiles that use the filter wait until a value is selected. Only newer servers have it.',
    serverDefault: 0,
  }),
  isGlobalRequirement: z.boolean().optional().meta({
    description: 'Whether all tiles wait for the selection. Needs minSelections.',
    serverDefault: false,
  }),
}

const withRequirement = <Schema extends z.ZodType<{ minSelections?: number | undefined; isGlobalRequirement?: boolean | undefined }>>(
  schema: Schema,
): Schema =>
  schema.refine(({ minSelections = 0, isGlobalRequirement }) => minSelections > 0 || !isGlobalRequirement, {
    path: ['isGlobalRequirement'],
    message: 'has no effect without minSelections',
    params: { isComplete: true },
  })

export const filterFields = {
  type: z.literal('QUERY_EXPRESSION').default('QUERY_EXPRESSION'),
  name: z.string().min(1),
  expression: z.string().min(1),
  ...sourceFields,
  sourceMetricType: metricType.optional(),
  where: sql.optional(),
  // The default is lucene everywhere but in filters. The editor of the web app uses its user's language for an absent one.
  whereLanguage: language.optional().meta({ serverDefault: 'sql', writeDefault: { beside: 'where', isOptional: true } }),
  appliesToSources: z.array(z.string().min(1)).optional().meta({ description: 'Names of the sources that the filter applies to.' }),
  appliesToSourceIds: z
    .array(sourceReference)
    .optional()
    .meta({ ref: { to: 'source', wire: 'appliesToSourceIds', by: 'id' } }),
  isBroadcastEnabled: defaulted(z.boolean(), true),
  isVariableEnabled: defaulted(z.boolean(), false),
  variableName,
  ...requirement,
}

/** A filter with fixed values. It has no expression, so it is only a variable (hyperdx#3017). Only servers newer than HyperDX 2.36 have it. */
const staticFilterFields = {
  type: z.literal('STATIC_LIST'),
  name: z.string().min(1),
  options: z.array(z.string().min(1).max(10_000)).min(1).max(1000).meta({ description: 'The values to choose from.' }),
  isBroadcastEnabled: z.literal(false).default(false),
  isVariableEnabled: z.literal(true).default(true),
  variableName,
  ...requirement,
}

const filter = z
  .union([
    withRequirement(withOneSource(z.strictObject(filterFields))),
    withRequirement(z.strictObject(staticFilterFields).meta({ aliases: { values: 'options' } })),
  ])
  .meta({ id: 'filter' })

export const containerStyle = {
  collapsed: z.boolean().default(false),
  collapsible: z.boolean().optional().meta({ serverDefault: true }),
  bordered: z.boolean().optional().meta({ serverDefault: true }),
}

const container = z.strictObject({
  id: word(256),
  title: word(256),
  ...containerStyle,
  tabs: z
    .array(z.strictObject({ id: word(256), title: word(256) }))
    .max(20)
    .optional(),
})

/** The form in which dashboards are compared with the service. Files can also have shorter forms: see dashboard-file.ts. */
export const declaredDashboard = z.strictObject({
  name: word(1024).meta({ description: nameDescription }),
  tags: declaredTags,
  tiles: z.array(declaredTile).max(500).meta({ clear: [] }),
  filters: z.array(filter).optional().meta({ clear: [] }),
  savedQuery: z.string().nullable().optional().meta({ clear: null }),
  savedQueryLanguage: z
    .enum(['sql', 'lucene'])
    .nullable()
    .optional()
    // The server resets it with the query, and refuses null as the language of a query.
    .meta({ serverDefault: 'lucene', writeDefault: { beside: 'savedQuery', isOptional: true }, clear: undefined }),
  savedFilterValues: z
    .array(
      z.union([
        z.strictObject({ type: z.literal('sql').optional().meta({ serverDefault: 'sql' }), condition: sql }),
        z.strictObject({ type: z.literal('variable'), name: z.string(), values: z.array(z.string()) }),
      ]),
    )
    .optional()
    .meta({ clear: [] }),
  containers: z.array(container).max(50).optional().meta({ clear: [] }),
  raw: raw.optional(),
  ...adoption,
})

export type DeclaredDashboard = z.output<typeof declaredDashboard>
