import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import {
  admin,
  alertBody,
  basic,
  call,
  callRaw,
  checkoutOf,
  clickstack,
  observability,
  organization,
  servicePath,
  start,
  startCloud,
} from './support.ts'

const usage = `${organization}/usageCost?from_date=2026-03-01&to_date=2026-03-02`
const backups = `${servicePath('checkout')}/backups`
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('credentials', () => {
  it.each([
    ['none', ''],
    ['another scheme', 'Bearer abc'],
    ['no pair', `Basic ${Buffer.from('no-colon').toString('base64')}`],
    ['a wrong secret', basic({ ...admin, secret: 'wrong' })],
    ['an unknown key', basic({ id: 'nobody', secret: demo.apiKeySecret })],
    ['a disabled key', basic(demo.keys.disabled)],
  ])('are refused with a JSON 401: %s', async (_, authorization) => {
    const emulator = await start()
    const { status, json } = await call(emulator, 'GET', usage, { headers: { authorization } })
    expect(status).toBe(401)
    expect(json).toEqual({ status: 401, error: expect.stringMatching(/^UNAUTHORIZED: /), requestId: expect.stringMatching(uuid) })
  })

  it('are refused when the key has expired', async () => {
    const emulator = await start()
    const [key] = emulator.store.keys
    if (key) key.expireAt = '2026-03-21T09:29:59Z'
    expect((await call(emulator, 'GET', usage)).status).toBe(401)
  })

  it.each([
    ['billing', demo.keys.billing, usage, backups, 'control-plane:service:view-backups'],
    ['observability', demo.keys.observability, `${observability}/alerts`, usage, 'control-plane:organization:view'],
    ['billing', demo.keys.billing, usage, `${observability}/dashboards`, 'control-plane:service:manage-clickstack-api'],
  ])('of the %s key open its own resources, and name the missing permission elsewhere', async (...row) => {
    const [, key, open, shut, permission] = row
    const emulator = await start()
    expect((await call(emulator, 'GET', open, { key })).status).toBe(200)
    const { status, json } = await call(emulator, 'GET', shut, { key })
    expect(status).toBe(403)
    expect(json.error).toBe(`FORBIDDEN: the API key is missing permission ${permission}`)
  })

  it('open nothing in another organization', async () => {
    const emulator = await start()
    const other = { ...emulator.store.organizations[0], id: 'c0ffee00-0000-4000-8000-000000000002' }
    emulator.store.organizations.push(other as never)
    expect((await call(emulator, 'GET', `/v1/organizations/${other.id}/usageCost`)).status).toBe(403)
  })
})

describe('a path', () => {
  it.each([
    '/',
    '/v1',
    `${observability}/webhooks`,
    `${servicePath('checkout')}/clickstack/alerts`,
    `${observability}/alerts/x/y`,
    '/v2/x',
  ])('that is not served gets the page of the gateway, whoever asks: %s', async (path) => {
    const emulator = await start()
    const { status, headers, text } = await call(emulator, 'GET', path, { headers: { authorization: 'none' } })
    expect(status).toBe(404)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(text).toContain(`<pre>Cannot GET ${path}</pre>`)
  })

  it('that is served for another method only gets that page too', async () => {
    const { text } = await call(await start(), 'PATCH', `${observability}/alerts?x=1`)
    expect(text).toContain(`<pre>Cannot PATCH ${observability}/alerts</pre>`)
  })

  it('is escaped in that page', async () => {
    const { text } = await callRaw(await start(), '/<script>&"')
    expect(text).toContain('Cannot GET /&lt;script&gt;&amp;&quot;')
  })

  it.each([`${organization}/../usageCost`, `${organization}/services/%2e%2e/usageCost`, `${organization}/./usageCost`, 'http://other/v1'])(
    'with dot segments or a host reaches no handler: %s',
    async (path) => {
      const { text } = await callRaw(await start(), path)
      expect(text).toMatch(/^HTTP\/1\.1 404 /)
      expect(text).toContain('Cannot GET')
    },
  )

  it.each([
    [`/v1/organizations/c0ffee00-0000-4000-8000-00000000dead/usageCost`, 'organization c0ffee00-0000-4000-8000-00000000dead'],
    [`${organization}/services/c0ffee00-0000-4000-8000-00000000dead/backups`, 'service c0ffee00-0000-4000-8000-00000000dead'],
    [`${backups}/c0ffee00-0000-4000-8000-00000000dead`, 'backup c0ffee00-0000-4000-8000-00000000dead'],
  ])('with an unknown id gets a JSON 404: %s', async (path, what) => {
    const { status, json } = await call(await start(), 'GET', path)
    expect(status).toBe(404)
    expect(json).toEqual({ status: 404, error: `NOT_FOUND: ${what} does not exist`, requestId: expect.stringMatching(uuid) })
  })

  it('with the id of an observability resource that does not exist gets the words of the product in the envelope', async () => {
    const emulator = await start()
    for (const [noun, message] of [
      ['alerts', 'Alert not found'],
      ['dashboards', 'Not Found'],
    ]) {
      const { status, json } = await call(emulator, 'GET', `${observability}/${noun}/ffffffffffffffffffffffff`)
      expect(status).toBe(404)
      expect(json).toEqual({ status: 404, error: `NOT_FOUND: ${message}`, requestId: expect.stringMatching(uuid) })
    }
  })

  it('serves the further endpoints in the cloud dialect only', async () => {
    const [neutral, cloud] = [await start(), await startCloud()]
    const tails = ['/webhooks', '/saved-searches', `/sources/${checkoutOf(cloud).sources[0]?.id}`]
    for (const tail of tails) {
      expect((await call(neutral, 'GET', `${observability}${tail}`)).text).toContain('Cannot GET')
      expect((await call(cloud, 'GET', `${clickstack}${tail}`)).status).toBe(200)
    }
    for (const path of [organization, `${organization}/services`, `${servicePath('checkout')}/backupConfiguration`]) {
      expect((await call(neutral, 'GET', path)).text).toContain('Cannot GET')
      expect((await call(cloud, 'GET', path)).json.status).toBe(200)
    }
  })
})

describe('an answer', () => {
  it('comes in an envelope with a fresh request id', async () => {
    const emulator = await startCloud()
    const [one, two] = [await call(emulator, 'GET', backups), await call(emulator, 'GET', `${clickstack}/sources`)]
    expect(Object.keys(one.json)).toEqual(['status', 'requestId', 'result'])
    expect(Object.keys(two.json)).toEqual(['status', 'requestId', 'result'])
    expect(one.json.requestId).toMatch(uuid)
    expect(one.json.requestId).not.toBe(two.json.requestId)
  })

  it('to a deletion has no result', async () => {
    const emulator = await startCloud()
    const { json } = await call(emulator, 'DELETE', `${clickstack}/alerts/${checkoutOf(emulator).alerts[0]?.id}`)
    expect(json).toEqual({ status: 200, requestId: expect.stringMatching(uuid) })
  })

  it.each([
    ['plain', (json: unknown) => json, {}],
    ['data', (json: { data: unknown }) => json.data, {}],
    ['envelope', (json: { result: unknown }) => json.result, { status: 200, requestId: expect.any(String) }],
  ] as const)('of neutral observability resources is wrapped as chosen: %s', async (lists, unwrap, deleted) => {
    const emulator = await start({ lists })
    const { json: list } = await call(emulator, 'GET', `${observability}/alerts`)
    const { json: one } = await call(emulator, 'POST', `${observability}/alerts`, { body: alertBody(emulator) })
    expect(unwrap(list as never)).toHaveLength(5)
    expect(unwrap(one as never)).toMatchObject({ name: 'Errors' })
    const { id } = unwrap(one as never) as { id: string }
    expect((await call(emulator, 'DELETE', `${observability}/alerts/${id}`)).json).toEqual(deleted)
    expect((await call(emulator, 'GET', backups)).json).toHaveProperty('result')
  })

  it('that is a list is cut at the page limit without a word', async () => {
    const emulator = await start({ pageLimit: 2 })
    expect((await call(emulator, 'GET', `${observability}/alerts`)).json).toHaveLength(2)
    expect((await call(emulator, 'GET', backups)).json.result).toHaveLength(2)
  })

  it('is zipped when that is accepted and the body is longer than 1 KiB', async () => {
    const emulator = await start()
    const zipped = await getBytes(`${emulator.url}${observability}/alerts`, 'br, gzip;q=0.5')
    expect(zipped.encoding).toBe('gzip')
    expect(JSON.parse(gunzipSync(zipped.bytes).toString())).toHaveLength(5)
    for (const accept of ['identity', 'gzip;q=0', 'gzippy']) {
      const plain = await getBytes(`${emulator.url}${observability}/alerts`, accept)
      expect(plain.encoding).toBeUndefined()
      expect(JSON.parse(plain.bytes.toString())).toHaveLength(5)
    }
    const short = await getBytes(`${emulator.url}${observability}/alerts/${checkoutOf(emulator).alerts[0]?.id}`, 'gzip')
    expect(short.encoding).toBeUndefined()
  })

  it('is dated by the server clock', async () => {
    const { headers } = await call(await start(), 'GET', usage)
    expect(headers.get('date')).toBe('Sat, 21 Mar 2026 09:30:00 GMT')
  })
})

describe('a body', () => {
  it.each([
    ['is no JSON', '{"name":', 'request body is not valid JSON'],
    ['is empty', '', 'request body is not valid JSON'],
    ['is a list', '[]', 'request body must be an object'],
    ['is null', 'null', 'request body must be an object'],
  ])('is refused when it %s', async (_, body, text) => {
    const emulator = await start()
    const { status, json } = await call(emulator, 'POST', `${observability}/alerts`, { body })
    expect([status, json.error]).toEqual([400, `BAD_REQUEST: ${text}`])
  })

  it('is refused under another type than JSON', async () => {
    const emulator = await start()
    const sent = { body: alertBody(emulator), headers: { 'content-type': 'text/plain' } }
    expect((await call(emulator, 'POST', `${observability}/alerts`, sent)).status).toBe(400)
  })

  it('is refused with a 413 above 5 MiB, and accepted by size at 5 MiB', async () => {
    const emulator = await start()
    const limit = 5 * 1024 * 1024
    const body = `{"name":"${'x'.repeat(limit - 11)}"}`
    expect((await call(emulator, 'POST', `${observability}/alerts`, { body })).status).toBe(400)
    const { status, json } = await call(emulator, 'POST', `${observability}/alerts`, { body: ` ${body}` })
    expect([status, json.status]).toEqual([413, 413])
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
