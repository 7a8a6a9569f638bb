import { countWith, type SourceTable } from '../../kinds/source/source-wire.ts'
import { fromText } from '../../platform/core/decimal.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/core/durations.ts'
import { nameOfTable } from '../../platform/core/sql.ts'
import { namePrefix } from './condition.ts'
import type { DeclaredSlo } from './slo-file.ts'

/** An alert of "Alerting on SLOs" in Google's SRE workbook (table 5-8). A burn rate of 1 spends the budget exactly in the SLO's window. */
export interface BurnRateAlert {
  readonly id: 'page-1h' | 'page-6h' | 'ticket-3d'
  readonly recipient: 'page' | 'ticket'
  readonly rate: number
  readonly long: Span
  readonly short: Span
  /** As long as the short window, so that little data is read. */
  readonly interval: '5m' | '30m' | '6h'
}

interface Span {
  readonly name: string
  readonly ms: number
}

const span = (name: string, ms: number): Span => ({ name, ms })

// The rates are those for 30 days, also for other windows: scaled to 7 days they would open tickets while the objective is met.
export const burnRateAlerts: readonly BurnRateAlert[] = [
  { id: 'page-1h', recipient: 'page', rate: 14.4, long: span('1h', hourMs), short: span('5m', 5 * minuteMs), interval: '5m' },
  { id: 'page-6h', recipient: 'page', rate: 6, long: span('6h', 6 * hourMs), short: span('30m', 30 * minuteMs), interval: '30m' },
  { id: 'ticket-3d', recipient: 'ticket', rate: 1, long: span('3d', 3 * dayMs), short: span('6h', 6 * hourMs), interval: '6h' },
]

/** The alerts that an SLO wants. */
export const wantedAlerts = ({ alerts }: DeclaredSlo): readonly BurnRateAlert[] =>
  burnRateAlerts.filter(({ recipient }) => alerts?.[recipient] !== undefined)

export const noDataSpan: Span = span('1h', hourMs)

export const windowMs = ({ window }: DeclaredSlo): number => Number.parseInt(window, 10) * dayMs

/** Burn rate = bad × multiplier / (total × divisor), in whole numbers, so that it is exact up to its last division. */
interface BurnRateFactors {
  readonly multiplier: number
  readonly divisor: number
}

/** Four digits after the point keep the product below 2^53 for a billion bad events. */
export const maxObjectiveDigits = 4

export function burnRateFactors(objective: number): BurnRateFactors {
  const scale = 10 ** digitsOf(objective)
  const budget = fromText('100').minus(String(objective)).times(scale).toNumber()
  const multiplier = 100 * scale
  const divisor = greatestCommonDivisor(multiplier, budget)
  return { multiplier: multiplier / divisor, divisor: budget / divisor }
}

export const digitsOf = (objective: number): number => {
  const [, fraction = ''] = fromText(String(objective)).toFixed().split('.')
  return fraction.length
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b))

export const maxBurnRate = (objective: number): number => {
  const { multiplier, divisor } = burnRateFactors(objective)
  return multiplier / divisor
}

/** Percentage of the budget that is gone when the alert can fire first. */
export const budgetShare = ({ rate, long }: BurnRateAlert, slo: DeclaredSlo): number => (100 * rate * long.ms) / windowMs(slo)

/** Undefined without events. */
export function burnRate({ multiplier, divisor }: BurnRateFactors, { good, total }: Counts): number | undefined {
  return total === 0 ? undefined : ((total - good) * multiplier) / (total * divisor)
}

/** A percentage. Undefined without events. */
export function budgetLeft({ multiplier, divisor }: BurnRateFactors, { good, total }: Counts): number | undefined {
  return total === 0 ? undefined : (100 * (total * divisor - (total - good) * multiplier)) / (total * divisor)
}

/** Events in a span of time. With a sample rate, each stored event counts for several. */
export interface Counts {
  readonly good: number
  readonly total: number
}

// The queries of an SLO. They end at {endDateMilliseconds}. Only the chart over time uses {startDateMilliseconds}: after a missed
// evaluation, the server moves it back.

export interface SloSource extends SourceTable {
  readonly id: string
}

interface Events {
  readonly table: string
  readonly time: string
  /** With the filter of the source. */
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

const before = (ms: number) => `fromUnixTimestamp64Milli({endDateMilliseconds:Int64} - ${ms})`

const name = <C extends string>(column: C) => `${namePrefix}${column}` as const

/** `toFloat64`, because a division of whole numbers is exact up to 2^53 and a product of unsigned ones wraps. */
const column = (expression: string, as: string) => `    toFloat64(${expression}) AS ${name(as)}`

const since = ({ time, total }: Events, { ms }: Span) => `${time} >= ${before(ms)} AND ${time} < ${end}\n    AND ${total}`

const groupColumn = ({ group }: Events) => (group === undefined ? [] : [`    ${group} AS ${name('group')}`])

/** The counts of windows that end now: from one scan of the longest. */
function countWindows(events: Events, longest: Span, columns: readonly string[]) {
  return `(
  SELECT
${[...groupColumn(events), ...columns].join(',\n')}
  FROM ${events.table}
  WHERE ${since(events, longest)}${events.group === undefined ? '' : `\n  GROUP BY ${name('group')}`}
)`
}

const rateOf = (slo: DeclaredSlo, window: string) => {
  const { multiplier, divisor } = burnRateFactors(slo.objective)
  const [good, total] = [name(`${window}_good`), name(`${window}_total`)]
  return `(${total} - ${good}) * ${multiplier} / (${total} * ${divisor})`
}

/**
 * The smaller burn rate of both windows, and 0 with too few events. One row, or one for each group with a time. The server compares the
 * last number.
 */
export function burnRateSql(slo: DeclaredSlo, source: SloSource, { long, short }: BurnRateAlert): string {
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

export function eventsSql(slo: DeclaredSlo, source: SloSource): string {
  const events = eventsOf(slo, source)
  return `SELECT ${events.count()} AS ${name('events')}\nFROM ${events.table}\nWHERE ${since(events, noDataSpan)}`
}

export const historyColumns = { start: name('start'), group: name('group'), total: name('all_total'), good: name('all_good') } as const

/**
 * By steps of `stepSeconds` in the last `recentMs`, and by hours before. Starts are in seconds since 1970. The first step and the last hour
 * may be a part.
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
    `  if(${time} >= ${before(recentMs)}, ${startOf(stepSeconds)}, ${startOf(3600)}) AS ${historyColumns.start}`,
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
