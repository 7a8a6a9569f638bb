import { intervalMs } from '../../kinds/alert/schedule.ts'
import { dayMs, hourMs } from '../../platform/core/durations.ts'
import { type Estimate, type EstimateOptions, type Estimates, estimateAlerts, sourceOf } from '../../signals/backtest/estimate.ts'
import type { TimeRange, WindowValues } from '../../signals/backtest/evaluate.ts'
import type { BacktestQuery } from '../../signals/backtest/query.ts'
import type { Refusal } from '../../signals/backtest/read-rows.ts'
import type { SeriesItem } from '../../signals/backtest/series-api.ts'
import type { Incident } from '../../sync/declarations/incidents.ts'
import type { EvaluatedAlert } from './incidents.ts'

// What alerts do around the incidents of files, whatever the period of the backtest is.

export interface AroundIncident {
  readonly incident: Incident
  /** Key of the alert. */
  readonly alert: string
  readonly range: TimeRange
  readonly evaluated: EvaluatedAlert
  /** What it compares in the range. Undefined where that is unknown. */
  readonly values: WindowValues | undefined
}

type Query = BacktestQuery | Refusal

interface AroundOptions extends Omit<EstimateOptions, 'range'> {
  readonly nowMs: number
  /** What alerts compare after the plan, by their keys. */
  readonly queries: ReadonlyMap<string, Query | undefined>
}

/** Reads the values around each incident. Throws an ApiError only where it concerns the whole run. */
export async function readAroundIncidents(
  incidents: readonly Incident[],
  options: AroundOptions,
): Promise<{ readonly around: readonly AroundIncident[]; readonly requestCount: number }> {
  const around: AroundIncident[] = []
  const hasRowsBefore = createRowFinder()
  let requestCount = 0
  for (const incident of incidents) {
    const queries = incident.alerts.map((key) => withoutStart(options.queries.get(key) ?? { reason: 'the plan deletes it' }))
    const range = rangeAround(incident, queries, options.nowMs)
    const isOver = range.untilMs >= incident.endMs
    const wanted = isOver ? queries : queries.map(() => ({ reason: 'the incident is not over' }))
    const read = await estimateAlerts(wanted, { ...options, range, maxRequests: options.maxRequests - requestCount })
    for (const [i, alert] of incident.alerts.entries()) {
      const [query, estimate] = [wanted[i], read.estimates[i]]
      if (query === undefined || estimate === undefined) continue
      const source = 'reason' in query ? undefined : sourceOf(query)
      // A gap in the data is not its beginning, and a source that is empty today proves nothing.
      const isTooOld =
        source !== undefined &&
        beginsLate(estimate, incident) &&
        (await hasRowsBefore(source, incident.startMs, read)) === false &&
        (await hasRowsBefore(source, options.nowMs, read)) === true
      const evaluated = isTooOld ? { reason: 'it is older than the data', isTooOld } : toEvaluated(query, estimate)
      around.push({ incident, alert, range, evaluated, values: 'values' in estimate ? estimate.values : undefined })
    }
    requestCount += read.requests()
  }
  return { around, requestCount }
}

/** The start of an alert says when it may notify, and not what it detects. */
const withoutStart = (query: Query): Query =>
  'reason' in query ? query : { ...query, condition: { ...query.condition, startMs: undefined } }

/** The evaluated time begins this long before the incident and ends this long after it, or at least this number of windows. */
const marginMs = dayMs
const marginWindows = 6

/** Whole windows, until the last one that is over. */
function rangeAround({ startMs, endMs }: Incident, queries: readonly Query[], nowMs: number): TimeRange {
  const longestMs = Math.max(hourMs, ...queries.map((query) => ('reason' in query ? 0 : intervalMs[query.condition.interval])))
  const margin = Math.max(marginMs, marginWindows * longestMs)
  return {
    fromMs: Math.floor((startMs - margin) / longestMs) * longestMs,
    untilMs: Math.min(Math.ceil((endMs + margin) / longestMs) * longestMs, nowMs),
  }
}

/** Whether the source of a query has rows in the week before a time. Undefined where that is unknown. Each week of a source is read once. */
type FindRows = (source: SeriesItem, endMs: number, read: Pick<Estimates, 'readRows'>) => Promise<boolean | undefined>

function createRowFinder(): FindRows {
  const found = new Map<string, Promise<boolean | undefined>>()
  return (source, endMs, { readRows }) => {
    const untilMs = Math.floor(endMs / hourMs) * hourMs
    const key = JSON.stringify([source, untilMs])
    const rows =
      found.get(key) ??
      readRows({ series: [source], step: '1h' }, { fromMs: untilMs - 7 * dayMs, untilMs }).then((read) =>
        'reason' in read ? undefined : read.rows.length > 0,
      )
    found.set(key, rows)
    return rows
  }
}

/** Whether the source can have lost its data from before the incident: it has none from before it in the evaluated time. */
const beginsLate = (estimate: Estimate, { startMs }: Incident): boolean =>
  'coverage' in estimate && estimate.coverage !== undefined && (estimate.coverage.firstMs ?? Number.POSITIVE_INFINITY) > startMs

function toEvaluated(query: Query, estimate: Estimate): EvaluatedAlert {
  if ('reason' in query) return query
  if (estimate.verdict === 'not-estimable') return estimate
  if (estimate.verdict === 'no-data') return { reason: 'its source has no data' }
  return { windows: estimate.windows, lengthMs: intervalMs[query.condition.interval] }
}
