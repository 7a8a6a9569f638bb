import { describe, expect, it } from 'vitest'
import { alertBody, alertFacts, call, checkoutOf, dashboardBody, type Json, observability, start } from './support.ts'

const undocumented = (path: string): string => `400 BAD_REQUEST: request body property can't be validated: ${path}`

describe('an alert in the neutral dialect', () => {
  it('accepts only the nine documented fields', async () => {
    const emulator = await start()
    for (const name of ['id', 'state', 'thresholdMax', 'note', 'channels', 'savedSearchId', 'scheduleStartAt', '__proto__', 'teamId']) {
      const body = `${JSON.stringify(alertBody(emulator)).slice(0, -1)},"${name}":null}`
      const { status, json } = await call(emulator, 'POST', `${observability}/alerts`, { body })
      expect(`${status} ${json.error}`).toBe(undocumented(name))
    }
    const channel = { type: 'webhook', webhookId: alertFacts(emulator).webhookId, webhookService: 'slack' }
    const { status, json } = await call(emulator, 'POST', `${observability}/alerts`, { body: { ...alertBody(emulator), channel } })
    expect(`${status} ${json.error}`).toBe(undocumented('channel.webhookService'))
  })

  it('is answered with the documented fields, id, team and state', async () => {
    const emulator = await start()
    const { status, json } = await call(emulator, 'POST', `${observability}/alerts`, { body: alertBody(emulator) })
    const { id } = json
    expect([status, json]).toEqual([200, { ...alertBody(emulator), id, teamId: checkoutOf(emulator).teamId, state: 'OK' }])
    expect((await call(emulator, 'GET', `${observability}/alerts/${id}`)).json).toEqual(json)
    expect((await call(emulator, 'GET', `${observability}/alerts`)).json).toContainEqual(json)
    expect((await call(emulator, 'DELETE', `${observability}/alerts/${id}`)).json).toEqual({})
    expect((await call(emulator, 'GET', `${observability}/alerts/${id}`)).status).toBe(404)
  })

  it('obeys the rules of the product', async () => {
    const emulator = await start()
    const refusal = async (change: Json): Promise<string> => {
      const { json } = await call(emulator, 'POST', `${observability}/alerts`, { body: { ...alertBody(emulator), ...change } })
      return json.error
    }
    expect(await refusal({ threshold: '5' })).toBe('BAD_REQUEST: Body validation failed: threshold: Expected number, received string')
    expect(await refusal({ tileId: 'ffffffffffffffffffffffff' })).toBe('BAD_REQUEST: Tile not found')
    expect(await refusal({ source: undefined })).toBe('BAD_REQUEST: Body validation failed: Invalid input')
  })
})

describe('a dashboard in the neutral dialect', () => {
  it('has every documented field, and no other', async () => {
    const emulator = await start()
    const create = (more: Json) => call(emulator, 'POST', `${observability}/dashboards`, { body: dashboardBody(emulator, more) })
    expect((await create({ tags: ['a'], savedQuery: 'a:b' })).json).toMatchObject({ tags: ['a'], savedQueryLanguage: 'lucene' })
    const { status, json } = await create({ owner: 'me' })
    expect(`${status} ${json.error}`).toBe(undocumented('owner'))
  })

  it('changes nothing when an update is refused', async () => {
    const emulator = await start()
    const before = structuredClone(emulator.store)
    const path = `${observability}/dashboards/${alertFacts(emulator).dashboardId}`
    expect((await call(emulator, 'PUT', path, { body: { name: 'New', tiles: [], tags: 'x' } })).status).toBe(400)
    expect(emulator.store).toEqual(before)
  })

  it('cannot be validated without storing it', async () => {
    const emulator = await start()
    const { text } = await call(emulator, 'POST', `${observability}/dashboards/validate`, { body: dashboardBody(emulator) })
    expect(text).toContain('Cannot POST')
  })
})
