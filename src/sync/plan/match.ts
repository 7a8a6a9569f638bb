import { type AdoptedId, adoptedIds } from '../../kinds/adopt.ts'
import { sidesOf } from '../../kinds/compare.ts'
import { type Body, describeStored, type Kind, type StoredObject } from '../../kinds/kind.ts'
import { addressOf, sections } from '../../kinds/kind-names.ts'
import { type Declared, type Kinds, labelOf, previousKeyOf } from '../../kinds/kinds.ts'
import { ownershipTest } from '../../kinds/marker.ts'
import { diffSides } from '../../kinds/snapshot.ts'
import { type Diagnostic, diagnosticOf, exceptionalDiagnostic, type Rules } from '../../platform/core/diagnostics.ts'
import { spellInput, spellVariable } from '../../platform/core/input-spelling.ts'
import { plural, pluralOf, quote } from '../../platform/core/text.ts'
import type { Takeover } from './change.ts'
import type { MarkedObject, StoredIndex } from './stored-objects.ts'

export interface Pair<D extends Declared = Declared> {
  readonly declared: D
  /** Undefined for an object that must be created. */
  readonly found?: MarkedObject | undefined
  /** What the file says about an object without a marker: that it is the one to manage, and perhaps what it was like then. */
  readonly adopted?: AdoptedId | true | undefined
  /** Objects without a marker of which it is not clear which one is meant. Then none is created. */
  readonly candidates?: readonly MarkedObject[] | undefined
  /** Why an object is adopted that does not have the ownership marker of this key. The note is for reviewers. */
  readonly takeover?: { readonly from: Takeover; readonly note: string } | undefined
  /** Present where nothing is created, because an error says that the file means an object that it cannot have. */
  readonly isRefused?: true
  /** The object of another project with this name, where this project owns nothing: the project was most likely renamed. */
  readonly ofOther?: MarkedObject | undefined
}

export interface MatchResult<D extends Declared = Declared> {
  readonly pairs: readonly Pair<D>[]
  /** Objects with this project's marker that no file declares. */
  readonly orphans: readonly MarkedObject[]
  readonly diagnostics: readonly Diagnostic[]
}

export const matchRules = {
  'duplicate-marker': {
    severity: 'error',
    exception: 'note',
    description:
      'Two objects have the same ownership marker: two runs created them at the same time, or one is a copy. A note says how to repair them. If `adopt` names one of them, a note says that the other one is left as it is.',
  },
  'owned-elsewhere': {
    severity: 'error',
    description: 'The object that `adopt` means has the ownership marker of another key or project, or two declarations mean one object.',
  },
  'ambiguous-adoption': { severity: 'error', description: 'Several objects match `adopt`.' },
  'missing-object': { severity: 'error', description: 'The `id` in a file is not the id of an existing source.' },
  'same-name': {
    severity: 'warning',
    description: 'This project owns an object with this name under a key that no file declares. A second one will be created.',
  },
  held: {
    severity: 'error',
    exception: 'warning',
    description:
      'An existing object differs from the files, and stays as it is, because a person may have made the difference. So does what depends on it. This is a warning if only the service has changed since `pull`. `apply` writes the other objects, and deletes nothing if this is an error.',
  },
  recreated: {
    severity: 'warning',
    description:
      'The service does not have the object that `adopt` names. `apply` creates it from the file, without the parts that the API does not return.',
  },
  'adopt-done': { severity: 'note', description: 'The object is managed, so `adopt: true` can be removed.' },
  'other-project': {
    severity: 'error',
    exception: 'warning',
    description: 'Another project owns an object with this name. This is a warning if this project owns other objects.',
  },
  'not-adopted': {
    severity: 'error',
    description: 'An existing object differs from the files, which do not adopt it. Its API has no field for a marker.',
  },
  'unknown-kind': {
    severity: 'error',
    description: 'The object that the files refer to has a form that this version does not know. It is not written.',
  },
  'moved-key': { severity: 'error', description: 'An object exists under its key, and another one under its `previousKey`.' },
} as const satisfies Rules

/** The previous owner, whose objects are adopted. `none` confirms that a second set of objects is created. */
export interface PreviousOwner {
  readonly project?: string | undefined
  readonly repository?: string | undefined
  readonly none?: true
}

export type AdoptFrom = PreviousOwner | undefined

interface MatchInput<D extends Declared> {
  readonly kind: Kind
  readonly project: string
  readonly adoptFrom?: AdoptFrom
  /** Whether the server can patch dashboards. */
  readonly canPatch?: boolean
  /** Whether this project owns anything in the service. */
  readonly ownsAnything: boolean
  readonly declared: readonly D[]
  readonly index: StoredIndex
}

interface Bodies<D extends Declared> {
  /** The body of a declaration, as it would be for the stored object. Without it, no objects are compared. */
  resolve?(declared: D, stored: StoredObject | undefined): Body
}

/** Some servers trim names. */
export const trimmedName = ({ name }: { readonly name?: string | null | undefined }): string => (name ?? '').trim()

const report = (declared: Declared, rule: keyof typeof matchRules, message: string): Diagnostic =>
  diagnosticOf(matchRules, rule, declared.location, `${addressOf(declared)}: ${message}`)

const reportException = (declared: Declared, rule: 'other-project', message: string): Diagnostic =>
  exceptionalDiagnostic(matchRules, rule, declared.location, `${addressOf(declared)}: ${message}`)

const withArticle = (label: string): string => `${/^[aeiou]/.test(label) ? 'an' : 'a'} ${label}`

const unmanaged: Pair['takeover'] = { from: 'unmanaged', note: 'adopts an unmanaged object' }

interface Match extends Omit<Pair, 'declared'> {
  readonly diagnostic?: Diagnostic
}

/** What is known of declared objects without their bodies, which may need the ids of other objects. */
export interface Identified<D extends Declared = Declared> {
  readonly finder: Finder<D>
  readonly matches: ReadonlyMap<D, Match>
}

/** Finds the stored objects of declared ones by ownership marker or identity, and by an id that the file has. */
export function identifyObjects<D extends Declared>(input: MatchInput<D>): Identified<D> {
  const { kind, project, declared, index } = input
  const isOwned = ownershipTest(project, kind.markerStyle)
  const claimed = new Set(declared.map(({ key }) => kind.markerStyle.token(project, key)))
  const orphans = index.all.filter(({ marker }) => isOwned(marker) && !claimed.has(marker?.token ?? ''))
  const finder = createFinder(input, orphans)
  return { finder, matches: new Map(declared.map((one) => [one, findIdentified(one, finder)] as const)) }
}

/**
 * The stored object of each declared one: the identified one, or one without a marker with its name, or in the place of an alert without a
 * name.
 */
export function matchObjects<D extends Declared>(
  { finder: known, matches: identified }: Identified<D>,
  bodies: Bodies<D> = {},
): MatchResult<D> {
  const { kind, declared, orphans } = known
  const finder = { ...known, ...bodies }
  const taken = new Map<StoredObject, D>()
  for (const [one, { found }] of identified) if (found !== undefined && !taken.has(found.stored)) taken.set(found.stored, one)
  const unidentified = declared.filter((one) => isEmptyMatch(identified.get(one)))
  const alike = pairUnmarked(unidentified, finder, new Set(taken.keys()))
  const diagnostics = [...reportEqualIdentities(finder)]
  const pairs = declared.flatMap((one): readonly Pair<D>[] => {
    const { diagnostic, ...match } = demandKnownForm(one, alike.get(one) ?? identified.get(one) ?? {}, finder)
    if (diagnostic !== undefined) diagnostics.push(diagnostic)
    if (diagnostic?.rule === 'unknown-kind') return []
    const stored = match.found?.stored
    const other = stored && taken.get(stored)
    if (other !== undefined && other !== one)
      diagnostics.push(report(one, 'owned-elsewhere', `${addressOf(other)} refers to ${stored?.id}, too`))
    if (finder.hasMarkers && one.value.adopt === true && match.found !== undefined && match.takeover === undefined)
      diagnostics.push(report(one, 'adopt-done', `this project manages the ${kind.label} ${match.found.stored.id}; remove adopt: true`))
    const ids = adoptedIds(one.value.adopt).map(({ id }) => id)
    const isGone = ids.length > 0 && !ids.some((id) => finder.byId.has(id))
    if (kind.hasHiddenParts === true && isGone && match.found === undefined && match.candidates === undefined)
      diagnostics.push(
        report(
          one,
          'recreated',
          `the service has no ${kind.label} ${ids.join(', ')}, and apply creates one from the file. Parts that the API does not return are not in the file, so alerts on it may count something else: look at it in the web app`,
        ),
      )
    return [{ declared: one, ...match, ...(match.found === undefined && diagnostic?.severity === 'error' && { isRefused: true }) }]
  })
  const paired = new Set(pairs.map(({ found }) => found?.stored))
  return { pairs, orphans: orphans.filter(({ stored }) => !paired.has(stored)), diagnostics }
}

const isEmptyMatch = ({ found, diagnostic }: Match = {}): boolean => found === undefined && diagnostic === undefined

function reportEqualIdentities({ kind, declared }: MatchInput<Declared>): readonly Diagnostic[] {
  if (kind.ownership === 'marker') return []
  const unidentified = declared.filter((one) => sourceIdOf(one) === undefined)
  return [...Map.groupBy(unidentified, ({ value }) => kind.tokenOf(value)).values()].flatMap(([, ...others]) =>
    others.map((one) =>
      report(one, 'owned-elsewhere', `another ${kind.label} in these files has the same identity, "${quote(labelOf(one), 60)}"`),
    ),
  )
}

interface Finder<D extends Declared = Declared> extends MatchInput<D>, Bodies<D> {
  readonly hasMarkers: boolean
  readonly orphans: readonly MarkedObject[]
  /** The objects that a file can declare. */
  readonly byId: ReadonlyMap<string, MarkedObject>
  /** The objects with a name. */
  readonly byName: ReadonlyMap<string, readonly MarkedObject[]>
  /** The objects of a form that this version does not know. They are never written. */
  readonly unknown: StoredIndex['all']
}

function createFinder<D extends Declared>(input: MatchInput<D>, orphans: readonly MarkedObject[]): Finder<D> {
  const known = input.index.all.filter(({ undeclarable }) => undeclarable === undefined)
  return {
    ...input,
    orphans,
    hasMarkers: input.kind.ownership === 'marker',
    byId: new Map(known.map((one) => [one.stored.id, one])),
    byName: Map.groupBy(known, ({ stored }) => trimmedName(stored)),
    unknown: input.index.all.filter(({ undeclarable }) => undeclarable !== undefined),
  }
}

/** Finds an object by its marker or identity, by the previous one, by that of `adopt-from`, and by its id, in this order. */
function findIdentified(declared: Declared, finder: Finder): Match {
  if (finder.hasMarkers) {
    const marked = findByToken(declared, finder)
    return marked.found === undefined ? findAdopted(declared, finder) : marked
  }
  const id = sourceIdOf(declared)
  return id === undefined ? findByToken(declared, finder) : findById(declared, id, finder)
}

/** A source has no marker, so a file can give its id. */
const sourceIdOf = ({ value }: Declared): string | undefined => ('id' in value ? value.id : undefined)

/** The key or name that the file says the object had before. */
const previousOf = (declared: Declared): string | undefined =>
  'previousName' in declared.value ? declared.value.previousName : previousKeyOf(declared)

/** The token of the object under its key or identity, and the one under its previous one. */
function tokensOf(declared: Declared, { kind, project, hasMarkers }: Finder): readonly [string | undefined, string | undefined] {
  const { key, value } = declared
  const previous = previousOf(declared)
  const [own, moved] = hasMarkers
    ? [kind.markerStyle.token(project, key), kind.markerStyle.token(project, previous ?? '')]
    : [kind.tokenOf(value), kind.tokenOf({ ...value, name: previous })]
  return [own, previous === undefined ? undefined : moved]
}

function findByToken(declared: Declared, finder: Finder): Match {
  const { kind, hasMarkers } = finder
  const [own = {}, moved = {}] = tokensOf(declared, finder).map((token) => findHolder(declared, token, finder))
  const previous = previousOf(declared)
  if (own.found !== undefined && moved.found !== undefined) {
    const [now, before] = [own.found.stored.id, moved.found.stored.id]
    const message = hasMarkers
      ? `one ${kind.label} exists under this key (${now}) and one under its previousKey ${previous} (${before}); delete one of them, or remove previousKey`
      : `one ${kind.label} exists with this name (${now}) and one with its previousName (${before}); remove previousName, or delete one of them`
    return { ...own, diagnostic: report(declared, 'moved-key', message) }
  }
  if (own.found !== undefined) return own
  if (moved.found !== undefined)
    return { ...moved, takeover: { from: 'renamed', note: `${hasMarkers ? 'the key was ' : ''}renamed from ${previous}` } }
  return findInOtherProject(declared, finder)
}

/** Why a repair cannot compare twins of this kind; undefined where it can, and deletes the twin that it does not need. */
export function whyNotCompared({ ownership, label, notInFiles }: Kind): string | undefined {
  if (ownership === 'identity') return `${withArticle(label)} is never deleted`
  return notInFiles === undefined ? undefined : `the API hides parts of ${withArticle(label)}, so nothing shows whether someone changed it`
}

/** Whether `repair: duplicates` leaves one object with the marker. */
export const canRepair = (kind: Kind, canPatch: boolean): boolean =>
  whyNotCompared(kind) === undefined || (canPatch && kind.canPatch === true)

/** What a person can do about two objects, of which a run has released one or none. */
export function repairByHand({ removal }: Kind, isReleased = false): string {
  if (removal === undefined) return 'In the web app, delete the one that you do not need, when nothing uses it any more'
  const loss = 'this also deletes the alerts on it'
  if (isReleased) return `In the web app, delete the duplicate if you do not need it: ${loss}, which notify until then`
  return `In the web app, delete the one that you do not need: ${loss}. To keep both, remove the tag that begins with wk: from one of them`
}

/** The object with the token; of several, the first one with an error. */
function findHolder(declared: Declared, token: string | undefined, { kind, index, hasMarkers, canPatch = false }: Finder): Match {
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
      diagnostic: exceptionalDiagnostic(matchRules, 'duplicate-marker', declared.location, `${addressOf(declared)}: ${message}`),
    }
  }
  const alike = pluralOf(kind.label)
  const diagnostic = hasMarkers
    ? report(
        declared,
        'duplicate-marker',
        `${holders.length} ${alike} have this ownership marker (${ids})${canRepair(kind, canPatch) ? `; set ${spellVariable('repair', 'duplicates')} for one run, or delete the one that you do not need` : `. No run repairs this, because ${whyNotCompared(kind)}. ${repairByHand(kind)}`}`,
      )
    : report(
        declared,
        'ambiguous-adoption',
        `several ${alike} have this identity (${ids}); add the id of the one to manage, or delete the other one in the web app`,
      )
  return { found, diagnostic }
}

/** The object that the project of `adopt-from` owns under this key or its previousKey. */
function findInOtherProject(declared: Declared, finder: Finder): Match {
  const { kind, adoptFrom: { project } = {} } = finder
  if (project === undefined) return {}
  const keys = [declared.key, previousOf(declared)].filter((key) => key !== undefined)
  const holders = keys.map((key) => findHolder(declared, kind.markerStyle.token(project, key), finder))
  const match = holders.find(({ found }) => found !== undefined)
  return match === undefined ? {} : { ...match, takeover: { from: 'other-project', note: `adopts an object of the project ${project}` } }
}

function findById(declared: Declared, id: string, { kind, byId }: Finder): Match {
  const found = byId.get(id)
  if (found !== undefined) return { found }
  return { diagnostic: report(declared, 'missing-object', `${kind.label} ${quote(id, 60)} does not exist; remove id to create a new one`) }
}

/** The object with one of the ids in `adopt`. The other ids are of other services. */
function findAdopted(declared: Declared, finder: Finder): Match {
  const { byId, orphans } = finder
  const known = adoptedIds(declared.value.adopt).flatMap((adopted) => {
    const found = byId.get(adopted.id)
    return found === undefined ? [] : [{ found, adopted }]
  })
  const [first, second] = known
  if (first === undefined) return {}
  const { found, adopted } = first
  if (second !== undefined) {
    const ids = known.map(({ found: { stored } }) => stored.id).join(', ')
    return { diagnostic: report(declared, 'ambiguous-adoption', `adopt has several ids of this service (${ids}); keep one of them`) }
  }
  if (found.marker === undefined) return { found, adopted, takeover: unmanaged }
  if (orphans.includes(found)) {
    const note = found.marker.key === undefined ? 'the key was renamed' : `the key was renamed from ${found.marker.key}`
    return { found, takeover: { from: 'renamed', note } }
  }
  return { diagnostic: report(declared, 'owned-elsewhere', refuseOwned(found, finder, 'remove the id from adopt')) }
}

/** Why an object with a marker is not adopted, and how to take it over. */
function refuseOwned(found: MarkedObject, { kind, project }: Finder, second: string): string {
  const { stored, marker } = found
  if (ownershipTest(project, kind.markerStyle)(marker)) {
    const other = marker?.key === undefined ? 'another key' : addressOf({ kind: kind.name, key: marker.key })
    return `${other} manages the ${kind.label} ${describeStored(stored)}; remove one of the two declarations, or ${second}`
  }
  return `${ownerOf(marker?.projectName)} owns the ${kind.label} ${describeStored(stored)}. To take it over, remove it from the files of that project, and run apply there with ${spellInput('prune', 'forget')}; to create another one, ${second}`
}

/**
 * The match of each declaration that nothing identifies, with an object of its name, or of the place of an alert without a name. Nothing is
 * ever created beside such an object. `taken` are the objects of the others.
 */
function pairUnmarked<D extends Declared>(
  unidentified: readonly D[],
  finder: Finder<D>,
  taken: ReadonlySet<StoredObject>,
): ReadonlyMap<D, Match> {
  if (!finder.hasMarkers) return new Map()
  const wanting = unidentified.filter(({ value }) => value.adopt !== false)
  const groups = Map.groupBy(wanting, (one) => placeOfDeclared(one, finder))
  const found = [...groups].flatMap(([place, group]) => {
    const free = objectsIn(place, finder).filter(({ stored, marker }) => marker === undefined && !taken.has(stored))
    return free.length === 0 ? [] : pairGroup(group, free, finder)
  })
  const matches = new Map(found)
  return new Map(unidentified.map((one) => [one, matches.get(one) ?? refuseForeign(one, finder) ?? explainOwned(one, finder)] as const))
}

/** What a declaration and an object have in common that could be the same: a name, or for alerts without one what they watch. */
export function placeOf(
  kind: Kind,
  named: { readonly name?: string | null | undefined },
  body: () => Body | undefined,
): string | undefined {
  const name = trimmedName(named)
  if (name !== '') return `name ${name}`
  const place = kind.placeOf?.(body() ?? {})
  return place && `place ${place}`
}

const placeOfDeclared = <D extends Declared>(declared: D, { kind, resolve }: Finder<D>): string | undefined =>
  placeOf(kind, declared.value, () => resolve?.(declared, undefined))

function objectsIn(place: string | undefined, { kind, byId, byName }: Pick<Finder, 'kind' | 'byId' | 'byName'>): readonly MarkedObject[] {
  if (place === undefined) return []
  if (place.startsWith('name ')) return byName.get(place.slice('name '.length)) ?? []
  return [...byId.values()].filter(({ stored }) => placeOf(kind, stored, () => kind.toBody(stored)) === place)
}

/** Equal ones belong together. What is left on both sides could be the same, and is not: then the file has to say which one it means. */
function pairGroup<D extends Declared>(
  group: readonly D[],
  free: readonly MarkedObject[],
  finder: Finder<D>,
): readonly (readonly [D, Match])[] {
  const { kind, resolve } = finder
  const left = new Set(free)
  const matches = new Map<D, Match>()
  // Before the first apply of a project, no object can have lost its marker.
  for (const isLike of resolve === undefined ? [] : finder.ownsAnything ? [isEqual, isEqualButMarker] : [isEqual])
    for (const declared of group.filter((one) => !matches.has(one))) {
      const found = left.values().find(({ stored }) => isLike(kind, resolve?.(declared, stored) ?? {}, stored))
      if (found === undefined) continue
      left.delete(found)
      matches.set(declared, { found, takeover: unmanaged, ...adoptedByName(declared) })
    }
  const rest = group.filter((one) => !matches.has(one))
  const exact = [...left].filter(({ stored }) => stored.name === rest[0]?.value.name)
  const candidates = exact.length === 1 ? exact : [...left]
  const only = rest.length === 1 && candidates.length === 1 ? candidates[0] : undefined
  const others = candidates.length === 0 ? [] : rest.map((one) => [one, matchDifferent(one, only, candidates, finder)] as const)
  return [...matches, ...others]
}

const isEqual = (kind: Kind, body: Body, stored: StoredObject): boolean => diffSides(kind, sidesOf(kind, body, stored)).length === 0

/** The marker is a part of a text or of tags, which people edit. */
const isEqualButMarker = (kind: Kind, body: Body, stored: StoredObject): boolean =>
  isEqual(kind, keepMarkedField(kind, body, stored), stored)

/** The body with the stored text or tags in which a marker was. */
export const keepMarkedField = (kind: Kind, body: Body, stored: StoredObject): Body =>
  kind.markedField === undefined ? body : { ...body, [kind.markedField]: kind.withoutMarker(kind.toBody(stored))[kind.markedField] }

const adoptedByName = ({ value }: Declared): Pick<Match, 'adopted'> => (value.adopt === true ? { adopted: true } : {})

/** A declaration that equals none of the objects. `only` is the one that it is about, where nothing else could be. */
function matchDifferent<D extends Declared>(
  declared: D,
  only: MarkedObject | undefined,
  candidates: readonly MarkedObject[],
  { kind, resolve }: Finder<D>,
): Match {
  const isNamed = declared.value.adopt === true
  if (!isNamed && resolve === undefined) return {}
  if (only !== undefined) return { found: only, takeover: unmanaged, ...adoptedByName(declared) }
  if (!isNamed) return { candidates }
  const ids = candidates.map(({ stored }) => stored.id).join(', ')
  const name = trimmedName(declared.value)
  const what = name === '' ? 'are in this place' : `are named "${quote(name, 60)}"`
  const message = `several unmanaged ${pluralOf(kind.label)} ${what} (${ids}), or several declarations are about one; set adopt to the id of the one to manage`
  return { diagnostic: report(declared, 'ambiguous-adoption', message) }
}

/** An error for `adopt: true` where the object that it means is of another project. */
function refuseForeign<D extends Declared>(declared: D, finder: Finder<D>): Match | undefined {
  const { kind, project, adoptFrom, ownsAnything } = finder
  // Without any object, this project was most likely renamed.
  if (declared.value.adopt !== true || adoptFrom?.none || !ownsAnything) return undefined
  const isOwned = ownershipTest(project, kind.markerStyle)
  const found = objectsIn(placeOfDeclared(declared, finder), finder).find(({ marker }) => marker !== undefined && !isOwned(marker))
  const second = kind.hasUniqueNames ? 'choose another name' : 'set adopt to false'
  return found && { diagnostic: report(declared, 'owned-elsewhere', refuseOwned(found, finder, second)) }
}

/** An object with this name that has a marker: of a key that was changed, or of another project, which was most likely renamed if this one owns nothing. */
function explainOwned(declared: Declared, { kind, project, byName, orphans, adoptFrom, ownsAnything }: Finder): Match {
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
    return { diagnostic: report(declared, 'same-name', message) }
  }
  const isOwned = ownershipTest(project, kind.markerStyle)
  const other = byName.get(name)?.find(({ marker }) => marker !== undefined && !isOwned(marker))
  if (other === undefined || adoptFrom?.none) return {}
  if (!ownsAnything) return { ofOther: other }
  const given =
    adoptFrom?.project === undefined ? '' : `; the project in ${spellInput('adopt-from')}, ${adoptFrom.project}, does not own it`
  const message = `${describeOwned(other, kind)}${given}; a second one will be created`
  return { diagnostic: reportException(declared, 'other-project', message) }
}

const ownerOf = (project: string | undefined): string => (project === undefined ? 'another project' : `the project ${project}`)

/** `the project shop/web owns an alert named "Errors" (65f…)`. */
function describeOwned({ stored, marker }: MarkedObject, { label }: Kind, project = marker?.projectName): string {
  return `${ownerOf(project)} owns ${withArticle(label)} named "${quote(trimmedName(stored), 60)}" (${stored.id})`
}

/** An error in place of a create where the object has a form that this version does not know: it is neither written nor created again. */
function demandKnownForm(declared: Declared, match: Match, finder: Finder): Match {
  const { kind, unknown } = finder
  const { adopt } = declared.value
  const name = trimmedName(declared.value)
  if (match.found !== undefined || match.candidates !== undefined || unknown.length === 0) return match
  const ids = [sourceIdOf(declared), ...adoptedIds(adopt).map(({ id }) => id)]
  const tokens = tokensOf(declared, finder)
  const isMeant = ({ stored, token }: StoredIndex['all'][number]): boolean =>
    ids.includes(stored.id) ||
    (token !== undefined && tokens.includes(token)) ||
    (token === undefined && finder.hasMarkers && adopt !== false && name !== '' && trimmedName(stored) === name)
  const found = unknown.find(isMeant)
  if (found === undefined) return match
  const message = `the ${kind.label} ${describeStored(found.stored)} is not written: ${found.undeclarable}. Change it in the web app, or upgrade this tool`
  return { diagnostic: report(declared, 'unknown-kind', message) }
}

/** An error for orphans with the same marker, because it is unknown which of them is the copy. */
export function findTwinOrphans(orphans: readonly MarkedObject[], { name, label }: Kind): readonly Diagnostic[] {
  return [...Map.groupBy(orphans, ({ marker }) => marker?.token).values()].flatMap((alike): readonly Diagnostic[] => {
    if (alike.length < 2) return []
    const ids = alike.map(({ stored }) => describeStored(stored)).join(', ')
    const message = `${alike.length} ${pluralOf(label)} have the same marker: ${ids}; to keep a copy, delete its marker`
    return [diagnosticOf(matchRules, 'duplicate-marker', { file: sections[name] }, message)]
  })
}

/** The command that adopts the objects of a renamed project, by its previous name. */
export type AdoptCommand = (previous: string) => string

/** One error for all objects of a project that was most likely renamed. */
export function reportRenamedProject(
  pairs: readonly Pair[],
  kinds: Kinds,
  options: { readonly project: string; readonly adoptFrom?: AdoptFrom; readonly adoptCommand?: AdoptCommand },
): readonly Diagnostic[] {
  const { project, adoptFrom, adoptCommand } = options
  const objects = pairs.flatMap(({ declared, ofOther }) => (ofOther === undefined ? [] : [{ declared, found: ofOther }]))
  const [first, ...others] = objects
  if (first === undefined) return []
  const { declared, found } = first
  const name = objects.map((one) => one.found.marker?.projectName).find((one) => one !== undefined)
  const more = others.length === 0 ? '' : `, and ${plural(others.length, 'more object')} of these files`
  const given =
    adoptFrom?.project === undefined ? '' : `, and the project in ${spellInput('adopt-from')}, ${adoptFrom.project}, does not own it`
  const previous = name ?? 'PREVIOUS-NAME'
  const command = adoptCommand?.(previous) ?? `watchkeeper apply --project ${project} --adopt-from project=${previous}`
  const advice = `If the project was renamed, run once: ${command}. To create a second set of objects, set ${spellInput('adopt-from', 'none')}`
  return [
    report(
      declared,
      'other-project',
      `${describeOwned(found, kinds[declared.kind], name)}${more}; ${project} owns nothing yet${given}. ${advice}`,
    ),
  ]
}
