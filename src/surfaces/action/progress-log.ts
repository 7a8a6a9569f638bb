// Owns what a step shows and keeps while it is at work: a group of lines in the log, and the result so far on disk.
import * as core from '@actions/core'
import type { Ports } from '../invoke.ts'
import { toResultTexts, writeResultFile } from '../result-file.ts'

export interface ProgressLog {
  readonly tell: NonNullable<Ports['onProgress']>
  /** Closes the group, where one was opened. */
  end(): void
}

export function createProgressLog(log: (line: string) => void, pathFor: (wanted: string | undefined) => string | undefined): ProgressLog {
  let isOpen = false
  return {
    async tell({ done, total, text, document }, { resultFile }) {
      if (!isOpen) core.startGroup(`Progress of ${total}`)
      isOpen = true
      log(`${String(done).padStart(String(total).length)}/${total} ${text}`)
      const path = pathFor(resultFile)
      // Whatever is wrong with the file is told at the end, where the whole result goes into it.
      if (path !== undefined) await writeResultFile(path, toResultTexts(document)).catch(() => undefined)
    },
    end() {
      if (isOpen) core.endGroup()
    },
  }
}
