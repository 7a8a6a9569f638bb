import { type Alert, alertCollection } from '../../kinds/alert/alert.ts'
import type { StoredObject } from '../../kinds/kind.ts'
import type { List } from '../../platform/api/collection.ts'
import { forEachConcurrently } from '../../platform/core/concurrency.ts'
import type { Diagnostic } from '../../platform/core/diagnostics.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import { type Delete, isDelete, isHeld, type Plan } from '../decide/change.ts'
import { indexAll } from '../plan/stored-objects.ts'
import { createApplyState, failed } from './apply-state.ts'
import { createConcurrentRuns } from './concurrent-runs.ts'
import { reconcileUnknownCreates, recordBases, verifyWrites } from './verify.ts'
import {
  type ApplyOptions,
  maxConcurrentWrites,
  mayHoldAlerts,
  type WriteContext,
  whyNotDeleted,
  writeAll,
  writeOne,
  writeReferences,
} from './write.ts'

/** In the order of the dependencies, and independent ones at the same time. Each object has its own outcome. */
export async function applyPlan(plan: Plan, options: ApplyOptions) {
  const { storedObjects, kinds } = options
  const concurrent = createConcurrentRuns({ ...options, lists: indexAll(storedObjects, kinds), listedAtMs: storedObjects.readAtMs })
  const state = createApplyState(options.stop, options.onProgress)
  const context = { ...options, concurrent, state }
  const deletes = plan.changes.filter(isDelete)
  const writes = plan.changes.filter((change) => !isDelete(change) && !isHeld(change))
  for (const change of writes) state.learn(change, change.stored)
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
  const diagnostics = [...reviewDiagnostics, ...(await recordBases(complete, lists, answers, context))]
  await pruneOrphans(deletes, diagnostics, context)
  return {
    // One per change, in the order of the plan.
    outcomes: plan.changes.flatMap((change) => state.outcomeOf(change) ?? []),
    diagnostics,
    // After the writes; undefined where the alerts were not listed again.
    alerts: lists.alert?.all.map(({ stored }) => stored),
    stopped: state.stopped(),
  }
}

/**
 * What counts is what the service has now, not what it had when the plan was made. Alerts come first in `deletes`: an alert that is still on a
 * dashboard after them is not managed here.
 */
async function pruneOrphans(deletes: readonly Delete[], diagnostics: readonly Diagnostic[], context: WriteContext): Promise<void> {
  const { state, api, service, kinds } = context
  let listed: Promise<List<Alert>> | undefined
  const listAlerts = (): Promise<List<Alert>> => {
    listed ??= alertCollection.list(api, service).catch((thrown: unknown) => {
      listed = undefined
      throw thrown
    })
    return listed
  }
  const deleteOne = async (change: Delete): Promise<void> => {
    const reason =
      diagnostics.length > 0 ? 'nothing was deleted, because the check of the written objects failed' : state.stopped()?.message
    let alerts: List<Alert> | undefined
    try {
      if (reason === undefined && mayHoldAlerts(kinds[change.kind])) alerts = await listAlerts()
    } catch (thrown) {
      return state.record(failed(change, thrown))
    }
    const obstacle = reason ?? (alerts && whyNotDeleted(change, alerts, kinds[change.kind])) ?? (await missingPartner(change, context))
    if (obstacle === undefined) await writeOne(change, {}, context)
    else await state.skip(change, obstacle)
  }
  for (const [kind, group] of Map.groupBy(deletes, (change) => change.kind))
    await forEachConcurrently(group, () => maxConcurrentWrites(kind, state, api), deleteOne)
}

/** Undefined where the object that should stay in place of a twin is there, and still managed. */
async function missingPartner(change: Delete, { api, service, kinds }: WriteContext): Promise<string | undefined> {
  const { keeps, stored } = change
  if (keeps === undefined) return undefined
  const kind = kinds[change.kind]
  const tokenOf = (one: StoredObject): string | undefined => kind.readMarker(kind.toBody(one))?.token
  const kept = await kind.collection.get(api, service, keeps).catch((thrown: unknown) => {
    if (!(thrown instanceof WatchkeeperError)) throw thrown
  })
  return kept !== undefined && tokenOf(kept) === tokenOf(stored)
    ? undefined
    : `the ${kind.label} ${keeps}, which should stay, could not be found`
}
