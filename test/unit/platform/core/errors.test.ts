import { expect, it } from 'vitest'
import { inputDiagnostic } from '../../../../src/platform/core/diagnostics.ts'
import { InputError } from '../../../../src/platform/core/errors.ts'

it('an error of the input lists its first fifty problems, and one as it is', () => {
  const linesOf = (count: number): readonly string[] =>
    new InputError(Array.from({ length: count }, (_, i) => inputDiagnostic('a', `problem ${i}`))).message.split('\n')
  expect(linesOf(1)).toEqual(['a: problem 0'])
  expect(linesOf(2)).toEqual(['2 errors in the input:', '- a: problem 0', '- a: problem 1'])
  expect(linesOf(50)).toHaveLength(51)
  expect(linesOf(52).slice(49)).toEqual(['- a: problem 48', '- a: problem 49', '- and 2 more'])
  expect(linesOf(52)[0]).toBe('52 errors in the input:')
})
