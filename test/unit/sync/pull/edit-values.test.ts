// How a single value is spelt when it changes, comes or goes.
import { describe, expect, it } from 'vitest'
import { edit, linesBetween, parsed } from '../../../support/edits.ts'

const file = (field: string): string => `alerts:\n  a:\n    name: A # kept\n    ${field}\n    interval: 5m\n`

const editField = (field: string, value: unknown): string => {
  const text = file(field)
  return linesBetween(text, edit(text, { 'alerts.a': { [field.slice(0, field.indexOf(':'))]: value } }))
    .filter((line) => line.startsWith('+'))
    .map((line) => line.replace(/^\+ {4}/, ''))
    .join('\n')
}

describe('a value that changes', () => {
  it.each<[string, unknown, string]>([
    ['threshold: 50 # of a hundred', 75, 'threshold: 75 # of a hundred'],
    ['threshold: 50.00', 75, 'threshold: 75'],
    ['threshold: 50.25', 0.5, 'threshold: 0.5'],
    ['threshold: 5e2', 600, 'threshold: 600'],
    ['threshold: 0x10', 17, 'threshold: 17'],
    ['threshold: 0o10', 9, 'threshold: 9'],
    ["note: 'one'", 'two', "note: 'two'"],
    ['note: "one"', 'two', 'note: "two"'],
    ['note: one', 'two', 'note: two'],
    ['note: one', '404', "note: '404'"],
    ['note: one', 'a: b', "note: 'a: b'"],
    ['note: one', 'yes', "note: 'yes'"],
    ['note: "one" # why', null, 'note: null # why'],
    ['note: ~', 'one', 'note: one'],
    ['note: null', 'null', "note: 'null'"],
    ['adopt: True', false, 'adopt: false'],
    ['adopt: false', true, 'adopt: true'],
    ['note: one', 'one\ntwo', 'note: |-\n  one\n  two'],
    ["note: 'one' # why", 'one\ntwo\n', 'note: | # why\n  one\n  two'],
    ['note: |-\n      one\n      two', 'three', 'note: three'],
    ['note: |-\n      one\n      two', 'one\nthree', '  three'],
    ['note: >-\n      one\n      two', 'one two three', 'note: one two three'],
    ['tags: [a,b] # why', ['a'], 'tags: [a] # why'],
    ['tags: [a,b]', [], 'tags: []'],
    ['dashboard: shop', { name: 'Shop' }, 'dashboard: { name: Shop }'],
    ['dashboard: { name: Shop } # why', 'shop', 'dashboard: shop # why'],
    ['dashboard: # why\n      name: Shop', { id: 'x' }, '  id: x'],
    ['channel: {type: email,emailRecipients: [ a@b ]}', { type: 'webhook', webhook: 'w' }, 'channel: { type: webhook, webhook: w }'],
  ])('that was %j becomes %j', (field, value, expected) => {
    const after = editField(field, value)
    expect(after.replaceAll(/^ {4}(?= )/gm, '')).toBe(expected)
  })

  it.each(['threshold: 1', "note: 'x'", 'note: |-\n      x\n      y', 'tags: [a]', 'dashboard: { name: Shop }', 'raw:\n      a: 1'])(
    'goes with its whole line, and nothing else does: %s',
    (field) => {
      const text = file(field)
      expect(edit(text, { 'alerts.a': { [field.slice(0, field.indexOf(':'))]: undefined } })).toBe(text.replace(`    ${field}\n`, ''))
    },
  )
})

describe('a map that changes', () => {
  const text =
    'dashboards:\n  d:\n    raw:\n      # first\n      one:   1\n\n      two: { a: 1,b: 2 } # second\n      three: 3\n    name: D\n'

  it('keeps what did not change in it', () => {
    expect(edit(text, { 'dashboards.d': { raw: { one: 1, two: { a: 1, b: 2 }, three: 4 } } })).toBe(text.replace('three: 3', 'three: 4'))
    expect(edit(text, { 'dashboards.d': { raw: { one: 9, two: { a: 1, b: 2 }, three: 3 } } })).toBe(text.replace('one:   1', 'one: 9'))
  })

  it('is written down in brackets when nothing of it is left', () => {
    expect(edit('dashboards:\n  d:\n    raw:\n      one: 1\n', { 'dashboards.d': { raw: {} } })).toBe('dashboards:\n  d:\n    raw: {}\n')
  })

  it('says of a deep value what it is now', () => {
    expect(edit(text, { 'dashboards.d': { raw: { one: 1, two: { a: 1, b: { c: [2] } }, three: 3 } } })).toBe(
      text.replace('{ a: 1,b: 2 } # second', '{ a: 1, b: { c: [2] } } # second'),
    )
  })

  it('becomes something else as a whole where the service has no map there', () => {
    const after = edit(text, { 'dashboards.d': { raw: { one: { now: 'a map' }, two: [1], three: null } } })
    expect(parsed(after)).toEqual({ dashboards: { d: { raw: { one: { now: 'a map' }, two: [1], three: null }, name: 'D' } } })
    expect(after).toContain('      # first\n      one: { now: a map }\n\n      two: [1] # second\n      three: null\n')
  })
})

describe('a value that becomes another kind of value', () => {
  it.each<[string, string, unknown]>([
    ['a list that becomes a text', 'tags: [a] # why', 'x'],
    ['a list that becomes a map', 'tags: [a] # why', { a: 1 }],
    ['a map that becomes a list', 'tags: { a: 1 } # why', ['a']],
    ['a text that becomes a list', 'tags: a # why', ['a']],
    ['nothing that becomes a map', 'tags: # why', { a: 1 }],
    ['a list below a comment that becomes a map', 'tags:\n      # why\n      - a', { a: 1 }],
    ['a map below a comment that becomes a list', 'tags:\n      # why\n      a: 1', ['a']],
  ])('keeps the comment about it: %s', (_, field, value) => {
    const text = file(field)
    const after = edit(text, { 'alerts.a': { tags: value } })
    expect(after.match(/# \w+/g)).toEqual(['# kept', '# why'])
    expect(parsed(after)).toEqual({ alerts: { a: { name: 'A', tags: value, interval: '5m' } } })
  })
})

describe('a map that comes', () => {
  it.each([
    ['of an object', 'channel', 4, (value: unknown) => ({ channel: value })],
    ['inside another map', 'in', 6, (value: unknown) => ({ old: { x: 1, in: value } })],
  ])('%s stands on one line as long as that has no more than 120 columns', (_, name, column, fieldsFor) => {
    const text = 'alerts:\n  a:\n    old:\n      x: 1\n'
    const line = (length: number) => edit(text, { 'alerts.a': fieldsFor({ a: 'x'.repeat(length) }) })
    const free = 120 - column - `${name}: { a:  }`.length
    expect(line(free)).toContain(`${' '.repeat(column)}${name}: { a: ${'x'.repeat(free)} }\n`)
    expect(line(free + 1)).toContain(`${' '.repeat(column)}${name}:\n${' '.repeat(column + 2)}a: ${'x'.repeat(free + 1)}\n`)
  })

  it('in a new object stands on one line as long as that has about 120 columns', () => {
    const line = (length: number) =>
      edit('alerts:\n  b: {}\n', {}, { additions: [{ section: 'alerts', key: 'a', fields: { wide: { a: 'x'.repeat(length) } } }] })
    const room = 120 - '    wide: { a:  }'.length
    expect(line(room - 3)).toContain('wide: { a:')
    expect(line(room + 1)).toContain('wide:\n')
  })
})

describe('a field that comes', () => {
  const all = ['name', 'threshold', 'interval', 'note'].map((name) => [name, name === 'threshold' ? 1 : name] as const)
  const text = (names: readonly string[]): string =>
    `alerts:\n  a:\n${names.map((name) => `    ${name}: ${name === 'threshold' ? 1 : name}\n`).join('')}`

  it.each([
    [[], ['name', 'threshold', 'interval', 'note']],
    [['note'], ['name', 'threshold', 'interval', 'note']],
    [['name'], ['name', 'threshold', 'interval', 'note']],
    [
      ['interval', 'name'],
      ['interval', 'name', 'threshold', 'note'],
    ],
    [
      ['other', 'interval'],
      ['name', 'threshold', 'other', 'interval', 'note'],
    ],
    [
      ['threshold', 'name', 'interval'],
      ['threshold', 'name', 'interval', 'note'],
    ],
  ])('stands behind those that come before it in the files of a pull: %j becomes %j', (names, expected) => {
    const before = names.length === 0 ? 'alerts:\n  a: {}\n' : text(names)
    const after = edit(before, { 'alerts.a': (fields) => ({ ...Object.fromEntries(all), ...('other' in fields && { other: 'other' }) }) })
    expect(Object.keys((parsed(after) as { alerts: { a: object } }).alerts.a)).toEqual(expected)
  })
})
