import type * as z from 'zod'
import { sourceCollection } from '../kinds/source/source-wire.ts'
import { ApiError, missingSqlKey } from '../platform/api/api-error.ts'
import { type Diagnostic, errorsIn } from '../platform/core/diagnostics.ts'
import { inputError, WatchkeeperError } from '../platform/core/errors.ts'
import { say } from '../platform/core/line.ts'
import { type Context, defineOperation } from '../platform/operation/operation.ts'
import { selectDeclared } from '../platform/operation/select.ts'
import { currentWindow, judgeBudget, spentByDay } from '../signals/slos/error-budget.ts'
import { type Slo, sourceOf } from '../signals/slos/expand-slos.ts'
import { type GroupHistory, readHistory, requestsOfHistory, stepMs } from '../signals/slos/slo-series.ts'
import { findDeclarations } from '../sync/declarations/find-declarations.ts'
import { judgeSlos, reportSlos, sloLines } from './check-slos/slo-report.ts'
import { type CheckedSlo, type SloResult, sloDetails, sloInput, sloOutput } from './check-slos/slo-result.ts'

type CheckContext = Context<'read', 'service-or-server'>

async function runCheck(context: CheckContext, { files, select, minBudgetLeft }: z.output<typeof sloInput>): Promise<SloResult> {
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
  const common = { ...ofEnvironment(context), ...(minBudgetLeft !== undefined && { minBudgetLeft }), until: new Date(endMs).toISOString() }
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
  const resolved = wanted.map(({ slo }) => ({ slo, source: sourceOf(slo, sources) }))
  const unknown: readonly Diagnostic[] = resolved.flatMap(({ source }) => ('diagnostic' in source ? [source.diagnostic] : []))
  if (unknown.length > 0) return unchecked(unknown)
  const checked: CheckedSlo[] = []
  for (const [i, { slo, source }] of resolved.entries()) {
    if ('diagnostic' in source) continue
    const histories = await readHistory(context, { slo: slo.value, source, endMs }).catch((thrown: unknown) => {
      throw nameSlo(slo, thrown)
    })
    if (histories === 'asleep') return { ...unchecked(found.diagnostics), asleep: true }
    // Without any event, there is no group.
    for (const history of histories.length === 0 ? [{ hours: [], steps: [] }] : histories) checked.push(toChecked(slo, history, endMs))
    await context.progress({ done: i + 1, total: resolved.length, line: say`SLO ${slo.key}`, result: async () => ({}) })
  }
  return {
    ...toCounts(checked),
    ...common,
    slos: checked,
    requestCount: requestsOfHistory(context.api) * resolved.length,
    asleep: false,
    diagnostics: [...found.diagnostics],
  }
}

/** The server answers a wrong condition with status 500. The usual advice for that status would lead away from the file. */
function nameSlo({ key, location }: Slo, thrown: unknown): unknown {
  if (!(thrown instanceof ApiError) || (thrown.kind !== 'server' && thrown.kind !== 'refused')) return thrown
  const [what = '', ...rest] = thrown.message.split('\n')
  const message = [
    `slos.${key} was not counted (${location.file}:${location.line}). ${what}`,
    'If the answer names a column or a function, correct total, good or groupBy of this SLO. Otherwise, look at the log of the server.',
    ...rest.filter((line) => line !== thrown.advice),
  ].join('\n')
  return new ApiError({ ...thrown, message })
}

const ofEnvironment = ({ environment }: CheckContext) => (environment === undefined ? {} : { environment: environment.name })

function toChecked({ key, value, location: { file, line } }: Slo, history: GroupHistory, endMs: number): CheckedSlo {
  const { name, objective, window } = value
  const state = judgeBudget(value, history, endMs)
  const { budgetLeft, runsOut } = state
  return {
    key,
    name,
    file,
    ...(line !== undefined && { line }),
    ...(history.group !== undefined && { group: history.group }),
    objective,
    window,
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
    worstSlo:
      slos.toSorted((a, b) => (a.budgetLeft ?? Number.POSITIVE_INFINITY) - (b.budgetLeft ?? Number.POSITIVE_INFINITY))[0]?.key ?? '',
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
