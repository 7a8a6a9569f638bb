// Owns the files as they would be after a pull, and what becomes of each object. Pure: it reads nothing and writes nothing.
import type { Profile } from '../../api/profiles.ts'
import type { Change, Plan } from '../change.ts'
import type { Declarations, Declared } from '../declarations.ts'
import { type Section, sections } from '../declarations-schema.ts'
import { createDirectory } from '../directory.ts'
import type { Actual } from '../kinds/kind.ts'
import { createKinds } from '../kinds/kinds.ts'
import { canonicalText } from '../marker.ts'
import type { World } from '../world.ts'
import { type DraftedFile, writeFiles } from './draft-files.ts'
import type { Addition, Update } from './edit-file.ts'
import { createNaming, type Naming } from './naming.ts'
import { type Adoption, findNewcomers, type Newcomer } from './newcomers.ts'
import { createPlacement } from './placement.ts'
import { sidesOf, writtenAnew } from './sides.ts'
import { whyUnwritable } from './written.ts'

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
    declarations.objects.filter(({ section }) => section === 'dashboards').map(({ key, place: { file } }) => [key, file]),
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
  const path = declared.place.file
  const object = { section, key, name, id: actual?.id, path, reason: undefined, lost: [] }
  if (actual === undefined) return { object: { ...object, what: 'missing' }, path, update: undefined }
  const { before, after } = sidesOf(declared, { ...change, actual }, speakers)
  const isSame = canonicalText(before.fields) === canonicalText(after.fields)
  const reason = excluded.get(identityOf(section, actual.id)) ?? (isSame ? undefined : whyUnwritable(after.fields, sections[section]))
  if (reason !== undefined) return { object: { ...object, what: 'left-out', reason }, path, update: undefined }
  if (isSame) return { object: { ...object, what: 'unchanged' }, path, update: undefined }
  return { object: { ...object, name: actual.name ?? name, what: 'updated' }, path, update: { section, key, before, after } }
}
