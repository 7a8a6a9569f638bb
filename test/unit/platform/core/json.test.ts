import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toDecimal } from '../../../../src/platform/core/decimal.ts'
import { parseJson, parseJsonOrUndefined } from '../../../../src/platform/core/json.ts'
import { decimal } from '../../../support/usage.ts'

describe('parseJson', () => {
  it('writes back every number that a double cannot hold, digit for digit', () => {
    const text = '{"a":12345678901234567890,"b":0.1000000000000000055511,"c":1e400,"d":-0.30000000000000004}'
    expect(JSON.stringify(parseJson(text))).toBe(text)
  })

  it('keeps ordinary numbers as numbers, however they are spelled', () => {
    expect(parseJson('[1.10, 1e2, -0, 5.0, 0.1]')).toEqual([1.1, 100, -0, 5, 0.1])
  })

  it('keeps every digit of a decimal', () => {
    const decimals = fc.stringMatching(/^-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9])?$/)
    fc.assert(
      fc.property(decimals, (text) => {
        expect(toDecimal(parseJson(text))?.eq(decimal(text))).toBe(true)
      }),
    )
  })

  it('keeps the last of two equal keys, as JSON.parse does', () => {
    expect(parseJson('{"a":1,"a":2}')).toEqual({ a: 2 })
  })

  it('rejects nesting deeper than 100 levels', () => {
    expect(parseJson(`${'['.repeat(100)}${']'.repeat(100)}`)).toBeDefined()
    expect(() => parseJson(`${'['.repeat(100_000)}1e5${']'.repeat(100_000)}`)).toThrow('nested deeper than 100 levels')
  })

  it('R5: rejects deep nesting before it parses, because that takes a gigabyte for 16 MiB that are not even JSON', () => {
    for (const part of ['[', '{"a":', '[{"]\\\\\\"":'])
      expect(() => parseJson(part.repeat(2 ** 24 / part.length)), part).toThrow('nested deeper than 100 levels')
  })

  it('has the same limit where the numbers need not be exact', () => {
    const nested = (levels: number): string => `${'{"[":'.repeat(levels)}1${'}'.repeat(levels)}`
    expect(parseJsonOrUndefined(nested(100))).toBeDefined()
    expect(parseJsonOrUndefined(nested(101))).toBeUndefined()
  })

  it('ignores brackets inside strings, with any number of backslashes before a quote', () => {
    for (const part of ['[{"\\', '\\"[', '\\\\"{"']) {
      const text = part.repeat(400)
      expect(parseJson(JSON.stringify(text)), part).toBe(text)
    }
  })

  it('reads what JSON.parse reads, and throws only documented errors', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => void expect(JSON.stringify(parseJson(JSON.stringify(value)))).toBe(JSON.stringify(value))),
    )
    const parts = fc.array(fc.constantFrom('{', '}', '[', ']', ':', ',', '"', '\\', '1', 'e', '-', '.', 'true', 'null', ' ', '\n', 'x'), {
      maxLength: 20,
    })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          parts.map((pieces) => pieces.join('')),
        ),
        (text) => {
          try {
            parseJson(text)
          } catch (thrown) {
            expect(thrown instanceof SyntaxError || thrown instanceof RangeError).toBe(true)
            expect(() => JSON.parse(text)).toThrow()
          }
        },
      ),
    )
  })

  it('does not touch the prototype', () => {
    expect(Object.getPrototypeOf(parseJson('{"__proto__":{"polluted":true}}'))).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})
