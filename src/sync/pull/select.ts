import { InputError } from '../../core/errors.ts'
import { listOf } from '../../resources/dashboards/dashboard-type.ts'
import type { Directory, Noun } from '../../resources/directory.ts'
import { type FoundMark, keyGrammar } from '../../resources/marker.ts'
import type { Actual, Body, Kind, Kinds } from '../../resources/resource-type.ts'
import { type Change, Pending, type Plan } from '../change.ts'
import { type Declarations, type Section, sectionNames } from '../declarations.ts'
import type { World } from '../remote-state.ts'

// Owns the keys and file names of objects that get one: made of their names, and of nothing that a file system or a file of
// declarations minds.

/** Room for a number behind it. */
const longestSlug = 55

/** Small letters, digits and dashes; empty where the name has neither letters nor digits of ASCII. */
export const slugOf = (name: string): string =>
  name
    .slice(0, 500)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longestSlug)
    .replace(/^-+|-+$/g, '')

export interface Named {
  readonly name: string
  readonly id: string
  /** What it is when its name says nothing. */
  readonly noun: string
}

/** A key that is not taken yet, and takes it. */
export function takeKey({ name, id, noun }: Named, taken: Set<string>): string {
  // The last characters of an id are what tells it from its neighbours.
  const slug = slugOf(name) || slugOf(`${noun} ${id.slice(-6)}`)
  let key = slug
  for (let i = 2; taken.has(key) || !keyGrammar.test(key); i++) key = `${slug}-${i}`
  taken.add(key)
  return key
}

/** Names that some systems keep for devices, whatever comes after the dot. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)$/

/** Of the file for the object of this key; without an ending. */
export const fileNameFor = (key: string): string => {
  const name = key.replace(/\.+/g, '-')
  return deviceName.test(name) ? `${name}-` : name
}

// Owns what no file can say: a text that would be read as an expression. There is no way to write it otherwise.

export const isWritable = (text: string): boolean => !text.includes('${{')

/** The first text, anywhere in the value, that a file would be misunderstood by. */
export function findUnwritable(value: unknown): string | undefined {
  if (typeof value === 'string') return isWritable(value) ? undefined : value
  if (typeof value !== 'object' || value === null) return undefined
  for (const item of Object.values(value)) {
    const found = findUnwritable(item)
    if (found !== undefined) return found
  }
  return undefined
}

// Owns how a file refers to what exists: by a key of these files, by a name that only one thing bears, else by its id.

export type TargetSection = 'dashboards' | 'savedSearches'

export interface Naming {
  source(id: unknown): unknown
  /** The fields of a channel that say which webhook it is. */
  webhook(id: unknown): Body
  target(section: TargetSection, id: unknown): unknown
  tile(dashboardId: unknown, tileId: unknown): unknown
}

/** By section and id. */
export type KeysById = Readonly<Record<TargetSection, ReadonlyMap<string, string>>>

const nouns: Readonly<Record<TargetSection, Noun>> = { dashboards: 'dashboard', savedSearches: 'savedSearch' }

export function createNaming({ dashboards }: Pick<World, 'dashboards'>, directory: Directory, keys: KeysById): Naming {
  const onlyName = (noun: Noun, id: unknown): string | undefined => {
    const name = directory.nameOf(id)
    if (name === undefined || !isWritable(name)) return undefined
    const found = directory.byName(noun, name)
    return 'id' in found && found.id === id ? name : undefined
  }
  return {
    source(id) {
      const name = onlyName('source', id)
      return name === undefined ? id : { source: name }
    },
    webhook(id) {
      const name = onlyName('webhook', id)
      return name === undefined ? { webhookId: id } : { webhook: name }
    },
    target(section, id) {
      if (id instanceof Pending) return id.key
      const key = keys[section].get(String(id))
      if (key !== undefined) return key
      const name = onlyName(nouns[section], id)
      return name === undefined ? { id } : { name }
    },
    tile(dashboardId, tileId) {
      if (tileId instanceof Pending) return tileId.tile
      const tiles = listOf(dashboards.find(({ id }) => id === dashboardId)?.tiles)
      const name = tiles.find(({ id }) => id === tileId)?.name
      const isOnly = typeof name === 'string' && name !== '' && tiles.filter((tile) => tile.name === name).length === 1
      return isOnly && isWritable(name) ? name : { id: tileId }
    },
  }
}

// Owns which file a newcomer is written into: one for each dashboard with its alerts, and one for each kind of the rest.

export interface Placing {
  readonly globs: readonly string[]
  /** The files that there are. */
  readonly paths: readonly string[]
}

export interface Placed {
  readonly section: Section
  readonly key: string
  /** Of an alert: the key of the dashboard that it is on, where these files hold it. */
  readonly dashboard?: string | undefined
}

/** Throws an InputError when the globs leave no place for a new file. */
export function createPlacement({ globs, paths }: Placing): (placed: Placed) => string {
  const [first = ''] = globs
  const find = placesOf(first)
  if (find === undefined)
    throw new InputError([
      {
        name: 'files',
        message: `nobody can tell where new files belong: begin with a glob such as observability/**/*.yml, or name one file`,
      },
    ])
  // What some file systems take for the same file is the same file.
  const existing = new Map(paths.map((path) => [path.toLowerCase(), path]))
  return ({ section, key, dashboard }) => {
    const path = find(fileNameOf(section, section === 'dashboards' ? key : dashboard))
    return existing.get(path.toLowerCase()) ?? path
  }
}

const fileNameOf = (section: Section, dashboard: string | undefined): string =>
  section === 'savedSearches' ? 'saved-searches' : dashboard === undefined ? 'alerts' : fileNameFor(dashboard)

/** A directory, and then any file of some ending in it. */
const anyFile = /^((?:[^*?[\]{}()!+@\\]*\/)?)(?:\*\*\/)*\*(?:\*|\.(?:\{(\w+)(?:,\w+)*\}|(\w+)))?$/

const magic = /[*?[\]{}()!+@\\]/

const isEnding = (word: string): boolean => ['yml', 'yaml', 'json'].includes(word)

function placesOf(glob: string): ((name: string) => string) | undefined {
  if (!magic.test(glob)) return glob === '' || glob.endsWith('/') ? undefined : () => plainPath(glob)
  const [found, directory = '', one, other] = anyFile.exec(glob) ?? []
  const ending = one ?? other ?? 'yml'
  return found === undefined || !isEnding(ending) ? undefined : (name) => `${plainPath(directory)}${name}.${ending}`
}

/** As a search for files spells it. */
const plainPath = (path: string): string =>
  path
    .replace(/\/+/g, '/')
    .replace(/^(?:\.\/)+/, '')
    .replaceAll('/./', '/')

// Owns which objects of the service come into the files, under which key, and which do not and why. Pure.

/** By what apply will know an object that bears no mark yet. */
export type Adoption = { readonly adopt: true } | { readonly id: string } | Readonly<Record<string, never>>

export interface Newcomer {
  readonly section: Section
  readonly key: string
  readonly actual: Actual
  readonly adoption: Adoption
}

export interface Outsider {
  readonly section: Section
  readonly actual: Actual
  /** Whether it bears the mark of another project. */
  readonly isForeign: boolean
  readonly reason: string
}

export interface Population {
  readonly newcomers: readonly Newcomer[]
  readonly outsiders: readonly Outsider[]
}

export interface Census {
  readonly world: World
  readonly kinds: Kinds
  readonly plan: Pick<Plan, 'project' | 'changes'>
  readonly declarations: Pick<Declarations, 'objects' | 'broken'>
}

export function findNewcomers(census: Census): Population {
  const parts = sectionNames.map((section) => findIn(section, census))
  return { newcomers: parts.flatMap(({ newcomers }) => newcomers), outsiders: parts.flatMap(({ outsiders }) => outsiders) }
}

interface Applicant {
  readonly actual: Actual
  readonly mark: FoundMark | undefined
}

function findIn(section: Section, { world, kinds, plan, declarations }: Census): Population {
  const kind = kinds[section]
  const changes = plan.changes.filter((change) => change.section === section)
  const known = new Set(changes.map(({ id }) => id))
  const all = withoutRepeats(world[section]).map((actual): Applicant => ({ actual, mark: kind.markIn(kind.bodyOf(actual)) }))
  const applicants = all.filter(({ actual }) => !known.has(actual.id)).toSorted(byName)
  const taken = new Set([...declarations.objects, ...declarations.broken].filter((one) => one.section === section).map(({ key }) => key))
  const ours = applicants.filter(({ mark }) => mark?.project === kind.markStyle.projectToken(plan.project))
  const foreign = applicants.filter((one) => one.mark !== undefined && !ours.includes(one))
  const marked = ours.map((one) => withKeyOfMark(one, { kind, project: plan.project, ours, taken }))
  const names = Map.groupBy(
    all.filter(({ mark }) => mark === undefined),
    ({ actual }) => actual.name ?? '',
  )
  const rivals = new Map(changes.flatMap((change) => (change.action === 'create' ? [[change.name, change] as const] : [])))
  const unmarked = applicants
    .filter(({ mark }) => mark === undefined)
    .map(({ actual }): Newcomer | Outsider => {
      const rival = rivals.get(actual.name ?? '')
      if (rival !== undefined) return outsider(kind, actual, claimedBy(rival))
      const isOnly = names.get(actual.name ?? '')?.length === 1 && world.doubts[section] === undefined
      const key = takeKey({ name: actual.name ?? '', id: actual.id, noun: kind.noun }, taken)
      return { section, key, actual, adoption: isOnly ? { adopt: true } : { id: actual.id } }
    })
  const found = [...marked, ...unmarked]
  return {
    newcomers: found.filter(isNewcomer),
    outsiders: [
      ...found.filter((one): one is Outsider => !isNewcomer(one)),
      ...foreign.map(({ actual }) => ({ ...outsider(kind, actual, 'bears the mark of another project'), isForeign: true })),
    ],
  }
}

const isNewcomer = (one: Newcomer | Outsider): one is Newcomer => 'key' in one

const outsider = ({ section }: Kind, actual: Actual, reason: string): Outsider => ({ section, actual, isForeign: false, reason })

const claimedBy = ({ section, key }: Change): string =>
  `${section}.${key} has this name and does not take it over: write adopt: true there, or rename one of the two`

/** An id that stands twice is a list that changed while it was read. */
const withoutRepeats = (all: readonly Actual[]): readonly Actual[] => [...new Map(all.map((one) => [one.id, one])).values()]

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const byName = ({ actual: a }: Applicant, { actual: b }: Applicant): number => compare(a.name ?? '', b.name ?? '') || compare(a.id, b.id)

interface Marking {
  readonly kind: Kind
  readonly project: string
  readonly ours: readonly Applicant[]
  readonly taken: Set<string>
}

/** An object of this project that no file declares comes back under the key that its mark holds. */
function withKeyOfMark({ actual, mark }: Applicant, { kind, project, ours, taken }: Marking): Newcomer | Outsider {
  if (ours.filter((other) => other.mark?.token === mark?.token).length > 1)
    return outsider(kind, actual, 'bears the same mark as another one: two runs created them at once, or somebody copied one')
  // A long key is only in the mark as a hash. Most keys are what their names suggest.
  const guess = slugOf(actual.name ?? '')
  const key = mark?.key ?? (kind.markStyle.token(project, guess) === mark?.token ? guess : undefined)
  if (key === undefined)
    return outsider(kind, actual, 'bears a mark of this project that holds no more than a hash of its key: take the mark away')
  if (taken.has(key)) return outsider(kind, actual, `bears the mark of ${kind.section}.${key}, which another object has taken`)
  taken.add(key)
  return { section: kind.section, key, actual, adoption: {} }
}
