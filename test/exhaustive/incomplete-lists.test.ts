// A list that may not be whole: nothing is created from it, and nothing deleted.

import { describe, expect, it, vi } from 'vitest'
import type { Emulator } from '../../src/emulator/index.ts'
import { alertCollection } from '../../src/kinds/alert/alert.ts'
import { savedSearchCollection } from '../../src/kinds/saved-search/saved-search.ts'
import { ids, methodsOf, serviceOf, useEmulator } from '../support/emulator.ts'
import { startVariant } from '../support/server-variants.ts'
import { service } from '../support/session.ts'
import { errors, errorsIn, shop, tile } from '../support/shop-declaration.ts'
import { afterPull, emptyPlan, type Site, type SiteFiles, stateOf, unownedIn, withSite } from '../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const search = { name: 'Search', sourceId: { source: 'Logs' } }

const webhook = { type: 'webhook', webhookId: ids.webhook }

const all = { dashboards: { shop, other: { ...shop, name: 'Other' } }, savedSearches: { search }, alerts: { errors } }

/** In the fields that the neutral contract has. */
const neutral = {
  dashboards: all.dashboards,
  alerts: { errors: { name: 'Errors', dashboard: 'shop', tile: 'A', threshold: 1, interval: '5m', channel: webhook } },
}

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

const file = (content: object): SiteFiles => ({ 'a.json': content })

type Listed = 'dashboards' | 'alerts' | 'savedSearches'

/** Fills a list up to this length, with unmanaged objects. */
function fill(server: Emulator, name: Listed, length = 1000): void {
  const items = serviceOf(server)[name] as unknown as { id: string; name: string; tags?: string[]; note?: string | null }[]
  const [first] = items
  if (first === undefined) throw new Error('nothing to copy')
  for (let i = items.length; i < length; i++)
    items.push({
      ...structuredClone(first),
      id: i.toString(16).padStart(24, '0'),
      name: `Copy ${i}`,
      ...(name === 'alerts' ? { note: null } : { tags: [] }),
    })
}

describe('a list that is read in pages', () => {
  const counting = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
  const silent = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', totalCount: 'hidden' })

  const paged = [
    ['counts', counting],
    ['does not count', silent],
  ] as const

  it.each(paged)('a list that is read in pages is whole, by a server that %s its objects', (_what, server) =>
    withSite(server(), 'clickhouse-cloud', async ({ session: { api }, plan, apply }) => {
      await apply(file(all))
      for (const [name, length, collection] of [
        ['alerts', 2000, alertCollection],
        ['savedSearches', 2345, savedSearchCollection],
      ] as const) {
        fill(server(), name, length)
        const { items, mayBeCut } = await collection.list(api, service)
        expect([new Set(items.map(({ id }) => id)).size, mayBeCut]).toEqual([length, false])
      }
      expect(await plan(file(all), { prune: true })).toMatchObject({ ...emptyPlan, diagnostics: [] })
      expect(await plan(file({ ...all, alerts: {} }), { prune: true })).toMatchObject({ toDelete: 1 })
    }),
  )

  it.each(['alerts', 'saved-searches'])('nothing is planned or written where the server lists fewer %s than it counts', async (path) => {
    const server = await startVariant({ dialect: 'clickhouse-cloud', rateLimit: 'off', paging: 'ignored', pageLimit: 3 })
    try {
      fill(server, path === 'alerts' ? 'alerts' : 'savedSearches', 5)
      const before = stateOf(server)
      await withSite(server, 'clickhouse-cloud', async ({ plan, apply }) => {
        await expect(plan(file(all))).rejects.toThrow(/The API counts \d+ .* and lists 3\. Nothing is changed based on an incomplete list/)
        await expect(apply(file({ dashboards: { shop } }), { prune: true })).rejects.toThrow(
          'Nothing is changed based on an incomplete list',
        )
      })
      expect([stateOf(server), methodsOf(server).filter((method) => method !== 'GET')]).toEqual([before, []])
    } finally {
      await server.close()
    }
  })

  it.each(paged)('a list is read again where objects went while its pages were read, by a server that %s them', (_what, server) =>
    withSite(server(), 'clickhouse-cloud', async ({ session: { api } }) => {
      fill(server(), 'alerts', 1500)
      server().addFault({ match: { method: 'GET', path: '/alerts' }, nth: 2, effect: { kind: 'delay', ms: 100 } })
      const listing = alertCollection.list(api, service)
      const { alerts } = serviceOf(server())
      await vi.waitUntil(() => server().requests.length === 2, { interval: 1 })
      alerts.splice(0, 10)
      const { items } = await listing
      expect(items.map(({ id }) => id)).toEqual(alerts.map(({ id }) => id))
    }),
  )
})

const listsByDialect = [
  ['clickhouse-cloud', ['alerts', 'savedSearches']],
  ['neutral', ['alerts', 'dashboards']],
] as const

describe.each(listsByDialect)(
  'a list as long as a page stops creates and deletes, for a server that answers one page only (%s)',
  (dialect, names) => {
    const server = useEmulator({ dialect, rateLimit: 'off', paging: 'ignored', totalCount: 'hidden', pageLimit: 1000 })
    const content = dialect === 'neutral' ? neutral : all
    const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(server(), dialect, use)

    it.each(names)('an incomplete list of %s stops creates and deletes of that kind', (name) =>
      site(async ({ apply }) => {
        await apply(file(content))
        fill(server(), name)
        const before = stateOf(server())
        const own = content[name as 'alerts']
        const more = { ...content, [name]: { ...own, more: { ...Object.values(own)[0], name: 'More' } } }
        const [created] = errorsIn(await apply(file(more)))
        expect(created).toMatchObject({ rule: 'incomplete-list', message: expect.stringContaining('its 1000 objects fill a page') })
        const fewer = { ...content, alerts: {}, [name]: name === 'dashboards' ? { shop } : {} }
        expect(errorsIn(await apply(file(fewer), { prune: true })).map(({ rule }) => rule)).toContain('incomplete-list')
        expect(stateOf(server())).toEqual(before)
      }),
    )

    it('an incomplete list does not stop updates', () =>
      site(async ({ apply }) => {
        await apply(file(content))
        fill(server(), 'alerts')
        const [alert] = Object.values(content.alerts)
        const changed = { ...content, alerts: { errors: { ...alert, threshold: 2 } } }
        expect((await apply(file(changed))).objects.at(-1)).toMatchObject({ key: 'errors', outcome: 'updated' })
      }))

    it.each([
      ['a dashboard that is deleted', { dashboards: { shop } }, true],
      ['a tile that goes', { dashboards: { ...all.dashboards, shop: { ...shop, tiles: [tile('A')] } } }, false],
      [
        'a tile that becomes one without alerts',
        {
          dashboards: {
            ...all.dashboards,
            shop: { ...shop, tiles: [tile('A'), { ...tile('B', 4), config: { displayType: 'markdown', markdown: 'x' } }] },
          },
        },
        false,
      ],
      ...(dialect === 'neutral' ? [] : [['a saved search that is deleted', { savedSearches: {} }, true] as const]),
    ] as const)('an incomplete list of alerts keeps %s, because an alert may use it', (_what, change, prune) =>
      site(async ({ apply }) => {
        await apply(file(content))
        fill(server(), 'alerts')
        const before = stateOf(server())
        const applied = await apply(file({ ...content, ...change }), { prune })
        expect(errorsIn(applied)).toMatchObject([{ rule: 'incomplete-list', message: expect.stringContaining('list of alerts') }])
        expect(stateOf(server())).toEqual(before)
      }),
    )

    it(
      'pull exports an incomplete list with a warning',
      () =>
        site(async ({ pull, plan }) => {
          Object.assign(serviceOf(server()), { savedSearches: [], dashboards: [], alerts: [] })
          server().reset()
          // The number of objects matters, and not their size.
          for (const dashboard of serviceOf(server()).dashboards) dashboard.tiles = dashboard.tiles.slice(0, 1)
          fill(server(), names[1])
          Object.assign(serviceOf(server()), { alerts: [] })
          const pulled = await pull({})
          expect(pulled.diagnostics.map(({ rule, severity }) => [rule, severity])).toEqual([
            ['incomplete-pull', 'warning'],
            ['rewrites-tiles', 'warning'],
          ])
          // An adoption of a dashboard writes its tiles again, and is the only change.
          const { dashboards } = serviceOf(server())
          expect(await plan(afterPull({}, pulled))).toMatchObject({ ...emptyPlan, toUpdate: dashboards.length, changed: true })
        }),
      120_000,
    )
  },
)

describe('a list that holds an id twice', () => {
  const server = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', totalCount: 'hidden' })

  it('a list that holds an id twice stops creates and deletes, and is not taken for a duplicate marker', () =>
    withSite(server(), 'clickhouse-cloud', async ({ apply }) => {
      await apply(file(all))
      const store = serviceOf(server())
      store.alerts.push(...store.alerts.filter(({ name }) => name === 'Errors'))
      const more = { ...all, alerts: { errors, more: { ...errors, name: 'More' } } }
      expect(errorsIn(await apply(file(more))).map(({ message }) => message)).toEqual([
        'the list of alerts contains an id twice, because it changed while it was read; nothing is created or deleted based on such a list',
      ])
      expect(errorsIn(await apply(file({ ...all, alerts: { errors: { ...errors, threshold: 5 } } })))).toEqual([])
      expect(store.alerts.filter(({ name }) => name === 'Errors').map(({ threshold }) => threshold)).toEqual([5, 5])
    }))
})

describe('a list with an element of another shape', () => {
  it.each(['dashboards', 'alerts', 'savedSearches', 'sources', 'webhooks'] as const)('plans and writes nothing for %s', (name) =>
    site(async ({ plan, apply }) => {
      const path = name === 'savedSearches' ? 'saved-searches' : name
      emulator().addFault({
        match: { method: 'GET', path: `/${path}` },
        times: Number.POSITIVE_INFINITY,
        effect: { kind: 'body', text: '{"result":[{"id":"65f5e4a35eedc0de00000001","name":"x"},{"name":5}]}' },
      })
      await expect(plan(file(all))).rejects.toThrow('result[1]')
      const before = stateOf(emulator())
      await expect(apply(file({ dashboards: { shop } }), { prune: true })).rejects.toThrow('result[1]')
      expect(stateOf(emulator())).toEqual(before)
    }),
  )
})

describe('an empty list', () => {
  it('an empty list is read a second time before anything is created from it', () =>
    site(async ({ apply }) => {
      await apply(file(all))
      const before = [stateOf(emulator()), unownedIn(emulator())]
      for (const path of ['/dashboards', '/alerts', '/saved-searches'])
        emulator().addFault({ match: { method: 'GET', path }, effect: { kind: 'body', text: '{"result":[]}' } })
      const again = await apply(file(all))
      expect(again.objects.map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged', 'unchanged', 'unchanged'])
      expect([stateOf(emulator()), unownedIn(emulator())]).toEqual(before)
    }))

  it('a list that is empty twice counts as empty', () =>
    site(async ({ plan }) => {
      Object.assign(serviceOf(emulator()), { dashboards: [], alerts: [], savedSearches: [] })
      expect(await plan(file(all))).toMatchObject({ toCreate: 4 })
      expect(emulator().requests.filter(({ path }) => path.endsWith('/dashboards')).length).toBe(2)
    }))
})
