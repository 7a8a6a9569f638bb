import { stringify } from 'yaml'
import { commonOutputs } from '../../src/runtime/cli/schema.ts'
import { type FieldFacts, type OperationFacts, settings } from './describe.ts'

/** Only the token and the address have a default in action.yml, and that of the address means none: others would hide variables and the config file. */
export function renderActionYml(operations: readonly OperationFacts[]): string {
  const action = {
    name: 'Watchkeeper',
    description: 'Alerts and dashboards as code, a cost gate and backup checks for ClickHouse Cloud and ClickStack.',
    author: 'Watchkeeper maintainers',
    branding: { icon: 'eye', color: 'blue' },
    inputs: {
      operation: { description: `What to do: ${operations.map(({ name }) => name).join(', ')}.`, required: true },
      ...Object.fromEntries(settings.filter(isInput).map((field) => [field.name, describeSetting(field)])),
      ...collect(operations, 'inputs', describeInput, { required: false }),
    },
    outputs: {
      ...Object.fromEntries(commonOutputs.map(({ name, description }) => [name, { description }])),
      ...collect(operations, 'outputs', ({ description }) => description, {}),
    },
    runs: { using: 'node24', main: 'dist/index.js' },
  }
  return `# GENERATED from the operations by \`npm run generate\`.\n${stringify(action, { lineWidth: 0 })}`
}

/** An operator's setting is a variable. */
const isInput = ({ setting }: FieldFacts): boolean => setting === undefined

const describeSetting = (field: FieldFacts): Readonly<Record<string, unknown>> => ({
  description: describeInput(field),
  required: false,
  ...(field.actionDefault !== undefined && { default: field.actionDefault }),
})

const describeInput = ({ description, accepts }: FieldFacts): string =>
  accepts === '' ? description : `${description} Accepted: ${accepts}.`

/** The fields of all operations by name; each description with the operations that it applies to. */
function collect(
  operations: readonly OperationFacts[],
  kind: 'inputs' | 'outputs',
  describe: (field: FieldFacts) => string,
  more: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const users = new Map<string, Map<string, string[]>>()
  for (const operation of operations) {
    for (const field of operation[kind].filter(isInput)) {
      const texts = users.get(field.name) ?? new Map<string, string[]>()
      users.set(field.name, texts)
      const text = describe(field)
      texts.set(text, [...(texts.get(text) ?? []), operation.name])
    }
  }
  return Object.fromEntries(
    [...users].map(([name, texts]) => [
      name,
      {
        description: [...texts].map(([text, names]) => `${text} (${names.join(', ')})`).join(' '),
        ...more,
      },
    ]),
  )
}
