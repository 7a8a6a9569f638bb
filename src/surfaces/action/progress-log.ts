// Owns what a step shows and keeps while it is at work: folded lines in the log, and the result so far on disk.
import type { Ports } from '../invoke.ts'
import { toResultTexts, writeResultFile } from '../result-file.ts'
import type { Log } from './log.ts'

export const createProgressLog =
  (log: Log, pathFor: (wanted: string | undefined) => string | undefined, workspace: string): NonNullable<Ports['onProgress']> =>
  async ({ done, total, text, document }, { resultFile }) => {
    log.fold('Progress', `${String(done).padStart(String(total).length)}/${total} ${text}`)
    const path = pathFor(resultFile)
    // Whatever is wrong with the file is told at the end, where the whole result goes into it.
    if (path !== undefined) await writeResultFile(workspace, path, toResultTexts(document)).catch(() => undefined)
  }
