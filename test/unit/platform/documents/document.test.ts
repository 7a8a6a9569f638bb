import { describe, expect, it } from 'vitest'
import { formatLocation } from '../../../../src/platform/core/diagnostics.ts'
import { type ReadDocument, readDocument } from '../../../../src/platform/documents/document.ts'
import { cpuRatio, tenfold } from '../../../support/clocks.ts'

function read(text: string): ReadDocument {
  const reading = readDocument(text, 'f.yml')
  if ('diagnostics' in reading) throw new Error(reading.diagnostics.map(({ message }) => message).join('; '))
  return reading
}

function diagnosticsOf(text: string): readonly string[] {
  const reading = readDocument(text, 'f.yml')
  return 'diagnostics' in reading ? reading.diagnostics.map(({ location, message }) => `${formatLocation(location)} ${message}`) : []
}

describe('a value', () => {
  it('a value is the same as in JSON', () => {
    const value = { a: [1, -0.5, 1e3, true, false, null, 'x', ''], b: { c: {}, d: [] }, '404': 'y' }
    expect(read(JSON.stringify(value)).value).toEqual(value)
  })

  it('a value has only the keywords of JSON, and no dates', () => {
    const words = ['on', 'yes', 'no', 'off', '0o17', '1:30', '2001-01-01', '017']
    expect(read('[on, yes, no, off, "0o17", 1:30, 2001-01-01, "017"]').value).toEqual(words)
    expect(read('%YAML 1.1\n---\n[yes, 1:30, 2001-01-01]').value).toEqual(['yes', '1:30', '2001-01-01'])
  })

  it('a value has aliases filled in, the latest anchor of a name first', () => {
    expect(read('[&a 1, *a, &a { x: 2 }, *a]').value).toEqual([1, 1, { x: 2 }, { x: 2 }])
    expect(read('[&a 1, &b [*a, &c 3], &a 2, &c 4, *b, *a, *c]').value).toEqual([1, [1, 3], 2, 4, [1, 3], 2, 4])
  })

  it('a value has keys that objects inherit as keys of its own', () => {
    const { value } = read('{ __proto__: { x: 1 }, constructor: 2 }')
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it('a value may share one channel among a thousand alerts', () => {
    const text = `c: &c { type: webhook, webhookId: x }\nalerts: [${'{ channel: *c }, '.repeat(1000)}]`
    expect((read(text).value as { alerts: object[] }).alerts).toHaveLength(1000)
  })
})

it('a file has a mebibyte at most, before and after its aliases are expanded, and a hundred levels', () => {
  const mebibyte = 1024 * 1024
  const full = `a: 1\n#${'ü'.repeat((mebibyte - 6) / 2)}`
  expect([diagnosticsOf(full), diagnosticsOf(`${full}x`)]).toEqual([[], ['f.yml is larger than 1 MiB']])
  // The keys count, too.
  const expanded = (copies: number): string => `a: &a ${'x'.repeat(mebibyte / 16)}\nb: [${'*a, '.repeat(copies)}]\n`
  expect(diagnosticsOf(expanded(14))).toEqual([])
  expect(diagnosticsOf(expanded(15))).toEqual([expect.stringMatching(/^f\.yml:\d+:\d+ is larger than 1 MiB after aliases are expanded$/)])
  const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
  expect(diagnosticsOf(nested(100))).toEqual([])
  expect(diagnosticsOf(nested(101))).toEqual([expect.stringContaining('is nested deeper than 100 levels')])
})

it('a file with more mistakes than twenty has the first twenty', () => {
  const places = (text: string): readonly string[] => diagnosticsOf(text).map((line) => line.split(' ')[0] ?? '')
  const first = Array.from({ length: 20 }, (_, i) => `f.yml:${i + 1}:3`)
  expect(places('- 1e309\n'.repeat(25))).toEqual(first)
  expect(places('- !!binary x\n'.repeat(25))).toEqual(first)
})

describe('a number', () => {
  it.each(['0.1', '0.30000000000000004', '-0', '1e21', '+5', '.5', '5.', '0x10', '0o17', '9007199254740991', '1.10', '0e99'])(
    'a number is taken as it is written: %s',
    (text) => {
      expect(read(`a: ${text}`).value).toEqual({ a: Number(text) })
    },
  )

  it.each(['0.1000000000000000055511151231257827', '9007199254740993', '12345678901234567890', '1e309', '0x20000000000001'])(
    'a number is refused where it would become another: %s',
    (text) => {
      expect(diagnosticsOf(`a: ${text}`)).toEqual(['f.yml:1:4 has more digits than a number can hold; write it in quotes'])
      expect(read(`a: "${text}"`).value).toEqual({ a: text })
    },
  )
})

describe('a location', () => {
  const text = '# comment\na:\n  b: 1\n  "c d": [x, { e: 2 }]\n404: y\n'

  it.each([
    [['a', 'b'], '3:6', '3:3'],
    [['a', 'c d', 1, 'e'], '4:19', '4:16'],
    [['a', 'c d', 0], '4:11', '4:11'],
    [['404'], '5:6', '5:1'],
    [['a', 'missing', 'deeper'], '3:3', '3:3'],
    [[], '2:1', '2:1'],
  ])('a location is that of the value, of its key, or of the nearest value around it: %j', (path, value, key) => {
    const { locationOf, locationOfKey } = read(text)
    expect(formatLocation(locationOf(path))).toBe(`f.yml:${value}`)
    expect(formatLocation(locationOfKey(path))).toBe(`f.yml:${key}`)
  })

  it('a location is the same with a byte order mark and with carriage returns', () => {
    const { locationOf } = read(`\ufeff${text.replaceAll('\n', '\r\n')}`)
    expect(formatLocation(locationOf(['a', 'c d', 1, 'e']))).toBe('f.yml:4:19')
  })

  it('a location is that of the alias for a value behind an alias', () => {
    expect(formatLocation(read('a: &a { x: 1 }\nb: *a\n').locationOf(['b', 'x']))).toBe('f.yml:2:4')
  })

  it.each([
    ['a: 1\nb: [\n', 'f.yml:3:1 ] is missing here or above'],
    ['a:\n  b: [1, 2\n  c: 3\nd: { x: 1 }\n', 'f.yml:3:3 ] is missing here or above'],
    ['a: { b: [1, 2 }\nc: 1', 'f.yml:1:15 ] is missing here or above'],
    ['{\n "a": {"b": 1,\n "c": [2]\n', 'f.yml:4:1 } is missing here or above'],
    ['a: "x\nb: 1', 'f.yml:2:5 Missing closing "quote; check the indentation and the quotes here'],
    [
      'a: b: c',
      'f.yml:1:4 has a second ": " in one line, or is indented deeper than the line above; align it, or write the text in quotes',
    ],
    ['a:\n  name Errors\n  b: 1\n', 'f.yml:2:3 has no ": " after its key; write a colon and a space, as in "name: Errors"'],
    ['a:\n  b: 1\n  name Errors\n', 'f.yml:3:3 has no ": " after its key; write a colon and a space, as in "name: Errors"'],
    ['a:\r\n  name:Errors\r\n  b: 1\r\n', 'f.yml:2:3 has no ": " after its key; write a colon and a space, as in "name: Errors"'],
    ['a: |\n\tb\n', 'f.yml:2:1 is indented with a tab; use spaces'],
    [
      'a: |\n      \n  b\n',
      'f.yml:3:3 Block scalars with more-indented leading empty lines must use an explicit indentation indicator; check the indentation and the quotes here',
    ],
    [
      'a:\n<<<<<<< HEAD\n  b: 1\n=======\n  b: 2\n>>>>>>> other\n',
      'f.yml:2:1 is the marker of a conflict of Git; resolve the conflict, and remove its markers',
    ],
    ['a:\n  b: 1\n=======\n', 'f.yml:3:1 is the marker of a conflict of Git; resolve the conflict, and remove its markers'],
    ['a:\n  b: 1\n>>>>>>> other\nc: 2\n', 'f.yml:3:1 is the marker of a conflict of Git; resolve the conflict, and remove its markers'],
    ['a:\n  b: 1\n||||||| 0a1b2c3\nc: 2\n', 'f.yml:3:1 is the marker of a conflict of Git; resolve the conflict, and remove its markers'],
    ['{\n<<<<<<< HEAD\n\t"b": 1\n=======\n', 'f.yml:2:1 is the marker of a conflict of Git; resolve the conflict, and remove its markers'],
    ['a: !!binary aGk=', 'f.yml:1:4 Unresolved tag: tag:yaml.org,2002:binary; remove the tag, or write the text in quotes'],
    ['a: 1\nb: 2\na: 3', 'f.yml:3:1 Map keys must be unique: "a" is already in this map; remove one of them'],
    ['a:\n  - *x', 'f.yml:2:5 *x has no anchor: add &x before it, or quote a text: "*x"'],
    [`a:\n  b: ${'['.repeat(120)}`, 'f.yml:2:106 is nested deeper than 100 levels'],
  ])('a location is reported once for what cannot be read: %j', (wrong, message) => {
    expect(diagnosticsOf(wrong)).toHaveLength(1)
    expect(diagnosticsOf(wrong)[0]).toBe(message)
  })

  it('a location is found in a map of thousands of keys as fast as in one of hundreds', async () => {
    const prepare = (count: number) => {
      const { locationOfKey } = read(Array.from({ length: count }, (_, i) => `k${i}: 1`).join('\n'))
      const numbers = Array.from({ length: count }, (_, i) => i)
      return () => expect(numbers.map((i) => locationOfKey([`k${i}`]).line)).toEqual(numbers.map((i) => i + 1))
    }
    expect(await cpuRatio(prepare(5000), prepare(500))).toBeLessThanOrEqual(tenfold)
  })
})
