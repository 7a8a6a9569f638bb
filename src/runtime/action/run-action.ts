import * as core from '@actions/core'
import { systemClock } from '../../core/clock.ts'
import type { Severity } from '../../core/diagnostics.ts'
import { exitCodes, InputError, toWatchkeeperError } from '../../core/errors.ts'
import { logLine } from '../../core/escape.ts'
import { toCamel } from '../../core/names.ts'
import { createRedact, formsOf } from '../../core/secrets.ts'
import type { Cancellation } from '../../http/deadline.ts'
import { parseApiUrl } from '../../http/proxy.ts'
import type { ResultDocument, RunResult } from '../../operation/operation.ts'
import { isOperationName } from '../../operations.ts'
import { renderTerminal } from '../../report/terminal.ts'
import { credentialsIn, type Environment, partlyShownIn } from '../read-input.ts'
import {
  cancelOnSignals,
  footerOf,
  type PublishableResult,
  type PublishSettings,
  runAndPublish,
  type Signals,
  type Surface,
  sendMessage,
  toErrorResult,
} from '../run.ts'
import { debugVariable } from '../variables.ts'
import { publish, resultFilePath } from '../workspace.ts'

/** Runs the operation that the environment asks for; resolves to the step's exit code. Throws nothing. */
export async function runAction(env: Environment, signals: Signals): Promise<number> {
  const cancellation = cancelOnSignals(signals)
  const startedAtMs = systemClock.now()
  try {
    const { operation = '', ...inputs } = readInputs(env)
    const secrets = credentialsIn(inputs, env)
    // Before any other line, because the runner masks only later lines.
    for (const form of new Set([...secrets.flatMap(formsOf), ...partlyShownIn(inputs, env)])) core.setSecret(form)
    const log = createLog()
    const result = await runAndPublish(operation, inputs, actionSurface(env, cancellation, log))
    // One more is reserved for a message that is not delivered.
    annotate(result, result.warnings + (result.publishSettings.notifyUrl === undefined ? 0 : 1))
    const context = { env, secrets, startedAtMs, cancellation, note: (line: string) => log.fold('GitHub', line) }
    const { failures, issueTransition } = await notifyGitHub(result, context)
    const note = (line: string): void => log.fold('Notification', line)
    const undelivered = await sendMessage(result, { env, secrets, cancellation, note, change: stateChanges[issueTransition] })
    log.close()
    // In one annotation, as a step shows only ten of them.
    if (failures.length > 0) core.notice(failures.map(logLine).join('\n'), { title: 'Watchkeeper' })
    if (undelivered !== undefined) core.warning(logLine(undelivered), { title: 'Watchkeeper' })
    return stepExitCode(result.exitCode, cancellation.wasCanceled())
  } catch (thrown) {
    return await reportCrash(thrown, env)
  } finally {
    cancellation.dispose()
  }
}

/** The runner sets `INPUT_` and the name in capitals, with dashes. An empty value means not given. */
function readInputs(env: Environment): Readonly<Record<string, string>> {
  const inputs = Object.entries(env).flatMap(([name, value]) => {
    const text = name.startsWith('INPUT_') ? value?.trim() : undefined
    return text ? [[toCamel(name.slice('INPUT_'.length).toLowerCase()), text] as const] : []
  })
  return Object.fromEntries(inputs)
}

// A step is either passed or failed. A canceled one is neither.
const stepExitCode = (exitCode: number, wasCanceled: boolean): number =>
  wasCanceled || exitCode === exitCodes.cancelled ? exitCodes.cancelled : exitCode === exitCodes.ok ? exitCodes.ok : exitCodes.error

/** Reports an unexpected exception: the step fails, and its outputs contain the reason. */
export async function reportCrash(thrown: unknown, env: Environment): Promise<number> {
  const name = env.INPUT_OPERATION?.trim() ?? ''
  const operation = isOperationName(name) ? name : ''
  const result = toErrorResult(operation, toWatchkeeperError(thrown), {}, [footerOf({}, systemClock.now())])
  const files = stepFiles(env)
  await publish(result, files, { resultFile: resultFilePath(undefined, files, operation), summary: true })
  annotateVerdict(result.document)
  return exitCodes.error
}

/** The files of a step. */
const stepFiles = (env: Environment) => ({
  env,
  directory: env.GITHUB_WORKSPACE || process.cwd(),
  summaryFile: env.GITHUB_STEP_SUMMARY ?? '',
  warn: (line: string) => core.warning(logLine(line)),
  setOutputs(outputs: Readonly<Record<string, string>>) {
    // Without the file, the toolkit prints the values to the log, in a command that runners no longer obey.
    if (!env.GITHUB_OUTPUT) throw new Error('GITHUB_OUTPUT is not set')
    for (const [name, value] of Object.entries(outputs)) core.setOutput(name, value)
  },
})

const actionSurface = (env: Environment, cancellation: Cancellation, log: Log): Surface => ({
  ...stepFiles(env),
  cancellation,
  keepsIssue: true,
  note: (line) => log.fold('Requests', line),
  // The runner shows these when its own debug log is on.
  ...(env.RUNNER_DEBUG === '1'
    ? { debug: (line: string) => core.debug(logLine(line)) }
    : env[debugVariable] === '1' && { debug: (line: string) => log.fold('Debug log', `debug: ${line}`) }),
  showProgress: ({ done, total, text }) => log.fold('Progress', `${String(done).padStart(String(total).length)}/${total} ${text}`),
  showResult({ blocks }) {
    for (const line of renderTerminal(blocks, { color: false })) log.show(line)
  },
})

/** The log of the step: notes are folded, results are not. */
interface Log {
  show(line: string): void
  /** Consecutive lines share a fold, under the title of the first one. */
  fold(title: string, line: string): void
  /** Closes the fold, if one is open. */
  close(): void
}

function createLog(): Log {
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

/** A step shows this many annotations of each severity; the runner drops the others silently. */
const maxAnnotations = 10

/** The runner cuts longer messages. */
const maxAnnotationCharacters = 4000

const annotateAs = { error: core.error, warning: core.warning, note: core.notice } as const satisfies Record<Severity, unknown>

/** Annotates lines of the user's files, the most severe first, and adds the verdict. `warnings` is the number of warnings so far. */
function annotate({ annotations, document }: RunResult, warnings: number): void {
  for (const [severity, show] of Object.entries(annotateAs)) {
    const all = annotations.filter((annotation) => annotation.severity === severity)
    // One is reserved for the verdict.
    const room = Math.max(0, maxAnnotations - 1 - (severity === 'warning' ? warnings : 0))
    for (const { message, location } of all.slice(0, room)) {
      const { file, line, column } = location ?? {}
      show(logLine(message).slice(0, maxAnnotationCharacters), {
        ...(file !== undefined && { file }),
        ...(line !== undefined && { startLine: line }),
        ...(column !== undefined && { startColumn: column }),
      })
    }
    const rest = all.length - room
    if (rest > 0) core.info(`${rest} more annotations with the severity ${severity} are in the summary.`)
  }
  annotateVerdict(document)
}

function annotateVerdict({ operation, status, failureReason }: ResultDocument): void {
  if (status === 'pass') return
  const lines = failureReason.split('\n').map(logLine).join('\n').slice(0, maxAnnotationCharacters).toWellFormed()
  // The name of an unknown operation is untrusted.
  const title = isOperationName(operation) ? `Watchkeeper ${operation}` : 'Watchkeeper'
  if (status === 'warn') core.warning(lines, { title })
  else core.error(lines, { title })
}

interface NotifyContext {
  readonly env: Environment
  readonly secrets: readonly string[]
  readonly startedAtMs: number
  readonly cancellation: Cancellation
  readonly note: (line: string) => void
}

/** The issue is open while the state is failing. */
const stateChanges = { opened: 'failing', closed: 'passing', none: 'none', unknown: 'unknown' } as const

type GitHubOutcome = Awaited<ReturnType<typeof import('../../github/notify.ts').notify>>

/** Updates comment and issue, if the settings ask for them. */
async function notifyGitHub(result: PublishableResult, context: NotifyContext): Promise<GitHubOutcome> {
  const { comment = 'off', issue = 'off', commentLabel, prNumber, githubToken } = result.publishSettings
  const { env, secrets, startedAtMs, cancellation, note } = context
  if ((comment === 'off' && issue === 'off') || cancellation.stop.aborted) return { failures: [], issueTransition: 'unknown' }
  if (commentLabel === undefined && hasWrongLabelInput(result)) {
    const failure =
      'comment and issue were not written: their label depends on an input that is not valid. Set comment-label to write them in this case, too.'
    return { failures: [failure], issueTransition: 'unknown' }
  }
  const { document, blocks, hasFailed } = result
  const { operation, status, failureReason: reason } = document
  const { notify } = await import('../../github/notify.ts')
  const outcome = await notify(
    {
      notification: { operation, status, hasFailed, hasChanges: hasChanges(document), reason, blocks, atMs: startedAtMs },
      comment,
      issue,
      label: commentLabel,
      target: labelTargetOf(result.publishSettings),
      prNumber,
      token: githubToken,
      redact: createRedact(secrets),
    },
    env,
    { clock: systemClock, random: Math.random, note, cancellation },
  )
  // A user who cancels a run knows that it did not finish.
  return cancellation.stop.aborted ? { ...outcome, failures: [] } : outcome
}

/** Objects to adopt and undeclared ones do not count as changes, but reviewers must know about them. */
const hasChanges = ({ changed, toAdopt, orphans }: ResultDocument): boolean =>
  changed === true || Number(toAdopt ?? 0) > 0 || (Array.isArray(orphans) && orphans.length > 0)

/** An input that is part of the default label is wrong. A comment with another label would never be updated. */
function hasWrongLabelInput({ error, publishSettings }: PublishableResult): boolean {
  const parts = ['operation', 'env', 'service-id', 'organization-id', ...(publishSettings.profile === 'hyperdx' ? ['api-url'] : [])]
  const isPart = (name: string): boolean => parts.includes(name) || name.startsWith('environments/')
  return error instanceof InputError && error.diagnostics.some(({ location }) => isPart(location.file))
}

/** What the run is about, for the default label. */
const labelTargetOf = (settings: PublishSettings): string | undefined =>
  [settings.environment, serviceOrServer(settings)].filter((part) => part !== undefined).join(' / ') || undefined

/** An address that is not valid may hold a password. */
function serviceOrServer({ serviceId, organizationId, profile, apiUrl = '' }: PublishSettings): string | undefined {
  if (profile !== 'hyperdx') return serviceId ?? organizationId
  const address = parseApiUrl(apiUrl, true)
  return 'url' in address ? address.url.href : undefined
}
