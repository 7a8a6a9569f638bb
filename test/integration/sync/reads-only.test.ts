// W4: what only looks sends no request that writes, whatever the service answers.
import { describe, expect, it } from 'vitest'
import type { Fault } from '../../../src/emulator/index.ts'
import { forEachEntry } from '../../support/corpus.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { errors, shop, tile } from '../../support/shop-declaration.ts'
import { rememberState, type Site, type SiteFiles, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

const first: SiteFiles = {
  'a.json': { dashboards: { shop, old: { ...shop, name: 'Old' } }, alerts: { errors, old: { ...errors, name: 'Old', dashboard: 'old' } } },
}

/** Something to create, to update, to replace, to adopt and to delete. */
const changed: SiteFiles = {
  'a.json': {
    dashboards: {
      shop: { ...shop, tiles: [tile('B'), tile('C')] },
      fresh: { ...shop, name: 'Fresh' },
      payments: { name: 'Payments', adopt: true, tiles: [] },
    },
    alerts: { errors: { ...errors, tile: 'C' }, more: { ...errors, name: 'More', dashboard: 'fresh' } },
  },
}

const faults: Readonly<Record<string, readonly Omit<Fault, 'nth'>[]>> = {
  'no fault': [],
  'a reset': [{ times: 2, effect: { kind: 'reset' } }],
  'half an answer': [{ times: 2, effect: { kind: 'truncate' } }],
  'server errors': [{ times: 3, effect: { kind: 'status', status: 503 } }],
  'server errors for ever': [{ times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 500 } }],
  'a rate limit': [{ times: 3, effect: { kind: 'rate-limited' } }],
  'a page': [{ effect: { kind: 'html' } }],
  'an answer that does not fit': [{ effect: { kind: 'body', text: '{"result":{}}' } }],
  'a refusal': [{ effect: { kind: 'status', status: 403 } }],
  'a redirect': [{ effect: { kind: 'status', status: 307, headers: { location: '/elsewhere' } } }],
}

const looks = {
  plan: (one: Site) => one.plan(changed, { prune: true, planFile: 'plan.json' }),
  drift: (one: Site) => one.drift(changed, { prune: true }),
} as const

describe.each(Object.entries(looks))('%s', (_name, look) => {
  it('writes nothing, whatever the service answers', async () => {
    await site((one) => one.apply(first))
    await forEachEntry(
      Object.entries(faults),
      (_fault, added) =>
        site(async (one) => {
          const before = [stateOf(emulator()), emulator().requests.length] as const
          for (const fault of added) emulator().addFault(fault)
          const came = await look(one).then(
            ({ toCreate, toUpdate, diagnostics }) => ({ toCreate, toUpdate, diagnostics }),
            (thrown: unknown) => thrown,
          )
          expect(came instanceof Error || 'diagnostics' in (came as object)).toBe(true)
          const sent = emulator().requests.slice(before[1])
          expect(sent.length).toBeGreaterThan(0)
          const writing = sent.filter(
            ({ method, path }) => method !== 'GET' && !(method === 'POST' && path.endsWith('/dashboards/validate')),
          )
          expect(writing).toEqual([])
          expect(stateOf(emulator())).toEqual(before[0])
        }),
      { before: rememberState(emulator()) },
    )
  })
})

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
