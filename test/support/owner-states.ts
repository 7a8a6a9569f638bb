// States of several owners: two repositories on one server, and the markers that two objects can have. The oracles share no code with the rules.
import { errorsIn } from '../../src/platform/core/diagnostics.ts'
import { isHeld } from '../../src/sync/decide/change.ts'
import { isAboutHeld } from '../../src/sync/decide/hold.ts'
import type { StoredObjects } from '../../src/sync/plan/stored-objects.ts'
import { afterApply, kinds, planOf, remoteStateWith } from './plans.ts'
import { randomFrom } from './random.ts'

type Choices<T> = { readonly [K in keyof T]: readonly T[K][] }

/** Every combination of the choices. */
const combinationsOf = <T extends object>(choices: Choices<T>): readonly T[] =>
  (Object.entries(choices) as [keyof T, readonly T[keyof T][]][]).reduce<readonly T[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{} as T],
  )

interface Owner {
  readonly project: string
  readonly repository: string | undefined
  readonly previousProject: string | undefined
  readonly previousRepository: string | undefined
  readonly keys: readonly string[]
}

type Writer = Pick<Owner, 'project' | 'repository'>

interface Configuration {
  readonly isShared: boolean
  readonly isKnown: boolean
  readonly hasThird: boolean
  readonly previous: readonly [string | undefined, string | undefined]
  readonly moved: readonly [string | undefined, string | undefined]
  readonly keysOfA: readonly string[]
  readonly keysOfB: readonly string[]
}

const pairs = (first: readonly string[], second: readonly string[]) =>
  [undefined, ...first].flatMap((a) => [undefined, ...second].map((b) => [a, b] as const))

const configurations = combinationsOf<Configuration>({
  isShared: [false, true],
  isKnown: [false, true],
  hasThird: [false, true],
  previous: pairs(['b', 'old'], ['a', 'old']),
  moved: pairs(['host/b/b'], ['host/a/a']),
  keysOfA: [['x'], ['y'], ['x', 'y']],
  keysOfB: [['x'], ['y'], ['z'], ['x', 'y'], ['y', 'z'], ['x', 'z'], ['x', 'y', 'z']],
})

function ownersIn({ isShared, isKnown, hasThird, previous: [ofA, ofB], moved, keysOfA, keysOfB }: Configuration): readonly Owner[] {
  const repositoryOf = (name: string) => (isKnown ? `host/${name}/${name}` : undefined)
  const a = { project: 'a', repository: repositoryOf('a'), previousProject: ofA, previousRepository: moved[0], keys: keysOfA }
  const ofOther = isShared ? { project: 'a', previousProject: undefined } : { project: 'b', previousProject: ofB }
  const b = { ...ofOther, repository: repositoryOf('b'), previousRepository: moved[1], keys: keysOfB }
  const third = { project: 'old', repository: 'host/o/o', previousProject: undefined, previousRepository: undefined, keys: ['x', 'y', 'w'] }
  return [...(hasThird ? [third] : []), a, b, a, b, a, b]
}

const search = (key: string) => ({ name: key, source: 'Logs' })

let count = 0

function run(service: StoredObjects, { project, repository, previousProject, previousRepository, keys }: Owner): StoredObjects {
  const plan = planOf({ savedSearches: Object.fromEntries(keys.map((key) => [key, search(key)])) }, service, {
    project,
    prune: true,
    previousOwner: { project: previousProject, repository: previousRepository },
    repository: { name: repository, effect: 'write' },
  })
  if (errorsIn(plan.diagnostics).some((one) => !isAboutHeld(one))) return service
  const after = afterApply({ ...plan, changes: plan.changes.filter((change) => !isHeld(change)) }, service)
  // The id of a new object is made of its key, which two projects can have.
  const savedSearch = after.savedSearch.map((one) => (/^\d/.test(one.id) ? one : { ...one, id: `${++count}-${one.name}` }))
  return remoteStateWith({ ...after, savedSearch })
}

const textsOf = ({ savedSearch }: StoredObjects): ReadonlyMap<string, string> =>
  new Map(savedSearch.map((one) => [one.id, JSON.stringify(one)]))

/** What a run must not have done to an object that was last written by someone else. */
function whyWrong(became: 'deleted' | 'written', last: Writer, me: Owner): string | undefined {
  const isOfOther = me.repository !== undefined && last.repository !== undefined && last.repository !== me.repository
  const [projects, repositories] = became === 'deleted' ? [[], []] : [[me.previousProject], [me.previousRepository]]
  if (last.project !== me.project && !projects.includes(last.project)) return `${became} by the project ${me.project}`
  return isOfOther && !repositories.includes(last.repository) ? `${became} by the repository ${me.repository}` : undefined
}

function problemsIn(configuration: Configuration): readonly string[] {
  const lastWriters = new Map<string, Writer>()
  let service = remoteStateWith()
  return ownersIn(configuration).flatMap((me) => {
    const before = textsOf(service)
    service = run(service, me)
    const after = textsOf(service)
    const problems = [...lastWriters].flatMap(([id, last]) => {
      const became = after.has(id) ? 'written' : 'deleted'
      const problem = before.get(id) === after.get(id) ? undefined : whyWrong(became, last, me)
      return problem === undefined ? [] : [`${id} of ${last.project} is ${problem}: ${JSON.stringify(configuration)}`]
    })
    for (const id of before.keys()) if (!after.has(id)) lastWriters.delete(id)
    for (const [id, text] of after)
      if (text !== before.get(id)) lastWriters.set(id, { ...me, repository: me.repository ?? lastWriters.get(id)?.repository })
    return problems
  })
}

/** What runs of two repositories in turn do to objects that are not theirs, in this many random configurations, or in all. */
export function findOwnerProblems(wanted?: number): readonly string[] {
  const random = randomFrom(1)
  const pick = (): readonly Configuration[] => configurations.slice(Math.floor(random() * configurations.length)).slice(0, 1)
  return (wanted === undefined ? configurations : Array.from({ length: wanted }, pick).flat()).flatMap(problemsIn)
}

const ownerOf = {
  own: ['shop/main', 'k'],
  'own under previousKey': ['shop/main', 'k0'],
  'own of a declared key': ['shop/main', 'k2'],
  'own of an undeclared key': ['shop/main', 'k3'],
  'other project': ['they/own', 'k'],
  'previous project': ['shop/old', 'k'],
  none: ['', ''],
} as const

type Marker = keyof typeof ownerOf

const markers = Object.keys(ownerOf) as readonly Marker[]

interface LinkState {
  readonly x: Marker
  readonly y: Marker | undefined
  readonly adopt: readonly string[]
  readonly hasPreviousKey: boolean
  readonly hasPreviousProject: boolean
}

const linkStates = combinationsOf<LinkState>({
  x: markers,
  y: [...markers, undefined],
  adopt: [[], ['x'], ['y'], ['x', 'y']],
  hasPreviousKey: [false, true],
  hasPreviousProject: [false, true],
})

const objectsIn = ({ x, y }: LinkState) => [{ id: 'x', marker: x }, ...(y === undefined ? [] : [{ id: 'y', marker: y }])]

/** The id of the object that the order of links gives to the declaration; undefined where none or several are meant. */
function linkedIn(state: LinkState): string | undefined {
  const { adopt, hasPreviousKey, hasPreviousProject } = state
  const objects = objectsIn(state)
  const order: readonly (Marker | false)[] = ['own', hasPreviousKey && 'own under previousKey', hasPreviousProject && 'previous project']
  const best = order.map((wanted) => objects.filter(({ marker }) => marker === wanted)).find((some) => some.length > 0)
  const unclaimed: readonly (Marker | false)[] = ['none', 'own of an undeclared key', !hasPreviousKey && 'own under previousKey']
  const meant = best ?? objects.filter(({ id, marker }) => adopt.includes(id) && unclaimed.includes(marker))
  const [only, second] = meant.length > 1 && adopt.length === 1 ? meant.filter(({ id }) => adopt.includes(id)) : meant
  return second === undefined ? only?.id : undefined
}

function problemOf(state: LinkState): readonly string[] {
  const kind = kinds.savedSearch
  const savedSearch = objectsIn(state).map(({ id, marker }) => {
    const body = { name: `of ${id}`, sourceId: 'logs', tags: [] }
    const [project, key] = ownerOf[marker]
    return { ...(project === '' ? body : kind.withMarker(body, { project, key, digest: 'abcdef' })), id }
  })
  const { adopt, hasPreviousKey, hasPreviousProject } = state
  const k = { ...search('k'), ...(adopt.length > 0 && { adopt }), ...(hasPreviousKey && { previousKey: 'k0' }) }
  const previousOwner = { project: hasPreviousProject ? 'shop/old' : (false as const) }
  const { changes } = planOf({ savedSearches: { k, k2: search('k2') } }, remoteStateWith({ savedSearch }), { previousOwner })
  const [linked, wanted] = [changes.find(({ key }) => key === 'k')?.id, linkedIn(state)]
  const ids = changes.flatMap(({ id }) => id ?? [])
  return [
    ...(linked === wanted ? [] : [`${linked} in place of ${wanted}: ${JSON.stringify(state)}`]),
    ...(new Set(ids).size === ids.length ? [] : [`one object of two declarations: ${JSON.stringify(state)}`]),
  ]
}

/** Links that are not the ones of the order, in all states of two objects that a declaration could be about. */
export const findLinkProblems = (): readonly string[] => linkStates.flatMap(problemOf)
