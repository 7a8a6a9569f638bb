import { declarationDigest } from '../../kinds/adopt.ts'
import { addedFields, type BodyPair, comparable, type FieldChange, findUnclearable, normalForm, sidesOf } from '../../kinds/compare.ts'
import { type Body, type Kind, listOf, storedLabelOf } from '../../kinds/kind.ts'
import { type Declared, labelOf } from '../../kinds/kinds.ts'
import { ownershipTest } from '../../kinds/marker.ts'
import { PendingId } from '../../kinds/pending-id.ts'
import { type CommonValues, detectDrift, diffSides, snapshotOf } from '../../kinds/snapshot.ts'
import { isSame } from '../../platform/core/equality.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import type { MarkedObject } from '../plan/stored-objects.ts'
import type { Create, Delete, Held, Release, Update } from './change.ts'
import { hold } from './guards/held.ts'
import { digestToStore, type RunRepository } from './guards/repository.ts'
import { keepMarkedField, type Pair } from './identify.ts'

interface ChangeContext {
  readonly kind: Kind
  readonly project: string
  readonly repository?: RunRepository | undefined
  /** Whether the server can patch dashboards. */
  readonly canPatch?: boolean
  /** Whether this project owns anything in the service, so that an object can have lost its marker. */
  readonly ownsAnything: boolean
  /** Why an object is written that needs no change; undefined where it is not. */
  rewriteOf(body: Body): string | undefined
  nameOf(id: unknown): string | undefined
  /** The values that the server fills in by itself, found by comparing all objects. */
  common(): CommonValues
}

/** Plans one object. `body` is the desired one without a marker; `sides` are undefined for an object that does not exist yet. */
export function planChange(pair: Pair, body: Body, sides: BodyPair | undefined, around: ChangeContext): Create | Update | Held {
  const { declared, found, takeover } = pair
  const { kind } = around
  const digest = declarationDigest(declared.value)
  if (found === undefined || sides === undefined) {
    const create = planCreate(pair, body, digest, around)
    return pair.candidates === undefined ? create : hold({ ...create, fields: [] }, pair, digest, kind)
  }
  const change = planUpdate({ ...pair, found }, { body, sides, digest }, around)
  if (takeover?.from !== 'unmanaged' || change.fields.length === 0 || isAccepted(pair, kind, change.fields)) return change
  const asStored = keepMarkedField(kind, body, found.stored)
  const keptSides = sidesOf(kind, asStored, found.stored)
  // After a pull, another text may be a change of a person, with or without a marker in between.
  const hasLostMarker = around.ownsAnything && pair.adopted === undefined
  return hasLostMarker && isMarkerFree(declared, around) && diffSides(kind, keptSides).length === 0
    ? planUpdate({ ...pair, found, takeover: removedMarker(kind) }, { body: asStored, sides: keptSides, digest }, around)
    : hold(change, pair, digest, kind)
}

/** What every change of a declared object has. */
function describe({ declared, found, takeover }: Pair, body: Body, digest: string, { kind, project, repository }: ChangeContext) {
  const { key, location, madeFrom } = declared
  const { marker } = found ?? {}
  // An object that comes from another project does not keep the repository of that project.
  const stored = ownershipTest(project, kind.markerStyle)(marker) ? marker?.repository : undefined
  const isAdopted = wasUnmarked(takeover) || marker?.isAdopted === true
  const marked = { project, key, digest, repository: digestToStore(repository, stored), isAdopted }
  const desired = kind.withMarker(body, marked, declared.value)
  return { kind: kind.name, key, name: labelOf(declared), location, desired, madeFrom }
}

const wasUnmarked = (takeover: Pair['takeover']): boolean => takeover?.from === 'unmanaged' || takeover?.from === 'marker-removed'

function planCreate(pair: Pair, body: Body, digest: string, around: ChangeContext): Create {
  const { kind, nameOf } = around
  const common = describe(pair, body, digest, around)
  return {
    ...common,
    action: 'create',
    notes: [],
    summary: kind.summarize(body, (id) => nameOf(id) ?? String(id), pair.declared.value),
    fields: inFileOrder(named(addedFields(comparable(kind, common.desired)), nameOf), common.desired),
  }
}

interface ComparedObject {
  readonly body: Body
  readonly sides: BodyPair
  readonly digest: string
}

function planUpdate(pair: Pair & { readonly found: MarkedObject }, { body, sides, digest }: ComparedObject, around: ChangeContext): Update {
  const { declared, found, takeover } = pair
  const { kind } = around
  const common = describe(pair, body, digest, around)
  const { fields, notes, newDefaults = [] } = compare(found, sides, digest, around)
  const kept = fields.length === 0 ? [] : findUnclearable(kind, normalForm(sides.stored, kind.schema), common.desired)
  const differs = fields.length > 0 || notes.length > 0
  const isTracked = wasUnmarked(takeover) && !differs && !isMarkerFree(declared, around)
  const rewrite = takeover === undefined && !differs ? around.rewriteOf(body) : undefined
  const isMarked = kind.ownership === 'identity' || hasLatestMarker(pair, digest, around)
  const action = actionFor({
    differs: differs || rewrite !== undefined,
    isAdopted: takeover !== undefined && !isTracked,
    isMarked: isMarked || isTracked,
  })
  return {
    ...common,
    action,
    id: found.stored.id,
    stored: found.stored,
    takeover: isTracked ? undefined : takeover?.from,
    ...(isTracked && { isTracked }),
    origin: differs ? originOf(pair, digest, fields, kind) : undefined,
    notes: [isTracked ? undefined : takeover?.note, ...notes, rewrite].filter((note) => note !== undefined),
    fields: inFileOrder(named(fields, around.nameOf), common.desired),
    ...(kept.length > 0 && { unclearable: kept }),
    ...(newDefaults.length > 0 && { newDefaults }),
  }
}

/** With an earlier digest, the next edit in the web app would count as one of the files. */
function hasLatestMarker({ found }: Pair, digest: string, { kind, project, repository }: ChangeContext): boolean {
  const { marker } = found ?? {}
  const stored = ownershipTest(project, kind.markerStyle)(marker) ? marker?.repository : undefined
  return digestToStore(repository, stored) === stored && marker?.digest === digest
}

/** Whether a marker costs nothing: a write of the whole object can lose parts, unless the server can patch it or the file accepts that. */
const isMarkerFree = ({ value }: Declared, { kind, canPatch }: ChangeContext): boolean =>
  kind.hasHiddenParts !== true || canPatch === true || ('rewrite' in value && value.rewrite === true)

const removedMarker = ({ markedField }: Kind): Pair['takeover'] => ({
  from: 'marker-removed',
  note: `it has no marker, as after an edit in the web app; this run keeps its ${markedField}, and the next one writes that of the file`,
})

/** Whether the file decides about an object without a marker: it says so, or the object is still what `pull` wrote down. */
function isAccepted({ adopted, found }: Pair, kind: Kind, fields: readonly FieldChange[]): boolean {
  if (adopted === undefined || found === undefined) return false
  if (adopted === true || adopted.isStored === undefined) return true
  // No digest in a file tells what a secret was.
  return adopted.isStored(kind, found.stored) && !fields.some(({ path }) => kind.secretFields?.includes(/^\w+/.exec(path)?.[0] ?? ''))
}

interface FieldComparison {
  readonly fields: readonly FieldChange[]
  readonly notes: readonly string[]
  readonly newDefaults?: readonly FieldChange[]
}

/** `digest` is that of the declaration as it is now. */
function compare({ stored, marker }: MarkedObject, sides: BodyPair, digest: string, { kind, common }: ChangeContext): FieldComparison {
  const snapshot = marker === undefined ? undefined : kind.readSnapshot(kind.toBody(stored))?.digest
  if (snapshot !== undefined && snapshot === snapshotOf(sides)) return { fields: [], notes: [] }
  const differences = diffSides(kind, sides)
  const isAsApplied = marker?.digest === digest
  if (!isAsApplied || (snapshot === undefined && differences.length === 0)) return { fields: differences, notes: [] }
  const { fields, isUncertain, newDefaults } = detectDrift({ kind, sides, snapshot, common: common() })
  if (isUncertain)
    return { fields, notes: [fields.length > 1 ? changedAmong : fields.length === 0 ? changedElsewhere : ''].filter(Boolean) }
  return { fields, notes: [], newDefaults }
}

const changedAmong = 'at least one of these fields was changed since the last apply; the server may have filled in the others'

const changedElsewhere = 'a field that no file declares was changed since the last apply'

function actionFor({ differs, isAdopted, isMarked }: Readonly<Record<'differs' | 'isAdopted' | 'isMarked', boolean>>): Update['action'] {
  if (differs) return 'update'
  if (isAdopted) return 'adopt'
  return isMarked ? 'unchanged' : 'mark'
}

/** Unknown where a secret differs. */
function originOf({ found, adopted }: Pair, digest: string, fields: readonly FieldChange[], { secretFields = [] }: Kind): Update['origin'] {
  const isSecret = fields.some(({ path }) => secretFields.some((field) => path.split(/[.[]/, 1)[0] === field))
  const before = found?.marker?.digest ?? (adopted === true ? undefined : adopted?.declared)
  if (before === undefined || isSecret) return undefined
  return before === digest ? 'service' : 'files'
}

export const planDelete = ({ name, notInFiles }: Kind, { stored, marker }: MarkedObject): Delete => ({
  kind: name,
  key: marker?.key ?? '',
  name: storedLabelOf(stored),
  action: 'delete',
  id: stored.id,
  stored,
  notes: marker?.isAdopted
    ? [
        `existed before it was adopted${notInFiles === undefined ? '' : `; ${notInFiles} are in no file`}; ${spellInput('prune', 'forget')} would keep it`,
      ]
    : [],
  fields: [],
})

/** Removes the marker, and keeps the object. */
export const planRelease = (kind: Kind, found: MarkedObject, note: string): Release => ({
  ...planDelete(kind, found),
  action: 'release',
  notes: [`${note}; it becomes unmanaged, and stays`],
  desired: kind.withoutMarker(kind.toBody(found.stored)),
})

const tileOfPath = /^tiles\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/

/** Lists the fields of tiles in the order of the file. The comparison has them in the order of their ids. */
function inFileOrder(fields: readonly FieldChange[], { tiles }: Body): readonly FieldChange[] {
  const names = listOf(tiles).map(({ name }) => `tiles[${JSON.stringify(name)}]`)
  const rankOf = ({ path }: FieldChange): number | undefined => {
    const tile = tileOfPath.exec(path)?.[0]
    if (tile === undefined) return undefined
    const index = names.indexOf(tile)
    return index < 0 ? names.length : index
  }
  const first = fields.findIndex((field) => rankOf(field) !== undefined)
  if (first < 0) return fields
  const [ofTiles, others] = [true, false].map((isOfTile) =>
    fields.slice(first).filter((field) => (rankOf(field) !== undefined) === isOfTile),
  )
  const sorted = (ofTiles ?? []).toSorted((a, b) => (rankOf(a) ?? 0) - (rankOf(b) ?? 0))
  return [...fields.slice(0, first), ...sorted, ...(others ?? [])]
}

const idFields =
  /(?:^|\.)(?:sourceId|webhookId|dashboardId|tileId|savedSearchId|appliesToSourceIds|connection(?:Id)?|(?:log|trace|metric|session)SourceId)$/

type NameOf = ChangeContext['nameOf']

/** Shows names instead of ids. */
const named = (fields: readonly FieldChange[], nameOf: NameOf): readonly FieldChange[] =>
  fields.map((field) => {
    const { path, before, after } = field
    if (!idFields.test(path)) return field
    const names = [before, after].map((value) => toName(value, nameOf))
    // Two objects of one name, such as a dashboard that is created again.
    const [old, now] = isSame(names[0], names[1]) ? [before, after].map((value) => toName(value, nameOf, true)) : names
    return {
      path: path.replace(/Id(s?)$/, '$1'),
      ...(before !== undefined && { before: old }),
      ...(after !== undefined && { after: now }),
    }
  })

function toName(value: unknown, nameOf: NameOf, withId = false): unknown {
  if (Array.isArray(value)) return value.map((item) => toName(item, nameOf, withId))
  const name = nameOf(value) ?? value
  if (!withId || (name === value && !(value instanceof PendingId))) return name
  return `${name} (${value instanceof PendingId ? 'new' : value})`
}
