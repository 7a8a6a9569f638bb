// A stored object is identified by its marker or identity, the previous one, that of a previous project, and an id in the file, in this order.

import { adoptedIds } from '../../kinds/base.ts'
import { type Body, describeStored, type Kind, type StoredObject } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { type Declared, previousKeyOf } from '../../kinds/kinds.ts'
import { ownershipTest } from '../../kinds/marker.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Rule, type Rules } from '../../platform/core/diagnostics.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { pluralOf, quote } from '../../platform/core/text.ts'
import type { PreviousOwner } from '../../platform/operation/operation.ts'
import type { MarkedObject, StoredIndex } from '../plan/stored-objects.ts'
import type { Takeover } from './change.ts'
import { adviseOnTwins, twinRules } from './twins.ts'

export interface Hold {
  readonly reason: string
  readonly remedies: readonly string[]
  /** Whether the declaration is as applied, so that this is only a warning. */
  readonly isAsApplied?: boolean
  readonly candidates?: readonly string[]
}

export interface Match {
  readonly found?: MarkedObject | undefined
  /** It is not clear which of them is meant, so none is created. */
  readonly candidates?: readonly MarkedObject[] | undefined
  /** The note is for reviewers. */
  readonly takeover?: { readonly reason: Takeover; readonly note: string } | undefined
  readonly hold?: Hold | undefined
  /** Where this project owns nothing: it was most likely renamed. */
  readonly ownedByOtherProject?: MarkedObject | undefined
}

export interface Pair<D extends Declared = Declared> extends Match {
  readonly declared: D
}

export interface Finding extends Match {
  readonly diagnostic?: Diagnostic
}

export const identityRules = {
  'owned-elsewhere': { severity: 'error', description: 'Two declarations in these files are about one object.' },
} as const satisfies Rules

export const diagnose = <Id extends string>(
  rules: Readonly<Record<Id, Rule>>,
  rule: NoInfer<Id>,
  declared: Declared,
  message: string,
): Diagnostic => diagnosticOf(rules, rule, declared.location, `${addressOf(declared)}: ${message}`)

interface FinderInput<D extends Declared> {
  readonly kind: Kind
  readonly project: string
  readonly previousOwner?: PreviousOwner | undefined
  readonly repairCommand?: string | undefined
  readonly canPatch: boolean
  readonly ownsAnything: boolean
  readonly declared: readonly D[]
  readonly index: StoredIndex
}

export interface Finder<D extends Declared = Declared> extends FinderInput<D> {
  readonly hasMarkers: boolean
  readonly orphans: readonly MarkedObject[]
  readonly byId: ReadonlyMap<string, MarkedObject>
  readonly byName: ReadonlyMap<string, readonly MarkedObject[]>
  /** Of a form that this version does not know. They are never written. */
  readonly unknown: StoredIndex['all']
  /** Without it, no objects are compared. */
  resolve?(declared: D, stored: StoredObject | undefined): Body
}

/** Without the bodies, which may need the ids of other objects. */
export interface Identified<D extends Declared = Declared> {
  readonly finder: Finder<D>
  readonly findings: ReadonlyMap<D, Finding>
}

export function identifyObjects<D extends Declared>(input: FinderInput<D>): Identified<D> {
  const { kind, project, declared } = input
  const isOwned = ownershipTest(project, kind.markerStyle)
  const claimed = new Map(declared.map((one) => [kind.markerStyle.token(project, one.key), one]))
  const index = withDeclaredForms(input, (token) => claimed.get(token ?? ''))
  const known = index.all.filter(({ undeclarable }) => undeclarable === undefined)
  const finder: Finder<D> = {
    ...input,
    index,
    hasMarkers: kind.ownership === 'marker',
    orphans: index.all.filter(({ marker }) => isOwned(marker) && !claimed.has(marker?.token ?? '')),
    byId: new Map(known.map((one) => [one.stored.id, one])),
    byName: Map.groupBy(known, ({ stored }) => trimmedName(stored)),
    unknown: index.all.filter(({ undeclarable }) => undeclarable !== undefined),
  }
  return { finder, findings: new Map(declared.map((one) => [one, identify(one, finder)] as const)) }
}

/** A file can declare an object whose form this version does not know. */
function withDeclaredForms({ kind, index }: FinderInput<Declared>, claimantOf: (token?: string) => Declared | undefined): StoredIndex {
  const isDeclared = ({ stored, token }: StoredIndex['all'][number]): boolean =>
    kind.explainUndeclarable?.(stored, claimantOf(token)?.value) === undefined
  const all = index.all.map((one) =>
    one.undeclarable !== undefined && isDeclared(one)
      ? { ...one, undeclarable: undefined, marker: kind.readMarker(kind.toBody(one.stored)) }
      : one,
  )
  const byToken = Map.groupBy(all, ({ token }) => token)
  byToken.delete(undefined)
  return { ...index, all, byToken }
}

/** Some servers trim names. */
export const trimmedName = ({ name }: { readonly name?: string | null | undefined }): string => (name ?? '').trim()

export const isNothing = ({ found, hold }: Finding = {}): boolean => found === undefined && hold === undefined

function identify(declared: Declared, finder: Finder): Finding {
  if (finder.hasMarkers) {
    const marked = findByToken(declared, finder)
    return isNothing(marked) ? findAdopted(declared, finder) : marked
  }
  const id = sourceIdOf(declared)
  return id === undefined ? findByToken(declared, finder) : findById(id, finder)
}

/** A source has no marker, so a file can give its id. */
export const sourceIdOf = ({ value }: Declared): string | undefined => ('id' in value ? value.id : undefined)

const previousOf = (declared: Declared): string | undefined =>
  'previousName' in declared.value ? declared.value.previousName : previousKeyOf(declared)

/** Of the key or identity, and of the previous one. */
export function tokensOf(declared: Declared, { kind, project, hasMarkers }: Finder): readonly [string | undefined, string | undefined] {
  const { key, value } = declared
  const previous = previousOf(declared)
  const [own, moved] = hasMarkers
    ? [kind.markerStyle.token(project, key), kind.markerStyle.token(project, previous ?? '')]
    : [kind.tokenOf(value), kind.tokenOf({ ...value, name: previous })]
  return [own, previous === undefined ? undefined : moved]
}

function findByToken(declared: Declared, finder: Finder): Finding {
  const [own = {}, moved = {}] = tokensOf(declared, finder).map((token) => findHolder(declared, token, finder))
  if (!isNothing(own)) return own
  if (moved.hold !== undefined) return moved
  if (moved.found !== undefined)
    return {
      ...moved,
      takeover: { reason: 'renamed', note: `${finder.hasMarkers ? 'the key was ' : ''}renamed from ${previousOf(declared)}` },
    }
  return findInOtherProject(declared, finder)
}

/** Of several objects, the first one is held. */
function findHolder(declared: Declared, token: string | undefined, { kind, index, hasMarkers, canPatch, repairCommand }: Finder): Finding {
  const holders = (index.byToken.get(token) ?? []).filter(({ undeclarable }) => undeclarable === undefined)
  const [found, second] = holders
  if (found === undefined || second === undefined) return { found }
  const ids = holders.map(({ stored }) => stored.id).join(', ')
  const named = adoptedIds(declared.value.adopt).flatMap(({ id }) => holders.find(({ stored }) => stored.id === id) ?? [])
  if (named.length === 1) {
    const twins = holders.filter((one) => one !== named[0]).map(({ stored }) => stored.id)
    const message = `${twins.join(', ')} ${twins.length === 1 ? 'has' : 'have'} this ownership marker, too, and ${twins.length === 1 ? 'is' : 'are'} left as it is, because adopt names ${named[0]?.stored.id}`
    return {
      found: named[0],
      diagnostic: exceptionalDiagnostic(twinRules, 'duplicate-marker', declared.location, `${addressOf(declared)}: ${message}`),
    }
  }
  const labels = pluralOf(kind.label)
  if (!hasMarkers) {
    const remedies = ['add the id of the one to manage, or delete the other one in the web app']
    return { found, hold: { reason: `several ${labels} have this identity (${ids})`, remedies } }
  }
  const remedies = ['to name the one to manage, set adopt to its id', adviseOnTwins(kind, canPatch, repairCommand)]
  const candidates = holders.map(({ stored }) => stored.id)
  return { hold: { reason: `${holders.length} ${labels} have this ownership marker (${ids})`, remedies, candidates } }
}

function findInOtherProject(declared: Declared, finder: Finder): Finding {
  const { kind, previousOwner: { project } = {} } = finder
  if (project === undefined || project === false) return {}
  const keys = [declared.key, previousOf(declared)].filter((key) => key !== undefined)
  const holders = keys.map((key) => findHolder(declared, kind.markerStyle.token(project, key), finder))
  const finding = holders.find((one) => !isNothing(one))
  return finding?.found === undefined
    ? (finding ?? {})
    : { ...finding, takeover: { reason: 'other-project', note: `adopts an object of the project ${project}` } }
}

function findById(id: string, { kind, byId }: Finder): Finding {
  const found = byId.get(id)
  if (found !== undefined) return { found }
  return { hold: { reason: `${kind.label} ${quote(id)} does not exist`, remedies: ['remove id to create a new one'] } }
}

export const unmanaged: Match['takeover'] = { reason: 'unmanaged', note: 'adopts an unmanaged object' }

function findAdopted(declared: Declared, finder: Finder): Finding {
  const { byId, orphans } = finder
  const known = adoptedIds(declared.value.adopt).flatMap(({ id }) => byId.get(id) ?? [])
  const free = known.filter((one) => one.marker === undefined || orphans.includes(one))
  const [found = known[0], second] = free
  if (found === undefined) return {}
  if (second !== undefined) {
    const ids = free.map(({ stored }) => stored.id).join(', ')
    return { hold: { reason: `adopt has several ids of this service (${ids})`, remedies: ['keep one of them'] } }
  }
  if (found.marker === undefined) return { found, takeover: unmanaged }
  if (orphans.includes(found)) {
    const note = found.marker.key === undefined ? 'the key was renamed' : `the key was renamed from ${found.marker.key}`
    return { found, takeover: { reason: 'renamed', note } }
  }
  return { hold: holdOwned(found, finder, 'remove the id from adopt') }
}

export function holdOwned(found: MarkedObject, { kind, project }: Finder, second: string): Hold {
  const { stored, marker } = found
  if (ownershipTest(project, kind.markerStyle)(marker)) {
    const other = marker?.key === undefined ? 'another key' : addressOf({ kind: kind.name, key: marker.key })
    return {
      reason: `${other} manages the ${kind.label} ${describeStored(stored)}`,
      remedies: [`remove one of the two declarations, or ${second}`],
    }
  }
  return {
    reason: `${describeOwner(marker?.projectName)} owns the ${kind.label} ${describeStored(stored)}`,
    remedies: [
      `to take it over, remove it from the files of that project, and run apply there with ${spellInput('prune', 'forget')}`,
      `to create another one, ${second}`,
    ],
  }
}

export const describeOwner = (project: string | undefined): string => (project === undefined ? 'another project' : `the project ${project}`)
