// JSON Schemas for editors and other tools, from the zod schemas that validate the real input.
import * as z from 'zod'
import { checksFileSchema } from '../../src/backups/checks-file.ts'
import { planInput } from '../../src/changes/inputs.ts'
import { budgetsFileSchema } from '../../src/cost/usage/budgets-file.ts'
import { declaredAlert } from '../../src/kinds/alert/alert.ts'
import { wholeDashboard } from '../../src/kinds/dashboard/dashboard-file.ts'
import { sectionNames } from '../../src/kinds/kind-names.ts'
import { withoutAdoption } from '../../src/objects/single-object.ts'
import { isMapping } from '../../src/platform/core/keys.ts'
import { toKebab } from '../../src/platform/core/names.ts'
import { fileSettings, settingsSchema } from '../../src/platform/operation/inputs.ts'
import { type JsonSchema, toJsonSchema } from '../../src/runtime/cli/schema.ts'
import { previousOwnerShape, ruleSettingsSchema, sqlFunctionsSchema } from '../../src/runtime/config-file.ts'
import { environmentSchema } from '../../src/sync/declarations/environment.ts'
import { declarationsSchema } from '../../src/sync/declarations/file-schema.ts'

/** Schemas by file name. */
export const renderSchemas = (): Readonly<Record<string, string>> => ({
  'config.schema.json': write('Settings of a repository (.watchkeeper.yml)', configSchema()),
  'alert.schema.json': write('An alert, as create-alert takes it', toJsonSchema(withoutAdoption(declaredAlert))),
  'dashboard.schema.json': write('A dashboard, as create-dashboard and update-dashboard take it', toJsonSchema(wholeDashboard)),
  'budgets.schema.json': write('Budgets, as usage-cost takes them', toJsonSchema(budgetsFileSchema)),
  'backups.schema.json': write(
    'Checks of a restored service and policies for backups, as verify-restore and check-backups take them',
    toJsonSchema(checksFileSchema),
  ),
  'observability.schema.json': write('Alerts, dashboards and saved searches, as validate takes them', observabilitySchema()),
  'environment.schema.json': write('An environment (environments/NAME.yml)', toJsonSchema(environmentSchema)),
})

type Schema = JsonSchema

/** The schemas by name that a schema has as `properties` or `$defs`. */
const schemasIn = (value: unknown): Readonly<Record<string, Schema>> => (value ?? {}) as Readonly<Record<string, Schema>> // As JSON Schema defines it.

const write = (title: string, { $schema, ...schema }: Schema): string => `${JSON.stringify({ $schema, title, ...schema }, null, 2)}\n`

const variable = '\\$\\{\\{\\s*(?:env|instance)\\.[A-Za-z_][A-Za-z0-9_]*\\s*\\}\\}'

/** An editor sees the expression itself; its value is validated when it is filled in. */
function observabilitySchema(): Schema {
  const { $schema, $defs, properties, ...schema } = withExpressions(toJsonSchema(declarationsSchema)) as Schema // A map stays a map.
  const expression = { type: 'string', pattern: `^${variable}$` }
  const textWithExpression = { type: 'string', pattern: variable }
  // A key can have an expression only in a file with instances, and only with their values.
  const keyWithExpression = { type: 'string', pattern: variable.replace('(?:env|instance)', 'instance') }
  const entries = Object.entries(schemasIn(properties)).map(([name, property]) => {
    const { propertyNames, ...rest } = property
    const isSection = sectionNames.some((kind) => kind === name)
    return [name, isSection ? { ...rest, propertyNames: { anyOf: [propertyNames, keyWithExpression] } } : property] as const
  })
  return { $schema, ...schema, properties: Object.fromEntries(entries), $defs: { ...schemasIn($defs), expression, textWithExpression } }
}

function withExpressions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withExpressions)
  if (!isMapping(value)) return value
  const expression = expressionFor(value)
  if (expression === undefined)
    // Keys are those of objects, which have a pattern of their own.
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, key === 'propertyNames' ? item : withExpressions(item)]))
  const { description, default: standard, ...rest } = value
  const anyOf = [rest, { $ref: `#/$defs/${expression}` }]
  return { ...(description !== undefined && { description }), ...(standard !== undefined && { default: standard }), anyOf }
}

/** The kind of expression that may replace the value; undefined where the schema accepts any text, or describes the values inside. */
function expressionFor({ type, enum: words, pattern, format, maxLength }: Schema): 'expression' | 'textWithExpression' | undefined {
  if (Array.isArray(words) || [type].flat().some((one) => ['integer', 'number', 'boolean'].includes(String(one)))) return 'expression'
  const isNarrow = pattern !== undefined || format !== undefined || maxLength !== undefined
  return type === 'string' && isNarrow ? 'textWithExpression' : undefined
}

function configSchema(): Schema {
  const shape = Object.fromEntries(fileSettings.map((name) => [toKebab(name), settingsSchema.shape[name]]))
  const { project } = planInput.shape
  return toJsonSchema(
    z.strictObject({
      ...shape,
      project,
      ...previousOwnerShape,
      rules: ruleSettingsSchema.optional(),
      'sql-functions': sqlFunctionsSchema.optional(),
    }),
  )
}
