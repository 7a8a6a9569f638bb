import type { List } from '../api/collection.ts'
import { requestTimeoutMs } from '../api/requester.ts'
import type { Clock } from '../core/clock.ts'
import type { Diagnostic } from '../core/diagnostics.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { type Alert, alertCollection } from '../resources/alerts/alert-wire.ts'
import { guestOn } from '../resources/lost-alerts.ts'
import type { Body } from '../resources/resource-type.ts'
import {
  createLedger,
  failed,
  failedAfterDelete,
  isHopeless,
  type Ledger,
  type LedgerOptions,
  type Outcome,
  type Stop,
} from './apply-state.ts'
import type { Change, Plan } from './change.ts'
import { recordSnapshots, reviewAll } from './verify.ts'
import { findByMark, type Lists, NotRecreatedError, readLists, reviewOutcome, type Writing, writeChange } from './write-change.ts'

// Owns creates without an answer. None is repeated blindly: a list that is read well after the failure says what became of it.

export interface SettleOptions extends Writing {
  readonly clock: Clock
  readonly stop: AbortSignal
  readonly write: (change: Change, desired: Body) => Promise<void>
}

export const isUnknownCreate = ({ kind, change: { action } }: Outcome): boolean =>
  kind === 'unknown' && (action === 'create' || action === 'replace')

/** Found by its mark, an object is there; absent, it is sent once more; a list that may not be whole settles nothing. */
export async function settleUnknown(changes: readonly Change[], ledger: Ledger, options: SettleOptions): Promise<void> {
  const unknown = changes.flatMap((change) => ledger.outcomeOf(change) ?? []).filter(isUnknownCreate)
  if (unknown.length === 0 || isHopeless(ledger.stopped())) return
  const lists = await readLater(unknown, options)
  if (lists === undefined) return
  for (const outcome of unknown) {
    const { change } = outcome
    const [list, kind, resolved] = [lists[change.section], options.kinds[change.section], ledger.resolve(change.desired ?? {})]
    if (list === undefined || !('body' in resolved)) continue
    const found = findByMark(list, resolved.body, kind)
    if (found !== 'absent') ledger.amend(reviewOutcome(outcome, list, resolved.body, kind))
    else if (ledger.stopped() === undefined) await options.write(change, resolved.body)
  }
}

/** A server may still be at work on what it gave no answer to, for as long as a request may take. */
async function readLater(unknown: readonly Outcome[], options: SettleOptions): Promise<Lists | undefined> {
  const { api, clock, stop } = options
  if (api.remainingMs() <= requestTimeoutMs) return undefined
  try {
    await clock.sleep(requestTimeoutMs, stop)
    return await readLists(new Set(unknown.map(({ change }) => change.section)), options)
  } catch (thrown) {
    // Nobody knows then, and that is what the outcomes say.
    if (thrown instanceof WatchkeeperError || stop.aborted) return undefined
    throw thrown
  }
}

// Owns deleting what no file declares any more. What the service has now counts, not what it had when the plan was made.

interface Pruning extends Writing {
  readonly deletes: readonly Change[]
  /** What is wrong after the writes: nothing is deleted then. */
  readonly diagnostics: readonly Diagnostic[]
  readonly ledger: Ledger
  readonly write: (change: Change) => Promise<void>
}

/** Alerts come first in `deletes`; what still hangs on a dashboard after them is not ours. */
export async function deleteAll({ deletes, diagnostics, ledger, write, api, service }: Pruning): Promise<void> {
  let alerts: List<Alert> | undefined
  for (const change of deletes) {
    const reason = diagnostics.length > 0 ? 'something is wrong with what was written, so nothing is deleted' : ledger.stopped()?.words
    try {
      if (reason === undefined && change.section !== 'alerts') alerts ??= await alertCollection.list(api, service)
    } catch (thrown) {
      await ledger.record(failed(change, thrown))
      continue
    }
    const obstacle = reason ?? (alerts && guestOn(change, alerts))
    if (obstacle === undefined) await write(change)
    else await ledger.skip(change, obstacle)
  }
}

// Owns applying a plan: in the order of dependencies, one request after the other, each object with an outcome of its own.

export interface ApplyOptions extends LedgerOptions, Omit<SettleOptions, 'write'> {}

export interface Applied {
  /** One for each change, in the plan's order. */
  readonly outcomes: readonly Outcome[]
  /** What is wrong although every request was answered well. */
  readonly diagnostics: readonly Diagnostic[]
  /** Why the run ended before its end. */
  readonly stopped: Stop | undefined
}

export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<Applied> {
  const ledger = createLedger(options)
  const write = (change: Change, desired: Body): Promise<void> => writeOne(change, desired, ledger, options)
  const [deletes, writes] = [plan.changes.filter(isDelete), plan.changes.filter((change) => !isDelete(change))]
  for (const change of writes) if (change.actual !== undefined) ledger.learn({ change, actual: change.actual })
  const waiting = await writeAll(writes, ledger, write)
  await settleUnknown(writes, ledger, { ...options, write })
  for (const change of await writeAll(waiting, ledger, write)) await ledger.skip(change, 'what it watches may not exist')
  await settleUnknown(waiting, ledger, { ...options, write })
  const answers = new Map(ledger.all().flatMap(({ change, actual }) => (actual === undefined ? [] : [[change, actual] as const])))
  const { diagnostics: reviewDiagnostics, lists } = await reviewAll(plan, ledger, options)
  const diagnostics = [...reviewDiagnostics, ...(await recordSnapshots({ changes: writes, lists, answers, ledger }, options))]
  await deleteAll({ ...options, deletes, diagnostics, ledger, write: (change) => write(change, {}) })
  return { outcomes: plan.changes.flatMap((change) => ledger.outcomeOf(change) ?? []), diagnostics, stopped: ledger.stopped() }
}

const isDelete = ({ action }: Change): boolean => action === 'delete'

/** Returns what waits for objects of which nobody knows yet whether they exist. */
async function writeAll(
  changes: readonly Change[],
  ledger: Ledger,
  write: (change: Change, desired: Body) => Promise<void>,
): Promise<readonly Change[]> {
  const waiting: Change[] = []
  for (const change of changes) {
    const resolved = ledger.resolve(change.desired ?? {})
    if ('body' in resolved) {
      await write(change, resolved.body)
      continue
    }
    const { section, key } = resolved.waitsFor
    const target = ledger.all().find((one) => one.change.section === section && one.change.key === key)
    if (target?.kind === 'unknown') waiting.push(change)
    else await ledger.skip(change, ledger.stopped()?.words ?? `${section}.${key} was not written`)
  }
  return waiting
}

async function writeOne(change: Change, desired: Body, ledger: Ledger, options: ApplyOptions): Promise<void> {
  const reason = ledger.stopped()?.words
  if (reason !== undefined && change.action !== 'unchanged') return ledger.skip(change, reason)
  try {
    await ledger.record(await writeChange(change, desired, options))
  } catch (thrown) {
    await ledger.record(thrown instanceof NotRecreatedError ? failedAfterDelete(change, thrown) : failed(change, thrown))
  }
}
