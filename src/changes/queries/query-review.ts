import { isDifference } from '../../sync/plan/change.ts'
import type { Review } from '../review.ts'

/** What the server says about the queries of what the plan writes. */
export const queryReview = {
  inputs: {},
  details: {},
  async run(context, planned) {
    const { plan, found, tested } = planned
    if (!plan.changes.some(isDifference)) return {}
    const { findQueryProblems } = await import('./query-problems.ts')
    const problems = await findQueryProblems(context, planned, tested)
    if (found.slos.length === 0 || !context.api.hasSql) return { diagnostics: problems }
    const { findSloQueryProblems } = await import('./slo-queries.ts')
    return { diagnostics: [...problems, ...(await findSloQueryProblems(context, planned))] }
  },
} satisfies Review<object, object>
