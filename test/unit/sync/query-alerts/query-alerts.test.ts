import { describe, expect, it } from 'vitest'
import { describeQuery, queryDashboardKey } from '../../../../src/kinds/alert-query/alert-query.ts'
import { addressOf } from '../../../../src/kinds/kind-names.ts'
import { isOf } from '../../../../src/kinds/kinds.ts'
import { checkReferences } from '../../../../src/kinds/references.ts'
import { expandQueries } from '../../../../src/sync/query-alerts/query-alerts.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { lines, readDeclarations, readText } from '../../../support/declarations.ts'

const watching = { threshold: 10, interval: '5m', channel: { type: 'webhook', webhook: 'oncall' } }

const built = { source: 'Logs', select: [{ aggFn: 'count', where: 'SeverityText:error' }] }

const ofSql = (sql: string, more: object = {}) => ({ sql, connection: 'Local', ...more })

const alertWith = (query: unknown, more: object = {}) => ({ name: 'Errors', query, ...watching, ...more })

function read(content: object) {
  const expanded = expandQueries(readText(JSON.stringify(content)), 'shop')
  return { ...expanded, problems: lines([...expanded.diagnostics, ...checkReferences(expanded)]) }
}

const problemsOf = (query: unknown, more: object = {}, others: object = {}) =>
  read({ alerts: { a: alertWith(query, more) }, ...others }).problems.map((line) => line.replace(/^\S+ \S+: /, ''))

const tilesOf = (query: unknown) =>
  read({ alerts: { a: alertWith(query) } })
    .objects.filter(isOf('dashboard'))
    .flatMap(({ value }) => value.tiles.map(({ config }) => config))

describe('the query of an alert', () => {
  it('becomes a number, and with groups, a ratio or the interval a line', async () => {
    const types: [unknown, string][] = [
      [built, 'number'],
      [{ ...built, groupBy: '' }, 'number'],
      [{ ...built, select: [...built.select, { aggFn: 'count' }], formulas: [{ expression: 'A / B' }] }, 'number'],
      [{ ...built, groupBy: 'ServiceName' }, 'line'],
      [{ ...built, select: [...built.select, { aggFn: 'count' }], asRatio: true }, 'line'],
      [ofSql('SELECT count() FROM t WHERE $__timeFilter(Timestamp)'), 'number'],
      [ofSql('SELECT max(n) FROM (SELECT count() AS n FROM t GROUP BY host)'), 'number'],
      [ofSql('SELECT host, count() AS n FROM t GROUP BY host ORDER BY n DESC LIMIT 1'), 'number'],
      [ofSql("SELECT '$__timeInterval(x)', count() FROM t"), 'number'],
      [ofSql('SELECT $__timeInterval(ts) AS t, host, count() FROM x GROUP BY t, host'), 'line'],
      [ofSql('SELECT toStartOfInterval(ts, INTERVAL {intervalSeconds:Int64} second) AS t, 1 FROM x GROUP BY t'), 'line'],
    ]
    await forEachEntry(types, (query, displayType) => {
      expect(problemsOf(query)).toEqual([])
      expect(tilesOf(query)).toMatchObject([{ displayType }])
    })
  })

  it('keeps the fields of a chart, with SQL under the name that the API has', () => {
    expect(tilesOf({ ...built, numberFormat: { output: 'percent' }, color: 'chart-red' })).toEqual([
      {
        displayType: 'number',
        sourceId: { source: 'Logs' },
        select: built.select,
        numberFormat: { output: 'percent' },
        color: 'chart-red',
      },
    ])
    expect(tilesOf(ofSql('SELECT 1', { source: 'Logs' }))).toEqual([
      { configType: 'sql', displayType: 'number', sqlTemplate: 'SELECT 1', connection: 'Local', sourceId: { source: 'Logs' } },
    ])
  })

  it('is refused where the alert task does not evaluate it', async () => {
    const path = 'alerts.a.query'
    const metric = { valueExpression: 'Value', metricName: 'm' }
    const refused: [unknown, string][] = [
      [{}, `${path}.select: is missing; accepted: a list`],
      [{ select: built.select }, `${path}.source: is missing; accepted: the name of a source`],
      [{ ...built, select: [] }, `${path}.select: [] is not accepted; accepted: at least 1 item`],
      [{ ...built, displayType: 'line' }, `${path}: "displayType" is an unknown field`],
      [{ ...built, sourceId: 'x' }, `${path}.sourceId: "x" cannot be combined with source`],
      [
        { ...built, select: [{ aggFn: 'count' }, { aggFn: 'count' }] },
        `${path}.select[0]: {"aggFn":"count"} has no effect, because only the last item is compared; combine them by formulas or asRatio`,
      ],
      [{ ...built, asRatio: true }, `${path}.asRatio: true needs exactly two items of select`],
      [
        { ...built, select: [{ aggFn: 'count' }, { aggFn: 'count' }], asRatio: true, formulas: [{ expression: 'A' }] },
        `${path}.formulas: [{"expression":"A"}] cannot be combined with asRatio; write the ratio as a formula`,
      ],
      [{ ...built, fillNulls: false }, `${path}.fillNulls: false is only for a query with groupBy or asRatio`],
      [{ ...built, groupBy: 'x', color: 'chart-red' }, `${path}.color: "chart-red" is only for a query without groupBy or asRatio`],
      [
        { ...built, select: [{ aggFn: 'avg', ...metric, metricType: 'summary' }] },
        `${path}.select[0].metricType: "summary" has no query in the server`,
      ],
      [
        { ...built, select: [{ aggFn: 'avg', ...metric, metricType: 'histogram' }] },
        `${path}.select[0].aggFn: "avg" has no query in the server for a metric of type histogram; use quantile or count`,
      ],
      [ofSql(''), `${path}.sql: "" is not accepted; accepted: at least 1 character`],
      [ofSql('INSERT INTO t VALUES (1)'), `${path}.sql: "INSERT INTO t VALUES (1)" is not a SELECT`],
      [ofSql('SELECT 1; DROP TABLE t'), `${path}.sql: "SELECT 1; DROP TABLE t" has more than one statement`],
      [ofSql('SELECT 1', { connectionId: 'x' }), `${path}.connectionId: "x" cannot be combined with connection`],
      [ofSql('SELECT 1', { sqlTemplate: 'x' }), `${path}: "sqlTemplate" is an unknown field; did you mean "sql"?`],
      [ofSql('SELECT 1', { fillNulls: false }), `${path}.fillNulls: false is only for SQL with the interval`],
      [
        ofSql('SELECT $__unixEpochFilter(t)'),
        `${path}.sql: "SELECT $__unixEpochFilter(t)" has the macro $__unixEpochFilter, which the server does not know; known: timeFilter`,
      ],
      [
        ofSql('SELECT count() FROM $__sourceTable'),
        `${path}.sql: "SELECT count() FROM $__sourceTable" has $__sourceTable and needs a source`,
      ],
      [ofSql('SELECT {from:DateTime}'), `${path}.sql: "SELECT {from:DateTime}" has the parameter from, which the server does not set`],
      [
        ofSql('SELECT host, count() FROM t GROUP BY host'),
        `${path}.sql: "SELECT host, count() FROM t GROUP BY host" groups rows without the interval, and only the first row is compared`,
      ],
    ]
    await forEachEntry(refused, (query, message) => {
      const [first = ''] = problemsOf(query)
      expect(first.slice(0, message.length)).toBe(message)
    })
  })

  it('is refused at the line and column of the field', () => {
    const text = [
      'alerts:',
      '  a:',
      '    name: Errors',
      '    query:',
      '      sql: |',
      '        SELECT $__rate(x)',
      '    threshold: 1',
      '    interval: 5m',
    ].join('\n')
    expect(lines(readText(text).diagnostics)[0]).toMatch(/^f\.yml:5:12 schema: alerts\.a\.query\.sql: /)
  })

  it('is refused beside a tile or a saved search, and in a dashboard that the files do not declare', async () => {
    const dashboards = { d: { name: 'D', tags: ['t'], tiles: [] } }
    const slo = { name: 'S', source: 'Traces', total: '1', good: '1', objective: 99, window: '7d' }
    const refused: [object, string][] = [
      [{ dashboard: 'd', tile: 'T' }, 'alerts.a.tile: cannot be combined with query'],
      [{ savedSearch: 's' }, 'alerts.a.savedSearch: cannot be combined with query'],
      [{ dashboard: 'e' }, 'alerts.a.dashboard: "e" is not a key in these files; did you mean "d"?'],
      [
        { dashboard: { id: 'x' } },
        'alerts.a.dashboard: must be the key of a dashboard in these files, because the query becomes one of its tiles',
      ],
      [{ groupBy: 'x' }, 'alerts.a.groupBy: is only for alerts on a savedSearch; a query has its own grouping'],
    ]
    await forEachEntry(refused, (fields, message) => expect(problemsOf(built, fields, { dashboards })).toEqual([message]))
    expect(read({ alerts: { a: alertWith(built, { dashboard: 'd' }) }, slos: { s: slo } }).problems).toHaveLength(1)
  })

  it('is described in one line', async () => {
    const described: [Parameters<typeof describeQuery>[0], string][] = [
      [{ source: 'Logs', select: [{ aggFn: 'count', where: 'a:b' }] }, 'count(a:b) of Logs'],
      [{ sourceId: 'x', select: [{ aggFn: 'quantile', level: 0.95, valueExpression: 'D' }] }, 'quantile 0.95(D) of x'],
      [
        { sourceId: { source: 'T' }, select: [{ aggFn: 'count' }, { aggFn: 'count' }], formulas: [{ expression: 'A / B' }] },
        'A / B of count(), count() of T',
      ],
      [{ sql: 'SELECT 1' }, 'SQL'],
    ]
    await forEachEntry(described, (query, text) => expect(describeQuery(query)).toBe(text))
  })
})

describe('the dashboards of alerts with a query', () => {
  it('are the one that is named, and else one for the project', () => {
    const { objects, problems } = read({
      alerts: { a: alertWith(built), b: alertWith(built, { name: 'B', dashboard: 'd' }) },
      dashboards: { d: { name: 'D', tags: ['t'] } },
    })
    expect(problems).toEqual([])
    expect(objects.map(addressOf).toSorted()).toEqual(['alerts.a', 'alerts.b', 'dashboards.d', `dashboards.${queryDashboardKey}`])
    expect(objects.filter(isOf('dashboard')).map(({ value }) => [value.name, value.tiles.map(({ name }) => name)])).toEqual([
      ['D', ['B']],
      ['Alerts: shop', ['Errors']],
    ])
  })

  it('have tiles where those of the file leave room on the grid', () => {
    const text = { displayType: 'markdown', markdown: 'x' }
    const tiles = [
      { name: 'Wide', at: [0, 0, 20, 3], config: text },
      { name: 'Inside', at: [0, 3, 24, 9], containerId: 'c', config: text },
    ]
    const { objects, problems } = read({
      alerts: { a: alertWith(built, { dashboard: 'd' }) },
      dashboards: { d: { name: 'D', tags: ['t'], containers: [{ id: 'c', title: 'C' }], tiles } },
    })
    expect(problems).toEqual([])
    expect(objects.filter(isOf('dashboard'))[0]?.value.tiles[2]).toMatchObject({ name: 'Errors', x: 0, y: 3, w: 8, h: 5 })
  })

  it('have tiles with other names for alerts with the same name', () => {
    const tile = { name: 'Own', config: { displayType: 'markdown', markdown: 'x' } }
    const { objects } = read({
      alerts: { a: alertWith(built), b: alertWith(built), c: alertWith(built, { dashboard: 'd', name: 'Own' }) },
      dashboards: { d: { name: 'D', tags: ['t'], tiles: [tile] } },
    })
    const names = objects.filter(isOf('dashboard')).map(({ value }) => value.tiles.map(({ name }) => name))
    expect(names).toEqual([
      ['Own', 'Own (c)'],
      ['Errors (a)', 'Errors (b)'],
    ])
    expect(objects.filter(isOf('alert')).map(({ value }) => value.tile)).toEqual(['Errors (a)', 'Errors (b)', 'Own (c)'])
  })

  it('have tiles with different names where the name with the key is that of another alert or tile', () => {
    const tile = { name: 'Errors (b)', config: { displayType: 'markdown', markdown: 'x' } }
    const { objects, problems } = read({
      alerts: Object.fromEntries(
        ['Errors', 'Errors', 'Errors (a)'].map((name, i) => ['abc'[i], alertWith(built, { dashboard: 'd', name })]),
      ),
      dashboards: { d: { name: 'D', tags: ['t'], tiles: [tile] } },
    })
    expect(problems).toEqual([])
    expect(objects.filter(isOf('alert')).map(({ value }) => value.tile)).toEqual(['Errors (a) (a)', 'Errors (b) (b)', 'Errors (a)'])
  })

  it('have problems of a tile at the query in the file', () => {
    const text = 'alerts:\n  a:\n    name: A\n    query: { source: Logs, select: [{ aggFn: count }] }\n    threshold: 1\n    interval: 5m'
    const [board] = expandQueries(readText(text), undefined).objects.filter(isOf('dashboard'))
    const path = ['tiles', 0, 'config', 'select', 0, 'aggFn']
    expect([board?.pathOf(path), board?.locationOf(path)]).toEqual([
      'alerts.a.query.select[0].aggFn',
      { file: 'f.yml', line: 4, column: 46 },
    ])
    expect(board?.pathOf(['tiles', 0, 'config', 'sqlTemplate'])).toBe('alerts.a.query.sql')
    expect(board?.value.name).toBe('Alerts')
    const [beside] = read({
      alerts: { a: alertWith(built, { dashboard: 'd' }) },
      dashboards: { d: { name: 'D', tiles: [{ name: 'Own', config: { displayType: 'markdown', markdown: 'x' } }] } },
    }).objects.filter(isOf('dashboard'))
    expect([0, 1].map((i) => beside?.pathOf(['tiles', i, 'name']))).toEqual(['dashboards.d.tiles["Own"].name', 'alerts.a.name'])
  })

  it('have a warning above 60 tiles, and an error above those that the server accepts', { tags: 'slow' }, () => {
    const alerts = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, alertWith(built, { name: `A${i}` })]))
    expect(read({ alerts: alerts(60) }).problems).toEqual([])
    const { diagnostics } = read({ alerts: alerts(61) })
    expect(diagnostics).toMatchObject([
      {
        rule: 'crowded-dashboard',
        severity: 'warning',
        message:
          'dashboards.project-alerts has 61 tiles for the queries of alerts, which load slowly; name several dashboards in the field dashboard of the alerts',
      },
    ])
    const severities = (board: object): readonly unknown[] =>
      read({ alerts: alerts(500), dashboards: { [queryDashboardKey]: { name: 'Ours', tags: ['t'], ...board } } }).diagnostics.map(
        ({ severity }) => severity,
      )
    expect([severities({}), severities({ tiles: [{ name: 'T', config: { displayType: 'markdown' } }] })]).toEqual([['warning'], ['error']])
  })

  it('are declared for all of them under the key of the dashboard for the project', () => {
    const board = { name: 'Ours', tags: ['t'] }
    const { objects, problems } = read({ alerts: { a: alertWith(built) }, dashboards: { [queryDashboardKey]: board } })
    expect(problems).toEqual([])
    expect(objects.filter(isOf('dashboard')).map(({ value }) => [value.name, value.tiles.length])).toEqual([['Ours', 1]])
  })

  it('declare tiles where no alert does', () => {
    expect(read({ dashboards: { d: { name: 'D', tags: ['t'] } } }).problems).toEqual([
      'f.yml:1:16 no-tiles: dashboards.d: give tiles, rows with tiles, or alerts with a query that name it',
    ])
    const broken = { alerts: { a: alertWith({}, { dashboard: 'd' }) }, dashboards: { d: { name: 'D', tags: ['t'] } } }
    expect(read(broken).problems.join()).not.toContain('no-tiles')
    const withoutQuery = { ...broken, alerts: { a: { name: 'A', tile: 'T', dashboard: 'd', threshold: 'x' } } }
    expect(read(withoutQuery).problems.join()).toContain('no-tiles')
    // The file that cannot be read may have such an alert.
    const files = [JSON.stringify({ dashboards: broken.dashboards }), 'alerts: [']
    const unread = readDeclarations(
      files.map((text, i) => ({ path: `${i}.yml`, text })),
      () => undefined,
    )
    expect(lines(expandQueries(unread, 'shop').diagnostics).join()).not.toContain('no-tiles')
  })
})
