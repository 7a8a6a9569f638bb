// Owns the list of operations as plain facts, for whatever is generated from it.
import * as z from 'zod'
import { toCamel, toKebab } from '../../src/core/names.ts'
import { coreOf, defaultOf, isRequired, metaOf, type Shape } from '../../src/documents/schema.ts'
import { settingsSchema } from '../../src/operation/inputs.ts'
import type { Operation } from '../../src/operation/operation.ts'
import { operationNames, operations } from '../../src/operations.ts'

export interface FieldFacts {
  /** As an input, flag or output. */
  readonly name: string
  readonly description: string
  readonly accepts: string
  readonly isRequired: boolean
  /** As it would be written; undefined without one. */
  readonly default: string | undefined
  /** What action.yml sets; a default anywhere else would hide the environment and the config file. */
  readonly actionDefault?: string
  readonly isFlag: boolean
}

export interface OperationFacts {
  readonly name: string
  /** As the library's client calls it. */
  readonly method: string
  readonly summary: string
  readonly effect: Operation['effect']
  readonly scope: Operation['scope']
  readonly inputs: readonly FieldFacts[]
  readonly outputs: readonly FieldFacts[]
  /** Fields of the full result beyond the outputs. */
  readonly details: readonly FieldFacts[]
  /** By camelCase name. */
  readonly example: Readonly<Record<string, unknown>>
}

/** What every operation sets besides its own outputs. */
export const commonOutputs: readonly FieldFacts[] = [
  [
    'status',
    '`pass`; `warn`: passed with a warning, or a failed gate under warn-only; `fail`: a gate failed; `error`: it could not be done.',
  ],
  ['failure-reason', 'Why it is no pass; empty for a pass.'],
  ['result', 'The full result as JSON; above 512 KiB `{"truncated": true, "file": …}`.'],
  ['result-file', 'Path of the file with the full result.'],
  ['request-id', "The API's id of the last answer, for its support."],
].map(([name = '', description = '']) => ({ name, description, accepts: '', isRequired: true, default: undefined, isFlag: false }))

export const settings: readonly FieldFacts[] = describeShape(settingsSchema.shape)

export const describeOperations = (): Promise<readonly OperationFacts[]> => Promise.all(operationNames.map(describeOperation))

async function describeOperation(name: (typeof operationNames)[number]): Promise<OperationFacts> {
  const { summary, effect, scope, input, output, details, example }: Operation = await operations[name]()
  return {
    name,
    method: toCamel(name),
    summary,
    effect,
    scope,
    inputs: describeShape(input.shape),
    outputs: describeShape(output.shape),
    details: describeShape(details.shape),
    example,
  }
}

function describeShape(shape: Shape): readonly FieldFacts[] {
  return Object.entries(shape).map(([name, schema]) => {
    const { description = '', accepts = '', actionDefault } = metaOf(schema)
    const value = defaultOf(schema) ?? actionDefault
    return {
      name: toKebab(name),
      description,
      accepts,
      isRequired: isRequired(schema),
      default: value === undefined ? undefined : String(value),
      ...(actionDefault !== undefined && { actionDefault }),
      isFlag: coreOf(schema) instanceof z.ZodBoolean,
    }
  })
}
