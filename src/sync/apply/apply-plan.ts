import type { Diagnostic } from '../../core/diagnostics.ts'
import type { Body, StoredObject } from '../../kinds/kind.ts'
import { type Change, isDelete, type Plan } from '../plan/change.ts'
import { indexAll, type StoredObjects } from '../plan/stored-objects.ts'
import { type ApplyStateOptions, createApplyState, type Outcome, type StopReason } from './apply-state.ts'
import { createConcurrentRuns } from './concurrent-runs.ts'
import { pruneOrphans } from './prune.ts'
import { type ReconcileOptions, reconcileUnknownCreates } from './reconcile.ts'
import { recordSnapshots } from './snapshots.ts'
import { verifyWrites } from './verify.ts'
import { writeAll, writeOne, writeReferences } from './write.ts'

interface ApplyOptions extends ApplyStateOptions, Omit<ReconcileOptions, 'write' | 'concurrent'> {
  /** What the plan was made of. */
  readonly storedObjects: StoredObjects
  readonly repairCommand?: string | undefined
}

interface Applied {
  /** One per change, in the order of the plan. */
  readonly outcomes: readonly Outcome[]
  /** Errors that show only after every request succeeded. */
  readonly diagnostics: readonly Diagnostic[]
  /** All alerts after the writes; undefined where they were not listed again. */
  readonly alerts: readonly StoredObject[] | undefined
  /** Why the run stopped early. */
  readonly stopped: StopReason | undefined
}

/** Applies the changes in the order of their dependencies, and independent ones at the same time. Each object has its own outcome. */
export async function applyPlan(plan: Plan, given: ApplyOptions): Promise<Applied> {
  const lists = indexAll(given.storedObjects, given.kinds)
  const options = { ...given, concurrent: createConcurrentRuns({ ...given, lists, listedAtMs: given.storedObjects.readAtMs }) }
  const state = createApplyState(options)
  const write = (change: Change, desired: Body): Promise<void> =>
    writeOne(change, desired, state, { ...options, notAfter: state.hasStopped })
  const [deletes, writes] = [plan.changes.filter(isDelete), plan.changes.filter((change) => !isDelete(change))] as const
  for (const change of writes) state.learn({ change, stored: change.stored })
  const waiting = await writeAll(writes, state, { ...options, write })
  await reconcileUnknownCreates(writes, state, { ...options, write })
  for (const change of await writeAll(waiting, state, { ...options, write }))
    await state.skip(change, 'the object that it watches may not exist')
  await reconcileUnknownCreates(waiting, state, { ...options, write })
  await writeReferences(writes, state, { ...options, notAfter: state.hasStopped })
  // Taken before the verification replaces them with what it reads.
  const answers = new Map(state.all().flatMap(({ change, stored }) => (stored === undefined ? [] : [[change, stored] as const])))
  const { diagnostics: reviewDiagnostics, lists: verified } = await verifyWrites(plan, state, options)
  // A snapshot would hide a field that was not stored from the next plan.
  const incomplete = new Set(reviewDiagnostics.map(({ location }) => location))
  const complete = writes.filter(({ location }) => location === undefined || !incomplete.has(location))
  const diagnostics = [...reviewDiagnostics, ...(await recordSnapshots({ changes: complete, lists: verified, answers, state }, options))]
  await pruneOrphans({ ...options, deletes, diagnostics, state, write: (change) => write(change, {}) })
  return {
    outcomes: plan.changes.flatMap((change) => state.outcomeOf(change) ?? []),
    diagnostics,
    alerts: verified.alert?.all.map(({ stored }) => stored),
    stopped: state.stopped(),
  }
}
