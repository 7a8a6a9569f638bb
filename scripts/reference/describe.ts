import * as z from 'zod'
import { toCamel, toKebab } from '../../src/core/names.ts'
import { coreOf, defaultOf, isRequired, metaOf, type Shape } from '../../src/documents/schema.ts'
import { settingsSchema } from '../../src/operation/inputs.ts'
import type { Operation } from '../../src/operation/operation.ts'
import { operationNames, operations } from '../../src/operations.ts'

export interface FieldFacts {
  /** In kebab-case. */
  readonly name: string
  readonly description: string
  readonly accepts: string
  readonly isRequired: boolean
  /** As a user would write it. */
  readonly default: string | undefined
  /** The default in action.yml only. */
  readonly actionDefault?: string
  readonly notInAction?: boolean
  readonly isFlag: boolean
}

/** An operation as plain data, for everything that is generated from the list. */
export interface OperationFacts {
  readonly name: string
  /** Of the library's client. */
  readonly method: string
  readonly summary: string
  readonly effect: Operation['effect']
  readonly scope: Operation['scope']
  readonly inputs: readonly FieldFacts[]
  readonly outputs: readonly FieldFacts[]
  /** Fields of the full result beyond the outputs. */
  readonly details: readonly FieldFacts[]
  /** Inputs by camelCase name. */
  readonly example: Readonly<Record<string, unknown>>
}

/** The outputs of every operation. */
export const commonOutputs: readonly FieldFacts[] = [
  [
    'status',
    '`pass`; `warn`: passed with a warning, or a failed gate under warn-only; `fail`: a gate failed; `error`: the operation did not complete.',
  ],
  ['failure-reason', 'Reason for a status other than `pass`. Empty for `pass`.'],
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
    const { description = '', accepts = '', actionDefault, notInAction } = metaOf(schema)
    const value = defaultOf(schema) ?? actionDefault
    return {
      name: toKebab(name),
      description,
      accepts,
      isRequired: isRequired(schema),
      default: value === undefined ? undefined : String(value),
      ...(actionDefault !== undefined && { actionDefault }),
      ...(notInAction && { notInAction }),
      isFlag: coreOf(schema) instanceof z.ZodBoolean,
    }
  })
}
