// W4: what only looks sends no request that writes, whatever the service answers.
import { describe, expect, it } from 'vitest'
import type { Fault } from '../../src/emulator/index.ts'
import { forEachEntry } from '../support/corpus.ts'
import { useEmulator } from '../support/emulator.ts'
import { errors, shop, tile } from '../support/shop-declaration.ts'
import { rememberState, type Site, type SiteFiles, stateOf, withSite } from '../support/site.ts'

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
