// Owns the action: masks first, then the run, then result file, outputs, summary and annotation, and the failure last of all.
import * as core from '@actions/core'
import type { Cancellation } from '../../api/requester.ts'
import { systemClock } from '../../kernel/clock.ts'
import { exitCodes, toWatchkeeperError } from '../../kernel/errors.ts'
import { toCamel } from '../../kernel/names.ts'
import { logLine } from '../../report/escape.ts'
import { renderTerminal } from '../../report/terminal.ts'
import { cancelOnSignals, type Signals } from '../cancellation.ts'
import { type Finished, finishWithError } from '../finished.ts'
import { invoke } from '../invoke.ts'
import type { Environment } from '../setting-sources.ts'
import { readOptionalFile, readWorkspaceFile } from '../workspace.ts'
import { credentialsIn, keyIdIn, mask } from './masks.ts'
import { annotate, publish } from './publish.ts'

/** Runs the operation that the environment asks for; resolves to the step's exit code. Throws nothing. */
export async function runAction(env: Environment, signals: Signals): Promise<number> {
  const inputs = readInputs(env)
  const secrets = credentialsIn(inputs, env)
  mask(secrets, keyIdIn(inputs, env))
  const cancelling = cancelOnSignals(signals)
  try {
    const finished = await perform(inputs, secrets, env, cancelling)
    return exitCodeOf(finished.exitCode, cancelling.wasCancelled())
  } catch (thrown) {
    // Nothing above is meant to throw; whatever did, the step must not stay green.
    annotate(finishWithError(inputs.operation ?? '', toWatchkeeperError(thrown), undefined).document)
    return exitCodes.error
  } finally {
    cancelling.dispose()
  }
}

async function perform(inputs: Inputs, secrets: readonly string[], env: Environment, cancellation: Cancellation): Promise<Finished> {
  const log = (line: string): void => core.info(logLine(line))
  const { operation = '', ...rest } = inputs
  const workspace = env.GITHUB_WORKSPACE || process.cwd()
  const readFile = (path: string, input: string): Promise<string> => readWorkspaceFile(workspace, path, input)
  const finished = await invoke(
    {
      operation,
      inputs: rest,
      areText: true,
      env,
      secrets,
      readConfigFile: (path, isWanted) => readOptionalFile(workspace, path, isWanted),
    },
    { clock: systemClock, random: Math.random, note: log, cancellation, readFile },
  )
  for (const line of renderTerminal(finished.blocks, { color: false })) log(line)
  const { settings } = finished
  await publish(finished, {
    env,
    workspace,
    wantsSummary: settings?.summary ?? rest.summary !== 'false',
    wantedFile: settings?.resultFile ?? rest.resultFile,
  })
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
