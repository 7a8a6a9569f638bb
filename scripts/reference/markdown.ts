import { parse, stringify } from 'yaml'
import * as z from 'zod'
import { toCamel, toKebab } from '../../src/core/names.ts'
import { fileInputs, fileSettings } from '../../src/operation/inputs.ts'
import { operationGroups } from '../../src/operations.ts'
import { commonOutputs } from '../../src/runtime/cli/schema.ts'
import { majorTag } from '../action-references.ts'
import { type FieldFacts, type OperationFacts, settings } from './describe.ts'

const inputTable = (fields: readonly FieldFacts[]): string => table(['input', 'meaning', 'accepted', 'default'], fields.map(inputRow))

const inputRow = (field: FieldFacts): readonly string[] => [
  code(field.name),
  field.setting === undefined ? field.description : `${field.description} ${places[field.setting]}`,
  field.accepts,
  field.isRequired ? 'required' : field.default === undefined ? '' : code(field.default),
]

/** Where an input is that the action does not have. */
const places = { variable: 'A variable in the action.', option: 'On the command line and in the library only.' } as const

const outputTable = (fields: readonly Pick<FieldFacts, 'name' | 'description'>[]): string =>
  table(
    ['output', 'meaning'],
    fields.map(({ name, description }) => [code(name), description]),
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
  return table(['key', 'meaning', 'accepted', 'default'], [...fields.map(inputRow), rules])
}

/** The rules of `validate`, then those of `plan` and `pull`. */
export async function rulesTable(): Promise<string> {
  const { planRules, toSarifRules } = await import('../../src/sync/rules.ts')
  const { pullRules } = await import('../../src/sync/pull/pull-diagnostics.ts')
  const { lintRules } = await import('../../src/declarations/lint.ts')
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

export async function auditRulesTable(): Promise<string> {
  const { auditRules } = await import('../../src/idling/audit-rules.ts')
  return table(
    ['rule', 'what it finds', 'severity'],
    Object.entries(auditRules).map(([id, { description, severity }]) => [code(id), description, severity]),
  )
}

export function renderOperations(operations: readonly OperationFacts[]): string {
  return [
    '<!-- GENERATED from the operations by `npm run generate`. -->',
    '# Operations',
    'The action, the command line and the library have the same operations. An input is a `with:` key of the action, a `--flag` of the command line and a camelCase field of the library. Each common input also has an environment variable: `WATCHKEEPER_` and its name in capitals, such as `WATCHKEEPER_API_KEY_SECRET`. What the operator of a runner decides is *a variable in the action*, and no input. [configuration.md](configuration.md) describes precedence, the config file and permissions.',
    ...operationGroups.map(({ title, names }) =>
      tableOfContents(
        title,
        operations.filter(({ name }) => names.some((one) => one === name)),
      ),
    ),
    '## Common inputs',
    inputTable(settings),
    '## Common outputs',
    outputTable(commonOutputs),
    ...operations.map(renderOperation),
  ]
    .join('\n\n')
    .concat('\n')
}

const tableOfContents = (title: string, operations: readonly OperationFacts[]): string =>
  [`**${title}**`, '', ...operations.map(({ name, summary }) => `- [\`${name}\`](#${name}): ${summary}`)].join('\n')

const needs: Readonly<Record<OperationFacts['scope'], string>> = {
  none: 'Needs no address and no key.',
  organization: 'Needs `organization-id`. Not for `profile: hyperdx`.',
  service: 'Needs `organization-id` and `service-id`. Not for `profile: hyperdx`.',
  'organization-or-server': 'Needs `organization-id`, unless the profile is `hyperdx`.',
  'service-or-server': 'Needs `organization-id` and `service-id`, unless the profile is `hyperdx`.',
}

function renderOperation(operation: OperationFacts): string {
  const { name, summary, effect, scope, isOutsideOfAction, inputs, outputs, details } = operation
  return [
    `## ${name}`,
    `${summary} ${effect === 'read' ? 'Read-only.' : 'Writes to the service.'} ${needs[scope]}${isOutsideOfAction ? ` ${places.option}` : ''}`,
    ...(inputs.length === 0 ? [] : [inputTable(inputs)]),
    outputTable(outputs),
    ...(details.length === 0
      ? []
      : [
          'The full result (`--json`, `result`, `result-file`) has the outputs in camelCase, and these fields:',
          table(
            ['field', 'meaning'],
            details.map(({ name: field, description }) => [code(toCamel(field)), description]),
          ),
        ]),
    renderExample(operation),
  ].join('\n\n')
}

function renderExample({ name, method, example }: OperationFacts): string {
  const inputs = Object.fromEntries(Object.entries(example).map(([key, value]) => [toKebab(key), value]))
  const flags = Object.entries(inputs).map(([key, value]) => ` \\\n  --${key} ${shellWord(String(value))}`)
  const step = stringify([{ uses: `watchkeeper/watchkeeper@${majorTag}`, with: { operation: name, ...inputs } }], { lineWidth: 0 })
  const argument = Object.keys(example).length === 0 ? '' : literal(example)
  return [
    fenced('yaml', step.trimEnd()),
    fenced('sh', `watchkeeper ${name}${flags.join('')}`),
    fenced('ts', `await client.${method}(${argument})`),
  ].join('\n\n')
}

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``

const shellWord = (text: string): string => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

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
      outputs: z.record(z.string(), described),
    }),
  }),
  jobs: z.record(z.string(), z.object({ permissions: z.record(z.string(), z.enum(['read', 'write'])) })),
})

type ReusableWorkflow = z.output<typeof reusableWorkflow>

/** The generated parts of docs/reusable-workflows.md by the names of their markers. `texts` are the files by their names without `.yml`. */
export const reusableParts = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, render(reusableWorkflow.parse(parse(text)))]))

function render({ on, jobs }: ReusableWorkflow): string {
  const { inputs, secrets, outputs } = on.workflow_call
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
    table(
      ['output', 'meaning'],
      Object.entries(outputs).map(([name, { description }]) => [code(name), description]),
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
