import * as z from 'zod'
import { choosePeriod, type GivenPeriod, isBillingCycle, periodInput } from '../cost/usage/periods.ts'
import { dayOf, formatMoment } from '../platform/core/dates.ts'
import { type Diagnostic, diagnosticSchema, errorsIn } from '../platform/core/diagnostics.ts'
import { dayMs } from '../platform/core/durations.ts'
import { inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { counted, join, say, trusted } from '../platform/core/line.ts'
import { grouped, noted } from '../platform/operation/inputs.ts'
import { type Context, defineOperation, noFields } from '../platform/operation/operation.ts'
import { selectDeclared, selectInput } from '../platform/operation/select.ts'
import { countFacts } from '../platform/report/blocks.ts'
import { changesOf } from '../sync/decide/change.ts'
import { hasErrors, makePlan } from '../sync/plan/make-plan.ts'
import { backtestPlan, daysOf, demandValues, whyNoBacktest } from './backtest/backtest-plan.ts'
import { type BacktestedAlert, backtestBlocks, backtestedAlert, gateInput, judgeBacktest } from './backtest/backtest-report.ts'
import {
  checkedIncident,
  checkIncident,
  countOutcomes,
  explainUntestable,
  incidentTable,
  judgeIncidents,
  outcomeCounts,
} from './backtest/incidents.ts'
import { planInput } from './inputs.ts'
import { judgeDiagnostics } from './plan/plan-report.ts'

const maxDays = 31

/** Whole days in UTC, until now. Throws an InputError for a period in the future, or a longer one. */
function rangeOf(period: GivenPeriod = 'last-7-days', nowMs: number) {
  if (isBillingCycle(period)) throw inputError('period', `is ${period}, which is a period of usage; set days`)
  const { from, to } = choosePeriod(period, dayOf(nowMs))
  const [fromMs, endMs] = [Date.parse(from), Date.parse(to) + dayMs]
  if (endMs - fromMs > maxDays * dayMs) throw inputError('period', `is longer than ${maxDays} days`)
  return { fromMs, untilMs: Math.min(nowMs, endMs) }
}

const backtestInput = planInput.omit({ prune: true, maxDeletes: true, repair: true }).extend({
  ...grouped('Files', { allowEmpty: planInput.shape.allowEmpty }),
  ...grouped('What is estimated', {
    select: selectInput(['key', 'name', 'all'], { without: 'only alerts that the files change' }).optional(),
    period: noted(periodInput.optional(), `The default is \`last-7-days\`, and at most ${maxDays} days. Billing cycles are not accepted.`),
  }),
  ...grouped('Gates', gateInput),
})

const backtestDetails = z.object({
  alertCount: z.int().describe('Number of backtested alerts.'),
  firing: z.int().describe('Alerts that would have fired.'),
  quiet: z.int().describe('Alerts that would have stayed quiet.'),
  noData: z.int().describe('Alerts whose source had no data.'),
  notEstimable: z.int().describe('Alerts that cannot be estimated.'),
  notifications: z.int().describe('Notifications of all alerts that can be estimated, after the plan.'),
  requestCount: z.int().describe('Number of requests for values.'),
  incidentCount: z.int().describe('Incidents of the files.'),
  ...outcomeCounts,
  days: z.int().describe('Length of the backtest in days, rounded up.'),
  until: z.string().describe('End of the backtest.'),
  alerts: z.array(backtestedAlert).describe('The alerts, in the order of the files.'),
  incidents: z.array(checkedIncident).describe('The incidents of the files, whatever the period is.'),
  diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes on the files.'),
})

async function runBacktest(
  context: Context<'read', 'service-or-server'>,
  input: z.output<typeof backtestInput>,
): Promise<z.output<typeof backtestDetails>> {
  const refusal = await whyNoBacktest(context)
  if (refusal !== undefined) throw new WatchkeeperError('refused', `No backtest: ${refusal}.`)
  demandValues(context)
  const range = rangeOf(input.period, context.clock.now())
  const planned = await makePlan(context, { ...input, prune: false, maxDeletes: 0, effect: 'read' })
  const result = { days: daysOf(range), until: new Date(range.untilMs).toISOString(), diagnostics: [...planned.diagnostics] }
  if (hasErrors(planned.diagnostics))
    return { ...toCounts([]), ...countOutcomes([]), requestCount: 0, ...result, alerts: [], incidents: [] }
  const selected = new Set(selectDeclared(changesOf(planned.plan.changes, 'alert'), input.select, 'alert').map(({ key }) => key))
  const wanted = planned.found.incidents
    .map((incident) => ({ ...incident, alerts: incident.alerts.filter((key) => selected.has(key)) }))
    .filter(({ alerts }) => alerts.length > 0)
  const onProgress = (done: number, total: number): Promise<void> =>
    context.progress({ done, total, line: say`series of values`, result: async () => ({ ...result, alerts: [] }) })
  const { alerts, around, requestCount, diagnostics } = await backtestPlan(
    planned,
    { ...context, nowMs: context.clock.now(), onProgress },
    {
      range,
      only: input.select === undefined ? 'changed' : 'all',
      selected,
      maxRequests,
      maxNotifications: input.maxNotifications,
      incidents: wanted,
    },
  )
  const incidents = wanted.map((incident) =>
    checkIncident(
      incident,
      planned.found.incidents,
      (key) =>
        around.find((one) => one.incident === incident && one.alert === key)?.evaluated ?? { reason: 'the API does not show the alert' },
    ),
  )
  return {
    ...toCounts(alerts),
    ...countOutcomes(incidents),
    requestCount,
    ...result,
    diagnostics: [
      ...result.diagnostics,
      // The table says which queries failed, and on-missing what follows.
      ...diagnostics.filter(({ rule }) => rule === 'implausible-alert' || rule === 'quiet-alert'),
      ...wanted.flatMap((incident, i) => explainUntestable(incident, incidents[i]?.alerts ?? [])),
    ],
    alerts: [...alerts],
    incidents,
  }
}

export const backtest = defineOperation({
  summary: 'Shows how often declared alerts would have fired in the past days, and fire now.',
  effect: 'read',
  scope: 'service-or-server',
  input: backtestInput,
  output: noFields,
  details: backtestDetails,
  example: { files: ['alerts.yml'], project: 'shop/alerts', select: ['all'] },
  run: runBacktest,
  judge(result, input) {
    if (errorsIn(result.diagnostics).length > 0) return judgeDiagnostics(result.diagnostics)
    const failures = judgeIncidents(result.incidents)
    const gated = judgeBacktest(result.alerts, input)
    if (failures.length === 0) return gated.status === 'pass' ? judgeDiagnostics(result.diagnostics) : gated
    return { status: 'fail', reasons: [...failures, ...(gated.status === 'fail' ? gated.reasons : [])] }
  },
  report: (result) => ({
    headline: headlineOf(result),
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
      backtestBlocks(result.alerts),
    ],
    annotations: result.diagnostics,
  }),
})

interface Headline extends ReturnType<typeof countOutcomes> {
  readonly diagnostics: readonly Diagnostic[]
  readonly alertCount: number
  readonly days: number
  readonly until: string
}

function headlineOf({ diagnostics, alertCount, days, until, incidentCount, detected, late, missed, untestable }: Headline) {
  if (errorsIn(diagnostics).length > 0) return say`The backtest failed`
  const parts = [
    ...(alertCount === 0
      ? []
      : [say`Backtest of ${counted(alertCount, 'alert')} over ${counted(days, 'day')} until ${trusted(formatMoment(until))}`]),
    ...(incidentCount === 0
      ? []
      : [
          say`${counted(incidentCount, 'incident')}: ${detected} detected, ${late} late, ${missed} missed${untestable === 0 ? [] : say`, ${untestable} not testable any more`}`,
        ]),
  ]
  return parts.length > 0
    ? join(parts, '; ')
    : say`No alert to backtest: the files change none. Set ${trusted(spellInput('select', 'all'))} to backtest every declared alert`
}

/** Two minutes at the rate limit of a self-hosted server. */
const maxRequests = 200

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
