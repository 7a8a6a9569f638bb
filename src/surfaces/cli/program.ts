// Owns the command line's grammar, made from the list of operations: commands, flags, help. It decides nothing about values:
// flags that nobody knows are handed on like the others, so that they are reported together with everything else.
import { Command, Option } from 'commander'
import * as z from 'zod'
import { toCamel, toKebab } from '../../kernel/names.ts'
import { version } from '../../kernel/version.ts'
import type { Operation } from '../../operations/operation.ts'
import { settingsSchema } from '../../operations/settings.ts'
import { coreOf, defaultOf, metaOf, type Shape } from '../../provision/field-facts.ts'

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
