import { parse, stringify } from 'yaml'
import * as z from 'zod'
import { mainOperationNames, operationGroups } from '../../src/operations.ts'
import { exitCodes } from '../../src/platform/core/errors.ts'
import { keysOf } from '../../src/platform/core/keys.ts'
import { toKebab } from '../../src/platform/core/names.ts'
import { fileInputs, fileSettings } from '../../src/platform/operation/inputs.ts'
import { stepExitCode } from '../../src/runtime/action/run-action.ts'
import { firstSentence } from '../../src/runtime/cli/help.ts'
import { commandLine, exitCodeMeanings } from '../../src/runtime/cli/operation-command.ts'
import { commonOutputs } from '../../src/runtime/cli/schema.ts'
import { ownership, type State } from '../../src/sync/decide/ownership.ts'
import { majorTag } from '../action-references.ts'
import { type FieldFacts, type OperationFacts, settings } from './describe.ts'

const inputTable = (fields: readonly FieldFacts[]): string => table(['input', 'meaning', 'accepted', 'default'], fields.map(inputRow))

const inputRow = (field: FieldFacts): readonly string[] => [
  code(field.name),
  [field.description, field.note, field.setting && 'A variable in the action.'].filter(Boolean).join(' '),
  field.accepts,
  field.isRequired ? 'required' : field.default === undefined ? '' : code(field.default),
]

const fieldList = (fields: readonly Pick<FieldFacts, 'name' | 'description'>[]): string =>
  fields.map(({ name, description }) => `- ${code(name)}: ${description}`).join('\n')

/** The main operations, with links into the reference at `reference`. */
export const mainOperationsTable = (operations: readonly OperationFacts[], reference: string): string =>
  table(
    ['operation', 'what it does'],
    mainOperationNames.map((main) => [
      `[${code(main)}](${reference}#${main})`,
      operations.flatMap(({ name, summary }) => (name === main ? [firstSentence(summary)] : [])).join(''),
    ]),
  )

export const exitCodesTable = (): string =>
  table(
    ['exit code', 'meaning', 'in the action'],
    keysOf<keyof typeof exitCodes>(exitCodes).map((name) => [
      String(exitCodes[name]),
      exitCodeMeanings[name],
      // The action has no option for it.
      name === 'hasChanges' ? '–' : String(stepExitCode(exitCodes[name])),
    ]),
  )

/** The settings that a config file in the repository may contain. */
export function configTable(operations: readonly OperationFacts[]): string {
  const ofOperations = fileInputs.map((name) => operations.flatMap(({ inputs }) => inputs).find((field) => field.name === toKebab(name)))
  const ofSettings = fileSettings.map((name) => settings.find((field) => field.name === toKebab(name)))
  const fields = [...ofSettings, ...ofOperations].filter((field) => field !== undefined)
  const rules = [
    code('rules'),
    'Severities of [rules](files.md#rules) for alerts and dashboards by their ids.',
    'a map of rules: `error`, `warning`, `note` or `off`',
    '',
  ]
  const sqlFunctions = [
    code('sql-functions'),
    'Functions of your own that [SQL in files](trust.md#sql-in-files) may call.',
    'a list of names of functions',
    '',
  ]
  return table(['key', 'meaning', 'accepted', 'default'], [...fields.map(inputRow), rules, sqlFunctions])
}

/** The rules of `validate`, then those of `plan` and `pull`. */
export async function rulesTable(): Promise<string> {
  const { planRules, toSarifRules } = await import('../../src/changes/rules.ts')
  const { pullRules } = await import('../../src/sync/pull/verify-draft.ts')
  const { lintRules } = await import('../../src/sync/declarations/lint.ts')
  return table(
    ['rule', 'what it finds', 'severity', 'can be set'],
    [...planRules, ...toSarifRules(pullRules)].map(({ id, description, severity }) => [
      code(id),
      description,
      severity,
      Object.hasOwn(lintRules, id) ? 'yes' : '',
    ]),
  )
}

/** What becomes of a declared object, row by row as `ownership` decides it. */
export const ownershipTable = (): string =>
  table(
    ['the object', 'is then'],
    ownership.map(({ action, with: how, ...state }) => [
      keysOf<keyof State>(state)
        .map((name) => wordsFor(conditionWords[name], String(state[name])))
        .join(', '),
      wordsFor(decisionWords, how === undefined ? action : `${action} with ${how}`),
    ]),
  )

type Words = Readonly<Record<string, string>>

function wordsFor(words: Words, value: string): string {
  const found = words[value]
  if (found === undefined) throw new Error(`scripts/reference/markdown.ts has no words for ${value}`)
  return found
}

const conditionWords: Readonly<Record<keyof State, Words>> = {
  object: {
    none: 'does not exist',
    several: 'can be one of several that differ',
    ours: 'has the marker',
    'of a former owner': 'has the marker of a former owner',
    unmarked: 'has no marker',
  },
  differs: { nowhere: 'is equal', 'in the marked text': 'differs in note or tags only' },
  changed: {
    files: 'changed in the files',
    service: 'changed in the service',
    both: 'changed in both',
    references: 'changed in what it refers to',
    unknown: 'what changed is not known',
  },
  isMade: { true: 'is made from something else', false: 'is in a file' },
  canMark: { true: 'without other writes' },
  isMarkerLatest: { true: 'with the latest base' },
  isWrittenAgain: { true: 'is repaired' },
}

const decisionWords: Words = {
  create: 'created',
  update: 'written',
  adopt: 'gets the marker',
  mark: 'gets the latest marker',
  unchanged: 'unchanged',
  'unchanged with no marker': 'tracked',
  hold: 'held, a failure',
  'hold with a warning': 'held, a warning',
}

export async function auditRulesTable(): Promise<string> {
  const { auditRules } = await import('../../src/cost/idling/audit-report.ts')
  return table(
    ['rule', 'what it finds', 'severity'],
    Object.entries(auditRules).map(([id, { description, severity }]) => [code(id), description, severity]),
  )
}

export function renderOperations(operations: readonly OperationFacts[]): string {
  const shared = sharedIn(operations.map((operation) => operation.inputs))
  return [
    '<!-- GENERATED from the operations by `npm run generate`. -->',
    '# Operations',
    'The action, the command line and the library have the same operations. An input is a `with:` key of the action, a `--flag` of the command line and a camelCase field of the library:',
    ...operations.filter(({ name }) => name === 'check-slos').map(renderForms),
    'Operations need `organization-id` and `service-id`, or a self-hosted server (`profile: hyperdx`), unless their section says otherwise.',
    'Each common input, and `project`, also has a variable: `WATCHKEEPER_` and its name in capitals, such as `WATCHKEEPER_API_KEY_SECRET`. Where it says *a variable in the action*, set this variable with `env:`, not with `with:`. [command-line.md](command-line.md) describes precedence, the config file and permissions.',
    ...operationGroups.map(({ title, names }) => `**${title}:** ${names.map((name) => `[\`${name}\`](#${name})`).join(', ')}`),
    '## Common inputs',
    inputTable(settings),
    '## Common outputs',
    fieldList(commonOutputs),
    'The result is a JSON document. It has each output in camelCase, and more fields: `watchkeeper schema plan` prints those of `plan` with their meaning.',
    '## Shared inputs',
    'Several operations have these inputs.',
    inputTable(shared),
    ...operations.map((operation) => renderOperation(operation, shared)),
  ]
    .join('\n\n')
    .concat('\n')
}

const isSame = (one: FieldFacts, other: FieldFacts): boolean => inputRow(one).join() === inputRow(other).join()

/** The inputs that several operations have, each name once and in its most frequent form. */
function sharedIn(lists: readonly (readonly FieldFacts[])[]): readonly FieldFacts[] {
  const all = lists.flat()
  const frequency = (field: FieldFacts): number => all.filter((other) => isSame(field, other)).length
  // An input whose default differs is in the tables of its operations.
  const hasOneDefault = ({ name, description, default: own }: FieldFacts): boolean =>
    all.every((other) => other.name !== name || other.description !== description || other.default === own)
  const byFrequency = all.filter((field) => frequency(field) > 1 && hasOneDefault(field)).toSorted((a, b) => frequency(b) - frequency(a))
  const mostFrequent = byFrequency.filter((field, i) => byFrequency.findIndex(({ name }) => name === field.name) === i)
  return mostFrequent.toSorted((a, b) => a.name.localeCompare(b.name))
}

const needs: Readonly<Record<OperationFacts['scope'], string>> = {
  none: ' Needs no address and no key.',
  organization: ' Needs `organization-id`. Not for `profile: hyperdx`.',
  service: ' Not for `profile: hyperdx`.',
  'organization-or-server': ' Needs no `service-id`.',
  'service-or-server': '',
}

function renderOperation(operation: OperationFacts, shared: readonly FieldFacts[]): string {
  const { name, summary, effect, scope, isOutsideOfAction, hasFiles, inputs, outputs } = operation
  const isShared = (input: FieldFacts): boolean => shared.some((other) => isSame(input, other))
  const own = inputs.filter((input) => !isShared(input))
  const names = inputs.filter(isShared).map((input) => code(input.name))
  return [
    `## ${name}`,
    `${summary} ${effect === 'write' ? 'Writes to the service.' : hasFiles ? 'Writes nothing to the service.' : 'Read-only.'}${needs[scope]}${isOutsideOfAction ? ' On the command line and in the library only.' : ''}`,
    ...(own.length === 0 ? [] : [inputTable(own)]),
    ...(names.length === 0 ? [] : [`[Shared inputs](#shared-inputs): ${names.join(', ')}.`]),
    ...(outputs.length === 0 ? [] : [`Outputs:\n\n${fieldList(outputs)}`]),
    fenced('sh', commandOf(operation)),
  ].join('\n\n')
}

/** As inputs of an action, which are texts: a list has one item per line, and a document is text, too. */
const inputsOf = ({ example }: OperationFacts): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(example).map(([key, value]) => [
      toKebab(key),
      Array.isArray(value) ? value.join('\n') : typeof value === 'object' ? stringify(value) : value,
    ]),
  )

const commandOf = ({ name, example, positional }: OperationFacts): string => commandLine(name, example, positional)

function renderForms(operation: OperationFacts): string {
  const { name, method, example } = operation
  const step = [{ uses: `watchkeeper/watchkeeper@${majorTag}`, with: { operation: name, ...inputsOf(operation) } }]
  return [
    fenced('yaml', stringify(step, { lineWidth: 0 }).trimEnd()),
    fenced('sh', commandOf(operation)),
    fenced('ts', `await client.${method}(${literal(example)})`),
  ].join('\n\n')
}

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``

const literal = (example: Readonly<Record<string, unknown>>): string =>
  `{ ${Object.entries(example)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value)}`)
    .join(', ')} }`

const described = z.object({ description: z.string() })

const reusableWorkflow = z.object({
  on: z.object({
    workflow_call: z.object({
      inputs: z.record(
        z.string(),
        described.extend({
          type: z.enum(['string', 'boolean', 'number']),
          required: z.boolean().optional(),
          default: z.union([z.string(), z.boolean(), z.number()]).optional(),
        }),
      ),
      secrets: z.record(z.string(), described),
    }),
  }),
  jobs: z.record(z.string(), z.object({ permissions: z.record(z.string(), z.enum(['read', 'write'])) })),
})

type ReusableWorkflow = z.output<typeof reusableWorkflow>

/** The generated parts of docs/reusable-workflows.md by the names of their markers. `texts` are the files by their names without `.yml`. */
export const reusableParts = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, render(reusableWorkflow.parse(parse(text)))]))

function render({ on, jobs }: ReusableWorkflow): string {
  const { inputs, secrets } = on.workflow_call
  const permissions = Object.entries(permissionsOf(jobs)).map(([name, level]) => code(`${name}: ${level}`))
  return [
    [
      `Permissions that the caller grants: ${permissions.join(', ')}.`,
      ...Object.entries(secrets).map(([name, { description }]) => `Secret ${code(name)}: ${lowerFirst(description)}`),
    ].join(' '),
    table(
      ['input', 'type', 'meaning', 'default'],
      Object.entries(inputs).map(([name, { type, description, required, default: standard }]) => [
        code(name),
        type,
        description,
        required === true ? 'required' : standard === undefined ? '' : code(String(standard)),
      ]),
    ),
  ].join('\n\n')
}

/** The permissions of all jobs together, which a caller has to grant. */
function permissionsOf(jobs: ReusableWorkflow['jobs']): Readonly<Record<string, string>> {
  const all = Object.values(jobs).flatMap(({ permissions }) => Object.entries(permissions))
  return Object.fromEntries(all.toSorted(([, one], [, other]) => one.localeCompare(other)))
}

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

const code = (text: string): string => `\`${text}\``

/** A sentence as part of another one. */
const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`
