import * as z from 'zod'
import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import type { Body, StoredObject } from '../../kinds/kind.ts'
import { getById } from '../../platform/core/keys.ts'
import { quote } from '../../platform/core/text.ts'
import {
  type Item,
  itemsPart,
  refuseSameAliases,
  refuseVariables,
  type SeriesQuery,
  type TileConfig,
  tableNameOf,
  tilePart,
  toAlertQuery,
  toField,
  toSeriesItem,
  type Watched,
} from './query.ts'
import type { Refusal } from './series-api.ts'
import { renderAlone, type SqlShape } from './window-sql.ts'

// What to send to see whether a server can run a query: more than a backtest can use, because the values do not matter.

export interface Probe {
  /** Raw SQL as the alert task of the server runs it. */
  readonly sql?: SingleQuery
  /** Values of charts with the conditions, groups and values of the query. */
  readonly series?: Pick<SeriesQuery, 'series' | 'comparesLast'>
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

export interface Columns {
  readonly sourceId: string
  readonly expressions: readonly string[]
  readonly groupBy?: string
  readonly orderBy?: string
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
  return 'series' in query ? { series: { series: query.series }, columns: [], left: [] } : undefined
}

/** What only the page of a saved search shows: its columns and their order. */
export function columnsOfSearch({ sourceId, select, orderBy }: Body): readonly Columns[] {
  const [expressions, order] = [select, orderBy].map((text) => (typeof text === 'string' && text.trim() !== '' ? text : undefined))
  if (typeof sourceId !== 'string' || (expressions === undefined && order === undefined)) return []
  return [{ sourceId, expressions: expressions === undefined ? [] : [expressions], ...(order !== undefined && { orderBy: order }) }]
}

function probeTile(tile: Body, options: ProbeOptions): Probe | Refusal | undefined {
  const parsed = tilePart.safeParse(tile.config)
  if (!parsed.success) return { reason: 'the tile has no configuration that the API shows' }
  const config = parsed.data
  const { configType, displayType, sourceId } = config
  if (configType === 'sql') return probeSql(config, options)
  if ((configType ?? 'builder') !== 'builder') return { reason: `the tile is of type ${quote(String(configType), 40)}` }
  if (displayType === 'markdown') return undefined
  if (typeof sourceId !== 'string') return { reason: 'the tile has no source' }
  const items = itemsPart.safeParse(config.select)
  const hasTime = options.alert !== undefined || isOverTime(displayType)
  return items.success ? probeItems(items.data, { ...config, sourceId }, hasTime) : probeFiltered({ ...config, sourceId })
}

const isOverTime = (displayType: string): boolean => displayType === 'line' || displayType === 'stacked_bar'

function probeSql({ displayType, sqlTemplate, connectionId, sourceId }: TileConfig, { sources, interval }: ProbeOptions): Probe | Refusal {
  if (typeof connectionId !== 'string') return { reason: 'the tile has no connection' }
  const shape = isOverTime(displayType) ? 'over-time' : 'number'
  const source = getById(sources, sourceId)
  const tableOf = (metricType: string | undefined) => source && tableNameOf(source, metricType)
  const template = sqlTemplate ?? ''
  const rendered = renderAlone({ text: template, shape, tableOf }, intervalMs[interval])
  if ('reason' in rendered) return rendered
  return { sql: { template, text: rendered.sql, connectionId, shape, sourceId: source?.id }, columns: [], left: [] }
}

type Sourced = TileConfig & { readonly sourceId: string }

function probeItems(items: readonly Item[], config: Sourced, hasTime: boolean): Probe | Refusal {
  const { sourceId, groupBy, asRatio, formulas, having, orderBy } = config
  const refusal =
    refuseSameAliases(items) ?? refuseVariables([groupBy, having, ...items.flatMap((item) => [item.where, item.valueExpression])])
  if (refusal !== undefined) return refusal
  const isCombined = asRatio === true || (formulas ?? []).length > 0
  const left = Object.entries({ having, orderBy }).flatMap(([field, text]) => (text?.trim() ? [[field, text] as const] : []))
  return {
    series: {
      // Charts of the API always have groups of time, in which a column needs an aggregation.
      series: items.map((item) =>
        toSeriesItem(hasTime || item.aggFn !== 'none' ? item : { ...item, aggFn: 'count', valueExpression: null }, sourceId, groupBy),
      ),
      comparesLast: !isCombined,
    },
    columns: columnsOfItems(items, { sourceId, groupBy: groupBy || undefined, isCombined, hasTime }),
    left,
  }
}

interface ItemsOptions {
  readonly sourceId: string
  readonly groupBy: string | undefined
  readonly isCombined: boolean
  readonly hasTime: boolean
}

/** The values that charts of the API cannot have, and those that may be texts. Charts of metrics do not use an expression. */
function columnsOfItems(items: readonly Item[], { sourceId, groupBy, isCombined, hasTime }: ItemsOptions): readonly Columns[] {
  const ofValues = items.filter(({ metricName, metricType }) => metricName == null && metricType == null)
  const asIs = ofValues.filter(({ aggFn }) => aggFn === 'any' || aggFn === 'none')
  const asTheyAre = asIs.map(({ aggFn, valueExpression: text }) => (aggFn === 'any' ? `any(${text ?? ''})` : (text ?? '')))
  const isCompared = asIs.length === items.length && groupBy === undefined && !isCombined
  const others = ofValues.filter((item) => !asIs.includes(item)).map(({ valueExpression }) => valueExpression ?? '')
  const unknown = others.filter((text) => toField(text) === undefined)
  const isGrouped = hasTime || asIs.length < items.length
  const grouping = groupBy ?? (isGrouped ? 'tuple()' : undefined)
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
  return { series: { series: [count] }, columns: expressions.map((one) => ({ sourceId, expressions: [one] })), left: [] }
}
