import type * as z from 'zod'
import type { Diagnostic } from '../platform/core/diagnostics.ts'
import type { Line } from '../platform/core/line.ts'
import type { Context } from '../platform/operation/operation.ts'
import type { Part } from '../platform/report/blocks.ts'
import type { Verdict } from '../platform/report/report.ts'
import { hasErrors, type PlanningResult } from '../sync/plan/make-plan.ts'

export type ReviewContext = Context<'read', 'service-or-server'>

/** A question about a plan, such as what its alerts cost. */
export interface Review<Input, Result> {
  /** Its inputs, and its field of the result. Absent where it has none. */
  readonly inputs?: z.ZodRawShape
  readonly details?: z.ZodRawShape
  /** Throws an InputError where the target cannot answer, before anything is read. */
  demand?(context: ReviewContext, input: Input): void | Promise<void>
  /** Loads its code only if the input asks for it. */
  run(context: ReviewContext, planned: ReviewedPlan<Result>, input: Input): Promise<ReviewAnswer<Result>>
  headline?(result: Partial<Result>): Line
  blocks?(result: Partial<Result>): Part
  judge?(result: Partial<Result>, input: Input): Verdict
}

interface ReviewAnswer<Result> {
  readonly result?: Result | undefined
  readonly diagnostics?: readonly Diagnostic[]
  /** Keys of the alerts whose queries the server ran, or refused to run. */
  readonly tested?: ReadonlySet<string> | undefined
}

export interface ReviewedPlan<Result> extends PlanningResult {
  readonly answers: Partial<Result>
  readonly tested: ReadonlySet<string>
}

/** Reviews a plan without errors. A review has the answers of those before it. */
export async function reviewPlan<Input, Result>(
  reviews: readonly Review<Input, Result>[],
  context: ReviewContext,
  planned: PlanningResult,
  input: Input,
): Promise<ReviewedPlan<Result>> {
  let reviewed: ReviewedPlan<Result> = { ...planned, answers: {}, tested: new Set() }
  for (const review of hasErrors(planned.diagnostics) ? [] : reviews) {
    const { result, diagnostics = [], tested = reviewed.tested } = await review.run(context, reviewed, input)
    const answers = { ...reviewed.answers, ...result }
    reviewed = { ...reviewed, answers, tested, diagnostics: [...reviewed.diagnostics, ...diagnostics] }
  }
  return reviewed
}
