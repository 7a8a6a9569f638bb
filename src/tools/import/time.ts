// The time of a query. In an alert, macros of Grafana's data source and functions such as now() count from the end of the evaluated window.

import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import { toTokens } from '../../platform/core/sql.ts'
import { quote } from '../../platform/core/text.ts'
import { expandMacros, expandWith, type PrintTime, refuse, timeMacros } from '../../signals/backtest/window-sql.ts'
import { type GrafanaQuery, toSeconds } from './grafana-file.ts'

interface TimeTexts {
  /** Undefined for an unknown macro. */
  readonly macro: (name: string, args: readonly string[]) => string | undefined
  readonly end: string
}

interface TimedSql {
  readonly sql: string
  /** Whether a query of the past would count rows after its window. A query of the present finds none. */
  readonly readsLater: boolean
}

export function translateTime(sql: string, { macro, end }: TimeTexts): TimedSql {
  const expanded = expandMacros(sql, (name, args) => {
    if (name.startsWith('_')) return refuse('the query has a macro in a macro')
    return macro(name, args) ?? refuse(`the macro ${quote(`$__${name}`)} has no equivalent; write its SQL`)
  })
  const hidden: string[] = []
  const masked = toTokens(expanded)
    .map((token) => (/^['"`]./s.test(token) ? `${token[0]}\u0001${hidden.push(token) - 1}${token[0]}` : token))
    .join('')
  const limited = excludeLater(masked.replace(/(?<![\s;])[\s;]+$/, ''), end)
  const text = limited.sql.replace(everyCall, (call) => toFixed(call, end))
  return { sql: text.replace(/(['"`])\u0001(\d+)\1/g, (_, __, i: string) => hidden[Number(i)] ?? ''), readsLater: limited.readsLater }
}

const call =
  '(?<![\\w.$])(?:(?:now|now64|nowInBlock|nowInBlock64|current_timestamp|utc_?timestamp|today|yesterday|curdate|current_date)\\s*\\([^()]*\\)|(?:current_timestamp|current_date|localtimestamp)\\b(?!\\s*\\())'

const everyCall = new RegExp(call, 'gi')

/** The end of the window with the type of the function, as ClickHouse 26.9 states it. */
function toFixed(text: string, end: string) {
  const [, name = '', args = ''] = /^(\w+)\s*\(?([^()]*)/s.exec(text) ?? []
  const and = args.trim() === '' ? '' : `, ${args.trim()}`
  if (/^(?:today|curdate|current_date)$/i.test(name)) return `toDate(${end})`
  if (/^yesterday$/i.test(name)) return `(toDate(${end}) - 1)`
  if (/^utc/i.test(name)) return `toDateTime(${end}, 'UTC')`
  if (/64$/.test(name)) return and === '' ? end : `toDateTime64(${end}${and})`
  return `toDateTime(${end}${and})`
}

const column = '(?:(?:[A-Za-z_]\\w*|`[^`]*`|"[^"]*")(?:\\.(?:\\w+|`[^`]*`|"[^"]*"))*)'
/** A number of a time, in which both sides of a comparison or a difference are. */
const numeric = '(?:to(?:UnixTimestamp(?:64\\w+)?|U?Int(?:32|64)|Float64)\\s*\\(\\s*)'
const shift = '(?:(?:(?:date|timestamp)_?sub\\s*\\([^,()]+,[^,()]+,|(?:subtract\\w+|date_?sub|toDateTime(?:64)?|toStartOf\\w+)\\s*\\()\\s*)'

/** `column >= now() - …`, where it is a condition by itself. */
const lowerLimit = new RegExp(
  `(?<=(?:\\b(?:where|prewhere|and|or|on|when|having)\\s|[(,])\\s{0,99})(${column})\\s*>=?\\s*(${numeric})?${shift}?(${call})`,
  'gi',
)
/** `dateDiff('second', max(column), now())`, `now() - max(column)` and `max(column) < now() - …`. */
const lags = [
  `(date_?diff\\s*\\([^()]*,\\s*)max\\s*\\(\\s*(${column})\\s*\\)(\\s*,\\s*${call})`,
  `(${call}\\s*-\\s*)max\\s*\\(\\s*(${column})\\s*\\)()`,
  `(${numeric}${call}\\s*\\)\\s*-\\s*${numeric})max\\s*\\(\\s*(${column})\\s*\\)()`,
  `(\\bhaving\\s+)max\\s*\\(\\s*(${column})\\s*\\)(\\s*<=?\\s*${shift}?${call})`,
].map((lag) => new RegExp(lag, 'gi'))

/** The values of calls in these places count no rows: upper limits, and columns of the result. */
function countsNothing(text: string, from: number, to: number) {
  const before = text.slice(Math.max(0, from - 500), from).replace(/(?:\w+\s*\(\s*)+$/, '')
  if (/(?:<=?|\bbetween|\bbetween\s(?:(?!\band\b)[^()]|\([^()]*\))*\band)\s*$/i.test(before)) return true
  const list = before.slice(before.toLowerCase().lastIndexOf('select'))
  const isOutside = list.split('(').length === list.split(')').length
  return (
    isOutside && /^select\b/i.test(list) && /(?:select|,)\s*$/i.test(list) && /^[\s)]*(?:,|as\b|from\b|$)/i.test(text.slice(to, to + 100))
  )
}

/** Whether a row for which the comparison is false counts nothing: it is not negated, compared, or an argument of another function. */
function isCondition(text: string, { 0: whole, index }: RegExpExecArray) {
  const [rest = ''] = text.slice(index + whole.length).split(/\bend\b/i)
  const isOther = /\bwhen\s*$/i.test(text.slice(0, index)) && /\belse\s+(?!(?:0|null)\s*$)/i.test(rest)
  return !isOther && bracketsAround(text, index).every(([open, close]) => isPlain(text.slice(0, open), text.slice(close + 1)))
}

/** Whether a bracket has the condition of an aggregation, or is a part of a condition. */
const isPlain = (before: string, after: string) =>
  /\b(?:sum|(?!multi)\w+if)\s*$/i.test(before.slice(-100)) ||
  (/(?:^|[(,]|\b(?:where|prewhere|having|on|when|and|or|then|else|select))\s*$/i.test(before.slice(-100)) &&
    !/^\s*(?:[=!<>+*/%-]|(?:is|in|not|between|i?like|xor)\b)/i.test(after.slice(0, 100)))

/** The places of the brackets around an index, from inside, up to those of a subquery. */
function bracketsAround(text: string, index: number): readonly (readonly [number, number])[] {
  const opened: number[] = []
  const around: [number, number][] = []
  for (const { 0: bracket, index: at } of text.matchAll(/[()]/g)) {
    if (bracket === '(') opened.push(at)
    else {
      const open = opened.pop() ?? 0
      if (open < index && at > index) around.push([open, at])
    }
  }
  const subquery = around.findIndex(([open]) => /^\(\s*(?:select|with)\b/i.test(text.slice(open, open + 100)))
  return subquery < 0 ? around : around.slice(0, subquery)
}

/** Excludes rows after the end where the query compares a column with the present. */
function excludeLater(text: string, end: string): TimedSql {
  const now = `toDateTime(${end})`
  // All rows of a day have the same date. A column that is compared with a day may be one.
  const mayBeDate = (name: string, of: string) =>
    /(?:^|[._])(?:date|day)$|[a-z](?:Date|Day)$/.test(name) ||
    (/^\w*da(?:y|te)\b/i.test(of) && !/time|stamp|(?:^|[._])ts$|_at$|At$/i.test(name))
  const limits = [...text.matchAll(lowerLimit)].filter((match) => isCondition(text, match))
  const limited = limits.filter(([, name = '', , of = '']) => !mayBeDate(name, of))
  const explained = [...limited, ...lags.flatMap((lag) => [...text.matchAll(lag)])]
  const readsLater = [...text.matchAll(everyCall)].some(
    ({ 0: { length }, index }) =>
      !explained.some((match) => match.index <= index && index < match.index + match[0].length) &&
      !countsNothing(text, index, index + length),
  )
  const sql = limits.toReversed().reduce((all, { 1: name = '', 2: as = '', index }) => {
    return `${all.slice(0, index)}${name} <= ${as}${now}${as === '' ? '' : ')'} AND ${all.slice(index)}`
  }, text)
  const toLimited = (_: string, before: string, name: string, after: string) => `${before}maxIf(${name}, ${name} <= ${now})${after}`
  return { sql: lags.reduce((all, lag) => all.replace(lag, toLimited), sql), readsLater }
}

// The macros of the data source, as pkg/macros/macros.go of grafana/clickhouse-datasource expands them (commit 1d04063a).

const startOf = (column: string, seconds: number) => `toStartOfInterval(toDateTime(${column}), INTERVAL ${seconds} second)`

function expandOwn(
  name: string,
  [first = '', second = '']: readonly string[],
  print: PrintTime,
  { model }: GrafanaQuery,
): string | undefined {
  // Rules without a step have one of a second.
  const stepMs = typeof model?.intervalMs === 'number' && model.intervalMs >= 1 ? Math.floor(model.intervalMs) : 1000
  const step = Math.max(1, Math.floor(stepMs / 1000))
  if (name === 'timeFrom') return `${first} >= ${print('DateTime', 'from')}`
  if (name === 'timeTo') return `${first} <= ${print('DateTime', 'to')}`
  if (name === 'timeInterval') return startOf(first, step)
  if (name === 'timeInterval_ms') return `toStartOfInterval(toDateTime64(${first}, 3), INTERVAL ${stepMs} millisecond)`
  if (name === 'timeGroup')
    return startOf(
      first,
      Math.round(toSeconds(second.replace(/^['"](.*)['"]$/, '$1')) ?? 0) || refuse('the period of $__timeGroup is unknown'),
    )
  if (name === 'interval_s') return String(step)
  if (name === 'interval_ms') return String(stepMs)
  const value = name === 'table' || name === 'column' ? model?.[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

const expand = (name: string, args: readonly string[], print: PrintTime, query: GrafanaQuery) =>
  expandWith(timeMacros, name, args, print) ?? expandOwn(name, args, print, query)

/** The time of the query in an alert. `onRange` is called for a range that is not the evaluated window. */
export function alertTexts(query: GrafanaQuery, interval: AlertInterval, onRange: () => unknown): TimeTexts {
  const before = (seconds: number) => `fromUnixTimestamp64Milli({endDateMilliseconds:Int64}${seconds === 0 ? '' : ` - ${seconds * 1000}`})`
  const { from, to } = query.relativeTimeRange ?? {}
  const print: PrintTime = (type, end) => {
    if (!from) return refuse('the query uses a time range, and relativeTimeRange is missing')
    onRange()
    const at = before(end === 'from' ? from : (to ?? 0))
    return type === 'DateTime64' ? at : `to${type}(${at})`
  }
  // The product has these macros for the evaluated window.
  const isWindow = !to && (from ?? 0) * 1000 === intervalMs[interval]
  return {
    end: before(0),
    macro: (name, args) =>
      isWindow && Object.hasOwn(timeMacros, name)
        ? `$__${name}${args.length === 0 ? '' : `(${args.join(', ')})`}`
        : expand(name, args, print, query),
  }
}

/** The time of the query in Grafana at an evaluation. */
export function grafanaTexts(query: GrafanaQuery, atMs: number): TimeTexts {
  const print: PrintTime = (type, end) => {
    const ms = atMs - (query.relativeTimeRange?.[end] ?? 0) * 1000
    if (type === 'DateTime64') return `fromUnixTimestamp64Milli(${ms})`
    return type === 'Date' ? `toDate('${new Date(ms).toISOString().slice(0, 10)}')` : `toDateTime(${Math.floor(ms / 1000)})`
  }
  return { end: `fromUnixTimestamp64Milli(${atMs})`, macro: (name, args) => expand(name, args, print, query) }
}
