import { describe, expect, it } from 'vitest'
import type { Body } from '../../../../src/kinds/kind.ts'
import type { Edit } from '../../../../src/sync/pull/edit-yaml.ts'
import { writeNewFile } from '../../../../src/sync/pull/write-yaml.ts'
import { hostile } from '../../../support/corpus.ts'
import { readDeclarations } from '../../../support/declarations.ts'
import { parsed } from '../../../support/edits.ts'
import { kinds } from '../../../support/plans.ts'
import { awkwardNames } from '../../../support/random-declarations.ts'

const path = 'a.yml'

const newFile = (name: string, objects: readonly Edit[]): string => writeNewFile(name, objects, kinds)

/** How the fields of an object are written, without the columns that all of them have. */
const spelt = (fields: Body): string =>
  newFile(path, [{ kind: 'dashboard', key: 'd', after: fields }])
    .split('  d:\n')
    .slice(1)
    .join('  d:\n')
    .replaceAll(/^ {4}/gm, '')

const alert = (key: string, fields: Body): Edit => ({ kind: 'alert', key, after: { name: key, ...fields } })

describe('a new file', () => {
  it('names its schema, and has dashboards first and alerts last, with blank lines between', () => {
    const additions: Edit[] = [
      alert('a', {}),
      { kind: 'savedSearch', key: 's', after: { name: 'S' } },
      { kind: 'dashboard', key: 'one', after: { name: 'One' } },
      { kind: 'dashboard', key: 'two', after: { name: 'Two' } },
    ]
    expect(newFile(path, additions)).toMatch(
      /^# yaml-language-server: \$schema=https:\/\/\S+\/v\d+\/schemas\/observability\.schema\.json\ndashboards:\n {2}one:\n {4}name: One\n\n {2}two:\n {4}name: Two\n\nsavedSearches:\n {2}s:\n {4}name: S\n\nalerts:\n {2}a:\n {4}name: a\n$/,
    )
  })

  it('names its schema in a field when it is JSON', () => {
    const text = newFile('a.json', [alert('a', { threshold: 1 })])
    const { $schema, ...content } = JSON.parse(text)
    expect($schema).toMatch(/^https:.*schema\.json$/)
    expect(content).toEqual({ alerts: { a: { name: 'a', threshold: 1 } } })
    expect(text).toBe(`${JSON.stringify({ $schema, ...content }, null, 2)}\n`)
  })

  const webhook = { type: 'webhook', webhook: 'w' }
  const names = ['a', 'b', 'c']

  it('a new file has defaults when at least three alerts share their interval or channel', () => {
    const cases: readonly [string, Body[], object][] = [
      ['say once what all have in common', names.map(() => ({ interval: '5m', channel: webhook })), { interval: '5m', channel: webhook }],
      ['say once what is the same of it', names.map((name) => ({ interval: '5m', channel: name })), { interval: '5m' }],
      ['say nothing once where one differs', names.map((_, i) => ({ interval: i === 2 ? '1h' : '5m' })), {}],
      ['say nothing once where the first differs', names.map((_, i) => ({ interval: i === 0 ? '1h' : '5m' })), {}],
      ['say nothing once where none has it', names.map(() => ({})), {}],
      ['say nothing once that one of them lacks', names.map((_, i) => (i === 1 ? {} : { interval: '5m' })), {}],
      ['say no threshold or text once', names.map(() => ({ threshold: 1, message: 'x' })), {}],
      ['say nothing once where they are only two', [{ interval: '5m' }, { interval: '5m' }], {}],
    ]
    for (const [name, all, shared] of cases) {
      const additions = all.map((fields, i) => alert(names[i] ?? '', fields))
      const { defaults, alerts } = parsed(newFile(path, additions)) as Record<string, Record<string, Body>>
      expect(defaults ?? { alerts: {} }, name).toEqual({ alerts: shared })
      expect(
        Object.keys(Object.values(alerts ?? {})[0] ?? {}).filter((field) => field in shared),
        name,
      ).toEqual([])
      for (const { key, after: fields } of additions) expect({ ...shared, ...alerts?.[key] }, name).toEqual(fields)
    }
  })

  it('a new file has its defaults first', () => {
    const all = names.map((name) => alert(name, { interval: '5m' }))
    expect(newFile(path, [...all, { kind: 'dashboard', key: 'd', after: { interval: '5m' } }])).toContain(
      'schema.json\ndefaults:\n  alerts:\n    interval: 5m\n\ndashboards:\n  d:\n    interval: 5m\n\nalerts:\n  a:\n    name: a\n\n  b:\n',
    )
  })
})

describe('a map', () => {
  const widths = Array.from({ length: 130 }, (_, i) => i)

  /** The longest line that has all of it; the object itself takes four columns. */
  const maxLineLength = (fieldsFor: (text: string) => Body): number => {
    const lines = widths.flatMap((width) =>
      spelt(fieldsFor('x'.repeat(width)))
        .split('\n')
        .filter((one) => /: \{.*(?:x|'')/.test(one)),
    )
    return 4 + Math.max(...lines.map(({ length }) => length))
  }

  it('a map is on one line up to about 120 columns', { tags: 'slow' }, () => {
    const cases: readonly [string, (text: string) => Body][] = [
      ['a short name', (b) => ({ fields: { a: 1, b } })],
      ['a long name', (b) => ({ ['name'.repeat(10)]: { a: 1, b } })],
      ['long names in it', (b) => ({ fields: { ['name'.repeat(10)]: 1, b } })],
      ['a number, a flag and nothing', (b) => ({ fields: { a: 123.25, b, c: true, d: null } })],
      ['a list', (b) => ({ fields: { a: ['ab', 'cd'], b } })],
      ['a map', (b) => ({ fields: { a: { c: 1, d: 2 }, b } })],
      ['a map in a map', (b) => ({ out: { other: 'y'.repeat(130), in: { b } } })],
      ['a list of maps', (b) => ({ out: [{ other: 'y'.repeat(130), in: { b } }] })],
      ...[',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '"', '%', '@', '`', ': '].map((sign): [string, (text: string) => Body] => [
        `quotes for ${sign}`,
        (b) => ({ fields: { b: sign + b } }),
      ]),
    ]
    for (const [name, fieldsFor] of cases) {
      const longest = maxLineLength(fieldsFor)
      expect(longest, name).toBeGreaterThanOrEqual(114)
      expect(longest, name).toBeLessThanOrEqual(120)
    }
  })

  it('a map has a line for each field when it contains a text with several lines', () => {
    expect(spelt({ fields: { a: 'x\ny' } })).toBe('fields:\n  a: |-\n    x\n    y\n')
  })

  it('a map has a line for each field when people change it often', () => {
    const cases = ['config', 'raw'] as const
    for (const name of cases) {
      expect(spelt({ [name]: { a: { b: 1 } } }), name).toBe(`${name}:\n  a: { b: 1 }\n`)
      expect(spelt({ tiles: [{ name: 'A', [name]: { a: 1 } }] }), name).toBe(`tiles:\n  - name: A\n    ${name}:\n      a: 1\n`)
    }
  })

  it('a map is in brackets when it is empty', () => {
    expect(spelt({ a: {}, raw: {}, tiles: [] })).toBe('a: {}\nraw: {}\ntiles: []\n')
  })
})

describe('a list', () => {
  it('a list of texts is on one line if it fits', () => {
    expect(spelt({ tags: ['a', 'b'] })).toBe('tags: [a, b]\n')
    const words = ['x'.repeat(60), 'y'.repeat(60)]
    expect(spelt({ tags: words })).toBe(`tags:\n  - ${words[0]}\n  - ${words[1]}\n`)
  })

  it('a list of maps or lists has a line for each item', () => {
    expect(spelt({ select: ['word', { a: 1 }, { b: [{ c: 1 }] }, [2]], more: 1 })).toBe(
      'select:\n  - word\n  - { a: 1 }\n  - { b: [{ c: 1 }] }\n  - [2]\nmore: 1\n',
    )
  })

  it('a list of tiles has a line for each field of a tile', () => {
    expect(spelt({ tiles: [{ name: 'A', y: 1, config: { select: [{ a: 1 }] } }] })).toBe(
      'tiles:\n  - name: A\n    y: 1\n    config:\n      select: [{ a: 1 }]\n',
    )
  })

  it('a list of several maps has a line for each of them', () => {
    expect(spelt({ config: { select: [{ a: 1 }, { a: 2 }] } })).toBe('config:\n  select:\n    - { a: 1 }\n    - { a: 2 }\n')
  })
})

describe('a text', () => {
  it('a text is quoted or escaped when it needs to be', () => {
    const cases: readonly [string, string][] = [
      ['plain', 'plain'],
      ['it is', 'it is'],
      ["it's", "it's"],
      ['a: b', "'a: b'"],
      ['# no comment', "'# no comment'"],
      ['404', "'404'"],
      ['1e3', "'1e3'"],
      ['true', "'true'"],
      ['null', "'null'"],
      ['', "''"],
      ['- item', "'- item'"],
      ['yes', "'yes'"],
      ['No', "'No'"],
      ['ON', "'ON'"],
      ['off', "'off'"],
      ['y', "'y'"],
      ['N', "'N'"],
      ['yesterday', 'yesterday'],
      ['only', 'only'],
      ['one\ntwo', '|-\n  one\n  two'],
      ['one\ntwo\n', '|\n  one\n  two'],
      ['one\n\ntwo', '|-\n  one\n\n  two'],
      ['one\n  two', '|-\n  one\n    two'],
      [' one\ntwo', '" one\\ntwo"'],
      ['\tone\ntwo', '"\\tone\\ntwo"'],
      ['\none\ntwo', '"\\none\\ntwo"'],
      ['one\n\n', '"one\\n\\n"'],
      ['one\n  ', '"one\\n  "'],
      ['one\n\t\n', '"one\\n\\t\\n"'],
      ['bell\u0007', '"bell\\u0007"'],
      ['del\u007f', '"del\\u007f"'],
      ['next\u0085line', '"next\\u0085line"'],
      ['soft\u00adhyphen', '"soft\\u00adhyphen"'],
      ['zero\u200bwidth', '"zero\\u200bwidth"'],
      ['\u202egnp.exe', '"\\u202egnp.exe"'],
      ['a\u2066b', '"a\\u2066b"'],
      ['a\ufeffb', '"a\\ufeffb"'],
      ['a\u061cb\u0007', '"a\\u061cb\\u0007"'],
      ['line\u2028end', '"line\\u2028end"'],
      ['half \ud83d', '"half \\ud83d"'],
      ['whole 😀', 'whole 😀'],
      ['Überlast 障害', 'Überlast 障害'],
      ['x'.repeat(300), 'x'.repeat(300)],
      [`${'word '.repeat(60)}end`, `${'word '.repeat(60)}end`],
      [`${'a: b '.repeat(60)}end`, `'${'a: b '.repeat(60)}end'`],
      [`${'bell\u0007 '.repeat(30)}end`, `"${'bell\\u0007 '.repeat(30)}end"`],
    ]
    for (const [text, expected] of cases) {
      const written = spelt({ note: text })
      expect(written, text).toBe(`note: ${expected}\n`.replaceAll(/^ +$/gm, ''))
      expect(parsed(written), text).toEqual({ note: text })
    }
  })

  it('a text is quoted as a key only when it needs to be', () => {
    expect(spelt({ raw: { y: 1, on: 2, '404': 3, 'a: b': 4, 'a\u200b': 5 } })).toBe(
      'raw:\n  "404": 3\n  y: 1\n  on: 2\n  \'a: b\': 4\n  "a\\u200b": 5\n'.replace('"404"', "'404'"),
    )
  })
})

describe('a new file with awkward texts', () => {
  const corpus = [...awkwardNames, ...hostile.filter(({ id }) => !id.startsWith('size-')).map(({ value }) => value)].filter(
    (value) => value !== '',
  )

  it('a new file with awkward texts is read back with the same values', () => {
    const cases = ['observability/a.yml', 'observability/a.json'] as const
    for (const path of cases) {
      const alert = {
        dashboard: { id: 'x' },
        tile: { id: 'y' },
        threshold: 1,
        interval: '5m',
        channel: { type: 'email', emailRecipients: ['a@b'] },
      }
      const additions = corpus.map((value, i) => ({
        kind: 'alert' as const,
        key: `a${i}`,
        after: { name: value.slice(0, 512), ...alert, message: value.slice(0, 3900), note: `1. ${value}\n2. ${value}`.slice(0, 3900) },
      }))
      const text = newFile(path, additions)
      const read = readDeclarations([{ path, text }], () => undefined)
      expect(read.diagnostics, path).toEqual([])
      expect(
        read.objects.map(({ value }) => value),
        path,
      ).toEqual(additions.map(({ after }) => ({ ...after, thresholdType: 'above' })))
      if (path.endsWith('.yml'))
        expect(text, path).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/)
      expect(text.isWellFormed(), path).toBe(true)
    }
  })
})
