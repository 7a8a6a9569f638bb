import * as z from 'zod'
import { type OperationName, operations } from '../../operations.ts'
import { exitCodes } from '../../platform/core/errors.ts'
import { toCamel, toEnvironmentName, toKebab } from '../../platform/core/names.ts'
import { coreOf, defaultOf, isFlag, metaOf, type Schema, type Shape } from '../../platform/documents/schema.ts'
import { fileInputs, fileSettings, settingsSchema } from '../../platform/operation/inputs.ts'
import type { Operation } from '../../platform/operation/operation.ts'
import type { Command, CommandOption } from './command.ts'
import { firstSentence, optionLines } from './help.ts'
import { argumentOf, nextCommand } from './next-command.ts'
import { runAtTerminal } from './run-operation.ts'
import type { Terminal } from './terminal.ts'

function yesText(asksFirst: Operation['asksFirst']) {
  if (typeof asksFirst !== 'object') return asksFirst === true ? 'write without asking' : 'accepted; this command never asks'
  const asking = Object.entries(asksFirst).map(([input, value]) => `--${toKebab(input)} ${value}`)
  return `accepted; this command only asks with ${asking.join(' ')}`
}

export async function operationCommand(name: OperationName, terminal: Terminal): Promise<Command> {
  const operation: Operation = await operations[name]()
  const { summary, effect, input, positional, asksFirst, scope, example, moreExamples = [] } = operation
  const common = optionsOf(settingsSchema.shape)
  const switches: readonly (CommandOption | false)[] = [
    effect === 'write' && { name: 'yes', kind: 'switch', text: yesText(asksFirst) },
    name === 'plan' && {
      name: 'detailed-exitcode',
      kind: 'switch',
      text: `exit with ${exitCodes.hasChanges} when apply would write something`,
      group: outputGroup,
    },
    { name: 'json', kind: 'switch', text: 'print the result as JSON', group: outputGroup },
  ]
  const ids =
    scope.startsWith('service') || Object.hasOwn(input.shape, 'services') ? '--organization-id and --service-id' : '--organization-id'
  const server = scope.endsWith('-or-server') ? ' or --api-url' : ''
  return {
    name,
    summary,
    options: [
      ...optionsOf(input.shape).filter((option) => option.name !== positional),
      ...common.filter(({ group }) => group === outputGroup),
      ...switches.filter((option) => option !== false),
      ...common.filter(({ group }) => group !== outputGroup).map((option) => ({ ...option, isCommon: true })),
    ],
    ...(positional !== undefined && {
      words: { shown: `<${positional}>`, text: helpText(input.shape[positional]), max: Number.POSITIVE_INFINITY },
    }),
    examples: [example, ...moreExamples].map((one) => commandLine(name, one, positional)),
    notes: [
      ...(scope === 'none'
        ? []
        : [
            `Server: --profile, ${ids}${server}, or their variables, such as ${toEnvironmentName('profile')}. Keys only come from variables.`,
            '',
          ]),
      `Exit codes: ${Object.entries(exitCodesOf(name, operation))
        .map(([code, meaning]) => `${code} ${meaning}`)
        .join(', ')}.`,
      `Common options: watchkeeper help options. Details: watchkeeper schema ${name}`,
    ],
    explainOption: (option) =>
      option === positional ? `Write the ${option} after the command: watchkeeper ${name} <${option}>.` : explainOption(option),
    async run({ options: { json, yes, 'detailed-exitcode': detailedExitcode, ...given }, words }) {
      const inputs = {
        ...(positional !== undefined && words.length > 0 && { [positional]: words.join('\n') }),
        ...Object.fromEntries(Object.entries(given).map(([option, value]) => [toCamel(option), value])),
      }
      const called = { name, inputs, positional, yes: yes === 'true', isWrite: effect === 'write', isOffline: scope === 'none' }
      return runAtTerminal(name, inputs, {
        json: json === 'true',
        yes: called.yes,
        detailedExitcode: detailedExitcode === 'true',
        nextCommand: (error) => nextCommand(called, error),
        terminal,
      })
    },
  }
}

const outputGroup = 'Output'

const optionsOf = (shape: Shape): readonly CommandOption[] =>
  Object.entries(shape).flatMap(([name, field]) => (metaOf(field).secret ? [] : [optionOf(toKebab(name), field)]))

/** The list of processes shows options to everyone on the machine. */
const secretNames = Object.entries(settingsSchema.shape).flatMap(([name, field]) => (metaOf(field).secret ? [toKebab(name)] : []))

const configKeys: readonly string[] = [
  ...fileSettings.map(toKebab),
  ...fileInputs,
  'rules',
  'sql-functions',
  'previous-project',
  'previous-repository',
]

function explainOption(name: string) {
  if (secretNames.includes(name))
    return `A secret is not an option, because others can see it in the list of processes. Set ${toEnvironmentName(name)}.`
  return configKeys.includes(name) ? 'It is a key of .watchkeeper.yml.' : undefined
}

/** No message may quote a secret among the arguments. */
export const secretArguments = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg, i) => {
    const [, name = '', value] = /^--?([^=]+)(?:=(.*))?$/s.exec(arg) ?? []
    return secretNames.includes(name) ? (value ?? args[i + 1] ?? []) : []
  })

export const optionsHelp = (): string =>
  [
    'Options of all commands. Each is also a variable: --read-only is WATCHKEEPER_READ_ONLY.',
    '',
    ...optionLines(optionsOf(settingsSchema.shape).filter(({ group }) => group !== outputGroup)),
    'Only as variables, because others can see options in the list of processes:',
    ...secretNames.map((name) => `  ${toEnvironmentName(name)}`),
    '',
  ].join('\n')

function optionOf(name: string, field: Schema): CommandOption {
  const core = coreOf(field)
  const { group } = metaOf(field)
  const choices = fieldChoices(core)
  const placeholder = isFlag(core) ? choices.filter((choice) => choice !== 'true' && choice !== 'false').join('|') : placeholderFor(field)
  return {
    name,
    kind: isFlag(core) ? 'flag' : core instanceof z.ZodArray ? 'list' : 'value',
    ...(placeholder !== '' && { placeholder }),
    text: helpText(field),
    ...(group !== undefined && { group }),
    ...(choices.length > 0 && { choices }),
  }
}

function fieldChoices(core: Schema) {
  if (core instanceof z.ZodBoolean) return ['true', 'false']
  if (core instanceof z.ZodEnum) return core.options.map(String)
  return core instanceof z.ZodLiteral ? [...core.values].map(String) : []
}

const maxChoicesLength = 24

const placeholders: readonly (readonly [RegExp, string])[] = [
  [/^(?:a path|paths|globs?)\b/, 'file'],
  [/^a UUID/, 'uuid'],
  [/^an id\b/, 'id'],
  [/^https:/, 'url'],
  [/^a day|^YYYY/, 'date'],
  [/^keys/, 'keys'],
  [/^letters|^a project/, 'name'],
  [/^format=path/, 'format=file'],
  [/^conditions/, 'condition'],
  [/^an amount|^a decimal/, 'amount'],
  [/^a (?:whole )?number/, 'number'],
]

function placeholderFor(field: Schema) {
  const core = coreOf(field)
  const { accepts = '' } = metaOf(field)
  const choices = fieldChoices(core).join('|')
  if (choices !== '' && choices.length <= maxChoicesLength) return choices
  return placeholders.find(([grammar]) => grammar.test(accepts))?.[1] ?? (core instanceof z.ZodNumber ? 'number' : 'text')
}

function helpText(field: Schema) {
  const { description = '', accepts, note } = metaOf(field)
  const core = coreOf(field)
  const standard = defaultOf(field)
  const isHiddenChoice = core instanceof z.ZodEnum && fieldChoices(core).join('|').length > maxChoicesLength
  return [
    [description, ...(note === undefined ? [] : [note])].map(firstSentence).join('. ').replaceAll('`', ''),
    ...(isHiddenChoice ? [`(${accepts})`] : []),
    ...(standard === undefined || standard === false ? [] : [`[${String(standard)}]`]),
  ].join(' ')
}

export function commandLine(name: string, example: Readonly<Record<string, unknown>>, positional: string | undefined): string {
  const given = Object.entries(example).flatMap(([field, value]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    return values.map((one) => argumentOf(field, String(one), positional))
  })
  return ['watchkeeper', name, ...given].join(' ')
}

export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'success',
  error: 'error',
  input: 'wrong input or files',
  denied: 'key or permission',
  partlyApplied: 'incomplete after a write',
  gateFailed: 'a gate failed',
  hasChanges: 'changes (--detailed-exitcode)',
  canceled: 'canceled before a write',
}

export function exitCodesOf(name: OperationName, { effect, scope, judge }: Operation): Readonly<Record<string, string>> {
  const isPossible: Readonly<Partial<Record<keyof typeof exitCodes, boolean>>> = {
    denied: scope !== 'none',
    partlyApplied: effect === 'write',
    gateFailed: judge !== undefined,
    hasChanges: name === 'plan',
  }
  const codes = Object.entries(exitCodeMeanings).map(([key, meaning]) => ({ key: key as keyof typeof exitCodes, meaning })) // Its own keys.
  return Object.fromEntries(codes.filter(({ key }) => isPossible[key] !== false).map(({ key, meaning }) => [exitCodes[key], meaning]))
}
