import { expect, it } from 'vitest'
import * as z from 'zod'
import { defineOperation, noDetails, pass } from '../../../src/operation/operation.ts'
import type { Block } from '../../../src/report/blocks.ts'
import { toRunResult } from '../../../src/runtime/run.ts'

const operation = defineOperation({
  summary: 'Does nothing.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({}),
  output: z.object({}),
  details: noDetails,
  example: {},
  run: async () => ({}),
  report: () => ({ headline: [], blocks: [] }),
})

it('leaves out blocks that hold nothing, and details with such blocks only', async () => {
  const table = (rows: number): Block => ({ kind: 'table', columns: [{ title: 'A' }], rows: Array.from({ length: rows }, () => [[]]) })
  const details = (title: string, blocks: readonly Block[]): Block => ({ kind: 'details', title, blocks })
  const blocks: readonly Block[] = [
    table(0),
    table(1),
    { kind: 'facts', facts: [] },
    { kind: 'diagnostics', diagnostics: [] },
    { kind: 'diff', lines: [] },
    details('none', [table(0), details('inner', [table(0)])]),
    details('some', [table(0), table(2)]),
  ]
  const result = await toRunResult({
    name: 'validate',
    operation,
    input: {},
    result: {},
    verdict: pass,
    report: { headline: [], blocks },
    warnOnlySource: undefined,
    subject: {},
  })
  expect(result.blocks.slice(1)).toEqual([table(1), details('some', [table(2)])])
})
