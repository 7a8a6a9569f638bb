import { operationNames } from '../../operations.ts'
import { type ProfileName, profileNames } from '../../platform/api/profiles.ts'
import { type Command, type CommandOption, type GivenArguments, requireChoice, WrongUse } from './command.ts'
import type { Terminal } from './terminal.ts'

export const createTools = (terminal: Terminal): readonly Command[] => [
  {
    name: 'init',
    summary: 'Copies workflows and sample files into this repository, and prints what to do next. Never overwrites a file.',
    words: { shown: '[kits...]', max: Number.POSITIVE_INFINITY },
    options: [],
    examples: ['watchkeeper init    # lists the kits', 'watchkeeper init plan-and-apply drift'],
    async run({ words }) {
      const { runInit } = await import('./init/init.ts')
      return runInit(words, terminal)
    },
  },
  {
    name: 'demo',
    summary: 'Runs the main operations against an emulator, without an account and without network access.',
    options: [
      { name: 'verbose', kind: 'switch', text: 'show whole reports' },
      choiceOption('profile', 'server to show [clickhouse-cloud]', profileNames),
    ],
    async run({ options }) {
      const profile: ProfileName = chosen(options, 'profile', profileNames, 'clickhouse-cloud')
      const { runDemo } = await import('./demo.ts')
      return runDemo({ profile, isVerbose: options.verbose === 'true' }, terminal)
    },
  },
  {
    name: 'emulator',
    summary: 'Serves the API with demo data on this machine, for your own tests. Press Ctrl-C to stop.',
    options: [
      { name: 'port', kind: 'value', placeholder: 'number', text: 'port to listen on [any free port]' },
      choiceOption('dialect', 'API to serve [clickhouse-cloud]', profileNames),
      { name: 'server-version', kind: 'value', placeholder: 'version', text: 'version that the server states, with --dialect hyperdx' },
      choiceOption('rate-limit', 'whether the API has the rate limit of its dialect [on]', onOff),
    ],
    async run({ options }) {
      const port = options.port ?? '0'
      if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
        throw new WrongUse('Option --port does not accept this text. Use a number from 0 to 65535.')
      const dialect = chosen(options, 'dialect', profileNames, 'clickhouse-cloud')
      const rateLimit = chosen(options, 'rate-limit', onOff, 'on')
      const serverVersion = options['server-version']
      const { serveEmulator } = await import('./serve-emulator.ts')
      const command = { port: Number(port), dialect, rateLimit, ...(serverVersion !== undefined && { serverVersion }) }
      return serveEmulator(command, terminal.signals, (text) => void terminal.stdout.write(text))
    },
  },
  {
    name: 'schema',
    summary: 'Prints an operation as JSON: inputs, outputs, exit codes, effect and result schema. Without a name, it lists the operations.',
    words: { shown: '[operation]', choices: operationNames, max: 1 },
    options: [{ name: 'json', kind: 'switch', text: 'accepted; the output is always JSON' }],
    examples: ['watchkeeper schema', 'watchkeeper schema apply'],
    async run({ words: [operation] }) {
      const { describeForPrograms } = await import('./schema.ts')
      terminal.stdout.write(`${JSON.stringify(await describeForPrograms(operation), null, 2)}\n`)
      return 0
    },
  },
  {
    name: 'licenses',
    summary: 'Prints the license of this program, and those of the software in it.',
    options: [],
    async run() {
      const { readInstalled } = await import('./installation.ts')
      for (const path of ['LICENSE', 'dist/licenses.txt']) terminal.stdout.write(await readInstalled(terminal.script, path))
      return 0
    },
  },
  {
    name: 'completion',
    summary: 'Prints a script that completes commands and options in a shell.',
    words: { shown: '<shell>', choices: shells, max: 1 },
    options: [],
    examples: ['source <(watchkeeper completion bash)'],
    async run({ words: [word] }) {
      if (word === undefined) throw new WrongUse(`The shell is missing. Use ${shells.join(', ')}.`)
      const shell = requireChoice('The command completion', word, shells)
      const [{ completionScript }, { operationCommand }] = await Promise.all([import('./completion.ts'), import('./operation-command.ts')])
      const ofOperations = await Promise.all(operationNames.map((name) => operationCommand(name, terminal)))
      terminal.stdout.write(completionScript(shell, [...ofOperations, ...createTools(terminal)]))
      return 0
    },
  },
]

const shells = ['bash', 'zsh', 'fish'] as const
const onOff = ['on', 'off'] as const

const choiceOption = (name: string, text: string, choices: readonly string[]): CommandOption => ({
  name,
  kind: 'value',
  placeholder: choices.join('|'),
  text,
  choices,
})

const chosen = <const T extends string>(options: GivenArguments['options'], name: string, choices: readonly T[], standard: NoInfer<T>) =>
  options[name] === undefined ? standard : requireChoice(`Option --${name}`, options[name], choices)
