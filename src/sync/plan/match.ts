import { type Diagnostic, diagnosticOf, exceptionOf, type Rules } from '../../core/diagnostics.ts'
import { plural, pluralOf, quote } from '../../core/text.ts'
import type { Kind, StoredObject } from '../../kinds/kind.ts'
import { addressOf, sections } from '../../kinds/kind-names.ts'
import { type Declared, previousKeyOf } from '../../kinds/kinds.ts'
import { ownershipTest, type StoredMarker } from '../../kinds/marker.ts'

export interface MarkedObject {
  readonly stored: StoredObject
  readonly marker: StoredMarker | undefined
}

export interface Pair<D extends Declared = Declared> {
  readonly declared: D
  /** Undefined for an object that must be created. */
  readonly found?: MarkedObject | undefined
  /** For reviewers: the reason for adopting an object that does not have the ownership marker of this key. */
  readonly takeover?: string | undefined
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

/** The previous name of the project, whose objects are adopted. `none` confirms that a second set of objects is created. */
export type AdoptFrom = { readonly project: string } | 'none' | undefined

interface MatchInput<D extends Declared> {
  readonly kind: Kind
  readonly project: string
  readonly adoptFrom?: AdoptFrom
  /** Whether this project owns anything in the service. */
  readonly ownsAnything?: boolean
  readonly declared: readonly D[]
  readonly stored: readonly StoredObject[]
}

export const markedObjects = (kind: Kind, stored: readonly StoredObject[]): readonly MarkedObject[] =>
  stored.map((one) => ({
    stored: one,
    // Without a declaration for it, apply could only delete it.
    marker: kind.explainUndeclarable?.(one) === undefined ? kind.readMarker(kind.toBody(one)) : undefined,
  }))

/** Finds the remote object of each declared one: by ownership marker, by id, or by name where the file says so. */
export const matchObjects = <D extends Declared>(input: MatchInput<D>): MatchResult<D> =>
  input.kind.ownership === 'identity' ? matchByIdentity(input) : matchByMarker(input)

/** An object with the identity that the file gives it, or gave it before a rename. It has no owner, so there are no orphans. */
function matchByIdentity<D extends Declared>({ kind, declared, stored }: MatchInput<D>): MatchResult<D> {
  const byToken = Map.groupBy(stored, (one) => kind.tokenOf(kind.toBody(one)))
  const diagnostics: Diagnostic[] = []
  const taken = new Map<StoredObject, D>()
  const pairs = declared.map((one): Pair<D> => {
    const { found, takeover, diagnostic } = findByIdentity(one, { kind, stored, byToken })
    const other = found === undefined ? undefined : taken.get(found)
    if (diagnostic !== undefined) diagnostics.push(diagnostic)
    if (found === undefined) return { declared: one }
    if (other !== undefined) diagnostics.push(report(one, 'owned-elsewhere', `${addressOf(other)} refers to ${found.id}, too`))
    taken.set(found, one)
    return { declared: one, found: { stored: found, marker: undefined }, takeover }
  })
  const unidentified = declared.filter(({ value }) => value.id === undefined)
  const names = Map.groupBy(unidentified, ({ value }) => kind.tokenOf(value))
  const repeated = [...names.values()].flatMap(([, ...others]) =>
    others.map((one) =>
      report(one, 'owned-elsewhere', `another ${kind.label} in these files has the same identity, "${quote(one.value.name, 60)}"`),
    ),
  )
  return { pairs, orphans: [], diagnostics: [...diagnostics, ...repeated] }
}

interface IdentityIndex {
  readonly kind: Kind
  readonly stored: readonly StoredObject[]
  readonly byToken: ReadonlyMap<string | undefined, readonly StoredObject[]>
}

interface IdentityMatch {
  readonly found?: StoredObject
  readonly takeover?: string
  readonly diagnostic?: Diagnostic
}

function findByIdentity(declared: Declared, { kind, stored, byToken }: IdentityIndex): IdentityMatch {
  const { value } = declared
  const previousName = 'previousName' in value ? value.previousName : undefined
  const withName = (name: string): readonly StoredObject[] => byToken.get(kind.tokenOf({ ...value, name })) ?? []
  if (value.id !== undefined) {
    const found = stored.find(({ id }) => id === value.id)
    if (found !== undefined) return { found }
    const message = `${kind.label} ${quote(value.id, 60)} does not exist; remove id to create a new one`
    return { diagnostic: report(declared, 'missing-object', message) }
  }
  const [own, second] = withName(value.name)
  const [previous, secondPrevious] = previousName === undefined ? [] : withName(previousName)
  if (own !== undefined && previous !== undefined) {
    const message = `one ${kind.label} exists with this name (${own.id}) and one with its previousName (${previous.id}); remove previousName, or delete one of them`
    return { found: own, diagnostic: report(declared, 'moved-key', message) }
  }
  const [found, twin] = own === undefined ? [previous, secondPrevious] : [own, second]
  if (found === undefined) return {}
  if (twin === undefined) return { found, ...(own === undefined && { takeover: `renamed from ${previousName}` }) }
  const message = `several ${pluralOf(kind.label)} have this identity (${found.id}, ${twin.id}); add the id of the one to manage, or delete the other one in the web app`
  return { found, diagnostic: report(declared, 'ambiguous-adoption', message) }
}

function matchByMarker<D extends Declared>({
  kind,
  project,
  adoptFrom,
  ownsAnything = true,
  declared,
  stored,
}: MatchInput<D>): MatchResult<D> {
  const marked = markedObjects(
    kind,
    stored.filter((one) => kind.explainUndeclarable?.(one) === undefined),
  )
  const isOwned = ownershipTest(project, kind.markerStyle)
  const ours = marked.filter(({ marker }) => isOwned(marker))
  const claimed = new Set(declared.map(({ key }) => kind.markerStyle.token(project, key)))
  const orphans = ours.filter(({ marker }) => !claimed.has(marker?.token ?? ''))
  const others = marked.filter(({ marker }) => marker !== undefined && !isOwned(marker))
  const index: Index = {
    kind,
    project,
    adoptFrom,
    ownsAnything,
    byToken: Map.groupBy(
      marked.filter(({ marker }) => marker !== undefined),
      ({ marker }) => marker?.token ?? '',
    ),
    freeByName: Map.groupBy(
      marked.filter(({ marker }) => marker === undefined),
      (one) => trimmedName(one.stored),
    ),
    otherByName: Map.groupBy(others, (one) => trimmedName(one.stored)),
    orphanByName: Map.groupBy(orphans, (one) => trimmedName(one.stored)),
    byId: new Map(marked.map((one) => [one.stored.id, one])),
  }
  const diagnostics: Diagnostic[] = []
  const taken = new Set<MarkedObject>()
  const strange = stored.filter((one) => kind.explainUndeclarable?.(one) !== undefined)
  const pairs = declared.flatMap((one): readonly Pair<D>[] => {
    const { diagnostic, ...search } = findFor(one, index)
    const { found } = search
    const unknown = found === undefined ? findUnknown(one, strange, { kind, project }) : undefined
    if (unknown !== undefined) {
      diagnostics.push(unknown)
      return []
    }
    if (diagnostic !== undefined) diagnostics.push(diagnostic)
    if (found !== undefined && taken.has(found)) diagnostics.push(report(one, 'owned-elsewhere', `two keys refer to ${found.stored.id}`))
    if (found !== undefined) taken.add(found)
    return [{ declared: one, ...search }]
  })
  return { pairs, orphans: orphans.filter((one) => !taken.has(one)), diagnostics }
}

/** An error where the files refer to an object of a form that this version does not know: it is neither written nor created again. */
function findUnknown(
  declared: Declared,
  strange: readonly StoredObject[],
  { kind, project }: Pick<Index, 'kind' | 'project'>,
): Diagnostic | undefined {
  const { id, name, adopt = false } = declared.value
  const keys = [declared.key, previousKeyOf(declared)].filter((key) => key !== undefined)
  const tokens = keys.map((key) => kind.markerStyle.token(project, key))
  const found = strange.find(
    (one) =>
      one.id === id ||
      tokens.includes(kind.tokenOf(kind.toBody(one)) ?? '') ||
      (adopt && id === undefined && trimmedName(one) === name.trim()),
  )
  if (found === undefined) return undefined
  const message = `the ${kind.label} "${quote(trimmedName(found), 60)}" (${found.id}) is not written: ${kind.explainUndeclarable?.(found)}. Change it in the web app, or upgrade this tool`
  return report(declared, 'unknown-kind', message)
}

/** An error for orphans with the same marker, because it is unknown which of them is the copy. */
export function findDuplicateOrphans(orphans: readonly MarkedObject[], { name, label }: Kind): readonly Diagnostic[] {
  return [...Map.groupBy(orphans, ({ marker }) => marker?.token).values()].flatMap((alike): readonly Diagnostic[] => {
    if (alike.length < 2) return []
    const ids = alike.map(({ stored }) => `"${quote(stored.name ?? '', 60)}" (${stored.id})`).join(', ')
    const message = `${alike.length} ${pluralOf(label)} have the same marker: ${ids}; to keep a copy, delete its marker`
    return [diagnosticOf(matchRules, 'duplicate-marker', { file: sections[name] }, message)]
  })
}

/** Some servers trim names. */
export const trimmedName = ({ name }: { readonly name?: string | null | undefined }): string => (name ?? '').trim()

interface Index {
  readonly kind: Kind
  readonly project: string
  readonly adoptFrom: AdoptFrom
  readonly ownsAnything: boolean
  /** Of all projects. */
  readonly byToken: ReadonlyMap<string, readonly MarkedObject[]>
  readonly freeByName: ReadonlyMap<string, readonly MarkedObject[]>
  readonly otherByName: ReadonlyMap<string, readonly MarkedObject[]>
  /** Objects of this project whose keys no file declares. */
  readonly orphanByName: ReadonlyMap<string, readonly MarkedObject[]>
  readonly byId: ReadonlyMap<string, MarkedObject>
}

interface Match {
  readonly found?: MarkedObject
  readonly takeover?: string
  /** As in `Pair`. */
  readonly ofOther?: MarkedObject
  readonly diagnostic?: Diagnostic
}

const report = ({ kind, key, location }: Declared, rule: keyof typeof matchRules, message: string): Diagnostic =>
  diagnosticOf(matchRules, rule, location, `${addressOf({ kind, key })}: ${message}`)

const reportException = ({ kind, key, location }: Declared, rule: 'same-name' | 'other-project', message: string): Diagnostic =>
  exceptionOf(matchRules, rule, location, `${addressOf({ kind, key })}: ${message}`)

function findFor(declared: Declared, index: Index): Match {
  const { kind } = index
  const { id } = declared.value
  const previousKey = previousKeyOf(declared)
  const own = findOwned(declared, index.project, declared.key, index)
  const moved = previousKey === undefined ? {} : findOwned(declared, index.project, previousKey, index)
  if (own.found !== undefined && moved.found !== undefined) {
    const message = `one ${kind.label} exists under this key (${own.found.stored.id}) and one under its previousKey ${previousKey} (${moved.found.stored.id}); delete one of them, or remove previousKey`
    return { ...own, diagnostic: report(declared, 'moved-key', message) }
  }
  const marked =
    own.found !== undefined ? own : moved.found !== undefined ? renamed(moved, previousKey) : findInOtherProject(declared, index)
  if (marked.found !== undefined) return withSameId(marked, declared)
  return id === undefined ? findByName(declared, index) : findById(declared, id, index)
}

const renamed = (moved: Match, previousKey: string | undefined): Match => ({
  ...moved,
  takeover: `the key was renamed from ${previousKey}`,
})

/** Checks the id, if the file has one. */
function withSameId(search: Match, declared: Declared): Match {
  const { id } = declared.value
  const found = search.found?.stored.id
  if (id === undefined || found === undefined || found === id) return search
  return {
    ...search,
    diagnostic: report(declared, 'owned-elsewhere', `the file has the id ${quote(id, 60)}, but the ownership marker is on ${found}`),
  }
}

/** The object with the ownership marker of this key. */
function findOwned(declared: Declared, project: string, key: string, { kind, byToken }: Index): Match {
  const holders = byToken.get(kind.markerStyle.token(project, key)) ?? []
  const [own, second] = holders
  if (own === undefined) return {}
  if (second === undefined) return { found: own }
  const ids = holders.map(({ stored }) => stored.id).join(', ')
  const message = `${holders.length} ${pluralOf(kind.label)} have this ownership marker (${ids}); set repair-duplicates for one run, or delete the one that you do not need`
  return { found: own, diagnostic: report(declared, 'duplicate-marker', message) }
}

/** The object that the project of `adopt-from` owns under this key or its previousKey. */
function findInOtherProject(declared: Declared, index: Index): Match {
  const { adoptFrom } = index
  if (adoptFrom === undefined || adoptFrom === 'none') return {}
  const keys = [declared.key, previousKeyOf(declared)].filter((key) => key !== undefined)
  const found = keys.map((key) => findOwned(declared, adoptFrom.project, key, index)).find((one) => one.found !== undefined)
  return found === undefined ? {} : { ...found, takeover: `adopts an object of the project ${adoptFrom.project}` }
}

const withArticle = ({ label }: Kind): string => `${/^[aeiou]/.test(label) ? 'an' : 'a'} ${label}`

export const unmanagedAdoption = 'adopts an unmanaged object'

function findById(declared: Declared, id: string, { kind, byId }: Index): Match {
  const found = byId.get(id)
  if (found === undefined)
    return {
      diagnostic: report(declared, 'missing-object', `${kind.label} ${quote(id, 60)} does not exist; remove id to create a new one`),
    }
  if (found.marker === undefined) return { found, takeover: unmanagedAdoption }
  return {
    diagnostic: report(declared, 'owned-elsewhere', `${kind.label} ${found.stored.id} has the ownership marker of another key or project`),
  }
}

function findByName(declared: Declared, index: Index): Match {
  const { kind, freeByName } = index
  const name = trimmedName(declared.value)
  const alike = freeByName.get(name) ?? []
  const exact = alike.filter(({ stored }) => stored.name === declared.value.name)
  const [first, second] = exact.length === 1 ? exact : alike
  if (first === undefined) return findOrphan(declared, index) ?? findOwnedByOthers(declared, index)
  if (!declared.value.adopt) {
    const what = `an unmanaged ${kind.label} named "${quote(name, 60)}" exists (${first.stored.id}); add adopt: true to adopt it`
    if (kind.hasUniqueNames) return { diagnostic: reportException(declared, 'same-name', `${what}, or choose another name`) }
    return { diagnostic: report(declared, 'same-name', `${what}, or a second one will be created`) }
  }
  if (second === undefined) return { found: first, takeover: unmanagedAdoption }
  const message = `several unmanaged ${pluralOf(kind.label)} are named "${quote(name, 60)}" (${first.stored.id}, ${second.stored.id}); add the id of the one to adopt`
  return { diagnostic: report(declared, 'ambiguous-adoption', message) }
}

/** Finds an orphan with this name. Most likely, its key was changed. */
function findOrphan(declared: Declared, { kind, orphanByName }: Index): Match | undefined {
  const [orphan] = orphanByName.get(trimmedName(declared.value)) ?? []
  if (orphan === undefined) return undefined
  const key = orphan.marker?.key
  const advice = key === undefined ? 'previousKey with the previous key' : `previousKey: ${key}`
  const message = `this project owns ${withArticle(kind)} with this name (${orphan.stored.id}), but no file declares its key. If you changed the key, add ${advice}. Otherwise, apply creates a second one, and prune deletes the existing one`
  return { diagnostic: report(declared, 'same-name', message) }
}

/** Finds an object with this name that another project owns. If this project owns nothing, it was most likely renamed. */
function findOwnedByOthers(declared: Declared, { kind, otherByName, adoptFrom, ownsAnything }: Index): Match {
  const [other] = otherByName.get(trimmedName(declared.value)) ?? []
  if (other === undefined || adoptFrom === 'none') return {}
  const owner = other.marker?.projectName === undefined ? 'another project' : `the project ${other.marker.projectName}`
  if (!ownsAnything) return { ofOther: other }
  const given = adoptFrom === undefined ? '' : `; the project in adopt-from, ${adoptFrom.project}, does not own it`
  const what = `${owner} owns ${withArticle(kind)} named "${quote(trimmedName(declared.value), 60)}" (${other.stored.id})${given}`
  return { diagnostic: reportException(declared, 'other-project', `${what}; a second one will be created`) }
}

/** An object that is declared, and that another project owns. */
export interface OwnedByOther {
  readonly declared: Declared
  readonly kind: Kind
  readonly found: MarkedObject
}

/** The command that adopts the objects of a renamed project, by its previous name. */
export type AdoptCommand = (previous: string) => string

/** One error for all objects of a project that was most likely renamed. */
export function reportRenamedProject(
  objects: readonly OwnedByOther[],
  { project, adoptFrom, adoptCommand }: { readonly project: string; readonly adoptFrom?: AdoptFrom; readonly adoptCommand?: AdoptCommand },
): readonly Diagnostic[] {
  const [first, ...others] = objects
  if (first === undefined) return []
  const { declared, kind, found } = first
  const name = objects.map((one) => one.found.marker?.projectName).find((one) => one !== undefined)
  const owner = name === undefined ? 'another project' : `the project ${name}`
  const more = others.length === 0 ? '' : `, and ${plural(others.length, 'more object')} of these files`
  const what = `${owner} owns ${withArticle(kind)} named "${quote(trimmedName(declared.value), 60)}" (${found.stored.id})${more}`
  const given =
    adoptFrom === undefined || adoptFrom === 'none' ? '' : `, and the project in adopt-from, ${adoptFrom.project}, does not own it`
  const command =
    adoptCommand?.(name ?? 'PREVIOUS-NAME') ?? `watchkeeper apply --project ${project} --adopt-from ${name ?? 'PREVIOUS-NAME'}`
  const advice = `If the project was renamed, run once: ${command}. To create a second set of objects, set adopt-from to none`
  return [report(declared, 'other-project', `${what}; ${project} owns nothing yet${given}. ${advice}`)]
}
