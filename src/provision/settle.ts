// Owns creates without an answer. None is repeated blindly: a list that is read well after the failure says what became of it.
import { requestTimeoutMs } from '../api/requester.ts'
import type { Clock } from '../kernel/clock.ts'
import { WatchkeeperError } from '../kernel/errors.ts'
import { findByMark, reviewOutcome } from './after-list.ts'
import type { Change } from './change.ts'
import type { Body } from './kinds/kind.ts'
import type { Ledger } from './ledger.ts'
import { type Lists, readLists } from './lists.ts'
import type { Outcome } from './outcome.ts'
import { isHopeless } from './stopping.ts'
import type { Writing } from './write-change.ts'

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
