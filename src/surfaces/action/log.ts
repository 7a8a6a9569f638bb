// Owns the action's log: what was done on the way is folded away, what came of it is not.
import * as core from '@actions/core'
import { logLine } from '../../report/escape.ts'

export interface Log {
  /** A line that stays in sight. */
  show(line: string): void
  /** A line on the way to something. Consecutive ones share a fold under the title given first. */
  fold(title: string, line: string): void
  /** Closes the fold, if one is open. */
  close(): void
}

export function createLog(): Log {
  let isOpen = false
  const close = (): void => {
    if (isOpen) core.endGroup()
    isOpen = false
  }
  return {
    close,
    show(line) {
      close()
      core.info(logLine(line))
    },
    fold(title, line) {
      if (!isOpen) core.startGroup(title)
      isOpen = true
      core.info(logLine(line))
    },
  }
}
