import { isDifference } from '../../sync/decide/change.ts'
import type { Review } from '../review.ts'

/** What the server says about the longest queries of the SLOs that the plan writes. */
export const sloReview = {
  async run(context, planned) {
    if (planned.found.slos.length === 0 || !context.api.hasSql || !planned.plan.changes.some(isDifference)) return {}
    const { findSloQueryProblems } = await import('./slo-queries.ts')
    return { diagnostics: await findSloQueryProblems(context, planned) }
  },
} satisfies Review<object, object>
