// W7: prune deletes objects with the marker of this project that no file declares, if the input says so, up to a limit.
import { describe, expect, it } from 'vitest'
import { inputsFor, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { type InvokeOptions, invokeText } from '../../support/invoke.ts'
import { errorRules, errors, errorsIn, outcomes, shop, watching } from '../../support/shop-declaration.ts'
import { differing, emptyPlan, markersIn, type Site, type SiteFiles, stateOf, unownedIn, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const search = { name: 'Search', sourceId: { source: 'Logs' } }
const found = { name: 'Found', savedSearch: 'search', ...watching }

const all = { dashboards: { shop }, savedSearches: { search }, alerts: { errors, found } }
const keep = { dashboards: { keep: { name: 'Keep', tiles: [] } } }

const file = (content: object): SiteFiles => ({ 'a.json': content })

const haveApplied = useApplied(emulator, () => site((one) => one.apply(file(all))))

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

describe('a linked directory, which a wildcard does not enter', () => {
  const team = { dashboards: { shop }, alerts: { errors } }
  const apart = { 'observability/keep.json': JSON.stringify(keep) }
  const before = { ...apart, 'observability/team/a.json': JSON.stringify(team) }
  const after = { ...apart, 'teams/a.json': JSON.stringify(team) }
  const links = { 'observability/team': '../teams' }

  const run = (operation: string, more: Partial<InvokeOptions> = {}) =>
    invokeText({
      files: after,
      links,
      ...more,
      inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, ...more.inputs },
      env: { GITHUB_REPOSITORY: 'shop/linked' },
    })

  const message = 'wildcards skip "observability/team", which is a link to a directory; its files are not read'

  it('W7: fails with prune at a linked directory, and deletes no object of its files', async () => {
    expect((await run('apply', { files: before, links: {} })).document.status).toBe('pass')
    const state = stateOf(emulator())
    for (const operation of ['plan', 'apply', 'drift']) {
      const { document, exitCode, annotations } = await run(operation, { inputs: { prune: 'true', 'max-deletes': '100' } })
      expect([operation, exitCode]).toEqual([operation, 2])
      expect(document.diagnostics).toEqual([
        {
          rule: 'skipped-directory',
          severity: 'error',
          location: { file: 'observability/team' },
          message: `${message}, and prune would delete their objects; name the directory in files, or remove it`,
        },
      ])
      expect(annotations).toMatchObject([{ message: expect.stringContaining('"observability/team"') }])
    }
    expect(stateOf(emulator())).toEqual(state)
  })

  it('warns about a linked directory without prune', async () => {
    await run('apply', { files: before, links: {} })
    for (const operation of ['validate', 'plan', 'pull']) {
      const { document, exitCode } = await run(operation)
      expect([operation, exitCode, document.status]).toEqual([operation, 0, 'warn'])
      expect(document.diagnostics).toContainEqual({
        rule: 'skipped-directory',
        severity: 'warning',
        location: { file: 'observability/team' },
        message,
      })
    }
  })

  it('reads a linked directory that a glob names', async () => {
    await run('apply', { files: before, links: {} })
    const files = 'observability/**/*.json\nobservability/team'
    const { document } = await run('plan', { inputs: { files, prune: 'true' } })
    expect(document).toMatchObject({ status: 'pass', changed: false, orphans: [] })
  })

  it('names the linked directory where no file matches', async () => {
    const { reason } = await run('plan', { files: { 'teams/a.json': JSON.stringify(team), 'observability/README.md': '' } })
    expect(reason).toBe(
      'files: no file matches observability/**/*.{yml,yaml,json}; wildcards skip "observability/team", which is a link to a directory',
    )
  })
})

describe('objects of this project that no file declares', () => {
  it('keeps and names objects that no file declares, without prune', () =>
    site(async ({ apply, plan }) => {
      await haveApplied()
      const planned = await plan(file(keep))
      expect(planned.orphans.map(({ key }) => key).toSorted()).toEqual(['errors', 'found', 'search', 'shop'])
      expect(planned.toDelete).toBe(0)
      await apply(file(keep))
      expect(markersIn(emulator())).toHaveLength(5)
    }))

  it('deletes alerts before the dashboards and saved searches that they watch', () =>
    site(async ({ apply, plan }) => {
      const unowned = unownedIn(emulator())
      await haveApplied()
      const before = emulator().requests.length
      const applied = await apply(file(keep), { prune: true })
      expect(outcomes(applied)).toEqual({ keep: 'created', errors: 'deleted', found: 'deleted', shop: 'deleted', search: 'deleted' })
      const deletes = emulator()
        .requests.slice(before)
        .filter(({ method }) => method === 'DELETE')
      expect(deletes.map(({ path }) => path.split('/').at(-2))).toEqual(['alerts', 'alerts', 'dashboards', 'saved-searches'])
      expect(unownedIn(emulator())).toBe(unowned)
      expect(await plan(file(keep), { prune: true })).toMatchObject({ ...emptyPlan, orphans: [] })
    }))

  it('deletes nothing when more objects than max-deletes would be deleted', () =>
    site(async ({ apply }) => {
      await haveApplied()
      const before = stateOf(emulator())
      const refused = await apply(file(keep), { prune: true, maxDeletes: 3 })
      expect(errorsIn(refused)).toMatchObject([
        {
          rule: 'too-many-deletes',
          message:
            '4 deletes (alerts.found, alerts.errors, dashboards.shop and 1 more), and max-deletes allows 3. Check them, then set max-deletes: 4',
        },
      ])
      expect(stateOf(emulator())).toEqual(before)
      expect((await apply(file(keep), { prune: true, maxDeletes: 4 })).toDelete).toBe(4)
    }))

  it('deletes nothing when no file declares an object, because the glob is more likely wrong', () =>
    site(async ({ apply }) => {
      await haveApplied()
      await expect(apply({ 'a.yml': 'alerts: {}' }, { prune: true })).rejects.toThrow(
        'declare no objects, so prune would delete all objects',
      )
    }))

  it('deletes nothing when a write before the deletes failed', () =>
    site(async ({ apply }) => {
      await haveApplied()
      emulator().addFault({
        match: { method: 'POST', path: '/dashboards' },
        nth: 2,
        times: 2,
        act: 'after',
        effect: { kind: 'body', text: '{"result":{"id":"65f5e4a35eedc0deffffffff","name":"Keep","tiles":[]}}' },
      })
      emulator().addFault({ match: { method: 'GET', path: '/dashboards' }, nth: 3, effect: { kind: 'body', text: '{"result":[]}' } })
      const applied = await apply(file(keep), { prune: true })
      expect(errorRules(applied)).toEqual(['marker-lost'])
      expect(outcomes(applied)).toMatchObject({ errors: 'skipped', shop: 'skipped' })
    }))
})

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('prune: forget, profile %s', (dialect) => {
  const server = useEmulator({ dialect, rateLimit: 'off' })
  /** Of all objects but dashboards, in which an update stores defaults. */
  const stateWithoutMarkers = () =>
    stateOf(server()).flatMap((one) =>
      one.startsWith('{"dashboard"') ? [] : one.replace(/,?"wk[rb]?:[^"]*"|(?:\\n)*watchkeeper: [^"]*/g, ''),
    )

  it('W7: removes the markers of objects that no file declares, keeps the objects, and lets another project adopt them', () =>
    withSite(server(), dialect, async ({ apply, plan, drift }) => {
      await apply(file({ ...all, dashboards: { ...all.dashboards, ...keep.dashboards } }))
      const before = stateWithoutMarkers()
      expect(await drift(file(keep), { prune: 'forget' })).toMatchObject({ toDelete: 0, toRelease: 4, orphans: [] })
      const forgotten = await apply(file(keep), { prune: 'forget', maxDeletes: 0 })
      expect(outcomes(forgotten)).toEqual({
        keep: 'unchanged',
        errors: 'released',
        found: 'released',
        shop: 'released',
        search: 'released',
      })
      expect(markersIn(server())).toHaveLength(1)
      expect(stateWithoutMarkers()).toEqual(before)
      expect(await plan(file(keep), { prune: 'forget' })).toMatchObject({ ...emptyPlan, orphans: [], toRelease: 0 })
      const adopting = (objects: object) => Object.fromEntries(Object.entries(objects).map(([key, one]) => [key, { ...one, adopt: true }]))
      const others = Object.fromEntries(Object.entries(all).map(([section, objects]) => [section, adopting(objects)]))
      const adopted = await plan(file(others), { project: 'shop/other' })
      const isPut = dialect === 'clickhouse-cloud'
      expect(adopted).toMatchObject({ toCreate: 0, toUpdate: 0, toAdopt: isPut ? 3 : 4, tracked: isPut ? 1 : 0 })
      expect(differing(adopted)).toEqual([])
    }))
})

describe('prune: forget', () => {
  it('forgets nothing when no file declares an object, unless allow-empty confirms it', () =>
    site(async ({ apply }) => {
      await haveApplied()
      const none = { 'a.yml': 'alerts: {}' }
      await expect(apply(none, { prune: 'forget' })).rejects.toThrow('so prune would forget all objects')
      expect((await apply(none, { prune: 'forget', allowEmpty: true })).toRelease).toBe(4)
    }))

  it('keeps the line breaks at the end of a note, which make no difference of their own', () =>
    site(async ({ apply, plan, pull }) => {
      const notes = () => serviceOf(emulator()).alerts.flatMap(({ name, note }) => (name === 'Errors' ? [note] : []))
      const fileWith = (note: string) =>
        file({ ...all, dashboards: { shop, ...keep.dashboards }, alerts: { errors: { ...errors, note }, found } })
      await apply(fileWith('n\n'))
      for (const files of [fileWith('n\n'), fileWith('n')]) {
        expect(await plan(files)).toMatchObject({ toUpdate: 0 })
        expect(await pull(files, ['a.json'], { only: 'declared' })).toMatchObject({ changed: false })
      }
      await apply(file(keep), { prune: 'forget', maxDeletes: 0 })
      expect(notes()).toEqual(['n\n'])
    }))

  it('is an input of the action and an option of the command line', async () => {
    await haveApplied()
    const files = { 'observability/a.json': JSON.stringify(keep) }
    const inputs = { ...inputsFor(emulator(), 'clickhouse-cloud'), operation: 'plan', project: 'shop/observability', prune: 'forget' }
    const { document, blocks } = await invokeText({ files, inputs })
    expect(document).toMatchObject({ status: 'warn', toRelease: 4, toDelete: 0 })
    expect(JSON.stringify(blocks)).toContain('# no file declares it; it becomes unmanaged, and stays')
  })
})

describe('W7: objects of another project, or of no project, are not deleted by prune', () => {
  it('prunes only the objects of its project where two projects use the same keys', () =>
    site(async ({ apply, plan }) => {
      await apply(file(all), { project: 'shop/one' })
      await apply({ ...file(all), '.watchkeeper.yml': { 'previous-project': false } }, { project: 'shop/two' })
      expect(markersIn(emulator())).toHaveLength(8)
      expect(new Set(markersIn(emulator())).size).toBe(8)
      await apply(file(keep), { project: 'shop/two', prune: true })
      expect(markersIn(emulator())).toHaveLength(5)
      expect(await plan(file(all), { project: 'shop/one', prune: true })).toMatchObject(emptyPlan)
    }))

  it('fails the plan when a dashboard to delete has an unmanaged alert, and deletes nothing, but writes the rest', () =>
    site(async ({ apply, plan }) => {
      await haveApplied()
      const store = serviceOf(emulator())
      const [copied] = store.alerts.filter(({ name }) => name === 'Errors')
      if (copied === undefined) throw new Error('no alert')
      store.alerts.push({ ...copied, id: '65f5e4a35eedc0deffffffff', name: 'Unmanaged', note: 'mine' })
      const ids = () => [...store.dashboards, ...store.alerts, ...store.savedSearches].map(({ id }) => id)
      const before = ids()
      const planned = await plan(file(keep), { prune: true })
      expect(errorsIn(planned)).toMatchObject([
        {
          rule: 'held',
          message: expect.stringMatching(
            /"Unmanaged" \(65f5e4a35eedc0deffffffff\)\. .* prune: forget keeps both, and only removes the marker$/,
          ),
        },
      ])
      expect(outcomes(await apply(file(keep), { prune: true }))).toEqual({ keep: 'created' })
      expect(ids()).toEqual(expect.arrayContaining(before))
    }))

  it('fails the plan when a saved search to delete has an unmanaged alert', () =>
    site(async ({ plan }) => {
      await haveApplied()
      const store = serviceOf(emulator())
      const [copied] = store.alerts.filter(({ name }) => name === 'Found')
      if (copied === undefined) throw new Error('no alert')
      store.alerts.push({ ...copied, id: '65f5e4a35eedc0deffffffff', name: 'Unmanaged', note: null })
      expect(errorRules(await plan(file(keep), { prune: true }))).toEqual(['held'])
    }))
})

describe('an alert that leaves what is pruned', () => {
  it('moves an alert from a dashboard that is deleted, and keeps its id', () =>
    site(async ({ apply, plan }) => {
      await haveApplied()
      const idOf = (name: string) => serviceOf(emulator()).alerts.find((one) => one.name === name)?.id
      const [errorsId, foundId] = [idOf('Errors'), idOf('Found')]
      const moved = {
        dashboards: { other: { ...shop, name: 'Other' } },
        alerts: { errors: { ...errors, dashboard: 'other' }, found: { ...errors, name: 'Found', dashboard: 'other' } },
      }
      expect(outcomes(await apply(file(moved), { prune: true }))).toEqual({
        other: 'created',
        errors: 'updated',
        found: 'updated',
        shop: 'deleted',
        search: 'deleted',
      })
      expect([idOf('Errors'), idOf('Found')]).toEqual([errorsId, foundId])
      expect(await plan(file(moved), { prune: true })).toMatchObject(emptyPlan)
    }))

  it('keeps a dashboard when the move of its alert fails', () =>
    site(async ({ apply }) => {
      await haveApplied()
      emulator().addFault({ match: { method: 'PUT', path: '/alerts' }, effect: { kind: 'status', status: 400 } })
      const moved = { dashboards: { other: { ...shop, name: 'Other' } }, alerts: { errors: { ...errors, dashboard: 'other' } } }
      const applied = await apply(file(moved), { prune: true })
      expect(outcomes(applied)).toMatchObject({ errors: 'failed', shop: 'skipped', found: 'deleted', search: 'deleted' })
      expect(applied.objects.find(({ key }) => key === 'shop')?.message).toContain('"Errors"')
    }))

  it('fails the plan when the files keep an alert and delete its dashboard', () =>
    site(async ({ apply }) => {
      await haveApplied()
      const content = { ...keep, alerts: { errors: { ...errors, dashboard: { name: 'Shop' } } } }
      expect(errorRules(await apply(file(content), { prune: true }))).toEqual(['held'])
    }))
})
