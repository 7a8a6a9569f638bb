import type { ReadApi, WriteApi } from '../api/client.ts'
import type { List } from '../api/collection.ts'
import type { Service } from '../api/path.ts'
import type { Diagnostic } from '../core/diagnostics.ts'
import { isSame } from '../core/equality.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { alertCollection } from '../resources/alerts/alert-wire.ts'
import { comparable, compareBodies, composeUpdate, diffFields } from '../resources/compare.ts'
import { guestOnTiles } from '../resources/lost-alerts.ts'
import type { Actual, Body, Kind, Kinds } from '../resources/resource-type.ts'
import { doneKinds, type Outcome } from './apply-state.ts'
import type { Change } from './change.ts'
import type { Section } from './declarations.ts'

// Owns reading the lists of some kinds again, by the marks in them.

export type Lists = Readonly<Partial<Record<Section, MarkedList>>>

interface ListsContext {
  readonly api: ReadApi
  readonly service: Service
  readonly kinds: Kinds
}

export async function readLists(sections: ReadonlySet<Section>, { api, service, kinds }: ListsContext): Promise<Lists> {
  const read = [...sections].map(
    async (section) => [section, byMark(await kinds[section].collection.list(api, service), kinds[section])] as const,
  )
  return Object.fromEntries(await Promise.all(read))
}

// Owns what a list that was read after the writes tells: what became of creates without an answer, which marks stand twice, and
// what the server made of what was sent. Pure.

/** A list by the marks in it. */
export interface MarkedList {
  readonly items: readonly Actual[]
  readonly mayBeCut: boolean
  readonly byToken: ReadonlyMap<string, Bearers>
}

/** The objects that bear one mark; more than one are too many. */
interface Bearers {
  readonly project: string
  readonly actuals: readonly Actual[]
}

/** An object that the list holds twice, because it was read while it changed, is one. */
export function byMark({ items, mayBeCut }: List<Actual>, kind: Kind): MarkedList {
  const byToken = new Map<string, { readonly project: string; readonly actuals: Actual[] }>()
  for (const actual of new Map(items.map((one) => [one.id, one])).values()) {
    const mark = kind.markIn(kind.bodyOf(actual))
    if (mark === undefined) continue
    const bearers = byToken.get(mark.token)
    if (bearers === undefined) byToken.set(mark.token, { project: mark.project, actuals: [actual] })
    else bearers.actuals.push(actual)
  }
  return { items, mayBeCut, byToken }
}

export type Found = { readonly actual: Actual } | 'absent' | 'unclear'

/** The object that bears the mark of the desired body. */
export function findByMark({ byToken, mayBeCut }: MarkedList, desired: Body, kind: Kind): Found {
  const [actual, second] = byToken.get(kind.markIn(desired)?.token ?? '')?.actuals ?? []
  if (actual !== undefined && second === undefined) return { actual }
  return actual === undefined && !mayBeCut ? 'absent' : 'unclear'
}

/** An outcome in the light of the list. `desired` has no open references. */
export function reviewOutcome(outcome: Outcome, list: MarkedList, desired: Body, kind: Kind): Outcome {
  const { change } = outcome
  const found = findByMark(list, desired, kind)
  if (typeof found === 'string') return outcome
  const { before, after } = compareBodies(kind, desired, found.actual)
  // What the answer to the write did not have yet, somebody else changed since.
  const answered = outcome.actual === undefined ? before : compareBodies(kind, desired, outcome.actual).before
  const serverChanged = diffFields(after, answered)
  if (outcome.kind === 'unknown' && serverChanged.length > 0 && !wasWritten(change, desired, found.actual, kind)) return outcome
  const { message: _, errorKind: __, ...rest } = outcome
  return {
    ...rest,
    kind: outcome.kind === 'unknown' ? doneKinds[change.action] : outcome.kind,
    id: found.actual.id,
    actual: found.actual,
    ...(serverChanged.length > 0 && { serverChanged }),
  }
}

/** The ownership marker tells: it holds a digest of what was declared, and was another one before. */
function wasWritten({ action, actual: before }: Outcome['change'], desired: Body, actual: Actual, kind: Kind): boolean {
  const digestIn = (one: Actual): string | undefined => kind.markIn(kind.bodyOf(one))?.digest
  const wanted = kind.markIn(desired)?.digest
  const isNew = before === undefined || action === 'replace'
  return digestIn(actual) === wanted && (isNew || digestIn(before) !== wanted)
}

/** Two runs at once, or a copy that somebody made. Nothing is deleted for it. */
export function findDoubles({ byToken }: MarkedList, kind: Kind, projectToken: string): readonly Diagnostic[] {
  return [...byToken].flatMap(([token, { project, actuals }]): Diagnostic[] => {
    if (project !== projectToken || actuals.length < 2) return []
    const ids = actuals.map(({ id }) => id).join(', ')
    const message = `the mark ${token} stands on ${actuals.length} ${kind.noun}s (${ids}): two runs at once, or a copy; delete the ones that are not wanted`
    return [{ rule: 'mark-twice', severity: 'error', location: { file: kind.section }, message }]
  })
}

// Owns writing one change. With apply.ts this is the only place that calls a method which writes.

export interface Writing {
  readonly api: WriteApi
  readonly service: Service
  readonly kinds: Kinds
}

/** An object was deleted to be created again, and the create failed. */
export class NotRecreatedError extends Error {
  override readonly name = 'NotRecreatedError'

  constructor(cause: unknown) {
    super('the object was deleted, and could not be created again', { cause })
  }
}

/** `desired` has no open references any more. Throws a WatchkeeperError when it could not be done. */
export async function writeChange(change: Change, desired: Body, writing: Writing): Promise<Outcome> {
  const actual = await write(change, desired, writing)
  return { change, kind: doneKinds[change.action], id: actual?.id ?? change.id, actual }
}

async function write(change: Change, desired: Body, writing: Writing): Promise<Actual | undefined> {
  const { api, service, kinds } = writing
  const { collection } = kinds[change.section]
  switch (change.action) {
    case 'create':
      return collection.create(api, service, desired)
    case 'replace':
      // First away, then anew: an end in between leaves nothing twice, and the next run creates what is missing.
      await remove(change, writing)
      return collection.create(api, service, desired).catch((thrown: unknown) => {
        throw new NotRecreatedError(thrown)
      })
    case 'update':
    case 'adopt': {
      const fresh = await readUnchanged(change, writing)
      await demandNoGuest(change, writing)
      return collection.update(api, service, fresh, composeUpdate(kinds[change.section], desired, fresh))
    }
    case 'delete':
      return remove(change, writing)
    case 'unchanged':
      return change.actual
  }
}

/** What somebody else changed after it was looked at is not overwritten, and not deleted. */
export async function readUnchanged(change: Change, { api, service, kinds }: Writing): Promise<Actual> {
  const kind = kinds[change.section]
  const fresh = await kind.collection.get(api, service, change.id ?? '')
  const { actual } = change
  if (actual === undefined) return fresh
  const [then, now] = [actual, fresh].map((one) => kind.markIn(kind.bodyOf(one))?.token)
  if (then === now && isSame(partInQuestion(change, fresh, kind), partInQuestion(change, actual, kind))) return fresh
  throw meanwhile(`The ${kind.noun} ${fresh.id} was changed by somebody else meanwhile and is left alone`)
}

/** Of an update what files have a say in; of a delete all of it. */
const partInQuestion = ({ desired }: Change, actual: Actual, kind: Kind): Body =>
  desired === undefined ? comparable(kind, kind.bodyOf(actual)) : compareBodies(kind, desired, actual).before

const meanwhile = (what: string): WatchkeeperError => new WatchkeeperError('conflict', `${what}: plan again.`)

async function demandNoGuest(change: Change, { api, service }: Writing): Promise<void> {
  if (change.takes === undefined) return
  const guest = guestOnTiles(change, await alertCollection.list(api, service))
  if (guest !== undefined) throw meanwhile(`The dashboard ${change.id} is left alone: ${guest}`)
}

async function remove(change: Change, writing: Writing): Promise<undefined> {
  try {
    await readUnchanged(change, writing)
  } catch (thrown) {
    if (thrown instanceof WatchkeeperError && thrown.kind === 'not-found') return
    throw thrown
  }
  await writing.kinds[change.section].collection.remove(writing.api, writing.service, change.id ?? '')
}
