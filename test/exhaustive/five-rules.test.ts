// Walks every state of an existing object, its declaration and the server, and compares what the planner decides with the rules of links and
// bases, written down a second time. docs/files.md has them for users.
import { describe, expect, it } from 'vitest'
import { baseOf, declarationDigest, toAdoptedId } from '../../src/kinds/base.ts'
import type { StoredObject } from '../../src/kinds/kind.ts'
import type { KindName } from '../../src/kinds/kind-names.ts'
import type { Change, Plan } from '../../src/sync/decide/change.ts'
import { ownership, type Row } from '../../src/sync/decide/ownership.ts'
import { readValue } from '../support/declarations.ts'
import { kinds, planOf, remoteStateWith } from '../support/plans.ts'
import { randomFrom } from '../support/random.ts'
import { sample } from '../support/seeds.ts'

const project = 'shop/main'
const key = 'mine'

interface Subject {
  readonly kind: KindName
  /** A stored object with the value, and with a text or tags of its own. */
  stored(value: number, id: string, own?: string): StoredObject
  declared(value: number): object
  /** Whether a name in the file is now that of another object than the one in the service. */
  readonly refersElsewhere?: boolean
  /** Whether an alert is on the object, so that a write can lose what it counts. */
  readonly hasAlert?: boolean
  /** Other objects of the service and of the files. */
  readonly around: { readonly stored: Readonly<Record<string, readonly object[]>>; readonly declared: object }
}

const config = { displayType: 'line', sourceId: 'logs', select: [{ aggFn: 'count' }] }
const tileOf = (w: number) => ({ name: 'A', x: 0, y: 0, w, h: 4, config })
const board = { id: 'board', name: 'Board', tags: [], tiles: [{ ...tileOf(6), id: 't1' }] }
const channel = { type: 'webhook', webhookId: 'hook' }
const watching = { threshold: 1, thresholdType: 'above', interval: '5m', channel }
const alert = { ...watching, source: 'tile', dashboardId: 'board', tileId: 't1' }
const alertInFile = { dashboard: { id: 'board' }, tile: { id: 't1' }, interval: '5m', channel }

const alertSubject = (name: string | undefined, others: readonly object[] = [], declaredOthers: object = {}): Subject => ({
  kind: 'alert',
  stored: (threshold, id, own) => ({ ...alert, id, threshold, name: name ?? null, ...(own !== undefined && { note: own }) }),
  declared: (threshold) => ({ ...alertInFile, threshold, ...(name !== undefined && { name }) }),
  around: { stored: { dashboard: [board], alert: others }, declared: { alerts: declaredOthers } },
})

const dashboardSubject = (alerts: readonly object[]): Subject => ({
  kind: 'dashboard',
  stored: (w, id, own) => ({ id, name: 'Mine', tags: own === undefined ? [] : [own], tiles: [{ ...tileOf(w), id: `${id}-t` }] }),
  declared: (w) => ({ name: 'Mine', tiles: [tileOf(w)] }),
  hasAlert: alerts.length > 0,
  around: { stored: { alert: alerts }, declared: {} },
})

const searchSubject = (sources: readonly object[]): Subject => ({
  kind: 'savedSearch',
  stored: (value, id, own) => ({ id, name: 'Mine', sourceId: 'logs', where: `x:${value}`, tags: own === undefined ? [] : [own] }),
  declared: (value) => ({ name: 'Mine', ...(sources.length > 0 ? { source: 'Moved' } : { sourceId: 'logs' }), where: `x:${value}` }),
  refersElsewhere: sources.length > 0,
  around: { stored: sources.length > 0 ? { source: sources } : {}, declared: {} },
})

const subjects: Readonly<Record<string, Subject>> = {
  'a dashboard': dashboardSubject([]),
  'a dashboard with an alert': dashboardSubject([{ ...alert, id: 'on-it', name: 'On it', dashboardId: 'old', tileId: 'old-t' }]),
  'a saved search': searchSubject([]),
  'a saved search whose source was made again': searchSubject([
    { id: 'logs', name: 'Logs' },
    { id: 'made-again', name: 'Moved' },
  ]),
  'an alert with a name': alertSubject('Mine'),
  'an alert without a name': alertSubject(undefined),
  'one of two alerts without a name in one place': alertSubject(undefined, [{ ...alert, id: 'second', threshold: 99, name: null }], {
    second: { ...alertInFile, threshold: 99 },
  }),
}

const sectionOf = { dashboard: 'dashboards', savedSearch: 'savedSearches', alert: 'alerts' } as const

const markers = ['ours', 'of another key', 'of another project', 'none', 'removed'] as const
const adoptions = ['absent', 'true', 'id', 'id and digests', 'id and digests of a later format', 'id and decision'] as const
const histories = ['same', 'changed', 'deleted', 'replaced by another', 'replaced by an equal one'] as const
const edits = ['none', 'changed', 'changed to the stored value', 'removed'] as const

interface State {
  readonly subject: Subject
  readonly marker: (typeof markers)[number]
  readonly adopt: (typeof adoptions)[number]
  readonly history: (typeof histories)[number]
  readonly edit: (typeof edits)[number]
  readonly canPatch: boolean
  /** Whether the project owns another object. */
  readonly isApplied: boolean
}

/** Values: 6 was pulled, 8 is a change in the service, 10 one in the files, 12 another object. */
function valuesOf({ history, edit }: State) {
  const stored = { same: 6, changed: 8, deleted: undefined, 'replaced by another': 12, 'replaced by an equal one': 6 }[history]
  const declared = edit === 'changed' ? 10 : edit === 'changed to the stored value' ? (stored ?? 6) : 6
  return { stored: history === 'replaced by an equal one' ? declared : stored, declared }
}

const wordFor = (action: Change['action'] | undefined): string => action ?? 'nothing'

const isOldIn = ({ history }: State): boolean => history === 'same' || history === 'changed'

type Decisions = readonly (readonly [boolean, string])[]

const namesAtMost = (decisions: Decisions): string | undefined => decisions.find(([applies]) => applies)?.[1]

/** What becomes of an object with a marker, or that does not exist; undefined for one without a marker. The marker has a base of 6 and 6. */
function expectedOfMarked(state: State): string | undefined {
  const { stored, declared } = valuesOf(state)
  const { adopt, edit, subject } = state
  const hasMarker = (marker: State['marker']): boolean => isOldIn(state) && state.marker === marker
  const isAdopted = adopt.startsWith('id')
  const isEqual = stored === declared && subject.refersElsewhere !== true
  const isDecided = adopt === 'id and decision'
  const isInBoth = stored !== 6 && declared !== 6 && !isDecided
  const renamed = hasMarker('of another key') && isAdopted
  return namesAtMost([
    // A delete would take the alert with it, which no file declares.
    [edit === 'removed', (hasMarker('ours') || hasMarker('of another key')) && subject.hasAlert !== true ? 'delete' : 'nothing'],
    [hasMarker('ours') && isEqual, declared === 6 ? 'unchanged' : 'mark'],
    [renamed && isEqual, 'adopt'],
    [(hasMarker('ours') || renamed) && isInBoth, 'held error'],
    [hasMarker('ours') || renamed, 'update'],
    [hasMarker('of another project') && isAdopted, 'held error'],
    [hasMarker('of another key') || hasMarker('of another project') || stored === undefined, 'create'],
  ])
}

/** What becomes of an object without a marker. Only an entry of `adopt` can have a base for it. */
function expectedOfUnmarked(state: State): string {
  const { marker, adopt, canPatch, subject } = state
  const { stored, declared } = valuesOf(state)
  const isOld = isOldIn(state)
  // A replacement has no text of a person.
  const isTextEqual = marker !== 'removed' || !isOld
  const isNamed = adopt.startsWith('id') && isOld
  const isDecided = isNamed && adopt === 'id and decision'
  const isMarkerFree = subject.kind !== 'dashboard' || canPatch
  const hasBase = isNamed && adopt === 'id and digests'
  const isAsPulled = hasBase && stored === 6 && isTextEqual
  const isEqualButText = stored === declared && subject.refersElsewhere !== true
  const decisions: Decisions = [
    // The decision also accepts a write of all tiles.
    [isEqualButText && isTextEqual && isDecided && subject.kind === 'dashboard' && !canPatch, 'update'],
    [isEqualButText && isTextEqual, isMarkerFree ? 'adopt' : 'tracked'],
    [isDecided, 'update'],
    [isAsPulled, subject.hasAlert === true ? 'held error' : 'update'],
    [hasBase && declared === 6, 'held warning'],
    [isEqualButText && (adopt === 'absent' || (hasBase && declared === 6)), 'held warning'],
  ]
  return namesAtMost(decisions) ?? 'held error'
}

/** Another object, which was applied. */
const ownedInFile = { name: 'Owned', sourceId: 'logs' }

function planFor(given: State, prune: boolean, more: Parameters<typeof planOf>[2] = {}): { readonly plan: Plan; readonly id: string } {
  const { subject, marker, adopt, history, canPatch, edit, isApplied } = given
  const kind = kinds[subject.kind]
  const { stored, declared } = valuesOf(given)
  const section = sectionOf[subject.kind as keyof typeof sectionOf]
  const digestOf = (value: number): string => {
    const [object] = readValue({ [section]: { [key]: subject.declared(value) } }).objects
    return declarationDigest((object?.value ?? {}) as Record<string, unknown>)
  }
  const isOld = history === 'same' || history === 'changed'
  const id = isOld ? 'old' : 'new'
  const bare = stored === undefined ? undefined : subject.stored(stored, id, isOld && marker === 'removed' ? 'by hand' : undefined)
  const pulled = kind.toBody(subject.stored(6, 'old'))
  const owner = { ours: { project, key }, 'of another key': { project, key: 'other' }, 'of another project': { project: 'they/own', key } }
  const owned = isOld && Object.hasOwn(owner, marker) ? owner[marker as keyof typeof owner] : undefined
  const marked = owned && bare && kind.withMarker(kind.toBody(bare), { ...owned, digest: digestOf(6) })
  const object = marked === undefined ? bare : { ...kind.withBase(marked, baseOf(kind, pulled, pulled)), id }
  const pulledEntry = toAdoptedId(kind, subject.stored(6, 'old'), pulled, digestOf(6))
  const spelled = {
    absent: undefined,
    true: true,
    id: 'old',
    'id and digests': pulledEntry,
    'id and digests of a later format': pulledEntry.replace('@2.', '@3.'),
    'id and decision': object === undefined ? 'old' : toAdoptedId(kind, { ...object, id: 'old' }, pulled, 'files'),
  }[adopt]
  const own = edit === 'removed' ? {} : { [key]: { ...subject.declared(declared), ...(spelled !== undefined && { adopt: spelled }) } }
  const others = (subject.around.declared as Record<string, object>)[section] ?? {}
  const search = kinds.savedSearch.withMarker(ownedInFile, { project, key: 'owned', digest: declarationDigest(ownedInFile) })
  const lists: Readonly<Record<string, readonly object[]>> = {
    ...subject.around.stored,
    ...(isApplied && { savedSearch: [{ ...search, id: 'owned' }] }),
  }
  const state = remoteStateWith({ ...lists, [subject.kind]: [...(lists[subject.kind] ?? []), ...(object === undefined ? [] : [object])] })
  const options = { canPatch, prune, previousOwner: { project: false as const }, ...more }
  const content = { savedSearches: {}, ...subject.around.declared, [section]: { ...others, ...own } }
  const savedSearches = { ...content.savedSearches, ...(isApplied && { owned: ownedInFile }) }
  return { plan: planOf({ ...content, savedSearches }, state, options), id }
}

function decided({ plan, id }: { readonly plan: Plan; readonly id: string }): string {
  const error = plan.diagnostics.find(({ rule }) => rule === 'owned-elsewhere')
  if (error !== undefined) return error.rule
  const change = plan.changes.find((one) => one.key === key || (one.action === 'delete' && one.id === id))
  if (change?.action === 'held') return `held ${change.isError ? 'error' : 'warning'}`
  return change !== undefined && 'isTracked' in change && change.isTracked ? 'tracked' : wordFor(change?.action)
}

function statesOf(subject: Subject): readonly State[] {
  const patches = subject.kind === 'dashboard' ? [true, false] : [true]
  return markers.flatMap((marker) =>
    adoptions.flatMap((adopt) =>
      histories.flatMap((history) =>
        edits.flatMap((edit) =>
          patches.flatMap((canPatch) => [true, false].map((isApplied) => ({ subject, marker, adopt, history, edit, canPatch, isApplied }))),
        ),
      ),
    ),
  )
}

describe.each(Object.entries(subjects))('W21: the rules about %s', (_name, subject) => {
  it('decide every state, delete nothing beside a held error, and never an object without a marker', () => {
    for (const state of sample(statesOf(subject))) {
      const { subject: _, ...words } = state
      const planned = planFor(state, true)
      expect(decided(planned), JSON.stringify(words)).toBe(expectedOfMarked(state) ?? expectedOfUnmarked(state))
      const { changes } = planned.plan
      const deleted = changes.filter(({ action }) => action === 'delete')
      const markersOfDeleted = deleted.map(({ kind, stored }) => stored && kinds[kind].readMarker(kinds[kind].toBody(stored)))
      const isHeld = changes.some((one) => one.action === 'held' && one.isError)
      if (isHeld ? deleted.length > 0 : markersOfDeleted.includes(undefined)) throw new Error(JSON.stringify(words))
    }
  })
})

describe('W21: the table of what becomes of an object', () => {
  const random = randomFrom(1)
  const oneOfTwo = alertSubject('Mine', [{ ...alert, id: 'second', threshold: 99, name: 'Mine' }])
  const states = [...Object.values(subjects), oneOfTwo]
    .flatMap((subject) => statesOf(subject).flatMap((state) => [true, false].map((rewrite) => ({ state, rewrite, rank: random() }))))
    .toSorted((a, b) => a.rank - b.rank)
  const decidedIn = ({ state, rewrite }: (typeof states)[number]): string => {
    try {
      return decided(planFor(state, true, { rewrite }))
    } catch (error) {
      return String(error)
    }
  }

  it.each(ownership.map((row, i) => [i + 1, row] as const))(
    'needs row %i, without which an object is decided differently',
    (number, row) => {
      const rows = ownership as Row[]
      const needed = states.find((state) => {
        const before = decidedIn(state)
        rows.splice(number - 1, 1)
        const after = decidedIn(state)
        rows.splice(number - 1, 0, row)
        return before !== after
      })
      expect(needed).toBeDefined()
    },
  )
})
