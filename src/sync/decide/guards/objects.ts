import { explainDropped, type FieldChange } from '../../../kinds/compare.ts'
import { checkRules, type KindIdentity } from '../../../kinds/kind.ts'
import { addressOf } from '../../../kinds/kind-names.ts'
import { labelOf } from '../../../kinds/kinds.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Rules } from '../../../platform/core/diagnostics.ts'
import { pluralOf, quote } from '../../../platform/core/text.ts'
import { isTakeover } from '../change.ts'
import type { Facts } from '../facts.ts'
import { diagnose } from '../identify.ts'
import type { Check, Step } from '../step.ts'

export const objectRules = {
  'not-adopted': {
    severity: 'error',
    description: 'An existing object differs from the files, which do not adopt it. Its API has no field for a marker.',
  },
  'server-default': {
    severity: 'note',
    description: 'Since the last apply, the server fills in a field that no file declares, with the same value in all objects.',
  },
  'cannot-clear': { severity: 'error', description: 'A field was removed from a file, but no update can clear it.' },
} as const satisfies Rules

export const checkObjects: Check = ({ steps, ofKinds }, facts) => {
  const byKind = Map.groupBy(steps, ({ kind }) => kind)
  const ofObjects = ofKinds.flatMap(({ kind, diagnostics }) => [
    ...diagnostics,
    ...(byKind.get(kind) ?? []).flatMap((step) => [
      ...refuseNewerFields(step, facts),
      ...checkByKind(step, facts),
      ...refuseUnclearable(step),
      ...warnAboutDropped(step),
      ...refuseUnadopted(step),
    ]),
  ])
  return { diagnostics: [...ofObjects, ...facts.kindList.flatMap((kind) => noteServerDefaults(kind, steps))] }
}

/** Without a stored object of the kind, nothing shows which fields the service has. */
function refuseNewerFields({ kind, change, pair }: Step, { indexes }: Facts): readonly Diagnostic[] {
  const declared = kind.newerFields?.filter((field) => change.desired?.[field] !== undefined) ?? []
  const { all } = indexes[kind.name]
  if (pair === undefined || all.length === 0) return []
  return declared
    .filter((field) => all.every(({ stored }) => stored[field] == null))
    .map((field) => {
      const message = `${pair.declared.pathOf([field])}: the version of the service does not have this field of ${pluralOf(kind.label)}; remove it, or upgrade the service`
      return diagnosticOf(checkRules, 'newer-field', pair.declared.locationOf([field]), message)
    })
}

function checkByKind({ kind, change, pair }: Step, { isWrite: isForWrite = false, resendSecrets = false }: Facts): readonly Diagnostic[] {
  const { action, desired, stored, key, name, location = { file: 'prune' } } = change
  const isReleased = action === 'release'
  if (desired === undefined || (pair === undefined && !isReleased)) return []
  const use = { isWrite: isForWrite && !isReleased, resends: resendSecrets && action === 'update', isAdopted: isTakeover(change) }
  const address = addressOf({ kind: kind.name, key: key || name })
  return (kind.check?.(desired, stored, use) ?? []).map(({ rule, message }) =>
    diagnosticOf(checkRules, rule, location, `${address}: ${message}`),
  )
}

function warnAboutDropped({ change }: Step): readonly Diagnostic[] {
  if (!('dropped' in change) || change.dropped === undefined || change.location === undefined) return []
  const message = `${addressOf(change)}: ${explainDropped(change.dropped)}. After an upgrade, the next change of the object in the file sends it`
  return [exceptionalDiagnostic(checkRules, 'field-dropped', change.location, message)]
}

function refuseUnclearable({ change }: Step): readonly Diagnostic[] {
  if (!('unclearable' in change) || change.unclearable === undefined || change.location === undefined) return []
  const message = `${addressOf(change)}: no update can clear ${change.unclearable.join(', ')}; declare the field again, or delete the object`
  return [diagnosticOf(objectRules, 'cannot-clear', change.location, message)]
}

/** No marker shows who made the object. A create that was interrupted is completed. */
function refuseUnadopted({ kind, change, pair }: Step): readonly Diagnostic[] {
  if (kind.ownership === 'marker' || change.action !== 'update' || pair === undefined) return []
  const { declared } = pair
  const { value } = declared
  if (value.adopt || ('id' in value && value.id !== undefined)) return []
  const deferred = kind.deferredFields?.(change.desired) ?? []
  const isAdded = ({ before, path }: FieldChange): boolean =>
    before === undefined && deferred.some((field) => path === field.replace(/Id$/, ''))
  if (change.fields.every(isAdded)) return []
  const message = `the ${kind.label} "${quote(labelOf(declared), 60)}" (${change.id}) differs from the files. Its API has no field for a marker, so it might not be yours: add adopt: true to let apply change it`
  return [diagnose(objectRules, 'not-adopted', declared, message)]
}

function noteServerDefaults(kind: KindIdentity, steps: readonly Step[]): readonly Diagnostic[] {
  const [first, ...others] = steps.flatMap(({ change }) =>
    change.kind === kind.name && 'newDefaults' in change && change.newDefaults !== undefined ? [change] : [],
  )
  if (first?.location === undefined) return []
  const more = others.length === 0 ? '' : `, and ${others.length} more ${pluralOf(kind.label)}`
  const message = `${addressOf(first)}${more}: the server now fills in fields that no file declares, with the same value in all objects, such as ${first.newDefaults?.[0]?.path}. They count as its defaults`
  return [diagnosticOf(objectRules, 'server-default', first.location, message)]
}
