import { appendFile, realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { StateChange } from '../delivery/notifications/message.ts'
import { isOperationName, operations } from '../operations.ts'
import { systemClock } from '../platform/core/clock.ts'
import { keepLatest } from '../platform/core/concurrency.ts'
import { WatchkeeperError } from '../platform/core/errors.ts'
import { withoutUndefined } from '../platform/core/keys.ts'
import { type Inline, trusted, untrusted } from '../platform/core/line.ts'
import { toKebab } from '../platform/core/names.ts'
import { createRedact } from '../platform/core/secrets.ts'
import { capitalize, listAtMost, quoteLong } from '../platform/core/text.ts'
import type { Variables } from '../platform/core/variables.ts'
import type { Cancellation } from '../platform/http/cancellation.ts'
import type { OutputFile } from '../platform/operation/files.ts'
import type { ResultDocument, ResultError, RunResult, RunSubject } from '../platform/operation/result.ts'
import type { Block } from '../platform/report/blocks.ts'
import { type LinkTo, renderMarkdown } from '../platform/report/markdown.ts'
import { credentialsIn } from './credentials.ts'
import { type ProgressStep, type PublishableResult, type PublishSettings, type RunDeps, runOperation } from './run.ts'
import { toErrorResult, withNextCommand } from './run-result.ts'
import type { RunRequest } from './settings.ts'
import {
  fileTypeOf,
  type Remote,
  randomPart,
  readOptionalFile,
  reasonOf,
  type UsedFiles,
  workspaceFiles,
  writeFileFrom,
  writeWorkspaceFile,
} from './workspace.ts'

interface Publisher {
  /** Files are read and written here, and relative paths start here. */
  readonly directory: string
  warn(line: string): void
  setOutputs?(outputs: Readonly<Record<string, string>>): void
  /** Undefined where there is no summary, and empty where the runner's variable is missing. */
  readonly summaryFile: string | undefined
  readonly linkTo?: LinkTo
}

export interface Surface extends Publisher {
  readonly confirm?: RunDeps['confirm']
  readonly openGitHub?: RunDeps['openGitHub']
  readonly env: Variables
  readonly cancellation: Cancellation
  readonly isAction?: boolean
  note(line: string): void
  /** Absent unless the debug log is on. */
  debug?(line: string): void
  showProgress(step: ProgressStep): void
  showResult(result: PublishableResult): void
  readonly remote?: Remote
  /** May hold secrets. Absent where there are no commands. */
  nextCommand?(error: ResultError): string | undefined
}

export async function runAndPublish(operation: string, inputs: RunRequest['inputs'], surface: Surface) {
  const { env, directory, cancellation, isAction = false } = surface
  const used: UsedFiles = new Set()
  const defaultFile = resultFilePath(undefined, surface, operation)
  const resultFileFor = ({ reports = [] }: PublishSettings): string | undefined => {
    const wanted = reports.find(({ format }) => format === 'json')
    return wanted === undefined ? defaultFile : resultFilePath(wanted.path, surface, operation)
  }
  // Building and writing the result takes time in proportion to the number of objects.
  const saveProgress = keepLatest(async ({ file, step }: { readonly file: string; readonly step: ProgressStep }) => {
    // A file that cannot be written gives a warning at the end, when the whole result goes into it.
    await writeFileFrom(directory, file, `${JSON.stringify(await step.document())}\n`, used).catch(() => undefined)
  })
  let warnings = 0
  const ran = await runOperation(
    {
      operation,
      inputs,
      areText: true,
      isAction,
      env,
      readConfigFile: (path, isRequired) => readOptionalFile(directory, path, isRequired, used),
    },
    {
      clock: systemClock,
      random: Math.random,
      note: (line) => surface.note(line),
      warn(line) {
        warnings++
        surface.warn(line)
      },
      debug: surface.debug && ((line) => surface.debug?.(line)),
      cancellation,
      confirm: surface.confirm,
      openGitHub: surface.openGitHub,
      files: workspaceFiles(directory, env, surface.remote, used),
      async onProgress(step, settings) {
        surface.showProgress(step)
        const file = resultFileFor(settings)
        if (file !== undefined) await saveProgress({ file, step })
      },
    },
  )
  const redact = createRedact(credentialsIn(inputs, env))
  const result = await withReports(
    withNextCommand(await writeEssentialFiles(ran, directory, used), (error) => {
      const command = surface.nextCommand?.(error)
      return command && redact(command)
    }),
  )
  const resultFile = resultFileFor(result.publishSettings)
  surface.showResult(result)
  warnings += await publish(result, surface, { used, resultFile, summary: result.publishSettings.summary })
  return { ...result, warnings }
}

/** Adds html and markdown to any result, also of an error. */
export async function withReports<R extends PublishableResult>(result: R): Promise<R> {
  const { blocks, files, document } = result
  const wanted = (result.publishSettings.reports ?? []).filter(
    ({ path }) => !files.some((file) => file.input === 'reports' && file.path === path),
  )
  const reports: OutputFile[] = []
  for (const { format, path } of wanted) {
    if (format === 'html') {
      const { renderPage } = await import('../platform/report/page.ts')
      reports.push({ input: 'reports', path, content: renderPage(nameInWords(document.operation), blocks) })
    }
    if (format === 'markdown') reports.push({ input: 'reports', path, content: renderMarkdown(blocks) })
  }
  return { ...result, files: [...files, ...reports] }
}

const nameInWords = (operation: string) => (isOperationName(operation) ? capitalize(operation).replaceAll('-', ' ') : 'Watchkeeper')

async function pageTitle({ operation }: ResultDocument): Promise<Inline> {
  if (!isOperationName(operation)) return untrusted(operation || 'watchkeeper')
  const { title = nameInWords(operation) } = await operations[operation]()
  return trusted(title)
}

interface MessageContext {
  readonly env: Variables
  readonly secrets: readonly string[]
  readonly cancellation: Cancellation
  readonly note: (line: string) => void
  readonly change: StateChange
  readonly issueNumber?: number | undefined
}

/** Resolves to the reason when it could not be delivered. */
export async function sendMessage(result: PublishableResult, context: MessageContext): Promise<string | undefined> {
  const { notifyUrl: url, notifyFormat: format = 'slack', notifyOn = 'failure', project, environment } = result.publishSettings
  const { env, secrets, cancellation, note, change, issueNumber } = context
  if (url === undefined || cancellation.stop.aborted) return undefined
  const { messageOf, isDue, originOf } = await import('../delivery/notifications/message.ts')
  const title = await pageTitle(result.document)
  const message = messageOf(result, { title, change, project, environment, ...originOf(env, issueNumber) })
  if (!isDue(notifyOn, message)) return undefined
  const { sendNotification } = await import('../delivery/notifications/send-notification.ts')
  return sendNotification({ url, format, message, secrets }, env, { clock: systemClock, random: Math.random, note, cancellation })
}

/** The run ends with an error if one cannot be written. */
export async function writeEssentialFiles<R extends RunResult>(result: R, directory: string, used: UsedFiles): Promise<R> {
  const essential = result.files.filter(({ isEssential }) => isEssential)
  const failures = await writeFiles(essential, directory, used)
  if (failures.length === 0) return result
  const summary = `${essential.length - failures.length} of ${essential.length} files were written.`
  // Files usually fail for the same reason, so more failures than this are not named.
  const message = [...listAtMost(failures, 3, (count) => `… and ${count} more`), summary].join('\n')
  const files = result.files.filter(({ isEssential }) => !isEssential)
  const { operation, requestId, organizationId, serviceId, serverUrl } = result.document
  const subject = withoutUndefined({ requestId, organizationId, serviceId, serverUrl }) as RunSubject // It has no undefined values.
  const footers = result.blocks.filter(({ kind }) => kind === 'footer')
  return { ...result, ...toErrorResult(operation, new WatchkeeperError('input', message), subject, footers), files }
}

/** A failure becomes a warning and does not change the verdict. Resolves to the number of warnings. */
export async function publish(
  { document, outputs, files, blocks }: RunResult,
  publisher: Publisher,
  { used, resultFile, summary }: { readonly used: UsedFiles; readonly resultFile: string | undefined; readonly summary: boolean },
): Promise<number> {
  const { directory, summaryFile, linkTo } = publisher
  const failures: string[] = []
  const tryToWrite = async (what: string, write: () => void | Promise<void>): Promise<boolean> => {
    try {
      await write()
      return true
    } catch (thrown) {
      failures.push(`${what} could not be written: ${reasonOf(thrown)}`)
      return false
    }
  }
  // The text of a large result is garbage before the other files are made.
  const publishResult = async ({ forFile, forOutput }: ResultTexts): Promise<void> => {
    const isWritten =
      resultFile !== undefined && (await tryToWrite('the result file', () => writeFileFrom(directory, resultFile, forFile, used)))
    if (isWritten) await addUsed(used, directory, resultFile)
    const file = isWritten ? resultFile : ''
    await tryToWrite('the outputs', () => publisher.setOutputs?.({ ...outputs, result: forOutput, 'result-file': file }))
  }
  await publishResult(toResultTexts(document))
  failures.push(...(await writeOutputFiles(files, directory, used)))
  if (summary && summaryFile !== undefined) await tryToWrite('the summary', () => writeSummary(blocks, summaryFile, linkTo))
  for (const line of failures) publisher.warn(line)
  return failures.length
}

/** `given`, or a new file in the runner's temporary directory. Undefined without both. */
export function resultFilePath(
  given: string | undefined,
  { directory, env }: { readonly directory: string; readonly env: Variables },
  operation: string,
): string | undefined {
  if (given !== undefined) return resolve(directory, given)
  // The name of an unknown operation is untrusted and must not become part of a path.
  const name = /^[a-z-]{1,40}$/.test(operation) ? operation : 'unknown'
  return env.RUNNER_TEMP ? join(env.RUNNER_TEMP, `watchkeeper-${name}-${randomPart()}.json`) : undefined
}

interface ResultTexts {
  /** Indented unless it is too long to be read. */
  readonly forFile: Iterable<string>
  /** One line; lists and objects are left out when it is too long for an output. */
  readonly forOutput: string
}

export function toResultTexts(document: ResultDocument): ResultTexts {
  let size = 0
  for (const piece of jsonPieces(document)) {
    size += Buffer.byteLength(piece)
    // GitHub allows 1 MiB for all outputs of a job together.
    if (size > 512 * 1024)
      return {
        forFile: jsonPieces(document),
        forOutput: JSON.stringify({
          truncated: true,
          ...Object.fromEntries(Object.entries(document).filter(([, value]) => typeof value !== 'object')),
        }),
      }
  }
  return { forFile: [JSON.stringify(document, null, 2), '\n'], forOutput: JSON.stringify(document) }
}

const itemsInPiece = 1000

/** The whole text of a large result takes several times its size while it is made and written. */
function* jsonPieces(document: ResultDocument): Generator<string> {
  let start = '{'
  for (const [key, value] of Object.entries(document)) {
    if (value === undefined) continue
    yield `${start}${JSON.stringify(key)}:`
    start = ','
    if (!Array.isArray(value) || value.length <= itemsInPiece) yield JSON.stringify(value)
    else {
      for (let i = 0; i < value.length; i += itemsInPiece)
        yield `${i === 0 ? '[' : ','}${JSON.stringify(value.slice(i, i + itemsInPiece)).slice(1, -1)}`
      yield ']'
    }
  }
  yield '}\n'
}

async function writeSummary(blocks: readonly Block[], file: string, linkTo: LinkTo | undefined) {
  if (file === '') throw new Error('GITHUB_STEP_SUMMARY is not set')
  // A missing file is an error in the runner's setup, so it is not created. A pipe could wait for its reader forever.
  const stats = await stat(file)
  if (!stats.isFile()) throw new Error(`GITHUB_STEP_SUMMARY is ${fileTypeOf(stats)}`)
  // GitHub drops a longer summary, and counts what other commands of the step wrote before.
  const text = renderMarkdown(blocks, 1024 * 1024 - stats.size, undefined, linkTo)
  if (text === '') throw new Error('GITHUB_STEP_SUMMARY has no room left below 1 MiB, above which GitHub drops it')
  await appendFile(file, text)
}

export const writeOutputFiles = (files: readonly OutputFile[], directory: string, used: UsedFiles): Promise<readonly string[]> =>
  writeFiles(
    files.filter(({ isEssential }) => !isEssential),
    directory,
    used,
  )

async function writeFiles(files: readonly OutputFile[], directory: string, used: UsedFiles): Promise<readonly string[]> {
  const failures: string[] = []
  // One after the other: some systems cannot open a thousand files at once.
  for (const file of files) {
    try {
      if (file.staysInWorkspace) await writeWorkspaceFile(directory, file.path, file.content)
      else await writeFileFrom(directory, file.path, file.content, used)
      await addUsed(used, directory, file.path)
    } catch (thrown) {
      failures.push(`${toKebab(file.input)}: "${quoteLong(file.path)}" could not be written: ${quoteLong(reasonOf(thrown))}`)
    }
  }
  return failures
}

const addUsed = async (used: UsedFiles, directory: string, path: string) => void used.add(await realpath(resolve(directory, path)))
