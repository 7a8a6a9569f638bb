import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { demo, startEmulator } from '../../../src/emulator/index.ts'
import { alertBody, call, checkoutOf, observability, organization, start, startCloud } from './support.ts'

describe('an emulator', () => {
  it('says where it listens, without a slash at the end', async () => {
    const emulator = await start()
    expect(emulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await call(emulator, 'GET', `${observability}/alerts`)).status).toBe(200)
  })

  it('is independent of others in the same process', async () => {
    const [one, other] = [await start(), await start()]
    checkoutOf(one).alerts = []
    expect((await call(one, 'GET', `${observability}/alerts`)).json).toEqual([])
    expect((await call(other, 'GET', `${observability}/alerts`)).json).not.toEqual([])
  })

  it('rejects when its port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const address = taken.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await expect(startEmulator({ port: port ?? 0 })).rejects.toThrow('EADDRINUSE')
    taken.close()
  })

  it('closes at once while an answer hangs', async () => {
    const emulator = await startEmulator()
    emulator.addFault({ effect: { kind: 'hang' } })
    const hanging = call(emulator, 'GET', organization)
    const failed = expect(hanging).rejects.toThrow('fetch failed')
    while (emulator.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    const before = performance.now()
    await emulator.close()
    expect(performance.now() - before).toBeLessThan(500)
    await failed
  })

  it('may be closed twice', async () => {
    const emulator = await startEmulator()
    await emulator.close()
    await expect(emulator.close()).resolves.toBeUndefined()
  })

  it('answers what a test writes into its store', async () => {
    const emulator = await start()
    const [first] = checkoutOf(emulator).alerts
    if (first) first.name = 'Written by hand'
    expect((await call(emulator, 'GET', `${observability}/alerts/${first?.id}`)).json).toMatchObject({ name: 'Written by hand' })
  })

  it('has the organization, its services and keys, and nothing else when started empty', async () => {
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
  it('gives back the state as at the start, with the same ids for the same requests', async () => {
    const emulator = await start()
    const before = structuredClone(emulator.store)
    const created = await call(emulator, 'POST', `${observability}/alerts`, { body: alertBody(emulator) })
    const store = emulator.store
    expect(store).not.toEqual(before)
    emulator.reset()
    expect(store).toEqual(before)
    expect(emulator.store).toBe(store)
    const again = await call(emulator, 'POST', `${observability}/alerts`, { body: alertBody(emulator) })
    expect(again.json).toEqual(created.json)
  })

  it('empties the log, the faults and the windows of the rate limit', async () => {
    const emulator = await start({ rateLimit: { limit: 1, windowMs: 60_000 } })
    emulator.addFault({ nth: 2, effect: { kind: 'status', status: 503 } })
    await call(emulator, 'GET', `${observability}/alerts`)
    const { requests } = emulator
    emulator.reset()
    expect(requests).toEqual([])
    expect((await call(emulator, 'GET', `${observability}/alerts`)).status).toBe(200)
    expect(emulator.requests).toBe(requests)
    expect(requests).toHaveLength(1)
  })

  it('forgets what was still to be committed', async () => {
    const emulator = await start()
    const count = checkoutOf(emulator).alerts.length
    emulator.addFault({ effect: { kind: 'late-commit', ms: 50 } })
    expect((await call(emulator, 'POST', `${observability}/alerts`, { body: alertBody(emulator) })).status).toBe(504)
    emulator.reset()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(checkoutOf(emulator).alerts).toHaveLength(count)
  })
})
