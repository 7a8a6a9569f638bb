// Owns what became of each change so far, and with it the ids that are known and the reason to go no further.
import type { Change } from './change.ts'
import { isDone, type Outcome, skipped } from './outcome.ts'
import { createKnownIds, type KnownIds } from './pending-ids.ts'
import { cancelled, mostInARow, type OnError, reasonToStop, type Stop } from './stopping.ts'

export interface LedgerOptions {
  /** Aborted when nothing new may be sent. */
  readonly stop: AbortSignal
  readonly onError: OnError
  /** Called after each object that something was sent for, with all outcomes so far; awaited. */
  readonly onProgress: (outcomes: readonly Outcome[]) => Promise<void>
}

export interface Ledger extends Pick<KnownIds, 'resolve'> {
  record(outcome: Outcome): Promise<void>
  /** Replaces what was recorded, in the light of a later look: nothing new has happened. */
  amend(outcome: Outcome): void
  skip(change: Change, reason: string): Promise<void>
  learn: KnownIds['learn']
  outcomeOf(change: Change): Outcome | undefined
  all(): readonly Outcome[]
  /** Why nothing more is sent; undefined to go on. */
  stopped(): Stop | undefined
}

export function createLedger({ stop, onError, onProgress }: LedgerOptions): Ledger {
  const outcomes = new Map<Change, Outcome>()
  /** In the order in which things happened. What became of each may turn out later. */
  const happened: Change[] = []
  const ids = createKnownIds()

  function amend(outcome: Outcome): void {
    outcomes.set(outcome.change, outcome)
    if (isDone(outcome)) ids.learn(outcome)
  }

  async function record(outcome: Outcome): Promise<void> {
    amend(outcome)
    // Where nothing happened there is no progress: thousands of objects may be skipped in the moment before the end.
    if (outcome.kind === 'skipped' || outcome.kind === 'unchanged') return
    happened.push(outcome.change)
    await onProgress([...outcomes.values()])
  }

  let reason: Stop | undefined
  return {
    record,
    amend,
    skip: (change, why) => record(skipped(change, why)),
    learn: ids.learn,
    resolve: ids.resolve,
    outcomeOf: (change) => outcomes.get(change),
    all: () => [...outcomes.values()],
    stopped() {
      reason ??= stop.aborted
        ? cancelled
        : reasonToStop(
            happened.slice(-mostInARow).flatMap((change) => outcomes.get(change) ?? []),
            onError,
          )
      return reason
    },
  }
}
