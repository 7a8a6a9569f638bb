// The query of an alert is a tile: what a person did to the alert, its tile or the dashboard decides what apply leaves as it is.
import { describe, expect, it } from 'vitest'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { actions } from '../../support/shop-declaration.ts'
import { project, type Site, type SiteFiles, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

const watching = { threshold: 5, interval: '5m', channel: { type: 'webhook', webhook: 'oncall' } }

const queried = (where: string, more: object = {}) => ({
  query: { source: 'Logs', select: [{ aggFn: 'count', where }] },
  ...watching,
  ...more,
})

const file = (alerts: object, others: object = {}): SiteFiles => ({ 'a.json': { ...others, alerts } })

const board = () => serviceOf(emulator()).dashboards.find(({ name }) => name === `Alerts: ${project}`)

const alertOf = (key: string) => serviceOf(emulator()).alerts.find(({ note }) => note?.includes(` ${key} `))

describe('the dashboard with the queries of alerts, without its marker', () => {
  it('W21: an alert is not marked as applied while its tile has another query', () =>
    site(async ({ apply, plan }) => {
      await apply(file({ a: queried('x') }))
      const before = alertOf('a')?.note
      Object.assign(board() ?? {}, { tags: [] })
      const changed = file({ a: queried('y') })
      expect(actions(await plan(changed))).toEqual({ 'project-alerts': 'held', a: 'held' })
      await apply(changed)
      expect(alertOf('a')?.note).toBe(before)
    }))
})

describe('an alert with a query that lost its marker, and whose query changed in the file', () => {
  it.each([
    ['with a name', { name: 'A' }],
    ['without a name', {}],
  ])('W21: is not created a second time, and no tile is added for it, %s', (_, named) =>
    site(async ({ apply, plan }) => {
      await apply(file({ a: queried('x', named), c: queried('c') }))
      const alert = alertOf('a')
      Object.assign(alert ?? {}, { note: null })
      const before = [structuredClone(board()?.tiles), structuredClone(serviceOf(emulator()).alerts)]
      const changed = file({ a: queried('y', named), c: queried('c') })
      const planned = await plan(changed, { prune: true })
      expect(actions(planned)).toEqual({ a: 'held', c: 'unchanged' })
      expect(planned.objects.find(({ key }) => key === 'a')).toMatchObject({ id: alert?.id })
      await apply(changed, { prune: true })
      expect([board()?.tiles, serviceOf(emulator()).alerts]).toEqual(before)
      // The other alerts of the dashboard do not wait.
      await apply(file({ a: queried('y', named), c: queried('d'), more: queried('m') }))
      expect(board()?.tiles).toHaveLength(3)
      const adopting = file({ a: queried('y', { ...named, adopt: alert?.id }), c: queried('d'), more: queried('m') })
      await apply(adopting)
      expect(board()?.tiles).toHaveLength(3)
      expect(actions(await plan(adopting))).toEqual({ a: 'unchanged', c: 'unchanged', more: 'unchanged' })
    }),
  )

  it('makes no dashboard for an alert that is held', () =>
    site(async ({ apply }) => {
      const [existing] = serviceOf(emulator()).alerts
      await apply(file({ a: queried('x', { name: existing?.name }) }))
      expect(board()).toBeUndefined()
    }))
})

describe('an alert with a query that moves to a held dashboard', () => {
  it('keeps the tile with its query, and the other alerts are applied', () =>
    site(async ({ apply, plan }) => {
      await apply(file({ a: queried('x'), c: queried('c') }))
      const config = { displayType: 'line', source: 'Logs', select: [{ aggFn: 'count', where: 'new' }] }
      const moved = file(
        { a: { dashboard: 'pay', tile: 'New', ...watching }, c: queried('d') },
        { dashboards: { pay: { name: 'Payments', tiles: [{ name: 'New', config }] } } },
      )
      expect(actions(await plan(moved))).toEqual({ pay: 'held', a: 'held', c: 'update' })
      await apply(moved)
      expect(
        board()
          ?.tiles.map(({ name, config }) => [name, config.select])
          .toSorted(),
      ).toMatchObject([
        ['a', [{ where: 'x' }]],
        ['c', [{ where: 'd' }]],
      ])
    }))
})
