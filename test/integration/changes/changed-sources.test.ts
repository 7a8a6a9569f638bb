// A changed source breaks alerts that no file changes. What it names, and what alerts use of it, is looked up in its table.
import { beforeEach, describe, expect, it } from 'vitest'
import { plan as planOperation } from '../../../src/changes/plan.ts'
import type { RunSql } from '../../../src/emulator/index.ts'
import { toPlainText } from '../../../src/platform/core/line.ts'
import { inputsFor, serviceOf, useApplied, useEmulator } from '../../support/emulator.ts'
import { type Invoked, invokeText } from '../../support/invoke.ts'

type Fields = Readonly<Record<string, unknown>>

/** The tables of the database. Alerts of the server use `otel_logs`. */
const tables: Readonly<Record<string, readonly string[]>> = {
  otel_logs: ['Timestamp', 'ServiceName', 'SeverityText', 'Body', 'TraceId'],
  otel_logs_v2: ['Timestamp', 'ServiceName', 'Body', 'TraceId'],
}

const lookUps: string[] = []

const runSql: RunSql = ({ sql }) => {
  const [, columns = '', table = ''] = /^SELECT (.*)\nFROM `default`\.`(\w+)`\nLIMIT 0$/s.exec(sql) ?? []
  if (table === '') return undefined
  lookUps.push(sql)
  const known = tables[table]
  if (known === undefined)
    return { error: `Unknown table expression identifier 'default.${table}'. Maybe you meant default.otel_logs? In scope ${sql}. ` }
  const missing = columns.match(/\b[A-Z]\w+\b(?!')/g)?.find((name) => !known.includes(name))
  return missing === undefined ? { rows: [] } : { error: `Unknown expression identifier \`${missing}\`. In scope ${sql}. ` }
}

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', runSql })

const source = {
  name: 'Events',
  kind: 'log',
  from: { databaseName: 'default', tableName: 'otel_logs' },
  timestampValueExpression: 'Timestamp',
  defaultTableSelectExpression: 'Timestamp, Body',
  serviceNameExpression: 'ServiceName',
  adopt: true,
}

const inTable = (tableName: string): Fields => ({ ...source, from: { ...source.from, tableName } })

const chart = (name: string, config: Fields): Fields => ({
  name,
  config: { displayType: 'line', sourceId: { source: 'Events' }, ...config },
})

const tiles = [
  chart('Errors', { select: [{ aggFn: 'count', where: 'ServiceName:checkout SeverityText:error', whereLanguage: 'lucene' }] }),
  chart('Lines', { select: [{ aggFn: 'count', where: "ServiceName = 'checkout'", whereLanguage: 'sql' }], groupBy: 'ServiceName' }),
]

const alert = (tile: string): Fields => ({
  name: tile,
  dashboard: 'shop',
  tile,
  threshold: 5,
  interval: '5m',
  channel: { type: 'webhook', webhook: 'oncall' },
})

const alerts = { errors: alert('Errors'), lines: alert('Lines') }

const run = (operation: string, events: Fields, more: Fields = {}): Promise<Invoked> =>
  invokeText({
    inputs: { ...inputsFor(emulator(), 'hyperdx'), operation, files: 'a.json', project: 'shop/main' },
    files: { 'a.json': JSON.stringify({ sources: { events }, dashboards: { shop: { name: 'Shop', tiles } }, alerts, ...more }) },
  })

const warnings = ({ document }: Invoked): readonly string[] =>
  (document.diagnostics as readonly { rule: string; severity: string; message: string }[]).flatMap(({ rule, severity, message }) =>
    severity === 'warning' ? [`${rule}: ${message}`] : [],
  )

const noTable = "Unknown table expression identifier 'default.otel_lgos'. Maybe you meant default.otel_logs?"

const neverFires = (subject: string, error: string): string =>
  `failing-query: ${subject}: it would never fire, because the server cannot run its query: ${error} Correct the conditions and expressions of what it watches`

const seriesRequests = (): number => emulator().requests.filter(({ path }) => path.endsWith('/charts/series')).length

beforeEach(() => {
  lookUps.length = 0
})

const haveApplied = useApplied(emulator, () => run('apply', source))

describe('a changed source', () => {
  it('a changed source whose table lacks a column of an unchanged alert is a warning of the plan, while its queries on the old table succeed', async () => {
    expect((await run('apply', source)).document).toMatchObject({ toCreate: 4 })
    const before = seriesRequests()
    const ran = await run('plan', inTable('otel_logs_v2'))
    expect(ran.document).toMatchObject({ status: 'warn', toUpdate: 1, unchanged: 3 })
    expect(warnings(ran)).toEqual([neverFires('alerts.errors', 'Unknown expression identifier `SeverityText`.')])
    expect(lookUps).toEqual([
      'SELECT (Timestamp), (Timestamp, Body), (ServiceName)\nFROM `default`.`otel_logs_v2`\nLIMIT 0',
      'SELECT (ServiceName), (SeverityText)\nFROM `default`.`otel_logs_v2`\nLIMIT 0',
      "SELECT (ServiceName = 'checkout'), (ServiceName)\nFROM `default`.`otel_logs_v2`\nLIMIT 0",
    ])
    expect(seriesRequests()).toBe(before)
  })

  it('a changed source names a table that does not exist: the plan says so of the source and of its alerts, declared or not', async () => {
    await haveApplied()
    const { alerts: stored } = serviceOf(emulator())
    const [managed] = stored.filter(({ name }) => name === 'Lines')
    if (managed !== undefined) stored.push({ ...managed, id: 'c0ffee00c0ffee00c0ffee00', name: 'By hand', note: null })
    const ran = await run('plan', inTable('otel_lgos'))
    expect(warnings(ran)).toEqual([
      `failing-query: sources.events: the server cannot read what it names: ${noTable} Correct its table or its expressions`,
      expect.stringMatching(/^failing-query: alerts\.errors: /),
      expect.stringMatching(/^failing-query: alerts\.lines: /),
      expect.stringMatching(/^failing-query: alert "By hand" \(\w+\): /),
    ])
    const { document } = await run('plan', { ...inTable('otel_logs'), serviceNameExpression: 'Service' })
    expect(document.diagnostics).toMatchObject([
      {
        message: expect.stringContaining('sources.events: the server cannot read what it names: Unknown expression identifier `Service`.'),
      },
    ])
  })

  it('a source that is held is not a changed one, so nothing is looked up, and nothing is said of what uses it', async () => {
    await haveApplied()
    lookUps.length = 0
    const { adopt: _, ...held } = inTable('no_such_table')
    const { document } = await run('plan', held)
    expect(document).toMatchObject({
      toHold: 1,
      toUpdate: 0,
      diagnostics: [{ rule: 'held', message: expect.stringMatching(/^sources\.events: /) }],
    })
    expect(lookUps).toEqual([])
  })

  it('a changed source is the one of a new alert, too, when the plan creates all of them', async () => {
    const ran = await run('plan', inTable('otel_logs_v2'))
    expect(warnings(ran)).toEqual([neverFires('alerts.errors', 'Unknown expression identifier `SeverityText`.')])
    expect(seriesRequests()).toBe(0)
  })

  it('a changed source is not looked up where the server cannot, which the other checks of the plan do not need', async () => {
    await haveApplied()
    emulator().addFault({ match: { path: '/mcp' }, times: 9, effect: { kind: 'html', status: 404 } })
    const broken = [...tiles, chart('Broken', { select: [{ aggFn: 'count', where: 'Nope:1' }], sourceId: { source: 'Logs' } })]
    const ran = await run('plan', inTable('otel_lgos'), { dashboards: { shop: { name: 'Shop', tiles: broken } } })
    expect(warnings(ran)).toEqual([
      expect.stringMatching(/^failing-query: dashboards\.shop\.tiles\["Broken"\]: it would show an error, .*`Nope`/),
    ])
  })

  it('apply runs the queries of the alerts on a changed source, unchanged ones too, and warns', async () => {
    await haveApplied()
    emulator().addFault({
      match: { path: '/charts/series' },
      times: 9,
      effect: {
        kind: 'status',
        status: 500,
        body: JSON.stringify({ error: 'Table default.otel_lgos does not exist.' }),
        contentType: 'application/json',
      },
    })
    const ran = await run('apply', inTable('otel_lgos'))
    expect([ran.exitCode, ran.document.status, ran.document.changed]).toEqual([0, 'warn', true])
    expect(warnings(ran)).toEqual(['errors', 'lines'].map((key) => neverFires(`alerts.${key}`, 'Table default.otel_lgos does not exist.')))
    const before = seriesRequests()
    expect(warnings(await run('apply', inTable('otel_lgos')))).toEqual([])
    expect(seriesRequests()).toBe(before)
  })
})

describe('the tiles of a plan', () => {
  it('a plan warns of each changed tile whose query the server cannot run, and runs no query of the others', async () => {
    const on = (where: string): Fields =>
      chart('Broken', { displayType: 'table', select: [{ aggFn: 'count', where }], sourceId: { source: 'Logs' } })
    const search = chart('Search', { displayType: 'search', select: 'Body', where: 'Other:1', sourceId: { source: 'Logs' } })
    const declared = (...more: readonly Fields[]) => ({ alerts: {}, dashboards: { shop: { name: 'Shop', tiles: [...tiles, ...more] } } })
    const problem = (name: string, column: string): string =>
      `failing-query: dashboards.shop.tiles["${name}"]: it would show an error, because the server cannot run its query: Unknown expression or function identifier \`${column}\``
    await run('apply', source, declared(on('Nope:1')))
    const before = seriesRequests()
    expect(warnings(await run('plan', source, declared(on('Nope:1'))))).toEqual([])
    expect(warnings(await run('plan', source, declared(on('Nope2:1'), search)))).toEqual([
      problem('Broken', 'Nope2'),
      problem('Search', 'Other'),
    ])
    // Both at once, and each by itself.
    expect(seriesRequests()).toBe(before + 3)
  })
})

describe('a plan near the rate limit', () => {
  const limited = useEmulator({ dialect: 'hyperdx', runSql })

  it('a plan near the rate limit leaves the requests of apply, and says which queries were not run', { tags: 'slow' }, async () => {
    const many = Array.from({ length: 150 }, (_, i) =>
      chart(`T${i}`, { select: [{ aggFn: 'count', where: `ServiceName:s${i}` }], sourceId: { source: 'Logs' } }),
    )
    const runOn = (operation: string) =>
      invokeText({
        inputs: { ...inputsFor(limited(), 'hyperdx'), operation, files: 'a.json', project: 'shop/main' },
        files: { 'a.json': JSON.stringify({ dashboards: { shop: { name: 'Shop', tiles: many } } }) },
      })
    expect((await runOn('plan')).document).toMatchObject({ status: 'pass', diagnostics: [] })
    expect((await runOn('plan')).document).toMatchObject({
      status: 'pass',
      diagnostics: [
        {
          rule: 'unchecked-query',
          message: expect.stringMatching(
            /^The queries of what the plan changes were not run \(dashboards\.shop\.tiles\["T\d+"\], .*\): a plan asks for at most 60 s, and leaves the rate limit to apply$/,
          ),
        },
      ],
    })
    await runOn('apply')
    expect(limited().requests.length).toBeLessThan(100)
  })

  it('a plan near the rate limit says in its headline how many alerts it has checked', { tags: 'slow' }, async () => {
    const many = Array.from({ length: 160 }, (_, i) =>
      chart(`T${i}`, { select: [{ aggFn: 'count', where: `ServiceName:s${i}` }], sourceId: { source: 'Logs' } }),
    )
    const condition = { dashboard: 'shop', threshold: 1, interval: '5m', channel: { type: 'webhook', webhook: 'oncall' } }
    const alerts = Object.fromEntries(many.map(({ name }, i) => [`a${i}`, { name, tile: name, ...condition }]))
    const plan = () =>
      invokeText({
        inputs: { ...inputsFor(limited(), 'hyperdx'), operation: 'plan', files: 'a.json', project: 'shop/main' },
        files: { 'a.json': JSON.stringify({ dashboards: { shop: { name: 'Shop', tiles: many } }, alerts }) },
      })
    expect((await plan()).document).toMatchObject({ checkedAlerts: { alertCount: 160, checkedCount: 160 } })
    const last = await plan()
    const { checkedCount } = last.document.checkedAlerts as { readonly checkedCount: number }
    expect(checkedCount).toBeLessThan(160)
    expect(toPlainText(planOperation.report(last.document as never).headline)).toContain(`${checkedCount} of 160 alerts checked`)
  })
})
