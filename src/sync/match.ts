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
  /** Undefined for what is to be created. */
  readonly found?: MarkedObject | undefined
  /** Why an object without the ownership marker of this key is taken over, for reviewers. */
  readonly takeover?: string | undefined
}

export interface MatchResult<D extends Declared = Declared> {
  readonly pairs: readonly Pair<D>[]
  /** Objects with this project's marker that no file declares. */
  readonly orphans: readonly MarkedObject[]
  readonly diagnostics: readonly Diagnostic[]
}

export const matchRules = {
  'duplicate-marker': 'Two objects have the same ownership marker: two runs created them at once, or somebody copied one.',
  'owned-elsewhere': 'An object that the files claim has the ownership marker of another key or project.',
  'ambiguous-adoption': 'Several objects could be meant by `adopt`.',
  'missing-object': 'An id that the files give belongs to no object.',
  'same-name': 'An object of this name exists and is not taken over: a second one will be created.',
  'other-project': 'An object of this name belongs to another project. An error while this project owns nothing, as after a rename.',
  'moved-key': 'The object exists under its key and under its `previousKey`.',
} as const

/** The previous name of the project, whose objects are taken over; `none` confirms that a second set is wanted. */
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
  actual.map((one) => ({ actual: one, marker: type.readMarker(type.toBody(one)) }))

/** Finds the remote object of each declared one: by ownership marker, by id, or by name where the file says so. */
export function matchObjects<D extends Declared>({
  type,
  project,
  adoptFrom,
  ownsAnything = true,
  declared,
  actual,
}: MatchInput<D>): MatchResult<D> {
  const marked = markedObjects(type, actual)
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
    const { complaint, ...search } = findFor(one, index)
    const { found } = search
    if (complaint !== undefined) diagnostics.push(complaint)
    if (found !== undefined && taken.has(found))
      diagnostics.push(report(one, 'owned-elsewhere', `${found.actual.id} is claimed by two keys`))
    if (found !== undefined) taken.add(found)
    return { declared: one, ...search }
  })
  return { pairs, orphans: orphans.filter((one) => !taken.has(one)), diagnostics }
}

/** Orphans with the same marker: it is unknown which of them is the copy. */
export function findDuplicateOrphans(orphans: readonly MarkedObject[], { section, noun }: ResourceType): readonly Diagnostic[] {
  return [...Map.groupBy(orphans, ({ marker }) => marker?.token).values()].flatMap((alike): readonly Diagnostic[] => {
    if (alike.length < 2) return []
    const ids = alike.map(({ actual }) => `"${quote(actual.name ?? '', 60)}" (${actual.id})`).join(', ')
    const message = `${alike.length} ${pluralOf(noun)} have the same marker: ${ids}; delete the marker of each copy that is to stay`
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
  readonly complaint?: Diagnostic
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
    const message = `the ${type.noun} exists under this key (${own.found.actual.id}) and under its previousKey ${previousKey} (${moved.found.actual.id}): delete one of them, or remove previousKey`
    return { ...own, complaint: report(declared, 'moved-key', message) }
  }
  const marked =
    own.found !== undefined ? own : moved.found !== undefined ? renamed(moved, previousKey) : findInOtherProject(declared, index)
  if (marked.found !== undefined) return withSameId(marked, declared)
  return id === undefined ? findByName(declared, index) : findById(declared, id, index)
}

const renamed = (moved: Match, previousKey: string | undefined): Match => ({
  ...moved,
  takeover: `renames the key ${previousKey} to this one`,
})

/** Checks the id, if the file has one. */
function withSameId(search: Match, declared: Declared): Match {
  const { id } = declared.value
  const found = search.found?.actual.id
  if (id === undefined || found === undefined || found === id) return search
  return {
    ...search,
    complaint: report(declared, 'owned-elsewhere', `the file names ${quote(id, 60)}, but the ownership marker is on ${found}`),
  }
}

/** The object with the ownership marker of this key. */
function findOwned(declared: Declared, project: string, key: string, { type, byToken }: Index): Match {
  const [own, second] = byToken.get(type.markerStyle.token(project, key)) ?? []
  if (own === undefined) return {}
  if (second === undefined) return { found: own }
  const message = `two ${pluralOf(type.noun)} have this ownership marker, ${own.actual.id} and ${second.actual.id}: delete the one that is not wanted`
  return { found: own, complaint: report(declared, 'duplicate-marker', message) }
}

/** The object that the project of `adopt-from` owns under this key or its previousKey. */
function findInOtherProject(declared: Declared, index: Index): Match {
  const { adoptFrom } = index
  if (adoptFrom === undefined || adoptFrom === 'none') return {}
  const keys = [declared.key, declared.value.previousKey].filter((key) => key !== undefined)
  const found = keys.map((key) => findOwned(declared, adoptFrom.project, key, index)).find((one) => one.found !== undefined)
  return found === undefined ? {} : { ...found, takeover: `takes over an object of the project ${adoptFrom.project}` }
}

const withArticle = ({ noun }: ResourceType): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`

export const unmanagedAdoption = 'takes over an unmanaged object'

function findById(declared: Declared, id: string, { type, byId }: Index): Match {
  const found = byId.get(id)
  if (found === undefined)
    return { complaint: report(declared, 'missing-object', `there is no ${type.noun} ${quote(id, 60)}; without id a new one is created`) }
  if (found.marker === undefined) return { found, takeover: unmanagedAdoption }
  return {
    complaint: report(declared, 'owned-elsewhere', `${type.noun} ${found.actual.id} has the ownership marker of another key or project`),
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
    const message = `another ${type.noun} called "${quote(name, 60)}" exists (${first.actual.id}) and has no ownership marker; write adopt: true to take it over`
    return { complaint: report(declared, 'same-name', message) }
  }
  if (second === undefined) return { found: first, takeover: unmanagedAdoption }
  const message = `several ${pluralOf(type.noun)} called "${quote(name, 60)}" could be adopted (${first.actual.id}, ${second.actual.id}): give the id`
  return { complaint: report(declared, 'ambiguous-adoption', message) }
}

/** An orphan with this name: most likely its key was changed. */
function findOrphan(declared: Declared, { type, orphanByName }: Index): Match | undefined {
  const [orphan] = orphanByName.get(nameOf(declared.value)) ?? []
  if (orphan === undefined) return undefined
  const key = orphan.marker?.key
  const advice = key === undefined ? 'previousKey with its key' : `previousKey: ${key}`
  const message = `this project owns ${withArticle(type)} of this name (${orphan.actual.id}) under a key that no file declares; if the key was changed, write ${advice}; otherwise a second one is created, and prune deletes this one`
  return { complaint: report(declared, 'same-name', message) }
}

/** An object with this name that another project owns. If this project owns nothing, it was most likely renamed. */
function findOwnedByOthers(declared: Declared, { type, otherByName, adoptFrom, ownsAnything }: Index): Match {
  const [other] = otherByName.get(nameOf(declared.value)) ?? []
  if (other === undefined || adoptFrom === 'none') return {}
  const owner = other.marker?.projectName === undefined ? 'another project' : `the project ${other.marker.projectName}`
  const given = adoptFrom === undefined ? '' : `; adopt-from names ${adoptFrom.project}, which does not own it`
  const what = `${owner} owns ${withArticle(type)} called "${quote(nameOf(declared.value), 60)}" (${other.actual.id})${given}`
  if (ownsAnything) return { complaint: report(declared, 'other-project', `${what}, and a second one will be created`, 'warning') }
  const advice =
    'was the project renamed? Give adopt-from with its previous name to take its objects over, or adopt-from: none to create a second set'
  return { complaint: report(declared, 'other-project', `${what}, and this project owns nothing yet: ${advice}`) }
}
