import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { alertBody, call, checkoutOf, clickstack, lineConfig, startCloud } from './support.ts'

const promql = { configType: 'promql', displayType: 'line', connectionId: 'c', promqlExpression: 'up' }

describe('a dashboard that was saved in the web app', () => {
  it('may have tiles that the API does not show, which an update deletes with their alerts', async () => {
    const emulator = await startCloud()
    const saved = emulator.saveInWebApp({
      name: 'Mixed',
      tiles: [
        { name: 'Shown', config: lineConfig(emulator) },
        { name: 'Hidden', config: promql },
      ],
    })
    const [, hidden] = saved.tiles
    const body = { ...alertBody(emulator), dashboardId: saved.id, tileId: hidden?.id }
    const { id } = (await call(emulator, 'POST', `${clickstack}/alerts`, { body })).json.result
    const path = `${clickstack}/dashboards/${saved.id}`
    const { id: _, ...shown } = (await call(emulator, 'GET', path)).json.result
    expect(shown.tiles.map(({ name }: { name: string }) => name)).toEqual(['Shown'])
    expect((await call(emulator, 'PUT', path, { body: shown })).status).toBe(200)
    expect(
      checkoutOf(emulator)
        .dashboards.at(-1)
        ?.tiles.map(({ name }) => name),
    ).toEqual(['Shown'])
    expect((await call(emulator, 'GET', `${clickstack}/alerts/${id}`)).status).toBe(404)
  })

  it('may have parts that the API does not show, which an update drops', async () => {
    const emulator = await startCloud()
    const hidden = { granularity: '5 minute', where: 'level:error', ratioMode: 'share_of_total' }
    const saved = emulator.saveInWebApp({ name: 'Hidden parts', tiles: [{ config: { ...lineConfig(emulator), ...hidden } }] })
    const path = `${clickstack}/dashboards/${saved.id}`
    const { id: _, ...shown } = (await call(emulator, 'GET', path)).json.result
    for (const field of Object.keys(hidden)) expect(shown.tiles[0].config).not.toHaveProperty(field)
    expect(saved.tiles[0]?.config).toMatchObject(hidden)
    await call(emulator, 'PUT', path, { body: shown })
    for (const field of Object.keys(hidden)) expect(saved.tiles[0]?.config).not.toHaveProperty(field)
  })

  it('can be saved over the control of the emulator, and into another service', async () => {
    const emulator = await startCloud()
    const body = { name: 'Over HTTP', tiles: [{ config: promql }] }
    const { status, json } = await call(emulator, 'POST', '/_emulator/store/dashboards', { body })
    expect([status, json]).toEqual([200, checkoutOf(emulator).dashboards.at(-1)])
    expect((await call(emulator, 'POST', '/_emulator/store/dashboards', { body: { tiles: [] } })).status).toBe(400)
    const other = emulator.saveInWebApp({ name: 'Elsewhere', tiles: [] }, demo.services.search)
    expect(emulator.store.organizations[0]?.services.find(({ name }) => name === 'search')?.dashboards).toContain(other)
  })
})
