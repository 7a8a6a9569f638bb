import { describeStored, type KindRules, type StoredObject, storedLabelOf } from '../../../kinds/kind.ts'
import { diagnosticOf, type Rules } from '../../../platform/core/diagnostics.ts'
import { listFirst } from '../../../platform/core/text.ts'
import { addressOfChange, type Change, changesOf, type Delete, staysAsItIs, type Write } from '../change.ts'
import type { Check } from '../step.ts'

export const useRules = {
  'still-used': { severity: 'error', description: 'The plan would delete or rename an object that an alert uses.' },
} as const satisfies Rules

/** The server checks only some of these uses. */
export const checkUses: Check = ({ steps }, { storedObjects }) => {
  const ending = steps.flatMap(({ kind, change }) =>
    change.action !== 'create' && change.action !== 'held' && change.action !== 'unchanged' && kind.findUse ? [{ kind, change }] : [],
  )
  if (ending.length === 0) return {}
  const after = alertsAfter(
    steps.map(({ change }) => change),
    storedObjects.alert,
  )
  const diagnostics = ending.flatMap(({ kind, change }) => {
    const obstacle = describeUsers(change, after, kind)
    if (obstacle === undefined) return []
    const message = `${addressOfChange(change)}: ${obstacle}; change the alert first`
    return [diagnosticOf(useRules, 'still-used', change.location ?? { file: 'prune' }, message)]
  })
  return { diagnostics }
}

function alertsAfter(changes: readonly Change[], alerts: readonly StoredObject[]): readonly StoredObject[] {
  const planned = new Map(changesOf({ changes }, 'alert').map((change) => [change.id, change]))
  return alerts.flatMap((alert) => {
    const change = planned.get(alert.id)
    const { id } = alert
    if (change?.action === 'delete') return []
    return [change?.desired === undefined || staysAsItIs(change) ? alert : { ...change.desired, id, name: storedLabelOf(alert) }]
  })
}

/** Undefined where no alert uses the object only before the change. */
export function describeUsers(
  { stored, desired, id }: Write | Delete,
  alerts: readonly StoredObject[],
  { findUse }: KindRules,
): string | undefined {
  if (findUse === undefined) return undefined
  const after = desired === undefined ? undefined : { ...desired, id, name: String(desired.name) }
  const uses = alerts.flatMap((alert) => {
    const use = findUse(stored, alert)
    return use === undefined || (after !== undefined && findUse(after, alert) !== undefined) ? [] : [{ alert, use }]
  })
  const [first, ...others] = uses
  if (first === undefined) return undefined
  const names = others.map(({ alert }) => describeStored(alert))
  const listed = listFirst(names, 4, (count) => `${count} more`).join(', ')
  return `the alert ${describeStored(first.alert)} ${first.use}${listed === '' ? '' : `; so do ${listed}`}`
}
