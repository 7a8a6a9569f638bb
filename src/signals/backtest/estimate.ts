import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
import type { Target } from '../../platform/api/path.ts'
import { forEachConcurrently } from '../../platform/core/concurrency.ts'
import { dayMs } from '../../platform/core/durations.ts'
import { causeOf, WatchkeeperError } from '../../platform/core/errors.ts'
import { clip } from '../../platform/core/text.ts'
import { formatDuration } from '../../platform/report/format.ts'
import {
  type EvaluatedWindow,
  evaluate,
  evaluatedPart,
  type Summary,
  summarize,
  type TimeRange,
  type WindowValues,
  windowStarts,
} from './evaluate.ts'
import type { SeriesEvidence } from './judge.ts'
import type { BacktestQuery, SeriesQuery, WindowsQuery } from './query.ts'
import type { TimeBudget } from './read-windows.ts'
import {
  type Coverage,
  maxSeries,
  type ReadSeries,
  type Refusal,
  rowsOf,
  type SeriesItem,
  type SeriesRow,
  sourceSeries,
  toCoverage,
} from './series-api.ts'
import type { WindowSql } from './window-sql.ts'

export type Estimate =
  | {
      readonly verdict: 'fires' | 'quiet'
      readonly summary: Summary
      readonly windows: readonly EvaluatedWindow[]
      readonly values: WindowValues
      /** Undefined where the source is unknown. */
      readonly coverage: Coverage | undefined
      readonly series: readonly SeriesEvidence[]
      readonly early: number
    }
  | { readonly verdict: 'no-data'; readonly coverage: Coverage; readonly series: readonly SeriesEvidence[] }
  | ({ readonly verdict: 'not-estimable' } & Refusal)

export interface EstimateOptions {
  readonly api: ReadApi
  readonly service: Target
  readonly readSeries: ReadSeries
  readonly range: TimeRange
  readonly maxRequests: number
  readonly onProgress: (done: number, total: number) => Promise<void>
  /** Whether `readSeries` shares requests, so that all queries may wait for it at once. */
  readonly isShared?: true
  /** The most windows of raw SQL, spread over the range; without it, all of them. */
  readonly maxSqlWindows?: number
}

type RowsQuery = Pick<SeriesQuery, 'series' | 'step' | 'hasTextGroups'> | Pick<WindowsQuery, 'sql' | 'step'>

export interface Estimates {
  readonly estimates: readonly Estimate[]
  /** Without retries after a rejection by the rate limit. */
  requests(): number
  /** In another range. They count for the same maximum of requests. */
  readRows(query: RowsQuery, range: TimeRange): Promise<{ readonly rows: readonly SeriesRow[] } | Refusal>
}

/** A request covers at most this range, and this many windows. */
const maxRangeMs = 7 * dayMs
const maxWindows = 10_080

const maxConcurrent = 4

/** Requests each series once, whatever the number of alerts that compare it, and evaluates the alerts. */
export async function estimateAlerts(queries: readonly (BacktestQuery | Refusal)[], options: EstimateOptions): Promise<Estimates> {
  const budget = createBudget(options, finestSteps(queries))
  const wanted = new Map(queries.flatMap((query) => ('reason' in query ? [] : [[keyOf(query), query] as const])))
  // A raw SQL tile needs many requests, which might not last for all.
  const [cheap, expensive] = [[...wanted].filter(([, query]) => 'series' in query), [...wanted].filter(([, query]) => 'sql' in query)]
  const answers = new Map<string, Rows | Refusal>()
  for (const [some, limit] of [
    [cheap, options.isShared ? cheap.length : maxConcurrent],
    [expensive, maxConcurrent],
  ] as const)
    await forEachConcurrently(
      some,
      () => limit,
      async ([key, query]) => {
        answers.set(key, await budget.ask(query))
        await options.onProgress(answers.size, wanted.size)
      },
    )
  const estimates = queries.map((query): Estimate => {
    if ('reason' in query) return { verdict: 'not-estimable', reason: query.reason }
    const answer = answers.get(keyOf(query)) ?? { reason: 'it was not requested' }
    return 'reason' in answer ? { verdict: 'not-estimable', ...answer } : toEstimate(query, answer, options)
  })
  return { estimates, requests: budget.sent, readRows: budget.readRows }
}

const keyOf = (query: BacktestQuery): string => JSON.stringify([query.step, query.lookbackMs, requestOf(query)])

/** What a query asks for, without how its answer is compared. */
export const requestOf = (query: BacktestQuery): readonly SeriesItem[] | WindowSql => ('series' in query ? query.series : query.sql)

interface Rows {
  readonly rows: readonly SeriesRow[]
  /** Undefined for all windows. */
  readonly starts?: readonly number[] | undefined
  /** Windows with rows before their start, and none at it. */
  readonly early?: number
  /** Without the condition of the alert. Undefined where the source is unknown. */
  readonly sourceRows: readonly SeriesRow[] | undefined
}

function toEstimate(query: BacktestQuery, answer: Rows, { range }: EstimateOptions): Estimate {
  const coverage = answer.sourceRows && toCoverage(answer.sourceRows, query.condition, range)
  const series = seriesOf(query, answer.rows)
  if (coverage !== undefined && coverage.windows > 0 && coverage.windowsWithData === 0) return { verdict: 'no-data', coverage, series }
  const part = evaluatedPart(query.condition, range)
  const firstMs = part.fromMs - query.lookbackMs
  const read = query.read(
    answer.rows.filter(({ startMs }) => startMs >= firstMs),
    part,
  )
  if ('reason' in read) return { verdict: 'not-estimable', reason: read.reason }
  const { early = 0, starts } = answer
  const asked = starts && new Set(starts)
  const windows = evaluate(query.condition, read.values, range).filter(({ startMs }) => asked?.has(startMs) ?? true)
  const summary = summarize(windows, intervalMs[query.condition.interval])
  return { verdict: summary.notifications > 0 ? 'fires' : 'quiet', summary, windows, values: read.values, coverage, series, early }
}

function seriesOf(query: BacktestQuery, rows: readonly SeriesRow[]): readonly SeriesEvidence[] {
  const count = (valuesOf: (row: SeriesRow) => readonly (number | null | undefined)[]) => {
    const values = rows.map((row) => ({ startMs: row.startMs, some: valuesOf(row).filter((value) => value != null) }))
    const windowsWith = (some: typeof values): number => new Set(some.map(({ startMs }) => startMs)).size
    return {
      windows: windowsWith(values.filter(({ some }) => some.length > 0)),
      nonZero: windowsWith(values.filter(({ some }) => some.some((value) => value !== 0))),
    }
  }
  if ('sql' in query) return [count(({ numbers }) => [...numbers.values()])]
  return query.series.flatMap((item, i) =>
    query.comparesLast === true && i < query.series.length - 1
      ? []
      : [{ item, ...count(({ numbers }) => [numbers.get(i)]), divides: query.divisors?.includes(i) ?? false }],
  )
}

/** The source, or the metric, that a query reads. Of several series, the last one is compared. */
export const sourceOf = (query: BacktestQuery): SeriesItem | undefined =>
  'series' in query
    ? query.series.slice(-1).map(sourceSeries)[0]
    : query.sql.sourceId === undefined
      ? undefined
      : rowsOf(query.sql.sourceId)

/** The shortest step of the alerts on each source, which divides all others. */
function finestSteps(queries: readonly (BacktestQuery | Refusal)[]): ReadonlyMap<string, AlertInterval> {
  const finest = new Map<string, AlertInterval>()
  for (const query of queries) {
    if ('reason' in query) continue
    const [key, { step }] = [JSON.stringify(sourceOf(query)), query]
    const known = finest.get(key)
    if (known === undefined || intervalMs[step] < intervalMs[known]) finest.set(key, step)
  }
  return finest
}

interface Budget extends Pick<Estimates, 'readRows'> {
  ask(query: BacktestQuery): Promise<Rows | Refusal>
  sent(): number
}

interface Requests {
  readonly ranges: readonly TimeRange[]
  readonly parts: readonly (readonly SeriesItem[])[]
  readonly count: number
}

function requestsOf({ series, step }: Pick<SeriesQuery, 'series' | 'step'>, range: TimeRange): Requests {
  const ranges = chunksOf(range, intervalMs[step])
  const parts = Array.from({ length: Math.ceil(series.length / maxSeries) }, (_, i) => series.slice(i * maxSeries, (i + 1) * maxSeries))
  return { ranges, parts, count: ranges.length * parts.length }
}

/** The part of the time of the run that one alert with slow SQL gets. */
const sharePerAlert = 1 / 4

/** The part of the time that is kept for the end of the run. */
const reservedShare = 1 / 10

function createTimeBudget({ remainingMs }: Pick<ReadApi, 'remainingMs'>): TimeBudget {
  const totalMs = remainingMs()
  const shareMs = totalMs * sharePerAlert
  return {
    refuse(spentMs, leftMs) {
      if (remainingMs() < totalMs * reservedShare) return isOutOfTime
      if (spentMs + leftMs <= shareMs) return undefined
      const parts = [spentMs + leftMs, shareMs].map((ms) => formatDuration(ms))
      return { reason: `too expensive: its SQL takes about ${parts[0]}, and one alert gets ${parts[1]}, a quarter of timeout-seconds` }
    },
  }
}

const isOutOfTime: Refusal = { reason: 'the time of the run is used up; raise timeout-seconds, or set a shorter period', isLate: true }

/** Some of the windows, at equal distances, with the last one. */
function spread(starts: readonly number[], most = starts.length): readonly number[] {
  const every = Math.ceil(starts.length / Math.max(1, most))
  return starts.filter((_, i) => (starts.length - 1 - i) % every === 0)
}

function createBoundsFinder() {
  const known = new Map<string, Promise<Refusal | undefined>>()
  return (sql: WindowSql, find: () => Promise<Refusal | undefined>): Promise<Refusal | undefined> => {
    const found = known.get(sql.template) ?? find()
    known.set(sql.template, found)
    return found
  }
}

function createBudget(options: EstimateOptions, finest: ReadonlyMap<string, AlertInterval>): Budget {
  const { range, maxRequests, readSeries } = options
  const time = createTimeBudget(options.api)
  let sent = 0
  const sources = new Map<string, Promise<readonly SeriesRow[] | Refusal>>()
  const findBounds = createBoundsFinder()
  const isUsedUp = { reason: `the limit of ${maxRequests} requests is used up` }

  function reserve(count: number): boolean {
    if (sent + count > maxRequests) return false
    sent += count
    return true
  }

  async function ask(query: BacktestQuery): Promise<Rows | Refusal> {
    const span = { ...range, fromMs: range.fromMs - query.lookbackMs }
    if (windowStarts(range, intervalMs[query.step]).length === 0) return { reason: `the range has no whole window of ${query.step}` }
    const source = requestSource(query, 'series' in query ? requestsOf(query, span).count : 0)
    if ('reason' in source) return source
    const [read, sourceRows] = await Promise.all(['series' in query ? readAligned(query, span) : readSql(query, span), source.rows])
    if ('reason' in read) return read
    return sourceRows !== undefined && 'reason' in sourceRows ? sourceRows : { ...read, sourceRows }
  }

  /** Reserves the requests of a query and of its source. Alerts on the same source share one request for it. */
  function requestSource(
    query: BacktestQuery,
    ownCount: number,
  ): { readonly rows: Promise<readonly SeriesRow[] | Refusal> | undefined } | Refusal {
    const source = sourceOf(query)
    if (source === undefined) return reserve(ownCount) ? { rows: undefined } : isUsedUp
    const key = JSON.stringify(source)
    const granularity = finest.get(key) ?? query.step
    const ranges = chunksOf(range, intervalMs[granularity])
    const known = sources.get(key)
    if (!reserve(ownCount + (known === undefined ? ranges.length : 0))) return isUsedUp
    // The rows are stored before the first wait, so that no other query asks for the same source.
    const rows = known ?? requestAll(ranges, [[source]], granularity)
    sources.set(key, rows)
    return { rows }
  }

  async function readRows(query: RowsQuery, span: TimeRange): Promise<Pick<Rows, 'rows'> | Refusal> {
    if (!('series' in query)) return readSql(query, span)
    return reserve(requestsOf(query, span).count) ? readAligned(query, span) : isUsedUp
  }

  async function readSql(
    { sql, step }: Pick<WindowsQuery, 'sql' | 'step'>,
    span: TimeRange,
  ): Promise<Pick<Rows, 'rows' | 'early' | 'starts'> | Refusal> {
    const [{ readWindows }, { refuseUnbounded }] = await Promise.all([import('./read-windows.ts'), import('./read-windows.ts')])
    const release = (count: number): void => {
      sent -= count
    }
    const lengthMs = intervalMs[step]
    const late = time.refuse(0, 0)
    if (late !== undefined) return late
    const refusal = await findBounds(sql, () => refuseUnbounded(sql, lengthMs, { ...options, reserve }))
    if (refusal !== undefined) return refusal
    const starts = spread(windowStarts(span, lengthMs), options.maxSqlWindows)
    const read = await readWindows({ ...options, reserve, release, time }, { sql, starts, lengthMs })
    return 'reason' in read ? read : { ...read, starts }
  }

  async function readAligned(
    query: Extract<RowsQuery, { readonly series: unknown }>,
    span: TimeRange,
  ): Promise<Pick<Rows, 'rows'> | Refusal> {
    const { step } = query
    const { ranges, parts } = requestsOf(query, span)
    const rows = await requestAll(ranges, parts, step)
    if ('reason' in rows) return rows
    if (rows.some(({ startMs }) => startMs % intervalMs[step] !== 0)) return { reason: 'the windows of the server are not aligned to UTC' }
    // The server compares the last numeric column, and groups come after the values.
    if (query.hasTextGroups !== true && rows.length > 0 && rows.every(({ hasNumericGroup }) => hasNumericGroup))
      return { reason: 'the groups are numbers, which the server compares instead of the values' }
    return { rows }
  }

  async function requestAll(
    ranges: readonly TimeRange[],
    parts: readonly (readonly SeriesItem[])[],
    granularity: AlertInterval,
  ): Promise<readonly SeriesRow[] | Refusal> {
    const rows: SeriesRow[] = []
    for (const chunk of ranges) {
      const late = time.refuse(0, 0)
      if (late !== undefined) return late
      const answers = await Promise.all(parts.map((series) => readSeries({ ...chunk, granularity, series })))
      const refusal = answers.find((one) => 'reason' in one)
      if (refusal !== undefined) return refusal
      for (const row of joinParts(answers.flatMap((one) => ('reason' in one ? [] : [one])))) rows.push(row)
    }
    return rows
  }

  return {
    ask: (query) => ask(query).catch(toRefusal),
    readRows: (query, span) => readRows(query, span).catch(toRefusal),
    sent: () => sent,
  }
}

/** The words of the server for a Lucene condition without a column. Its alert task evaluates such a condition. */
const bareTextError = 'Can not search bare text'

/** What concerns the whole run stays an error. Anything else is the reason why this alert has no estimate. */
function toRefusal(thrown: unknown): Refusal {
  // The server has no SQL access. Alerts on other tiles do not need it.
  if (thrown instanceof WatchkeeperError && !(thrown instanceof ApiError) && thrown.kind === 'not-served')
    return { reason: causeOf(thrown) }
  if (thrown instanceof WatchkeeperError && thrown.kind === 'deadline') return isOutOfTime
  if (!(thrown instanceof ApiError) || runErrors.includes(thrown.kind)) throw thrown
  if (thrown.kind === 'not-served') return { reason: 'the server has no /charts/series' }
  const [first = ''] = thrown.message.split('\n', 1)
  if (first.includes(bareTextError)) return { reason: 'the API cannot search bare text in Lucene; name its column, such as Body:text' }
  const queryError = thrown.status === 500 ? /^The API answered 500: (.+)/.exec(first)?.[1] : undefined
  if (queryError !== undefined && /^Timeout\b/i.test(queryError)) return { reason: 'it took longer than 30 s' }
  return { reason: clip(first, 300), ...(queryError !== undefined && { queryError }) }
}

const runErrors: readonly ApiError['kind'][] = ['authentication', 'permission', 'canceled']

function chunksOf({ fromMs, untilMs }: TimeRange, lengthMs: number): readonly TimeRange[] {
  const end = Math.floor(untilMs / lengthMs) * lengthMs
  const step = Math.max(lengthMs, Math.floor(Math.min(maxRangeMs, maxWindows * lengthMs) / lengthMs) * lengthMs)
  const chunks: TimeRange[] = []
  for (let at = Math.ceil(fromMs / lengthMs) * lengthMs; at < end; at += step)
    chunks.push({ fromMs: at, untilMs: Math.min(at + step, end) })
  return chunks
}

/** The rows of several requests for one range, with the series numbered through. */
function joinParts(answers: readonly (readonly SeriesRow[])[]): readonly SeriesRow[] {
  const [first = []] = answers
  if (answers.length <= 1) return first
  const joined = new Map<string, SeriesRow>()
  for (const [part, rows] of answers.entries())
    for (const row of rows) {
      const key = `${row.startMs} ${row.group}`
      const shifted = [...row.numbers].map(([i, number]) => [i + part * maxSeries, number] as const)
      joined.set(key, { ...row, numbers: new Map([...(joined.get(key)?.numbers ?? []), ...shifted]) })
    }
  return [...joined.values()]
}
