import * as z from 'zod'
import { type Source, sourceCollection } from '../kinds/source/source-wire.ts'
import { ApiError, missingSqlKey } from '../platform/api/api-error.ts'
import { dayOf, formatMoment } from '../platform/core/dates.ts'
import { type Diagnostic, diagnosticOf, diagnosticSchema, errorsIn } from '../platform/core/diagnostics.ts'
import { inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { spellVariable } from '../platform/core/input-spelling.ts'
import { withoutUndefined } from '../platform/core/keys.ts'
import { counted, type Inline, joinSome, type Line, placed, say, trusted } from '../platform/core/line.ts'
import { listAtMost, plural } from '../platform/core/text.ts'
import { type Context, defineOperation } from '../platform/operation/operation.ts'
import { selectDeclared, selectInput } from '../platform/operation/select.ts'
import type { Part, Status } from '../platform/report/blocks.ts'
import { formatDuration, formatShortDay } from '../platform/report/format.ts'
import { pass, type Report, type Verdict } from '../platform/report/report.ts'
import { shown, table } from '../platform/report/table.ts'
import type { ServerAccess } from '../signals/backtest/series-api.ts'
import { burnRateWindows, currentWindow, judgeBudget, spentByDay } from '../signals/slos/error-budget.ts'
import { type Slo, sourceOf } from '../signals/slos/expand-slos.ts'
import { sloServiceRules } from '../signals/slos/slo-file.ts'
import { type GroupHistory, readHistory, requestsOfHistory, stepMs } from '../signals/slos/slo-series.ts'
import { environmentInput, inEnvironment } from '../sync/declarations/environment.ts'
import { findDeclarations } from '../sync/declarations/find-declarations.ts'
import { filesInput } from './inputs.ts'
import { isTemporary } from './plan/evaluations.ts'
import { judgeDiagnostics } from './plan/plan-report.ts'

const percent = (what: string) => z.number().describe(what)

const sloInput = z.strictObject({
  files: filesInput,
  env: environmentInput,
  select: selectInput(['name', 'key']).optional(),
  minBudgetLeft: z.number().min(-1000).max(100).optional().meta({
    description: 'Fails unless every SLO has at least this percentage of its error budget left. Without it, a spent budget only warns.',
    accepts: 'a percentage of at most 100, such as 10',
  }),
  maxBurnRate: z.number().positive().max(100_000).optional().meta({
    description:
      'Fails if the error budget of an SLO was burning faster than this in the last hour. At 1, the budget lasts exactly for the window.',
    accepts: 'a number above 0, such as 1 or 14.4',
  }),
})

const sloOutput = z.object({
  budgetLeft: percent('The lowest percentage of error budget that is left. Absent if no SLO has enough events.').optional(),
})

const checkedSlo = z.object({
  key: z.string().describe('The key in the files.'),
  name: z.string(),
  file: z.string(),
  line: z.int().optional(),
  group: z.string().optional().describe('The value of `groupBy`.'),
  objective: percent('Percentage of good events that is wanted.'),
  window: z.string(),
  status: z.enum(['within-budget', 'spent', 'not-enough-data']),
  total: z.number().describe('Events in the window. With a sample rate, estimated.'),
  good: z.number().describe('Good events among them.'),
  indicator: percent('Percentage of good events.').optional(),
  budgetLeft: percent('Percentage of the error budget that is left; negative when more than all of it is spent.').optional(),
  burnRates: z.partialRecord(z.enum(burnRateWindows), z.number()).describe('Burn rates by window. A window with too few events is absent.'),
  burning: z.array(z.string()).describe('Conditions of alerts that are true now: `page-1h`, `page-6h`, `ticket-3d`.'),
  runsOut: z
    .string()
    .describe('When the budget runs out at the burn rate of the last hour: a time, `spent`, `never` (not within ten years) or `unknown`.'),
  days: z.array(z.object({ day: z.string(), spent: percent('Percentage of the error budget.') })).describe('What each UTC day spent.'),
})

type CheckedSlo = z.output<typeof checkedSlo>

const sloDetails = z.object({
  sloCount: z.int().describe('Number of checked SLOs. With `groupBy`, each group counts.'),
  withinBudget: z.int().describe('SLOs with error budget left.'),
  spent: z.int().describe('SLOs whose error budget is spent.'),
  notEnoughData: z.int().describe('SLOs with fewer events in their window than `minEvents`.'),
  burnRate: z.number().optional().describe('The highest burn rate of the last hour. Absent if no SLO has enough events.'),
  worstSlo: z.string().describe('Key of the SLO with the least error budget left. Empty without SLOs.'),
  environment: z.string().optional().describe('The environment, if `env` is set.'),
  minBudgetLeft: z.number().optional().describe('The input min-budget-left, if it was given.'),
  until: z.string().describe('End of all windows: now, rounded down to five minutes.'),
  slos: z.array(checkedSlo).describe('The SLOs, in the order of the files.'),
  requestCount: z.int().describe('Number of requests for values.'),
  asleep: z.boolean().describe('Whether the service slept, so that nothing was checked. Only in ClickHouse Cloud.'),
  diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes on the files.'),
})

export type SloResult = z.output<typeof sloOutput> & z.output<typeof sloDetails>

type SloInput = z.output<typeof sloInput>

/** Too few events never pass: a gate on them fails, and without a gate the verdict is a warning. */
function judgeSlos(result: SloResult, limits: SloInput): Verdict {
  if (result.asleep)
    return {
      status: limits.minBudgetLeft === undefined && limits.maxBurnRate === undefined ? 'warn' : 'fail',
      reasons: [say`the service is asleep, and a query would wake it; set ${trusted(spellVariable('wake-service', 'true'))} to allow that`],
    }
  const failed = failedSlos(result, limits)
  const reasons = someReasons(failed.flatMap(({ failures }) => failures))
  if (errorsIn(result.diagnostics).length > 0) {
    const judged = judgeDiagnostics(result.diagnostics)
    return { ...judged, reasons: [...judged.reasons, ...reasons] }
  }
  if (failed.length > 0) return { status: 'fail', reasons, cause: causeOf(failed, limits) }
  const warnings = result.slos.flatMap((slo): readonly Line[] => {
    if (slo.status === 'not-enough-data') return [say`${sloName(slo)} has not enough data`]
    return slo.status === 'spent' ? [say`the error budget of ${sloName(slo)} is spent`] : []
  })
  return warnings.length > 0 ? { status: 'warn', reasons: someReasons(warnings) } : pass
}

const failedSlos = ({ slos }: SloResult, { minBudgetLeft, maxBurnRate }: SloInput) =>
  slos
    .map((slo) => ({ slo, failures: [...belowBudget(slo, minBudgetLeft), ...aboveBurnRate(slo, maxBurnRate)] }))
    .filter(({ failures }) => failures.length > 0)

function causeOf(failed: ReturnType<typeof failedSlos>, { minBudgetLeft }: SloInput) {
  const named = failed.map(({ slo }) => {
    const isLow = slo.budgetLeft !== undefined && belowBudget(slo, minBudgetLeft).length > 0
    const spends = isLow ? 'has too little error budget left' : 'burns its error budget too fast'
    return say`${sloName(slo)} ${trusted(slo.status === 'not-enough-data' ? 'has not enough data' : spends)}`
  })
  return joinSome(named, 1)
}

/** An SLO can have thousands of groups, which the table has. */
const someReasons = (reasons: readonly Line[]) => listAtMost(reasons, 20, (rest) => say`${rest} more`)

function belowBudget(slo: CheckedSlo, minBudgetLeft: number | undefined) {
  if (minBudgetLeft === undefined) return []
  if (slo.budgetLeft === undefined)
    return [say`${sloName(slo)} has not enough data for min-budget-left: ${counted(slo.total, 'event')} in ${trusted(slo.window)}`]
  return slo.budgetLeft < minBudgetLeft
    ? [say`${sloName(slo)} has ${trusted(roundApart(slo.budgetLeft, minBudgetLeft))}% of its error budget left, below ${minBudgetLeft}%`]
    : []
}

function aboveBurnRate(slo: CheckedSlo, maxBurnRate: number | undefined) {
  if (maxBurnRate === undefined) return []
  const rate = slo.burnRates[currentWindow]
  if (rate === undefined) return [say`${sloName(slo)} has not enough data for max-burn-rate in the last hour`]
  return rate > maxBurnRate
    ? [say`${sloName(slo)} burns its error budget ${trusted(roundApart(rate, maxBurnRate))} times as fast as allowed, above ${maxBurnRate}`]
    : []
}

const sloName = ({ key, group }: CheckedSlo, shown: string | Inline = key) =>
  group === undefined ? say`${shown}` : say`${shown} (${group})`

/** Never rounds to a limit that the value has not reached. */
function round(value: number, places: number): string {
  const rounded = Number(value.toFixed(places))
  return rounded === Math.round(value) && rounded !== value ? String(Number(value.toPrecision(6))) : String(rounded)
}

function roundApart(value: number, limit: number) {
  const places = [2, 4, 6, 8, 10, 12].find((count) => Number(value.toFixed(count)) !== limit)
  return places === undefined ? String(value) : round(value, places)
}

const statuses: Readonly<Record<CheckedSlo['status'], Status>> = { 'within-budget': 'pass', spent: 'fail', 'not-enough-data': 'warn' }

const shownWindows = ['1h', '6h', '3d'] as const

const sloTable = ({ slos, until }: SloResult): Part =>
  table(
    undefined,
    slos,
    {
      SLO: (slo) => sloName(slo, placed(slo.key, slo)),
      Objective: ({ objective, window }) => trusted(`${objective}% in ${window}`),
      '> Good': ({ indicator }) => trusted(indicator === undefined ? 'not enough data' : `${round(indicator, 3)}%`),
      '> Budget left': ({ budgetLeft }) => shown(budgetLeft, (left) => `${round(left, 2)}%`),
      ...Object.fromEntries(
        shownWindows.map((window) => [
          `> Burn rate ${window}`,
          ({ burnRates }: CheckedSlo) => shown(burnRates[window], (rate) => round(rate, 2)),
        ]),
      ),
      'Runs out': (slo) => runsOutWords(slo, until),
      Burning: ({ burning }) => shown(burning.join(', ') || undefined),
    },
    ({ status }) => statuses[status],
  )

function runsOutWords({ runsOut }: CheckedSlo, until: string) {
  const ms = Date.parse(runsOut) - Date.parse(until)
  return Number.isNaN(ms) ? [trusted(runsOut)] : [trusted(`in ${formatDuration(ms)}`)]
}

function nextStep({ slos, until, minBudgetLeft = 0 }: SloResult): Part {
  const [worst] = worstFirst(slos).filter(({ budgetLeft = 100 }) => budgetLeft < Math.max(50, minBudgetLeft))
  const [costliest] = worst?.days.toSorted((a, b) => b.spent - a.spent) ?? []
  if (worst === undefined || costliest === undefined) return undefined
  const spent = worst.days.reduce((sum, one) => sum + one.spent, 0)
  const when =
    costliest.spent > spent / 2
      ? `most of its error budget on ${shortDay(costliest.day, until)}`
      : `its error budget on ${plural(worst.days.filter((one) => one.spent > 0).length, 'day')}`
  return say`${sloName(worst)} spent ${trusted(when)} (UTC). Find out what failed then: the declaration of the SLO says which events are good.`
}

const worstFirst = (slos: readonly CheckedSlo[]): readonly CheckedSlo[] =>
  slos.toSorted((a, b) => (a.budgetLeft ?? Number.POSITIVE_INFINITY) - (b.budgetLeft ?? Number.POSITIVE_INFINITY))

const shortDay = (day: string, until: string) => formatShortDay(dayOf(Date.parse(day)), dayOf(Date.parse(until)))

/** One chart for each SLO that spent something, the worst first, of its worst group. A title is not escaped, and a key needs no escape. */
function charts({ slos, until }: SloResult): Part {
  return worstFirst(slos)
    .filter(({ key, budgetLeft = 100 }, i, all) => budgetLeft < 100 && all.findIndex((one) => one.key === key) === i)
    .slice(0, 10)
    .map(({ key, group, days }) => ({
      kind: 'chart',
      title: `Error budget of ${key} spent, by UTC day${group === undefined ? '' : ' (worst group)'}`,
      unit: '%',
      valueName: 'Spent',
      points: days.map(({ day, spent }) => ({ label: shortDay(day, until), value: spent })),
    }))
}

/** SLOs that fail, or have a warning in a run without a failure. */
function sloLines(result: SloResult, limits: SloInput): readonly Line[] {
  const failed = failedSlos(result, limits).map(({ slo }) => slo)
  const named = failed.length > 0 ? failed : result.slos.filter(({ status }) => status !== 'within-budget')
  return named.map((slo): Line => {
    const { indicator, objective, window, budgetLeft, burnRates } = slo
    const rates = shownWindows.flatMap((of) => (burnRates[of] === undefined ? [] : [`${round(burnRates[of], 2)} (${of})`]))
    const parts = [
      `${indicator === undefined ? 'not enough data' : `${round(indicator, 3)}% good`}, objective ${objective}% in ${window}`,
      ...(budgetLeft === undefined ? [] : [`budget left ${round(budgetLeft, 2)}%`]),
      ...(rates.length === 0 ? [] : [`burn rate ${rates.join(', ')}`]),
    ]
    return say`${sloName(slo)}: ${trusted(parts.join('; '))}; runs out: ${runsOutWords(slo, result.until)}`
  })
}

export const reportSlos = (result: SloResult): Report => ({
  headline:
    result.slos.length === 0
      ? say`The SLOs were not checked`
      : say`${counted(result.sloCount, 'SLO')}${inEnvironment(result)} until ${trusted(formatMoment(result.until))}`,
  blocks: [{ kind: 'diagnostics', diagnostics: errorsIn(result.diagnostics) }, nextStep(result), sloTable(result), charts(result)],
  annotations: errorsIn(result.diagnostics),
})

async function runCheck(context: Context<'read', 'service-or-server'>, { files, select, minBudgetLeft }: SloInput): Promise<SloResult> {
  if (await context.files.mayBeFromFork())
    throw new WatchkeeperError(
      'refused',
      'SLOs are not checked: the files may be those of a pull request from a fork, and the server would run their SQL.',
    )
  if (!context.api.hasSql)
    throw missingSqlKey('in ClickHouse Cloud, SLOs are counted with SQL, by a key that the query endpoint of the service lists')
  const found = await findDeclarations(files, context)
  const errors = errorsIn(found.diagnostics)
  const endMs = Math.floor(context.clock.now() / stepMs) * stepMs
  const { environment } = context
  const common = {
    ...(environment && { environment: environment.name }),
    ...(minBudgetLeft !== undefined && { minBudgetLeft }),
    until: new Date(endMs).toISOString(),
  }
  const unchecked = (diagnostics: readonly Diagnostic[]): SloResult => ({
    ...toCounts([]),
    ...common,
    slos: [],
    requestCount: 0,
    asleep: false,
    diagnostics: [...diagnostics],
  })
  if (errors.length > 0) return unchecked(errors)
  if (found.slos.length === 0) throw inputError('files', 'declare no SLOs; add some below slos')
  const named = found.slos.map((slo) => ({ slo, key: slo.key, name: slo.value.name }))
  const wanted = selectDeclared(named, select, 'SLO')
  const { items: sources } = await sourceCollection.list(context.api, context.service)
  const checked: CheckedSlo[] = []
  const uncounted: Diagnostic[] = []
  const thrown: WatchkeeperError[] = []
  for (const [i, { slo }] of wanted.entries()) {
    const outcome = await checkSlo(context, slo, sources, endMs)
    if (outcome === 'asleep') return { ...unchecked(found.diagnostics), asleep: true }
    if (outcome instanceof WatchkeeperError) {
      thrown.push(outcome)
      // What failed and what to do, without the request.
      uncounted.push(diagnosticOf(sloServiceRules, 'slo-source', slo.location, outcome.message.split('\n', 2).join(' ')))
    } else if ('rule' in outcome) uncounted.push(outcome)
    else checked.push(...outcome)
    await context.progress({ done: i + 1, total: wanted.length, line: say`SLO ${slo.key}`, result: async () => ({}) })
  }
  // The failure of all may be one of the server.
  if (checked.length === 0 && thrown[0] !== undefined) throw thrown[0]
  return {
    ...toCounts(checked),
    ...common,
    slos: checked,
    requestCount: requestsOfHistory(context.api) * (wanted.length - uncounted.length + thrown.length),
    asleep: false,
    diagnostics: [...found.diagnostics, ...uncounted],
  }
}

/** What is wrong with this SLO is no error of the others. */
async function checkSlo(access: ServerAccess, slo: Slo, sources: readonly Source[], endMs: number) {
  const source = sourceOf(slo, sources)
  if ('diagnostic' in source) return source.diagnostic
  try {
    const histories = await readHistory(access, { slo: slo.value, source, endMs })
    if (histories === 'asleep') return histories
    // Without any event, there is no group.
    return (histories.length === 0 ? [{ hours: [], steps: [] }] : histories).map((history) => toChecked(slo, history, endMs))
  } catch (cause) {
    return nameSlo(slo, cause)
  }
}

/** Throws what is not about one SLO. The usual advice for status 500 would lead away from the file with a wrong condition. */
function nameSlo({ key, location }: Slo, thrown: unknown): WatchkeeperError {
  if (!(thrown instanceof WatchkeeperError) || (thrown.kind !== 'server' && thrown.kind !== 'refused')) throw thrown
  if (!(thrown instanceof ApiError)) return thrown
  const [what = '', ...rest] = thrown.message.split('\n')
  const message = [
    `slos.${key} was not counted (${location.file}:${location.line}). ${what}`,
    'If the answer names a column or a function, correct total, good or groupBy of this SLO. Otherwise, look at the log of the server.',
    ...rest.filter((line) => line !== thrown.advice),
  ].join('\n')
  // Another run does not cure a wrong condition.
  const kind = what.startsWith('The API answered 500: ') && !isTemporary(what) ? 'refused' : thrown.kind
  return new ApiError({ ...thrown, kind, message })
}

function toChecked({ key, value, location: { file, line } }: Slo, history: GroupHistory, endMs: number): CheckedSlo {
  const { name, objective, window } = value
  const state = judgeBudget(value, history, endMs)
  const { budgetLeft, runsOut } = state
  return {
    ...withoutUndefined({ key, name, file, line, group: history.group, objective, window }),
    status: budgetLeft === undefined ? 'not-enough-data' : budgetLeft <= 0 ? 'spent' : 'within-budget',
    ...state,
    runsOut: runsOut.kind === 'at' ? new Date(runsOut.ms).toISOString() : runsOut.kind,
    days: spentByDay(value, history, endMs),
  }
}

function toCounts(slos: readonly CheckedSlo[]) {
  const numberOf = (status: CheckedSlo['status']): number => slos.filter((slo) => slo.status === status).length
  const left = slos.flatMap(({ budgetLeft }) => budgetLeft ?? [])
  const burning = slos.flatMap(({ burnRates }) => burnRates[currentWindow] ?? [])
  return {
    sloCount: slos.length,
    withinBudget: numberOf('within-budget'),
    spent: numberOf('spent'),
    notEnoughData: numberOf('not-enough-data'),
    ...(left.length > 0 && { budgetLeft: Math.min(...left) }),
    ...(burning.length > 0 && { burnRate: Math.max(...burning) }),
    worstSlo: worstFirst(slos)[0]?.key ?? '',
  }
}

export const checkSlos = defineOperation({
  title: 'SLOs',
  summary:
    'Checks the error budgets of the SLOs in files: what is left, how fast it burns, and when it runs out. Without min-budget-left and max-burn-rate, a spent budget only warns.',
  effect: 'read',
  scope: 'service-or-server',
  input: sloInput,
  output: sloOutput,
  details: sloDetails,
  example: { files: ['examples/slos/*.yml'] },
  run: runCheck,
  judge: judgeSlos,
  report: reportSlos,
  keyLines: sloLines,
})
