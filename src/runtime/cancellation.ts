// Owns what a signal does: the first one stops new requests and gives the one under way a moment, the second one ends at once.

import { exitCodes } from '../core/errors.ts'
import type { Cancellation } from '../http/deadline.ts'

/** A runner kills 10 s after its first signal: 4 s for the request under way, and 2 s for the report. */
const graceMs = 4000
const endMs = 6000

/** What of a process is needed here. */
export interface Signals {
  on(signal: 'SIGINT' | 'SIGTERM', handler: () => void): unknown
  off(signal: 'SIGINT' | 'SIGTERM', handler: () => void): unknown
  exit(code: number): void
}

export interface Cancelling extends Cancellation {
  readonly wasCancelled: () => boolean
  /** Stops listening, so that the process can end by itself. */
  dispose(): void
}

export function cancelOnSignals(signals: Signals): Cancelling {
  const stop = new AbortController()
  const abort = new AbortController()
  const timers: NodeJS.Timeout[] = []

  const handler = (): void => {
    if (stop.signal.aborted) {
      signals.exit(exitCodes.cancelled)
      return
    }
    stop.abort()
    timers.push(
      setTimeout(() => abort.abort(), graceMs),
      setTimeout(() => signals.exit(exitCodes.cancelled), endMs),
    )
  }
  signals.on('SIGINT', handler)
  signals.on('SIGTERM', handler)

  return {
    stop: stop.signal,
    abort: abort.signal,
    wasCancelled: () => stop.signal.aborted,
    dispose() {
      for (const timer of timers) clearTimeout(timer)
      signals.off('SIGINT', handler)
      signals.off('SIGTERM', handler)
    },
  }
}

/** For the library, whose caller owns the process and may bring a signal of its own. */
export const cancelOnAbort = (signal: AbortSignal | undefined): Cancellation => {
  const never = signal ?? new AbortController().signal
  return { stop: never, abort: never }
}
