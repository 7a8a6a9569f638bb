// Owns the shape of usage-cost's result: exact decimals as text, so that nobody who reads the JSON loses a digit.
import * as z from 'zod'
import { groupings } from '../../rules/groups.ts'
import { budgetDoubts } from './budget-outcomes.ts'

const decimal = (description: string) => z.string().describe(`${description} Exact decimal.`)
const estimate = (description: string) => z.string().describe(`${description} An estimate, as a decimal.`)
const day = (description: string) => z.string().describe(`${description} YYYY-MM-DD, in UTC.`)
const percent = (description: string) => z.string().describe(`${description} In percent, with two decimals.`)

export const usageOutput = z.object({
  grandTotalCredits: decimal("What was used in the period, by the API's own total."),
  unit: z.string().describe('Unit of all amounts, as the API names it: Credits, CHC.'),
  fromDate: day('First day.'),
  toDate: day('Last day that is counted, itself included.'),
  days: z.int().describe('Number of days.'),
  budget: decimal('The budget, where one was given.').optional(),
  budgetExceeded: z.boolean().optional().describe('Whether the budget, or one of the budgets file, is exceeded; absent without any.'),
  budgetUsedPercent: percent('Share of the budget that is used; absent for a budget of zero.').optional(),
  provisionalCredits: decimal('The part of the total whose records can still change.'),
  forecastCredits: estimate(
    'What the whole period will come to; absent when no day is still to come, and while it is too early to tell.',
  ).optional(),
  runsOutOn: day('The day on which more than the budget is used, past or expected; absent when it lasts.').optional(),
})

const group = z.object({
  name: z.string(),
  entityType: z.string().optional().describe('Of an entity.'),
  total: decimal('What it used.'),
  provisional: decimal('The part of it that can still change.'),
})

const forecast = z.object({
  state: z.enum(['expected', 'too-early', 'over']),
  untilDate: day('Last day of the period.'),
  completeDays: z.int().optional().describe('When it is too early: days of the period that are over.'),
  total: estimate('Expected total.').optional(),
  low: estimate('Four times out of five the total is above this,').optional(),
  high: estimate('and below this.').optional(),
  learntFrom: z.int().optional().describe('Number of days it was learnt from.'),
  isWeekdayAware: z.boolean().optional().describe('Whether weekdays were told apart; takes two weeks of data.'),
  byDay: z
    .array(z.object({ date: z.string(), total: z.string() }))
    .optional()
    .describe('The days that are not over.'),
})

const cell = { entityName: z.string(), entityType: z.string(), metric: z.string() }
const entity = z.object({ name: z.string(), entityType: z.string() })

const comparison = z.object({
  fromDate: day('First day of the previous period.'),
  toDate: day('Its last day.'),
  total: decimal('What was used in it.'),
  change: decimal('By how much it is more now; negative for less.'),
  changePercent: percent('The same; absent when nothing was used before.').optional(),
  maxIncrease: z.string().optional().describe('Most it may grow, as given.'),
  isAboveMaxIncrease: z.boolean(),
  movers: z.array(z.object({ ...cell, before: z.string(), after: z.string() })).describe('Largest change first, up or down.'),
  appeared: z.array(entity).describe('Entities that were not there before.'),
  gone: z.array(entity).describe('Entities that are no longer there.'),
})

const spike = z.object({
  date: z.string(),
  total: decimal('What the day cost.'),
  usual: estimate('What days like it cost.'),
  culprit: z.object({ ...cell, total: z.string(), usual: z.string() }).describe('What grew most on that day.'),
})

const budget = z.object({
  name: z.string(),
  verdict: z.enum(['pass', 'warn', 'fail']),
  scope: z.record(z.string(), z.array(z.string())).describe('What counts; all usage when empty.'),
  fromDate: day('First day.'),
  toDate: day('Last day that is counted.'),
  limit: decimal('Most that may be used.'),
  warnAbove: decimal('The budget warns above it.').optional(),
  used: decimal('What the gate compares with the limit.'),
  usedPercent: percent('Share of the limit; absent for a limit of zero.').optional(),
  provisional: decimal('What can still change.'),
  isExceeded: z.boolean(),
  isForecastAbove: z.boolean().describe('Whether the forecast is judged, and above the limit.'),
  forecast,
  runsOutOn: day('The day on which more than the limit is used; absent when it lasts.').optional(),
  doubt: z.enum(budgetDoubts).optional().describe('Why the figure may mean nothing.'),
  unmatched: z.array(z.string()).optional().describe('Names in the scope that fit nothing.'),
})

const record = z.object({
  date: z.string(),
  entityType: z.string(),
  entityId: z.string(),
  entityName: z.string(),
  warehouseId: z.string().optional(),
  serviceId: z.string().optional(),
  total: z.string(),
  metrics: z.record(z.string(), z.string()),
  locked: z.boolean(),
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
  endDate: day('Last day that the period will have; later than to-date while it runs.'),
  clipped: z.boolean().describe('Whether days that are still to come were taken off the dates that were given.'),
  unlocked: z.enum(['include', 'exclude']).describe('Whether records that can still change are judged.'),
  judgedCredits: decimal('What the gate compares with the budget: the total, or the sum of the final records.'),
  warnBudget: decimal('The amount above which the gate warns.').optional(),
  warnBudgetExceeded: z.boolean().describe('Whether the total is above that amount.'),
  forecastBudget: decimal('Most that the forecast may be.').optional(),
  forecastBudgetExceeded: z.boolean().describe('Whether the forecast, or the total of a period that is over, is above that.'),
  forecast: forecast.describe('What the whole period will come to.'),
  comparison: comparison.optional().describe('Against the period before, where it was asked for.'),
  spikes: z.array(spike).describe('Days far above days like them.'),
  spikeDays: z.int().describe('Number of days that were looked at for spikes: those with two weeks known before them.'),
  budgets: z.array(budget).describe('One for each budget of the file, in its order.'),
  waiver: z.object({ until: z.string(), reason: z.string() }).optional().describe('The waiver that was given.'),
  onMissing: z.enum(['fail', 'warn', 'ignore']).describe('What doubts lead to.'),
  doubts: z
    .array(
      z.object({
        kind: z.enum([
          'empty',
          'not-yet',
          'nothing-final',
          'sum-differs',
          'outside-period',
          'repeated',
          'negative',
          'negative-record',
          'missing-days',
        ]),
        fromDate: z.string().optional(),
        toDate: z.string().optional(),
        days: z.array(z.string()).optional(),
        recordsTotal: z.string().optional(),
        grandTotal: z.string().optional(),
        entityName: z.string().optional(),
      }),
    )
    .describe('Reasons to doubt the figures.'),
  byDay: z.array(z.object({ date: z.string(), total: z.string(), provisional: z.string() })).describe('Every day of the period, in order.'),
  groupBy: z.enum(groupings).describe('What the groups are.'),
  groups: z.array(group).describe('Largest first; days in their order.'),
  byEntity: z.array(group).describe('Largest first.'),
  byMetric: z.array(group).describe('Largest first; what the metrics leave of a total is `other`.'),
  records: z.array(record).describe('The records of the period, as the API answered, without the unit word in the names.'),
  otherRecords: z.array(record).describe('Those of other days that a comparison or a budget needed.'),
  taggedRecords: z
    .array(z.object({ tag: z.string(), records: z.array(record) }))
    .describe('Those that were read by tag, for the budgets that count one.'),
})

export type UsageResult = z.output<typeof usageOutput> & z.output<typeof usageDetails>
