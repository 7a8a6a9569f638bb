import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clip, printable } from '../../../src/core/text.ts'

describe('printable', () => {
  it.each([
    ['a\nb', 'a\\nb'],
    ['a\rb', 'a\\rb'],
    ['\u001b[2J', '\\u001b[2J'],
    ['\u202eevil', '\\u202eevil'],
    ['\u0000', '\\u0000'],
    ['\u2028', '\\u2028'],
    ['\ud800', '\ufffd'],
    ['שלום עולם', 'שלום עולם'],
    ['👩‍👩‍👧‍👦 ﷺ', '👩‍👩‍👧‍👦 ﷺ'],
  ])('%j is shown as %j', (text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  it('never leaves a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
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

  it('never cuts an emoji in half', () => {
    expect(clip('😀'.repeat(10), 5).isWellFormed()).toBe(true)
  })
})
