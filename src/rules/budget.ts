// Owns the comparison of a figure with its limits. Exact: equal is within the limit, and zero is a limit.
import { type Decimal, percentOf } from '../kernel/decimal.ts'

export interface Limits {
  /** Above it the gate fails. */
  readonly budget: Decimal | undefined
  /** Above it the gate warns. */
  readonly warnBudget: Decimal | undefined
}

export interface BudgetJudgement {
  readonly level: 'within' | 'warn' | 'exceeded'
  /** Undefined without a budget, and for a budget of zero. */
  readonly usedPercent: Decimal | undefined
}

export function judgeBudget(spent: Decimal, { budget, warnBudget }: Limits): BudgetJudgement {
  const usedPercent = budget === undefined ? undefined : percentOf(spent, budget)
  if (budget !== undefined && spent.gt(budget)) return { level: 'exceeded', usedPercent }
  return { level: warnBudget !== undefined && spent.gt(warnBudget) ? 'warn' : 'within', usedPercent }
}
