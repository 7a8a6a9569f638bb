import { ApiError } from '../api/api-error.ts'
import type { ReadApi } from '../api/client.ts'
import type { Target } from '../api/path.ts'
import { forEachConcurrently } from '../core/concurrency.ts'
import { dayMs } from '../core/durations.ts'
import { clip } from '../core/text.ts'
import { type AlertInterval, intervalMs } from '../resources/alerts/schedule.ts'
import { type Coverage, sourceSeries, toCoverage } from './coverage.ts'
import { type EvaluatedWindow, evaluate, evaluatedPart, type TimeRange, type WindowValues } from './evaluate.ts'
import type { AlertQuery } from './query.ts'
import type { Refusal } from './read-rows.ts'
import { maxSeries, requestSeries, type SeriesItem, type SeriesRow } from './series-api.ts'
import { type Summary, summarize } from './summary.ts'

/** What an alert would have done in a range of time, or why that is unknown. */
export type Estimate =
  | {
      readonly verdict: 'fires' | 'quiet'
      readonly summary: Summary
      readonly windows: readonly EvaluatedWindow[]
      readonly values: WindowValues
      readonly coverage: Coverage
    }
  | { readonly verdict: 'no-data'; readonly coverage: Coverage }
  | { readonly verdict: 'not-estimable'; readonly reason: string }

export interface EstimateOptions {
  readonly api: ReadApi
  readonly service: Target
  readonly range: TimeRange
  readonly maxRequests: number
  /** Called after each series. */
  readonly onProgress: (done: number, total: number) => Promise<void>
}

export interface Estimates {
  /** In the order of the queries. */
  readonly estimates: readonly Estimate[]
  /** Requests sent so far, without retries after a rejection by the rate limit. */
  requests(): number
  /** The rows of a query in another range. They count for the same maximum of requests. */
  readRows(query: AlertQuery, range: TimeRange): Promise<{ readonly rows: readonly SeriesRow[] } | Refusal>
}

/** A request covers at most this range, and this many windows. */
const maxRangeMs = 7 * dayMs
const maxWindows = 10_080

const maxConcurrent = 4

/** Requests each series once, whatever the number of alerts that compare it, and evaluates the alerts. */
export async function estimateAlerts(queries: readonly (AlertQuery | Refusal)[], options: EstimateOptions): Promise<Estimates> {
  const budget = createBudget(options, finestSteps(queries))
  const wanted = new Map(queries.flatMap((query) => ('series' in query ? [[keyOf(query), query] as const] : [])))
  const answers = new Map<string, Answer>()
  await forEachConcurrently(
    [...wanted],
    () => maxConcurrent,
    async ([key, query]) => {
      answers.set(key, await budget.ask(query))
      await options.onProgress(answers.size, wanted.size)
    },
  )
  const estimates = queries.map((query): Estimate => {
    if (!('series' in query)) return { verdict: 'not-estimable', reason: query.reason }
    const answer = answers.get(keyOf(query)) ?? { reason: 'it was not requested' }
    return 'reason' in answer ? { verdict: 'not-estimable', reason: answer.reason } : toEstimate(query, answer, options)
  })
  return { estimates, requests: budget.sent, readRows: budget.readRows }
}

const keyOf = ({ series, step, lookbackMs }: AlertQuery): string => JSON.stringify([step, lookbackMs, series])

interface Rows {
  readonly rows: readonly SeriesRow[]
  /** The rows of the source without the condition of the alert. */
  readonly sourceRows: readonly SeriesRow[]
}

type Answer = Rows | Refusal

function toEstimate(query: AlertQuery, answer: Rows, { range }: EstimateOptions): Estimate {
  const coverage = toCoverage(answer.sourceRows, query.condition, range)
  if (coverage.windows > 0 && coverage.windowsWithData === 0) return { verdict: 'no-data', coverage }
  const part = evaluatedPart(query.condition, range)
  const firstMs = part.fromMs - query.lookbackMs
  const read = query.read(
    answer.rows.filter(({ startMs }) => startMs >= firstMs),
    part,
  )
  if ('reason' in read) return { verdict: 'not-estimable', reason: read.reason }
  const windows = evaluate(query.condition, read.values, range)
  const summary = summarize(windows, intervalMs[query.condition.interval])
  return { verdict: summary.notifications > 0 ? 'fires' : 'quiet', summary, windows, values: read.values, coverage }
}

/** The source, or the metric, that a query reads. Of several series, the last one is compared. */
const sourceOf = ({ series }: AlertQuery): SeriesItem | undefined => series.slice(-1).map(sourceSeries)[0]

/** For each source the shortest step of its alerts, which divides all others. */
function finestSteps(queries: readonly (AlertQuery | Refusal)[]): ReadonlyMap<string, AlertInterval> {
  const finest = new Map<string, AlertInterval>()
  for (const query of queries) {
    if (!('series' in query)) continue
    const [key, { step }] = [JSON.stringify(sourceOf(query)), query]
    const known = finest.get(key)
    if (known === undefined || intervalMs[step] < intervalMs[known]) finest.set(key, step)
  }
  return finest
}

interface Budget extends Pick<Estimates, 'readRows'> {
  ask(query: AlertQuery): Promise<Answer>
  /** Requests sent so far. */
  sent(): number
}

interface Requests {
  readonly ranges: readonly TimeRange[]
  readonly parts: readonly (readonly SeriesItem[])[]
  readonly count: number
}

function requestsOf({ series, step }: AlertQuery, range: TimeRange): Requests {
  const ranges = chunksOf(range, intervalMs[step])
  const parts = Array.from({ length: Math.ceil(series.length / maxSeries) }, (_, i) => series.slice(i * maxSeries, (i + 1) * maxSeries))
  return { ranges, parts, count: ranges.length * parts.length }
}

function createBudget({ api, service, range, maxRequests }: EstimateOptions, finest: ReadonlyMap<string, AlertInterval>): Budget {
  let sent = 0
  const sources = new Map<string, Promise<readonly SeriesRow[]>>()

  async function ask(query: AlertQuery): Promise<Answer> {
    const { step, lookbackMs } = query
    const requests = requestsOf(query, { ...range, fromMs: range.fromMs - lookbackMs })
    const source = sourceOf(query)
    if (source === undefined) return { reason: 'the tile has no series' }
    if (requests.count === 0) return { reason: `the range has no whole window of ${step}` }
    const sourceKey = JSON.stringify(source)
    const granularity = finest.get(sourceKey) ?? step
    const sourceRanges = chunksOf(range, intervalMs[granularity])
    const needed = requests.count + (sources.has(sourceKey) ? 0 : sourceRanges.length)
    if (sent + needed > maxRequests) return { reason: `max-requests (${maxRequests}) is used up` }
    sent += needed
    // Before the first wait, so that no other query asks for the same source.
    const ofSource = sources.get(sourceKey) ?? requestAll(sourceRanges, [[source]], granularity)
    sources.set(sourceKey, ofSource)
    const [read, sourceRows] = await Promise.all([readAligned(query, requests), ofSource])
    return 'reason' in read ? read : { ...read, sourceRows }
  }

  async function readRows(query: AlertQuery, span: TimeRange): Promise<Pick<Rows, 'rows'> | Refusal> {
    const requests = requestsOf(query, span)
    if (sent + requests.count > maxRequests) return { reason: `max-requests (${maxRequests}) is used up` }
    sent += requests.count
    return readAligned(query, requests)
  }

  async function readAligned(query: AlertQuery, { ranges, parts }: Requests): Promise<Pick<Rows, 'rows'> | Refusal> {
    const { step } = query
    const rows = await requestAll(ranges, parts, step)
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
  ): Promise<readonly SeriesRow[]> {
    const answers: (readonly SeriesRow[])[] = []
    for (const chunk of ranges)
      answers.push(joinParts(await Promise.all(parts.map((part) => requestSeries(api, service, { ...chunk, granularity, series: part })))))
    return answers.flat()
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
  if (!(thrown instanceof ApiError) || runErrors.includes(thrown.kind)) throw thrown
  if (thrown.kind === 'not-served') return { reason: 'the server has no /charts/series' }
  const [first = ''] = thrown.message.split('\n', 1)
  if (first.includes(bareTextError)) return { reason: 'the API cannot search bare text in Lucene; name its column, such as Body:text' }
  return { reason: clip(first, 300) }
}

const runErrors: readonly ApiError['kind'][] = ['authentication', 'permission', 'cancelled']

/** Parts of the range, aligned to the windows. */
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
