import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { exitCodes } from '../../../src/platform/core/errors.ts'
import { toEnvironmentName, toKebab } from '../../../src/platform/core/names.ts'
import { settingsSchema } from '../../../src/platform/operation/inputs.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { allOperations } from '../../support/examples.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

const jsonType = z.enum(['string', 'boolean', 'integer', 'number', 'array'])

const inputSchema = z.object({
  name: z.string(),
  option: z.string().optional(),
  isPositional: z.literal(true).optional(),
  variable: z.string().optional(),
  type: z.union([jsonType, z.array(jsonType)]),
  choices: z.array(z.union([z.string(), z.boolean()])).optional(),
  required: z.boolean(),
  description: z.string(),
  accepts: z.string(),
})

const operationSchema = z.object({
  operation: z.string(),
  effect: z.enum(['read', 'write']),
  needsYes: z.boolean(),
  example: z.string(),
  inputs: z.array(inputSchema),
  outputs: z.array(z.object({ name: z.string(), field: z.string(), description: z.string() })),
  exitCodes: z.record(z.string(), z.string()),
  result: z.object({ type: z.literal('object'), properties: z.record(z.string(), z.unknown()) }),
})

const listSchema = z.object({
  operations: z.array(z.object({ operation: z.string(), effect: z.string(), summary: z.string(), schema: z.string() })),
})

const commonSchema = z.object({ commonInputs: z.array(inputSchema) })

const schemaOf = async (...args: readonly string[]): Promise<unknown> => {
  const { exitCode, stdout, stderr } = await runCliInside(['schema', ...args])
  if (exitCode !== 0 || stderr !== '') throw new Error(`exit code ${exitCode}: ${stderr}`)
  return JSON.parse(stdout)
}

describe('watchkeeper schema', () => {
  it('lists the operations without a name', async () => {
    const { operations } = listSchema.parse(await schemaOf())
    expect(operations).toEqual(
      allOperations.map(({ name, operation: { effect, summary } }) => ({
        operation: name,
        effect,
        summary,
        schema: `watchkeeper schema ${name}`,
      })),
    )
  })

  it('describes every operation', () =>
    forEachEntry(allOperations, async ({ name, operation }) => {
      const found = operationSchema.parse(await schemaOf(name))
      expect(found).toMatchObject({ operation: name, effect: operation.effect, needsYes: operation.asksFirst !== undefined })
      expect(found.inputs.map((input) => input.name)).toEqual(Object.keys(operation.input.shape).map(toKebab))
      expect(found.outputs.map(({ field }) => field)).toEqual(Object.keys(operation.output.shape))
      for (const field of ['operation', 'status', 'error', ...Object.keys(operation.output.shape), ...Object.keys(operation.details.shape)])
        expect(found.result.properties).toHaveProperty(field)
      const isPossible = (code: number): boolean => Object.hasOwn(found.exitCodes, code)
      expect(isPossible(exitCodes.partlyApplied)).toBe(operation.effect === 'write')
      expect(isPossible(exitCodes.denied)).toBe(operation.scope !== 'none')
    }))

  it('describes one operation, with the variables of the common inputs', async () => {
    const plan = operationSchema.extend(commonSchema.shape).parse(await schemaOf('plan'))
    expect(plan.operation).toBe('plan')
    expect(plan.commonInputs.map(({ variable }) => variable)).toEqual(
      Object.keys(settingsSchema.shape).map((name) => toEnvironmentName(toKebab(name))),
    )
    expect(plan.inputs.find(({ name }) => name === 'prune')).toMatchObject({
      option: '--prune',
      type: ['boolean', 'string'],
      choices: [true, false, 'forget'],
    })
    expect(plan.exitCodes['11']).toContain('--detailed-exitcode')
  })

  it('suggests the operation that was meant', async () => {
    expect(await runCliInside(['schema', 'aply'])).toMatchObject({
      exitCode: 2,
      stderr: 'operation: unknown operation "aply"; did you mean "apply"?\n',
    })
  })
})
