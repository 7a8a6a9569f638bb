import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { alertBody, callHyperdx, startHyperdx } from './support.ts'

describe('the dialect of self-hosted HyperDX', () => {
  it('accepts the secret of every enabled key, and does not log it', async () => {
    const emulator = await startHyperdx()
    const statusOf = async (secret: string) => (await callHyperdx(emulator, 'GET', 'alerts', { key: { id: '', secret } })).status
    expect(await statusOf(demo.keys.billing.secret)).toBe(200)
    expect(await statusOf(demo.keys.disabled.secret)).toBe(401)
    expect(await statusOf('nothing')).toBe(401)
    expect(emulator.requests.map(({ headers }) => headers.authorization)).toEqual(['valid', 'wrong', 'wrong'])
    expect(JSON.stringify(emulator.requests)).not.toContain(demo.keys.billing.secret)
  })

  it('shows at its root an access key that is not valid', async () => {
    const emulator = await startHyperdx()
    const { json } = await callHyperdx(emulator, 'GET', '')
    expect(json.version).toBe('v2')
    expect((await callHyperdx(emulator, 'GET', 'alerts', { key: { id: '', secret: json.user.accessKey } })).status).toBe(401)
  })

  it('the dialect of self-hosted HyperDX has rate limit windows that end for all keys at the same time', async () => {
    let at = Date.parse('2026-03-21T09:30:00Z')
    const emulator = await startHyperdx({ now: () => at })
    const resetOf = async () => (await callHyperdx(emulator, 'GET', 'alerts')).headers.get('ratelimit-reset')
    at += 45_500
    expect(await resetOf()).toBe('15')
    at += 14_500
    expect(await resetOf()).toBe('60')
  })

  it('the dialect of self-hosted HyperDX has its own form of errors in faults', async () => {
    const emulator = await startHyperdx()
    emulator.addFault({ effect: { kind: 'status', status: 503 } })
    expect((await callHyperdx(emulator, 'GET', 'alerts')).json).toEqual({ message: 'status 503 on request' })
    emulator.addFault({ effect: { kind: 'rate-limited', headers: {} } })
    expect((await callHyperdx(emulator, 'GET', 'alerts')).text).toBe('Too many requests, please try again later.')
    emulator.addFault({ effect: { kind: 'truncate', bytes: 1000 } })
    expect((await callHyperdx(emulator, 'POST', 'alerts', { body: alertBody(emulator) })).json).toMatchObject({
      data: { name: 'never stored' },
    })
  })

  it('keeps the password of a connection that an update leaves out, and shows none', async () => {
    const emulator = await startHyperdx()
    const connection = { name: 'Main', host: 'https://db.example', username: 'otel' }
    const created = await callHyperdx(emulator, 'POST', 'connections', { body: { ...connection, password: 'one' } })
    const stored = () => {
      const services = emulator.store.organizations.flatMap((organization) => organization.services)
      return services.flatMap(({ connections }) => connections).find(({ id }) => id === created.json.data.id)
    }
    expect([created.json.data.password, stored()?.password]).toEqual([undefined, 'one'])
    await callHyperdx(emulator, 'PUT', `connections/${created.json.data.id}`, { body: connection })
    expect(stored()?.password).toBe('one')
    await callHyperdx(emulator, 'PUT', `connections/${created.json.data.id}`, { body: { ...connection, password: 'two' } })
    expect(stored()).toMatchObject({ ...connection, password: 'two' })
    expect(Object.keys(stored() ?? {}).toSorted()).toEqual(['createdAt', 'host', 'id', 'name', 'password', 'updatedAt', 'username'])
  })

  it('has spans of 50 to 200 ms, whose durations are nanoseconds that a chart can divide', async () => {
    const endTime = Date.parse('2026-03-21T09:30:00Z')
    const emulator = await startHyperdx({ now: () => endTime })
    const sources = emulator.store.organizations.flatMap(({ services }) => services.flatMap((service) => service.sources))
    const sourceId = sources.find(({ name }) => name === 'Traces')?.id
    const fields = { min: 'Duration', max: 'Duration / 1e6' }
    const series = Object.entries(fields).map(([aggFn, field]) => ({ sourceId, aggFn, field, where: 'ServiceName:cart', groupBy: [] }))
    const body = { series, startTime: endTime - 60_000, endTime: endTime - 1, granularity: '1m' }
    const { json } = await callHyperdx(emulator, 'POST', 'charts/series', { body })
    expect(json.data).toMatchObject([{ 'series_0.data': 50_000_000, 'series_1.data': 200 }])
  })
})
