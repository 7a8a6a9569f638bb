import { operationGroups } from '../../operations.ts'
import type { Command, CommandOption } from './command.ts'
import { summaries } from './summaries.ts'

const [width, column] = [80, 26]

function fillLine(text: string, prefix = '', indent = prefix.length) {
  const lines: string[] = []
  let line = prefix
  let isEmpty = true
  for (const word of text.split(/\s+/)) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ' '.repeat(indent)
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}

const helpRow = (term: string, text: string, start = column) => fillLine(text, `  ${term}  `.padEnd(start), start)

export const firstSentence = (text: string): string => text.replace(/\.(?:\s.*)?$/s, '').replace(/\s+/g, ' ')

function termOf({ name, kind, placeholder = '' }: CommandOption) {
  if (placeholder === '') return `--${name}`
  return `--${name} ${kind === 'flag' ? `[${placeholder}]` : `<${placeholder}>`}`
}

export function optionLines(options: readonly CommandOption[]): readonly string[] {
  const groups = Map.groupBy(options, ({ group = 'Options' }) => group)
  return [...groups].flatMap(([title, ofGroup]) => [`${title}:`, ...ofGroup.flatMap((option) => helpRow(termOf(option), option.text)), ''])
}

export function helpOf({ name, summary, words, examples = [], options, notes = [] }: Command): string {
  const own = options.filter(({ isCommon }) => isCommon !== true)
  const usage = [name, ...(words === undefined ? [] : [words.shown]), ...(own.length > 0 ? ['[options]'] : [])].join(' ')
  const lines = [
    ...fillLine(summary),
    '',
    `Usage: watchkeeper ${usage}`,
    '',
    ...(examples.length > 0 ? ['Examples:', ...examples.flatMap((example) => fillLine(example, '  ', 6)), ''] : []),
    ...(words?.text === undefined ? [] : ['Arguments:', ...helpRow(words.shown, words.text), '']),
    ...optionLines(own),
    ...notes.flatMap((note) => fillLine(note)),
  ]
  return `${lines.join('\n').trimEnd()}\n`
}

export function mainHelp(tools: readonly Command[]): string {
  const rows = (commands: readonly { readonly name: string; readonly summary: string }[]): readonly string[] =>
    commands.flatMap(({ name, summary }) => helpRow(name, firstSentence(summary), 18))
  const lines = [
    ...fillLine('Alerts and dashboards as code, a cost gate and backup checks for ClickHouse Cloud and ClickStack.'),
    '',
    'Usage: watchkeeper <command> [options]',
    '',
    ...operationGroups.flatMap(({ title, names, inHelp }) => [
      `${title}:`,
      ...rows((inHelp?.names ?? names).map((name) => ({ name, summary: summaries[name] }))),
      ...(inHelp === undefined ? [] : [`  ${inHelp.others}`]),
      '',
    ]),
    'Setup:',
    ...rows(tools),
    '',
    ...helpRow('help <command>', 'the options of a command; help options: those of all commands', 18),
    ...helpRow('--version', 'the version', 18),
    '',
    'To try it without an account, run: watchkeeper demo',
    'Documentation: https://github.com/watchkeeper/watchkeeper',
  ]
  return `${lines.join('\n')}\n`
}
