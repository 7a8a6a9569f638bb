import { type Alert, alertCollection } from '../../kinds/alert/alert.ts'
import { withBase } from '../../kinds/base.ts'
import { comparable, compareBodies, composeCreate, composeUpdate } from '../../kinds/compare.ts'
import type { Dashboard } from '../../kinds/dashboard/dashboard-wire.ts'
import { type DashboardPatch, patchDashboard } from '../../kinds/dashboard/patch-dashboard.ts'
import { type Body, describeStored, type Kind, type KindRules, type KindWire, listOf, type StoredObject } from '../../kinds/kind.ts'
import { addressOf, type KindName } from '../../kinds/kind-names.ts'
import type { Kinds } from '../../kinds/kinds.ts'
import { findLostAlerts } from '../../kinds/lost-alerts.ts'
import { PendingId } from '../../kinds/name-index.ts'
import type { SendOptions } from '../../platform/api/call.ts'
import type { ReadApi, WriteApi } from '../../platform/api/client.ts'
import { countConcurrentWrites, type List } from '../../platform/api/collection.ts'
import type { Target } from '../../platform/api/path.ts'
import type { Clock } from '../../platform/core/clock.ts'
import { forEachConcurrently } from '../../platform/core/concurrency.ts'
import { isSame } from '../../platform/core/equality.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { type Change, type Create, type Delete, isSuccess, isWrite, successKinds, type Update, type Write } from '../decide/change.ts'
import { describeUsers } from '../decide/guards/checks.ts'
import type { StoredObjects } from '../plan/stored-objects.ts'
import { type ApplyState, failed, failedRecreation, type OnProgress } from './apply-state.ts'
import { type ConcurrentRuns, CreatedByOtherRunError, isNotSent } from './concurrent-runs.ts'

export interface ApplyOptions {
  readonly api: WriteApi
  readonly service: Target
  readonly kinds: Kinds
  readonly clock: Clock
  readonly storedObjects: StoredObjects
  /** Undefined where updates send a GET instead of using the lists of the plan. */
  readonly listedAtMs: number | undefined
  readonly repairCommand?: string | undefined
  /** Aborted when nothing new may be sent. */
  readonly stop: AbortSignal
  readonly onProgress: OnProgress
}

export interface WriteContext extends ApplyOptions {
  readonly concurrent: ConcurrentRuns
  readonly state: ApplyState
}

/** Returns the changes that depend on an object whose outcome is unknown, directly or through another one of them. */
export async function writeAll<C extends Create | Write>(changes: readonly C[], context: WriteContext): Promise<readonly C[]> {
  const { api, state } = context
  const waiting = new Set<C>()
  const outcomeOf = ({ kind, key }: PendingId) => state.all().find((one) => one.change.kind === kind && one.change.key === key)
  const isWaiting = ({ kind, key }: PendingId) => [...waiting].some((change) => change.kind === kind && change.key === key)
  for (const [kind, group] of Map.groupBy(changes, (change) => change.kind)) {
    let left: readonly C[] = group
    // As long as one of them gets an outcome.
    for (let count = Number.POSITIVE_INFINITY; left.length > 0 && left.length < count; ) {
      count = left.length
      const postponed: C[] = []
      await forEachConcurrently(
        left,
        () => maxConcurrentWrites(kind, state, api),
        async (change) => {
          const sendable = sendableBody(change, context)
          if ('body' in sendable) return writeOne(change, sendable.body, context)
          const target = outcomeOf(sendable.waitsFor)
          if (target?.became === 'unknown' || isWaiting(sendable.waitsFor)) waiting.add(change)
          else if (target === undefined && sendable.waitsFor.kind === kind) postponed.push(change)
          else await state.skip(change, whySkipped(sendable.waitsFor, state))
        },
      )
      left = postponed
    }
    for (const change of left) await state.skip(change, state.stopped()?.message ?? 'the object that it refers to was not written')
  }
  return changes.filter((change) => waiting.has(change))
}

const whySkipped = ({ kind, key }: PendingId, state: ApplyState): string =>
  state.stopped()?.message ?? `${addressOf({ kind, key })} was not written`

/** A create leaves out references that can follow, to objects that do not exist yet. */
export function sendableBody({ kind, action, desired }: Create | Write, { state, kinds }: WriteContext) {
  const resolved = state.resolve(desired)
  if ('body' in resolved || action !== 'create') return resolved
  const deferred = kinds[kind].deferredFields?.(desired) ?? []
  const isKept = ([field, value]: readonly [string, unknown]): boolean => !(deferred.includes(field) && value instanceof PendingId)
  return state.resolve(Object.fromEntries(Object.entries(desired).filter(isKept)))
}

/** A run that ends before leaves them to the next plan. */
export async function writeReferences(changes: readonly Change[], context: WriteContext): Promise<void> {
  const { kinds, state } = context
  for (const change of changes) {
    const kind = kinds[change.kind]
    const outcome = state.outcomeOf(change)
    if (outcome?.stored === undefined || change.action !== 'create' || !isSuccess(outcome.became)) continue
    const { stored } = outcome
    const deferred = kind.deferredFields?.(change.desired) ?? []
    const missing = deferred.filter((field) => change.desired[field] !== undefined && stored[field] === undefined)
    if (missing.length === 0) continue
    const resolved = state.resolve(change.desired)
    try {
      if (!('body' in resolved)) throw new WatchkeeperError('conflict', whySkipped(resolved.waitsFor, state))
      const stopped = state.stopped()
      if (stopped !== undefined) throw new WatchkeeperError('canceled', stopped.message)
      const compose = (current: StoredObject): Body => composeUpdate(kind, resolved.body, current)
      const update = { ...change, action: 'update', id: stored.id, stored } as const
      const object = await updateObject(update, compose, { ...context, listedAtMs: undefined })
      state.amend({ ...outcome, stored: object })
    } catch (thrown) {
      const failure = failed(change, thrown)
      const message = `It was created without ${missing.join(', ')}, which the next apply adds. ${failure.message}`
      await state.record({ ...failure, id: outcome.id, message })
    }
  }
}

export const maxConcurrentWrites = (kind: KindName, state: ApplyState, api: ReadApi): number =>
  state.writesOneAtATime(kind) ? 1 : countConcurrentWrites(api)

/** `desired` has no pending ids. */
export async function writeOne(change: Change, desired: Body, context: WriteContext): Promise<void> {
  const { state } = context
  const reason = state.stopped()?.message
  if (reason !== undefined && change.action !== 'unchanged') return state.skip(change, reason)
  try {
    const stored = await write(change, desired, context)
    if (stored !== undefined && (change.action === 'create' || change.action === 'replace'))
      await demandMarker(change, desired, stored, context)
    await state.record({ change, became: successKinds[change.action], id: stored?.id ?? change.id, stored })
  } catch (thrown) {
    await recordFailure(change, thrown, state)
  }
}

async function recordFailure(change: Change, thrown: unknown, state: ApplyState): Promise<void> {
  const stopped = state.stopped()
  // Another object is the reason for a canceled write, which was not sent: every request of an object comes before its write.
  if (stopped !== undefined && isNotSent(thrown)) return state.skip(change, stopped.message)
  if (thrown instanceof CreatedByOtherRunError && state.outcomeOf(change)?.became === 'unknown')
    return state.record({ change, became: successKinds[change.action], id: thrown.found.id, stored: thrown.found })
  const outcome = thrown instanceof NotRecreatedError ? failedRecreation(change, thrown) : failed(change, thrown)
  await state.record({
    ...outcome,
    ...(thrown instanceof UnmarkedError && { isUnmarked: true }),
    ...(thrown instanceof CreatedByOtherRunError && { isOfOtherRun: true }),
  })
}

class NotRecreatedError extends Error {
  override readonly name = 'NotRecreatedError'

  constructor(cause: unknown) {
    super('the object was deleted and could not be created again', { cause })
  }
}

/** Throws a WatchkeeperError when the change failed. */
async function write(change: Change, desired: Body, context: WriteContext): Promise<StoredObject | undefined> {
  const { api, service, kinds, state, concurrent } = context
  const kind = kinds[change.kind]
  const { collection } = kind
  const send = (options: SendOptions): Promise<StoredObject> =>
    collection.create(api, service, withBase(kind, composeCreate(kind, desired), desired), options)
  switch (change.action) {
    case 'create':
      return concurrent.create({ kind: kind.name, desired, notAfter: state.stopSignal }, send)
    case 'replace': {
      const creation = { kind: kind.name, desired, replacedId: change.id }
      await concurrent.demandAbsent(creation)
      // Delete first: if the run ends in between, nothing exists twice, and the next run creates what is missing.
      await remove(change, context)
      // Sent even when the run has stopped meanwhile: the object is gone.
      return concurrent.create(creation, send).catch((thrown: unknown) => {
        throw new NotRecreatedError(thrown)
      })
    }
    case 'update':
    case 'adopt':
    case 'mark':
    case 'release':
      return updateObject(change, (current) => compose(kind, change, desired, current), context)
    case 'delete':
      return remove(change, context)
    case 'held':
    case 'unchanged':
      return change.stored
  }
}

/** What no file declares keeps the base in its marker. */
function compose(kind: Kind, { key }: Change, desired: Body, current: StoredObject): Body {
  const body = composeUpdate(kind, desired, current)
  return key === '' ? body : withBase(kind, body, desired)
}

/** Sends a PUT, or patches a dashboard and reads it. The marker comes last, so that an interrupted update is a difference. */
export async function updateObject(change: Write, compose: (current: StoredObject) => Body, context: WriteContext): Promise<StoredObject> {
  const { api, service, kinds } = context
  const notAfter = context.state.stopSignal
  const { id, patchedTileIds } = change
  const { collection } = kinds[change.kind]
  if (patchedTileIds === undefined) {
    const composeAll = async (current: StoredObject): Promise<Body> => {
      await demandUnchanged(change, current, context)
      return compose(current)
    }
    // As the plan's list has it. The removal of tiles needs the latest alerts: they would be deleted with them.
    const isListed = change.removes === undefined && context.listedAtMs !== undefined
    const reading = isListed ? { object: change.stored, readAtMs: context.listedAtMs } : undefined
    const { object } = await collection.update(api, service, { id, reading, compose: composeAll }, { notAfter })
    return object
  }
  const planned = new Map(listOf(change.stored.tiles).map((tile) => [tile.id, tile]))
  for (const [i, tileId] of [...patchedTileIds, undefined].entries()) {
    const isDone = (tile: Body): boolean => patchedTileIds.slice(0, i).some((done) => done === tile.id)
    const composePatch = async (current: Dashboard): Promise<DashboardPatch> => {
      const tiles = current.tiles.map((tile) => (isDone(tile) ? (planned.get(tile.id) ?? tile) : tile))
      await demandUnchanged(change, { ...current, tiles }, context)
      const body = compose(current)
      if (tileId === undefined) return { name: String(body.name), tags: listOf(body.tags).map(String) }
      const { id: _, ...tile } = listOf(body.tiles).find((one) => one.id === tileId) ?? {}
      return { tileId, tile }
    }
    await patchDashboard(api, service, { id, compose: composePatch }, { notAfter })
  }
  return collection.get(api, service, id)
}

class UnmarkedError extends WatchkeeperError {}

/** A server that is older than the field of the marker strips it. Nothing may be left that the next run would not recognize. */
async function demandMarker(change: Change, desired: Body, created: StoredObject, { api, service, kinds }: WriteContext): Promise<void> {
  const kind = kinds[change.kind]
  const isMarked = (one: StoredObject): boolean => kind.tokenOf(kind.toBody(one)) === kind.tokenOf(desired)
  if (isMarked(created)) return
  const stored = await kind.collection.get(api, service, created.id).catch(ignoreAfterWrite)
  if (stored === undefined || isMarked(stored)) return
  // A failed removal must not look like a lost create, which is sent again.
  const isRemoved = (await kind.collection.remove(api, service, created.id).catch(ignoreAfterWrite)) !== undefined
  const end = isRemoved
    ? 'was deleted again: the next run would not recognize it'
    : `must be deleted by hand (${created.id}): the next run would not recognize it, and deleting it failed`
  throw new UnmarkedError(
    'refused',
    `The service did not store the ownership marker, so the new ${kind.label} ${end}. The version of the service may be too old.`,
  )
}

/** Also ignores cancellations: the outcome of the write must be recorded. */
function ignoreAfterWrite(thrown: unknown): undefined {
  if (!(thrown instanceof WatchkeeperError)) throw thrown
}

/** Throws kind `conflict` when the object has changed since the plan was made, or alerts would be lost with it. */
async function demandUnchanged(change: Write | Delete, current: StoredObject, context: WriteContext): Promise<void> {
  const { stored } = change
  const kind = context.kinds[change.kind]
  if (stored !== current) {
    const [then, now] = [stored, current].map((one) => {
      const body = kind.toBody(one)
      return `${kind.tokenOf(body)} ${kind.readMarker(body)?.repository}`
    })
    if (then !== now || !isSame(conflictingPart(change, current, kind), conflictingPart(change, stored, kind)))
      throw conflict(`The ${kind.label} ${current.id} has changed since the plan was made and was not written`)
  }
  if (isWrite(change)) await demandNoNewAlerts(change, context)
}

const conflictingPart = ({ desired }: Write | Delete, stored: StoredObject, kind: KindWire): Body =>
  desired === undefined ? comparable(kind, kind.toBody(stored)) : compareBodies(kind, desired, stored).before

const conflict = (what: string): WatchkeeperError => new WatchkeeperError('conflict', `${what}. Run plan again.`)

async function demandNoNewAlerts(change: Write, { api, service, state }: WriteContext): Promise<void> {
  if (change.removes === undefined) return
  const newAlert = whyTilesStay(change, await alertCollection.list(api, service, { notAfter: state.stopSignal }))
  if (newAlert !== undefined) throw conflict(`The dashboard ${change.id} was not written: ${newAlert}`)
}

async function remove(change: Update | Delete, context: WriteContext): Promise<undefined> {
  const { api, service, kinds, state } = context
  const check = (current: StoredObject): Promise<void> => demandUnchanged(change, current, context)
  await kinds[change.kind].collection.remove(api, service, change.id, { notAfter: state.stopSignal, check })
}

// These checks come right before a write, for alerts that did not exist when the plan was made.

/** Undefined without a reason against removing the tiles. */
export function whyTilesStay({ stored, removes, patchedTileIds }: Write, { items, mayBeCut }: List<Alert>): string | undefined {
  if (mayBeCut) return incompleteList
  if (removes === undefined) return undefined
  const tiles = listOf(stored.tiles)
  const tilesAfter = tiles.filter(({ id }) => typeof id !== 'string' || !removes.tiles.includes(id))
  const lost = findLostAlerts({ id: stored.id, tiles, tilesAfter, isPatch: patchedTileIds !== undefined }, items)
  const alert = lost.find(({ id }) => !removes.alerts.includes(id))
  return alert && `the alert ${describeStored(alert)} was added to a tile that the update deletes, and would be deleted with it`
}

export const mayHoldAlerts = ({ removal, findUse }: KindRules): boolean => removal !== undefined || findUse !== undefined

/** Undefined without a reason against it. */
export function whyNotDeleted(change: Delete, { items, mayBeCut }: List<Alert>, kind: KindRules): string | undefined {
  if (!mayHoldAlerts(kind)) return undefined
  if (mayBeCut) return incompleteList
  if (kind.findUse !== undefined) return describeUsers(change, items, kind)
  const removal = kind.removal?.(change.stored, undefined, false)
  const [alert] = removal === undefined ? [] : findLostAlerts(removal, items)
  return alert && `the alert ${describeStored(alert)} is on it and would be deleted with it`
}

const incompleteList = 'the list of alerts may be incomplete, because it is as long as a page'
