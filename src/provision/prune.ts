// Owns deleting what no file declares any more. What the service has now counts, not what it had when the plan was made.
import type { Alert } from '../api/alerts.ts'
import type { List } from '../api/collection.ts'
import type { Change } from './change.ts'
import type { Finding } from './finding.ts'
import { guestOn } from './guests.ts'
import type { Ledger } from './ledger.ts'
import { failed } from './outcome.ts'
import type { Writing } from './write-change.ts'

interface Pruning extends Writing {
  readonly deletes: readonly Change[]
  /** What is wrong after the writes: nothing is deleted then. */
  readonly findings: readonly Finding[]
  readonly ledger: Ledger
  readonly write: (change: Change) => Promise<void>
}

/** Alerts come first in `deletes`; what still hangs on a dashboard after them is not ours. */
export async function deleteAll({ deletes, findings, ledger, write, api, service }: Pruning): Promise<void> {
  let alerts: List<Alert> | undefined
  for (const change of deletes) {
    const reason = findings.length > 0 ? 'something is wrong with what was written, so nothing is deleted' : ledger.stopped()?.words
    try {
      if (reason === undefined && change.section !== 'alerts') alerts ??= await api.alerts.list(service)
    } catch (thrown) {
      await ledger.record(failed(change, thrown))
      continue
    }
    const obstacle = reason ?? (alerts && guestOn(change, alerts))
    if (obstacle === undefined) await write(change)
    else await ledger.skip(change, obstacle)
  }
}
