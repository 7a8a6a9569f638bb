import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import {
  admin,
  alertBody,
  alertFacts,
  basic,
  call,
  callRaw,
  checkoutOf,
  clickstack,
  dashboardBody,
  type Json,
  type Key,
  organization,
  servicePath,
  start,
  startCloud,
} from './support.ts'

const alerts = `${clickstack}/alerts`
const usage = `${organization}/usageCost?from_date=2026-03-01&to_date=2026-03-02`
const backups = `${servicePath('checkout')}/backups`
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('credentials', () => {
  it('credentials are rejected with a JSON 401 unless they are a key that is enabled, with its secret', async () => {
    const emulator = await startCloud()
    const wrong = {
      none: '',
      'another scheme': 'Bearer abc',
      'no pair': `Basic ${Buffer.from('no-colon').toString('base64')}`,
      'a wrong secret': basic({ ...admin, secret: 'wrong' }),
      'an unknown key': basic({ id: 'unknown', secret: demo.apiKeySecret }),
      'a disabled key': basic(demo.keys.disabled),
    }
    for (const [name, authorization] of Object.entries(wrong)) {
      const { status, json } = await call(emulator, 'GET', usage, { headers: { authorization } })
      expect(status, name).toBe(401)
      expect(json).toEqual({ status: 401, error: expect.stringMatching(/^UNAUTHORIZED: /), requestId: expect.stringMatching(uuid) })
    }
  })

  it('credentials are rejected when the key has expired', async () => {
    const emulator = await startCloud()
    const [key] = emulator.store.keys
    if (key) key.expireAt = '2026-03-21T09:29:59Z'
    expect((await call(emulator, 'GET', usage)).status).toBe(401)
  })

  it('credentials allow only what the permissions of the key allow, and a 403 names the missing permission', async () => {
    const { billing, observability: observer } = demo.keys
    const rows: readonly (readonly [key: Key, allowed: string, denied: string, permission: string])[] = [
      [billing, usage, backups, 'control-plane:service:view-backups'],
      [observer, alerts, usage, 'control-plane:organization:view'],
      [billing, usage, `${clickstack}/dashboards`, 'control-plane:service:manage-clickstack-api'],
    ]
    const emulator = await startCloud()
    for (const [key, allowed, denied, permission] of rows) {
      expect((await call(emulator, 'GET', allowed, { key })).status, allowed).toBe(200)
      const { status, json } = await call(emulator, 'GET', denied, { key })
      expect([status, json.error]).toEqual([403, `FORBIDDEN: the API key is missing permission ${permission}`])
    }
  })

  it('credentials are rejected in another organization', async () => {
    const emulator = await startCloud()
    const other = { ...emulator.store.organizations[0], id: 'c0ffee00-0000-4000-8000-000000000002' }
    emulator.store.organizations.push(other as never)
    expect((await call(emulator, 'GET', `/v1/organizations/${other.id}/usageCost`)).status).toBe(403)
  })
})

describe('a path', () => {
  it('a path without a route gets the page of Express, even without a key', async () => {
    const emulator = await startCloud()
    const paths = ['/', '/v1', `${clickstack}/connections`, `${servicePath('checkout')}/observability/alerts`, `${alerts}/x/y`, '/v2/x']
    for (const path of paths) {
      const { status, headers, text } = await call(emulator, 'GET', path, { headers: { authorization: 'none' } })
      expect([status, headers.get('content-type')], path).toEqual([404, 'text/html; charset=utf-8'])
      expect(text).toContain(`<pre>Cannot GET ${path}</pre>`)
    }
    expect((await call(emulator, 'PATCH', `${alerts}?x=1`)).text).toContain(`<pre>Cannot PATCH ${alerts}</pre>`)
    expect((await callRaw(emulator, '/<script>&"')).text).toContain('Cannot GET /&lt;script&gt;&amp;&quot;')
  })

  it('a path with dot segments or a host reaches no handler', async () => {
    const emulator = await startCloud()
    const paths = ['/../usageCost', '/services/%2e%2e/usageCost', '/./usageCost'].map((end) => `${organization}${end}`)
    for (const path of [...paths, 'http://other/v1']) {
      const { text } = await callRaw(emulator, path)
      expect(text, path).toMatch(/^HTTP\/1\.1 404 /)
      expect(text).toContain('Cannot GET')
    }
  })

  it('a path with an unknown id gets a JSON 404', async () => {
    const emulator = await startCloud()
    const unknown = 'c0ffee00-0000-4000-8000-00000000dead'
    const messages = {
      [`/v1/organizations/${unknown}/usageCost`]: `organization ${unknown} does not exist`,
      [`${organization}/services/${unknown}/backups`]: `service ${unknown} does not exist`,
      [`${backups}/${unknown}`]: `backup ${unknown} does not exist`,
      [`${alerts}/ffffffffffffffffffffffff`]: 'Alert not found',
      [`${clickstack}/dashboards/ffffffffffffffffffffffff`]: 'Not Found',
    }
    for (const [path, message] of Object.entries(messages)) {
      const { status, json } = await call(emulator, 'GET', path)
      expect(status, path).toBe(404)
      expect(json).toEqual({ status: 404, error: `NOT_FOUND: ${message}`, requestId: expect.stringMatching(uuid) })
    }
  })
})

describe('a response', () => {
  it('a response has an envelope with a new request id, without a result after a deletion', async () => {
    const emulator = await startCloud()
    const [one, two] = [await call(emulator, 'GET', backups), await call(emulator, 'GET', `${clickstack}/sources`)]
    expect(Object.keys(one.json)).toEqual(['status', 'requestId', 'result'])
    expect(Object.keys(two.json)).toEqual(['status', 'requestId', 'result'])
    expect(one.json.requestId).toMatch(uuid)
    expect(one.json.requestId).not.toBe(two.json.requestId)
    const { json } = await call(emulator, 'DELETE', `${clickstack}/alerts/${checkoutOf(emulator).alerts[0]?.id}`)
    expect(json).toEqual({ status: 200, requestId: expect.stringMatching(uuid) })
  })

  it('a response is gzipped when the client accepts that and the body is longer than 1 KiB', async () => {
    const emulator = await startCloud()
    const zipped = await getBytes(`${emulator.url}${alerts}`, 'br, gzip;q=0.5')
    expect(zipped.encoding).toBe('gzip')
    expect(JSON.parse(gunzipSync(zipped.bytes).toString()).result).toHaveLength(6)
    for (const accept of ['identity', 'gzip;q=0', 'gzippy']) {
      const plain = await getBytes(`${emulator.url}${alerts}`, accept)
      expect(plain.encoding).toBeUndefined()
      expect(JSON.parse(plain.bytes.toString()).result).toHaveLength(6)
    }
    const short = await getBytes(`${emulator.url}${alerts}/${checkoutOf(emulator).alerts[0]?.id}`, 'gzip')
    expect(short.encoding).toBeUndefined()
  })

  it('a response is dated by the server clock', async () => {
    const { headers } = await call(await startCloud(), 'GET', usage)
    expect(headers.get('date')).toBe('Sat, 21 Mar 2026 09:30:00 GMT')
  })
})

describe('a list', () => {
  it('a list is sorted by ids that do not follow the order of creation and are the same after a reset', async () => {
    const emulator = await startCloud()
    const create = async (): Promise<string[]> => {
      const ids: string[] = []
      for (let i = 0; i < 5; i++)
        ids.push((await call(emulator, 'POST', `${clickstack}/alerts`, { body: alertBody(emulator) })).json.result.id)
      return ids
    }
    const created = await create()
    expect(new Set(created).size).toBe(5)
    expect(created.every((id) => /^[0-9a-f]{24}$/.test(id))).toBe(true)
    expect(created.toSorted()).not.toEqual(created)
    expect(created.toSorted()).not.toEqual(created.toReversed())
    const { json } = await call(emulator, 'GET', `${clickstack}/alerts`)
    const listed = json.result.map(({ id }: { id: string }) => id)
    expect(listed).toEqual(listed.toSorted())
    emulator.reset()
    expect(await create()).toEqual(created)
  })
})

describe('a rate limit', () => {
  const limitsOf = (headers: Headers): (string | null)[] =>
    ['limit', 'remaining', 'reset', 'policy'].map((name) => headers.get(`x-ratelimit-${name}`))

  it('a rate limit is 10 requests in 10 seconds', async () => {
    const emulator = await start()
    const { headers } = await call(emulator, 'GET', `${clickstack}/alerts`)
    expect(limitsOf(headers)).toEqual(['10', '9', '10', '10;w=10;comment="fixed window"'])
  })

  it('rejects further requests with a bare body, without handling them', async () => {
    const emulator = await startCloud({ rateLimit: { limit: 2, windowMs: 1500 } })
    const path = `${clickstack}/alerts/${checkoutOf(emulator).alerts[0]?.id}`
    await call(emulator, 'GET', path)
    await call(emulator, 'GET', path)
    const { status, text, headers } = await call(emulator, 'DELETE', path)
    expect([status, text]).toEqual([429, '{"error":"TOO_MANY_REQUESTS"}'])
    expect(limitsOf(headers)).toEqual(['2', '0', '1.5', '2;w=1.5;comment="fixed window"'])
    expect(checkoutOf(emulator).alerts.some(({ id }) => path.endsWith(id))).toBe(true)
    expect(emulator.requests.map((one) => one.status)).toEqual([200, 200, 429])
  })

  it('a rate limit has fixed windows, and says in fractional seconds how long they last', async () => {
    let at = Date.parse('2026-03-21T09:30:00Z')
    const emulator = await startCloud({ rateLimit: { limit: 2, windowMs: 10_000 }, now: () => at })
    const remaining: unknown[] = []
    for (const passedMs of [0, 9_601, 200, 199, 0]) {
      at += passedMs
      const { status, headers } = await call(emulator, 'GET', alerts)
      remaining.push([status, headers.get('x-ratelimit-remaining'), headers.get('x-ratelimit-reset')])
    }
    expect(remaining).toEqual([
      [200, '1', '10'],
      [200, '0', '0.399'],
      [429, '0', '0.199'],
      [200, '1', '10'],
      [200, '0', '10'],
    ])
  })

  it('counts every key separately, errors and paths without a route included', async () => {
    const emulator = await startCloud({ rateLimit: { limit: 2, windowMs: 10_000 } })
    const left = async (path: string, key?: Key): Promise<unknown[]> => {
      const { status, headers } = await call(emulator, 'GET', path, { key })
      return [status, headers.get('x-ratelimit-remaining')]
    }
    expect(await left('/nowhere')).toEqual([404, '1'])
    expect(await left(alerts, demo.keys.billing)).toEqual([403, '1'])
    expect(await left(alerts)).toEqual([200, '0'])
    expect(await left(alerts)).toEqual([429, '0'])
    expect(await left(alerts, demo.keys.billing)).toEqual([403, '0'])
  })
})

describe('a body', () => {
  it('a body gets a 413 above 5 MiB', { tags: 'slow' }, async () => {
    const emulator = await startCloud()
    const limit = 5 * 1024 * 1024
    const body = `{"name":"${'x'.repeat(limit - 11)}"}`
    expect((await call(emulator, 'POST', alerts, { body })).status).toBe(400)
    const { status, json } = await call(emulator, 'POST', alerts, { body: ` ${body}` })
    expect([status, json.status]).toEqual([413, 413])
  })
})

describe('a body with undocumented fields', () => {
  const undocumented = (path: string): string => `400 BAD_REQUEST: request body property can't be validated: ${path}`

  it('accepts only documented fields of an alert', async () => {
    const emulator = await startCloud()
    for (const name of ['id', 'state', '__proto__', 'teamId']) {
      const body = `${JSON.stringify(alertBody(emulator)).slice(0, -1)},"${name}":null}`
      const { status, json } = await call(emulator, 'POST', alerts, { body })
      expect(`${status} ${json.error}`).toBe(undocumented(name))
    }
  })

  it('accepts only the documented fields of a dashboard, and changes nothing when it rejects an update', async () => {
    const emulator = await startCloud()
    const create = (more: Json) => call(emulator, 'POST', `${clickstack}/dashboards`, { body: dashboardBody(emulator, more) })
    expect((await create({ tags: ['a'], savedQuery: 'a:b' })).json.result).toMatchObject({ tags: ['a'], savedQueryLanguage: 'lucene' })
    const { status, json } = await create({ owner: 'me' })
    expect(`${status} ${json.error}`).toBe(undocumented('owner'))
    const before = structuredClone(emulator.store)
    const path = `${clickstack}/dashboards/${alertFacts(emulator).dashboardId}`
    expect((await call(emulator, 'PUT', path, { body: { name: 'New', tiles: [], tags: 'x' } })).status).toBe(400)
    expect(emulator.store).toEqual(before)
  })
})

function getBytes(url: string, accept: string): Promise<{ bytes: Buffer; encoding: string | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { authorization: basic(admin), 'accept-encoding': accept } }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      resolve({ bytes: Buffer.concat(chunks), encoding: response.headers['content-encoding'] })
    })
    sent.on('error', reject)
    sent.end()
  })
}
