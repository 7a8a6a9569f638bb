import { describe, expect, it } from 'vitest'
import { demo } from '../../../src/emulator/index.ts'
import { call, checkoutOf, clickstack, observability, start, startCloud } from './support.ts'

const told = (headers: Headers): (string | null)[] =>
  ['limit', 'remaining', 'reset', 'policy'].map((name) => headers.get(`x-ratelimit-${name}`))

describe('a rate limit', () => {
  it('is off in the neutral dialect, whose contract shows none', async () => {
    const emulator = await start()
    const { headers } = await call(emulator, 'GET', `${observability}/alerts`)
    expect(told(headers)).toEqual([null, null, null, null])
  })

  it('is 10 requests in 10 seconds in the cloud dialect', async () => {
    const emulator = await start({ dialect: 'clickhouse-cloud' })
    const { headers } = await call(emulator, 'GET', `${clickstack}/alerts`)
    expect(told(headers)).toEqual(['10', '9', '10', '10;w=10;comment="fixed window"'])
  })

  it('refuses what is above it, with the bare body, without acting', async () => {
    const emulator = await startCloud({ rateLimit: { limit: 2, windowMs: 1500 } })
    const path = `${clickstack}/alerts/${checkoutOf(emulator).alerts[0]?.id}`
    await call(emulator, 'GET', path)
    await call(emulator, 'GET', path)
    const { status, text, headers } = await call(emulator, 'DELETE', path)
    expect([status, text]).toEqual([429, '{"error":"TOO_MANY_REQUESTS"}'])
    expect(told(headers)).toEqual(['2', '0', '1.5', '2;w=1.5;comment="fixed window"'])
    expect(checkoutOf(emulator).alerts.some(({ id }) => path.endsWith(id))).toBe(true)
    expect(emulator.requests.map((request) => request.status)).toEqual([200, 200, 429])
  })

  it('tells in seconds and their parts what remains of a window that does not slide', async () => {
    let at = Date.parse('2026-03-21T09:30:00Z')
    const emulator = await start({ rateLimit: { limit: 2, windowMs: 10_000 }, now: () => at })
    const remaining: unknown[] = []
    for (const passedMs of [0, 9_601, 200, 199, 0]) {
      at += passedMs
      const { status, headers } = await call(emulator, 'GET', `${observability}/alerts`)
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

  it('is counted for each key by itself, refused answers and unserved paths included', async () => {
    const emulator = await start({ rateLimit: { limit: 2, windowMs: 10_000 } })
    const billing = demo.keys.billing
    const left = async (path: string, key?: typeof billing): Promise<unknown[]> => {
      const { status, headers } = await call(emulator, 'GET', path, { key })
      return [status, headers.get('x-ratelimit-remaining')]
    }
    expect(await left('/nowhere')).toEqual([404, '1'])
    expect(await left(`${observability}/alerts`, billing)).toEqual([403, '1'])
    expect(await left(`${observability}/alerts`)).toEqual([200, '0'])
    expect(await left(`${observability}/alerts`)).toEqual([429, '0'])
    expect(await left(`${observability}/alerts`, billing)).toEqual([403, '0'])
  })
})
