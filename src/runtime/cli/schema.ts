import * as z from 'zod'
import { isOperationName, type OperationName, operationNames, operations } from '../../operations.ts'
import { inputError } from '../../platform/core/errors.ts'
import { toCamel, toEnvironmentName, toKebab } from '../../platform/core/names.ts'
import { quote } from '../../platform/core/text.ts'
import { version } from '../../platform/core/version.ts'
import { isRequired, metaOf, type Shape } from '../../platform/documents/schema.ts'
import { settingsSchema } from '../../platform/operation/inputs.ts'
import type { Operation } from '../../platform/operation/operation.ts'
import { commonResultSchema } from '../../platform/operation/result.ts'
import { adviseOnName } from '../new-names.ts'
import { hasInputVariable } from '../settings.ts'
import { commandLine, exitCodesOf } from './operation-command.ts'

export const commonOutputs: readonly { readonly name: string; readonly description: string }[] = [
  [
    'status',
    '`pass`; `warn`: passed with a warning, or failed under warn-only; `fail`: the run completed and found a reason to fail, such as an exceeded limit, drift, errors in files or too many deletes; `error`: the run could not complete, such as with a wrong input or without permission.',
  ],
  ['failure-reason', 'Reason for a status other than `pass`. Empty for `pass`.'],
  ['result', 'The full result as JSON. Above 512 KiB it has no lists and objects, but `"truncated": true`.'],
  ['result-file', 'Path of the file with the full result.'],
].map(([name = '', description = '']) => ({ name, description }))

export type JsonSchema = Readonly<Record<string, unknown>>

function withoutOwnMetadata(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOwnMetadata)
  if (typeof value !== 'object' || value === null) return value
  const isOwn = (key: string, item: unknown): boolean =>
    // Metadata of this project, which no validator knows.
    (['accepts', 'missing', 'group', 'setting', 'note'].includes(key) && typeof item === 'string') ||
    ['aliases', 'synonyms', 'secret', 'commas', 'writeDefault', 'ref', 'clear', 'isLocal', 'keepIfAbsent', 'toWire'].includes(key)
  const entries = Object.entries(value).filter(([key, item]) => !isOwn(key, item))
  // The server's default is the default for the author of a file.
  return Object.fromEntries(entries.map(([key, item]) => [key === 'serverDefault' ? 'default' : key, withoutOwnMetadata(item)]))
}

export const toJsonSchema = (schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonSchema =>
  withoutOwnMetadata(z.toJSONSchema(schema, { io, unrepresentable: 'any' })) as JsonSchema // A JSON Schema is a map.

/** The type is that of JSON; a list is given by several options, or by several lines. */
function inputSchema(name: string, schema: z.core.$ZodType, positional?: string): JsonSchema {
  const { type, enum: choices, default: standard } = toJsonSchema(schema as z.ZodType) // A field of a z.object.
  const { description, accepts, note, secret } = metaOf(schema)
  return {
    name: toKebab(name),
    ...(name === positional ? { isPositional: true } : { option: `--${toKebab(name)}` }),
    ...(hasInputVariable(name) && { variable: toEnvironmentName(toKebab(name)) }),
    type: type ?? (Array.isArray(choices) ? [...new Set(choices.map((one) => typeof one))] : 'string'),
    ...(choices !== undefined && { choices }),
    required: isRequired(schema),
    ...(standard !== undefined && { default: standard }),
    ...(secret && { secret }),
    description,
    ...(accepts !== undefined && { accepts }),
    ...(note !== undefined && { note }),
  }
}

const describeInputs = (shape: Shape, positional?: string): readonly JsonSchema[] =>
  Object.entries(shape).map(([name, schema]) => inputSchema(name, schema, positional))

async function operationSchema(name: OperationName): Promise<JsonSchema> {
  const operation: Operation = await operations[name]()
  const { summary, effect, scope, asksFirst, input, output, details, positional, example } = operation
  const { $schema: _, ...result } = toJsonSchema(
    z.looseObject({ ...commonResultSchema.shape, ...output.shape, ...details.shape }),
    'output',
  )
  return {
    operation: name,
    summary,
    effect,
    scope,
    // A command that asks first writes without a terminal only with `--yes`.
    needsYes: asksFirst !== undefined,
    example: commandLine(name, example, positional),
    inputs: describeInputs(input.shape, positional),
    outputs: Object.entries(output.shape).map(([key, schema]) => ({
      name: toKebab(key),
      field: key,
      description: metaOf(schema).description,
    })),
    exitCodes: exitCodesOf(name, operation),
    result,
  }
}

/** The operation, or else the list of operations. Throws an InputError for an unknown name. */
export async function describeForPrograms(name: string | undefined): Promise<JsonSchema> {
  if (name === undefined) {
    const listed = operationNames.map(async (one) => {
      const { summary, effect }: Operation = await operations[one]()
      return { operation: one, effect, summary, schema: `watchkeeper schema ${one}` }
    })
    return { version, operations: await Promise.all(listed) }
  }
  if (!isOperationName(name))
    throw inputError(
      'operation',
      `unknown operation "${quote(name)}"${adviseOnName(name, operationNames) || '; watchkeeper schema lists them'}`,
    )
  return {
    ...(await operationSchema(name)),
    version,
    commonInputs: describeInputs(settingsSchema.shape),
    commonOutputs: commonOutputs.map(({ name: output, description }) => ({ name: output, field: toCamel(output), description })),
  }
}
