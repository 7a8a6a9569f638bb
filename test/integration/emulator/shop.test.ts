import { describe, expect, it } from 'vitest'
import { type Alert, demo, type Emulator, type Service } from '../../../src/emulator/index.ts'
import { call, clickstack, type Json, startCloud } from './support.ts'

const services = (emulator: Emulator): Service[] => emulator.store.organizations.flatMap((one) => one.services)

describe('the shop', () => {
  it('the shop has alerts in every state, one silenced and one that cannot be evaluated', async () => {
    const alerts = services(await startCloud()).flatMap((service) => service.alerts)
    const states = new Set(alerts.map(({ state }: Alert) => state))
    expect([...states].sort()).toEqual(['ALERT', 'DISABLED', 'INSUFFICIENT_DATA', 'OK', 'PENDING'])
    expect(alerts.filter(({ silenced }) => silenced != null)).toHaveLength(1)
    expect(alerts.filter(({ executionErrors = [] }) => executionErrors.length > 0)).toHaveLength(1)
  })

  it('the shop gives every object a unique id', async () => {
    const emulator = await startCloud()
    const ids = services(emulator).flatMap(({ alerts, dashboards, sources, webhooks, savedSearches, backups }) =>
      [alerts, dashboards, sources, webhooks, savedSearches, backups, ...dashboards.map(({ tiles }) => tiles)].flat().map(({ id }) => id),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('the shop follows the rules of the API: dashboards, alerts and webhooks can be sent back without the fields that the server owns', async () => {
    const emulator = await startCloud()
    for (const service of services(emulator)) {
      const path = clickstack.replace(demo.services.checkout, service.id)
      for (const { id, ...body } of (await call(emulator, 'GET', `${path}/dashboards`)).json.result)
        expect((await call(emulator, 'PUT', `${path}/dashboards/${id}`, { body })).json.result).toEqual({ id, ...body })
      for (const alert of (await call(emulator, 'GET', `${path}/alerts`)).json.result) {
        const { id, teamId: _t, state: _s, silenced: _q, executionErrors: _e, createdAt: _c, updatedAt: _u, ...body } = alert
        expect((await call(emulator, 'PUT', `${path}/alerts/${id}`, { body })).json.result).toMatchObject(body)
      }
      for (const webhook of (await call(emulator, 'GET', `${path}/webhooks`)).json.result) {
        const { id, createdAt: _c, updatedAt: _u, ...body } = webhook
        expect((await call(emulator, 'PUT', `${path}/webhooks/${id}`, { body })).json.result).toMatchObject(body)
      }
    }
  })

  it('the shop has webhooks with fake secret URLs', async () => {
    const { json } = await call(await startCloud(), 'GET', `${clickstack}/webhooks`)
    expect(json.result.map(({ name, service }: Json) => [name, service])).toEqual([
      ['oncall', 'slack'],
      ['incidents', 'incidentio'],
      ['audit', 'generic'],
    ])
    for (const { url } of json.result) expect(url).toMatch(/^https:\/\/(?:[\w.]+\.example|hooks\.slack\.com)\/\S*opens-nothing/)
  })
})
