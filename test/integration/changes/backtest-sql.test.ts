// Backtests with SQL: raw SQL tiles on both kinds of server, and everything else that ClickHouse Cloud can count. The emulator counts the
// demo's telemetry; the answers to queries of tiles are computed here from single events.
import { afterEach, describe, expect, it } from 'vitest'
import { demo, type JsonObject, type RunSql } from '../../../src/emulator/index.ts'
import { visitTelemetry } from '../../../src/emulator/product/telemetry.ts'
import type { Clock } from '../../../src/platform/core/clock.ts'
import { createVirtualClock } from '../../support/clocks.ts'
import { inputsFor, serviceOf, useEmulator } from '../../support/emulator.ts'
import { type Invoked, invokeText } from '../../support/invoke.ts'

const weekMs = 7 * 86_400_000
const monday = Date.parse('2026-11-09T00:00:00Z')

/** The end of a whole week of the demo's telemetry, which repeats. */
const untilMs = monday + Math.floor((Date.now() - monday) / weekMs) * weekMs
const dayBefore = (days: number): string => new Date(untilMs - days * 86_400_000).toISOString().slice(0, 10)

/** Its first two days. */
const period = `${dayBefore(7)}..${dayBefore(6)}`

const windowCount = 576

/** In its ninth hour, a quarter of the requests to payment fail. */
const thursday = dayBefore(4)

interface Window {
  readonly startMs: number
  readonly endMs: number
}

interface Asked {
  readonly windows: readonly Window[]
  readonly sql: string
}

/** Answers batches. `count` gives the rows of one window. */
const batches =
  (asked: Asked[], count: (window: Window) => readonly JsonObject[], types: Readonly<Record<string, string>> = { n: 'UInt64' }): RunSql =>
  ({ sql }) => {
    if (!sql.startsWith('SELECT 0 AS window__')) return undefined
    const windows = sql.split('\nUNION ALL\n').map((part) => {
      const [startMs = 0, endMs = 0] = [...part.matchAll(/toInt64\((\d{13})\)/g)].map(([, ms]) => Number(ms))
      return { startMs, endMs }
    })
    asked.push({ windows, sql })
    return {
      rows: windows.flatMap((window, i) => count(window).map((row) => ({ window__: i, ...row }))),
      types: { window__: 'UInt16', ...types },
    }
  }

/** The errors of each minute of the demo's week, by service. */
const errorsByMinute = new Map<string, Float64Array>()
visitTelemetry('log', { fromMs: monday, toMs: monday + weekMs - 1 }, (row, atMs) => {
  if (String(row.SeverityText) !== 'error') return
  const service = String(row.ServiceName)
  const counts = errorsByMinute.get(service) ?? new Float64Array(weekMs / 60_000)
  errorsByMinute.set(service, counts)
  const minute = Math.floor((atMs - monday) / 60_000)
  counts[minute] = (counts[minute] ?? 0) + 1
})

function errorsIn(service: string, { startMs, endMs }: Window): number {
  let sum = 0
  for (let at = startMs; at < endMs; at += 60_000)
    sum += errorsByMinute.get(service)?.[((((at - monday) % weekMs) + weekMs) % weekMs) / 60_000] ?? 0
  return sum
}

const errorsOfCheckout = (window: Window): readonly JsonObject[] => [{ n: String(errorsIn('checkout', window)) }]

const inRange =
  'Timestamp >= fromUnixTimestamp64Milli({startDateMilliseconds:Int64}) AND Timestamp < fromUnixTimestamp64Milli({endDateMilliseconds:Int64})'

type Fields = Readonly<Record<string, unknown>>

/** Answers the batches of the test that runs. */
let runSql: RunSql | undefined

const answer: RunSql = (request) => runSql?.(request)

const hosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', runSql: answer })
const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', runSql: answer })

afterEach(() => {
  runSql = undefined
})

/** The same in both servers. */
const connectionOf = (): string => serviceOf(hosted()).connections[0]?.id ?? ''

const sqlKey = { 'sql-key-id': demo.apiKeyId, 'sql-key-secret': demo.apiKeySecret }

const inputsOn = {
  hyperdx: () => inputsFor(hosted(), 'hyperdx'),
  'clickhouse-cloud': () => ({ ...inputsFor(cloud(), 'clickhouse-cloud'), ...sqlKey, 'sql-url': cloud().url }),
}

type Dialect = keyof typeof inputsOn

const dialects = ['hyperdx', 'clickhouse-cloud'] as const

const backtest = (dialect: Dialect, declared: Fields, more: Readonly<Record<string, string>> = {}, clock?: Clock): Promise<Invoked> =>
  invokeText({
    ...(clock && { clock }),
    inputs: { ...inputsOn[dialect](), operation: 'backtest', files: 'a.json', project: 'shop/main', period, ...more },
    files: { 'a.json': JSON.stringify(declared) },
  })

const declare = (sqlTemplate: string, more: Fields = {}, config: Fields = {}): Fields => ({
  dashboards: {
    raw: {
      name: 'Raw',
      tiles: [
        { name: 'Errors', config: { configType: 'sql', displayType: 'number', connectionId: connectionOf(), sqlTemplate, ...config } },
      ],
    },
  },
  alerts: {
    errors: {
      name: 'Errors',
      dashboard: 'raw',
      tile: 'Errors',
      interval: '5m',
      thresholdType: 'above',
      threshold: 19,
      channel: { type: 'webhook', webhook: 'oncall' },
      ...more,
    },
  },
})

const countErrors = `SELECT count() AS n FROM otel_logs WHERE ${inRange} AND SeverityText = 'error' AND ServiceName = 'checkout'`

const next = ({ document }: Invoked): Fields => (document.alerts as readonly { readonly next: Fields }[])[0]?.next ?? {}

describe.each(dialects)('a backtest of a raw SQL tile with profile %s', (dialect) => {
  it('compares the value of each window, in a few queries, with the data of the source that the query names', {
    tags: 'slow',
  }, async () => {
    const asked: Asked[] = []
    runSql = batches(asked, errorsOfCheckout)
    const ran = await backtest(dialect, declare(countErrors))
    // Counted by hand: on the second day, 10:00-10:04: 19 errors, 10:05-10:09: 30.
    expect(next(ran)).toMatchObject({ verdict: 'fires', notifications: 2, windows: windowCount, coverage: { share: expect.closeTo(1, 2) } })
    const windows = asked.flatMap((one) => one.windows)
    expect(windows).toEqual(Array.from({ length: windowCount }, (_, i) => windowAt(i)))
    // The source, and a window without rows.
    expect(ran.document.requestCount).toBe(asked.length + 2)
    expect(asked.length).toBeLessThan(4)
    expect(asked.every(({ sql }) => sql.length < 100_000)).toBe(true)
  })

  it('takes the rows of a tile over time whose time is the start of the window, and a state for each group', { tags: 'slow' }, async () => {
    const count = ({ startMs, endMs }: Window): readonly JsonObject[] =>
      ['checkout', 'cart', 'payment'].flatMap((service) =>
        // The row after the window is that of an end that is included.
        [startMs, endMs].map((ms) => ({
          ts: timeOf(ms, dialect),
          ServiceName: service,
          n: errorsIn(service, { startMs: ms, endMs: ms + 300_000 }),
        })),
      )
    runSql = batches([], count, { ts: 'DateTime', ServiceName: 'LowCardinality(String)', n: 'UInt64' })
    const grouped =
      'SELECT $__timeInterval(Timestamp) AS ts, ServiceName, count() AS n FROM otel_logs WHERE $__timeFilter(Timestamp) GROUP BY ts, ServiceName'
    const ran = await backtest(dialect, declare(grouped, {}, { displayType: 'line' }))
    const wanted = ['checkout', 'cart', 'payment'].flatMap((service) =>
      Array.from({ length: windowCount }, (_, i) => windowAt(i)).filter((window) => errorsIn(service, window) >= 19),
    )
    expect(wanted.length).toBeGreaterThan(1)
    expect(next(ran)).toMatchObject({ verdict: 'fires', notifications: wanted.length })
  })

  it('asks for fewer windows where the server leaves out a part of the answer', async () => {
    const asked: Asked[] = []
    const padding = dialect === 'hyperdx' ? 'x'.repeat(300) : ''
    runSql = batches(asked, (window) => [{ text: padding, ...errorsOfCheckout(window)[0] }], { text: 'String', n: 'UInt64' })
    expect(next(await backtest(dialect, declare(countErrors)))).toMatchObject({ notifications: 2 })
    if (dialect === 'hyperdx') expect(new Set(asked.map(({ windows }) => windows.length)).size).toBeGreaterThan(1)
  })
})

describe('a backtest of a raw SQL tile', () => {
  const dialect = 'clickhouse-cloud'

  it('has the reason of the server where it refuses the query', async () => {
    runSql = ({ sql }) => (sql.startsWith('SELECT 0 AS window__') ? { error: "Unknown table expression identifier 'nope'. " } : undefined)
    expect(next(await backtest(dialect, declare(countErrors)))).toMatchObject({
      verdict: 'not-estimable',
      reason: expect.stringContaining("Unknown table expression identifier 'nope'"),
    })
  })

  it('is never evaluated where no column of its query is a number, which the number of a window is not', async () => {
    runSql = batches([], () => [{ service: 'checkout' }], { service: 'String' })
    expect(next(await backtest(dialect, declare(countErrors)))).toMatchObject({
      verdict: 'not-estimable',
      reason: 'never evaluated: the query has no column that is a number, but String; convert one, such as with toFloat64',
    })
  })

  it('V9: passes no gate where the source of its data is unknown', async () => {
    runSql = batches([], errorsOfCheckout)
    const declared = declare(countErrors.replace('otel_logs', 'other_table'), { threshold: 1000 })
    const ran = await backtest(dialect, declared, { 'max-notifications': '0' })
    expect(next(ran)).toMatchObject({ verdict: 'quiet', notifications: 0 })
    expect(next(ran)).not.toHaveProperty('coverage')
    expect(ran.reason).toContain('alert errors with an unknown share of windows with data: set the source of its tile, or on-missing: warn')
    expect((await backtest(dialect, declared, { 'max-notifications': '0', 'on-missing': 'ignore' })).document.status).toBe('pass')
  })

  it('ends a query whose first batch shows that the rest takes longer than a quarter of the time of the run', async () => {
    const cases: readonly [string, number, readonly number[], object][] = [
      // Two batches for the windows of two days.
      ['a fast query', 20_000, [335, 241], { verdict: 'fires' }],
      [
        'a slow query',
        29_000,
        [335],
        { reason: 'too expensive: its SQL takes about 58 s, and one alert gets 50 s, a quarter of timeout-seconds' },
      ],
    ]
    for (const [name, elapsedMs, sizes, expected] of cases) {
      const asked: Asked[] = []
      const count = batches(asked, errorsOfCheckout)
      runSql = (request) => {
        const result = count(request)
        return result && { ...result, elapsedMs }
      }
      const ran = await backtest(dialect, declare(countErrors), { 'timeout-seconds': '200' })
      expect(next(ran), name).toMatchObject(expected)
      const counts = asked.map(({ windows }) => windows.length)
      expect(counts, name).toEqual(sizes)
    }
  })

  it('leaves the end of the time for the report, which says why alerts have no estimate', async () => {
    const clock = createVirtualClock(Date.now())
    const { alerts, dashboards } = declare(countErrors) as { alerts: { errors: object }; dashboards: object }
    // Each alert has a window of its own, so none shares the queries of another.
    const intervals = ['5m', '15m', '30m', '1h', '6h', '12h', '1d']
    const many = Object.fromEntries(intervals.map((interval) => [`e${interval}`, { ...alerts.errors, name: interval, interval }]))
    runSql = (request) => {
      const rows = batches([], errorsOfCheckout)(request)
      if (rows !== undefined) void clock.sleep(24_000)
      return rows
    }
    const ran = await backtest(dialect, { alerts: many, dashboards }, { 'timeout-seconds': '100' }, clock)
    const reasons = (ran.document.alerts as readonly { next: { reason?: string; verdict: string } }[]).map(
      ({ next: one }) => one.reason ?? one.verdict,
    )
    expect(ran.document.status).toBe('pass')
    expect(reasons).toContain('the time of the run is used up; raise timeout-seconds, or set a shorter period')
    expect(reasons).toContain('fires')
  })

  it('is too expensive where it needs more queries than a plan sends, and leaves enough for alerts that need few', {
    tags: 'slow',
  }, async () => {
    const asked: Asked[] = []
    runSql = batches(asked, errorsOfCheckout)
    // Alerts with equal queries share them.
    const files = ['a', 'b', 'c'].map((name) =>
      JSON.stringify(declare(`${countErrors} AND '${name}' != ''`, { name, interval: '1m', dashboard: name })).replace(
        /"(raw|errors)":/g,
        `"${name}":`,
      ),
    )
    const [dashboards, alerts] = ['dashboards', 'alerts'].map((part) => Object.assign({}, ...files.map((file) => JSON.parse(file)[part])))
    const declared = { dashboards, alerts, slos: { payment } }
    const ran = await backtest(dialect, declared, { operation: 'plan', period: '', backtest: 'true' })
    const tested = ran.document.backtest as { alerts: readonly { key: string; next: object }[] }
    const of = Object.fromEntries(tested.alerts.map(({ key, next: estimate }) => [key, estimate]))
    expect(of.c).toMatchObject({
      verdict: 'not-estimable',
      reason: expect.stringMatching(/^too expensive: its SQL needs \d+ queries, and the limit of 60 requests leaves fewer$/),
    })
    expect(of['payment.page-1h']).toMatchObject({ verdict: 'fires' })
    // The plan looks at fewer windows of what the backtest could not read.
    const { facts, ...counts } = ran.document.checkedAlerts as {
      readonly facts: readonly { readonly key: string; readonly fact: string }[]
    }
    expect(facts.map(({ key }) => key)).toEqual(['b', 'c'])
    expect(facts[0]?.fact).toMatch(/; 24 h: .* in \d\d of \d\d windows; /)
    expect(counts).toEqual({ alertCount: 5, checkedCount: 5 })
  })

  it('is run by a plan that creates the alert, which warns where the server refuses it', { tags: 'slow' }, async () => {
    const plan = async () => {
      const ran = await invokeText({
        inputs: { ...inputsOn[dialect](), operation: 'plan', files: 'a.json', project: 'shop/main' },
        files: { 'a.json': JSON.stringify(declare(countErrors)) },
      })
      return [ran.document.status, (ran.document.diagnostics as readonly { message: string }[]).map(({ message }) => message)]
    }
    runSql = ({ sql }) => (sql.startsWith('SELECT count() AS n') ? { rows: [{ n: 1 }] } : undefined)
    expect(await plan()).toEqual(['pass', []])
    runSql = ({ sql }) => (sql.startsWith('SELECT count() AS n') ? { error: "Unknown table expression identifier 'nope'. " } : undefined)
    expect(await plan()).toEqual([
      'warn',
      [
        expect.stringMatching(
          /^alerts\.errors: it would never fire, because the server cannot run its query: .*Unknown table expression identifier 'nope'/,
        ),
      ],
    ])
  })

  const fromUrl = `SELECT count() AS n FROM \`url\`('http://other.example/', 'TSV', 'x UInt8') WHERE {endDateMilliseconds:Int64} > 0`
  const withSettings = `SELECT count() AS n FROM otel_logs WHERE {endDateMilliseconds:Int64} > 0
    SETTINGS \`additional_result_filter\` = '1 IN (SELECT x FROM url(''http://other.example/'', ''TSV'', ''x UInt8''))'`

  it.each([
    ['a table function', fromUrl, 'its SQL uses `url`, which does more than read the data of the database'],
    [
      'settings',
      withSettings,
      'its SQL has SETTINGS `additional_result_filter`; leave that out, or write `SETTINGS` in backticks where it is a name',
    ],
  ])(
    'W4: is not sent where it could read other data than that of the database: a plan and a backtest say so, and apply stores it: %s',
    async (_, sql, reason) => {
      const declared = declare(sql)
      const server = { hyperdx: hosted, 'clickhouse-cloud': cloud }[dialect]()
      const before = server.requests.length
      const inputs = { ...inputsOn[dialect](), files: 'a.json', project: `shop/unsent-${dialect}-${sql.length}` }
      const run = (operation: string) => invokeText({ inputs: { ...inputs, operation }, files: { 'a.json': JSON.stringify(declared) } })
      expect(next(await backtest(dialect, declared))).toEqual({ verdict: 'not-estimable', reason })
      const { document } = await run('plan')
      expect([document.status, document.diagnostics]).toMatchObject([
        'pass',
        [{ rule: 'unchecked-query', severity: 'note', message: `alerts.errors: its query was not run: ${reason}` }],
      ])
      expect(document.checkedAlerts).toEqual({ alertCount: 1, checkedCount: 0, facts: [] })
      const sent = server.requests.slice(before).filter(({ path }) => /\/(?:mcp|run|series)$/.test(path))
      expect(sent.filter(({ body }) => JSON.stringify(body).includes('other.example'))).toEqual([])
      expect((await run('apply')).document).toMatchObject({ status: 'pass', toCreate: 2 })
    },
  )

  it('is refused for several rows of a number tile, whose order a batch does not keep', async () => {
    runSql = batches([], () => [{ n: 1 }, { n: 2 }])
    expect(next(await backtest(dialect, declare(countErrors)))).toMatchObject({
      reason: 'the query of a number tile has several rows, of which the server takes the first; end it with LIMIT 1',
    })
  })

  it('evaluates only the windows from a declared start on', async () => {
    runSql = batches([], errorsOfCheckout)
    const scheduleStartAt = new Date(untilMs - weekMs + 34 * 3_600_000 + 300_000).toISOString()
    expect(next(await backtest(dialect, declare(countErrors, { scheduleStartAt })))).toMatchObject({ notifications: 1 })
  })
})

function windowAt(i: number): Window {
  const startMs = untilMs - weekMs + i * 300_000
  return { startMs, endMs: startMs + 300_000 }
}

describe('an incident of an alert on a raw SQL tile', () => {
  const hourOf = (hours: number): string => new Date(untilMs - weekMs + hours * 3_600_000).toISOString()
  const incidents = { checkout: { name: 'Checkout', start: hourOf(34), end: hourOf(34.25), alerts: ['errors'], within: '15m' } }

  it('is detected by both kinds of server, and missed with a threshold above it', { tags: 'slow' }, async () => {
    for (const dialect of dialects) {
      const run = async (more: Fields) => {
        runSql = batches([], errorsOfCheckout)
        return (await backtest(dialect, { ...declare(countErrors, more), incidents })).document
      }
      expect(await run({}), dialect).toMatchObject({ status: 'pass', detected: 1, missed: 0 })
      expect(await run({ threshold: 12, numConsecutiveWindows: 2 }), dialect).toMatchObject({ status: 'pass', detected: 1 })
      expect(await run({ threshold: 31 }), dialect).toMatchObject({ status: 'fail', missed: 1 })
    }
  })
})

/** The cloud writes times as ClickHouse does by default. */
const timeOf = (ms: number, dialect: Dialect): string => {
  const text = new Date(ms).toISOString().replace('.000', '')
  return dialect === 'hyperdx' ? text : text.replace('T', ' ').replace('Z', '')
}

const payment = {
  name: 'Payment',
  source: 'Traces',
  total: "ServiceName = 'payment'",
  good: "StatusCode != 'Error'",
  objective: 99,
  window: '7d',
  alerts: { page: { channel: { type: 'webhook', webhook: 'oncall' } } },
}

const search = (where: string, whereLanguage: string): Fields => ({
  savedSearches: { errors: { name: 'Errors', source: 'Logs', where, whereLanguage } },
  alerts: {
    errors: {
      name: 'Errors',
      savedSearch: 'errors',
      groupBy: 'ServiceName',
      interval: '15m',
      thresholdType: 'above',
      threshold: 20,
      channel: { type: 'webhook', webhook: 'oncall' },
    },
  },
})

describe('a server without SQL access', () => {
  const old = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', hasMcp: false })

  it('a server without SQL access has no estimate of a raw SQL tile, and estimates of other alerts', async () => {
    const { document } = await invokeText({
      inputs: { ...inputsFor(old(), 'hyperdx'), operation: 'backtest', files: 'a.json', project: 'shop/main', period: thursday },
      files: { 'a.json': JSON.stringify({ ...declare(countErrors), slos: { payment } }) },
    })
    expect(document).toMatchObject({ firing: 1, notEstimable: 1 })
    expect((document.alerts as readonly { readonly next: Fields }[]).map(({ next: { reason } }) => reason)).toContain(
      'This server cannot run SQL: it has no /mcp.',
    )
  })
})

describe('a backtest in ClickHouse Cloud', () => {
  it('has the same numbers for the alerts of SLOs as on a self-hosted server, with the long window before the period', async () => {
    const of = async (dialect: Dialect) =>
      (await backtest(dialect, { slos: { payment: { ...payment, groupBy: 'ServiceName' } } }, { period: thursday })).document
    const there = await of('clickhouse-cloud')
    expect(there.alerts).toEqual((await of('hyperdx')).alerts)
    expect(there).toMatchObject({ status: 'pass', firing: 1, notEstimable: 0 })
    expect(cloud().requests.some(({ path }) => path.includes('/charts/series'))).toBe(false)
  })

  it('has the same numbers for a saved search with a condition in SQL as on a self-hosted server', async () => {
    const declared = search("SeverityText = 'error'", 'sql')
    const asked: string[] = []
    runSql = ({ sql }) => void asked.push(sql)
    const there = await backtest('clickhouse-cloud', declared)
    // Groups without errors, which charts leave out, are not read.
    expect(asked).toContainEqual(expect.stringMatching(/^WHERE .*\n {2}AND \(\(SeverityText = 'error'\)\)$/m))
    expect(next(there)).toMatchObject({ verdict: 'fires', coverage: { share: expect.closeTo(1, 2) } })
    expect(there.document.alerts).toEqual((await backtest('hyperdx', declared)).document.alerts)
  })

  it('has a reason for what only values of charts can show, and sends no query for it', async () => {
    const charts = {
      dashboards: {
        raw: {
          name: 'Charts',
          tiles: [
            { name: 'Errors', config: { displayType: 'line', sourceId: { source: 'Logs' }, select: [{ aggFn: 'count', where: '' }] } },
          ],
        },
      },
      alerts: declare('').alerts,
    }
    expect(next(await backtest('clickhouse-cloud', charts))).toEqual({
      verdict: 'not-estimable',
      reason: 'ClickHouse Cloud has no values of charts; its alerts on raw SQL tiles and on saved searches are estimable',
    })
    expect(next(await backtest('clickhouse-cloud', search('SeverityText:error', 'lucene')))).toEqual({
      verdict: 'not-estimable',
      reason: 'its condition is Lucene, and ClickHouse Cloud has no values of charts; write the condition in SQL',
    })
    expect(cloud().requests.some(({ path }) => path.endsWith('/run'))).toBe(false)
  })

  it('W4: does not wake a sleeping service without wake-service', async () => {
    serviceOf(cloud()).state = 'idle'
    const declared = { slos: { payment } }
    const asleep = await backtest('clickhouse-cloud', declared, { 'max-notifications': '5' })
    expect(next(asleep)).toEqual({
      verdict: 'not-estimable',
      reason: 'asleep, not checked: a query would wake the service; set WATCHKEEPER_WAKE_SERVICE: true to allow that',
    })
    expect(asleep.document.status).toBe('fail')
    expect(cloud().requests.some(({ path }) => path.endsWith('/run'))).toBe(false)
    serviceOf(cloud()).state = 'idle'
    expect(next(await backtest('clickhouse-cloud', declared, { 'wake-service': 'true', period: thursday }))).toMatchObject({
      verdict: 'fires',
    })
  })

  it('W4: does not let the files of a fork decide what SQL runs in ClickHouse Cloud', async () => {
    const ran = await invokeText({
      inputs: { ...inputsOn['clickhouse-cloud'](), operation: 'backtest', files: 'a.json', project: 'shop/main', period },
      files: { 'a.json': JSON.stringify({ slos: { payment } }) },
      env: { GITHUB_EVENT_NAME: 'pull_request_target' },
    })
    expect(ran.reason).toContain('No backtest: the files may be those of a pull request from a fork, and the server would run their SQL')
    expect(cloud().requests).toEqual([])
  })

  it('a backtest with SQL has its numbers in a plan, too', { tags: 'slow' }, async () => {
    const inputs = { ...inputsOn['clickhouse-cloud'](), operation: 'plan', files: 'a.json', project: 'shop/main', backtest: 'true' }
    const { document } = await invokeText({ inputs, files: { 'a.json': JSON.stringify({ slos: { payment } }) } })
    expect(document.backtest).toMatchObject({ alerts: [{ next: { verdict: 'fires' } }, { next: { windows: expect.any(Number) } }] })
  })
})
