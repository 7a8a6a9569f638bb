import type * as z from 'zod'
import { errorsIn } from '../../core/diagnostics.ts'
import { counted, type Line, say, trusted } from '../../core/line.ts'
import { listFirst } from '../../core/text.ts'
import { pass, type Verdict } from '../../report/report.ts'
import { currentWindow } from '../../slos/error-budget.ts'
import { judgeDiagnostics } from '../plan/plan-report.ts'
import type { CheckedSlo, SloResult, sloInput } from './slo-result.ts'

/** Too few events never pass: a gate on them fails, and without a gate the verdict is a warning. */
export function judgeSlos(result: SloResult, { minBudgetLeft, maxBurnRate }: z.output<typeof sloInput>): Verdict {
  if (errorsIn(result.diagnostics).length > 0) return judgeDiagnostics(result)
  if (result.asleep) return { status: minBudgetLeft === undefined && maxBurnRate === undefined ? 'warn' : 'fail', reasons: [asleep] }
  const failures = result.slos.flatMap((slo) => [...belowBudget(slo, minBudgetLeft), ...aboveBurnRate(slo, maxBurnRate)])
  if (failures.length > 0) return { status: 'fail', reasons: firstOf(failures) }
  const warnings = result.slos.flatMap((slo): readonly Line[] => {
    if (slo.status === 'not-enough-data') return [say`${sloName(slo)} has not enough data`]
    return slo.status === 'spent' ? [say`the error budget of ${sloName(slo)} is spent`] : []
  })
  return warnings.length > 0 ? { status: 'warn', reasons: firstOf(warnings) } : pass
}

/** An SLO can have thousands of groups. The table and the result have all of them. */
const maxReasons = 20

const firstOf = (reasons: readonly Line[]): readonly Line[] => listFirst(reasons, maxReasons, (rest) => say`${rest} more`)

export const asleep = say`the service is asleep, and a query would wake it; set wake-service to allow that`

function belowBudget(slo: CheckedSlo, minBudgetLeft: number | undefined): readonly Line[] {
  if (minBudgetLeft === undefined) return []
  if (slo.budgetLeft === undefined)
    return [say`${sloName(slo)} has not enough data for min-budget-left: ${counted(slo.total, 'event')} in ${trusted(slo.window)}`]
  return slo.budgetLeft < minBudgetLeft
    ? [say`${sloName(slo)} has ${trusted(roundApart(slo.budgetLeft, minBudgetLeft))}% of its error budget left, below ${minBudgetLeft}%`]
    : []
}

function aboveBurnRate(slo: CheckedSlo, maxBurnRate: number | undefined): readonly Line[] {
  if (maxBurnRate === undefined) return []
  const rate = slo.burnRates[currentWindow]
  if (rate === undefined) return [say`${sloName(slo)} has not enough data for max-burn-rate in the last hour`]
  return rate > maxBurnRate
    ? [say`${sloName(slo)} burns its error budget ${trusted(roundApart(rate, maxBurnRate))} times as fast as allowed, above ${maxBurnRate}`]
    : []
}

export const sloName = ({ key, group }: CheckedSlo): Line => (group === undefined ? say`${key}` : say`${key} (${group})`)

/** Never rounds to a limit that the value has not reached. */
export function round(value: number, places: number): string {
  const rounded = Number(value.toFixed(places))
  return rounded === Math.round(value) && rounded !== value ? String(Number(value.toPrecision(6))) : String(rounded)
}

/** Rounds to as many digits as it takes to differ from the limit. */
function roundApart(value: number, limit: number): string {
  const places = [2, 4, 6, 8, 10, 12].find((count) => Number(value.toFixed(count)) !== limit)
  return places === undefined ? String(value) : round(value, places)
}
