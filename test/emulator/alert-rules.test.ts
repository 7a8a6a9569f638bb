import { describe, expect, it } from 'vitest'
import type { Emulator } from '../../src/emulator/index.ts'
import { alertBody, alertFacts, call, checkoutOf, clickstack, type Json, observability, start, startCloud } from './support.ts'

async function refusal(emulator: Emulator, prefix: string, change: Json): Promise<string> {
  const { status, json } = await call(emulator, 'POST', `${prefix}/alerts`, { body: { ...alertBody(emulator), ...change } })
  return `${status} ${json.error ?? 'created'}`
}

const unknown = (name: string): string => `400 BAD_REQUEST: request body property can't be validated: ${name}`

describe('the body of an alert', () => {
  it.each(['id', 'state', 'thresholdMax', 'note', 'channels', 'savedSearchId', 'scheduleStartAt', '__proto__', 'teamId'])(
    'may have the nine documented fields in the neutral dialect, and not %s',
    async (name) => {
      const emulator = await start()
      const body = `${JSON.stringify(alertBody(emulator)).slice(0, -1)},"${name}":null}`
      const { status, json } = await call(emulator, 'POST', `${observability}/alerts`, { body })
      expect(`${status} ${json.error}`).toBe(unknown(name))
    },
  )

  it.each(['id', 'teamId', 'state', 'createdAt', 'silenced', 'labels', 'chartConfig'])(
    'may not have what the cloud answers but does not accept: %s',
    async (name) => {
      expect(await refusal(await startCloud(), clickstack, { [name]: null })).toBe(unknown(name))
    },
  )

  it('names an unknown property before anything else that is wrong', async () => {
    expect(await refusal(await startCloud(), clickstack, { threshold: 'x', interval: 1, labels: [] })).toBe(unknown('labels'))
  })

  it('may not have an unknown property in its channel', async () => {
    const emulator = await start()
    const channel = { type: 'webhook', webhookId: alertFacts(emulator).webhookId, webhookService: 'slack' }
    expect(await refusal(emulator, observability, { channel })).toBe(unknown('channel.webhookService'))
  })

  it.each(['threshold', 'interval', 'thresholdType', 'channel', 'dashboardId', 'tileId'])('must have %s', async (name) => {
    expect(await refusal(await start(), observability, { [name]: undefined })).toMatch(new RegExp(`^400 BAD_REQUEST: ${name}: `))
  })

  it.each([
    ['threshold', '5'],
    ['threshold', null],
    ['interval', '2m'],
    ['interval', '30s'],
    ['thresholdType', 'over'],
    ['source', 'inline'],
    ['name', ''],
    ['name', 'x'.repeat(513)],
    ['message', ''],
    ['message', 'x'.repeat(4097)],
    ['note', 'x'.repeat(4097)],
    ['numConsecutiveWindows', 0],
    ['numConsecutiveWindows', 1.5],
    ['scheduleOffsetMinutes', -1],
    ['scheduleOffsetMinutes', 60],
    ['scheduleStartAt', 'tomorrow'],
    ['scheduleStartAt', '2027-03-22T00:00:00Z'],
    ['scheduleStartAt', '2016-01-01T00:00:00Z'],
    ['groupBy', 'ServiceName'],
  ])('is refused with %s %j', async (name, value) => {
    expect(await refusal(await startCloud(), clickstack, { [name]: value })).toMatch(new RegExp(`^400 BAD_REQUEST: ${name}: `))
  })

  it.each([
    { name: 'x'.repeat(512), message: 'x'.repeat(4096), note: 'x'.repeat(4096) },
    { name: null, message: null, note: null, threshold: -0.5, numConsecutiveWindows: 1 },
    { interval: '1d', scheduleOffsetMinutes: 1439 },
    { interval: '1m', scheduleOffsetMinutes: 0, scheduleStartAt: '2026-03-21T00:00:00+02:00' },
    { thresholdType: 'not_between', threshold: 5, thresholdMax: 5 },
  ])('is accepted at the limits: %#', async (change) => {
    expect(await refusal(await startCloud(), clickstack, change)).toBe('200 created')
  })

  it.each(['between', 'not_between'])('needs a thresholdMax of at least the threshold for %s', async (thresholdType) => {
    const emulator = await startCloud()
    expect(await refusal(emulator, clickstack, { thresholdType })).toContain('thresholdMax: required')
    expect(await refusal(emulator, clickstack, { thresholdType, thresholdMax: null })).toContain('thresholdMax: required')
    expect(await refusal(emulator, clickstack, { thresholdType, thresholdMax: 4.9 })).toContain('thresholdMax: must be')
    expect(await refusal(emulator, clickstack, { thresholdType, thresholdMax: 5.1 })).toBe('200 created')
  })

  it('must have no schedule offset beside a start', async () => {
    const change = { scheduleOffsetMinutes: 5, scheduleStartAt: '2026-03-21T00:00:00Z' }
    expect(await refusal(await startCloud(), clickstack, change)).toContain('must be 0 when scheduleStartAt is set')
  })
})

describe('what an alert points to', () => {
  it('must exist', async () => {
    const emulator = await start()
    const missing = 'ffffffffffffffffffffffff'
    expect(await refusal(emulator, observability, { dashboardId: missing })).toBe(
      `400 BAD_REQUEST: dashboardId: dashboard ${missing} does not exist`,
    )
    expect(await refusal(emulator, observability, { tileId: missing })).toContain(`tile ${missing} does not exist in dashboard`)
    const channel = { type: 'webhook', webhookId: missing }
    expect(await refusal(emulator, observability, { channel })).toBe(
      `400 BAD_REQUEST: channel.webhookId: webhook ${missing} does not exist`,
    )
  })

  it('must be in the same service', async () => {
    const emulator = await start()
    const other = emulator.store.organizations[0]?.services[1]?.webhooks[0]?.id
    expect(await refusal(emulator, observability, { channel: { type: 'webhook', webhookId: other } })).toContain('does not exist')
  })

  it('must be a tile that can carry alerts', async () => {
    const emulator = await start()
    expect(await refusal(emulator, observability, { tileId: alertFacts(emulator).markdownTileId })).toContain('tileId: alerts need a tile')
  })

  it.each([
    ['line', 200],
    ['stacked_bar', 200],
    ['number', 200],
    ['table', 400],
    ['pie', 400],
  ])('may be a raw SQL tile of display type %s or not: %i', async (displayType, status) => {
    const emulator = await start()
    const { tileId, dashboardId } = alertFacts(emulator)
    const tile = checkoutOf(emulator)
      .dashboards.find(({ id }) => id === dashboardId)
      ?.tiles.find(({ id }) => id === tileId)
    if (tile) tile.config = { configType: 'sql', displayType, connectionId: 'c', sqlTemplate: 'SELECT 1' }
    expect(await refusal(emulator, observability, {})).toMatch(new RegExp(`^${status}`))
  })

  it('is a saved search when no source is said, which the neutral dialect cannot name', async () => {
    const emulator = await start()
    expect(await refusal(emulator, observability, { source: undefined })).toBe(
      '400 BAD_REQUEST: savedSearchId: required for source saved_search',
    )
  })

  it('is a saved search that exists', async () => {
    const emulator = await startCloud()
    const search = { source: 'saved_search', dashboardId: null, tileId: null }
    expect(await refusal(emulator, clickstack, search)).toContain('savedSearchId: required')
    expect(await refusal(emulator, clickstack, { ...search, savedSearchId: 'ffffffffffffffffffffffff' })).toContain('does not exist')
    const savedSearchId = checkoutOf(emulator).savedSearches[0]?.id
    expect(await refusal(emulator, clickstack, { ...search, savedSearchId, groupBy: 'ServiceName' })).toBe('200 created')
  })
})

describe('the channels of an alert', () => {
  it('are at least one, at most ten, and none twice', async () => {
    const emulator = await startCloud()
    const webhook = { type: 'webhook', webhookId: alertFacts(emulator).webhookId }
    const emails = (count: number) => Array.from({ length: count }, (_, i) => ({ type: 'email', emailRecipients: [`${i}@shop.example`] }))
    const withChannels = (channels: unknown) => refusal(emulator, clickstack, { channel: undefined, channels })
    expect(await withChannels(undefined)).toContain('channel: required')
    expect(await withChannels([])).toContain('400 BAD_REQUEST: channels: ')
    expect(await withChannels(emails(11))).toContain('400 BAD_REQUEST: channels: ')
    expect(await withChannels([webhook, { ...webhook, severity: 'info' }])).toContain('must not name a target twice')
    expect(await withChannels([webhook, ...emails(9)])).toBe('200 created')
  })

  it('begin with the single channel when both are sent', async () => {
    const emulator = await startCloud()
    const [one, two] = checkoutOf(emulator).webhooks.map(({ id }) => ({ type: 'webhook', webhookId: id }))
    expect(await refusal(emulator, clickstack, { channel: one, channels: [two, one] })).toContain('must equal channels[0]')
    expect(await refusal(emulator, clickstack, { channel: one, channels: [one, two] })).toBe('200 created')
  })

  it('are webhooks alone in the neutral dialect', async () => {
    const channel = { type: 'email', emailRecipients: ['a@shop.example'] }
    expect(await refusal(await start(), observability, { channel })).toMatch(/^400/)
    expect(await refusal(await startCloud(), clickstack, { channel })).toBe('200 created')
  })
})
