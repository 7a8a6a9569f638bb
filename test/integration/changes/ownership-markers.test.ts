// The mark is all that tells whose an object is: what becomes of it at the service, and what is said then.
import { describe, expect, it } from 'vitest'
import { editDuring, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { actions, errorRules, errors, errorsIn, outcomes, shop, tile } from '../../support/shop-declaration.ts'
import { afterPull, decided, differing, emptyPlan, markersIn, type Site, type SiteFiles, stateOf, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const search = { name: 'Search', tags: [], sourceId: { source: 'Logs' } }
const files: SiteFiles = { 'a.json': { dashboards: { shop }, savedSearches: { search }, alerts: { errors } } }

const haveApplied = useApplied(emulator, () => withSite(emulator(), 'clickhouse-cloud', (site) => site.apply(files)))

const withShop = async (use: (site: Site) => Promise<void>): Promise<void> => {
  await haveApplied()
  await withSite(emulator(), 'clickhouse-cloud', use)
}

function ours() {
  const { dashboards, alerts, savedSearches } = serviceOf(emulator())
  const dashboard = dashboards.find(({ name }) => name === 'Shop')
  const alert = alerts.find(({ name }) => name === 'Errors')
  const savedSearch = savedSearches.find(({ name }) => name === 'Search')
  if (dashboard === undefined || alert === undefined || savedSearch === undefined) throw new Error('not applied')
  return { dashboard, alert, savedSearch }
}

const copyId = ({ id }: { readonly id: string }): string => id.replace(/^....../, 'ffffff')

describe('a copy of an object, including its marker', () => {
  it('a copy of an object, including its marker, is an error that names both, and nothing is written', () =>
    withShop(async ({ plan, apply, drift }) => {
      const { dashboard, alert, savedSearch } = ours()
      const store = serviceOf(emulator())
      const copyOf = <T extends { readonly id: string }>(one: T): T => ({ ...structuredClone(one), id: copyId(one), name: 'Copy' })
      store.dashboards.push(copyOf(dashboard))
      store.savedSearches.push(copyOf(savedSearch))
      store.alerts.push(copyOf(alert))
      const before = stateOf(emulator())
      for (const result of [await plan(files), await drift(files), await apply(files, { prune: true })]) {
        const said = errorsIn(result).flatMap(({ rule, message }) => (rule === 'held' ? [message] : []))
        for (const one of [dashboard, alert, savedSearch])
          expect(said).toContainEqual(expect.stringMatching(new RegExp(`${one.id}, ${copyId(one)}`)))
      }
      expect(stateOf(emulator())).toEqual(before)
    }))

  it('a copy of an object, including its marker of an object in no file stops prune: which one is the copy cannot be known', () =>
    withShop(async ({ apply }) => {
      const { savedSearch } = ours()
      serviceOf(emulator()).savedSearches.push({ ...structuredClone(savedSearch), id: copyId(savedSearch), name: 'Copy' })
      const before = stateOf(emulator())
      const applied = await apply({ 'a.json': { dashboards: { shop }, alerts: { errors } } }, { prune: true })
      expect(errorsIn(applied)).toMatchObject([{ rule: 'held', message: expect.stringContaining(`"Copy" (${copyId(savedSearch)})`) }])
      expect(stateOf(emulator())).toEqual(before)
    }))
})

describe('a marker that a user edits', () => {
  it('a marker that a user edits by writing below it: the object stays ours, and what they wrote is a difference', () =>
    withShop(async ({ plan, apply }) => {
      const { alert } = ours()
      alert.note = `${alert.note}\nAsk Kim first.`
      const planned = await plan(files)
      expect(planned.objects.at(-1)).toMatchObject({
        action: 'update',
        origin: 'service',
        id: alert.id,
        fields: [{ path: 'note', before: 'n\n\nAsk Kim first.', after: 'n' }],
      })
      expect(outcomes(await apply(files))).toMatchObject({ errors: 'updated' })
      expect(await plan(files)).toMatchObject(emptyPlan)
    }))

  it(
    'a marker that a user edits by writing before or behind it on its line: the object stays ours, and pull keeps what they wrote',
    { tags: 'slow' },
    () =>
      withShop(async ({ plan, pull, apply }) => {
        const { alert } = ours()
        const text = 'n\n\nAsk Kim first.'
        const stored = alert.note ?? ''
        for (const edited of [`${stored} Ask Kim first.`, stored.replace('watchkeeper:', 'Ask Kim first. watchkeeper:')]) {
          alert.note = edited
          expect((await plan(files)).objects.at(-1), edited).toMatchObject({
            action: 'update',
            id: alert.id,
            fields: [{ path: 'note', before: text, after: 'n' }],
          })
        }
        const pulled = afterPull(files, await pull(files, ['**']))
        expect(differing(await plan(pulled))).toEqual([])
        await apply(pulled)
        const changed = {
          'a.json': { dashboards: { shop }, savedSearches: { search }, alerts: { errors: { ...errors, note: text, threshold: 2 } } },
        }
        expect(outcomes(await apply(changed))).toMatchObject({ errors: 'updated' })
        expect(ours().alert).toMatchObject({
          threshold: 2,
          note: expect.stringMatching(new RegExp(`^${text}\n\nwatchkeeper: shop/observability errors [0-9a-f]{6} wkb:2\\.[0-9a-f]{10}$`)),
        })
        expect(markersIn(emulator()).filter((marker) => marker.endsWith(' errors'))).toHaveLength(1)
      }),
  )

  it('a marker that a user edits by removing it: a warning, and nothing is written, until a person decides', () =>
    withShop(async ({ plan, apply }) => {
      const { alert, dashboard } = ours()
      alert.note = 'mine'
      dashboard.tags = dashboard.tags.filter((tag) => !tag.startsWith('wk'))
      const planned = await plan(files)
      expect(planned).toMatchObject({ tracked: 1, toAdopt: 0, toHold: 1 })
      expect(planned.diagnostics).toMatchObject([{ rule: 'held', severity: 'warning' }])
      expect(outcomes(await apply(files))).toMatchObject({ errors: 'held' })
      expect(alert.note).toBe('mine')
      const ofFiles = await decided(plan, files)
      expect(outcomes(await apply(ofFiles))).toMatchObject({ errors: 'updated' })
      expect(alert.note).toMatch(/^n\n\nwatchkeeper: shop\/observability errors /)
      expect((await plan(ofFiles)).objects.find(({ key }) => key === 'errors')).toMatchObject({ action: 'unchanged' })
    }))

  it('a marker that a user edits by removing it: the object is left as it is where something else differs, too', () =>
    withShop(async ({ plan, apply }) => {
      const { alert, dashboard } = ours()
      Object.assign(alert, { note: 'mine', threshold: 99 })
      dashboard.tags = ['shop', 'more']
      const before = structuredClone([alert, dashboard])
      expect(actions(await plan(files))).toEqual({ search: 'unchanged', shop: 'held', errors: 'held' })
      await apply(files)
      expect([alert, dashboard]).toEqual(before)
    }))

  it('a marker that a user edits by changing its key: the object is an orphan', () =>
    withShop(async ({ plan }) => {
      const { alert } = ours()
      alert.note = alert.note?.replace(' errors ', ' other ') ?? null
      expect((await plan(files)).orphans).toEqual([{ kind: 'alert', key: 'other', id: alert.id, name: 'Errors' }])
    }))
})

describe('a key that is longer than a tag has room for', () => {
  const long = 'a-key-that-is-longer-than-a-tag-has-room-for'

  it(
    'a key that is longer than a tag has room for is recognized again, and distinguished from another that begins the same',
    { tags: 'slow' },
    () =>
      withSite(emulator(), 'clickhouse-cloud', async ({ apply, plan }) => {
        const both = { 'a.json': { dashboards: { [long]: shop, [`${long}-2`]: { ...shop, name: 'Second' } } } }
        await apply(both)
        expect(await plan(both)).toMatchObject({ ...emptyPlan, unchanged: 2, orphans: [] })
        const one = await plan({ 'a.json': { dashboards: { [long]: shop } } }, { prune: true })
        // The key cannot be read from its hash, so the name is shown.
        expect(one.objects.map(({ key, name, action }) => [key, name, action])).toEqual([
          [long, 'Shop', 'unchanged'],
          ['', 'Second', 'delete'],
        ])
      }),
  )
})

describe('what the server makes of what was sent', () => {
  const applyWhile = (edit: () => void, path: string) =>
    withSite(emulator(), 'clickhouse-cloud', async ({ apply }) => {
      // The second list is the one that is read after the writes.
      editDuring(emulator(), { method: 'GET', path }, edit, 2)
      return apply(files)
    })

  it('shows a value that the server changed', async () => {
    emulator().setUnknownDefaults(31)
    const applied = await withSite(emulator(), 'clickhouse-cloud', ({ apply }) => apply(files))
    emulator().setUnknownDefaults(undefined)
    expect(applied.objects.flatMap(({ serverChanged = [] }) => serverChanged)).not.toEqual([])
    expect(errorRules(applied)).toEqual([])
  })

  it('fails where the changed value cannot be recorded, because plan would show it again', async () => {
    emulator().setUnknownDefaults(31)
    emulator().addFault({ match: { method: 'PUT' }, times: Number.POSITIVE_INFINITY, effect: { kind: 'status', status: 400 } })
    const applied = await withSite(emulator(), 'clickhouse-cloud', ({ apply }) => apply(files))
    emulator().setUnknownDefaults(undefined)
    expect(new Set(Object.values(outcomes(applied)))).toEqual(new Set(['created']))
    expect(errorRules(applied)).toEqual(['base-failed'])
    expect(errorsIn(applied)[0]?.message).toMatch(/^dashboards\.shop: the stored values could not be recorded: The API answered 400.*$/)
  })

  it('does not report what another user changed since', async () => {
    const applied = await applyWhile(() => {
      ours().alert.threshold = 1000
    }, '/alerts')
    expect(applied.objects.at(-1)).not.toHaveProperty('serverChanged')
    expect(errorRules(applied)).toEqual(['base-failed'])
    expect(ours().alert.threshold).toBe(1000)
  })

  it('fails where the ownership marker is gone, because another run would create it again', async () => {
    const applied = await applyWhile(() => {
      ours().alert.note = null
    }, '/alerts')
    expect(errorsIn(applied).map(({ message }) => message)).toEqual([
      expect.stringContaining('the server did not store the ownership marker of the alert'),
    ])
  })

  it('fails where the object is gone again', async () => {
    const applied = await applyWhile(() => {
      const store = serviceOf(emulator())
      store.dashboards = store.dashboards.filter(({ name }) => name !== 'Shop')
    }, '/dashboards')
    expect(errorsIn(applied).map(({ message }) => message)).toEqual([expect.stringContaining('was deleted after this run wrote it')])
  })

  it('reports nothing where the server sorts, removes repeated tags and fills in defaults', () =>
    withSite(emulator(), 'clickhouse-cloud', async ({ apply, plan }) => {
      const filter = { name: 'Environment', expression: 'env', sourceId: { source: 'Logs' } }
      const container = { id: 'c', title: 'C' }
      const full = {
        ...shop,
        tags: ['b', 'a', 'b'],
        filters: [filter],
        containers: [container],
        tiles: [tile('B', 4), tile('A')],
        savedFilterValues: [{ condition: 'x = 1' }],
      }
      const content = { 'a.json': { dashboards: { full } } }
      const applied = await apply(content)
      expect(applied.objects.map(({ serverChanged }) => serverChanged)).toEqual([undefined])
      expect(await plan(content)).toMatchObject(emptyPlan)
    }))

  it('fails where the written objects cannot be read again', () =>
    withSite(emulator(), 'clickhouse-cloud', async ({ apply }) => {
      emulator().addFault({ match: { method: 'GET', path: '/alerts' }, nth: 2, times: 5, effect: { kind: 'status', status: 500 } })
      const applied = await apply(files)
      expect(outcomes(applied)).toEqual({ search: 'created', shop: 'created', errors: 'created' })
      expect(errorRules(applied)).toEqual(['not-verified'])
      expect(markersIn(emulator())).toHaveLength(3)
    }))
})
