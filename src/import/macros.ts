// The macros of the data source, as pkg/macros/macros.go of grafana/clickhouse-datasource expands them (commit 1d04063a).
import { refuse } from '../backtest/window-sql.ts'
import { type AlertInterval, intervalMs } from '../kinds/alert/schedule.ts'
import { type GrafanaQuery, toSeconds } from './grafana-file.ts'
import type { TimeTexts } from './time.ts'

type End = 'from' | 'to'

/** Prints an end of the time range in a type. */
type Print = (type: 'Date' | 'DateTime' | 'DateTime64', end: End) => string

const between = (column: string, type: Parameters<Print>[0], print: Print): string =>
  `${column} >= ${print(type, 'from')} AND ${column} <= ${print(type, 'to')}`

const dateAndTime = ([date = '', time = '']: readonly string[], print: Print): string =>
  `(${between(date, 'Date', print)}) AND (${between(time, 'DateTime', print)})`

/** The product has these, too, about the evaluated window. The number is that of their arguments. */
const shared: Readonly<Record<string, readonly [number, (args: readonly string[], print: Print) => string]>> = {
  fromTime: [0, (_, print) => print('DateTime', 'from')],
  toTime: [0, (_, print) => print('DateTime', 'to')],
  fromTime_ms: [0, (_, print) => print('DateTime64', 'from')],
  toTime_ms: [0, (_, print) => print('DateTime64', 'to')],
  timeFilter: [1, ([column = ''], print) => between(column, 'DateTime', print)],
  timeFilter_ms: [1, ([column = ''], print) => between(column, 'DateTime64', print)],
  dateFilter: [1, ([column = ''], print) => between(column, 'Date', print)],
  dateTimeFilter: [2, dateAndTime],
  dt: [2, dateAndTime],
}

const startOf = (column: string, seconds: number): string => `toStartOfInterval(toDateTime(${column}), INTERVAL ${seconds} second)`

/** Macros of the data source only. */
function expandOwn(name: string, [first = '', second = '']: readonly string[], print: Print, { model }: GrafanaQuery): string | undefined {
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

function expand(name: string, args: readonly string[], print: Print, query: GrafanaQuery): string | undefined {
  const [count, toText] = (Object.hasOwn(shared, name) ? shared[name] : undefined) ?? []
  if (toText === undefined) return expandOwn(name, args, print, query)
  return count === args.length ? toText(args, print) : refuse(`the macro $__${name} has ${args.length} arguments instead of ${count}`)
}

/** Whether the time range of the query is the evaluated window. */
export const isWindow = ({ relativeTimeRange: range }: GrafanaQuery, interval: AlertInterval): boolean =>
  !range?.to && (range?.from ?? 0) * 1000 === intervalMs[interval]

/** The time of the query in an alert. `onRange` is called for a range that is not the evaluated window. */
export function alertTexts(query: GrafanaQuery, interval: AlertInterval, onRange: () => unknown): TimeTexts {
  const before = (seconds: number): string =>
    `fromUnixTimestamp64Milli({endDateMilliseconds:Int64}${seconds === 0 ? '' : ` - ${seconds * 1000}`})`
  const print: Print = (type, end) => {
    const { from, to } = query.relativeTimeRange ?? {}
    if (!from) return refuse('the query uses a time range, and relativeTimeRange is missing')
    onRange()
    const at = before(end === 'from' ? from : (to ?? 0))
    return type === 'DateTime64' ? at : `to${type}(${at})`
  }
  return {
    end: before(0),
    macro(name, args) {
      const isShared = Object.hasOwn(shared, name) && shared[name]?.[0] === args.length && isWindow(query, interval)
      return isShared ? `$__${name}${args.length === 0 ? '' : `(${args.join(', ')})`}` : expand(name, args, print, query)
    },
  }
}

/** The time of the query in Grafana at an evaluation. */
export function grafanaTexts(query: GrafanaQuery, atMs: number): TimeTexts {
  const print: Print = (type, end) => {
    const ms = atMs - (query.relativeTimeRange?.[end] ?? 0) * 1000
    if (type === 'DateTime64') return `fromUnixTimestamp64Milli(${ms})`
    return type === 'Date' ? `toDate('${new Date(ms).toISOString().slice(0, 10)}')` : `toDateTime(${Math.floor(ms / 1000)})`
  }
  return { end: `fromUnixTimestamp64Milli(${atMs})`, macro: (name, args) => expand(name, args, print, query) }
}
