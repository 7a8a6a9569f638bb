import { letEventsAct } from '../core/clock.ts'
import { WatchkeeperError } from '../core/errors.ts'

/** Writes that the server may have applied, for the exit code of a run that did not complete. */
export interface WriteLog {
  sent(): void
  /** The server certainly did not apply one that was sent. */
  notApplied(): void
  mayHaveWritten(): boolean
}

export function createWriteLog(): WriteLog {
  let count = 0
  return {
    sent() {
      count += 1
    },
    notApplied() {
      count -= 1
    },
    mayHaveWritten: () => count > 0,
  }
}

export interface Cancellation {
  /** Aborted by the first signal: nothing new is sent, waits end. */
  readonly stop: AbortSignal
  /** Aborted a little later: requests under way end, too. */
  readonly abort: AbortSignal
  readonly writes?: WriteLog
}

/** Lets signals act. Throws kind `canceled` or `deadline` where a run that wrote nothing has to end. */
export const createCheckpoint =
  (stop: AbortSignal, remainingMs = () => Number.POSITIVE_INFINITY) =>
  async (): Promise<void> => {
    await letEventsAct()
    if (stop.aborted) throw new WatchkeeperError('canceled', 'Canceled. Nothing was written.')
    if (remainingMs() <= 0) throw new WatchkeeperError('deadline', 'timeout-seconds leaves no time for the rest. Nothing was written.')
  }

/** Rejects with the reason of the signal as soon as it is aborted. */
export function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
