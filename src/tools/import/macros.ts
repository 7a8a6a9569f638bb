// The macros of the data source, as pkg/macros/macros.go of grafana/clickhouse-datasource expands them (commit 1d04063a).

import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import { expandWith, type PrintTime, refuse, timeMacros } from '../../signals/backtest/window-sql.ts'
import { type GrafanaQuery, toSeconds } from './grafana-file.ts'
import type { TimeTexts } from './time.ts'

const startOf = (column: string, seconds: number): string => `toStartOfInterval(toDateTime(${column}), INTERVAL ${seconds} second)`

/** Macros of the data source only. */
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

const expand = (name: string, args: readonly string[], print: PrintTime, query: GrafanaQuery): string | undefined =>
  expandWith(timeMacros, name, args, print) ?? expandOwn(name, args, print, query)

/** The time of the query in an alert. `onRange` is called for a range that is not the evaluated window. */
export function alertTexts(query: GrafanaQuery, interval: AlertInterval, onRange: () => unknown): TimeTexts {
  const before = (seconds: number): string =>
    `fromUnixTimestamp64Milli({endDateMilliseconds:Int64}${seconds === 0 ? '' : ` - ${seconds * 1000}`})`
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
