import * as z from 'zod'
import { addDays, type Day } from '../../platform/core/dates.ts'
import { type Decimal, sum } from '../../platform/core/decimal.ts'
import { exactAmount } from './amounts.ts'
import type { DayTotal } from './daily-usage.ts'
import type { CurrentPeriod } from './periods.ts'
import { dayOn } from './periods.ts'
import type { UsageRecord } from './records.ts'

type BudgetStep = z.output<ReturnType<typeof budgetStepSchema>>

export const budgetStepSchema = () =>
  z.object({
    percent: z.int().describe('Percent of the budget: 50, 75, 90 or 100.'),
    reachedOn: dayOn('The day on which the usage reached it.'),
    used: exactAmount('Usage up to and including this day, provisional records included.'),
  })

interface StepInput {
  /** Every day of the period, in order, with final and provisional records. */
  readonly days: readonly DayTotal[]
  readonly records: readonly UsageRecord[]
  readonly period: CurrentPeriod
  readonly limit: Decimal
  readonly today: Day
}

/**
 * The highest step that usage reached yesterday. While yesterday has no records, the day before counts. Nothing is remembered: the usage up
 * to that day is compared with the usage up to the day before it. A period that moves with every run has no steps.
 */
export function findBudgetStep({ days, records, period, limit, today }: StepInput): BudgetStep | undefined {
  if (period.isRolling || !limit.gt(0)) return undefined
  const reachedOn = [addDays(today, -1), addDays(today, -2)].find((day) => records.some(({ date }) => date === day))
  if (reachedOn === undefined) return undefined
  const usedBefore = sum(days.filter(({ date }) => date < reachedOn).map(({ total }) => total))
  const used = sum(days.filter(({ date }) => date <= reachedOn).map(({ total }) => total))
  const percent = [100, 90, 75, 50].find((step) => isAtLeast(used, limit, step))
  return percent === undefined || isAtLeast(usedBefore, limit, percent) ? undefined : { percent, reachedOn, used }
}

const isAtLeast = (used: Decimal, limit: Decimal, percent: number) => used.times(100).gte(limit.times(percent))
