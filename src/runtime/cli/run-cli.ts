import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import * as z from 'zod'
import { systemClock } from '../../core/clock.ts'
import { exitCodeOfKind, exitCodes, toWatchkeeperError, WatchkeeperError } from '../../core/errors.ts'
import { jsonLine, logLine } from '../../core/escape.ts'
import { toKebab } from '../../core/names.ts'
import { createRedact } from '../../core/secrets.ts'
import { plural } from '../../core/text.ts'
import { version } from '../../core/version.ts'
import { coreOf, defaultOf, metaOf, type Shape } from '../../documents/schema.ts'
import { settingsSchema } from '../../operation/inputs.ts'
import type { Operation } from '../../operation/operation.ts'
import { isOperationName, type OperationName, operationNames, operations } from '../../operations.ts'
import { renderTerminal } from '../../report/terminal.ts'
import { credentialsIn, debugVariable } from '../read-input.ts'
import { cancelOnSignals, footerOf, type PublishSettings, runAndPublish, type Surface, toErrorResult } from '../run.ts'
import { publish, resultFilePath } from '../workspace.ts'
import { remoteRepository } from './repository.ts'
import { hasColors, type Terminal } from './terminal.ts'

/** Resolves to the exit code; see `exitCodes`. */
export async function runCli(given: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = exitCodes.ok
  const exitWith = (code: number): void => {
    exitCode = code
  }
  const args = splitValues(given)
  const redact = createRedact([...secretsIn(args), ...credentialsIn({}, terminal.env)])
  const program = createProgram().configureOutput({
    writeOut: (text) => void terminal.stdout.write(text),
    // What is no command may be a secret in the wrong place.
    writeErr: (text) => void terminal.stderr.write(redact(text)),
  })
  // Only the command that is meant is loaded; the answer to an unknown one, or to none, lists them all.
  const [first = ''] = args
  const loaded = isOperationName(first) ? [first] : toolNames.includes(first) ? [] : operationNames
  for (const name of loaded)
    addOperation(program, name, await operations[name](), async (inputs, json) =>
      exitWith(await runOperation(name, inputs, json, terminal)),
    )
  addTools(program, terminal, exitWith)
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.ok
    if (thrown instanceof CommanderError) {
      if (isOperationName(first)) await publishUsageError(first, redact(thrown.message), args, terminal)
      return exitCodes.input
    }
    const error = toWatchkeeperError(thrown)
    terminal.stderr.write(`${error.message}\n`)
    return exitCodeOfKind[error.kind]
  }
}

/** Commander has printed the message. Programs that read the JSON or the result file need it there, too. */
async function publishUsageError(operation: OperationName, message: string, args: readonly string[], terminal: Terminal): Promise<void> {
  const result = toErrorResult(operation, new WatchkeeperError('input', message.replace(/^error: /, '')), {}, [
    footerOf({}, systemClock.now()),
  ])
  const surface = terminalSurface(terminal, neverCancelled, false)
  if (args.includes('--json')) terminal.stdout.write(`${jsonLine(JSON.stringify(result.document, null, 2))}\n`)
  const given = args.includes('--result-file') ? args[args.indexOf('--result-file') + 1] : undefined
  await publish(result, surface, { resultFile: resultFilePath(given, surface, operation), summary: true })
}

const neverCancelled: Surface['cancellation'] = { stop: new AbortController().signal, abort: new AbortController().signal }

/** `--flag=value` as two arguments: a message about an unknown flag then suggests another one, and quotes no value. */
const splitValues = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg) => {
    const [, flag, value] = /^(--?[^=\s]+)=(.*)$/s.exec(arg) ?? []
    return flag === undefined || value === undefined ? [arg] : [flag, value]
  })

const secretFlags = Object.entries(settingsSchema.shape).flatMap(([name, field]) => (metaOf(field).secret ? [`--${toKebab(name)}`] : []))

/** Found before anything is parsed: no message may quote them. */
const secretsIn = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg, i) => (secretFlags.includes(arg.replace(/^-(?!-)/, '--')) ? args[i + 1]?.trim() || [] : []))

const createProgram = (): Command =>
  new Command('watchkeeper')
    .description('Keeps watch over a hosted observability service from a repository.')
    .version(version, '--version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .exitOverride()
    .addHelpText(
      'after',
      '\nEvery common option also reads an environment variable, such as WATCHKEEPER_API_KEY_SECRET for --api-key-secret.\nTry it without an account: watchkeeper demo',
    )

/** Flags by camelCase name, as text. */
type Flags = Readonly<Record<string, string>>

/** Values are checked where those of the action and the library are, so that everything wrong with them is reported at once. */
function addOperation(
  program: Command,
  name: string,
  { summary, input }: Operation,
  run: (inputs: Flags, json: boolean) => Promise<void>,
): void {
  const command = program.command(name).description(summary)
  addFlags(command, input.shape, '')
  addFlags(command, settingsSchema.shape, 'Common options:')
  command.addOption(new Option('--json', 'print the result as JSON').helpGroup('Common options:'))
  // Commander's own message would quote a stray word, which may be a secret.
  command.allowExcessArguments()
  command.action(async ({ json = false, ...flags }: { readonly json?: boolean } & Flags) => {
    if (command.args.length > 0)
      command.error(`error: ${name} takes only options, and ${plural(command.args.length, 'other word')} came with them`)
    // As everywhere, an empty value means not given.
    const given = Object.entries<string>(flags).map(([flag, value]) => [flag, value.trim()] as const)
    await run(Object.fromEntries(given.filter(([, value]) => value !== '')), json)
  })
}

function addFlags(command: Command, shape: Shape, group: string): void {
  for (const [name, field] of Object.entries(shape)) {
    const core = coreOf(field)
    const isBoolean = core instanceof z.ZodBoolean
    const flag = `--${toKebab(name)}`
    const option = new Option(`${flag} ${isBoolean ? '[value]' : '<value>'}`, flagHelp(field))
    if (isBoolean) option.preset('true')
    option.argParser((next: string, before: string | undefined) => {
      if (before === undefined) return next
      if (core instanceof z.ZodArray) return `${before}\n${next}`
      // The message of an InvalidArgumentError would quote the value, which may be a secret.
      return command.error(`error: option '${flag}' was given twice`)
    })
    command.addOption(group === '' ? option : option.helpGroup(group))
  }
}

function flagHelp(field: z.core.$ZodType): string {
  const { description = '', accepts } = metaOf(field)
  const standard = defaultOf(field)
  return [
    description,
    ...(accepts !== undefined && !(coreOf(field) instanceof z.ZodBoolean) ? [`(${accepts})`] : []),
    ...(standard !== undefined ? [`[default: ${String(standard)}]`] : []),
  ].join(' ')
}

const toolNames: readonly string[] = ['init', 'demo', 'emulator']

/** The commands that are no operation. Each is loaded when it is used. */
function addTools(program: Command, terminal: Terminal, exitWith: (code: number) => void): void {
  const write = (text: string): void => void terminal.stdout.write(text)

  program
    .command('init')
    .description('Writes workflows and sample files into this repository. Asks which, and overwrites nothing.')
    .argument('[kits...]', 'what to write, instead of asking')
    .option('--list', 'show what there is, with its files')
    .action(async (words: readonly string[], { list = false }: { list?: boolean }) => {
      const { runInit } = await import('./init.ts')
      exitWith(await runInit({ words, list }, terminal))
    })

  program
    .command('demo')
    .description('Shows the main operations against an emulator: no account, no network.')
    .option('--bundle <file>', "run the action's bundle as a runner would, instead of this command line")
    .action(async ({ bundle }: { bundle?: string }) => {
      const { runDemo } = await import('./demo.ts')
      exitWith(await runDemo({ bundle, write, color: hasColors(terminal) }))
    })

  program
    .command('emulator')
    .description('Serves the API with demo data on this machine, for tests of your own. Ends on Ctrl-C.')
    .addOption(new Option('--port <number>', 'port to listen on').argParser(parsePort).default(0, 'any free one'))
    .addOption(new Option('--dialect <name>', 'API to serve').choices(['neutral', 'clickhouse-cloud', 'hyperdx']).default('neutral'))
    .action(async (options: { readonly port: number; readonly dialect: 'neutral' | 'clickhouse-cloud' | 'hyperdx' }) => {
      const { serveEmulator } = await import('./serve-emulator.ts')
      exitWith(await serveEmulator(options, terminal.signals, write))
    })
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new InvalidArgumentError('Allowed are 0 to 65535.')
  return port
}

/** The report goes to stdout, everything else to stderr. */
async function runOperation(operation: string, inputs: Flags, json: boolean, terminal: Terminal): Promise<number> {
  const cancellation = cancelOnSignals(terminal.signals)
  try {
    const result = await runAndPublish(operation, inputs, terminalSurface(terminal, cancellation, json))
    return cancellation.wasCanceled() ? exitCodes.cancelled : result.exitCode
  } finally {
    cancellation.dispose()
  }
}

function terminalSurface(terminal: Terminal, cancellation: Surface['cancellation'], json: boolean): Surface {
  const { env, directory, stdout, stderr } = terminal
  const note = (line: string): void => void stderr.write(`${logLine(line)}\n`)
  return {
    env,
    directory,
    cancellation,
    note,
    ...(env[debugVariable] === '1' && { debug: (line: string) => note(`debug: ${line}`) }),
    warn: (line) => note(`warning: ${line}`),
    showProgress({ done, total, text }) {
      if (!json) note(`${done}/${total} ${text}`)
    },
    showResult({ document, blocks, publishSettings }, resultFile) {
      warnOfIgnoredSettings(publishSettings, note)
      if (json) stdout.write(`${jsonLine(JSON.stringify(document, null, 2))}\n`)
      const isError = document.status === 'error'
      if (json && !isError) return
      const color = hasColors(terminal)
      const rest = resultFile === undefined ? '--json or --result-file' : 'the result file'
      for (const line of renderTerminal(blocks, { color, rest })) (isError ? stderr : stdout).write(`${color ? line : logLine(line)}\n`)
    },
    summaryFile: env.GITHUB_STEP_SUMMARY || undefined,
    remoteRepository: () => remoteRepository(directory),
  }
}

/** The command line has no event and no token of its own. */
function warnOfIgnoredSettings({ comment = 'off', issue = 'off' }: PublishSettings, note: (line: string) => void): void {
  const ignored = [...(comment === 'off' ? [] : ['comment']), ...(issue === 'off' ? [] : ['issue'])]
  if (ignored.length > 0) note(`warning: ${ignored.join(' and ')}: only the action writes to GitHub, the command line does not`)
}
