import type { ReadApi, WriteApi } from '../api/client.ts'
import type { List } from '../api/collection.ts'
import type { Service } from '../api/path.ts'
import { requestTimeoutMs } from '../api/requester.ts'
import type { Clock } from '../core/clock.ts'
import type { Diagnostic } from '../core/diagnostics.ts'
import { isSame } from '../core/equality.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { type Alert, alertCollection } from '../resources/alerts/alert-wire.ts'
import { comparable, compareBodies, composeUpdate, sidesOf } from '../resources/compare.ts'
import { diffFields } from '../resources/diff.ts'
import type { Body, RemoteObject, ResourceType, Section } from '../resources/resource-type.ts'
import type { ResourceTypes } from '../resources/resource-types.ts'
import { snapshotOf, unexplained } from '../resources/snapshot.ts'
import {
  type ApplyState,
  type ApplyStateOptions,
  createApplyState,
  failed,
  failedRecreation,
  isSuccess,
  type Outcome,
  preventsReading,
  type StopReason,
  successKinds,
} from './apply-state.ts'
import type { Change, Plan } from './change.ts'
import { guestOn, guestOnTiles } from './protect-alerts.ts'

// Owns reading the lists of some kinds again, by the marks in them.

export type MarkerIndexes = Readonly<Partial<Record<Section, MarkerIndex>>>

interface ReadListsOptions {
  readonly api: ReadApi
  readonly service: Service
  readonly kinds: ResourceTypes
}

export async function readMarkerIndexes(sections: ReadonlySet<Section>, { api, service, kinds }: ReadListsOptions): Promise<MarkerIndexes> {
  const read = [...sections].map(
    async (section) => [section, indexByMarker(await kinds[section].collection.list(api, service), kinds[section])] as const,
  )
  return Object.fromEntries(await Promise.all(read))
}

// Owns what a list that was read after the writes tells: what became of creates without an answer, which marks stand twice, and
// what the server made of what was sent. Pure.

/** A list by the marks in it. */
export interface MarkerIndex {
  readonly items: readonly RemoteObject[]
  readonly mayBeCut: boolean
  readonly byToken: ReadonlyMap<string, MarkerHolders>
}

/** The objects that bear one mark; more than one are too many. */
interface MarkerHolders {
  readonly project: string
  readonly actuals: readonly RemoteObject[]
}

/** An object that the list holds twice, because it was read while it changed, is one. */
export function indexByMarker({ items, mayBeCut }: List<RemoteObject>, kind: ResourceType): MarkerIndex {
  const byToken = new Map<string, { readonly project: string; readonly actuals: RemoteObject[] }>()
  for (const actual of new Map(items.map((one) => [one.id, one])).values()) {
    const mark = kind.readMarker(kind.toBody(actual))
    if (mark === undefined) continue
    const bearers = byToken.get(mark.token)
    if (bearers === undefined) byToken.set(mark.token, { project: mark.project, actuals: [actual] })
    else bearers.actuals.push(actual)
  }
  return { items, mayBeCut, byToken }
}

export type Found = { readonly actual: RemoteObject } | 'absent' | 'unclear'

/** The object that bears the mark of the desired body. */
export function findByMarker({ byToken, mayBeCut }: MarkerIndex, desired: Body, kind: ResourceType): Found {
  const [actual, second] = byToken.get(kind.readMarker(desired)?.token ?? '')?.actuals ?? []
  if (actual !== undefined && second === undefined) return { actual }
  return actual === undefined && !mayBeCut ? 'absent' : 'unclear'
}

/** An outcome in the light of the list. `desired` has no open references. */
export function reconcileOutcome(outcome: Outcome, list: MarkerIndex, desired: Body, kind: ResourceType): Outcome {
  const { change } = outcome
  const found = findByMarker(list, desired, kind)
  if (typeof found === 'string') return outcome
  const { before, after } = compareBodies(kind, desired, found.actual)
  // What the answer to the write did not have yet, somebody else changed since.
  const answered = outcome.actual === undefined ? before : compareBodies(kind, desired, outcome.actual).before
  const serverChanged = diffFields(after, answered)
  if (outcome.kind === 'unknown' && serverChanged.length > 0 && !wasWritten(change, desired, found.actual, kind)) return outcome
  const { message: _, errorKind: __, ...rest } = outcome
  return {
    ...rest,
    kind: outcome.kind === 'unknown' ? successKinds[change.action] : outcome.kind,
    id: found.actual.id,
    actual: found.actual,
    ...(serverChanged.length > 0 && { serverChanged }),
  }
}

/** The ownership marker tells: it holds a digest of what was declared, and was another one before. */
function wasWritten({ action, actual: before }: Outcome['change'], desired: Body, actual: RemoteObject, kind: ResourceType): boolean {
  const digestIn = (one: RemoteObject): string | undefined => kind.readMarker(kind.toBody(one))?.digest
  const wanted = kind.readMarker(desired)?.digest
  const isNew = before === undefined || action === 'replace'
  return digestIn(actual) === wanted && (isNew || digestIn(before) !== wanted)
}

/** Two runs at once, or a copy that somebody made. Nothing is deleted for it. */
export function findDuplicateMarkers({ byToken }: MarkerIndex, kind: ResourceType, projectToken: string): readonly Diagnostic[] {
  return [...byToken].flatMap(([token, { project, actuals }]): Diagnostic[] => {
    if (project !== projectToken || actuals.length < 2) return []
    const ids = actuals.map(({ id }) => id).join(', ')
    const message = `the mark ${token} stands on ${actuals.length} ${kind.noun}s (${ids}): two runs at once, or a copy; delete the ones that are not wanted`
    return [{ rule: 'duplicate-marker', severity: 'error', location: { file: kind.section }, message }]
  })
}

// Owns writing one change. With apply.ts this is the only place that calls a method which writes.

export interface WriteContext {
  readonly api: WriteApi
  readonly service: Service
  readonly kinds: ResourceTypes
}

/** An object was deleted to be created again, and the create failed. */
export class NotRecreatedError extends Error {
  override readonly name = 'NotRecreatedError'

  constructor(cause: unknown) {
    super('the object was deleted, and could not be created again', { cause })
  }
}

/** `desired` has no open references any more. Throws a WatchkeeperError when it could not be done. */
export async function writeChange(change: Change, desired: Body, writing: WriteContext): Promise<Outcome> {
  const actual = await write(change, desired, writing)
  return { change, kind: successKinds[change.action], id: actual?.id ?? change.id, actual }
}

async function write(change: Change, desired: Body, writing: WriteContext): Promise<RemoteObject | undefined> {
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
      await demandNoNewAlerts(change, writing)
      return collection.update(api, service, fresh, composeUpdate(kinds[change.section], desired, fresh))
    }
    case 'delete':
      return remove(change, writing)
    case 'unchanged':
      return change.actual
  }
}

/** What somebody else changed after it was looked at is not overwritten, and not deleted. */
export async function readUnchanged(change: Change, { api, service, kinds }: WriteContext): Promise<RemoteObject> {
  const kind = kinds[change.section]
  const fresh = await kind.collection.get(api, service, change.id ?? '')
  const { actual } = change
  if (actual === undefined) return fresh
  const [then, now] = [actual, fresh].map((one) => kind.readMarker(kind.toBody(one))?.token)
  if (then === now && isSame(partInQuestion(change, fresh, kind), partInQuestion(change, actual, kind))) return fresh
  throw meanwhile(`The ${kind.noun} ${fresh.id} was changed by somebody else meanwhile and is left alone`)
}

/** Of an update what files have a say in; of a delete all of it. */
const partInQuestion = ({ desired }: Change, actual: RemoteObject, kind: ResourceType): Body =>
  desired === undefined ? comparable(kind, kind.toBody(actual)) : compareBodies(kind, desired, actual).before

const meanwhile = (what: string): WatchkeeperError => new WatchkeeperError('conflict', `${what}: plan again.`)

async function demandNoNewAlerts(change: Change, { api, service }: WriteContext): Promise<void> {
  if (change.takes === undefined) return
  const guest = guestOnTiles(change, await alertCollection.list(api, service))
  if (guest !== undefined) throw meanwhile(`The dashboard ${change.id} is left alone: ${guest}`)
}

async function remove(change: Change, writing: WriteContext): Promise<undefined> {
  try {
    await readUnchanged(change, writing)
  } catch (thrown) {
    if (thrown instanceof WatchkeeperError && thrown.kind === 'not-found') return
    throw thrown
  }
  await writing.kinds[change.section].collection.remove(writing.api, writing.service, change.id ?? '')
}

// Owns the look at the service after the writes: what was sent is compared with what is there, and marks are counted.

export const verifyRules = {
  'marker-lost': 'The service did not keep the mark of an object, or the object is gone again.',
  'not-verified': 'What was written could not be read again.',
} as const

export interface Verification {
  /** What is wrong although every request was answered well. */
  readonly diagnostics: readonly Diagnostic[]
  /** Of the kinds that were written. */
  readonly lists: MarkerIndexes
}

export async function verifyWrites(plan: Plan, state: ApplyState, { api, service, kinds }: WriteContext): Promise<Verification> {
  const touched = state.all().filter(wasAttempted)
  if (touched.length === 0 || state.stopped() !== undefined) return { diagnostics: [], lists: {} }
  const sections = new Set(touched.map(({ change }) => change.section))
  let lists: MarkerIndexes
  try {
    lists = await readMarkerIndexes(sections, { api, service, kinds })
  } catch (thrown) {
    if (!(thrown instanceof WatchkeeperError)) throw thrown
    const [reason] = thrown.message.split('\n', 1)
    const message = `what was written could not be read again: ${reason}`
    return { diagnostics: [{ rule: 'not-verified', severity: 'error', location: { file: 'apply' }, message }], lists: {} }
  }
  const lost = touched.flatMap((outcome) => verifyWrite(outcome, lists[outcome.change.section], state, { api, service, kinds }))
  const doubles = [...sections].flatMap((section) => {
    const list = lists[section]
    return list === undefined ? [] : findDuplicateMarkers(list, kinds[section], kinds[section].markerStyle.projectToken(plan.project))
  })
  return { diagnostics: [...doubles, ...lost], lists }
}

const wasAttempted = (outcome: Outcome): boolean => outcome.kind === 'unknown' || (isSuccess(outcome) && outcome.kind !== 'unchanged')

function verifyWrite(outcome: Outcome, list: MarkerIndex | undefined, state: ApplyState, { kinds }: WriteContext): readonly Diagnostic[] {
  const { change, id } = outcome
  const kind = kinds[change.section]
  const resolved = state.resolve(change.desired ?? {})
  if (list === undefined || !('body' in resolved)) return []
  state.amend(reconcileOutcome(outcome, list, resolved.body, kind))
  if (outcome.kind === 'unknown' || findByMarker(list, resolved.body, kind) !== 'absent') return []
  const isThere = list.items.some((one) => one.id === id)
  const message = isThere
    ? `${change.section}.${change.key}: the service did not keep the mark of the ${kind.noun} ${id}: another run would not know it again`
    : `${change.section}.${change.key}: the ${kind.noun} ${id} is gone again: somebody deletes what is written here`
  return [{ rule: 'marker-lost', severity: 'error', location: change.location ?? { file: 'apply' }, message }]
}

// Snapshot markers after a run: where the server stores something that known defaults do not explain, what it stores is recorded, so
// that the next plan has nothing to do.

export const snapshotRules = {
  'not-converging': 'The server stores something else with every write: plan will never be empty.',
  'snapshot-failed': 'What the server stored could not be recorded: plan will show it as a difference until apply runs again.',
} as const

export interface SnapshotContext {
  readonly changes: readonly Change[]
  /** Read after the writes. */
  readonly lists: MarkerIndexes
  /** What the server answered to each write. */
  readonly answers: ReadonlyMap<Change, RemoteObject>
  readonly state: ApplyState
}

/** Returns what could not be recorded. */
export async function recordSnapshots(recording: SnapshotContext, writing: WriteContext): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  for (const change of recording.changes) {
    if (recording.state.stopped() !== undefined) return diagnostics
    const stored = findStored(change, recording, writing)
    if (stored === undefined) continue
    if (!isUnchangedSinceAnswer(change, stored.actual, recording, writing)) {
      diagnostics.push(report(change, 'snapshot-failed', 'it was changed after this run wrote it: what the server stores was not recorded'))
      continue
    }
    try {
      const problem = await recordSnapshot(change, stored, writing)
      if (problem !== undefined) diagnostics.push(report(change, 'not-converging', problem))
    } catch (thrown) {
      if (!(thrown instanceof WatchkeeperError)) throw thrown
      diagnostics.push(
        report(change, 'snapshot-failed', `what the server stores could not be recorded: ${thrown.message.split('\n', 1)[0]}`),
      )
    }
  }
  return diagnostics
}

const report = ({ section, key, location }: Change, rule: keyof typeof snapshotRules, message: string): Diagnostic => ({
  rule,
  severity: 'error',
  location: location ?? { file: 'apply' },
  message: `${section}.${key}: ${message}`,
})

interface StoredObject {
  readonly actual: RemoteObject
  /** What was sent, with its ownership marker. */
  readonly desired: Body
}

/** What somebody else changed after the write is not the server's doing, and must not be overwritten by the second write. */
function isUnchangedSinceAnswer(change: Change, actual: RemoteObject, { answers }: SnapshotContext, { kinds }: WriteContext): boolean {
  const kind = kinds[change.section]
  const answer = answers.get(change)
  return answer === undefined || isSame(comparable(kind, kind.toBody(answer)), comparable(kind, kind.toBody(actual)))
}

/** The object, where a snapshot of it is needed. */
function findStored(change: Change, { lists, state }: SnapshotContext, { kinds }: WriteContext): StoredObject | undefined {
  const { section, action, actual: before, desired } = change
  const kind = kinds[section]
  const resolved = desired === undefined ? undefined : state.resolve(desired)
  if (action === 'unchanged' || resolved === undefined || !('body' in resolved)) return undefined
  const { body } = resolved
  const outcome = state.outcomeOf(change)
  const list = lists[section]
  if (outcome === undefined || !isSuccess(outcome) || list === undefined) return undefined
  const found = findByMarker(list, body, kind)
  if (typeof found === 'string') return undefined
  // Whoever wrote a snapshot before, perhaps another version of this tool, needs one.
  const hadSnapshot = before !== undefined && kind.readSnapshot(kind.toBody(before)) !== undefined
  const isExplained = unexplained(kind, sidesOf(kind, body, found.actual)).length === 0
  return isExplained && !hadSnapshot ? undefined : { actual: found.actual, desired: body }
}

/** A write may put something right that was changed meanwhile, and so store something else than was stored before. */
const maxSnapshotAttempts = 2

/** Returns why it is of no use. */
async function recordSnapshot(change: Change, { actual, desired }: StoredObject, writing: WriteContext): Promise<string | undefined> {
  const { api, service, kinds } = writing
  const kind = kinds[change.section]
  let stored = await readUnchanged({ ...change, id: actual.id, actual, desired }, writing)
  for (let attempt = 0; attempt < maxSnapshotAttempts; attempt++) {
    const digest = snapshotOf(sidesOf(kind, desired, stored))
    stored = await kind.collection.update(api, service, stored, composeUpdate(kind, kind.withSnapshot(desired, digest), stored))
    if (snapshotOf(sidesOf(kind, desired, stored)) === digest) return undefined
  }
  const [first] = unexplained(kind, sidesOf(kind, desired, stored))
  return `the server stores something else with every write${first === undefined ? '' : `, for example ${first.path}`}: plan will show it again`
}

// Owns creates without an answer. None is repeated blindly: a list that is read well after the failure says what became of it.

export interface ReconcileOptions extends WriteContext {
  readonly clock: Clock
  readonly stop: AbortSignal
  readonly write: (change: Change, desired: Body) => Promise<void>
}

export const isUnknownCreate = ({ kind, change: { action } }: Outcome): boolean =>
  kind === 'unknown' && (action === 'create' || action === 'replace')

/** Found by its mark, an object is there; absent, it is sent once more; a list that may not be whole settles nothing. */
export async function reconcileUnknownCreates(changes: readonly Change[], state: ApplyState, options: ReconcileOptions): Promise<void> {
  const unknown = changes.flatMap((change) => state.outcomeOf(change) ?? []).filter(isUnknownCreate)
  if (unknown.length === 0 || preventsReading(state.stopped())) return
  const lists = await readListsLater(unknown, options)
  if (lists === undefined) return
  for (const outcome of unknown) {
    const { change } = outcome
    const [list, kind, resolved] = [lists[change.section], options.kinds[change.section], state.resolve(change.desired ?? {})]
    if (list === undefined || !('body' in resolved)) continue
    const found = findByMarker(list, resolved.body, kind)
    if (found !== 'absent') state.amend(reconcileOutcome(outcome, list, resolved.body, kind))
    else if (state.stopped() === undefined) await options.write(change, resolved.body)
  }
}

/** A server may still be at work on what it gave no answer to, for as long as a request may take. */
async function readListsLater(unknown: readonly Outcome[], options: ReconcileOptions): Promise<MarkerIndexes | undefined> {
  const { api, clock, stop } = options
  if (api.remainingMs() <= requestTimeoutMs) return undefined
  try {
    await clock.sleep(requestTimeoutMs, stop)
    return await readMarkerIndexes(new Set(unknown.map(({ change }) => change.section)), options)
  } catch (thrown) {
    // Nobody knows then, and that is what the outcomes say.
    if (thrown instanceof WatchkeeperError || stop.aborted) return undefined
    throw thrown
  }
}

// Owns deleting what no file declares any more. What the service has now counts, not what it had when the plan was made.

interface PruneOptions extends WriteContext {
  readonly deletes: readonly Change[]
  /** What is wrong after the writes: nothing is deleted then. */
  readonly diagnostics: readonly Diagnostic[]
  readonly state: ApplyState
  readonly write: (change: Change) => Promise<void>
}

/** Alerts come first in `deletes`; what still hangs on a dashboard after them is not ours. */
export async function pruneOrphans({ deletes, diagnostics, state, write, api, service }: PruneOptions): Promise<void> {
  let alerts: List<Alert> | undefined
  for (const change of deletes) {
    const reason = diagnostics.length > 0 ? 'something is wrong with what was written, so nothing is deleted' : state.stopped()?.message
    try {
      if (reason === undefined && change.section !== 'alerts') alerts ??= await alertCollection.list(api, service)
    } catch (thrown) {
      await state.record(failed(change, thrown))
      continue
    }
    const obstacle = reason ?? (alerts && guestOn(change, alerts))
    if (obstacle === undefined) await write(change)
    else await state.skip(change, obstacle)
  }
}

// Owns applying a plan: in the order of dependencies, one request after the other, each object with an outcome of its own.

export interface ApplyOptions extends ApplyStateOptions, Omit<ReconcileOptions, 'write'> {}

export interface Applied {
  /** One for each change, in the plan's order. */
  readonly outcomes: readonly Outcome[]
  /** What is wrong although every request was answered well. */
  readonly diagnostics: readonly Diagnostic[]
  /** Why the run ended before its end. */
  readonly stopped: StopReason | undefined
}

export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<Applied> {
  const state = createApplyState(options)
  const write = (change: Change, desired: Body): Promise<void> => writeOne(change, desired, state, options)
  const [deletes, writes] = [plan.changes.filter(isDelete), plan.changes.filter((change) => !isDelete(change))]
  for (const change of writes) if (change.actual !== undefined) state.learn({ change, actual: change.actual })
  const waiting = await writeAll(writes, state, write)
  await reconcileUnknownCreates(writes, state, { ...options, write })
  for (const change of await writeAll(waiting, state, write)) await state.skip(change, 'what it watches may not exist')
  await reconcileUnknownCreates(waiting, state, { ...options, write })
  const answers = new Map(state.all().flatMap(({ change, actual }) => (actual === undefined ? [] : [[change, actual] as const])))
  const { diagnostics: reviewDiagnostics, lists } = await verifyWrites(plan, state, options)
  const diagnostics = [...reviewDiagnostics, ...(await recordSnapshots({ changes: writes, lists, answers, state }, options))]
  await pruneOrphans({ ...options, deletes, diagnostics, state, write: (change) => write(change, {}) })
  return { outcomes: plan.changes.flatMap((change) => state.outcomeOf(change) ?? []), diagnostics, stopped: state.stopped() }
}

const isDelete = ({ action }: Change): boolean => action === 'delete'

/** Returns what waits for objects of which nobody knows yet whether they exist. */
async function writeAll(
  changes: readonly Change[],
  state: ApplyState,
  write: (change: Change, desired: Body) => Promise<void>,
): Promise<readonly Change[]> {
  const waiting: Change[] = []
  for (const change of changes) {
    const resolved = state.resolve(change.desired ?? {})
    if ('body' in resolved) {
      await write(change, resolved.body)
      continue
    }
    const { section, key } = resolved.waitsFor
    const target = state.all().find((one) => one.change.section === section && one.change.key === key)
    if (target?.kind === 'unknown') waiting.push(change)
    else await state.skip(change, state.stopped()?.message ?? `${section}.${key} was not written`)
  }
  return waiting
}

async function writeOne(change: Change, desired: Body, state: ApplyState, options: ApplyOptions): Promise<void> {
  const reason = state.stopped()?.message
  if (reason !== undefined && change.action !== 'unchanged') return state.skip(change, reason)
  try {
    await state.record(await writeChange(change, desired, options))
  } catch (thrown) {
    await state.record(thrown instanceof NotRecreatedError ? failedRecreation(change, thrown) : failed(change, thrown))
  }
}
