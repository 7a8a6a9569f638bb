// The queries of an SLO. They end at {endDateMilliseconds}. Only the chart over time uses {startDateMilliseconds}: after a missed
// evaluation, the server moves it back.

import { countWith, type SourceTable } from '../../kinds/source/source-wire.ts'
import { nameOfTable } from '../../platform/core/sql.ts'
import { type BurnRateAlert, burnRateFactors, noDataSpan, type Span, windowMs } from './burn-rates.ts'
import { namePrefix } from './condition.ts'
import type { DeclaredSlo } from './slo-file.ts'

/** The source of an SLO. */
export interface SloSource extends SourceTable {
  readonly id: string
}

/** SQL that only ever counts the events of one SLO. */
interface Events {
  readonly table: string
  readonly time: string
  /** Selects the counted events, with the filter of the source. */
  readonly total: string
  readonly good: string
  readonly group: string | undefined
  readonly count: (condition?: string) => string
}

const eventsOf = ({ total, good, groupBy }: DeclaredSlo, source: SloSource): Events => ({
  table: nameOfTable(source),
  time: `(${source.time})`,
  total: source.filter === undefined ? `(${total})` : `(${source.filter})\n    AND (${total})`,
  good: `(${good})`,
  // A number could be taken for the value.
  group: groupBy === undefined ? undefined : `ifNull(toString((${groupBy})), '')`,
  count: countWith(source.sampleRate),
})

const end = 'fromUnixTimestamp64Milli({endDateMilliseconds:Int64})'

const before = (ms: number): string => `fromUnixTimestamp64Milli({endDateMilliseconds:Int64} - ${ms})`

const name = <C extends string>(column: C) => `${namePrefix}${column}` as const

/** `toFloat64`, because a division of whole numbers is exact up to 2^53 and a product of unsigned ones wraps. */
const column = (expression: string, as: string): string => `    toFloat64(${expression}) AS ${name(as)}`

const since = ({ time, total }: Events, { ms }: Span): string => `${time} >= ${before(ms)} AND ${time} < ${end}\n    AND ${total}`

/** The group of a row, as one more column. */
const groupColumn = ({ group }: Events): readonly string[] => (group === undefined ? [] : [`    ${group} AS ${name('group')}`])

const groupClause = ({ group }: Events): string => (group === undefined ? '' : `\n  GROUP BY ${name('group')}`)

/** The counts of windows that end now: from one scan of the longest. */
function countWindows(events: Events, longest: Span, columns: readonly string[]): string {
  return `(
  SELECT
${[...groupColumn(events), ...columns].join(',\n')}
  FROM ${events.table}
  WHERE ${since(events, longest)}${groupClause(events)}
)`
}

const rateOf = (slo: DeclaredSlo, window: string): string => {
  const { multiplier, divisor } = burnRateFactors(slo.objective)
  const [good, total] = [name(`${window}_good`), name(`${window}_total`)]
  return `(${total} - ${good}) * ${multiplier} / (${total} * ${divisor})`
}

/**
 * The smaller burn rate of the two windows of an alert, and 0 with too few events. One row, or one for each group with the time that a
 * tile over time needs. The server compares the last number of a row.
 */
export function burnRateSql(slo: DeclaredSlo, source: SloSource, { long, short }: Pick<BurnRateAlert, 'long' | 'short'>): string {
  const events = eventsOf(slo, source)
  const isRecent = `${events.time} >= ${before(short.ms)}`
  const counts = countWindows(events, long, [
    column(events.count(), 'long_total'),
    column(events.count(events.good), 'long_good'),
    column(events.count(isRecent), 'short_total'),
    column(events.count(`${isRecent} AND ${events.good}`), 'short_good'),
  ])
  // Divisions by zero stay in the branch that is not taken. least(x, nan) would be nan, and least(nan, x) would be x.
  const value = `if(${name('long_total')} < ${slo.minEvents} OR ${name('short_total')} = 0, 0, least(${rateOf(slo, 'long')}, ${rateOf(slo, 'short')})) AS "Burn rate"`
  if (events.group === undefined) return `SELECT ${value}\nFROM ${counts}`
  return `SELECT
  toStartOfInterval(fromUnixTimestamp64Milli({endDateMilliseconds:Int64} - 1), INTERVAL {intervalSeconds:Int64} second) AS "Time",
  ${name('group')} AS "Group",
  ${value}
FROM ${counts}
ORDER BY "Group"`
}

/** The part of the budget that is left, 1 for all of it; NULL without events. With groups: a row for each, the worst first. */
export function budgetSql(slo: DeclaredSlo, source: SloSource): string {
  const events = eventsOf(slo, source)
  const counts = countWindows(events, { name: slo.window, ms: windowMs(slo) }, [
    column(events.count(), 'all_total'),
    column(events.count(events.good), 'all_good'),
  ])
  const left = `if(${name('all_total')} = 0, NULL, 1 - ${rateOf(slo, 'all')}) AS "Budget left"`
  if (events.group === undefined) return `SELECT ${left}\nFROM ${counts}`
  return `SELECT
  ${name('group')} AS "Group",
  ${name('all_total')} AS "Events",
  ${name('all_total')} - ${name('all_good')} AS "Bad events",
  ${left}
FROM ${counts}
ORDER BY "Budget left"`
}

/** The part of good events over the time of the dashboard. */
export function indicatorSql(slo: DeclaredSlo, source: SloSource): string {
  const events = eventsOf(slo, source)
  const columns = [
    `    toStartOfInterval(${events.time}, INTERVAL {intervalSeconds:Int64} second) AS ${name('time')}`,
    ...groupColumn(events),
    column(events.count(), 'all_total'),
    column(events.count(events.good), 'all_good'),
  ]
  const group = events.group === undefined ? '' : `${name('group')} AS "Group", `
  return `SELECT ${name('time')} AS "Time", ${group}${name('all_good')} / ${name('all_total')} AS "Good"
FROM (
  SELECT
${columns.join(',\n')}
  FROM ${events.table}
  WHERE ${events.time} >= fromUnixTimestamp64Milli({startDateMilliseconds:Int64}) AND ${events.time} < ${end}
    AND ${events.total}
  GROUP BY ${[name('time'), ...(events.group === undefined ? [] : [name('group')])].join(', ')}
)
ORDER BY "Time"`
}

/** The events of the last hour, of all groups. */
export function eventsSql(slo: DeclaredSlo, source: SloSource): string {
  const events = eventsOf(slo, source)
  return `SELECT ${events.count()} AS ${name('events')}\nFROM ${events.table}\nWHERE ${since(events, noDataSpan)}`
}

const hourSeconds = 3600

/** The columns of `historySql`. */
export const historyColumns = { start: name('start'), group: name('group'), total: name('all_total'), good: name('all_good') } as const

/**
 * The counts over the window of the SLO, by steps of `stepSeconds` in the last `recentMs`, and by hours before. Starts are in seconds since
 * 1970. The first step and the last hour may be a part.
 */
export function historySql(
  slo: DeclaredSlo,
  source: SloSource,
  { stepSeconds, recentMs }: { readonly stepSeconds: number; readonly recentMs: number },
): string {
  const events = eventsOf(slo, source)
  const { time, group } = events
  const startOf = (seconds: number): string => `intDiv(toUnixTimestamp(${time}), ${seconds}) * ${seconds}`
  const columns = [
    `  if(${time} >= ${before(recentMs)}, ${startOf(stepSeconds)}, ${startOf(hourSeconds)}) AS ${historyColumns.start}`,
    ...(group === undefined ? [] : [`  ${group} AS ${historyColumns.group}`]),
    `  toFloat64(${events.count()}) AS ${historyColumns.total}`,
    `  toFloat64(${events.count(events.good)}) AS ${historyColumns.good}`,
  ]
  return `SELECT
${columns.join(',\n')}
FROM ${events.table}
WHERE ${since(events, { name: slo.window, ms: windowMs(slo) })}
GROUP BY ${[historyColumns.start, ...(group === undefined ? [] : [historyColumns.group])].join(', ')}
ORDER BY ${historyColumns.start}`
}
