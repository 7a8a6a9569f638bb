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
