import { isDifference } from '../../sync/decide/change.ts'
import type { Review } from '../review.ts'

/** What the server says about the queries of what the plan writes. */
export const queryReview = {
  async run(context, planned) {
    if (!planned.plan.changes.some(isDifference)) return {}
    const { findQueryProblems } = await import('./query-problems.ts')
    return { diagnostics: await findQueryProblems(context, planned, planned.tested) }
  },
} satisfies Review<object, object>
