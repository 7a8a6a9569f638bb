import { say } from '../platform/core/line.ts'
import { defineOperation } from '../platform/operation/operation.ts'
import { decide, loadFiles, readService } from '../sync/plan/make-plan.ts'
import { type BacktestAnswer, backtestReview } from './backtest/backtest-review.ts'
import { type Gates, gatesWithoutBacktest } from './backtest/gates.ts'
import { factsBesideHeadline, judgeDiagnostics, objectBlocks, planHeadline, toAnnotations, withDiagnostics } from './plan/plan-report.ts'
import { planShape, showPlan } from './plan/shared-result.ts'
import { gatesWithoutPrice, type PriceAnswer, priceReview } from './price/price-review.ts'
import { queryReview } from './queries/query-review.ts'
import { demandAnswers, judgeReviews, type Review, reviewPlan } from './review.ts'

/** In the order of the report. The queries that a backtest has run are not run again. */
const reviews: readonly Review<
  Gates & { readonly backtest: boolean; readonly price: boolean; readonly maxMonthlyIncrease?: number | undefined },
  BacktestAnswer & PriceAnswer
>[] = [backtestReview, queryReview, priceReview]

export const plan = defineOperation({
  ...planShape,
  moreExamples: [{ env: 'staging', prune: true, planFile: 'plan.json' }],
  summary: 'Shows what apply would change, field by field, without writing.',
  input: planShape.input.extend({ ...backtestReview.inputs, ...priceReview.inputs }),
  details: planShape.details.extend({ ...priceReview.details, ...backtestReview.details }),
  check: ({ values }) => [...gatesWithoutBacktest(values), ...gatesWithoutPrice(values)],
  async run(context, input) {
    await demandAnswers(reviews, context, input)
    const loaded = await loadFiles(context, { ...input, effect: 'read' })
    const read = await readService(context, loaded)
    const planned = await decide(context, read)
    const reviewed = await reviewPlan(reviews, context, planned, input)
    return { ...(await showPlan(context, reviewed, input)), ...reviewed.answers }
  },
  judge: (result, input) => judgeReviews(judgeDiagnostics(result), reviews, result, input),
  report: (result) => ({
    headline: [...planHeadline(result), ...reviews.flatMap((review) => review.headline?.(result) ?? [])],
    blocks: [
      factsBesideHeadline(result),
      ...withDiagnostics(result.diagnostics, [...reviews.flatMap((review) => review.blocks?.(result) ?? []), ...objectBlocks(result)]),
    ],
    annotations: toAnnotations(result),
    ...(result.price && { services: say`service ${result.price.service}` }),
  }),
})
