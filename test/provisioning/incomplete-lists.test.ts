// A list that may not be whole: nothing is created from it, and nothing deleted.
import { describe, expect, it } from 'vitest'
import { useEmulator } from '../support/emulator.ts'
import { stateOf, unownedIn } from '../support/service-state.ts'
import { type Site, type SiteFiles, storeOf, withSite } from '../support/site.ts'
import { errors, errorsIn, shop, tile } from '../support/small-shop.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const search = { name: 'Search', sourceId: { source: 'Logs' } }

const all = { dashboards: { shop, other: { ...shop, name: 'Other' } }, savedSearches: { search }, alerts: { errors } }

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

const file = (content: object): SiteFiles => ({ 'a.json': content })

type Listed = 'dashboards' | 'alerts' | 'savedSearches'

/** Fills a list up to the length of a page, with objects of nobody's. */
function fill(name: Listed): void {
  const store = storeOf(emulator())
  const items = store[name] as unknown as { id: string; name: string; tags?: string[]; note?: string | null; message?: string | null }[]
  const [first] = items
  if (first === undefined) throw new Error('nothing to copy')
  for (let i = items.length; i < 1000; i++)
    items.push({
      ...structuredClone(first),
      id: i.toString(16).padStart(24, '0'),
      name: `Copy ${i}`,
      ...(name === 'alerts' ? { note: null } : { tags: [] }),
    })
}

describe('a list as long as a page', () => {
  it.each(['dashboards', 'alerts', 'savedSearches'] as const)('of %s stops creates and deletes of its own', (name) =>
    site(async ({ apply }) => {
      await apply(file(all))
      fill(name)
      const before = stateOf(emulator())
      const more = { ...all, [name]: { ...all[name], more: { ...Object.values(all[name])[0], name: 'More' } } }
      const [created] = errorsIn(await apply(file(more)))
      expect(created).toMatchObject({ rule: 'incomplete-list', message: expect.stringContaining('holds 1000 objects') })
      const fewer = { ...all, alerts: {}, [name]: {} }
      expect(errorsIn(await apply(file(fewer), { prune: true })).map(({ rule }) => rule)).toContain('incomplete-list')
      expect(stateOf(emulator())).toEqual(before)
    }),
  )

  it('does not stop updates', () =>
    site(async ({ apply }) => {
      await apply(file(all))
      fill('alerts')
      const changed = { ...all, alerts: { errors: { ...errors, threshold: 2 } } }
      expect((await apply(file(changed))).objects.at(-1)).toMatchObject({ key: 'errors', outcome: 'updated' })
    }))

  it.each([
    ['a dashboard that is deleted', { ...all, dashboards: { shop } }, true],
    ['a tile that goes', { ...all, dashboards: { ...all.dashboards, shop: { ...shop, tiles: [tile('A')] } } }, false],
    [
      'a tile that becomes one without alerts',
      {
        ...all,
        dashboards: {
          ...all.dashboards,
          shop: { ...shop, tiles: [tile('A'), { ...tile('B', 4), config: { displayType: 'markdown', markdown: 'x' } }] },
        },
      },
      false,
    ],
    ['a saved search that is deleted', { ...all, savedSearches: {} }, true],
  ] as const)('of alerts keeps %s: nobody sees who hangs on it', (_what, content, prune) =>
    site(async ({ apply }) => {
      await apply(file(all))
      fill('alerts')
      const before = stateOf(emulator())
      const applied = await apply(file(content), { prune })
      expect(errorsIn(applied)).toMatchObject([{ rule: 'incomplete-list', message: expect.stringContaining('list of alerts') }])
      expect(stateOf(emulator())).toEqual(before)
    }),
  )
})

describe('a list that holds an id twice', () => {
  it('stops creates and deletes, and is no mark that stands twice', () =>
    site(async ({ apply }) => {
      await apply(file(all))
      const store = storeOf(emulator())
      store.alerts.push(...store.alerts.filter(({ name }) => name === 'Errors'))
      const more = { ...all, alerts: { errors, more: { ...errors, name: 'More' } } }
      expect(errorsIn(await apply(file(more))).map(({ message }) => message)).toEqual([
        'the list of alerts holds an id twice, so it was read while it changed: nothing is created or deleted by such a list',
      ])
      expect(errorsIn(await apply(file({ ...all, alerts: { errors: { ...errors, threshold: 5 } } })))).toEqual([])
      expect(store.alerts.filter(({ name }) => name === 'Errors').map(({ threshold }) => threshold)).toEqual([5, 5])
    }))
})

describe('a list of which one element is no such object', () => {
  it.each(['dashboards', 'alerts', 'savedSearches', 'sources', 'webhooks'] as const)(
    '%s: nothing is planned, and nothing written',
    (name) =>
      site(async ({ plan, apply }) => {
        const path = name === 'savedSearches' ? 'saved-searches' : name
        const spoil = () =>
          emulator().addFault({
            match: { method: 'GET', path: `/${path}` },
            effect: { kind: 'body', text: '{"result":[{"id":"65f5e4a35eedc0de00000001","name":"x"},{"name":5}]}' },
          })
        spoil()
        await expect(plan(file(all))).rejects.toThrow('result[1]')
        spoil()
        const before = stateOf(emulator())
        await expect(apply(file({ dashboards: { shop } }), { prune: true })).rejects.toThrow('result[1]')
        expect(stateOf(emulator())).toEqual(before)
      }),
  )
})

describe('an empty list', () => {
  it('is read a second time before anything is created from it', () =>
    site(async ({ apply }) => {
      await apply(file(all))
      const before = [stateOf(emulator()), unownedIn(emulator())]
      for (const path of ['/dashboards', '/alerts', '/saved-searches'])
        emulator().addFault({ match: { method: 'GET', path }, effect: { kind: 'body', text: '{"result":[]}' } })
      const again = await apply(file(all))
      expect(again.objects.map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged', 'unchanged', 'unchanged'])
      expect([stateOf(emulator()), unownedIn(emulator())]).toEqual(before)
    }))

  it('that is empty twice is believed', () =>
    site(async ({ plan }) => {
      Object.assign(storeOf(emulator()), { dashboards: [], alerts: [], savedSearches: [] })
      expect(await plan(file(all))).toMatchObject({ toCreate: 4 })
      expect(emulator().requests.filter(({ path }) => path.endsWith('/dashboards')).length).toBe(2)
    }))
})
