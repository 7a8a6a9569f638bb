/** The writes of a run that the server may have applied: for the exit code of a run that did not complete. */
export interface WriteLog {
  /** Before a write is sent. */
  sent(): void
  /** The server certainly did not apply one of those that were sent. */
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
