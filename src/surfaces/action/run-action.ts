// Owns the action: masks first, then the run, then result file, outputs, summary and annotations, then comment and issue, and the
// failure last of all.
import type { Cancellation } from '../../api/requester.ts'
import { systemClock } from '../../kernel/clock.ts'
import { exitCodes, toWatchkeeperError } from '../../kernel/errors.ts'
import { toCamel } from '../../kernel/names.ts'
import { isOperationName } from '../../operations/index.ts'
import { renderTerminal } from '../../report/terminal.ts'
import { cancelOnSignals, type Signals } from '../cancellation.ts'
import { credentialsIn, keyIdsIn } from '../credentials.ts'
import { type Finished, finishWithError } from '../finished.ts'
import { invoke } from '../invoke.ts'
import { writeEssentials } from '../output-files.ts'
import { resultFilePath } from '../result-file.ts'
import type { Environment } from '../setting-sources.ts'
import { readOptionalFile, workspaceFiles } from '../workspace.ts'
import { createLog } from './log.ts'
import { mask } from './masks.ts'
import { createProgressLog } from './progress-log.ts'
import { annotate, annotateFiles, publish } from './publish.ts'
import { noticeLost, tell } from './tell.ts'

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
