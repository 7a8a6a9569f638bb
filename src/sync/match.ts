import type { Diagnostic } from '../core/diagnostics.ts'
import { pluralOf, quote } from '../core/text.ts'
import type { StoredMarker } from '../resources/marker.ts'
import type { RemoteObject, ResourceType } from '../resources/resource-type.ts'
import type { Declared } from '../resources/resource-types.ts'

export interface MarkedObject {
  readonly actual: RemoteObject
  readonly marker: StoredMarker | undefined
}

export interface Pair<D extends Declared = Declared> {
  readonly declared: D
  /** Undefined for an object that must be created. */
  readonly found?: MarkedObject | undefined
  /** For reviewers: the reason for adopting an object that does not have the ownership marker of this key. */
  readonly takeover?: string | undefined
}

export interface MatchResult<D extends Declared = Declared> {
  readonly pairs: readonly Pair<D>[]
  /** Objects with this project's marker that no file declares. */
  readonly orphans: readonly MarkedObject[]
  readonly diagnostics: readonly Diagnostic[]
}

export const matchRules = {
  'duplicate-marker': 'Two objects have the same ownership marker: two runs created them at the same time, or one is a copy.',
  'owned-elsewhere': 'An object that the files refer to has the ownership marker of another key or project.',
  'ambiguous-adoption': 'Several objects match `adopt`.',
  'missing-object': 'The `id` in a file is not the id of an existing object.',
  'same-name': 'An object with this name exists and is not adopted. A second one will be created.',
  'other-project': 'Another project owns an object with this name. This is an error if this project owns nothing, such as after a rename.',
  'moved-key': 'An object exists under its key, and another one under its `previousKey`.',
} as const

/** The previous name of the project, whose objects are adopted. `none` confirms that a second set of objects is created. */
export type AdoptFrom = { readonly project: string } | 'none' | undefined

interface MatchInput<D extends Declared> {
  readonly type: ResourceType
  readonly project: string
  readonly adoptFrom?: AdoptFrom
  /** Whether this project owns anything in the service. */
  readonly ownsAnything?: boolean
  readonly declared: readonly D[]
  readonly actual: readonly RemoteObject[]
}

export const markedObjects = (type: ResourceType, actual: readonly RemoteObject[]): readonly MarkedObject[] =>
  actual.map((one) => ({
    actual: one,
    // Without a declaration for it, apply could only delete it.
    marker: type.explainUndeclarable?.(one) === undefined ? type.readMarker(type.toBody(one)) : undefined,
  }))

/** Finds the remote object of each declared one: by ownership marker, by id, or by name where the file says so. */
export function matchObjects<D extends Declared>({
  type,
  project,
  adoptFrom,
  ownsAnything = true,
  declared,
  actual,
}: MatchInput<D>): MatchResult<D> {
  const marked = markedObjects(
    type,
    actual.filter((one) => type.explainUndeclarable?.(one) === undefined),
  )
  const ours = marked.filter(({ marker }) => marker?.project === type.markerStyle.projectToken(project))
  const claimed = new Set(declared.map(({ key }) => type.markerStyle.token(project, key)))
  const orphans = ours.filter(({ marker }) => !claimed.has(marker?.token ?? ''))
  const others = marked.filter(({ marker }) => marker !== undefined && !ours.some((one) => one.marker === marker))
  const index: Index = {
    type,
    project,
    adoptFrom,
    ownsAnything,
    byToken: Map.groupBy(
      marked.filter(({ marker }) => marker !== undefined),
      ({ marker }) => marker?.token ?? '',
    ),
    freeByName: Map.groupBy(
      marked.filter(({ marker }) => marker === undefined),
      (one) => nameOf(one.actual),
    ),
    otherByName: Map.groupBy(others, (one) => nameOf(one.actual)),
    orphanByName: Map.groupBy(orphans, (one) => nameOf(one.actual)),
    byId: new Map(marked.map((one) => [one.actual.id, one])),
  }
  const diagnostics: Diagnostic[] = []
  const taken = new Set<MarkedObject>()
  const pairs = declared.map((one): Pair<D> => {
    const { diagnostic, ...search } = findFor(one, index)
    const { found } = search
    if (diagnostic !== undefined) diagnostics.push(diagnostic)
    if (found !== undefined && taken.has(found)) diagnostics.push(report(one, 'owned-elsewhere', `two keys refer to ${found.actual.id}`))
    if (found !== undefined) taken.add(found)
    return { declared: one, ...search }
  })
  return { pairs, orphans: orphans.filter((one) => !taken.has(one)), diagnostics }
}

/** An error for orphans with the same marker, because it is unknown which of them is the copy. */
export function findDuplicateOrphans(orphans: readonly MarkedObject[], { section, noun }: ResourceType): readonly Diagnostic[] {
  return [...Map.groupBy(orphans, ({ marker }) => marker?.token).values()].flatMap((alike): readonly Diagnostic[] => {
    if (alike.length < 2) return []
    const ids = alike.map(({ actual }) => `"${quote(actual.name ?? '', 60)}" (${actual.id})`).join(', ')
    const message = `${alike.length} ${pluralOf(noun)} have the same marker: ${ids}; to keep a copy, delete its marker`
    return [{ rule: 'duplicate-marker', severity: 'error', location: { file: section }, message }]
  })
}

/** Some servers trim names. */
const nameOf = ({ name }: { readonly name?: string | null | undefined }): string => (name ?? '').trim()

interface Index {
  readonly type: ResourceType
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
  readonly diagnostic?: Diagnostic
}

type Rule = keyof typeof matchRules

const report = (
  { section, key, location }: Declared,
  rule: Rule,
  message: string,
  severity: Diagnostic['severity'] = rule === 'same-name' ? 'warning' : 'error',
): Diagnostic => ({ rule, severity, location, message: `${section}.${key}: ${message}` })

function findFor(declared: Declared, index: Index): Match {
  const { type } = index
  const { id, previousKey } = declared.value
  const own = findOwned(declared, index.project, declared.key, index)
  const moved = previousKey === undefined ? {} : findOwned(declared, index.project, previousKey, index)
  if (own.found !== undefined && moved.found !== undefined) {
    const message = `one ${type.noun} exists under this key (${own.found.actual.id}) and one under its previousKey ${previousKey} (${moved.found.actual.id}); delete one of them, or remove previousKey`
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
  const found = search.found?.actual.id
  if (id === undefined || found === undefined || found === id) return search
  return {
    ...search,
    diagnostic: report(declared, 'owned-elsewhere', `the file has the id ${quote(id, 60)}, but the ownership marker is on ${found}`),
  }
}

/** The object with the ownership marker of this key. */
function findOwned(declared: Declared, project: string, key: string, { type, byToken }: Index): Match {
  const [own, second] = byToken.get(type.markerStyle.token(project, key)) ?? []
  if (own === undefined) return {}
  if (second === undefined) return { found: own }
  const message = `two ${pluralOf(type.noun)} have this ownership marker (${own.actual.id}, ${second.actual.id}); delete the one that you do not need`
  return { found: own, diagnostic: report(declared, 'duplicate-marker', message) }
}

/** The object that the project of `adopt-from` owns under this key or its previousKey. */
function findInOtherProject(declared: Declared, index: Index): Match {
  const { adoptFrom } = index
  if (adoptFrom === undefined || adoptFrom === 'none') return {}
  const keys = [declared.key, declared.value.previousKey].filter((key) => key !== undefined)
  const found = keys.map((key) => findOwned(declared, adoptFrom.project, key, index)).find((one) => one.found !== undefined)
  return found === undefined ? {} : { ...found, takeover: `adopts an object of the project ${adoptFrom.project}` }
}

const withArticle = ({ noun }: ResourceType): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`

export const unmanagedAdoption = 'adopts an unmanaged object'

function findById(declared: Declared, id: string, { type, byId }: Index): Match {
  const found = byId.get(id)
  if (found === undefined)
    return { diagnostic: report(declared, 'missing-object', `${type.noun} ${quote(id, 60)} does not exist; remove id to create a new one`) }
  if (found.marker === undefined) return { found, takeover: unmanagedAdoption }
  return {
    diagnostic: report(declared, 'owned-elsewhere', `${type.noun} ${found.actual.id} has the ownership marker of another key or project`),
  }
}

function findByName(declared: Declared, index: Index): Match {
  const { type, freeByName } = index
  const name = nameOf(declared.value)
  const alike = freeByName.get(name) ?? []
  const exact = alike.filter(({ actual }) => actual.name === declared.value.name)
  const [first, second] = exact.length === 1 ? exact : alike
  if (first === undefined) return findOrphan(declared, index) ?? findOwnedByOthers(declared, index)
  if (!declared.value.adopt) {
    const message = `an unmanaged ${type.noun} named "${quote(name, 60)}" exists (${first.actual.id}); add adopt: true to adopt it, or a second one will be created`
    return { diagnostic: report(declared, 'same-name', message) }
  }
  if (second === undefined) return { found: first, takeover: unmanagedAdoption }
  const message = `several unmanaged ${pluralOf(type.noun)} are named "${quote(name, 60)}" (${first.actual.id}, ${second.actual.id}); add the id of the one to adopt`
  return { diagnostic: report(declared, 'ambiguous-adoption', message) }
}

/** Finds an orphan with this name. Most likely, its key was changed. */
function findOrphan(declared: Declared, { type, orphanByName }: Index): Match | undefined {
  const [orphan] = orphanByName.get(nameOf(declared.value)) ?? []
  if (orphan === undefined) return undefined
  const key = orphan.marker?.key
  const advice = key === undefined ? 'previousKey with the previous key' : `previousKey: ${key}`
  const message = `this project owns ${withArticle(type)} with this name (${orphan.actual.id}) under a key that no file declares; if the key was changed, add ${advice}; otherwise, apply creates a second one, and prune deletes the existing one`
  return { diagnostic: report(declared, 'same-name', message) }
}

/** Finds an object with this name that another project owns. If this project owns nothing, it was most likely renamed. */
function findOwnedByOthers(declared: Declared, { type, otherByName, adoptFrom, ownsAnything }: Index): Match {
  const [other] = otherByName.get(nameOf(declared.value)) ?? []
  if (other === undefined || adoptFrom === 'none') return {}
  const owner = other.marker?.projectName === undefined ? 'another project' : `the project ${other.marker.projectName}`
  const given = adoptFrom === undefined ? '' : `; the project in adopt-from, ${adoptFrom.project}, does not own it`
  const what = `${owner} owns ${withArticle(type)} named "${quote(nameOf(declared.value), 60)}" (${other.actual.id})${given}`
  if (ownsAnything) return { diagnostic: report(declared, 'other-project', `${what}; a second one will be created`, 'warning') }
  const advice =
    'If the project was renamed, set adopt-from to its previous name to adopt its objects. To create a second set of objects, set adopt-from to none'
  return { diagnostic: report(declared, 'other-project', `${what}; this project owns nothing yet. ${advice}`) }
}
