import * as z from 'zod'
import { defaultMinCoverage, formatShare } from '../../backtest/coverage.ts'
import type { AlertEstimate } from '../../backtest/result.ts'
import { type Diagnostic, inputDiagnostic } from '../../core/diagnostics.ts'
import { inputError } from '../../core/errors.ts'
import { counted, join, type Line, say, trusted } from '../../core/line.ts'
import { didYouMean, toKebab } from '../../core/names.ts'
import { quote } from '../../core/text.ts'
import { keyGrammar } from '../../kinds/marker.ts'
import { choice, integer, list } from '../../operation/inputs.ts'
import { pass, type Verdict } from '../../operation/operation.ts'
import { changesOf } from '../plan/change.ts'
import type { PlanningResult } from '../plan/make-plan.ts'
import type { BacktestedAlert } from './backtest-plan.ts'
import { notEvaluated } from './backtest-report.ts'

const keys = (description: string) => list(description, 'keys of alerts in the files', z.string().regex(keyGrammar))

/** The inputs that make a backtest a gate. */
export const gateInput = {
  maxNotifications: integer('Fails if an alert notifies more often on a day. The days are those of UTC.', 0, 100_000).optional(),
  mustFire: keys('Fails unless these alerts would have fired.').optional(),
  mustBeQuiet: keys('Fails unless these alerts would have stayed quiet.').optional(),
  minCoverage: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .meta({
      description: `Percentage of windows that need data. If the source of an alert has data in fewer of them, a gate cannot pass. The default is ${defaultMinCoverage}.`,
      accepts: 'a percentage from 0 to 100',
    }),
  onMissing: choice(
    ['fail', 'warn', 'ignore'],
    'Effect of an alert without an estimate. Without one, or with data in less than `min-coverage`, `max-notifications` cannot check it. The default is `fail`. `must-fire` and `must-be-quiet` always fail.',
  ).optional(),
}

export interface Gates {
  readonly maxNotifications?: number | undefined
  readonly mustFire?: readonly string[] | undefined
  readonly mustBeQuiet?: readonly string[] | undefined
  readonly minCoverage?: number | undefined
  readonly onMissing?: 'fail' | 'warn' | 'ignore' | undefined
}

const gateNames = ['maxNotifications', 'mustFire', 'mustBeQuiet'] as const

export const hasGates = (gates: Gates): boolean => gateNames.some((name) => gates[name] !== undefined)

/** A gate that nothing would judge. */
export const gatesWithoutBacktest = (values: Gates & { readonly backtest?: boolean }): readonly Diagnostic[] =>
  values.backtest === true
    ? []
    : [...gateNames, 'minCoverage' as const, 'onMissing' as const].flatMap((name) =>
        values[name] === undefined ? [] : [inputDiagnostic(toKebab(name), 'requires backtest: true')],
      )

/** Throws an InputError for an alert that no file declares. */
export function demandKeys(gates: Gates, { plan }: PlanningResult): void {
  const known = changesOf(plan, 'alert').map(({ key }) => key)
  for (const input of ['mustFire', 'mustBeQuiet'] as const)
    for (const key of gates[input] ?? [])
      if (!known.includes(key))
        throw inputError(toKebab(input), `"${quote(key, 60)}" is not an alert in these files${didYouMean(key, known)}`)
}

/** An alert without an estimate never passes a gate that names it, and passes a maximum only where `onMissing` accepts it. */
export function judgeBacktest(alerts: readonly BacktestedAlert[], gates: Gates): Verdict {
  const { onMissing = 'fail' } = gates
  const failures = alerts.flatMap((alert) => [...judgeVerdict(alert, gates), ...judgeNotifications(alert, gates)])
  const missing = onMissing === 'ignore' ? [] : findUnchecked(alerts, gates)
  if (failures.length > 0 || (missing.length > 0 && onMissing === 'fail'))
    return { status: 'fail', reasons: [...failures, ...(onMissing === 'fail' ? missing : [])] }
  return missing.length === 0 ? pass : { status: 'warn', reasons: missing }
}

/** The alerts for which too little is known to compare them with the maximum of notifications. */
function findUnchecked(alerts: readonly BacktestedAlert[], gates: Gates): readonly Line[] {
  if (gates.maxNotifications === undefined) return []
  const unknown = alerts.filter(({ next }) => next !== undefined && next.notificationsOnBusiestDay === undefined)
  const sparse = alerts.filter(({ next }) => next?.notificationsOnBusiestDay !== undefined && isSparse(next, gates))
  return [
    ...(unknown.length === 0
      ? []
      : [say`max-notifications could not be checked for ${namesOf(unknown)}; on-missing: warn accepts alerts without an estimate`]),
    ...sparse.map(({ key, next }) => say`max-notifications was checked for alert ${key} with ${describeSparse(next, gates)}`),
  ]
}

const namesOf = (alerts: readonly BacktestedAlert[]): Line =>
  join(
    alerts.map(({ key }) => say`${key}`),
    ', ',
  )

/** Whether too few windows have data, or their number is unknown. Without an evaluated window, there is nothing to cover. */
const isSparse = (estimate: AlertEstimate | undefined, { minCoverage = defaultMinCoverage }: Gates): boolean =>
  estimate !== undefined &&
  estimate.verdict !== 'not-estimable' &&
  estimate.windows !== 0 &&
  (estimate.coverage?.share ?? 0) * 100 < minCoverage

const describeSparse = (estimate: AlertEstimate | undefined, { minCoverage = defaultMinCoverage }: Gates): Line =>
  estimate?.coverage === undefined
    ? say`an unknown share of windows with data: set the source of its tile, or min-coverage: 0`
    : say`data in only ${trusted(formatShare(estimate.coverage.share))} of its windows, below min-coverage (${trusted(`${minCoverage}%`)})`

const outcomeWords = {
  fires: 'fires',
  quiet: 'is quiet',
  'no-data': 'has no data',
  'not-estimable': 'is not estimable',
  'not-evaluated': `is ${notEvaluated}`,
} as const

function judgeVerdict({ key, next }: BacktestedAlert, gates: Gates): readonly Line[] {
  const { mustFire = [], mustBeQuiet = [] } = gates
  const verdict = next?.windows === 0 ? 'not-evaluated' : (next?.verdict ?? 'quiet')
  const outcome = trusted(outcomeWords[verdict])
  const failures = [
    ...(mustFire.includes(key) && verdict !== 'fires' ? [say`alert ${key} must fire, and ${outcome}`] : []),
    ...(mustBeQuiet.includes(key) && verdict !== 'quiet' ? [say`alert ${key} must be quiet, and ${outcome}`] : []),
  ]
  const isNamed = mustFire.includes(key) || mustBeQuiet.includes(key)
  if (failures.length > 0 || !isNamed || !isSparse(next, gates)) return failures
  return [say`alert ${key} ${outcome}, with ${describeSparse(next, gates)}`]
}

function judgeNotifications({ key, next }: BacktestedAlert, { maxNotifications }: Gates): readonly Line[] {
  const busiest = next?.notificationsOnBusiestDay
  if (maxNotifications === undefined || busiest === undefined || busiest <= maxNotifications) return []
  return [say`alert ${key} sends ${counted(busiest, 'notification')} on one day, above ${maxNotifications}`]
}
