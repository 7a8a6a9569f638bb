// What is found by its name is what the files mean, today and tomorrow, and in every environment.
import { describe, expect, it } from 'vitest'
import type { Fault } from '../../../src/emulator/index.ts'
import { passed, written } from '../../support/declarations.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'
import { errors, outcomes, shop, watching } from '../../support/shop-declaration.ts'
import { emptyPlan, type Site, type SiteFiles, withSite } from '../../support/site.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off' })

const site = <T>(use: (site: Site) => Promise<T>): Promise<T> => withSite(emulator(), 'clickhouse-cloud', use)

const file = (content: object): SiteFiles => ({ 'a.json': content })

const onOverview = { ...errors, dashboard: { name: 'Checkout overview' }, tile: 'Latency' }

/** Required of a source with spans. */
const spanFields = {
  defaultTableSelectExpression: 'Timestamp',
  durationExpression: 'Duration',
  durationPrecision: 9,
  traceIdExpression: 'TraceId',
  spanIdExpression: 'SpanId',
  parentSpanIdExpression: 'ParentSpanId',
  spanNameExpression: 'SpanName',
  spanKindExpression: 'SpanKind',
}

describe('what is found by its name', () => {
  it('reports in the next plan that a name moved to another object', () =>
    site(async ({ apply, plan }) => {
      const content = file({ alerts: { a: onOverview } })
      await apply(content)
      const { webhooks } = serviceOf(emulator())
      const [oncall, incidents] = webhooks
      if (oncall === undefined || incidents === undefined) throw new Error('no webhooks')
      ;[oncall.name, incidents.name] = [incidents.name, oncall.name]
      const planned = await plan(content)
      expect(planned.objects[0]?.fields).toEqual([{ path: 'channels[0].webhook', before: 'incidents', after: 'oncall' }])
      await apply(content)
      expect(await plan(content)).toMatchObject(emptyPlan)
    }))

  it('finds by name what is declared in the same files, dashboard and saved search, with alerts on both', () =>
    site(async ({ apply, plan }) => {
      const content = file({
        dashboards: { shop },
        savedSearches: { search: { name: 'Search', tags: ['s'], sourceId: { source: 'Traces' }, where: 'a:b' } },
        alerts: {
          errors,
          found: { name: 'Found', savedSearch: 'search', groupBy: 'ServiceName', ...watching },
          also: { name: 'Also', savedSearch: { name: 'Errors in checkout' }, ...watching },
        },
      })
      expect(outcomes(await apply(content))).toEqual({
        shop: 'created',
        search: 'created',
        errors: 'created',
        found: 'created',
        also: 'created',
      })
      const { alerts, savedSearches } = serviceOf(emulator())
      expect(alerts.find(({ name }) => name === 'Found')).toMatchObject({
        source: 'saved_search',
        savedSearchId: savedSearches.find(({ name }) => name === 'Search')?.id,
        dashboardId: null,
        groupBy: 'ServiceName',
      })
      expect(await plan(content)).toMatchObject(emptyPlan)
    }))

  it('a click on a table opens a source by its name, also one of the same files, and pull writes the name', () =>
    site(async ({ apply, plan, pull }) => {
      const config = {
        displayType: 'table',
        source: 'Logs',
        select: [{ aggFn: 'count' }],
        onClick: { type: 'search', target: { mode: 'id', id: { source: 'Spans' } } },
      }
      const from = { databaseName: 'default', tableName: 'otel_traces' }
      const content = file({
        sources: { spans: { name: 'Spans', kind: 'trace', from, timestampValueExpression: 'Timestamp', ...spanFields } },
        dashboards: { clicks: { name: 'Clicks', tiles: [{ name: 'Table', config }] } },
      })
      expect(outcomes(await apply(content))).toEqual({ spans: 'created', clicks: 'created' })
      const { dashboards, sources } = serviceOf(emulator())
      const id = sources.find(({ name }) => name === 'Spans')?.id
      const clicks = dashboards.find(({ name }) => name === 'Clicks')
      expect(clicks?.tiles[0]?.config.onClick).toMatchObject({ type: 'search', target: { mode: 'id', id } })
      expect(await plan(content)).toMatchObject(emptyPlan)
      const { writtenFiles } = await pull({})
      expect(writtenFiles.map((one) => one.content).join()).toContain('target: { mode: id, id: { source: Spans } }')
    }))

  it('an alert moves from a tile to a saved search and back', () =>
    site(async ({ apply, plan }) => {
      const search = { name: 'Search', tags: ['s'], sourceId: { source: 'Logs' } }
      const onTile = file({ dashboards: { shop }, savedSearches: { search }, alerts: { errors } })
      const onSearch = file({
        dashboards: { shop },
        savedSearches: { search },
        alerts: { errors: { name: 'Errors', savedSearch: 'search', groupBy: 'x', ...watching } },
      })
      await apply(onTile)
      for (const content of [onSearch, onTile]) {
        expect(outcomes(await apply(content))).toMatchObject({ errors: 'updated' })
        expect(await plan(content)).toMatchObject(emptyPlan)
      }
      expect(serviceOf(emulator()).alerts.find(({ name }) => name === 'Errors')).toMatchObject({
        source: 'tile',
        savedSearchId: null,
        groupBy: null,
      })
    }))

  it('an alert waits for its dashboard, whose create had no answer, and then for its own', () =>
    site(async ({ apply, plan }) => {
      const lose = (path: string, act: Fault['act']) =>
        emulator().addFault({
          match: { method: 'POST', path },
          nth: path === '/dashboards' ? 2 : 1,
          act: act ?? 'before',
          effect: { kind: 'reset' },
        })
      lose('/dashboards', 'after')
      lose('/alerts', 'before')
      const content = file({ dashboards: { shop }, alerts: { errors } })
      expect(outcomes(await apply(content))).toEqual({ shop: 'created', errors: 'created' })
      expect(await plan(content)).toMatchObject(emptyPlan)
    }))
})

describe('one set of files for several environments', () => {
  const text = written(
    JSON.stringify({
      dashboards: { shop: { ...shop, name: 'Shop ‹env.STAGE›' } },
      alerts: { errors: { ...errors, threshold: '‹env.LIMIT›', channel: { type: 'webhook', webhook: '‹env.HOOK›' } } },
    }),
  )

  const run = (operation: string, env: Readonly<Record<string, string>>) =>
    invokeText({
      inputs: { ...inputsFor(emulator(), 'clickhouse-cloud'), operation, project: 'shop/env', files: 'a.json' },
      env: passed(env),
      files: { 'a.json': text },
    })

  it('names webhook, name and threshold by variables', async () => {
    const env = { STAGE: 'staging', LIMIT: '7', HOOK: 'audit' }
    expect((await run('apply', env)).document).toMatchObject({ status: 'pass', toCreate: 2 })
    const { alerts, webhooks, dashboards } = serviceOf(emulator())
    expect(alerts.find(({ name }) => name === 'Errors')).toMatchObject({
      threshold: 7,
      channels: [{ webhookId: webhooks.find(({ name }) => name === 'audit')?.id }],
    })
    expect(dashboards.map(({ name }) => name)).toContain('Shop staging')
    expect((await run('plan', env)).outputs).toMatchObject({ changed: 'false' })
    // Another value is a change of the files, and not of the service.
    const other = await run('plan', { ...env, LIMIT: '8' })
    expect(other.document.objects).toMatchObject([
      { action: 'unchanged' },
      { action: 'update', origin: 'files', fields: [{ path: 'threshold', before: 7, after: 8 }] },
    ])
  })

  it('a variable that is missing is an error before the first request', async () => {
    const ran = await run('apply', { STAGE: 'staging', HOOK: 'audit' })
    expect(ran.exitCode).toBe(2)
    expect(JSON.stringify(ran.document.diagnostics)).toContain('env.LIMIT }} is not set')
    expect(emulator().requests).toHaveLength(0)
  })
})

it('never shows the URL of a webhook in plans, results and messages', async () => {
  const content = JSON.stringify({
    dashboards: { shop },
    alerts: { errors, missing: { ...errors, name: 'M', channel: { type: 'webhook', webhook: 'gone' } } },
  })
  const inputs = { ...inputsFor(emulator(), 'clickhouse-cloud'), project: 'shop/env', files: 'a.json' }
  const good = JSON.stringify({ dashboards: { shop }, alerts: { errors } })
  for (const [operation, text] of [
    ['plan', content],
    ['plan', good],
    ['apply', good],
    ['drift', good],
  ] as const) {
    const { document, blocks, outputs } = await invokeText({ inputs: { ...inputs, operation }, files: { 'a.json': text } })
    const all = JSON.stringify([document, blocks, outputs])
    expect(all.includes('opens-nothing') || all.includes('hooks.slack')).toBe(false)
    expect(all).toContain('Shop')
  }
})
