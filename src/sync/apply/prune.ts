// Pruning: what counts is what the service has now, not what it had when the plan was made.

import { type Alert, alertCollection } from '../../kinds/alert/alert.ts'
import type { StoredObject } from '../../kinds/kind.ts'
import type { List } from '../../platform/api/collection.ts'
import type { Diagnostic } from '../../platform/core/diagnostics.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import type { Change, Delete } from '../decide/change.ts'
import { type ApplyState, failed } from './apply-state.ts'
import { mayHoldAlerts, whyNotDeleted } from './protect-alerts.ts'
import { forEachByKind, maxConcurrentWrites, type WriteContext } from './write.ts'

interface PruneOptions extends WriteContext {
  readonly deletes: readonly Delete[]
  readonly diagnostics: readonly Diagnostic[]
  readonly state: ApplyState
  readonly write: (change: Change) => Promise<void>
}

/** Alerts come first in `deletes`: an alert that is still on a dashboard after them is not managed here. */
export async function pruneOrphans({ deletes, diagnostics, state, write, api, service, kinds }: PruneOptions): Promise<void> {
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
    const obstacle =
      reason ?? (alerts && whyNotDeleted(change, alerts, kinds[change.kind])) ?? (await missingPartner(change, { api, service, kinds }))
    if (obstacle === undefined) await write(change)
    else await state.skip(change, obstacle)
  }
  await forEachByKind(deletes, (kind) => maxConcurrentWrites(kind, state, api), deleteOne)
}

/** Undefined where the object that should stay in place of a twin is there, and still managed. */
async function missingPartner(
  change: Delete,
  { api, service, kinds }: Pick<WriteContext, 'api' | 'service' | 'kinds'>,
): Promise<string | undefined> {
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
