// How alerts and saved searches stand in a file.
import { describe, expect, it } from 'vitest'
import { neutral } from '../../../../src/api/profiles.ts'
import { createResourceTypes } from '../../../../src/resources/resource-types.ts'
import type { ReferenceRenderer } from '../../../../src/sync/pull/render.ts'
import { renderAlert, renderSavedSearch } from '../../../../src/sync/pull/render.ts'
import { cloud } from '../../../support/drafts.ts'

const naming: ReferenceRenderer = {
  source: (id) => ({ source: `name of ${id}` }),
  webhook: (id) => ({ webhook: `name of ${id}` }),
  target: (section, id) => `${section} ${id}`,
  tile: (dashboard, id) => `tile ${id} of ${dashboard}`,
}

const webhook = { type: 'webhook', webhookId: 'w1' }
const email = { type: 'email', emailRecipients: ['a@b'] }

const bare = {
  name: 'A',
  source: 'tile',
  dashboardId: 'd1',
  tileId: 't1',
  threshold: 1,
  thresholdType: 'above',
  interval: '5m',
  channels: [webhook],
}

const writtenBare = {
  name: 'A',
  dashboard: 'dashboards d1',
  tile: 'tile t1 of d1',
  threshold: 1,
  interval: '5m',
  channel: { type: 'webhook', webhook: 'name of w1' },
}

const alert = (fields: object, usesList?: boolean) =>
  renderAlert(
    { ...bare, ...fields },
    { kind: createResourceTypes(cloud).alerts, references: naming, ...(usesList !== undefined && { usesList }) },
  ).fields

describe('an alert', () => {
  it.each<[string, object, object]>([
    ['that says little', {}, {}],
    ['whose fields are empty', { message: '', note: null, groupBy: null, thresholdMax: null, scheduleOffsetMinutes: 0 }, {}],
    ['on the other side of its threshold', { thresholdType: 'below' }, { thresholdType: 'below' }],
    ['of a range', { thresholdType: 'between', thresholdMax: 5 }, { thresholdType: 'between', thresholdMax: 5 }],
    ['with the other end of a range that it has not', { thresholdMax: 5 }, {}],
    ['with texts', { message: 'm', note: 'n' }, { message: 'm', note: 'n' }],
    ['with a mark', { note: 'n\n\nwatchkeeper: shop/x a abcdef' }, { note: 'n' }],
    ['with nothing but a mark', { note: 'watchkeeper: shop/x a abcdef' }, {}],
    ['that waits', { numConsecutiveWindows: 3, scheduleOffsetMinutes: 2 }, { numConsecutiveWindows: 3, scheduleOffsetMinutes: 2 }],
    ['that begins at a time', { scheduleStartAt: '2026-01-31T08:00:00+02:00' }, { scheduleStartAt: '2026-01-31T06:00:00Z' }],
    ['that begins within a second', { scheduleStartAt: '2026-01-31T08:00:00.500Z' }, { scheduleStartAt: '2026-01-31T08:00:00.500Z' }],
    ['of a tile, with a group', { groupBy: 'host' }, {}],
    ['without a tile', { tileId: null }, { tile: undefined }],
    ['without a dashboard', { dashboardId: null, tileId: null }, { dashboard: undefined, tile: undefined }],
    ['of a number that only its text holds', { threshold: JSON.rawJSON('1.50') }, { threshold: 1.5 }],
    ['that nobody hears of', { channels: [] }, { channel: undefined }],
    ['with one channel, in the old field', { channels: undefined, channel: email }, { channel: email }],
    [
      'with more said of its channel',
      { channels: [{ ...webhook, severity: 'error' }] },
      { channel: { ...writtenBare.channel, severity: 'error' } },
    ],
    ['whose channel names its service', { channels: [{ ...webhook, webhookService: 'slack' }] }, {}],
    ['whose webhook is not said', { channels: [{ type: 'webhook' }] }, { channel: { type: 'webhook' } }],
    ['with several channels', { channels: [webhook, email] }, { channel: undefined, channels: [writtenBare.channel, email] }],
  ])('%s', (_, fields, expected) => {
    const full = Object.entries({ ...writtenBare, ...expected }).filter(([, value]) => value !== undefined)
    expect(alert(fields)).toStrictEqual(Object.fromEntries(full))
  })

  it('of a saved search says which, and by what it is grouped', () => {
    const fields = { source: 'saved_search', savedSearchId: 'q1', groupBy: 'host' }
    const { dashboard: _, tile: __, ...others } = writtenBare
    expect(alert(fields)).toStrictEqual({ ...others, savedSearch: 'savedSearches q1', groupBy: 'host' })
    expect(alert({ ...fields, savedSearchId: null })).toStrictEqual({ ...others, groupBy: 'host' })
  })

  it('has a single channel in the list where the file has a list', () => {
    const { channel, ...others } = writtenBare
    expect(alert({}, true)).toStrictEqual({ ...others, channels: [channel] })
    expect(alert({}, false)).toStrictEqual(writtenBare)
    expect(alert({ channels: [] }, true)).toStrictEqual(others)
  })

  it('has its fields in the order in which somebody reads it', () => {
    const all = {
      note: 'n',
      message: 'm',
      numConsecutiveWindows: 3,
      thresholdType: 'between',
      thresholdMax: 3,
      scheduleStartAt: '2026-01-31T08:00:00Z',
      scheduleOffsetMinutes: 1,
    }
    expect(Object.keys(alert(all)).join(' ')).toBe(
      'name dashboard tile threshold thresholdMax thresholdType interval scheduleOffsetMinutes scheduleStartAt numConsecutiveWindows channel message note',
    )
  })

  it('has nothing that its product does not know', () => {
    const { fields } = renderAlert(
      { ...bare, channels: undefined, channel: webhook, message: 'm\n\nwatchkeeper: shop/x a abcdef' },
      { kind: createResourceTypes(neutral).alerts, references: naming },
    )
    expect(fields).toStrictEqual({ ...writtenBare, message: 'm' })
  })
})

describe('a saved search', () => {
  const saved = (fields: object) => renderSavedSearch({ name: 'S', sourceId: 's1', ...fields }, naming).fields
  const few = { name: 'S', sourceId: { source: 'name of s1' } }

  it.each<[string, object, object]>([
    ['that says little', {}, {}],
    ['whose fields are empty', { where: '', select: null, tags: [], filters: [] }, {}],
    ['with tags in their order', { tags: ['b', 'a'] }, { tags: ['b', 'a'] }],
    ['with a mark among its tags', { tags: ['b', 'wk:0a1b2c:key:abcdef', 'a'] }, { tags: ['b', 'a'] }],
    ['with nothing but a mark', { tags: ['wk:0a1b2c:key:abcdef'] }, {}],
    ['with filters', { filters: [{ type: 'sql', condition: 'x' }] }, { filters: [{ condition: 'x' }] }],
    ['that finds something', { where: 'x', whereLanguage: 'sql', orderBy: 'y' }, { where: 'x', whereLanguage: 'sql', orderBy: 'y' }],
    ['with what nobody knows', { novel: 1 }, {}],
  ])('%s', (_, fields, expected) => {
    expect(saved(fields)).toStrictEqual({ ...few, ...expected })
  })

  it('has its name and its tags first', () => {
    expect(Object.keys(saved({ where: 'x', tags: ['a'] }))).toEqual(['name', 'tags', 'sourceId', 'where'])
  })
})
