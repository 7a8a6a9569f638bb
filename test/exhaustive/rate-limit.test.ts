import { describe, expect, it } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { createVirtualClock } from '../support/clocks.ts'
import { errors, errorsIn, shop } from '../support/shop-declaration.ts'
import { emptyPlan, markersIn, type Site, withSite } from '../support/site.ts'

describe('the rate limit of 100 requests a minute', () => {
  const clockAndServer = async (
    options: EmulatorOptions,
    use: (server: Emulator, one: Site, clock: ReturnType<typeof createVirtualClock>) => Promise<void>,
  ) => {
    const clock = createVirtualClock()
    const server = await startEmulator({ dialect: 'hyperdx', now: clock.now, ...options })
    try {
      await withSite(server, 'hyperdx', (one) => use(server, one, clock), clock)
    } finally {
      await server.close()
    }
  }

  /** 15 dashboards, and 9 alerts on each. */
  const manyObjects = () => {
    const numbers = Array.from({ length: 15 }, (_, i) => i)
    return {
      dashboards: Object.fromEntries(numbers.map((i) => [`d${i}`, { ...shop, name: `Dashboard ${i}` }])),
      alerts: Object.fromEntries(
        numbers.flatMap((i) =>
          Array.from({ length: 9 }, (_, j) => [`a${i}-${j}`, { ...errors, name: `Alert ${i} ${j}`, dashboard: `d${i}` }]),
        ),
      ),
    }
  }

  const statusesOf = ({ requests }: Emulator) => new Set(requests.map(({ status }) => status))

  it(
    'lets 150 objects be created, changed and deleted without a rejection',
    () =>
      clockAndServer({}, async (server, one, clock) => {
        const first = manyObjects()
        expect(errorsIn(await one.apply({ 'a.json': first }))).toEqual([])
        expect(await one.plan({ 'a.json': first })).toMatchObject(emptyPlan)
        const changed = {
          ...first,
          alerts: Object.fromEntries(Object.entries(first.alerts).map(([key, alert]) => [key, { ...alert, threshold: 9 }])),
        }
        expect(errorsIn(await one.apply({ 'a.json': changed }))).toEqual([])
        expect(errorsIn(await one.apply({ 'a.json': { dashboards: { keep: shop } } }, { prune: true }))).toEqual([])
        expect(markersIn(server)).toHaveLength(1)
        expect(statusesOf(server)).toEqual(new Set([200]))
        expect(clock.elapsedMs()).toBeGreaterThan(5 * 60_000)
      }),
    120_000,
  )

  it(
    'the rate limit of 100 requests a minute is kept without headers that state it',
    () =>
      clockAndServer({ rateLimit: 'off' }, async (server, one) => {
        const few = manyObjects()
        const some = { ...few, alerts: Object.fromEntries(Object.entries(few.alerts).slice(0, 120)) }
        expect(errorsIn(await one.apply({ 'a.json': some }))).toEqual([])
        const at = server.requests.filter(({ path }) => path.startsWith('/api/v2')).map(({ arrivedAtMs }) => arrivedAtMs)
        expect(at.length).toBeGreaterThan(150)
        for (const [i, arrivedAtMs] of at.slice(100).entries()) expect(arrivedAtMs - (at[i] ?? 0)).toBeGreaterThanOrEqual(60_000)
      }),
    120_000,
  )

  it('waits as long as Retry-After says', () =>
    clockAndServer({ rateLimit: 'off' }, async (server, one, clock) => {
      const effect = { kind: 'status', status: 429, body: 'Too many requests, please try again later.', contentType: 'text/html' } as const
      server.addFault({ match: { path: '/alerts' }, effect: { ...effect, headers: { 'Retry-After': '60' } } })
      expect(errorsIn(await one.plan({ 'a.json': { dashboards: { shop }, alerts: { errors } } }))).toEqual([])
      expect(clock.elapsedMs()).toBeGreaterThanOrEqual(60_000)
      expect(clock.elapsedMs()).toBeLessThan(70_000)
    }))

  it('the rate limit of 100 requests a minute is kept when other users of the key take half of it', () =>
    clockAndServer({ rateLimit: { limit: 20, windowMs: 60_000 } }, async (server, one) => {
      const few = {
        dashboards: { shop },
        alerts: Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`a${i}`, { ...errors, name: `A ${i}` }])),
      }
      expect(errorsIn(await one.apply({ 'a.json': few }))).toEqual([])
      expect(statusesOf(server)).toEqual(new Set([200]))
    }))
})
