// Owns the result on disk and the short form of it that fits into an output.
import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { ResultDocument } from './finished.ts'
import { writeWholeFile } from './workspace.ts'

/** GitHub allows 1 MiB for all outputs of a job together. */
const largestOutputBytes = 512 * 1024

/** Where the result goes: where the user wants it, or a new file in the runner's temporary directory. */
export function resultFilePath(
  wanted: string | undefined,
  directory: string,
  temporary: string | undefined,
  operation: string,
): string | undefined {
  if (wanted !== undefined) return resolve(directory, wanted)
  // An operation that nobody knows is whatever somebody wrote: it may not become part of a path.
  const word = /^[a-z-]{1,40}$/.test(operation) ? operation : 'unknown'
  return temporary ? join(temporary, `watchkeeper-${word}-${randomUUID().slice(0, 8)}.json`) : undefined
}

export const writeResultFile = (path: string, document: ResultDocument): Promise<void> =>
  writeWholeFile(path, `${JSON.stringify(document, null, 2)}\n`)

/** The result as an output; a pointer to the file when it is too long. */
export function toResultOutput(document: ResultDocument, file: string): string {
  const text = JSON.stringify(document)
  return Buffer.byteLength(text) <= largestOutputBytes ? text : JSON.stringify({ truncated: true, file })
}
