import fc from 'fast-check'
import { expect, it } from 'vitest'
import { outputLines } from '../../../src/runtime/action/outputs.ts'
import { readOutputFile } from '../../support/runner-oracle.ts'

it('writes outputs that the runner reads as they are, also when a value contains delimiters', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('\n', '\n', 'ghadelimiter_0', 'ghadelimiter_1', 'ghadelimiter_2', 'status=pass', 'x<<EOF', '='),
  )
  const value = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('').replaceAll('\r', ''))
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (values) => {
      const outputs = values.map((text, i) => [`output-${i}`, text] as const)
      const file = outputs.map(([name, text]) => outputLines(name, text)).join('')
      expect([...readOutputFile(file)]).toEqual(outputs)
    }),
    { numRuns: 500 },
  )
})

it('ends a value with many lines that look like delimiters only once', () => {
  const value = Array.from({ length: 50_000 }, (_, i) => `ghadelimiter_${i}`).join('\n')
  expect(readOutputFile(outputLines('result', value)).get('result')).toBe(value)
  expect(outputLines('result', value).endsWith('\nghadelimiter_50000\n')).toBe(true)
})
