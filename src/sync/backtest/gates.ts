import * as z from 'zod'
import { type Diagnostic, inputDiagnostic } from '../../core/diagnostics.ts'
import { inputError } from '../../core/errors.ts'
import { counted, join, type Line, say, trusted } from '../../core/line.ts'
import { didYouMean, toKebab } from '../../core/names.ts'
import { quote } from '../../core/text.ts'
import { integer, list } from '../../operation/inputs.ts'
import { pass, type Verdict } from '../../operation/operation.ts'
import { keyGrammar } from '../../resources/marker.ts'
import type { PlanningResult } from '../plan/make-plan.ts'
import { type BacktestedAlert, notEvaluated } from './backtest-plan.ts'

const keys = (description: string) => list(description, 'keys of alerts in the files', z.string().regex(keyGrammar))

/** The inputs that make a backtest a gate. */
export const gateInput = {
  maxNotifications: integer('Fails if an alert would have sent more notifications than this on a UTC day.', 0, 100_000).optional(),
  mustFire: keys('Fails unless these alerts would have fired.').optional(),
  mustBeQuiet: keys('Fails unless these alerts would have stayed quiet.').optional(),
}

export interface Gates {
  readonly maxNotifications?: number | undefined
  readonly mustFire?: readonly string[] | undefined
  readonly mustBeQuiet?: readonly string[] | undefined
}

const gateNames = ['maxNotifications', 'mustFire', 'mustBeQuiet'] as const

export const hasGates = (gates: Gates): boolean => gateNames.some((name) => gates[name] !== undefined)

/** A gate that nothing would judge. */
export const gatesWithoutBacktest = (values: Gates & { readonly backtest?: boolean }): readonly Diagnostic[] =>
  values.backtest === true
    ? []
    : gateNames.flatMap((name) => (values[name] === undefined ? [] : [inputDiagnostic(toKebab(name), 'requires backtest: true')]))

/** Throws an InputError for an alert that no file declares. */
export function demandKeys(gates: Gates, { plan }: PlanningResult): void {
  const known = plan.changes.filter(({ section }) => section === 'alerts').map(({ key }) => key)
  for (const input of ['mustFire', 'mustBeQuiet'] as const)
    for (const key of gates[input] ?? [])
      if (!known.includes(key))
        throw inputError(toKebab(input), `"${quote(key, 60)}" is not an alert in these files${didYouMean(key, known)}`)
}

/** An alert without an estimate never passes a gate that names it. */
export function judgeBacktest(alerts: readonly BacktestedAlert[], gates: Gates): Verdict {
  const failures = alerts.flatMap((alert) => [...judgeVerdict(alert, gates), ...judgeNotifications(alert, gates)])
  if (failures.length > 0) return { status: 'fail', reasons: failures }
  const unknown = alerts.filter(({ next }) => next !== undefined && next.notificationsOnBusiestDay === undefined)
  if (gates.maxNotifications === undefined || unknown.length === 0) return pass
  const names = unknown.map(({ key }) => say`${key}`)
  return { status: 'warn', reasons: [say`max-notifications could not be checked for ${join(names, ', ')}`] }
}

const outcomeWords = {
  fires: 'fires',
  quiet: 'is quiet',
  'no-data': 'has no data',
  'not-estimable': 'is not estimable',
  'not-evaluated': `is ${notEvaluated}`,
} as const

function judgeVerdict({ key, next }: BacktestedAlert, { mustFire = [], mustBeQuiet = [] }: Gates): readonly Line[] {
  const verdict = next?.windows === 0 ? 'not-evaluated' : (next?.verdict ?? 'quiet')
  const outcome = trusted(outcomeWords[verdict])
  return [
    ...(mustFire.includes(key) && verdict !== 'fires' ? [say`alert ${key} must fire, and ${outcome}`] : []),
    ...(mustBeQuiet.includes(key) && verdict !== 'quiet' ? [say`alert ${key} must be quiet, and ${outcome}`] : []),
  ]
}

function judgeNotifications({ key, next }: BacktestedAlert, { maxNotifications }: Gates): readonly Line[] {
  const most = next?.notificationsOnBusiestDay
  if (maxNotifications === undefined || most === undefined || most <= maxNotifications) return []
  return [say`alert ${key} sends ${counted(most, 'notification')} on one day, above ${maxNotifications}`]
}
