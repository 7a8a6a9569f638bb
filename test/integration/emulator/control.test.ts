import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { alertBody, alertFacts, call, checkoutOf, observability, organization, start } from './support.ts'

const alerts = `${observability}/alerts`

describe('the control of an emulator', () => {
  it('says what a user needs to begin, without credentials', async () => {
    const emulator = await start()
    const response = await fetch(`${emulator.url}/_emulator`)
    const { tileId, dashboardId } = alertFacts(emulator)
    const description = (await response.json()) as { organizations: { services: { name: string; dashboards: unknown[] }[] }[] }
    expect(description).toMatchObject({
      dialect: 'neutral',
      segment: 'observability',
      unit: 'Credits',
      now: '2026-03-21T09:30:00.000Z',
      demo,
    })
    const checkout = description.organizations[0]?.services.find(({ name }) => name === 'checkout')
    expect(checkout).toMatchObject({
      id: demo.services.checkout,
      sources: expect.arrayContaining([{ id: expect.any(String), name: 'Logs' }]),
    })
    expect(checkout?.dashboards).toContainEqual(
      expect.objectContaining({
        id: dashboardId,
        name: 'Checkout overview',
        tiles: expect.arrayContaining([{ id: tileId, name: 'Error rate' }]),
      }),
    )
  })

  it('is not in the log, not limited, and meets no fault', async () => {
    const emulator = await start({ rateLimit: { limit: 1, windowMs: 60_000 } })
    emulator.addFault({ effect: { kind: 'status', status: 503 } })
    for (const path of ['/_emulator', '/_emulator/', '/_emulator/store', '/_emulator/requests']) {
      const { status, headers } = await call(emulator, 'GET', path)
      expect([status, headers.get('x-ratelimit-limit')]).toEqual([200, null])
    }
    expect(emulator.requests).toEqual([])
  })

  it('shows the requests and the store', async () => {
    const emulator = await start()
    await call(emulator, 'GET', alerts)
    expect((await call(emulator, 'GET', '/_emulator/requests')).json).toEqual([
      expect.objectContaining({ method: 'GET', path: alerts, status: 200 }),
    ])
    expect((await call(emulator, 'GET', '/_emulator/store')).json).toEqual(emulator.store)
  })

  it('takes faults and clears them', async () => {
    const emulator = await start()
    const fault = { match: { path: '/alerts' }, times: 5, effect: { kind: 'status', status: 500 } }
    expect((await call(emulator, 'POST', '/_emulator/faults', { body: fault })).json).toEqual({ faults: 1 })
    expect((await call(emulator, 'GET', alerts)).status).toBe(500)
    expect((await call(emulator, 'DELETE', '/_emulator/faults')).json).toEqual({ faults: 0 })
    expect((await call(emulator, 'GET', alerts)).status).toBe(200)
  })

  it('takes bytes of a fault as base64', async () => {
    const emulator = await start()
    await call(emulator, 'POST', '/_emulator/faults', { body: { effect: { kind: 'body', bytes: 'AAEC' } } })
    const response = await fetch(`${emulator.url}${alerts}`)
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 1, 2])
  })

  it.each([{ effect: { kind: 'explode' } }, { effect: { kind: 'reset' }, often: 3 }, {}, []])(
    'refuses a fault that is none: %j',
    async (body) => {
      const emulator = await start()
      const { status, json } = await call(emulator, 'POST', '/_emulator/faults', { body })
      expect([status, json.error]).toEqual([400, expect.stringMatching(/^BAD_REQUEST: /)])
      expect((await call(emulator, 'GET', alerts)).status).toBe(200)
    },
  )

  it('resets', async () => {
    const emulator = await start()
    const before = structuredClone(emulator.store)
    await call(emulator, 'POST', alerts, { body: alertBody(emulator) })
    expect((await call(emulator, 'POST', '/_emulator/reset')).json).toEqual({ reset: true })
    expect(emulator.store).toEqual(before)
    expect(emulator.requests).toEqual([])
  })

  it('moves the clock, which a reset puts right again', async () => {
    const emulator = await start()
    const moved = await call(emulator, 'POST', '/_emulator/clock', { body: { offsetMs: 2 * 86_400_000 } })
    expect(moved.json).toEqual({ now: '2026-03-23T09:30:00.000Z' })
    const cost = await call(emulator, 'GET', `${organization}/usageCost?from_date=2026-03-19&to_date=2026-03-20`)
    expect(cost.json.result.costs.map(({ date, locked }: { date: string; locked: boolean }) => `${date} ${locked}`)).toEqual([
      ...Array.from({ length: 4 }, () => '2026-03-19 true'),
      ...Array.from({ length: 4 }, () => '2026-03-20 false'),
    ])
    await call(emulator, 'POST', '/_emulator/reset')
    expect((await call(emulator, 'GET', '/_emulator')).json.now).toBe('2026-03-21T09:30:00.000Z')
    expect((await call(emulator, 'POST', '/_emulator/clock', { body: { offset: 1 } })).status).toBe(400)
  })

  it('has nothing else', async () => {
    const emulator = await start()
    const { status, json } = await call(emulator, 'POST', '/_emulator/store', { body: {} })
    expect([status, json.error]).toEqual([404, 'NOT_FOUND: unknown control request POST /_emulator/store'])
    expect((await call(emulator, 'GET', '/_emulators')).text).toContain('Cannot GET /_emulators')
    expect(checkoutOf(emulator).alerts).toHaveLength(5)
  })
})
