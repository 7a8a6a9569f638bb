// Alerts that the server evaluates, fails to evaluate, or never evaluates, and what the plan says about them before.

import type { References } from './as-declared.ts'
import type { Json } from './product.ts'

/** What an alert watches: the config of a tile, or a saved search. */
interface ProblemCase {
  readonly name: string
  readonly config?: Json
  readonly savedSearch?: Json
}

const from = 'FROM default.otel_logs WHERE $__timeFilter(Timestamp)'

const sql = (sqlTemplate: string, displayType = 'number'): Json => ({ configType: 'sql', displayType, sqlTemplate })

/** Queries by what is special in them. */
const rawSql: Readonly<Record<string, Json>> = {
  'an open bracket': sql(`SELECT count( ${from}`),
  'a surplus bracket': sql(`SELECT count()) ${from}`),
  'an open quotation mark': sql(`SELECT count() ${from} AND SeverityText = 'error`),
  'an open name': sql(`SELECT count() ${from} AND "SeverityText = 1`),
  'an open comment': sql(`SELECT count() ${from} /* open`),
  'an open macro': sql('SELECT count() FROM default.otel_logs WHERE $__timeFilter(Timestamp'),
  settings: sql(`SELECT count() ${from} SETTINGS max_threads = 1`),
  'a comment with #': sql(`SELECT count() ${from} # all`),
  'a comment': sql(`SELECT count() ${from} -- all`),
  'a semicolon': sql(`SELECT count() ${from};`),
  'a format': sql(`SELECT count() ${from} FORMAT CSV`),
  'no SELECT': sql('EXISTS TABLE default.otel_logs'),
  'now()': sql('SELECT count() FROM default.otel_logs WHERE Timestamp > now() - INTERVAL 5 MINUTE'),
  'a misspelled table beside now()': sql('SELECT count() FROM default.otel_lgos WHERE Timestamp > now() - INTERVAL 5 MINUTE'),
  'no window': sql('SELECT count() FROM default.otel_logs'),
  'an unknown macro': sql('SELECT count() FROM default.otel_logs WHERE $__nope(Timestamp)'),
  'a macro without arguments': sql('SELECT count() FROM default.otel_logs WHERE $__timeFilter()'),
  'a macro with two arguments': sql('SELECT count() FROM default.otel_logs WHERE $__timeFilter(a, b)'),
  'a table of no source': sql('SELECT count() FROM $__sourceTable WHERE $__timeFilter(Timestamp)'),
  'a variable that does not exist': sql(`SELECT count() ${from} AND ServiceName = $env`),
  'an unknown parameter': sql(`SELECT count() ${from} AND 1 = {other:Int64}`),
  'the interval of a number': sql(`SELECT count() / {intervalSeconds:Int64} ${from}`),
  'a parameter of another type': sql('SELECT count() FROM default.otel_logs WHERE Timestamp >= {startDateMilliseconds:DateTime64(3)}'),
  'the interval in another type': sql(
    `SELECT toStartOfInterval(Timestamp, INTERVAL {intervalSeconds:UInt32} second) AS ts, count() ${from} GROUP BY ts`,
    'line',
  ),
  'a text': sql(`SELECT ServiceName ${from} LIMIT 1`),
  'many texts': sql('SELECT ServiceName, Body FROM default.otel_logs LIMIT 3000'),
  'a decimal': sql(`SELECT toDecimal64(count(), 2) AS d ${from}`),
  'a decimal that may be null': sql(`SELECT toNullable(toDecimal64(count(), 2)) AS d ${from}`),
  'a truth value': sql(`SELECT toBool(count() > 0) AS d ${from}`),
  'a time': sql(`SELECT max(Timestamp) AS d ${from}`),
  'a list': sql(`SELECT [count()] AS d ${from}`),
  'nothing but null': sql(`SELECT NULL AS d ${from} LIMIT 1`),
  'a variant of numbers': sql(`SELECT CAST(count(), 'Variant(Float64, UInt64)') AS d ${from}`),
  'a large number': sql(`SELECT toInt128(count()) AS d ${from}`),
  'a length of time': sql(`SELECT toIntervalSecond(count()) AS d ${from}`),
  'a line': sql(`SELECT $__timeInterval(Timestamp) AS ts, count() ${from} GROUP BY ts`, 'line'),
  'a line without a time': sql(`SELECT count() / $__interval_s ${from}`, 'line'),
  'a line of texts': sql(`SELECT $__timeInterval(Timestamp) AS ts, ServiceName ${from} GROUP BY ts, ServiceName`, 'line'),
}

const item = (aggFn: string, valueExpression?: string, more: Json = {}): Json => ({
  aggFn,
  ...(valueExpression !== undefined && { valueExpression }),
  ...more,
})

const metric = (aggFn: string, metricType: string | undefined, more: Json = {}): Json =>
  item(aggFn, 'Value', { metricName: 'http.server.requests', ...(metricType !== undefined && { metricType }), ...more })

/** Series by what is special in them. */
const series: Readonly<Record<string, readonly Json[]>> = {
  'a misspelled column': [item('avg', 'Severitynumber')],
  'a misspelled condition': [item('count', undefined, { where: 'Servicename:cart' })],
  'any text': [item('any', 'ServiceName')],
  'any text and a count': [item('any', 'ServiceName'), item('count')],
  'a decimal as it is': [item('none', 'toDecimal64(count(), 2)')],
  'a text as it is': [item('none', 'any(ServiceName)')],
  'a column as it is': [item('none', 'ServiceName')],
  'the maximum of a text': [item('max', 'ServiceName')],
  'a value with a dot': [item('avg', 'SeverityNumber * 0.5')],
  'a misspelled value with a dot': [item('avg', 'Severitynumber * 0.5')],
  'a quantile without its level': [item('quantile', 'SeverityNumber')],
  'equal aliases': [item('count', undefined, { alias: 'a' }), item('max', 'SeverityNumber', { alias: 'a' })],
}

const ofMetrics: Readonly<Record<string, Json>> = {
  'the sum of a metric': metric('sum', 'sum'),
  'the increase of a metric': metric('increase', 'sum'),
  'the increase of a gauge': metric('increase', 'gauge'),
  'the sum of a histogram': metric('sum', 'histogram'),
  'a quantile of a histogram without its level': metric('quantile', 'histogram'),
  'the average of an exponential histogram': metric('avg', 'exponential histogram'),
  'a summary': metric('avg', 'summary'),
  'a name of a metric without a type': metric('avg', undefined),
  'a change over periods': metric('avg', 'gauge', { periodAggFn: 'delta' }),
}

const searches: Readonly<Record<string, Json>> = {
  'a search': {},
  'a search with a misspelled condition': { where: 'Nope:1' },
  'a search with a misspelled filter': { filters: [{ type: 'sql', condition: "Nope IN ('a')" }] },
  'a search by an alias': { select: 'toString(Body) AS text', where: "text != ''", whereLanguage: 'sql' },
}

const line = (kind: 'log' | 'metric', select: readonly Json[]): Json => ({ displayType: 'line', kind, select })

export const problemCases: readonly ProblemCase[] = [
  ...Object.entries(rawSql).map(([name, config]) => ({ name, config })),
  ...Object.entries(series).map(([name, select]) => ({ name, config: line('log', select) })),
  ...Object.entries(ofMetrics).map(([name, one]) => ({ name, config: line('metric', [one]) })),
  ...Object.entries(searches).map(([name, savedSearch]) => ({ name, savedSearch })),
]

/** Keys of the alerts by the names of the cases. */
export const problemKeys: ReadonlyMap<string, string> = new Map(problemCases.map(({ name }, i) => [`a${i}`, name]))

/** A file with the cases of these indexes. */
export function declareProblems({ sources, connection }: References, webhook: string, indexes: readonly number[]): Json {
  const cases = indexes.flatMap((i) => {
    const one = problemCases[i]
    return one === undefined ? [] : [{ i, ...one }]
  })
  const tileOf = ({ name, config: { kind, ...config } = {} }: ProblemCase): Json => ({
    name,
    config: { ...config, ...(kind === undefined ? { connectionId: connection } : { sourceId: sources[kind as 'log'] }) },
  })
  const condition = { threshold: 0, interval: '5m', channel: { type: 'webhook', webhook } }
  return {
    dashboards: Object.fromEntries(
      cases.flatMap((one) => (one.config === undefined ? [] : [[`d${one.i}`, { name: `Problem: ${one.name}`, tiles: [tileOf(one)] }]])),
    ),
    savedSearches: Object.fromEntries(
      cases.flatMap(({ i, name, savedSearch }) =>
        savedSearch === undefined ? [] : [[`s${i}`, { name: `Problem: ${name}`, sourceId: sources.log, ...savedSearch }]],
      ),
    ),
    alerts: Object.fromEntries(
      cases.map(({ i, name, config }) => [
        `a${i}`,
        { name, ...condition, ...(config === undefined ? { savedSearch: `s${i}` } : { dashboard: `d${i}`, tile: name }) },
      ]),
    ),
  }
}

/** What a plan says about an alert: that it cannot be evaluated, that it never is, that its query was not run, or nothing. */
export type Prediction = 'fails' | 'never' | 'unknown' | 'evaluated'

const predictions: Readonly<Record<string, Prediction>> = {
  'failing-query': 'fails',
  'never-evaluated': 'never',
  'unchecked-query': 'unknown',
}

/** The predictions of a plan by the keys of its alerts. */
export function predictionsOf(
  diagnostics: readonly { readonly rule: string; readonly message: string }[],
  alerts: readonly string[] = [],
): ReadonlyMap<string, Prediction> {
  return new Map(
    diagnostics.flatMap(({ rule, message }) => {
      const prediction = predictions[rule]
      if (prediction === undefined) return []
      // Without a key for SQL, one note is about all of them.
      if (/^The queries of what the plan changes were not run \(/.test(message)) return alerts.map((key) => [key, prediction] as const)
      const [, key] = /^alerts\.(\w+): /.exec(message) ?? []
      return key === undefined ? [] : [[key, prediction] as const]
    }),
  )
}

/** What the alert task made of an alert. */
export function effectOf(rows: readonly Json[]): Exclude<Prediction, 'unknown'> {
  if (rows.length === 0) return 'never'
  return rows.some(({ state }) => state === 'ERROR') ? 'fails' : 'evaluated'
}
