import {
  type AdoptedId,
  adoptedIds,
  type CommonValues,
  type CurrentObject,
  declarationDigest,
  diffSides,
  isAsBase,
  isReference,
  isSecret,
  outsideBase,
  wasAsDeclared,
  withoutCommon,
} from '../../kinds/base.ts'
import {
  addedFields,
  type BodyPair,
  comparable,
  type FieldChange,
  findUnclearable,
  missingFields,
  withoutDefaults,
} from '../../kinds/compare.ts'
import { type Body, type Kind, listOf, storedLabelOf } from '../../kinds/kind.ts'
import { labelOf } from '../../kinds/kinds.ts'
import { repositoryDigest, repositoryDigestGrammar, type StoredMarker } from '../../kinds/marker.ts'
import { PendingId } from '../../kinds/name-index.ts'
import { isSame } from '../../platform/core/equality.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import type { MarkedObject } from '../plan/stored-objects.ts'
import { labelsOf } from '../query-alerts/query-changes.ts'
import type { Create, Delete, Held, Origin, Release, Update } from './change.ts'
import type { Facts } from './facts.ts'
import { hold } from './hold.ts'
import type { Pair } from './identify.ts'
import { isEqualButMarker } from './match.ts'
import { type Decision, decideOn, type State } from './ownership.ts'

interface ObjectContext extends Facts {
  readonly kind: Kind
  readonly canPatch: boolean
  nameOf(id: unknown): string | undefined
  common(): CommonValues
}

/** Plans one object. `body` is the desired one, without a marker; `sides` are undefined for an object that does not exist yet. */
export function planObject(pair: Pair, body: Body, sides: BodyPair | undefined, context: ObjectContext): Create | Update | Held {
  const { found, candidates, hold: isHeld } = pair
  if (found === undefined || sides === undefined) {
    const create = planCreate(pair, body, context)
    const { action } = decideOn({ object: candidates === undefined ? 'none' : 'several' })
    return action === 'create' && isHeld === undefined ? create : hold(create, pair, { ...context, isError: true })
  }
  const existing = { ...pair, found }
  const compared = compare(existing, body, sides, context)
  const decision = decideOn(stateOf(existing, compared, context))
  const change = planUpdate(existing, compared, decision, context)
  if (isHeld !== undefined) return hold(change, pair, { ...context, isError: found.marker?.digest !== compared.digest })
  return decision.action === 'hold' ? hold(change, pair, { ...context, isError: decision.with !== 'a warning' }) : change
}

type ExistingPair = Pair & { readonly found: MarkedObject }

interface ComparedObject {
  readonly body: Body
  readonly sides: BodyPair
  readonly digest: string
  readonly fields: readonly FieldChange[]
  readonly newDefaults?: readonly FieldChange[]
  readonly dropped?: readonly FieldChange[]
  readonly origin?: Origin | undefined
  /** Also true for a base that this version does not know. */
  readonly isBaseLatest: boolean
  readonly isBaseInFile: boolean
  readonly isDecided: boolean
}

function stateOf(pair: ExistingPair, compared: ComparedObject, context: ObjectContext): State {
  const { declared, found, takeover } = pair
  const { body, digest, fields, origin, isBaseLatest, isBaseInFile, isDecided } = compared
  const { kind } = context
  const isUnmarked = takeover?.reason === 'unmanaged'
  const isMarked = isUnmarked && declared.value.adopt === undefined
  return {
    object: takeover === undefined ? 'ours' : isUnmarked ? 'unmarked' : 'of a former owner',
    differs: fields.length === 0 ? 'nowhere' : isMarked && isEqualButMarker(kind, body, found.stored) ? 'in the marked text' : 'yes',
    changed: origin ?? 'unknown',
    isMade: declared.madeFrom !== undefined || isOnlyOfQueries(compared, pair),
    canMark: isDecided || isMarkerFree(context),
    // With an earlier digest, the next edit in the web app would count as one of the files.
    isMarkerLatest:
      kind.ownership === 'identity' ||
      (isBaseLatest &&
        digestToStore(context, found.marker) === found.marker?.repository &&
        (found.marker?.digest === digest || (isBaseInFile && !isMarkerFree(context)))),
    isWrittenAgain: whyWrittenAgain(body, context) !== undefined,
  }
}

/** Whether a write replaces only values in the tiles of queries, which the alerts in the files decide. */
function isOnlyOfQueries({ body, fields }: ComparedObject, { declared, found }: ExistingPair): boolean {
  if (declared.queries === undefined) return false
  const labels = [...labelsOf({ desired: body, stored: found.stored }, declared.queries).keys()]
  return fields.every(({ path, before }) => before === undefined || labels.some((label) => path.startsWith(`${label}.`)))
}

/** By the base of the entry in `adopt`, where the object is still as it was, and else by that of the marker. */
function compare(pair: ExistingPair, body: Body, sides: BodyPair, context: ObjectContext): ComparedObject {
  const { declared, found } = pair
  const { stored, marker } = found
  const { kind } = context
  const digest = declarationDigest(declared.value)
  const differences = diffSides(kind, sides)
  if (kind.ownership === 'identity')
    return { body, sides, digest, fields: differences, isBaseLatest: true, isBaseInFile: false, isDecided: false }
  const entry = adoptedIds(declared.value.adopt).find(({ id }) => id === stored.id)
  const current = { kind, stored, declared: sides.declaredAsSent, common: context.common }
  const fits = entry !== undefined && isAsBase(entry.base, current, true) === true
  const inFile = fits ? entry.declared : undefined
  const common = { body, sides, digest, isBaseLatest: true, isBaseInFile: inFile === digest, isDecided: inFile === 'files' }
  if (differences.length === 0) {
    const isBaseLatest = marker === undefined || !isMarkerFree(context) || isAsBase(marker.base, current) !== false
    return { ...common, isBaseLatest, fields: [] }
  }
  const base = fits ? { isStored: true, declared: entry.declared } : readBase(marker, entry, current, common)
  const isDeclared = base?.declared === digest
  const { fields, newDefaults: filledIn } = isDeclared
    ? withoutCommon(kind, sides, context.common())
    : { fields: differences, newDefaults: [] }
  // What the base has already is not new.
  const isNew = filledIn.length > 0 && isAsBase(marker?.base, { ...current, common: () => new Set<string>() }) !== true
  const newDefaults = isNew ? filledIn : []
  // No digest tells what a secret was.
  const isHidden = marker === undefined && !common.isDecided && fields.some((field) => isSecret(field, kind))
  const named = { ...common, fields, newDefaults }
  if (fields.length === 0) return named
  if (base?.isStored === undefined || isHidden) return { ...named, origin: marker === undefined ? undefined : 'unknown' }
  // Without a marker, a change in both can be that of an earlier run.
  if (!isDeclared) return { ...named, origin: base.isStored ? 'files' : marker && 'both' }
  return base.isStored ? withoutStoredForm(named, pair, kind) : { ...named, origin: 'service' }
}

/** Only references, secrets, and the tiles for queries of alerts, which no file declares, can differ where neither side changed. */
function withoutStoredForm(compared: ComparedObject, { declared, found }: ExistingPair, kind: Kind): ComparedObject {
  const fields = declared.queries === undefined ? outsideBase(kind, compared.sides, compared.fields) : compared.fields
  const left = new Set(fields.map(({ path }) => path))
  const dropped = missingFields(compared.body, found.stored, kind).filter(({ path }) => !left.has(path))
  return { ...compared, fields, dropped, origin: fields.length === 0 ? undefined : 'references' }
}

/** The base of the marker; without one, or since a pull of this file, that of an entry that does not fit any more. */
function readBase(
  marker: StoredMarker | undefined,
  entry: AdoptedId | undefined,
  current: CurrentObject,
  { body, digest }: Pick<ComparedObject, 'body' | 'digest'>,
) {
  const isPulled = entry?.declared === digest && wasAsDeclared(entry.base, current, body)
  if (marker !== undefined && !isPulled) return { isStored: isAsBase(marker.base, current), declared: marker.digest }
  return entry?.base === undefined ? undefined : { isStored: isAsBase(entry.base, current, true), declared: entry.declared }
}

/** A write of the whole object can lose parts, unless the server can patch it. */
const isMarkerFree = ({ kind, canPatch }: ObjectContext): boolean => kind.hasHiddenParts !== true || canPatch

/** That of this repository. Where it is not known, and for an object of another repository, the digest stays. */
const digestToStore = (facts: Facts, marker: StoredMarker | undefined): string | undefined =>
  facts.repository?.name === undefined || isOfOtherRepository(marker, facts) ? marker?.repository : repositoryDigest(facts.repository.name)

/** Whether the object was last applied by another repository than this one and the previous one. */
export function isOfOtherRepository(marker: StoredMarker | undefined, { repository, previousOwner }: Facts): boolean {
  if (repository?.name === undefined || marker?.repository === undefined) return false
  const previous = previousOwner?.repository
  const known = [repository.name, ...(previous === undefined ? [] : [previous])]
  return !known.some((name) => marker.repository === (repositoryDigestGrammar.test(name) ? name : repositoryDigest(name)))
}

/** Undefined where the object is not written again. */
function whyWrittenAgain(body: Body, { kind, rewrite, resendSecrets }: ObjectContext): string | undefined {
  if (rewrite && kind.canRewrite) return 'written again without a difference'
  return resendSecrets && kind.secretFields?.some((field) => body[field] !== undefined) ? 'its secrets are sent again' : undefined
}

function describe({ declared, found, takeover }: Pair, body: Body, digest: string, context: ObjectContext) {
  const { kind, project } = context
  const { key, location, madeFrom } = declared
  const { marker } = found ?? {}
  const isAdopted = takeover?.reason === 'unmanaged' || marker?.isAdopted === true
  const marked = { project, key, digest, repository: digestToStore(context, marker), isAdopted }
  const desired = kind.withMarker(body, marked, declared.value)
  return { kind: kind.name, key, name: labelOf(declared), location, desired, madeFrom }
}

function planCreate(pair: Pair, body: Body, context: ObjectContext): Create {
  const { kind, nameOf } = context
  const common = describe(pair, body, declarationDigest(pair.declared.value), context)
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
  const { body, sides, digest, fields, newDefaults = [], dropped = [], origin, isDecided } = compared
  const common = describe(pair, body, digest, context)
  const kept = fields.length === 0 ? [] : findUnclearable(kind, withoutDefaults(sides.stored, kind.schema), common.desired)
  const again = takeover === undefined && fields.length === 0 ? whyWrittenAgain(body, context) : undefined
  const isTracked = decision.with === 'no marker'
  return {
    ...common,
    action: decision.action === 'hold' || decision.action === 'create' ? 'update' : decision.action,
    id: found.stored.id,
    stored: found.stored,
    takeover: isTracked ? undefined : takeover?.reason,
    ...(isTracked && { isTracked }),
    origin: isDecided && origin === 'files' ? 'decided' : origin,
    ...(isDecided && { isDecided }),
    notes: [isTracked ? undefined : takeover?.note, again].filter((note) => note !== undefined),
    fields: inFileOrder(named(fields, context.nameOf), common.desired),
    ...(kept.length > 0 && { unclearable: kept }),
    ...(newDefaults.length > 0 && { newDefaults }),
    ...(dropped.length > 0 && { dropped }),
  }
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

export const planRelease = (kind: Kind, found: MarkedObject, note: string): Release => ({
  ...planDelete(kind, found),
  action: 'release',
  notes: [`${note}; it becomes unmanaged, and stays`],
  desired: kind.withoutMarker(kind.toBody(found.stored)),
})

const tileOfPath = /^tiles\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/

/** The comparison has tiles in the order of their ids. */
function inFileOrder(fields: readonly FieldChange[], { tiles }: Body): readonly FieldChange[] {
  const names = listOf(tiles).map(({ name }) => `tiles[${JSON.stringify(name)}]`)
  const first = fields.findIndex(({ path }) => tileOfPath.test(path))
  // What is in front of the first tile stays there, and other fields follow the tiles.
  const rankOf = ({ path }: FieldChange, i: number): number => {
    const tile = tileOfPath.exec(path)?.[0]
    if (tile === undefined) return i < first ? -1 : names.length + 1
    return names.includes(tile) ? names.indexOf(tile) : names.length
  }
  const ranked = fields.map((field, i) => ({ field, rank: rankOf(field, i) }))
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ field }) => field)
}

const named = (fields: readonly FieldChange[], nameOf: ObjectContext['nameOf']): readonly FieldChange[] =>
  fields.map((field) => {
    const { path, before, after } = field
    if (!isReference(path)) return field
    const names = [before, after].map((value) => toName(value, nameOf))
    // Two objects of one name, such as a dashboard that is created again.
    const [old, now] = isSame(names[0], names[1]) ? [before, after].map((value) => toName(value, nameOf, true)) : names
    return {
      path: path.replace(/Id(s?)$/, '$1'),
      ...(before !== undefined && { before: old }),
      ...(after !== undefined && { after: now }),
    }
  })

function toName(value: unknown, nameOf: ObjectContext['nameOf'], withId = false): unknown {
  if (Array.isArray(value)) return value.map((item) => toName(item, nameOf, withId))
  const name = nameOf(value) ?? value
  if (!withId || (name === value && !(value instanceof PendingId))) return name
  return `${name} (${value instanceof PendingId ? 'new' : value})`
}
