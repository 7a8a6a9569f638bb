import { get } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Effect, Emulator, Fault } from '../../../src/emulator/index.ts'
import { admin, alertBody, basic, call, callRaw, checkoutOf, clickstack, organization, startCloud } from './support.ts'

const alerts = `${clickstack}/alerts`

const unavailable: Effect = { kind: 'status', status: 503 }

const statuses = async (emulator: Emulator, count: number, path = alerts) => {
  const seen: number[] = []
  for (let i = 0; i < count; i++) seen.push((await call(emulator, 'GET', path)).status)
  return seen
}

const post = (emulator: Emulator) => call(emulator, 'POST', alerts, { body: alertBody(emulator) })

const countAlerts = (emulator: Emulator) => checkoutOf(emulator).alerts.length

describe('a fault', () => {
  it('a fault applies to the first request, once, by default', async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: unavailable })
    expect(await statuses(emulator, 3)).toEqual([503, 200, 200])
  })

  it('a fault applies from the nth matching request since it was added, as many times as given', async () => {
    const emulator = await startCloud()
    await statuses(emulator, 2)
    emulator.addFault({ nth: 2, times: 2, effect: unavailable })
    expect(await statuses(emulator, 5)).toEqual([200, 503, 503, 200, 200])
    emulator.clearFaults()
    emulator.addFault({ nth: 2, times: Number.POSITIVE_INFINITY, effect: unavailable })
    expect(await statuses(emulator, 4)).toEqual([200, 503, 503, 503])
  })

  it('a fault applies only to its method and path', async () => {
    const emulator = await startCloud()
    emulator.addFault({ match: { method: 'post', path: '/alerts' }, effect: unavailable })
    expect(await statuses(emulator, 1)).toEqual([200])
    expect((await call(emulator, 'POST', `${clickstack}/dashboards`, { body: {} })).status).toBe(400)
    expect((await post(emulator)).status).toBe(503)
    emulator.addFault({ match: { path: 'to_date=2026-03-02' }, effect: unavailable })
    expect(await statuses(emulator, 1, `${organization}/usageCost?from_date=2026-03-01&to_date=2026-03-01`)).toEqual([200])
    expect(await statuses(emulator, 1, `${organization}/usageCost?from_date=2026-03-01&to_date=2026-03-02`)).toEqual([503])
  })

  it('yields to an older one, and still counts that request', async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: unavailable })
    emulator.addFault({ times: 2, effect: { kind: 'status', status: 500 } })
    expect(await statuses(emulator, 3)).toEqual([503, 500, 200])
  })

  it('a fault is rejected when it is invalid', async () => {
    const emulator = await startCloud()
    const invalid = [
      { effect: { kind: 'explode' } },
      { effect: { kind: 'delay' } },
      { effect: { kind: 'reset', bytes: 1 } },
      { effect: { kind: 'reset' }, often: 3 },
      { effect: { kind: 'status', status: 99 } },
      { effect: { kind: 'rate-limited', headers: { 'bad name': 'x' } } },
      { effect: { kind: 'body', bytes: 'no base64!' } },
      { effect: unavailable, nth: 0 },
      { effect: unavailable, acts: 'after' },
    ]
    for (const fault of invalid) expect(() => emulator.addFault(fault as unknown as Fault), JSON.stringify(fault)).toThrow()
  })
})

describe('the server under a fault', () => {
  it('the server under a fault does nothing with `before`, and handles the request with `after`', async () => {
    const effects: readonly Effect[] = [
      unavailable,
      { kind: 'reset' },
      { kind: 'reset-in-headers' },
      { kind: 'reset-in-body' },
      { kind: 'truncate' },
      { kind: 'short-length' },
      { kind: 'html' },
      { kind: 'body', text: '' },
      { kind: 'rate-limited' },
    ]
    const emulator = await startCloud()
    const body = JSON.stringify(alertBody(emulator))
    for (const effect of effects) {
      const before = countAlerts(emulator)
      emulator.addFault({ effect })
      await callRaw(emulator, alerts, 'POST', body)
      expect(countAlerts(emulator), effect.kind).toBe(before)
      emulator.addFault({ act: 'after', effect })
      await callRaw(emulator, alerts, 'POST', body)
      expect(countAlerts(emulator), effect.kind).toBe(before + 1)
    }
  })

  it('handles a delayed request after the delay', async () => {
    const emulator = await startCloud()
    const before = countAlerts(emulator)
    emulator.addFault({ effect: { kind: 'delay', ms: 80 } })
    const startedAt = performance.now()
    const response = post(emulator)
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(countAlerts(emulator)).toBe(before)
    expect((await response).json.result).toMatchObject({ name: 'Errors' })
    expect(performance.now() - startedAt).toBeGreaterThan(75)
    expect(countAlerts(emulator)).toBe(before + 1)
  })

  it('delays requests independently of each other', { tags: 'slow' }, async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: { kind: 'delay', ms: 500 } })
    const ended: string[] = []
    const delayed = call(emulator, 'GET', alerts).then(() => ended.push('delayed'))
    while (emulator.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await call(emulator, 'GET', alerts).then(() => ended.push('later'))
    await delayed
    expect(ended).toEqual(['later', 'delayed'])
  })

  it('handles a late commit after its 504', { tags: 'slow' }, async () => {
    const emulator = await startCloud()
    const before = countAlerts(emulator)
    emulator.addFault({ effect: { kind: 'late-commit', ms: 500 } })
    expect((await post(emulator)).status).toBe(504)
    expect(countAlerts(emulator)).toBe(before)
    await expect.poll(() => countAlerts(emulator)).toBe(before + 1)
    emulator.addFault({ effect: { kind: 'late-commit', ms: 1, status: 502 } })
    expect((await post(emulator)).status).toBe(502)
  })
})

describe('a replaced response', () => {
  it('a replaced response has any error status, with a JSON error', async () => {
    const emulator = await startCloud()
    for (const status of [500, 502, 503, 504, 400, 401, 403, 404, 409, 422, 424]) {
      emulator.addFault({ effect: { kind: 'status', status } })
      const { json, headers, ...reply } = await call(emulator, 'GET', alerts)
      expect([reply.status, headers.get('content-type')]).toEqual([status, 'application/json; charset=utf-8'])
      expect(json).toEqual({ status, error: expect.stringMatching(/^INJECTED_FAULT: /), requestId: expect.any(String) })
      expect(emulator.requests.at(-1)?.status).toBe(status)
    }
  })

  it('a replaced response has the given body, type and headers', async () => {
    const emulator = await startCloud()
    const headers = { 'Retry-After': '7', 'X-Twice': ['a', 'b'] }
    emulator.addFault({ effect: { kind: 'status', status: 503, body: '<h1>Down</h1>', contentType: 'text/html', headers } })
    const reply = await call(emulator, 'GET', alerts)
    expect([reply.text, reply.headers.get('content-type'), reply.headers.get('retry-after')]).toEqual(['<h1>Down</h1>', 'text/html', '7'])
    expect(reply.headers.get('x-twice')).toBe('a, b')
  })

  it('a replaced response may be empty, and without a type', async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: { kind: 'status', status: 502, body: '' } })
    emulator.addFault({ nth: 2, effect: { kind: 'status', status: 204 } })
    for (const status of [502, 204]) {
      const reply = await call(emulator, 'GET', alerts)
      expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([status, '', null])
    }
  })

  it('a replaced response may be a redirect', async () => {
    const emulator = await startCloud()
    for (const status of [301, 302, 303, 307, 308]) {
      emulator.addFault({ effect: { kind: 'status', status, headers: { location: 'https://elsewhere.example/' } } })
      const reply = await call(emulator, 'GET', alerts)
      expect([reply.status, reply.headers.get('location'), reply.text]).toEqual([status, 'https://elsewhere.example/', ''])
    }
  })

  it('a replaced response has the headers of the rate limit only when the server itself sends it', async () => {
    const emulator = await startCloud({ rateLimit: { limit: 5, windowMs: 10_000 } })
    emulator.addFault({ effect: unavailable })
    emulator.addFault({ nth: 2, effect: { kind: 'html' } })
    expect((await call(emulator, 'GET', alerts)).headers.get('x-ratelimit-remaining')).toBe('4')
    expect((await call(emulator, 'GET', alerts)).headers.get('x-ratelimit-remaining')).toBeNull()
    expect((await call(emulator, 'GET', alerts)).headers.get('x-ratelimit-remaining')).toBe('2')
  })

  it('a replaced response may be the page of a captive portal', async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: { kind: 'html' } })
    emulator.addFault({ nth: 2, effect: { kind: 'html', status: 511 } })
    const [one, two] = [await call(emulator, 'GET', alerts), await call(emulator, 'GET', alerts)]
    expect([one.status, two.status]).toEqual([200, 511])
    expect([one.headers.get('content-type'), one.text.slice(0, 15)]).toEqual(['text/html; charset=utf-8', '<!DOCTYPE html>'])
  })

  it('a replaced response may be any text or bytes', async () => {
    const emulator = await startCloud()
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

  it('a replaced response may be a 429 with the given headers, or with the usual four', async () => {
    const emulator = await startCloud()
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

async function callUnder(effect: Effect) {
  const emulator = await startCloud()
  const { text: whole } = await call(emulator, 'GET', alerts)
  // The ids of requests begin again.
  emulator.reset()
  emulator.addFault({ effect })
  const { text, end } = await callRaw(emulator, alerts)
  const [head = '', ...rest] = text.split('\r\n\r\n')
  return { whole, text, head: head.toLowerCase(), body: rest.join('\r\n\r\n'), end, status: emulator.requests.at(-1)?.status }
}

describe('an incomplete response', () => {
  it('an incomplete response is reset before any byte', async () => {
    expect(await callUnder({ kind: 'reset' })).toMatchObject({ text: '', end: 'reset', status: undefined })
  })

  it('an incomplete response is reset in its headers', async () => {
    const { text, end, status } = await callUnder({ kind: 'reset-in-headers' })
    expect([text, end, status]).toEqual(['HTTP/1.1 200 OK\r\nContent-Type: applicat', 'reset', undefined])
  })

  it('an incomplete response is reset in its body', async () => {
    const { head, body, whole, end, status } = await callUnder({ kind: 'reset-in-body' })
    expect(head).toContain(`content-length: ${whole.length}`)
    expect([body, end, status]).toEqual([whole.slice(0, Math.floor(whole.length / 2)), 'reset', 200])
    expect((await callUnder({ kind: 'reset-in-body', bytes: 3 })).body).toBe(whole.slice(0, 3))
  })

  it('an incomplete response ends cleanly after half of its body, without a length', async () => {
    const { head, body, whole, end } = await callUnder({ kind: 'truncate' })
    expect(head).toContain('connection: close')
    expect(head).not.toMatch(/content-length|transfer-encoding/)
    expect([body, end]).toEqual([whole.slice(0, Math.floor(whole.length / 2)), 'end'])
    expect((await callUnder({ kind: 'truncate', bytes: 0 })).body).toBe('')
  })

  it('looks complete to a client that trusts the end of the connection', async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: { kind: 'truncate', bytes: 10 } })
    expect(await call(emulator, 'GET', alerts)).toMatchObject({ status: 200, text: '{"status":', json: undefined })
  })

  it('an incomplete response ends before its content-length', async () => {
    const { head, body, whole, end } = await callUnder({ kind: 'short-length' })
    expect(head).toContain(`content-length: ${whole.length + 64}`)
    expect([body, end]).toEqual([whole, 'end'])
  })

  it('an incomplete response does not affect the next request', async () => {
    const emulator = await startCloud()
    const effects: Effect[] = [{ kind: 'reset' }, { kind: 'reset-in-headers' }, { kind: 'reset-in-body' }, { kind: 'short-length' }]
    for (const [index, effect] of effects.entries()) emulator.addFault({ nth: index + 1, effect })
    for (const _ of effects) await expect(call(emulator, 'GET', alerts)).rejects.toThrow()
    expect((await call(emulator, 'GET', alerts)).status).toBe(200)
  })
})

describe('a slow or large response', () => {
  const fetchAlerts = (emulator: Emulator, init: RequestInit = {}) =>
    fetch(`${emulator.url}${alerts}`, { ...init, headers: { authorization: basic(admin), ...init.headers } })

  it('a response can be made to never begin', async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: { kind: 'hang' } })
    await expect(fetchAlerts(emulator, { signal: AbortSignal.timeout(150) })).rejects.toThrow('timeout')
    expect(emulator.requests[0]?.status).toBeUndefined()
  })

  it('a slow or large response drips a few bytes at a time, and is complete', async () => {
    const emulator = await startCloud()
    const whole = (await call(emulator, 'GET', alerts)).json.result
    emulator.addFault({ effect: { kind: 'drip', bytesPerTick: 200, everyMs: 10 } })
    const startedAt = performance.now()
    const { json } = await call(emulator, 'GET', alerts)
    expect(json.result).toEqual(whole)
    expect(performance.now() - startedAt).toBeGreaterThan((JSON.stringify(whole).length / 200 - 1) * 10)
  })

  it('a slow or large response drips one byte at a time by default', async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: { kind: 'drip', everyMs: 20 } })
    const reader = (await fetchAlerts(emulator)).body?.getReader()
    const first = await reader?.read()
    expect(Buffer.from(first?.value ?? []).toString()).toBe('{')
    await reader?.cancel()
  })

  it('never ends, and does not keep the emulator open', { tags: 'slow' }, async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: { kind: 'endless' } })
    const response = await fetchAlerts(emulator)
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > 4 * 1024 * 1024) break
    }
    expect(bytes).toBeGreaterThan(4 * 1024 * 1024)
    await emulator.close()
  })

  it('a slow or large response is a gzip bomb, also for a client that does not accept gzip', async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: { kind: 'gzip-bomb', mebibytes: 8 } })
    const response = await fetchAlerts(emulator, { headers: { 'accept-encoding': 'identity' } })
    expect(response.headers.get('content-encoding')).toBe('gzip')
    const text = await response.text()
    expect(text.length).toBeGreaterThan(8 * 1024 * 1024)
    expect(JSON.parse(text)).toMatchObject({ status: 200 })
  })

  it('a slow or large response is small on the wire as a gzip bomb', async () => {
    const emulator = await startCloud()
    emulator.addFault({ effect: { kind: 'gzip-bomb', mebibytes: 16 } })
    const gzipped = await new Promise<Buffer>((resolve, reject) => {
      get(`${emulator.url}${alerts}`, async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk as Buffer)
        resolve(Buffer.concat(chunks))
      }).on('error', reject)
    })
    expect(gzipped.length).toBeLessThan(64 * 1024)
    expect(gunzipSync(gzipped).length).toBeGreaterThan(16 * 1024 * 1024)
  })
})
