import { type Diagnostic, diagnosticOf, exceptionOf, type Rules } from '../../core/diagnostics.ts'
import { plural, pluralOf, quote } from '../../core/text.ts'
import { describeStored, type Kind, type StoredObject } from '../../kinds/kind.ts'
import { addressOf, sections } from '../../kinds/kind-names.ts'
import { type Declared, type Kinds, labelOf, previousKeyOf } from '../../kinds/kinds.ts'
import { ownershipTest } from '../../kinds/marker.ts'
import type { Takeover } from './change.ts'
import type { MarkedObject, StoredIndex } from './stored-objects.ts'

export interface Pair<D extends Declared = Declared> {
  readonly declared: D
  /** Undefined for an object that must be created. */
  readonly found?: MarkedObject | undefined
  /** Why an object is adopted that does not have the ownership marker of this key. The note is for reviewers. */
  readonly takeover?: { readonly from: Takeover; readonly note: string } | undefined
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
      'Two objects have the same ownership marker: two runs created them at the same time, or one is a copy. A note says how to repair them.',
  },
  'owned-elsewhere': {
    severity: 'error',
    description: 'An object that the files refer to has the ownership marker of another key or project.',
  },
  'ambiguous-adoption': { severity: 'error', description: 'Several objects match `adopt`.' },
  'missing-object': { severity: 'error', description: 'The `id` in a file is not the id of an existing object.' },
  'same-name': {
    severity: 'warning',
    exception: 'error',
    description:
      'An object with this name exists and is not adopted. A second one will be created. This is an error if the server allows no second one.',
  },
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

/** Some servers trim names. */
export const trimmedName = ({ name }: { readonly name?: string | null | undefined }): string => (name ?? '').trim()

const report = (declared: Declared, rule: keyof typeof matchRules, message: string): Diagnostic =>
  diagnosticOf(matchRules, rule, declared.location, `${addressOf(declared)}: ${message}`)

const reportException = (declared: Declared, rule: 'same-name' | 'other-project', message: string): Diagnostic =>
  exceptionOf(matchRules, rule, declared.location, `${addressOf(declared)}: ${message}`)

const withArticle = (label: string): string => `${/^[aeiou]/.test(label) ? 'an' : 'a'} ${label}`

const unmanaged: Pair['takeover'] = { from: 'unmanaged', note: 'adopts an unmanaged object' }

interface Match extends Omit<Pair, 'declared'> {
  readonly diagnostic?: Diagnostic
}

/** Finds the stored object of each declared one: by ownership marker or identity, by id, or by name where the file says so. */
export function matchObjects<D extends Declared>(input: MatchInput<D>): MatchResult<D> {
  const { kind, project, declared, index } = input
  const isOwned = ownershipTest(project, kind.markerStyle)
  const claimed = new Set(declared.map(({ key }) => kind.markerStyle.token(project, key)))
  const orphans = index.all.filter(({ marker }) => isOwned(marker) && !claimed.has(marker?.token ?? ''))
  const finder = createFinder(input, orphans)
  const taken = new Map<StoredObject, D>()
  const diagnostics = [...reportEqualIdentities(input)]
  const pairs = declared.flatMap((one): readonly Pair<D>[] => {
    const { diagnostic, ...match } = findFor(one, finder)
    if (diagnostic !== undefined) diagnostics.push(diagnostic)
    if (diagnostic?.rule === 'unknown-kind') return []
    const stored = match.found?.stored
    const other = stored && taken.get(stored)
    if (stored !== undefined) taken.set(stored, one)
    if (other !== undefined) diagnostics.push(report(one, 'owned-elsewhere', `${addressOf(other)} refers to ${stored?.id}, too`))
    return [{ declared: one, ...match }]
  })
  return { pairs, orphans: orphans.filter(({ stored }) => !taken.has(stored)), diagnostics }
}

function reportEqualIdentities({ kind, declared }: MatchInput<Declared>): readonly Diagnostic[] {
  if (kind.ownership === 'marker') return []
  const unidentified = declared.filter(({ value }) => value.id === undefined)
  return [...Map.groupBy(unidentified, ({ value }) => kind.tokenOf(value)).values()].flatMap(([, ...others]) =>
    others.map((one) =>
      report(one, 'owned-elsewhere', `another ${kind.label} in these files has the same identity, "${quote(labelOf(one), 60)}"`),
    ),
  )
}

interface Finder extends Omit<MatchInput<Declared>, 'declared'> {
  readonly hasMarkers: boolean
  /** The objects that a file can declare. */
  readonly byId: ReadonlyMap<string, MarkedObject>
  /** The objects with a name. */
  readonly byName: ReadonlyMap<string, readonly MarkedObject[]>
  readonly orphanByName: ReadonlyMap<string, readonly MarkedObject[]>
  /** The objects of a form that this version does not know. They are never written. */
  readonly unknown: StoredIndex['all']
}

function createFinder(input: MatchInput<Declared>, orphans: readonly MarkedObject[]): Finder {
  const known = input.index.all.filter(({ undeclarable }) => undeclarable === undefined)
  return {
    ...input,
    hasMarkers: input.kind.ownership === 'marker',
    byId: new Map(known.map((one) => [one.stored.id, one])),
    byName: groupByName(known),
    orphanByName: groupByName(orphans),
    unknown: input.index.all.filter(({ undeclarable }) => undeclarable !== undefined),
  }
}

const groupByName = (objects: readonly MarkedObject[]): ReadonlyMap<string, readonly MarkedObject[]> =>
  Map.groupBy(
    objects.filter(({ stored }) => trimmedName(stored) !== ''),
    ({ stored }) => trimmedName(stored),
  )

/** Finds an object by its marker or identity, by the previous one, by that of `adopt-from`, by its id, and by its name, in this order. */
function findFor(declared: Declared, finder: Finder): Match {
  const { id } = declared.value
  const marked = finder.hasMarkers || id === undefined ? findByToken(declared, finder) : {}
  const holder = marked.found?.stored.id
  if (holder !== undefined && id !== undefined && holder !== id) {
    const message = `the file has the id ${quote(id, 60)}, but the ownership marker is on ${holder}`
    return { ...marked, diagnostic: report(declared, 'owned-elsewhere', message) }
  }
  if (holder !== undefined) return marked
  const match = id === undefined ? findByName(declared, finder) : findById(declared, id, finder)
  const diagnostic = match.found === undefined ? refuseUnknownForm(declared, finder) : undefined
  return diagnostic === undefined ? match : { diagnostic }
}

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

/** Why no run can tell that one of two objects holds no more than the other; undefined where it can, and deletes the one that it does not need. */
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
  const alike = pluralOf(kind.label)
  const diagnostic = hasMarkers
    ? report(
        declared,
        'duplicate-marker',
        `${holders.length} ${alike} have this ownership marker (${ids})${canRepair(kind, canPatch) ? '; set repair to duplicates for one run, or delete the one that you do not need' : `. No run repairs this, because ${whyNotCompared(kind)}. ${repairByHand(kind)}`}`,
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

function findById(declared: Declared, id: string, { kind, hasMarkers, byId }: Finder): Match {
  const found = byId.get(id)
  if (found === undefined)
    return {
      diagnostic: report(declared, 'missing-object', `${kind.label} ${quote(id, 60)} does not exist; remove id to create a new one`),
    }
  if (!hasMarkers) return { found }
  if (found.marker === undefined) return { found, takeover: unmanaged }
  return { diagnostic: report(declared, 'owned-elsewhere', `${kind.label} ${id} has the ownership marker of another key or project`) }
}

function findByName(declared: Declared, finder: Finder): Match {
  const { kind, hasMarkers, byName } = finder
  if (!hasMarkers) return {}
  const { adopt, name } = declared.value
  const alike = (byName.get(trimmedName(declared.value)) ?? []).filter(({ marker }) => marker === undefined)
  const exact = alike.filter(({ stored }) => stored.name === name)
  const [first, second] = exact.length === 1 ? exact : alike
  if (first === undefined) return explainOwned(declared, finder)
  const quoted = `"${quote(trimmedName(declared.value), 60)}"`
  if (!adopt) {
    const what = `an unmanaged ${kind.label} named ${quoted} exists (${first.stored.id}); add adopt: true to adopt it`
    if (kind.hasUniqueNames) return { diagnostic: reportException(declared, 'same-name', `${what}, or choose another name`) }
    return { diagnostic: report(declared, 'same-name', `${what}, or a second one will be created`) }
  }
  if (second === undefined) return { found: first, takeover: unmanaged }
  const message = `several unmanaged ${pluralOf(kind.label)} are named ${quoted} (${first.stored.id}, ${second.stored.id}); add the id of the one to adopt`
  return { diagnostic: report(declared, 'ambiguous-adoption', message) }
}

/** An object with this name that has a marker: of a key that was changed, or of another project, which was most likely renamed if this one owns nothing. */
function explainOwned(declared: Declared, { kind, project, byName, orphanByName, adoptFrom, ownsAnything }: Finder): Match {
  const name = trimmedName(declared.value)
  const [orphan] = orphanByName.get(name) ?? []
  if (orphan !== undefined) {
    const key = orphan.marker?.key
    const advice = key === undefined ? 'previousKey with the previous key' : `previousKey: ${key}`
    const message = `this project owns ${withArticle(kind.label)} with this name (${orphan.stored.id}), but no file declares its key. If you changed the key, add ${advice}. Otherwise, apply creates a second one, and prune deletes the existing one`
    return { diagnostic: report(declared, 'same-name', message) }
  }
  const isOwned = ownershipTest(project, kind.markerStyle)
  const other = byName.get(name)?.find(({ marker }) => marker !== undefined && !isOwned(marker))
  if (other === undefined || adoptFrom?.none) return {}
  if (!ownsAnything) return { ofOther: other }
  const given = adoptFrom?.project === undefined ? '' : `; the project in adopt-from, ${adoptFrom.project}, does not own it`
  const message = `${describeOwned(other, kind)}${given}; a second one will be created`
  return { diagnostic: reportException(declared, 'other-project', message) }
}

/** `the project shop/web owns an alert named "Errors" (65f…)`. */
function describeOwned({ stored, marker }: MarkedObject, { label }: Kind, project = marker?.projectName): string {
  const owner = project === undefined ? 'another project' : `the project ${project}`
  return `${owner} owns ${withArticle(label)} named "${quote(trimmedName(stored), 60)}" (${stored.id})`
}

/** An error about an object of a form that this version does not know: it is neither written nor created again. */
function refuseUnknownForm(declared: Declared, finder: Finder): Diagnostic | undefined {
  const { kind, hasMarkers, unknown } = finder
  const { id, adopt } = declared.value
  const tokens = tokensOf(declared, finder)
  const isMeant = ({ stored, token }: StoredIndex['all'][number]): boolean =>
    stored.id === id ||
    (token !== undefined && tokens.includes(token)) ||
    (hasMarkers && Boolean(adopt) && id === undefined && trimmedName(stored) === (trimmedName(declared.value) || undefined))
  const found = unknown.find(isMeant)
  if (found === undefined) return undefined
  const message = `the ${kind.label} ${describeStored(found.stored)} is not written: ${found.undeclarable}. Change it in the web app, or upgrade this tool`
  return report(declared, 'unknown-kind', message)
}

/** An error for orphans with the same marker, because it is unknown which of them is the copy. */
export function findDuplicateOrphans(orphans: readonly MarkedObject[], { name, label }: Kind): readonly Diagnostic[] {
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
  const given = adoptFrom?.project === undefined ? '' : `, and the project in adopt-from, ${adoptFrom.project}, does not own it`
  const previous = name ?? 'PREVIOUS-NAME'
  const command = adoptCommand?.(previous) ?? `watchkeeper apply --project ${project} --adopt-from project=${previous}`
  const advice = `If the project was renamed, run once: ${command}. To create a second set of objects, set adopt-from to none`
  return [
    report(
      declared,
      'other-project',
      `${describeOwned(found, kinds[declared.kind], name)}${more}; ${project} owns nothing yet${given}. ${advice}`,
    ),
  ]
}
