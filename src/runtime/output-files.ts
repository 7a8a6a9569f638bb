import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { WatchkeeperError } from '../core/errors.ts'
import { toKebab } from '../core/names.ts'
import { quote } from '../core/text.ts'
import type { OutputFile } from '../operation/operation.ts'
import { type About, type Finished, finishWithError, type ResultDocument } from '../operation/result-document.ts'
import { writeFileFrom, writeWorkspaceFile } from './workspace.ts'

// Owns the result on disk and the short form of it that fits into an output.

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

// Owns writing the files that an operation makes: those that it is there for, and copies that a user asked for.

/** What keeps one file from being written keeps most of them. */
const mostNamed = 3

/** Writes what the operation is there for. A run that cannot is an error, whatever it was before. */
export async function writeEssentials<F extends Finished>(finished: F, directory: string): Promise<F> {
  const essential = finished.files.filter(({ isEssential }) => isEssential)
  if (essential.length === 0) return finished
  const failures = await attemptAll(essential, ({ path, content }) => writeWorkspaceFile(directory, path, content))
  if (failures.length === 0) return finished
  const rest = failures.length > mostNamed ? [`… and ${failures.length - mostNamed} more`] : []
  const summary = `${essential.length - failures.length} of ${essential.length} files were written.`
  const message = [...failures.slice(0, mostNamed), ...rest, summary].join('\n')
  return { ...finished, ...finishWithError(finished.document.operation, new WatchkeeperError('input', message), aboutOf(finished)) }
}

const aboutOf = ({ document: { requestId, organizationId, serviceId } }: Finished): About => ({
  ...(requestId !== undefined && { requestId }),
  ...(organizationId !== undefined && { organizationId }),
  ...(serviceId !== undefined && { serviceId }),
})

/** Writes the other files that can be written. Returns a line for each that could not be; none of them changes a verdict. */
export const writeOutputFiles = (files: readonly OutputFile[], directory: string): Promise<readonly string[]> =>
  attemptAll(
    files.filter(({ isEssential }) => !isEssential),
    ({ path, content }) => writeFileFrom(directory, path, content),
  )

async function attemptAll(files: readonly OutputFile[], write: (file: OutputFile) => Promise<void>): Promise<readonly string[]> {
  const lines: string[] = []
  // One after the other: a thousand files at once are more than some systems open.
  for (const file of files) lines.push(...(await attempt(file, write)))
  return lines
}

async function attempt(file: OutputFile, write: (file: OutputFile) => Promise<void>): Promise<readonly string[]> {
  try {
    await write(file)
    return []
  } catch (thrown) {
    const reason = thrown instanceof Error ? quote(thrown.message) : String(thrown)
    return [`${toKebab(file.input)}: "${quote(file.path)}" could not be written: ${reason}`]
  }
}
