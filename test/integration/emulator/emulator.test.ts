import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { demo, startEmulator } from '../../../src/emulator/index.ts'
import { admin, alertBody, basic, call, callRaw, checkoutOf, clickstack, now, organization, startCloud } from './support.ts'

const alerts = `${clickstack}/alerts`

describe('startEmulator', () => {
  it('returns a URL without a slash at the end', async () => {
    const emulator = await startCloud()
    expect(emulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await call(emulator, 'GET', alerts)).status).toBe(200)
  })

  it('starts servers that are independent of each other', async () => {
    const [one, other] = [await startCloud(), await startCloud()]
    checkoutOf(one).alerts = []
    expect((await call(one, 'GET', alerts)).json.result).toEqual([])
    expect((await call(other, 'GET', alerts)).json.result).not.toEqual([])
  })

  it('rejects when the port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const address = taken.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await expect(startEmulator({ port: port ?? 0 })).rejects.toThrow('EADDRINUSE')
    taken.close()
  })

  it('closes while a response hangs, and may be closed twice', async () => {
    const emulator = await startEmulator()
    emulator.addFault({ effect: { kind: 'hang' } })
    const hanging = call(emulator, 'GET', organization)
    const failed = expect(hanging).rejects.toThrow('fetch failed')
    while (emulator.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await emulator.close()
    await failed
    await expect(emulator.close()).resolves.toBeUndefined()
  })

  it('shows what a test writes into the store', async () => {
    const emulator = await startCloud()
    const [first] = checkoutOf(emulator).alerts
    if (first) first.name = 'Written by hand'
    expect((await call(emulator, 'GET', `${alerts}/${first?.id}`)).json.result).toMatchObject({ name: 'Written by hand' })
  })

  it('startEmulator has only the organization, its services and keys when started without data', async () => {
    const emulator = await startCloud({ data: 'empty' })
    expect((await call(emulator, 'GET', `${organization}/services`)).json.result).toHaveLength(3)
    const service = `${organization}/services/${demo.services.search}`
    for (const list of ['backups', 'clickstack/alerts', 'clickstack/dashboards', 'clickstack/sources', 'clickstack/webhooks']) {
      expect((await call(emulator, 'GET', `${service}/${list}`)).json.result).toEqual([])
    }
    const cost = await call(emulator, 'GET', `${organization}/usageCost?from_date=2026-03-01&to_date=2026-03-21`)
    expect(cost.json.result).toEqual({ grandTotalCHC: 0, costs: [] })
  })
})

describe('a reset', () => {
  it('restores what a test changed inside of a stored object', async () => {
    const emulator = await startCloud()
    const { dashboards } = checkoutOf(emulator)
    const before = structuredClone(dashboards)
    const wreck = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const [name, item] of Object.entries(value)) typeof item === 'object' ? wreck(item) : Object.assign(value, { [name]: null })
    }
    wreck(dashboards)
    emulator.reset()
    expect(checkoutOf(emulator).dashboards).toEqual(before)
  })

  it('a reset restores the state of the start, and gives the same requests the same ids', async () => {
    const emulator = await startCloud()
    const before = structuredClone(emulator.store)
    const created = await call(emulator, 'POST', alerts, { body: alertBody(emulator) })
    const store = emulator.store
    expect(store).not.toEqual(before)
    emulator.reset()
    expect(store).toEqual(before)
    expect(emulator.store).toBe(store)
    const again = await call(emulator, 'POST', alerts, { body: alertBody(emulator) })
    expect(again.json).toEqual(created.json)
  })

  it('empties the log, the faults and the windows of the rate limit', async () => {
    const emulator = await startCloud({ rateLimit: { limit: 1, windowMs: 60_000 } })
    emulator.addFault({ nth: 2, effect: { kind: 'status', status: 503 } })
    await call(emulator, 'GET', alerts)
    const { requests } = emulator
    emulator.reset()
    expect(requests).toEqual([])
    expect((await call(emulator, 'GET', alerts)).status).toBe(200)
    expect(emulator.requests).toBe(requests)
    expect(requests).toHaveLength(1)
  })

  it('drops late commits', async () => {
    const emulator = await startCloud()
    const count = checkoutOf(emulator).alerts.length
    emulator.addFault({ effect: { kind: 'late-commit', ms: 50 } })
    expect((await call(emulator, 'POST', alerts, { body: alertBody(emulator) })).status).toBe(504)
    emulator.reset()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(checkoutOf(emulator).alerts).toHaveLength(count)
  })
})

describe('the request log', () => {
  it('holds method, raw path, headers, body, status and time, in order', async () => {
    const emulator = await startCloud()
    const usage = `${organization}/usageCost?from_date=2026-03-01&to_date=2026-03-01&filter=tag%3Ashop`
    await call(emulator, 'GET', usage)
    await call(emulator, 'POST', alerts, { body: alertBody(emulator), headers: { 'X-Custom': 'Yes' } })
    expect(emulator.requests).toMatchObject([
      { method: 'GET', path: usage, text: '', status: 200 },
      { method: 'POST', path: alerts, headers: { 'x-custom': 'Yes', 'content-type': 'application/json' }, status: 200 },
    ])
    const [read, write] = emulator.requests
    expect([read?.body, read?.arrivedAtMs]).toEqual([undefined, now])
    expect([write?.body, write?.text]).toEqual([alertBody(emulator), JSON.stringify(alertBody(emulator))])
  })

  it('says only whether credentials were valid', async () => {
    const emulator = await startCloud()
    await call(emulator, 'GET', organization)
    await call(emulator, 'GET', organization, { key: demo.keys.disabled })
    await fetch(`${emulator.url}${organization}`)
    expect(emulator.requests.map(({ headers }) => headers.authorization)).toEqual(['valid', 'wrong', 'absent'])
    const text = JSON.stringify(emulator.requests)
    expect(text).not.toContain(basic(admin).slice(6))
    expect(text).not.toContain(demo.apiKeySecret)
  })

  it('keeps the path as sent, and a body that is not JSON as text', async () => {
    const emulator = await startCloud()
    await callRaw(emulator, '/v1/../%2E%2e//x?a=b#', 'POST', 'not json')
    expect(emulator.requests).toMatchObject([{ path: '/v1/../%2E%2e//x?a=b#', text: 'not json', body: undefined, status: 404 }])
  })
})

describe('the control of the emulator', () => {
  it('the control of the emulator is not logged, not limited, and has no faults', async () => {
    const emulator = await startCloud({ rateLimit: { limit: 1, windowMs: 60_000 } })
    emulator.addFault({ effect: { kind: 'status', status: 503 } })
    for (const path of ['/_emulator', '/_emulator/', '/_emulator/requests']) {
      const { status, headers } = await call(emulator, 'GET', path)
      expect([status, headers.get('x-ratelimit-limit')]).toEqual([200, null])
    }
    expect(emulator.requests).toEqual([])
  })

  it('shows the requests and the store, without a key', async () => {
    const emulator = await startCloud()
    await call(emulator, 'GET', alerts)
    expect((await call(emulator, 'GET', '/_emulator/requests')).json).toEqual([
      expect.objectContaining({ method: 'GET', path: alerts, status: 200 }),
    ])
    expect((await call(emulator, 'GET', '/_emulator')).json).toEqual(emulator.store)
  })

  it('adds and clears faults', async () => {
    const emulator = await startCloud()
    const fault = { match: { path: '/alerts' }, times: 5, effect: { kind: 'status', status: 500 } }
    expect((await call(emulator, 'POST', '/_emulator/faults', { body: fault })).json).toEqual({ faults: 1 })
    expect((await call(emulator, 'GET', alerts)).status).toBe(500)
    expect((await call(emulator, 'DELETE', '/_emulator/faults')).json).toEqual({ faults: 0 })
    expect((await call(emulator, 'GET', alerts)).status).toBe(200)
    for (const invalid of [{ effect: { kind: 'explode' } }, {}, []]) {
      const { status, json } = await call(emulator, 'POST', '/_emulator/faults', { body: invalid })
      expect([status, json.error], JSON.stringify(invalid)).toEqual([400, expect.stringMatching(/^BAD_REQUEST: /)])
    }
    expect((await call(emulator, 'GET', alerts)).status).toBe(200)
  })

  it('reads bytes of a fault as base64', async () => {
    const emulator = await startCloud()
    await call(emulator, 'POST', '/_emulator/faults', { body: { effect: { kind: 'body', bytes: 'AAEC' } } })
    const response = await fetch(`${emulator.url}${alerts}`)
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 1, 2])
  })

  it('the control of the emulator resets its store and its requests', async () => {
    const emulator = await startCloud()
    const before = structuredClone(emulator.store)
    await call(emulator, 'POST', alerts, { body: alertBody(emulator) })
    expect((await call(emulator, 'POST', '/_emulator/reset')).json).toEqual({ reset: true })
    expect(emulator.store).toEqual(before)
    expect(emulator.requests).toEqual([])
  })

  it('rejects unknown requests', async () => {
    const emulator = await startCloud()
    const { status, json } = await call(emulator, 'POST', '/_emulator/store', { body: {} })
    expect([status, json.error]).toEqual([404, 'NOT_FOUND: unknown control request POST /_emulator/store'])
    expect((await call(emulator, 'GET', '/_emulators')).text).toContain('Cannot GET /_emulators')
  })
})
