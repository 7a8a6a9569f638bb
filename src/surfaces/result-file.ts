// Owns the result on disk and the short form of it that fits into an output.
import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { ResultDocument } from './finished.ts'
import { writeFileFrom } from './workspace.ts'

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

export interface ResultTexts {
  /** Indented for people, unless nobody could read it anyway. */
  readonly forFile: string
  /** Undefined when it is too long for an output. */
  readonly forOutput: string | undefined
}

export function toResultTexts(document: ResultDocument): ResultTexts {
  const text = JSON.stringify(document)
  if (Buffer.byteLength(text) > largestOutputBytes) return { forFile: `${text}\n`, forOutput: undefined }
  return { forFile: `${JSON.stringify(document, null, 2)}\n`, forOutput: text }
}

export const writeResultFile = (root: string, path: string, { forFile }: ResultTexts): Promise<void> => writeFileFrom(root, path, forFile)

/** The result as an output, or a pointer to the file. */
export const toResultOutput = ({ forOutput }: ResultTexts, file: string): string => forOutput ?? JSON.stringify({ truncated: true, file })
