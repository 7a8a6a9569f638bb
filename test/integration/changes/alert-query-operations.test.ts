// What other operations do with alerts that have a query of their own: the same as with any other alert.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { createVirtualClock } from '../../support/clocks.ts'
import { written } from '../../support/declarations.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type Invoked, invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const dayMs = 86_400_000
const monday = Date.parse('2026-11-09T00:00:00Z')

/** The first day of the last whole week of the demo's telemetry, which repeats. */
const firstMs = monday + Math.floor((Date.now() - monday) / (7 * dayMs) - 1) * 7 * dayMs

const dayOf = (index: number): string => new Date(firstMs + index * dayMs).toISOString().slice(0, 10)

type Fields = Readonly<Record<string, unknown>>

const watching = { threshold: 19, interval: '5m', channel: { type: 'webhook', webhook: 'oncall' }, note: 'n' }

/** Alerts by key: what they compare. */
const queries: Readonly<Record<string, Fields>> = {
  errors: { source: 'Logs', select: [{ aggFn: 'count', where: 'ServiceName:checkout SeverityText:error' }] },
  services: { source: 'Logs', select: [{ aggFn: 'count', where: 'SeverityText:error' }], groupBy: 'ServiceName' },
  slow: { source: 'Traces', select: [{ aggFn: 'quantile', level: 0.95, valueExpression: 'Duration' }] },
  share: {
    source: 'Logs',
    select: [{ aggFn: 'count', where: 'SeverityText:error' }, { aggFn: 'count' }],
    formulas: [{ expression: 'A / B' }],
  },
}

const conditions: Readonly<Record<string, Fields>> = { slow: { threshold: 5e8 }, share: { threshold: 0.1 } }

const incidents = {
  checkout: { name: 'Errors', start: `${dayOf(5)}T12:00:00Z`, end: `${dayOf(5)}T12:15:00Z`, alerts: ['errors', 'services'], within: '10m' },
}

const inQueries = {
  alerts: Object.fromEntries(Object.entries(queries).map(([key, query]) => [key, { name: key, query, ...watching, ...conditions[key] }])),
  incidents,
}

/** The same alerts on tiles that the file spells out. */
const onTiles = {
  dashboards: {
    board: {
      name: 'Board',
      tags: ['t'],
      tiles: Object.entries(queries).map(([name, query]) => ({
        name,
        config: { displayType: query.groupBy === undefined ? 'number' : 'line', ...query },
      })),
    },
  },
  alerts: Object.fromEntries(
    Object.keys(queries).map((key) => [key, { name: key, dashboard: 'board', tile: key, ...watching, ...conditions[key] }]),
  ),
  incidents,
}

const run = (
  operation: string,
  content: object | string,
  more: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
) =>
  invokeText({
    inputs: { ...inputsFor(emulator(), 'hyperdx'), operation, files: 'a.yml', project: 'shop/main', ...more },
    files: { 'a.yml': typeof content === 'string' ? content : JSON.stringify(content, null, 1), ...files },
  })

const messagesOf = ({ document }: Invoked): readonly string[] =>
  (document.diagnostics as readonly { readonly rule: string; readonly message: string }[]).map(({ rule, message }) => `${rule}: ${message}`)

describe('alerts with a query', () => {
  it('are backtested and detect incidents as the same alerts on tiles', async () => {
    const [own, spelled] = await Promise.all([inQueries, onTiles].map((content) => run('backtest', content, { period: dayOf(5) })))
    expect(own?.document).toMatchObject({ alertCount: 4, notEstimable: 0, detected: 2 })
    expect([own?.document.alerts, own?.document.incidents]).toEqual([spelled?.document.alerts, spelled?.document.incidents])
    expect(own?.document.notifications).toBeGreaterThan(0)
  })

  it('have a warning on a query that the server cannot run, once and at the query', async () => {
    const broken = { name: 'Broken', query: { source: 'Logs', select: [{ aggFn: 'count', where: 'Nope:1' }] }, ...watching }
    const planned = await run('plan', { alerts: { broken } })
    const warnings = messagesOf(planned).filter((one) => one.startsWith('failing-query'))
    expect(warnings).toEqual([expect.stringMatching(/^failing-query: alerts\.broken: /)])
    const pairs = { alerts: { broken, also: { ...broken, name: 'Also', interval: '1h' } } }
    expect(messagesOf(await run('plan', pairs)).filter((one) => one.startsWith('failing-query'))).toHaveLength(2)
  })

  it('have what the server refuses, and an unknown source, at the query', async () => {
    const unknown = { name: 'Unknown', query: { source: 'Lgos', select: [{ aggFn: 'count' }] }, ...watching }
    const planned = await run('plan', { alerts: { unknown } })
    expect(messagesOf(planned)).toEqual([
      'held: alerts.unknown: apply does not create it: query.source: no source is named "Lgos"; did you mean "Logs"?',
    ])
  })

  it('exist once for each instance, and have the values of the environment', async () => {
    const text = written(`instances:
  checkout: { limit: 10, by: '' }
  payment: { limit: 20, by: '‹env.BY›' }
alerts:
  ‹instance.key›-errors:
    name: Errors of ‹instance.key›
    query: { source: Logs, select: [{ aggFn: count, where: 'ServiceName:‹instance.key› SeverityText:‹env.LEVEL›' }], groupBy: '‹instance.by›' }
    threshold: ‹instance.limit›
    interval: 5m
    channel: { type: webhook, webhook: oncall }
    note: n
`)
    const files = { 'environments/staging.yml': 'variables: { LEVEL: error, BY: Body }\n' }
    const applied = await run('apply', text, { env: 'staging' }, files)
    expect(applied.document).toMatchObject({ status: 'pass' })
    const board = serviceOf(emulator()).dashboards.find(({ name }) => name === 'Alerts: shop/main')
    expect(board?.tiles.map(({ name, config }) => [name, config])).toMatchObject([
      ['Errors of checkout', { displayType: 'number', select: [{ where: 'ServiceName:checkout SeverityText:error' }] }],
      ['Errors of payment', { displayType: 'line', groupBy: 'Body' }],
    ])
    expect((await run('drift', text, { env: 'staging' }, files)).document).toMatchObject({ status: 'pass', changed: false })
    Object.assign(board?.tiles[0] ?? {}, { config: { ...(board?.tiles[0]?.config as object), select: [{ aggFn: 'count' }] } })
    const drifted = await run('drift', text, { env: 'staging' }, files)
    expect(drifted.document).toMatchObject({ status: 'fail', toUpdate: 1 })
    expect((await run('pull', text, { env: 'staging', only: 'declared' }, files)).document.objects).toContainEqual(
      expect.objectContaining({ key: 'checkout-errors', outcome: 'left-out', reason: expect.stringContaining('other values of query') }),
    )
  })
})

it('the examples of alerts with a query can be applied, and show nothing but what they declare', { tags: 'slow' }, async () => {
  const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const [, inDocument = ''] = /\n## Alerts with a query\n[\s\S]*?```yaml\n([\s\S]*?)```/.exec(read('docs/files.md')) ?? []
  for (const text of [read('examples/queries/alerts.yml'), inDocument]) {
    const keys = Object.values(parse(text) as Record<string, object>).flatMap((section) => Object.keys(section))
    // The demo has no failed request now, and the emulator no database.
    const others = messagesOf(await run('plan', text)).filter(
      (one) => !/^(?:implausible-alert|quiet-alert|hidden-parts)|The emulator cannot evaluate/.test(one),
    )
    expect(others).toEqual([])
    const applied = await run('apply', text)
    expect((applied.document.objects as readonly { readonly key: string }[]).map(({ key }) => key).every((key) => keys.includes(key))).toBe(
      true,
    )
    expect((await run('plan', text)).document).toMatchObject({ changed: false, diagnostics: [] })
  }
})

describe('a silenced alert with a query', () => {
  const nowMs = Date.parse('2026-11-11T03:12:10Z')
  const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', now: () => nowMs })

  it('stays silenced when its query changes', async () => {
    const sync = (operation: string, where: string) =>
      invokeText({
        inputs: { ...inputsFor(cloud(), 'clickhouse-cloud'), operation, project: 'shop/silence', files: 'a.json' },
        clock: createVirtualClock(nowMs),
        files: {
          'a.json': JSON.stringify({
            alerts: { errors: { name: 'Errors', query: { source: 'Logs', select: [{ aggFn: 'count', where }] }, ...watching } },
          }),
        },
      })
    await sync('apply', 'a')
    const silenced = await invokeText({
      inputs: { ...inputsFor(cloud(), 'clickhouse-cloud'), operation: 'silence-alerts', select: 'name~Errors', for: '20m' },
      clock: createVirtualClock(nowMs),
    })
    expect(silenced.document.status).toBe('pass')
    const startOf = () => serviceOf(cloud()).alerts.find(({ name }) => name === 'Errors')?.scheduleStartAt
    expect(startOf()).toBe('2026-11-11T03:35:00.000Z')
    const planned = await sync('plan', 'a')
    expect(planned.document).toMatchObject({ status: 'pass', changed: false })
    expect(messagesOf(planned)).toEqual(['silenced: alerts.errors: silenced until 11 Nov 2026 03:35 UTC'])
    expect((await sync('apply', 'b')).document).toMatchObject({ status: 'pass', changed: true })
    expect(startOf()).toBe('2026-11-11T03:35:00.000Z')
  })
})
