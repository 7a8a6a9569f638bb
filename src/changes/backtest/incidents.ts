import * as z from 'zod'
import { intervalMs } from '../../kinds/alert/schedule.ts'
import { formatMoment } from '../../platform/core/dates.ts'
import { type Diagnostic, diagnosticOf } from '../../platform/core/diagnostics.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/core/durations.ts'
import { counted, type Line, say, trusted, untrustedSentence } from '../../platform/core/line.ts'
import { namesAtMost } from '../../platform/core/text.ts'
import type { Block } from '../../platform/report/blocks.ts'
import { formatDuration, formatTimes } from '../../platform/report/format.ts'
import { table } from '../../platform/report/table.ts'
import { type Estimate, type EstimateOptions, type Estimates, estimateAlerts, sourceOf } from '../../signals/backtest/estimate.ts'
import type { EvaluatedWindow, TimeRange, WindowValues } from '../../signals/backtest/evaluate.ts'
import type { BacktestQuery } from '../../signals/backtest/query.ts'
import type { Refusal, SeriesItem } from '../../signals/backtest/series-api.ts'
import { type Incident, incidentRules } from '../../sync/declarations/incidents.ts'

const outcomes = ['detected', 'late', 'missed', 'untestable', 'unknown'] as const

const detectionSchema = z.object({
  alert: z.string().describe('Key of the alert.'),
  outcome: z
    .enum(outcomes)
    .describe('`untestable`: the incident is older than the data of the service. `unknown`: the alert cannot be evaluated.'),
  afterMinutes: z.number().optional().describe('From the start of the incident to the first notification.'),
  outsideAt: z.array(z.string()).optional().describe('Times of these notifications, the nearest to the incident first, at most 10.'),
  outside: z.int().optional().describe('Notifications outside of the incidents of the alert, in the day before and after this one.'),
  reason: z.string().optional().describe('Why there is no other outcome.'),
})

export const checkedIncident = z.object({
  key: z.string().describe('The key in the files.'),
  name: z.string(),
  start: z.string(),
  end: z.string(),
  withinMinutes: z.number().describe('How long after the start each alert must have notified.'),
  maxNotifications: z.int().optional().describe('The most notifications outside of incidents.'),
  alerts: z.array(detectionSchema),
})

type CheckedIncident = z.output<typeof checkedIncident>

type Detection = CheckedIncident['alerts'][number]

type EvaluatedAlert =
  | { readonly windows: readonly EvaluatedWindow[]; readonly lengthMs: number }
  | { readonly reason: string; readonly isTooOld?: boolean }

/** `all` are the incidents of the files, in none of which a notification of a named alert is a false one. */
export function checkIncident(incident: Incident, all: readonly Incident[], evaluated: (alert: string) => EvaluatedAlert): CheckedIncident {
  const { key, name, startMs, endMs, withinMs, maxNotifications } = incident
  return {
    key,
    name,
    start: new Date(startMs).toISOString(),
    end: new Date(endMs).toISOString(),
    withinMinutes: withinMs / minuteMs,
    ...(maxNotifications !== undefined && { maxNotifications }),
    alerts: incident.alerts.map((alert) => {
      const ofAlert = all.filter(({ alerts }) => alerts.includes(alert))
      return { alert, ...detect(incident, ofAlert, evaluated(alert)) }
    }),
  }
}

/** A window that overlaps the incident shows some of it. A notification is sent when its window has ended. */
function detect(incident: Incident, ofAlert: readonly Incident[], evaluated: EvaluatedAlert): Omit<Detection, 'alert'> {
  if ('reason' in evaluated) return { outcome: evaluated.isTooOld ? 'untestable' : 'unknown', reason: evaluated.reason }
  const { windows, lengthMs } = evaluated
  const shows = (window: EvaluatedWindow, { startMs, endMs }: Incident): boolean =>
    window.startMs < endMs && window.startMs + lengthMs > startMs
  const firing = windows.filter(({ notifications }) => notifications > 0)
  const others = firing.filter((window) => !ofAlert.some((one) => shows(window, one)))
  const timesMs = others.map(({ startMs }) => startMs + lengthMs)
  const distanceMs = (ms: number): number => Math.max(incident.startMs - ms, ms - incident.endMs)
  const nearest = timesMs.toSorted((a, b) => distanceMs(a) - distanceMs(b)).slice(0, 10)
  const outside = {
    outside: others.reduce((sum, { notifications }) => sum + notifications, 0),
    ...(nearest.length > 0 && { outsideAt: nearest.map((ms) => new Date(ms).toISOString()) }),
  }
  const first = firing.find((window) => shows(window, incident))
  if (first === undefined) return { outcome: 'missed', ...outside }
  const afterMs = first.startMs + lengthMs - incident.startMs
  return { outcome: afterMs <= incident.withinMs ? 'detected' : 'late', afterMinutes: afterMs / minuteMs, ...outside }
}

export const isDetected = (incident: Incident, evaluated: EvaluatedAlert | undefined): boolean =>
  evaluated !== undefined && detect(incident, [incident], evaluated).outcome === 'detected'

export function isQuietOutside(incident: Incident, ofAlert: readonly Incident[], evaluated: EvaluatedAlert | undefined): boolean {
  const { maxNotifications = Number.POSITIVE_INFINITY } = incident
  return evaluated !== undefined && (detect(incident, ofAlert, evaluated).outside ?? 0) <= maxNotifications
}

export const judgeIncidents = (incidents: readonly CheckedIncident[]): readonly Line[] =>
  incidents.flatMap((incident) =>
    incident.alerts.flatMap((detection): readonly Line[] => {
      const subject = say`incident ${incident.key}: alert ${detection.alert}`
      const { outside = 0, outcome } = detection
      const allowed = incident.maxNotifications
      return [
        ...(outcome === 'detected' || outcome === 'untestable' ? [] : [say`${subject} ${describeFailure(detection, incident)}`]),
        ...(allowed === undefined || outside <= allowed
          ? []
          : [say`${subject} sends ${counted(outside, 'notification')} outside of its incidents, above ${allowed}`]),
      ]
    }),
  )

function describeFailure({ outcome, reason = '', afterMinutes = 0 }: Detection, { withinMinutes }: CheckedIncident) {
  if (outcome === 'unknown') return say`cannot be checked (${untrustedSentence(reason)})`
  if (outcome === 'missed') return say`does not notify`
  return say`notifies ${minutes(afterMinutes)} after the start, later than ${minutes(withinMinutes)}`
}

const minutes = (count: number) => trusted(formatDuration(count * minuteMs))

export function explainUntestable({ key, location }: Incident, detections: readonly Detection[]): readonly Diagnostic[] {
  const alerts = detections.filter(({ outcome }) => outcome === 'untestable').map(({ alert }) => alert)
  const message = `incidents.${key}: not testable any more with ${namesAtMost(10, alerts)}, because the data of the service begins after it`
  return alerts.length === 0 ? [] : [diagnosticOf(incidentRules, 'incident-untestable', location, message)]
}

export const outcomeCounts = {
  detected: z.int().describe('Alerts that notify in time, of all incidents.'),
  late: z.int().describe('Alerts that notify too late, of all incidents.'),
  missed: z.int().describe('Alerts that do not notify, of all incidents.'),
  untestable: z.int().describe('Alerts of incidents that are older than the data.'),
}

export function countOutcomes(incidents: readonly CheckedIncident[]) {
  const all = incidents.flatMap(({ alerts }) => alerts)
  const numberOf = (outcome: (typeof outcomes)[number]): number => all.filter((one) => one.outcome === outcome).length
  return {
    incidentCount: incidents.length,
    detected: numberOf('detected'),
    late: numberOf('late'),
    missed: numberOf('missed'),
    untestable: numberOf('untestable'),
  }
}

export const incidentTable = (incidents: readonly CheckedIncident[]): Block =>
  table(
    'Incidents',
    incidents.flatMap((incident) =>
      incident.alerts.filter(({ outcome }) => outcome !== 'untestable').map((detection) => ({ incident, detection })),
    ),
    {
      Incident: ({ incident }) => incident.key,
      Start: ({ incident }) => trusted(formatMoment(incident.start)),
      Alert: ({ detection }) => detection.alert,
      Result: ({ incident, detection }) => describeDetection(detection, incident),
      'Notifications outside': ({ detection }) => trusted(describeOutside(detection)),
    },
    ({ detection }) => (detection.outcome === 'detected' ? 'pass' : 'fail'),
  )

/** `2: 21 Mar 2026 06:30, 06:35 UTC`. */
function describeOutside({ outside, outsideAt = [] }: Detection) {
  if (outside === undefined) return '–'
  return outsideAt.length === 0 ? String(outside) : `${outside}: ${formatTimes(outsideAt)}`
}

function describeDetection({ outcome, reason = '', afterMinutes = 0 }: Detection, { withinMinutes }: CheckedIncident) {
  switch (outcome) {
    case 'detected':
      return say`detected after ${minutes(afterMinutes)}`
    case 'late':
      return say`detected late: after ${minutes(afterMinutes)}, not within ${minutes(withinMinutes)}`
    case 'missed':
      return say`missed`
    case 'untestable':
    case 'unknown':
      return say`unknown (${untrustedSentence(reason)})`
  }
}

export interface AroundIncident {
  readonly incident: Incident
  readonly alert: string
  readonly range: TimeRange
  readonly evaluated: EvaluatedAlert
  readonly values: WindowValues | undefined
}

type Query = BacktestQuery | Refusal

/** Whatever the period of the backtest is. Throws an ApiError only where it concerns the whole run. */
export async function readAroundIncidents(
  incidents: readonly Incident[],
  queryOf: ReadonlyMap<string, Query | undefined>,
  nowMs: number,
  options: EstimateOptions,
) {
  const around: AroundIncident[] = []
  const hasRowsBefore = createRowFinder()
  let requestCount = 0
  for (const incident of incidents) {
    const queries = incident.alerts.map((key) => withoutStart(queryOf.get(key) ?? { reason: 'it does not exist after the plan' }))
    const range = rangeAround(incident, queries, nowMs)
    const isOver = range.untilMs >= incident.endMs
    const wanted = isOver ? queries : queries.map(() => ({ reason: 'the incident is not over' }))
    const read = await estimateAlerts(wanted, range, { ...options, maxRequests: options.maxRequests - requestCount })
    for (const [i, alert] of incident.alerts.entries()) {
      const [query, estimate] = [wanted[i], read.estimates[i]]
      if (query === undefined || estimate === undefined) continue
      const source = 'reason' in query ? undefined : sourceOf(query)
      // A gap in the data is not its beginning, and a source that is empty today proves nothing.
      const isTooOld =
        source !== undefined &&
        beginsLate(estimate, incident) &&
        (await hasRowsBefore(source, incident.startMs, read.readRows)) === false &&
        (await hasRowsBefore(source, nowMs, read.readRows)) === true
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

/** The evaluated time begins a day before the incident and ends a day after it, or at least six windows. */
function rangeAround({ startMs, endMs }: Incident, queries: readonly Query[], nowMs: number) {
  const longestMs = Math.max(hourMs, ...queries.map((query) => ('reason' in query ? 0 : intervalMs[query.condition.interval])))
  const marginMs = Math.max(dayMs, 6 * longestMs)
  return {
    fromMs: Math.floor((startMs - marginMs) / longestMs) * longestMs,
    untilMs: Math.min(Math.ceil((endMs + marginMs) / longestMs) * longestMs, nowMs),
  }
}

/** Whether a source has rows in the week before a time. Undefined where unknown. Each week is read once. */
function createRowFinder() {
  const found = new Map<string, Promise<boolean | undefined>>()
  return (source: SeriesItem, endMs: number, readRows: Estimates['readRows']): Promise<boolean | undefined> => {
    const untilMs = Math.floor(endMs / hourMs) * hourMs
    const key = JSON.stringify([source, untilMs])
    const rows =
      found.get(key) ??
      readRows([source], '1h', { fromMs: untilMs - 7 * dayMs, untilMs }).then((read) =>
        'reason' in read ? undefined : read.rows.length > 0,
      )
    found.set(key, rows)
    return rows
  }
}

/** Whether the source has no data from before the incident in the evaluated time. */
const beginsLate = (estimate: Estimate, { startMs }: Incident) =>
  'coverage' in estimate && estimate.coverage !== undefined && (estimate.coverage.firstMs ?? Number.POSITIVE_INFINITY) > startMs

function toEvaluated(query: Query, estimate: Estimate): EvaluatedAlert {
  if ('reason' in query) return query
  if (estimate.verdict === 'not-estimable') return estimate
  if (estimate.verdict === 'no-data') return { reason: 'its source has no data' }
  return { windows: estimate.windows, lengthMs: intervalMs[query.condition.interval] }
}
