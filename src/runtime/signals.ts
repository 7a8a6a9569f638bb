import { exitCodes } from '../platform/core/errors.ts'
import { type Cancellation, createWriteLog, type WriteLog } from '../platform/http/cancellation.ts'

export interface Signals {
  on(signal: 'SIGINT' | 'SIGTERM', handler: () => void): unknown
  off(signal: 'SIGINT' | 'SIGTERM', handler: () => void): unknown
  exit(code: number): void
}

interface SignalCancellation extends Cancellation {
  readonly writes: WriteLog
  /** Undefined before the first signal. */
  exitCode(): number | undefined
  /** Stops listening, so that the process can end by itself. */
  dispose(): void
}

/**
 * The first signal stops new requests and gives the one under way some time. The second one ends the process. The exit code says whether
 * anything may have been written.
 */
export function cancelOnSignals(signals: Signals): SignalCancellation {
  const stop = new AbortController()
  const abort = new AbortController()
  const timers: NodeJS.Timeout[] = []
  const writes = createWriteLog()
  const canceledCode = (): number => (writes.mayHaveWritten() ? exitCodes.partlyApplied : exitCodes.canceled)
  const handler = (): void => {
    if (stop.signal.aborted) {
      signals.exit(canceledCode())
      return
    }
    stop.abort()
    timers.push(
      setTimeout(() => abort.abort(), 4000),
      setTimeout(() => signals.exit(canceledCode()), 6000),
    )
  }
  signals.on('SIGINT', handler)
  signals.on('SIGTERM', handler)
  return {
    stop: stop.signal,
    abort: abort.signal,
    writes,
    exitCode: () => (stop.signal.aborted ? canceledCode() : undefined),
    dispose() {
      for (const timer of timers) clearTimeout(timer)
      signals.off('SIGINT', handler)
      signals.off('SIGTERM', handler)
    },
  }
}
