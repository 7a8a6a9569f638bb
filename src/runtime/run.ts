import { ApiError } from '../api/api-error.ts'
import { type ApiSession, openApi, readOnly } from '../api/client.ts'
import { isServer } from '../api/path.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { keepLatest } from '../core/concurrency.ts'
import {
  exitCodeOfKind,
  exitCodes,
  InputError,
  InternalError,
  inputError,
  isRetryable,
  toWatchkeeperError,
  WatchkeeperError,
} from '../core/errors.ts'
import { join, type Line, say, sentence, toPlainText, trusted, untrusted } from '../core/line.ts'
import { toKebab } from '../core/names.ts'
import { runPageOf } from '../core/run-page.ts'
import { createRedact, type Redact, redactDeep } from '../core/secrets.ts'
import { listFirst, quote } from '../core/text.ts'
import type { Variables } from '../core/variables.ts'
import { version } from '../core/version.ts'
import type { PullRequestOutcome } from '../forge/pull-request.ts'
import type { Cancellation } from '../http/deadline.ts'
import { createWriteLog, type WriteLog } from '../http/write-log.ts'
import type { StateChange } from '../notifications/message.ts'
import type { Settings } from '../operation/inputs.ts'
import {
  type Context,
  type Effect,
  type Files,
  type Operation,
  type Progress,
  type PullRequestContent,
  pass,
  type ReadDeployments,
  type Report,
  type ResultDocument,
  type ResultError,
  type Review,
  type RunResult,
  type RunSubject,
  type Scope,
  type Verdict,
} from '../operation/operation.ts'
import { isOperationName } from '../operations.ts'
import type { Block, Status } from '../report/blocks.ts'
import { formatMoment } from '../report/format.ts'
import { credentialsIn, paddedCredentials, type RunInput, type RunRequest, readInput, readSettings } from './read-input.ts'
import { publish, type Remote, readOptionalFile, resultFilePath, workspaceFiles, writeFileFrom, writeFiles } from './workspace.ts'

/** The parts of a run that differ between the action and the command line. */
export interface Surface {
  readonly env: Variables
  /** Files are read and written here, and relative paths start here. */
  readonly directory: string
  readonly cancellation: Cancellation
  readonly keepsIssue?: boolean
  /** A line about a request, a retry or a wait. */
  note(line: string): void
  /** Every request and decision; absent unless the debug log is on. */
  debug?(line: string): void
  warn(line: string): void
  showProgress(step: ProgressStep): void
  /** Shows the report, before anything of it is written. */
  showResult(result: PublishableResult, resultFile: string | undefined): void
  /** Brings the pull request up to date. Absent where no run may open one. */
  syncPullRequest?(result: PublishableResult): Promise<PullRequestOutcome>
  /** Reads deployments with the token of the forge. Absent where no forge runs the workflow. */
  readDeployments?(token: string, period: Parameters<ReadDeployments>[0]): ReturnType<ReadDeployments>
  /** Absent where there are no outputs. */
  setOutputs?(outputs: Readonly<Record<string, string>>): void
  /** File for the job summary. Undefined where there is no summary, and empty where the runner's variable is missing. */
  readonly summaryFile: string | undefined
  readonly remote?: Remote
  /** Asks a person before a write. Throws an InputError when it cannot ask. Absent where the run asks no one. */
  readonly confirm?: ((review: Review) => Promise<boolean>) | undefined
  readonly ignoredFileSettings?: RunRequest['ignoredFileSettings']
  /** The next command to try after an error, which may hold secrets. Absent where there are no commands. */
  nextCommand?(error: ResultError): string | undefined
}

interface PublishedResult extends PublishableResult {
  /** Number of warnings that were shown, such as those about files that could not be written. */
  readonly warnings: number
}

/** The path of every run of the action and the command line: read input, run, verdict, report, publish. */
export async function runAndPublish(operation: string, inputs: RunRequest['inputs'], surface: Surface): Promise<PublishedResult> {
  const { env, directory, cancellation, keepsIssue = false } = surface
  const defaultFile = resultFilePath(undefined, surface, operation)
  const resultFileFor = ({ resultFile }: PublishSettings): string | undefined =>
    resultFile === undefined ? defaultFile : resultFilePath(resultFile, surface, operation)
  // Building and writing the result takes time in proportion to the number of objects.
  const saveProgress = keepLatest(async ({ file, step }: { readonly file: string; readonly step: ProgressStep }) => {
    // A file that cannot be written gives a warning at the end, when the whole result goes into it.
    await writeFileFrom(directory, file, `${JSON.stringify(await step.document())}\n`).catch(() => undefined)
  })
  let warnings = 0
  const ran = await runOperation(
    {
      operation,
      inputs,
      areText: true,
      keepsIssue,
      env,
      readConfigFile: (path, isRequired) => readOptionalFile(directory, path, isRequired),
      ignoredFileSettings: surface.ignoredFileSettings ?? [],
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
      readDeployments: surface.readDeployments,
      files: workspaceFiles(directory, env, surface.remote),
      async onProgress(step, settings) {
        surface.showProgress(step)
        const file = resultFileFor(settings)
        if (file !== undefined) await saveProgress({ file, step })
      },
    },
  )
  const redact = createRedact(credentialsIn(inputs, env))
  const result = withNextCommand(await writeEssentialFiles(await withPullRequest(ran, surface), directory), (error) => {
    const command = surface.nextCommand?.(error)
    return command && redact(command)
  })
  const resultFile = resultFileFor(result.publishSettings)
  surface.showResult(result, resultFile)
  warnings += await publish(result, surface, { resultFile, summary: result.publishSettings.summary })
  return { ...result, warnings }
}

/** Adds the next command to the error of a result, if there are both. */
export function withNextCommand<R extends RunResult>(result: R, commandFor: (error: ResultError) => string | undefined): R {
  const { error } = result.document
  const nextCommand = error && commandFor(error)
  return nextCommand === undefined ? result : { ...result, document: { ...result.document, error: { ...error, nextCommand } } }
}

interface MessageContext {
  readonly env: Variables
  readonly secrets: readonly string[]
  readonly cancellation: Cancellation
  readonly note: (line: string) => void
  readonly change: StateChange
}

/** Sends a message to the webhook, if the settings ask for it. Resolves to a line with the reason when it could not be delivered. */
export async function sendMessage(result: PublishableResult, context: MessageContext): Promise<string | undefined> {
  const { notifyUrl: url, notifyFormat: format = 'slack', notifyOn = 'failure' } = result.publishSettings
  const { env, secrets, cancellation, note, change } = context
  if (url === undefined || cancellation.stop.aborted) return undefined
  const { messageOf, isDue } = await import('../notifications/message.ts')
  const { operation: name } = result.document
  const operation = isOperationName(name) ? trusted(name) : untrusted(name || 'watchkeeper')
  const message = messageOf(result, { operation, change, runUrl: runPageOf(env) })
  if (!isDue(notifyOn, message)) return undefined
  const { sendNotification } = await import('../notifications/send-notification.ts')
  return sendNotification({ url, format, message, secrets }, env, { clock: systemClock, random: Math.random, note, cancellation })
}

/** The result with what became of the pull request. A pull request that could not be written makes it an error. */
export async function withPullRequest<R extends PublishableResult>(result: R, surface: Pick<Surface, 'syncPullRequest'>): Promise<R> {
  if (result.pullRequest === undefined) return result
  const outcome = await (surface.syncPullRequest?.(result) ?? {
    failure: 'Only the GitHub Action opens pull requests. Leave out pull-request.',
  })
  if ('failure' in outcome) {
    const message = `The pull request was not written. ${outcome.failure}`
    return { ...result, ...errorInstead(result, new WatchkeeperError('refused', message)) }
  }
  const { state, number, sentence: line, isWarning = false } = outcome
  const at = result.blocks.findIndex(({ kind }) => kind !== 'verdict' && kind !== 'list')
  const fields = { pullRequestState: state, ...(number !== undefined && { pullRequestNumber: number }) }
  return {
    ...result,
    document: { ...result.document, ...fields },
    outputs: { ...result.outputs, ...Object.fromEntries(Object.entries(fields).map(([key, value]) => [toKebab(key), String(value)])) },
    blocks: result.blocks.toSpliced(at, 0, { kind: 'paragraph', line }),
    annotations: isWarning ? [...result.annotations, { severity: 'warning', message: toPlainText(line) }] : result.annotations,
  }
}

/** The end of a run whose result could not be written. */
function errorInstead(result: RunResult, error: WatchkeeperError): RunResult {
  const { operation, requestId, organizationId, serviceId, serverUrl } = result.document
  const subject = {
    ...(requestId !== undefined && { requestId }),
    ...(organizationId !== undefined && { organizationId }),
    ...(serviceId !== undefined && { serviceId }),
    ...(serverUrl !== undefined && { serverUrl }),
  }
  const footers = result.blocks.filter(({ kind }) => kind === 'footer')
  return toErrorResult(operation, error, subject, footers)
}

/** Usually, all files fail for the same reason. */
const maxNamedFailures = 3

/** Writes the essential files. If one cannot be written, the run ends with an error. */
export async function writeEssentialFiles<R extends RunResult>(result: R, directory: string): Promise<R> {
  const essential = result.files.filter(({ isEssential }) => isEssential)
  const failures = await writeFiles(essential, directory)
  if (failures.length === 0) return result
  const summary = `${essential.length - failures.length} of ${essential.length} files were written.`
  const message = [...listFirst(failures, maxNamedFailures, (count) => `… and ${count} more`), summary].join('\n')
  const files = result.files.filter(({ isEssential }) => !isEssential)
  return { ...result, ...errorInstead(result, new WatchkeeperError('input', message)), files }
}

/** The dependencies of a run. Tests and the library pass their own. */
export interface RunDeps {
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** Requests, retries and waits, one line each, without secrets. */
  readonly note: (line: string) => void
  /** Problems that do not fail the run. Without it, they are notes. */
  readonly warn?: (line: string) => void
  /** Every answer and every decision, without secrets; undefined unless the debug log is on. */
  readonly debug?: ((line: string) => void) | undefined
  readonly cancellation: Cancellation
  readonly files: Files
  readonly confirm?: Surface['confirm']
  readonly readDeployments?: Surface['readDeployments']
  /** Awaited before the next request, so that the progress can be written to a file. */
  readonly onProgress?: (step: ProgressStep, settings: PublishSettings) => Promise<void>
}

interface ProgressStep extends Pick<Progress, 'done' | 'total'> {
  /** The last step, without secrets. */
  readonly text: string
  /** Makes the result document of a run that ends here. */
  document(): Promise<ResultDocument>
}

/** The settings for what happens after the run. */
export type PublishSettings = Pick<Settings, 'summary'> & {
  /** The name of the environment. */
  readonly environment?: string
} & Partial<
    Pick<
      Settings,
      | 'resultFile'
      | 'profile'
      | 'organizationId'
      | 'serviceId'
      | 'apiUrl'
      | 'comment'
      | 'commentLabel'
      | 'prNumber'
      | 'issue'
      | 'githubToken'
      | 'gitlabToken'
      | 'notifyUrl'
      | 'notifyFormat'
      | 'notifyOn'
    >
  >

/** Whether a run keeps a comment or an issue. */
export const usesForge = ({ comment = 'off', issue = 'off' }: PublishSettings): boolean => comment !== 'off' || issue !== 'off'

export interface PublishableResult extends RunResult {
  /** After a wrong input, the settings that are valid by themselves. */
  readonly publishSettings: PublishSettings
}

/** Reads the input, runs the operation, and makes verdict and report. Throws nothing, prints nothing, writes no file. */
export async function runOperation(given: RunRequest, deps: RunDeps): Promise<PublishableResult> {
  const startedAtMs = deps.clock.now()
  const redact = createRedact(credentialsIn(given.inputs, given.env))
  const request = withRedactedNames(given, redact)
  const { writes = createWriteLog() } = deps.cancellation
  let input: RunInput | undefined
  let session: ApiSession | undefined
  try {
    input = await readInput(request, deps.files)
    const note = (line: string): void => deps.note(redact(line))
    const debug = debugLog(deps, redact)
    debug?.(describeInput(input))
    if (input.connection?.isUnencrypted) note(`The key travels unencrypted to ${input.connection.baseUrl.host}, because allow-http is set`)
    for (const line of input.warnings) (deps.warn ?? deps.note)(redact(line))
    for (const name of paddedCredentials(request.env)) note(`${name} has leading or trailing white space, which is ignored`)
    if (isWithoutWebhook(input)) note('No notification is sent, because notify-url is empty')
    const cancellation = { ...deps.cancellation, writes }
    session =
      input.connection && openApi({ ...input.connection, userAgent: `watchkeeper/${version}` }, { ...deps, note, debug, cancellation })
    return { ...(await judgeAndReport(input, session, { ...deps, startedAtMs }, redact)), publishSettings: publishSettingsOf(input) }
  } catch (thrown) {
    const error = redactError(toWatchkeeperError(thrown), redact)
    const subject = input === undefined ? {} : subjectOf(input, session)
    const result = toErrorResult(request.operation, error, subject, [footerOf(subject, startedAtMs)])
    const exitCode = writes.mayHaveWritten() ? exitCodes.partlyApplied : result.exitCode
    return {
      ...result,
      exitCode,
      publishSettings: input === undefined ? await validSettings(request, deps.files) : publishSettingsOf(input),
    }
  } finally {
    await session?.close()
  }
}

/** A secret with another name than expected is empty. */
const isWithoutWebhook = ({ settings, sources }: RunInput): boolean =>
  settings.notifyUrl === undefined && (sources.notifyOn !== undefined || sources.notifyFormat !== undefined)

const publishSettingsOf = ({ settings, environment }: RunInput): PublishSettings => ({
  ...withoutMessages(settings),
  ...(environment !== undefined && { environment: environment.name }),
})

const debugLog = ({ debug }: RunDeps, redact: Redact): ((line: string) => void) | undefined => debug && ((line) => debug(redact(line)))

/** The source of each setting, without the values, because one of them may be a secret. */
function describeInput({ name, operation, profile, connection, sources }: RunInput): string {
  const where = connection === undefined ? 'no requests' : connection.baseUrl.href
  const settings = Object.entries(sources).map(([setting, source]) => `${toKebab(setting)} (${source})`)
  return `${name} (${operation.effect}), profile ${profile.name}, ${where}; settings given: ${settings.join(', ') || 'none'}`
}

/** A user may pass a secret in place of a name. A diagnostic would quote it. */
const withRedactedNames = (request: RunRequest, redact: Redact): RunRequest => ({
  ...request,
  operation: redact(request.operation),
  inputs: Object.fromEntries(Object.entries(request.inputs).map(([name, value]) => [redact(name), value])),
})

/** The valid settings, which decide where the result is published after a wrong input. */
async function validSettings(request: RunRequest, files: Files): Promise<PublishSettings> {
  const { env } = request.inputs
  const values: Partial<Settings> = await readSettings(request, files).then(
    (settings) => settings.values,
    () => ({}),
  )
  return { ...withoutMessages(values), summary: values.summary ?? true, ...(typeof env === 'string' && { environment: env }) }
}

/** A read-only run does not report its own error in a comment, an issue or a notification either. */
function withoutMessages<S extends Partial<Settings>>(settings: S): Omit<S, MessageSetting> & Partial<Pick<S, MessageSetting>> {
  if (settings.readOnly === false) return settings
  const { comment: _, issue: __, notifyUrl: ___, ...others } = settings
  return others
}

type MessageSetting = 'comment' | 'issue' | 'notifyUrl'

async function judgeAndReport(
  input: RunInput,
  session: ApiSession | undefined,
  deps: RunDeps & { readonly startedAtMs: number },
  redact: Redact,
): Promise<RunResult> {
  const { name, operation, warnOnlySource } = input
  const raw = await operation.run(contextFor(input, session, deps, redact), input.input)
  // Redacted before the report, where a secret would be escaped and could not be recognized.
  const result = redactDeep(raw, redact)
  return toRunResult({
    name,
    operation,
    input: input.input,
    result,
    verdict: operation.judge?.(result, input.input) ?? pass,
    report: operation.report(result),
    warnOnlySource,
    subject: subjectOf(input, session),
    startedAtMs: deps.startedAtMs,
  })
}

/** The organization and the service of the run, if the operation has them. */
function subjectOf({ operation: { scope }, organizationId, target }: RunInput, session: ApiSession | undefined): RunSubject {
  const requestId = session?.lastRequestId()
  const lastRequest = requestId === undefined ? {} : { requestId }
  if (target !== undefined && isServer(target)) return { ...lastRequest, ...target }
  const isOfService = scope === 'service' || scope === 'service-or-server'
  return {
    ...lastRequest,
    ...(scope !== 'none' && { organizationId }),
    ...(isOfService && target !== undefined && { serviceId: target.serviceId }),
  }
}

function deploymentsReader(
  { settings: { githubToken: token } }: RunInput,
  { readDeployments: read }: RunDeps,
): ReadDeployments | undefined {
  if (token === undefined) return read && (async () => ({ unread: 'github-token is not set' }))
  return read && ((period) => read(token, period))
}

function contextFor(input: RunInput, session: ApiSession | undefined, deps: RunDeps, redact: Redact): Context<Effect, Scope> {
  const { operation, organizationId, target, connection, profile, lintSettings, environment } = input
  const api = session?.api
  return {
    api: api && (operation.effect === 'read' ? readOnly(api) : api),
    organizationId,
    service: target,
    profile,
    apiOrigin: connection?.baseUrl.origin,
    uiUrl: uiUrlOf(input),
    clock: deps.clock,
    files: withoutCredentials(deps.files, redact),
    lintSettings,
    environment,
    readDeployments: deploymentsReader(input, deps),
    stop: deps.cancellation.stop,
    confirm: operation.asksFirst && deps.confirm && ((review) => demandConfirmation(review, input, deps, redact)),
    debug: debugLog(deps, redact) ?? (() => undefined),
    async progress({ done, total, line, result }) {
      if (deps.onProgress === undefined) return
      const { requestId: _, ...subject } = subjectOf(input, session)
      const document = async () => ({ ...unfinished(input.name), ...subject, ...redactDeep(await result(), redact) })
      await deps.onProgress({ done, total, text: redact(toPlainText(line)), document }, input.settings)
    },
  }
}

/** A web app that passes requests on to its API does so below `/api`, to which `/api/v2` was appended. */
function uiUrlOf({ settings: { uiUrl }, connection }: Pick<RunInput, 'settings' | 'connection'>): string | undefined {
  if (uiUrl !== undefined || connection?.profile.isSelfHosted !== true) return uiUrl
  const [, path] = /^(.*)\/api\/api\/v2$/.exec(connection.baseUrl.pathname) ?? []
  return path === undefined ? undefined : `${connection.baseUrl.origin}${path}`
}

/** A file could otherwise store a credential of this run in an object. */
const withoutCredentials = (files: Files, redact: Redact): Files => ({
  ...files,
  variable(name) {
    const value = files.variable(name)
    if (value !== undefined && redact(value) !== value)
      throw inputError('files', `the variable ${quote(name, 60)} holds a credential of this run, which no file may use`)
    return value
  },
})

async function demandConfirmation(
  { blocks, question }: Review,
  input: RunInput,
  { confirm, clock }: RunDeps,
  redact: Redact,
): Promise<void> {
  // The server or the service: it decides whether this is staging or production.
  const footer = footerOf(subjectOf(input, undefined), clock.now())
  if (await confirm?.(redactDeep({ blocks: [...blocks, footer], question }, redact))) return
  throw new WatchkeeperError('cancelled', 'Not confirmed. Nothing was written.')
}

interface CompletedOperation {
  readonly name: string
  readonly operation: Operation
  readonly input: Readonly<Record<string, unknown>>
  readonly result: Readonly<Record<string, unknown>>
  readonly verdict: Verdict
  readonly report: Report
  /** The setting that makes a failed gate a warning; undefined where there is none. */
  readonly warnOnlySource: Line | undefined
  readonly subject: RunSubject
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number
}

/** Makes the values that entry points show, write and return. */
export async function toRunResult({
  name,
  operation,
  input,
  result,
  verdict,
  report,
  warnOnlySource,
  subject,
  startedAtMs,
}: CompletedOperation): Promise<RunResult> {
  const isWarnOnly = verdict.status === 'fail' && warnOnlySource !== undefined
  const status = isWarnOnly ? 'warn' : verdict.status
  const described = describeVerdict(status, verdict, report.headline, isWarnOnly ? warnOnlySource : undefined)
  const failureReason = verdict.status === 'pass' ? '' : toPlainText(described.line)
  const fields: Readonly<Record<string, unknown>> = operation.toDocument?.(result) ?? result
  const error = status === 'error' ? { error: incompleteError(failureReason, verdict) } : {}
  const document = { operation: name, status, failureReason, ...subject, ...error, ...fields }
  const blocks = [...described.blocks, ...withoutEmpty(report.blocks), footerOf(subject, startedAtMs, report.services)]
  const own = Object.keys(operation.output.shape).filter((key) => fields[key] !== undefined)
  return {
    document,
    outputs: { ...commonOutputs(document), ...Object.fromEntries(own.map((key) => [toKebab(key), toText(fields[key])])) },
    blocks,
    files: (await operation.files?.(result, input, blocks)) ?? [],
    ...withPullRequestContent(operation.pullRequest?.(result, input)),
    annotations: report.annotations ?? [],
    keyLines: report.keyLines ?? [],
    milestones: report.milestones ?? [],
    hasFailed: verdict.status === 'fail' || verdict.status === 'error',
    exitCode: exitCodeFor(status, verdict.exit),
  }
}

/** Of a run that ended with a result, although a part of its work is missing. */
function incompleteError(message: string, { exit }: Verdict): ResultError {
  const kind = exit === 'denied' ? 'permission' : exit === 'cancelled' ? 'cancelled' : 'incomplete'
  return { kind, message, diagnostics: [], retryable: false }
}

const withPullRequestContent = (pullRequest: PullRequestContent | undefined): Pick<RunResult, 'pullRequest'> =>
  pullRequest === undefined ? {} : { pullRequest }

function exitCodeFor(status: Status, exit: Verdict['exit']): number {
  if (status === 'pass' || status === 'warn') return exitCodes.ok
  return exit === undefined ? (status === 'fail' ? exitCodes.gateFailed : exitCodes.error) : exitCodes[exit]
}

interface DescribedVerdict {
  /** For the output `failure-reason`. */
  readonly line: Line
  readonly blocks: readonly Block[]
}

/** `warnOnlySource`: the setting that turned a failure into this warning. */
function describeVerdict(status: Status, verdict: Verdict, headline: Line, warnOnlySource: Line | undefined): DescribedVerdict {
  const { reasons, sentence: whole } = verdict
  if (whole === undefined || status === 'pass') {
    const all = warnOnlySource === undefined ? reasons : [...reasons, say`reported as a warning because of ${warnOnlySource}`]
    return { line: withReasons(headline, all), blocks: verdictBlocks(status, headline, all) }
  }
  const line = warnOnlySource === undefined ? whole : say`${whole} The setting ${warnOnlySource} makes this failure a warning.`
  const items: readonly Block[] = reasons.length === 0 ? [] : [{ kind: 'list', items: reasons }]
  return { line: join([line, ...reasons], ' '), blocks: [{ kind: 'verdict', status, line }, ...items] }
}

/** Maximum number of reasons in one sentence. */
const maxInLine = 2

function verdictBlocks(status: Status, headline: Line, reasons: readonly Line[]): readonly Block[] {
  if (reasons.length <= maxInLine) return [{ kind: 'verdict', status, line: withReasons(headline, reasons) }]
  return [
    { kind: 'verdict', status, line: headline },
    { kind: 'list', items: reasons },
  ]
}

const withReasons = (headline: Line, reasons: readonly Line[]): Line =>
  reasons.length === 0 ? headline : say`${headline}: ${join(reasons, '; ')}`

/** The last line of every report: its organization and service, and the start of the run in milliseconds since the epoch. */
export function footerOf({ organizationId, serviceId, serverUrl }: RunSubject, startedAtMs: number, services?: Line): Block {
  const service = services ?? (serviceId === undefined ? undefined : say`service ${serviceId}`)
  const parts = [
    ...(organizationId === undefined ? [] : [say`Organization ${organizationId}`]),
    ...(serverUrl === undefined ? [] : [say`Server ${serverUrl}`]),
    ...(service === undefined ? [] : [service]),
    [trusted(formatMoment(startedAtMs))],
  ]
  return { kind: 'footer', line: join(parts, ' · ') }
}

/** Most errors have at most five lines. */
const maxKeyLines = 5

/** The result of a run that ended with an error. */
export function toErrorResult(name: string, error: WatchkeeperError, subject: RunSubject, footers: readonly Block[]): RunResult {
  const httpStatus = error instanceof ApiError ? error.status : undefined
  const document: ResultDocument = {
    operation: name,
    status: 'error',
    failureReason: error.message,
    ...subject,
    error: {
      kind: error.kind,
      message: error.message,
      diagnostics: error instanceof InputError ? error.diagnostics : [],
      retryable: isRetryable(error.kind),
      ...(httpStatus !== undefined && { httpStatus }),
    },
  }
  return {
    document,
    outputs: commonOutputs(document),
    blocks: [
      {
        kind: 'verdict',
        status: 'error',
        line: say`${name === '' ? 'watchkeeper' : name} ${trusted(error.kind === 'cancelled' ? 'was canceled' : 'did not complete')}`,
      },
      { kind: 'preformatted', text: error.message },
      ...footers,
    ],
    files: [],
    annotations: [],
    keyLines: error.message
      .split('\n')
      .slice(0, maxKeyLines)
      .map((line) => [sentence(line.replace(/^- /, ''))]),
    milestones: [],
    hasFailed: true,
    exitCode: exitCodeOfKind[error.kind],
    error,
  }
}

const commonOutputs = ({ status, failureReason, requestId }: ResultDocument): Readonly<Record<string, string>> => ({
  status,
  'failure-reason': failureReason,
  'request-id': requestId ?? '',
})

const toText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** A table without rows looks as if something were missing. */
const withoutEmpty = (blocks: readonly Block[]): readonly Block[] =>
  blocks.flatMap((block): readonly Block[] => {
    if (block.kind !== 'details') return isEmpty(block) ? [] : [block]
    const inner = withoutEmpty(block.blocks)
    return inner.length === 0 ? [] : [{ ...block, blocks: inner }]
  })

function isEmpty(block: Block): boolean {
  switch (block.kind) {
    case 'table':
      return block.rows.length === 0
    case 'facts':
      return block.facts.length === 0
    case 'diagnostics':
      return block.diagnostics.length === 0
    case 'diff':
      return block.lines.length === 0
    default:
      return false
  }
}

const unfinished = (operation: string): ResultDocument => ({
  operation,
  status: 'error',
  failureReason: 'The run ended before its report. This is the last progress.',
})

function redactError(error: WatchkeeperError, redact: Redact): WatchkeeperError {
  if (error instanceof InputError) {
    const diagnostics = redactDeep(error.diagnostics, redact)
    return diagnostics === error.diagnostics ? error : new InputError(diagnostics)
  }
  const safe = redact(error.message)
  if (safe !== error.message) error.message = safe
  return error
}

/**
 * What may be shown of an exception that was not expected: it can quote any value of the run. Without its secrets, and where they
 * cannot be found, without its text.
 */
export function toSafeError(thrown: unknown, listSecrets: () => readonly string[]): WatchkeeperError {
  try {
    return redactError(toWatchkeeperError(thrown), createRedact(listSecrets()))
  } catch {
    return new InternalError('its description is not shown, because it could not be searched for secrets')
  }
}

/** The parts of a process that cancellation uses. */
export interface Signals {
  on(signal: 'SIGINT' | 'SIGTERM', handler: () => void): unknown
  off(signal: 'SIGINT' | 'SIGTERM', handler: () => void): unknown
  exit(code: number): void
}

interface SignalCancellation extends Cancellation {
  readonly writes: WriteLog
  /** The exit code of a run that a signal ended; undefined before the first signal. */
  exitCode(): number | undefined
  /** Stops listening, so that the process can end by itself. */
  dispose(): void
}

/** A runner kills the process 10 s after its first signal. The request under way gets 4 s, and the report 2 s. */
const graceMs = 4000
const exitMs = 6000

/**
 * The first signal stops new requests and gives the one under way some time. The second one ends the process. The exit code says whether
 * anything was written, or may have been.
 */
export function cancelOnSignals(signals: Signals): SignalCancellation {
  const stop = new AbortController()
  const abort = new AbortController()
  const timers: NodeJS.Timeout[] = []
  const writes = createWriteLog()
  const canceledCode = (): number => (writes.mayHaveWritten() ? exitCodes.partlyApplied : exitCodes.cancelled)
  const handler = (): void => {
    if (stop.signal.aborted) {
      signals.exit(canceledCode())
      return
    }
    stop.abort()
    timers.push(
      setTimeout(() => abort.abort(), graceMs),
      setTimeout(() => signals.exit(canceledCode()), exitMs),
    )
  }
  signals.on('SIGINT', handler)
  signals.on('SIGTERM', handler)
  return {
    stop: stop.signal,
    abort: abort.signal,
    writes,
    exitCode: () => (stop.signal.aborted ? canceledCode() : undefined),
    dispose() {
      for (const timer of timers) clearTimeout(timer)
      signals.off('SIGINT', handler)
      signals.off('SIGTERM', handler)
    },
  }
}
