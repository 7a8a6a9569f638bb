// The past of an SLO. Self-hosted HyperDX gives it through `POST /charts/series`, which counts with the sample rate of the source, and the
// cloud through SQL. Both give the same counts.
import * as z from 'zod'
import type { ReadApi } from '../../platform/api/client.ts'
import { whyNoRows } from '../../platform/api/sql-query.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { quoteLong } from '../../platform/core/text.ts'
import { requestSeries, type SeriesItem, type SeriesRow, type ServerAccess } from '../backtest/series-api.ts'
import type { DeclaredSlo } from './slo-file.ts'
import { type Counts, historyColumns, historySql, type SloSource, windowMs } from './slo-sql.ts'

/** Burn rates end at a multiple of this. */
export const stepMs = 300_000

const recentMs = 3 * dayMs

export interface TimedCounts extends Counts {
  readonly startMs: number
}

export interface GroupHistory {
  /** The name of the group; absent without groups. */
  readonly group?: string
  /** Counts by hour, over the window of the SLO. The first hour may be a part. */
  readonly hours: readonly TimedCounts[]
  /** Counts by five minutes, over the longest window of a burn rate. */
  readonly steps: readonly TimedCounts[]
}

interface HistoryRequest {
  readonly slo: DeclaredSlo
  readonly source: SloSource
  readonly endMs: number
}

/** In the window that ends at `endMs`; `asleep` where a query would wake the service. Throws an ApiError. */
export const readHistory = (access: ServerAccess, request: HistoryRequest): Promise<readonly GroupHistory[] | 'asleep'> =>
  access.api.profile.isSelfHosted ? readFromCharts(access, request) : readWithSql(access, request)

export const requestsOfHistory = ({ profile }: ReadApi): number => (profile.isSelfHosted ? 2 : 1)

async function readFromCharts({ api, service }: ServerAccess, { slo, source, endMs }: HistoryRequest): Promise<readonly GroupHistory[]> {
  const series = countedSeries(slo, source)
  const [hours, steps] = await Promise.all([
    // The server includes the end, which is between two borders of the hours.
    requestSeries(api, service, { series, granularity: '1h', fromMs: endMs - windowMs(slo), untilMs: endMs - 1 }),
    requestSeries(api, service, { series, granularity: '5m', fromMs: endMs - recentMs, untilMs: endMs }),
  ])
  if ('reason' in hours) throw notCounted(slo, hours.reason)
  if ('reason' in steps) throw notCounted(slo, steps.reason)
  return toHistories(slo, hours.map(toCounts), steps.map(toCounts))
}

interface CountsOfGroup extends TimedCounts {
  readonly group: string
}

/** Groups without events in the last days have no steps. */
function toHistories({ groupBy }: DeclaredSlo, hours: readonly CountsOfGroup[], steps: readonly CountsOfGroup[]): readonly GroupHistory[] {
  if (groupBy === undefined) return [{ hours, steps }]
  const groups = [...new Set(hours.map((one) => one.group))].toSorted()
  return groups.map((name) => ({
    group: name,
    hours: hours.filter((one) => one.group === name),
    steps: steps.filter((one) => one.group === name),
  }))
}

export function countedSeries(slo: DeclaredSlo, source: SloSource): readonly SeriesItem[] {
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

/** A window without good events has no value for them. */
const toCounts = ({ startMs, numbers, groupValues: [value] }: SeriesRow): CountsOfGroup => ({
  group: String(value ?? ''),
  startMs,
  total: numbers.get(0) ?? 0,
  good: numbers.get(1) ?? 0,
})

const { start, group, total, good } = historyColumns

const number = z.coerce.number().nonnegative()

const historyRow = z.object({ [start]: number, [group]: z.string().optional(), [total]: number, [good]: number })

/** One query for both resolutions. */
export async function readWithSql(
  { api, service }: ServerAccess,
  { slo, source, endMs }: HistoryRequest,
): Promise<readonly GroupHistory[] | 'asleep'> {
  const answer = await api.runSql(service, {
    sql: historySql(slo, source, { stepSeconds: stepMs / 1000, recentMs }),
    connectionId: source.connectionId,
    startMs: endMs - windowMs(slo),
    endMs,
  })
  if (answer.kind === 'asleep') return 'asleep'
  if (answer.kind !== 'rows') throw notCounted(slo, answer.kind === 'unsent' ? answer.reason : whyNoRows(answer))
  const { data: rows } = z.array(historyRow).safeParse(answer.rows)
  if (rows === undefined)
    throw new WatchkeeperError('bad-answer', `The answer to the query for "${quoteLong(slo.name)}" has an unexpected form.`)
  const hours = rows.map((row) => ({ group: row[group] ?? '', startMs: row[start] * 1000, total: row[total], good: row[good] }))
  const steps = hours.filter(({ startMs }) => startMs >= endMs - recentMs)
  return toHistories(slo, hours, steps)
}

const notCounted = ({ name }: DeclaredSlo, reason: string): WatchkeeperError =>
  new WatchkeeperError('refused', `The events of "${quoteLong(name)}" were not counted: ${reason.replace(/\.$/, '')}.`)
