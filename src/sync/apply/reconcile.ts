import { requestTimeoutMs } from '../../api/requester.ts'
import type { Clock } from '../../core/clock.ts'
import { WatchkeeperError } from '../../core/errors.ts'
import { compareBodies, diffFields } from '../../kinds/compare.ts'
import type { Body, Kind, StoredObject } from '../../kinds/kind.ts'
import type { Change, Create, Write } from '../plan/change.ts'
import { findDesired, readStoredIndexes, type StoredIndex, type StoredIndexes } from '../plan/stored-objects.ts'
import { type ApplyState, type Outcome, preventsReading, successKinds } from './apply-state.ts'
import { sendableBody, type WriteContext } from './write.ts'

export interface ReconcileOptions extends WriteContext {
  readonly clock: Clock
  readonly stop: AbortSignal
  readonly write: (change: Change, desired: Body) => Promise<void>
}

const isUnknownCreate = ({ kind, change: { action } }: Outcome): boolean =>
  kind === 'unknown' && (action === 'create' || action === 'replace')

/** An object with the marker was created; an absent one is sent once more; an incomplete list leaves the outcome unknown. */
export async function reconcileUnknownCreates(
  changes: readonly (Create | Write)[],
  state: ApplyState,
  options: ReconcileOptions,
): Promise<void> {
  const unknown = changes.flatMap((change) => {
    const outcome = state.outcomeOf(change)
    return outcome !== undefined && isUnknownCreate(outcome) ? [{ change, outcome }] : []
  })
  if (unknown.length === 0 || preventsReading(state.stopped())) return
  const lists = await readListsLater(unknown, options)
  if (lists === undefined) return
  options.concurrent.learn(lists)
  for (const { change, outcome } of unknown) {
    const [list, kind, resolved] = [lists[change.kind], options.kinds[change.kind], sendableBody(change, state, options.kinds)]
    if (list === undefined || !('body' in resolved)) continue
    const found = findDesired(list, resolved.body, kind)
    if (found !== 'absent') state.amend(reconcileOutcome(outcome, list, resolved.body, kind))
    else if (state.stopped() === undefined) await options.write(change, resolved.body)
  }
}

/** The server may still be working on an unanswered request, for as long as a request may take. */
async function readListsLater(unknown: readonly Pick<Outcome, 'change'>[], options: ReconcileOptions): Promise<StoredIndexes | undefined> {
  const { api, clock, stop } = options
  if (api.remainingMs() <= requestTimeoutMs) return undefined
  try {
    await clock.sleep(requestTimeoutMs, stop)
    return await readStoredIndexes(new Set(unknown.map(({ change }) => change.kind)), options)
  } catch (thrown) {
    // The outcomes stay unknown without the lists.
    if (thrown instanceof WatchkeeperError || stop.aborted) return undefined
    throw thrown
  }
}

/** Updates an outcome by what the list shows. `desired` has no pending ids. */
export function reconcileOutcome(outcome: Outcome, list: StoredIndex, desired: Body, kind: Kind): Outcome {
  const { change } = outcome
  const found = findDesired(list, desired, kind)
  if (typeof found === 'string') return outcome
  const { before, after } = compareBodies(kind, desired, found.stored)
  // Differences that the answer to the write did not have were made by another user since.
  const answered = outcome.stored === undefined ? before : compareBodies(kind, desired, outcome.stored).before
  const serverChanged = diffFields(after, answered)
  if (outcome.kind === 'unknown' && serverChanged.length > 0 && !wasWritten(change, desired, found.stored, kind)) return outcome
  const { message: _, errorKind: __, ...rest } = outcome
  return {
    ...rest,
    kind: outcome.kind === 'unknown' ? successKinds[change.action] : outcome.kind,
    id: found.stored.id,
    stored: found.stored,
    ...(serverChanged.length > 0 && { serverChanged }),
  }
}

/** The ownership marker shows it: its digest is that of the new declaration, and was another one before. */
function wasWritten({ action, stored: before }: Outcome['change'], desired: Body, stored: StoredObject, kind: Kind): boolean {
  const digestIn = (one: StoredObject): string | undefined => kind.readMarker(kind.toBody(one))?.digest
  const wanted = kind.readMarker(desired)?.digest
  const isNew = before === undefined || action === 'replace'
  return digestIn(stored) === wanted && (isNew || digestIn(before) !== wanted)
}
