import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { capitalize, clip, compareText, plural, printable, quote, quoteLong, sparkline } from '../../../../src/platform/core/text.ts'
import { anyCodePoint } from '../../../support/corpus.ts'

describe('printable', () => {
  it.each([
    ['a\nb', 'a\\nb'],
    ['a\rb', 'a\\rb'],
    ['\u001b[2J', '\\u001b[2J'],
    ['\u202eevil', '\\u202eevil'],
    ['\u0000', '\\u0000'],
    ['\u2028', '\\u2028'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\ud800', '\ufffd'],
    ['שלום עולם', 'שלום עולם'],
    ['👩‍👩‍👧‍👦 ﷺ', '👩‍👩‍👧‍👦 ﷺ'],
  ])('%j is shown as %j', (text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  it('never leaves a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCodePoint }), (text) => {
        expect(printable(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
        expect(printable(text).isWellFormed()).toBe(true)
      }),
    )
  })
})

describe('clip', () => {
  it('counts what it leaves out', () => {
    expect(clip('a'.repeat(1_000_000), 10)).toBe('aaaaaaaaaa… (999990 more characters)')
  })

  it('leaves 60 characters of a name, and 200 of a path or sentence', () => {
    expect(quote('a'.repeat(1000))).toBe(`${'a'.repeat(60)}… (940 more characters)`)
    expect(quoteLong('a'.repeat(1000))).toBe(`${'a'.repeat(200)}… (800 more characters)`)
  })

  it('never cuts an emoji in half', () => {
    expect(clip('😀'.repeat(20), 5)).toBe('😀😀… (36 more characters)')
  })

  it('leaves a text whole that would not become shorter', () => {
    for (const length of [11, 25, 32]) expect(clip('a'.repeat(length), 10)).toBe('a'.repeat(length))
    expect(clip('a'.repeat(33), 10)).toBe('aaaaaaaaaa… (23 more characters)')
  })
})

describe('compareText', () => {
  it('orders by code units, and what is missing first', () => {
    expect(['b', 'B', 'a', '10', '9'].sort(compareText)).toEqual(['10', '9', 'B', 'a', 'b'])
    expect([compareText(undefined, 'A'), compareText('A', undefined), compareText(undefined, undefined), compareText('a', 'a')]).toEqual([
      -1, 1, 0, 0,
    ])
  })
})

describe('plural', () => {
  it.each([
    [1, 'alert', '1 alert'],
    [0, 'alert', '0 alerts'],
    [2, 'saved search', '2 saved searches'],
    [2, 'box', '2 boxes'],
    [2, 'hash', '2 hashes'],
    [2, 'class', '2 classes'],
    [999_999, 'row', '999999 rows'],
    [1_204_331, 'row', '1.2 million rows'],
    [-288_000_000, 'row', '-288.0 million rows'],
  ])('counts %i %s', (count, noun, expected) => {
    expect(plural(count, noun)).toBe(expected)
  })
})

it('capitalizes the first letter only', () => {
  expect(capitalize('saved search')).toBe('Saved search')
})

it('draws values by their share of the largest one, also below one', () => {
  expect([sparkline([0, 0.1, 0.2]), sparkline([0, 4, 8]), sparkline([-1, 0]), sparkline([])]).toEqual(['▁▅█', '▁▅█', '▁▁', ''])
})
