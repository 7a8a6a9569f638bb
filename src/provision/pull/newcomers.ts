// Owns which objects of the service come into the files, under which key, and which do not and why. Pure.
import type { Change, Plan } from '../change.ts'
import type { Declarations } from '../declarations.ts'
import { type Section, sectionNames } from '../declarations-schema.ts'
import type { Actual, Kind } from '../kinds/kind.ts'
import type { Kinds } from '../kinds/kinds.ts'
import type { FoundMark } from '../marker.ts'
import type { World } from '../world.ts'
import { slugOf, takeKey } from './keys.ts'

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
