// The query of an alert in a file. It is stored as a tile: with the fields of a tile's chart, and a type that follows from them.
import * as z from 'zod'
import { withoutUndefined } from '../../platform/core/keys.ts'
import { toTokens } from '../../platform/core/sql.ts'
import { quote } from '../../platform/core/text.ts'
import { chartFields, sqlChartFields, written } from '../dashboard/dashboard.ts'
import { refuseField, withOneConnection, withOneSource } from '../fields.ts'
import type { Body } from '../kind.ts'

/** The key of the dashboard with the queries of alerts that name none. A file may declare it, for another name. */
export const queryDashboardKey = 'project-alerts'

const { configType: _, sqlTemplate, ...sqlFields } = written

const builtQuery = withOneSource(z.strictObject({ ...chartFields.line, ...chartFields.number }))
  .superRefine((query, context) => {
    for (const [path, message] of refuseChart(query)) refuseField(context, path, message)
  })
  .meta({ id: 'alertChart' })

const sqlQuery = withOneConnection(
  z.strictObject({
    sql: sqlTemplate.min(1).meta({
      description:
        'A SELECT. The last number of its first row is compared, or with the interval ($__timeInterval, {intervalSeconds:Int64}) that of each row, by time and group. The window is in $__timeFilter, $__fromTime and $__toTime, or {startDateMilliseconds:Int64} and {endDateMilliseconds:Int64}.',
    }),
    ...sqlFields,
    ...sqlChartFields.line,
    ...sqlChartFields.number,
  }),
)
  .superRefine((query, context) => {
    const reason = refuseAlertSql(query.sql, query)
    if (reason !== undefined) refuseField(context, ['sql'], reason)
    for (const [path, message] of refuseOtherCharts(query, sqlChartFields, (condition) => `SQL ${condition} the interval`))
      refuseField(context, path, message)
  })
  .meta({ id: 'alertSql', aliases: { sqlTemplate: 'sql', query: 'sql' } })

export const alertQuery = z.union([builtQuery, sqlQuery])

export type AlertQuery = z.output<typeof alertQuery>

type Refused = readonly [path: readonly PropertyKey[], message: string]

/** The alert task takes each row of a chart over time for a group, and a number has neither groups nor a ratio. */
const typeOf = (query: AlertQuery): 'number' | 'line' => {
  if ('sql' in query) return usesInterval(toTokens(query.sql)) ? 'line' : 'number'
  return query.groupBy || query.asRatio ? 'line' : 'number'
}

/** What the product's alert task does not compare, or cannot query. Read in HyperDX 2.36. */
function refuseChart(query: z.output<typeof builtQuery>): readonly Refused[] {
  const { select, formulas = [], asRatio } = query
  const items = select.flatMap(({ aggFn, metricType }, i): readonly Refused[] => {
    const isHistogram = metricType === 'histogram' || metricType === 'exponential histogram'
    if (metricType === 'summary') return [[['select', i, 'metricType'], 'has no query in the server']]
    if (isHistogram && aggFn !== 'quantile' && aggFn !== 'count')
      return [[['select', i, 'aggFn'], `has no query in the server for a metric of type ${metricType}; use quantile or count`]]
    return []
  })
  if (asRatio && formulas.length > 0) return [...items, [['formulas'], 'cannot be combined with asRatio; write the ratio as a formula']]
  if (asRatio && select.length !== 2) return [...items, [['asRatio'], 'needs exactly two items of select']]
  if (!asRatio && formulas.length === 0 && select.length > 1)
    return [...items, [['select', 0], 'has no effect, because only the last item is compared; combine them by formulas or asRatio']]
  return [...items, ...refuseOtherCharts(query, chartFields, (condition) => `a query ${condition} groupBy or asRatio`)]
}

const refuseOtherCharts = (
  query: AlertQuery,
  { number, line }: { readonly number: object; readonly line: object },
  describe: (condition: string) => string,
): readonly Refused[] => {
  const [own, other, condition] = typeOf(query) === 'line' ? ([line, number, 'without'] as const) : ([number, line, 'with'] as const)
  return Object.entries(query)
    .filter(([field, value]) => value !== undefined && field in other && !(field in own) && field !== 'groupBy' && field !== 'asRatio')
    .map(([field]) => [[field], `is only for ${describe(condition)}`])
}

const parameter = /^\{\s*(\w+)\s*:/

const usesInterval = (tokens: readonly string[]) =>
  tokens.some(
    (token) => /^\$__(?:timeInterval|timeInterval_ms|interval_s)$/.test(token) || /^\{\s*interval(?:Milli)?[sS]econds\s*:/.test(token),
  )

const parameters = ['startDateMilliseconds', 'endDateMilliseconds', 'intervalSeconds', 'intervalMilliseconds']

const macros = [
  ...['timeFilter', 'timeFilter_ms', 'dateFilter', 'dateTimeFilter', 'dt', 'fromTime', 'toTime', 'fromTime_ms', 'toTime_ms'],
  ...['timeInterval', 'timeInterval_ms', 'interval_s', 'filters', 'sourceTable', 'filter', 'conditionalAll'],
]

/** Why the alert task cannot evaluate the SQL; undefined where it may. */
function refuseAlertSql(sql: string, { source, sourceId }: z.output<typeof sqlQuery>) {
  const tokens = toTokens(sql).filter((token) => token.trim() !== '' && !token.startsWith('--') && !token.startsWith('/*'))
  const [first = ''] = tokens
  if (!/^(?:select|with|\()$/i.test(first)) return 'is not a SELECT'
  // The server drops semicolons at the end.
  if (tokens.some((token, i) => token !== ';' && tokens[i - 1] === ';')) return 'has more than one statement'
  const macro = tokens.find((token) => token.startsWith('$__') && !macros.includes(token.slice(3)))
  if (macro !== undefined) return `has the macro ${quote(macro)}, which the server does not know; known: ${macros.join(', ')}`
  if (tokens.includes('$__sourceTable') && source === undefined && sourceId === undefined) return 'has $__sourceTable and needs a source'
  const unknown = tokens.flatMap((token) => parameter.exec(token)?.[1] ?? []).find((name) => !parameters.includes(name))
  if (unknown !== undefined) return `has the parameter ${quote(unknown)}, which the server does not set; set are ${parameters.join(', ')}`
  return isGroupedNumber(tokens)
    ? 'groups rows without the interval, and only the first row is compared; add LIMIT 1, or for an alert on each group the interval, such as $__timeInterval(Timestamp)'
    : undefined
}

function isGroupedNumber(tokens: readonly string[]) {
  if (usesInterval(tokens)) return false
  let depth = 0
  const outer = tokens.filter((token) => {
    if (token === ')') depth -= 1
    const isOuter = depth === 0
    if (token === '(') depth += 1
    return isOuter
  })
  const indexOf = (word: string) => outer.findLastIndex((token) => token.toLowerCase() === word)
  return indexOf('group') >= 0 && indexOf('limit') < indexOf('group')
}

/** The configuration of the tile that the query is stored as, in the form of a file. */
export function toTileConfig(query: AlertQuery): Body {
  const displayType = typeOf(query)
  if (!('sql' in query)) {
    const { groupBy, asRatio, ...fields } = query
    return { displayType, ...fields, ...(displayType === 'line' && withoutUndefined({ groupBy, asRatio })) }
  }
  const { sql, ...fields } = query
  return { configType: 'sql', displayType, sqlTemplate: sql, ...fields }
}

export const toQueryPath = (path: readonly PropertyKey[]): readonly PropertyKey[] =>
  path.flatMap((key, i) => (i > 0 ? [key] : key === 'sqlTemplate' ? ['sql'] : key === 'displayType' || key === 'configType' ? [] : [key]))

/** `count(SeverityText:error) of Logs by ServiceName`, `A / B of avg(Duration), count() of Traces`, `SQL`. */
export function describeQuery(query: AlertQuery): string {
  if ('sql' in query) return 'SQL'
  const { select, source, sourceId, groupBy, asRatio, formulas = [] } = query
  const items = select.map(({ aggFn, level, metricName, valueExpression, where }) => {
    const parts = [metricName ?? valueExpression, where].filter((part) => part !== undefined && part !== '')
    return `${aggFn}${level === undefined ? '' : ` ${level}`}(${parts.join(', ')})`
  })
  const [formula] = formulas
  const value = `${formula === undefined ? '' : `${formula.expression} of `}${items.join(asRatio ? ' / ' : ', ')}`
  const name = source ?? (typeof sourceId === 'string' ? sourceId : sourceId?.source)
  return `${value} of ${name}${groupBy ? ` by ${groupBy}` : ''}`
}
