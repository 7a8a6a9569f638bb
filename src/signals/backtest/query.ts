import * as z from 'zod'
import { thresholdTypes } from '../../kinds/alert/alert.ts'
import { type AlertInterval, alertIntervals, isAtBorder, startMsOf } from '../../kinds/alert/schedule.ts'
import { typeWithoutAlerts } from '../../kinds/dashboard/dashboard-wire.ts'
import type { Body, StoredObject } from '../../kinds/kind.ts'
import { tableOfSource } from '../../kinds/source/source-wire.ts'
import { getById } from '../../platform/core/keys.ts'
import { nameOfTable } from '../../platform/core/sql.ts'
import { quote } from '../../platform/core/text.ts'
import type { AlertCondition, TimeRange } from './evaluate.ts'
import { parseFormula } from './formula.ts'
import { type Combination, type ReadResult, type Refusal, type RowFormat, readRows, type SeriesItem, type SeriesRow } from './series-api.ts'
import { expandTemplate, type TableOf, type WindowSql } from './window-sql.ts'

/** A tile, or a saved search with its source. `sources` are those of the service, where they are known. */
export type Watched =
  | { readonly tile: Body; readonly sources?: readonly StoredObject[] }
  | { readonly savedSearch: Body; readonly source: Body | undefined }

interface WindowReading {
  readonly step: AlertInterval
  /** Length of the range before the first evaluated window that is requested, too. */
  readonly lookbackMs: number
  /** Groups are made texts, so that a number is not taken for the value. */
  readonly hasTextGroups?: true
  /** What a file calls the series. Others have letters. */
  readonly names?: readonly string[]
  /** The values that the server compares in the windows of the range. */
  readonly read: (rows: readonly SeriesRow[], range: TimeRange) => ReadResult
}

interface Comparison extends WindowReading {
  readonly condition: AlertCondition
}

interface SeriesQuery extends Comparison {
  readonly series: readonly SeriesItem[]
  /** The other series have no effect on the value. */
  readonly comparesLast?: boolean
  /** The series without which there is no value. */
  readonly divisors?: readonly number[]
}

interface WindowsQuery extends Comparison {
  readonly sql: WindowSql
}

export type BacktestQuery = SeriesQuery | WindowsQuery

/** Values of a tile with raw SQL, where counts give the same numbers. */
export interface SqlValues extends WindowReading {
  readonly series: readonly SeriesItem[]
  readonly isGrouped: boolean
}

/** Undefined for a query whose values only the server can compute. */
export type FindSqlValues = (sqlTemplate: string, interval: AlertInterval) => SqlValues | undefined

const text = z.string().nullish()

const queryLanguage = z.enum(['sql', 'lucene']).nullish()

const alertPart = z.object({
  source: text,
  groupBy: text,
  threshold: z.number(),
  thresholdMax: z.number().nullish(),
  thresholdType: z.enum(thresholdTypes),
  interval: z.enum(alertIntervals),
  scheduleOffsetMinutes: z.number().nullish(),
  scheduleStartAt: text,
  numConsecutiveWindows: z.number().nullish(),
})

const itemPart = z.object({
  aggFn: z.string(),
  alias: text,
  valueExpression: text,
  level: z.number().nullish(),
  where: text,
  whereLanguage: queryLanguage,
  metricName: text,
  metricType: text,
  periodAggFn: text,
})

export type Item = z.output<typeof itemPart>

export const itemsPart = z.array(itemPart).min(1)

const tilePart = z.object({
  configType: text,
  sqlTemplate: text,
  displayType: z.string(),
  connectionId: z.unknown().optional(),
  sourceId: z.unknown().optional(),
  select: z.unknown().optional(),
  where: text,
  whereLanguage: queryLanguage,
  groupBy: text,
  having: text,
  orderBy: text,
  asRatio: z.boolean().nullish(),
  formulas: z.array(z.object({ expression: z.string() })).nullish(),
})

export type TileConfig = z.output<typeof tilePart>

const savedSearchPart = z.object({
  sourceId: z.unknown().optional(),
  select: text,
  where: text,
  whereLanguage: queryLanguage,
  filters: z.array(z.looseObject({ type: text, condition: text })).nullish(),
})

/** The configuration of a tile with a builder or raw SQL. */
export function readTile(tile: Body): TileConfig | Refusal {
  const { data } = tilePart.safeParse(tile.config)
  if (data === undefined) return { reason: 'the tile has no configuration that the API shows' }
  const { configType } = data
  const isKnown = configType == null || configType === 'builder' || configType === 'sql'
  return isKnown ? data : { reason: `the tile is of type ${quote(configType)}` }
}

/** `alert` and `watched` in the form of the API. */
export function toAlertQuery(
  alert: Body,
  watched: Watched,
  findSqlValues: FindSqlValues = () => undefined,
  isExact = true,
): BacktestQuery | Refusal {
  const parsed = alertPart.safeParse(alert)
  if (!parsed.success) return { reason: `the alert has an unexpected form at ${parsed.error.issues[0]?.path.join('.')}` }
  const config = 'tile' in watched ? tilePart.safeParse(watched.tile.config).data : undefined
  const never = config && typeWithoutAlerts({ config })
  if (never !== undefined)
    return { reason: `never evaluated: the server accepts alerts on a tile of type ${quote(never)}, and ignores them` }
  const refusal = refuseSchedule(parsed.data)
  if (refusal !== undefined) return refusal
  return 'tile' in watched
    ? queryTile(parsed.data, watched, findSqlValues, isExact)
    : querySavedSearch(parsed.data, watched.savedSearch, watched.source)
}

/** Why counts in SQL cannot replace the values of charts, which ClickHouse Cloud does not have. */
export function refuseWithoutCharts(query: BacktestQuery, watched: Watched): Refusal | undefined {
  if (!('series' in query)) return undefined
  const isChart = 'tile' in watched && tilePart.safeParse(watched.tile.config).data?.configType !== 'sql'
  if (isChart)
    return { reason: 'ClickHouse Cloud has no values of charts; its alerts on raw SQL tiles and on saved searches are estimable' }
  const isLucene = query.series.some(({ where, whereLanguage }) => whereLanguage === 'lucene' && where.trim() !== '')
  return isLucene
    ? { reason: 'its condition is Lucene, and ClickHouse Cloud has no values of charts; write the condition in SQL' }
    : undefined
}

type AlertPart = z.output<typeof alertPart>

type WatchedTile = Extract<Watched, { readonly tile: Body }>

function refuseSchedule(alert: AlertPart) {
  const { scheduleOffsetMinutes, scheduleStartAt, thresholdType, thresholdMax } = alert
  if (scheduleStartAt != null && !isAtBorder(alert))
    return { reason: 'scheduleStartAt is between two borders of the interval, so the server evaluates each window in two parts' }
  if (scheduleOffsetMinutes) return { reason: 'scheduleOffsetMinutes makes the server evaluate each window in two parts' }
  return thresholdType.endsWith('between') && thresholdMax == null ? { reason: `${thresholdType} needs thresholdMax` } : undefined
}

const toCondition = (alert: AlertPart, groupBy: string | null | undefined): AlertCondition => ({
  thresholdType: alert.thresholdType,
  threshold: alert.threshold,
  thresholdMax: alert.thresholdMax ?? undefined,
  interval: alert.interval,
  consecutive: alert.numConsecutiveWindows ?? 1,
  isGrouped: Boolean(alert.groupBy || groupBy),
  startMs: startMsOf(alert),
})

const requested = ({ interval }: AlertPart) => ({ step: interval, lookbackMs: 0 })

function queryTile(
  alert: AlertPart,
  { tile, sources }: WatchedTile,
  findSqlValues: FindSqlValues,
  isExact: boolean,
): BacktestQuery | Refusal {
  const config = readTile(tile)
  if ('reason' in config) return config
  const { configType, sqlTemplate, sourceId, groupBy, asRatio, formulas } = config
  if (configType === 'sql') {
    const values = findSqlValues(sqlTemplate ?? '', alert.interval)
    if (values === undefined) return querySql(alert, config, sources)
    const { isGrouped, ...query } = values
    return { ...query, condition: { ...toCondition(alert, null), isGrouped } }
  }
  const items = itemsPart.safeParse(config.select)
  if (!items.success) return { reason: 'the tile has no select that the API shows' }
  if (typeof sourceId !== 'string') return { reason: 'the tile has no source' }
  const refusal =
    refuseAliases(items.data) ??
    refuseVariables([groupBy, ...items.data.flatMap((item) => [item.where, item.valueExpression])]) ??
    items.data.map((item) => refuseItem(item, isExact)).find((one) => one !== undefined)
  if (refusal !== undefined) return refusal
  const series = items.data.map((item) => toSeriesItem(item, sourceId, groupBy))
  const combination = toCombination(items.data.length, asRatio === true, formulas?.at(-1)?.expression)
  if ('reason' in combination) return combination
  const reading: RowFormat = {
    aggregates: items.data.map(({ aggFn }) => aggFn),
    isMetric: items.data.some(({ metricName }) => metricName != null),
    combination,
    isExact,
  }
  return {
    series,
    condition: toCondition(alert, groupBy),
    ...requested(alert),
    comparesLast: combination.kind === 'last',
    divisors: divisorsOf(combination, series.length),
    ...(!isExact && { hasTextGroups: true }),
    read: (rows) => readRows(rows, reading),
  }
}

function querySql(alert: AlertPart, config: TileConfig, sources: WatchedTile['sources']): BacktestQuery | Refusal {
  const { displayType, sqlTemplate, connectionId, sourceId } = config
  if (typeof connectionId !== 'string') return { reason: 'the tile has no connection' }
  const template = sqlTemplate ?? ''
  const shape = displayType === 'number' ? 'number' : 'over-time'
  const source = sources && getById(sources, sourceId)
  // A query that is compared without a service has no sources, and all its tables have the same name.
  const tableOf: TableOf = sources === undefined ? () => 'source' : (metricType) => tableNameOf(source, metricType)
  const expanded = expandTemplate({ text: template, shape, tableOf })
  if ('reason' in expanded) return expanded
  return {
    sql: {
      ...{ template, shape, connectionId, ...expanded },
      sourceId: sources === undefined ? (typeof sourceId === 'string' ? sourceId : undefined) : coveredSource(config, sources),
      tables: (sources ?? []).flatMap(allTablesOf),
    },
    // The server takes each row of a tile over time for a group.
    condition: { ...toCondition(alert, null), isGrouped: shape === 'over-time' },
    ...requested(alert),
    read: (rows) => readEachValue(rows, shape === 'number' ? 0 : null),
  }
}

const sourcePart = z.object({
  connection: text,
  from: z.object({ databaseName: z.string(), tableName: text }),
  metricTables: z.record(z.string(), z.unknown()).nullish(),
})

/** The tables of a source, by the types of its metrics; undefined for one that the API does not show. */
export function tablesOf(source: StoredObject) {
  const { data: { connection: connectionId, from, metricTables } = {} } = sourcePart.safeParse(source)
  const tables = source.kind === 'metric' ? Object.entries(metricTables ?? {}) : ([[undefined, from?.tableName]] as const)
  const toTable = (table: unknown) =>
    from !== undefined && typeof table === 'string' && table !== '' ? { connectionId, database: from.databaseName, table } : undefined
  return new Map(tables.map(([type, table]) => [type, toTable(table)]))
}

/** As `database.table`, with those of the other kind: a query can name them. */
function allTablesOf(source: StoredObject): readonly string[] {
  const { data: { from, metricTables } = {} } = sourcePart.safeParse(source)
  const tables = [from?.tableName, ...Object.values(metricTables ?? {})]
  return tables.flatMap((table) => (typeof table === 'string' && table !== '' ? [`${from?.databaseName}.${table}`] : []))
}

/** As the server expands its macro; undefined where the source has none. */
export function tableNameOf(source: StoredObject | undefined, metricType: string | undefined): string | undefined {
  const table = source && tablesOf(source).get(metricType)
  return table && nameOfTable(table)
}

/** The source of the tile, or else one whose table its query names. Rows of metrics are not counted without a metric. */
function coveredSource({ sqlTemplate, connectionId, sourceId }: TileConfig, sources: readonly StoredObject[]) {
  const tables = sources.flatMap((source) => {
    const table = tableOfSource(source)
    return table === undefined ? [] : [{ id: source.id, ...table }]
  })
  const named = tables.find((one) => one.connectionId === connectionId && hasWord(sqlTemplate ?? '', one.table))
  return (tables.find(({ id }) => id === sourceId) ?? named)?.id
}

/** A row can have several values of its group. */
function readEachValue(rows: readonly SeriesRow[], missing: 0 | null): ReadResult {
  const values = rows.flatMap(({ startMs, group, numbers }) =>
    [...numbers.values()].map((value) => ({ startMs, group, value: value ?? missing })),
  )
  return { values: Map.groupBy(values, ({ startMs }) => startMs) }
}

function querySavedSearch(alert: AlertPart, savedSearch: Body, source: Body | undefined): BacktestQuery | Refusal {
  const parsed = savedSearchPart.safeParse(savedSearch)
  if (!parsed.success || typeof parsed.data.sourceId !== 'string') return { reason: 'the saved search has an unexpected form' }
  const { sourceId, where, whereLanguage, select } = parsed.data
  const groupBy = alert.groupBy ?? ''
  const conditions = conditionsOf(parsed.data, source)
  if ('reason' in conditions) return conditions
  const aliases = namedIn(select || String(source?.defaultTableSelectExpression ?? ''))
  const usesAlias = [where ?? '', groupBy, ...conditions].some((text) => aliases.some((alias) => hasWord(text, alias)))
  if (usesAlias) return { reason: 'the saved search uses an alias of its select' }
  const item = withFilters(toSeriesItem({ aggFn: 'count', where, whereLanguage }, sourceId, groupBy), conditions)
  if ('reason' in item) return item
  return {
    series: [item],
    condition: toCondition(alert, groupBy),
    ...requested(alert),
    read: (rows) => readRows(rows, { aggregates: ['count'], isMetric: false, combination: { kind: 'last' }, isExact: true }),
  }
}

/** Conditions of the source and of the sidebar. */
function conditionsOf({ filters }: z.output<typeof savedSearchPart>, source: Body | undefined): readonly string[] | Refusal {
  // Observed on HyperDX 2.36: its alert task ignores the filter of a source of traces.
  const ofSource = source?.kind === 'trace' ? undefined : source?.tableFilterExpression
  const ofSidebar = (filters ?? []).map(({ type, condition }) => ((type ?? 'sql') === 'sql' ? condition : undefined))
  if (ofSidebar.some((one) => one == null)) return { reason: 'the saved search has a filter that is not SQL' }
  return [ofSource, ...ofSidebar].flatMap((one) => (typeof one === 'string' && one !== '' ? one : []))
}

const hasWord = (text: string, word: string) => new RegExp(`\\b${RegExp.escape(word)}\\b`).test(text)

/** `toString(Body) AS text` */
const namedIn = (select: string) => [...select.matchAll(/[^\s,]\s+["`]?([A-Za-z_]\w*)["`]?\s*(?=,|$)/g)].flatMap((match) => match[1] ?? [])

function withFilters(item: SeriesItem, conditions: readonly string[]): SeriesItem | Refusal {
  const { where, whereLanguage } = item
  if (conditions.length === 0) return item
  if (where.trim() !== '' && whereLanguage === 'lucene') return { reason: 'the saved search combines filters with Lucene' }
  const all = where.trim() === '' ? conditions : [where, ...conditions]
  return { ...item, where: all.map((one) => `(${one})`).join(' AND '), whereLanguage: 'sql' }
}

/** The query of the server would fail. */
export function refuseSameAliases(items: readonly Item[]): Refusal | undefined {
  const aliases = aliasesOf(items)
  return new Set(aliases).size < aliases.length ? { reason: 'two series of the tile have the same alias' } : undefined
}

const aliasesOf = (items: readonly Item[]) => items.flatMap(({ alias }) => alias?.trim() || [])

const refuseAliases = (items: readonly Item[]) =>
  refuseSameAliases(items) ??
  (aliasesOf(items).some((alias) => /^\d+$/.test(alias)) ? { reason: 'the alias of a series is a number' } : undefined)

export const refuseVariables = (texts: readonly (string | null | undefined)[]): Refusal | undefined =>
  texts.some((text) => text != null && /\$[A-Za-z_{]/.test(text)) ? { reason: 'the tile uses variables of its dashboard' } : undefined

function refuseItem({ aggFn, valueExpression, metricName, metricType, periodAggFn }: Item, isExact: boolean) {
  if (!['count', 'count_distinct', 'avg', 'sum', 'min', 'max', 'any', 'last_value', 'quantile'].includes(aggFn))
    return { reason: `the aggregation ${quote(aggFn)} cannot be requested` }
  if (periodAggFn != null) return { reason: `periodAggFn ${quote(periodAggFn)} cannot be requested` }
  if (toField(valueExpression ?? '') === undefined)
    return { reason: 'the value expression contains a dot outside of a text, which the API quotes' }
  if (!isExact || metricName == null || metricType === 'gauge' || metricType === 'histogram') return undefined
  return { reason: `values of a metric of type ${quote(String(metricType))} differ after a gap` }
}

/** A value that cannot be requested becomes a count. */
export function toSeriesItem(item: Item, sourceId: string, groupBy: string | null | undefined): SeriesItem {
  const { aggFn, valueExpression, level, where, whereLanguage, metricName, metricType } = item
  const field = toField(valueExpression ?? '')
  const isMetric = metricName != null || metricType != null
  const isCounted = field === undefined && !isMetric
  return {
    sourceId,
    aggFn: isCounted ? 'count' : aggFn,
    where: where ?? '',
    whereLanguage: whereLanguage ?? 'lucene',
    groupBy: groupBy ? [groupBy] : [],
    ...(!isCounted && aggFn === 'quantile' && level != null && { level }),
    ...(metricName != null && { metricName }),
    ...(metricType != null && { metricDataType: metricType }),
    ...(field && !(isMetric && field === 'Value') && { field }),
  }
}

/** The API makes a text of an expression that contains a dot. Dots in texts can be written in another way. */
export function toField(expression: string): string | undefined {
  const written = expression.replace(/'(?:[^'\\]|\\.?|'')*'?/gs, (text) => text.replaceAll('.', '\\x2E'))
  return written.includes('.') ? undefined : written
}

/** The series without which there is no value. */
function divisorsOf(combination: Combination, count: number): readonly number[] {
  if (combination.kind === 'last') return []
  if (combination.kind === 'ratio') return [1]
  const valuesWithout = (missing: number) => Array.from({ length: count }, (_, i) => (i === missing ? 0 : 1 + i / 7))
  return Array.from({ length: count }, (_, i) => i).filter((i) => combination.formula(valuesWithout(i)) === null)
}

/** The server compares the last one of several columns. */
function toCombination(count: number, asRatio: boolean, expression: string | undefined): Combination | Refusal {
  if (expression === undefined) return { kind: asRatio && count === 2 ? 'ratio' : 'last' }
  const formula = parseFormula(expression)
  return formula === undefined ? { reason: 'the formula is not valid' } : { kind: 'formula', formula }
}
