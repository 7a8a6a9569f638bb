import { describe, expect, it } from 'vitest'
import { ids, inputsFor, methodsOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

describe.each(['clickhouse-cloud'] as const)('dashboards on the %s dialect', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: { limit: 1000, windowMs: 1000 } })
  const invoke = (inputs: Readonly<Record<string, string>>) => invokeText({ inputs: { ...inputsFor(emulator(), dialect), ...inputs } })
  const service = () => {
    const found = emulator().store.organizations[0]?.services[0]
    if (found === undefined) throw new Error('the shop has changed')
    return found
  }
  const stored = () => service().dashboards.find(({ id }) => id === ids.dashboard)
  const tileAlerts = () => service().alerts.filter(({ dashboardId }) => dashboardId === ids.dashboard)

  /** What a person would keep in a file: no ids. */
  const written = () => {
    const { id: _, tiles = [], filters = [], name, tags } = stored() ?? {}
    return { name, tags, tiles: tiles.map(({ id: __, ...tile }) => tile), filters: filters.map(({ id: ___, ...filter }) => filter) }
  }
  const update = (dashboard: object) => invoke({ operation: 'update-dashboard', id: ids.dashboard, dashboard: JSON.stringify(dashboard) })

  it('keeps tile ids and their alerts when a document without ids replaces them', async () => {
    const before = stored()?.tiles.map(({ id }) => id)
    const alerts = tileAlerts().length
    const ran = await update({ ...written(), name: 'Renamed' })
    expect(ran.document).toMatchObject({ status: 'pass', changed: true, lostAlerts: [] })
    expect(stored()?.tiles.map(({ id }) => id)).toEqual(before)
    expect(tileAlerts()).toHaveLength(alerts)
  })

  it('sends nothing when nothing changes', async () => {
    const ran = await update(written())
    expect(ran.document).toMatchObject({ changed: false })
    expect(methodsOf(emulator())).toEqual(['GET'])
  })

  it('names the alerts that are deleted with a tile', async () => {
    const { tiles, ...rest } = written()
    const ran = await update({ ...rest, tiles: tiles.filter(({ name }) => name !== 'Error rate') })
    expect(ran.document).toMatchObject({ status: 'warn', lostAlerts: [{ id: ids.alert, name: 'Checkout errors' }] })
    expect(ran.reason).toContain('the server deleted 1 alert, because its tile was removed or cannot have alerts')
    expect(service().alerts.some(({ id }) => id === ids.alert)).toBe(false)
  })

  it('refuses an update where an alert could be on one of two tiles, names both, and takes their ids', async () => {
    const tile = (where: string, x: number, more: object = {}) => ({
      ...{ name: 'E', x, y: 0, w: 12, h: 4, ...more },
      config: { displayType: 'line', sourceId: '65f5e4a35eedc0de00000005', select: [{ aggFn: 'count', where, whereLanguage: 'lucene' }] },
    })
    for (const name of ['E', '']) {
      const document = (...tiles: readonly object[]) => JSON.stringify({ name: 'Twins', tiles: tiles.map((one) => ({ ...one, name })) })
      const { document: created } = await invoke({ operation: 'create-dashboard', dashboard: document(tile('a', 0), tile('b', 12)) })
      const { id, tiles } = created.dashboard as { readonly id: string; readonly tiles: readonly { readonly id: string }[] }
      const [first, second] = tiles.map((one) => one.id)
      const channel = { type: 'webhook', webhookId: ids.webhook }
      const alert = { dashboardId: id, tileId: second, source: 'tile', threshold: 5, thresholdType: 'above', interval: '1h', channel }
      const { document: made } = await invoke({ operation: 'create-alert', alert: JSON.stringify(alert) })
      const change = (...all: readonly object[]) => invoke({ operation: 'update-dashboard', id, dashboard: document(...all) })
      const before = structuredClone(service())
      const refused = await change(tile('d', 0), tile('c', 12))
      expect([refused.exitCode, refused.reason]).toEqual([1, expect.stringContaining('tiles[0] (line) or tiles[1] (line)')])
      expect(refused.reason).toContain(`no tile has its id ${second}`)
      expect(refused.reason).toContain(String(made.id))
      expect(service()).toEqual(before)
      // One of them is as it was, so the other is the rest.
      expect((await change(tile('b', 0), tile('c', 12))).document).toMatchObject({ changed: true, lostAlerts: [] })
      expect((await change(tile('e', 0, { id: second }), tile('f', 12, { id: first }))).document).toMatchObject({ lostAlerts: [] })
      const stored = service().dashboards.find((one) => one.id === id)?.tiles
      expect(stored?.map((one) => [one.id, one.x])).toEqual([
        [second, 0],
        [first, 12],
      ])
      expect(service().alerts.find((one) => one.id === made.id)).toMatchObject({ tileId: second })
    }
  })

  it('names the alerts that are deleted with a dashboard', async () => {
    const alerts = tileAlerts().map(({ id, name }) => ({ id, name }))
    expect(alerts.length).toBeGreaterThan(1)
    const ran = await invoke({ operation: 'delete-dashboard', id: ids.dashboard })
    expect(ran.document).toMatchObject({ changed: true, lostAlerts: alerts })
    expect(stored()).toBeUndefined()
  })

  it('gives a document that changes nothing when it is sent again', async () => {
    const { document } = await invoke({ operation: 'get-dashboard', id: ids.dashboard })
    expect((await update(document.declaration as object)).document).toMatchObject({ status: 'pass', changed: false })
  })

  it('finds by tag and by a part of the name, whatever the case', async () => {
    expect((await invoke({ operation: 'list-dashboards', select: 'name~OVER' })).document).toMatchObject({
      count: 1,
      ids: [ids.dashboard],
    })
    expect((await invoke({ operation: 'list-dashboards', select: 'tag=nobody' })).document).toMatchObject({ status: 'pass', count: 0 })
  })

  it.each([
    ['{ name: x }', /dashboard:1:1: tiles: is missing/],
    ['{ name: x, tiles: [], tilse: [] }', /"tilse" is an unknown field; did you mean "tiles"\?/],
    ['{ name: x, tiles: [{ name: a, x: 30, y: 0, w: 1, h: 1 }] }', /dashboard:1:34: tiles\["a"\]\.x: 30 is not accepted/],
  ])('refuses %s before any request', async (dashboard, reason) => {
    const ran = await invoke({ operation: 'create-dashboard', dashboard })
    expect(ran.reason).toMatch(reason)
    expect(emulator().requests).toHaveLength(0)
  })
})
