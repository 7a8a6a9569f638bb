// Owns the generated Markdown: docs/operations.md, and the tables that stand in the README between markers.
import { stringify } from 'yaml'
import { toKebab } from '../../src/core/names.ts'
import { commonOutputs, type FieldFacts, type OperationFacts, settings } from './describe.ts'
import { code, lowerFirst, table } from './tables.ts'

const inputTable = (fields: readonly FieldFacts[]): string =>
  table(
    ['input', 'meaning', 'accepted', 'default'],
    fields.map((field) => [
      code(field.name),
      field.description,
      field.accepts,
      field.isRequired ? 'required' : field.default === undefined ? '' : code(field.default),
    ]),
  )

const outputTable = (fields: readonly FieldFacts[]): string =>
  table(
    ['output', 'meaning'],
    fields.map(({ name, description }) => [code(name), description]),
  )

const anchor = (name: string): string => `[\`${name}\`](docs/operations.md#${name})`

/** The README's generated parts by the name in their markers. */
export const readmeTables = (operations: readonly OperationFacts[]): Readonly<Record<string, string>> => ({
  operations: table(
    ['operation', 'what it does'],
    operations.map(({ name, summary }) => [anchor(name), summary]),
  ),
  settings: inputTable(settings),
  inputs: table(
    ['operation', 'inputs', 'outputs'],
    operations.map(({ name, inputs, outputs }) => [code(name), listOf(inputs), listOf(outputs)]),
  ),
  outputs: outputTable(commonOutputs),
})

/** What `validate` looks for, and after it what `plan` does. Loaded only here: a description of the list needs none of it. */
export async function rulesTable(): Promise<string> {
  const { planRules } = await import('../../src/sync/rules.ts')
  const { lintRules } = await import('../../src/sync/lint.ts')
  return table(
    ['rule', 'what it finds', 'severity', 'can be set'],
    planRules.map(({ id, description, severity }) => [code(id), description, severity, Object.hasOwn(lintRules, id) ? 'yes' : '']),
  )
}

const listOf = (fields: readonly FieldFacts[]): string => fields.map(({ name }) => code(name)).join(', ')

export function renderOperations(operations: readonly OperationFacts[]): string {
  return [
    '<!-- GENERATED from the operations by `npm run generate`. -->',
    '# Operations',
    'Every operation has one definition; the action, the command line and the library are made from it. Inputs are `with:` keys of the action, `--flags` of the command line and camelCase fields of the library. The common inputs also read an environment variable: `WATCHKEEPER_` and the name in capitals, such as `WATCHKEEPER_API_KEY_SECRET`.',
    operations.map(({ name, summary }) => `- [\`${name}\`](#${name}): ${summary}`).join('\n'),
    '## Common inputs',
    inputTable(settings),
    '## Common outputs',
    outputTable(commonOutputs),
    ...operations.map(renderOperation),
  ]
    .join('\n\n')
    .concat('\n')
}

const needs: Readonly<Record<OperationFacts['scope'], string>> = {
  none: 'Needs neither an address nor a key.',
  organization: 'Needs `organization-id`.',
  service: 'Needs `organization-id` and `service-id`.',
}

function renderOperation(operation: OperationFacts): string {
  const { name, summary, effect, scope, inputs, outputs, details } = operation
  return [
    `## ${name}`,
    `${summary} ${effect === 'read' ? 'It only reads.' : 'It writes.'} ${needs[scope]}`,
    ...(inputs.length === 0 ? [] : [inputTable(inputs)]),
    outputTable(outputs),
    ...(details.length === 0
      ? []
      : [
          `The full result also holds ${details.map((field) => `${code(toCamelField(field.name))} (${asClause(field.description)})`).join('; ')}.`,
        ]),
    renderExample(operation),
  ].join('\n\n')
}

const toCamelField = (kebab: string): string => kebab.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

const asClause = (sentence: string): string => lowerFirst(sentence).replace(/\.$/, '')

function renderExample({ name, method, example }: OperationFacts): string {
  const inputs = Object.fromEntries(Object.entries(example).map(([key, value]) => [toKebab(key), value]))
  const flags = Object.entries(inputs).map(([key, value]) => ` \\\n  --${key} ${shellWord(String(value))}`)
  const step = stringify([{ uses: 'watchkeeper/watchkeeper@v0', with: { operation: name, ...inputs } }], { lineWidth: 0 })
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
