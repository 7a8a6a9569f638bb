// Finds what a declaration that nothing identifies could be about: an object of its name, or for an alert without one, in its place. Nothing is
// ever created beside such an object, and only an equal one is the same.

import { sidesOf } from '../../kinds/compare.ts'
import type { Body, Kind, StoredObject } from '../../kinds/kind.ts'
import { addressOf } from '../../kinds/kind-names.ts'
import type { Declared } from '../../kinds/kinds.ts'
import { ownershipTest } from '../../kinds/marker.ts'
import { diffSides } from '../../kinds/snapshot.ts'
import { exceptionalDiagnostic, type Rules } from '../../platform/core/diagnostics.ts'
import { spellInput } from '../../platform/core/input-spelling.ts'
import { pluralOf, quote } from '../../platform/core/text.ts'
import type { MarkedObject } from '../plan/stored-objects.ts'
import { describeOwner, diagnose, type Finder, type Finding, identityRules, refuseOwned, trimmedName, unmanaged } from './identify.ts'
import { withArticle } from './twins.ts'

export const likenessRules = {
  'same-name': {
    severity: 'warning',
    description: 'This project owns an object with this name under a key that no file declares. A second one will be created.',
  },
  'other-project': {
    severity: 'error',
    exception: 'warning',
    description: 'Another project owns an object with this name. This is a warning if this project owns other objects.',
  },
} as const satisfies Rules

/** What becomes of declarations that nothing identifies. `taken` are the objects of the others. */
export function findAlike<D extends Declared>(
  unidentified: readonly D[],
  finder: Finder<D>,
  taken: ReadonlySet<StoredObject>,
): ReadonlyMap<D, Finding> {
  if (!finder.hasMarkers) return new Map()
  const wanting = unidentified.filter(({ value }) => value.adopt !== false)
  const groups = Map.groupBy(wanting, (one) => likenessOfDeclared(one, finder))
  const paired = [...groups].flatMap(([likeness, group]) => {
    const free = objectsLike(likeness, finder).filter(({ stored, marker }) => marker === undefined && !taken.has(stored))
    return free.length === 0 ? [] : pairGroup(group, free, finder)
  })
  const findings = new Map(paired)
  return new Map(unidentified.map((one) => [one, findings.get(one) ?? refuseForeign(one, finder) ?? explainOwned(one, finder)] as const))
}

/** What a declaration and an object have in common that could be the same: a name, or for alerts without one what they watch. */
export function likenessOf(
  kind: Kind,
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

function objectsLike(
  likeness: string | undefined,
  { kind, byId, byName }: Pick<Finder, 'kind' | 'byId' | 'byName'>,
): readonly MarkedObject[] {
  if (likeness === undefined) return []
  if (likeness.startsWith('name ')) return byName.get(likeness.slice('name '.length)) ?? []
  return [...byId.values()].filter(({ stored }) => likenessOf(kind, stored, () => kind.toBody(stored)) === likeness)
}

/** Equal ones belong together. What is left on both sides could be the same, and is not: then the file has to say which one it means. */
function pairGroup<D extends Declared>(
  group: readonly D[],
  free: readonly MarkedObject[],
  finder: Finder<D>,
): readonly (readonly [D, Finding])[] {
  const { kind, resolve } = finder
  const left = new Set(free)
  const findings = new Map<D, Finding>()
  // Before the first apply of a project, no object can have lost its marker.
  for (const isLike of resolve === undefined ? [] : finder.ownsAnything ? [isEqual, isEqualButMarker] : [isEqual])
    for (const declared of group.filter((one) => !findings.has(one))) {
      const found = left.values().find(({ stored }) => isLike(kind, resolve?.(declared, stored) ?? {}, stored))
      if (found === undefined) continue
      left.delete(found)
      findings.set(declared, { found, takeover: unmanaged, ...adoptedByName(declared) })
    }
  const rest = group.filter((one) => !findings.has(one))
  const exact = [...left].filter(({ stored }) => stored.name === rest[0]?.value.name)
  const candidates = exact.length === 1 ? exact : [...left]
  const only = rest.length === 1 && candidates.length === 1 ? candidates[0] : undefined
  const others = candidates.length === 0 ? [] : rest.map((one) => [one, findDifferent(one, only, candidates, finder)] as const)
  return [...findings, ...others]
}

const isEqual = (kind: Kind, body: Body, stored: StoredObject): boolean => diffSides(kind, sidesOf(kind, body, stored)).length === 0

/** The marker is a part of a text or of tags, which people edit. */
export const isEqualButMarker = (kind: Kind, body: Body, stored: StoredObject): boolean =>
  isEqual(kind, keepMarkedField(kind, body, stored), stored)

/** The body with the stored text or tags in which a marker was. */
export const keepMarkedField = (kind: Kind, body: Body, stored: StoredObject): Body =>
  kind.markedField === undefined ? body : { ...body, [kind.markedField]: kind.withoutMarker(kind.toBody(stored))[kind.markedField] }

const adoptedByName = ({ value }: Declared): Pick<Finding, 'adopted'> => (value.adopt === true ? { adopted: true } : {})

/** A declaration that equals none of the objects. `only` is the one that it is about, where nothing else could be. */
function findDifferent<D extends Declared>(
  declared: D,
  only: MarkedObject | undefined,
  candidates: readonly MarkedObject[],
  { kind, resolve }: Finder<D>,
): Finding {
  const isNamed = declared.value.adopt === true
  if (!isNamed && resolve === undefined) return {}
  if (only !== undefined) return { found: only, takeover: unmanaged, ...adoptedByName(declared) }
  if (!isNamed) return { candidates }
  const ids = candidates.map(({ stored }) => stored.id).join(', ')
  const name = trimmedName(declared.value)
  const what = name === '' ? 'are in this place' : `are named "${quote(name, 60)}"`
  const message = `several unmanaged ${pluralOf(kind.label)} ${what} (${ids}), or several declarations are about one; set adopt to the id of the one to manage`
  return { diagnostic: diagnose(identityRules, 'ambiguous-adoption', declared, message) }
}

/** An error for `adopt: true` where the object that it means is of another project. */
function refuseForeign<D extends Declared>(declared: D, finder: Finder<D>): Finding | undefined {
  const { kind, project, adoptFrom, ownsAnything } = finder
  // Without any object, this project was most likely renamed.
  if (declared.value.adopt !== true || adoptFrom?.none || !ownsAnything) return undefined
  const isOwned = ownershipTest(project, kind.markerStyle)
  const found = objectsLike(likenessOfDeclared(declared, finder), finder).find(({ marker }) => marker !== undefined && !isOwned(marker))
  const second = kind.hasUniqueNames ? 'choose another name' : 'set adopt to false'
  return found && { diagnostic: diagnose(identityRules, 'owned-elsewhere', declared, refuseOwned(found, finder, second)) }
}

/** An object with this name that has a marker: of a key that was changed, or of another project, which was most likely renamed if this one owns nothing. */
function explainOwned(declared: Declared, { kind, project, byName, orphans, adoptFrom, ownsAnything }: Finder): Finding {
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
    return { diagnostic: diagnose(likenessRules, 'same-name', declared, message) }
  }
  const isOwned = ownershipTest(project, kind.markerStyle)
  const other = byName.get(name)?.find(({ marker }) => marker !== undefined && !isOwned(marker))
  if (other === undefined || adoptFrom?.none) return {}
  if (!ownsAnything) return { ownedByOtherProject: other }
  const hint = adoptFrom?.project === undefined ? '' : `; the project in ${spellInput('adopt-from')}, ${adoptFrom.project}, does not own it`
  const message = `${addressOf(declared)}: ${describeOwned(other, kind)}${hint}; a second one will be created`
  return { diagnostic: exceptionalDiagnostic(likenessRules, 'other-project', declared.location, message) }
}

/** `the project shop/web owns an alert named "Errors" (65f…)`. */
export function describeOwned({ stored, marker }: MarkedObject, { label }: Pick<Kind, 'label'>, project = marker?.projectName): string {
  return `${describeOwner(project)} owns ${withArticle(label)} named "${quote(trimmedName(stored), 60)}" (${stored.id})`
}
