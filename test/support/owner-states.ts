// States of several owners: two repositories on one server, and the markers that two objects can have. The oracles share no code with the rules.
import { errorsIn } from '../../src/platform/core/diagnostics.ts'
import { isHeld } from '../../src/sync/decide/change.ts'
import { isAboutHeld } from '../../src/sync/decide/guards/held.ts'
import type { StoredObjects } from '../../src/sync/plan/stored-objects.ts'
import { afterApply, kinds, planOf, remoteStateWith } from './plans.ts'
import { randomFrom } from './random.ts'

const subsets = <T>(list: readonly T[]): readonly (readonly T[])[] =>
  list.reduce<readonly (readonly T[])[]>((all, one) => all.flatMap((some) => [some, [...some, one]]), [[]])

interface Owner {
  readonly project: string
  readonly repository: string | undefined
  readonly previousProject: string | undefined
  readonly previousRepository: string | undefined
  readonly keys: readonly string[]
}

interface Written {
  readonly project: string
  readonly repository: string | undefined
}

const search = (key: string) => ({ name: key, source: 'Logs' })

const declaredBy = (keys: readonly string[]) => ({ savedSearches: Object.fromEntries(keys.map((key) => [key, search(key)])) })

let count = 0

function run(service: StoredObjects, { project, repository, previousProject, previousRepository, keys }: Owner) {
  const plan = planOf(declaredBy(keys), service, {
    project,
    prune: true,
    previousOwner: { project: previousProject, repository: previousRepository },
    repository: { name: repository, effect: 'write' },
  })
  const isRefused = errorsIn(plan.diagnostics).some((one) => !isAboutHeld(one))
  if (isRefused) return service
  const after = afterApply({ ...plan, changes: plan.changes.filter((change) => !isHeld(change)) }, service)
  // The id of a new object is made of its key, which two projects can have.
  const savedSearch = after.savedSearch.map((one) => (/^\d/.test(one.id) ? one : { ...one, id: `${++count}-${one.name}` }))
  return remoteStateWith({ ...after, savedSearch })
}

const configurations = [false, true].flatMap((isShared) =>
  [undefined, 'b', 'old'].flatMap((ofA) =>
    [undefined, 'a', 'old'].flatMap((ofB) =>
      [true, false].flatMap((isKnown) =>
        [undefined, 'host/b/b'].flatMap((movedA) =>
          [undefined, 'host/a/a'].flatMap((movedB) =>
            subsets(['x', 'y'])
              .slice(1)
              .flatMap((keysOfA) =>
                subsets(['x', 'y', 'z'])
                  .slice(1)
                  .flatMap((keysOfB) =>
                    [false, true].map((hasThird) => ({
                      owners: [
                        { project: 'a', repository: isKnown ? 'host/a/a' : undefined, previousProject: ofA, previousRepository: movedA, keys: keysOfA },
                        {
                          project: isShared ? 'a' : 'b',
                          repository: isKnown ? 'host/b/b' : undefined,
                          previousProject: isShared ? undefined : ofB,
                          previousRepository: movedB,
                          keys: keysOfB,
                        },
                      ] satisfies readonly Owner[],
                      hasThird,
                    })),
                  ),
              ),
          ),
        ),
      ),
    ),
  ),
)

/** What runs of two repositories in turn do to objects that are not theirs, in this many random configurations. */
export function findOwnerProblems(count: number, seed = 1): readonly string[] {
  const random = randomFrom(seed)
  const chosen = count >= configurations.length ? configurations : Array.from({ length: count }, () => configurations[Math.floor(random() * configurations.length)])
  return chosen.flatMap((configuration) => {
    if (configuration === undefined) return []
    const { owners, hasThird } = configuration
    const ledger = new Map<string, Written>()
    const problems: string[] = []
    const third: Owner = { project: 'old', repository: 'host/o/o', previousProject: undefined, previousRepository: undefined, keys: ['x', 'y', 'w'] }
    let service = remoteStateWith()
    for (const me of [...(hasThird ? [third] : []), ...owners, ...owners, ...owners]) {
      const before = new Map(service.savedSearch.map((one) => [one.id, one]))
      service = run(service, me)
      const after = new Map(service.savedSearch.map((one) => [one.id, one]))
      for (const [id, { project, repository }] of [...ledger]) {
        const isOfOther = me.repository !== undefined && repository !== undefined && repository !== me.repository
        if (!after.has(id) && (project !== me.project || isOfOther)) problems.push(`${me.project} deletes ${id} of ${project}`)
        const isTaken = after.has(id) && JSON.stringify(after.get(id)) !== JSON.stringify(before.get(id))
        if (isTaken && project !== me.project && project !== me.previousProject) problems.push(`${me.project} writes ${id} of ${project}`)
        if (isTaken && isOfOther && repository !== me.previousRepository) problems.push(`${me.repository} writes ${id} of ${repository}`)
        if (!after.has(id)) ledger.delete(id)
      }
      for (const [id, one] of after)
        if (JSON.stringify(one) !== JSON.stringify(before.get(id)))
          ledger.set(id, { project: me.project, repository: me.repository ?? ledger.get(id)?.repository })
    }
    return problems.length === 0 ? [] : [`${problems.join('; ')}: ${JSON.stringify(configuration)}`]
  })
}

const markers = ['own', 'own under previousKey', 'own of a declared key', 'own of an undeclared key', 'other project', 'previous project', 'none'] as const
const ownerOf = {
  own: ['shop/main', 'k'],
  'own under previousKey': ['shop/main', 'k0'],
  'own of a declared key': ['shop/main', 'k2'],
  'own of an undeclared key': ['shop/main', 'k3'],
  'other project': ['they/own', 'k'],
  'previous project': ['shop/old', 'k'],
  none: undefined,
} as const

/** Links that are not the ones of the order, in all states of two objects that a declaration could be about. */
export function findLinkProblems(): readonly string[] {
  const kind = kinds.savedSearch
  const problems: string[] = []
  for (const ofX of markers)
    for (const ofY of [...markers, undefined])
      for (const adopt of [[], ['x'], ['y'], ['x', 'y']])
        for (const hasPreviousKey of [false, true])
          for (const hasPrevious of [false, true]) {
            const objects = [['x', ofX] as const, ...(ofY === undefined ? [] : [['y', ofY] as const])]
            const stored = objects.map(([id, marker]) => {
              const body = { name: `of ${id}`, sourceId: 'logs', tags: [] }
              const [project, key] = ownerOf[marker] ?? []
              return { ...(project === undefined || key === undefined ? body : kind.withMarker(body, { project, key, digest: 'abcdef' })), id }
            })
            const k = { ...search('k'), ...(adopt.length > 0 && { adopt }), ...(hasPreviousKey && { previousKey: 'k0' }) }
            const plan = planOf({ savedSearches: { k, k2: search('k2') } }, remoteStateWith({ savedSearch: stored }), {
              previousOwner: { project: hasPrevious ? 'shop/old' : false },
            })
            const rankOf = (marker: (typeof markers)[number]): number =>
              marker === 'own' ? 1 : marker === 'own under previousKey' && hasPreviousKey ? 2 : marker === 'previous project' && hasPrevious ? 3 : 0
            const best = [1, 2, 3].map((rank) => objects.filter(([, marker]) => rankOf(marker) === rank)).find((some) => some.length > 0)
            const undeclared = hasPreviousKey ? [] : ['own under previousKey']
            const free = objects.filter(
              ([id, marker]) => adopt.includes(id) && ['none', 'own of an undeclared key', ...undeclared].includes(marker),
            )
            const meant = best ?? free
            const named = meant.filter(([id]) => adopt.length === 1 && adopt.includes(id))
            const wanted = meant.length === 1 ? meant[0]?.[0] : named.length === 1 ? named[0]?.[0] : undefined
            const linked = plan.changes.find(({ key }) => key === 'k')?.id
            const ids = plan.changes.flatMap(({ id }) => id ?? [])
            const state = JSON.stringify({ ofX, ofY, adopt, hasPreviousKey, hasPrevious })
            if (linked !== wanted) problems.push(`${linked} in place of ${wanted}: ${state}`)
            if (new Set(ids).size < ids.length) problems.push(`one object of two declarations: ${state}`)
          }
  return problems
}

