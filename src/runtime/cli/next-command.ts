import type { OperationName } from '../../operations.ts'
import { errorKinds } from '../../platform/core/errors.ts'
import { toKebab } from '../../platform/core/names.ts'
import { shellQuote } from '../../platform/core/text.ts'
import { metaOf, type Shape } from '../../platform/documents/schema.ts'
import { settingsSchema } from '../../platform/operation/inputs.ts'
import type { ResultError } from '../../platform/operation/result.ts'

interface GivenCommand {
  readonly name: OperationName
  /** Texts by camelCase name. A list has one item a line. */
  readonly inputs: Readonly<Record<string, string>>
  readonly positional?: string | undefined
  readonly yes: boolean
  readonly isWrite: boolean
  readonly isOffline?: boolean
}

const settingShape: Shape = settingsSchema.shape

const lists: readonly (readonly [RegExp, OperationName])[] = [
  [/alert/, 'list-alerts'],
  [/dashboard/, 'list-dashboards'],
  [/saved-search/, 'list-saved-searches'],
  [/backup/, 'list-backups'],
]

/** For the same service, without secrets. Undefined after a bug, which no command helps with. */
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
      return listCommand(given) ?? ofService('doctor', given)
    default:
      return ofService('doctor', given)
  }
}

/** The confirmation still holds, because the inputs are the same. */
const again = (given: GivenCommand) => spellCommand(given.name, given, () => true, given.yes)

const look = (given: GivenCommand) =>
  given.name === 'apply'
    ? spellCommand(
        'plan',
        given,
        (name) => isPassedOn(name) || ['files', 'env', 'project', 'prune', 'repair', 'allowEmpty', 'maxDeletes'].includes(name),
      )
    : (listCommand(given) ?? ofService('doctor', given))

function listCommand(given: GivenCommand) {
  const [, name] = lists.find(([noun]) => noun.test(given.name)) ?? []
  return name === undefined ? undefined : ofService(name, given)
}

const ofService = (name: OperationName, given: GivenCommand) => spellCommand(name, given, isPassedOn)

/** Reports of another operation would overwrite those of the command that failed. */
const isPassedOn = (input: string) => Object.hasOwn(settingShape, input) && input !== 'reports'

function spellCommand(name: OperationName, { inputs, positional }: GivenCommand, isWanted: (name: string) => boolean, yes = false) {
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

export function argumentOf(input: string, text: string, positional: string | undefined): string {
  if (input === positional) return shellQuote(text)
  return text === 'true' ? `--${toKebab(input)}` : `--${toKebab(input)} ${shellQuote(text)}`
}
