import { describe, expect, it } from 'vitest'
import { edit, type Fields } from '../../../support/edits.ts'

const text = `dashboards:
  d:
    name: D
    tiles:
      - name: A # at A
        x: 0x0
      # about B
      - { name: B, x: 1 } # at B
      - name: 'C'
        x: 2
    tags: [a,  b]
`

const a = { name: 'A', x: 0 }
const b = { name: 'B', x: 1 }
const c = { name: 'C', x: 2 }

const tilesOf = (edited: string): readonly string[] =>
  edited
    .slice(edited.indexOf('tiles:\n') + 'tiles:\n'.length, edited.indexOf('    tags:'))
    .split('\n')
    .map((line) => line.slice(6))
    .filter((line) => line !== '')

const [spelt, changedA] = [
  { A: ['- name: A # at A', '  x: 0x0'], B: ['# about B', '- { name: B, x: 1 } # at B'], C: ["- name: 'C'", '  x: 2'] },
  ['- name: A # at A', '  x: 5'],
]

describe('the items of a list', () => {
  it('the items of a list keep their formatting and their comments', () => {
    const cases: readonly [string, readonly Fields[], readonly string[]][] = [
      ['stay as they are', [a, b, c], [...spelt.A, ...spelt.B, ...spelt.C]],
      ['change places', [c, a, b], [...spelt.C, ...spelt.A, ...spelt.B]],
      ['change places and values', [c, { ...a, x: 5 }, b], [...spelt.C, ...changedA, ...spelt.B]],
      ['change a value in brackets', [a, { ...b, x: 5 }, c], [...spelt.A, '# about B', '- { name: B, x: 5 } # at B', ...spelt.C]],
      ['go', [a, c], [...spelt.A, ...spelt.C]],
      ['go from the end', [a, b], [...spelt.A, ...spelt.B]],
      ['come in between', [a, { name: 'M', x: 7 }, b, c], [...spelt.A, '- name: M', '  x: 7', ...spelt.B, ...spelt.C]],
      ['come at the end', [a, b, c, { name: 'M', x: 7 }], [...spelt.A, ...spelt.B, ...spelt.C, '- name: M', '  x: 7']],
      ['come in the place of one that goes', [a, { name: 'M', x: 1 }, c], [...spelt.A, '- name: M', '  x: 1', ...spelt.C]],
      ['are several of one name', [a, a, b, c], [...spelt.A, '- name: A', '  x: 0', ...spelt.B, ...spelt.C]],
    ]
    for (const [name, tiles, expected] of cases) {
      expect(tilesOf(edit(text, { 'dashboards.d': { tiles } })), name).toEqual(expected)
    }
  })

  it('the items of a list are matched by id before their name', () => {
    const renamed = [
      { name: 'B', x: 2 },
      { name: 'New', x: 0 },
      { name: 'A', x: 1 },
    ]
    const after = edit(
      text,
      { 'dashboards.d': { tiles: renamed } },
      { identityOf: ({ x }) => (typeof x === 'number' ? String(x) : undefined) },
    )
    expect(tilesOf(after)).toEqual(["- name: 'B'", '  x: 2', '- name: New # at A', '  x: 0x0', '# about B', '- { name: A, x: 1 } # at B'])
  })

  it('the items of a list are matched by their order when they have the same name', () => {
    const twins = 'dashboards:\n  d:\n    tiles:\n      - { name: T, x: 1 } # one\n      - { name: T, x: 2 } # two\n'
    const tiles = [
      { name: 'T', x: 1 },
      { name: 'T', x: 3 },
    ]
    expect(edit(twins, { 'dashboards.d': { tiles } })).toBe(twins.replace('x: 2', 'x: 3'))
    expect(edit(twins, { 'dashboards.d': { tiles: tiles.slice(0, 1) } })).toBe(twins.replace('      - { name: T, x: 2 } # two\n', ''))
  })

  it('the items of a list are not confused when several names occur twice', () => {
    const row = (name: string, x: number): string => `      - { name: ${name}, x: ${x} } # ${name}${x}\n`
    const twins = `dashboards:\n  d:\n    tiles:\n${row('T', 1)}${row('T', 2)}${row('U', 3)}${row('U', 4)}`
    const tiles = ['T', 'T', 'U', 'U'].map((name, i) => ({ name, x: i === 3 ? 9 : i + 1 }))
    expect(edit(twins, { 'dashboards.d': { tiles } })).toBe(twins.replace('x: 4', 'x: 9'))
  })

  it('the items of a list can be of any type', () => {
    const cases: readonly [string, string, readonly unknown[], string][] = [
      ['words', '[a, "b", \'c\']', ['c', 'a'], "['c', a]"],
      ['words that come', '["a"]', ['z', 'a'], '[z, "a"]'],
      ['words that stand twice', '[a, "a"]', ['a', 'b', 'a'], '[a, b, "a"]'],
      ['numbers and words that look alike', '[0x1, "1"]', ['1', 1], '["1", 0x1]'],
      ['nothing', '[~, "a"]', ['a', null], '["a", ~]'],
      ['lists', '[[0x1], [2]]', [[1], [3]], '[[0x1], [3]]'],
      ['maps without a name', '[{ v: 0x1 }, { v: 2 }]', [{ v: 1 }, { v: 3 }, { v: 4 }], '[{ v: 0x1 }, { v: 3 }, { v: 4 }]'],
      ['maps whose name is no text', '[{ name: 1, v: 0x2 }, { name: 2 }]', [{ name: 2, v: 2 }], '[{ name: 2, v: 0x2 }]'],
    ]
    for (const [name, before, after, expected] of cases) {
      const file = `dashboards:\n  d:\n    list: ${before}\n`
      expect(edit(file, { 'dashboards.d': { list: after } }), name).toBe(`dashboards:\n  d:\n    list: ${expected}\n`)
    }
  })

  it('the items of a list keep their comments when they are texts', () => {
    const words = 'dashboards:\n  d:\n    tags:\n      - a # first\n      # about b\n      - "b"\n      - c # third\n'
    expect(edit(words, { 'dashboards.d': { tags: ['new', 'c', 'b'] } })).toBe(
      'dashboards:\n  d:\n    tags:\n      - new\n      - c # third\n      # about b\n      - "b"\n',
    )
  })

  it('the items of a list are matched by index when they have no name', () => {
    const list = 'dashboards:\n  d:\n    filters:\n      - condition:   a # first\n      - condition: b # second\n'
    expect(edit(list, { 'dashboards.d': { filters: [{ condition: 'a' }, { condition: 'z' }] } })).toBe(list.replace('b #', 'z #'))
  })
})

describe('an empty list', () => {
  it('an empty list gets a line for each map unless it is in brackets', () => {
    const cases = [
      ['dashboards:\n  d:\n    tiles: []\n', 'dashboards:\n  d:\n    tiles:\n      - name: A\n        x: 0\n'],
      ['dashboards: { d: { tiles: [] } }\n', 'dashboards: { d: { tiles: [{ name: A, x: 0 }] } }\n'],
    ] as const
    for (const [before, after] of cases) {
      expect(edit(before, { 'dashboards.d': { tiles: [a] } }), before).toBe(after)
    }
  })

  it('an empty list gets texts in brackets', () => {
    expect(edit('dashboards:\n  d:\n    tags: []\n', { 'dashboards.d': { tags: ['a', 'b'] } })).toBe(
      'dashboards:\n  d:\n    tags: [a, b]\n',
    )
  })

  it('an empty list is written in brackets', () => {
    expect(edit('dashboards:\n  d:\n    tags:\n      - a\n    name: D\n', { 'dashboards.d': { tags: [] } })).toBe(
      'dashboards:\n  d:\n    tags: []\n    name: D\n',
    )
  })
})

describe('indentation', () => {
  const spell = (indent: number, dash: number): string => {
    const at = (columns: number): string => ' '.repeat(columns)
    return `dashboards:\n${at(indent)}d:\n${at(2 * indent)}name: D\n${at(2 * indent)}tiles:\n${at(dash)}- name: A\n${at(dash + 2)}x: 1\nalerts: {}\n`
  }

  it('new fields and items have the indentation of the file', () => {
    const cases = [
      [2, 4],
      [2, 6],
      [4, 12],
      [3, 9],
    ] as const
    for (const [indent, dash] of cases) {
      const before = spell(indent, dash)
      const after = edit(before, {
        'dashboards.d': {
          tiles: [
            { name: 'A', x: 1 },
            { name: 'B', x: 2 },
          ],
          raw: { a: { b: 'x'.repeat(200) } },
        },
      })
      const [field, item] = [' '.repeat(2 * indent), ' '.repeat(dash)]
      const deep = [3, 4].map((level) => ' '.repeat(level * indent))
      expect(after, JSON.stringify(indent)).toBe(
        before.replace('x: 1\n', `x: 1\n${item}- name: B\n${item}  x: 2\n${field}raw:\n${deep[0]}a:\n${deep[1]}b: ${'x'.repeat(200)}\n`),
      )
    }
  })
})
