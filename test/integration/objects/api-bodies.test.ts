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

    it('a field of a request that the server drops ends with exit code 4, and one that is nearly a known one is refused', async () => {
      const { dashboardId, tileId, channels } = alertWith(ids.alert) ?? {}
      const alert = { dashboardId, tileId, source: 'tile', threshold: 5, thresholdType: 'above', interval: '1h', channel: channels?.[0] }
      for (const more of [{ detectionMode: 'anomaly' }, { groupBy: 'ServiceName' }]) {
        const field = String(Object.keys(more)[0])
        const { exitCode, document, reason } = await run('create-alert', { alert: JSON.stringify({ ...alert, ...more }) })
        if (dialect === 'clickhouse-cloud' && field === 'detectionMode') {
          expect([exitCode, reason]).toEqual([1, expect.stringContaining('alert:1:') && expect.stringContaining('is an unknown field')])
          continue
        }
        expect([exitCode, document.dropped]).toEqual([4, [{ field, matters: true }]])
        expect(reason).toContain(
          `did not store ${field}. Its version might not have this yet: remove it, or upgrade the service. To delete`,
        )
        expect(reason).toContain(`run delete-alert with the id ${document.id}`)
        const updated = await run('update-alert', { id: ids.alert, alert: JSON.stringify({ ...alert, threshold: 8, ...more }) })
        expect([updated.exitCode, updated.document.dropped]).toEqual([4, [{ field, matters: true }]])
      }
      const sent = requests().length
      const near = await run('create-alert', { alert: JSON.stringify({ ...alert, treshold: 5, threshold: undefined }) })
      expect([near.exitCode, near.reason]).toEqual([2, expect.stringContaining('did you mean "threshold"?')])
      expect(requests()).toHaveLength(sent)
    })

    it('names the place of a value that the API would not take', async () => {
      const wrong = await run('create-alert', { alert: '{ dashboardId: x, tileId: y, threshold: 5, interval: 2h, nonsense: 1 }' })
      expect(wrong.reason).toContain('alert:1:54: interval: "2h" is not accepted')
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

    const [connectionId, logs, traces] = ['65f5e4a35eedc0de00000004', '65f5e4a35eedc0de00000005', '65f5e4a35eedc0de00000006']
    const place = { x: 0, y: 0, w: 24, h: 3 }
    const tile = (config: object, more: object = {}) => ({ name: 'A', ...place, config, ...more })
    const heading = tile({ displayType: 'markdown', markdown: '# A' }, { name: '' })
    const counted = { aggFn: 'count', where: 'c:d', whereLanguage: 'lucene' }
    const line = { displayType: 'line', sourceId: logs, select: [counted] }
    const rules = [{ operator: 'gt', value: 0, color: 'chart-error' }]
    const sqlNumber = { displayType: 'number', configType: 'sql', connectionId, sqlTemplate: 'SELECT count() FROM default.otel_logs' }
    const heatmap = {
      ...{ displayType: 'heatmap', sourceId: traces, where: 'SpanKind:Server', whereLanguage: 'lucene' },
      select: [{ valueExpression: 'Duration / 1e9', countExpression: 'count()', heatmapScaleType: 'log' }],
    }
    const bodyOf = (...tiles: readonly object[]) => JSON.stringify({ name: 'Pack', tags: ['shop'], tiles }, undefined, 1)
    const created = (dashboard: string) => run('create-dashboard', { dashboard })
    /** A gateway refuses what the product drops. */
    const isCloud = dialect === 'clickhouse-cloud'

    it('a request of the API is sent as it is, with tiles without a name, and with fields that the server leaves out as empty', async () => {
      const { document } = await created(bodyOf(heading, tile(sqlNumber), tile(heatmap)))
      expect(document).toMatchObject({ status: 'pass', dropped: [] })
      const sent = emulator().requests.findLast(({ method }) => method === 'POST')?.body
      expect(sent).toEqual({ name: 'Pack', tags: ['shop'], tiles: [heading, tile(sqlNumber), tile(heatmap)] })
      const empty = { ...heatmap, select: [{ ...heatmap.select[0], where: '', whereLanguage: 'sql' }] }
      if (!isCloud) expect((await created(bodyOf(tile(empty)))).document).toMatchObject({ status: 'pass', dropped: [] })
    })

    it('a field that only changes how a chart looks is a warning where the server drops it, and an update says so, too', async () => {
      const body = bodyOf(heading, tile({ ...sqlNumber, colorRules: rules }, { name: 'Rejected' }))
      const { document, reason } = await created(body)
      if (isCloud) {
        expect(reason).toContain("request body property can't be validated: tiles.1.config.colorRules")
        const at = body.split('\n').findIndex((text) => text.includes('colorRules')) + 1
        expect(reason).toContain(`dashboard:${at}:5: tiles["Rejected"].config: "colorRules" is an unknown field`)
        return
      }
      const dropped = [{ field: 'tiles["Rejected"].config.colorRules', matters: false }]
      expect(document).toMatchObject({ status: 'warn', dropped })
      const updated = await run('update-dashboard', { id: String(document.id), dashboard: body })
      expect(updated).toMatchObject({ exitCode: 0, document: { status: 'warn', dropped } })
    })

    const changed = {
      'a where of a line chart': [{ ...line, where: 'a:b' }, 'where'],
      'a condition of the web app': [{ ...line, select: [{ ...counted, aggCondition: 'a:b' }] }, 'select[0].aggCondition'],
      'a field of a newer server': [{ ...line, newField: { deep: true } }, 'newField'],
    } as const
    it.each(Object.entries(changed))(
      '%s that the server drops ends with exit code 4, and with what was created',
      async (_, [config, field]) => {
        for (const more of [{}, { id: '65f5e4a35eedc0de0000000e' }]) {
          const { exitCode, document, reason } = await created(bodyOf(tile(config, more)))
          if (isCloud) {
            expect([exitCode, reason]).toEqual([1, expect.stringContaining(`"${field.replace(/.*\./, '')}" is an unknown field`)])
            continue
          }
          expect([exitCode, document.dropped]).toEqual([4, [{ field: `tiles["A"].config.${field}`, matters: true }]])
          expect(reason).toContain(`(${document.id}) was created, but the service did not store tiles["A"].config.${field}.`)
          expect(reason).toContain(`To delete the dashboard, run delete-dashboard with the id ${document.id}`)
          expect(dashboardWith(document.id)).toBeDefined()
        }
      },
    )

    it.each([
      ['a misspelled field of a series', { ...line, select: [{ aggFn: 'count', where: 'a', wherelanguage: 'sql' }] }, 'whereLanguage'],
      [
        'a misspelled field beside an unknown one',
        { ...line, where: 'b', select: [{ aggFn: 'count', wherelanguage: 'sql' }] },
        'whereLanguage',
      ],
      ['a field with another name', { ...line, select: [{ aggFn: 'sum', field: 'Duration' }] }, 'valueExpression'],
      ['a misspelled field of a chart', { ...line, gropBy: 'ServiceName' }, 'groupBy'],
    ])('%s is refused before the write', async (_, config, meant) => {
      for (const more of [{}, { id: '65f5e4a35eedc0de0000000e' }]) {
        const { exitCode, reason } = await created(bodyOf(tile(config, more)))
        expect([exitCode, reason]).toEqual([2, expect.stringContaining(`did you mean "${meant}"?`)])
        expect(reason).toMatch(/dashboard:\d+:\d+: tiles\["A"\]/)
      }
      expect(requests()).toEqual([])
    })

    it('a document with a field that only files have, or without what the API requires, is in the form of files', async () => {
      const { sourceId: _, ...bySource } = line
      const documents: readonly object[] = [
        { name: 'F', tiles: [tile({ ...bySource, source: 'Logs' }), { name: 'B', config: { displayType: 'markdown' } }] },
        { name: 'F', tiles: [tile({ ...line, sourceId: { source: 'Logs' } })] },
        { name: 'F', tiles: [tile(line)], filters: [{ name: 'Service', expression: 'ServiceName', sourceId: logs }] },
        { name: 'F', tiles: [tile(line, { containerId: 'c' })], containers: [{ id: 'c', title: 'C' }] },
        { name: 'F', rows: [{ tiles: [{ name: 'A', config: line }] }] },
        { name: 'F', tiles: [{ ...tile(line), raw: {} }] },
      ]
      for (const one of documents) {
        expect((await created(JSON.stringify(one))).document).toMatchObject({ status: 'pass' })
        const wrong = await created(JSON.stringify({ ...one, nonsense: 1 }))
        expect([wrong.exitCode, wrong.reason]).toEqual([2, expect.stringContaining('"nonsense" is an unknown field')])
      }
    })
  })
})
