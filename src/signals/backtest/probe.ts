import * as z from 'zod'
import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import type { Body, StoredObject } from '../../kinds/kind.ts'
import type { Source } from '../../kinds/source/source-wire.ts'
import { getById } from '../../platform/core/keys.ts'
import { nameOfTable, refuseForm } from '../../platform/core/sql.ts'
import {
  type Item,
  itemsPart,
  readTile,
  refuseSameAliases,
  refuseVariables,
  type TileConfig,
  tableNameOf,
  tablesOf,
  toAlertQuery,
  toField,
  toSeriesItem,
  type Watched,
} from './query.ts'
import type { Refusal, SeriesItem } from './series-api.ts'
import { luceneColumns } from './terms.ts'
import { renderAlone, type SqlShape } from './window-sql.ts'

// What to send to see whether a server can run a query: more than a backtest can use, because the values do not matter.

export interface Probe {
  /** Raw SQL as the alert task of the server runs it. */
  readonly sql?: SingleQuery
  /** Values of charts with the conditions, groups and values of the query. */
  readonly series?: readonly SeriesItem[]
  /** What no values of charts have. */
  readonly columns: readonly Columns[]
  /** Fields that nothing runs. */
  readonly left: readonly (readonly [field: string, value: string])[]
}

export interface SingleQuery {
  readonly template: string
  readonly text: string
  readonly connectionId: string
  readonly shape: SqlShape
  readonly sourceId: string | undefined
}

interface Clauses {
  readonly groupBy?: string
  readonly orderBy?: string
}

interface Columns extends Clauses {
  readonly sourceId: string
  readonly expressions: readonly string[]
  /** Whether these are all columns that an alert compares. */
  readonly areValues?: true
}

interface ProbeOptions {
  readonly interval: AlertInterval
  readonly sources: readonly StoredObject[]
  /** What evaluates the query by time and group; absent for what only people look at. */
  readonly alert?: { readonly groupBy?: unknown }
}

/** Undefined for a tile without a query. */
export function toProbe(watched: Watched, options: ProbeOptions): Probe | Refusal | undefined {
  if ('tile' in watched) return probeTile(watched.tile, options)
  const { interval, alert } = options
  const query = toAlertQuery({ interval, groupBy: alert?.groupBy, threshold: 0, thresholdType: 'above' }, watched)
  if ('reason' in query) return query
  return 'series' in query ? { series: query.series, columns: [], left: [] } : undefined
}

export function columnsOfSearch({ sourceId, select, orderBy }: Body): readonly Columns[] {
  const [expressions, order] = [select, orderBy].map((text) => (typeof text === 'string' && text.trim() !== '' ? text : undefined))
  if (typeof sourceId !== 'string' || (expressions === undefined && order === undefined)) return []
  return [{ sourceId, expressions: expressions === undefined ? [] : [expressions], ...(order !== undefined && { orderBy: order }) }]
}

function probeTile(tile: Body, options: ProbeOptions): Probe | Refusal | undefined {
  const config = readTile(tile)
  if ('reason' in config) return config
  const { configType, displayType, sourceId } = config
  if (configType === 'sql') return probeSql(config, options)
  if (displayType === 'markdown') return undefined
  if (typeof sourceId !== 'string') return { reason: 'the tile has no source' }
  const items = itemsPart.safeParse(config.select)
  const hasTime = options.alert !== undefined || isOverTime(displayType)
  return items.success ? probeItems(items.data, { ...config, sourceId }, hasTime) : probeFiltered({ ...config, sourceId })
}

const isOverTime = (displayType: string) => displayType === 'line' || displayType === 'stacked_bar'

function probeSql({ displayType, sqlTemplate, connectionId, sourceId }: TileConfig, { sources, interval }: ProbeOptions): Probe | Refusal {
  if (typeof connectionId !== 'string') return { reason: 'the tile has no connection' }
  const shape = isOverTime(displayType) ? 'over-time' : 'number'
  const source = getById(sources, sourceId)
  const tableOf = (metricType: string | undefined) => tableNameOf(source, metricType)
  const template = sqlTemplate ?? ''
  const rendered = renderAlone({ text: template, shape, tableOf }, intervalMs[interval])
  if ('reason' in rendered) return rendered
  return { sql: { template, text: rendered.sql, connectionId, shape, sourceId: source?.id }, columns: [], left: [] }
}

type Sourced = TileConfig & { readonly sourceId: string }

function probeItems(items: readonly Item[], config: Sourced, hasTime: boolean): Probe | Refusal {
  const { sourceId, groupBy, having, orderBy } = config
  const refusal =
    refuseSameAliases(items) ?? refuseVariables([groupBy, having, ...items.flatMap((item) => [item.where, item.valueExpression])])
  if (refusal !== undefined) return refusal
  const left = Object.entries({ having, orderBy }).flatMap(([field, text]) => (text?.trim() ? [[field, text] as const] : []))
  return {
    // Charts of the API always have groups of time, in which a column needs an aggregation.
    series: items.map((item) =>
      toSeriesItem(hasTime || item.aggFn !== 'none' ? item : { ...item, aggFn: 'count', valueExpression: null }, sourceId, groupBy),
    ),
    columns: columnsOfItems(items, config, hasTime),
    left,
  }
}

/** The values that charts of the API cannot have, and those that may be texts. Charts of metrics do not use an expression. */
function columnsOfItems(items: readonly Item[], { sourceId, groupBy, asRatio, formulas }: Sourced, hasTime: boolean): readonly Columns[] {
  const ofValues = items.filter(({ metricName, metricType }) => metricName == null && metricType == null)
  const asIs = ofValues.filter(({ aggFn }) => aggFn === 'any' || aggFn === 'none')
  const asTheyAre = asIs.map(({ aggFn, valueExpression: text }) => (aggFn === 'any' ? `any(${text ?? ''})` : (text ?? '')))
  const isCombined = asRatio === true || (formulas ?? []).length > 0
  const isCompared = asIs.length === items.length && !groupBy && !isCombined
  const others = ofValues.filter((item) => !asIs.includes(item)).map(({ valueExpression }) => valueExpression ?? '')
  const unknown = others.filter((text) => toField(text) === undefined)
  const isGrouped = hasTime || asIs.length < items.length
  const grouping = groupBy || (isGrouped ? 'tuple()' : undefined)
  return [
    ...(asIs.length === 0
      ? []
      : [{ sourceId, expressions: asTheyAre, ...(grouping && { groupBy: grouping }), ...(isCompared && { areValues: true as const }) }]),
    ...(unknown.length === 0 ? [] : [{ sourceId, expressions: unknown }]),
  ]
}

const heatmapPart = z.array(z.object({ valueExpression: z.string(), countExpression: z.string().nullish() }))

/** Tiles with a condition of their own: a search, event patterns, a heatmap. */
function probeFiltered({ sourceId, select, where, whereLanguage }: Sourced): Probe | Refusal {
  const { data: heatmap = [] } = heatmapPart.safeParse(select)
  if (typeof select !== 'string' && heatmap.length === 0) return { reason: 'the tile has no select that the API shows' }
  // A count is an aggregation, so it cannot be selected beside a value.
  const shown = typeof select === 'string' ? [select] : heatmap.flatMap((one) => [one.valueExpression, one.countExpression ?? ''])
  const expressions = shown.filter((text) => text.trim() !== '')
  const refusal = refuseVariables([where, ...expressions])
  if (refusal !== undefined) return refusal
  const count = toSeriesItem({ aggFn: 'count', where, whereLanguage }, sourceId, undefined)
  return { series: [count], columns: expressions.map((one) => ({ sourceId, expressions: [one] })), left: [] }
}

// What a source names, as a query without rows: the server says which table or column does not exist.

export interface LookUp {
  readonly sql: string
  readonly connectionId: string
}

/** The tables of a source and all expressions that it has for them. */
export function lookUpSource(source: Source): readonly (LookUp | Refusal)[] {
  const expressions = Object.entries(source).flatMap(([field, value]) =>
    // An order is not an expression.
    field.endsWith('Expression') && field !== 'orderByExpression' && typeof value === 'string' && value.trim() !== '' ? [value] : [],
  )
  const types = source.kind === 'metric' ? [...tablesOf(source).keys()] : [undefined]
  return types.map((type) => lookUp(source, expressions, type))
}

export const lookUpSeries = (series: readonly SeriesItem[], sources: readonly Source[]): readonly (LookUp | Refusal)[] =>
  [...Map.groupBy(series, ({ sourceId, metricDataType }) => `${sourceId} ${metricDataType}`).values()].map((alike) => {
    const source = getById(sources, alike[0]?.sourceId)
    return lookUp(source, [...new Set(alike.flatMap(expressionsOf))], alike[0]?.metricDataType)
  })

export const lookUpColumns = ({ sourceId, expressions, ...clauses }: Columns, sources: readonly Source[]): LookUp | Refusal =>
  lookUp(getById(sources, sourceId), expressions, undefined, clauses)

const expressionsOf = ({ where, whereLanguage, groupBy, field }: SeriesItem) => [
  ...(whereLanguage === 'lucene' ? luceneColumns(where) : where.trim() === '' ? [] : [where]),
  ...groupBy,
  ...(field === undefined ? [] : [field]),
]

/** The query of the columns. Refused where an expression could change the rest of the query. */
function lookUp(
  source: Source | undefined,
  expressions: readonly string[],
  metricType: string | undefined,
  { groupBy, orderBy }: Clauses = {},
): LookUp | Refusal {
  const table = source && tablesOf(source).get(metricType)
  if (table?.connectionId == null) return { reason: 'the API does not show the table of its source' }
  const clauses = [groupBy, orderBy].filter((one) => one !== undefined)
  const reason = [...expressions, ...clauses].map((one) => refuseForm(one)).find((one) => one !== undefined)
  if (reason !== undefined) return { reason }
  const lines = [
    `SELECT ${expressions.length === 0 ? '1' : expressions.map((one) => `(${one})`).join(', ')}`,
    `FROM ${nameOfTable(table)}`,
    ...(groupBy === undefined ? [] : [`GROUP BY ${groupBy}`]),
    ...(orderBy === undefined ? [] : [`ORDER BY ${orderBy}`]),
    'LIMIT 0',
  ]
  return { sql: lines.join('\n'), connectionId: table.connectionId }
}
