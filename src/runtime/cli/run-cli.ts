import { isOperationName, operationNames } from '../../operations.ts'
import { withFlags } from '../../platform/core/input-spelling.ts'
import { version } from '../../platform/core/version.ts'
import { type Command, parseArguments, unknownCommand, WrongUse } from './command.ts'
import { helpOf, mainHelp } from './help.ts'
import type { Terminal } from './terminal.ts'
import { createTools } from './tools.ts'

/** Resolves to the exit code; see `exitCodes`. Loads only what the arguments need. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await withFlags(() => dispatch(args, terminal))
  } catch (thrown) {
    return reportCrash(thrown, args, terminal)
  }
}

export async function reportCrash(thrown: unknown, args: readonly string[], terminal: Terminal): Promise<number> {
  await prepare()
  const { reportError } = await import('./report-error.ts')
  return reportError(thrown, args, terminal)
}

const helpFlags: readonly string[] = ['--help', '-h']

async function dispatch([word, ...args]: readonly string[], terminal: Terminal) {
  const tools = createTools(terminal)
  const print = (text: string): number => {
    terminal.stdout.write(text)
    return 0
  }
  if (word === undefined) throw new WrongUse(mainHelp(tools).trimEnd())
  if (word === '--version') return print(`${version}\n`)
  const isHelp = word === 'help' || helpFlags.includes(word)
  const [topic] = isHelp ? args : [word]
  if (topic === undefined) return print(mainHelp(tools))
  if (isHelp && topic === 'options') {
    await prepare()
    const { optionsHelp } = await import('./operation-command.ts')
    return print(optionsHelp())
  }
  const command = await findCommand(topic, tools, terminal)
  if (isHelp || args.some((arg) => helpFlags.includes(arg))) return print(helpOf(command))
  return command.run(parseArguments(command, args))
}

async function findCommand(name: string, tools: readonly Command[], terminal: Terminal): Promise<Command> {
  if (isOperationName(name)) {
    await prepare()
    const { operationCommand } = await import('./operation-command.ts')
    return operationCommand(name, terminal)
  }
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) throw unknownCommand(name, [...operationNames, ...tools.map((one) => one.name)])
  return tool
}

/** Prepares the process before zod is used. The list of commands needs no zod. */
async function prepare() {
  const { prepareForOneRun } = await import('../one-run.ts')
  prepareForOneRun()
}
