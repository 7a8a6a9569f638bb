import * as z from 'zod'
import { type Decimal, isDecimal } from '../../platform/core/decimal.ts'
import { amount, creditPriceSchema, estimate, exactAmount, percent } from './amounts.ts'
import { budgetOutcomeSchema, budgetStepSchema, limitStatuses } from './budgets.ts'
import { comparisonSchema, type UsageComparison, writeIncrease } from './comparison.ts'
import { dataQualityIssueSchema } from './data-quality.ts'
import { forecastSchema } from './forecast.ts'
import { date, dayOn } from './periods.ts'
import { groupSchema, usageRecordSchema } from './records.ts'
import { spikeContextSchema, spikeDeploymentsSchema, spikeSchema } from './spikes.ts'

/** `auto` warns without a limit, `required` fails, and `off` accepts no limit. */
export const gateModes = ['auto', 'required', 'off'] as const

export type UsageResult = z.output<ReturnType<typeof usageResultSchema>>

export const usageOutput = z.object({
  grandTotalCredits: exactAmount("Usage in the period: the API's own total."),
  unit: z.string().describe('Unit of all amounts as the API names it, such as Credits or CHC.'),
  budgetExceeded: z
    .boolean()
    .optional()
    .describe('Whether the budget, or a budget of the budgets file, is exceeded. Absent without a budget.'),
  budgetUsedPercent: percent('Used share of the budget. Absent for a budget of zero.').optional(),
  forecastCredits: estimate(
    'Forecast for the whole period. Absent without future days, and while it is too early in the period.',
  ).optional(),
  runsOutOn: dayOn('The day on which usage exceeds the budget, past or forecast. Absent when it stays within the budget.').optional(),
})

// A run needs only the types of these schemas. Making them would take 3 ms, and encoding a month of 40 services 20 ms.
export const usageDetails = () =>
  z.object({
    fromDate: dayOn('First day.'),
    toDate: dayOn('Last day, included.'),
    days: z.int().describe('Number of days.'),
    budget: exactAmount('The budget, if there is one.').optional(),
    provisionalCredits: exactAmount('The provisional part of the total: its records can still change.'),
    organizationId: z.string().describe('The organization.'),
    provider: z
      .object({
        name: z.string(),
        serviceName: z.string(),
        serviceCategory: z.string(),
        listPrice: z.object({ currency: z.string(), amount: z.string() }).optional(),
      })
      .describe('The provider, and the price of one unit in its public price list, where it is known.'),
    services: z
      .array(
        z.object({
          id: z.string(),
          warehouseId: z.string().optional(),
          provider: z.string().optional(),
          region: z.string().optional(),
          tags: z.record(z.string(), z.union([z.string(), z.literal(true)])),
        }),
      )
      .optional()
      .describe('Regions and tags of the services. Only with a report in the format focus.'),
    tags: z.array(z.string()).describe('Tags whose usage is counted, as Key or Key=Value. Empty for all usage.'),
    endDate: dayOn('Last day of the whole period. Later than to-date while the period runs.'),
    clipped: z.boolean().describe('Whether the given dates include future days, which the report leaves out.'),
    budgetStatus: z.enum(limitStatuses).describe('Whether the judged amount is above the budget, above warn-budget, or within both.'),
    warnBudget: exactAmount('The gate warns above this amount.').optional(),
    budgetStep: budgetStepSchema()
      .optional()
      .describe('The step of the budget that usage has just reached, if any. A notification reports it.'),
    forecastBudget: exactAmount('The gate fails when the forecast is above this amount.').optional(),
    forecastBudgetExceeded: z.boolean().describe('Whether the forecast, or the total of a past period, is above the forecast budget.'),
    gate: z.enum(gateModes).describe('Whether a run without a limit warns, fails or passes.'),
    forecast: forecastSchema().optional().describe('Forecast for the whole period. Absent without future days.'),
    historyFailure: z
      .object({ status: z.enum(['unread', 'inconsistent']), fromDate: date, toDate: date, reason: z.string() })
      .optional()
      .describe(
        'Days before the period that could not be read, or have inconsistent records, and why. Without them, there is no forecast.',
      ),
    comparison: comparisonSchema().optional().describe('Comparison with earlier days, if requested.'),
    spikes: z.array(spikeSchema()).describe('Days with far more usage than comparable days, of the organization and of its entities.'),
    spikeContext: spikeContextSchema()
      .optional()
      .describe(
        'Changes of services on the days of spikes and the days before, as coincidence. Only with a spike, and where the key may read activities.',
      ),
    spikeDeployments: spikeDeploymentsSchema()
      .optional()
      .describe(
        "Deployments of the workflow's repository on these days, as coincidence. Only with a spike, in the GitHub Action, and where the token may read deployments.",
      ),
    spikeDays: z.int().describe('Number of days that were checked for spikes. The check of a day needs the two weeks before it.'),
    budgets: z.array(budgetOutcomeSchema()).describe('One entry for each budget of the file, in its order.'),
    dataQualityIssues: z
      .array(dataQualityIssueSchema())
      .describe('Reasons to distrust the figures, and the effect of each on the verdict.'),
    creditPrice: creditPriceSchema().optional().describe('The price of one credit, as given.'),
    cost: exactAmount('The total in the currency of credit-price. Absent without a price.').optional(),
    byDay: z.array(z.object({ date, total: amount, provisional: amount })).describe('Every day of the period, in order.'),
    byEntity: z.array(groupSchema()).describe('Largest first.'),
    byMetric: z.array(groupSchema()).describe('Largest first. The metric `other` is the part of the totals that no metric covers.'),
    records: z
      .array(usageRecordSchema())
      .describe('The records of the period as the API returned them, without the unit word in the names.'),
    otherRecords: z.array(usageRecordSchema()).describe('Records of other days that a comparison or a budget needs.'),
    taggedRecords: z
      .array(z.object({ tag: z.string(), records: z.array(usageRecordSchema()) }))
      .describe('Records that were read by tag, for budgets with a tag in their scope.'),
  })

/** The single source of the result's types, its document and the schema of the document. */
export const usageResultSchema = () => z.object({ ...usageOutput.shape, ...usageDetails().shape })

/** The result as JSON values: what `usageResultSchema` encodes. */
export function toUsageDocument(result: UsageResult): z.input<ReturnType<typeof usageResultSchema>> {
  const { budgetUsedPercent, comparison, budgets } = result
  return {
    ...toTexts(result),
    budgetUsedPercent: writePercent(budgetUsedPercent),
    comparison: comparison && writeComparison(comparison),
    budgets: budgets.map((budget) => ({ ...toTexts(budget), usedPercent: writePercent(budget.usedPercent) })),
  }
}

function writeComparison(comparison: UsageComparison): z.input<ReturnType<typeof comparisonSchema>> {
  const maxIncrease = comparison.maxIncrease && writeIncrease(comparison.maxIncrease)
  if (comparison.status === 'no-complete-days') return { ...comparison, maxIncrease }
  return { ...toTexts(comparison), maxIncrease, changePercent: writePercent(comparison.changePercent) }
}

const writePercent = (percent: Decimal | undefined) => percent?.toFixed(2)

/** Values with decimals as text. */
type Texts<T> = T extends string
  ? T
  : T extends Decimal
    ? string
    : T extends readonly (infer Item)[]
      ? Texts<Item>[]
      : T extends object
        ? { -readonly [Key in keyof T]: Texts<T[Key]> }
        : T

function toTexts<T>(value: T): Texts<T>
function toTexts(value: unknown): unknown {
  if (isDecimal(value)) return value.toFixed()
  if (Array.isArray(value)) return value.map(toTexts)
  if (typeof value !== 'object' || value === null) return value
  const texts: Record<string, unknown> = { ...value }
  for (const key in texts) if (typeof texts[key] === 'object') texts[key] = toTexts(texts[key])
  return texts
}
