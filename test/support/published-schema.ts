import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import * as z from 'zod'
import { commonResultSchema } from '../../src/platform/operation/result.ts'
import { toJsonSchema } from '../../src/runtime/cli/schema.ts'

interface Published {
  readonly output: z.ZodObject
  readonly details: z.ZodObject
}

const ajv = new Ajv2020({ strict: false, validateFormats: false })

const validators = new Map<Published, ValidateFunction>()

function compile({ output, details }: Published): ValidateFunction {
  const fields = z.object({ ...commonResultSchema.partial().shape, ...output.shape, ...details.shape })
  return ajv.compile(toJsonSchema(fields, 'output'))
}

/** A contract of every result: `watchkeeper schema` names each of its fields, at any depth. */
export function demandPublished(operation: Published, result: object): void {
  const validate = validators.get(operation) ?? compile(operation)
  validators.set(operation, validate)
  const { diagnostics = [] } = result as { readonly diagnostics?: readonly { readonly message: string }[] }
  for (const { message } of diagnostics) if (message.includes('\n')) throw new Error(`Not one line: ${message}`)
  if (!validate(JSON.parse(JSON.stringify(result)))) throw new Error(`Not as published: ${JSON.stringify(validate.errors)}`)
}
