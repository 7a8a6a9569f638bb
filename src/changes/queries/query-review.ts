import * as z from 'zod'
import { say } from '../../platform/core/line.ts'
import { plural } from '../../platform/core/text.ts'
import { fold, type Part } from '../../platform/report/blocks.ts'
import { table } from '../../platform/report/table.ts'
import { isDifference } from '../../sync/decide/change.ts'
import type { Review } from '../review.ts'

export const alertFacts = z.array(z.object({ key: z.string(), name: z.string(), fact: z.string() }))

type AlertFacts = z.output<typeof alertFacts>

const checkedAlerts = z.object({
  alertCount: z.int().describe('Alerts whose query, or whose source, the plan creates or changes.'),
  checkedCount: z.int().describe('Those whose query, or whose columns, the server could answer or refuse.'),
  facts: alertFacts.describe('The values of these alerts in the last 24 hours, and in 7 days where a window is 6 hours or longer.'),
})

export interface QueryAnswer {
  readonly checkedAlerts?: z.output<typeof checkedAlerts> | undefined
}

export function factTable(title: string, facts: AlertFacts): Part {
  if (facts.length === 0) return undefined
  const columns = { Alert: ({ key, name }: AlertFacts[number]) => key || name, Values: ({ fact }: AlertFacts[number]) => fact }
  return facts.length > 10 ? fold(`${title} (${facts.length})`, table(undefined, facts, columns)) : table(title, facts, columns)
}

export const queryReview = {
  details: { checkedAlerts: checkedAlerts.optional().describe('The alerts that the plan creates or changes, with their values.') },
  async run(context, planned) {
    if (!planned.plan.changes.some(isDifference)) return {}
    const { findQueryProblems } = await import('./query-problems.ts')
    const { diagnostics, facts, alertCount, checkedCount } = await findQueryProblems(context, planned, planned.tested)
    return { diagnostics, ...(alertCount > 0 && { result: { checkedAlerts: { alertCount, checkedCount, facts: [...facts] } } }) }
  },
  headline({ checkedAlerts: checked }) {
    return checked === undefined || checked.checkedCount === checked.alertCount
      ? []
      : say` · ${checked.checkedCount} of ${plural(checked.alertCount, 'alert')} checked`
  },
  blocks: ({ checkedAlerts: checked }): Part => factTable('Values of changed alerts', checked?.facts ?? []),
} satisfies Review<object, QueryAnswer>

export const sloReview = {
  async run(context, planned) {
    if (planned.found.slos.length === 0 || !context.api.hasSql || !planned.plan.changes.some(isDifference)) return {}
    const { findSloQueryProblems } = await import('./slo-queries.ts')
    return { diagnostics: await findSloQueryProblems(context, planned) }
  },
} satisfies Review<object, object>
