// Alerts of which half can never fire, or always do, beside healthy ones of which many are quiet. What a plan says of each is compared with what it
// is, and its fact with the values of the product's own alert task.

import type { References } from './as-declared.ts'
import type { SourceKind } from './intents.ts'
import type { Json } from './product.ts'

export interface ValueCase {
  readonly name: string
  readonly isBroken: boolean
  readonly kind?: SourceKind
  readonly config: Json
  readonly condition: Json
}

const services = ['checkout', 'cart', 'payment', 'search'] as const

const above = (threshold: number): Json => ({ threshold, thresholdType: 'above', interval: '5m' })

const count = (where: string, whereLanguage: 'sql' | 'lucene' = 'lucene'): Json => ({ aggFn: 'count', where, whereLanguage })

const chart = (kind: SourceKind, select: readonly Json[], more: Json = {}) => ({ kind, config: { displayType: 'line', select, ...more } })

const number = (sqlTemplate: string) => ({ config: { configType: 'sql', displayType: 'number', sqlTemplate } })

const line = (sqlTemplate: string) => ({ config: { configType: 'sql', displayType: 'line', sqlTemplate } })

const logs = 'FROM default.otel_logs WHERE $__timeFilter(Timestamp)'

const share = { formulas: [{ expression: 'A / B' }] }

const metric = (metricName: string): Json => ({ aggFn: 'avg', valueExpression: 'Value', where: '', metricName, metricType: 'gauge' })

/** Alerts that can fire, with names that differ by the service. */
const healthyOf = (service: string): Readonly<Record<string, Omit<ValueCase, 'name' | 'isBroken'>>> => ({
  'errors, Lucene': { ...chart('log', [count(`ServiceName:${service} SeverityText:error`)]), condition: above(50) },
  'errors, exact': { ...chart('log', [count(`ServiceName:"${service}" SeverityText:"error"`)]), condition: above(50) },
  'errors, SQL': { ...chart('log', [count(`ServiceName = '${service}' AND SeverityText = 'error'`, 'sql')]), condition: above(50) },
  'fatal, rare': { ...chart('log', [count(`ServiceName:${service} SeverityText:fatal`)]), condition: above(1) },
  'a text that never was': { ...chart('log', [count(`ServiceName:${service} Body:"out of memory"`)]), condition: above(1) },
  'a code that never was': { ...chart('log', [count(`ServiceName:${service} LogAttributes.http.status_code:"503"`)]), condition: above(1) },
  'one of two': { ...chart('log', [count(`ServiceName IN ('${service}', 'gateway')`, 'sql')]), condition: above(5000) },
  'all but one': { ...chart('log', [count(`NOT ServiceName:${service}`)]), condition: above(5000) },
  absence: { ...chart('log', [count(`ServiceName:${service}`)]), condition: { ...above(1), thresholdType: 'below' } },
  'average duration': {
    ...chart('trace', [{ aggFn: 'avg', valueExpression: 'Duration', where: `ServiceName:${service}` }]),
    condition: above(1e10),
  },
  'quantile of durations': {
    ...chart('trace', [{ aggFn: 'quantile', level: 0.95, valueExpression: 'Duration', where: `ServiceName:${service}` }]),
    condition: above(1e10),
  },
  'share of errors': {
    ...chart('trace', [count(`ServiceName:${service} StatusCode:Error`), count(`ServiceName:${service}`)], share),
    condition: above(0.9),
  },
  'share of errors by service': {
    ...chart('trace', [count('StatusCode:Error'), count(`NOT SpanName:${service}`)], { ...share, groupBy: 'ServiceName' }),
    condition: above(0.9),
  },
  'longest text': {
    ...chart('log', [{ aggFn: 'max', valueExpression: 'length(Body)', where: `ServiceName:${service}` }]),
    condition: above(4000),
  },
  'distinct texts': {
    ...chart('log', [{ aggFn: 'count_distinct', valueExpression: 'Body', where: `ServiceName:${service}` }]),
    condition: above(1e6),
  },
  gauge: { ...chart('metric', [{ ...metric('cpu.utilization'), where: `ServiceName:${service}` }]), condition: above(0.99) },
  'SQL number': { ...number(`SELECT countIf(SeverityText = 'error') ${logs} AND ServiceName = '${service}'`), condition: above(500) },
  'SQL share': {
    ...number(`SELECT 100 * countIf(SeverityText = 'fatal') / count() ${logs} AND ServiceName = '${service}'`),
    condition: above(50),
  },
  'SQL lag': {
    ...number(
      `SELECT dateDiff('second', max(Timestamp), $__toTime) FROM default.otel_logs WHERE ServiceName = '${service}' AND Timestamp <= $__toTime`,
    ),
    condition: above(9000),
  },
  'SQL line': {
    ...line(
      `SELECT $__timeInterval(Timestamp) AS ts, SeverityText, count() AS n ${logs} AND ServiceName = '${service}' GROUP BY ts, SeverityText`,
    ),
    condition: above(5000),
  },
  'SQL of a scalar': {
    ...number(`SELECT (SELECT count() ${logs} AND ServiceName = '${service}') / (SELECT count() ${logs})`),
    condition: above(0.99),
  },
  'SQL with now()': {
    ...number(
      `SELECT count() FROM default.otel_logs WHERE ServiceName = '${service}' AND Timestamp > now() - INTERVAL 5 MINUTE AND Timestamp <= now()`,
    ),
    condition: above(5000),
  },
  'a logfmt text': { ...chart('log', [count(`ServiceName:${service} Body:"level=error"`)]), condition: above(1) },
  warnings: { ...chart('log', [count(`ServiceName:${service} SeverityText:warn`)]), condition: above(500) },
  'twice in a row': { ...chart('log', [count(`ServiceName:${service}`)]), condition: { ...above(9000), numConsecutiveWindows: 2 } },
})

/** Alerts that never fire, or always do. `typo` is a misspelled service. */
const brokenOf = (service: string, typo: string): Readonly<Record<string, Omit<ValueCase, 'name' | 'isBroken'>>> => ({
  'misspelled, Lucene': { ...chart('log', [count(`ServiceName:${typo}`)]), condition: above(5) },
  'misspelled beside another term': { ...chart('log', [count(`SeverityText:info ServiceName:"${typo}"`)]), condition: above(5) },
  'misspelled, SQL': { ...chart('log', [count(`ServiceName = '${typo}'`, 'sql')]), condition: above(5) },
  'misspelled, traces': { ...chart('trace', [count(`ServiceName:${typo}`)]), condition: above(5) },
  'in another case': { ...chart('log', [count(`ServiceName = '${service.toUpperCase()}'`, 'sql')]), condition: above(5) },
  'a misspelled severity': { ...chart('log', [count(`ServiceName:${service} SeverityText:eror`)]), condition: above(5) },
  'a misspelled denominator': {
    ...chart('trace', [count(`ServiceName:${service} StatusCode:Error`), count(`ServiceName:${typo}`)], share),
    condition: above(0.05),
  },
  'a misspelled denominator, busy': {
    ...chart('trace', [count(`ServiceName:${service}`), count(`ServiceName:${typo}`)], share),
    condition: above(0.05),
  },
  'a percentage of all': { ...chart('trace', [count(`ServiceName:${service} StatusCode:Error`), count('')], share), condition: above(5) },
  'an average of a text': {
    ...chart('log', [{ aggFn: 'avg', valueExpression: 'Body', where: `ServiceName:${service}` }]),
    condition: above(1),
  },
  'an average of a missing key': {
    ...chart('log', [{ aggFn: 'avg', valueExpression: "LogAttributes['latensy']", where: `ServiceName:${service}` }]),
    condition: above(1),
  },
  'a quantile of a text': {
    ...chart('log', [{ aggFn: 'quantile', level: 0.95, valueExpression: 'SeverityText', where: `ServiceName:${service}` }]),
    condition: above(1),
  },
  'a missing key': { ...chart('log', [count(`ServiceName:${service} LogAttributes.http.statuscode:500`)]), condition: above(1) },
  'a misspelled metric': { ...chart('metric', [{ ...metric('cpu.utilisation'), where: `ServiceName:${service}` }]), condition: above(0.9) },
  'SQL in Lucene': { ...chart('log', [count(`ServiceName = '${service}' AND SeverityText = 'error'`)]), condition: above(5) },
  'SQL IN in Lucene': { ...chart('log', [count(`ServiceName IN ('${service}')`)]), condition: above(5) },
  'SQL NOT in Lucene': { ...chart('log', [count(`NOT (ServiceName = '${service}')`)]), condition: above(5) },
  'milliseconds for nanoseconds': {
    ...chart('trace', [{ aggFn: 'avg', valueExpression: 'Duration', where: `ServiceName:${service}` }]),
    condition: above(500),
  },
  'always below': { ...chart('log', [count(`ServiceName:${typo}`)]), condition: { ...above(1), thresholdType: 'below' } },
  'SQL without time': { ...number(`SELECT count() FROM default.otel_logs WHERE ServiceName = '${service}'`), condition: above(5) },
  'SQL with an open part': {
    ...number(`SELECT (SELECT count() ${logs} AND ServiceName = '${service}') / (SELECT count() FROM default.otel_logs)`),
    condition: above(0.01),
  },
  'SQL with an open end': {
    ...number(`SELECT dateDiff('second', max(Timestamp), $__toTime) FROM default.otel_logs WHERE ServiceName = '${service}'`),
    condition: above(30_000),
  },
  'SQL OR without brackets': {
    ...number(
      `SELECT count() FROM default.otel_logs WHERE ServiceName = '${service}' OR SeverityText = 'error' AND $__timeFilter(Timestamp)`,
    ),
    condition: above(5),
  },
  'a line by day': {
    ...line(`SELECT toDate($__timeInterval(Timestamp)) AS ts, count() AS n ${logs} AND ServiceName = '${service}' GROUP BY ts`),
    condition: above(1),
  },
  'SQL of no row': { ...number(`SELECT count() ${logs} AND ServiceName = '${service}' LIMIT 0`), condition: above(1) },
})

const typos: Readonly<Record<string, string>> = { checkout: 'chekout', cart: 'crat', payment: 'paymnt', search: 'serach' }

export const valueCases: readonly ValueCase[] = services.flatMap((service) =>
  [healthyOf(service), brokenOf(service, typos[service] ?? '')].flatMap((cases, i) =>
    Object.entries(cases).map(([name, one]) => ({ name: `${service}: ${name}`, isBroken: i === 1, ...one })),
  ),
)

/** A file with some of the cases: `a0`, `a1`, …. */
export function declareValues({ sources, connection }: References, webhook: string, from: number, until: number): Json {
  const cases = valueCases.slice(from, until).map((one, i) => ({ key: `a${from + i}`, ...one }))
  return {
    dashboards: {
      [`values-${from}`]: {
        name: `Values from ${from}`,
        tiles: cases.map(({ name, kind, config }) => ({
          name,
          config: { ...config, ...(kind === undefined ? { connectionId: connection } : { sourceId: sources[kind] }) },
        })),
      },
    },
    alerts: Object.fromEntries(
      cases.map(({ key, name, condition }) => [
        key,
        { name, dashboard: `values-${from}`, tile: name, ...condition, channel: { type: 'webhook', webhook } },
      ]),
    ),
  }
}

/** The keys of the alerts that a plan warns of, by themselves or by their tile. */
export function warnedKeys(diagnostics: readonly { readonly severity: string; readonly message: string }[]): ReadonlySet<string> {
  return new Set(
    valueCases.flatMap(({ name }, i) => {
      const names = new RegExp(String.raw`\balerts\.a${i}\b|\.tiles\["${RegExp.escape(name)}"\]`)
      return diagnostics.some(({ severity, message }) => severity === 'warning' && names.test(message)) ? [`a${i}`] : []
    }),
  )
}

const isNear = (one: number, value: number): boolean => Math.abs(one - value) <= Math.abs(one) * 1e-3

const numbersOf = (texts: readonly string[]): readonly number[] =>
  // The server counts no value as 0.
  texts.map((one) => (one === 'none' ? 0 : Number(one.replaceAll(',', ''))))

/** How the range of a day in a fact differs from the values of its windows, all or a sample; `unknown` without a range or values. */
export function explainRange(fact: string, values: readonly number[]): string | undefined {
  const [, low, high = low, filled, all] = /; 24 h: ([^;]*?)(?: … ([^;]*?))? in (\d+) of (\d+) windows/.exec(fact) ?? []
  if (low === undefined || high === undefined || values.length === 0) return 'unknown'
  const [least = 0, most = 0] = numbersOf([low, high])
  const isWhole = filled === '288' && all === '288'
  const isEqual = isWhole
    ? isNear(least, Math.min(...values.filter((one) => one !== 0 || least === 0))) && isNear(most, Math.max(...values))
    : [least, most].every((one) => values.some((value) => isNear(one, value)))
  return isEqual ? undefined : `${fact} / the alert task: ${Math.min(...values)} … ${Math.max(...values)} of ${values.length} windows`
}

/** How a fact differs from the values of a window; undefined where it does not, and `unknown` without a value of one. */
export function explainFact(fact: string, values: readonly number[]): string | undefined {
  const [, low, high = low] = /^now ([^;]*?)(?: … ([^;]*?))?;/.exec(fact) ?? []
  if (low === undefined || fact.includes('its past is unknown')) return 'unknown'
  const [least = 0, most = 0] = numbersOf([low, high ?? low])
  // A group without rows is stored as 0, beside those with rows.
  const compared = values.some((one) => one !== 0) ? values.filter((one) => one !== 0 || least === 0) : values
  return isNear(least, Math.min(...compared)) && isNear(most, Math.max(...compared))
    ? undefined
    : `${fact} / the alert task: ${values.join(', ')}`
}
