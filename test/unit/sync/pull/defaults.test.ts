// What an object can leave to the defaults of its file, and what it must deny.
import { describe, expect, it } from 'vitest'
import { overrideDefaults, withoutDefaults } from '../../../../src/sync/pull/edit-yaml.ts'
import { extractDefaults } from '../../../../src/sync/pull/write-yaml.ts'
import type { Fields } from '../../../support/edits.ts'

describe('a new object beside defaults', () => {
  it.each<[string, unknown, Fields, Fields]>([
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
  ])('%s', (_, defaults, fields, expected) => {
    expect(withoutDefaults(defaults, 'alerts', fields)).toStrictEqual(expected)
  })

  it('has its own fields first', () => {
    expect(Object.keys(withoutDefaults({ message: 'x' }, 'alerts', { name: 'A', note: 'n' }))).toEqual(['name', 'note', 'message'])
  })
})

describe('a field is denied', () => {
  it.each([
    ['alerts', 'thresholdType', { thresholdType: 'above' }],
    ['alerts', 'note', { note: null }],
    ['alerts', 'threshold', {}],
    ['alerts', 'channels', {}],
    ['dashboards', 'tags', { tags: [] }],
    ['dashboards', 'savedQuery', { savedQuery: null }],
    ['dashboards', 'raw', {}],
    ['dashboards', 'novel', {}],
    ['savedSearches', 'filters', { filters: [] }],
    ['savedSearches', 'where', {}],
  ] as const)('of %s, %s, as far as it can be: %j', (section, field, expected) => {
    expect(overrideDefaults(section, [field])).toStrictEqual(expected)
  })
})

describe('what alerts have in common', () => {
  it('is nothing where there are none', () => {
    expect(extractDefaults([])).toEqual({ defaults: {}, alerts: [] })
  })

  it('is nothing where they say nothing', () => {
    expect(extractDefaults([{}, {}, {}])).toStrictEqual({ defaults: {}, alerts: [{}, {}, {}] })
  })

  it('is said once, and taken away from each', () => {
    const alerts = ['a', 'b', 'c'].map((name) => ({ name, interval: '5m', threshold: 1 }))
    expect(extractDefaults(alerts)).toEqual({
      defaults: { interval: '5m' },
      alerts: ['a', 'b', 'c'].map((name) => ({ name, threshold: 1 })),
    })
  })
})
