import { expect, it } from 'vitest'
import * as z from 'zod'
import { inputDiagnostic } from '../../../src/platform/core/diagnostics.ts'
import { InputError, WatchkeeperError } from '../../../src/platform/core/errors.ts'
import { say, toPlainText, trusted } from '../../../src/platform/core/line.ts'
import { defineOperation, noFields } from '../../../src/platform/operation/operation.ts'
import type { Block } from '../../../src/platform/report/blocks.ts'
import { pass, type Verdict } from '../../../src/platform/report/report.ts'
import { toErrorResult, toRunResult } from '../../../src/runtime/run-result.ts'

const operation = defineOperation({
  summary: 'Does nothing.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({}),
  output: z.object({ count: z.int().optional(), keys: z.array(z.string()).optional() }),
  details: noFields,
  example: {},
  run: async () => ({}),
  report: () => ({ headline: [], blocks: [] }),
})

const run = (verdict: Verdict, blocks: readonly Block[] = [], result: z.output<typeof operation.output> = {}) =>
  toRunResult({
    ...{ name: 'validate', operation, input: {}, result, resultForFiles: result, verdict, report: { headline: say`Done`, blocks } },
    ...{ isWarnOnly: false, reports: [], subject: {}, startedAtMs: Date.parse('2026-11-22T10:48:30Z') },
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
  const result = await run(pass, blocks)
  expect(result.blocks.slice(1, -1)).toEqual([table(1), details('some', [table(2)])])
  expect(result.blocks.at(-1)).toEqual({ kind: 'footer', line: [trusted('22 Nov 2026 10:48 UTC')] })
})

it('a message about an error has its first five lines, without the marks of a list', () => {
  const { keyLines } = toErrorResult('plan', new WatchkeeperError('input', '- a\n- b - c\nd\ne\nf\ng'), {}, [])
  expect(keyLines().map(toPlainText)).toEqual(['a', 'b - c', 'd', 'e', 'f'])
})

it('a verdict has two reasons in its line, more as a list, and a sentence of its own only where it does not pass', async () => {
  const blocksOf = async (verdict: Partial<Verdict>) => (await run({ status: 'fail', reasons: [], ...verdict })).blocks.slice(0, -1)
  const [a, b, c] = [say`a`, say`b`, say`c`]
  const verdict = (line: string, more = {}) => ({ kind: 'verdict', status: 'fail', line: expect.arrayContaining([trusted(line)]), ...more })
  expect(await blocksOf({})).toEqual([verdict('Done')])
  expect(await blocksOf({ reasons: [a, b] })).toEqual([verdict('Done', { reason: expect.anything() })])
  expect(await blocksOf({ reasons: [a, b, c] })).toEqual([verdict('Done'), { kind: 'list', items: [a, b, c] }])
  expect(await blocksOf({ sentence: say`Too much.` })).toEqual([verdict('Too much.')])
  expect(await blocksOf({ sentence: say`Too much.`, reasons: [a] })).toEqual([verdict('Too much.'), { kind: 'list', items: [a] }])
  expect(await blocksOf({ status: 'pass', sentence: say`All is well.` })).toEqual([verdict('Done', { status: 'pass' })])
})

it('an output is the text of a value, and JSON of several', async () => {
  const { outputs } = await run(pass, [], { count: 2, keys: ['a', 'b'] })
  expect(outputs).toEqual({ status: 'pass', 'failure-reason': '', count: '2', keys: '["a","b"]' })
})

it('an error annotates the lines of files, and no inputs', () => {
  const inFile = { ...inputDiagnostic('files', 'is wrong'), location: { file: 'a.yml', line: 3 } }
  const { annotations } = toErrorResult('plan', new InputError([inputDiagnostic('period', 'is missing'), inFile]), {}, [])
  expect(annotations).toEqual([inFile])
})
