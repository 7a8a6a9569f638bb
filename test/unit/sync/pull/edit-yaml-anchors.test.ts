import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { editFile } from '../../../../src/sync/pull/edit-yaml.ts'
import { edit, type Fields, parsed } from '../../../support/edits.ts'

const objects = (text: string): Fields => (parsed(text) as { alerts: Fields }).alerts

const channel = { type: 'webhook', webhook: 'w' }
const shared = `alerts:
  a:
    name: A
    channel: &oncall { type: webhook, webhook: w } # beside
  b:
    name: B
    channel: *oncall
  c:
    name: C
    channel: *oncall
`

describe('an anchor', () => {
  it('an anchor moves to its first alias when its value changes', () => {
    const cases: readonly [string, Fields, string][] = [
      ['changes', { channel: { ...channel, webhook: 'new' } }, 'channel: { type: webhook, webhook: new } # beside'],
      ['becomes something else', { channel: 'none' }, 'channel: none # beside'],
    ]
    for (const [title, change, line] of cases) {
      expect(edit(shared, { 'alerts.a': change }), title).toBe(
        shared
          .replace('channel: &oncall { type: webhook, webhook: w } # beside', line)
          .replace('name: B\n    channel: *oncall', 'name: B\n    channel: &oncall { type: webhook, webhook: w }'),
      )
    }
  })

  it('an anchor moves to its first alias when its field is removed', () => {
    expect(edit(shared, { 'alerts.a': { channel: undefined } })).toBe(
      shared
        .replace('    channel: &oncall { type: webhook, webhook: w } # beside\n', '')
        .replace('channel: *oncall', 'channel: &oncall { type: webhook, webhook: w }'),
    )
  })

  it('an anchor stays when an alias gets another value', () => {
    expect(edit(shared, { 'alerts.b': { channel: { ...channel, webhook: 'new' } } })).toBe(
      shared.replace('channel: *oncall', 'channel: { type: webhook, webhook: new }'),
    )
  })

  it('an anchor moves on when the objects with its aliases change one after another', () => {
    const names = ['a', 'b', 'c']
    const changes = Object.fromEntries(names.map((name) => [`alerts.${name}`, { channel: { ...channel, webhook: name } }]))
    expect(objects(edit(shared, changes))).toMatchObject(
      Object.fromEntries(names.map((name) => [name, { channel: { ...channel, webhook: name } }])),
    )
  })

  it('an anchor stays when another field changes', () => {
    expect(edit(shared, { 'alerts.a': { name: 'New' } })).toBe(shared.replace('name: A', 'name: New'))
  })

  it('an anchor can be on any kind of node', () => {
    const cases: readonly [string, string, string, Fields][] = [
      ['a text', 'note: &n Call', 'note: *n', { note: 'Other' }],
      ['a list', 'tags: &n [x, y]', 'tags: *n', { tags: ['x'] }],
      ['an item of a list', 'tags: [&n x, y]', 'note: *n', { tags: ['y'] }],
      ['a list whose item changes', 'tags: &n [x, y]', 'tags: *n', { tags: ['x', 'z'] }],
      ['a part of a map', 'raw: { one: &n { a: 1 } }', 'raw: { other: *n }', { raw: { one: { a: 2 } } }],
      ['a part of a map that goes', 'raw: { one: &n { a: 1 }, two: 2 }', 'raw: { other: *n }', { raw: { two: 2 } }],
      ['a map and a part of it', 'raw: &m { one: &n { a: 1 } }', 'raw: { other: *n, more: *m }', { raw: { one: { a: 2 } } }],
      ['a part of what is replaced as a whole', 'raw: { one: &n { a: 1 } }', 'raw: { other: *n }', { raw: 'nothing' }],
    ]
    for (const [title, one, other, change] of cases) {
      const text = `alerts:\n  a:\n    name: A\n    ${one}\n  b:\n    ${other}\n`
      const before = objects(text)
      const after = edit(text, { 'alerts.a': change })
      expect(objects(after), title).toEqual({ ...before, a: { name: 'A', ...change } })
    }
  })

  it('an anchor is expanded in an item that is moved before it', () => {
    const text = 'alerts:\n  a:\n    list:\n      - { name: A, raw: &n { x: 1 } }\n      - { name: B, raw: *n, more: *n }\n'
    const list = [
      { name: 'B', raw: { x: 1 }, more: { x: 1 } },
      { name: 'A', raw: { x: 1 } },
    ]
    expect(objects(edit(text, { 'alerts.a': { list } }))).toEqual({ a: { list } })
  })

  it('an anchor is expanded only in the items that are moved before it', () => {
    const list = (...items: readonly string[]): string => `alerts:\n  a:\n    list:\n${items.map((item) => `      - ${item}\n`).join('')}`
    const text = list('{ name: O, raw: &o { x: 0 } }', '{ name: A, raw: &n { x: 1 } }', '{ name: B, raw: *n }', '{ name: C, raw: *o }')
    const item = (name: string, x: number) => ({ name, raw: { x } })
    const moved = [item('O', 0), item('B', 1), item('A', 1), item('C', 0)]
    expect(objects(edit(text, { 'alerts.a': { list: moved } }))).toEqual({ a: { list: moved } })
  })

  it('an anchor stays when its value changes and it has no aliases', () => {
    const text = 'alerts:\n  a:\n    note: &n one\n  b:\n    note: &m two\n  c:\n    note: *m\n'
    expect(edit(text, { 'alerts.a': { note: 'new' } })).toBe(text.replace('one', 'new'))
  })

  it('an anchor can have more than a hundred aliases', () => {
    const others = Array.from({ length: 150 }, (_, i) => `  o${i}:\n    channel: *c\n`).join('')
    const text = `alerts:\n  a:\n    channel: &c { type: webhook, webhook: w }\n    threshold: 1\n${others}`
    expect(edit(text, { 'alerts.a': { threshold: 2 } })).toBe(text.replace('threshold: 1', 'threshold: 2'))
  })

  it('an anchor can have the name of an earlier anchor', () => {
    const text = 'alerts:\n  a:\n    note: &n one\n  b:\n    note: *n\n  c:\n    note: &n two\n  d:\n    note: *n\n'
    expect(edit(text, { 'alerts.a': { note: 'new' } })).toBe(
      'alerts:\n  a:\n    note: new\n  b:\n    note: &n one\n  c:\n    note: &n two\n  d:\n    note: *n\n',
    )
    expect(edit(text, { 'alerts.c': { note: 'new' } })).toBe(
      'alerts:\n  a:\n    note: &n one\n  b:\n    note: *n\n  c:\n    note: new\n  d:\n    note: &n two\n',
    )
  })
})

describe('an object that is an alias', () => {
  const twins = 'alerts:\n  one: &one\n    # first\n    name: Twin\n    threshold: 1 # low\n  two: *one\n  three: *one\n'
  const twin = { name: 'Twin', threshold: 1 }

  it('an object that is an alias becomes a copy when it changes', () => {
    const after = edit(twins, { 'alerts.two': { threshold: 2 } })
    expect(objects(after)).toEqual({ one: twin, two: { ...twin, threshold: 2 }, three: twin })
    expect(after.startsWith('alerts:\n  one: &one\n    # first\n    name: Twin\n    threshold: 1 # low\n  two:\n')).toBe(true)
  })

  it('an object that is an alias stays the same when the other object changes', () => {
    expect(objects(edit(twins, { 'alerts.one': { threshold: 2 } }))).toEqual({ one: { ...twin, threshold: 2 }, two: twin, three: twin })
  })

  it('an object that is an alias can be in a section that is an alias', () => {
    const text = 'dashboards: &all\n  a:\n    name: A\nsavedSearches: *all\n'
    expect(parsed(edit(text, { 'savedSearches.a': { name: 'New' } }))).toEqual({
      dashboards: { a: { name: 'A' } },
      savedSearches: { a: { name: 'New' } },
    })
    expect(parsed(edit(text, { 'dashboards.a': { name: 'New' } }))).toEqual({
      dashboards: { a: { name: 'New' } },
      savedSearches: { a: { name: 'A' } },
    })
  })

  it('an object that is an alias can refer to the defaults', () => {
    const text = 'defaults:\n  alerts:\n    channel: &c { type: webhook, webhook: w }\nalerts:\n  a:\n    channel: *c\n    note: x\n'
    expect(edit(text, { 'alerts.a': { channel: { ...channel, webhook: 'new' } } })).toBe(
      text.replace('channel: *c', 'channel: { type: webhook, webhook: new }'),
    )
  })

  it('an object that is an alias does not get the comments of the other object', () => {
    const text = 'alerts:\n  a:\n    # of a\n    raw: &r # beside\n      # inside\n      one: 1\n  b:\n    raw: *r\n'
    expect(edit(text, { 'alerts.a': { raw: 5 } })).toContain('  b:\n    raw: &r\n')
  })
})

it('adds an object to a section that is an alias without changing the other section', () => {
  const text = 'dashboards: &all\n  a:\n    name: A\nsavedSearches: *all\n'
  const additions = [{ kind: 'savedSearch', key: 'b', fields: { name: 'B' } }] as const
  expect(parsed(edit(text, {}, { additions }))).toEqual({
    dashboards: { a: { name: 'A' } },
    savedSearches: { a: { name: 'A' }, b: { name: 'B' } },
  })
  const others = [{ kind: 'dashboard', key: 'b', fields: { name: 'B' } }] as const
  expect(parsed(edit(text, {}, { additions: others }))).toEqual({
    dashboards: { a: { name: 'A' }, b: { name: 'B' } },
    savedSearches: { a: { name: 'A' } },
  })
})

describe('lists with anchors', () => {
  type Fields = Readonly<Record<string, unknown>>

  const edit = (list: string, after: Fields): Fields => {
    const text = `dashboards:\n  errors:\n    name: Errors\n${list}`
    const { errors: before } = (parse(text) as { dashboards: { errors: Fields } }).dashboards
    const updates = [{ kind: 'dashboard' as const, key: 'errors', before, after: { name: 'Errors', ...after } }]
    const { text: edited } = editFile({ path: 'a.yml', text, defaults: {}, updates, additions: [], removals: [] })
    return (parse(edited) as { dashboards: { errors: Fields } }).dashboards.errors
  }

  describe('an alias in a list', () => {
    it('an alias in a list keeps its value', () => {
      const cases: readonly [string, string, Fields][] = [
        [
          'stays when its anchor goes',
          '    filters:\n      - &one { where: a }\n      - *one\n',
          { filters: [{ name: 'new', where: 'b' }, { where: 'a' }] },
        ],
        [
          'stays when its anchor changes',
          '    filters:\n      - &one { name: A, where: a }\n      - { name: B, more: *one }\n',
          {
            filters: [
              { name: 'A', where: 'z' },
              { name: 'B', more: { name: 'A', where: 'a' } },
            ],
          },
        ],
        [
          'says by itself what it stands for when it comes before its anchor',
          '    tiles:\n      - { name: A, config: &c { x: 1 } }\n      - { name: B, config: *c }\n',
          {
            tiles: [
              { name: 'B', config: { x: 1 } },
              { name: 'A', config: { x: 1 } },
            ],
          },
        ],
        [
          'is the heir of an anchor for the others',
          '    tiles:\n      - &t { name: A, x: 1 }\n      - { name: B, like: *t }\n      - { name: C, like: *t }\n',
          {
            tiles: [
              { name: 'C', like: { name: 'A', x: 1 } },
              { name: 'B', like: { name: 'A', x: 1 } },
            ],
          },
        ],
      ]
      for (const [title, list, after] of cases) {
        expect(edit(list, after), title).toEqual({ name: 'Errors', ...after })
      }
    })

    it('keeps its value whatever happens to the items', () => {
      const item = fc.constantFrom('&a { name: A, x: 1 }', '{ name: B, x: 2 }', '&c { x: 3 }', '{ name: D, y: &d [1, 2] }', '{ name: E }')
      const alias = fc.constantFrom('*a', '{ name: F, like: *a }', '*c', '{ name: G, like: *c }', '{ name: H, y: *d }')
      const value = fc.constantFrom<Fields>(
        { name: 'A', x: 1 },
        { name: 'A', x: 9 },
        { name: 'B', x: 2 },
        { x: 3 },
        { x: 4 },
        { name: 'D', y: [1, 2] },
        { name: 'D', y: [2] },
        { name: 'F', like: { name: 'A', x: 1 } },
        { name: 'G', like: { x: 3 } },
        { name: 'H', y: [1, 2] },
        { name: 'H', y: [1, 2, 3] },
      )
      fc.assert(
        fc.property(
          fc.uniqueArray(item, { minLength: 1 }),
          fc.array(alias),
          fc.array(value, { maxLength: 6 }),
          (anchors, aliases, after) => {
            const known = aliases.filter((text) => {
              const name = /\*(\w)/.exec(text)?.[1] ?? ''
              return anchors.some((one) => one.includes(`&${name} `))
            })
            const list = `    tiles:\n${[...anchors, ...known].map((one) => `      - ${one}\n`).join('')}`
            expect(edit(list, { tiles: after })).toEqual({ name: 'Errors', tiles: after })
          },
        ),
        { numRuns: 150 },
      )
    })
  })
})
