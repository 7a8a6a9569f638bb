import type { RunSql, SqlResult } from '../../../src/emulator/index.ts'
import type { Case, Exchange } from '../case.ts'
import { aDashboard, anAlert, average, count, type Json, line, list, sql as sqlTile, tile } from './bodies.ts'

// Calls of the tools that run SQL, and that change a part of a dashboard. No query reads a table.

const accept = 'application/json, text/event-stream'

const rpc = (params: Json, more: Json = {}): Json => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params, ...more })

const span = { startTime: '2026-11-10T10:00:00.000Z', endTime: '2026-11-10T11:00:00.000Z' }

const sql = (given: Json = {}): Json =>
  rpc({
    name: 'clickstack_sql',
    arguments: {
      connectionId: '$connection',
      sql: 'SELECT 1',
      ...span,
      ...given,
    },
  })

/** ClickHouse writes numbers of 64 bits as texts. */
const numbers = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => String(i))

const rowsOfNumbers = (count: number): readonly Json[] => numbers(count).map((number) => ({ number }))

/** What ClickHouse makes of each query. The emulator has no database. */
const queries: Readonly<Record<string, { readonly sql: string; readonly result: SqlResult }>> = {
  'one row': { sql: 'SELECT 1 AS one', result: { rows: [{ one: 1 }] } },
  'no rows': { sql: 'SELECT 1 AS one WHERE 0', result: { rows: [] } },
  'NULL and values that are no numbers in JSON': {
    sql: 'SELECT NULL AS nothing, nan AS wrong, inf AS much, true AS yes',
    result: { rows: [{ nothing: null, wrong: null, much: null, yes: true }] },
  },
  'the times of the request': {
    sql: 'SELECT {startDateMilliseconds:Int64} AS start, {endDateMilliseconds:Int64} AS end',
    result: { rows: [{ start: String(Date.parse(span.startTime)), end: String(Date.parse(span.endTime)) }] },
  },
  'an unknown column': { sql: 'SELECT nonsense', result: { error: 'Unknown expression identifier `nonsense`. ' } },
  'a write': {
    sql: 'CREATE TABLE conformance_none (a Int8) ENGINE=Memory',
    result: { error: 'default: Cannot execute query in readonly mode. ' },
  },
  'an answer below 50,000 characters': { sql: 'SELECT number FROM numbers(2400)', result: { rows: rowsOfNumbers(2400) } },
  'an answer above 50,000 characters': { sql: 'SELECT number FROM numbers(20000)', result: { rows: rowsOfNumbers(20_000) } },
  'a few rows that are long': {
    sql: "SELECT repeat('x', 9000) AS text FROM numbers(8)",
    result: { rows: Array.from({ length: 8 }, () => ({ text: 'x'.repeat(9000) })) },
  },
  'a long text in one cell': {
    sql: "SELECT repeat('x', 60000) AS text, 1 AS one",
    result: { rows: [{ text: 'x'.repeat(60_000), one: 1 }] },
  },
  'a long list in one cell': {
    sql: 'SELECT groupArray(number) AS list FROM numbers(20000)',
    result: { rows: [{ list: numbers(20_000) }] },
  },
}

export const runConformanceSql: RunSql = ({ sql }) => Object.values(queries).find((one) => one.sql === sql)?.result

const refused: Readonly<Record<string, Json>> = {
  'another tool': rpc({ name: 'clickstack_nope', arguments: {} }),
  'no arguments': rpc({ name: 'clickstack_sql', arguments: {} }),
  'a query that is a number': sql({ sql: 5 }),
  'an unknown connection': sql({ connectionId: '$gone' }),
  'a malformed connection': sql({ connectionId: 'nope' }),
  'an id of a connection with 12 characters': sql({ connectionId: 'twelve chars' }),
  'a malformed time': sql({ startTime: 'yesterday' }),
  'an end before the start': sql({ endTime: '2026-11-10T09:00:00.000Z' }),
  'an end at the start': sql({ endTime: '2026-11-10T10:00:00.000Z' }),
  'what is not a call': {},
}

const post = { request: 'POST /mcp', dialects: ['hyperdx'] } as const

const hidden = { granularity: '5 minute', where: 'a:b', whereLanguage: 'sql' }
const promql = { configType: 'promql', displayType: 'line', connectionId: '$connection', promqlExpression: 'up' }

/** Saved in the web app: parts that the API does not show, of two of three tiles. */
const withHiddenParts = {
  as: 'dashboard',
  webApp: {
    name: 'Before',
    tags: ['kept'],
    containers: [{ id: 'top', title: 'Top', collapsed: false, tabs: [{ id: 'a', title: 'A' }] }],
    tiles: [
      { id: 'first', name: 'First', config: line(hidden), x: 3, y: 2, w: 7, h: 5, containerId: 'top', tabId: 'a' },
      { id: 'second', name: 'Second', config: line(hidden) },
      { id: 'third', name: 'Third', config: promql },
    ],
  },
}

const parts = (index: number, config: Json): readonly string[] => Object.keys(config).map((name) => `tiles.${index}.config.${name}`)

const patch = (name: string, given: Json, more: Partial<Case> = {}): Case => ({
  name: `mcp: patch ${name}`,
  given: [withHiddenParts],
  body: rpc({ name: 'clickstack_patch_dashboard', arguments: { dashboardId: '$dashboard', ...given } }),
  headers: { accept },
  ...post,
  after: [
    { request: 'GET dashboards/$dashboard' },
    {
      inWebApp: '$dashboard',
      show: ['tiles.length', ...parts(0, hidden), ...parts(1, hidden), ...parts(2, { configType: '', promqlExpression: '' })],
    },
  ],
  ...more,
})

const inMade = (made: Exchange): Partial<Case> => ({ given: [made], after: [{ request: 'GET dashboards/$dashboard' }] })

const made = aDashboard({ tiles: [tile(line()), tile(line(), { x: 6 })] })

const ofMade = (name: string, patched: unknown, more: Partial<Case> = {}): Case =>
  patch(name, { tileId: '$dashboard.tiles.0.id', tile: patched }, { ...inMade(made), ...more })

const twins = { as: 'dashboard', webApp: { name: 'Twins', tiles: ['A', 'B'].map((name) => ({ id: 'same', name, config: line() })) } }

const withAlerts = [made, anAlert(), anAlert({ tileId: '$dashboard.tiles.1.id', name: 'On the other tile' }, 'other')]

const metric = (aggFn: string, metricType: string | undefined, more: Json = {}): Json =>
  line({ select: [{ ...average, aggFn, metricType, metricName: 'm', ...more }] })

const histogramTypes = ['histogram', 'exponential histogram']

/** Configs of tiles that API v2 takes, by what is special in them. */
const unlikeOthers: Readonly<Record<string, Json>> = {
  ...Object.fromEntries(
    histogramTypes.flatMap((type) => [
      [`the sum of: ${type}`, metric('sum', type)],
      [`a quantile without its level of: ${type}`, metric('quantile', type)],
      [`a quantile of: ${type}`, metric('quantile', type, { level: 0.9 })],
      [`the count of: ${type}`, metric('count', type, { valueExpression: undefined })],
    ]),
  ),
  'a quantile of a gauge without its level': metric('quantile', 'gauge'),
  'the increase of a gauge': metric('increase', 'gauge'),
  'the increase of logs': line({ select: [{ ...average, aggFn: 'increase' }] }),
  'the increase of a sum': metric('increase', 'sum'),
  'any value of a metric': metric('any', 'gauge'),
  'a type of metrics without a name': metric('avg', 'gauge', { metricName: undefined }),
  'a type of metrics with an empty name': metric('avg', 'gauge', { metricName: '' }),
  'a name of a metric without a type': metric('avg', undefined),
  'an empty name of a metric without a type': metric('avg', undefined, { metricName: '' }),
  'a second series': line({ select: [count, { ...average, metricType: 'gauge' }] }),
  'a macro of filters without a source': sqlTile({ sqlTemplate: "SELECT '$__filters', $__timeInterval(a)" }),
  'a macro of a table without a source': sqlTile({ sqlTemplate: 'SELECT $__timeInterval(a) FROM $__sourceTable -- b' }),
  'a macro of filters': sqlTile({ sqlTemplate: 'SELECT $__timeInterval(a) WHERE $__filters', sourceId: '$Logs' }),
  'a longer word than a macro': sqlTile({ sqlTemplate: 'SELECT $__timeInterval(a), $__filtersX' }),
}

const patchCases: readonly Case[] = [
  {
    name: 'mcp: tiles that the tool for patches refuses can be created',
    request: 'POST dashboards',
    show: ['tiles.length'],
    dialects: ['hyperdx'],
    body: { name: 'All', tags: [], tiles: Object.values(unlikeOthers).map((config) => tile(config)) },
  },
  ...Object.entries(unlikeOthers).map(([what, config]) => ofMade(what, { config }, { after: [] })),
  { name: 'mcp: the list of tools', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers: { accept }, ...post },
  patch('the name and the tags, and no tile', { name: 'After', tags: ['new', 'new'] }),
  patch('a tile: only its own hidden parts are lost', { tileId: 'second', tile: { name: 'Patched', config: line({ groupBy: 'Env' }) } }),
  patch('a tile without a place, which stays where it is', { tileId: 'first', tile: { config: line() } }),
  patch('a tile, its place and the name', { name: 'After', tileId: 'first', tile: { x: 0, y: 9, w: 24, h: 6, config: line() } }),
  patch('a tile that the API does not show', { tileId: 'third', tile: { config: line() } }),
  patch(
    'one of two tiles with the same id',
    { tileId: 'same', tile: { config: { displayType: 'markdown', markdown: 'x' } } },
    {
      given: [twins],
      after: [{ request: 'GET dashboards/$dashboard' }],
    },
  ),
  ofMade('drops a change over periods', { config: line({ select: [{ ...average, periodAggFn: 'delta' }] }) }),
  ofMade('drops units', {
    config: line({
      select: [{ ...count, numberFormat: { output: 'byte', numericUnit: 'bytes_si' } }],
      numberFormat: { output: 'byte', numericUnit: 'bytes_si', mantissa: 1 },
    }),
  }),
  ofMade('drops a limit of series of an SQL tile', { config: sqlTile({ seriesLimit: 3, fillNulls: false }) }),
  ofMade('keeps a limit of series', { config: line({ seriesLimit: 3, groupBy: 'Env', fitYAxisToData: true }) }),
  ofMade(
    'sets a language that is absent',
    { config: line({ select: [{ aggFn: 'count', where: 'a:b' }] }) },
    {
      after: [{ inWebApp: '$dashboard', show: ['tiles.0.config.select.0.whereLanguage'] }],
    },
  ),
  ofMade(
    'deletes the alert of a tile that cannot have one any more',
    { config: { displayType: 'markdown', markdown: 'x' } },
    {
      given: withAlerts,
      after: [list('alerts')],
    },
  ),
  ofMade('keeps the alert of a tile', { config: line({ groupBy: 'Env' }) }, { given: withAlerts, after: [list('alerts')] }),
  patch('an unknown dashboard', { dashboardId: '$gone', name: 'After' }),
  patch('a malformed id', { dashboardId: 'nope', name: 'After' }),
  patch('nothing', {}),
  patch('a tile without its id', { tile: { config: line() } }),
  patch('an id without a tile', { name: 'After', tileId: 'first' }),
  patch('an unknown tile', { name: 'After', tileId: 'gone', tile: { config: line() } }),
  patch('an empty name', { name: '' }),
  patch('a tile with an empty name', { tileId: 'first', tile: { name: '', config: line() } }),
  patch('a line with a condition', { tileId: 'first', tile: { config: line({ where: 'a:b' }) } }),
  patch('PromQL as a language', { tileId: 'first', tile: { config: line({ select: [{ ...count, whereLanguage: 'promql' }] }) } }),
  patch('a summary of metrics', {
    tileId: 'first',
    tile: { config: line({ select: [{ ...average, metricType: 'summary', metricName: 'm' }] }) },
  }),
  patch('an unknown source', { name: 'After', tileId: 'first', tile: { config: line({ sourceId: '$gone' }) } }),
  patch('a ratio of one', { name: 'After', tileId: 'first', tile: { config: line({ asRatio: true }) } }),
  patch('an unknown container', { tileId: 'first', tile: { containerId: 'gone', config: line() } }),
]

export const mcpCases: readonly Case[] = [
  ...patchCases,
  ...Object.entries(queries).map(
    ([what, query]): Case => ({ name: `mcp: ${what}`, body: sql({ sql: query.sql }), headers: { accept }, ...post }),
  ),
  ...Object.entries(refused).map(([what, body]): Case => ({ name: `mcp: ${what}`, body, headers: { accept }, ...post })),
  { name: 'mcp: no key', body: sql(), ...post, headers: { accept, authorization: null } },
  { name: 'mcp: an unknown key', body: sql(), ...post, headers: { accept, authorization: 'Bearer 00000000-0000-4000-8000-000000000000' } },
  { name: 'mcp: no accepted type', body: sql(), ...post },
  { name: 'mcp: JSON as the only accepted type', body: sql(), ...post, headers: { accept: 'application/json' } },
  { name: 'mcp: a body that is not JSON', text: '{', headers: { accept }, ...post },
  ...['GET', 'DELETE', 'PUT'].map((method): Case => ({ ...post, name: `mcp: ${method}`, request: `${method} /mcp`, headers: { accept } })),
]
