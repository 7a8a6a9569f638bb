// Each query that a plan creates or changes is run once, or a note says why it was not. What a server does with the same queries is in
// test/effects.
import { beforeEach, describe, expect, it } from 'vitest'
import { demo, type RunSql } from '../../../src/emulator/index.ts'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { type Invoked, invokeText } from '../../support/invoke.ts'

type Fields = Readonly<Record<string, unknown>>

const asked: string[] = []

/** Types of the columns of an answer, by a part of the query. */
const typesOf: readonly (readonly [part: RegExp, types: Readonly<Record<string, string>>])[] = [
  [/ AS ts, ServiceName FROM/, { ts: 'DateTime', ServiceName: 'LowCardinality(String)' }],
  [/ AS ts, /, { ts: 'Nullable(DateTime)', n: 'UInt64' }],
  [/SELECT (?:ServiceName|\(any\(ServiceName\)\))/, { ServiceName: 'LowCardinality(String)' }],
  [/toDecimal64/, { n: 'Nullable(Decimal(18, 2))' }],
  [/toBool/, { n: 'Bool' }],
  [/SELECT max/, { n: 'DateTime64(9)' }],
  [/Variant/, { n: 'Variant(Float64, UInt64)' }],
]

/** A database as far as these tests need one. The emulator counts rows, and looks up other columns. */
const runSql: RunSql = ({ sql }) => {
  asked.push(sql)
  const types = typesOf.find(([part]) => part.test(sql))?.[1]
  if (sql.startsWith('SELECT intDiv(') || (sql.endsWith('LIMIT 0') && types === undefined)) return undefined
  if (sql.includes('otel_lgos')) return { error: `Unknown table expression identifier 'default.otel_lgos'. In scope ${sql}. ` }
  if (sql.split('(').length !== sql.split(')').length) return { error: `Syntax error: failed at position 20` }
  const [, macro] = /(\$__\w+)/.exec(sql) ?? []
  if (macro !== undefined) return { error: `Function with name \`${macro}\` does not exist. ` }
  const [, parameter] = /\{(?!startDate|endDate)(\w+):/.exec(sql) ?? []
  if (parameter !== undefined) return { error: `Substitution \`${parameter}\` is not set. ` }
  // The text of the first answer is longer than a server returns.
  const rows = sql.includes('Body') ? Array.from({ length: 1000 }, () => ({ ServiceName: 'x'.repeat(90) })) : [{}]
  const windows = [...sql.matchAll(/(\d+) AS window__/g)].map(([, i]) => ({ window__: Number(i), n: 1 }))
  if (windows.length > 0 && types === undefined && !sql.includes('slow')) return { rows: windows }
  return { rows: types === undefined ? [{ n: 1 }] : rows, types: types ?? { n: 'UInt64' }, elapsedMs: sql.includes('slow') ? 31_000 : 1 }
}

const hosted = useEmulator({ dialect: 'hyperdx', rateLimit: 'off', runSql })
const cloud = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: 'off', runSql })

const inputsOn = {
  hyperdx: () => inputsFor(hosted(), 'hyperdx'),
  'clickhouse-cloud': () => ({
    ...inputsFor(cloud(), 'clickhouse-cloud'),
    'sql-key-id': demo.apiKeyId,
    'sql-key-secret': demo.apiKeySecret,
    'sql-url': cloud().url,
  }),
}

type Dialect = keyof typeof inputsOn

const run = (operation: string, content: Fields, dialect: Dialect = 'hyperdx', more: Readonly<Record<string, string>> = {}) =>
  invokeText({
    inputs: { ...inputsOn[dialect](), operation, files: 'a.json', project: 'shop/main', ...more },
    files: { 'a.json': JSON.stringify(content) },
  })

const diagnosticsOf = ({ document }: Invoked): readonly string[] =>
  (document.diagnostics as readonly { rule: string; severity: string; message: string }[])
    .filter(({ rule }) => rule !== 'implausible-alert' && rule !== 'quiet-alert')
    .map(({ rule, severity, message }) => `${severity} ${rule}: ${message}`.replace('The API answered 400: BAD_REQUEST: ', ''))

beforeEach(() => {
  asked.length = 0
})

const alertOn = (tile: string, more: Fields = {}): Fields => ({
  name: tile,
  dashboard: 'board',
  tile,
  threshold: 5,
  interval: '5m',
  channel: { type: 'webhook', webhook: 'oncall' },
  ...more,
})

/** A dashboard with one tile, and an alert on it. */
const watching = (config: Fields, more: Fields = {}): Fields => ({ ...showing(config), alerts: { one: alertOn('T', more) } })

const showing = (config: Fields): Fields => ({ dashboards: { board: { name: 'Board', tiles: [{ name: 'T', config }] } } })

const sqlOf = (sqlTemplate: string, displayType = 'number'): Fields => ({ configType: 'sql', displayType, sqlTemplate })

const chart = (select: readonly Fields[], more: Fields = {}): Fields => ({ displayType: 'line', source: 'Logs', select, ...more })

const from = 'FROM default.otel_logs WHERE $__timeFilter(Timestamp)'

const failing = 'warning failing-query: alerts.one: it would never fire, because the server cannot run its query: '
const failingTile = 'warning failing-query: dashboards.board.tiles["T"]: it would show an error, because the server cannot run its query: '
const never = 'error never-evaluated: alerts.one: the server would never evaluate it, and shows no error: '
const unrun = 'note unchecked-query: alerts.one: its query was not run: '

describe('the raw SQL of a plan', () => {
  const cases: Readonly<Record<string, readonly [config: Fields, begin: string]>> = {
    'an open bracket': [sqlOf(`SELECT count( ${from}`), `${failing}Syntax error`],
    'a surplus bracket': [sqlOf(`SELECT count()) ${from}`), `${failing}Syntax error`],
    'an open quotation mark': [sqlOf(`SELECT count() ${from} AND a = 'b`), `${failing}a quotation mark of the query is not closed`],
    'an open macro': [sqlOf('SELECT 1 WHERE $__timeFilter(Timestamp'), `${failing}the arguments of a macro are not closed`],
    'a misspelled table beside now()': [
      sqlOf('SELECT count() FROM default.otel_lgos WHERE Timestamp > now() - 300'),
      `${failing}Unknown table`,
    ],
    'a misspelled table without a window': [sqlOf('SELECT count() FROM default.otel_lgos'), `${failing}Unknown table`],
    'a macro with the wrong arguments': [sqlOf('SELECT 1 WHERE $__timeFilter()'), `${failing}the macro $__timeFilter has 0 arguments`],
    'a table of no source': [sqlOf('SELECT 1 FROM $__sourceTable'), `${failing}the macro $__sourceTable needs a source`],
    'the interval in a number': [sqlOf(`SELECT count() / {intervalSeconds:Int64} ${from}`), `${failing}Substitution`],
    'a slow query': [sqlOf(`SELECT 'slow', count() ${from}`), `${failing}it took longer than 30 s, the limit of the server`],
    'a comment with #': [sqlOf(`SELECT count() ${from} # b`), `${unrun}the query has a comment with #; write --`],
    settings: [sqlOf(`SELECT count() ${from} SETTINGS max_threads = 1`), `${unrun}its SQL has SETTINGS max_threads; leave that out`],
    'two statements': [sqlOf(`SELECT 1; SELECT count() ${from}`), `${unrun}its SQL has a semicolon; write one SELECT`],
    'no SELECT': [sqlOf('SHOW TABLES'), `${unrun}the query is not a SELECT`],
    'a variable': [sqlOf(`SELECT count() ${from} AND ServiceName = $env`), `${unrun}the tile uses variables of its dashboard`],
    'a text': [sqlOf(`SELECT ServiceName ${from}`), `${never}the query has no column that is a number, but LowCardinality(String)`],
    'a long answer of texts': [sqlOf(`SELECT ServiceName, Body ${from}`), `${never}the query has no column that is a number`],
    'a decimal': [
      sqlOf(`SELECT toDecimal64(1, 2) ${from}`),
      `${never}the query has no column that is a number, but Nullable(Decimal(18, 2))`,
    ],
    'a truth value': [sqlOf(`SELECT toBool(1) ${from}`), `${never}the query has no column that is a number, but Bool`],
    'a time': [sqlOf(`SELECT max(Timestamp) ${from}`), `${never}the query has no column that is a number, but DateTime64(9)`],
    'a line without a time': [sqlOf('SELECT count() / $__interval_s FROM a', 'line'), `${never}the query has no column that is a time`],
    'a line of texts': [
      sqlOf(`SELECT $__timeInterval(Timestamp) AS ts, ServiceName ${from}`, 'line'),
      `${never}the query has no column that`,
    ],
  }

  it('is run as the server runs it, so that a query that a backtest cannot use has its error, or a note', { tags: 'slow' }, async () => {
    for (const dialect of ['hyperdx', 'clickhouse-cloud'] as const)
      for (const [name, [config, begin]] of Object.entries(cases)) {
        // ClickHouse Cloud does not shorten an answer.
        if (dialect === 'clickhouse-cloud' && name === 'a slow query') continue
        const found = diagnosticsOf(await run('plan', watching(config), dialect))
        expect(found, `${dialect}: ${name}`).toEqual([expect.stringContaining(begin)])
      }
  })

  it('is run whatever its alert does with it, and has no diagnostic where it runs', { tags: 'slow' }, async () => {
    const fine: readonly Fields[] = [
      watching(sqlOf(`SELECT count() ${from}`)),
      watching(sqlOf(`SELECT count() ${from}`), { scheduleOffsetMinutes: 2 }),
      watching(sqlOf('SELECT count() FROM default.otel_logs WHERE Timestamp > now() - 300')),
      watching(sqlOf(`SELECT CAST(1, 'Variant(Float64, UInt64)') ${from}`)),
      watching(sqlOf(`SELECT $__timeInterval(Timestamp) AS ts, count() AS n ${from} GROUP BY ts`, 'line')),
      watching(sqlOf('SELECT toStartOfInterval(a, INTERVAL {intervalSeconds:UInt32} second) AS ts, count() AS n FROM t', 'stacked_bar')),
      showing(sqlOf(`SELECT ServiceName ${from}`, 'table')),
      showing(sqlOf(`SELECT count() ${from}`, 'pie')),
    ]
    for (const content of fine) {
      asked.length = 0
      const found = diagnosticsOf(await run('plan', content)).filter((one) => !one.includes('split-windows'))
      expect([found, asked.length > 0], JSON.stringify(content)).toEqual([[], true])
    }
  })

  it('is that of tiles of all types', async () => {
    for (const displayType of ['number', 'table', 'pie', 'bar', 'line', 'stacked_bar']) {
      const found = diagnosticsOf(await run('plan', showing(sqlOf('SELECT count() FROM default.otel_lgos', displayType))))
      expect(found, displayType).toEqual([expect.stringContaining(`${failingTile}Unknown table`)])
    }
  })

  it('is an error of a plan, which then has no plan file, where the server would never evaluate it', async () => {
    const ran = await run('plan', watching(sqlOf(`SELECT toDecimal64(1, 2) ${from}`)), 'hyperdx', { 'plan-file': 'plan.json' })
    expect([ran.document.status, ran.document.planFile, ran.files.map(({ path }) => path)]).toEqual(['fail', '', []])
    await run('apply', watching(sqlOf(`SELECT toDecimal64(1, 2) ${from}`)))
    expect(diagnosticsOf(await run('plan', watching(sqlOf(`SELECT toDecimal64(1, 2) ${from}`))))).toEqual([])
    expect(diagnosticsOf(await run('plan', watching(sqlOf(`SELECT toDecimal64(2, 2) ${from}`))))).toContainEqual(
      expect.stringContaining(never),
    )
  })

  it('is run by the plan where its backtest could not, and not twice where it could', async () => {
    const content = watching(sqlOf('SELECT count() FROM default.otel_lgos WHERE Timestamp > now() - 300'))
    const found = await run('plan', content, 'hyperdx', { backtest: 'true' })
    expect(diagnosticsOf(found)).toEqual([expect.stringContaining(`${failing}Unknown table`)])
    const refused = await run('plan', watching(sqlOf(`SELECT count() ${from.replace('logs', 'lgos')}`)), 'hyperdx', { backtest: 'true' })
    expect(diagnosticsOf(refused)).toEqual([expect.stringContaining(`${failing}Unknown table`)])
  })
})

describe('the charts of a plan', () => {
  const cases: Readonly<Record<string, readonly [content: Fields, found: readonly string[]]>> = {
    'any text': [watching(chart([{ aggFn: 'any', valueExpression: 'ServiceName' }])), [`${never}the query has no column that is a number`]],
    'any text beside a count': [watching(chart([{ aggFn: 'any', valueExpression: 'ServiceName' }, { aggFn: 'count' }])), []],
    'a column of a table': [showing({ ...chart([{ aggFn: 'none', valueExpression: 'ServiceName' }]), displayType: 'table' }), []],
    'a value with a dot': [
      showing(chart([{ aggFn: 'avg', valueExpression: 'Severitynumber * 0.5' }])),
      [`${failingTile}Unknown expression`],
    ],
    'a search': [
      showing({ displayType: 'search', source: 'Logs', select: 'Timestamp, Bdoy AS text' }),
      [`${failingTile}Unknown expression`],
    ],
    'event patterns': [showing({ displayType: 'event_patterns', source: 'Logs', select: 'Bdoy' }), [`${failingTile}Unknown expression`]],
    'a heatmap': [
      showing({ displayType: 'heatmap', source: 'Traces', select: [{ valueExpression: 'Druation', countExpression: 'count()' }] }),
      [`${failingTile}Unknown expression`],
    ],
    'the order of a table': [
      showing({ ...chart([{ aggFn: 'count', alias: 'n' }]), displayType: 'table', orderBy: 'n DESC', having: 'n > 1' }),
      ['having', 'orderBy'].map(
        (part) => `note unchecked-query: dashboards.board.tiles["T"]: its ${part} was not run: values of charts have none`,
      ),
    ],
    'equal aliases': [
      watching(
        chart([
          { aggFn: 'count', alias: 'n' },
          { aggFn: 'max', valueExpression: 'SeverityNumber', alias: 'n' },
        ]),
      ),
      [`${unrun}two series of the tile have the same alias`],
    ],
    'a saved search': [
      { savedSearches: { one: { name: 'One', source: 'Logs', select: 'Body', where: 'Nope:1', orderBy: 'Timestmap DESC' } } },
      [
        'warning failing-query: savedSearches.one: it would show an error, because the server cannot run its query: Unknown expression or function identifier `Nope`',
        'warning failing-query: savedSearches.one: it would show an error, because the server cannot run its query: Unknown expression or function identifier `Timestmap`',
      ],
    ],
    'a note': [showing({ displayType: 'markdown', markdown: 'a' }), []],
  }

  it('are run with what the API has, and the rest is looked up or has a note', { tags: 'slow' }, async () => {
    for (const [name, [content, found]] of Object.entries(cases)) {
      const wanted = found.map((one) => expect.stringContaining(one))
      expect(diagnosticsOf(await run('plan', content)), name).toEqual(wanted)
    }
  })

  it('are not run in ClickHouse Cloud, which has none: their columns are looked up, and counts are run', async () => {
    const misspelled = chart([{ aggFn: 'count', where: 'Nope:1' }])
    expect(diagnosticsOf(await run('plan', watching(misspelled), 'clickhouse-cloud'))).toEqual([
      expect.stringContaining(`${failing}Unknown expression or function identifier \`Nope\``),
      `${unrun}ClickHouse Cloud has no values of charts, so only its columns were looked up`,
    ])
    const counted = chart([{ aggFn: 'count', where: "ServiceName = 'cart'", whereLanguage: 'sql' }])
    expect(diagnosticsOf(await run('plan', watching(counted), 'clickhouse-cloud'))).toEqual([])
  })

  it('have a note in ClickHouse Cloud without a key for SQL, which names what was not run', async () => {
    const inputs = { ...inputsFor(cloud(), 'clickhouse-cloud'), operation: 'plan', files: 'a.json', project: 'shop/main' }
    const files = { 'a.json': JSON.stringify(showing(chart([{ aggFn: 'count' }]))) }
    expect(diagnosticsOf(await invokeText({ inputs, files }))).toEqual([
      'note unchecked-query: The queries of what the plan changes were not run (dashboards.board.tiles["T"]): set sql-key-id and sql-key-secret to see whether their columns exist',
    ])
  })

  it('have one note for each alert where the query endpoint cannot be reached', async () => {
    const unreachable = { 'sql-url': 'http://127.0.0.1:1', 'max-attempts': '1' }
    const config = chart([{ aggFn: 'count', where: 'SeverityText:error' }])
    for (const backtest of ['false', 'true'])
      expect(diagnosticsOf(await run('plan', watching(config), 'clickhouse-cloud', { ...unreachable, backtest }))).toEqual([
        `${unrun}No answer: nothing listens at this address (ECONNREFUSED)`,
      ])
  })
})
