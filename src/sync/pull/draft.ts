import { Document, type Pair, type Scalar, YAMLMap } from 'yaml'
import type { Profile } from '../../api/profiles.ts'
import { version } from '../../core/version.ts'
import { readDocument } from '../../documents/document.ts'
import { interpolate } from '../../documents/interpolate.ts'
import { ownValue } from '../../documents/schema-facts.ts'
import { createDirectory } from '../../resources/directory.ts'
import { canonicalText } from '../../resources/marker.ts'
import { type Actual, type Body, createKinds } from '../../resources/resource-type.ts'
import type { Change, Plan } from '../change.ts'
import { type Declarations, type Declared, type Section, sectionNames, sections } from '../declarations.ts'
import type { World } from '../remote-state.ts'
import { foldDefaults } from './defaults.ts'
import { type Addition, editFile, type Update } from './edit-file.ts'
import { sidesOf, whyUnwritable, writtenAnew } from './render.ts'
import { type Adoption, createNaming, createPlacement, findNewcomers, type Naming, type Newcomer } from './select.ts'
import { createNode, documentOptions, ourIndentation, textOptions } from './yaml-style.ts'

// Owns the text of a file that did not exist.

const schemaAddress = `https://raw.githubusercontent.com/watchkeeper/watchkeeper/v${version.split('.')[0]}/schemas/observability.schema.json`

export function newFile(path: string, additions: readonly Addition[]): string {
  const content = contentOf(additions)
  if (path.endsWith('.json')) return `${JSON.stringify({ $schema: schemaAddress, ...content }, null, 2)}\n`
  const { indent } = ourIndentation
  const document = new Document(undefined, documentOptions)
  const root = new YAMLMap(document.schema)
  for (const [section, objects] of Object.entries(content)) {
    const map = new YAMLMap(document.schema)
    for (const [key, fields] of Object.entries(objects)) {
      const node = createNode(document, fields, { name: key, column: indent * 2, indent, isOpen: true })
      map.items.push(spaced(document.createPair(key, node), map.items.length > 0))
    }
    root.items.push(spaced(document.createPair(section, map), root.items.length > 0))
  }
  document.contents = root
  return `# yaml-language-server: $schema=${schemaAddress}\n${document.toString(textOptions(ourIndentation))}`
}

/** What the file holds, in the order in which it is read. */
function contentOf(additions: readonly Addition[]): Readonly<Record<string, Readonly<Record<string, Body>>>> {
  const of = (section: Section) => additions.filter((addition) => addition.section === section)
  const { defaults, alerts } = foldDefaults(of('alerts').map(({ fields }) => fields))
  const objectsOf = (section: Section): readonly (readonly [string, Body])[] =>
    of(section).map(({ key, fields }, i) => [key, section === 'alerts' ? (alerts[i] ?? fields) : fields])
  const filled = sectionNames.map((section) => [section, Object.fromEntries(objectsOf(section))] as const)
  return {
    ...(Object.keys(defaults).length > 0 && { defaults: { alerts: defaults } }),
    ...Object.fromEntries(filled.filter(([, objects]) => Object.keys(objects).length > 0)),
  }
}

/** With an empty line before it. */
export function spaced(pair: Pair, isSpaced: boolean): Pair {
  if (isSpaced) (pair.key as Scalar).spaceBefore = true
  return pair
}

// Owns putting what changes into files: each file once, with all that belongs into it.

export interface DraftedFile {
  readonly path: string
  /** Undefined for a file that does not exist yet. */
  readonly before: string | undefined
  readonly after: string
}

interface Placed {
  readonly path: string
}

export interface Writing {
  readonly texts: ReadonlyMap<string, string>
  readonly variable: (name: string) => string | undefined
  readonly updates: readonly (Update & Placed)[]
  readonly additions: readonly (Addition & Placed)[]
}

export interface WrittenFiles {
  readonly files: readonly DraftedFile[]
  /** Expressions that gave way to what they no longer stand for, by object. */
  readonly lost: ReadonlyMap<string, readonly string[]>
}

export function writeFiles({ texts, variable, updates, additions }: Writing): WrittenFiles {
  const paths = [...new Set([...updates, ...additions].map(({ path }) => path))].sort()
  const lost = new Map<string, readonly string[]>()
  const files = paths.map((path): DraftedFile => {
    const of = <T extends Placed>(all: readonly T[]): readonly T[] => all.filter((one) => one.path === path)
    const before = texts.get(path)
    if (before === undefined) return { path, before, after: newFile(path, of(additions)) }
    const edited = editFile({
      path,
      text: before,
      defaults: defaultsIn(path, before, variable),
      updates: of(updates),
      additions: of(additions),
    })
    for (const [object, expressions] of edited.lost) lost.set(object, expressions)
    return { path, before, after: edited.text }
  })
  return { files: files.filter(({ before, after }) => before !== after), lost }
}

function defaultsIn(path: string, text: string, variable: Writing['variable']): unknown {
  const reading = readDocument(text, path)
  return 'value' in reading ? interpolate(ownValue(reading.value, 'defaults'), { variable }).value : undefined
}

// Owns the files as they would be after a pull, and what becomes of each object. Pure: it reads nothing and writes nothing.

export interface DraftInput {
  readonly declarations: Pick<Declarations, 'objects' | 'broken'>
  readonly plan: Pick<Plan, 'project' | 'changes'>
  readonly world: World
  readonly profile: Profile
  readonly globs: readonly string[]
  /** The files that there are. */
  readonly texts: ReadonlyMap<string, string>
  readonly variable: (name: string) => string | undefined
  /** Objects that the files cannot say, by `identityOf`, each with the reason. */
  readonly excluded: ReadonlyMap<string, string>
}

/** What a pull makes of an object. */
export const pullKinds = ['added', 'updated', 'unchanged', 'missing', 'foreign', 'left-out'] as const

export interface PulledObject {
  readonly section: Section
  /** Empty for what comes into no file. */
  readonly key: string
  readonly name: string
  /** Undefined for what is not in the service. */
  readonly id: string | undefined
  readonly what: (typeof pullKinds)[number]
  /** Undefined for what is in no file. */
  readonly path: string | undefined
  /** Why it is left out. */
  readonly reason: string | undefined
  /** Expressions that gave way to what they no longer stand for. */
  readonly lost: readonly string[]
}

export interface Draft {
  /** Those that differ from what there is. */
  readonly files: readonly DraftedFile[]
  readonly objects: readonly PulledObject[]
}

export const identityOf = (section: Section, id: string): string => `${section} ${id}`

export function draftPull(input: DraftInput): Draft {
  const { declarations, plan, world, profile, excluded } = input
  const kinds = createKinds(profile)
  const population = findNewcomers({ world, kinds, plan, declarations })
  const directory = createDirectory(world)
  const speakersFor = (targets: readonly Newcomer[]) => ({ kinds, naming: createNaming(world, directory, keysById(plan.changes, targets)) })
  const admit = (newcomers: readonly Newcomer[], naming: Naming): readonly Guest[] =>
    newcomers.map((newcomer) => admitted(newcomer, writtenAnew(newcomer.section, newcomer.actual, { kinds, naming }).fields, excluded))
  // What alerts hang on comes first: a dashboard that stays outside is no key of these files.
  const [alerts, targets] = [true, false].map((isAlert) => population.newcomers.filter(({ section }) => (section === 'alerts') === isAlert))
  const hosts = admit(targets ?? [], speakersFor([]).naming)
  const speakers = speakersFor(hosts.filter(({ reason }) => reason === undefined).map(({ newcomer }) => newcomer))
  const guests = [...hosts, ...admit(alerts ?? [], speakers.naming)]
  const declared = new Map(declarations.objects.map((one) => [`${one.section}.${one.key}`, one]))
  const residents = plan.changes.flatMap((change) => {
    const one = declared.get(`${change.section}.${change.key}`)
    return one === undefined ? [] : [residentOf(one, change, excluded, speakers)]
  })
  const paths = placesFor(guests, input)
  const written = writeFiles({
    ...input,
    updates: residents.flatMap(({ update, path }) => (update === undefined ? [] : [{ ...update, path }])),
    additions: guests.flatMap(({ addition }) => (addition === undefined ? [] : [{ ...addition, path: paths.get(addition) ?? '' }])),
  })
  return {
    files: written.files,
    objects: [
      ...residents.map(({ object }) => ({ ...object, lost: written.lost.get(`${object.section}.${object.key}`) ?? [] })),
      ...guests.map((guest) => guestObject(guest, guest.addition && paths.get(guest.addition))),
      ...population.outsiders.map(({ section, actual, isForeign, reason }) => ({
        ...outside(section, actual, reason),
        what: isForeign ? ('foreign' as const) : ('left-out' as const),
      })),
    ],
  }
}

function keysById(changes: readonly Change[], newcomers: readonly Newcomer[]) {
  const keys = (section: Section) =>
    new Map([
      ...changes.filter((one) => one.section === section).flatMap(({ id, key }) => (id === undefined ? [] : [[id, key] as const])),
      ...newcomers.filter((one) => one.section === section).map(({ actual, key }) => [actual.id, key] as const),
    ])
  return { dashboards: keys('dashboards'), savedSearches: keys('savedSearches') }
}

/** An object of the service that no file declares. */
interface Guest {
  readonly newcomer: Newcomer
  /** Undefined where it stays outside. */
  readonly addition: Addition | undefined
  readonly reason: string | undefined
}

function admitted(newcomer: Newcomer, body: Addition['fields'], excluded: DraftInput['excluded']): Guest {
  const { section, key, actual, adoption } = newcomer
  const fields = withAdoption(body, adoption)
  const reason = excluded.get(identityOf(section, actual.id)) ?? whyUnwritable(fields, sections[section])
  return { newcomer, reason, addition: reason === undefined ? { section, key, fields } : undefined }
}

const withAdoption = ({ name, ...fields }: Addition['fields'], adoption: Adoption): Addition['fields'] => ({ name, ...adoption, ...fields })

const outside = (section: Section, { id, name }: Actual, reason: string | undefined) =>
  ({ section, key: '', name: name ?? '', id, path: undefined, reason, lost: [] }) as const

const guestObject = ({ newcomer: { section, key, actual }, reason }: Guest, path: string | undefined): PulledObject =>
  reason === undefined
    ? { ...outside(section, actual, undefined), what: 'added', key, path }
    : { ...outside(section, actual, reason), what: 'left-out' }

function placesFor(guests: readonly Guest[], { declarations, globs, texts }: DraftInput): ReadonlyMap<Addition, string> {
  const additions = guests.flatMap(({ addition }) => addition ?? [])
  if (additions.length === 0) return new Map()
  const place = createPlacement({ globs, paths: [...texts.keys()] })
  const declared = new Map(
    declarations.objects.filter(({ section }) => section === 'dashboards').map(({ key, location: { file } }) => [key, file]),
  )
  return new Map(
    additions.map((addition) => {
      const { section, key, fields } = addition
      const dashboard = typeof fields.dashboard === 'string' ? fields.dashboard : undefined
      return [addition, (section === 'alerts' && declared.get(dashboard ?? '')) || place({ section, key, dashboard })] as const
    }),
  )
}

/** An object that files declare. */
interface Resident {
  readonly object: PulledObject
  readonly path: string
  /** Undefined where nothing about it changes. */
  readonly update: Update | undefined
}

function residentOf(
  declared: Declared,
  change: Change,
  excluded: DraftInput['excluded'],
  speakers: Parameters<typeof sidesOf>[2],
): Resident {
  const { section, key, actual, name } = change
  const path = declared.location.file
  const object = { section, key, name, id: actual?.id, path, reason: undefined, lost: [] }
  if (actual === undefined) return { object: { ...object, what: 'missing' }, path, update: undefined }
  const { before, after } = sidesOf(declared, { ...change, actual }, speakers)
  const isSame = canonicalText(before.fields) === canonicalText(after.fields)
  const reason = excluded.get(identityOf(section, actual.id)) ?? (isSame ? undefined : whyUnwritable(after.fields, sections[section]))
  if (reason !== undefined) return { object: { ...object, what: 'left-out', reason }, path, update: undefined }
  if (isSame) return { object: { ...object, what: 'unchanged' }, path, update: undefined }
  return { object: { ...object, name: actual.name ?? name, what: 'updated' }, path, update: { section, key, before, after } }
}
