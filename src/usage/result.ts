import * as z from 'zod'
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

export type UsageResult = z.output<typeof usageResult>

export const usageOutput = z.object({
  grandTotalCredits: exactAmount("What was used in the period, by the API's own total."),
  unit: z.string().describe('Unit of all amounts, as the API names it: Credits, CHC.'),
  fromDate: dayOn('First day.'),
  toDate: dayOn('Last day that is counted, itself included.'),
  days: z.int().describe('Number of days.'),
  budget: exactAmount('The budget, where one was given.').optional(),
  budgetExceeded: z.boolean().optional().describe('Whether the budget, or one of the budgets file, is exceeded; absent without any.'),
  budgetUsedPercent: percent('Share of the budget that is used; absent for a budget of zero.').optional(),
  provisionalCredits: exactAmount('The part of the total whose records can still change.'),
  forecastCredits: estimate(
    'What the whole period will come to; absent when no day is still to come, and while it is too early to tell.',
  ).optional(),
  runsOutOn: dayOn('The day on which more than the budget is used, past or expected; absent when it lasts.').optional(),
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
    .describe('Who charges, and what one unit costs by the public price list, where that is known.'),
  endDate: dayOn('Last day that the period will have; later than to-date while it runs.'),
  clipped: z.boolean().describe('Whether days that are still to come were taken off the dates that were given.'),
  unlocked: z.enum(['include', 'exclude']).describe('Whether records that can still change are judged.'),
  judgedCredits: exactAmount('What the gate compares with the budget: the total, or the sum of the final records.'),
  budgetStatus: z.enum(limitStatuses).describe('Whether the judged amount is above the budget, above warn-budget, or within both.'),
  warnBudget: exactAmount('The amount above which the gate warns.').optional(),
  forecastBudget: exactAmount('Most that the forecast may be.').optional(),
  forecastBudgetExceeded: z.boolean().describe('Whether the forecast, or the total of a period that is over, is above that.'),
  forecast: forecast.optional().describe('What the whole period will come to; absent when no day is still to come.'),
  comparison: comparison.optional().describe('Against the period before, where it was asked for.'),
  spikes: z.array(spike).describe('Days far above days like them.'),
  spikeDays: z.int().describe('Number of days that were checked for spikes: those with two weeks known before them.'),
  budgets: z.array(budgetOutcome).describe('One for each budget of the file, in its order.'),
  waiver: z.object({ until: date, reason: z.string() }).optional().describe('The waiver that was given.'),
  dataQualityIssues: z.array(dataQualityIssue).describe('Reasons to distrust the figures, and what each does to the verdict.'),
  byDay: z.array(z.object({ date, total: amount, provisional: amount })).describe('Every day of the period, in order.'),
  groupBy: z.enum(groupings).describe('What the groups are.'),
  groups: z.array(usageGroup).describe('Largest first; days in their order.'),
  byEntity: z.array(usageGroup).describe('Largest first.'),
  byMetric: z.array(usageGroup).describe('Largest first; what the metrics leave of a total is `other`.'),
  records: z.array(usageRecord).describe('The records of the period, as the API answered, without the unit word in the names.'),
  otherRecords: z.array(usageRecord).describe('Those of other days that a comparison or a budget needed.'),
  taggedRecords: z
    .array(z.object({ tag: z.string(), records: z.array(usageRecord) }))
    .describe('Those that were read by tag, for the budgets that count one.'),
})

/** The single source of the result: its types, its document and the schema of that. */
export const usageResult = z.object({ ...usageOutput.shape, ...usageDetails.shape })
