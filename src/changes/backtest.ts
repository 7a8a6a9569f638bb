import * as z from 'zod'
import { choosePeriod, type GivenPeriod, isBillingCycle, periodInput } from '../cost/usage/periods.ts'
import { dayOf, formatMoment, lastDays } from '../platform/core/dates.ts'
import { diagnosticSchema, errorsIn } from '../platform/core/diagnostics.ts'
import { dayMs } from '../platform/core/durations.ts'
import { inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { counted, type Line, say, trusted, untrustedSentence } from '../platform/core/line.ts'
import { quote } from '../platform/core/text.ts'
import type { OutputFile } from '../platform/operation/files.ts'
import { flag, grouped, noted, optionOnly } from '../platform/operation/inputs.ts'
import { defineOperation, noFields } from '../platform/operation/operation.ts'
import { selectDeclared, selectInput } from '../platform/operation/select.ts'
import { type Block, countFacts, paragraph } from '../platform/report/blocks.ts'
import { table } from '../platform/report/table.ts'
import type { TimeRange } from '../signals/backtest/evaluate.ts'
import { changesOf } from '../sync/plan/change.ts'
import { hasErrors, makePlan } from '../sync/plan/make-plan.ts'
import { planInput } from '../sync/plan/plan-input.ts'
import { backtestPlan, daysOf, demandValues, whyNoBacktest } from './backtest/backtest-plan.ts'
import { type BacktestedAlert, backtestBlocks, backtestedAlert } from './backtest/backtest-report.ts'
import { gateInput, judgeBacktest } from './backtest/gates.ts'
import { checkedIncident, checkIncident, countOutcomes, incidentTable, judgeIncidents, outcomeCounts } from './backtest/incidents.ts'
import { readDirectory, recordingsInput, toRecordings, type WrittenRecording } from './backtest/recordings.ts'
import { judgeDiagnostics } from './plan/plan-report.ts'

const maxDays = 31

/** The last N times 24 hours, or whole days in UTC. Throws an InputError for a period in the future, and for one that is too long. */
function rangeOf(period: GivenPeriod = 'last-7-days', nowMs: number): TimeRange {
  if (isBillingCycle(period)) throw inputError('period', `is ${period}, which is a period of usage; set days`)
  const tooLong = () => inputError('period', `is longer than ${maxDays} days`)
  const count = typeof period === 'string' ? lastDays(period, Number.POSITIVE_INFINITY) : undefined
  if (count !== undefined && count > maxDays) throw tooLong()
  if (count !== undefined) return { fromMs: nowMs - count * dayMs, untilMs: nowMs }
  const { from, to } = choosePeriod(period, dayOf(nowMs))
  const [fromMs, untilMs] = [Date.parse(from), Math.min(nowMs, Date.parse(to) + dayMs)]
  if (untilMs - fromMs > maxDays * dayMs) throw tooLong()
  return { fromMs, untilMs }
}

export const backtest = defineOperation({
  summary: 'Shows how often declared alerts would have fired in the past days, and fire now.',
  effect: 'read',
  scope: 'service-or-server',
  input: planInput.omit({ prune: true, maxDeletes: true, repair: true }).extend({
    ...grouped('Files', { allowEmpty: planInput.shape.allowEmpty }),
    ...grouped('What is estimated', {
      select: selectInput(['key', 'name', 'all'], { without: 'only alerts that the files change' }).optional(),
      period: noted(
        periodInput.optional(),
        `The default is \`last-7-days\`, and at most ${maxDays} days. Billing cycles are not accepted.`,
      ),
    }),
    ...grouped('Gates', gateInput),
    ...grouped('Output', {
      recordings: recordingsInput.optional(),
      recordGroupNames: optionOnly(flag('Records names of groups instead of hashes. They are production data.').default(false)),
    }),
  }),
  output: noFields,
  details: z.object({
    alertCount: z.int().describe('Number of backtested alerts.'),
    firing: z.int().describe('Alerts that would have fired.'),
    quiet: z.int().describe('Alerts that would have stayed quiet.'),
    noData: z.int().describe('Alerts whose source had no data.'),
    notEstimable: z.int().describe('Alerts that cannot be estimated.'),
    notifications: z.int().describe('Notifications of all alerts that can be estimated, as the files declare them.'),
    requestCount: z.int().describe('Number of requests for values.'),
    incidentCount: z.int().describe('Incidents of the files in the period.'),
    ...outcomeCounts,
    recordingCount: z.int().describe('Number of recordings that were written.'),
    days: z.int().describe('Length of the backtest in days, rounded.'),
    until: z.string().describe('End of the backtest.'),
    alerts: z.array(backtestedAlert).describe('The alerts, in the order of the files.'),
    incidents: z.array(checkedIncident).describe('The incidents of the files in the period.'),
    incidentsOutside: z.int().describe('Incidents of the files outside of the period, which are not checked.'),
    recordings: z
      .array(
        z.object({
          incident: z.string(),
          alert: z.string(),
          path: z.string(),
          size: z.int().describe('Bytes.'),
          content: z.string().describe('Empty if it was not written.'),
          reason: z.string().optional().describe('Why it was not written.'),
        }),
      )
      .describe('With `recordings`: a recording for each incident and alert.'),
    diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes on the files.'),
  }),
  example: { files: ['alerts.yml'], project: 'shop/alerts', select: ['all'] },
  async run(context, input) {
    const refusal = await whyNoBacktest(context)
    if (refusal !== undefined) throw new WatchkeeperError('refused', `No backtest: ${refusal}.`)
    demandValues(context)
    const directory = input.recordings === undefined ? undefined : readDirectory(input.recordings)
    const range = rangeOf(input.period, context.clock.now())
    const planned = await makePlan(context, { ...input, prune: false, maxDeletes: 0, effect: 'read' })
    const result = { days: daysOf(range), until: new Date(range.untilMs).toISOString(), diagnostics: [...planned.diagnostics] }
    if (hasErrors(planned))
      return {
        ...toCounts([]),
        ...countOutcomes([]),
        requestCount: 0,
        ...result,
        recordingCount: 0,
        alerts: [],
        incidents: [],
        incidentsOutside: 0,
        recordings: [],
      }
    const selected = new Set(selectDeclared(changesOf(planned.plan, 'alert'), input.select, 'alert').map(({ key }) => key))
    const checked = planned.found.incidents.filter(({ startMs, endMs }) => startMs >= range.fromMs && endMs <= range.untilMs)
    const incidentsOutside = planned.found.incidents.length - checked.length
    const ofPeriod = checked
      .map((incident) => ({ ...incident, alerts: incident.alerts.filter((key) => selected.has(key)) }))
      .filter(({ alerts }) => alerts.length > 0)
    const onProgress = (done: number, total: number): Promise<void> =>
      context.progress({ done, total, line: say`series of values`, result: async () => ({ ...result, alerts: [] }) })
    const { alerts, requestCount, evaluated, incidentRows, diagnostics } = await backtestPlan(
      planned,
      { ...context, nowMs: context.clock.now(), onProgress },
      {
        range,
        only: input.select === undefined ? 'changed' : 'all',
        selected,
        always: ofPeriod.flatMap(({ alerts }) => alerts),
        maxRequests,
        maxNotifications: input.maxNotifications,
        incidents: ofPeriod,
        ...(directory !== undefined && { recorded: ofPeriod }),
      },
    )
    const incidents = ofPeriod.map((incident) =>
      checkIncident(incident, planned.found.incidents, (alert) => evaluated.get(alert) ?? { reason: 'it was not evaluated' }),
    )
    const record = async (path: string) => {
      const { declaredQueries } = await import('./backtest/declared-queries.ts')
      const queries = await declaredQueries(planned.found, planned.kinds)
      return toRecordings(incidentRows, { directory: path, keepsNames: input.recordGroupNames, queries })
    }
    const recordings = directory === undefined ? [] : await record(directory)
    const recordingCount = recordings.filter(({ content }) => content !== '').length
    return {
      recordings,
      recordingCount,
      ...toCounts(alerts),
      ...countOutcomes(incidents),
      requestCount,
      ...result,
      // The table says which queries failed, and on-missing what follows.
      diagnostics: [...result.diagnostics, ...diagnostics.filter(({ rule }) => rule === 'unmatched-condition')],
      alerts: [...alerts],
      incidents,
      incidentsOutside,
    }
  },
  judge(result, input) {
    if (errorsIn(result.diagnostics).length > 0) return judgeDiagnostics(result)
    const failures = [...judgeIncidents(result.incidents), ...judgeRecordings(result.recordings, input)]
    const gated = judgeBacktest(result.alerts, input)
    if (failures.length === 0) return gated.status === 'pass' ? judgeDiagnostics(result) : gated
    return { status: 'fail', reasons: [...failures, ...(gated.status === 'fail' ? gated.reasons : [])] }
  },
  report: (result) => ({
    headline:
      errorsIn(result.diagnostics).length > 0
        ? say`The backtest failed`
        : result.alertCount === 0
          ? say`No alert to backtest: the files change none. Set ${trusted(spellInput('select', 'all'))} to backtest every declared alert`
          : say`Backtest of ${counted(result.alertCount, 'alert')} over ${counted(result.days, 'day')} until ${trusted(formatMoment(result.until))}`,
    blocks: [
      countFacts({
        Fires: result.firing,
        Quiet: result.quiet,
        'No data': result.noData,
        'Not estimable': result.notEstimable,
        Notifications: result.notifications,
        Requests: result.requestCount,
      }),
      { kind: 'diagnostics', diagnostics: result.diagnostics },
      incidentTable(result.incidents),
      recordingTable(result.recordings),
      paragraph(
        result.incidentsOutside === 0
          ? []
          : say`${counted(result.incidentsOutside, 'incident')} of the files not checked: outside of the period. Set period to include them`,
      ),
      ...backtestBlocks(result),
    ],
    annotations: result.diagnostics,
  }),
  files: ({ recordings }) => recordings.filter(({ content }) => content !== '').map(toRecordedFile),
})

/** Two minutes at the rate limit of a self-hosted server. */
const maxRequests = 200

function toRecordedFile({ path, content, size }: WrittenRecording): OutputFile {
  // Redaction replaced a secret by stars, and the checksum would no longer match.
  if (Buffer.byteLength(content) !== size)
    throw new WatchkeeperError('refused', `No file was written, because "${quote(path)}" would contain a secret of this run.`)
  return { input: 'recordings', path, content, isEssential: true, staysInWorkspace: true }
}

/** The user asked for recordings of all incidents of the period. */
function judgeRecordings(recordings: readonly WrittenRecording[], given: { readonly recordings?: string | undefined }): readonly Line[] {
  if (given.recordings !== undefined && recordings.length === 0)
    return [say`nothing was recorded, because no incident of the files is in the period; set ${trusted(spellInput('period'))}`]
  return recordings.flatMap(({ incident, alert, reason }) =>
    reason === undefined ? [] : [say`incident ${incident}: alert ${alert} was not recorded (${untrustedSentence(reason)})`],
  )
}

const recordingTable = (recordings: readonly WrittenRecording[]): Block =>
  table('Recordings', recordings, {
    Incident: ({ incident }) => incident,
    Alert: ({ alert }) => alert,
    File: ({ path, reason }) => (reason === undefined ? path : say`not recorded (${untrustedSentence(reason)})`),
    '> Size': ({ size, reason }) => (reason === undefined ? trusted(`${(size / 1000).toFixed(1)} kB`) : undefined),
  })

function toCounts(alerts: readonly BacktestedAlert[]) {
  const numberOf = (verdict: NonNullable<BacktestedAlert['next']>['verdict']): number =>
    alerts.filter(({ next }) => next?.verdict === verdict).length
  return {
    alertCount: alerts.length,
    firing: numberOf('fires'),
    quiet: numberOf('quiet'),
    noData: numberOf('no-data'),
    notEstimable: numberOf('not-estimable'),
    notifications: alerts.reduce((sum, { next }) => sum + (next?.notifications ?? 0), 0),
  }
}
