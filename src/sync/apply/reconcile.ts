import { compareBodies, diffFields } from '../../kinds/compare.ts'
import type { Body, KindIdentity, KindWire, StoredObject } from '../../kinds/kind.ts'
import { requestTimeoutMs } from '../../platform/api/requester.ts'
import { WatchkeeperError } from '../../platform/core/errors.ts'
import type { Create, Write } from '../decide/change.ts'
import { type Outcome, successKinds } from '../plan/outcome.ts'
import { findDesired, readStoredIndexes, type StoredIndex, type StoredIndexes } from '../plan/stored-objects.ts'
import { preventsReading } from './apply-state.ts'
import { sendableBody, type WriteContext, writeOne } from './write.ts'

const isUnknownCreate = ({ became, change: { action } }: Outcome): boolean =>
  became === 'unknown' && (action === 'create' || action === 'replace')

/** An object with the marker was created; an absent one is sent once more; an incomplete list leaves the outcome unknown. */
export async function reconcileUnknownCreates(changes: readonly (Create | Write)[], context: WriteContext): Promise<void> {
  const { state, kinds, concurrent } = context
  const unknown = changes.flatMap((change) => {
    const outcome = state.outcomeOf(change)
    return outcome !== undefined && isUnknownCreate(outcome) ? [{ change, outcome }] : []
  })
  if (unknown.length === 0 || preventsReading(state.stopped())) return
  const lists = await readListsLater(unknown, context)
  if (lists === undefined) return
  concurrent.learn(lists)
  for (const { change, outcome } of unknown) {
    const [list, kind, resolved] = [lists[change.kind], kinds[change.kind], sendableBody(change, context)]
    if (list === undefined || !('body' in resolved)) continue
    const found = findDesired(list, resolved.body, kind)
    if (found !== 'absent') state.amend(reconcileOutcome(outcome, list, resolved.body, kind))
    else if (state.stopped() === undefined) await writeOne(change, resolved.body, context)
  }
}

/** The server may still be working on an unanswered request. */
async function readListsLater(unknown: readonly Pick<Outcome, 'change'>[], context: WriteContext): Promise<StoredIndexes | undefined> {
  const { api, clock, stop } = context
  if (api.remainingMs() <= requestTimeoutMs) return undefined
  try {
    await clock.sleep(requestTimeoutMs, stop)
    return await readStoredIndexes(new Set(unknown.map(({ change }) => change.kind)), context)
  } catch (thrown) {
    if (thrown instanceof WatchkeeperError || stop.aborted) return undefined
    throw thrown
  }
}

/** `desired` has no pending ids. */
export function reconcileOutcome(outcome: Outcome, list: StoredIndex, desired: Body, kind: KindIdentity & KindWire): Outcome {
  const { change } = outcome
  const found = findDesired(list, desired, kind)
  if (typeof found === 'string') return outcome
  const { before, after } = compareBodies(kind, desired, found.stored)
  // Differences that the answer to the write did not have were made by another user since.
  const answered = outcome.stored === undefined ? before : compareBodies(kind, desired, outcome.stored).before
  const serverChanged = diffFields(after, answered)
  if (outcome.became === 'unknown' && serverChanged.length > 0 && !wasWritten(change, desired, found.stored, kind)) return outcome
  const { message: _, errorKind: __, ...rest } = outcome
  return {
    ...rest,
    became: outcome.became === 'unknown' ? successKinds[change.action] : outcome.became,
    id: found.stored.id,
    stored: found.stored,
    ...(serverChanged.length > 0 && { serverChanged }),
  }
}

/** The ownership marker shows it: its digest is that of the new declaration, and was another one before. */
function wasWritten(
  { action, stored: before }: Outcome['change'],
  desired: Body,
  stored: StoredObject,
  kind: KindIdentity & KindWire,
): boolean {
  const digestIn = (one: StoredObject): string | undefined => kind.readMarker(kind.toBody(one))?.digest
  const wanted = kind.readMarker(desired)?.digest
  const isNew = before === undefined || action === 'replace'
  return digestIn(stored) === wanted && (isNew || digestIn(before) !== wanted)
}
