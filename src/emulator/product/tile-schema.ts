import * as z from 'zod/v3'
import { isJsonObject, type JsonObject } from '../store.ts'
import { findFormulaProblems } from './formula.ts'
import { addIssue, objectId } from './request.ts'

export const aggregateFunctions = [
  'avg',
  'count',
  'count_distinct',
  'last_value',
  'max',
  'min',
  'quantile',
  'sum',
  'any',
  'none',
  'increase',
] as const

export const aggregateFunction = z.enum(aggregateFunctions)

export const metricType = z.nativeEnum({
  gauge: 'gauge',
  histogram: 'histogram',
  sum: 'sum',
  summary: 'summary',
  'exponential histogram': 'exponential histogram',
} as const)

/** The product accepts `promql` everywhere, although this API does not show PromQL tiles. */
export const queryLanguage = z.enum(['sql', 'lucene', 'promql']).optional()

const hues = ['blue', 'orange', 'red', 'cyan', 'green', 'pink', 'purple', 'light-blue', 'brown', 'gray'] as const
const semanticColors = ['success', 'warning', 'error'] as const

export type ChartColor = `chart-${(typeof hues)[number] | (typeof semanticColors)[number]}`

// zod 3 asks for a tuple.
export const color = z.enum([...hues, ...semanticColors].map((name): ChartColor => `chart-${name}`) as [ChartColor, ...ChartColor[]])

const units = (
  'bytes_iec bytes_si bits_iec bits_si kibibytes kilobytes mebibytes megabytes gibibytes gigabytes tebibytes terabytes pebibytes ' +
  'petabytes packets_sec bytes_sec_iec bytes_sec_si bits_sec_iec bits_sec_si kibibytes_sec kibibits_sec kilobytes_sec kilobits_sec ' +
  'mebibytes_sec mebibits_sec megabytes_sec megabits_sec gibibytes_sec gibibits_sec gigabytes_sec gigabits_sec tebibytes_sec ' +
  'tebibits_sec terabytes_sec terabits_sec pebibytes_sec pebibits_sec petabytes_sec petabits_sec cps ops rps reads_sec wps iops cpm ' +
  'opm rpm_reads wpm'
).split(' ')

const numberFormat = z
  .object({
    output: z.enum(['currency', 'percent', 'byte', 'time', 'duration', 'number', 'data_rate', 'throughput']),
    numericUnit: z.nativeEnum(Object.fromEntries(units.map((unit) => [unit, unit]))).optional(),
    mantissa: z.number().int().optional(),
    thousandSeparated: z.boolean().optional(),
    average: z.boolean().optional(),
    decimalBytes: z.boolean().optional(),
    factor: z.number().optional(),
    currencySymbol: z.string().optional(),
    unit: z.string().optional(),
  })
  .optional()

const rule = { color, label: z.string().max(40).optional() }

export const colorRule = z.discriminatedUnion('operator', [
  z.object({ operator: z.enum(['gt', 'gte', 'lt', 'lte']), value: z.number().finite(), ...rule }),
  z.object({ operator: z.literal('between'), value: z.array(z.number().finite()).length(2), ...rule }),
  z.object({ operator: z.enum(['eq', 'neq']), value: z.union([z.number().finite(), z.string().max(200)]), ...rule }),
])

const sqlText = z.string().max(10_000)
const optionalSql = sqlText.optional()
const filledText = z.string().min(1).max(10_000)

export const quantileLevel = z.union([z.literal(0.5), z.literal(0.9), z.literal(0.95), z.literal(0.99)])

const seriesItem = z
  .object({
    valueExpression: optionalSql,
    alias: optionalSql,
    aggFn: aggregateFunction,
    level: quantileLevel.optional(),
    where: optionalSql.default(''),
    whereLanguage: queryLanguage,
    numberFormat,
    metricType: metricType.optional(),
    metricName: z.string().optional(),
    periodAggFn: z.enum(['delta']).optional(),
  })
  .superRefine(({ aggFn, level, valueExpression }, context) => {
    if (level && aggFn !== 'quantile') addIssue(context, 'Level can only be used with quantile aggregation function')
    if (valueExpression && aggFn === 'count') addIssue(context, 'Value expression cannot be used with count aggregation function')
    if (!valueExpression && aggFn !== 'count') addIssue(context, 'Value expression is required for non-count aggregation functions')
  })

const clickLink = {
  target: z.discriminatedUnion('mode', [
    z.object({ mode: z.literal('id'), id: objectId }),
    z.object({ mode: z.literal('template'), template: filledText }),
  ]),
  whereTemplate: optionalSql,
  whereLanguage: queryLanguage,
  filters: z
    .array(
      z.object({
        kind: z.literal('expressionTemplate'),
        expression: z.string().min(1, 'Expression is required').max(10_000),
        template: z.string().min(1, 'Template is required').max(10_000),
      }),
    )
    .max(50)
    .optional(),
}

const optionalFlag = z.boolean().optional()
const cap = z.number().int().nonnegative().optional()

const fields = {
  sourceId: objectId,
  select: z.array(seriesItem).min(1).max(20),
  groupBy: optionalSql,
  having: optionalSql,
  orderBy: optionalSql,
  asRatio: optionalFlag,
  alignDateRangeToGranularity: optionalFlag,
  fillNulls: optionalFlag,
  numberFormat,
  formulas: z
    .array(z.object({ expression: z.string().max(1024), alias: z.string().optional(), numberFormat }))
    .max(10)
    .optional(),
  showOperandSeries: optionalFlag,
  compareToPreviousPeriod: optionalFlag,
  fitYAxisToData: optionalFlag,
  groupByColumnsOnLeft: optionalFlag,
  onClick: z
    .discriminatedUnion('type', [
      z.object({ type: z.literal('search'), ...clickLink }),
      z.object({ type: z.literal('dashboard'), ...clickLink }),
      z.object({ type: z.literal('external'), urlTemplate: filledText }),
    ])
    .optional(),
  seriesLimit: cap,
  limit: cap,
  color: color.optional(),
  colorRules: z.array(colorRule).max(10).optional(),
  backgroundChart: z.object({ type: z.enum(['line', 'area']), color: color.optional() }).optional(),
  where: optionalSql.default(''),
  whereLanguage: queryLanguage,
  markdown: z.string().max(50_000).optional(),
  configType: z.literal('sql'),
  connectionId: objectId,
  sqlTemplate: z.string().max(100_000),
}

const fieldsNamed = (names: string): z.ZodRawShape =>
  Object.fromEntries(names.split(' ').map((name) => [name, fields[name as keyof typeof fields]])) // Without its field, zod would throw.

const oneSeries = { ...fieldsNamed('sourceId select groupBy orderBy numberFormat limit'), select: z.array(seriesItem).length(1) }
const overTimeFields = 'sourceId select groupBy asRatio alignDateRangeToGranularity fillNulls numberFormat formulas showOperandSeries'
const filteredFields = 'sourceId select where whereLanguage'

/** The fields of each display type, in the order of the product's messages. */
export const builderFields: Readonly<Record<string, z.ZodRawShape>> = {
  line: fieldsNamed(`${overTimeFields} compareToPreviousPeriod fitYAxisToData seriesLimit`),
  stacked_bar: fieldsNamed(`${overTimeFields} seriesLimit`),
  table: fieldsNamed('sourceId select groupBy having orderBy asRatio numberFormat groupByColumnsOnLeft onClick formulas showOperandSeries'),
  number: fieldsNamed('sourceId select numberFormat formulas color colorRules backgroundChart'),
  pie: oneSeries,
  bar: oneSeries,
  heatmap: {
    ...fieldsNamed(`${filteredFields} numberFormat`),
    select: z
      .array(
        z.object({
          valueExpression: filledText,
          countExpression: optionalSql,
          heatmapScaleType: z.enum(['log', 'linear']).optional(),
        }),
      )
      .length(1),
  },
  markdown: fieldsNamed('markdown'),
  search: { ...fieldsNamed(filteredFields), select: sqlText },
  event_patterns: { ...fieldsNamed(filteredFields), select: optionalSql.default('') },
}

const ofSql = { ...fieldsNamed('configType connectionId sqlTemplate sourceId numberFormat'), sourceId: objectId.optional() }

/** Those of tiles with an own query. */
export const sqlFields: Readonly<Record<string, z.ZodRawShape>> = {
  line: { ...ofSql, ...fieldsNamed('compareToPreviousPeriod fillNulls alignDateRangeToGranularity fitYAxisToData seriesLimit') },
  stacked_bar: { ...ofSql, ...fieldsNamed('fillNulls alignDateRangeToGranularity seriesLimit') },
  table: { ...ofSql, ...fieldsNamed('onClick') },
  number: { ...ofSql, ...fieldsNamed('color') },
  pie: ofSql,
  bar: ofSql,
}

const configSchemas = [builderFields, sqlFields].map((fieldsOf) => {
  const options = Object.entries(fieldsOf).map(([displayType, shape]) => z.object({ displayType: z.literal(displayType), ...shape }))
  return z.discriminatedUnion('displayType', options as [(typeof options)[number], ...typeof options]) // zod 3 asks for a tuple.
})

const configSchema = (config: unknown) => configSchemas[isJsonObject(config) && config.configType === 'sql' ? 1 : 0] ?? z.never()

/** Rules between fields see the config as it was sent, as in the product. Unknown fields are stripped after them. */
export const tileConfig = z
  .custom<JsonObject>()
  .superRefine((config, context) => {
    const parsed = configSchema(config).safeParse(config)
    if (!parsed.success) {
      for (const issue of parsed.error.issues) context.addIssue(issue)
      return
    }
    const seriesCount = Array.isArray(config.select) ? config.select.length : 0
    if (config.asRatio && seriesCount !== 2) addIssue(context, 'asRatio can only be used with exactly two select items')
    if (!('configType' in config)) checkFormulas(config, seriesCount, context)
  })
  .transform((config): JsonObject => configSchema(config).parse(config))

/** Display types of tiles with a condition of their own. */
export const filteredTypes: readonly unknown[] = ['search', 'heatmap', 'event_patterns']

const isTimeSeries = (displayType: unknown): boolean => displayType === 'line' || displayType === 'stacked_bar'

/**
 * A config as the tool for patches reads it: without the fields that it does not know, and with a language for each series.
 * Source: packages/api/src/mcp/tools/dashboards/schemas.ts of HyperDX 2.36.
 */
export const patchConfig = z
  .record(z.unknown())
  .superRefine((config, context) => {
    if (config.where !== undefined && !filteredTypes.includes(config.displayType))
      addIssue(
        context,
        'This tile type has no tile-level `where`. Put the filter on each select item\'s `where` instead (that is the tile\'s visible "Where" box); use a dashboard-level filter to scope the whole dashboard.',
        ['where'],
      )
    refuseValues(config, [], context)
    if (!Array.isArray(config.select) || config.displayType === 'heatmap') return
    for (const [i, item] of config.select.entries()) if (isJsonObject(item)) refuseSeries(item, ['select', i], context)
  })
  .transform(({ select, seriesLimit, ...config }): JsonObject => {
    const withLanguage = (item: JsonObject): JsonObject => ({ whereLanguage: 'lucene', ...item })
    const isOfSeries = Array.isArray(select) && config.displayType !== 'heatmap'
    const known = {
      ...(config.configType !== 'sql' && { seriesLimit, ...(isTimeSeries(config.displayType) && { fillNulls: true }) }),
      ...config,
      select: isOfSeries ? select.map(withLanguage) : select,
    }
    const strip = (key: string, value: unknown): unknown => (['periodAggFn', 'numericUnit'].includes(key) ? undefined : value)
    return JSON.parse(JSON.stringify(known), strip) as JsonObject // It was an object.
  })

type IssuePath = readonly (string | number)[]

/** A value of a field that the tool for patches does not know, and those that it knows. */
const unknownValues: Readonly<Record<string, readonly [value: string, known: string]>> = {
  whereLanguage: ['promql', "'sql' | 'lucene'"],
  metricType: ['summary', "'gauge' | 'sum' | 'histogram' | 'exponential histogram'"],
}

function refuseValues(value: unknown, path: IssuePath, context: z.RefinementCtx): void {
  if (typeof value === 'object' && value !== null)
    for (const [key, one] of Object.entries(value)) refuseValues(one, [...path, Array.isArray(value) ? Number(key) : key], context)
  const [unknown, known] = unknownValues[String(path.at(-1))] ?? []
  if (unknown !== undefined && value === unknown)
    addIssue(context, `Invalid enum value. Expected ${known}, received '${unknown}'`, [...path])
}

/** Rules between the fields of a series: `getMetricSelectIssues` in packages/api/src/mcp/tools/query/schemas.ts of HyperDX 2.36. */
function refuseSeries({ aggFn, level, metricName, metricType }: JsonObject, path: IssuePath, context: z.RefinementCtx) {
  const refuse = (field: string, message: string): void => addIssue(context, message, [...path, field])
  if (metricType && !metricName)
    refuse(
      'metricName',
      'metricName is required when metricType is set. Discover metric names via clickstack_list_metrics or clickstack_describe_source.',
    )
  if (metricName && !metricType)
    refuse('metricType', 'metricType is required when metricName is set. Use one of: gauge, sum, histogram, exponential histogram.')
  if (aggFn === 'increase' && metricType !== 'sum')
    refuse(
      'aggFn',
      'aggFn "increase" is only valid for sum (counter) metrics. Set metricType:"sum" and metricName, or pick a different aggFn.',
    )
  if (metricType !== 'histogram' && metricType !== 'exponential histogram') return
  const label = metricType === 'histogram' ? 'Histogram' : 'Exponential histogram'
  if (aggFn !== 'quantile' && aggFn !== 'count')
    refuse('aggFn', `${label} metrics only support aggFn "quantile" (with level) or "count" today.`)
  if (aggFn === 'quantile' && level === undefined)
    refuse('level', `level is required when aggFn is "quantile" on an ${metricType} metric. Use 0.5, 0.9, 0.95, or 0.99.`)
}

/**
 * Why the tool for patches refuses the query of an SQL tile without a source; undefined where it does not.
 * Source: packages/api/src/mcp/tools/dashboards/validation.ts of HyperDX 2.36.
 */
export function refuseMacros(name: string, { configType, sourceId, sqlTemplate }: JsonObject): string | undefined {
  if (configType !== 'sql' || sourceId) return undefined
  const used = ['$__filters', '$__sourceTable'].filter((macro) => new RegExp(`${RegExp.escape(macro)}\\b`).test(String(sqlTemplate)))
  if (used.length === 0) return undefined
  return `Raw SQL tiles that use the $__filters or $__sourceTable macro must set a sourceId. Without a source, $__filters cannot resolve dashboard filters against the source's columns and $__sourceTable fails at query time. Add a sourceId to the following tiles (call clickstack_list_sources to find it), or remove the macro if the query reads from multiple tables: ${name} (uses ${used.join(', ')})`
}

function checkFormulas({ formulas, displayType, asRatio }: JsonObject, seriesCount: number, context: z.RefinementCtx) {
  const given: readonly JsonObject[] = Array.isArray(formulas) ? formulas : []
  const isNumber = displayType === 'number'
  if (given.length === 0) {
    if (isNumber && seriesCount !== 1)
      addIssue(context, 'Number tiles support a single select item unless formulas are used (extra items are formula operands)', ['select'])
    return
  }
  for (const [index, { expression }] of given.entries()) {
    const problems = findFormulaProblems(String(expression), seriesCount)
    if (problems.length > 0) addIssue(context, problems.join('; '), ['formulas', index, 'expression'])
  }
  if (asRatio)
    addIssue(context, 'formulas cannot be combined with asRatio; express the ratio as a formula instead (e.g. "A / B")', ['formulas'])
  if (isNumber && given.length > 1) addIssue(context, 'Number charts support a single formula', ['formulas'])
}
