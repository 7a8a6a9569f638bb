// Owns deleting what no file declares any more. What the service has now counts, not what it had when the plan was made.
import { quote } from '../kernel/text.ts'
import type { MarkedList } from './after-list.ts'
import type { Change } from './change.ts'
import type { Finding } from './finding.ts'
import type { Ledger } from './ledger.ts'
import { readLists } from './lists.ts'
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
export async function deleteAll({ deletes, findings, ledger, write, api, service, kinds }: Pruning): Promise<void> {
  let alerts: MarkedList | undefined
  for (const change of deletes) {
    const reason = findings.length > 0 ? 'something is wrong with what was written, so nothing is deleted' : ledger.stopped()
    try {
      if (reason === undefined && change.section !== 'alerts')
        alerts ??= (await readLists(new Set(['alerts'] as const), { api, service, kinds })).alerts
    } catch (thrown) {
      await ledger.record(failed(change, thrown))
      continue
    }
    const obstacle = reason ?? guestOn(change, alerts)
    if (obstacle === undefined) await write(change)
    else await ledger.skip(change, obstacle)
  }
}

function guestOn({ section, id }: Change, alerts: MarkedList | undefined): string | undefined {
  if (section === 'alerts') return undefined
  const guest = alerts?.items.find((alert) => alert.dashboardId === id || alert.savedSearchId === id)
  return guest && `the alert "${quote(guest.name ?? '', 60)}" (${guest.id}) hangs on it and would go with it`
}
