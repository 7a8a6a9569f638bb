import type { StoredObject } from '../../kinds/kind.ts'
import type { Diagnostic } from '../../platform/core/diagnostics.ts'
import { isDelete, isHeld, type Plan } from '../decide/change.ts'
import type { Outcome } from '../plan/outcome.ts'
import { indexAll, type StoredObjects } from '../plan/stored-objects.ts'
import { type ApplyStateOptions, createApplyState, type StopReason } from './apply-state.ts'
import { createConcurrentRuns } from './concurrent-runs.ts'
import { pruneOrphans } from './prune.ts'
import { reconcileUnknownCreates } from './reconcile.ts'
import { recordBases } from './record-bases.ts'
import { verifyWrites } from './verify.ts'
import { type WriteContext, writeAll, writeOne, writeReferences } from './write.ts'

interface ApplyOptions extends ApplyStateOptions, Omit<WriteContext, 'state' | 'concurrent'> {
  readonly storedObjects: StoredObjects
  readonly repairCommand?: string | undefined
}

interface AppliedPlan {
  /** One per change, in the order of the plan. */
  readonly outcomes: readonly Outcome[]
  /** Errors that show only after every request succeeded. */
  readonly diagnostics: readonly Diagnostic[]
  /** After the writes; undefined where the alerts were not listed again. */
  readonly alerts: readonly StoredObject[] | undefined
  readonly stopped: StopReason | undefined
}

/** In the order of the dependencies, and independent ones at the same time. Each object has its own outcome. */
export async function applyPlan(plan: Plan, options: ApplyOptions): Promise<AppliedPlan> {
  const { storedObjects, kinds } = options
  const concurrent = createConcurrentRuns({ ...options, lists: indexAll(storedObjects, kinds), listedAtMs: storedObjects.readAtMs })
  const state = createApplyState(options)
  const context = { ...options, concurrent, state }
  const deletes = plan.changes.filter(isDelete)
  const writes = plan.changes.filter((change) => !isDelete(change) && !isHeld(change))
  for (const change of writes) state.learn({ change, stored: change.stored })
  for (const change of plan.changes.filter(isHeld)) await state.record({ change, became: 'held', id: change.id, stored: change.stored })
  const waiting = await writeAll(writes, context)
  await reconcileUnknownCreates(writes, context)
  for (const change of await writeAll(waiting, context)) await state.skip(change, 'the object that it watches might not exist')
  await reconcileUnknownCreates(waiting, context)
  await writeReferences(writes, context)
  // Taken before the verification replaces them with what it reads.
  const answers = new Map(state.all().flatMap(({ change, stored }) => (stored === undefined ? [] : [[change, stored] as const])))
  const { diagnostics: reviewDiagnostics, lists } = await verifyWrites(plan, context)
  // A base explains a field that the server does not store, and nothing else that went wrong.
  const incomplete = new Set(reviewDiagnostics.flatMap(({ rule, location }) => (rule === 'field-dropped' ? [] : [location])))
  const complete = writes.filter(({ location }) => location === undefined || !incomplete.has(location))
  const diagnostics = [...reviewDiagnostics, ...(await recordBases({ changes: complete, lists, answers }, context))]
  await pruneOrphans({ ...context, deletes, diagnostics, write: (change) => writeOne(change, {}, context) })
  return {
    outcomes: plan.changes.flatMap((change) => state.outcomeOf(change) ?? []),
    diagnostics,
    alerts: lists.alert?.all.map(({ stored }) => stored),
    stopped: state.stopped(),
  }
}
