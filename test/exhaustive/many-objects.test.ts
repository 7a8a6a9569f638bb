import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import { declareObjects } from '../../bench/declared-objects.ts'
import { toPlanFile } from '../../src/changes/plan/plan-file.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { alertCollection } from '../../src/kinds/alert/alert.ts'
import type { Body, StoredObject } from '../../src/kinds/kind.ts'
import type { KindName } from '../../src/kinds/kind-names.ts'
import { createKinds } from '../../src/kinds/kinds.ts'
import { savedSearchCollection } from '../../src/kinds/saved-search/saved-search.ts'
import { profileNamed } from '../../src/platform/api/profiles.ts'
import { systemClock } from '../../src/platform/core/clock.ts'
import { findTwinsOfCreated, reconcileOutcome } from '../../src/sync/apply/verify.ts'
import { type Change, changesOf } from '../../src/sync/decide/change.ts'
import { planChanges } from '../../src/sync/decide/decide.ts'
import type { Declarations } from '../../src/sync/declarations/declarations.ts'
import { indexStored, type StoredObjects } from '../../src/sync/plan/stored-objects.ts'
import { cpuRatio, createVirtualClock, tenfold } from '../support/clocks.ts'
import { readDeclarations } from '../support/declarations.ts'
import { ids, inputsFor, methodsOf, serviceOf, storesNothing, useEmulator } from '../support/emulator.ts'
import { invokeText } from '../support/invoke.ts'
import { remoteStateWith } from '../support/plans.ts'
import { randomFrom } from '../support/random.ts'
import { runs } from '../support/seeds.ts'
import { startVariant } from '../support/server-variants.ts'
import { service } from '../support/session.ts'
import { errors, errorsIn, shop, tile } from '../support/shop-declaration.ts'
import { afterPull, emptyPlan, markersIn, type Site, type SiteFiles, stateOf, unownedIn, withSite } from '../support/site.ts'

// What takes no time for ten objects takes little for thousands: the work grows with their number, and not with its square.

const profile = profileNamed('clickhouse-cloud')
const nowMs = Date.parse('2026-03-31T12:00:00Z')
const types = createKinds(profile, nowMs)
const options = { project: 'shop/many', kinds: types, prune: true, maxDeletes: 0 }

/** Of which every twentieth is a dashboard. */
const manyCount = 4000
const fewCount = manyCount / 10
const dashboardsIn = (count: number): number => count / 20
const tilesEach = 10

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)

const tileOf = (i: number) => ({
  name: `Tile ${i}`,
  x: 0,
  y: i,
  w: 4,
  h: 4,
  config: { displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count', where: `tile:${i}` }] },
})

/** A third of them names its dashboard by its name. */
const alert = (i: number, dashboardCount: number) => ({
  name: `Alert ${i}`,
  dashboard: i % 3 === 0 ? { name: `Dashboard ${i % dashboardCount}` } : `dashboard-${i % dashboardCount}`,
  tile: `Tile ${i % tilesEach}`,
  threshold: i,
  interval: '5m',
  channel: { type: 'webhook', webhook: 'oncall' },
})

function declare(objectCount: number): Declarations {
  const dashboardCount = dashboardsIn(objectCount)
  const dashboards = numbers(dashboardCount).map(
    (d) => [`dashboard-${d}`, { name: `Dashboard ${d}`, tiles: numbers(tilesEach).map(tileOf) }] as const,
  )
  const alerts = numbers(objectCount - dashboardCount).map((i) => [`alert-${i}`, alert(i, dashboardCount)] as const)
  const parts = numbers(20).map((i) => ({
    dashboards: Object.fromEntries(dashboards.filter((_, d) => d % 20 === i)),
    alerts: Object.fromEntries(alerts.filter((_, a) => a % 20 === i)),
  }))
  return readDeclarations(
    parts.map((part, i) => ({ path: `${i}.json`, text: JSON.stringify(part) })),
    () => undefined,
  )
}

const nothing = remoteStateWith()

/** A service after all of it was applied. */
function remoteStateOf(changes: readonly Change[]): StoredObjects {
  const bodies = (kind: KindName): readonly Body[] => changesOf(changes, kind).map(({ desired }) => desired ?? {})
  const made = bodies('dashboard').map((body, d) => ({
    ...body,
    id: `d${d}`,
    tiles: (body.tiles as readonly Body[]).map((one, i) => ({ ...one, id: `d${d}t${i}` })),
  }))
  const idOf = new Map(made.map((one) => [(one as Body).name, one.id]))
  const alerts = bodies('alert').map((body, i) => {
    const dashboardId = idOf.get(`Dashboard ${Number(String(body.name).slice(6)) % made.length}`)
    return { ...body, id: `a${i}`, dashboardId, tileId: `${dashboardId}t${Number(String(body.name).slice(6)) % tilesEach}` }
  })
  return remoteStateWith({ dashboard: made, alert: alerts })
}

const count = (changes: readonly Change[]) =>
  Object.fromEntries([...Map.groupBy(changes, ({ action }) => action)].map(([action, { length }]) => [action, length]))

interface Applied {
  readonly declared: Declarations
  /** What the service has after all of it was applied. */
  readonly storedObjects: StoredObjects
}

function applied(objectCount: number): Applied {
  const declared = declare(objectCount)
  // Nothing is there yet that could be named: all are on one dashboard until it is.
  const onKey = declared.objects.map((one) =>
    'dashboard' in one.value ? { ...one, value: { ...one.value, dashboard: 'dashboard-0' } } : one,
  )
  const created = remoteStateOf(planChanges(onKey as Declarations['objects'], nothing, options).changes)
  // With the digests of the declarations in the markers.
  return { declared, storedObjects: remoteStateOf(planChanges(declared.objects, created, options).changes) }
}

describe('thousands of objects take as many times as long as hundreds', () => {
  let few: Applied
  let many: Applied
  beforeAll(() => {
    few = applied(fewCount)
    many = applied(manyCount)
  })

  it('to compare them with equal ones', async () => {
    const prepare =
      ({ declared, storedObjects }: Applied) =>
      () => {
        const { changes } = planChanges(declared.objects, storedObjects, options)
        expect(count(changes)).toEqual({ unchanged: declared.objects.length })
      }
    expect(await cpuRatio(prepare(many), prepare(few))).toBeLessThanOrEqual(tenfold)
  })

  it('to compare them with others that all differ, and to write a plan file', async () => {
    const prepare = ({ declared, storedObjects }: Applied) => {
      const other = {
        ...storedObjects,
        alert: storedObjects.alert.map((one) => ({ ...one, threshold: -1 })),
        dashboard: storedObjects.dashboard.map((one) => ({ ...one, name: 'Old' })),
      }
      const byKey = declared.objects.filter(({ value }) => !('dashboard' in value) || typeof value.dashboard === 'string')
      return () => {
        const plan = planChanges(byKey, other, { ...options, prune: false })
        expect(count(plan.changes)).toEqual({ update: byKey.length })
        toPlanFile({ plan, kinds: types }, { organizationId: 'o', serviceId: 's' }, false)
      }
    }
    expect(await cpuRatio(prepare(many), prepare(few))).toBeLessThanOrEqual(tenfold)
  })

  it('to report that each refers to a missing object', async () => {
    const prepare = ({ declared, storedObjects }: Applied) => {
      const webhooks = numbers(storedObjects.alert.length / 10).map((i) => ({ id: `w${i}`, name: `onkall-${i}` }))
      return () => {
        const { diagnostics } = planChanges(declared.objects, { ...storedObjects, webhook: webhooks }, options)
        expect(diagnostics.length).toBeGreaterThanOrEqual(storedObjects.alert.length)
      }
    }
    expect(await cpuRatio(prepare(many), prepare(few))).toBeLessThanOrEqual(tenfold)
  })

  it('to find them by their ownership markers after the writes', async () => {
    const prepare = ({ declared, storedObjects }: Applied) => {
      const items = storedObjects.alert as readonly StoredObject[]
      const { changes } = planChanges(declared.objects, { ...storedObjects, alert: [] }, options)
      const created = changes.filter(({ kind }) => kind === 'alert')
      return () => {
        const list = indexStored(items, types.alert)
        const reviewed = created.map((change) => reconcileOutcome({ change, became: 'created' }, list, change.desired ?? {}, types.alert))
        expect(reviewed.filter(({ id, serverChanged }) => id === undefined || serverChanged !== undefined)).toEqual([])
        expect(findTwinsOfCreated(changes, { alert: list }, types)).toEqual([])
      }
    }
    expect(await cpuRatio(prepare(many), prepare(few))).toBeLessThanOrEqual(tenfold)
  })
})

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

function instancesFile(objectCount: number): SiteFiles {
  const file = parse(readFileSync(new URL('../../examples/instances/services.yml', import.meta.url), 'utf8'))
  file.instances = Object.fromEntries(numbers(objectCount / 4).map((i) => [`service-${i}`, { errors: i }]))
  return { 'services.yml': file }
}

it.each<[string, (objectCount: number) => SiteFiles]>([
  ['files of 50 objects each', declareObjects],
  ['one file of instances', instancesFile],
])('a plan of 1,000 objects from %s is six requests at most, and takes as many times as long as one of 100', async (_, declareIn) => {
  const smaller = await startEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
  onTestFinished(() => smaller.close())
  const applyIn = async (server: Emulator, site: Site, objectCount: number) => {
    serviceOf(server).alerts = []
    const files = declareIn(objectCount)
    expect(await site.apply(files)).toMatchObject({ toCreate: objectCount, changed: true })
    return async () => {
      const before = server.requests.length
      expect(await site.plan(files)).toMatchObject({ ...emptyPlan, unchanged: objectCount })
      expect(server.requests.length - before).toBeLessThanOrEqual(6)
    }
  }
  await withSite(emulator(), 'clickhouse-cloud', (site) =>
    withSite(smaller, 'clickhouse-cloud', async (smallerSite) => {
      const [planMany, planFew] = [await applyIn(emulator(), site, 1000), await applyIn(smaller, smallerSite, 100)]
      // The servers of the test work in the same thread.
      expect(await cpuRatio(planMany, planFew)).toBeLessThanOrEqual(tenfold)
    }),
  )
})

// A list that may not be whole: nothing is created from it, and nothing deleted.
describe('an incomplete list', () => {
  const search = { name: 'Search', sourceId: { source: 'Logs' } }

  const _webhook = { type: 'webhook', webhookId: ids.webhook }

  const all = { dashboards: { shop, other: { ...shop, name: 'Other' } }, savedSearches: { search }, alerts: { errors } }

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
          await expect(plan(file(all))).rejects.toThrow(
            /The API counts \d+ .* and lists 3\. Nothing is changed based on an incomplete list/,
          )
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

  describe('W7: a list as long as a page stops creates and deletes, for a server that answers one page only', () => {
    const server = useEmulator({ rateLimit: 'off', paging: 'ignored', totalCount: 'hidden', pageLimit: 1000 })
    const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(server(), 'clickhouse-cloud', use)

    it.each(['alerts', 'savedSearches'] as const)('an incomplete list of %s stops creates and deletes of that kind', (name) =>
      site(async ({ apply }) => {
        await apply(file(all))
        fill(server(), name)
        const before = stateOf(server())
        const own = all[name as 'alerts']
        const more = { ...all, [name]: { ...own, more: { ...Object.values(own)[0], name: 'More' } } }
        const [created] = errorsIn(await apply(file(more)))
        expect(created).toMatchObject({ rule: 'incomplete-list', message: expect.stringContaining('its 1000 objects fill a page') })
        const fewer = { ...all, alerts: {}, [name]: {} }
        expect(errorsIn(await apply(file(fewer), { prune: true })).map(({ rule }) => rule)).toContain('incomplete-list')
        expect(stateOf(server())).toEqual(before)
      }),
    )

    it('an incomplete list does not stop updates', () =>
      site(async ({ apply }) => {
        await apply(file(all))
        fill(server(), 'alerts')
        const [alert] = Object.values(all.alerts)
        const changed = { ...all, alerts: { errors: { ...alert, threshold: 2 } } }
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
      ['a saved search that is deleted', { savedSearches: {} }, true],
    ] as const)('an incomplete list of alerts keeps %s, because an alert may use it', (_what, change, prune) =>
      site(async ({ apply }) => {
        await apply(file(all))
        fill(server(), 'alerts')
        const before = stateOf(server())
        const applied = await apply(file({ ...all, ...change }), { prune })
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
          fill(server(), 'savedSearches')
          Object.assign(serviceOf(server()), { alerts: [] })
          const pulled = await pull({})
          expect(pulled.diagnostics.map(({ rule, severity }) => [rule, severity])).toEqual([['incomplete-pull', 'warning']])
          expect(await plan(afterPull({}, pulled))).toMatchObject(emptyPlan)
        }),
      120_000,
    )
  })

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
})

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

// R3 with concurrent writes: answers arrive late and overtake each other, and still no request is sent that the rate limit refuses.
describe('late answers', () => {
  const emulator = useEmulator({ rateLimit: { limit: 10, windowMs: 400 } })

  const objectsOf = (count: number) => {
    const channel = { type: 'webhook', webhookId: serviceOf(emulator()).webhooks[0]?.id }
    const fields = { dashboard: 'd', tile: 'A', interval: '5m', channel }
    return {
      dashboards: { d: { name: 'D', tiles: [tile('A')] } },
      alerts: Object.fromEntries(Array.from({ length: count - 1 }, (_, i) => [`a${i}`, { name: `Alert ${i}`, threshold: i, ...fields }])),
    }
  }

  it.each([7, 11, 13].slice(0, runs(3)))(
    'R3: 100 creates are never refused when answers arrive late and in any order (seed %i)',
    async (seed) => {
      const random = randomFrom(seed)
      for (let nth = 1; nth <= 200; nth++) emulator().addFault({ nth, effect: { kind: 'delay', ms: random() * 150 } })
      const ran = await invokeText({
        clock: systemClock,
        inputs: { ...inputsFor(emulator()), operation: 'apply', project: 'shop/six', files: 'a.json' },
        files: { 'a.json': JSON.stringify(objectsOf(100)) },
      })
      expect(ran.document.status).toBe('pass')
      expect(emulator().requests.filter((one) => one.method === 'POST' && !storesNothing(one))).toHaveLength(100)
      expect(emulator().requests.filter(({ status }) => status === 429)).toEqual([])
    },
  )
})
