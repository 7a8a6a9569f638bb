// Owns what a tile may show, as the API's specification of 2026-07-31 types it, with its additions of 2026-09. Field names are
// the API's own; sources can also be given by name.
import * as z from 'zod'

/** A reference that `plan` resolves to an id; the name must be unique among all that exist. */
export const byName = (noun: string, name: string) =>
  z
    .union([z.string().min(1), z.strictObject({ [noun]: z.string().min(1) })])
    .meta({ description: `${name}: its id, or { ${noun}: its name }.`, accepts: `an id, or { ${noun}: its name }` })

export const sourceReference = byName('source', 'The source').meta({ id: 'source' })

const text = (longest: number) => z.string().max(longest)
const sql = text(10_000)
const language = z.enum(['sql', 'lucene'])
const metricType = z.enum(['sum', 'gauge', 'histogram', 'summary', 'exponential histogram'])

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

const sizeUnits = [
  'bytes_iec',
  'bytes_si',
  'bits_iec',
  'bits_si',
  'kibibytes',
  'kilobytes',
  'mebibytes',
  'megabytes',
  'gibibytes',
  'gigabytes',
  'tebibytes',
  'terabytes',
  'pebibytes',
  'petabytes',
] as const
const rateUnits = [
  'packets_sec',
  'bytes_sec_iec',
  'bytes_sec_si',
  'bits_sec_iec',
  'bits_sec_si',
  'kibibytes_sec',
  'kibibits_sec',
  'kilobytes_sec',
  'kilobits_sec',
  'mebibytes_sec',
  'mebibits_sec',
  'megabytes_sec',
  'megabits_sec',
  'gibibytes_sec',
  'gibibits_sec',
  'gigabytes_sec',
  'gigabits_sec',
  'tebibytes_sec',
  'tebibits_sec',
  'terabytes_sec',
  'terabits_sec',
  'pebibytes_sec',
  'pebibits_sec',
  'petabytes_sec',
  'petabits_sec',
  'cps',
  'ops',
  'rps',
  'reads_sec',
  'wps',
  'iops',
  'cpm',
  'opm',
  'rpm_reads',
  'wpm',
] as const

const numberFormat = z
  .strictObject({
    output: z.enum(['currency', 'percent', 'byte', 'time', 'number', 'data_rate', 'throughput', 'duration']).optional(),
    mantissa: z.int().optional(),
    thousandSeparated: z.boolean().optional(),
    average: z.boolean().optional(),
    decimalBytes: z.boolean().optional(),
    factor: z.number().optional(),
    currencySymbol: z.string().optional(),
    numericUnit: z.enum([...sizeUnits, ...rateUnits]).optional(),
    unit: z.string().optional(),
  })
  .meta({ id: 'numberFormat' })

const select = z
  .strictObject({
    aggFn: z.enum(['avg', 'count', 'count_distinct', 'last_value', 'max', 'min', 'quantile', 'sum', 'any', 'none']),
    valueExpression: sql.optional(),
    alias: sql.optional(),
    level: z.literal([0.5, 0.9, 0.95, 0.99]).optional(),
    where: sql.optional(),
    whereLanguage: language.optional(),
    metricName: z.string().optional(),
    metricType: metricType.optional(),
    periodAggFn: z.literal('delta').optional(),
    numberFormat: numberFormat.optional(),
  })
  .meta({ id: 'select' })

const several = z.array(select).min(1).max(20)
const single = z.array(select).length(1)
const formula = z
  .strictObject({ expression: z.string().min(1).max(1024), alias: sql.optional(), numberFormat: numberFormat.optional() })
  .meta({ id: 'formula' })

const colorRule = z.discriminatedUnion('operator', [
  z.strictObject({ operator: z.enum(['gt', 'gte', 'lt', 'lte']), value: z.number(), color, label: z.string().optional() }),
  z.strictObject({ operator: z.literal('between'), value: z.array(z.number()).length(2), color, label: z.string().optional() }),
  z.strictObject({ operator: z.enum(['eq', 'neq']), value: z.union([z.number(), z.string()]), color, label: z.string().optional() }),
])

const clickTarget = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('id'), id: z.string() }),
  z.strictObject({ mode: z.literal('template'), template: z.string() }),
])

const clickThrough = {
  target: clickTarget,
  whereTemplate: z.string().optional(),
  whereLanguage: language.optional(),
  filters: z.array(z.strictObject({ kind: z.literal('expressionTemplate'), expression: z.string(), template: z.string() })).optional(),
}

const onClick = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('search'), ...clickThrough }),
    z.strictObject({ type: z.literal('dashboard'), ...clickThrough }),
    z.strictObject({ type: z.literal('external'), urlTemplate: z.string() }),
  ])
  .meta({ id: 'onClick' })

const sourced = { sourceId: sourceReference, numberFormat: numberFormat.optional() }
const combined = {
  asRatio: z.boolean().optional(),
  formulas: z.array(formula).max(10).optional(),
  showOperandSeries: z.boolean().optional(),
}
const overTime = { alignDateRangeToGranularity: z.boolean().optional(), fillNulls: z.boolean().optional() }
const asLine = { ...overTime, fitYAxisToData: z.boolean().optional(), compareToPreviousPeriod: z.boolean().optional() }
const filtered = { where: sql.optional(), whereLanguage: language.optional() }
const ranked = { groupBy: sql.optional(), orderBy: sql.optional(), limit: z.int().optional() }
const timeSeries = { ...sourced, select: several, groupBy: sql.optional(), ...combined, seriesLimit: z.int().min(0).optional() }

const show = <const Name extends string, Shape extends z.ZodRawShape>(displayType: Name, shape: Shape) =>
  z.strictObject({ displayType: z.literal(displayType), ...shape })

const heatmapSelect = z.strictObject({
  valueExpression: sql,
  countExpression: sql.optional(),
  heatmapScaleType: z.enum(['log', 'linear']).optional(),
})

/** Charts that the product's builder makes. */
export const builtConfig = z
  .discriminatedUnion('displayType', [
    show('line', { ...timeSeries, ...asLine }),
    show('stacked_bar', { ...timeSeries, ...overTime }),
    show('table', {
      ...sourced,
      select: several,
      groupBy: sql.optional(),
      having: sql.optional(),
      orderBy: sql.optional(),
      ...combined,
      groupByColumnsOnLeft: z.boolean().optional(),
      onClick: onClick.optional(),
    }),
    show('number', {
      ...sourced,
      select: several,
      formulas: combined.formulas,
      showOperandSeries: combined.showOperandSeries,
      color: color.optional(),
      colorRules: z.array(colorRule).max(10).optional(),
      backgroundChart: z.strictObject({ type: z.enum(['line', 'area']), color: color.optional() }).optional(),
    }),
    show('pie', { ...sourced, select: single, ...ranked }),
    show('bar', { ...sourced, select: single, ...ranked }),
    show('heatmap', { ...sourced, select: z.array(heatmapSelect).length(1), ...filtered }),
    show('search', { sourceId: sourceReference, select: sql, where: sql.optional(), whereLanguage: language }),
    show('event_patterns', { sourceId: sourceReference, select: sql.optional(), ...filtered }),
    show('markdown', { markdown: text(50_000).optional() }),
  ])
  .meta({ id: 'chart' })

const written = {
  configType: z.literal('sql'),
  connectionId: z.string().min(1),
  sqlTemplate: text(100_000),
  sourceId: sourceReference.optional(),
  numberFormat: numberFormat.optional(),
}

/** Charts of a query that somebody wrote. */
export const writtenConfig = z
  .discriminatedUnion('displayType', [
    show('line', { ...written, ...asLine }),
    show('stacked_bar', { ...written, ...overTime }),
    show('table', { ...written, onClick: onClick.optional() }),
    show('number', { ...written, color: color.optional() }),
    show('pie', written),
    show('bar', written),
  ])
  .meta({ id: 'writtenChart' })

export const filterFields = {
  type: z.literal('QUERY_EXPRESSION').default('QUERY_EXPRESSION'),
  name: z.string().min(1),
  expression: z.string().min(1),
  sourceId: sourceReference,
  sourceMetricType: metricType.optional(),
  ...filtered,
  appliesToSourceIds: z.array(sourceReference).optional(),
  isBroadcastEnabled: z.boolean().optional(),
  isVariableEnabled: z.boolean().optional(),
  variableName: z
    .string()
    .max(64)
    .regex(/^[a-zA-Z][a-zA-Z0-9_]*$/)
    .optional(),
}

/** Display types whose tiles can carry an alert. Known for written queries; taken to be the same for the others. */
export const alertableTypes: readonly string[] = ['line', 'stacked_bar', 'number']
