// The server runs SQL; the same numbers follow from counts per five minutes.

import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import type { GroupValue, TimeRange, WindowValues } from '../backtest/evaluate.ts'
import type { FindSqlValues, SqlValues } from '../backtest/query.ts'
import type { SeriesItem, SeriesRow } from '../backtest/series-api.ts'
import type { DeclaredSlo } from './slo-file.ts'
import { countedSeries, type TimedCounts } from './slo-series.ts'
import {
  type BurnRateAlert,
  burnRate,
  burnRateAlerts,
  burnRateFactors,
  burnRateSql,
  type Counts,
  eventsSql,
  noDataSpan,
  type SloSource,
} from './slo-sql.ts'

const step = '5m'

/** Finds what an alert compares by the query of its tile. Two SLOs with the same query have the same values. */
export const findSloAlert =
  (slos: readonly { readonly slo: DeclaredSlo; readonly source: SloSource }[]): FindSqlValues =>
  (sqlTemplate, interval) => {
    if (intervalMs[interval] % intervalMs[step] !== 0) return undefined
    for (const { slo, source } of slos) {
      const policy = burnRateAlerts.find((one) => burnRateSql(slo, source, one) === sqlTemplate)
      if (policy !== undefined) return burnRateValues(slo, source, policy, interval)
      if (eventsSql(slo, source) === sqlTemplate) return eventValues(slo, source, interval)
    }
    return undefined
  }

const common = { step, hasTextGroups: true, names: ['total', 'good'] } as const

function burnRateValues(slo: DeclaredSlo, source: SloSource, { long, short }: BurnRateAlert, interval: AlertInterval): SqlValues {
  const factors = burnRateFactors(slo.objective)
  const read = (rows: readonly SeriesRow[], span: TimeRange): { readonly values: WindowValues } => {
    const sums = sumsByGroup(rows)
    return {
      values: valuesOf(span, interval, (endMs) =>
        // A query without groups has one row, whether there are events or not.
        [...(slo.groupBy === undefined ? [['', sums.get('') ?? []] as const] : sums)].flatMap(([group, counts]): readonly GroupValue[] => {
          const [all, recent] = [between(counts, endMs - long.ms, endMs), between(counts, endMs - short.ms, endMs)]
          if (slo.groupBy !== undefined && all.total === 0) return []
          const isQuiet = all.total < slo.minEvents || recent.total === 0
          return [{ group, value: isQuiet ? 0 : Math.min(burnRate(factors, all) ?? 0, burnRate(factors, recent) ?? 0) }]
        }),
      ),
    }
  }
  return { ...common, series: countedSeries(slo, source), lookbackMs: long.ms, read, isGrouped: slo.groupBy !== undefined }
}

function eventValues(slo: DeclaredSlo, source: SloSource, interval: AlertInterval): SqlValues {
  const { groupBy: _, ...ungrouped } = slo
  const series: readonly SeriesItem[] = countedSeries(ungrouped, source).slice(0, 1)
  const read = (rows: readonly SeriesRow[], span: TimeRange): { readonly values: WindowValues } => {
    const counts = sumsByGroup(rows).get('') ?? []
    return {
      values: valuesOf(span, interval, (endMs) => [{ group: '', value: between(counts, endMs - noDataSpan.ms, endMs).total }]),
    }
  }
  return { ...common, series, lookbackMs: noDataSpan.ms, read, isGrouped: false }
}

/** The values of all windows of the interval in the span, which begins after the lookback. */
function valuesOf({ fromMs, untilMs }: TimeRange, interval: AlertInterval, at: (endMs: number) => readonly GroupValue[]): WindowValues {
  const lengthMs = intervalMs[interval]
  const first = Math.ceil(fromMs / lengthMs) * lengthMs
  const length = Math.floor((untilMs - first) / lengthMs)
  return new Map(Array.from({ length }, (_, i) => [first + i * lengthMs, at(first + (i + 1) * lengthMs)]))
}

/** Events before each step, by time: the counts of a window are a difference. */
function sumsByGroup(rows: readonly SeriesRow[]): ReadonlyMap<string, readonly TimedCounts[]> {
  const groups = Map.groupBy(rows, ({ group }) => group)
  return new Map(
    [...groups].map(([group, own]) => {
      let [total, good] = [0, 0]
      const sums = own
        .toSorted((a, b) => a.startMs - b.startMs)
        .map(({ startMs, numbers }) => {
          const before = { startMs, total, good }
          total += numbers.get(0) ?? 0
          good += numbers.get(1) ?? 0
          return before
        })
      return [group, [...sums, { startMs: Number.POSITIVE_INFINITY, total, good }]]
    }),
  )
}

function between(sums: readonly TimedCounts[], fromMs: number, untilMs: number): Counts {
  const [from, until] = [before(sums, fromMs), before(sums, untilMs)]
  return { total: until.total - from.total, good: until.good - from.good }
}

const none = { startMs: 0, total: 0, good: 0 }

/** Those before the first step that does not begin earlier. */
function before(sums: readonly TimedCounts[], atMs: number): TimedCounts {
  let [low, high] = [0, sums.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle]?.startMs ?? 0) < atMs) low = middle + 1
    else high = middle
  }
  return sums[low] ?? none
}
