import type * as z from 'zod'
import { dayOf, formatMoment } from '../../platform/core/dates.ts'
import { errorsIn } from '../../platform/core/diagnostics.ts'
import { spellVariable } from '../../platform/core/input-spelling.ts'
import { counted, joinSome, type Line, placed, say, trusted } from '../../platform/core/line.ts'
import { listFirst, plural } from '../../platform/core/text.ts'
import type { Part, Status } from '../../platform/report/blocks.ts'
import { formatDuration, formatShortDay } from '../../platform/report/format.ts'
import { pass, type Report, type Verdict } from '../../platform/report/report.ts'
import { type Cell, shown, table } from '../../platform/report/table.ts'
import { currentWindow } from '../../signals/slos/error-budget.ts'
import { inEnvironment } from '../../sync/declarations/environment.ts'
import { judgeDiagnostics } from '../plan/plan-report.ts'
import type { CheckedSlo, SloResult, sloInput } from './slo-result.ts'

type SloLimits = Pick<z.output<typeof sloInput>, 'minBudgetLeft' | 'maxBurnRate'>

/** Too few events never pass: a gate on them fails, and without a gate the verdict is a warning. */
export function judgeSlos(result: SloResult, { minBudgetLeft, maxBurnRate }: SloLimits): Verdict {
  if (errorsIn(result.diagnostics).length > 0) return judgeDiagnostics(result)
  if (result.asleep) return { status: minBudgetLeft === undefined && maxBurnRate === undefined ? 'warn' : 'fail', reasons: [asleep()] }
  const failures = result.slos.flatMap((slo) => [...belowBudget(slo, minBudgetLeft), ...aboveBurnRate(slo, maxBurnRate)])
  if (failures.length > 0) return { status: 'fail', reasons: someReasons(failures), cause: causeOf(result, { minBudgetLeft, maxBurnRate }) }
  const warnings = result.slos.flatMap((slo): readonly Line[] => {
    if (slo.status === 'not-enough-data') return [say`${sloName(slo)} has not enough data`]
    return slo.status === 'spent' ? [say`the error budget of ${sloName(slo)} is spent`] : []
  })
  return warnings.length > 0 ? { status: 'warn', reasons: someReasons(warnings) } : pass
}

/** `checkout spends its error budget`, of the first SLO that fails. */
function causeOf({ slos }: SloResult, { minBudgetLeft, maxBurnRate }: SloLimits): Line {
  const failed = slos.filter((slo) => belowBudget(slo, minBudgetLeft).length + aboveBurnRate(slo, maxBurnRate).length > 0)
  const named = failed.map((slo) => {
    const isLow = slo.budgetLeft !== undefined && belowBudget(slo, minBudgetLeft).length > 0
    const spends = isLow ? 'has too little error budget left' : 'burns its error budget too fast'
    return say`${sloName(slo)} ${trusted(slo.status === 'not-enough-data' ? 'has not enough data' : spends)}`
  })
  return joinSome(named, 1)
}

/** An SLO can have thousands of groups. The table and the result have all of them. */
const maxReasons = 20

const someReasons = (reasons: readonly Line[]): readonly Line[] => listFirst(reasons, maxReasons, (rest) => say`${rest} more`)

const asleep = (): Line =>
  say`the service is asleep, and a query would wake it; set ${trusted(spellVariable('wake-service', 'true'))} to allow that`

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

const sloName = ({ key, group }: CheckedSlo): Line => (group === undefined ? say`${key}` : say`${key} (${group})`)

/** Never rounds to a limit that the value has not reached. */
function round(value: number, places: number): string {
  const rounded = Number(value.toFixed(places))
  return rounded === Math.round(value) && rounded !== value ? String(Number(value.toPrecision(6))) : String(rounded)
}

/** Rounds to as many digits as it takes to differ from the limit. */
function roundApart(value: number, limit: number): string {
  const places = [2, 4, 6, 8, 10, 12].find((count) => Number(value.toFixed(count)) !== limit)
  return places === undefined ? String(value) : round(value, places)
}

const statuses: Readonly<Record<CheckedSlo['status'], Status>> = { 'within-budget': 'pass', spent: 'fail', 'not-enough-data': 'warn' }

/** The windows whose burn rates people read. */
const shownWindows = ['1h', '6h', '3d'] as const

function sloTable({ slos, until }: SloResult): Part {
  const burnRate =
    (window: (typeof shownWindows)[number]) =>
    ({ burnRates }: CheckedSlo): Cell =>
      shown(burnRates[window], (rate) => round(rate, 2))
  return table(
    undefined,
    slos,
    {
      SLO: ({ key, group, file, line }) => {
        const linked = placed(key, { file, line })
        return group === undefined ? linked : say`${linked} (${group})`
      },
      Objective: ({ objective, window }) => trusted(`${objective}% in ${window}`),
      '> Good': ({ indicator }) => trusted(indicator === undefined ? 'not enough data' : `${round(indicator, 3)}%`),
      '> Budget left': ({ budgetLeft }) => shown(budgetLeft, (left) => `${round(left, 2)}%`),
      '> Burn rate 1h': burnRate('1h'),
      '> Burn rate 6h': burnRate('6h'),
      '> Burn rate 3d': burnRate('3d'),
      'Runs out': (slo) => runsOutWords(slo, until),
      Burning: ({ burning }) => shown(burning.join(', ') || undefined),
    },
    ({ status }) => statuses[status],
  )
}

function runsOutWords({ runsOut }: CheckedSlo, until: string): Line {
  const ms = Date.parse(runsOut) - Date.parse(until)
  return Number.isNaN(ms) ? [trusted(runsOut)] : [trusted(`in ${formatDuration(ms)}`)]
}

/** Percentage of error budget below which the report says when most was spent, also without a limit. */
const lowBudget = 50

function nextStep({ slos, until, minBudgetLeft = 0 }: SloResult): Part {
  const [worst] = slos
    .filter(({ budgetLeft = 100 }) => budgetLeft < Math.max(lowBudget, minBudgetLeft))
    .toSorted((a, b) => (a.budgetLeft ?? 0) - (b.budgetLeft ?? 0))
  const [costliest] = worst?.days.toSorted((a, b) => b.spent - a.spent) ?? []
  if (worst === undefined || costliest === undefined) return undefined
  const day = formatShortDay(dayOf(Date.parse(costliest.day)), dayOf(Date.parse(until)))
  const spent = worst.days.reduce((sum, one) => sum + one.spent, 0)
  const when =
    costliest.spent > spent / 2
      ? `most of its error budget on ${day}`
      : `its error budget on ${plural(worst.days.filter((one) => one.spent > 0).length, 'day')}`
  return say`${sloName(worst)} spent ${trusted(when)} (UTC). Find out what failed then: the declaration of the SLO says which events are good.`
}

const maxCharts = 10

/** One chart for each SLO that spent something, the worst first, of its worst group. A title is not escaped, and a key needs no escape. */
function charts({ slos, until }: SloResult): Part {
  const worstFirst = slos.filter(({ budgetLeft = 100 }) => budgetLeft < 100).toSorted((a, b) => (a.budgetLeft ?? 0) - (b.budgetLeft ?? 0))
  return worstFirst
    .filter(({ key }, i) => worstFirst.findIndex((one) => one.key === key) === i)
    .slice(0, maxCharts)
    .map(({ key, group, days }) => ({
      kind: 'chart',
      title: `Error budget of ${key} spent, by UTC day${group === undefined ? '' : ' (worst group)'}`,
      unit: '%',
      valueName: 'Spent',
      points: days.map(({ day, spent }) => ({ label: formatShortDay(dayOf(Date.parse(day)), dayOf(Date.parse(until))), value: spent })),
    }))
}

/** SLOs that fail, or have a warning in a run without a failure, with what is left of their error budgets. */
export function sloLines({ slos, until }: SloResult, { minBudgetLeft, maxBurnRate }: SloLimits): readonly Line[] {
  const failing = slos.filter((slo) => belowBudget(slo, minBudgetLeft).length + aboveBurnRate(slo, maxBurnRate).length > 0)
  const named = failing.length > 0 ? failing : slos.filter(({ status }) => status !== 'within-budget')
  return named.map((slo): Line => {
    const { indicator, objective, window, budgetLeft, burnRates } = slo
    const rates = shownWindows.flatMap((of) => (burnRates[of] === undefined ? [] : [`${round(burnRates[of], 2)} (${of})`]))
    const parts = [
      `${indicator === undefined ? 'not enough data' : `${round(indicator, 3)}% good`}, objective ${objective}% in ${window}`,
      ...(budgetLeft === undefined ? [] : [`budget left ${round(budgetLeft, 2)}%`]),
      ...(rates.length === 0 ? [] : [`burn rate ${rates.join(', ')}`]),
    ]
    return say`${sloName(slo)}: ${trusted(parts.join('; '))}; runs out: ${runsOutWords(slo, until)}`
  })
}

export const reportSlos = (result: SloResult): Report => ({
  headline:
    result.asleep || errorsIn(result.diagnostics).length > 0
      ? say`The SLOs were not checked`
      : say`${counted(result.sloCount, 'SLO')}${inEnvironment(result)} until ${trusted(formatMoment(result.until))}`,
  blocks: [{ kind: 'diagnostics', diagnostics: errorsIn(result.diagnostics) }, nextStep(result), sloTable(result), charts(result)],
  annotations: errorsIn(result.diagnostics),
})
