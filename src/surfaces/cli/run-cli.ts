// Owns the command line: report on stdout, everything else on stderr, and the exit code that says which of the two mattered.
import { CommanderError } from 'commander'
import { systemClock } from '../../kernel/clock.ts'
import { exitCodes, toWatchkeeperError } from '../../kernel/errors.ts'
import { createRedact } from '../../kernel/secrets.ts'
import { isOperationName, operationNames, operations } from '../../operations/index.ts'
import { jsonLine, logLine } from '../../report/escape.ts'
import { renderTerminal, type TerminalStyle } from '../../report/terminal.ts'
import { cancelOnSignals } from '../cancellation.ts'
import { credentialsIn } from '../credentials.ts'
import type { Finished } from '../finished.ts'
import { type Invoked, invoke } from '../invoke.ts'
import { writeEssentials, writeOutputFiles } from '../output-files.ts'
import { resultFilePath, toResultTexts, writeResultFile } from '../result-file.ts'
import { readOptionalFile, workspaceFiles } from '../workspace.ts'
import { addOperation, createProgram, type Flags } from './program.ts'
import { createProgressBar } from './progress-bar.ts'
import { remoteRepository } from './repository.ts'
import { secretsIn, withoutValues } from './secret-flags.ts'
import { hasColors, type Terminal } from './terminal.ts'
import { addTools, toolNames } from './tools.ts'

/** Resolves to the exit code; see `exitCodes`. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = exitCodes.ok
  const redact = createRedact([...secretsIn(args), ...credentialsIn({}, terminal.env)])
  const program = createProgram().configureOutput({
    writeOut: (text) => void terminal.stdout.write(text),
    // What is no command may be a secret in the wrong place.
    writeErr: (text) => void terminal.stderr.write(redact(withoutValues(text, args))),
  })
  const start = async (operation: string, flags: Flags, options: { readonly json: boolean }): Promise<void> => {
    exitCode = await runOperation(operation, flags, options.json, terminal)
  }
  // Only the command that is meant is loaded; an unknown one, or none, needs them all for its answer.
  const [first = ''] = args
  const meant = isOperationName(first) ? [first] : toolNames.includes(first) ? [] : operationNames
  for (const name of meant) addOperation(program, name, await operations[name](), start)
  addTools(program, terminal, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.ok : exitCodes.input
    const error = toWatchkeeperError(thrown)
    terminal.stderr.write(`${error.message}\n`)
    return error.exitCode
  }
}

async function runOperation(operation: string, flags: Flags, json: boolean, terminal: Terminal): Promise<number> {
  const { env, directory, stdout, stderr } = terminal
  const cancelling = cancelOnSignals(terminal.signals)
  const note = (line: string): void => void stderr.write(`${logLine(line)}\n`)
  const tempPath = resultFilePath(undefined, directory, env.RUNNER_TEMP, operation)
  const pathFor = (wanted: string | undefined) =>
    wanted === undefined ? tempPath : resultFilePath(wanted, directory, undefined, operation)
  const progress = createProgressBar(terminal, { pathFor, isQuiet: json })
  try {
    const invoked = await invoke(
      {
        operation,
        inputs: flags,
        areText: true,
        env,
        readConfigFile: (path, isWanted) => readOptionalFile(directory, path, isWanted),
      },
      {
        clock: systemClock,
        random: Math.random,
        note,
        cancellation: cancelling,
        files: workspaceFiles(directory, env, () => remoteRepository(directory)),
        onProgress: progress.tell,
      },
    )
    progress.end()
    const finished = await writeEssentials(invoked, directory)
    const file = pathFor(finished.keeping.resultFile)
    await keep(finished, { terminal, note, file })
    noteUntold(finished, note)
    if (json) stdout.write(`${jsonLine(JSON.stringify(finished.document, null, 2))}\n`)
    if (!json || finished.document.status === 'error')
      show(finished, finished.document.status === 'error' ? stderr : stdout, {
        color: hasColors(terminal),
        whole: file === undefined ? '--json or --result-file' : 'the result file',
      })
    return cancelling.wasCancelled() ? exitCodes.cancelled : finished.exitCode
  } finally {
    cancelling.dispose()
  }
}

function show({ blocks }: Finished, stream: Terminal['stdout'], style: TerminalStyle): void {
  for (const line of renderTerminal(blocks, style)) stream.write(`${style.color ? line : logLine(line)}\n`)
}

/** A command line has no event and no token of its own; whoever asks it for a comment has to hear that there is none. */
function noteUntold({ keeping: { comment = 'off', issue = 'off' } }: Invoked, note: (line: string) => void): void {
  const asked = [comment !== 'off' && 'comment', issue !== 'off' && 'issue'].filter((name) => name !== false)
  if (asked.length > 0) note(`warning: ${asked.join(' and ')}: only the action writes to GitHub, the command line does not`)
}

interface Keeping {
  readonly terminal: Terminal
  readonly note: (line: string) => void
  /** Where the result goes; undefined when there is no place for it. */
  readonly file: string | undefined
}

/** Result file and, inside a workflow, the job summary. What cannot be written is said and changes no verdict. */
async function keep({ keeping, document, blocks, files }: Invoked, { terminal, note, file }: Keeping): Promise<void> {
  const { env, directory } = terminal
  for (const line of await writeOutputFiles(files, directory)) note(`warning: ${line}`)
  try {
    if (file !== undefined) await writeResultFile(directory, file, toResultTexts(document))
    if (env.GITHUB_STEP_SUMMARY && keeping.summary)
      await (await import('../action/summary.ts')).writeSummary(blocks, env.GITHUB_STEP_SUMMARY)
  } catch (thrown) {
    note(`warning: the result could not be kept: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
}
