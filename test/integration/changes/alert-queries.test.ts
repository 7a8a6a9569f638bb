// Alerts with a query of their own against a server: the query is a tile that no file has.
import { describe, expect, it } from 'vitest'
import { serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { errorRules } from '../../support/shop-declaration.ts'
import { afterPull, convergenceProblems, decided, emptyPlan, project, type Site, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'hyperdx', use)

const watching = { threshold: 10, interval: '5m', channel: { type: 'webhook', webhook: 'oncall' }, note: 'Look at the logs' }

const count = (where: string) => ({ source: 'Logs', select: [{ aggFn: 'count', where }] })

const errors = { name: 'Checkout has errors', query: count('SeverityText:error'), ...watching }

const slow = {
  name: 'Services are slow',
  query: { source: 'Traces', select: [{ aggFn: 'avg', valueExpression: 'Duration' }], groupBy: 'ServiceName' },
  ...watching,
}

const ratio = {
  name: 'Errors per request',
  query: {
    source: 'Traces',
    select: [{ aggFn: 'count', where: 'StatusCode:Error' }, { aggFn: 'count' }],
    asRatio: true,
  },
  ...watching,
}

const lag = {
  name: 'Ingestion lags',
  query: { sql: 'SELECT count() FROM otel_logs WHERE $__timeFilter(Timestamp)', connection: 'Default' },
  ...watching,
}

const all = { alerts: { errors, slow, ratio, lag } }

const file = (content: object) => ({ 'observability/a.yml': content })

const haveApplied = useApplied(emulator, () => site((one) => one.apply(file(all))))

const boards = () => serviceOf(emulator()).dashboards.filter(({ tags }) => tags.includes('alerts'))

const alertNamed = (name: string) => serviceOf(emulator()).alerts.find((one) => one.name === name)

const tilesNow = () => new Map(boards().flatMap(({ tiles }) => tiles.map((tile) => [tile.name, tile] as const)))

describe('an alert with a query that is held', () => {
  const countingWarnings = { ...errors, query: count('SeverityText:warn') }

  it('because of a source that the service does not have is not created, and the others are written', () =>
    site(async (one) => {
      await haveApplied()
      const before = tilesNow()
      const typo = { name: 'Typo', query: { ...slow.query, source: 'Tracs' }, ...watching }
      const applied = await one.apply(file({ alerts: { ...all.alerts, errors: countingWarnings, typo } }))
      expect(applied.objects.flatMap(({ key, action }) => (action === 'unchanged' ? [] : [[key, action]]))).toEqual([
        ['errors', 'update'],
        ['typo', 'held'],
      ])
      const after = tilesNow()
      expect(JSON.stringify(after.get(errors.name))).toContain('SeverityText:warn')
      expect([...after.keys()]).toEqual([...before.keys()])
    }))

  it('because its source was renamed keeps its tile and is a warning, and the others are written', { tags: 'slow' }, () =>
    site(async (one) => {
      await haveApplied()
      const before = tilesNow()
      for (const source of serviceOf(emulator()).sources) if (source.name === 'Traces') Object.assign(source, { name: 'Spans' })
      const content = file({ alerts: { ...all.alerts, errors: countingWarnings } })
      const planned = await one.plan(content)
      expect(planned.objects.filter(({ action }) => action === 'held').map(({ key }) => key)).toEqual(['slow', 'ratio'])
      expect([errorRules(planned), planned.toUpdate]).toEqual([[], 1])
      expect(await one.apply(content)).toMatchObject({ changed: true, toHold: 2 })
      const after = tilesNow()
      for (const { name } of [slow, ratio, lag]) expect(after.get(name)).toEqual(before.get(name))
      expect(JSON.stringify(after.get(errors.name))).toContain('SeverityText:warn')
      expect(await one.apply(content)).toMatchObject({ toUpdate: 0, toHold: 2 })
      for (const only of [undefined, 'declared', 'drifted'] as const) {
        const { writtenFiles } = await one.pull(content, undefined, { only })
        const pulled = Object.fromEntries(writtenFiles.map((written) => [written.path, written.content]))
        expect(await one.plan({ ...content, ...pulled })).toMatchObject({ toHold: 0, toUpdate: 0, changed: false })
      }
    }),
  )

  it('because the service lacks its source and its webhook is shown with both', () =>
    site(async (one) => {
      const lost = { ...slow, query: { ...slow.query, source: 'Tracs' }, channel: { type: 'webhook', webhook: 'oncal' } }
      const { diagnostics } = await one.plan(file({ alerts: { lost } }))
      const [held, ...others] = diagnostics.filter(({ rule }) => rule === 'held')
      expect(held?.message).toMatch(/query\.source: no source is named "Tracs".*[.?] channel\.webhook: no webhook is named "oncal"/)
      expect(others).toEqual([])
    }))

  it('makes no dashboard that only it would need', () =>
    site(async (one) => {
      const shop = { name: 'Shop', tiles: [{ name: 'Own', config: { displayType: 'number', ...count('a') } }] }
      await one.apply(file({ dashboards: { shop }, alerts: { slow: { ...slow, dashboard: 'shop' } } }))
      const names = () => serviceOf(emulator()).dashboards.map(({ name }) => name)
      const before = names()
      const lost = { ...slow, query: { ...slow.query, source: 'Tracs' } }
      for (const alerts of [{ slow: lost }, { slow: { ...lost, dashboard: 'shop' }, more: lost }]) {
        expect(await one.apply(file({ dashboards: { shop }, alerts }))).toMatchObject({ changed: false })
        expect(names()).toEqual(before)
      }
    }))

  it('because both sides changed it keeps its tile, also beside tiles of the file, until somebody decides', () =>
    site(async (one) => {
      const shop = { name: 'Shop', tiles: [{ name: 'Own', config: { displayType: 'number', ...count('a') } }] }
      const of = (where: string, alerts: object) =>
        file({
          dashboards: { shop: { ...shop, tiles: [{ ...shop.tiles[0], config: { displayType: 'number', ...count(where) } }] } },
          alerts,
        })
      const on = (alert: object) => ({ ...alert, dashboard: 'shop' })
      await one.apply(of('a', { errors: on(errors), slow: on(slow) }))
      Object.assign(alertNamed(errors.name) ?? {}, { threshold: 44 })
      const shopTiles = () => serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop')?.tiles ?? []
      const before = shopTiles().find(({ name }) => name === errors.name)
      const content = of('b', { errors: on({ ...countingWarnings, interval: '15m' }), slow: on({ ...slow, threshold: 11 }) })
      const applied = await one.apply(content)
      expect(applied.objects.map(({ key, action }) => [key, action])).toEqual([
        ['shop', 'update'],
        ['errors', 'held'],
        ['slow', 'update'],
      ])
      expect(shopTiles().find(({ name }) => name === errors.name)).toEqual(before)
      expect(
        shopTiles()
          .map(({ name }) => name)
          .sort(),
      ).toEqual([errors.name, 'Own', slow.name].sort())
      expect(alertNamed(errors.name)).toMatchObject({ threshold: 44, interval: '5m' })
      await one.apply(await decided(one.plan, content))
      expect(alertNamed(errors.name)).toMatchObject({ threshold: 10, interval: '15m' })
      expect(JSON.stringify(shopTiles())).toContain('SeverityText:warn')
    }))
})

describe('alerts with a query', () => {
  it('are applied once as tiles of one dashboard of the project, and then the plan is empty', () =>
    site(async (one) => {
      expect(await convergenceProblems(one, all)).toEqual([])
      const [board, second] = boards()
      expect(second).toBeUndefined()
      expect(board?.name).toBe(`Alerts: ${project}`)
      expect(board?.tiles.map(({ name, x, y, config }) => [name, x, y, (config as { displayType: string }).displayType])).toEqual([
        ['Checkout has errors', 0, 0, 'number'],
        ['Services are slow', 8, 0, 'line'],
        ['Errors per request', 16, 0, 'line'],
        ['Ingestion lags', 0, 5, 'number'],
      ])
    }))

  it('are all that a plan shows', () =>
    site(async (one) => {
      const planned = await one.plan(file(all))
      expect(planned).toMatchObject({ toCreate: 4, unchanged: 0, changed: true })
      expect(planned.objects.map(({ kind, key, action, summary }) => [kind, key, action, summary])).toEqual([
        ['alert', 'errors', 'create', 'count(SeverityText:error) of Logs ≥ 10 in 5m → webhook oncall'],
        ['alert', 'slow', 'create', 'avg(Duration) of Traces by ServiceName ≥ 10 in 5m → webhook oncall'],
        ['alert', 'ratio', 'create', 'count(StatusCode:Error) / count() of Traces ≥ 10 in 5m → webhook oncall'],
        ['alert', 'lag', 'create', 'SQL ≥ 10 in 5m → webhook oncall'],
      ])
      const created = `creates the dashboard "Alerts: ${project}" for the queries of alerts`
      expect(planned.objects.map(({ notes }) => notes)).toEqual([[created], [], [], []])
      expect(planned.objects[0]?.fields.slice(0, 4)).toEqual([
        { path: 'query.source', after: 'Logs' },
        { path: 'query.select[0].aggFn', after: 'count' },
        { path: 'query.select[0].where', after: 'SeverityText:error' },
        { path: 'name', after: 'Checkout has errors' },
      ])
      await haveApplied()
      const again = await one.plan(file(all))
      expect(again).toMatchObject({ ...emptyPlan, unchanged: 4, needsApply: false })
      expect(again.objects.map(({ notes }) => notes)).toEqual([[], [], [], []])
    }))

  it('W20: keep the id of the alert when its key stays and its file, its name and its query change', () =>
    site(async (one) => {
      await haveApplied()
      const [before, tile] = [alertNamed(errors.name)?.id, alertNamed(errors.name)?.tileId]
      const renamed = { ...errors, name: 'Checkout fails', query: count('SeverityText:fatal') }
      const files = { 'b.json': { alerts: { errors: renamed } }, 'a.json': { alerts: { slow, ratio, lag } } }
      const applied = await one.apply(files, { prune: true })
      expect(applied.objects.filter(({ action }) => action !== 'unchanged')).toMatchObject([
        {
          key: 'errors',
          action: 'update',
          outcome: 'updated',
          origin: 'files',
          fields: [
            { path: 'query.select[0].where', before: 'SeverityText:error', after: 'SeverityText:fatal' },
            { path: 'name', before: 'Checkout has errors', after: 'Checkout fails' },
          ],
        },
      ])
      expect(alertNamed('Checkout fails')).toMatchObject({ id: before, tileId: tile })
      expect(boards().flatMap(({ tiles }) => tiles)).toHaveLength(4)
      expect(await one.plan(files, { prune: true })).toMatchObject(emptyPlan)
    }))

  it('keep their ids when two of them swap names and queries', () =>
    site(async (one) => {
      const other = { ...errors, name: 'Fatal errors', query: count('SeverityText:fatal') }
      await one.apply(file({ alerts: { errors, other } }))
      const idOf = (name: string) => alertNamed(name)?.id
      const [first, second] = [idOf(errors.name), idOf(other.name)]
      const swapped = { alerts: { errors: { ...other }, other: { ...errors } } }
      const { objects } = await one.apply(file(swapped))
      expect(objects.map(({ key, fields }) => [key, fields.map(({ path, before, after }) => [path, before, after])])).toEqual([
        [
          'errors',
          [
            ['query.select[0].where', 'SeverityText:error', 'SeverityText:fatal'],
            ['name', errors.name, other.name],
          ],
        ],
        [
          'other',
          [
            ['query.select[0].where', 'SeverityText:fatal', 'SeverityText:error'],
            ['name', other.name, errors.name],
          ],
        ],
      ])
      expect([idOf(other.name), idOf(errors.name)]).toEqual([first, second])
      expect(await one.plan(file(swapped))).toMatchObject(emptyPlan)
    }))

  it('keep the id when a chart becomes SQL, and show what was removed, and under another key with previousKey', () =>
    site(async (one) => {
      await haveApplied()
      const id = alertNamed(errors.name)?.id
      const planned = await one.apply(file({ alerts: { ...all.alerts, errors: { ...errors, query: lag.query } } }))
      const paths = planned.objects.flatMap(({ fields }) => fields.map(({ path }) => path))
      expect(paths).toEqual(expect.arrayContaining(['query.sql', 'query.select[0].aggFn']))
      expect(alertNamed(errors.name)?.id).toBe(id)
      const moved = { ...errors, name: 'Another', query: count('SeverityText:warn'), previousKey: 'errors' }
      const files = file({ alerts: { slow, ratio, lag, 'new-key': moved } })
      await one.apply(files, { prune: true })
      expect(alertNamed('Another')?.id).toBe(id)
      expect(await one.plan(files, { prune: true })).toMatchObject(emptyPlan)
    }))

  it('are created again where somebody deleted the alert, the tile or the dashboard', () =>
    site(async (one) => {
      const service = serviceOf(emulator())
      const applyAgain = async (isLost: (tileId: unknown) => boolean): Promise<number> => {
        Object.assign(service, { alerts: service.alerts.filter(({ tileId }) => !isLost(tileId)) })
        const { toCreate } = await one.apply(file(all))
        expect(boards().map(({ tiles }) => tiles.length)).toEqual([4])
        expect(await one.plan(file(all))).toMatchObject(emptyPlan)
        return toCreate
      }
      await one.apply(file(all))
      const left = alertNamed(slow.name)?.tileId
      expect(await applyAgain((id) => id === left)).toBe(1)
      expect(alertNamed(slow.name)?.tileId).toBe(left)
      const tile = boards()[0]?.tiles.shift()
      expect(await applyAgain((id) => id === tile?.id)).toBe(1)
      const ids = boards()[0]?.tiles.map(({ id }) => id)
      Object.assign(service, { dashboards: service.dashboards.filter(({ tags }) => !tags.includes('alerts')) })
      expect(await applyAgain((id) => ids?.some((other) => other === id) === true)).toBe(4)
    }))

  it('show why they were not written', () =>
    site(async (one) => {
      emulator().addFault({ match: { method: 'POST', path: '/dashboards' }, nth: 2, effect: { kind: 'status', status: 403 } })
      const applied = await one.apply(file({ alerts: { errors } }))
      expect(applied.objects.map(({ kind, outcome }) => [kind, outcome])).toEqual([
        ['alert', 'skipped'],
        ['dashboard', 'failed'],
      ])
    }))

  it('show a query that was changed in the web app as drift of the alert, and apply reverts it', () =>
    site(async (one) => {
      await haveApplied()
      const [tile] = boards()[0]?.tiles ?? []
      Object.assign(tile ?? {}, {
        config: { ...(tile?.config as object), select: [{ aggFn: 'count', where: 'x', whereLanguage: 'lucene' }] },
      })
      const drifted = await one.drift(file(all))
      expect(drifted).toMatchObject({ changed: true, toUpdate: 1 })
      expect(drifted.objects.filter(({ action }) => action !== 'unchanged')).toMatchObject([
        {
          kind: 'alert',
          key: 'errors',
          origin: 'service',
          fields: [{ path: 'query.select[0].where', before: 'x', after: 'SeverityText:error' }],
        },
      ])
      const applied = await one.apply(file(all))
      expect(applied.objects.find(({ key }) => key === 'errors')).toMatchObject({ action: 'update', outcome: 'updated' })
      expect(await one.plan(file(all))).toMatchObject(emptyPlan)
    }))

  it('leave a tile where a person put it', () =>
    site(async (one) => {
      await haveApplied()
      const [tile] = boards()[0]?.tiles ?? []
      Object.assign(tile ?? {}, { x: 0, y: 40, w: 24, h: 9 })
      expect(await one.plan(file(all))).toMatchObject(emptyPlan)
      const more = { alerts: { first: { ...errors, name: 'First' }, ...all.alerts } }
      await one.apply(file(more))
      expect(boards()[0]?.tiles.find(({ name }) => name === errors.name)).toMatchObject({ x: 0, y: 40, w: 24, h: 9 })
      expect(await one.plan(file(more))).toMatchObject(emptyPlan)
    }))
})

const others = { id: 'a'.repeat(24), name: 'Notes', x: 0, y: 90, w: 6, h: 4, config: { displayType: 'markdown', markdown: 'Mine' } }

describe('alerts with a query in other services', () => {
  const other = useEmulator({ rateLimit: 'off' })

  it('are applied once with the profile clickhouse-cloud', () =>
    withSite(other(), 'clickhouse-cloud', async (one) => {
      const webhookId = serviceOf(other()).webhooks[0]?.id
      const { note: _, ...fields } = watching
      const bare = { ...fields, channel: { type: 'webhook', webhookId } }
      const alerts = Object.fromEntries([errors, slow, ratio].map(({ name, query }, i) => [`a${i}`, { name, query, ...bare }]))
      const inSql = { name: 'SQL', query: { sql: lag.query.sql }, ...bare }
      expect(await convergenceProblems(one, { alerts: { ...alerts, 'in-sql': inSql } })).toEqual([])
    }))
})

describe('an alert that existed before', () => {
  const tile = { name: 'T', w: 8, h: 4, config: { displayType: 'number', source: 'Logs', select: [{ aggFn: 'count' }] } }
  const dashboards = { shop: { name: 'Shop', tags: ['t'], tiles: [tile] } }
  const onTile = { name: errors.name, dashboard: 'shop', tile: 'T', ...watching }
  const tilesOfShop = () => serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop')?.tiles

  it('keeps its id when it gets a query, and its tile stays', () =>
    site(async (one) => {
      await one.apply(file({ dashboards, alerts: { errors: onTile } }))
      const id = alertNamed(errors.name)?.id
      await one.apply(file({ dashboards, alerts: { errors } }), { prune: true })
      expect([alertNamed(errors.name)?.id, tilesOfShop()?.length]).toEqual([id, 1])
      expect(await one.plan(file({ dashboards, alerts: { errors } }), { prune: true })).toMatchObject(emptyPlan)
    }))

  it('is adopted from the tile of somebody else, which stays', () =>
    site(async (one) => {
      await one.apply(file({ dashboards, alerts: { errors: onTile } }))
      await one.apply(file({ dashboards: { keep: { name: 'Keep', tags: ['t'], tiles: [] } } }), { prune: 'forget' })
      const id = alertNamed(errors.name)?.id
      const files = await decided(one.plan, file({ alerts: { errors: { ...errors, adopt: true } } }))
      await one.apply(files, { prune: true })
      expect([alertNamed(errors.name)?.id, tilesOfShop()?.length]).toEqual([id, 1])
      expect(await one.plan(files, { prune: true })).toMatchObject(emptyPlan)
    }))

  it('moves with its tile to the new name of the project', () =>
    site(async (one) => {
      await one.apply(file(all), { project: 'shop/old' })
      const before = [boards()[0]?.id, alertNamed(errors.name)?.id, boards()[0]?.tiles.length]
      await one.apply({ ...file(all), '.watchkeeper.yml': { 'previous-project': 'shop/old' } }, { prune: true })
      expect([boards()[0]?.id, alertNamed(errors.name)?.id, boards()[0]?.tiles.length]).toEqual(before)
      expect(boards().map(({ name }) => name)).toEqual([`Alerts: ${project}`])
      expect(await one.plan(file(all), { prune: true })).toMatchObject(emptyPlan)
    }))
})

describe('prune of alerts with a query', () => {
  const none = file({ dashboards: { keep: { name: 'Keep', tags: ['t'], tiles: [] } } })

  it('deletes the tile with the alert, and the dashboard with the last one', () =>
    site(async (one) => {
      await haveApplied()
      const fewer = file({ alerts: { errors } })
      const pruned = await one.apply(fewer, { prune: true })
      expect(
        pruned.objects
          .filter(({ action }) => action === 'delete')
          .map(({ key }) => key)
          .toSorted(),
      ).toEqual(['lag', 'ratio', 'slow'])
      expect(boards()[0]?.tiles.map(({ name }) => name)).toEqual([errors.name])
      expect(await one.plan(fewer, { prune: true })).toMatchObject(emptyPlan)
      await one.apply(none, { prune: true })
      expect([boards(), alertNamed(errors.name)]).toEqual([[], undefined])
      expect(await one.plan(none, { prune: true })).toMatchObject(emptyPlan)
    }))

  it('keeps the tile of an alert that stays, because prune is not set', () =>
    site(async (one) => {
      await haveApplied()
      const planned = await one.apply(file({ alerts: { errors } }))
      expect(planned.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
      expect(planned.orphans.map(({ key }) => key).toSorted()).toEqual(['lag', 'ratio', 'slow'])
      expect(boards()[0]?.tiles).toHaveLength(4)
      expect(alertNamed(slow.name)).toBeDefined()
      const left = await one.plan(none)
      expect(left.orphans.map(({ key }) => key).toSorted()).toEqual(['errors', 'lag', 'ratio', 'slow'])
    }))

  it('W20: keeps a dashboard with a tile that a person added, also as a copy of the tile of an alert, and uses it again', () =>
    site(async (one) => {
      await haveApplied()
      const [board] = boards()
      const copy = { ...structuredClone(board?.tiles[0]), id: 'b'.repeat(24), y: 60 }
      board?.tiles.push(others as never, copy as never)
      expect(await one.plan(file(all))).toMatchObject(emptyPlan)
      const changed = { ...errors, query: count('SeverityText:fatal') }
      await one.apply(file({ alerts: { errors: changed } }), { prune: true })
      expect(boards()[0]?.tiles.map(({ name, y }) => [name, y])).toEqual([
        [errors.name, 0],
        ['Notes', 90],
        [errors.name, 60],
      ])
      await one.apply(none, { prune: true })
      expect(boards().map(({ id, tiles }) => [id, tiles.map(({ name }) => name)])).toEqual([[board?.id, ['Notes', errors.name]]])
      expect(await one.plan(none, { prune: true })).toMatchObject(emptyPlan)
      await one.apply(file(all), { prune: true })
      // Without an alert on it, the copy becomes the tile of the alert again.
      expect(boards().map(({ id, tiles }) => [id, tiles.length])).toEqual([[board?.id, 5]])
      expect(await one.plan(file(all), { prune: true })).toMatchObject(emptyPlan)
    }))

  it('W20: keeps the tile of a person when prune deletes the alert that files had on it', () =>
    site(async (one) => {
      await haveApplied()
      const [board] = boards()
      board?.tiles.push({ ...structuredClone(board.tiles[0]), id: 'd'.repeat(24), name: 'Mine', y: 60 } as never)
      const { query: _, ...fields } = errors
      const mine = { ...fields, name: 'On a tile', dashboard: { name: String(board?.name) }, tile: 'Mine' }
      await one.apply(file({ alerts: { ...all.alerts, mine } }))
      expect(alertNamed(mine.name)).toMatchObject({ tileId: 'd'.repeat(24) })
      await one.apply(file(all), { prune: true })
      expect(alertNamed(mine.name)).toBeUndefined()
      expect(boards()[0]?.tiles.map(({ name }) => name)).toContain('Mine')
    }))

  it('W20: removes the tile of a query when its alert watches something else, and the dashboard with the last one', () =>
    site(async (one) => {
      const tile = { name: 'T', w: 8, h: 4, config: { displayType: 'number', source: 'Logs', select: [{ aggFn: 'count' }] } }
      const dashboards = { shop: { name: 'Shop', tags: ['t'], tiles: [tile] } }
      const { query: _, ...fields } = errors
      const onTile = { ...fields, dashboard: 'shop', tile: 'T' }
      for (const left of [{ slow }, {}]) {
        await one.apply(file({ dashboards, alerts: { errors, ...left } }), { prune: true })
        const [board] = boards()
        const made = board?.tiles.find(({ name }) => name === errors.name)
        // A person renamed it, so that only the marker tells whose it is.
        Object.assign(made ?? {}, { name: 'Renamed' })
        const files = file({ dashboards, alerts: { errors: onTile, ...left } })
        const applied = await one.apply(files)
        expect(applied.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
        expect(boards().map(({ tiles }) => tiles.map(({ name }) => name))).toEqual([Object.values(left).map(({ name }) => name)])
        expect(await one.plan(files)).toMatchObject(emptyPlan)
        await one.apply(files, { prune: true })
        expect(boards()).toHaveLength(Object.keys(left).length)
        expect(alertNamed(errors.name)?.note).not.toContain('wkq:')
      }
    }))

  it('are updated, not marked, and say which sides changed, as do those that are held', { tags: 'slow' }, () =>
    site(async (one) => {
      const of = (where: string, threshold = 10) => file({ alerts: { errors: { ...errors, query: count(where), threshold } } })
      await one.apply(of('SeverityText:fatal'))
      expect((await one.apply(of('SeverityText:error'))).objects).toMatchObject([{ key: 'errors', action: 'update', outcome: 'updated' }])
      const renamed = { errors: { ...errors, previousKey: 'old', query: count('SeverityText:error'), threshold: 10 } }
      await one.apply(file({ alerts: { old: { ...renamed.errors, previousKey: 'errors', query: count('SeverityText:fatal') } } }))
      expect((await one.apply(file({ alerts: renamed }))).objects).toMatchObject([{ key: 'errors', action: 'update', outcome: 'updated' }])
      const [tile] = boards().flatMap(({ tiles }) => tiles)
      Object.assign(tile ?? {}, { config: { ...tile?.config, select: [{ aggFn: 'count', where: 'SeverityText:warn' }] } })
      const originOf = async (content: object) => (await one.plan(file(content))).objects.map(({ origin }) => origin)
      expect(await originOf(of('SeverityText:error')['observability/a.yml'])).toEqual(['service'])
      expect(await originOf(of('SeverityText:error', 20)['observability/a.yml'])).toEqual(['both'])
      expect(await originOf(of('SeverityText:info')['observability/a.yml'])).toEqual(['unknown'])
      Object.assign(alertNamed(errors.name) ?? {}, { threshold: 33 })
      const content = of('SeverityText:info', 12)
      expect(await one.plan(content)).toMatchObject({ toHold: 1 })
      const { writtenFiles } = await one.pull(content, undefined, { only: 'declared' })
      const [pulled] = writtenFiles
      expect(pulled?.content).toContain('SeverityText:warn')
      expect(await one.plan({ 'observability/a.yml': pulled?.content })).toMatchObject({ toHold: 0, changed: false })
    }),
  )

  it('stay in a row that a person added where the file declares no tiles, and leave one that the file drops', { tags: 'slow' }, () =>
    site(async (one) => {
      const row = { id: 'row', title: 'Row', collapsed: false }
      await one.apply(file({ alerts: { errors, slow } }))
      const [board] = boards()
      const [first] = board?.tiles ?? []
      Object.assign(board ?? {}, { containers: [row] })
      Object.assign(first ?? {}, { containerId: 'row' })
      expect(await one.plan(file({ alerts: { errors, slow } }))).toMatchObject(emptyPlan)
      const own = { name: 'Own', w: 8, h: 4, config: { displayType: 'number', ...count('a') } }
      const on = { ...slow, dashboard: 'shop' }
      const withRow = { name: 'Shop', rows: [{ name: 'Row', tiles: [own] }] }
      await one.apply(file({ dashboards: { shop: withRow }, alerts: { slow: on } }))
      const shop = () => serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop')
      Object.assign(shop()?.tiles.find(({ name }) => name === slow.name) ?? {}, { containerId: shop()?.containers?.[0]?.id, y: 4 })
      const left = { name: 'Shop', tiles: [own] }
      for (const query of [slow.query, { ...slow.query, source: 'Tracs' }]) {
        // The person moved the tile, and the file drops the row.
        const files = await decided(one.plan, file({ dashboards: { shop: left }, alerts: { slow: { ...on, query } } }))
        await one.apply(files)
        expect(shop()?.tiles.map(({ name, containerId }) => [name, containerId])).toEqual([
          [own.name, undefined],
          [slow.name, undefined],
        ])
        expect((await one.plan(files)).objects.find(({ key }) => key === 'shop')).toMatchObject({ action: 'unchanged' })
      }
    }),
  )

  it('stay in a row of raw, and leave several rows for places of their own', () =>
    site(async (one) => {
      const shop = () => serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop')
      const own = { name: 'Own', w: 8, h: 4, config: { displayType: 'number', ...count('a') } }
      const row = (id: string) => ({ id, title: id, collapsed: false })
      const alerts = { errors: { ...errors, dashboard: 'shop' }, slow: { ...slow, dashboard: 'shop' } }
      const raw = { containers: [row('one'), row('two')] }
      const files = file({ dashboards: { shop: { name: 'Shop', raw, tiles: [own] } }, alerts })
      await one.apply(files)
      for (const [i, name] of [errors.name, slow.name].entries())
        Object.assign(shop()?.tiles.find((tile) => tile.name === name) ?? {}, { containerId: raw.containers[i]?.id, x: 8, y: 0 })
      expect(await one.plan(files)).toMatchObject(emptyPlan)
      const left = await decided(one.plan, file({ dashboards: { shop: { name: 'Shop', tiles: [own] } }, alerts }))
      await one.apply(left)
      const places = shop()?.tiles.map(({ containerId, x, y }) => JSON.stringify([containerId, x, y])) ?? []
      expect([new Set(places).size, places.filter((place) => place.includes('one') || place.includes('two'))]).toEqual([3, []])
      expect(await one.plan(left)).toMatchObject(emptyPlan)
    }))

  it('W20: prunes a tile by what the marker of its alert says, whatever the names are', () =>
    site(async (one) => {
      await haveApplied()
      const [board] = boards()
      const [made] = board?.tiles ?? []
      const copy = { ...structuredClone(made), id: 'd'.repeat(24), name: 'Mine', y: 60 }
      board?.tiles.push(copy as never)
      Object.assign(made ?? {}, { name: 'Renamed' })
      const { query: _, ...fields } = errors
      const mine = { ...fields, name: 'Mine', dashboard: { name: String(board?.name) }, tile: 'Mine' }
      await one.apply(file({ alerts: { slow, ratio, lag, mine } }))
      const pruned = await one.apply(file({ alerts: { slow } }), { prune: true })
      expect(pruned.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
      expect(boards()[0]?.tiles.map(({ name }) => name)).toEqual([slow.name, 'Mine'])
      expect([alertNamed(errors.name), alertNamed('Mine')]).toEqual([undefined, undefined])
    }))

  it('W20: keeps the tile that an alert was on, also with the name of the alert, and everything else on it', () =>
    site(async (one) => {
      const tile = { name: errors.name, w: 8, h: 4, config: { displayType: 'number', source: 'Logs', select: [{ aggFn: 'count' }] } }
      const dashboards = { shop: { name: 'Shop', tags: ['t'], tiles: [tile] } }
      const { query, ...fields } = errors
      const onTile = { ...fields, dashboard: 'shop', tile: errors.name }
      const other = { ...onTile, name: 'Other' }
      await one.apply(file({ dashboards, alerts: { errors: onTile, other } }))
      const before = alertNamed('Other')?.tileId
      const files = file({ dashboards, alerts: { errors: { ...fields, dashboard: 'shop', query }, other } })
      await one.apply(files)
      const shop = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Shop')
      expect(shop?.tiles.map(({ name, id }) => [name, id === before])).toEqual([
        [errors.name, true],
        [`${errors.name} (errors)`, false],
      ])
      expect(alertNamed('Other')?.tileId).toBe(before)
      expect(await one.plan(files)).toMatchObject(emptyPlan)
    }))

  it('are pulled with the tile that they are on where a person made it', () =>
    site(async (one) => {
      await one.apply(file({ alerts: { slow } }))
      const [board] = boards()
      board?.tiles.push({ ...structuredClone(board.tiles[0]), id: 'd'.repeat(24), name: 'Mine', y: 60 } as never)
      const { query: _, ...fields } = errors
      const mine = { ...fields, dashboard: { name: String(board?.name) }, tile: 'Mine' }
      await one.apply(file({ alerts: { slow, mine } }))
      const files = file({ alerts: { slow } })
      const pulled = await one.pull(files)
      expect(pulled.objects).toContainEqual(expect.objectContaining({ key: 'mine', outcome: 'added' }))
      expect(pulled.writtenFiles.map(({ content }) => content).join('\n')).toMatch(/tile: Mine/)
      const planned = await one.plan(afterPull(files, pulled))
      expect(planned.objects.find(({ key }) => key === 'mine')).toMatchObject({ fields: [] })
      expect(planned).toMatchObject(emptyPlan)
    }))

  it('W20: keeps the tile of a person when the alert on it gets a query, and the tile of a query that an alert names', () =>
    site(async (one) => {
      await one.apply(file({ alerts: { slow } }))
      const [board] = boards()
      const copy = { ...structuredClone(board?.tiles[0]), id: 'd'.repeat(24), name: 'Mine', y: 60 }
      board?.tiles.push(copy as never)
      const { query: _, ...fields } = errors
      const mine = { ...fields, dashboard: { name: String(board?.name) }, tile: 'Mine' }
      await one.apply(file({ alerts: { slow, errors: mine } }))
      await one.apply(file({ alerts: { slow, errors } }))
      const tiles = () => boards()[0]?.tiles.map(({ name }) => name)
      expect(tiles()?.toSorted()).toEqual([errors.name, 'Mine', slow.name])
      expect(boards()[0]?.tiles.find(({ name }) => name === 'Mine')).toMatchObject({ id: copy.id, config: copy.config })
      await one.apply(file({ alerts: { slow, errors: { ...mine, tile: errors.name } } }))
      expect(tiles()).toHaveLength(3)
      expect(alertNamed(errors.name)?.tileId).toBe(boards()[0]?.tiles.find(({ name }) => name === errors.name)?.id)
    }))

  it('shows that a person changed the tags of their dashboard, which apply changes back', () =>
    site(async (one) => {
      await haveApplied()
      const [board] = boards()
      if (board === undefined) throw new Error('not applied')
      const named = board.name
      board.tags = [...board.tags, 'theirs']
      const planned = await one.plan(file(all))
      expect(planned).toMatchObject({ changed: true, toUpdate: 1 })
      expect(planned.objects.find(({ action }) => action === 'update')).toMatchObject({ kind: 'dashboard', name: named })
    }))

  it('warns where a write of all tiles may lose hidden parts of tiles of others, and not where it patches its own', () =>
    site(async (one) => {
      await haveApplied()
      const warnings = async (alerts: object) =>
        (await one.plan(file({ alerts }))).diagnostics.filter(({ rule }) => rule === 'rewrites-tiles').map(({ message }) => message)
      const more = { ...all.alerts, more: { ...errors, name: 'More' } }
      expect(await warnings(more)).toEqual([])
      boards()[0]?.tiles.push(others as never)
      expect(await warnings(all.alerts)).toEqual([])
      expect(await warnings({ ...all.alerts, errors: { ...errors, query: count('SeverityText:fatal') } })).toEqual([])
      expect(await warnings(more)).toEqual([
        expect.stringContaining('apply writes tiles of 1 existing dashboard again (Alerts: shop/observability)'),
      ])
    }))

  it('keeps an alert of somebody else with the tile that it is on', () =>
    site(async (one) => {
      await haveApplied()
      const { alerts } = serviceOf(emulator())
      const mine = alertNamed(slow.name)
      if (mine === undefined) throw new Error('not applied')
      alerts.push({ ...structuredClone(mine), id: 'c'.repeat(24), name: 'Mine', note: '' })
      const pruned = await one.apply(none, { prune: true })
      expect(pruned.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
      expect(boards()[0]?.tiles.map(({ name }) => name)).toEqual([slow.name])
      expect(alertNamed('Mine')).toBeDefined()
    }))

  it('forgets the alerts and the dashboard', () =>
    site(async (one) => {
      await haveApplied()
      await one.apply(none, { prune: 'forget' })
      expect(await one.plan(none)).toMatchObject({ ...emptyPlan, orphans: [] })
      expect(boards()[0]?.tiles).toHaveLength(4)
      expect(alertNamed(slow.name)).toBeDefined()
    }))
})

describe('a dashboard that alerts with a query name', () => {
  const inBoard = { ...errors, dashboard: 'checkout' }

  it('may have only a name, and keeps tiles that a person added, also where one overlaps the tile of a query', () =>
    site(async (one) => {
      const content = { dashboards: { checkout: { name: 'Checkout', tags: ['t'] } }, alerts: { errors: inBoard } }
      await one.apply(file(content))
      expect(await one.plan(file(content), { prune: true })).toMatchObject({ ...emptyPlan, orphans: [] })
      const board = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Checkout')
      board?.tiles.push(others as never, { ...others, id: 'f'.repeat(24), x: 0, y: 0 } as never)
      expect(await one.plan(file(content))).toMatchObject(emptyPlan)
      const planned = await one.plan(file({ ...content, alerts: { errors: inBoard, more: { ...lag, dashboard: 'checkout' } } }))
      expect(planned.objects.map(({ kind, key, action }) => [kind, key, action])).toEqual([
        ['dashboard', 'checkout', 'unchanged'],
        ['alert', 'errors', 'unchanged'],
        ['alert', 'more', 'create'],
      ])
    }))

  it('W21: is held where a person changed a tile of the file, or added one, and the file changed, and not for new queries', () =>
    site(async (one) => {
      const tile = { name: 'Own', w: 24, h: 3, config: { displayType: 'markdown', markdown: 'x' } }
      const board = { name: 'Checkout', tags: ['t'], tiles: [tile] }
      const files = (dashboard: object, more: object = {}) =>
        file({ dashboards: { checkout: { ...board, ...dashboard } }, alerts: { errors: inBoard, ...more } })
      await one.apply(files({}))
      const stored = () => serviceOf(emulator()).dashboards.find(({ name }) => name === 'Checkout')
      const before = structuredClone(stored()?.tiles)
      const edits = [
        () => Object.assign(stored()?.tiles[0]?.config ?? {}, { markdown: 'theirs' }),
        () => stored()?.tiles.push({ ...others, y: 9 } as never),
      ]
      for (const edit of edits) {
        edit()
        const edited = structuredClone(stored())
        const applied = await one.apply(files({ name: 'Renamed' }))
        expect(applied.objects.map(({ key, action, origin }) => [key, action, origin])).toEqual([
          ['checkout', 'held', 'both'],
          ['errors', 'unchanged', undefined],
        ])
        expect(stored()).toEqual(edited)
        Object.assign(stored() ?? {}, { tiles: structuredClone(before) })
      }
    }))

  it('shows the queries below its own tiles, and loses one only with prune', () =>
    site(async (one) => {
      const tile = { name: 'Own', w: 24, h: 3, config: { displayType: 'markdown', markdown: 'x' } }
      const content = { dashboards: { checkout: { name: 'Checkout', tags: ['t'], tiles: [tile] } }, alerts: { errors: inBoard } }
      await one.apply(file(content))
      expect(await one.plan(file(content), { prune: true })).toMatchObject({ ...emptyPlan, orphans: [] })
      const board = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Checkout')
      expect(board?.tiles.map(({ name, x, y }) => [name, x, y])).toEqual([
        ['Own', 0, 0],
        [errors.name, 0, 3],
      ])
      const changed = { ...content, alerts: { errors: { ...inBoard, query: count('SeverityText:fatal') } } }
      const planned = await one.plan(file(changed))
      expect(
        planned.objects.filter(({ action }) => action !== 'unchanged').map(({ key, fields }) => [key, fields.map(({ path }) => path)]),
      ).toEqual([['errors', ['query.select[0].where']]])
      const made = board?.tiles.find(({ name }) => name === errors.name)
      Object.assign(made ?? {}, { y: 1 })
      const moving = await one.plan(file(content))
      expect(moving).toMatchObject({ changed: true, toUpdate: 1 })
      expect(moving.objects.find(({ action }) => action === 'update')).toMatchObject({
        kind: 'dashboard',
        fields: [{ path: `tiles["${errors.name}"].y`, before: 1, after: 3 }],
      })
      Object.assign(made ?? {}, { y: 3 })
      const without = file({ dashboards: content.dashboards })
      expect(errorRules(await one.plan(without))).toEqual(['held'])
      const pruned = await one.apply(without, { prune: true })
      expect(pruned.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
      expect(
        serviceOf(emulator())
          .dashboards.find(({ name }) => name === 'Checkout')
          ?.tiles.map(({ name }) => name),
      ).toEqual(['Own'])
      expect(alertNamed(errors.name)).toBeUndefined()
    }))

  it('takes an alert from the dashboard of the project', () =>
    site(async (one) => {
      await one.apply(file({ alerts: { errors, slow } }))
      const content = file({ dashboards: { checkout: { name: 'Checkout', tags: ['t'] } }, alerts: { errors: inBoard, slow } })
      const planned = await one.plan(content)
      expect(planned.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
      await one.apply(content)
      expect(boards()[0]?.tiles.map(({ name }) => name)).toEqual([slow.name])
      expect(await one.plan(content)).toMatchObject(emptyPlan)
    }))
})

describe('pull of alerts with a query', () => {
  const emptied = <T>(use: (one: Site) => Promise<T>): Promise<T> => {
    const { alerts, dashboards, savedSearches } = serviceOf(emulator())
    for (const objects of [alerts, dashboards, savedSearches]) objects.splice(0)
    return site(use)
  }

  const text = `# Ours
alerts:
  errors:
    name: Checkout has errors
    # Lucene
    query: { source: Logs, select: [{ aggFn: count, where: 'SeverityText:error' }] }
    threshold: 10
    interval: 5m
    channel: { type: webhook, webhook: oncall }
    note: Look at the logs
`

  const setTile = (name: string, fields: object): void => {
    const tile = boards()
      .flatMap(({ tiles }) => tiles)
      .find((one) => one.name === name)
    Object.assign(tile ?? {}, { config: { ...(tile?.config as object), ...fields } })
  }

  it('writes them in this form, from nothing', () =>
    emptied(async (one) => {
      await one.apply(file(all))
      const pulled = await one.pull({})
      const content = pulled.writtenFiles.map((written) => written.content).join()
      expect(content).not.toContain('project-alerts')
      const files = afterPull({}, pulled)
      expect((await one.plan(files)).objects.map(({ kind, key, action }) => [kind, key, action])).toEqual(
        ['errors', 'ratio', 'lag', 'slow'].map((key) => ['alert', key, expect.stringMatching(/^(?:mark|unchanged)$/)]),
      )
      expect(content).toContain('query: { source: Logs, select: [{ aggFn: count, where: SeverityText:error }] }')
      expect(await one.plan(files)).toMatchObject({ ...emptyPlan, orphans: [] })
    }))

  it('writes them in this form with the dashboard that shows them, from nothing or beside the declared dashboard', () =>
    emptied(async (one) => {
      const own = { name: 'Own', w: 24, h: 3, config: { displayType: 'markdown', markdown: 'xyz' } }
      const { name: _, ...nameless } = slow
      const alerts = { errors: { ...errors, dashboard: 'checkout' }, nameless: { ...nameless, dashboard: 'checkout' } }
      const bare = { name: 'Checkout', tags: ['t'] }
      const beside = { 'observability/a.yml': JSON.stringify({ dashboards: { checkout: { ...bare, tiles: [own] } } }) }
      for (const [checkout, before, ownTiles] of [
        [bare, {}, 0],
        [{ ...bare, tiles: [own] }, {}, 1],
        [{ ...bare, tiles: [own] }, beside, 1],
      ] as const) {
        await one.apply(file({ dashboards: { checkout }, alerts }))
        const pulled = await one.pull(before)
        const files = afterPull(before, pulled)
        const content = Object.values(files).join()
        expect(content.match(/SeverityText:error/g)).toHaveLength(1)
        expect(content).not.toContain('tile:')
        expect(content.match(/xyz/g) ?? []).toHaveLength(ownTiles)
        expect(pulled.objects.map(({ key, outcome }) => [key, outcome])).toContainEqual(['nameless', 'added'])
        expect(await one.plan(files)).toMatchObject({ ...emptyPlan, orphans: [] })
        expect((await one.pull(files)).writtenFiles).toEqual([])
      }
    }))

  it('writes the tile where a person renamed it, or made it a chart that no query can say', () =>
    emptied(async (one) => {
      const alerts = { errors: { ...errors, dashboard: 'checkout' } }
      await one.apply(file({ dashboards: { checkout: { name: 'Checkout', tags: ['t'] } }, alerts }))
      const tile = serviceOf(emulator()).dashboards.at(-1)?.tiles[0]
      const { name, config } = structuredClone(tile) ?? {}
      for (const change of [
        { name: 'Renamed', config },
        { name, config: { ...(config as object), displayType: 'line' } },
      ]) {
        Object.assign(tile ?? {}, change)
        const pulled = await one.pull({})
        const files = afterPull({}, pulled)
        expect(Object.values(files).join()).toContain(`tile: ${change.name}`)
        expect(await one.plan(files)).toMatchObject({ ...emptyPlan, orphans: [] })
      }
    }))

  it('writes a query that was changed in the web app into the file, and keeps the rest of it', () =>
    emptied(async (one) => {
      const files = { 'observability/a.yml': text }
      await one.apply(files)
      setTile(errors.name, { select: [{ aggFn: 'count', where: 'SeverityText:fatal', whereLanguage: 'lucene' }] })
      for (const only of [undefined, 'drifted'] as const) {
        const pulled = await one.pull(files, undefined, { only })
        expect(pulled.objects.map(({ kind, key, outcome }) => [kind, key, outcome])).toEqual([['alert', 'errors', 'updated']])
        expect(pulled.writtenFiles.map(({ content }) => content.replace(/^ +adopt: \S+\n/m, ''))).toEqual([
          text.replace('SeverityText:error', 'SeverityText:fatal'),
        ])
      }
    }))

  it('leaves out what no query can say', () =>
    emptied(async (one) => {
      const files = { 'observability/a.yml': text }
      await one.apply(files)
      for (const displayType of ['stacked_bar', 'table']) {
        setTile(errors.name, { displayType })
        const pulled = await one.pull(files)
        expect(pulled.objects).toMatchObject([{ key: 'errors', outcome: 'left-out' }])
        expect(pulled.writtenFiles).toEqual([])
      }
    }))

  it('writes no tile of a query into the dashboard that shows it', () =>
    emptied(async (one) => {
      const own = { name: 'Own', w: 24, h: 3, config: { displayType: 'markdown', markdown: 'x' } }
      for (const tiles of [undefined, [own]]) {
        const dashboards = { checkout: { name: 'Checkout', tags: ['t'], ...(tiles && { tiles }) } }
        const files = file({ dashboards, alerts: { errors: { ...errors, dashboard: 'checkout' } } })
        await one.apply(files)
        expect((await one.pull(files)).writtenFiles).toEqual([])
        const board = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Checkout')
        Object.assign(board ?? {}, { name: 'Checkout 2' })
        const pulled = await one.pull(files)
        expect(pulled.objects.map(({ key, outcome }) => [key, outcome])).toContainEqual(['checkout', 'updated'])
        expect(await one.plan(afterPull(files, pulled))).toMatchObject(emptyPlan)
        expect(pulled.writtenFiles.map(({ content }) => content).join()).not.toContain('"tile"')
        Object.assign(board ?? {}, { name: 'Checkout' })
      }
    }))
})
