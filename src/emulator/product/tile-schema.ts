import * as z from 'zod/v3'
import { aggregateFunction, backgroundChart, color, colorRule, metricType, numberFormat, queryLanguage } from './chart-vocabulary.ts'
import { findFormulaProblems } from './formula.ts'
import { objectId } from './request.ts'

const expression = z.string().max(10_000)

/** Quantiles that the product draws. */
export const quantileLevel = z.union([z.literal(0.5), z.literal(0.9), z.literal(0.95), z.literal(0.99)])

const selectItem = z
  .object({
    valueExpression: expression.optional(),
    alias: expression.optional(),
    aggFn: aggregateFunction,
    level: quantileLevel.optional(),
    where: expression.optional().default(''),
    whereLanguage: queryLanguage,
    numberFormat: numberFormat.optional(),
    metricType: metricType.optional(),
    metricName: z.string().optional(),
    periodAggFn: z.enum(['delta']).optional(),
  })
  .superRefine(({ aggFn, level, valueExpression }, context) => {
    const refuse = (message: string): void => context.addIssue({ code: 'custom', message })
    if (level && aggFn !== 'quantile') refuse('Level can only be used with quantile aggregation function')
    if (valueExpression && aggFn === 'count') refuse('Value expression cannot be used with count aggregation function')
    if (!valueExpression && aggFn !== 'count') refuse('Value expression is required for non-count aggregation functions')
  })

const target = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('id'), id: objectId }),
  z.object({ mode: z.literal('template'), template: z.string().min(1).max(10_000) }),
])

const link = {
  target,
  whereTemplate: expression.optional(),
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

const onClick = z.discriminatedUnion('type', [
  z.object({ type: z.literal('search'), ...link }),
  z.object({ type: z.literal('dashboard'), ...link }),
  z.object({ type: z.literal('external'), urlTemplate: z.string().min(1).max(10_000) }),
])

const flag = z.boolean().optional()
const cap = z.number().int().nonnegative().optional()
const severalItems = z.array(selectItem).min(1).max(20)
const oneItem = z.array(selectItem).length(1)

const formulas = z
  .array(z.object({ expression: z.string().max(1024), alias: z.string().optional(), numberFormat: numberFormat.optional() }))
  .max(10)
  .optional()

const overTime = {
  sourceId: objectId,
  select: severalItems,
  groupBy: expression.optional(),
  asRatio: flag,
  alignDateRangeToGranularity: flag,
  fillNulls: flag,
  numberFormat: numberFormat.optional(),
  formulas,
  showOperandSeries: flag,
}

const ranked = {
  sourceId: objectId,
  select: oneItem,
  groupBy: expression.optional(),
  orderBy: expression.optional(),
  numberFormat: numberFormat.optional(),
  limit: cap,
}

const filtered = { where: expression.optional().default(''), whereLanguage: queryLanguage }

const heatmapItem = z.object({
  valueExpression: z.string().min(1).max(10_000),
  countExpression: expression.optional(),
  heatmapScaleType: z.enum(['log', 'linear']).optional(),
})

const builderConfig = z.discriminatedUnion('displayType', [
  z.object({ ...overTime, displayType: z.literal('line'), compareToPreviousPeriod: flag, fitYAxisToData: flag, seriesLimit: cap }),
  z.object({ ...overTime, displayType: z.literal('stacked_bar'), seriesLimit: cap }),
  z.object({
    displayType: z.literal('table'),
    sourceId: objectId,
    select: severalItems,
    groupBy: expression.optional(),
    having: expression.optional(),
    orderBy: expression.optional(),
    asRatio: flag,
    numberFormat: numberFormat.optional(),
    groupByColumnsOnLeft: flag,
    onClick: onClick.optional(),
    formulas,
    showOperandSeries: flag,
  }),
  z.object({
    displayType: z.literal('number'),
    sourceId: objectId,
    select: severalItems,
    numberFormat: numberFormat.optional(),
    formulas,
    color: color.optional(),
    colorRules: z.array(colorRule).max(10).optional(),
    backgroundChart: backgroundChart.optional(),
  }),
  z.object({ displayType: z.literal('pie'), ...ranked }),
  z.object({ displayType: z.literal('bar'), ...ranked }),
  z.object({
    displayType: z.literal('heatmap'),
    sourceId: objectId,
    select: z.array(heatmapItem).length(1),
    ...filtered,
    numberFormat: numberFormat.optional(),
  }),
  z.object({ displayType: z.literal('markdown'), markdown: z.string().max(50_000).optional() }),
  z.object({ displayType: z.literal('search'), sourceId: objectId, select: expression, ...filtered }),
  z.object({ displayType: z.literal('event_patterns'), sourceId: objectId, select: expression.optional().default(''), ...filtered }),
])

const sql = {
  configType: z.literal('sql'),
  connectionId: objectId,
  sqlTemplate: z.string().max(100_000),
  sourceId: objectId.optional(),
  numberFormat: numberFormat.optional(),
}

const sqlConfig = z.discriminatedUnion('displayType', [
  z.object({
    ...sql,
    displayType: z.literal('line'),
    compareToPreviousPeriod: flag,
    fillNulls: flag,
    alignDateRangeToGranularity: flag,
    fitYAxisToData: flag,
    seriesLimit: cap,
  }),
  z.object({ ...sql, displayType: z.literal('stacked_bar'), fillNulls: flag, alignDateRangeToGranularity: flag, seriesLimit: cap }),
  z.object({ ...sql, displayType: z.literal('table'), onClick: onClick.optional() }),
  z.object({ ...sql, displayType: z.literal('number'), color: color.optional() }),
  z.object({ ...sql, displayType: z.literal('pie') }),
  z.object({ ...sql, displayType: z.literal('bar') }),
])

export type TileConfig = z.output<typeof builderConfig> | z.output<typeof sqlConfig>

const schemaOf = (config: unknown) =>
  typeof config === 'object' && config !== null && 'configType' in config && config.configType === 'sql' ? sqlConfig : builderConfig

/** Rules between the fields look at the config as it was sent, and unknown fields go only after them: that is the product's order. */
export const tileConfig = z
  .custom<TileConfig>()
  .superRefine((config, context) => {
    const parsed = schemaOf(config).safeParse(config)
    if (!parsed.success) {
      for (const issue of parsed.error.issues) context.addIssue(issue)
      return
    }
    if ('asRatio' in config && config.asRatio && config.select.length !== 2)
      context.addIssue({ code: 'custom', message: 'asRatio can only be used with exactly two select items' })
    if (!('configType' in config)) checkFormulas(config, context)
  })
  .transform((config) => schemaOf(config).parse(config))

function checkFormulas(config: z.input<typeof builderConfig>, context: z.RefinementCtx): void {
  const refuse = (path: (string | number)[], message: string): void => context.addIssue({ code: 'custom', path, message })
  const given = 'formulas' in config ? (config.formulas ?? []) : []
  const isNumber = config.displayType === 'number'
  const seriesCount = 'select' in config && Array.isArray(config.select) ? config.select.length : 0
  if (given.length === 0) {
    if (isNumber && seriesCount !== 1)
      refuse(['select'], 'Number tiles support a single select item unless formulas are used (extra items are formula operands)')
    return
  }
  for (const [index, { expression: text }] of given.entries()) {
    const problems = findFormulaProblems(text, seriesCount)
    if (problems.length > 0) refuse(['formulas', index, 'expression'], problems.join('; '))
  }
  if ('asRatio' in config && config.asRatio)
    refuse(['formulas'], 'formulas cannot be combined with asRatio; express the ratio as a formula instead (e.g. "A / B")')
  if (isNumber && given.length > 1) refuse(['formulas'], 'Number charts support a single formula')
}
