// Owns the fields of a tile's config, per display type. Source: the specification of 2026-07-31, with the additions of 2026-09.
// Unknown keys are refused everywhere: the gateway's validation walks the whole body.
import { z } from 'zod'

const sql = z.string().max(10_000)
const flag = z.boolean().exactOptional()
const language = z.enum(['sql', 'lucene'])
const id = z.string().min(1)

export const metricTypes = ['sum', 'gauge', 'histogram', 'summary', 'exponential histogram'] as const

const colors = 'blue orange red cyan green pink purple light-blue brown gray success warning error'

const color = z.enum(colors.split(' ').map((name) => `chart-${name}`))

// Sizes and rates, as the specification lists them.
const numericUnits = (
  'bytes_iec bytes_si bits_iec bits_si kibibytes kilobytes mebibytes megabytes gibibytes gigabytes tebibytes terabytes pebibytes ' +
  'petabytes packets_sec bytes_sec_iec bytes_sec_si bits_sec_iec bits_sec_si kibibytes_sec kibibits_sec kilobytes_sec kilobits_sec ' +
  'mebibytes_sec mebibits_sec megabytes_sec megabits_sec gibibytes_sec gibibits_sec gigabytes_sec gigabits_sec tebibytes_sec ' +
  'tebibits_sec terabytes_sec terabits_sec pebibytes_sec pebibits_sec petabytes_sec petabits_sec cps ops rps reads_sec wps iops cpm ' +
  'opm rpm_reads wpm'
).split(' ')

const numberFormat = z
  .strictObject({
    output: z.enum(['currency', 'percent', 'byte', 'time', 'number', 'data_rate', 'throughput', 'duration']).exactOptional(),
    mantissa: z.int().exactOptional(),
    thousandSeparated: flag,
    average: flag,
    decimalBytes: flag,
    factor: z.number().exactOptional(),
    currencySymbol: z.string().exactOptional(),
    numericUnit: z.enum(numericUnits).exactOptional(),
    unit: z.string().exactOptional(),
  })
  .exactOptional()

export const selectItem = z.strictObject({
  aggFn: z.enum(['avg', 'count', 'count_distinct', 'last_value', 'max', 'min', 'quantile', 'sum', 'any', 'none']),
  valueExpression: sql.exactOptional(),
  alias: sql.exactOptional(),
  level: z.literal([0.5, 0.9, 0.95, 0.99]).exactOptional(),
  where: sql.exactOptional(),
  whereLanguage: language.exactOptional(),
  metricName: z.string().exactOptional(),
  metricType: z.enum(metricTypes).exactOptional(),
  periodAggFn: z.literal('delta').exactOptional(),
  numberFormat,
})

const severalItems = { select: z.array(selectItem).min(1).max(20) }
const oneItem = { select: z.array(selectItem).length(1) }

const formulas = {
  formulas: z
    .array(z.strictObject({ expression: z.string().min(1).max(1024), alias: sql.exactOptional(), numberFormat }))
    .max(10)
    .exactOptional(),
  showOperandSeries: flag,
}

const ratio = { asRatio: flag, ...formulas }
const seriesLimit = { seriesLimit: z.int().min(0).exactOptional() }
const timeAxis = { alignDateRangeToGranularity: flag, fillNulls: flag }
const lineAxis = { ...timeAxis, fitYAxisToData: flag, compareToPreviousPeriod: flag }

const condition = { color, label: z.string().exactOptional() }

const colorRule = z.discriminatedUnion('operator', [
  z.strictObject({ operator: z.enum(['gt', 'gte', 'lt', 'lte']), value: z.number(), ...condition }),
  z.strictObject({ operator: z.literal('between'), value: z.array(z.number()).length(2), ...condition }),
  z.strictObject({ operator: z.enum(['eq', 'neq']), value: z.union([z.number(), z.string()]), ...condition }),
])

const target = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('id'), id: z.string() }),
  z.strictObject({ mode: z.literal('template'), template: z.string() }),
])

const jump = {
  target,
  whereTemplate: z.string().exactOptional(),
  whereLanguage: language.exactOptional(),
  filters: z.array(z.strictObject({ kind: z.literal('expressionTemplate'), expression: z.string(), template: z.string() })).exactOptional(),
}

const onClick = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('search'), ...jump }),
    z.strictObject({ type: z.literal('dashboard'), ...jump }),
    z.strictObject({ type: z.literal('external'), urlTemplate: z.string() }),
  ])
  .exactOptional()

const builder = { sourceId: id, numberFormat }
const grouped = { groupBy: sql.exactOptional(), orderBy: sql.exactOptional() }
const filtered = { where: sql.exactOptional(), whereLanguage: language.exactOptional() }
const limited = { ...grouped, limit: z.int().exactOptional() }
const background = z.strictObject({ type: z.enum(['line', 'area']), color: color.exactOptional() }).exactOptional()

const heatmapItem = z.strictObject({
  valueExpression: sql,
  countExpression: sql.exactOptional(),
  heatmapScaleType: z.enum(['log', 'linear']).exactOptional(),
})

/** Fields beside `displayType`, for configs that a builder makes. */
const builderFields = {
  line: { ...builder, ...severalItems, groupBy: sql.exactOptional(), ...ratio, ...seriesLimit, ...lineAxis },
  stacked_bar: { ...builder, ...severalItems, groupBy: sql.exactOptional(), ...ratio, ...seriesLimit, ...timeAxis },
  table: { ...builder, ...severalItems, ...grouped, having: sql.exactOptional(), ...ratio, groupByColumnsOnLeft: flag, onClick },
  number: {
    ...builder,
    ...severalItems,
    ...formulas,
    color: color.exactOptional(),
    colorRules: z.array(colorRule).max(10).exactOptional(),
    backgroundChart: background,
  },
  pie: { ...builder, ...oneItem, ...limited },
  bar: { ...builder, ...oneItem, ...limited },
  heatmap: { ...builder, select: z.array(heatmapItem).length(1), ...filtered },
  search: { sourceId: id, select: sql, where: sql.exactOptional(), whereLanguage: language },
  event_patterns: { sourceId: id, select: sql.exactOptional(), ...filtered },
  markdown: { markdown: z.string().max(50_000).exactOptional() },
}

const raw = {
  configType: z.literal('sql'),
  connectionId: id,
  sqlTemplate: z.string().max(100_000),
  sourceId: z.string().exactOptional(),
  numberFormat,
}

const rawFields = {
  line: { ...raw, ...lineAxis },
  stacked_bar: { ...raw, ...timeAxis },
  table: { ...raw, onClick },
  number: { ...raw, color: color.exactOptional() },
  pie: raw,
  bar: raw,
}

const displayType = z.string()

const toSchemas = (fields: Readonly<Record<string, z.ZodRawShape>>): ReadonlyMap<unknown, z.ZodObject> =>
  new Map(Object.entries(fields).map(([name, shape]) => [name, z.strictObject({ displayType, ...shape })]))

/** By display type; a config is raw SQL when it says so itself. */
export const builderConfigs = toSchemas(builderFields)

export const rawConfigs = toSchemas(rawFields)
