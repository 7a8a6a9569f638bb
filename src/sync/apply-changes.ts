import { ApiError } from '../api/api-error.ts'
import type { ReadApi, WriteApi } from '../api/client.ts'
import type { List, SendOptions } from '../api/collection.ts'
import type { Target } from '../api/path.ts'
import { requestTimeoutMs } from '../api/requester.ts'
import type { Clock } from '../core/clock.ts'
import { forEachConcurrently } from '../core/concurrency.ts'
import type { Diagnostic } from '../core/diagnostics.ts'
import { isSame } from '../core/equality.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { pluralOf } from '../core/text.ts'
import { type Alert, alertCollection } from '../resources/alerts/alert.ts'
import { addedFields, comparable, compareBodies, composeUpdate, diffFields, type FieldChange, sidesOf } from '../resources/compare.ts'
import type { Body, RemoteObject, ResourceType, Section } from '../resources/resource-type.ts'
import type { ResourceTypes } from '../resources/resource-types.ts'
import { diffSides, snapshotOf } from '../resources/snapshot.ts'
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
import { findAlertOn, findNewAlertOnTiles } from './protect-alerts.ts'

interface ApplyOptions extends ApplyStateOptions, Omit<ReconcileOptions, 'write'> {}

interface Applied {
  /** One per change, in the order of the plan. */
  readonly outcomes: readonly Outcome[]
  /** Errors that show only after every request succeeded. */
  readonly diagnostics: readonly Diagnostic[]
  /** Why the run stopped early. */
  readonly stopped: StopReason | undefined
}

interface WriteContext {
  readonly api: WriteApi
  readonly service: Target
  readonly types: ResourceTypes
}

/** Applies the changes in the order of their dependencies, and independent ones at the same time. Each object has its own outcome. */
export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<Applied> {
  const state = createApplyState(options)
  const write = (change: Change, desired: Body): Promise<void> =>
    writeOne(change, desired, state, { ...options, notAfter: state.hasStopped })
  const [deletes, writes] = [plan.changes.filter(isDelete), plan.changes.filter((change) => !isDelete(change))]
  for (const change of writes) if (change.actual !== undefined) state.learn({ change, actual: change.actual })
  const waiting = await writeAll(writes, state, { ...options, write })
  await reconcileUnknownCreates(writes, state, { ...options, write })
  for (const change of await writeAll(waiting, state, { ...options, write }))
    await state.skip(change, 'the object that it watches may not exist')
  await reconcileUnknownCreates(waiting, state, { ...options, write })
  // Taken before the verification replaces them with what it reads.
  const answers = new Map(state.all().flatMap(({ change, actual }) => (actual === undefined ? [] : [[change, actual] as const])))
  const { diagnostics: reviewDiagnostics, lists } = await verifyWrites(plan, state, options)
  // A snapshot would hide a field that was not stored from the next plan.
  const incomplete = new Set(reviewDiagnostics.map(({ location }) => location))
  const complete = writes.filter(({ location }) => location === undefined || !incomplete.has(location))
  const diagnostics = [...reviewDiagnostics, ...(await recordSnapshots({ changes: complete, lists, answers, state }, options))]
  await pruneOrphans({ ...options, deletes, diagnostics, state, write: (change) => write(change, {}) })
  return { outcomes: plan.changes.flatMap((change) => state.outcomeOf(change) ?? []), diagnostics, stopped: state.stopped() }
}

const isDelete = ({ action }: Change): boolean => action === 'delete'

/**
 * Writes section by section: alerts refer to dashboards and saved searches, and objects of one section are independent. Returns the
 * changes that depend on an object whose outcome is unknown.
 */
async function writeAll(
  changes: readonly Change[],
  state: ApplyState,
  { api, write }: Pick<ReconcileOptions, 'api' | 'write'>,
): Promise<readonly Change[]> {
  const waiting = new Set<Change>()
  const writeResolved = async (change: Change): Promise<void> => {
    const resolved = state.resolve(change.desired ?? {})
    if ('body' in resolved) return write(change, resolved.body)
    const { section, key } = resolved.waitsFor
    const target = state.all().find((one) => one.change.section === section && one.change.key === key)
    if (target?.kind === 'unknown') waiting.add(change)
    else await state.skip(change, state.stopped()?.message ?? `${section}.${key} was not written`)
  }
  await forEachBySection(changes, (section) => maxConcurrentWrites(section, state, api), writeResolved)
  return changes.filter((change) => waiting.has(change))
}

/** Section by section, in the order of the plan. */
async function forEachBySection(
  changes: readonly Change[],
  limit: (section: Section) => number,
  work: (change: Change) => Promise<void>,
): Promise<void> {
  const groups = Map.groupBy(changes, ({ section }) => section)
  for (const [section, group] of groups) await forEachConcurrently(group, () => limit(section), work)
}

/**
 * An update reads the object before it writes. Both must fit into the window of the rate limit, because the write overwrites an edit
 * made between them. A service that states no limit gets one object at a time.
 */
const maxConcurrentWrites = (section: Section, state: ApplyState, api: ReadApi): number =>
  Math.min(state.maxConcurrentWrites(section), Math.max(1, Math.floor((api.rateLimit()?.remaining ?? 0) / 2)))

async function writeOne(change: Change, desired: Body, state: ApplyState, context: WriteContext & SendOptions): Promise<void> {
  const reason = state.stopped()?.message
  if (reason !== undefined && change.action !== 'unchanged') return state.skip(change, reason)
  try {
    await state.record(await writeChange(change, desired, context))
  } catch (thrown) {
    const stopped = state.stopped()
    // Not sent, because of another object: every request of an object comes before its write.
    if (stopped !== undefined && thrown instanceof WatchkeeperError && !(thrown instanceof ApiError) && thrown.kind === 'cancelled')
      return state.skip(change, stopped.message)
    const outcome = thrown instanceof NotRecreatedError ? failedRecreation(change, thrown) : failed(change, thrown)
    await state.record(thrown instanceof UnmarkedError ? { ...outcome, isUnmarked: true } : outcome)
  }
}

// Writing one change.

/** A `replace` deleted the object and failed to create it again. */
class NotRecreatedError extends Error {
  override readonly name = 'NotRecreatedError'

  constructor(cause: unknown) {
    super('the object was deleted and could not be created again', { cause })
  }
}

/** `desired` has no pending ids. Throws a WatchkeeperError when the change failed. */
async function writeChange(change: Change, desired: Body, context: WriteContext & SendOptions): Promise<Outcome> {
  const actual = await write(change, desired, context)
  if (actual !== undefined && (change.action === 'create' || change.action === 'replace'))
    await demandMarker(change, desired, actual, context)
  return { change, kind: successKinds[change.action], id: actual?.id ?? change.id, actual }
}

async function write(change: Change, desired: Body, context: WriteContext & SendOptions): Promise<RemoteObject | undefined> {
  const { api, service, types, notAfter } = context
  const { collection } = types[change.section]
  switch (change.action) {
    case 'create':
      return collection.create(api, service, desired, { notAfter })
    case 'replace':
      // Delete first: if the run ends in between, nothing exists twice, and the next run creates what is missing.
      await remove(change, context)
      // Sent even when the run has stopped meanwhile: the object is gone.
      return collection.create(api, service, desired).catch((thrown: unknown) => {
        throw new NotRecreatedError(thrown)
      })
    case 'update':
    case 'adopt': {
      const fresh = await readForWrite(change, context)
      const body = composeUpdate(types[change.section], desired, fresh)
      return collection.update(api, service, { before: fresh, body }, { notAfter })
    }
    case 'delete':
      return remove(change, context)
    case 'unchanged':
      return change.actual
  }
}

/** The server stores no ownership markers, so every apply would create its objects again. */
class UnmarkedError extends WatchkeeperError {}

/** A server that is older than the field that holds the marker strips it. Nothing may be left that the next run would not recognize. */
async function demandMarker(change: Change, desired: Body, created: RemoteObject, { api, service, types }: WriteContext): Promise<void> {
  const type = types[change.section]
  const isMarked = (one: RemoteObject): boolean => type.readMarker(type.toBody(one))?.token === type.readMarker(desired)?.token
  if (isMarked(created)) return
  const stored = await type.collection.get(api, service, created.id).catch(ignoreFailure)
  // Without a second proof, the verification of all writes judges it.
  if (stored === undefined || isMarked(stored)) return
  // A failed removal must not look like a lost create, which is sent again.
  const isRemoved = (await type.collection.remove(api, service, created.id).catch(ignoreFailure)) !== undefined
  const end = isRemoved
    ? 'was deleted again: the next run would not recognize it'
    : `must be deleted by hand (${created.id}): the next run would not recognize it, and deleting it failed`
  throw new UnmarkedError(
    'refused',
    `The service did not store the ownership marker, so the new ${type.noun} ${end}. The version of the service may be too old.`,
  )
}

function ignoreFailure(thrown: unknown): undefined {
  if (!(thrown instanceof WatchkeeperError)) throw thrown
}

/** Right before the write: when the window of the rate limit ended with this read, the write would wait for the next one. */
async function readForWrite(change: Change, context: WriteContext & SendOptions): Promise<RemoteObject> {
  const read = async (): Promise<RemoteObject> => {
    const fresh = await readUnchanged(change, context)
    await demandNoNewAlerts(change, context)
    return fresh
  }
  const fresh = await read()
  return context.api.rateLimit()?.remaining === 0 ? read() : fresh
}

/** Reads the object again. Throws kind `conflict` when it has changed since the plan was made. */
async function readUnchanged(change: Change, { api, service, types, notAfter }: WriteContext & SendOptions): Promise<RemoteObject> {
  const type = types[change.section]
  const fresh = await type.collection.get(api, service, change.id ?? '', { notAfter })
  const { actual } = change
  if (actual === undefined) return fresh
  const [then, now] = [actual, fresh].map((one) => type.readMarker(type.toBody(one))?.token)
  if (then === now && isSame(comparedPart(change, fresh, type), comparedPart(change, actual, type))) return fresh
  throw conflict(`The ${type.noun} ${fresh.id} has changed since the plan was made and was not written`)
}

/** What a concurrent change would conflict with: the declared fields for an update, everything for a delete. */
const comparedPart = ({ desired }: Change, actual: RemoteObject, type: ResourceType): Body =>
  desired === undefined ? comparable(type, type.toBody(actual)) : compareBodies(type, desired, actual).before

const conflict = (what: string): WatchkeeperError => new WatchkeeperError('conflict', `${what}. Run plan again.`)

async function demandNoNewAlerts(change: Change, { api, service, notAfter }: WriteContext & SendOptions): Promise<void> {
  if (change.removes === undefined) return
  const newAlert = findNewAlertOnTiles(change, await alertCollection.list(api, service, { notAfter }))
  if (newAlert !== undefined) throw conflict(`The dashboard ${change.id} was not written: ${newAlert}`)
}

async function remove(change: Change, context: WriteContext & SendOptions): Promise<undefined> {
  try {
    await readForWrite(change, context)
  } catch (thrown) {
    if (thrown instanceof WatchkeeperError && thrown.kind === 'not-found') return
    throw thrown
  }
  await context.types[change.section].collection.remove(context.api, context.service, change.id ?? '', { notAfter: context.notAfter })
}

// Creates with an unknown outcome: none is repeated before a list says that the object is absent.

interface ReconcileOptions extends WriteContext {
  readonly clock: Clock
  readonly stop: AbortSignal
  readonly write: (change: Change, desired: Body) => Promise<void>
}

const isUnknownCreate = ({ kind, change: { action } }: Outcome): boolean =>
  kind === 'unknown' && (action === 'create' || action === 'replace')

/** An object with the marker was created; an absent one is sent once more; an incomplete list leaves the outcome unknown. */
async function reconcileUnknownCreates(changes: readonly Change[], state: ApplyState, options: ReconcileOptions): Promise<void> {
  const unknown = changes.flatMap((change) => state.outcomeOf(change) ?? []).filter(isUnknownCreate)
  if (unknown.length === 0 || preventsReading(state.stopped())) return
  const lists = await readListsLater(unknown, options)
  if (lists === undefined) return
  for (const outcome of unknown) {
    const { change } = outcome
    const [list, type, resolved] = [lists[change.section], options.types[change.section], state.resolve(change.desired ?? {})]
    if (list === undefined || !('body' in resolved)) continue
    const found = findByMarker(list, resolved.body, type)
    if (found !== 'absent') state.amend(reconcileOutcome(outcome, list, resolved.body, type))
    else if (state.stopped() === undefined) await options.write(change, resolved.body)
  }
}

/** The server may still be working on an unanswered request, for as long as a request may take. */
async function readListsLater(unknown: readonly Outcome[], options: ReconcileOptions): Promise<MarkerIndexes | undefined> {
  const { api, clock, stop } = options
  if (api.remainingMs() <= requestTimeoutMs) return undefined
  try {
    await clock.sleep(requestTimeoutMs, stop)
    return await readMarkerIndexes(new Set(unknown.map(({ change }) => change.section)), options)
  } catch (thrown) {
    // Then the outcomes stay unknown.
    if (thrown instanceof WatchkeeperError || stop.aborted) return undefined
    throw thrown
  }
}

/** Updates an outcome by what the list shows. `desired` has no pending ids. */
export function reconcileOutcome(outcome: Outcome, list: MarkerIndex, desired: Body, type: ResourceType): Outcome {
  const { change } = outcome
  const found = findByMarker(list, desired, type)
  if (typeof found === 'string') return outcome
  const { before, after } = compareBodies(type, desired, found.actual)
  // Differences that the answer to the write did not have were made by another user since.
  const answered = outcome.actual === undefined ? before : compareBodies(type, desired, outcome.actual).before
  const serverChanged = diffFields(after, answered)
  if (outcome.kind === 'unknown' && serverChanged.length > 0 && !wasWritten(change, desired, found.actual, type)) return outcome
  const { message: _, errorKind: __, ...rest } = outcome
  return {
    ...rest,
    kind: outcome.kind === 'unknown' ? successKinds[change.action] : outcome.kind,
    id: found.actual.id,
    actual: found.actual,
    ...(serverChanged.length > 0 && { serverChanged }),
  }
}

/** The ownership marker shows it: its digest is that of the new declaration, and was another one before. */
function wasWritten({ action, actual: before }: Outcome['change'], desired: Body, actual: RemoteObject, type: ResourceType): boolean {
  const digestIn = (one: RemoteObject): string | undefined => type.readMarker(type.toBody(one))?.digest
  const wanted = type.readMarker(desired)?.digest
  const isNew = before === undefined || action === 'replace'
  return digestIn(actual) === wanted && (isNew || digestIn(before) !== wanted)
}

// Verification: what was sent is compared with what the service has after the writes.

export const verifyRules = {
  'marker-lost': 'The service did not keep the ownership marker of an object, or the object is gone again.',
  'field-dropped': 'The service accepted a declared field without an error, and did not store it.',
  'not-verified': 'The written objects could not be read again.',
} as const

interface Verification {
  /** What is wrong although every request was answered well. */
  readonly diagnostics: readonly Diagnostic[]
  /** Of the sections that were written. */
  readonly lists: MarkerIndexes
}

async function verifyWrites(plan: Plan, state: ApplyState, { api, service, types }: WriteContext): Promise<Verification> {
  const touched = state.all().filter(wasAttempted)
  if (touched.length === 0 || state.stopped() !== undefined) return { diagnostics: [], lists: {} }
  const sections = new Set(touched.map(({ change }) => change.section))
  let lists: MarkerIndexes
  try {
    lists = await readMarkerIndexes(sections, { api, service, types })
  } catch (thrown) {
    if (!(thrown instanceof WatchkeeperError)) throw thrown
    const [reason] = thrown.message.split('\n', 1)
    const message = `the written objects could not be read again: ${reason}`
    return { diagnostics: [{ rule: 'not-verified', severity: 'error', location: { file: 'apply' }, message }], lists: {} }
  }
  const lost = touched.flatMap((outcome) => verifyWrite(outcome, lists[outcome.change.section], state, { api, service, types }))
  const doubles = [...sections].flatMap((section) => {
    const list = lists[section]
    return list === undefined ? [] : findDuplicateMarkers(list, types[section], types[section].markerStyle.projectToken(plan.project))
  })
  return { diagnostics: [...doubles, ...lost], lists }
}

const wasAttempted = (outcome: Outcome): boolean => outcome.kind === 'unknown' || (isSuccess(outcome) && outcome.kind !== 'unchanged')

function verifyWrite(outcome: Outcome, list: MarkerIndex | undefined, state: ApplyState, { types }: WriteContext): readonly Diagnostic[] {
  const { change, id } = outcome
  const type = types[change.section]
  const resolved = state.resolve(change.desired ?? {})
  if (list === undefined || !('body' in resolved)) return []
  state.amend(reconcileOutcome(outcome, list, resolved.body, type))
  const found = findByMarker(list, resolved.body, type)
  if (typeof found === 'object') return findDroppedFields(outcome, resolved.body, found.actual, type)
  if (outcome.kind === 'unknown' || found !== 'absent') return []
  const isThere = list.items.some((one) => one.id === id)
  const message = isThere
    ? `${change.section}.${change.key}: the service did not store the ownership marker of the ${type.noun} ${id}, so the next run would not recognize it`
    : `${change.section}.${change.key}: the ${type.noun} ${id} was deleted after this run wrote it`
  return [{ rule: 'marker-lost', severity: 'error', location: change.location ?? { file: 'apply' }, message }]
}

/** A server that is older than a field strips it and answers as if it had stored it. */
function findDroppedFields(outcome: Outcome, desired: Body, actual: RemoteObject, type: ResourceType): readonly Diagnostic[] {
  const { change, actual: answer } = outcome
  // A field that the answer still had was removed by another user since.
  if (outcome.kind === 'unknown' || answer === undefined) return []
  const [answered, kept] = [missingFields(desired, answer, type), missingFields(desired, actual, type)]
  const dropped = kept.filter(({ path }) => answered.some((field) => field.path === path))
  if (dropped.length === 0) return []
  const message = `${change.section}.${change.key}: the service did not store ${dropped.map(({ path }) => path).join(', ')}. Its version may not have it yet: remove it from the file, or upgrade the service`
  return [{ rule: 'field-dropped', severity: 'error', location: change.location ?? { file: 'apply' }, message }]
}

/** The declared fields that an object lacks. */
function missingFields(desired: Body, actual: RemoteObject, type: ResourceType): readonly FieldChange[] {
  const { before, after } = compareBodies(type, desired, actual)
  // Where the server trims names or reorders a list, an item may be compared with another one: then the field is elsewhere in the list.
  const stored = new Set(addedFields(before).map(({ path }) => withoutItems(path)))
  return diffFields(after, before).filter((field) => field.after === undefined && !stored.has(withoutItems(field.path)))
}

/** `tiles["A"].config.select[0].alias` → `tiles[].config.select[].alias`. */
const withoutItems = (path: string): string => path.replace(/\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/g, '[]')

/** Two concurrent runs, or a copy that somebody made: which one to keep is for the user to decide. */
export function findDuplicateMarkers({ byToken }: MarkerIndex, type: ResourceType, projectToken: string): readonly Diagnostic[] {
  return [...byToken].flatMap(([token, { project, actuals }]): Diagnostic[] => {
    if (project !== projectToken || actuals.length < 2) return []
    const ids = actuals.map(({ id }) => id).join(', ')
    const message = `the ownership marker ${token} is on ${actuals.length} ${pluralOf(type.noun)} (${ids}): two runs at the same time, or a copy. Delete the objects that you do not want`
    return [{ rule: 'duplicate-marker', severity: 'error', location: { file: type.section }, message }]
  })
}

// Snapshots: where the server stores something that its known defaults do not explain, the stored state is recorded in the object, so
// that the next plan is empty.

export const snapshotRules = {
  'not-converging': 'The server stores a different value with every write, so that plan is never empty.',
  'snapshot-failed': 'The stored values could not be recorded. plan shows a difference until apply runs again.',
} as const

interface SnapshotContext {
  readonly changes: readonly Change[]
  /** Read after the writes. */
  readonly lists: MarkerIndexes
  /** What the server answered to each write. */
  readonly answers: ReadonlyMap<Change, RemoteObject>
  readonly state: ApplyState
}

/** Returns a diagnostic for each snapshot that could not be recorded. */
async function recordSnapshots(recording: SnapshotContext, context: WriteContext): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  for (const change of recording.changes) {
    if (recording.state.stopped() !== undefined) return diagnostics
    const stored = findStored(change, recording, context)
    if (stored === undefined) continue
    if (!isUnchangedSinceAnswer(change, stored.actual, recording, context)) {
      diagnostics.push(report(change, 'snapshot-failed', 'it changed after this run wrote it, so the stored values were not recorded'))
      continue
    }
    try {
      const problem = await recordSnapshot(change, stored, context)
      if (problem !== undefined) diagnostics.push(report(change, 'not-converging', problem))
    } catch (thrown) {
      if (!(thrown instanceof WatchkeeperError)) throw thrown
      diagnostics.push(report(change, 'snapshot-failed', `the stored values could not be recorded: ${thrown.message.split('\n', 1)[0]}`))
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

/** A change that another user made after the write must not be recorded as the server's, nor be overwritten by the second write. */
function isUnchangedSinceAnswer(change: Change, actual: RemoteObject, { answers }: SnapshotContext, { types }: WriteContext): boolean {
  const type = types[change.section]
  const answer = answers.get(change)
  return answer === undefined || isSame(comparable(type, type.toBody(answer)), comparable(type, type.toBody(actual)))
}

/** The stored object, where it needs a snapshot. */
function findStored(change: Change, { lists, state }: SnapshotContext, { types }: WriteContext): StoredObject | undefined {
  const { section, action, actual: before, desired } = change
  const type = types[section]
  const resolved = desired === undefined ? undefined : state.resolve(desired)
  if (action === 'unchanged' || resolved === undefined || !('body' in resolved)) return undefined
  const { body } = resolved
  const outcome = state.outcomeOf(change)
  const list = lists[section]
  if (outcome === undefined || !isSuccess(outcome) || list === undefined) return undefined
  const found = findByMarker(list, body, type)
  if (typeof found === 'string') return undefined
  // An object that had a snapshot keeps one: another version of this tool may know other defaults.
  const hadSnapshot = before !== undefined && type.readSnapshot(type.toBody(before)) !== undefined
  const isExplained = diffSides(type, sidesOf(type, body, found.actual)).length === 0
  return isExplained && !hadSnapshot ? undefined : { actual: found.actual, desired: body }
}

/** The second write may store something else than the first: then its result is recorded once more. */
const maxSnapshotAttempts = 2

/** Returns why the snapshot does not help, if it does not. */
async function recordSnapshot(change: Change, { actual, desired }: StoredObject, context: WriteContext): Promise<string | undefined> {
  const { api, service, types } = context
  const type = types[change.section]
  let stored = await readUnchanged({ ...change, id: actual.id, actual, desired }, context)
  for (let attempt = 0; attempt < maxSnapshotAttempts; attempt++) {
    const digest = snapshotOf(sidesOf(type, desired, stored))
    const body = composeUpdate(type, type.withSnapshot(desired, digest), stored)
    stored = await type.collection.update(api, service, { before: stored, body })
    if (snapshotOf(sidesOf(type, desired, stored)) === digest) return undefined
  }
  const [first] = diffSides(type, sidesOf(type, desired, stored))
  return `the server stores a different value with every write${first === undefined ? '' : `, for example ${first.path}`}. plan will show it again`
}

// Pruning: what counts is what the service has now, not what it had when the plan was made.

interface PruneOptions extends WriteContext {
  readonly deletes: readonly Change[]
  /** Errors after the writes: then nothing is deleted. */
  readonly diagnostics: readonly Diagnostic[]
  readonly state: ApplyState
  readonly write: (change: Change) => Promise<void>
}

/** Alerts come first in `deletes`: an alert that is still on a dashboard after them is not managed here. */
async function pruneOrphans({ deletes, diagnostics, state, write, api, service }: PruneOptions): Promise<void> {
  let listed: Promise<List<Alert>> | undefined
  const listAlerts = (): Promise<List<Alert>> => {
    listed ??= alertCollection.list(api, service).catch((thrown: unknown) => {
      listed = undefined
      throw thrown
    })
    return listed
  }
  const deleteOne = async (change: Change): Promise<void> => {
    const reason =
      diagnostics.length > 0 ? 'nothing was deleted, because the check of the written objects failed' : state.stopped()?.message
    let alerts: List<Alert> | undefined
    try {
      if (reason === undefined && change.section !== 'alerts') alerts = await listAlerts()
    } catch (thrown) {
      return state.record(failed(change, thrown))
    }
    const obstacle = reason ?? (alerts && findAlertOn(change, alerts))
    if (obstacle === undefined) await write(change)
    else await state.skip(change, obstacle)
  }
  await forEachBySection(deletes, (section) => maxConcurrentWrites(section, state, api), deleteOne)
}

// Lists of remote objects, indexed by their ownership markers.

type MarkerIndexes = Readonly<Partial<Record<Section, MarkerIndex>>>

interface ReadListsOptions {
  readonly api: ReadApi
  readonly service: Target
  readonly types: ResourceTypes
}

async function readMarkerIndexes(sections: ReadonlySet<Section>, { api, service, types }: ReadListsOptions): Promise<MarkerIndexes> {
  const read = [...sections].map(
    async (section) => [section, indexByMarker(await types[section].collection.list(api, service), types[section])] as const,
  )
  return Object.fromEntries(await Promise.all(read))
}

/** A list of remote objects, indexed by ownership marker. */
interface MarkerIndex {
  readonly items: readonly RemoteObject[]
  readonly mayBeCut: boolean
  readonly byToken: ReadonlyMap<string, MarkerHolders>
}

/** The objects with one marker: more than one is an error. */
interface MarkerHolders {
  readonly project: string
  readonly actuals: readonly RemoteObject[]
}

/** An object that the list contains twice, because it changed while it was read, counts once. */
export function indexByMarker({ items, mayBeCut }: List<RemoteObject>, type: ResourceType): MarkerIndex {
  const byToken = new Map<string, { readonly project: string; readonly actuals: RemoteObject[] }>()
  for (const actual of new Map(items.map((one) => [one.id, one])).values()) {
    const marker = type.readMarker(type.toBody(actual))
    if (marker === undefined) continue
    const holders = byToken.get(marker.token)
    if (holders === undefined) byToken.set(marker.token, { project: marker.project, actuals: [actual] })
    else holders.actuals.push(actual)
  }
  return { items, mayBeCut, byToken }
}

type MarkerMatch = { readonly actual: RemoteObject } | 'absent' | 'unclear'

/** The object with the marker of the desired body. */
export function findByMarker({ byToken, mayBeCut }: MarkerIndex, desired: Body, type: ResourceType): MarkerMatch {
  const [actual, second] = byToken.get(type.readMarker(desired)?.token ?? '')?.actuals ?? []
  if (actual !== undefined && second === undefined) return { actual }
  return actual === undefined && !mayBeCut ? 'absent' : 'unclear'
}
