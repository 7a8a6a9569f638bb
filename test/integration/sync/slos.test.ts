// SLOs in files against a server: what they become is planned, written, verified and deleted as any other object.
import { describe, expect, it } from 'vitest'
import { maxQueryMs } from '../../../src/api/sql.ts'
import { demo, type RunSql } from '../../../src/emulator/index.ts'
import { serviceOf, useEmulator } from '../../support/emulator.ts'
import { convergenceProblems, emptyPlan, type Site, type SiteServer, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'hyperdx', use)

const channel = { channel: { type: 'webhook', webhook: 'oncall' } }

const checkout = {
  name: 'Checkout',
  source: 'Traces',
  total: "ServiceName = 'checkout'",
  good: "StatusCode != 'Error'",
  objective: 99.9,
  window: '7d',
  alerts: { page: channel, ticket: channel },
  noData: channel,
}

const services = { ...checkout, name: 'Services', total: '1 = 1', groupBy: 'ServiceName' }

const files = { 'observability/slos.yml': { slos: { checkout, services } } }

const made = { dashboards: 2, alerts: 8 }

describe('SLOs', () => {
  it('SLOs are applied once, and then the plan is empty', () =>
    site(async (one) => {
      expect(await convergenceProblems(one, { slos: { checkout, services } })).toEqual([])
      expect((await one.plan(files)).unchanged).toBe(made.dashboards + made.alerts)
    }))

  it('SLOs show in the plan what each alert guards, and which SLOs have no alert for missing data', () =>
    site(async (one) => {
      const { slos } = await one.plan({ 'a.json': { slos: { checkout: { ...checkout, noData: undefined } } } })
      expect(slos).toMatchObject([
        {
          key: 'checkout',
          noDataAlert: false,
          alerts: [
            { key: 'checkout.page-1h', burnRate: 14.4, longWindow: '1h', shortWindow: '5m', budgetShare: 8.6 },
            { key: 'checkout.page-6h', burnRate: 6, longWindow: '6h', shortWindow: '30m', budgetShare: 21.4 },
            { key: 'checkout.ticket-3d', burnRate: 1, longWindow: '3d', shortWindow: '6h', budgetShare: 42.9 },
          ],
        },
      ])
      expect((await one.plan({ 'a.json': { dashboards: {} } })).slos).toBeUndefined()
    }))

  it('SLOs follow a change of their source, so that alerts do not watch a table without data', () =>
    site(async (one) => {
      await one.apply(files)
      const source = serviceOf(emulator()).sources.find(({ name }) => name === 'Traces')
      Object.assign(source ?? {}, { from: { databaseName: 'otel', tableName: 'otel_traces_v2' } })
      const { objects, toUpdate } = await one.plan(files)
      expect(toUpdate).toBe(made.dashboards)
      expect(JSON.stringify(objects)).toContain('`otel`.`otel_traces_v2`')
    }))

  it('SLOs are deleted with prune when no file declares them', () =>
    site(async (one) => {
      await one.apply(files)
      const pruned = await one.apply({ 'a.json': { slos: { checkout } } }, { prune: true })
      expect(
        pruned.objects
          .filter(({ action }) => action === 'delete')
          .map(({ section }) => section)
          .sort(),
      ).toEqual(['alerts', 'alerts', 'alerts', 'alerts', 'dashboards'])
      expect(await one.plan({ 'a.json': { slos: { checkout } } }, { prune: true })).toMatchObject(emptyPlan)
    }))

  it('SLOs report an unknown source and an unknown webhook at their places in the SLO, once each', () =>
    site(async (one) => {
      const wrong = { ...checkout, source: 'Trace', alerts: { page: { channel: { type: 'webhook', webhook: 'nobody' } } } }
      const { diagnostics } = await one.plan({ 'a.json': { slos: { checkout: wrong } } })
      expect(diagnostics.filter(({ rule }) => rule === 'unknown-name').map(({ message }) => message.split(';')[0])).toEqual([
        'slos.checkout.source: no source is named "Trace"',
        'slos.checkout.alerts.page.channel.webhook: no webhook is named "nobody"',
        'slos.checkout.alerts.page.channel.webhook: no webhook is named "nobody"',
      ])
    }))

  it('SLOs are left as they are by pull, which names an object that differs', () =>
    site(async (one) => {
      await one.apply(files)
      const untouched = await one.pull(files)
      expect(untouched.writtenFiles.map(({ content }) => content).join()).not.toContain('checkout.slo')
      expect(untouched.objects.find(({ key }) => key === 'checkout.slo')).toMatchObject({ outcome: 'unchanged' })
      const alert = serviceOf(emulator()).alerts.find(({ name }) => name?.startsWith('Checkout: burn rate 14.4'))
      Object.assign(alert ?? {}, { threshold: 20 })
      const pulled = await one.pull(files)
      expect(pulled.objects.find(({ key }) => key === 'checkout.page-1h')).toMatchObject({
        outcome: 'left-out',
        reason: expect.stringContaining('slos.checkout makes'),
      })
      expect(await one.plan(files)).toMatchObject({ toUpdate: 1 })
    }))
})

describe('SLOs of a service in ClickHouse Cloud', () => {
  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

  it('SLOs of a service in ClickHouse Cloud are applied once, and then the plan is empty', () =>
    withSite(cloud(), 'clickhouse-cloud', async (one) => {
      expect(await convergenceProblems(one, { slos: { checkout, services } })).toEqual([])
    }))
})

describe('a slow query of an SLO', () => {
  const asked: string[] = []
  const times = { checkout: 0, services: 0 }
  const runSql: RunSql = ({ sql }) => {
    asked.push(sql)
    return { rows: [{ value: 0 }], elapsedMs: sql.includes("ServiceName = 'checkout'") ? times.checkout : times.services }
  }
  const server = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', runSql })

  const on = async <T>(use: (site: Site) => Promise<T>, more: Partial<SiteServer> = {}): Promise<T> => {
    asked.length = 0
    return withSite({ url: server().url, ...more }, 'hyperdx', use)
  }
  const warnings = ({ diagnostics }: Awaited<ReturnType<Site['plan']>>): readonly string[] =>
    diagnostics.map(({ rule, severity, location, message }) => `${severity} ${rule} line ${location.line}: ${message}`)

  it.each([
    [10_000, undefined],
    [12_400, 'takes 12.4 s; the server ends it after 30 s, and the alert then never fires'],
    [maxQueryMs + 1, 'takes more than 30 s, so the alert never fires: the server ends it then'],
  ])('a slow query of an SLO is a warning of the plan after %d ms', (elapsedMs, expected) =>
    on(async (one) => {
      Object.assign(times, { checkout: elapsedMs, services: 1 })
      const planned = await one.plan(files)
      const advice = 'Narrow total by columns in the sorting key of the table, such as ServiceName, or use a source of a smaller table'
      const warning = `warning slo-slow-query line 1: slos.checkout: its longest alert query ${expected}. ${advice}`
      expect(warnings(planned)).toEqual(expected === undefined ? [] : [warning])
      expect(asked).toHaveLength(2)
      // The long window of the ticket.
      expect(asked.every((sql) => sql.includes(String(3 * 86_400_000)))).toBe(true)
    }),
  )

  it('a slow query of an SLO is sent by no plan without changes of the SLO, and for no files that may be those of a fork', async () => {
    await on((one) => one.plan(files), { isFork: true })
    expect(asked).toEqual([])
    await on(async (one) => {
      await one.apply(files)
      asked.length = 0
      expect(await one.plan(files)).toMatchObject(emptyPlan)
      expect(asked).toEqual([])
      await one.plan({ 'a.json': { slos: { checkout, services: { ...services, objective: 99 } } } })
      expect(asked).toHaveLength(1)
    })
  })

  it('a slow query of an SLO is not looked for when the server has no SQL access, and the plan is the same', () =>
    on(async (one) => {
      server().addFault({ match: { path: '/mcp' }, times: 9, effect: { kind: 'html', status: 404 } })
      Object.assign(times, { checkout: 20_000 })
      const planned = await one.plan(files)
      expect([planned.toCreate, warnings(planned)]).toEqual([made.dashboards + made.alerts, []])
    }))

  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', runSql })

  it('a slow query of an SLO is looked for in ClickHouse Cloud only with a key for SQL, and when the service is awake', async () => {
    const queriesOf = async (more: Partial<SiteServer['connection']> = {}): Promise<number> => {
      asked.length = 0
      await withSite({ url: cloud().url, connection: more }, 'clickhouse-cloud', (one) => one.plan(files))
      return asked.length
    }
    const credentials = { keyId: demo.apiKeyId, keySecret: demo.apiKeySecret }
    const queryEndpoint = { baseUrl: new URL(cloud().url), credentials, mayWake: false }
    expect(await queriesOf()).toBe(0)
    expect(await queriesOf({ queryEndpoint })).toBe(2)
    Object.assign(serviceOf(cloud()), { state: 'idle' })
    expect(await queriesOf({ queryEndpoint })).toBe(0)
    expect(await queriesOf({ queryEndpoint: { ...queryEndpoint, mayWake: true } })).toBe(2)
  })
})
