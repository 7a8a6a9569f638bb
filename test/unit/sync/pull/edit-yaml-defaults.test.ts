import { describe, expect, it } from 'vitest'
import { overrideDefaults } from '../../../../src/sync/pull/edit-yaml.ts'
import { edit, type Fields, parsed } from '../../../support/edits.ts'

const head =
  'defaults:\n  alerts:\n    interval: 1h\n    message: Look\n    thresholdType: below\n    channel: { type: email, emailRecipients: [a@b] }\n'

const text = `${head}alerts:\n  a:\n    name: A\n    threshold: 1\n`

describe('a change of an object in a file with defaults', () => {
  it('writes only what differs from the defaults', () => {
    const cases: readonly [string, Readonly<Record<string, unknown>>, string][] = [
      ['says what is other than they say', { interval: '5m' }, '    interval: 5m\n'],
      ['denies a text that it does not have', { message: undefined }, '    message: null\n'],
      ['says what is assumed where they say something else', { thresholdType: undefined }, '    thresholdType: above\n'],
      ['says nothing where the service has what they say', {}, ''],
      ['says nothing of what can only be left out', { channel: undefined }, ''],
    ]
    for (const [name, change, lines] of cases) {
      expect(edit(text, { 'alerts.a': change }), name).toBe(`${text}${lines}`)
    }
  })

  it('overrides a default list with an empty one', () => {
    const dashboards = 'defaults:\n  dashboards:\n    tags: [t]\ndashboards:\n  d:\n    name: D\n    tiles: []\n'
    expect(edit(dashboards, { 'dashboards.d': { tags: undefined } })).toBe(`${dashboards}    tags: []\n`)
  })

  it('removes a field that has no default', () => {
    expect(edit(`${text}    note: Call\n`, { 'alerts.a': { note: undefined } })).toBe(text)
  })

  it('overrides the default of a field that is removed', () => {
    expect(edit(`${text}    message: Mine\n`, { 'alerts.a': { message: undefined } })).toBe(`${text}    message: null\n`)
  })

  it('ignores the defaults of other sections', () => {
    const other = text.replace('  alerts:\n', '  dashboards:\n    tags: [t]\n  alerts:\n')
    expect(edit(other.replace('    message: Look\n', ''), { 'alerts.a': { name: 'B', message: undefined } })).toBe(
      other.replace('    message: Look\n', '').replace('name: A', 'name: B'),
    )
  })

  it('adds a new object with the fields that differ from the defaults', () => {
    const fields = { name: 'B', threshold: 2, interval: '1h', channel: { type: 'webhook', webhook: 'w' } }
    expect(edit(text, {}, { additions: [{ kind: 'alert', key: 'b', after: fields }] })).toBe(
      `${text}
  b:
    name: B
    threshold: 2
    channel: { type: webhook, webhook: w }
    message: null
    thresholdType: above
`,
    )
  })
})

describe('a new object in a file with defaults', () => {
  const added = (defaults: unknown, after: Fields): object => {
    const before = JSON.stringify({ defaults: { alerts: defaults }, alerts: { a: {} } })
    return (parsed(edit(before, {}, { additions: [{ kind: 'alert', key: 'b', after }] })) as { alerts: { b: object } }).alerts.b
  }

  it('has the fields that differ from the defaults', () => {
    const cases: readonly [string, unknown, Fields, Fields][] = [
      ['says everything where there are none', undefined, { name: 'A', interval: '5m' }, { name: 'A', interval: '5m' }],
      ['says everything where they are no map', ['interval'], { interval: '5m' }, { interval: '5m' }],
      ['leaves out what they say', { interval: '5m' }, { name: 'A', interval: '5m' }, { name: 'A' }],
      ['leaves out what they say in another order', { channel: { a: 1, b: 2 } }, { channel: { b: 2, a: 1 } }, {}],
      ['says what is other than they say', { interval: '1h' }, { interval: '5m' }, { interval: '5m' }],
      ['says another text than they say', { message: 'x' }, { message: 'y' }, { message: 'y' }],
      ['says the whole of what is other in part', { channel: { a: 1, b: 2 } }, { channel: { a: 1 } }, { channel: { a: 1 } }],
      ['denies what it does not have', { message: 'x' }, { name: 'A' }, { name: 'A', message: null }],
      ['says what is assumed in their place', { thresholdType: 'below' }, {}, { thresholdType: 'above' }],
      ['says nothing where they say what is assumed', { thresholdType: 'above' }, {}, {}],
      ['says nothing where they say nothing', { message: null }, {}, {}],
      ['says nothing of what cannot be denied', { channel: { a: 1 }, interval: '5m' }, {}, {}],
      ['says nothing of what no alert has', { novel: 1 }, {}, {}],
    ]
    for (const [name, defaults, fields, expected] of cases) {
      expect(added(defaults, fields), name).toStrictEqual(expected)
    }
  })

  it('puts overrides after the other fields', () => {
    expect(Object.keys(added({ message: 'x' }, { name: 'A', note: 'n' }))).toEqual(['name', 'note', 'message'])
  })
})

describe('overrideDefaults', () => {
  it('returns the value that means no value, if there is one', () => {
    const cases = [
      ['alert', 'thresholdType', { thresholdType: 'above' }],
      ['alert', 'note', { note: null }],
      ['alert', 'threshold', {}],
      ['alert', 'channels', {}],
      ['dashboard', 'tags', { tags: [] }],
      ['dashboard', 'savedQuery', { savedQuery: null }],
      ['dashboard', 'raw', {}],
      ['dashboard', 'novel', {}],
      ['savedSearch', 'filters', { filters: [] }],
      ['savedSearch', 'where', {}],
    ] as const
    for (const [kind, field, expected] of cases) {
      expect(overrideDefaults(kind, [field]), `${kind} ${field}`).toStrictEqual(expected)
    }
  })
})
