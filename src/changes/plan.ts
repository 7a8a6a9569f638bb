import { inputDiagnostic } from '../platform/core/diagnostics.ts'
import { spellInput } from '../platform/core/input-spelling.ts'
import { keysOf } from '../platform/core/keys.ts'
import { say } from '../platform/core/line.ts'
import { toKebab } from '../platform/core/names.ts'
import { defineOperation } from '../platform/operation/operation.ts'
import { pass } from '../platform/report/report.ts'
import { compareWithService, loadFiles, readService } from '../sync/plan/make-plan.ts'
import type { Gates } from './backtest/backtest-report.ts'
import { type BacktestAnswer, backtestReview } from './backtest/backtest-review.ts'
import { planShape, toPlanOrDriftResult } from './plan/plan-file.ts'
import {
  factsBesideHeadline,
  judgeDiagnostics,
  objectBlocks,
  planHeadline,
  refusal,
  toAnnotations,
  withDiagnostics,
} from './plan/plan-report.ts'
import { newerFiles } from './plan/plan-result.ts'
import { type PriceAnswer, type PriceInput, priceReview } from './price/price-review.ts'
import { type QueryAnswer, queryReview, sloReview } from './queries/query-review.ts'
import { type Review, reviewPlan } from './review.ts'

/** In the order of the report. The queries that a backtest has run are not run again. */
const reviews: readonly Review<ReviewInput, Answers>[] = [backtestReview, queryReview, sloReview, priceReview]

type ReviewInput = Gates & PriceInput & { readonly backtest: boolean }

type Answers = BacktestAnswer & PriceAnswer & QueryAnswer

const gateSubjects = { maxNotifications: ['backtest'], maxMonthlyIncrease: ['price'], onMissing: ['backtest', 'price'] } as const

export const plan = defineOperation({
  ...planShape,
  moreExamples: [{ env: 'staging', prune: true, planFile: 'plan.json' }],
  summary: 'Shows what apply would change, field by field, without writing.',
  input: planShape.input.extend({ ...backtestReview.inputs, ...priceReview.inputs }),
  details: planShape.details.extend({ newerFiles, ...queryReview.details, ...priceReview.details, ...backtestReview.details }),
  check: ({ values }) =>
    keysOf<keyof typeof gateSubjects>(gateSubjects)
      .filter((gate) => values[gate] !== undefined && !gateSubjects[gate].some((subject) => values[subject] === true))
      .map((gate) =>
        inputDiagnostic(toKebab(gate), `requires ${gateSubjects[gate].map((subject) => spellInput(subject, 'true')).join(' or ')}`),
      ),
  async run(context, input) {
    for (const review of reviews) await review.demand?.(context, input)
    const loaded = await loadFiles(context, { ...input, effect: 'read' })
    const read = await readService(context, loaded)
    const planned = await compareWithService(context, read)
    // A plan that is saved is one to apply.
    const newer =
      input.planFile === undefined ? undefined : await context.github?.findNewerFiles({ globs: input.files, paths: planned.found.paths })
    if (newer !== undefined)
      return { ...(await toPlanOrDriftResult(context, planned, { ...input, planFile: undefined })), needsApply: false, newerFiles: newer }
    const reviewed = await reviewPlan(reviews, context, planned, input)
    return { ...(await toPlanOrDriftResult(context, reviewed, input)), ...reviewed.answers }
  },
  judge: (result, input) =>
    refusal(result)?.verdict ??
    reviews
      .map((review) => review.judge?.(result, input) ?? pass)
      .reduce((first, next) => (first.status === 'fail' || next.status === 'pass' ? first : next), judgeDiagnostics(result.diagnostics)),
  report: (result) =>
    refusal(result) ?? {
      headline: [...planHeadline(result), ...reviews.flatMap((review) => review.headline?.(result) ?? [])],
      blocks: [
        factsBesideHeadline(result),
        withDiagnostics(result.diagnostics, [reviews.map((review) => review.blocks?.(result)), objectBlocks(result)]),
      ],
      annotations: toAnnotations(result),
      ...(result.price && { services: say`service ${result.price.service}` }),
    },
})
