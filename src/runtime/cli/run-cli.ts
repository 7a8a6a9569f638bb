import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { version } from '../../core/version.ts'
import { operationNames } from '../../operations.ts'
import { summaries } from './summaries.ts'
import { hasColors, type Terminal } from './terminal.ts'

/** Resolves to the exit code; see `exitCodes`. Loads only what the arguments need. */
export async function runCli(given: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode = 0
  const exitWith = (code: number): void => {
    exitCode = code
  }
  let message = ''
  const args = splitValues(given)
  const program = createProgram().configureOutput({
    writeOut: (text) => void terminal.stdout.write(text),
    writeErr: (text) => {
      message += text
    },
  })
  await addOperations(program, args, terminal, exitWith)
  addTools(program, terminal, exitWith)
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (thrown) {
    // After help or the version.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCode
    const { reportError } = await loadOperationCommands()
    return reportError(thrown, message, args, terminal)
  }
}

/** An operation that the arguments name gets its flags. The list of commands needs only the summaries of the others. */
async function addOperations(
  program: Command,
  args: readonly string[],
  terminal: Terminal,
  exitWith: (code: number) => void,
): Promise<void> {
  for (const name of operationNames) {
    if (args.includes(name)) {
      const { addOperation } = await loadOperationCommands()
      await addOperation(program, name, terminal, exitWith)
    } else program.command(name).description(summaries[name]).option('--json', 'print the result as JSON')
  }
}

async function loadOperationCommands() {
  const { disableSchemaCompiler } = await import('../schema-compiler.ts')
  disableSchemaCompiler()
  return import('./operation-commands.ts')
}

/** `--flag=value` as two arguments: a message about an unknown flag then suggests another one, and quotes no value. */
const splitValues = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg) => {
    const [, flag, value] = /^(--?[^=\s]+)=(.*)$/s.exec(arg) ?? []
    return flag === undefined || value === undefined ? [arg] : [flag, value]
  })

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

/** The commands that are not operations. Each is loaded when it is used. */
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
      exitWith(await runDemo({ script: terminal.script, bundle, write, color: hasColors(terminal) }))
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
