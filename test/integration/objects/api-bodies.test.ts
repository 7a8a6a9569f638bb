// What the API documents and answers, given to the operations of single objects as it is.
import { describe, expect, it } from 'vitest'
import { ids, inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('bodies of the API, %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })
  const run = (operation: string, more: Readonly<Record<string, string>> = {}) =>
    invokeText({ inputs: { operation, ...inputsFor(emulator(), dialect), ...more } })
  /** Without the question for the version of the server. */
  const requests = () => emulator().requests.flatMap(({ method, path }) => (path === '/health' ? [] : [method]))
  const alertWith = (id: unknown) => serviceOf(emulator()).alerts.find((one) => one.id === id)
  const dashboardWith = (id: unknown) => serviceOf(emulator()).dashboards.find((one) => one.id === id)
  const answerOf = async (operation: string, id: string) => (await run(operation, { id })).document
  const marker = 'watchkeeper: shop/infra errors 123abc'
  /** An answer as the server sends it. */
  const inEnvelope = (object: unknown): string =>
    JSON.stringify(dialect === 'hyperdx' ? { data: object } : { status: 200, requestId: '9e1f', result: object })

  describe('an alert', () => {
    it('create-alert takes an answer as it is, without its ids, its state and its marker', async () => {
      Object.assign(alertWith(ids.alert) ?? {}, { note: `Look\n\n${marker}`, executionErrors: [], numConsecutiveWindows: 2 })
      const { alert } = await answerOf('get-alert', ids.alert)
      expect(alert).toMatchObject({ id: ids.alert, state: expect.any(String), channels: expect.any(Array), source: 'tile' })
      const sent = requests().length
      const created = await run('create-alert', { alert: JSON.stringify(alert) })
      expect(created.document).toMatchObject({ status: 'pass', outcome: 'created' })
      expect(requests().slice(sent)).toEqual(['POST'])
      const { name, threshold, channels, tileId } = alertWith(ids.alert) ?? {}
      expect(alertWith(created.document.id)).toMatchObject({ name, threshold, channels, tileId, note: 'Look', numConsecutiveWindows: 2 })
    })

    it('create-alert takes an alert on a saved search, and several channels before a single one', async () => {
      const { savedSearches, webhooks } = serviceOf(emulator())
      const channels = webhooks.slice(0, 2).map(({ id }) => ({ type: 'webhook', webhookId: id }))
      const alert = {
        source: 'saved_search',
        savedSearchId: savedSearches[0]?.id,
        dashboardId: null,
        tileId: null,
        groupBy: null,
        threshold: 3,
        thresholdType: 'below',
        interval: '5m',
        channel: channels[1],
        channels,
      }
      const { document } = await run('create-alert', { alert: JSON.stringify(alert) })
      expect(document).toMatchObject({ status: 'pass', outcome: 'created' })
      expect(alertWith(document.id)).toMatchObject({ source: 'saved_search', savedSearchId: savedSearches[0]?.id, channels, threshold: 3 })
    })

    it('update-alert changes nothing with an answer, clears what is null, and keeps the marker of the alert', async () => {
      Object.assign(alertWith(ids.alert) ?? {}, { message: 'Look', note: marker })
      const { alert } = await answerOf('get-alert', ids.alert)
      expect((await run('update-alert', { id: ids.alert, alert: JSON.stringify(alert) })).document).toMatchObject({ changed: false })
      const changed = { ...(alert as object), threshold: 77, message: null, note: null }
      expect((await run('update-alert', { id: ids.alert, alert: JSON.stringify(changed) })).document).toMatchObject({ changed: true })
      expect(alertWith(ids.alert)).toMatchObject({ threshold: 77, message: null, note: marker })
    })

    it('update-alert moves an alert to the tile of the body', async () => {
      const { dashboardId, tileId } = alertWith(ids.alert) ?? {}
      const other = dashboardWith(dashboardId)?.tiles.find((one) => one.id !== tileId && one.config.displayType === 'line')
      await run('update-alert', { id: ids.alert, alert: JSON.stringify({ dashboardId, tileId: other?.id, source: 'tile' }) })
      expect(alertWith(ids.alert)).toMatchObject({ dashboardId, tileId: other?.id })
    })

    it('create-alert and update-alert take an answer with its envelope, and name the places in it', async () => {
      const { alert } = await answerOf('get-alert', ids.alert)
      const created = await run('create-alert', { alert: inEnvelope(alert) })
      expect(created.document).toMatchObject({ status: 'pass', outcome: 'created' })
      const changed = inEnvelope({ ...(alert as object), threshold: 78 })
      expect((await run('update-alert', { id: ids.alert, alert: changed })).document).toMatchObject({ changed: true })
      expect([alertWith(created.document.id)?.tileId, alertWith(ids.alert)?.threshold]).toEqual([alertWith(ids.alert)?.tileId, 78])
      const wrong = inEnvelope({ ...(alert as object), interval: '2h' })
      expect((await run('create-alert', { alert: wrong })).reason).toContain(`alert:1:${wrong.indexOf('"2h"') + 1}: interval`)
    })

    it('an envelope with something else in it, or with no object, is an error', async () => {
      for (const alert of [
        '{ data: { threshold: 5 }, threshold: 6 }',
        '{ data: { threshold: 5 }, result: { threshold: 6 } }',
        '{ data: [] }',
      ])
        expect((await run('update-alert', { id: ids.alert, alert })).reason).toContain('"data" is an unknown field')
      expect(emulator().requests).toEqual([])
    })

    it('a name of files together with one of the API is an error', async () => {
      const alert = { dashboard: ids.dashboard, dashboardId: ids.dashboard, tileId: ids.tile, threshold: 5, interval: '1h' }
      const { reason } = await run('create-alert', { alert: JSON.stringify(alert) })
      expect(reason).toContain('"dashboardId" is an unknown field; did you mean "dashboard"?')
      expect(emulator().requests).toEqual([])
    })

    it('names the place of a value that the API would not take', async () => {
      const wrong = await run('create-alert', { alert: '{ dashboardId: x, tileId: y, threshold: 5, interval: 2h, nonsense: 1 }' })
      expect(wrong.reason).toContain('alert:1:54: interval: "2h" is not accepted')
      expect(wrong.reason).toContain('"nonsense" is an unknown field')
    })
  })

  describe('a dashboard', () => {
    it('create-dashboard takes an answer as it is, without its ids and its markers', async () => {
      dashboardWith(ids.dashboard)?.tags.push('wk:0123ab:shop:012abc', 'wkr:0123456789')
      const { dashboard } = await answerOf('get-dashboard', ids.dashboard)
      const { document } = await run('create-dashboard', { dashboard: JSON.stringify(dashboard) })
      expect(document.status).toBe('pass')
      const [before, after] = [dashboardWith(ids.dashboard), dashboardWith(document.id)]
      const withoutIds = (items: readonly object[] = []) => items.map((item) => ({ ...item, id: '' }))
      expect(after).toMatchObject({ name: before?.name, tags: before?.tags.filter((tag) => !tag.startsWith('wk')) })
      // A write states the defaults that readers of the dashboard do not share.
      expect(withoutIds(after?.tiles)).toMatchObject(withoutIds(before?.tiles))
      expect(withoutIds(after?.filters)).toEqual(withoutIds(before?.filters))
      expect(after?.tiles.some(({ id }) => before?.tiles.some((one) => one.id === id))).toBe(false)
    })

    it('create-dashboard and update-dashboard take an answer with its envelope', async () => {
      const { dashboard } = await answerOf('get-dashboard', ids.dashboard)
      const { document } = await run('create-dashboard', { dashboard: inEnvelope(dashboard) })
      expect(dashboardWith(document.id)?.tiles.length).toBe(dashboardWith(ids.dashboard)?.tiles.length)
      const changed = inEnvelope({ ...(dashboard as object), name: 'Other' })
      const updated = await run('update-dashboard', { id: ids.dashboard, dashboard: changed })
      expect(updated.document).toMatchObject({ changed: true, lostAlerts: [] })
      expect(dashboardWith(ids.dashboard)?.name).toBe('Other')
    })

    it('update-dashboard keeps a tile by its id, with another name and another chart, and the alerts on it', async () => {
      const { dashboard } = await answerOf('get-dashboard', ids.dashboard)
      expect((await run('update-dashboard', { id: ids.dashboard, dashboard: JSON.stringify(dashboard) })).document).toMatchObject({
        changed: false,
      })
      const { tiles } = dashboard as { readonly tiles: readonly { readonly id: string; readonly config: object }[] }
      const renamed = tiles.map((tile) =>
        tile.id === ids.tile ? { ...tile, name: 'Other', config: { ...tile.config, groupBy: 'Env' } } : tile,
      )
      const changed = JSON.stringify({ ...(dashboard as object), tiles: renamed })
      expect((await run('update-dashboard', { id: ids.dashboard, dashboard: changed })).document).toMatchObject({
        changed: true,
        lostAlerts: [],
      })
      expect(dashboardWith(ids.dashboard)?.tiles.find(({ id }) => id === ids.tile)).toMatchObject({ name: 'Other' })
      expect(alertWith(ids.alert)).toMatchObject({ tileId: ids.tile })
    })
  })
})
