// SLOs in files against a server: what they become is planned, written, verified and deleted as any other object.
import { describe, expect, it } from 'vitest'
import { demo, type RunSql } from '../../../src/emulator/index.ts'
import { evaluateSql } from '../../../src/emulator/product/sql.ts'
import { tableOfSource } from '../../../src/kinds/source/source-wire.ts'
import { burnRateAlerts, burnRateSql, historySql } from '../../../src/signals/slos/slo-sql.ts'
import { inputsFor, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { emptyPlan, type Site, type SiteServer, withSite } from '../../support/site.ts'

const maxQueryMs = 30_000

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

const haveApplied = useApplied(emulator, () => site((one) => one.apply(files)))

describe('SLOs', () => {
  it('SLOs are applied once, and then the plan is empty', { tags: 'slow' }, () =>
    site(async (one) => {
      await haveApplied()
      expect(await one.plan(files, { prune: true })).toMatchObject({ ...emptyPlan, unchanged: made.dashboards + made.alerts })
      expect(await one.apply(files)).toMatchObject({ changed: false })
      expect(await one.drift(files)).toMatchObject({ changed: false })
    }),
  )

  it('SLOs show in the plan what each alert guards, and which SLOs have no alert for missing data', { tags: 'slow' }, () =>
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
    }),
  )

  it('SLOs follow a change of their source, so that alerts do not watch a table without data', { tags: 'slow' }, () =>
    site(async (one) => {
      await haveApplied()
      const source = serviceOf(emulator()).sources.find(({ name }) => name === 'Traces')
      Object.assign(source ?? {}, { from: { databaseName: 'otel', tableName: 'otel_traces_v2' } })
      const { objects, toUpdate } = await one.plan(files)
      expect(toUpdate).toBe(made.dashboards)
      expect(JSON.stringify(objects)).toContain('`otel`.`otel_traces_v2`')
    }),
  )

  it('SLOs with another key get no advice that their file has no place for', () =>
    site(async (one) => {
      await haveApplied()
      const { diagnostics } = await one.plan({ 'a.json': { slos: { cart: checkout, services } } })
      const messages = diagnostics.filter(({ rule }) => rule === 'same-name').map(({ message }) => message)
      expect(messages.length).toBeGreaterThan(0)
      expect(messages.join('\n')).not.toMatch(/previousKey|adopt/)
      expect(messages[0]).toContain('Apply creates a second one, and prune deletes the existing one')
    }))

  it('SLOs are deleted with prune when no file declares them', () =>
    site(async (one) => {
      await haveApplied()
      const pruned = await one.apply({ 'a.json': { slos: { checkout } } }, { prune: true })
      expect(
        pruned.objects
          .filter(({ action }) => action === 'delete')
          .map(({ kind }) => kind)
          .sort(),
      ).toEqual(['alert', 'alert', 'alert', 'alert', 'dashboard'])
      expect(await one.plan({ 'a.json': { slos: { checkout } } }, { prune: true })).toMatchObject(emptyPlan)
    }))

  it('SLOs report an unknown source and an unknown webhook at their places in the SLO, once each', () =>
    site(async (one) => {
      const wrong = { ...checkout, source: 'Trace', alerts: { page: { channel: { type: 'webhook', webhook: 'nobody' } } } }
      const { diagnostics } = await one.plan({ 'a.json': { slos: { checkout: wrong } } })
      const messages = diagnostics.filter(({ rule }) => rule === 'held' || rule === 'unknown-name').map(({ message }) => message)
      for (const place of [
        'slos.checkout.source: no source is named "Trace"',
        'slos.checkout.alerts.page.channel.webhook: no webhook is named "nobody"',
      ])
        expect(messages.filter((message) => message.includes(place)).length, messages.join('\n')).toBe(1)
    }))

  it('SLOs with an unknown source are not evaluated', { tags: 'slow' }, () =>
    site(async (one) => {
      const requests = () => emulator().requests.filter(({ path }) => path.includes('series')).length
      const lost = { ...checkout, source: 'Tracs' }
      const { diagnostics, backtest } = await one.plan({ 'a.json': { slos: { lost } } }, { backtest: true })
      expect(diagnostics.filter(({ severity }) => severity !== 'note').map(({ rule }) => rule)).toEqual(['held', 'held'])
      expect([backtest?.alerts, requests()]).toEqual([[], 0])
      const both = await one.plan({ 'a.json': { slos: { lost, checkout } } }, { backtest: true })
      expect(both.backtest?.alerts.map(({ key }) => key.split('.')[0])).toEqual(['checkout', 'checkout', 'checkout', 'checkout'])
      expect(requests()).toBeGreaterThan(0)
    }),
  )

  it('SLOs with a source that the service does not have are held, and the others are written', { tags: 'slow' }, () =>
    site(async (one) => {
      await haveApplied()
      const sources = serviceOf(emulator()).sources
      const before = JSON.stringify(serviceOf(emulator()).dashboards)
      const other = { ...services, name: 'Logs', source: 'Logs', good: "SeverityText != 'error'" }
      for (const source of sources) if (source.name === 'Traces') Object.assign(source, { name: 'Spans' })
      const applied = await one.apply({ 'a.json': { slos: { checkout, services, other } } })
      const actions = Object.groupBy(applied.objects, ({ action }) => action)
      expect([actions.held?.map(({ key }) => key), actions.create?.length]).toEqual([['checkout.slo', 'services.slo'], 5])
      expect(JSON.stringify(serviceOf(emulator()).dashboards.slice(0, JSON.parse(before).length))).toBe(before)
      expect(actions.held?.map(({ fields, origin }) => [fields, origin])).toEqual([
        [[], undefined],
        [[], undefined],
      ])
      const pulled = await one.pull({ 'a.json': { slos: { checkout, services, other } } })
      expect(pulled.objects.find(({ key }) => key === 'checkout.slo')).toMatchObject({
        outcome: 'left-out',
        reason: expect.stringContaining('no source is named "Traces"'),
      })
    }),
  )

  it('SLOs are left as they are by pull, which names an object that differs', { tags: 'slow' }, () =>
    site(async (one) => {
      await haveApplied()
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
    }),
  )
})

describe('SLOs of a service in ClickHouse Cloud', () => {
  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

  it('SLOs of a service in ClickHouse Cloud are applied once, and then the plan is empty', () =>
    withSite(cloud(), 'clickhouse-cloud', async (one) => {
      expect(await one.apply(files)).toMatchObject({ toCreate: made.dashboards + made.alerts, isPlanWrong: false })
      expect(await one.plan(files)).toMatchObject(emptyPlan)
    }))
})

describe('the emulator evaluates the queries of SLOs', () => {
  it('the emulator evaluates the queries of SLOs on latency, and of all events by group', { tags: 'slow' }, () =>
    site(async (one) => {
      const latency = { ...checkout, total: "ServiceName = 'checkout' AND SpanKind = 'Server'", good: 'Duration < 2000000000' }
      const { diagnostics, toCreate } = await one.plan({ 'a.json': { slos: { latency, services } } })
      expect([toCreate, diagnostics]).toEqual([made.dashboards + made.alerts, []])
    }),
  )

  it('the emulator evaluates the queries of SLOs to the burn rates that their events give, for each group', async () => {
    const service = serviceOf(emulator())
    const { name, total, good, groupBy, objective } = services
    const slo = { name, source: 'Traces', total, good, groupBy, objective, minEvents: 100, window: '7d' } as const
    const source = tableOfSource(service.sources.find(({ name }) => name === 'Traces') ?? {})
    const [page] = burnRateAlerts
    if (source === undefined || page === undefined) throw new Error('The demo has no traces, or no page.')
    // In the hour in which calls of payment fail.
    const endMs = Date.parse('2026-11-12T09:30:00Z')
    const answer = (sql: string) => {
      const found = evaluateSql({ sql, startMs: 0, endMs }, { service, nowMs: Date.parse('2026-11-16T00:00:00Z'), runSql: undefined })
      return 'rows' in found ? found.rows : []
    }
    const history = answer(historySql(slo, { ...source, id: '' }, { stepSeconds: 300, recentMs: 3 * 86_400_000 }))
    const rows = answer(burnRateSql(slo, { ...source, id: '' }, page))
    const expected = rows.map(({ Group: group }) => {
      const rateSince = (ms: number): number => {
        const counted = history.filter((one) => one.slo__group === group && Number(one.slo__start) * 1000 >= endMs - ms)
        const sum = (column: string) => counted.reduce((total, one) => total + Number(one[column]), 0)
        return ((1 - sum('slo__all_good') / sum('slo__all_total')) * 100) / (100 - objective)
      }
      return { Group: group, 'Burn rate': expect.closeTo(Math.min(rateSince(page.long.ms), rateSince(page.short.ms)), 4) }
    })
    expect(rows).toMatchObject(expected)
    expect(rows.filter((row) => Number(row['Burn rate']) > 1).map(({ Group: group }) => group)).toEqual(['payment'])
  })
})

describe('a query of an SLO that the server cannot run', () => {
  it('a query of an SLO that the server cannot run is a warning of the plan, and the other SLOs have none', { tags: 'slow' }, () =>
    site(async (one) => {
      const { diagnostics } = await one.plan({
        'a.json': { slos: { checkout: { ...checkout, total: "Servicename = 'checkout'" }, services } },
      })
      expect(diagnostics.map(({ severity, rule, message }) => [severity, rule, message])).toEqual([
        ['warning', 'slo-failing-query', expect.stringMatching(/^slos\.checkout: its alerts would never fire, .*: Unknown .*Servicename/)],
      ])
    }),
  )

  const withoutDatabase = useEmulator({
    dialect: 'hyperdx',
    rateLimit: 'off',
    runSql: () => ({ error: 'connect ECONNREFUSED 127.0.0.1:8123' }),
  })

  it(
    'a query of an SLO that the server cannot run while its database is down is no warning, because the SLO is not wrong',
    { tags: 'slow' },
    () =>
      withSite(withoutDatabase(), 'hyperdx', async (one) => {
        const { toCreate, diagnostics } = await one.plan(files)
        expect([toCreate, diagnostics.map(({ rule, severity }) => `${severity} ${rule}`)]).toEqual([
          made.dashboards + made.alerts,
          ['note unchecked-query', 'note unchecked-query'],
        ])
      }),
  )

  it('a query of an SLO that the server cannot run is an error of check-slos that names the SLO and its place', async () => {
    const { document } = await invokeText({
      inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'check-slos', files: 'a.json' },
      files: { 'a.json': JSON.stringify({ slos: { services, checkout: { ...checkout, total: "Servicename = 'checkout'" } } }) },
    })
    expect(document).toMatchObject({ status: 'fail', diagnostics: [{ rule: 'slo-source', location: { file: 'a.json', line: 1 } }] })
    expect(document.failureReason).toMatch(/slos\.checkout was not counted \(a\.json:1\)\. The API answered 500: Unknown .*Servicename/)
    const texts = JSON.stringify(document)
    expect(texts).toContain('correct total, good or groupBy of this SLO')
    expect(texts).not.toContain('run this again')
  })
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

  it('a slow query of an SLO is a warning of the plan', { tags: 'slow' }, () =>
    on(async (one) => {
      const advice = 'Narrow total by columns in the sorting key of the table, such as ServiceName, or use a source of a smaller table'
      for (const [elapsedMs, expected] of [
        [10_000, undefined],
        [12_400, 'takes 12.4 s; the server ends it after 30 s, and the alert then never fires'],
        [maxQueryMs + 1, 'takes more than 30 s, so the alert never fires: the server ends it then'],
      ] as const) {
        asked.length = 0
        Object.assign(times, { checkout: elapsedMs, services: 1 })
        const warning = `warning slo-slow-query line 1: slos.checkout: its longest alert query ${expected}. ${advice}`
        expect(warnings(await one.plan(files)), String(elapsedMs)).toEqual(expected === undefined ? [] : [warning])
        expect(asked).toHaveLength(2)
        // The long window of the ticket.
        expect(asked.every((sql) => sql.includes(String(3 * 86_400_000)))).toBe(true)
      }
    }),
  )

  it('W4: a slow query of an SLO is sent by no plan without changes of the SLO, and for no files that may be those of a fork', {
    tags: 'slow',
  }, async () => {
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

  it('a slow query of an SLO is not looked for when the server has no SQL access, which a note says', { tags: 'slow' }, () =>
    on(async (one) => {
      server().addFault({ match: { path: '/mcp' }, times: 9, effect: { kind: 'html', status: 404 } })
      Object.assign(times, { checkout: 20_000 })
      const planned = await one.plan(files)
      expect([planned.toCreate, warnings(planned)]).toEqual([
        made.dashboards + made.alerts,
        [expect.stringMatching(/^note unchecked-query line undefined: The queries of SLOs were not run: .* has no \/mcp/)],
      ])
    }),
  )

  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', runSql })

  it('W4: a slow query of an SLO is looked for in ClickHouse Cloud only with a key for SQL, and when the service is awake', async () => {
    const queriesOf = async (more: Partial<SiteServer['connection']> = {}): Promise<number> => {
      asked.length = 0
      await withSite({ url: cloud().url, connection: more }, 'clickhouse-cloud', (one) => one.plan(files))
      return asked.filter((sql) => sql.includes('least(')).length
    }
    const credentials = { keyId: demo.apiKeyId, keySecret: demo.apiKeySecret }
    const queryEndpoint = { baseUrl: new URL(cloud().url), credentials, mayWake: false }
    expect(await queriesOf()).toBe(0)
    expect(await queriesOf({ queryEndpoint })).toBe(2)
    Object.assign(serviceOf(cloud()), { state: 'idle' })
    expect(await queriesOf({ queryEndpoint })).toBe(0)
    expect(await queriesOf({ queryEndpoint: { ...queryEndpoint, mayWake: true } })).toBe(2)
  })

  it('a plan has a note when the query endpoint refuses the key, and does not fail', async () => {
    const credentials = { keyId: demo.apiKeyId, keySecret: 'another-secret' }
    const queryEndpoint = { baseUrl: new URL(cloud().url), credentials, mayWake: false }
    await withSite({ url: cloud().url, connection: { queryEndpoint } }, 'clickhouse-cloud', async (one) => {
      const { diagnostics, toCreate } = await one.plan(files)
      expect(toCreate).toBe(made.dashboards + made.alerts)
      expect(diagnostics.map(({ rule, severity, message }) => [rule, severity, message])).toEqual([
        ['unchecked-query', 'note', expect.stringMatching(/^The queries of alerts were not run: .*401/)],
        ['unchecked-query', 'note', expect.stringMatching(/^The queries of SLOs were not run: .*401/)],
      ])
    })
  })
})
