// Owns the action: masks first, then the run, then result file, outputs, summary and annotation, and the failure last of all.
import * as core from '@actions/core'
import type { Cancellation } from '../../api/requester.ts'
import { systemClock } from '../../kernel/clock.ts'
import { exitCodes, toWatchkeeperError } from '../../kernel/errors.ts'
import { toCamel } from '../../kernel/names.ts'
import { isOperationName } from '../../operations/index.ts'
import { logLine } from '../../report/escape.ts'
import { renderTerminal } from '../../report/terminal.ts'
import { cancelOnSignals, type Signals } from '../cancellation.ts'
import { credentialsIn, keyIdIn } from '../credentials.ts'
import { type Finished, finishWithError } from '../finished.ts'
import { invoke } from '../invoke.ts'
import type { Environment } from '../setting-sources.ts'
import { readOptionalFile, workspaceFiles } from '../workspace.ts'
import { mask } from './masks.ts'
import { annotate, annotateFiles, publish } from './publish.ts'

/** Runs the operation that the environment asks for; resolves to the step's exit code. Throws nothing. */
export async function runAction(env: Environment, signals: Signals): Promise<number> {
  const cancelling = cancelOnSignals(signals)
  try {
    const inputs = readInputs(env)
    mask(credentialsIn(inputs, env), keyIdIn(inputs, env))
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
  await publish(failed, { env, workspace: env.GITHUB_WORKSPACE || '.', wantsSummary: true, wantedFile: undefined })
  annotate(failed.document)
  return exitCodes.error
}

async function perform(inputs: Inputs, env: Environment, cancellation: Cancellation): Promise<Finished> {
  const workspace = env.GITHUB_WORKSPACE || process.cwd()
  const log = (line: string): void => core.info(logLine(line))
  const { operation = '', ...rest } = inputs
  const finished = await invoke(
    {
      operation,
      inputs: rest,
      areText: true,
      env,
      readConfigFile: (path, isWanted) => readOptionalFile(workspace, path, isWanted),
    },
    { clock: systemClock, random: Math.random, note: log, cancellation, files: workspaceFiles(workspace, env) },
  )
  for (const line of renderTerminal(finished.blocks, { color: false })) log(line)
  const { summary, resultFile } = finished.keeping
  await publish(finished, { env, workspace, wantsSummary: summary, wantedFile: resultFile })
  annotateFiles(finished.annotations)
  annotate(finished.document)
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
