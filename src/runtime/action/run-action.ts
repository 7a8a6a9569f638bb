import { join } from 'node:path'
import * as core from '@actions/core'
import { isOperationName } from '../../operations.ts'
import { createPace, systemClock } from '../../platform/core/clock.ts'
import type { Severity } from '../../platform/core/diagnostics.ts'
import { exitCodes } from '../../platform/core/errors.ts'
import { logLine } from '../../platform/core/escape.ts'
import { toCamel } from '../../platform/core/names.ts'
import { formsOf } from '../../platform/core/secrets.ts'
import type { Variables } from '../../platform/core/variables.ts'
import type { Cancellation } from '../../platform/http/cancellation.ts'
import { defaultApiUrl } from '../../platform/operation/inputs.ts'
import type { ResultDocument, RunResult } from '../../platform/operation/result.ts'
import { renderTerminal } from '../../platform/report/terminal.ts'
import { credentialsIn, partlyShownIn, toSafeError } from '../credentials.ts'
import type { notifyGitHub } from '../notify-github.ts'
import { publish, resultFilePath, runAndPublish, type Surface, sendMessage } from '../publish.ts'
import { writesToGitHub } from '../run.ts'
import { footerOf, toErrorResult } from '../run-result.ts'
import { cancelOnSignals, type Signals } from '../signals.ts'
import { debugVariable } from '../variables.ts'
import { createReadTest, defaultConfigFile } from '../workspace.ts'
import { writeOutputs } from './outputs.ts'
import { createRepositoryFiles, type RepositoryFiles } from './repository-files.ts'

/** Resolves to the step's exit code. Throws nothing. */
export async function runAction(env: Variables, signals: Signals): Promise<number> {
  const cancellation = cancelOnSignals(signals)
  const startedAtMs = systemClock.now()
  try {
    const { operation = '', ...inputs } = readInputs(env)
    const secrets = credentialsIn(inputs, env)
    // The runner masks only later lines, so secrets are registered before the first one.
    for (const form of new Set([...formsOf(secrets), ...partlyShownIn(inputs, env)])) core.setSecret(form)
    const log = createLog()
    const repositoryFiles = createRepositoryFiles(workspaceOf(env), env)
    const { pathOf, linkTo, find } = repositoryFiles
    const result = await runAndPublish(operation, inputs, { ...actionSurface(env, cancellation, log, repositoryFiles), linkTo })
    // One more annotation is reserved for a message that is not delivered.
    annotate(result, result.warnings + (result.publishSettings.notifyUrl === undefined ? 0 : 1), pathOf)
    const { failures, change, issueNumber } = await updateGitHub(result, {
      env,
      secrets,
      startedAtMs,
      cancellation,
      note: (line) => log.fold('GitHub', line),
      linkTo,
      // A checkout may be in any folder of the workspace.
      checkedOut: find([result.document.files, defaultConfigFile].flat().find((file) => typeof file === 'string') ?? '').commit,
    })
    const note = (line: string): void => log.fold('Notification', line)
    const undelivered = await sendMessage(result, { env, secrets, cancellation, note, change, issueNumber })
    log.close()
    // A step shows only ten annotations, so all failures share one.
    if (failures.length > 0) core.notice(failures.map(logLine).join('\n'), { title: 'Watchkeeper' })
    if (undelivered !== undefined) core.warning(logLine(undelivered), { title: 'Watchkeeper' })
    return stepExitCode(cancellation.exitCode() ?? result.exitCode)
  } catch (thrown) {
    return await reportCrash(thrown, env)
  } finally {
    cancellation.dispose()
  }
}

/** An empty value means not given, but for the address that gets the key: its default in action.yml tells an expression without a value. */
function readInputs(env: Variables): Readonly<Record<string, string>> {
  const inputs = Object.entries(env).flatMap(([name, value]) => {
    const text = name.startsWith('INPUT_') ? value?.trim() : undefined
    if (text === undefined || (name === 'INPUT_API-URL' ? text === defaultApiUrl : text === '')) return []
    return [[toCamel(name.slice('INPUT_'.length).toLowerCase()), text] as const]
  })
  return Object.fromEntries(inputs)
}

/** After a canceled run, one must know whether anything was written. */
export const stepExitCode = (exitCode: number) =>
  exitCode === exitCodes.ok || exitCode === exitCodes.partlyApplied || exitCode === exitCodes.canceled ? exitCode : exitCodes.error

export async function reportCrash(thrown: unknown, env: Variables): Promise<number> {
  const name = env.INPUT_OPERATION?.trim() ?? ''
  const operation = isOperationName(name) ? name : ''
  const error = toSafeError(thrown, () => credentialsIn(readInputs(env), env))
  const result = toErrorResult(operation, error, {}, [footerOf({}, systemClock.now())])
  const files = stepFiles(env)
  await publish(result, files, { used: new Set(), resultFile: resultFilePath(undefined, files, operation), summary: true })
  annotateVerdict(result.document)
  return exitCodes.error
}

const workspaceOf = (env: Variables) => env.GITHUB_WORKSPACE || process.cwd()

const stepFiles = (env: Variables) => ({
  env,
  directory: workspaceOf(env),
  summaryFile: env.GITHUB_STEP_SUMMARY ?? '',
  warn: (line: string) => core.warning(logLine(line)),
  setOutputs(outputs: Readonly<Record<string, string>>) {
    if (!env.GITHUB_OUTPUT) throw new Error('GITHUB_OUTPUT is not set')
    writeOutputs(outputs, env.GITHUB_OUTPUT)
  },
})

function actionSurface(env: Variables, cancellation: Cancellation, log: Log, { find }: RepositoryFiles): Surface {
  const isDue = createPace(systemClock)
  const directory = workspaceOf(env)
  return {
    ...stepFiles(env),
    cancellation,
    isAction: true,
    note: (line) => log.fold('Requests', line),
    // The runner shows these when its own debug log is on.
    ...(env.RUNNER_DEBUG === '1'
      ? { debug: (line: string) => core.debug(logLine(line)) }
      : env[debugVariable] === '1' && { debug: (line: string) => log.fold('Debug log', `debug: ${line}`) }),
    showProgress({ done, total, text }) {
      if (isDue()) log.fold('Progress', `${done}/${total} ${text}`)
    },
    openGitHub: (access, paths) => ({
      async readDeployments(period) {
        const { listDeployments } = await import('../../delivery/github/reader.ts')
        return listDeployments({ ...access, env }, period)
      },
      async findNewerFiles(read) {
        const { findNewerFiles } = await import('../../delivery/github/reader.ts')
        const { root, commit } = find(read.globs[0] ?? '')
        const isRead = await createReadTest(directory, { ...read, paths: [...paths, ...read.paths] })
        return findNewerFiles({ ...access, env }, commit, (path) => isRead(join(root, path)))
      },
    }),
    showResult({ blocks, publishSettings }) {
      const rest = publishSettings.summary ? 'the summary of the run' : 'the result file'
      for (const line of renderTerminal(blocks, { color: false, rest })) log.show(line)
    },
  }
}

interface Log {
  show(line: string): void
  /** Consecutive lines share a fold, under the title of the first one. */
  fold(title: string, line: string): void
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

/** The runner cuts longer messages. */
const maxAnnotationCharacters = 4000

const annotateAs = { error: core.error, warning: core.warning, note: core.notice } as const satisfies Record<Severity, unknown>

/**
 * `warnings` is the number of warnings so far. GitHub shows an annotation in the list of the run, and beside its line if the pull request
 * changes it.
 */
function annotate({ annotations, document }: RunResult, warnings: number, pathOf: (file: string) => string) {
  for (const [severity, show] of Object.entries(annotateAs)) {
    const all = annotations.filter((annotation) => annotation.severity === severity)
    // The runner silently drops more than ten annotations of a severity. One is reserved for the verdict.
    const room = Math.max(0, 9 - (severity === 'warning' ? warnings : 0))
    for (const { message, location } of all.slice(0, room)) {
      const { file, line, column } = location ?? {}
      show(logLine(message).slice(0, maxAnnotationCharacters), {
        ...(file !== undefined && { file: pathOf(file) }),
        ...(line !== undefined && { startLine: line }),
        ...(column !== undefined && { startColumn: column }),
      })
    }
    const rest = all.length - room
    if (rest > 0) core.info(`${rest} more annotations with the severity ${severity} are in the summary.`)
  }
  annotateVerdict(document)
}

function annotateVerdict({ operation, status, failureReason }: ResultDocument) {
  if (status === 'pass') return
  const lines = failureReason.split('\n').map(logLine).join('\n').slice(0, maxAnnotationCharacters).toWellFormed()
  // The name of an unknown operation is untrusted.
  const title = isOperationName(operation) ? `Watchkeeper ${operation}` : 'Watchkeeper'
  if (status === 'warn') core.warning(lines, { title })
  else core.error(lines, { title })
}

async function updateGitHub(...[result, context]: Parameters<typeof notifyGitHub>): ReturnType<typeof notifyGitHub> {
  if (!writesToGitHub(result.publishSettings)) return { failures: [], change: 'unknown' }
  const { notifyGitHub } = await import('../notify-github.ts')
  return notifyGitHub(result, context)
}
