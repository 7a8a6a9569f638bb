import { type AdoptedId, declarationDigest } from '../../kinds/adopt.ts'
import { addedFields, type BodyPair, comparable, type FieldChange, findUnclearable, sidesOf, withoutDefaults } from '../../kinds/compare.ts'
import { type Body, type Kind, type KindFile, type KindIdentity, type KindWire, listOf, storedLabelOf } from '../../kinds/kind.ts'
import { type Declared, labelOf } from '../../kinds/kinds.ts'
import { ownershipTest, repositoryDigest, repositoryDigestGrammar, type StoredMarker } from '../../kinds/marker.ts'
import { PendingId } from '../../kinds/pending-id.ts'
import { type CommonValues, detectDrift, diffSides, snapshotOf } from '../../kinds/snapshot.ts'
import { isSame } from '../../platform/core/equality.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import type { MarkedObject } from '../plan/stored-objects.ts'
import type { Create, Delete, Held, Release, Update } from './change.ts'
import type { Facts, RunRepository } from './facts.ts'
import { hold } from './hold.ts'
import type { Pair } from './identify.ts'
import { isEqualButMarker, keepMarkedField } from './match.ts'
import { type Decision, decideOn, type State } from './ownership.ts'

interface ObjectContext
  extends Pick<Facts, 'project' | 'repository' | 'ownsAnything' | 'rewrite' | 'resendSecrets' | 'pullCommand' | 'targetOptions'> {
  readonly kind: Kind
  readonly canPatch: boolean
  nameOf(id: unknown): string | undefined
  /** The values that the server fills in by itself, found by comparing all objects. */
  common(): CommonValues
}

/** Plans one object. `body` is the desired one, without a marker; `sides` are undefined for an object that does not exist yet. */
export function planObject(pair: Pair, body: Body, sides: BodyPair | undefined, context: ObjectContext): Create | Update | Held {
  const { found, candidates } = pair
  const digest = declarationDigest(pair.declared.value)
  if (found === undefined || sides === undefined) {
    const create = planCreate(pair, body, digest, context)
    const { action } = decideOn({ object: candidates === undefined ? 'none' : 'several' })
    return action === 'create' ? create : hold(create, pair, { ...context, isError: true })
  }
  const existing = { ...pair, found }
  const compared = { body, sides, digest, ...compare(found, sides, digest, context) }
  const decision = decideOn(stateOf(existing, compared, context))
  if (decision.with === 'its text') return planUpdate(...withStoredText(existing, compared, context), decision, context)
  const change = planUpdate(existing, compared, decision, context)
  return decision.action === 'hold' ? hold(change, pair, { ...context, isError: decision.with !== 'a warning' }) : change
}

type ExistingPair = Pair & { readonly found: MarkedObject }

interface ComparedObject extends FieldComparison {
  readonly body: Body
  readonly sides: BodyPair
  readonly digest: string
}

function stateOf(pair: ExistingPair, { body, digest, fields, notes }: ComparedObject, context: ObjectContext): State {
  const { declared, found, takeover, adopted } = pair
  const { kind } = context
  const isUnmarked = takeover?.reason === 'unmanaged'
  const isEqual = fields.length === 0 && notes.length === 0
  return {
    object: takeover === undefined ? 'ours' : isUnmarked ? 'unmarked' : 'of a former owner',
    differs: isEqual ? 'nowhere' : isUnmarked && isEqualButMarker(kind, body, found.stored) ? 'in the marked text' : 'yes',
    file: adopted === undefined ? 'says nothing' : isAccepted(adopted, found, kind, fields) ? 'decides' : 'is older',
    isFileAsPulled: adopted !== undefined && adopted !== true && adopted.declared === digest,
    canMark: isMarkerFree(declared, context),
    isMarkerLatest: kind.ownership === 'identity' || hasLatestMarker(found, digest, context),
    mayHaveLostMarker: context.ownsAnything,
    isWrittenAgain: whyWrittenAgain(body, context) !== undefined,
  }
}

/** Whether the file decides about an object without a marker: it says so, or the object is still what `pull` wrote down. */
function isAccepted(adopted: AdoptedId | true, { stored }: MarkedObject, kind: KindWire, fields: readonly FieldChange[]): boolean {
  if (adopted === true || adopted.isStored === undefined) return true
  // No digest in a file tells what a secret was.
  return adopted.isStored(kind, stored) && !fields.some((field) => isSecret(field, kind))
}

const isSecret = ({ path }: FieldChange, { secretFields = [] }: KindWire): boolean => secretFields.includes(/^\w+/.exec(path)?.[0] ?? '')

/** A write of the whole object can lose parts, unless the server can patch it or the file accepts that. */
const isMarkerFree = ({ value }: Declared, { kind, canPatch }: ObjectContext): boolean =>
  kind.hasHiddenParts !== true || canPatch || ('rewrite' in value && value.rewrite === true)

/** With an earlier digest, the next edit in the web app would count as one of the files. */
function hasLatestMarker({ marker }: MarkedObject, digest: string, context: ObjectContext): boolean {
  const stored = storedRepository(marker, context)
  return digestToStore(context.repository, stored) === stored && marker?.digest === digest
}

export const previousDigest = ({ from }: RunRepository): string | undefined =>
  from === undefined ? undefined : repositoryDigestGrammar.test(from) ? from : repositoryDigest(from)

/** The digest for the marker of an object whose marker has the digest `stored`. Without a repository, it is kept. */
function digestToStore(run: Facts['repository'], stored: string | undefined): string | undefined {
  if (run?.name === undefined) return stored
  const own = repositoryDigest(run.name)
  return stored === undefined || stored === own || stored === previousDigest(run) ? own : stored
}

/** An object that comes from another project does not keep the repository of that project. */
const storedRepository = (marker: StoredMarker | undefined, { project, kind }: ObjectContext): string | undefined =>
  ownershipTest(project, kind.markerStyle)(marker) ? marker?.repository : undefined

/** Why an object is written that needs no change; undefined where it is not. */
function whyWrittenAgain(body: Body, { kind, rewrite, resendSecrets }: ObjectContext): string | undefined {
  if (rewrite && kind.canRewrite) return 'written again without a difference'
  return resendSecrets && kind.secretFields?.some((field) => body[field] !== undefined) ? 'its secrets are sent again' : undefined
}

/** The object with the text or the tags of the person who removed the marker from them. */
function withStoredText(pair: ExistingPair, compared: ComparedObject, { kind }: ObjectContext): readonly [ExistingPair, ComparedObject] {
  const body = keepMarkedField(kind, compared.body, pair.found.stored)
  const note = `it has no marker, as after an edit in the web app; this run keeps its ${kind.markedField}, and the next one writes that of the file`
  const sides = sidesOf(kind, body, pair.found.stored)
  return [
    { ...pair, takeover: { reason: 'marker-removed', note } },
    { ...compared, body, sides, fields: [] },
  ]
}

function describe({ declared, found, takeover }: Pair, body: Body, digest: string, context: ObjectContext) {
  const { kind, project, repository } = context
  const { key, location, madeFrom } = declared
  const { marker } = found ?? {}
  const isAdopted = takeover?.reason === 'unmanaged' || takeover?.reason === 'marker-removed' || marker?.isAdopted === true
  const marked = { project, key, digest, repository: digestToStore(repository, storedRepository(marker, context)), isAdopted }
  const desired = kind.withMarker(body, marked, declared.value)
  return { kind: kind.name, key, name: labelOf(declared), location, desired, madeFrom }
}

function planCreate(pair: Pair, body: Body, digest: string, context: ObjectContext): Create {
  const { kind, nameOf } = context
  const common = describe(pair, body, digest, context)
  return {
    ...common,
    action: 'create',
    notes: [],
    summary: kind.summarize(body, (id) => nameOf(id) ?? String(id), pair.declared.value),
    fields: inFileOrder(named(addedFields(comparable(kind, common.desired)), nameOf), common.desired),
  }
}

function planUpdate(pair: ExistingPair, compared: ComparedObject, decision: Decision, context: ObjectContext): Update {
  const { found, takeover } = pair
  const { kind } = context
  const { body, sides, digest, fields, notes, newDefaults = [] } = compared
  const common = describe(pair, body, digest, context)
  const kept = fields.length === 0 ? [] : findUnclearable(kind, withoutDefaults(sides.stored, kind.schema), common.desired)
  const differs = fields.length > 0 || notes.length > 0
  const again = takeover === undefined && !differs ? whyWrittenAgain(body, context) : undefined
  const isTracked = decision.with === 'no marker'
  return {
    ...common,
    action: decision.action === 'hold' || decision.action === 'create' ? 'update' : decision.action,
    id: found.stored.id,
    stored: found.stored,
    takeover: isTracked ? undefined : takeover?.reason,
    ...(isTracked && { isTracked }),
    origin: differs ? originOf(pair, digest, fields, kind) : undefined,
    notes: [isTracked ? undefined : takeover?.note, ...notes, again].filter((note) => note !== undefined),
    fields: inFileOrder(named(fields, context.nameOf), common.desired),
    ...(kept.length > 0 && { unclearable: kept }),
    ...(newDefaults.length > 0 && { newDefaults }),
  }
}

interface FieldComparison {
  readonly fields: readonly FieldChange[]
  readonly notes: readonly string[]
  readonly newDefaults?: readonly FieldChange[]
}

function compare({ stored, marker }: MarkedObject, sides: BodyPair, digest: string, { kind, common }: ObjectContext): FieldComparison {
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

/** Unknown where a secret differs. */
function originOf({ found, adopted }: Pair, digest: string, fields: readonly FieldChange[], kind: KindWire): Update['origin'] {
  const before = found?.marker?.digest ?? (adopted === true ? undefined : adopted?.declared)
  if (before === undefined || fields.some((field) => isSecret(field, kind))) return undefined
  return before === digest ? 'service' : 'files'
}

export const planDelete = ({ name, notInFiles }: KindIdentity & KindFile, { stored, marker }: MarkedObject): Delete => ({
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

export const planRelease = (kind: KindIdentity & KindWire & KindFile, found: MarkedObject, note: string): Release => ({
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

type NameOf = ObjectContext['nameOf']

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
