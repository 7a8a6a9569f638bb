import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { admin, alertBody, basic, call, callRaw, now, observability, organization, start } from './support.ts'

describe('the log of requests', () => {
  it('holds method, raw path, headers, body, status and time, in order', async () => {
    const emulator = await start()
    await call(emulator, 'GET', `${organization}/usageCost?from_date=2026-03-01&to_date=2026-03-01&filter=tag%3Ashop`)
    await call(emulator, 'POST', `${observability}/alerts`, { body: alertBody(emulator), headers: { 'X-Custom': 'Yes' } })
    expect(emulator.requests).toMatchObject([
      { method: 'GET', path: `${organization}/usageCost?from_date=2026-03-01&to_date=2026-03-01&filter=tag%3Ashop`, text: '', status: 200 },
      { method: 'POST', path: `${observability}/alerts`, headers: { 'x-custom': 'Yes', 'content-type': 'application/json' }, status: 200 },
    ])
    const [read, write] = emulator.requests
    expect([read?.body, read?.arrivedAtMs]).toEqual([undefined, now])
    expect([write?.body, write?.text]).toEqual([alertBody(emulator), JSON.stringify(alertBody(emulator))])
  })

  it('says of the credentials only what they were worth', async () => {
    const emulator = await start()
    await call(emulator, 'GET', organization)
    await call(emulator, 'GET', organization, { key: demo.keys.disabled })
    await fetch(`${emulator.url}${organization}`)
    expect(emulator.requests.map(({ headers }) => headers.authorization)).toEqual(['valid', 'wrong', 'absent'])
    const text = JSON.stringify(emulator.requests)
    expect(text).not.toContain(basic(admin).slice(6))
    expect(text).not.toContain(demo.apiKeySecret)
  })

  it('keeps the path as it came, and a body that is no JSON as text', async () => {
    const emulator = await start()
    await callRaw(emulator, '/v1/../%2E%2e//x?a=b#', 'POST', 'not json')
    expect(emulator.requests).toMatchObject([{ path: '/v1/../%2E%2e//x?a=b#', text: 'not json', body: undefined, status: 404 }])
  })

  it('holds no status for what was never answered', async () => {
    const emulator = await start()
    emulator.addFault({ effect: { kind: 'reset' } })
    await callRaw(emulator, organization)
    expect(emulator.requests.map(({ status }) => status)).toEqual([undefined])
  })
})
