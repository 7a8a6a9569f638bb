import { describe, expect, it } from 'vitest'
import type { Emulator } from '../../src/emulator/index.ts'
import {
  alertFacts,
  call,
  checkoutOf,
  clickstack,
  dashboardBody,
  type Json,
  lineConfig,
  logsId,
  observability,
  start,
  startCloud,
  tile,
} from './support.ts'

const missing = 'ffffffffffffffffffffffff'

const filter = (emulator: Emulator, more: Json = {}): Json => ({
  type: 'QUERY_EXPRESSION',
  name: 'Environment',
  expression: 'env',
  sourceId: logsId(emulator),
  ...more,
})

async function create(emulator: Emulator, more: Json = {}) {
  const { json } = await call(emulator, 'POST', `${observability}/dashboards`, { body: dashboardBody(emulator, more) })
  const put = (body: Json) =>
    call(emulator, 'PUT', `${observability}/dashboards/${json.id}`, { body: { name: json.name, tiles: json.tiles, ...body } })
  return { dashboard: json, put }
}

describe('a dashboard', () => {
  it('is created, read and deleted, with status 200 each time', async () => {
    const emulator = await start()
    const created = await call(emulator, 'POST', `${observability}/dashboards`, { body: dashboardBody(emulator) })
    const { id } = created.json
    expect([created.status, created.json]).toEqual([
      200,
      {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        name: 'A dashboard',
        tiles: [{ ...tile(lineConfig(emulator)), id: expect.stringMatching(/^[0-9a-f]{24}$/) }],
        tags: [],
        filters: [],
        savedQuery: null,
        savedQueryLanguage: null,
        savedFilterValues: [],
        containers: [],
      },
    ])
    expect((await call(emulator, 'GET', `${observability}/dashboards/${id}`)).json).toEqual(created.json)
    expect((await call(emulator, 'DELETE', `${observability}/dashboards/${id}`)).status).toBe(200)
    expect((await call(emulator, 'GET', `${observability}/dashboards/${id}`)).status).toBe(404)
  })

  it('is listed with its tiles, by name, descending', async () => {
    const emulator = await start()
    await create(emulator, { name: 'Zebra' })
    await create(emulator, { name: 'Aardvark' })
    const { json } = await call(emulator, 'GET', `${observability}/dashboards`)
    expect(json.map(({ name }: Json) => name)).toEqual(['Zebra', 'Payments', 'Checkout overview', 'Checkout logs', 'Aardvark'])
    expect(json[0].tiles).toHaveLength(1)
  })

  it('gets tags without repetition, and defaults in filters and containers', async () => {
    const emulator = await start()
    const containers = [{ id: 'c', title: 'C', collapsed: false }]
    const { dashboard } = await create(emulator, { tags: ['b', 'a', 'b'], filters: [filter(emulator)], containers })
    expect(dashboard.tags).toEqual(['b', 'a'])
    expect(dashboard.filters).toEqual([
      { ...filter(emulator), id: expect.stringMatching(/^[0-9a-f]{24}$/), isBroadcastEnabled: true, isVariableEnabled: false },
    ])
    expect(dashboard.containers).toEqual([{ id: 'c', title: 'C', collapsed: false, collapsible: true, bordered: true }])
  })

  it('that never was is deleted with a 404 in the neutral dialect, and with a 200 in the cloud', async () => {
    const [neutral, cloud] = [await start(), await startCloud()]
    expect((await call(neutral, 'DELETE', `${observability}/dashboards/${missing}`)).status).toBe(404)
    expect((await call(cloud, 'DELETE', `${clickstack}/dashboards/${missing}`)).status).toBe(200)
    expect((await call(cloud, 'GET', `${clickstack}/dashboards/${missing}`)).status).toBe(404)
  })
})

describe('the ids of tiles', () => {
  it('are replaced on creation, whatever was sent', async () => {
    const emulator = await start()
    const { dashboard } = await create(emulator, { tiles: [tile(lineConfig(emulator), { id: 'mine' })] })
    expect(dashboard.tiles[0].id).toMatch(/^[0-9a-f]{24}$/)
  })

  it('are kept by an update where the dashboard has such a tile, and replaced elsewhere', async () => {
    const emulator = await start()
    const { dashboard, put } = await create(emulator)
    const [kept] = dashboard.tiles
    const foreign = alertFacts(emulator).tileId
    const tiles = [tile(lineConfig(emulator), { id: foreign }), { ...kept, name: 'Renamed' }, tile(lineConfig(emulator))]
    const { json } = await put({ tiles })
    expect(json.tiles.map(({ name }: Json) => name)).toEqual(['A tile', 'Renamed', 'A tile'])
    expect(json.tiles[1].id).toBe(kept.id)
    expect(new Set([foreign, ...json.tiles.map(({ id }: Json) => id)]).size).toBe(4)
  })
})

describe('an update of a dashboard', () => {
  it('keeps tags, filters, containers and what was saved when they are left out', async () => {
    const emulator = await start()
    const { dashboard, put } = await create(emulator, {
      tags: ['kept'],
      filters: [filter(emulator)],
      containers: [{ id: 'c', title: 'C', collapsed: true, collapsible: false, bordered: false, tabs: [{ id: 't', title: 'T' }] }],
      savedQuery: 'level:error',
      savedQueryLanguage: 'lucene',
      savedFilterValues: [{ condition: "env = 'prod'" }, { type: 'variable', name: 'env', values: ['prod'] }],
    })
    expect((await put({ name: 'Renamed' })).json).toEqual({ ...dashboard, name: 'Renamed' })
  })

  it('replaces and clears what is sent', async () => {
    const emulator = await start()
    const { put } = await create(emulator, { tags: ['old'], filters: [filter(emulator)], savedQuery: 'x', savedQueryLanguage: 'sql' })
    const cleared = { tags: [], filters: [], savedQuery: null, savedQueryLanguage: null, savedFilterValues: [], containers: [] }
    expect((await put(cleared)).json).toMatchObject(cleared)
  })

  it('keeps the id of a filter that the dashboard has, and replaces any other', async () => {
    const emulator = await start()
    const { dashboard, put } = await create(emulator, { filters: [filter(emulator)] })
    const [{ id }] = dashboard.filters
    const { json } = await put({ filters: [filter(emulator, { id, name: 'Renamed' }), filter(emulator, { id: 'mine' })] })
    expect(json.filters[0]).toMatchObject({ id, name: 'Renamed' })
    expect(json.filters[1].id).toMatch(/^[0-9a-f]{24}$/)
  })

  it('refuses what was answered when it is sent back whole: the id is no property of the body', async () => {
    const emulator = await start()
    const { dashboard, put } = await create(emulator)
    const { status, json } = await put(dashboard)
    expect([status, json.error]).toEqual([400, "BAD_REQUEST: request body property can't be validated: id"])
  })

  it('changes nothing when it is refused', async () => {
    const emulator = await start()
    const { put } = await create(emulator)
    const before = structuredClone(emulator.store)
    expect((await put({ tiles: [], tags: 'x' })).status).toBe(400)
    expect(emulator.store).toEqual(before)
  })
})

describe('the alerts on a dashboard', () => {
  const alertNames = (emulator: Emulator) => checkoutOf(emulator).alerts.map(({ name }) => name)

  async function putOverview(emulator: Emulator, change: (tiles: Json[]) => Json[]) {
    const { dashboardId } = alertFacts(emulator)
    const { name, tiles } = (await call(emulator, 'GET', `${observability}/dashboards/${dashboardId}`)).json
    return call(emulator, 'PUT', `${observability}/dashboards/${dashboardId}`, { body: { name, tiles: change(tiles) } })
  }

  it('survive an update that keeps the ids of their tiles', async () => {
    const emulator = await start()
    const before = alertNames(emulator)
    expect((await putOverview(emulator, (tiles) => tiles)).status).toBe(200)
    expect(alertNames(emulator)).toEqual(before)
  })

  it('vanish with their tile, or with the id of it', async () => {
    const emulator = await start()
    await putOverview(emulator, (tiles) => tiles.filter(({ name }) => name !== 'Latency'))
    expect(alertNames(emulator)).toEqual(['Checkout errors', 'No orders', 'Declined payments', 'Payment queue grows'])
    await putOverview(emulator, (tiles) => tiles.map(({ id: _, ...rest }) => rest))
    expect(alertNames(emulator)).toEqual(['Declined payments', 'Payment queue grows'])
  })

  it('vanish when their tile can carry none any more', async () => {
    const emulator = await start()
    const toNote = (one: Json) => (one.name === 'Latency' ? { ...one, config: { displayType: 'markdown', markdown: 'gone' } } : one)
    await putOverview(emulator, (tiles) => tiles.map(toNote))
    expect(alertNames(emulator)).not.toContain('Checkout is slow')
    expect(alertNames(emulator)).toHaveLength(4)
  })

  it('are deleted with it, and no others', async () => {
    const emulator = await start()
    await call(emulator, 'DELETE', `${observability}/dashboards/${alertFacts(emulator).dashboardId}`)
    expect(alertNames(emulator)).toEqual(['Declined payments', 'Payment queue grows'])
  })
})

describe('the validation of a dashboard', () => {
  const path = `${clickstack}/dashboards/validate`

  it('answers the body with its defaults, and persists nothing', async () => {
    const emulator = await startCloud()
    const before = structuredClone(emulator.store)
    const { json } = await call(emulator, 'POST', path, { body: dashboardBody(emulator, { tags: ['a', 'a'] }) })
    expect(json.result).toEqual({ valid: true, errors: [], normalized: dashboardBody(emulator, { tags: ['a'] }) })
    expect(emulator.store).toEqual(before)
  })

  it('answers what is wrong, and where, with status 200', async () => {
    const emulator = await startCloud()
    const body = { tiles: [tile({ displayType: 'line', sourceId: missing, select: [] })] }
    const { status, json } = await call(emulator, 'POST', path, { body })
    expect(status).toBe(200)
    expect(json.result).toEqual({ valid: false, normalized: null, errors: [{ path: 'name', message: expect.any(String) }] })
    const named = await call(emulator, 'POST', path, { body: { ...body, name: 'N' } })
    expect(named.json.result.errors).toEqual([{ path: 'tiles.0.config.select', message: expect.any(String) }])
  })

  it('is refused by the gateway for an unknown property, as a creation is', async () => {
    const emulator = await startCloud()
    const { status, json } = await call(emulator, 'POST', path, { body: dashboardBody(emulator, { id: missing }) })
    expect([status, json.error]).toEqual([400, "BAD_REQUEST: request body property can't be validated: id"])
  })

  it('is not served in the neutral dialect', async () => {
    const emulator = await start()
    const { text } = await call(emulator, 'POST', `${observability}/dashboards/validate`, { body: dashboardBody(emulator) })
    expect(text).toContain('Cannot POST')
  })
})
