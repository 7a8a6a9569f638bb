import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { appendFile, glob, lstat, mkdir, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type InputError, inputError } from '../core/errors.ts'
import { toKebab } from '../core/names.ts'
import { quote } from '../core/text.ts'
import type { Files, OutputFile, ResultDocument, RunResult } from '../operation/operation.ts'
import type { Block } from '../report/blocks.ts'
import { renderMarkdown } from '../report/markdown.ts'
import type { Environment } from './read-input.ts'

interface Destinations {
  /** Undefined for no result file. */
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
 * Writes result file, outputs, output files and job summary. A failure becomes a warning and does not change the verdict. Resolves to the
 * number of warnings.
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

/** Path of the result file: `given`, or a new file in the runner's temporary directory. Undefined without both. */
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

interface ResultTexts {
  /** Indented, unless it is too long to be read. */
  readonly forFile: string
  /** Undefined when it is too long for an output. */
  readonly forOutput: string | undefined
}

/** The result document as JSON, for the file and for the output. */
export function toResultTexts(document: ResultDocument): ResultTexts {
  const text = JSON.stringify(document)
  if (Buffer.byteLength(text) > maxOutputBytes) return { forFile: `${text}\n`, forOutput: undefined }
  return { forFile: `${JSON.stringify(document, null, 2)}\n`, forOutput: text }
}

const writeResultFile = (root: string, path: string, { forFile }: ResultTexts): Promise<void> => writeFileFrom(root, path, forFile)

/** GitHub drops a longer summary, and counts what other commands of the step wrote before. */
const maxSummaryBytes = 1024 * 1024

async function writeSummary(blocks: readonly Block[], file: string): Promise<void> {
  if (file === '') throw new Error('GITHUB_STEP_SUMMARY is not set')
  // A missing file is an error in the runner's setup, so it is not created.
  const { size } = await stat(file)
  await appendFile(file, renderMarkdown(blocks, maxSummaryBytes - size))
}

/** Writes the other files that were asked for. Returns a line for each that could not be written. */
export const writeOutputFiles = (files: readonly OutputFile[], directory: string): Promise<readonly string[]> =>
  writeAll(
    files.filter(({ isEssential }) => !isEssential),
    ({ path, content }) => writeFileFrom(directory, path, content),
  )

/** Returns a line for each file that could not be written. */
export async function writeAll(files: readonly OutputFile[], write: (file: OutputFile) => Promise<void>): Promise<readonly string[]> {
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

/** Largest file that is read. */
const largestBytes = 5 * 1024 * 1024

/** Reads a regular UTF-8 file under `root`. Throws an InputError named after `input`. */
export async function readWorkspaceFile(root: string, path: string, input: string): Promise<string> {
  const refuse = (reason: string): InputError => inputError(input, `"${quote(path)}" ${reason}`)
  const real = await realPathOf(resolve(root, path))
  if (real === undefined) throw refuse('does not exist or cannot be read')
  if (!isInside(await realpath(root), real)) throw refuse('is outside of the workspace')
  // Opened without following links and without waiting for the other end of a pipe. The checks are about the opened file, not the path.
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (handle === undefined) throw refuse('does not exist or cannot be read')
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw refuse('is not a file')
    if (stats.size > largestBytes) throw refuse('is larger than 5 MiB')
    if ((await realPathOf(real)) !== real) throw refuse('changed while it was opened')
    return new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile())
  } catch (thrown) {
    throw thrown instanceof TypeError ? refuse('is not UTF-8') : thrown
  } finally {
    await handle.close()
  }
}

/** More than a repository declares by hand. */
const mostFiles = 1000

/** Files and links under `root` that match, sorted. Links that lead outside are rejected when they are read. */
async function findWorkspaceFiles(root: string, globs: readonly string[], input: string): Promise<readonly string[]> {
  const found = new Set<string>()
  const patterns = await Promise.all(
    globs.map((one) => isDirectory(join(root, one)).then((is) => (is ? `${one.replace(/\/+$/, '')}/**/*.{yml,yaml,json}` : one))),
  )
  for await (const entry of glob(patterns, { cwd: root, withFileTypes: true })) {
    // A skipped link would look like a valid file.
    if (entry.isFile() || entry.isSymbolicLink()) found.add(relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    if (found.size > mostFiles) throw inputError(input, `matches more than ${mostFiles} files`)
  }
  return [...found].sort()
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** The workspace as operations see it. */
export const workspaceFiles = (
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  remoteRepository: Files['remoteRepository'] = async () => undefined,
): Files => ({
  read: (path, input) => readWorkspaceFile(root, path, input),
  find: (globs, input) => findWorkspaceFiles(root, globs, input),
  variable: (name) => env[name],
  remoteRepository,
})

/** Undefined for a file that does not exist, unless it is required. */
export async function readOptionalFile(root: string, path: string, isRequired: boolean): Promise<string | undefined> {
  const exists = (await realPathOf(resolve(root, path))) !== undefined
  return exists || isRequired ? readWorkspaceFile(root, path, 'config') : undefined
}

const realPathOf = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined)

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

/**
 * Writes to a path relative to the workspace `root`, or to an absolute one. A path inside of the workspace must not lead outside through
 * a link.
 */
export async function writeFileFrom(root: string, path: string, content: string): Promise<void> {
  const target = resolve(root, path)
  const directory = dirname(target)
  const looksInside = isInside(resolve(root), target)
  if (looksInside) await requireInside(root, await nearestDirectory(directory))
  await mkdir(directory, { recursive: true })
  if (looksInside) await requireInside(root, directory)
  await writeWholeFile(target, content)
}

async function requireInside(root: string, directory: string): Promise<void> {
  if (!isInside(await realpath(root), await realpath(directory))) throw new Error('it leads out of the workspace through a link')
}

/** The directory itself, or the nearest one above it that exists. */
async function nearestDirectory(directory: string): Promise<string> {
  const parent = dirname(directory)
  return parent === directory || (await realPathOf(directory)) !== undefined ? directory : nearestDirectory(parent)
}

/** Writes a file inside of the workspace, without following links. Throws an Error with the reason if it cannot. */
export async function writeWorkspaceFile(root: string, path: string, content: string): Promise<void> {
  const realRoot = await realpath(root)
  const target = resolve(realRoot, path)
  if (target === realRoot || !isInside(realRoot, target)) throw new Error('is outside of the workspace')
  for (const directory of directoriesBetween(realRoot, target)) await makeOwnDirectory(directory)
  const stats = await lstat(target).catch(() => undefined)
  if (stats?.isSymbolicLink()) throw new Error('is a link')
  if (stats !== undefined && !stats.isFile()) throw new Error('is not a file')
  await writeWholeFile(target, content, realRoot)
}

/** From the outermost to the one that holds the file. */
function directoriesBetween(root: string, target: string): readonly string[] {
  const parts = relative(root, dirname(target)).split(sep).filter(Boolean)
  return parts.map((_, i) => join(root, ...parts.slice(0, i + 1)))
}

async function makeOwnDirectory(path: string): Promise<void> {
  await mkdir(path).catch((thrown: unknown) => {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown
  })
  const stats = await lstat(path)
  if (!stats.isDirectory()) throw new Error(`is in "${quote(path, 120)}", which is a link or not a directory`)
}

/**
 * Writes a new file next to the target and renames it. Readers see the old file or the new one, and a link is replaced, not followed. With
 * `root`, no directory of the path may have become a link meanwhile.
 */
async function writeWholeFile(path: string, content: string, root?: string): Promise<void> {
  const directory = dirname(path)
  const temporary = join(directory, `.watchkeeper-${randomUUID()}`)
  try {
    await writeFile(temporary, content, { flag: 'wx' })
    if (root !== undefined && (await realpath(temporary)) !== temporary) throw new Error('is in a directory that became a link')
    await rename(temporary, path)
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}
