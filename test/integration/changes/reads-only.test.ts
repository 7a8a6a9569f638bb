import { expect, it } from 'vitest'
import { serviceOf, storesNothing, useEmulator } from '../../support/emulator.ts'
import { errors, shop, tile } from '../../support/shop-declaration.ts'
import { type Site, type SiteFiles, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

const files: SiteFiles = { 'a.json': { dashboards: { shop }, alerts: { errors } } }

it('W4: plan and drift send no request that writes, with something to create, update and delete', () =>
  site(async (one) => {
    await one.apply(files)
    const before = [stateOf(emulator()), emulator().requests.length] as const
    const changed = { 'a.json': { dashboards: { shop: { ...shop, tiles: [tile('A'), tile('C', 4)] }, fresh: { ...shop, name: 'Fresh' } } } }
    for (const look of [one.plan, one.drift])
      expect(await look(changed, { prune: true })).toMatchObject({ toCreate: 1, toUpdate: 1, toDelete: 1 })
    expect(
      emulator()
        .requests.slice(before[1])
        .filter((request) => request.method !== 'GET' && !storesNothing(request)),
    ).toEqual([])
    expect(stateOf(emulator())).toEqual(before[0])
  }))

it('the server is asked what it thinks of a dashboard, and of twenty at most', () =>
  site(async ({ plan }) => {
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`d${i}`, { ...shop, name: `D${i}` }]))
    const planned = await plan({ 'a.json': { dashboards: many } })
    expect([planned.toCreate, planned.uncheckedCount]).toEqual([25, 5])
    expect(emulator().requests.filter(({ method }) => method === 'POST')).toHaveLength(20)
    expect(serviceOf(emulator()).dashboards.some(({ name }) => name === 'D1')).toBe(false)
  }))

it('reports a dashboard that the server rejects with its location, and writes nothing', () =>
  site(async ({ apply }) => {
    const config = { displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count' }] }
    const tiles = [tile('A', 0, { ...config, sourceId: 'gone' }), tile('B', 4, { ...config, formulas: [{ expression: 'A / B' }] })]
    const content = { dashboards: { shop: { ...shop, tiles } } }
    const applied = await apply({ 'a.json': JSON.stringify(content, null, 1) })
    const refusals = applied.diagnostics.filter(({ rule }) => rule === 'server-refuses')
    expect(refusals.map(({ message }) => message)).toEqual([
      'dashboards.shop.tiles["A"].config.sourceId: Invalid ObjectId',
      'dashboards.shop.tiles["B"].config.formulas[0].expression: Unknown series "B" — this chart only has series A through A',
    ])
    expect(refusals[0]?.location.line).toBeGreaterThan(10)
    expect(applied).toMatchObject({ isPlanWrong: true, changed: false })
  }))

it('a field that the gateway does not take is such a refusal, and names the dashboard', () =>
  site(async ({ plan }) => {
    const { diagnostics } = await plan({ 'a.json': { dashboards: { shop: { ...shop, raw: { future: 1 } } } } })
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
      { rule: 'server-refuses', message: expect.stringMatching(/^dashboards\.shop: .*can't be validated: future/) },
    ])
  }))

it('does not repeat the check for a service without it, and makes the plan', () =>
  site(async ({ plan }) => {
    emulator().addFault({ match: { method: 'POST' }, times: Number.POSITIVE_INFINITY, effect: { kind: 'html', status: 404 } })
    const planned = await plan({ 'a.json': { dashboards: { shop, other: { ...shop, name: 'Other' } } } })
    expect(planned).toMatchObject({ toCreate: 2, uncheckedCount: 2 })
    expect(emulator().requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  }))
