// By what two bodies of a kind are compared, and what an update of it sends.
import { describe, expect, it } from 'vitest'
import { comparable, composeUpdate } from '../../../src/kinds/compare.ts'
import type { Body, Kind, StoredObject } from '../../../src/kinds/kind.ts'
import { withTextSecrets } from '../../../src/kinds/marker.ts'
import { HiddenValue } from '../../../src/kinds/secret.ts'
import { kinds } from '../../support/plans.ts'

const mark = { project: 'shop/main', key: 'errors', digest: '0a1b2c' }

const hook = { type: 'webhook', webhookId: 'w' }

const isAlike = (kind: Kind, a: Body, b: Body): boolean => JSON.stringify(comparable(kind, a)) === JSON.stringify(comparable(kind, b))

describe('two alerts', () => {
  const alert = {
    name: 'A',
    source: 'tile',
    dashboardId: 'd',
    tileId: 't',
    threshold: 1,
    thresholdType: 'above',
    interval: '5m',
    channels: [hook],
  }

  it.each([
    ['a mark', { note: 'watchkeeper: shop/main errors 0a1b2c' }],
    ['an offset of nothing', { scheduleOffsetMinutes: 0 }],
    ['what is empty', { message: '', groupBy: null }],
    ['what a saved search would be for', { savedSearchId: 's', groupBy: 'service' }],
    ['another end of a range, where there is none', { thresholdMax: 5 }],
    ['the service of a webhook', { channels: [{ ...hook, webhookService: 'slack' }] }],
    ['the first channel said twice', { channel: hook }],
  ])('two alerts are alike but for %s', (_, fields) => {
    expect(isAlike(kinds.alert, alert, { ...alert, ...fields })).toBe(true)
  })

  it.each([
    ['a note', { note: 'Call' }],
    ['an offset', { scheduleOffsetMinutes: 1 }],
    ['the tile', { tileId: 'u' }],
    ['the dashboard', { dashboardId: 'e' }],
    ['the webhook', { channels: [{ ...hook, webhookId: 'v' }] }],
    ['how grave it is', { channels: [{ ...hook, severity: 'error' }] }],
    ['a second channel', { channels: [hook, { ...hook, webhookId: 'v' }] }],
    ['the first look', { scheduleStartAt: '2026-01-01T00:00:00Z' }],
  ])('two alerts are not alike with another %s', (_, fields) => {
    expect(isAlike(kinds.alert, alert, { ...alert, ...fields })).toBe(false)
  })

  it('two alerts are alike by the moment of the first look, however it is written', () => {
    const at = (scheduleStartAt: string) => ({ ...alert, scheduleStartAt })
    expect(isAlike(kinds.alert, at('2026-01-01T01:00:00+01:00'), at('2026-01-01T00:00:00.000Z'))).toBe(true)
    expect(isAlike(kinds.alert, at('some day'), at('2026-01-01T00:00:00.000Z'))).toBe(false)
    expect(comparable(kinds.alert, at('some day'))).toMatchObject({ scheduleStartAt: 'some day' })
  })

  it('two alerts are compared by both ends of a range, whichever side of it fires', () => {
    for (const thresholdType of ['between', 'not_between']) {
      const range = { ...alert, thresholdType }
      expect(isAlike(kinds.alert, { ...range, thresholdMax: 2 }, { ...range, thresholdMax: 3 })).toBe(false)
    }
  })

  it('two alerts on a saved search are compared by that and its groups, and by no tile', () => {
    const search = { ...alert, source: 'saved_search', savedSearchId: 's', groupBy: 'service' }
    expect(isAlike(kinds.alert, search, { ...search, dashboardId: 'x', tileId: 'y' })).toBe(true)
    expect(isAlike(kinds.alert, search, { ...search, groupBy: 'host' })).toBe(false)
    expect(isAlike(kinds.alert, search, { ...search, savedSearchId: 'r' })).toBe(false)
  })

  it('two alerts are equal whether their only channel is a field or a list', () => {
    const { channels: _, ...rest } = alert
    expect(isAlike(kinds.alert, alert, { ...rest, channel: hook })).toBe(true)
    expect(isAlike(kinds.alert, { ...rest, channel: hook }, { ...rest, channel: hook, channels: [] })).toBe(true)
    expect(isAlike(kinds.alert, rest, { ...rest, channel: null })).toBe(true)
    expect(isAlike(kinds.alert, rest, { ...rest, channel: hook })).toBe(false)
  })
})

describe('the mark of an alert', () => {
  it('the mark of an alert is in the note', () => {
    const written = 'watchkeeper: shop/main errors 0a1b2c'
    expect(kinds.alert.withMarker({ note: 'Call' }, mark)).toEqual({ note: `Call\n\n${written}` })
    expect(kinds.alert.readMarker({ note: written, message: '' })?.key).toBe('errors')
  })

  it('leaves no blanks behind', () => {
    expect(isAlike(kinds.alert, { note: 'Call  \n' }, kinds.alert.withMarker({ note: 'Call' }, mark))).toBe(true)
  })
})

describe('the channels of an update', () => {
  const desired = (channels: object) => ({ name: 'A', ...channels })
  const send = (channels: object, stored: object): Body =>
    composeUpdate(kinds.alert, desired(channels), { id: 'x', name: 'A', ...stored } as StoredObject)

  it('the channels of an update are one, where the server knows one', () => {
    expect(send({ channel: hook }, { channel: { ...hook, webhookService: 'slack' } })).toEqual({
      name: 'A',
      channel: { ...hook, webhookService: 'slack' },
    })
  })

  it('the channels of an update are sent twice where the server returns them twice', () => {
    expect(send({ channel: hook }, { channel: hook, channels: [hook] })).toMatchObject({ channel: hook, channels: [hook] })
  })

  it('the channels of an update are a list, where there are several', () => {
    const other = { ...hook, webhookId: 'v' }
    expect(send({ channels: [hook, other] }, { channel: hook })).toMatchObject({ channel: hook, channels: [hook, other] })
  })

  it('the channels of an update keep what no file can say, and lose what one can and does not', () => {
    const stored = { channel: { ...hook, somethingNew: 1, severity: 'error', slackChannelId: 'C1' } }
    expect(send({ channel: hook }, stored).channel).toEqual({ ...hook, somethingNew: 1 })
    for (const field of ['severity', 'slackChannelId'])
      expect(send({ channel: { ...hook, webhookId: 'v' } }, stored).channel).not.toHaveProperty(field)
    const other = { ...hook, webhookId: 'v' }
    const both = [hook, other].map((one) => ({ ...one, somethingNew: one.webhookId }))
    expect(send({ channels: [other, hook] }, { channel: both[0], channels: both }).channels).toEqual(both.toReversed())
    expect(send({ channel: { type: 'email', emailRecipients: ['a@b.c'] } }, stored).channel).toEqual({
      type: 'email',
      emailRecipients: ['a@b.c'],
    })
  })
})

it('the body of a webhook has the digest of what the API hides, also where it answers null', () => {
  const [salt, digest] = ['0123456789abcdef', '0123456789']
  const description = withTextSecrets('watchkeeper: shop/main pager 0a1b2c', { salt, digests: { body: digest } })
  const shown = { name: 'W', service: 'incidentio', description }
  expect(kinds.webhook.toBody({ id: 'w', ...shown, body: null })).toEqual({ ...shown, body: new HiddenValue(salt, digest) })
})

describe('two dashboards', () => {
  const { dashboard: dashboards } = kinds
  const one = { name: 'T', x: 0, y: 0, w: 1, h: 1 }
  const dashboard = {
    name: 'D',
    tags: ['a', 'b'],
    tiles: [
      { ...one, id: '1' },
      { ...one, id: '2', name: 'U' },
    ],
  }

  it.each([
    ['the order of tags', { tags: ['b', 'a'] }],
    ['a tag said twice', { tags: ['a', 'b', 'a'] }],
    ['a mark', { tags: ['a', 'b', 'wk:0a1b2c:shop:3d4e5f'] }],
    ['the order of tiles', { tiles: dashboard.tiles.toReversed() }],
    ['filters that are none', { filters: [], savedFilterValues: [], containers: [], savedQuery: null }],
  ])('two dashboards are alike but for %s', (_, fields) => {
    expect(isAlike(dashboards, dashboard, { ...dashboard, ...fields })).toBe(true)
  })

  it.each([
    ['tag', { tags: ['a'] }],
    ['tile', { tiles: dashboard.tiles.slice(1) }],
    ['name', { name: 'E' }],
    ['saved filter', { savedFilterValues: [{ condition: 'x' }] }],
  ])('two dashboards are not alike with another %s', (_, fields) => {
    expect(isAlike(dashboards, dashboard, { ...dashboard, ...fields })).toBe(false)
  })

  it('two dashboards are alike by their saved filters, be they called sql or nothing', () => {
    const saved = (value: object) => ({ ...dashboard, savedFilterValues: [value] })
    expect(isAlike(dashboards, saved({ condition: 'x' }), saved({ type: 'sql', condition: 'x' }))).toBe(true)
    expect(isAlike(dashboards, saved({ condition: 'x' }), saved({ type: 'variable', condition: 'x' }))).toBe(false)
  })

  it('two dashboards have tiles in the order of their ids, or of their names', () => {
    const order = (tiles: readonly object[]) =>
      (comparable(dashboards, { tiles }).tiles as readonly Body[]).map(({ id, name }) => id ?? name)
    expect(order([{ id: 'b' }, { name: 'a' }, { id: 'c' }])).toEqual(['a', 'b', 'c'])
  })
})

describe('the filters of an update', () => {
  it('the filters of an update keep their ids by their names, each once', () => {
    const filter = (name: string, id?: string) => ({ type: 'QUERY_EXPRESSION', name, expression: name, sourceId: 's', ...(id && { id }) })
    const stored = {
      id: 'd',
      name: 'D',
      tiles: [],
      filters: [filter('A', '1'), filter('B', '2'), filter('A', '3')],
    }
    const sent = composeUpdate(kinds.dashboard, { name: 'D', tiles: [], filters: ['A', 'B', 'A', 'A'].map((name) => filter(name)) }, stored)
    const ids = (sent.filters as readonly Body[]).map(({ id }) => id)
    expect(ids.slice(0, 3)).toEqual(['1', '2', '3'])
    expect(ids[3]).toMatch(/^[0-9a-f]{24}$/)
  })

  it('the filters of an update are no business of a dashboard without any', () => {
    const sent = composeUpdate(
      kinds.dashboard,
      { name: 'D', tiles: [] },
      {
        id: 'd',
        name: 'D',
        tiles: [],
        filters: [{ id: '1' }],
      },
    )
    expect(sent.filters).toEqual([])
  })
})

describe('two saved searches', () => {
  const search = { name: 'S', sourceId: 'l', tags: ['a', 'b'], filters: [{ type: 'sql', condition: 'x' }] }

  it('two saved searches are alike whatever the order of their tags, and the name of what a filter is anyway', () => {
    expect(isAlike(kinds.savedSearch, search, { ...search, tags: ['b', 'a', 'wk:0a1b2c:shop:3d4e5f'] })).toBe(true)
    expect(isAlike(kinds.savedSearch, search, { ...search, filters: [{ condition: 'x' }] })).toBe(true)
    expect(isAlike(kinds.savedSearch, search, { ...search, filters: [{ condition: 'y' }] })).toBe(false)
  })

  it('two saved searches have their ownership marker among the tags, once', () => {
    const marked = kinds.savedSearch.withMarker({ tags: ['a', 'wk:0a1b2c:old:3d4e5f'] }, mark)
    expect(marked.tags).toHaveLength(2)
    expect(kinds.savedSearch.readMarker(marked)?.key).toBe('errors')
    expect(kinds.savedSearch.withMarker({}, mark).tags).toHaveLength(1)
  })
})
