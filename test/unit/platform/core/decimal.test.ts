import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatExact, formatRounded, parseAmount, sum, toDecimal } from '../../../../src/platform/core/decimal.ts'
import { parseJson } from '../../../../src/platform/core/json.ts'

describe('parseAmount', () => {
  it.each(['0', '1000', '99.5', '0.000001', '12345678901234567890', '100.0'])('accepts %s', (text) => {
    expect(parseAmount(text)?.toFixed()).toBe(text.replace(/\.0$/, ''))
  })

  it.each(
    '|-1|+1|1.|.5|00|007|0x10|0b1|1_000|1,000|1.000,5|1e3|1e400|NaN|nan|Infinity|∞|١|１|1 0|1;|0.1+0.2|null|true|[]|5%|$5| 1|-0'.split('|'),
  )('refuses "%s"', (text) => {
    expect(parseAmount(text)).toBeUndefined()
  })
})

describe('toDecimal', () => {
  it.each(['1e400', '1e999', '-1e400'])('rejects %s', (text) => {
    expect(toDecimal(parseJson(text))).toBeUndefined()
  })

  it.each([null, '5', true, [], {}, undefined])('rejects %j', (value) => {
    expect(toDecimal(value)).toBeUndefined()
  })

  it('keeps 40 digits', () => {
    const text = '1234567890123456789012345678.901234567891'
    expect(toDecimal(parseJson(text))?.toFixed()).toBe(text)
  })
})

describe('sum', () => {
  it('a sum is exact where floats are not', () => {
    const tenths = Array.from({ length: 10_000 }, (_, i) => toDecimal(parseJson(i % 2 === 0 ? '0.1' : '0.2')))
    expect(sum(tenths.filter((value) => value !== undefined)).toFixed()).toBe('1500')
  })

  it('V2: agrees with integer arithmetic on a million millionth', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 10n ** 15n }), { maxLength: 50 }), (millionths) => {
        const decimals = millionths.map((value) => {
          const text = value.toString().padStart(7, '0')
          return toDecimal(parseJson(`${text.slice(0, -6).replace(/^0+(?=\d)/, '')}.${text.slice(-6)}`))
        })
        const total = sum(decimals.filter((value) => value !== undefined))
        expect(total.times(1_000_000).toFixed()).toBe(millionths.reduce((a, b) => a + b, 0n).toString())
      }),
    )
  })
})

describe('formatting', () => {
  it.each([
    ['0', '0'],
    ['999.5', '999.5'],
    ['1234567.891', '1,234,567.891'],
    ['-1234.5', '-1,234.5'],
  ])('formats %s as %s', (value, text) => {
    expect(formatExact(toDecimal(parseJson(value)) ?? sum([]))).toBe(text)
  })

  it.each([
    ['1234.5', 2, '1,234.50'],
    ['0.005', 2, '0.01'],
    ['0.004', 2, '0.00'],
    ['1234.5', 0, '1,235'],
  ])('rounds %s to %i places as %s', (value, places, text) => {
    expect(formatRounded(toDecimal(parseJson(value)) ?? sum([]), places)).toBe(text)
  })
})
