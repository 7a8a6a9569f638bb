// Reads lines and files as GitHub's runner does: the judge of everything that goes into a log or an output.
// Source: actions/runner, ActionCommand.cs (both command forms) and FileCommandManager.cs (name-value files).

interface Command {
  readonly name: string
  readonly data: string
}

const registered = new Set(
  'error warning notice debug add-mask set-output set-env save-state add-path group endgroup stop-commands echo add-matcher remove-matcher internal-set-repo-path'.split(
    ' ',
  ),
)

export const commandsIn = (output: string): readonly Command[] => output.split(/\r\n|\n|\r/).flatMap((line) => commandIn(line) ?? [])

/** Titles of the folds that the action itself makes in its log. */
const ownFolds = new Set(['Requests', 'GitHub'])

/** Without those folds, where each has its end: what is left was not meant. */
export function withoutOwnFolds(commands: readonly Command[]): readonly Command[] {
  const rest: Command[] = []
  let isInFold = false
  for (const command of commands) {
    const isMeant: boolean = isInFold ? command.name === 'endgroup' : command.name === 'group' && ownFolds.has(command.data)
    if (isMeant) isInFold = !isInFold
    else rest.push(command)
  }
  return isInFold ? [...rest, { name: 'group', data: 'without an end' }] : rest
}

function commandIn(line: string): Command | undefined {
  const current = /^\s*::([^ :]+)(?: [^:]*?)?::(.*)$/s.exec(line) ?? /^\s*::([^ :]+)(?: .*?)?::(.*)$/s.exec(line)
  if (current?.[1] && registered.has(current[1].toLowerCase())) return { name: current[1].toLowerCase(), data: current[2] ?? '' }
  const start = line.indexOf('##[')
  const end = line.indexOf(']', start)
  if (start < 0 || end < 0) return undefined
  const [name = ''] = line.slice(start + 3, end).split(' ')
  return registered.has(name.toLowerCase()) ? { name: name.toLowerCase(), data: line.slice(end + 1) } : undefined
}

/** `NAME=VALUE` or `NAME<<DELIMITER`, whichever mark comes first. */
export function readOutputFile(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  const lines = text.split(/\r\n|\n/)
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? ''
    if (line === '') continue
    const [equals, heredoc] = [line.indexOf('='), line.indexOf('<<')]
    if (heredoc >= 0 && (equals < 0 || heredoc < equals)) {
      const delimiter = line.slice(heredoc + 2)
      const end = lines.indexOf(delimiter, i + 1)
      if (end < 0) throw new Error(`Matching delimiter not found '${delimiter}'`)
      values.set(line.slice(0, heredoc), lines.slice(i + 1, end).join('\n'))
      i = end
    } else if (equals >= 0) values.set(line.slice(0, equals), line.slice(equals + 1))
    else throw new Error(`Invalid format '${line}'`)
  }
  return values
}
