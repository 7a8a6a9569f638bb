import { type Command, takesValue } from './command.ts'
import { firstSentence } from './help.ts'

export function completionScript(shell: 'bash' | 'zsh' | 'fish', commands: readonly Command[]): string {
  const completed = commands.map(
    ({ name, summary, words, options }): CompletedCommand => ({
      name,
      summary: firstSentence(summary),
      words: words?.choices ?? [],
      options: options.map(({ name, kind, text, choices = [] }) => ({
        flag: `--${name}`,
        summary: text,
        takesValue: takesValue(kind),
        choices,
      })),
    }),
  )
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell]('watchkeeper', completed)
}

interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly words: readonly string[]
  readonly options: readonly CompletedOption[]
}

interface CompletedOption {
  readonly flag: string
  readonly summary: string
  readonly takesValue: boolean
  /** Empty for any value, which is completed as a file. */
  readonly choices: readonly string[]
}

function bashScript(name: string, commands: readonly CompletedCommand[]) {
  const values = new Map(
    commands.flatMap(({ options }) => options).flatMap(({ flag, choices }) => (choices.length > 0 ? [[flag, choices] as const] : [])),
  )
  // Completed as files, by `-o default`.
  const options = commands.flatMap((command) => command.options)
  const freeValues = [
    ...new Set(options.filter(({ takesValue, choices }) => takesValue && choices.length === 0).map(({ flag }) => flag)),
  ].filter((flag) => !values.has(flag))
  return `# Completion of ${name} for bash. Load it with: source <(${name} completion bash)
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map((command) => command.name).join(' ')}" -- "$current"))
    return
  fi
  case "$previous" in
    ${freeValues.join('|')}) return ;;
${[...values].map(([flag, choices]) => `    ${flag}) COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$current")); return ;;`).join('\n')}
  esac
  case "\${COMP_WORDS[1]}" in
${commands.map(({ name: command, words, options }) => `    ${command}) COMPREPLY=($(compgen -W "${[...words, ...options.map(({ flag }) => flag)].join(' ')}" -- "$current")) ;;`).join('\n')}
  esac
}
complete -o default -F _${name} ${name}
`
}

const zshText = (text: string) => text.replace(/[\\[\]:'"`$]/g, ' ')

function zshScript(name: string, commands: readonly CompletedCommand[]) {
  const argument = ({ flag, summary, takesValue, choices }: CompletedOption): string => {
    const action = choices.length > 0 ? `(${choices.join(' ')})` : '_files'
    return `        '*${flag}[${zshText(summary)}]${takesValue ? `:value:${action}` : ''}' \\`
  }
  const cases = commands.map(
    ({ name: command, words, options }) =>
      `    ${command})\n      _arguments \\\n${options.map(argument).join('\n')}${options.length > 0 ? '\n' : ''}        '*: :${words.length > 0 ? `(${words.join(' ')})` : '_files'}' ;;`,
  )
  return `#compdef ${name}
# Completion of ${name} for zsh. Load it with: source <(${name} completion zsh)
_${name}() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map((command) => `      '${command.name}:${zshText(command.summary)}'`).join('\n')}
    )
    _describe command commands
    return
  fi
  case "$words[2]" in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`
}

const fishText = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`

function fishScript(name: string, commands: readonly CompletedCommand[]) {
  const lines = commands.flatMap(({ name: command, summary, words, options }) => [
    `complete -c ${name} -n __fish_use_subcommand -f -a ${command} -d ${fishText(summary)}`,
    ...(words.length > 0 ? [`complete -c ${name} -n '__fish_seen_subcommand_from ${command}' -f -a '${words.join(' ')}'`] : []),
    ...options.map(({ flag, summary: what, takesValue, choices }) => {
      const value = takesValue ? (choices.length > 0 ? ` -x -a '${choices.join(' ')}'` : ' -r') : ''
      return `complete -c ${name} -n '__fish_seen_subcommand_from ${command}' -l ${flag.slice(2)}${value} -d ${fishText(what)}`
    }),
  ])
  return `# Completion of ${name} for fish. Load it with: ${name} completion fish | source\n${lines.join('\n')}\n`
}
