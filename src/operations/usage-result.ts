// Owns the result of usage-cost: exact decimals as text, so that nobody who reads the JSON loses a digit.
import * as z from 'zod'
import type { UsageRecord } from '../api/usage.ts'
import type { Decimal } from '../kernel/decimal.ts'
import type { BudgetJudgement, Limits } from '../rules/budget.ts'
import type { Doubt, Spend } from '../rules/spend.ts'

const decimal = (description: string) => z.string().describe(`${description} Exact decimal.`)

export const usageOutput = z.object({
  grandTotalCredits: decimal("What was used in the period, by the API's own total."),
  unit: z.string().describe('Unit of all amounts, as the API names it: Credits, CHC.'),
  fromDate: z.string().describe('First day, in UTC.'),
  toDate: z.string().describe('Last day, in UTC, itself included.'),
  days: z.int().describe('Number of days.'),
  budget: decimal('The budget, where one was given.').optional(),
  budgetExceeded: z.boolean().optional().describe('Whether the total is above the budget; absent without one.'),
  budgetUsedPercent: z
    .string()
    .optional()
    .describe('Share of the budget that is used, in percent with two decimals; absent for a budget of zero.'),
  provisionalCredits: decimal('The part of the total whose records can still change.'),
})

const share = z.object({ name: z.string(), total: z.string() })

export const usageDetails = z.object({
  warnBudget: decimal('The amount above which the gate warns.').optional(),
  warnBudgetExceeded: z.boolean().describe('Whether the total is above that amount.'),
  clipped: z.boolean().describe('Whether days that are still to come were taken off the period.'),
  onMissing: z.enum(['fail', 'warn', 'ignore']).describe('What doubts lead to.'),
  doubts: z
    .array(
      z.object({
        kind: z.enum(['empty', 'sum-differs', 'outside-period', 'repeated', 'negative', 'missing-days']),
        days: z.array(z.string()).optional(),
        recordsTotal: z.string().optional(),
        entityName: z.string().optional(),
      }),
    )
    .describe('Reasons to doubt the total.'),
  byDay: z.array(z.object({ date: z.string(), total: z.string() })).describe('Every day of the period, in order.'),
  byEntity: z.array(share.extend({ entityType: z.string() })).describe('Largest first.'),
  byMetric: z.array(share).describe('Largest first.'),
  records: z
    .array(
      z.object({
        date: z.string(),
        entityType: z.string(),
        entityId: z.string(),
        entityName: z.string(),
        warehouseId: z.string().optional(),
        serviceId: z.string().optional(),
        total: z.string(),
        metrics: z.record(z.string(), z.string()),
        locked: z.boolean(),
      }),
    )
    .describe('The records, as the API answered, without the unit word in the names.'),
})

export type UsageResult = z.output<typeof usageOutput> & z.output<typeof usageDetails>

interface Figures {
  readonly unit: string
  readonly spend: Spend
  readonly records: readonly UsageRecord[]
  readonly limits: Limits
  readonly judgement: BudgetJudgement
  readonly days: number
  readonly clipped: boolean
  readonly onMissing: UsageResult['onMissing']
}

export function toUsageResult({ unit, spend, records, limits, judgement, days, clipped, onMissing }: Figures): UsageResult {
  const { budget, warnBudget } = limits
  return {
    grandTotalCredits: exact(spend.total),
    unit,
    fromDate: spend.period.from,
    toDate: spend.period.to,
    days,
    ...(budget && { budget: exact(budget), budgetExceeded: judgement.level === 'exceeded' }),
    ...(judgement.usedPercent && { budgetUsedPercent: judgement.usedPercent.toFixed(2) }),
    provisionalCredits: exact(spend.provisional),
    ...(warnBudget && { warnBudget: exact(warnBudget) }),
    warnBudgetExceeded: warnBudget !== undefined && spend.total.gt(warnBudget),
    clipped,
    onMissing,
    doubts: spend.doubts.map(toDoubt),
    byDay: spend.byDay.map(({ day, total }) => ({ date: day, total: exact(total) })),
    byEntity: spend.byEntity.map(({ name, entityType, total }) => ({ name, entityType, total: exact(total) })),
    byMetric: spend.byMetric.map(({ name, total }) => ({ name, total: exact(total) })),
    records: records.map(toRecord),
  }
}

const exact = (value: Decimal): string => value.toFixed()

function toDoubt(doubt: Doubt): UsageResult['doubts'][number] {
  switch (doubt.kind) {
    case 'sum-differs':
      return { kind: doubt.kind, recordsTotal: exact(doubt.records) }
    case 'repeated':
      return { kind: doubt.kind, days: [doubt.date], entityName: doubt.entityName }
    case 'outside-period':
    case 'missing-days':
      return { kind: doubt.kind, days: [...doubt.days] }
    default:
      return { kind: doubt.kind }
  }
}

function toRecord({ warehouseId, serviceId, total, metrics, ...rest }: UsageRecord): UsageResult['records'][number] {
  return {
    ...rest,
    ...(warehouseId !== undefined && { warehouseId }),
    ...(serviceId !== undefined && { serviceId }),
    total: exact(total),
    metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, exact(value)])),
  }
}
