// The operations as plain data, for everything that is generated from them.

import { type OperationName, operationNames, operations } from '../../src/operations.ts'
import { toCamel, toKebab } from '../../src/platform/core/names.ts'
import { defaultOf, isRequired, metaOf, type Shape } from '../../src/platform/documents/schema.ts'
import { settingsSchema } from '../../src/platform/operation/inputs.ts'
import type { Operation } from '../../src/platform/operation/operation.ts'

export interface FieldFacts {
  /** The name in kebab-case. */
  readonly name: string
  readonly description: string
  readonly accepts: string
  /** What is special about the input in this operation. */
  readonly note?: string
  readonly isRequired: boolean
  /** The default as a user would write it. */
  readonly default: string | undefined
  /** The default in action.yml only. */
  readonly actionDefault?: string
  /** What the field is instead of an input of the action. */
  readonly setting?: 'variable'
}

export interface OperationFacts extends Pick<Operation, 'summary' | 'effect' | 'scope' | 'isOutsideOfAction' | 'positional'> {
  readonly name: string
  /** Whether inputs ask for files besides reports. */
  readonly hasFiles: boolean
  /** The name of the method of the library's client. */
  readonly method: string
  readonly inputs: readonly FieldFacts[]
  readonly outputs: readonly FieldFacts[]
  /** Fields of the full result beyond the outputs. */
  readonly details: readonly FieldFacts[]
  /** Inputs by camelCase name. */
  readonly example: Readonly<Record<string, unknown>>
}

export const settings: readonly FieldFacts[] = describeShape(settingsSchema.shape)

export const describeOperations = (): Promise<readonly OperationFacts[]> => Promise.all(operationNames.map(describeOperation))

async function describeOperation(name: OperationName): Promise<OperationFacts> {
  const operation: Operation = await operations[name]()
  const { summary, effect, scope, isOutsideOfAction, input, positional, output, details, example } = operation
  return {
    name,
    hasFiles: operation.files !== undefined,
    method: toCamel(name),
    summary,
    effect,
    scope,
    ...(isOutsideOfAction && { isOutsideOfAction }),
    ...(positional !== undefined && { positional }),
    inputs: describeShape(input.shape),
    outputs: describeShape(output.shape),
    details: describeShape(details.shape),
    example,
  }
}

function describeShape(shape: Shape): readonly FieldFacts[] {
  return Object.entries(shape).map(([name, schema]) => {
    const { description = '', accepts = '', note, actionDefault, setting } = metaOf(schema)
    const value = defaultOf(schema) ?? actionDefault
    return {
      name: toKebab(name),
      description,
      accepts,
      isRequired: isRequired(schema),
      default: value === undefined ? undefined : String(value),
      ...(note !== undefined && { note }),
      ...(actionDefault !== undefined && { actionDefault }),
      ...(setting !== undefined && { setting }),
    }
  })
}
