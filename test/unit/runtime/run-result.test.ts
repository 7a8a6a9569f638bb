import { expect, it } from 'vitest'
import * as z from 'zod'
import { WatchkeeperError } from '../../../src/platform/core/errors.ts'
import { toPlainText, trusted } from '../../../src/platform/core/line.ts'
import { defineOperation, noFields } from '../../../src/platform/operation/operation.ts'
import type { Block } from '../../../src/platform/report/blocks.ts'
import { pass } from '../../../src/platform/report/report.ts'
import { toErrorResult, toRunResult } from '../../../src/runtime/run-result.ts'

const operation = defineOperation({
  summary: 'Does nothing.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({}),
  output: z.object({}),
  details: noFields,
  example: {},
  run: async () => ({}),
  report: () => ({ headline: [], blocks: [] }),
})

it('leaves out empty blocks, and ends with the time of the run', async () => {
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
    resultForFiles: {},
    verdict: pass,
    report: { headline: [], blocks },
    isWarnOnly: false,
    reports: [],
    subject: {},
    startedAtMs: Date.parse('2026-11-22T10:48:30Z'),
  })
  expect(result.blocks.slice(1, -1)).toEqual([table(1), details('some', [table(2)])])
  expect(result.blocks.at(-1)).toEqual({ kind: 'footer', line: [trusted('22 Nov 2026 10:48 UTC')] })
})

it('a message about an error has its first five lines, without the marks of a list', () => {
  const { keyLines } = toErrorResult('plan', new WatchkeeperError('input', '- a\n- b - c\nd\ne\nf\ng'), {}, [])
  expect(keyLines().map(toPlainText)).toEqual(['a', 'b - c', 'd', 'e', 'f'])
})
