import { describe, expect, it } from 'vitest'
import type { Effect, Emulator, Fault } from '../../../src/emulator/index.ts'
import { alertBody, call, callRaw, checkoutOf, observability, organization, start } from './support.ts'

const alerts = `${observability}/alerts`

const broken: Effect = { kind: 'status', status: 503 }

const statuses = async (emulator: Emulator, count: number, path = alerts) => {
  const seen: number[] = []
  for (let i = 0; i < count; i++) seen.push((await call(emulator, 'GET', path)).status)
  return seen
}

const post = (emulator: Emulator) => call(emulator, 'POST', alerts, { body: alertBody(emulator) })

const countAlerts = (emulator: Emulator) => checkoutOf(emulator).alerts.length

describe('a fault', () => {
  it('meets the first request, once, unless told otherwise', async () => {
    const emulator = await start()
    emulator.addFault({ effect: broken })
    expect(await statuses(emulator, 3)).toEqual([503, 200, 200])
  })

  it('meets the nth matching request since it was added, and as many as told', async () => {
    const emulator = await start()
    await statuses(emulator, 2)
    emulator.addFault({ nth: 2, times: 2, effect: broken })
    expect(await statuses(emulator, 5)).toEqual([200, 503, 503, 200, 200])
  })

  it('may go on for ever', async () => {
    const emulator = await start()
    emulator.addFault({ nth: 2, times: Number.POSITIVE_INFINITY, effect: broken })
    expect(await statuses(emulator, 4)).toEqual([200, 503, 503, 503])
  })

  it('meets only the method and the path that it names', async () => {
    const emulator = await start()
    emulator.addFault({ match: { method: 'post', path: '/alerts' }, effect: broken })
    expect(await statuses(emulator, 1)).toEqual([200])
    expect((await call(emulator, 'POST', `${observability}/dashboards`, { body: {} })).status).toBe(400)
    expect((await post(emulator)).status).toBe(503)
    emulator.addFault({ match: { path: 'to_date=2026-03-02' }, effect: broken })
    expect(await statuses(emulator, 1, `${organization}/usageCost?from_date=2026-03-01&to_date=2026-03-01`)).toEqual([200])
    expect(await statuses(emulator, 1, `${organization}/usageCost?from_date=2026-03-01&to_date=2026-03-02`)).toEqual([503])
  })

  it('stands back for an older one, and counts that request all the same', async () => {
    const emulator = await start()
    emulator.addFault({ effect: broken })
    emulator.addFault({ times: 2, effect: { kind: 'status', status: 500 } })
    expect(await statuses(emulator, 3)).toEqual([503, 500, 200])
  })

  it('can be cleared', async () => {
    const emulator = await start()
    emulator.addFault({ times: 9, effect: broken })
    emulator.clearFaults()
    expect(await statuses(emulator, 1)).toEqual([200])
  })

  it.each([
    { effect: { kind: 'explode' } },
    { effect: { kind: 'delay' } },
    { effect: { kind: 'reset', bytes: 1 } },
    { effect: { kind: 'status', status: 99 } },
    { effect: { kind: 'rate-limited', headers: { 'bad name': 'x' } } },
    { effect: { kind: 'body', bytes: 'no base64!' } },
    { effect: broken, nth: 0 },
    { effect: broken, acts: 'after' },
  ])('is refused when it is none: %j', async (fault) => {
    const emulator = await start()
    expect(() => emulator.addFault(fault as unknown as Fault)).toThrow()
  })
})

describe('what the server does under a fault', () => {
  it.each<Effect>([
    broken,
    { kind: 'reset' },
    { kind: 'reset-in-headers' },
    { kind: 'reset-in-body' },
    { kind: 'truncate' },
    { kind: 'short-length' },
    { kind: 'html' },
    { kind: 'body', text: '' },
    { kind: 'rate-limited' },
  ])('is nothing before, and everything after: $kind', async (effect) => {
    const emulator = await start()
    const before = countAlerts(emulator)
    const body = JSON.stringify(alertBody(emulator))
    emulator.addFault({ effect })
    await callRaw(emulator, alerts, 'POST', body)
    expect(countAlerts(emulator)).toBe(before)
    emulator.addFault({ act: 'after', effect })
    await callRaw(emulator, alerts, 'POST', body)
    expect(countAlerts(emulator)).toBe(before + 1)
  })

  it('is what was asked, in its time, when the answer is only slow', async () => {
    const emulator = await start()
    const before = countAlerts(emulator)
    emulator.addFault({ effect: { kind: 'delay', ms: 80 } })
    const startedAt = performance.now()
    const answering = post(emulator)
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(countAlerts(emulator)).toBe(before)
    expect((await answering).json).toMatchObject({ name: 'Errors' })
    expect(performance.now() - startedAt).toBeGreaterThan(75)
    expect(countAlerts(emulator)).toBe(before + 1)
  })

  it('comes late after an early 504', async () => {
    const emulator = await start()
    const before = countAlerts(emulator)
    emulator.addFault({ effect: { kind: 'late-commit', ms: 80 } })
    expect((await post(emulator)).status).toBe(504)
    expect(countAlerts(emulator)).toBe(before)
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(countAlerts(emulator)).toBe(before + 1)
    emulator.addFault({ effect: { kind: 'late-commit', ms: 1, status: 502 } })
    expect((await post(emulator)).status).toBe(502)
  })

  it('is not waited for by twenty others', async () => {
    const emulator = await start()
    emulator.addFault({ times: 20, effect: { kind: 'delay', ms: 100 } })
    const startedAt = performance.now()
    await Promise.all(Array.from({ length: 20 }, () => call(emulator, 'GET', alerts)))
    expect(performance.now() - startedAt).toBeLessThan(1000)
  })
})

describe('an answer that is another one', () => {
  it.each([500, 502, 503, 504, 400, 401, 403, 404, 409, 422, 424])('has status %i and a JSON error', async (status) => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'status', status } })
    const { json, headers, ...reply } = await call(emulator, 'GET', alerts)
    expect([reply.status, headers.get('content-type')]).toEqual([status, 'application/json; charset=utf-8'])
    expect(json).toEqual({ status, error: expect.stringMatching(/^INJECTED_FAULT: /), requestId: expect.any(String) })
    expect(emulator.requests[0]?.status).toBe(status)
  })

  it('has the body, type and headers that it is given', async () => {
    const emulator = await start()
    const headers = { 'Retry-After': '7', 'X-Twice': ['a', 'b'] }
    emulator.addFault({ effect: { kind: 'status', status: 503, body: '<h1>Down</h1>', contentType: 'text/html', headers } })
    const reply = await call(emulator, 'GET', alerts)
    expect([reply.text, reply.headers.get('content-type'), reply.headers.get('retry-after')]).toEqual(['<h1>Down</h1>', 'text/html', '7'])
    expect(reply.headers.get('x-twice')).toBe('a, b')
  })

  it('may be empty, and without a type', async () => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'status', status: 502, body: '' } })
    emulator.addFault({ nth: 2, effect: { kind: 'status', status: 204 } })
    for (const status of [502, 204]) {
      const reply = await call(emulator, 'GET', alerts)
      expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([status, '', null])
    }
  })

  it.each([301, 302, 303, 307, 308])('redirects with %i', async (status) => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'status', status, headers: { location: 'https://elsewhere.example/' } } })
    const reply = await call(emulator, 'GET', alerts)
    expect([reply.status, reply.headers.get('location'), reply.text]).toEqual([status, 'https://elsewhere.example/', ''])
  })

  it('keeps the headers of the rate limit where the server itself answers', async () => {
    const emulator = await start({ rateLimit: { limit: 5, windowMs: 10_000 } })
    emulator.addFault({ effect: broken })
    emulator.addFault({ nth: 2, effect: { kind: 'html' } })
    expect((await call(emulator, 'GET', alerts)).headers.get('x-ratelimit-remaining')).toBe('4')
    expect((await call(emulator, 'GET', alerts)).headers.get('x-ratelimit-remaining')).toBeNull()
    expect((await call(emulator, 'GET', alerts)).headers.get('x-ratelimit-remaining')).toBe('2')
  })

  it('is the page of a captive portal', async () => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'html' } })
    emulator.addFault({ nth: 2, effect: { kind: 'html', status: 511 } })
    const [one, two] = [await call(emulator, 'GET', alerts), await call(emulator, 'GET', alerts)]
    expect([one.status, two.status]).toEqual([200, 511])
    expect([one.headers.get('content-type'), one.text.slice(0, 15)]).toEqual(['text/html; charset=utf-8', '<!DOCTYPE html>'])
  })

  it('is any text or bytes', async () => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'body', text: 'null' } })
    emulator.addFault({
      nth: 2,
      effect: { kind: 'body', bytes: new Uint8Array([0xff, 0xfe, 0x00]), headers: { 'Content-Type': 'text/plain' } },
    })
    emulator.addFault({ nth: 3, effect: { kind: 'body', bytes: Buffer.from('€').toString('base64') } })
    const text = await call(emulator, 'GET', alerts)
    expect([text.status, text.text, text.headers.get('content-type')]).toEqual([200, 'null', 'application/json; charset=utf-8'])
    const response = await fetch(`${emulator.url}${alerts}`)
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0xff, 0xfe, 0x00])
    expect(response.headers.get('content-type')).toBe('text/plain')
    expect((await call(emulator, 'GET', alerts)).text).toBe('€')
  })

  it('is a 429 with the headers that it is given, or the usual four', async () => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'rate-limited' } })
    emulator.addFault({ nth: 2, effect: { kind: 'rate-limited', headers: {}, body: '<html>' } })
    emulator.addFault({ nth: 3, effect: { kind: 'rate-limited', headers: { 'Retry-After': ['1', '2'] } } })
    const usual = await call(emulator, 'GET', alerts)
    expect([usual.status, usual.json, usual.headers.get('x-ratelimit-reset')]).toEqual([429, { error: 'TOO_MANY_REQUESTS' }, '1'])
    const bare = await call(emulator, 'GET', alerts)
    expect([bare.status, bare.text, bare.headers.get('x-ratelimit-reset')]).toEqual([429, '<html>', null])
    expect((await call(emulator, 'GET', alerts)).headers.get('retry-after')).toBe('1, 2')
  })
})
