import { Command, CommanderError, Option } from 'commander'
import * as z from 'zod'
import { systemClock } from '../../core/clock.ts'
import { exitCodeOfKind, exitCodes, toWatchkeeperError } from '../../core/errors.ts'
import { toCamel, toKebab } from '../../core/names.ts'
import { createRedact } from '../../core/secrets.ts'
import { version } from '../../core/version.ts'
import { coreOf, defaultOf, metaOf, type Shape } from '../../documents/schema.ts'
import type { Operation } from '../../operation/operation.ts'
import type { Finished } from '../../operation/result-document.ts'
import { settingsSchema } from '../../operation/settings.ts'
import { isOperationName, operationNames, operations } from '../../operations.ts'
import { jsonLine, logLine } from '../../report/escape.ts'
import { renderTerminal, type TerminalStyle } from '../../report/terminal.ts'
import { cancelOnSignals } from '../cancellation.ts'
import { settingFields } from '../decode.ts'
import { resultFilePath, toResultTexts, writeEssentials, writeOutputFiles, writeResultFile } from '../output-files.ts'
import { credentialsIn } from '../read-input.ts'
import { type Invoked, invoke } from '../run.ts'
import { readOptionalFile, workspaceFiles } from '../workspace.ts'
import { remoteRepository } from './repository.ts'
import { createProgressBar, hasColors, type Terminal } from './terminal.ts'

// Owns secrets in the arguments as they were typed, before anything is known of the command: no complaint may repeat one.

const secretFlags = Object.entries(settingFields).flatMap(([name, field]) => (metaOf(field).secret ? [`--${toKebab(name)}`] : []))

/** `--flag value` and `--flag=value`, wherever they stand. */
export const secretsIn = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg, i) => {
    const flag = secretFlags.find((one) => arg === one || arg.startsWith(`${one}=`))
    const value = flag === undefined ? undefined : arg === flag ? args[i + 1] : arg.slice(flag.length + 1)
    return value?.trim() || []
  })

/** The text with flags by their names alone: one that nobody knows may be a secret's that is misspelt. */
export const withoutValues = (text: string, args: readonly string[]): string =>
  args.reduce((safe, arg) => {
    const [, flag] = /^(--?[^=\s]+)=/.exec(arg) ?? []
    return flag === undefined ? safe : safe.replaceAll(arg, flag)
  }, text)

// Owns the command line's grammar, made from the list of operations: commands, flags, help. It decides nothing about values:
// flags that nobody knows are handed on like the others, so that they are reported together with everything else.

/** Flags by camelCase name, as text. */
export type Flags = Readonly<Record<string, string>>

export type Start = (operation: string, flags: Flags, options: { readonly json: boolean }) => Promise<void>

export function createProgram(): Command {
  return new Command('watchkeeper')
    .description('Keeps watch over a hosted observability service from a repository.')
    .version(version, '--version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .showSuggestionAfterError(true)
    .exitOverride()
    .addHelpText(
      'after',
      '\nEvery common option also reads an environment variable, such as WATCHKEEPER_API_KEY_SECRET for --api-key-secret.\nTry it without an account: watchkeeper demo',
    )
}

export function addOperation(program: Command, name: string, { summary, input }: Operation, start: Start): void {
  const command = program.command(name).description(summary).exitOverride().allowUnknownOption().allowExcessArguments()
  addFlags(command, input.shape, '')
  addFlags(command, settingsSchema.shape, 'Common options:')
  command.addOption(new Option('--json', 'print the result as JSON').helpGroup('Common options:'))
  command.action(async () => {
    const { json, ...flags } = command.opts<Record<string, string | true>>()
    await start(name, { ...givenFlags(flags), ...strayFlags(command) }, { json: json === true })
  })
}

function addFlags(command: Command, shape: Shape, group: string): void {
  for (const [name, field] of Object.entries(shape)) {
    const { description = '', accepts } = metaOf(field)
    const core = coreOf(field)
    const value = core instanceof z.ZodBoolean ? ' [value]' : ' <value>'
    const standard = defaultOf(field)
    const help = [
      description,
      accepts !== undefined && !(core instanceof z.ZodBoolean) && `(${accepts})`,
      standard !== undefined && `[default: ${String(standard)}]`,
    ]
    const option = new Option(`--${toKebab(name)}${value}`, help.filter(Boolean).join(' '))
    option.argParser((next: string, before: string | undefined) => {
      if (before === undefined) return next
      if (core instanceof z.ZodArray) return `${before}\n${next}`
      // The library's own words for it would quote the value, which may be a secret.
      return command.error(`error: option '--${toKebab(name)}' was given twice`)
    })
    command.addOption(group === '' ? option : option.helpGroup(group))
  }
}

/** An empty value means not given, as on every surface. */
const givenFlags = (flags: Readonly<Record<string, string | true>>): Flags =>
  Object.fromEntries(
    Object.entries(flags).flatMap(([name, value]) => {
      const text = value === true ? 'true' : value.trim()
      return text === '' ? [] : [[name, text] as const]
    }),
  )

/** What commander did not know: `--bugdet 100`, `--bugdet=100`, or a stray word. */
function strayFlags(command: Command): Flags {
  const stray: Record<string, string> = {}
  const { args } = command
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    const [, name, value] = /^--?([^=]+)(?:=(.*))?$/s.exec(arg) ?? []
    if (name === undefined) stray[arg] = arg
    else if (value !== undefined || args[i + 1]?.startsWith('-') !== false) stray[toCamel(name)] = value ?? ''
    else stray[toCamel(name)] = args[++i] ?? ''
  }
  return stray
}

// Owns the commands that are no operation: init, the demo and the emulator. Each is loaded only when it is asked for.

export const toolNames: readonly string[] = ['init', 'demo', 'emulator']

export function addTools(program: Command, terminal: Terminal, exitWith: (code: number) => void): void {
  const write = (text: string): void => void terminal.stdout.write(text)

  program
    .command('init')
    .description('Writes workflows and sample files into this repository. Asks which, and overwrites nothing.')
    .argument('[kits...]', 'what to write, instead of asking')
    .option('--list', 'show what there is, with its files')
    .exitOverride()
    .action(async (words: readonly string[], { list = false }: { list?: boolean }) => {
      const { runInit } = await import('./init.ts')
      exitWith(await runInit({ words, list }, terminal))
    })

  program
    .command('demo')
    .description('Shows the main operations against an emulator: no account, no network.')
    .option('--bundle <file>', "run the action's bundle as a runner would, instead of this command line")
    .exitOverride()
    .action(async ({ bundle }: { bundle?: string }) => {
      const { runDemo } = await import('./demo.ts')
      exitWith(await runDemo({ bundle, write, color: hasColors(terminal) }))
    })

  program
    .command('emulator')
    .description('Serves the API with demo data on this machine, for tests of your own. Ends on Ctrl-C.')
    .option('--port <number>', 'port to listen on; any free one by default', '0')
    .option('--dialect <name>', 'neutral, clickhouse-cloud or hyperdx', 'neutral')
    .exitOverride()
    .action(async (options: { port: string; dialect: string }) => {
      const { serveEmulator } = await import('./serve-emulator.ts')
      exitWith(await serveEmulator(options, terminal.signals, write))
    })
}

// Owns the command line: report on stdout, everything else on stderr, and the exit code that says which of the two mattered.

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
    return exitCodeOfKind[error.kind]
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
