import * as core from '@actions/core'
import { setSecret } from '@actions/core'
import { systemClock } from '../../core/clock.ts'
import { exitCodes, InputError, toWatchkeeperError } from '../../core/errors.ts'
import { toCamel } from '../../core/names.ts'
import { createRedact, formsOf } from '../../core/secrets.ts'
import type { Cancellation } from '../../http/deadline.ts'
import { type Finished, finishWithError, type ResultDocument } from '../../operation/result-document.ts'
import { isOperationName } from '../../operations.ts'
import { logLine } from '../../report/escape.ts'
import { renderTerminal } from '../../report/terminal.ts'
import { cancelOnSignals, type Signals } from '../cancellation.ts'
import type { Environment } from '../decode.ts'
import { resultFilePath, toResultOutput, toResultTexts, writeEssentials, writeOutputFiles, writeResultFile } from '../output-files.ts'
import { credentialsIn, keyIdsIn } from '../read-input.ts'
import { type Invoked, invoke, type Ports } from '../run.ts'
import { readOptionalFile, workspaceFiles } from '../workspace.ts'
import { writeSummary } from './summary.ts'

// Owns the action's log: what was done on the way is folded away, what came of it is not.

export interface Log {
  /** A line that stays in sight. */
  show(line: string): void
  /** A line on the way to something. Consecutive ones share a fold under the title given first. */
  fold(title: string, line: string): void
  /** Closes the fold, if one is open. */
  close(): void
}

export function createLog(): Log {
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

// Owns telling the runner what to hide. It comes before every other line: what is printed first is never masked afterwards.

/** Every form by itself: the runner replaces texts, it does not know what they encode. */
export function mask(secrets: readonly string[], keyId: readonly string[]): void {
  for (const form of new Set([...secrets.flatMap(formsOf), ...keyId])) setSecret(form)
}

// Owns what a step shows and keeps while it is at work: folded lines in the log, and the result so far on disk.

export const createProgressLog =
  (log: Log, pathFor: (wanted: string | undefined) => string | undefined, workspace: string): NonNullable<Ports['onProgress']> =>
  async ({ done, total, text, document }, { resultFile }) => {
    log.fold('Progress', `${String(done).padStart(String(total).length)}/${total} ${text}`)
    const path = pathFor(resultFile)
    // Whatever is wrong with the file is told at the end, where the whole result goes into it.
    if (path !== undefined) await writeResultFile(workspace, path, toResultTexts(document)).catch(() => undefined)
  }

// Owns what outlives the step: result file, outputs, summary, annotation. Each one may fail; none of them changes the verdict.

interface Places {
  readonly env: Environment
  readonly workspace: string
  readonly wantsSummary: boolean
  /** Where the result goes; undefined when there is no place for it. */
  readonly resultPath: string | undefined
}

/** Resolves to the number of warnings that it took to say what could not be written. */
export async function publish(
  { document, outputs, blocks, files }: Finished,
  { env, workspace, wantsSummary, resultPath }: Places,
): Promise<number> {
  const texts = toResultTexts(document)
  const unkept = resultPath === undefined ? [] : await attempt('the result file', () => writeResultFile(workspace, resultPath, texts))
  const file = resultPath === undefined || unkept.length > 0 ? '' : resultPath
  const lost = [
    ...unkept,
    ...(await attempt('the outputs', () => setOutputs({ ...outputs, result: toResultOutput(texts, file), 'result-file': file }, env))),
    ...(await writeOutputFiles(files, workspace)),
    ...(wantsSummary ? await attempt('the summary', () => writeSummary(blocks, env.GITHUB_STEP_SUMMARY)) : []),
  ]
  for (const line of lost) core.warning(logLine(line))
  return lost.length
}

async function attempt(what: string, write: () => Promise<void>): Promise<readonly string[]> {
  try {
    await write()
    return []
  } catch (thrown) {
    return [`${what} could not be written: ${thrown instanceof Error ? thrown.message : String(thrown)}`]
  }
}

async function setOutputs(outputs: Readonly<Record<string, string>>, env: Environment): Promise<void> {
  // Without the file, the toolkit would print a command that runners no longer obey, with the values in the log.
  if (!env.GITHUB_OUTPUT) throw new Error('GITHUB_OUTPUT is not set')
  for (const [name, value] of Object.entries(outputs)) core.setOutput(name, value)
}

/** A step shows no more than this of each kind; the runner drops the rest without a word. */
const mostAnnotations = 10

const severities = { error: core.error, warning: core.warning, note: core.notice } as const

/** What belongs beside lines of the user's files, worst first. `warnings` have been given already. */
export function annotateFiles(annotations: Finished['annotations'], warnings: number): void {
  for (const [severity, show] of Object.entries(severities)) {
    const all = annotations.filter((annotation) => annotation.severity === severity)
    // The step's own annotation is one of them.
    const room = Math.max(0, mostAnnotations - 1 - (severity === 'warning' ? warnings : 0))
    for (const { message, location } of all.slice(0, room)) {
      const { file, line, column } = location
      show(logLine(message).slice(0, longestAnnotation), {
        file,
        ...(line !== undefined && { startLine: line }),
        ...(column !== undefined && { startColumn: column }),
      })
    }
    const rest = all.length - room
    if (rest > 0) core.info(`${rest} more of kind ${severity}: see the summary`)
  }
}

/** Longest message that the runner keeps. */
const longestAnnotation = 4000

export function annotate({ operation, status, failureReason }: ResultDocument): void {
  if (status === 'pass') return
  const lines = failureReason.split('\n').map(logLine).join('\n').slice(0, longestAnnotation).toWellFormed()
  // An operation that nobody knows is whatever somebody wrote; the message quotes it.
  const title = isOperationName(operation) ? `Watchkeeper ${operation}` : 'Watchkeeper'
  if (status === 'warn') core.warning(lines, { title })
  else core.error(lines, { title })
}

// Owns whether GitHub is told of a run in a comment or an issue. What could not be told is a notice, and the verdict stands.

export interface Circumstances {
  readonly env: Environment
  /** Must not be told to anybody. */
  readonly secrets: readonly string[]
  /** When the run began. */
  readonly atMs: number
  readonly cancellation: Cancellation
  readonly note: (line: string) => void
}

/** Resolves to what could not be told, and why. */
export async function tell(invoked: Invoked, { env, secrets, atMs, cancellation, note }: Circumstances): Promise<readonly string[]> {
  const { comment = 'off', issue = 'off', commentLabel, prNumber, githubToken, serviceId, organizationId } = invoked.keeping
  if ((comment === 'off' && issue === 'off') || cancellation.stop.aborted) return []
  if (commentLabel === undefined && isNameless(invoked))
    return ['comment and issue: not written, for nobody knows yet what they are about. Give comment-label to have them all the same.']
  const { document, blocks, hasFailed } = invoked
  const { operation, status, failureReason: reason } = document
  const options = {
    notification: { operation, status, hasFailed, hasChanges: hasChanges(document), reason, blocks, atMs },
    comment,
    issue,
    label: commentLabel,
    target: serviceId ?? organizationId,
    prNumber,
    token: githubToken,
    redact: createRedact(secrets),
  }
  const { notify } = await import('../../github/notify.ts')
  const lost = await notify(options, env, { clock: systemClock, random: Math.random, note, cancellation })
  // Somebody who cancels a run knows that it did not come to its end.
  return cancellation.stop.aborted ? [] : lost
}

/** What apply would take over is no difference, and still news to whoever reviews it. */
const hasChanges = ({ changed, toAdopt }: Invoked['document']): boolean => changed === true || Number(toAdopt ?? 0) > 0

/** What the default label is made of was wrong itself: under another label, what is written now would never be updated. */
function isNameless({ error }: Invoked): boolean {
  const names = error instanceof InputError ? error.diagnostics.map(({ location }) => location.file) : []
  return names.some((name) => name === 'operation' || name === 'service-id' || name === 'organization-id')
}

/** One for all: a step shows ten of them. */
export function noticeLost(lines: readonly string[]): void {
  if (lines.length > 0) core.notice(lines.map(logLine).join('\n'), { title: 'Watchkeeper' })
}

// Owns the action: masks first, then the run, then result file, outputs, summary and annotations, then comment and issue, and the
// failure last of all.

/** Runs the operation that the environment asks for; resolves to the step's exit code. Throws nothing. */
export async function runAction(env: Environment, signals: Signals): Promise<number> {
  const cancelling = cancelOnSignals(signals)
  try {
    const inputs = readInputs(env)
    mask(credentialsIn(inputs, env), keyIdsIn(inputs, env))
    const finished = await perform(inputs, env, cancelling)
    return exitCodeOf(finished.exitCode, cancelling.wasCancelled())
  } catch (thrown) {
    return await reportCrash(thrown, env)
  } finally {
    cancelling.dispose()
  }
}

/** Nothing is meant to get here; whatever did, the step must not stay green, and its outputs must say so. */
export async function reportCrash(thrown: unknown, env: Environment): Promise<number> {
  const operation = env.INPUT_OPERATION?.trim() ?? ''
  const failed = finishWithError(isOperationName(operation) ? operation : '', toWatchkeeperError(thrown), undefined)
  const workspace = env.GITHUB_WORKSPACE || '.'
  const resultPath = resultFilePath(undefined, workspace, env.RUNNER_TEMP, operation)
  await publish(failed, { env, workspace, wantsSummary: true, resultPath })
  annotate(failed.document)
  return exitCodes.error
}

async function perform(inputs: Inputs, env: Environment, cancellation: Cancellation): Promise<Finished> {
  const workspace = env.GITHUB_WORKSPACE || process.cwd()
  const log = createLog()
  const atMs = systemClock.now()
  const { operation = '', ...rest } = inputs
  const tempPath = resultFilePath(undefined, workspace, env.RUNNER_TEMP, operation)
  const pathFor = (wanted: string | undefined) =>
    wanted === undefined ? tempPath : resultFilePath(wanted, workspace, undefined, operation)
  const invoked = await invoke(
    {
      operation,
      inputs: rest,
      areText: true,
      env,
      readConfigFile: (path, isWanted) => readOptionalFile(workspace, path, isWanted),
    },
    {
      clock: systemClock,
      random: Math.random,
      note: (line) => log.fold('Requests', line),
      cancellation,
      files: workspaceFiles(workspace, env),
      onProgress: createProgressLog(log, pathFor, workspace),
    },
  )
  const finished = await writeEssentials(invoked, workspace)
  for (const line of renderTerminal(finished.blocks, { color: false })) log.show(line)
  const { summary, resultFile } = finished.keeping
  const warnings = await publish(finished, { env, workspace, wantsSummary: summary, resultPath: pathFor(resultFile) })
  annotateFiles(finished.annotations, warnings)
  annotate(finished.document)
  const note = (line: string): void => log.fold('GitHub', line)
  const lost = await tell(finished, { env, secrets: credentialsIn(inputs, env), atMs, cancellation, note })
  log.close()
  noticeLost(lost)
  return finished
}

type Inputs = Readonly<Record<string, string | undefined>>

/** The runner hands over `INPUT_` and the name in capitals, dashes kept; an empty value means not given. */
function readInputs(env: Environment): Inputs {
  const given = Object.entries(env).filter(([name, value]) => name.startsWith('INPUT_') && value?.trim())
  return Object.fromEntries(given.map(([name, value]) => [toCamel(name.slice('INPUT_'.length).toLowerCase()), value?.trim()]))
}

// A step knows failed and not failed; only a cancelled one is something else.
const exitCodeOf = (exitCode: number, wasCancelled: boolean): number =>
  wasCancelled || exitCode === exitCodes.cancelled ? exitCodes.cancelled : exitCode === exitCodes.ok ? exitCodes.ok : exitCodes.error
