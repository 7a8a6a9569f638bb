import { type AlertInterval, intervalMs } from '../../kinds/alert/schedule.ts'
import { ApiError } from '../../platform/api/api-error.ts'
import type { ReadApi } from '../../platform/api/client.ts'
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
import type { BacktestQuery } from './query.ts'
import { readWindows, refuseUnbounded } from './read-windows.ts'
import {
  type Coverage,
  maxSeries,
  type ReadSeries,
  type Refusal,
  rowsOf,
  type SeriesItem,
  type SeriesRow,
  type ServerAccess,
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

export interface EstimateOptions extends ServerAccess {
  readonly readSeries: ReadSeries
  readonly maxRequests: number
  readonly onProgress: (done: number, total: number) => Promise<void>
  /** Whether `readSeries` shares requests, so that all queries may wait for it at once. */
  readonly isShared?: true
  /** The most windows of raw SQL, spread over the range; without it, all of them. */
  readonly maxSqlWindows?: number
}

/** What a query asks for, without how its answer is compared. */
type ValueRequest = readonly SeriesItem[] | WindowSql

export interface Estimates {
  readonly estimates: readonly Estimate[]
  /** Without retries after a rejection by the rate limit. */
  requests(): number
  /** The rows of another range, which count for the same maximum of requests. */
  readRows(request: ValueRequest, step: AlertInterval, range: TimeRange): Promise<{ readonly rows: readonly SeriesRow[] } | Refusal>
}

const maxConcurrent = 4

/** Requests each series once, whatever the number of alerts that compare it, and evaluates the alerts. */
export async function estimateAlerts(
  queries: readonly (BacktestQuery | Refusal)[],
  range: TimeRange,
  options: EstimateOptions,
): Promise<Estimates> {
  const reader = createRowReader(options)
  const ask = createAsker(reader, range, finestSteps(queries))
  const wanted = new Map(queries.flatMap((query) => ('reason' in query ? [] : [[keyOf(query), query] as const])))
  const answers = new Map<string, Rows | Refusal>()
  // A raw SQL tile needs many requests, which might not last for all.
  for (const kind of ['series', 'sql']) {
    const ofKind = [...wanted].filter(([, query]) => kind in query)
    await forEachConcurrently(
      ofKind,
      () => (kind === 'series' && options.isShared ? ofKind.length : maxConcurrent),
      async ([key, query]) => {
        answers.set(key, await ask(query).catch(toRefusal))
        await options.onProgress(answers.size, wanted.size)
      },
    )
  }
  const estimates = queries.map((query): Estimate => {
    if ('reason' in query) return { verdict: 'not-estimable', reason: query.reason }
    const answer = answers.get(keyOf(query)) ?? { reason: 'it was not requested' }
    return 'reason' in answer ? { verdict: 'not-estimable', ...answer } : toEstimate(query, answer, range)
  })
  const { reserve, countOf, read, isUsedUp, sent } = reader
  const readRows: Estimates['readRows'] = async (request, step, span) =>
    reserve(countOf(request, step, span)) ? read(request, step, span).catch(toRefusal) : isUsedUp
  return { estimates, requests: sent, readRows }
}

const keyOf = (query: BacktestQuery) => JSON.stringify([query.step, query.lookbackMs, requestOf(query)])

export const requestOf = (query: BacktestQuery): ValueRequest => ('series' in query ? query.series : query.sql)

interface Rows {
  readonly rows: readonly SeriesRow[]
  /** Undefined where all windows were asked for. */
  readonly starts?: readonly number[] | undefined
  readonly early?: number
  /** Without the condition of the alert. Undefined where the source is unknown. */
  readonly sourceRows?: readonly SeriesRow[] | undefined
}

function toEstimate(query: BacktestQuery, answer: Rows, range: TimeRange): Estimate {
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
    const windowsWith = (isCounted: (value: number) => boolean): number =>
      new Set(rows.filter((row) => valuesOf(row).some((value) => value != null && isCounted(value))).map(({ startMs }) => startMs)).size
    return { windows: windowsWith(() => true), nonZero: windowsWith((value) => value !== 0) }
  }
  if ('sql' in query) return [count(({ numbers }) => [...numbers.values()])]
  return query.series.flatMap((item, i) =>
    query.comparesLast === true && i < query.series.length - 1
      ? []
      : [{ item, ...count(({ numbers }) => [numbers.get(i)]), divides: query.divisors?.includes(i) ?? false, name: query.names?.[i] }],
  )
}

/** Of several series, the last one is compared. */
export const sourceOf = (query: BacktestQuery): SeriesItem | undefined =>
  'series' in query
    ? query.series.slice(-1).map(sourceSeries)[0]
    : query.sql.sourceId === undefined
      ? undefined
      : rowsOf(query.sql.sourceId)

/** By source. The shortest step divides all others. */
function finestSteps(queries: readonly (BacktestQuery | Refusal)[]): ReadonlyMap<string, AlertInterval> {
  const finest = new Map<string, AlertInterval>()
  for (const query of queries) {
    if ('reason' in query) continue
    const [key, { step }] = [JSON.stringify([sourceOf(query)]), query]
    const known = finest.get(key)
    if (known === undefined || intervalMs[step] < intervalMs[known]) finest.set(key, step)
  }
  return finest
}

function requestsOf(series: readonly SeriesItem[], step: AlertInterval, range: TimeRange) {
  const ranges = chunksOf(range, intervalMs[step])
  const parts = Array.from({ length: Math.ceil(series.length / maxSeries) }, (_, i) => series.slice(i * maxSeries, (i + 1) * maxSeries))
  return { ranges, parts, count: ranges.length * parts.length }
}

/** One alert with slow SQL gets a quarter of the time of the run, and a tenth is kept for its end. */
function limitTime({ remainingMs }: ReadApi) {
  const totalMs = remainingMs()
  const shareMs = totalMs / 4
  return (spentMs: number, leftMs: number): Refusal | undefined => {
    if (remainingMs() < totalMs / 10) return isOutOfTime
    if (spentMs + leftMs <= shareMs) return undefined
    const parts = [spentMs + leftMs, shareMs].map((ms) => formatDuration(ms))
    return { reason: `too expensive: its SQL takes about ${parts[0]}, and one alert gets ${parts[1]}, a quarter of timeout-seconds` }
  }
}

const isOutOfTime: Refusal = { reason: 'the time of the run is used up; raise timeout-seconds, or set a shorter period', isLate: true }

/** At equal distances, with the last one. */
function spread(starts: readonly number[], most = starts.length): readonly number[] {
  const every = Math.ceil(starts.length / Math.max(1, most))
  return starts.filter((_, i) => (starts.length - 1 - i) % every === 0)
}

/** Asks for the rows of a source once, in the shortest step of its alerts. */
function createAsker(reader: RowReader, range: TimeRange, finest: ReadonlyMap<string, AlertInterval>) {
  const sources = new Map<string, Promise<readonly SeriesRow[] | Refusal>>()
  return async (query: BacktestQuery): Promise<Rows | Refusal> => {
    const span = { ...range, fromMs: range.fromMs - query.lookbackMs }
    if (windowStarts(range, intervalMs[query.step]).length === 0) return { reason: `the range has no whole window of ${query.step}` }
    const source = sourceOf(query)
    const key = JSON.stringify([source])
    const granularity = finest.get(key) ?? query.step
    const ranges = source === undefined || sources.has(key) ? [] : chunksOf(range, intervalMs[granularity])
    const request = requestOf(query)
    if (!reader.reserve(ranges.length + reader.countOf(request, query.step, span))) return reader.isUsedUp
    // Stored before the first wait, so that alerts on the same source share one request for it.
    if (source !== undefined && !sources.has(key)) sources.set(key, reader.requestAll(ranges, [[source]], granularity))
    const [own, sourceRows] = await Promise.all([reader.read(request, query.step, span), sources.get(key)])
    if ('reason' in own) return own
    // The server compares the last numeric column, and groups come after the values.
    const areTexts = 'sql' in query || query.hasTextGroups === true || own.rows.length === 0
    if (!areTexts && own.rows.every(({ hasNumericGroup }) => hasNumericGroup))
      return { reason: 'the groups are numbers, which the server compares instead of the values' }
    return sourceRows !== undefined && 'reason' in sourceRows ? sourceRows : { ...own, sourceRows }
  }
}

type RowReader = ReturnType<typeof createRowReader>

/** All that it reads counts for the same maximum of requests. */
function createRowReader(options: EstimateOptions) {
  const { maxRequests, readSeries } = options
  const refuseTime = limitTime(options.api)
  let sent = 0
  const bounds = new Map<string, Promise<Refusal | undefined>>()
  const isUsedUp = { reason: `the limit of ${maxRequests} requests is used up` }

  function reserve(count: number): boolean {
    if (sent + count > maxRequests) return false
    sent += count
    return true
  }

  const countOf = (request: ValueRequest, step: AlertInterval, span: TimeRange) =>
    'template' in request ? 0 : requestsOf(request, step, span).count

  const read = async (request: ValueRequest, step: AlertInterval, span: TimeRange): Promise<Rows | Refusal> =>
    'template' in request ? readSql(request, intervalMs[step], span) : readAligned(request, step, span)

  async function readSql(sql: WindowSql, lengthMs: number, span: TimeRange) {
    const late = refuseTime(0, 0)
    if (late !== undefined) return late
    const context = { ...options, reserve, refuseTime }
    const asked = bounds.get(sql.template) ?? refuseUnbounded(sql, lengthMs, context)
    bounds.set(sql.template, asked)
    const refusal = await asked
    if (refusal !== undefined) return refusal
    const starts = spread(windowStarts(span, lengthMs), options.maxSqlWindows)
    const found = await readWindows(context, sql, starts, lengthMs)
    return 'reason' in found ? found : { ...found, starts }
  }

  async function readAligned(series: readonly SeriesItem[], step: AlertInterval, span: TimeRange) {
    const { ranges, parts } = requestsOf(series, step, span)
    const rows = await requestAll(ranges, parts, step)
    if ('reason' in rows) return rows
    if (rows.some(({ startMs }) => startMs % intervalMs[step] !== 0)) return { reason: 'the windows of the server are not aligned to UTC' }
    return { rows }
  }

  async function requestAll(
    ranges: readonly TimeRange[],
    parts: readonly (readonly SeriesItem[])[],
    granularity: AlertInterval,
  ): Promise<readonly SeriesRow[] | Refusal> {
    const rows: SeriesRow[] = []
    for (const chunk of ranges) {
      const late = refuseTime(0, 0)
      if (late !== undefined) return late
      const answers = await Promise.all(parts.map((series) => readSeries({ ...chunk, granularity, series })))
      const refusal = answers.find((one) => 'reason' in one)
      if (refusal !== undefined) return refusal
      for (const row of joinParts(answers.flatMap((one) => ('reason' in one ? [] : [one])))) rows.push(row)
    }
    return rows
  }

  return { isUsedUp, reserve, countOf, read, requestAll, sent: (): number => sent }
}

/** What concerns the whole run stays an error. Anything else is the reason why this alert has no estimate. */
function toRefusal(thrown: unknown): Refusal {
  // The server has no SQL access. Alerts on other tiles do not need it.
  if (thrown instanceof WatchkeeperError && !(thrown instanceof ApiError) && thrown.kind === 'not-served')
    return { reason: causeOf(thrown) }
  if (thrown instanceof WatchkeeperError && thrown.kind === 'deadline') return isOutOfTime
  if (!(thrown instanceof ApiError) || ['authentication', 'permission', 'canceled'].includes(thrown.kind)) throw thrown
  if (thrown.kind === 'not-served') return { reason: 'the server has no /charts/series' }
  const [first = ''] = thrown.message.split('\n', 1)
  // A Lucene condition without a column. The alert task of the server evaluates it.
  if (first.includes('Can not search bare text'))
    return { reason: 'the API cannot search bare text in Lucene; name its column, such as Body:text' }
  const queryError = thrown.status === 500 ? /^The API answered 500: (.+)/.exec(first)?.[1] : undefined
  if (queryError !== undefined && /^Timeout\b/i.test(queryError)) return { reason: 'it took longer than 30 s' }
  return { reason: clip(first, 300), ...(queryError !== undefined && { queryError }) }
}

function chunksOf({ fromMs, untilMs }: TimeRange, lengthMs: number): readonly TimeRange[] {
  const end = Math.floor(untilMs / lengthMs) * lengthMs
  // A request covers at most 7 days, and 10,080 windows, which are 7 days of minutes.
  const step = 7 * dayMs
  const chunks: TimeRange[] = []
  for (let at = Math.ceil(fromMs / lengthMs) * lengthMs; at < end; at += step)
    chunks.push({ fromMs: at, untilMs: Math.min(at + step, end) })
  return chunks
}

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
