import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable } from '../../../../src/platform/core/text.ts'
import { type CsvCell, renderCsv } from '../../../../src/platform/report/csv.ts'
import { anyCodePoint, forEachEntry, hostile } from '../../../support/corpus.ts'

const csvOf = (rows: Iterable<readonly CsvCell[]>): string => [...renderCsv(rows)].join('')

const readBack = (csv: string): readonly (readonly string[])[] => parse(csv, { record_delimiter: '\r\n' })

const formulaMarks = /^[=+\-@\t\r＝＋－＠]/

/** The text as a spreadsheet gets it: visible, and with an apostrophe before what would be a formula. */
const shown = (text: string): string => `${formulaMarks.test(text) ? "'" : ''}${printable(text)}`

const nastyText = fc
  .array(fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', '""', ',', ';', ' ', "'", '＝', '1', 'a'), { maxLength: 12 })
  .map((parts) => parts.join(''))
const anyText = fc.oneof(fc.string({ unit: anyCodePoint, maxLength: 100 }), nastyText)
const anyNumber = fc.tuple(fc.bigInt(), fc.nat(999)).map(([whole, fraction]) => `${whole}.${String(fraction).padStart(3, '0')}`)

describe('renderCsv', () => {
  it('round-trips text through a CSV parser without formulas', () =>
    forEachEntry(hostile, ({ value }) => {
      const [row, ...rest] = readBack(csvOf([['before', value, 'after']]))
      expect(row).toEqual(['before', shown(value), 'after'])
      expect(row?.[1]).not.toMatch(formulaMarks)
      expect(rest).toEqual([])
    }))

  it.each<[string, CsvCell, string]>([
    ['a formula', '=1+1', "'=1+1"],
    ['a formula that starts with a sign', '-1+cmd|x', "'-1+cmd|x"],
    ['a formula behind a tab', '\t=1', "'\\t=1"],
    ['a formula with wide marks', '＝1', "'＝1"],
    ['a formula with a comma', '=A1,"x"', '"\'=A1,""x"""'],
    ['a negative number as text', '-5', "'-5"],
    ['a negative number', { number: '-5.25' }, '-5.25'],
    ['a long number', { number: '12345678901234567890.000000000000000001' }, '12345678901234567890.000000000000000001'],
    ['what is no plain number after all', { number: '=1' }, "'=1"],
    ['a number with an exponent', { number: '-1e5' }, "'-1e5"],
    ['a quote', 'a"b', '"a""b"'],
    ['a comma', 'a,b', '"a,b"'],
    ['a newline', 'a\nb', 'a\\nb'],
    ['blanks at the start', '  a', '"  a"'],
    ['blanks at the end', 'a ', '"a "'],
    ['blanks inside', 'a b', 'a b'],
    ['nothing', undefined, ''],
    ['an empty text', '', ''],
  ])('writes %s', (_, cell, expected) => {
    expect(csvOf([[cell, 'x']])).toBe(`${expected},x\r\n`)
  })

  it('ends every line with CRLF', () => {
    const csv = csvOf([['a'], ['b\nc'], ['d\r\ne']])
    expect(csv.split('\r\n')).toHaveLength(4)
    expect(csv.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })

  it('makes a large file in pieces of whole lines, from rows that need not be in memory together', () => {
    let made = 0
    const rows = function* (): Generator<readonly CsvCell[]> {
      for (; made < 20_000; made++) yield [`row ${made}`, { number: '1' }]
    }
    const pieces = renderCsv(rows())
    const { value: first = '' } = pieces.next()
    expect([first.slice(0, 9), first.slice(-2), first.length < 70_000, made < 10_000]).toEqual(['row 0,1\r\n', '\r\n', true, true])
    expect(readBack(first + [...pieces].join(''))).toHaveLength(20_000)
  })

  it('round-trips any text through a CSV parser', () => {
    const cell = fc.oneof(
      anyText,
      anyNumber.map((number) => ({ number })),
    )
    // One column that is never empty: a line without anything is no row to most readers.
    const rows = fc.array(fc.tuple(fc.constant('x'), cell, cell), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(rows, (given) => {
        const read = readBack(csvOf(given))
        expect(read).toEqual(given.map((row) => row.map((one) => (typeof one === 'string' ? shown(one) : one.number))))
        const texts = read.flatMap((row, y) => row.filter((_, x) => typeof given[y]?.[x] === 'string'))
        expect(texts.filter((text) => formulaMarks.test(text))).toEqual([])
      }),
    )
  })
})
