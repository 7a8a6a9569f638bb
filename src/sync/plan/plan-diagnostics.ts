import type { FieldChange } from '../../kinds/compare.ts'
import { type Body, checkRules, type Kind, type SecretUse, type StoredObject, storedLabelOf } from '../../kinds/kind.ts'
import { addressOf, type KindName, kindLabels } from '../../kinds/kind-names.ts'
import { type Kinds, labelOf } from '../../kinds/kinds.ts'
import { type Diagnostic, diagnosticOf, type Rules } from '../../platform/core/diagnostics.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { firstOf, plural, pluralOf, quote } from '../../platform/core/text.ts'
import { type Change, type Create, changesOf, isDelete, isWrite, staysAsItIs, type Update } from './change.ts'
import { matchRules, type Pair } from './match.ts'
import { describeUsers } from './protect-alerts.ts'

export const guardRules = {
  'incomplete-list': {
    severity: 'error',
    description: 'A list from the server may be incomplete, and the plan would create or delete an object because of it.',
  },
  'too-many-deletes': { severity: 'error', description: 'The plan would delete more objects than `max-deletes` allows.' },
} as const satisfies Rules

export const lostNameRules = {
  'lost-name': {
    severity: 'error',
    description:
      'A reference names an object that had this name at the last apply, and was renamed or deleted in the service since. `pull` writes the new name. For `drift`, this is a difference.',
  },
} as const satisfies Rules

/** Explains an unknown name in a declaration that is as it was applied: then it is not a mistake in the file. */
export const toLostName = (one: Diagnostic): Diagnostic =>
  one.rule === 'unknown-name'
    ? diagnosticOf(
        lostNameRules,
        'lost-name',
        one.location,
        `${one.message}${one.message.endsWith('?') ? ' It' : '; it'} was renamed or deleted in the service since the last apply. After a rename, run pull to write the new name`,
      )
    : one

export const isAboutLostName = ({ rule }: Diagnostic): boolean => rule === 'lost-name'

/** Deletes that a message names. */
const maxNamed = 3

export function checkGuards(
  changes: readonly Change[],
  incompleteLists: Readonly<Partial<Record<KindName, string>>>,
  maxDeletes: number,
): readonly Diagnostic[] {
  const affected = keysOf<KindName>(incompleteLists).flatMap((kind): Diagnostic[] => {
    const first = changes.find((change) => requiredLists(change).includes(kind))
    if (first === undefined) return []
    const message = `the list of ${pluralOf(kindLabels[kind])} ${incompleteLists[kind]}; nothing is created or deleted based on such a list`
    return [diagnosticOf(guardRules, 'incomplete-list', first.location ?? { file: 'prune' }, message)]
  })
  // Deletes of twins do not count: a twin that is as declared can be deleted without a loss.
  const deletes = changes.filter(isDelete).filter(({ keeps }) => keeps === undefined)
  const { length: count } = deletes
  if (count <= maxDeletes) return affected
  const message = `${plural(count, 'delete')} (${firstOf(maxNamed, deletes.map(addressOfChange))}), and max-deletes allows ${maxDeletes}. Check them, then set ${spellInput('max-deletes', String(count))}`
  return [...affected, diagnosticOf(guardRules, 'too-many-deletes', { file: 'prune' }, message)]
}

/** The lists that must be complete for a change. A change that removes tiles needs every alert on them. */
function requiredLists(change: Change): readonly KindName[] {
  if (change.action === 'create') return [change.kind]
  if (change.action === 'delete') return [change.kind, 'alert']
  return isWrite(change) && change.removes !== undefined ? ['alert'] : []
}

/** What a kind says about a change of one of its objects. */
export const checkByKind = (
  kind: Kind,
  { key, location, desired, stored }: Pick<Update, 'key' | 'location' | 'desired'> & Pick<Change, 'stored'>,
  use: SecretUse,
): readonly Diagnostic[] =>
  (kind.check?.(desired, stored, use) ?? []).map(({ rule, message }) =>
    diagnosticOf(checkRules, rule, location ?? { file: 'prune' }, `${addressOf({ kind: kind.name, key })}: ${message}`),
  )

/** Refuses to change an object that might not be ours: no marker shows who made it. A create that was interrupted is completed. */
export function refuseUnadopted({ declared }: Pair, change: Change | undefined, kind: Kind): readonly Diagnostic[] {
  if (kind.ownership === 'marker' || change?.action !== 'update') return []
  const { location, value } = declared
  if (value.adopt || ('id' in value && value.id !== undefined)) return []
  const deferred = kind.deferredFields?.(change.desired) ?? []
  const isAdded = ({ before, path }: FieldChange): boolean =>
    before === undefined && deferred.some((field) => path === field.replace(/Id$/, ''))
  if (change.fields.every(isAdded)) return []
  const message = `${addressOf(declared)}: the ${kind.label} "${quote(labelOf(declared), 60)}" (${change.id}) differs from the files. Its API has no field for a marker, so it might not be yours: add adopt: true to let apply change it`
  return [diagnosticOf(matchRules, 'not-adopted', location, message)]
}

/** Declared fields that the version of the service does not have. `stored` are all objects of the kind; without one, nothing shows it. */
export function refuseNewerFields(
  compared: readonly { readonly pair: Pick<Pair, 'declared'>; readonly desired: { readonly body: Body } }[],
  { newerFields = [], label }: Kind,
  stored: readonly StoredObject[],
): readonly Diagnostic[] {
  const declaredFields = newerFields.filter((field) => compared.some(({ desired: { body } }) => body[field] !== undefined))
  const unknown = declaredFields.filter((field) => stored.length > 0 && stored.every((one) => one[field] == null))
  return compared.flatMap(({ pair: { declared }, desired: { body } }) =>
    unknown
      .filter((field) => body[field] !== undefined)
      .map((field) => {
        const message = `${declared.pathOf([field])}: the version of the service does not have this field of ${pluralOf(label)}; remove it, or upgrade the service`
        return diagnosticOf(checkRules, 'newer-field', declared.locationOf([field]), message)
      }),
  )
}

export const useRules = {
  'still-used': { severity: 'error', description: 'The plan would delete or rename an object that an alert uses.' },
} as const satisfies Rules

/** Alerts that use an object before the plan, and could not use it after it. The server checks only some of these uses. */
export function checkUses(changes: readonly Change[], alerts: readonly StoredObject[], kinds: Kinds): readonly Diagnostic[] {
  const ending = changes.flatMap((change) =>
    change.action !== 'create' && change.action !== 'held' && change.action !== 'unchanged' && kinds[change.kind].findUse ? [change] : [],
  )
  if (ending.length === 0) return []
  const after = alertsAfter(changes, alerts)
  return ending.flatMap((change) => {
    const obstacle = describeUsers(change, after, kinds[change.kind])
    if (obstacle === undefined) return []
    const message = `${addressOfChange(change)}: ${obstacle}; change the alert first`
    return [diagnosticOf(useRules, 'still-used', change.location ?? { file: 'prune' }, message)]
  })
}

/** The alerts after the plan. */
function alertsAfter(changes: readonly Change[], alerts: readonly StoredObject[]): readonly StoredObject[] {
  const planned = new Map(changesOf({ changes }, 'alert').map((change) => [change.id, change]))
  return alerts.flatMap((alert) => {
    const change = planned.get(alert.id)
    const { id } = alert
    if (change?.action === 'delete') return []
    return [change?.desired === undefined || staysAsItIs(change) ? alert : { ...change.desired, id, name: storedLabelOf(alert) }]
  })
}

const addressOfChange = ({ kind, key, name }: Change): string => addressOf({ kind, key: key || quote(name, 60) })

export const convergenceRules = {
  'server-default': {
    severity: 'note',
    description: 'Since the last apply, the server fills in a field that no file declares, with the same value in all objects.',
  },
  'cannot-clear': { severity: 'error', description: 'A field was removed from a file, but no update can clear it.' },
} as const satisfies Rules

export function cannotClear(change: Create | Update): readonly Diagnostic[] {
  if (!isWrite(change) || change.unclearable === undefined || change.location === undefined) return []
  const message = `${addressOf(change)}: no update can clear ${change.unclearable.join(', ')}; declare the field again, or delete the object`
  return [diagnosticOf(convergenceRules, 'cannot-clear', change.location, message)]
}

export function serverDefaults({ label }: Kind, changes: readonly (Create | Update)[]): readonly Diagnostic[] {
  const [first, ...others] = changes.flatMap((change) =>
    isWrite(change) && change.newDefaults !== undefined ? [{ ...change, newDefaults: change.newDefaults }] : [],
  )
  if (first?.location === undefined) return []
  const [field] = first.newDefaults
  const more = others.length === 0 ? '' : `, and ${others.length} more ${pluralOf(label)}`
  const message = `${addressOf(first)}${more}: the server now fills in fields that no file declares, with the same value in all objects, such as ${field?.path}. They count as its defaults`
  return [diagnosticOf(convergenceRules, 'server-default', first.location, message)]
}
