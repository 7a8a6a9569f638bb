import { Argument, Command, CommanderError, Help, InvalidArgumentError, Option } from 'commander'
import { type ProfileName, profileNames } from '../../api/profiles.ts'
import { version } from '../../core/version.ts'
import { operationGroups, operationNames } from '../../operations.ts'
import type { EmulatorCommand } from './serve-emulator.ts'
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
  addCompletion(program, terminal)
  const isUnknownTopic = args[0] === 'help' && args[1] !== undefined && !program.commands.some((one) => one.name() === args[1])
  try {
    // An unknown command gets a suggestion, and `help` would show the help of all commands without a word about it.
    await program.parseAsync(isUnknownTopic ? args.slice(1) : args, { from: 'user' })
    return exitCode
  } catch (thrown) {
    // After help or the version.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCode
    const { reportError } = await loadOperationCommands()
    return reportError(thrown, message, args, terminal)
  }
}

/** Reports an exception that nothing caught. Resolves to the exit code. */
export async function reportCrash(thrown: unknown, given: readonly string[], terminal: Terminal): Promise<number> {
  const { reportError } = await loadOperationCommands()
  return reportError(thrown, '', splitValues(given), terminal)
}

/** An operation that the arguments name gets its flags. The list of commands needs only the summaries of the others. */
async function addOperations(
  program: Command,
  args: readonly string[],
  terminal: Terminal,
  exitWith: (code: number) => void,
): Promise<void> {
  for (const { title, names } of operationGroups) {
    program.commandsGroup(`${title}:`)
    for (const name of names) {
      if (args.includes(name)) {
        const { addOperation } = await loadOperationCommands()
        await addOperation(program, name, terminal, exitWith)
      } else program.command(name).description(summaries[name]).option('--json', 'print the result as JSON')
    }
  }
}

async function loadOperationCommands() {
  const { prepareForOneRun } = await import('../one-run.ts')
  prepareForOneRun()
  return import('./operation-commands.ts')
}

/** Splits `--flag=value` into two arguments, so that a message about an unknown flag contains a suggestion and no value. */
const splitValues = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg) => {
    const [, flag, value] = /^(--?[^=\s]+)=(.*)$/s.exec(arg) ?? []
    return flag === undefined || value === undefined ? [arg] : [flag, value]
  })

const createProgram = (): Command =>
  new Command('watchkeeper')
    .description('Alerts and dashboards as code, a cost gate and backup checks for ClickHouse Cloud and ClickStack.')
    .version(version, '--version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({
      visibleOptions(command) {
        const [help, ...others] = Help.prototype.visibleOptions.call(this, command).toReversed()
        return [...(help === undefined ? [] : [help]), ...others.toReversed()]
      },
      // Readers know that an option without a value is a switch.
      optionDescription: (option) => Help.prototype.optionDescription.call(new Help(), option).replace(/ ?\(preset: "true"\)$/, ''),
    })
    .exitOverride()
    .addHelpText(
      'after',
      '\nEvery common option also reads an environment variable, such as WATCHKEEPER_API_KEY_SECRET for --api-key-secret.\nTo try it without an account, run: watchkeeper demo',
    )

/** The commands that are not operations. Each is loaded when it is used. */
function addTools(program: Command, terminal: Terminal, exitWith: (code: number) => void): void {
  const write = (text: string): void => void terminal.stdout.write(text)

  program
    .commandsGroup('Setup:')
    .command('init')
    .description('Copies workflows and sample files into this repository, and prints what to do next. Never overwrites a file.')
    .argument('[kits...]', 'kits to copy; without kits, init lists them')
    .action(async (words: readonly string[]) => {
      const { runInit } = await import('./init/init.ts')
      exitWith(await runInit(words, terminal))
    })

  program
    .command('demo')
    .description('Runs the main operations against an emulator, without an account and without network access.')
    .option('--bundle <file>', "run the action's bundle like a runner, instead of this command line")
    .option('--verbose', 'show logs, outputs and job summaries')
    .addOption(profileOption('server to show').default('clickhouse-cloud'))
    .action(async ({ bundle, profile, verbose = false }: { bundle?: string; profile: ProfileName; verbose?: boolean }) => {
      const { runDemo } = await import('./demo.ts')
      exitWith(await runDemo({ script: terminal.script, bundle, profile, write, color: hasColors(terminal), isVerbose: verbose }))
    })

  program
    .command('emulator')
    .description('Serves the API with demo data on this machine, for your own tests. Press Ctrl-C to stop.')
    .addOption(new Option('--port <number>', 'port to listen on').argParser(parsePort).default(0, 'any free port'))
    .addOption(new Option('--dialect <name>', 'API to serve').choices(['neutral', 'clickhouse-cloud', 'hyperdx']).default('neutral'))
    .option('--server-version <version>', 'version that the server states, with --dialect hyperdx')
    .addOption(
      new Option('--rate-limit <switch>', 'whether the API has the rate limit of its dialect').choices(['on', 'off']).default('on'),
    )
    .action(async (options: EmulatorCommand) => {
      const { serveEmulator } = await import('./serve-emulator.ts')
      exitWith(await serveEmulator(options, terminal.signals, write))
    })

  program
    .command('schema')
    .description('Prints operations as JSON: inputs, outputs, exit codes, effect and result schema. For scripts and agents.')
    .argument('[operation]', 'name of an operation; without it, all of them')
    .option('--json', 'accepted, because every operation has it; the output is always JSON')
    .addHelpText('after', '\nEXAMPLES\n  watchkeeper schema apply')
    .action(async (operation: string | undefined) => {
      const { describeForPrograms } = await import('./schema.ts')
      write(`${JSON.stringify(await describeForPrograms(operation), null, 2)}\n`)
    })

  program
    .command('licenses')
    .description('Prints the license of this program, and those of the software in it.')
    .action(async () => {
      const { readInstalled } = await import('./installation.ts')
      for (const path of ['LICENSE', 'dist/licenses.txt']) write(await readInstalled(terminal.script, path))
    })
}

const profileOption = (description: string): Option => new Option('--profile <name>', description).choices(profileNames)

function addCompletion(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .description('Prints a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', '\nEXAMPLES\n  source <(watchkeeper completion bash)')
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('./completion.ts')
      const { addOperation } = await loadOperationCommands()
      const complete = createProgram()
      for (const name of operationNames) await addOperation(complete, name, terminal, () => undefined)
      addTools(complete, terminal, () => undefined)
      addCompletion(complete, terminal)
      terminal.stdout.write(completionScript(shell, complete))
    })
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new InvalidArgumentError('Use a number from 0 to 65535.')
  return port
}
