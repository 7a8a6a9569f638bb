// The past of an SLO through `POST /charts/series` of self-hosted HyperDX, which counts with the sample rate of the source.
import type { ReadApi } from '../api/client.ts'
import type { Target } from '../api/path.ts'
import { requestSeries, type SeriesItem, type SeriesRow } from '../backtest/series-api.ts'
import { type Counts, windowMs } from './burn-rates.ts'
import type { DeclaredSlo } from './slo-file.ts'
import type { SloSource } from './slo-sql.ts'

/** Burn rates end at a multiple of this. */
export const stepMs = 300_000

const dayMs = 86_400_000

/** The longest window of a burn rate. */
const recentMs = 3 * dayMs

export interface TimedCounts extends Counts {
  readonly startMs: number
}

export interface GroupHistory {
  /** Absent without groups. */
  readonly group?: string
  /** By hour, over the window of the SLO. The first hour may be a part. */
  readonly hours: readonly TimedCounts[]
  /** By five minutes, over the longest window of a burn rate. */
  readonly steps: readonly TimedCounts[]
}

/** The counts of an SLO in its window, which ends at `endMs`, for each group. Throws an ApiError. */
export async function readHistory(
  { api, service }: { readonly api: ReadApi; readonly service: Target },
  { slo, source, endMs }: { readonly slo: DeclaredSlo; readonly source: SloSource; readonly endMs: number },
): Promise<readonly GroupHistory[]> {
  const series = countedSeries(slo, source)
  const [hours, steps] = await Promise.all([
    // The server includes the end, which is between two borders of the hours.
    requestSeries(api, service, { series, granularity: '1h', fromMs: endMs - windowMs(slo), untilMs: endMs - 1 }),
    requestSeries(api, service, { series, granularity: '5m', fromMs: endMs - recentMs, untilMs: endMs }),
  ])
  if (slo.groupBy === undefined) return [{ hours: hours.map(toCounts), steps: steps.map(toCounts) }]
  const groups = [...new Set(hours.map(groupOf))].toSorted()
  return groups.map((group) => ({
    group,
    hours: hours.filter((row) => groupOf(row) === group).map(toCounts),
    steps: steps.filter((row) => groupOf(row) === group).map(toCounts),
  }))
}

/** All events that count, and the good ones among them. */
export function countedSeries(slo: Pick<DeclaredSlo, 'total' | 'good' | 'groupBy'>, source: SloSource): readonly SeriesItem[] {
  const total = [...(source.filter === undefined ? [] : [source.filter]), slo.total].map((one) => `(${one})`).join(' AND ')
  const item = (where: string): SeriesItem => ({
    sourceId: source.id,
    aggFn: 'count',
    where,
    whereLanguage: 'sql',
    groupBy: slo.groupBy === undefined ? [] : [slo.groupBy],
  })
  return [item(total), item(`${total} AND (${slo.good})`)]
}

const groupOf = ({ groupValues: [value] }: SeriesRow): string => String(value ?? '')

/** A window without good events has no value for them. */
const toCounts = ({ startMs, numbers }: SeriesRow): TimedCounts => ({
  startMs,
  total: numbers.get(0) ?? 0,
  good: numbers.get(1) ?? 0,
})
