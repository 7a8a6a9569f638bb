import { randomUUID } from 'node:crypto'
import { appendFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { WatchkeeperError } from '../core/errors.ts'
import { toKebab } from '../core/names.ts'
import { quote } from '../core/text.ts'
import { type OutputFile, type ResultDocument, type RunResult, toErrorResult } from '../operation/operation.ts'
import type { Block } from '../report/blocks.ts'
import { renderMarkdown } from '../report/markdown.ts'
import type { Environment } from './read-input.ts'
import { writeFileFrom, writeWorkspaceFile } from './workspace.ts'

interface Destinations {
  /** Undefined where the result goes to no file. */
  readonly resultFile: string | undefined
  /** Whether a job summary is wanted. */
  readonly summary: boolean
}

interface Publisher {
  readonly directory: string
  warn(line: string): void
  setOutputs?(outputs: Readonly<Record<string, string>>): void
  readonly summaryFile: string | undefined
}

/**
 * Writes what outlives the run: result file, outputs, the files that were asked for, job summary. What cannot be written becomes a
 * warning and changes no verdict. Resolves to the number of warnings.
 */
export async function publish(
  { document, outputs, files, blocks }: RunResult,
  publisher: Publisher,
  { resultFile, summary }: Destinations,
): Promise<number> {
  const { directory, summaryFile } = publisher
  const texts = toResultTexts(document)
  const failures: string[] = []
  const attempt = async (what: string, write: () => void | Promise<void>): Promise<boolean> => {
    try {
      await write()
      return true
    } catch (thrown) {
      failures.push(`${what} could not be written: ${reasonOf(thrown)}`)
      return false
    }
  }
  const isWritten = resultFile !== undefined && (await attempt('the result file', () => writeResultFile(directory, resultFile, texts)))
  const file = isWritten ? resultFile : ''
  const result = texts.forOutput ?? JSON.stringify({ truncated: true, file })
  await attempt('the outputs', () => publisher.setOutputs?.({ ...outputs, result, 'result-file': file }))
  failures.push(...(await writeOutputFiles(files, directory)))
  if (summary && summaryFile !== undefined) await attempt('the summary', () => writeSummary(blocks, summaryFile))
  for (const line of failures) publisher.warn(line)
  return failures.length
}

const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** Where the result goes: `given`, or a new file in the runner's temporary directory; undefined where there is neither. */
export function resultFilePath(
  given: string | undefined,
  { directory, env }: { readonly directory: string; readonly env: Environment },
  operation: string,
): string | undefined {
  if (given !== undefined) return resolve(directory, given)
  // The name of an unknown operation is untrusted and must not become part of a path.
  const name = /^[a-z-]{1,40}$/.test(operation) ? operation : 'unknown'
  return env.RUNNER_TEMP ? join(env.RUNNER_TEMP, `watchkeeper-${name}-${randomUUID().slice(0, 8)}.json`) : undefined
}

/** GitHub allows 1 MiB for all outputs of a job together. */
const maxOutputBytes = 512 * 1024

export interface ResultTexts {
  /** Indented, unless it is too long to be read. */
  readonly forFile: string
  /** Undefined when it is too long for an output. */
  readonly forOutput: string | undefined
}

export function toResultTexts(document: ResultDocument): ResultTexts {
  const text = JSON.stringify(document)
  if (Buffer.byteLength(text) > maxOutputBytes) return { forFile: `${text}\n`, forOutput: undefined }
  return { forFile: `${JSON.stringify(document, null, 2)}\n`, forOutput: text }
}

export const writeResultFile = (root: string, path: string, { forFile }: ResultTexts): Promise<void> => writeFileFrom(root, path, forFile)

/** GitHub drops a longer summary, and counts what other commands of the step wrote before. */
const maxSummaryBytes = 1024 * 1024

async function writeSummary(blocks: readonly Block[], file: string): Promise<void> {
  if (file === '') throw new Error('GITHUB_STEP_SUMMARY is not set')
  // A file that does not exist is a mistake of the runner's setup, and not created.
  const { size } = await stat(file)
  await appendFile(file, renderMarkdown(blocks, maxSummaryBytes - size))
}

/** What keeps one file from being written keeps most of them. */
const maxNamedFailures = 3

/** Writes the files that the operation is there for. When one cannot be written, the run ends with an error. */
export async function writeEssentialFiles<R extends RunResult>(result: R, directory: string): Promise<R> {
  const essential = result.files.filter(({ isEssential }) => isEssential)
  const failures = await writeAll(essential, ({ path, content }) => writeWorkspaceFile(directory, path, content))
  if (failures.length === 0) return result
  const rest = failures.length > maxNamedFailures ? [`… and ${failures.length - maxNamedFailures} more`] : []
  const summary = `${essential.length - failures.length} of ${essential.length} files were written.`
  const message = [...failures.slice(0, maxNamedFailures), ...rest, summary].join('\n')
  const { operation, requestId, organizationId, serviceId } = result.document
  const subject = {
    ...(requestId !== undefined && { requestId }),
    ...(organizationId !== undefined && { organizationId }),
    ...(serviceId !== undefined && { serviceId }),
  }
  return { ...result, ...toErrorResult(operation, new WatchkeeperError('input', message), subject) }
}

/** Writes the other files that were asked for. Returns a line for each that could not be written. */
export const writeOutputFiles = (files: readonly OutputFile[], directory: string): Promise<readonly string[]> =>
  writeAll(
    files.filter(({ isEssential }) => !isEssential),
    ({ path, content }) => writeFileFrom(directory, path, content),
  )

async function writeAll(files: readonly OutputFile[], write: (file: OutputFile) => Promise<void>): Promise<readonly string[]> {
  const failures: string[] = []
  // One after the other: some systems cannot open a thousand files at once.
  for (const file of files) {
    try {
      await write(file)
    } catch (thrown) {
      failures.push(`${toKebab(file.input)}: "${quote(file.path)}" could not be written: ${quote(reasonOf(thrown))}`)
    }
  }
  return failures
}
