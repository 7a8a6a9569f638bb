import * as z from 'zod'
import { onFailedEvaluation } from '../kinds/alert/evaluation.ts'
import type { Diagnostic } from '../platform/core/diagnostics.ts'
import { counted, type Line, say } from '../platform/core/line.ts'
import type { OutputFile } from '../platform/operation/files.ts'
import { grouped, outputPath } from '../platform/operation/inputs.ts'
import { type Context, defineOperation } from '../platform/operation/operation.ts'
import { diagnosticReports } from '../platform/report/sarif.ts'
import { type BacktestAnswer, backtestReview } from './backtest/backtest-review.ts'
import { type Gates, gatesWithoutBacktest } from './backtest/gates.ts'
import { inEnvironment, ofEnvironment } from './declarations/environment.ts'
import { staysAsItIs } from './plan/change.ts'
import { findEvaluationProblems } from './plan/evaluations.ts'
import { hasErrors, makePlan, type PlanningResult, planInput } from './plan/make-plan.ts'
import { type PlanFile, planFileSchema, toPlanFile } from './plan/plan-file.ts'
import { isPlanWrong, judgeDiagnostics, objectBlocks, planFacts, planWords, toAnnotations } from './plan/plan-report.ts'
import { type PlanResult, planDetails, planOutput, toPlanResult } from './plan/plan-result.ts'
import { type PriceAnswer, priceReview } from './plan/price-review.ts'
import { queryReview } from './plan/query-review.ts'
import { demandAnswers, judgeReviews, type Review, reviewPlan } from './plan/review.ts'
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

/** In the order of the report. The queries that a backtest has run are not run again. */
const reviews: readonly Review<Gates & { readonly backtest: boolean; readonly price: boolean }, BacktestAnswer & PriceAnswer>[] = [
  backtestReview,
  queryReview,
  priceReview,
]

export const plan = defineOperation({
  ...planShape,
  moreExamples: [{ env: 'staging', prune: true, planFile: 'plan.json' }],
  summary: 'Shows what apply would change, field by field, without writing.',
  input: planShape.input.extend({ ...backtestReview.inputs, ...priceReview.inputs }),
  details: planShape.details.extend({ ...priceReview.details, ...backtestReview.details }),
  async run(context, input) {
    await demandAnswers(reviews, context, input)
    const planned = await makePlan(context, { ...input, effect: 'read' })
    const reviewed = await reviewPlan(reviews, context, planned, input)
    return { ...(await finishPlan(context, input, reviewed)), ...reviewed.answers }
  },
  check: ({ values }) => gatesWithoutBacktest(values),
  judge: (result, input) => judgeReviews(judgeDiagnostics(result), reviews, result, input),
  report: (result) => ({
    headline: isPlanWrong(result)
      ? say`The plan${inEnvironment(result)} failed`
      : result.changed
        ? say`Plan for ${result.project}${ofEnvironment(result)} (${planWords(result)})`
        : say`No changes${inEnvironment(result)}: everything matches the files${adoptionWords(result)}${markWords(result)}${orphanWords(result)}`,
    blocks: [
      planFacts(result),
      { kind: 'diagnostics', diagnostics: result.diagnostics },
      ...reviews.flatMap((review) => review.blocks?.(result) ?? []),
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
