import { explainDropped, type FieldChange } from '../../../kinds/compare.ts'
import {
  checkRules,
  describeStored,
  type Kind,
  type KindIdentity,
  type KindIssue,
  type KindRules,
  type StoredObject,
  storedLabelOf,
} from '../../../kinds/kind.ts'
import { addressOf, type KindName, kindLabels } from '../../../kinds/kind-names.ts'
import { tagStyle } from '../../../kinds/marker.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Rules } from '../../../platform/core/diagnostics.ts'
import { spellInput } from '../../../platform/core/input-spelling.ts'
import { keysOf } from '../../../platform/core/keys.ts'
import { listAtMost, namesAtMost, plural, pluralOf } from '../../../platform/core/text.ts'
import { addressOfChange, type Change, changesOf, isDelete, isHeld, isPlanned, isTakeover, isWrite, staysAsItIs } from '../change.ts'
import { isOfOtherRepository } from '../compare.ts'
import type { Facts, Guard, OwnedObject, Step, Verdict } from '../facts.ts'
import { holdStep, pruneLocation, toHold } from '../hold.ts'
import { diagnose, type Pair } from '../identify.ts'
import { describeOwned, matchRules } from '../match.ts'

export const objectRules = {
  'server-default': {
    severity: 'note',
    description: 'Since the last apply, the server fills in a field that no file declares, with the same value in all objects.',
  },
} as const satisfies Rules

/** Holds what no write can make as declared, and what an alert uses and could not use after the plan. */
export const checkObjects: Guard = ({ steps, ofKinds }, facts) => {
  const changes = steps.map(({ change }) => change)
  const alerts = alertsAfter(changes, facts.storedObjects.alert)
  const checked = steps.map((step) => ({ ...step, issues: listIssues(step, facts, alerts) }))
  const holds = checked.flatMap(({ change, pair, issues }) => {
    const reasons = issues.filter(({ rule }) => rule === undefined)
    if (reasons.length === 0 || isHeld(change)) return []
    const isOfRun = reasons.some((one) => one.isOfRun)
    const [slot, held] = holdStep({ change, pair: isOfRun ? undefined : pair }, toHold(reasons))
    return [[slot, { ...held, at: reasons[0]?.location }] as const]
  })
  const reported = checked.flatMap(({ change, issues }) =>
    issues.flatMap(({ rule, message }): readonly Diagnostic[] =>
      rule === undefined
        ? []
        : [diagnosticOf(checkRules, rule, change.location ?? pruneLocation, `${addressOfChange(change)}: ${message}`)],
    ),
  )
  const found = [...ofKinds.flatMap(({ diagnostics }) => diagnostics), ...reported, ...changes.flatMap(warnAboutDropped)]
  return { holds, diagnostics: [...found, ...facts.kindList.flatMap((kind) => noteServerDefaults(kind, steps))] }
}

function listIssues({ kind, change, pair }: Step, facts: Facts, alerts: readonly StoredObject[]): readonly KindIssue[] {
  const { action, desired, stored } = change
  const isReleased = action === 'release'
  const secrets = {
    isWrite: facts.isWrite === true && !isReleased,
    resends: facts.resendSecrets === true && action === 'update',
    isAdopted: isTakeover(change),
  }
  const use = describeUsers(change, alerts, kind)
  const messages = [
    'unclearable' in change
      ? `no update can clear ${change.unclearable?.join(', ')}; declare the field again, or delete the object`
      : undefined,
    pair && explainUnadopted(kind, change, pair),
    use && `${use}; change the alert first`,
  ]
  return [
    ...(pair === undefined ? [] : explainNewerFields(kind, change, pair, facts)),
    ...(desired === undefined || (pair === undefined && !isReleased) ? [] : (kind.check?.(desired, stored, secrets) ?? [])),
    ...messages.flatMap((message) => (message === undefined ? [] : [{ message }])),
  ]
}

function warnAboutDropped(change: Change): readonly Diagnostic[] {
  if (!('dropped' in change) || change.dropped === undefined) return []
  const message = `${addressOf(change)}: ${explainDropped(change.dropped)}. After an upgrade, the next change of the object in the file sends it`
  return [exceptionalDiagnostic(checkRules, 'field-dropped', change.location ?? pruneLocation, message)]
}

/** Without a stored object of the kind, nothing shows which fields the service has. */
function explainNewerFields(
  { name, label, newerFields = [] }: Kind,
  { desired }: Change,
  { declared }: Pair,
  { indexes }: Facts,
): readonly KindIssue[] {
  const { all } = indexes[name]
  const missing = newerFields.filter((field) => desired?.[field] !== undefined && all.every(({ stored }) => stored[field] == null))
  if (missing.length === 0 || all.length === 0) return []
  const message = `the version of the service does not have ${missing.join(', ')} of ${pluralOf(label)}; remove it, or upgrade the service`
  return [{ message, location: declared.locationOf(missing.slice(0, 1)) }]
}

/** No marker shows who made the object. A create that was interrupted is completed. */
function explainUnadopted(kind: Kind, change: Change, { declared: { value } }: Pair): string | undefined {
  if (kind.ownership === 'marker' || change.action !== 'update' || value.adopt || ('id' in value && value.id !== undefined))
    return undefined
  const deferred = kind.deferredFields?.(change.desired) ?? []
  const isAdded = ({ before, path }: FieldChange): boolean =>
    before === undefined && deferred.some((field) => path === field.replace(/Id$/, ''))
  if (change.fields.every(isAdded)) return undefined
  return `the ${kind.label} ${describeStored(change.stored)} differs, and its API has no field for a marker, so it might not be yours; add adopt: true to let apply change it`
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

export const ownerRules = {
  'other-repository': {
    severity: 'error',
    exception: 'warning',
    description:
      'Another repository applied all objects of this project. `apply` writes nothing. For `plan` and `drift`, this is a warning. If it applied some of them, each of these is held.',
  },
  'unknown-repository': {
    severity: 'warning',
    description: 'Objects of this project were applied from a repository, and this run does not know its own.',
  },
} as const satisfies Rules

export const keepOwners: Guard = ({ steps }, facts) => {
  const renamed = refuseRenamedProject(steps, facts)
  // All else would follow from the name of the project.
  if (renamed.length > 0) return { diagnostics: renamed, isFinal: true }
  const { owned } = facts
  const others = owned.filter(({ marker }) => isOfOtherRepository(marker, facts))
  if (others.length > 0 && others.length === owned.length) return { diagnostics: [refuseRepository(others, facts)] }
  return { holds: holdOthers(steps, facts), diagnostics: warnWithoutRepository(facts) }
}

function refuseRenamedProject(steps: readonly Step[], { project, previousOwner, indexes }: Facts): readonly Diagnostic[] {
  const objects = steps.flatMap(({ kind, pair }) => {
    const found = pair?.ownedByOtherProject
    return pair === undefined || found === undefined ? [] : [{ kind, declared: pair.declared, found }]
  })
  const [first, ...others] = objects
  if (first === undefined) return []
  // A tag has only a digest of the name. Alerts have the name.
  const token = first.found.marker?.project
  const names = indexes.alert.all.flatMap(({ marker }) => marker?.projectName ?? [])
  const name = first.found.marker?.projectName ?? names.find((one) => tagStyle.projectToken(one) === token)
  const more = others.length === 0 ? '' : `, and ${plural(others.length, 'more object')} of these files`
  const previous = previousOwner?.project
  const hint = previous === undefined ? '' : `, and the previous project, ${String(previous)}, does not own it`
  const advice = `If the project was renamed, add previous-project: ${name ?? 'PREVIOUS-NAME'} to .watchkeeper.yml. To create a second set of objects, add previous-project: false`
  const message = `${describeOwned(first.found, first.kind, name)}${more}; ${project} owns nothing yet${hint}. ${advice}`
  return [diagnose(matchRules, 'other-project', first.declared, message)]
}

function refuseRepository(others: readonly OwnedObject[], { repository }: Facts): Diagnostic {
  const names = others.map(({ kind, stored }) => `${kind.label} ${describeStored(stored)}`)
  const named = listAtMost(names, 3, (count) => `and ${count} more`).join(', ')
  const isWrite = repository?.effect === 'write'
  const effect = isWrite ? 'nothing was written' : 'apply would write nothing'
  const digest = others[0]?.marker?.repository ?? ''
  const message = `another repository (${digest}) applied all objects of this project: ${named}. This run is of ${repository?.name}; ${effect}. If two repositories use this project, set another project in one of them; ${adviceOnMove(digest)}`
  return (isWrite ? diagnosticOf : exceptionalDiagnostic)(ownerRules, 'other-repository', { file: 'project' }, message)
}

const adviceOnMove = (digest: string): string =>
  `if the repository was renamed or moved, add previous-repository: ${digest}, or its previous address, to .watchkeeper.yml`

function holdOthers(steps: readonly Step[], facts: Facts): Verdict['holds'] {
  return steps.flatMap(({ change, pair }) => {
    const marker = pair?.found?.marker
    if (pair === undefined || marker === undefined || !isPlanned(change) || !isOfOtherRepository(marker, facts)) return []
    const why = {
      reason: `another repository (${marker.repository}) applied it`,
      remedies: ['remove its declaration in one of the two repositories', adviceOnMove(marker.repository ?? '')],
    }
    return [holdStep({ change, pair }, why)]
  })
}

function warnWithoutRepository({ repository, owned }: Facts): readonly Diagnostic[] {
  const applied = owned.filter(({ marker }) => marker?.repository !== undefined)
  if (repository === undefined || repository.name !== undefined || applied.length === 0 || repository.effect === 'read') return []
  const message = `a repository applied ${plural(applied.length, 'object')} of this project, but this run does not know its own, so it cannot notice that it is another one; the markers stay as they are, and no such object is deleted`
  return [diagnosticOf(ownerRules, 'unknown-repository', { file: 'project' }, message)]
}

function alertsAfter(changes: readonly Change[], alerts: readonly StoredObject[]): readonly StoredObject[] {
  const planned = new Map(changesOf(changes, 'alert').map((change) => [change.id, change]))
  return alerts.flatMap((alert) => {
    const change = planned.get(alert.id)
    const { id } = alert
    if (change?.action === 'delete') return []
    return [change?.desired === undefined || staysAsItIs(change) ? alert : { ...change.desired, id, name: storedLabelOf(alert) }]
  })
}

/** Undefined where no alert uses the object only before the change. The server checks only some of these uses. */
export function describeUsers(change: Change, alerts: readonly StoredObject[], { findUse }: KindRules): string | undefined {
  if (findUse === undefined || staysAsItIs(change) || !(isWrite(change) || isDelete(change))) return undefined
  const { stored, desired, id } = change
  const after = desired === undefined ? undefined : { ...desired, id, name: String(desired.name) }
  const uses = alerts.flatMap((alert) => {
    const use = findUse(stored, alert)
    return use === undefined || (after !== undefined && findUse(after, alert) !== undefined) ? [] : [{ alert, use }]
  })
  const [first, ...others] = uses
  if (first === undefined) return undefined
  const names = others.map(({ alert }) => describeStored(alert))
  const listed = listAtMost(names, 4, (count) => `${count} more`).join(', ')
  return `the alert ${describeStored(first.alert)} ${first.use}${listed === '' ? '' : `; so do ${listed}`}`
}

export const limitRules = {
  'incomplete-list': {
    severity: 'error',
    description: 'A list from the server may be incomplete, and the plan would create or delete an object because of it.',
  },
  'too-many-deletes': { severity: 'error', description: 'The plan would delete more objects than `max-deletes` allows.' },
} as const satisfies Rules

const maxNamed = 3

export const checkLimits: Guard = ({ steps }, { storedObjects: { incompleteLists }, maxDeletes }) => {
  const changes = steps.map(({ change }) => change)
  const affected = keysOf<KindName>(incompleteLists).flatMap((kind): readonly Diagnostic[] => {
    const first = changes.find((change) => requiredLists(change).includes(kind))
    if (first === undefined) return []
    const message = `the list of ${pluralOf(kindLabels[kind])} ${incompleteLists[kind]}; nothing is created or deleted based on such a list`
    return [diagnosticOf(limitRules, 'incomplete-list', first.location ?? pruneLocation, message)]
  })
  // Deletes of twins do not count: a twin that is as declared can be deleted without a loss.
  const deletes = changes.filter(isDelete).filter(({ keeps }) => keeps === undefined)
  const { length: count } = deletes
  if (count <= maxDeletes) return { diagnostics: affected }
  const message = `${plural(count, 'delete')} (${namesAtMost(maxNamed, deletes.map(addressOfChange))}), and max-deletes allows ${maxDeletes}. Check them, then set ${spellInput('max-deletes', String(count))}`
  return { diagnostics: [...affected, diagnosticOf(limitRules, 'too-many-deletes', pruneLocation, message)] }
}

/** The lists that must be complete for a change. A change that removes tiles needs every alert on them. */
function requiredLists(change: Change): readonly KindName[] {
  if (change.action === 'create') return [change.kind]
  if (change.action === 'delete') return [change.kind, 'alert']
  return isWrite(change) && change.removes !== undefined ? ['alert'] : []
}
