// The web app gives alerts no name, so that the server's own titles have the tile, the dashboard and the value.
import { describe, expect, it } from 'vitest'
import type { Alert, Emulator } from '../../../src/emulator/index.ts'
import { inputsFor, methodsOf, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { actions, errors, many, outcomes, shop, slow, watching } from '../../support/shop-declaration.ts'
import { acceptingRewrites, afterPull, differing, emptyPlan, withSite } from '../../support/site.ts'

const { name: _, ...nameless } = errors
const { name: __, ...onSearch } = many
const content = { dashboards: { shop }, savedSearches: { slow }, alerts: { nameless, onSearch } }
const file = (fields: object) => ({ 'a.json': fields })

describe.each(['clickhouse-cloud', 'hyperdx'] as const)('alerts without a name, %s', (dialect) => {
  const emulator = useEmulator({ dialect, rateLimit: 'off' })
  const stored = (key: string): Alert | undefined => serviceOf(emulator()).alerts.find(({ note }) => note?.includes(` ${key} `))

  it('are created without a name, and a second plan shows no changes', () =>
    withSite(emulator(), dialect, async ({ plan, apply }) => {
      const files = file({ ...content, alerts: { nameless, search: onSearch } })
      const planned = await plan(files)
      expect(planned.objects.map(({ kind, name, action }) => [kind, name, action])).toEqual([
        ['savedSearch', 'Slow', 'create'],
        ['dashboard', 'Shop', 'create'],
        ['alert', 'A', 'create'],
        ['alert', 'slow', 'create'],
      ])
      expect(outcomes(await apply(files))).toMatchObject({ nameless: 'created', search: 'created' })
      expect([stored('nameless')?.name, stored('search')?.name]).toEqual([null, null])
      const bodies = emulator().requests.flatMap(({ method, path, body }) => (method === 'POST' && path.endsWith('/alerts') ? [body] : []))
      for (const body of bodies) expect(body).not.toHaveProperty('name')
      expect(await plan(files)).toMatchObject(emptyPlan)
    }))

  it('lose a name and get one by an ordinary change', () =>
    withSite(emulator(), dialect, async ({ plan, apply }) => {
      const [named, without] = [
        file({ dashboards: { shop }, alerts: { errors } }),
        file({ dashboards: { shop }, alerts: { errors: nameless } }),
      ]
      await apply(named)
      expect((await plan(without)).objects.find(({ key }) => key === 'errors')).toMatchObject({
        action: 'update',
        fields: [{ path: 'name', before: 'Errors' }],
      })
      await apply(without)
      expect(stored('errors')?.name).toBe(null)
      expect(await plan(without)).toMatchObject(emptyPlan)
      await apply(named)
      expect(stored('errors')?.name).toBe('Errors')
      expect(await plan(named)).toMatchObject(emptyPlan)
    }))

  it('give the tile of their query their key', () =>
    withSite(emulator(), dialect, async ({ plan, apply }) => {
      const query = { source: 'Logs', select: [{ aggFn: 'count' }] }
      const files = file({ alerts: { 'many-logs': { query, ...watching } } })
      await apply(files)
      const dashboard = serviceOf(emulator()).dashboards.find(({ tiles }) => tiles.some(({ name }) => name === 'many-logs'))
      expect(stored('many-logs')).toMatchObject({ name: null, tileId: dashboard?.tiles[0]?.id })
      expect(await plan(files)).toMatchObject(emptyPlan)
      const renamed = file({ alerts: { 'many-logs': { name: 'Many logs', query, ...watching } } })
      expect((await apply(renamed)).objects.map(({ kind, outcome }) => [kind, outcome])).toContainEqual(['alert', 'updated'])
      expect(await plan(renamed)).toMatchObject(emptyPlan)
    }))

  it('are not taken for each other because they all have no name', () =>
    withSite(emulator(), dialect, async ({ plan }) => {
      for (const alert of serviceOf(emulator()).alerts) alert.name = null
      const planned = await plan(file({ ...content, alerts: { nameless: { ...nameless, adopt: true }, search: onSearch } }))
      expect(actions(planned)).toMatchObject({ nameless: 'create', search: 'create' })
      // Where its values can be read, its threshold is so low that it would always fire.
      const others = planned.diagnostics.filter(({ severity, rule }) => severity !== 'note' && rule !== 'implausible-alert')
      expect(others).toEqual([])
    }))

  it('have the name of their own tile where a copy of the dashboard has the same ids of tiles', () =>
    withSite(emulator(), dialect, async ({ pull }) => {
      const service = serviceOf(emulator())
      const [alert] = service.alerts.filter(({ tileId }) => tileId !== null)
      const dashboard = service.dashboards.find(({ id }) => id === alert?.dashboardId)
      if (alert === undefined || dashboard === undefined) throw new Error('the shop has changed')
      alert.name = null
      const tiles = dashboard.tiles.map((tile) => ({ ...tile, name: `Copy of ${tile.name}` }))
      service.dashboards.push({ ...structuredClone(dashboard), id: 'f'.repeat(24), name: 'Copy', tiles })
      const tile = dashboard.tiles.find(({ id }) => id === alert.tileId)
      expect((await pull({})).objects.find(({ id }) => id === alert.id)).toMatchObject({ name: tile?.name })
    }))

  it('are pulled with a key made of what they watch, and then managed', { tags: 'slow' }, () =>
    withSite(emulator(), dialect, async ({ pull, plan, apply }) => {
      for (const alert of serviceOf(emulator()).alerts) alert.name = null
      const pulled = await pull({})
      const alerts = pulled.objects.filter(({ kind }) => kind === 'alert')
      expect(alerts.map(({ key, name, outcome }) => [key, name, outcome])).toEqual([
        ['declined-payments', 'Declined payments', 'added'],
        ['error-rate', 'Error rate', 'added'],
        ['errors-in-checkout', 'Errors in checkout', 'added'],
        ['latency', 'Latency', 'added'],
        ['orders', 'Orders', 'added'],
        ['payment-queue', 'Payment queue', 'added'],
      ])
      const files = acceptingRewrites(afterPull({}, pulled))
      expect(JSON.stringify(files)).not.toContain('"name":null')
      expect(differing(await plan(files))).toEqual([])
      await apply(files)
      expect(serviceOf(emulator()).alerts.map(({ name }) => name)).toEqual(serviceOf(emulator()).alerts.map(() => null))
      expect((await pull(files)).changed).toBe(false)
    }),
  )
})

describe('operations on alerts without a name', () => {
  const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })
  const run = (operation: string, more: Readonly<Record<string, string>> = {}) =>
    invokeText({ inputs: { operation, ...inputsFor(emulator(), 'clickhouse-cloud'), ...more } })

  /** Takes the names away. Returns an alert on a tile. */
  const unname = (server: Emulator): Alert => {
    const { alerts } = serviceOf(server)
    for (const alert of alerts) alert.name = null
    return alerts.find(({ tileId }) => tileId !== null) ?? fail()
  }
  const fail = (): never => {
    throw new Error('the shop has changed')
  }
  const tileOf = ({ dashboardId, tileId }: Alert): string =>
    serviceOf(emulator())
      .dashboards.find(({ id }) => id === dashboardId)
      ?.tiles.find(({ id }) => id === tileId)?.name ?? fail()

  it('list-alerts shows and finds them by what they watch', async () => {
    const alert = unname(emulator())
    const { document, blocks } = await run('list-alerts', { select: `name=${tileOf(alert)}` })
    expect(document.ids).toContain(alert.id)
    expect(JSON.stringify(blocks)).toContain(`"text":"${tileOf(alert)}"`)
    const search = serviceOf(emulator()).alerts.find(({ savedSearchId }) => savedSearchId !== null)
    expect((await run('list-alerts', { select: 'name~errors in' })).document.ids).toEqual([search?.id])
  })

  it('silence-alerts finds them by what they watch, and reads no other list where each alert has a name', async () => {
    const [named] = serviceOf(emulator()).alerts
    await run('silence-alerts', { select: `name=${named?.name}`, for: '1h' })
    expect(emulator().requests.some(({ path }) => path.includes('/dashboards'))).toBe(false)
    const alert = unname(emulator())
    const { document } = await run('silence-alerts', { select: `name=${tileOf(alert)}`, for: '1h' })
    expect(document).toMatchObject({ status: 'pass', alerts: [{ id: alert.id, name: tileOf(alert) }] })
  })

  it('create-alert and update-alert need no name, and null removes one', async () => {
    const { dashboardId, tileId, channels } = unname(emulator())
    const [channel] = channels
    const created = await run('create-alert', {
      alert: JSON.stringify({ dashboard: dashboardId, tile: tileId, threshold: 5, interval: '5m', channel }),
    })
    expect(created.document).toMatchObject({ status: 'pass', alert: { name: null } })
    const id = String(created.document.id)
    expect((await run('update-alert', { id, alert: '{ name: Errors }' })).document).toMatchObject({ alert: { name: 'Errors' } })
    expect((await run('update-alert', { id, alert: '{ name: null }' })).document).toMatchObject({ alert: { name: null } })
    expect(methodsOf(emulator()).filter((method) => method === 'POST')).toHaveLength(1)
  })

  it('delete-dashboard names the tiles of the alerts that go with it', async () => {
    const alert = unname(emulator())
    const tile = tileOf(alert)
    const { document } = await run('delete-dashboard', { id: String(alert.dashboardId) })
    expect(document.lostAlerts).toContainEqual({ id: alert.id, name: tile })
  })
})
