// The bases that a pull writes into `adopt`: what the object and its declaration are like now. It counts before the base in a marker.

import { adoptedIds, declarationDigest, toAdoptedId, withAdoptedId, withDeclaredDigest } from '../../kinds/base.ts'
import type { Kind } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import type { Declared, Kinds } from '../../kinds/kinds.ts'
import { isSame } from '../../platform/core/equality.ts'
import { ownValue } from '../../platform/documents/schema.ts'
import type { NamedEnvironment } from '../../platform/operation/operation.ts'
import type { Change } from '../decide/change.ts'
import { type Draft, type DraftInput, type PulledObject, withAdoptions } from './draft.ts'
import { type Edit, editFile } from './edit-yaml.ts'
import type { ReadDraft } from './verify-draft.ts'

interface AdoptInput extends Pick<DraftInput, 'only' | 'texts'> {
  readonly kinds: Kinds
  readonly environment?: NamedEnvironment | undefined
  readonly declarations: DraftInput['declarations']
  /** Files that are not written. */
  readonly links: readonly string[]
}

/** The draft with the entries of `adopt` that the verified files need. A digest alone is no reason for a pull request of a drift. */
export function withAdoptedIds(draft: Draft, { declarations, plan }: ReadDraft, input: AdoptInput): Draft {
  const declared = new Map(declarations.objects.map((one) => [addressOf(one), one]))
  const earlier = new Map(input.declarations.objects.map((one) => [addressOf(one), one]))
  const pulled = new Map(draft.objects.map((one) => [addressOf(one), one]))
  const edits = plan.changes.flatMap((change) => {
    const [one, object] = [declared.get(addressOf(change)), pulled.get(addressOf(change))]
    const edit = one && object && editOf(change, { one, object, before: earlier.get(addressOf(change)) }, input)
    return edit === undefined ? [] : [{ path: one?.location.file ?? '', edit }]
  })
  const { environment } = input
  if (environment !== undefined) {
    // Other entries of a list are about other services.
    const newIn = ({ before, after }: Edit) => [after?.adopt].flat().find((entry) => ![before?.adopt].flat().includes(entry))
    const adoptions = edits.map(({ edit }) => ({ kind: edit.kind, key: edit.key, entry: String(newIn(edit)) }))
    const written = withAdoptions(draft, environment, adoptions)
    return written === draft ? draft : listUpdated(written, new Map(edits.map(({ edit }) => [addressOf(edit), edit])))
  }
  const drafted = new Map(draft.files.map((file) => [file.path, file]))
  const edited = [...Map.groupBy(edits, ({ path }) => path)].map(([path, all]) => {
    const before = drafted.get(path)?.before ?? (drafted.has(path) ? undefined : input.texts.get(path))
    const text = drafted.get(path)?.after ?? before ?? ''
    const editWith = (some: readonly Edit[]) => editFile({ path, text, defaults: {}, edits: some })
    const { shared, replacedExpressions } = editWith(all.map(({ edit }) => edit))
    // Neither an anchor nor a variable is for this object alone.
    const own = all.flatMap(({ edit }) => (shared.has(addressOf(edit)) || replacedExpressions.has(addressOf(edit)) ? [] : [edit]))
    return { path, before, after: editWith(own).text, own }
  })
  const files = new Map([...drafted.values(), ...edited.map(({ own: _, ...file }) => file)].map((file) => [file.path, file]))
  const changed = [...files.values()].filter(({ before, after }) => before !== after).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return listUpdated({ ...draft, files: changed }, new Map(edited.flatMap(({ own }) => own.map((edit) => [addressOf(edit), edit]))))
}

/** An object with another entry in `adopt` is an updated one. */
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

function editOf(change: Change, { one, object, before: earlier }: Pulled, { kinds, only, links }: AdoptInput): Edit | undefined {
  const { stored, desired } = change
  const { key, value, spelled, location, madeFrom } = one
  const kind: Kind = kinds[one.kind]
  if (stored === undefined || desired === undefined || kind.ownership === 'identity') return undefined
  if (madeFrom !== undefined || location.instance !== undefined || links.includes(location.file)) return undefined
  const isChanged = object.outcome === 'added' || object.outcome === 'updated'
  const isNamed = value.adopt === true || adoptedIds(value.adopt).some(({ id }) => id === stored.id)
  // The base in the marker is older than the file now, which can get a change of its own before the next apply.
  const isMarked = kind.readMarker(kind.toBody(stored)) !== undefined
  const isKept = object.outcome === 'unchanged' && isNamed && !isMarked && only !== 'drifted'
  if (isMarked ? object.outcome !== 'updated' : !isChanged && !isKept) return undefined
  const before = ownValue(spelled, 'adopt')
  const digest = declarationDigest(value)
  // Only the name of a tile came into the file, and the rest of the service did not.
  const after = object.mayDiffer
    ? withDeclaredDigest(before, stored.id, earlier === undefined ? '' : declarationDigest(earlier.value), digest)
    : withAdoptedId(before, toAdoptedId(kind, stored, desired, digest))
  return isSame(before, after)
    ? undefined
    : { kind: kind.name, key, before: { ...(before !== undefined && { adopt: before }) }, after: { adopt: after } }
}
