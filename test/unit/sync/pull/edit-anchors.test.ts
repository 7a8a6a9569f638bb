// What somebody wrote once and referred to: a change of one object is no change of those that share its text.
import { describe, expect, it } from 'vitest'
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

describe('a value that others refer to', () => {
  it.each<[string, Fields, string]>([
    ['changes', { channel: { ...channel, webhook: 'new' } }, 'channel: { type: webhook, webhook: new } # beside'],
    ['becomes something else', { channel: 'none' }, 'channel: none # beside'],
  ])('%s for its own object alone; the next one says it for the rest', (_, change, line) => {
    expect(edit(shared, { 'alerts.a': change })).toBe(
      shared
        .replace('channel: &oncall { type: webhook, webhook: w } # beside', line)
        .replace('name: B\n    channel: *oncall', 'name: B\n    channel: &oncall { type: webhook, webhook: w }'),
    )
  })

  it('goes from its own object alone', () => {
    expect(edit(shared, { 'alerts.a': { channel: undefined } })).toBe(
      shared
        .replace('    channel: &oncall { type: webhook, webhook: w } # beside\n', '')
        .replace('channel: *oncall', 'channel: &oncall { type: webhook, webhook: w }'),
    )
  })

  it('stays what it is when one that refers to it changes', () => {
    expect(edit(shared, { 'alerts.b': { channel: { ...channel, webhook: 'new' } } })).toBe(
      shared.replace('channel: *oncall', 'channel: { type: webhook, webhook: new }'),
    )
  })

  it('stays what it is when all change one after another', () => {
    const names = ['a', 'b', 'c']
    const changes = Object.fromEntries(names.map((name) => [`alerts.${name}`, { channel: { ...channel, webhook: name } }]))
    expect(objects(edit(shared, changes))).toMatchObject(
      Object.fromEntries(names.map((name) => [name, { channel: { ...channel, webhook: name } }])),
    )
  })

  it('is left as it is, with its name, where nothing of it changes', () => {
    expect(edit(shared, { 'alerts.a': { name: 'New' } })).toBe(shared.replace('name: A', 'name: New'))
  })

  it.each<[string, string, string, Fields]>([
    ['a text', 'note: &n Call', 'note: *n', { note: 'Other' }],
    ['a list', 'tags: &n [x, y]', 'tags: *n', { tags: ['x'] }],
    ['an item of a list', 'tags: [&n x, y]', 'note: *n', { tags: ['y'] }],
    ['a list whose item changes', 'tags: &n [x, y]', 'tags: *n', { tags: ['x', 'z'] }],
    ['a part of a map', 'raw: { one: &n { a: 1 } }', 'raw: { other: *n }', { raw: { one: { a: 2 } } }],
    ['a part of a map that goes', 'raw: { one: &n { a: 1 }, two: 2 }', 'raw: { other: *n }', { raw: { two: 2 } }],
    ['a map and a part of it', 'raw: &m { one: &n { a: 1 } }', 'raw: { other: *n, more: *m }', { raw: { one: { a: 2 } } }],
    ['a part of what is replaced as a whole', 'raw: { one: &n { a: 1 } }', 'raw: { other: *n }', { raw: 'nothing' }],
  ])('may be %s', (_, one, other, change) => {
    const text = `alerts:\n  a:\n    name: A\n    ${one}\n  b:\n    ${other}\n`
    const before = objects(text)
    const after = edit(text, { 'alerts.a': change })
    expect(objects(after)).toEqual({ ...before, a: { name: 'A', ...change } })
  })

  it('is said anew by what comes to stand before it', () => {
    const text = 'alerts:\n  a:\n    list:\n      - { name: A, raw: &n { x: 1 } }\n      - { name: B, raw: *n, more: *n }\n'
    const list = [
      { name: 'B', raw: { x: 1 }, more: { x: 1 } },
      { name: 'A', raw: { x: 1 } },
    ]
    expect(objects(edit(text, { 'alerts.a': { list } }))).toEqual({ a: { list } })
  })

  it('is said anew by what comes to stand before it, and by no other', () => {
    const list = (...items: readonly string[]): string => `alerts:\n  a:\n    list:\n${items.map((item) => `      - ${item}\n`).join('')}`
    const text = list('{ name: O, raw: &o { x: 0 } }', '{ name: A, raw: &n { x: 1 } }', '{ name: B, raw: *n }', '{ name: C, raw: *o }')
    const item = (name: string, x: number) => ({ name, raw: { x } })
    const moved = [item('O', 0), item('B', 1), item('A', 1), item('C', 0)]
    expect(objects(edit(text, { 'alerts.a': { list: moved } }))).toEqual({ a: { list: moved } })
  })

  it('keeps its name when it changes and nobody refers to it', () => {
    const text = 'alerts:\n  a:\n    note: &n one\n  b:\n    note: &m two\n  c:\n    note: *m\n'
    expect(edit(text, { 'alerts.a': { note: 'new' } })).toBe(text.replace('one', 'new'))
  })

  it('may have more that refer to it than anybody counts', () => {
    const others = Array.from({ length: 150 }, (_, i) => `  o${i}:\n    channel: *c\n`).join('')
    const text = `alerts:\n  a:\n    channel: &c { type: webhook, webhook: w }\n    threshold: 1\n${others}`
    expect(edit(text, { 'alerts.a': { threshold: 2 } })).toBe(text.replace('threshold: 1', 'threshold: 2'))
  })

  it('is the last of its name that comes before', () => {
    const text = 'alerts:\n  a:\n    note: &n one\n  b:\n    note: *n\n  c:\n    note: &n two\n  d:\n    note: *n\n'
    expect(edit(text, { 'alerts.a': { note: 'new' } })).toBe(
      'alerts:\n  a:\n    note: new\n  b:\n    note: &n one\n  c:\n    note: &n two\n  d:\n    note: *n\n',
    )
    expect(edit(text, { 'alerts.c': { note: 'new' } })).toBe(
      'alerts:\n  a:\n    note: &n one\n  b:\n    note: *n\n  c:\n    note: new\n  d:\n    note: &n two\n',
    )
  })
})

describe('an object that is written as another one', () => {
  const twins = 'alerts:\n  one: &one\n    # first\n    name: Twin\n    threshold: 1 # low\n  two: *one\n  three: *one\n'
  const twin = { name: 'Twin', threshold: 1 }

  it('gets a text of its own when it changes', () => {
    const after = edit(twins, { 'alerts.two': { threshold: 2 } })
    expect(objects(after)).toEqual({ one: twin, two: { ...twin, threshold: 2 }, three: twin })
    expect(after.startsWith('alerts:\n  one: &one\n    # first\n    name: Twin\n    threshold: 1 # low\n  two:\n')).toBe(true)
  })

  it('stays as it is when the other one changes', () => {
    expect(objects(edit(twins, { 'alerts.one': { threshold: 2 } }))).toEqual({ one: { ...twin, threshold: 2 }, two: twin, three: twin })
  })

  it('may stand in a section that is written as another one', () => {
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

  it('may have got its text from the defaults', () => {
    const text = 'defaults:\n  alerts:\n    channel: &c { type: webhook, webhook: w }\nalerts:\n  a:\n    channel: *c\n    note: x\n'
    expect(edit(text, { 'alerts.a': { channel: { ...channel, webhook: 'new' } } })).toBe(
      text.replace('channel: *c', 'channel: { type: webhook, webhook: new }'),
    )
  })

  it('does not take the comment along that stands beside the other one', () => {
    const text = 'alerts:\n  a:\n    # of a\n    raw: &r # beside\n      # inside\n      one: 1\n  b:\n    raw: *r\n'
    expect(edit(text, { 'alerts.a': { raw: 5 } })).toContain('  b:\n    raw: &r\n')
  })
})

it('an addition to a section that is written as another one leaves that one alone', () => {
  const text = 'dashboards: &all\n  a:\n    name: A\nsavedSearches: *all\n'
  const additions = [{ section: 'savedSearches', key: 'b', fields: { name: 'B' } }] as const
  expect(parsed(edit(text, {}, { additions }))).toEqual({
    dashboards: { a: { name: 'A' } },
    savedSearches: { a: { name: 'A' }, b: { name: 'B' } },
  })
  const others = [{ section: 'dashboards', key: 'b', fields: { name: 'B' } }] as const
  expect(parsed(edit(text, {}, { additions: others }))).toEqual({
    dashboards: { a: { name: 'A' }, b: { name: 'B' } },
    savedSearches: { a: { name: 'A' } },
  })
})
