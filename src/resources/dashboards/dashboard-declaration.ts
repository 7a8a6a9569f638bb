import * as z from 'zod'
import { isMap } from '../compare.ts'
import { adoption, declaredTags, sourceReference } from '../declaration-fields.ts'
import { createResolver, resolveSources } from '../resolve.ts'
import { type Body, type DeclaredObject, listOf, type ResolveContext, type ResolvedDeclaration } from '../resource-type.ts'

// What a tile may show, as the API's specification of 2026-07-31 types it, with its additions of 2026-09. Field names are the
// API's own; sources can also be given by name. `serverDefault` is what the product answers, or assumes, where a body has no such
// field: observed on HyperDX 2.36, see test/conformance.

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
    output: z.enum(['currency', 'percent', 'byte', 'time', 'number', 'data_rate', 'throughput', 'duration']),
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

/** An optional field that the server fills in, or takes to be this, when it is not given. */
const defaulted = <T extends z.ZodType>(schema: T, serverDefault: z.output<T>) => schema.optional().meta({ serverDefault })

const whereLanguage = defaulted(language, 'lucene')

const select = z
  .strictObject({
    aggFn: z.enum(['avg', 'count', 'count_distinct', 'increase', 'last_value', 'max', 'min', 'quantile', 'sum', 'any', 'none']),
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
    const refuse = (field: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [field], message, params: { isComplete: true } })
    if (aggFn === 'count' && valueExpression) refuse('valueExpression', 'must not be given for aggFn count')
    if (aggFn !== 'count' && !valueExpression) refuse('valueExpression', `is required for aggFn ${aggFn}`)
    if (level !== undefined && aggFn !== 'quantile') refuse('level', 'is for aggFn quantile only')
  })
  .meta({ id: 'select' })

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

const clickTarget = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('id'), id: z.string() }),
  z.strictObject({ mode: z.literal('template'), template }),
])

const clickThrough = {
  target: clickTarget,
  whereTemplate: sql.optional(),
  whereLanguage: language.optional(),
  filters: z
    .array(z.strictObject({ kind: z.literal('expressionTemplate'), expression: template, template }))
    .max(50)
    .optional(),
}

const onClick = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('search'), ...clickThrough }),
    z.strictObject({ type: z.literal('dashboard'), ...clickThrough }),
    z.strictObject({ type: z.literal('external'), urlTemplate: template }),
  ])
  .meta({ id: 'onClick' })

const sourced = { sourceId: sourceReference, numberFormat: numberFormat.optional() }
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

const show = <const Name extends string, Shape extends z.ZodRawShape>(displayType: Name, shape: Shape) =>
  z.strictObject({ displayType: z.literal(displayType), ...shape })

const heatmapSelect = z.strictObject({
  valueExpression: template,
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
      groupByColumnsOnLeft: defaulted(z.boolean(), false),
      onClick: onClick.optional(),
    }),
    show('number', {
      ...sourced,
      select: several,
      formulas: z.array(formula).max(1).optional(),
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
    show('line', { ...written, ...asLine, ...limited }),
    show('stacked_bar', { ...written, ...overTime, ...limited }),
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
  where: sql.optional(),
  // Other than everywhere else.
  whereLanguage: defaulted(language, 'sql'),
  appliesToSourceIds: z.array(sourceReference).optional(),
  isBroadcastEnabled: defaulted(z.boolean(), true),
  isVariableEnabled: defaulted(z.boolean(), false),
  variableName: z
    .string()
    .max(64)
    .regex(/^[a-zA-Z][a-zA-Z0-9_]*$/)
    .optional(),
}

// What a person may write of a dashboard in a file of declarations.

const word = (longest: number) => z.string().min(1).max(longest)

/** Passed on as it is, for what these types do not know yet. */
const raw = z.record(z.string(), z.unknown()).meta({ description: 'Fields that are passed on to the API unchecked.' })

const tile = z
  .strictObject({
    name: word(1024).meta({ description: 'Name of the tile; alerts refer to it, and its id is kept by it.' }),
    x: z.int().min(0).max(23).meta({ description: 'Column of its left edge; the grid has 24.', accepts: 'a whole number from 0 to 23' }),
    y: z.int().min(0).meta({ description: 'Row of its upper edge.', accepts: 'a whole number from 0' }),
    w: z.int().min(1).max(24).meta({ description: 'Width in columns.', accepts: 'a whole number from 1 to 24' }),
    h: z.int().min(1).meta({ description: 'Height in rows.', accepts: 'a whole number from 1' }),
    config: z.union([builtConfig, writtenConfig]).optional().meta({ description: 'What it shows.' }),
    containerId: word(256).optional(),
    tabId: word(256).optional(),
    raw: raw.optional(),
  })
  .meta({ id: 'tile' })

const container = z.strictObject({
  id: word(256),
  title: word(256),
  collapsed: z.boolean().default(false),
  collapsible: z.boolean().optional().meta({ serverDefault: true }),
  bordered: z.boolean().optional().meta({ serverDefault: true }),
  tabs: z
    .array(z.strictObject({ id: word(256), title: word(256) }))
    .max(20)
    .optional(),
})

const savedFilterValue = z.union([
  z.strictObject({ type: z.literal('sql').optional().meta({ serverDefault: 'sql' }), condition: sql }),
  z.strictObject({ type: z.literal('variable'), name: z.string(), values: z.array(z.string()) }),
])

export const declaredDashboard = z.strictObject({
  name: word(1024).meta({ description: 'What it is called; can be changed, the key stays.' }),
  tags: declaredTags,
  tiles: z.array(tile).max(500),
  filters: z.array(z.strictObject(filterFields)).optional(),
  savedQuery: z.string().nullable().optional(),
  savedQueryLanguage: z.enum(['sql', 'lucene']).nullable().optional().meta({ serverDefault: 'lucene' }),
  savedFilterValues: z.array(savedFilterValue).optional(),
  containers: z.array(container).max(50).optional(),
  raw: raw.optional(),
  ...adoption,
})

export type DeclaredDashboard = z.output<typeof declaredDashboard>

export function resolveDashboard(
  declared: DeclaredObject<DeclaredDashboard>,
  { directory }: Pick<ResolveContext, 'directory'>,
): ResolvedDeclaration {
  const resolver = createResolver(declared, directory)
  const { adopt: _, id: __, previousKey: ___, raw, ...fields } = declared.value
  const body = resolveSources(fields, resolver)
  return { body: { ...body, tiles: listOf(body.tiles).map(withRaw), ...raw }, diagnostics: resolver.diagnostics }
}

const withRaw = ({ raw, ...tile }: Body): Body => ({ ...tile, ...(isMap(raw) && raw) })
