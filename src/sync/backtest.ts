import * as z from 'zod'
import { diagnosticSchema, errorsIn } from '../core/diagnostics.ts'
import { dayMs } from '../core/durations.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { counted, say, trusted } from '../core/line.ts'
import { choice, flag, integer } from '../operation/inputs.ts'
import { defineOperation } from '../operation/operation.ts'
import { formatTime } from '../report/format.ts'
import {
  type BacktestedAlert,
  backtestBlocks,
  backtestedAlert,
  backtestPlan,
  backtestReason,
  defaultMaxRequests,
  whyNoBacktest,
} from './backtest/backtest-plan.ts'
import { demandKeys, gateInput, judgeBacktest } from './backtest/gates.ts'
import { checkedIncident, checkIncident, countOutcomes, incidentBlocks, judgeIncidents } from './backtest/incidents.ts'
import { hasErrors, makePlan, planInput } from './plan/make-plan.ts'
import { judgeDiagnostics } from './plan/plan-report.ts'

const count = (what: string) => z.int().describe(what)

export const backtest = defineOperation({
  summary: 'Shows how often declared alerts would have fired in the past days, and how often they fire as they are now. Self-hosted only.',
  effect: 'read',
  scope: 'service-or-server',
  profiles: ['hyperdx'],
  profilesReason: backtestReason,
  input: planInput.omit({ prune: true, maxDeletes: true, sarifFile: true, codeQualityFile: true }).extend({
    only: choice(['changed', 'all'], 'Backtests only alerts that the files change, or all declared alerts.').default('changed'),
    days: integer('Length of the backtest in days.', 1, 30).default(7),
    until: z.iso.datetime({ offset: true }).optional().meta({
      description: 'End of the backtest. The default is now.',
      accepts: 'a time such as 2026-01-31T08:00:00Z',
    }),
    ...gateInput,
    suggest: flag('Suggests thresholds, with the notifications that each would have sent.').default(false),
    maxRequests: integer('Maximum number of requests for values. Alerts beyond it are not estimable.', 1, 1000).default(defaultMaxRequests),
  }),
  output: z.object({
    alertCount: count('Number of backtested alerts.'),
    firing: count('Alerts that would have fired.'),
    quiet: count('Alerts that would have stayed quiet.'),
    noData: count('Alerts whose source had no data.'),
    notEstimable: count('Alerts that cannot be estimated.'),
    notifications: count('Notifications of all alerts that can be estimated, as the files declare them.'),
    requestCount: count('Number of requests for values.'),
    incidentCount: count('Incidents of the files in the period.'),
    detected: count('Alerts that notify in time, of all incidents.'),
    late: count('Alerts that notify too late, of all incidents.'),
    missed: count('Alerts that do not notify, of all incidents.'),
  }),
  details: z.object({
    days: count('Length of the backtest in days.'),
    until: z.string().describe('End of the backtest.'),
    alerts: z.array(backtestedAlert).describe('The alerts, in the order of the files.'),
    incidents: z.array(checkedIncident).describe('The incidents of the files in the period.'),
    incidentsOutside: count('Incidents of the files outside of the period, which are not checked.'),
    diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes on the files.'),
  }),
  example: { files: ['alerts.yml'], project: 'shop/observability', only: 'all' },
  async run(context, input) {
    const refusal = await whyNoBacktest(context)
    if (refusal !== undefined) throw new WatchkeeperError('refused', `No backtest: ${refusal}.`)
    const untilMs = input.until === undefined ? context.clock.now() : Date.parse(input.until)
    const planned = await makePlan(context, { ...input, prune: false, maxDeletes: 0, effect: 'read' })
    const result = { days: input.days, until: new Date(untilMs).toISOString(), diagnostics: [...planned.diagnostics] }
    if (hasErrors(planned))
      return { ...toCounts([]), ...countOutcomes([]), requestCount: 0, ...result, alerts: [], incidents: [], incidentsOutside: 0 }
    const fromMs = untilMs - input.days * dayMs
    const ofPeriod = planned.found.incidents.filter(({ startMs, endMs }) => startMs >= fromMs && endMs <= untilMs)
    const incidentsOutside = planned.found.incidents.length - ofPeriod.length
    const always = [...(input.mustFire ?? []), ...(input.mustBeQuiet ?? []), ...ofPeriod.flatMap(({ alerts }) => alerts)]
    demandKeys(input, planned)
    const onProgress = (done: number, total: number): Promise<void> =>
      context.progress({ done, total, line: say`series of values`, result: async () => ({ ...result, alerts: [] }) })
    const { alerts, requestCount, evaluated } = await backtestPlan(
      planned,
      { ...context, nowMs: context.clock.now(), onProgress },
      { ...input, untilMs, always },
    )
    const incidents = ofPeriod.map((incident) =>
      checkIncident(incident, planned.found.incidents, (alert) => evaluated.get(alert) ?? { reason: 'it was not evaluated' }),
    )
    return { ...toCounts(alerts), ...countOutcomes(incidents), requestCount, ...result, alerts: [...alerts], incidents, incidentsOutside }
  },
  judge(result, input) {
    if (errorsIn(result.diagnostics).length > 0) return judgeDiagnostics(result)
    const failures = judgeIncidents(result.incidents)
    const gated = judgeBacktest(result.alerts, input)
    if (failures.length === 0) return gated
    return { status: 'fail', reasons: [...failures, ...(gated.status === 'fail' ? gated.reasons : [])] }
  },
  report: (result) => ({
    headline:
      errorsIn(result.diagnostics).length > 0
        ? say`The backtest failed`
        : result.alertCount === 0
          ? say`No alert to backtest: the files change none. Set only to all, to backtest every declared alert`
          : say`Backtest of ${counted(result.alertCount, 'alert')} over ${counted(result.days, 'day')} until ${trusted(formatTime(result.until))}`,
    blocks: [
      {
        kind: 'facts',
        facts: [
          { label: 'Fires', value: say`${result.firing}` },
          { label: 'Quiet', value: say`${result.quiet}` },
          { label: 'No data', value: say`${result.noData}` },
          { label: 'Not estimable', value: say`${result.notEstimable}` },
          { label: 'Notifications', value: say`${result.notifications}` },
          { label: 'Requests', value: say`${result.requestCount}` },
        ],
      },
      { kind: 'diagnostics', diagnostics: result.diagnostics },
      ...incidentBlocks(result.incidents),
      ...(result.incidentsOutside === 0
        ? []
        : [
            {
              kind: 'paragraph' as const,
              line: say`${counted(result.incidentsOutside, 'incident')} of the files not checked: outside of the period. Set until and days to include them`,
            },
          ]),
      ...backtestBlocks(result),
    ],
    annotations: result.diagnostics,
  }),
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
