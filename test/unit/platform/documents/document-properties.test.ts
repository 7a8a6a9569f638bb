// What holds of every document that anybody could write.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { readDocument } from '../../../../src/platform/documents/document.ts'
import { interpolate } from '../../../../src/platform/documents/expressions.ts'
import { anyCodePoint } from '../../../support/corpus.ts'

const pieces = fc.constantFrom(
  'a: ',
  '- ',
  '[',
  ']',
  '{',
  '}',
  ',',
  '\n',
  '  ',
  '\t',
  '"',
  "'",
  '*a',
  '&a ',
  '!!js/function ',
  '---\n',
  '#',
  '|\n',
  '>\n',
  '? ',
  ': ',
  '<<: ',
  '%YAML 1.2\n',
  '\0',
  '\r',
  '\ufeff',
  '1e400',
  '017',
  '~',
  'x',
)

/** As JSON has them, but none that a number cannot hold or YAML spells otherwise. */
const plainJson = fc.jsonValue({ depthSize: 'small' }).filter((value) => !/\d{16}|[eE][+-]?\d/.test(JSON.stringify(value)))

describe('readDocument', () => {
  it('never throws, and every diagnostic has its location', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join('')),
          fc.string({ unit: anyCodePoint }),
        ),
        (text) => {
          const reading = readDocument(text, 'a.yml')
          if ('diagnostics' in reading) {
            expect(reading.diagnostics.length).toBeGreaterThan(0)
            for (const { location, message } of reading.diagnostics) {
              expect(location.file).toBe('a.yml')
              expect(message).not.toMatch(/[\r\n\u001b]/)
            }
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('reads JSON as JSON', () => {
    fc.assert(
      fc.property(plainJson, (value) => {
        const reading = readDocument(JSON.stringify(value), 'a.json')
        if (value === null) return
        expect('value' in reading ? JSON.stringify(reading.value) : reading).toBe(JSON.stringify(value))
      }),
    )
  })

  it('reads back what was written as YAML', () => {
    fc.assert(
      // `<<` is a merge key, which is refused.
      fc.property(
        fc.dictionary(
          fc.string({ minLength: 1 }).filter((key) => key !== '<<'),
          plainJson,
          { maxKeys: 5 },
        ),
        (value) => {
          const reading = readDocument(stringify(value, { version: '1.2' }), 'a.yml')
          expect('value' in reading ? JSON.stringify(reading.value) : reading).toBe(JSON.stringify(value))
        },
      ),
    )
  })
})

describe('interpolate', () => {
  it('changes nothing where there is no expression, and throws nothing where there is one', () => {
    fc.assert(
      fc.property(
        plainJson,
        fc.array(fc.constantFrom('${{', '}}', ' env.', 'A', 'SECRET', ' ', '$', '{', 'x'), { maxLength: 12 }),
        (value, parts) => {
          const around = { variable: (name: string) => (name === 'A' ? 'found' : undefined), room: { characters: 1000 } }
          fc.pre(!JSON.stringify(value).includes('${{'))
          expect(JSON.stringify(interpolate(value, around).value)).toBe(JSON.stringify(value))
          const { value: text, errors } = interpolate(parts.join(''), around)
          if (errors.length === 0) expect(String(text)).not.toContain('${{')
        },
      ),
    )
  })
})
