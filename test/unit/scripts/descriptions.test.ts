import { expect, it } from 'vitest'
import { withoutDescriptions } from '../../../scripts/descriptions.ts'

it('leaves out descriptions that are a plain text', () => {
  const text = [
    "a: z.string().describe('It\\'s (one).').optional(),",
    'b: z.int().describe("With \'quotes\'."),',
    `c: z.int().describe(\`Of $\{name}.\`),`,
    'd: z.int().describe(\n  `Over two lines`,\n),',
    'e: estimate(text).describe(text)',
  ].join('\n')
  expect(withoutDescriptions(text)).toBe(
    [
      'a: z.string().optional(),',
      'b: z.int(),',
      `c: z.int().describe(\`Of $\{name}.\`),`,
      'd: z.int(),',
      'e: estimate(text).describe(text)',
    ].join('\n'),
  )
})
