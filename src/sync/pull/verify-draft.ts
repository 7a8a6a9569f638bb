import { adoptedIds, declarationDigest, toAdoptedId, withAdoptedId, withDeclaredDigest } from '../../kinds/base.ts'
import { referenceOf } from '../../kinds/derive.ts'
import type { DeclaredKey, Kind } from '../../kinds/kind.ts'
import { addressOf, type KindName, kindLabels, kindNames, sections } from '../../kinds/kind-names.ts'
import { type Declared, fileSchemas } from '../../kinds/kinds.ts'
import { type Diagnostic, diagnosticOf, errorsIn, type Location, type Rules } from '../../platform/core/diagnostics.ts'
import { isSame } from '../../platform/core/equality.ts'
import { keysOf } from '../../platform/core/keys.ts'
import { pluralOf, quote } from '../../platform/core/text.ts'
import { ownValue, type Schema } from '../../platform/documents/schema.ts'
import { type Change, isDifference, isHeld, isWrite, type Plan } from '../decide/change.ts'
import { isAboutHeld } from '../decide/hold.ts'
import { compareLocations } from '../declarations/declarations.ts'
import type { StoredObjects } from '../plan/stored-objects.ts'
import { isMadeForQueries } from '../query-alerts/query-alerts.ts'
import { changesInFiles } from '../query-alerts/query-changes.ts'
import { type Draft, excludedAs, type PulledObject, type PullInput, withAdoptions, withFiles } from './draft.ts'
import { type Edit, editFile } from './edit-yaml.ts'

export interface ReadDraft {
  readonly declarations: { readonly objects: readonly Declared[]; readonly broken: readonly Placed[] }
  /** About the files only. */
  readonly diagnostics: readonly Diagnostic[]
  readonly plan: Plan
}

interface Placed extends DeclaredKey {
  readonly spelled?: unknown
}

/** The objects to leave out by `excludedAs`, with the reason. An edit that breaks another declaration is left out. */
export function verifyDraft({ objects }: Draft, { declarations, diagnostics, plan }: ReadDraft): ReadonlyMap<string, string> {
  const edited = new Map(objects.filter(({ isEdited }) => isEdited).map((object) => [addressOf(object), object]))
  const placed = [...declarations.objects, ...declarations.broken]
  const ofFiles = errorsIn(diagnostics)
  const ofPlan = errorsIn(plan.diagnostics).filter((one) => !isAboutHeld(one))
  const placedBy = new Map(placed.map((one) => [addressOf(one), one]))
  const ownerOf = createOwnerOf(placed)
  const messages = new Map(
    [...ofFiles, ...ofPlan].toReversed().flatMap(({ location, message }) => {
      const owner = ownerOf(location)
      return owner === undefined ? [] : [[addressOf(owner), message] as const]
    }),
  )
  const changes = new Map([...changesInFiles(plan.changes, declarations.objects).values()].map((change) => [addressOf(change), change]))
  const drafted = new Map(objects.map((object) => [addressOf(object), object]))

  const explainDifference = (object: PulledObject): string | undefined => {
    if (object.id === undefined || (!object.isEdited && object.outcome !== 'unchanged')) return undefined
    const change = changes.get(addressOf(object))
    const message = messages.get(addressOf(object))
    if (change === undefined) return message ?? 'could not be found in the file again'
    if (object.mayDiffer) return undefined
    // Errors that were there before the pull do not count.
    return (object.isEdited ? message : undefined) ?? describeDifference(change)
  }
  const missingTiles = plan.changes.flatMap((change) => {
    const address = addressOf(change)
    if (!isHeld(change) || change.at === undefined || !change.reason.startsWith('tile: ')) return []
    const isMissing = drafted.get(address)?.outcome === 'missing'
    if (!isMissing || !referencesOf(placedBy.get(address)).some((one) => edited.has(one))) return []
    return [{ message: `${address}.${change.reason}`, location: change.at }]
  })
  /** Of what the object refers to, of its file, or all. */
  const editedByFile = Map.groupBy(edited.values(), ({ path }) => path)
  const leaveOutFor = (one: Placed | undefined, file: string, reason: string): readonly (readonly [string, string])[] => {
    const references = referencesOf(one).flatMap((address) => edited.get(address) ?? [])
    const causes = references.length > 0 ? references : (editedByFile.get(file) ?? [...edited.values()])
    return causes.map((cause) => [excludedAs(cause), reason])
  }
  const explainError = (message: string, location: Location): readonly (readonly [string, string])[] => {
    const owner = ownerOf(location)
    const object = owner && drafted.get(addressOf(owner))
    if (object?.isEdited) return [[excludedAs(object), message]]
    const missing =
      object?.outcome === 'missing' ? `; the service does not have this ${kindLabels[object.kind]}, so remove its declaration` : ''
    const reason = object?.reason === undefined ? '' : `; its declaration stays, because ${object.reason}`
    return leaveOutFor(owner, location.file, `the files would have an error: ${message}${missing}${reason}`)
  }
  return new Map([
    ...objects.flatMap((object): readonly (readonly [string, string])[] => {
      const reason = explainDifference(object)
      if (reason === undefined) return []
      if (object.isEdited || object.differed) return [[excludedAs(object), reason]]
      const address = addressOf(object)
      return leaveOutFor(placedBy.get(address), object.path ?? '', `with its new values, ${address} would differ: ${reason}`)
    }),
    // These errors explain more than a difference.
    ...[...missingTiles, ...ofFiles.toReversed()].flatMap(({ message, location }) => explainError(message, location)),
  ])
}

function describeDifference(change: Change): string | undefined {
  if (isHeld(change) && change.at !== undefined) return change.reason
  const { action, fields, notes } = change
  const isAsDeclared = fields.length === 0 && isWrite(change) && change.rewrites !== undefined
  if (!isDifference(change) || isAsDeclared) return undefined
  const details = fields.map(({ path }) => path).join(', ') || notes.join('; ')
  return `a file cannot declare this object exactly: plan would ${action === 'held' ? 'hold' : action} it${details === '' ? '' : ` (${details})`}`
}

function referencesOf(one: Placed | undefined): readonly string[] {
  if (one === undefined) return []
  return Object.entries<Schema>(fileSchemas[one.kind].shape).flatMap(([field, schema]) => {
    const ref = referenceOf(schema)
    const key = ownValue(one.spelled, field)
    const kind = kindNames.find((name) => name === ref?.to)
    return ref?.by === 'key' && kind !== undefined && typeof key === 'string' ? [addressOf({ kind, key })] : []
  })
}

/** A location belongs to the object whose key is the last one before it. */
function createOwnerOf(placed: readonly Placed[]): (location: Location) => Placed | undefined {
  const fileOf = ({ file, instance }: Location): string => JSON.stringify([file, instance])
  const sorted = placed.toSorted((a, b) => compareLocations(a.location, b.location))
  const byFile = Map.groupBy(sorted, ({ location }) => fileOf(location))
  return (location) => byFile.get(fileOf(location))?.findLast((one) => compareLocations(one.location, location) <= 0)
}

/** `links` are the files that are links. A digest alone is no reason for a pull request of a drift. */
export function withAdoptedIds(draft: Draft, { declarations, plan }: ReadDraft, input: PullInput, links: readonly string[]): Draft {
  const declared = new Map(declarations.objects.map((one) => [addressOf(one), one]))
  const earlier = new Map(input.declarations.objects.map((one) => [addressOf(one), one]))
  const pulled = new Map(draft.objects.map((one) => [addressOf(one), one]))
  const edits = plan.changes.flatMap((change) => {
    const [one, object] = [declared.get(addressOf(change)), pulled.get(addressOf(change))]
    if (one === undefined || object === undefined || links.includes(one.location.file)) return []
    const edit = editOf(change, { one, object, before: earlier.get(addressOf(change)) }, input)
    return edit === undefined ? [] : [{ path: one.location.file, edit }]
  })
  const { environment } = input
  if (environment !== undefined) {
    const newIn = ({ before, after }: Edit) => [after?.adopt].flat().find((entry) => ![before?.adopt].flat().includes(entry))
    const adoptions = edits.map(({ edit }) => ({ kind: edit.kind, key: edit.key, entry: String(newIn(edit)) }))
    const written = withAdoptions(draft, environment, adoptions)
    return written === draft ? draft : listUpdated(written, new Map(edits.map(({ edit }) => [addressOf(edit), edit])))
  }
  const drafted = new Map(draft.files.map((file) => [file.path, file]))
  const edited = [...Map.groupBy(edits, ({ path }) => path)].map(([path, all]) => {
    const before = drafted.get(path)?.before ?? (drafted.has(path) ? undefined : input.texts.get(path))
    const text = drafted.get(path)?.after ?? before ?? ''
    const editWith = (some: readonly Edit[]) => editFile(path, text, some)
    const { shared, replacedExpressions } = editWith(all.map(({ edit }) => edit))
    // Neither an anchor nor a variable is for this object alone.
    const own = all.flatMap(({ edit }) => (shared.has(addressOf(edit)) || replacedExpressions.has(addressOf(edit)) ? [] : [edit]))
    return { path, before, after: editWith(own).text, own }
  })
  const written = withFiles(
    draft,
    edited.map(({ own: _, ...file }) => file),
  )
  return listUpdated(written, new Map(edited.flatMap(({ own }) => own.map((edit) => [addressOf(edit), edit]))))
}

const listUpdated = (draft: Draft, edits: ReadonlyMap<string, Edit>): Draft => ({
  ...draft,
  objects: draft.objects.map((object) => {
    const edit = edits.get(addressOf(object))
    if (edit === undefined || object.outcome !== 'unchanged') return object
    return { ...object, outcome: 'updated', fields: [{ path: 'adopt', before: edit.after?.adopt, after: edit.before?.adopt }] }
  }),
})

interface Pulled {
  readonly one: Declared
  readonly object: PulledObject
  readonly before: Declared | undefined
}

function editOf(change: Change, { one, object, before: earlier }: Pulled, { kinds, only }: PullInput): Edit | undefined {
  const { stored, desired } = change
  const { key, value, spelled, location, madeFrom } = one
  const kind: Kind = kinds[one.kind]
  if (stored === undefined || desired === undefined || kind.ownership === 'identity') return undefined
  if (madeFrom !== undefined || location.instance !== undefined) return undefined
  const isChanged = object.outcome === 'added' || object.outcome === 'updated'
  const isNamed = value.adopt === true || adoptedIds(value.adopt).some(({ id }) => id === stored.id)
  // The file is newer than the base in the marker, and can get a change of its own before the next apply.
  const isMarked = kind.readMarker(kind.toBody(stored)) !== undefined
  // A write of the marker would lose parts, which a base in the file does not.
  const isKept =
    object.outcome === 'unchanged' && only !== 'drifted' && (isMarked ? change.action === 'mark' && change.rewrites !== undefined : isNamed)
  if (!isKept && (isMarked ? object.outcome !== 'updated' : !isChanged)) return undefined
  const before = ownValue(spelled, 'adopt')
  const digest = declarationDigest(value)
  const after = object.mayDiffer
    ? withDeclaredDigest(before, stored.id, earlier === undefined ? '' : declarationDigest(earlier.value), digest)
    : withAdoptedId(before, toAdoptedId(kind, stored, desired, digest))
  return isSame(before, after)
    ? undefined
    : { kind: kind.name, key, before: { ...(before !== undefined && { adopt: before }) }, after: { adopt: after } }
}

export const pullRules = {
  'incomplete-pull': {
    severity: 'warning',
    description:
      'A list from the server may be incomplete, or lacks all declared objects with `only: drifted`. So pull might not see every object.',
  },
  'instance-differs': { severity: 'warning', description: 'The service has another value for an object of a file with instances.' },
  'edit-replaced': {
    severity: 'warning',
    description: 'pull replaced a declaration that was changed since the last apply or pull, and that was never applied.',
  },
  'expression-replaced': { severity: 'warning', description: 'pull replaced an expression by the value in the service.' },
} as const satisfies Rules

type IncompleteLists = StoredObjects['incompleteLists']

/** An empty list may be a mistake of the server, which would end every change and remove every declaration of the kind. */
export function withEmptiedLists({ changes }: Plan, { incompleteLists }: StoredObjects): IncompleteLists {
  const emptied = kindNames.filter((name) => {
    const declared = changes.filter((one) => one.kind === name && !('madeFrom' in one && isMadeForQueries(one)))
    return declared.length > 0 && declared.every((one) => one.stored === undefined && !('candidates' in one && one.candidates))
  })
  const reason =
    'has none of the declared objects, so pull removes no declaration of them; if they were deleted on purpose, remove their declarations, otherwise run apply to create them again'
  return { ...Object.fromEntries(emptied.map((name) => [name, reason])), ...incompleteLists }
}

export const reportIncompleteLists = (incompleteLists: IncompleteLists): readonly Diagnostic[] =>
  keysOf<KindName>(incompleteLists).map((kind) =>
    diagnosticOf(
      pullRules,
      'incomplete-pull',
      { file: sections[kind] },
      `the list of ${pluralOf(kindLabels[kind])} ${incompleteLists[kind]}`,
    ),
  )

/** The file of all environments keeps its expression. A file that is changed without a person keeps every expression. */
export const findReplacedVariables = ({ objects }: Draft, { environment, only }: PullInput): ReadonlyMap<string, string> =>
  new Map(
    objects.flatMap((object) => {
      const [first] = object.replacedExpressions ?? []
      if ((environment === undefined && only !== 'drifted') || first === undefined) return []
      const where = environment === undefined ? 'where the workflow sets it' : `in ${environment.path}`
      return [[excludedAs(object), `the service has another value than ${first}; change the variable ${where}`] as const]
    }),
  )

export const instantiatedDifferences = ({ objects }: Draft): readonly Diagnostic[] =>
  objects.flatMap(({ kind, key, instantiated }) => {
    if (instantiated === undefined) return []
    const { location, differing } = instantiated
    const fields = differing.map(({ field, value }) => `${field} ${value === undefined ? '(none)' : quote(JSON.stringify(value))}`)
    const message = `${addressOf({ kind, key })}: the service has ${fields.join(', ')}; pull does not edit a file with instances: change the file, or instances.${location.instance}`
    return [diagnosticOf(pullRules, 'instance-differs', location, message)]
  })

/** `plan` is that of the files before the pull. */
export function replacedEdits({ objects }: Draft, { changes }: Plan): readonly Diagnostic[] {
  const updated = new Set(objects.flatMap((one) => (one.outcome === 'updated' && one.mayDiffer === undefined ? [addressOf(one)] : [])))
  return changes.flatMap((change) => {
    const isEdited = 'origin' in change && ['files', 'both', 'decided'].some((one) => one === change.origin)
    if (!isEdited || !updated.has(addressOf(change)) || change.location === undefined) return []
    const paths = change.fields.map(({ path }) => path).join(', ')
    const message = `${addressOf(change)}: the file was changed and never applied, and pull replaced its values (${paths}). To keep them, undo this change of the file`
    return [diagnosticOf(pullRules, 'edit-replaced', change.location, message)]
  })
}

export const replacedExpressions = ({ objects }: Draft): readonly Diagnostic[] =>
  objects.flatMap((object) =>
    (object.replacedExpressions ?? []).map((expression) => {
      const message = `${addressOf(object)}: the value in the service replaced ${expression}`
      return diagnosticOf(pullRules, 'expression-replaced', { file: object.path ?? '' }, message)
    }),
  )
