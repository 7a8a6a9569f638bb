import { describe, expect, it } from 'vitest'
import { addressOf } from '../../../../src/kinds/kind-names.ts'
import { isOf } from '../../../../src/kinds/kinds.ts'
import type { Source } from '../../../../src/kinds/source/source-wire.ts'
import { describeSlos, type ReadSlos, readSlos, resolveSlos } from '../../../../src/signals/slos/expand-slos.ts'
import { type DeclaredSlo, isSloKey } from '../../../../src/signals/slos/slo-file.ts'
import { budgetLeft, budgetShare, burnRate, burnRateAlerts, burnRateFactors } from '../../../../src/signals/slos/slo-sql.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { lines, readText, written } from '../../../support/declarations.ts'

const channel = { channel: { type: 'webhook', webhook: 'oncall' } }

const slo = {
  name: 'Checkout',
  source: 'Traces',
  total: "ServiceName = 'checkout'",
  good: "StatusCode != 'Error'",
  objective: 99.9,
  window: '30d',
  alerts: { page: channel, ticket: channel },
}

function readIn(text: string): ReadSlos {
  const { slos, objects, broken, diagnostics } = readText(text)
  const read = readSlos(slos, [...objects, ...broken])
  return { ...read, diagnostics: [...diagnostics, ...read.diagnostics] }
}

const read = (fields: object, more: object = {}) => readIn(JSON.stringify({ slos: { checkout: { ...slo, ...fields } }, ...more }))

const reasons = (fields: object): string => lines(read(fields).diagnostics).join('\n')

const traces: Source = {
  id: 's1',
  name: 'Traces',
  kind: 'trace',
  connection: 'c1',
  from: { databaseName: 'otel', tableName: 'spans' },
  timestampValueExpression: 'Timestamp',
}

const tilesOf = (fields: object, source: Source = traces) => {
  const objects = resolveSlos(read(fields).slos, [source])
  const diagnostics = objects.flatMap(({ unresolved = [] }) => unresolved)
  const tiles = objects.filter(isOf('dashboard')).flatMap(({ value }) => value.tiles)
  const configs = tiles.map(({ name, config }) => [name, config !== undefined && 'sqlTemplate' in config ? config : undefined] as const)
  return { diagnostics, configs, sql: configs.map(([, config]) => config?.sqlTemplate ?? '').join('\n') }
}

describe('an SLO in a file', () => {
  it('an SLO in a file becomes a dashboard, two alerts that page, one for tickets, and one for missing data where it is wanted', () => {
    const keys = (fields: object) => read(fields).objects.map(({ kind, key }) => addressOf({ kind, key }))
    const all = ['dashboards.checkout.slo', 'alerts.checkout.page-1h', 'alerts.checkout.page-6h', 'alerts.checkout.ticket-3d']
    expect(keys({})).toEqual(all)
    expect(keys({ noData: channel })).toEqual([...all, 'alerts.checkout.no-data'])
    expect(keys({ alerts: { ticket: channel } })).toEqual([all[0], all[3]])
    expect(keys({ alerts: undefined })).toEqual([all[0]])
  })

  it('an SLO in a file has the thresholds and windows of the SRE workbook, whatever its window is', () => {
    for (const window of ['7d', '28d', '30d']) {
      const alerts = read({ window }).objects.filter(isOf('alert'))
      expect(alerts.map(({ value: { threshold, thresholdType, interval, tile } }) => [threshold, thresholdType, interval, tile])).toEqual([
        [14.4, 'above', '5m', 'Burn rate 1h / 5m'],
        [6, 'above', '30m', 'Burn rate 6h / 30m'],
        [1, 'above', '6h', 'Burn rate 3d / 6h'],
      ])
    }
  })

  it('tells which share of the budget each alert guards', () => {
    const shares = (window: DeclaredSlo['window']) =>
      burnRateAlerts.map((policy) => Math.round(10 * budgetShare(policy, { window } as DeclaredSlo)) / 10)
    expect(shares('7d')).toEqual([8.6, 21.4, 42.9])
    expect(shares('30d')).toEqual([2, 5, 10])
    expect(describeSlos(read({ window: '28d' }).slos)[0]?.alerts.map(({ budgetShare }) => budgetShare)).toEqual([2.1, 5.4, 10.7])
    const ticket = {
      channels: [
        { type: 'webhook', webhookId: 'w1' },
        { type: 'email', emailRecipients: ['a@example.com', 'b@example.com'] },
      ],
    }
    expect(describeSlos(read({ alerts: { page: channel, ticket }, noData: channel }).slos)[0]?.summary).toBe(
      '99.9% in 30d; page at 2% of the budget in 1h, 5% in 6h → webhook oncall; ' +
        'ticket at 10% of the budget in 3d → webhook w1, email a@example.com,b@example.com; no data → webhook oncall',
    )
  })

  it('an SLO in a file is refused at its place in the file, with the reason', () => {
    const text = `slos:
  a:
    name: A
    source: Traces
    total: ServiceName:checkout
    good: 1=1) OR (1=1
    objective: 99
    window: 30d
  Bad Key: {}
  c: { name: C, source: Traces, total: a, good: b, objective: 100, window: 90d }
`
    expect(lines(readIn(text).diagnostics).map((line) => line.split(/[;,]/)[0])).toEqual([
      'f.yml:5:12 slo-condition: slos.a.total: contains a colon',
      'f.yml:6:11 slo-condition: slos.a.good: has a bracket ()) that is not opened',
      'f.yml:9:3 schema: slos: "Bad Key" is not a key',
      'f.yml:10:63 schema: slos.c.objective: 100 is not accepted',
      'f.yml:10:76 schema: slos.c.window: "90d" is not accepted',
    ])
  })

  it('an SLO in a file takes its objective from a variable', () => {
    const { slos } = readText(JSON.stringify({ slos: { checkout: { ...slo, objective: written('‹env.OBJECTIVE›') } } }), {
      OBJECTIVE: '99.5',
    })
    expect(readSlos(slos, []).slos.map(({ value }) => value.objective)).toEqual([99.5])
  })

  it('an SLO in a file is refused where its fields do not fit together', () =>
    forEachEntry(
      [
        [
          { objective: 93 },
          'alerts.page: never fires at a burn rate of 14.4, because at an objective of 93% the burn rate is at most 14.3; use an objective of at least 93.1%',
        ],
        [{ objective: 80 }, 'never fires at a burn rate of 6, because at an objective of 80% the burn rate is at most 5'],
        [{ objective: 99.12345 }, 'has more than 4 digits after the point'],
        [{ objective: 0 }, 'objective: 0 is not accepted'],
        [{ objective: 0.999 }, 'objective: 0.999 is not accepted'],
        [{ objective: '99.9%' }, 'such as 99.9; write 99.9'],
        [{ alerts: { page: {} } }, 'alerts.page: {} must have either channel or channels'],
        [{ treshold: 1 }, '"treshold"'],
        [{ minEvents: 0 }, 'minEvents: 0 is not accepted'],
        [{ minEvents: 1_000_000_001 }, 'minEvents: 1000000001 is not accepted'],
        [{ groupBy: 'ServiceName, SpanName' }, 'groupBy: has a comma outside of brackets'],
      ] as const,
      (fields, reason) => expect(reasons(fields)).toContain(reason),
    ))

  it('accepts rates that are just reached, and low objectives with tickets only', () => {
    expect(reasons({ objective: 93.1 })).toBe('')
    expect(reasons({ objective: 90, alerts: { ticket: channel } })).toBe('')
  })

  it('an SLO in a file has a key of at most 53 characters, so that the keys of its alerts have at most 63', () => {
    expect([isSloKey('a'.repeat(53)), isSloKey('a'.repeat(54)), isSloKey('A')]).toEqual([true, false, false])
  })

  it('an SLO in a file must not have a key, or an object with a key, that is declared already', () => {
    const alert = { name: 'A', dashboard: 'checkout.slo', tile: 'Burn rate 1h / 5m', threshold: 1, interval: '5m', ...channel }
    expect(lines(read({}, { alerts: { 'checkout.page-1h': alert } }).diagnostics).join()).toContain(
      'alerts.checkout.page-1h is already declared in f.yml:1:',
    )
  })
})

describe('the queries of an SLO', () => {
  it('the queries of an SLO end where the evaluation ends, and only the chart over time looks at its start', () => {
    for (const fields of [{}, { groupBy: 'ServiceName' }, { noData: channel }])
      for (const [name, config] of tilesOf(fields).configs) {
        if (config === undefined) continue
        expect(config.sqlTemplate, name).toContain('{endDateMilliseconds:Int64}')
        expect(config.sqlTemplate.includes('startDate'), name).toBe(name === 'Good events')
        expect(config.sqlTemplate, name).not.toContain('$__')
      }
  })

  it('the queries of an SLO use the table, the time column, the filter and the sample rate of the source', () => {
    const { sql, configs } = tilesOf({}, { ...traces, sampleRateExpression: 'SampleRate', tableFilterExpression: 'only for logs' })
    expect(sql).toContain('FROM `otel`.`spans`')
    expect(sql).toContain('sum(greatest(toUInt64OrZero(toString(SampleRate)), 1))')
    expect(sql).not.toContain('only for logs')
    expect(sql).not.toContain('count()')
    expect(configs[1]?.[1]).toMatchObject({ connectionId: 'c1', sourceId: 's1' })
    const logs = { ...traces, kind: 'log', tableFilterExpression: "Env = 'prod'", sampleRateExpression: 'only for traces' }
    const ofLogs = tilesOf({}, logs).sql
    expect(ofLogs.match(/\(Env = 'prod'\)\n {4}AND \(ServiceName = 'checkout'\)/g)).toHaveLength(5)
    expect(ofLogs).not.toContain('only for traces')
    expect(tilesOf({}, { ...traces, from: { databaseName: 'o`tel', tableName: 'sp\\ans' } }).sql).toContain('`o``tel`.`sp\\\\ans`')
  })

  it('the queries of an SLO are tiles that can have alerts: numbers, and lines for groups', () => {
    const types = (fields: object) => tilesOf(fields).configs.flatMap(([, config]) => (config === undefined ? [] : [config.displayType]))
    expect(types({})).toEqual(['number', 'line', 'number', 'number', 'number'])
    expect(types({ groupBy: 'ServiceName' })).toEqual(['table', 'line', 'line', 'line', 'line'])
  })

  it('the queries of an SLO cannot be made for every source', () =>
    forEachEntry(
      [
        [{ ...traces, name: 'Other' }, 'unknown-name: slos.checkout.source: no source is named "Traces"'],
        [{ ...traces, kind: 'metric' }, 'slo-source: slos.checkout.source: is a source of kind metric; SLOs need one of kind trace or log'],
        [{ ...traces, connection: undefined }, 'slo-source: slos.checkout.source: the API does not show its connection'],
        [{ ...traces, timestampValueExpression: 'Day, Time' }, 'the timestamp column of the source cannot be used: it has a comma'],
        [{ ...traces, kind: 'log', tableFilterExpression: 'a) OR (b' }, 'the table filter of the source cannot be used: it has a bracket'],
      ] as const,
      (source, message) => expect(lines(tilesOf({}, source).diagnostics).join()).toContain(message),
    ))
})

describe('a burn rate', () => {
  it('a burn rate is exact at its threshold, for every objective', () => {
    expect(burnRateFactors(99.9)).toEqual({ multiplier: 1000, divisor: 1 })
    expect(burnRateFactors(99)).toEqual({ multiplier: 100, divisor: 1 })
    expect(burnRateFactors(99.97)).toEqual({ multiplier: 10000, divisor: 3 })
    // 0.0144 × 1000 is 14.399999999999999 with the budget as a fraction.
    for (const [objective, good, total] of [
      [99.9, 9856, 10_000],
      [99, 856, 1000],
      [99.95, 99_280, 100_000],
      [99.99, 998_560, 1_000_000],
    ] as const)
      expect(burnRate(burnRateFactors(objective), { good, total })).toBe(14.4)
  })

  it('a burn rate is unknown without events', () => {
    const left = (total: number) => budgetLeft(burnRateFactors(99.9), { total, good: total })
    expect([left(0), left(1)]).toEqual([undefined, 100])
    expect(burnRate(burnRateFactors(99), { good: 0, total: 0 })).toBeUndefined()
  })
})
