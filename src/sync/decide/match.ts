// A declaration that nothing identifies could be about an object of its name, or an alert in its place. Nothing is created beside such an object.

import { adoptedIds, declarationDigest, diffSides } from '../../kinds/base.ts'
import { sidesOf } from '../../kinds/compare.ts'
import { type Body, describeStored, type Kind, type KindIdentity, type KindWire, type StoredObject } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import { type Declared, labelOf } from '../../kinds/kinds.ts'
import { ownershipTest } from '../../kinds/marker.ts'
import { type Diagnostic, exceptionalDiagnostic, type Rules } from '../../platform/core/diagnostics.ts'
import { quote } from '../../platform/core/text.ts'
import type { MarkedObject, StoredIndex } from '../plan/stored-objects.ts'
import {
  describeOwner,
  diagnose,
  type Finder,
  type Finding,
  holdOwned,
  type Identified,
  identityRules,
  isNothing,
  type Pair,
  sourceIdOf,
  tokensOf,
  trimmedName,
  unmanaged,
} from './identify.ts'
import { withArticle } from './twins.ts'

export const matchRules = {
  'same-name': {
    severity: 'warning',
    description: 'This project owns an object with this name under a key that no file declares. A second one will be created.',
  },
  'other-project': {
    severity: 'error',
    exception: 'warning',
    description: 'Another project owns an object with this name. This is a warning if this project owns other objects.',
  },
  recreated: {
    severity: 'warning',
    description:
      'The service does not have the object that `adopt` names. `apply` creates it from the file, without the parts that the API does not return.',
  },
} as const satisfies Rules

/** The identified object, or one without a marker that is like the declaration. */
export function matchObjects<D extends Declared>({ finder: known, findings: identified }: Identified<D>, resolve?: Finder<D>['resolve']) {
  const { kind, declared, orphans } = known
  const finder = { ...known, ...(resolve && { resolve }) }
  const taken = new Map<StoredObject, D>()
  for (const [one, { found }] of identified) if (found !== undefined && !taken.has(found.stored)) taken.set(found.stored, one)
  const unidentified = declared.filter((one) => isNothing(identified.get(one)))
  const alike = findAlike(unidentified, finder, new Set(taken.keys()))
  const diagnostics = [...reportEqualIdentities(finder)]
  const pairs = declared.map((one): Pair<D> => {
    const { diagnostic, ...match } = demandKnownForm(one, alike.get(one) ?? identified.get(one) ?? {}, finder)
    if (diagnostic !== undefined) diagnostics.push(diagnostic)
    const stored = match.found?.stored
    const other = stored && taken.get(stored)
    if (other !== undefined && other !== one)
      diagnostics.push(diagnose(identityRules, 'owned-elsewhere', one, `${addressOf(other)} refers to ${stored?.id}, too`))
    const ids = adoptedIds(one.value.adopt).map(({ id }) => id)
    const isCreated = match.found === undefined && match.candidates === undefined && match.hold === undefined
    if (kind.hasHiddenParts === true && isCreated && ids.length > 0) {
      const message = `the service has no ${kind.label} ${ids.join(', ')}, and apply creates one from the file. Parts that the API does not return are not in the file, so alerts on it may count something else: look at it in the web app`
      diagnostics.push(diagnose(matchRules, 'recreated', one, message))
    }
    return { declared: one, ...match }
  })
  const paired = new Set(pairs.map(({ found }) => found?.stored))
  return { pairs, orphans: orphans.filter(({ stored }) => !paired.has(stored)), diagnostics }
}

function reportEqualIdentities({ kind, declared }: Finder): readonly Diagnostic[] {
  if (kind.ownership === 'marker') return []
  const unidentified = declared.filter((one) => sourceIdOf(one) === undefined)
  return [...Map.groupBy(unidentified, ({ value }) => kind.tokenOf(value)).values()].flatMap(([, ...others]) =>
    others.map((one) => {
      const message = `another ${kind.label} in these files has the same identity, "${quote(labelOf(one))}"`
      return diagnose(identityRules, 'owned-elsewhere', one, message)
    }),
  )
}

/** The object is neither written nor created again. */
function demandKnownForm(declared: Declared, finding: Finding, finder: Finder): Finding {
  const { kind, unknown } = finder
  const { adopt } = declared.value
  const name = trimmedName(declared.value)
  if (finding.found !== undefined || finding.candidates !== undefined || finding.hold !== undefined || unknown.length === 0) return finding
  const ids = [sourceIdOf(declared), ...adoptedIds(adopt).map(({ id }) => id)]
  const tokens = tokensOf(declared, finder)
  const isMeant = ({ stored, token }: StoredIndex['all'][number]): boolean =>
    ids.includes(stored.id) ||
    (token !== undefined && tokens.includes(token)) ||
    (token === undefined && finder.hasMarkers && name !== '' && trimmedName(stored) === name)
  const found = unknown.find(isMeant)
  if (found === undefined) return finding
  const reason = `the ${kind.label} ${describeStored(found.stored)} has a form that this version does not know: ${found.undeclarable}`
  const isAsApplied = kind.readMarker(kind.toBody(found.stored))?.digest === declarationDigest(declared.value)
  return { hold: { reason, remedies: ['change it in the web app, or upgrade this tool'], isAsApplied } }
}

/** `taken` are the objects of the other declarations. */
function findAlike<D extends Declared>(
  unidentified: readonly D[],
  finder: Finder<D>,
  taken: ReadonlySet<StoredObject>,
): ReadonlyMap<D, Finding> {
  if (!finder.hasMarkers) return new Map()
  const groups = Map.groupBy(unidentified, (one) => likenessOfDeclared(one, finder))
  const paired = [...groups].flatMap(([likeness, group]) => {
    const free = objectsLike(likeness, finder).filter(({ stored, marker }) => marker === undefined && !taken.has(stored))
    return free.length === 0 ? [] : pairGroup(group, free, finder)
  })
  const findings = new Map(paired)
  return new Map(unidentified.map((one) => [one, findings.get(one) ?? refuseForeign(one, finder) ?? explainOwned(one, finder)] as const))
}

/** A name, or for alerts without one what they watch. */
export function likenessOf(
  kind: KindIdentity,
  named: { readonly name?: string | null | undefined },
  body: () => Body | undefined,
): string | undefined {
  const name = trimmedName(named)
  if (name !== '') return `name ${name}`
  const place = kind.placeOf?.(body() ?? {})
  return place && `place ${place}`
}

const likenessOfDeclared = <D extends Declared>(declared: D, { kind, resolve }: Finder<D>): string | undefined =>
  likenessOf(kind, declared.value, () => resolve?.(declared, undefined))

function objectsLike(likeness: string | undefined, { kind, byId, byName }: Finder): readonly MarkedObject[] {
  if (likeness === undefined) return []
  if (likeness.startsWith('name ')) return byName.get(likeness.slice('name '.length)) ?? []
  return [...byId.values()].filter(({ stored }) => likenessOf(kind, stored, () => kind.toBody(stored)) === likeness)
}

/** What is left on both sides could be the same, and is not: then the file has to say which one it means. */
function pairGroup<D extends Declared>(
  group: readonly D[],
  free: readonly MarkedObject[],
  finder: Finder<D>,
): readonly (readonly [D, Finding])[] {
  const { kind, resolve } = finder
  const left = new Set(free)
  const findings = new Map<D, Finding>()
  for (const isLike of resolve === undefined ? [] : [isEqual, isEqualButMarker])
    for (const declared of group.filter((one) => !findings.has(one))) {
      const found = left.values().find(({ stored }) => isLike(kind, resolve?.(declared, stored) ?? {}, stored))
      if (found === undefined) continue
      left.delete(found)
      findings.set(declared, { found, takeover: unmanaged })
    }
  const rest = group.filter((one) => !findings.has(one))
  const exact = [...left].filter(({ stored }) => stored.name === rest[0]?.value.name)
  const candidates = exact.length === 1 ? exact : [...left]
  const only = rest.length === 1 && candidates.length === 1 ? candidates[0] : undefined
  const others = candidates.length === 0 ? [] : rest.map((one) => [one, findDifferent(one, only, candidates, finder)] as const)
  return [...findings, ...others]
}

const isEqual = (kind: KindWire, body: Body, stored: StoredObject): boolean => diffSides(kind, sidesOf(kind, body, stored)).length === 0

/** The marker is a part of a text or of tags, which people edit. */
export function isEqualButMarker(kind: Kind, body: Body, stored: StoredObject): boolean {
  const { markedField: field } = kind
  return isEqual(kind, field === undefined ? body : { ...body, [field]: kind.withoutMarker(kind.toBody(stored))[field] }, stored)
}

/** `only` is the object that the declaration is about, where no other one could be. */
function findDifferent<D extends Declared>(
  declared: D,
  only: MarkedObject | undefined,
  candidates: readonly MarkedObject[],
  { resolve }: Finder<D>,
): Finding {
  const isNamed = declared.value.adopt === true
  if (!isNamed && resolve === undefined) return {}
  if (only !== undefined) return { found: only, takeover: unmanaged }
  return { candidates }
}

function refuseForeign<D extends Declared>(declared: D, finder: Finder<D>): Finding | undefined {
  const { kind, project, previousOwner, ownsAnything } = finder
  // Without any object, this project was most likely renamed.
  if (declared.value.adopt !== true || previousOwner?.project === false || !ownsAnything) return undefined
  const isOwned = ownershipTest(project, kind.markerStyle)
  const found = objectsLike(likenessOfDeclared(declared, finder), finder).find(({ marker }) => marker !== undefined && !isOwned(marker))
  return found && { hold: holdOwned(found, finder, 'choose another name') }
}

/** A project that owns nothing was most likely renamed. */
function explainOwned(declared: Declared, { kind, project, byName, orphans, previousOwner, ownsAnything }: Finder): Finding {
  const name = trimmedName(declared.value)
  // No name is the name of nothing.
  if (name === '') return {}
  const orphan = orphans.find(({ stored }) => trimmedName(stored) === name)
  if (orphan !== undefined) {
    const key = orphan.marker?.key
    const advice = key === undefined ? 'previousKey with the previous key' : `previousKey: ${key}`
    // No file has a place for the previous key of what is made from something else.
    const way = declared.madeFrom === undefined ? `If you changed the key, add ${advice}. Otherwise, apply` : 'Apply'
    const message = `this project owns ${withArticle(kind.label)} with this name (${orphan.stored.id}), but no file declares its key. ${way} creates a second one, and prune deletes the existing one`
    return { diagnostic: diagnose(matchRules, 'same-name', declared, message) }
  }
  const isOwned = ownershipTest(project, kind.markerStyle)
  const other = byName.get(name)?.find(({ marker }) => marker !== undefined && !isOwned(marker))
  if (other === undefined || previousOwner?.project === false) return {}
  if (!ownsAnything) return { ownedByOtherProject: other }
  const message = `${addressOf(declared)}: ${describeOwned(other, kind)}; a second one will be created`
  return { diagnostic: exceptionalDiagnostic(matchRules, 'other-project', declared.location, message) }
}

/** `the project shop/web owns an alert named "Errors" (65f…)`. */
export function describeOwned({ stored, marker }: MarkedObject, { label }: KindIdentity, project = marker?.projectName): string {
  return `${describeOwner(project)} owns ${withArticle(label)} named "${quote(trimmedName(stored))}" (${stored.id})`
}
