import { parseArgs } from 'node:util'
import { adviceOnDropped, meantName } from '../../platform/core/names.ts'
import { capitalize, plural } from '../../platform/core/text.ts'
import { replacementOf } from '../new-names.ts'

export interface CommandOption {
  readonly name: string
  /** `switch` has no value, `flag` may have one, and a `list` takes one item each time. */
  readonly kind: 'switch' | 'flag' | 'value' | 'list'
  readonly placeholder?: string
  readonly text: string
  readonly group?: string
  readonly isCommon?: boolean
  readonly choices?: readonly string[]
}

export interface Command {
  readonly name: string
  readonly summary: string
  readonly options: readonly CommandOption[]
  readonly words?: { readonly shown: string; readonly text?: string; readonly choices?: readonly string[]; readonly max: number }
  readonly examples?: readonly string[]
  readonly notes?: readonly string[]
  explainOption?(name: string): string | undefined
  run(given: GivenArguments): Promise<number>
}

export interface GivenArguments {
  /** A switch is `true`, and a list has one item a line. */
  readonly options: Readonly<Record<string, string>>
  readonly words: readonly string[]
}

/** Throws a WrongUse, which quotes no value: it may be a secret in the wrong place. */
export function parseArguments(command: Command, args: readonly string[]): GivenArguments {
  const known = new Map(command.options.map((option) => [option.name, option]))
  const types = command.options.map(({ name, kind }) => [name, { type: takesValue(kind) ? 'string' : 'boolean' }] as const)
  const { tokens } = parseArgs({ args, options: Object.fromEntries(types), strict: false, tokens: true })
  const words = new Map(tokens.flatMap((token) => (token.kind === 'positional' ? [[token.index, token.value] as const] : [])))
  const options: Record<string, string> = {}
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const option = token.rawName.startsWith('--') ? known.get(token.name) : undefined
    if (option === undefined) throw unknownOption(command, token.rawName)
    const value = token.value ?? valueAfter(option, token.index, words, command.words === undefined)
    options[option.name] = withItem(option, options[option.name], value.trim())
  }
  demandWords(command, [...words.values()])
  return { options, words: [...words.values()] }
}

export const takesValue = (kind: CommandOption['kind']): boolean => kind === 'value' || kind === 'list'

/** The word after a flag is its value, unless it may be another word. */
function valueAfter({ name, kind, choices = [] }: CommandOption, index: number, words: Map<number, string>, isOnlyWord: boolean) {
  if (takesValue(kind)) throw wrongUse(`Option --${name} requires a value.`)
  const next = kind === 'flag' ? words.get(index + 1) : undefined
  if (next === undefined || !(isOnlyWord || choices.includes(next))) return 'true'
  words.delete(index + 1)
  return next
}

function withItem({ name, kind }: CommandOption, before: string | undefined, value: string) {
  if (before === undefined || (kind !== 'list' && before === value)) return value
  if (kind !== 'list') throw wrongUse(`Option --${name} was given twice.`)
  return `${before}\n${value}`
}

function demandWords({ name, options, words }: Command, given: readonly string[]) {
  if (given.length <= (words?.max ?? 0)) return
  const advice = options.some((option) => option.name === 'files') ? ' Name files with --files.' : ''
  throw wrongUse(
    `The command ${name} accepts only options, but got ${plural(given.length, 'other argument')}. Put a value with spaces in quotes.${advice}`,
  )
}

export function requireChoice<const T extends string>(what: string, given: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === given)
  if (found === undefined) throw wrongUse(`${what} does not accept ${shownWord(given, '"')}. Use ${choices.join(', ')}.`)
  return found
}

/** No WatchkeeperError, because help would load the code of diagnostics with it. */
export class WrongUse extends Error {}

const wrongUse = (message: string) => new WrongUse(message)

/** Anything else may be a secret in the wrong place. */
const shownWord = (word: string, mark = '') => (/^-{0,2}[\w-]{1,40}$/.test(word) ? `${mark}${word}${mark}` : 'this text')

function unknownOption({ name: command, options, explainOption }: Command, rawName: string): WrongUse {
  const name = rawName.replace(/^-+/, '')
  const names = options.map((option) => option.name)
  const replacement = replacementOf(name, names)
  const meant = meantName(name, names)
  const dropped = adviceOnDropped(name)
  const advice =
    explainOption?.(name) ??
    (dropped && `${capitalize(dropped)}.`) ??
    (replacement && `Use --${replacement.replace(': ', ' ')}.`) ??
    (meant === undefined ? `See watchkeeper ${command} --help.` : `Did you mean --${meant}?`)
  return wrongUse(`Unknown option ${shownWord(rawName)}. ${advice}`)
}

export function unknownCommand(word: string, names: readonly string[]): WrongUse {
  if (word.startsWith('-')) return wrongUse(`Unknown option ${shownWord(word)}. Options come after the command. See watchkeeper --help.`)
  const [replacement, meant] = [replacementOf(word, names), meantName(word, names)]
  const advice = replacement ? `Use ${replacement}.` : meant === undefined ? 'See watchkeeper --help.' : `Did you mean ${meant}?`
  return wrongUse(`Unknown command ${shownWord(word)}. ${advice}`)
}
