import type { OperationName } from '../../operations.ts'
import { errorKinds } from '../../platform/core/errors.ts'
import { toKebab } from '../../platform/core/names.ts'
import { shellQuote } from '../../platform/core/text.ts'
import { metaOf, type Shape } from '../../platform/documents/schema.ts'
import { settingsSchema } from '../../platform/operation/inputs.ts'
import type { ResultError } from '../../platform/operation/result.ts'

/** A command as it was given. */
interface GivenCommand {
  readonly name: OperationName
  /** Inputs by camelCase name, as text. A list has one item a line. */
  readonly inputs: Readonly<Record<string, string>>
  /** The input without an option. */
  readonly positional?: string | undefined
  readonly yes: boolean
  readonly isWrite: boolean
  /** Whether the operation works without a server. */
  readonly isOffline?: boolean
}

const settingShape: Shape = settingsSchema.shape

/** The inputs of apply that plan has, too. */
const planInputs: readonly string[] = ['files', 'env', 'project', 'prune', 'repair', 'allowEmpty', 'maxDeletes']

/** The list that shows the objects which the operation is about. */
const lists: readonly (readonly [RegExp, OperationName])[] = [
  [/alert/, 'list-alerts'],
  [/dashboard/, 'list-dashboards'],
  [/saved-search/, 'list-saved-searches'],
  [/backup/, 'list-backups'],
]

/** The next command to try after an error: for the same service, without secrets. Undefined after a bug, which no command helps with. */
export function nextCommand(given: GivenCommand, { kind, diagnostics }: Pick<ResultError, 'kind' | 'diagnostics'>): string | undefined {
  if (kind === 'bug') return undefined
  // The input is not wrong: the operation is not allowed.
  if (kind === 'input' && given.isWrite && diagnostics.some(({ location }) => location.file === 'operation')) return look(given)
  if (diagnostics.some(({ rule }) => rule === 'no-files')) return given.isOffline ? 'watchkeeper init' : ofService('pull', given)
  switch (errorKinds[kind].next) {
    case 'schema':
      return `watchkeeper schema ${given.name}`
    case 'again':
      return again(given)
    case 'look':
      return kind === 'canceled' && !given.isWrite ? again(given) : look(given)
    case 'list':
      return listOf(given) ?? ofService('doctor', given)
    default:
      return ofService('doctor', given)
  }
}

/** The same command again. Its confirmation still holds, because the inputs are the same. */
const again = (given: GivenCommand): string => write(given.name, given, () => true, given.yes)

/** A read that shows what was written. */
const look = (given: GivenCommand): string =>
  given.name === 'apply'
    ? write('plan', given, (name) => isKept(name) || planInputs.includes(name))
    : (listOf(given) ?? ofService('doctor', given))

function listOf(given: GivenCommand): string | undefined {
  const [, name] = lists.find(([noun]) => noun.test(given.name)) ?? []
  return name === undefined ? undefined : ofService(name, given)
}

const ofService = (name: OperationName, given: GivenCommand): string => write(name, given, isKept)

/** Whether another operation gets the input. Its reports would overwrite those of the command that failed. */
const isKept = (input: string): boolean => Object.hasOwn(settingShape, input) && input !== 'reports'

function write(name: OperationName, { inputs, positional }: GivenCommand, isWanted: (name: string) => boolean, yes = false): string {
  const options = Object.entries(inputs).flatMap(([input, text]) => {
    const setting = settingShape[input]
    // The secret comes from a variable the next time.
    if (!isWanted(input) || (setting !== undefined && metaOf(setting).secret)) return []
    // An option that switches nothing off would mislead a reader.
    if (input === 'readOnly' && text === 'false') return []
    return text.split('\n').map((item) => argumentOf(input, item, positional))
  })
  return ['watchkeeper', name, ...options, ...(yes ? ['--yes'] : []), '--json'].join(' ')
}

/** A value of an input as a command has it. */
export function argumentOf(input: string, text: string, positional: string | undefined): string {
  if (input === positional) return shellQuote(text)
  return text === 'true' ? `--${toKebab(input)}` : `--${toKebab(input)} ${shellQuote(text)}`
}
