import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeLines } from '../../../../src/sync/pull/merge-lines.ts'

const lines = (text: string): string => text.replaceAll(' ', '\n')

const kept = (written: string, spelt: string, changed: string): string | undefined =>
  mergeLines({ original: lines(written), formatted: lines(spelt), changed: lines(changed) })?.replaceAll('\n', ' ')

describe('mergeLines', () => {
  it('merges a change into the original lines', () => {
    const cases: readonly [string, Parameters<typeof kept>, string][] = [
      ['of another line', ['A b c', 'a b c', 'a b x'], 'A b x'],
      ['of the same line', ['A b c', 'a b c', 'x b c'], 'x b c'],
      ['of a line before', ['a b C', 'a b c', 'x b c'], 'x b C'],
      ['that adds lines', ['A b c', 'a b c', 'a b x y c'], 'A b x y c'],
      ['that adds lines at the end', ['A b c', 'a b c', 'a b c x'], 'A b c x'],
      ['that adds lines at the beginning', ['a b C', 'a b c', 'x a b c'], 'x a b C'],
      ['that takes lines away', ['A b c d', 'a b c d', 'a b d'], 'A b d'],
      ['that takes away a line of another spelling', ['A b c d', 'a b c d', 'b c d'], 'b c d'],
      ['beside lines that only somebody has', ['a # b c', 'a b c', 'a b x'], 'a # b x'],
      ['beside lines that only somebody has, where others come', ['a # b c', 'a b c', 'a x b c'], 'a x b c'],
      ['beside lines that only the machine has', ['a c d', 'a b c d', 'a b c x'], 'a c x'],
      ['of the line behind one that only somebody has', ['a # b c', 'a b c', 'a x c'], 'a x c'],
      ['that adds lines before one of another spelling', ['a B c', 'a b c', 'a x b c'], 'a x b c'],
      ['that adds lines where somebody has others', ['a # b', 'a b', 'a x b'], 'a x b'],
      ['in several places', ['A b C d E f', 'a b c d e f', 'a x c d e y'], 'A x C d E y'],
      ['of everything', ['A B C', 'a b c', 'x y z'], 'x y z'],
    ]
    for (const [name, texts, expected] of cases) {
      expect(kept(...texts), name).toBe(expected)
    }
  })

  const text = fc.array(fc.constantFrom('a', 'b', 'c', '  d', '  e', ''), { maxLength: 12 }).map((all) => all.join('\n'))
  const together = fc.option(fc.constantFrom(0, 1, 2), { nil: undefined })

  it('returns the original when nothing changed', () => {
    fc.assert(
      fc.property(text, text, together, (written, spelt, columns) => {
        expect(
          mergeLines({ original: written, formatted: spelt, changed: spelt, ...(columns !== undefined && { blockIndent: columns }) }),
        ).toBe(written)
      }),
    )
  })

  it('returns the changed text when the original is formatted', () => {
    fc.assert(
      fc.property(text, text, together, (spelt, changed, columns) => {
        expect(mergeLines({ original: spelt, formatted: spelt, changed, ...(columns !== undefined && { blockIndent: columns }) })).toBe(
          changed,
        )
      }),
    )
  })
})

describe('mergeLines with a block indent', () => {
  const spelt = 'a:\n  one: 1\n  two: 2\n\n  three: 3\nb:\n  four: 4\n  five: 5\nc:\n  six: 6'
  const written = spelt.replaceAll('  ', '    ').replace('one', 'ONE').replace('three', 'THREE').replace('four', 'FOUR')
  const odd = spelt.replace('one', 'ONE').replace('three', 'THREE').replace('four', 'FOUR').replace('six', 'SIX')

  it('formats a block in which a line changes, and keeps the others', () => {
    const changed = spelt.replace('two: 2', 'two: 9')
    expect(mergeLines({ original: odd, formatted: spelt, changed })).toBe(odd.replace('two: 2', 'two: 9'))
    expect(mergeLines({ original: odd, formatted: spelt, changed, blockIndent: 0 })).toBe(
      odd.replace('two: 2', 'two: 9').replace('ONE', 'one').replace('THREE', 'three'),
    )
  })

  it('formats one block wherever in it the change is', () => {
    const expected = odd.replace('FOUR', 'four')
    for (const [from, to] of [
      ['five: 5', 'five: 9'],
      ['b:', 'B:'],
      ['  five: 5\n', ''],
      ['  five: 5\n', '  more: 1\n  five: 5\n'],
    ] as const)
      expect(mergeLines({ original: odd, formatted: spelt, changed: spelt.replace(from, to), blockIndent: 0 })).toBe(
        expected.replace(from, to),
      )
  })

  it('finds blocks when every line has another indentation', () => {
    const changed = spelt.replace('six: 6', 'six: 9')
    expect(mergeLines({ original: written, formatted: spelt, changed, blockIndent: 0 })).toBe(
      `${written.slice(0, written.indexOf('c:'))}c:\n  six: 9`,
    )
  })
})
