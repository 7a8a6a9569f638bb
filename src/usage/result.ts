import * as z from 'zod'
import { budgetStep } from './budget-steps.ts'
import { budgetOutcome } from './budgets.ts'
import { comparison } from './comparison.ts'
import { forecast } from './forecast.ts'
import {
  amount,
  dataQualityIssue,
  date,
  dayOn,
  estimate,
  exactAmount,
  groupings,
  limitStatuses,
  percent,
  usageGroup,
  usageRecord,
} from './records.ts'
import { spike } from './spikes.ts'

/** `auto` warns without a limit, `required` fails, and `off` accepts no limit. */
export const gateModes = ['auto', 'required', 'off'] as const

export type UsageResult = z.output<typeof usageResult>

export const usageOutput = z.object({
  grandTotalCredits: exactAmount("Usage in the period: the API's own total."),
  unit: z.string().describe('Unit of all amounts as the API names it, such as Credits or CHC.'),
  fromDate: dayOn('First day.'),
  toDate: dayOn('Last day, included.'),
  days: z.int().describe('Number of days.'),
  budget: exactAmount('The budget, if there is one.').optional(),
  budgetExceeded: z
    .boolean()
    .optional()
    .describe('Whether the budget, or a budget of the budgets file, is exceeded. Absent without a budget.'),
  budgetUsedPercent: percent('Used share of the budget. Absent for a budget of zero.').optional(),
  provisionalCredits: exactAmount('The provisional part of the total: its records can still change.'),
  forecastCredits: estimate(
    'Forecast for the whole period. Absent without future days, and while it is too early in the period.',
  ).optional(),
  runsOutOn: dayOn('The day on which usage exceeds the budget, past or forecast. Absent when it stays within the budget.').optional(),
})

export const usageDetails = z.object({
  organizationId: z.string().describe('The organization.'),
  provider: z
    .object({
      name: z.string(),
      serviceName: z.string(),
      serviceCategory: z.string(),
      listPrice: z.object({ currency: z.string(), amount: z.string() }).optional(),
    })
    .describe('The provider, and the price of one unit in its public price list, where it is known.'),
  endDate: dayOn('Last day of the whole period. Later than to-date while the period runs.'),
  clipped: z.boolean().describe('Whether the given dates include future days, which the report leaves out.'),
  unlocked: z.enum(['include', 'exclude']).describe('Whether provisional records count.'),
  judgedCredits: exactAmount('The amount that the gate compares with the budget: the total, or the sum of the final records.'),
  budgetStatus: z.enum(limitStatuses).describe('Whether the judged amount is above the budget, above warn-budget, or within both.'),
  warnBudget: exactAmount('The gate warns above this amount.').optional(),
  budgetStep: budgetStep.optional().describe('The step of the budget that usage has just reached, if any. A notification reports it.'),
  forecastBudget: exactAmount('The gate fails when the forecast is above this amount.').optional(),
  forecastBudgetExceeded: z.boolean().describe('Whether the forecast, or the total of a past period, is above the forecast budget.'),
  gate: z.enum(gateModes).describe('Whether a run without a limit warns, fails or passes.'),
  forecast: forecast.optional().describe('Forecast for the whole period. Absent without future days.'),
  historyFailure: z
    .object({ status: z.enum(['unread', 'inconsistent']), fromDate: date, toDate: date, reason: z.string() })
    .optional()
    .describe('Days before the period that could not be read, or have inconsistent records, and why. Without them, there is no forecast.'),
  comparison: comparison.optional().describe('Comparison with earlier days, if requested.'),
  spikes: z.array(spike).describe('Days with far more usage than comparable days.'),
  spikeDays: z.int().describe('Number of days that were checked for spikes. The check of a day needs the two weeks before it.'),
  budgets: z.array(budgetOutcome).describe('One entry for each budget of the file, in its order.'),
  waiver: z.object({ until: date, reason: z.string() }).optional().describe('The waiver, if there is one.'),
  dataQualityIssues: z.array(dataQualityIssue).describe('Reasons to distrust the figures, and the effect of each on the verdict.'),
  byDay: z.array(z.object({ date, total: amount, provisional: amount })).describe('Every day of the period, in order.'),
  groupBy: z.enum(groupings).describe('How the groups are made.'),
  groups: z.array(usageGroup).describe('Largest first. Days are in their order.'),
  byEntity: z.array(usageGroup).describe('Largest first.'),
  byMetric: z.array(usageGroup).describe('Largest first. The metric `other` is the part of the totals that no metric covers.'),
  records: z.array(usageRecord).describe('The records of the period as the API returned them, without the unit word in the names.'),
  otherRecords: z.array(usageRecord).describe('Records of other days that a comparison or a budget needs.'),
  taggedRecords: z
    .array(z.object({ tag: z.string(), records: z.array(usageRecord) }))
    .describe('Records that were read by tag, for budgets with a tag in their scope.'),
})

/** The single source of the result's types, its document and the schema of the document. */
export const usageResult = z.object({ ...usageOutput.shape, ...usageDetails.shape })
