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
