import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { holds, isSame } from '../../../../src/platform/core/equality.ts'

describe('isSame', () => {
  it.each([
    [{ a: 1, b: null }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: undefined }, true],
    [{ a: { b: null } }, { a: {} }, true],
    [{ a: 1 }, { a: 2 }, false],
    [[1, 2], [2, 1], false],
    [[null], [], false],
    [JSON.rawJSON('1e400'), JSON.rawJSON('1e400'), true],
    [JSON.rawJSON('1e400'), JSON.rawJSON('1e401'), false],
  ])('isSame of %j and %j is %s', (a, b, expected) => {
    expect(isSame(a, b)).toBe(expected)
  })
})

describe('holds', () => {
  it.each([
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1 }, { a: 1, b: null }, true],
    [{ a: null }, { a: null }, true],
    [{ a: 1 }, { a: null }, false],
    [{ tiles: [{ id: 'x', name: 'A' }] }, { tiles: [{ name: 'A' }] }, true],
    [{ tiles: [{ name: 'A' }, { name: 'B' }] }, { tiles: [{ name: 'A' }] }, false],
    [{ tiles: [] }, { tiles: [{ name: 'A' }] }, false],
    [{ a: [1] }, { a: { 0: 1 } }, false],
    [{}, { toString: null }, true],
    [{}, { toString: 'x' }, false],
    [{ a: JSON.rawJSON('1e400') }, { a: JSON.rawJSON('1e400') }, true],
    [{ a: JSON.rawJSON('1e400') }, { a: 1 }, false],
  ])('holds of %j, %j is %s', (whole, part, expected) => {
    expect(holds(whole, part)).toBe(expected)
  })

  it('holds for any value and itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, other) => {
        expect(holds(value, value)).toBe(true)
        expect(holds({ value, other }, { value })).toBe(true)
      }),
    )
  })
})
