import * as z from 'zod'
import { onFailedEvaluation } from '../kinds/alert/evaluation.ts'
import { ApiError } from '../platform/api/api-error.ts'
import { isServer, type Service } from '../platform/api/path.ts'
import type { Diagnostic } from '../platform/core/diagnostics.ts'
import { dayMs } from '../platform/core/durations.ts'
import { causeOf, inputError } from '../platform/core/errors.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { counted, type Line, say, sentence } from '../platform/core/line.ts'
import type { OutputFile } from '../platform/operation/files.ts'
import { flag, grouped, outputPath } from '../platform/operation/inputs.ts'
import { type Context, defineOperation } from '../platform/operation/operation.ts'
import { type Block, paragraph } from '../platform/report/blocks.ts'
import type { Verdict } from '../platform/report/report.ts'
import { diagnosticReports } from '../platform/report/sarif.ts'
import { backtestedAlert, backtestPlan, demandValues, maxRequestsOfPlan, whyNoBacktest } from './backtest/backtest-plan.ts'
import { reviewBlocks } from './backtest/backtest-report.ts'
import { type Gates, gateInput, gatesWithoutBacktest, judgeBacktest } from './backtest/gates.ts'
import { inEnvironment, ofEnvironment } from './declarations/environment.ts'
import { isDifference, staysAsItIs } from './plan/change.ts'
import { findEvaluationProblems } from './plan/evaluations.ts'
import { hasErrors, makePlan, type PlanningResult, planInput } from './plan/make-plan.ts'
import { type PlanFile, planFileSchema, toPlanFile } from './plan/plan-file.ts'
import { isPlanWrong, judgeDiagnostics, objectBlocks, planFacts, planWords, toAnnotations } from './plan/plan-report.ts'
import { type PlanResult, planDetails, planOutput, toPlanResult } from './plan/plan-result.ts'
import { planPrice, priceBlocks } from './plan/price-report.ts'
import { planRules } from './rules.ts'

/** The plan file is essential, because the output plan-file names it, and a later job applies it. */
const toPlanFiles = (path: string, content: PlanFile | undefined): readonly OutputFile[] =>
  path === '' ? [] : [{ input: 'planFile', path, content: `${JSON.stringify(content, null, 2)}\n`, isEssential: true }]

/** What plan and drift share: both make the same plan, and judge it differently. */
export const planShape = {
  effect: 'read' as const,
  scope: 'service-or-server' as const,
  input: planInput.extend({
    ...grouped('Gates', { onFailedEvaluation: onFailedEvaluation.default('warn') }),
    ...grouped('Output', { planFile: outputPath('Saves the plan. apply can then make exactly these changes.').optional() }),
  }),
  output: planOutput.extend({
    needsApply: z.boolean().describe('Whether `apply` would write anything, ownership markers included.'),
    planFile: z.string().describe('Path of the plan file. Empty if no plan was written.'),
  }),
  details: planDetails.extend({
    planContent: planFileSchema.optional().describe('The content of `plan-file`: digests of the files and the objects.'),
  }),
  example: { files: ['alerts.yml'], project: 'shop/observability' },
  reports: diagnosticReports(planRules),
  files: ({ planFile, planContent }: { readonly planFile: string; readonly planContent?: PlanFile | undefined }) =>
    toPlanFiles(planFile, planContent),
}

type PlanInput = z.output<(typeof planShape)['input']>

export async function runPlan(
  context: Context<'read', 'service-or-server'>,
  input: PlanInput,
  review: (diagnostics: readonly Diagnostic[]) => readonly Diagnostic[],
) {
  const planned = await makePlan(context, { ...input, effect: 'read' })
  return finishPlan(context, input, { ...planned, diagnostics: review(planned.diagnostics) })
}

async function finishPlan(context: Context<'read', 'service-or-server'>, input: PlanInput, planned: PlanningResult) {
  const problems = findEvaluationProblems(planned.plan, planned.storedObjects?.alert ?? [], {
    policy: input.onFailedEvaluation,
    nowMs: context.clock.now(),
  })
  const result = {
    ...(await toPlanResult({ ...planned, diagnostics: [...planned.diagnostics, ...problems] })),
    needsApply: planned.plan.changes.some((change) => !staysAsItIs(change)),
  }
  if (input.planFile === undefined || hasErrors(planned)) return { ...result, planFile: '' }
  const planContent = toPlanFile(planned, context.service, input.prune)
  return { ...result, planFile: input.planFile, planContent }
}

/** The days before a review that `backtest: true` shows. */
const reviewedDays = 7

const reviewedBacktest = z.object({
  days: z.int(),
  alerts: z.array(backtestedAlert),
  requestCount: z.int(),
  message: z.string().optional().describe('Why there are no estimates.'),
})

type ReviewedBacktest = z.output<typeof reviewedBacktest>

/** A failure is part of the result, because a plan does not depend on its estimates. Throws only when the run was canceled. */
async function reviewPlan(
  context: Context<'read', 'service-or-server'>,
  planned: PlanningResult,
): Promise<{ readonly backtest: ReviewedBacktest; readonly run: ReadonlySet<string>; readonly diagnostics: readonly Diagnostic[] }> {
  const without = (message: string) => ({
    backtest: { days: reviewedDays, alerts: [], requestCount: 0, message },
    run: new Set<string>(),
    diagnostics: [],
  })
  const onProgress = (done: number, total: number): Promise<void> =>
    context.progress({ done, total, line: say`series of values`, result: async () => ({}) })
  const refusal = await whyNoBacktest(context)
  if (refusal !== undefined) return without(refusal)
  try {
    const nowMs = context.clock.now()
    const range = { fromMs: nowMs - reviewedDays * dayMs, untilMs: nowMs }
    const request = { range, only: 'changed', always: [], maxRequests: maxRequestsOfPlan } as const
    const { alerts, requestCount, run, diagnostics } = await backtestPlan(planned, { ...context, nowMs, onProgress }, request)
    return { backtest: { days: reviewedDays, alerts: [...alerts], requestCount }, run, diagnostics }
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.kind === 'canceled') throw thrown
    return without(causeOf(thrown))
  }
}

/** Throws an InputError for a server without activities. */
function demandActivities({ profile, service }: Context<'read', 'service-or-server'>): Service {
  if (!profile.isSelfHosted && !isServer(service)) return service
  const needed = spellInput('profile', 'clickhouse-cloud')
  throw inputError('price', `requires ${needed}, because a self-hosted server has no activities and no usage`)
}

async function priceOf({ api, clock }: Context<'read', 'service-or-server'>, planned: PlanningResult, service: Service) {
  const { pricePlan } = await import('./plan/price-plan.ts')
  return pricePlan(planned, { api, service, nowMs: clock.now() })
}

/** What the server says about the queries of what the plan writes. */
async function queryProblems(
  context: Context<'read', 'service-or-server'>,
  planned: PlanningResult,
  tested: ReadonlySet<string>,
): Promise<readonly Diagnostic[]> {
  const { plan, found } = planned
  if (!plan.changes.some(isDifference)) return []
  const { findQueryProblems } = await import('./plan/query-problems.ts')
  const problems = await findQueryProblems(context, planned, tested)
  if (found.slos.length === 0 || !context.api.hasSql) return problems
  const { findSloQueryProblems } = await import('./plan/slo-queries.ts')
  return [...problems, ...(await findSloQueryProblems(context, planned))]
}

/** Judges a plan. It depends on its backtest only if a gate is set. */
function judgePlan(result: Pick<PlanResult, 'diagnostics'> & { readonly backtest?: ReviewedBacktest | undefined }, gates: Gates): Verdict {
  const verdict = judgeDiagnostics(result)
  if (verdict.status === 'fail' || result.backtest === undefined || gates.maxNotifications === undefined) return verdict
  const { message, alerts } = result.backtest
  if (message !== undefined) return { status: 'fail', reasons: [say`no backtest: ${sentence(message)}`] }
  const gated = judgeBacktest(alerts, gates)
  return gated.status === 'pass' ? verdict : gated
}

function backtestBlocksOf(backtest: ReviewedBacktest | undefined): readonly Block[] {
  if (backtest === undefined) return []
  if (backtest.message !== undefined) return [paragraph(say`No backtest: ${sentence(backtest.message)}`)]
  return reviewBlocks(backtest, backtest.days)
}

export const plan = defineOperation({
  ...planShape,
  moreExamples: [{ env: 'staging', prune: true, planFile: 'plan.json' }],
  summary: 'Shows what apply would change, field by field, without writing.',
  input: planShape.input.extend({
    ...grouped('Gates', {
      backtest: flag(
        'How often changed alerts would have fired. It compares the last 7 days now and with the change. In ClickHouse Cloud, it needs `sql-key-id`.',
      ).default(false),
      ...gateInput,
    }),
    ...grouped('Output', {
      price: flag(
        'What new alerts add to the bill. An estimate for created and changed alerts, whose evaluations keep a service awake. Sends three more requests, and needs permissions to read services, activities and usage. Anyone who can read the report sees the costs. Only with `profile: clickhouse-cloud`.',
      ).default(false),
    }),
  }),
  details: planShape.details.extend({
    price: planPrice.optional().describe('With `price`: what the changed alerts add to the bill.'),
    backtest: reviewedBacktest.optional().describe('With `backtest`: the changed alerts in the last 7 days.'),
  }),
  async run(context, input) {
    if (input.backtest) demandValues(context)
    const pricedService = input.price ? demandActivities(context) : undefined
    const planned = await makePlan(context, { ...input, effect: 'read' })
    if (hasErrors(planned)) return finishPlan(context, input, planned)
    const review = input.backtest ? await reviewPlan(context, planned) : undefined
    const ofQueries = await queryProblems(context, planned, review?.run ?? new Set())
    const diagnostics = [...planned.diagnostics, ...(review?.diagnostics ?? []), ...ofQueries]
    return {
      ...(await finishPlan(context, input, { ...planned, diagnostics })),
      ...(review && { backtest: review.backtest }),
      ...(pricedService && { price: await priceOf(context, planned, pricedService) }),
    }
  },
  check: ({ values }) => gatesWithoutBacktest(values),
  judge: judgePlan,
  report: (result) => ({
    headline: isPlanWrong(result)
      ? say`The plan${inEnvironment(result)} failed`
      : result.changed
        ? say`Plan for ${result.project}${ofEnvironment(result)} (${planWords(result)})`
        : say`No changes${inEnvironment(result)}: everything matches the files${adoptionWords(result)}${markWords(result)}${orphanWords(result)}`,
    blocks: [
      planFacts(result),
      { kind: 'diagnostics', diagnostics: result.diagnostics },
      ...backtestBlocksOf(result.backtest),
      ...priceBlocks(result.price),
      ...objectBlocks(result),
    ],
    annotations: toAnnotations(result),
  }),
})

/** Adopting is not a difference, but apply writes a marker, and prune may delete the object later. */
const orphanWords = ({ orphans }: Pick<PlanResult, 'orphans'>): Line =>
  orphans.length === 0 ? [] : say`, except for ${counted(orphans.length, 'undeclared object')}, which prune deletes`

const markWords = ({ toMark }: Pick<PlanResult, 'toMark'>): Line =>
  toMark === 0 ? [] : say`, and apply updates the markers of ${counted(toMark, 'object')}`

const adoptionWords = ({ toAdopt }: Pick<PlanResult, 'toAdopt'>): Line =>
  toAdopt === 0 ? [] : say`, and apply adopts ${counted(toAdopt, 'object')}`
