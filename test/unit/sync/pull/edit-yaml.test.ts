import { describe, expect, it } from 'vitest'
import type { Edit } from '../../../../src/sync/pull/edit-yaml.ts'
import { written } from '../../../support/declarations.ts'
import { edit, editWith, type Fields, linesBetween, parsed } from '../../../support/edits.ts'

const text = `# The payments team, ask #payments
alerts:
    declined:   # see the wiki
        name: "Declined"
        threshold: 50.0         # agreed with finance
        interval: 1h
        note: 'Call'
        channel: {type: email,emailRecipients: [ a@shop.example ]}

    # paged at night
    queue:
        name: 'Queue'
        message: >-
            The queue is longer
            than 500
        threshold: 500
# the end
`

const changed = text.replace('50.0', '75')

describe('an edit', () => {
  it('an edit without changes returns the same text', () => {
    expect(edit(text, { 'alerts.declined': {}, 'alerts.queue': {} })).toBe(text)
  })

  it('an edit of one value changes one line and keeps its comment', () => {
    expect(edit(text, { 'alerts.declined': { threshold: 75 } })).toBe(changed)
  })

  it('keeps line endings, byte order mark, blank lines and document markers', () => {
    const cases = [
      ['carriage returns', (one: string) => one.replaceAll('\n', '\r\n')],
      ['a byte order mark', (one: string) => `\ufeff${one}`],
      ['a byte order mark and carriage returns', (one: string) => `\ufeff${one.replaceAll('\n', '\r\n')}`],
      ['no end to its last line', (one: string) => one.trimEnd()],
      ['blanks at the ends of lines', (one: string) => one.replaceAll("'Call'\n", "'Call'  \n")],
      ['empty lines at its end', (one: string) => `${one}\n\n`],
      ['empty lines at its beginning', (one: string) => `\n\n${one}`],
      ['a sign where its document begins', (one: string) => `---\n${one}`],
      ['a sign where its document ends', (one: string) => `${one}...\n`],
      ['brackets around everything', () => '{alerts: {declined: {threshold: 50}, queue: {  name: x  }}}\n'],
    ] as const
    for (const [title, spell] of cases) {
      const [before, after] = [spell(text), spell(changed)]
      const expected = after === before ? before.replace('50', '75') : after
      expect(edit(before, { 'alerts.declined': { threshold: 75 } }), title).toBe(expected)
      expect(edit(before, { 'alerts.declined': {} }), title).toBe(before)
    }
  })

  it('keeps mixed line endings', () => {
    const cases = [
      ['in the middle', text.replace('1h\n', '1h\r\n')],
      ['at the very beginning', `\n${text.replaceAll('\n', '\r\n')}`],
      ['everywhere but at one', text.replaceAll('\n', '\r\n').replace('1h\r\n', '1h\n')],
    ] as const
    for (const [name, mixed] of cases) {
      expect(edit(mixed, { 'alerts.queue': {} }), name).toBe(mixed)
    }
  })

  it('an edit gives new lines the line endings of the file', () => {
    const after = edit(text.replaceAll('\n', '\r\n'), { 'alerts.queue': { note: 'Call\nthe bank' } })
    expect(after).toContain('threshold: 500\r\n        note: |-\r\n            Call\r\n            the bank\r\n')
    expect(after).not.toMatch(/[^\r]\n/)
  })

  it('an edit changes only the given objects', () => {
    expect(linesBetween(text, edit(text, { 'alerts.declined': { interval: '5m' }, 'alerts.queue': { threshold: 7 } }))).toEqual([
      '-        interval: 1h',
      '+        interval: 5m',
      '-        threshold: 500',
      '+        threshold: 7',
    ])
  })

  it('finds an object whose key looks like a number', () => {
    expect(edit('alerts:\n  404: { threshold: 1 }\n  405: { threshold: 1 }\n', { 'alerts.405': { threshold: 2 } })).toBe(
      'alerts:\n  404: { threshold: 1 }\n  405: { threshold: 2 }\n',
    )
  })

  it('finds an object whose section and key are quoted', () => {
    expect(edit('"alerts":\n  \'a\':\n    "threshold": 1\n', { 'alerts.a': { threshold: 2 } })).toBe(
      '"alerts":\n  \'a\':\n    "threshold": 2\n',
    )
  })
})

it('leaves an object with an anchor or alias as it is, wherever that is, and edits its siblings', () => {
  const texts = [
    'alerts:\n  a: &a\n    note: x\n  b:\n    note: y\n',
    'alerts:\n  a:\n    raw: { list: [{ deep: &d 1 }] }\n    note: x\n  b:\n    note: y\n',
    'defaults:\n  alerts: { channel: &c { type: email } }\nalerts:\n  a:\n    channel: *c\n    note: x\n  b:\n    note: y\n',
  ]
  for (const text of texts) {
    const { text: edited, shared } = editWith(text, { 'alerts.a': { note: 'changed' }, 'alerts.b': { note: 'changed' } })
    expect([edited, [...shared]]).toEqual([text.replace('note: y', 'note: changed'), ['alerts.a']])
  }
})

describe('unusual formatting', () => {
  const rows = Array.from({ length: 30 }, (_, i) => `  a${i}:   {name:   'n${i}',threshold:  ${i}}   # ${i}\n  b${i}: { threshold: ${i} }`)
  const odd = `alerts:\n${rows.join('\n')}\n`

  it('changes only on the lines that change', () => {
    expect(linesBetween(odd, edit(odd, { 'alerts.a7': { threshold: 70 }, 'alerts.a21': { threshold: 210 } }))).toEqual([
      `-${rows[7]?.split('\n')[0]}`,
      "+  a7:   {name:   'n7',threshold: 70}   # 7",
      `-${rows[21]?.split('\n')[0]}`,
      "+  a21:   {name:   'n21',threshold: 210}   # 21",
    ])
  })
})

describe('values', () => {
  const file = (field: string): string => `alerts:\n  a:\n    name: A # kept\n    ${field}\n    interval: 5m\n`

  const editField = (field: string, value: unknown): string => {
    const text = file(field)
    return linesBetween(text, edit(text, { 'alerts.a': { [field.slice(0, field.indexOf(':'))]: value } }))
      .filter((line) => line.startsWith('+'))
      .map((line) => line.replace(/^\+ {4}/, ''))
      .join('\n')
  }

  describe('a changed value', () => {
    it('keeps its quotes and its comment', () => {
      const cases: readonly [string, unknown, string][] = [
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
        ['dashboard: # why\n      name: Shop', { id: 'x' }, 'dashboard: { id: x } # why'],
        ['channel: {type: email,emailRecipients: [ a@b ]}', { type: 'webhook', webhook: 'w' }, 'channel: {type: webhook,webhook: w}'],
      ]
      for (const [field, value, expected] of cases) {
        const after = editField(field, value)
        expect(after.replaceAll(/^ {4}(?= )/gm, ''), field).toBe(expected)
      }
    })

    it('a changed value disappears with its line when it is removed', () => {
      const cases = [
        'threshold: 1',
        "note: 'x'",
        'note: |-\n      x\n      y',
        'tags: [a]',
        'dashboard: { name: Shop }',
        'raw:\n      a: 1',
      ] as const
      for (const field of cases) {
        const text = file(field)
        expect(edit(text, { 'alerts.a': { [field.slice(0, field.indexOf(':'))]: undefined } }), field).toBe(
          text.replace(`    ${field}\n`, ''),
        )
      }
    })
  })

  describe('a changed map', () => {
    const text =
      'dashboards:\n  d:\n    raw:\n      # first\n      one:   1\n\n      two: { a: 1,b: 2 } # second\n      three: 3\n    name: D\n'

    it('keeps its other fields', () => {
      expect(edit(text, { 'dashboards.d': { raw: { one: 1, two: { a: 1, b: 2 }, three: 4 } } })).toBe(text.replace('three: 3', 'three: 4'))
      expect(edit(text, { 'dashboards.d': { raw: { one: 9, two: { a: 1, b: 2 }, three: 3 } } })).toBe(text.replace('one:   1', 'one: 9'))
    })

    it('a changed map is written in brackets when it becomes empty', () => {
      expect(edit('dashboards:\n  d:\n    raw:\n      one: 1\n', { 'dashboards.d': { raw: {} } })).toBe('dashboards:\n  d:\n    raw: {}\n')
    })

    it('a changed map gets a new deep value', () => {
      expect(edit(text, { 'dashboards.d': { raw: { one: 1, two: { a: 1, b: { c: [2] } }, three: 3 } } })).toBe(
        text.replace('b: 2 }', 'b: { c: [2] } }'),
      )
    })

    it('a changed map is replaced when the new value is not a map', () => {
      const after = edit(text, { 'dashboards.d': { raw: { one: { now: 'a map' }, two: [1], three: null } } })
      expect(parsed(after)).toEqual({ dashboards: { d: { raw: { one: { now: 'a map' }, two: [1], three: null }, name: 'D' } } })
      expect(after).toContain('      # first\n      one: { now: a map }\n\n      two: [1] # second\n      three: null\n')
    })
  })

  describe('a value that changes its type', () => {
    it('keeps its comment', () => {
      const cases: readonly [string, string, unknown][] = [
        ['a list that becomes a text', 'tags: [a] # why', 'x'],
        ['a list that becomes a map', 'tags: [a] # why', { a: 1 }],
        ['a map that becomes a list', 'tags: { a: 1 } # why', ['a']],
        ['a text that becomes a list', 'tags: a # why', ['a']],
        ['nothing that becomes a map', 'tags: # why', { a: 1 }],
      ]
      for (const [title, field, value] of cases) {
        const text = file(field)
        const after = edit(text, { 'alerts.a': { tags: value } })
        expect(after.match(/# \w+/g), title).toEqual(['# kept', '# why'])
        expect(parsed(after), title).toEqual({ alerts: { a: { name: 'A', tags: value, interval: '5m' } } })
      }
    })
  })

  describe('a new map', () => {
    it('a new map is on one line up to 120 columns', () => {
      const cases = [
        ['of an object', 'channel', 4, (value: unknown) => ({ channel: value })],
        ['inside another map', 'in', 6, (value: unknown) => ({ old: { x: 1, in: value } })],
      ] as const
      for (const [title, name, column, fieldsFor] of cases) {
        const text = 'alerts:\n  a:\n    old:\n      x: 1\n'
        const line = (length: number) => edit(text, { 'alerts.a': fieldsFor({ a: 'x'.repeat(length) }) })
        const free = 120 - column - `${name}: { a:  }`.length
        expect(line(free), title).toContain(`${' '.repeat(column)}${name}: { a: ${'x'.repeat(free)} }\n`)
        expect(line(free + 1), title).toContain(`${' '.repeat(column)}${name}:\n${' '.repeat(column + 2)}a: ${'x'.repeat(free + 1)}\n`)
      }
    })

    it('a new map in a new object is on one line up to about 120 columns', () => {
      const line = (length: number) =>
        edit('alerts:\n  b: {}\n', {}, { additions: [{ kind: 'alert', key: 'a', after: { wide: { a: 'x'.repeat(length) } } }] })
      const room = 120 - '    wide: { a:  }'.length
      expect(line(room - 3)).toContain('wide: { a:')
      expect(line(room + 1)).toContain('wide:\n')
    })
  })

  describe('a new field', () => {
    const all = ['name', 'threshold', 'interval', 'note'].map((name) => [name, name === 'threshold' ? 1 : name] as const)
    const text = (names: readonly string[]): string =>
      `alerts:\n  a:\n${names.map((name) => `    ${name}: ${name === 'threshold' ? 1 : name}\n`).join('')}`

    it('a new field comes after the fields that come before it in a new file', () => {
      const cases = [
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
      ] as const
      for (const [names, expected] of cases) {
        const before = names.length === 0 ? 'alerts:\n  a: {}\n' : text(names)
        const after = edit(before, {
          'alerts.a': (fields) => ({ ...Object.fromEntries(all), ...('other' in fields && { other: 'other' }) }),
        })
        expect(Object.keys((parsed(after) as { alerts: { a: object } }).alerts.a), JSON.stringify(names)).toEqual(expected)
      }
    })
  })
})

describe('additions', () => {
  const added = (text: string, ...additions: readonly Edit[]): string => edit(text, {}, { additions })

  const alert = (key: string): Edit => ({ kind: 'alert', key, after: { name: key, threshold: 1 } })
  const dashboard = (key: string): Edit => ({ kind: 'dashboard', key, after: { name: key, tiles: [] } })

  const lines = (key: string): string => `  ${key}:\n    name: ${key}\n    threshold: 1\n`
  const dashboardLines = (key: string): string => `  ${key}:\n    name: ${key}\n    tiles: []\n`

  describe('a new object', () => {
    it('a new object is added to its section', () => {
      const cases: readonly [string, string, string][] = [
        ['behind those of its section', `alerts:\n${lines('a')}`, `alerts:\n${lines('a')}\n${lines('b')}`],
        [
          'behind those of its section, before the next one',
          `alerts:\n${lines('a')}\n# about dashboards\ndashboards:\n${dashboardLines('d')}`,
          `alerts:\n${lines('a')}\n${lines('b')}\n# about dashboards\ndashboards:\n${dashboardLines('d')}`,
        ],
        [
          'in a new section where there is none',
          `# first\ndashboards:\n${dashboardLines('d')}`,
          `# first\ndashboards:\n${dashboardLines('d')}\nalerts:\n${lines('b')}`,
        ],
        ['in an empty file', '{}\n', `alerts:\n${lines('b')}`],
        ['in an empty section', 'alerts: {}\n', `alerts:\n${lines('b')}`],
        ['in a section that was only begun', 'alerts:\n  a: {}\n', `alerts:\n  a: {}\n\n${lines('b')}`],
        [
          'with the columns of the file',
          'alerts:\n    a:\n        name: a\n',
          'alerts:\n    a:\n        name: a\n\n    b:\n        name: b\n        threshold: 1\n',
        ],
      ]
      for (const [name, before, after] of cases) {
        expect(added(before, alert('b')), name).toBe(after)
      }
    })

    it('a new object comes before the next new object', () => {
      expect(added(`alerts:\n${lines('a')}`, alert('b'), alert('c'), dashboard('d'), dashboard('e'))).toBe(
        `alerts:\n${lines('a')}\n${lines('b')}\n${lines('c')}\ndashboards:\n${dashboardLines('d')}\n${dashboardLines('e')}`,
      )
    })

    it('leaves the comments of other objects where they are', () => {
      const before = `# top\nalerts: # all\n  # about a\n  a: # beside\n    name:   a\n    # inside\n    threshold: 1 # low\n\n# bottom\n`
      const after = added(before, alert('b'))
      expect(after).toBe(before.replace('# bottom\n', `${lines('b')}\n# bottom\n`))
    })

    it('a new object is in brackets when the file is', () => {
      const after = added('{ alerts: { a: {} } }\n', alert('b'), dashboard('d'))
      expect(after).toMatch(/^\{.*\}\n$/s)
      expect(parsed(after)).toEqual({
        alerts: { a: {}, b: alert('b').after },
        dashboards: { d: dashboard('d').after },
      })
    })

    it('a new object can be added together with a change', () => {
      const { text, replacedExpressions: lost } = editWith(
        `alerts:\n${lines('a')}`,
        { 'alerts.a': { threshold: 9 } },
        { additions: [alert('b')] },
      )
      expect(text).toBe(`alerts:\n${lines('a').replace('1', '9')}\n${lines('b')}`)
      expect([...lost]).toEqual([])
    })
  })
})

describe('mixed indentation', () => {
  const mixed = `# top
dashboards:
    d:
        name:   D
        tiles:
        -   name: A # a
            x: 1

        -   name: B # b
            x: 2
        # behind the tiles
alerts:
   a:
     raw:
         one:
           x: 1 # x

           y: 2 # y

   # about b
   b:
     threshold: 2 # two
`

  describe('an edit', () => {
    it('keeps any indentation, also of lists, and the comments behind them', () => {
      const a = { name: 'A', x: 1 }
      expect(edit(mixed, { 'dashboards.d': { tiles: [a, { name: 'B', x: 9 }] } })).toBe(mixed.replace('x: 2', 'x: 9'))
      expect(edit(mixed, { 'dashboards.d': { tiles: [a] } })).toBe(mixed.replace('\n\n        -   name: B # b\n            x: 2', ''))
      expect(edit(mixed, { 'dashboards.d': { tiles: [a, { name: 'B', x: 2 }, { name: 'C' }] } })).toBe(
        mixed.replace('x: 2\n', 'x: 2\n        - name: C\n'),
      )
    })

    it('never moves a field to the map around it', () => {
      const change = (raw: object) => edit(mixed, { 'alerts.a': { raw } })
      expect(change({ one: { x: 1, y: 3 } })).toBe(mixed.replace('y: 2', 'y: 3'))
      expect(change({ one: { x: 1, y: 2, z: 3 } })).toBe(mixed.replace('y: 2 # y\n', 'y: 2 # y\n           z: 3\n'))
      expect(change({ one: { y: 2 } })).toBe(mixed.replace('x: 1 # x\n\n           y', 'y'))
      expect(change({ two: 'x' })).toBe(mixed.replace(/raw:\n.*# y\n/s, 'raw:\n         two: x\n'))
    })

    it('gives a replaced item of a list the columns that the item had', () => {
      const list = { a: { name: 'x'.repeat(120) }, b: 1 }
      const text = `dashboards:\n  d:\n    list:\n    -   - a\n        - b\n    -   - c\n`
      expect(edit(text, { 'dashboards.d': { list: [[list, 'z'], ['c']] } })).toBe(
        text.replace('- a\n        - b', `- a:\n            name: ${'x'.repeat(120)}\n          b: 1\n        - z`),
      )
    })

    it('an edit takes the indentation of the first object that is not in brackets', () => {
      const text = `# top\ndefaults: {}\nsavedSearches: { s: { name: S } }\nalerts:\n    a:\n        name: A\n`
      expect(edit(text, { 'alerts.a': { raw: { one: 'x'.repeat(120) } } })).toBe(
        `${text}        raw:\n            one: ${'x'.repeat(120)}\n`,
      )
    })

    it('indents a new list like other lists of the file', () => {
      const list = (dash: string) => `dashboards:\n  d:\n    tags: [a]\n    filters:\n${dash}- { name: F }\n    name: D\n`
      for (const dash of ['    ', '      '])
        expect(edit(list(dash), { 'dashboards.d': { tiles: [{ name: 'T' }] } })).toBe(`${list(dash)}    tiles:\n${dash}- name: T\n`)
    })
  })
})

describe('JSON', () => {
  const path = 'a.json'

  const value = (threshold: number) => ({ alerts: { a: { name: 'A', threshold, interval: '5m' }, b: { name: 'B' } } })

  describe('a JSON file', () => {
    it('a JSON file keeps its indentation, whatever changes', () => {
      const tiles = [{ name: 'One', config: { tags: ['x'] } }, { name: 'Two', at: [0, 1] }, { name: 'Three' }]
      const before = { $schema: 'https://example.com/s.json', ...value(1), dashboards: { d: { name: 'D', tiles } } }
      const changes: readonly [string, Fields][] = [
        ['alerts.a', { threshold: 2 }],
        ['alerts.a', { name: 'A "b": c\n{d}', tags: ['x', { y: [] }] }],
        ['alerts.a', { interval: undefined }],
        ['alerts.b', { channel: { type: 'webhook', ids: [1, [2]] } }],
        ['dashboards.d', { tiles: [{ name: 'New', at: [1] }, ...tiles] }],
        ['dashboards.d', { tiles: tiles.slice(1) }],
        ['dashboards.d', { tiles: [tiles[0], { name: 'Two', at: [0, 1, 2, 3] }] }],
        ['dashboards.d', { tiles: [] }],
      ]
      for (const indent of [0, 2, 4, '\t'])
        for (const [address, fields] of changes) {
          const [section = '', key = ''] = address.split('.')
          const all = before as unknown as Record<string, Record<string, object>>
          const after = { ...all, [section]: { ...all[section], [key]: { ...all[section]?.[key], ...fields } } }
          expect(edit(JSON.stringify(before, null, indent), { [address]: fields }, { path }), `${indent} ${address}`).toBe(
            JSON.stringify(after, null, indent),
          )
        }
    })

    it('a JSON file keeps what is on one line, and the escapes of what stays', () => {
      const before = `{
\t"dashboards": {
\t\t"d": {
\t\t\t"name": "D \\ud83d\\udd25",
\t\t\t"tags": ["a"],
\t\t\t"tiles": [
\t\t\t\t{ "name": "One", "at": [0, 0, 1, 1], "config": { "type": "x" } },
\t\t\t\t{ "name": "Two", "at": [1, 0, 1, 1], "config": { "type": "x" } }
\t\t\t]
\t\t}
\t}
}
`
      const turn = ({ tiles, ...fields }: Fields): Fields => {
        const [one, two] = tiles as [Fields, Fields]
        const added = { name: 'Three', at: [2, 0, 1, 1], config: { type: 'y', none: {} } }
        return { ...fields, tags: ['a', 'b'], tiles: [{ ...one, config: { type: 'z' } }, two, added] }
      }
      expect(edit(before, { 'dashboards.d': turn }, { path })).toBe(
        before
          .replace('"x"', '"z"')
          .replace('["a"]', '["a", "b"]')
          .replace(/\n\t\t\t\]/, ',\n\t\t\t\t{ "name": "Three", "at": [2, 0, 1, 1], "config": { "type": "y", "none": {} } }\n\t\t\t]'),
      )
    })

    it('keeps its byte order mark and line endings', () => {
      const before = `\ufeff${JSON.stringify(value(1), null, 2).replaceAll('\n', '\r\n')}\r\n`
      expect(edit(before, { 'alerts.a': { threshold: 2 } }, { path })).toBe(before.replace('"threshold": 1', '"threshold": 2'))
    })

    it('a JSON file gets new objects and sections after the existing ones', () => {
      const additions = [
        { kind: 'alert', key: 'c', after: { name: 'C', note: 'one\ntwo' } },
        { kind: 'dashboard', key: 'd', after: { name: 'D', tiles: [] } },
      ] as const
      const { alerts } = value(1)
      for (const indent of [0, 2, '\t'])
        expect(edit(JSON.stringify(value(1), null, indent), {}, { path, additions })).toBe(
          JSON.stringify({ alerts: { ...alerts, c: additions[0].after }, dashboards: { d: additions[1].after } }, null, indent),
        )
    })

    it('keeps its comments although JSON has none', () => {
      const before = '{\n  # a comment\n  "alerts": {\n    "a": { "threshold": 1 } # why\n  }\n}\n'
      const after = edit(before, { 'alerts.a': { threshold: 2 } }, { path })
      expect(after).toMatch(/^\{\n {2}# a comment\n {2}"alerts":\s+\{\n +"a": \{ "threshold": 2 \} # why\n +\}\n\}\n$/)
    })

    it('a JSON file is edited as YAML when its extension is yml', () => {
      const before = '{"alerts": {"a": {"name": "A", "threshold": 1}}}\n'
      expect(edit(before, { 'alerts.a': { threshold: 2 } }, { path: 'a.yml' })).toBe(before.replace('1', '2'))
    })
  })
})

describe('replaced expressions', () => {
  const [one, two] = [written('‹env.ONE›'), written('‹env.TWO›')]

  const text = `alerts:
  a:
    name: ${one} and more
    raw: { x: "${one}", deep: { y: [a, "${two}"] } }
    note: plain
    tags: ["${one}", b]
  b:
    note: ${two}
`

  const lostBy = (turns: Readonly<Record<string, Fields>>): Fields => Object.fromEntries(editWith(text, turns).replacedExpressions)

  describe('an expression', () => {
    it('an expression is reported when a value replaces it', () => {
      const cases: readonly [string, Fields, readonly string[]][] = [
        ['that changes', { name: 'A' }, [`${one} and more`]],
        ['that goes', { name: undefined }, [`${one} and more`]],
        ['inside a map that goes', { raw: undefined }, [one, two]],
        ['inside a map that becomes something else', { raw: 'x' }, [one, two]],
        ['deep inside what changes', { raw: { x: one, deep: { y: ['a', 'b'] } } }, [two]],
        ['in a list', { tags: ['b'] }, [one]],
        ['in several places', { name: 'A', tags: ['b'] }, [`${one} and more`, one]],
      ]
      for (const [name, change, expected] of cases) {
        expect(lostBy({ 'alerts.a': change }), name).toEqual({ 'alerts.a': expected })
      }
    })

    it('an expression is not reported when it stays', () => {
      const cases: readonly [string, Readonly<Record<string, Fields>>][] = [
        ['beside what changes', { 'alerts.a': { note: 'other' } }],
        ['beside what changes in the same map', { 'alerts.a': { raw: { x: one, deep: { y: ['a', two] }, more: 1 } } }],
      ]
      for (const [name, turns] of cases) {
        expect(lostBy(turns), name).toEqual({})
      }
    })

    it('an expression is reported when a value replaces a default that has it', () => {
      const defaults = `defaults:\n  alerts: { note: "${one}", tags: ["${two}"] }\n${text}`
      const lost = editWith(defaults, { 'alerts.b': { tags: ['c'] } }).replacedExpressions
      expect(Object.fromEntries(lost)).toEqual({ 'alerts.b': [two] })
      expect(editWith(defaults, { 'alerts.a': { note: 'other' } }).replacedExpressions.size).toBe(0)
    })

    it('an expression is reported for its object', () => {
      expect(lostBy({ 'alerts.a': { name: 'A' }, 'alerts.b': { note: 'B' } })).toEqual({
        'alerts.a': [`${one} and more`],
        'alerts.b': [two],
      })
    })
  })
})
