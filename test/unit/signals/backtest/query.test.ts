import { describe, expect, it } from 'vitest'
import type { GroupValue } from '../../../../src/signals/backtest/evaluate.ts'
import { parseFormula } from '../../../../src/signals/backtest/formula.ts'
import { refuseWithoutCharts, toAlertQuery } from '../../../../src/signals/backtest/query.ts'
import type { SeriesRow } from '../../../../src/signals/backtest/series-api.ts'

type Fields = Readonly<Record<string, unknown>>

const alert: Fields = { source: 'tile', threshold: 5, thresholdType: 'above', interval: '5m', thresholdMax: null, scheduleStartAt: null }

const count: Fields = { aggFn: 'count', where: 'a:b' }
const avg: Fields = { aggFn: 'avg', valueExpression: 'Duration' }
const gauge: Fields = { aggFn: 'avg', valueExpression: 'Value', metricName: 'cpu', metricType: 'gauge' }

const tile = (select: readonly Fields[], more: Fields = {}): { tile: Fields } => ({
  tile: { name: 'T', config: { displayType: 'line', sourceId: 's', select, ...more } },
})

const search = (more: Fields = {}, source: Fields | undefined = undefined) => ({
  savedSearch: { sourceId: 's', where: 'a:b', whereLanguage: 'lucene', ...more },
  source,
})

const reasonOf = (watched: Parameters<typeof toAlertQuery>[1], more: Fields = {}): string | undefined => {
  const query = toAlertQuery({ ...alert, ...more }, watched)
  return 'reason' in query ? query.reason : undefined
}

function seriesOf(watched: Parameters<typeof toAlertQuery>[1], more: Fields = {}) {
  const query = toAlertQuery({ ...alert, ...more }, watched)
  if (!('series' in query)) throw new Error('reason' in query ? query.reason : 'it has no series')
  return query.series
}

describe('an alert without an estimate', () => {
  it.each<[string, Parameters<typeof reasonOf>]>([
    ['scheduleOffsetMinutes makes the server evaluate each window in two parts', [tile([count]), { scheduleOffsetMinutes: 1 }]],
    [
      'scheduleStartAt is between two borders of the interval, so the server evaluates each window in two parts',
      [tile([count]), { scheduleStartAt: '2026-11-09T00:01:00.000Z' }],
    ],
    ['between needs thresholdMax', [tile([count]), { thresholdType: 'between' }]],
    ['the alert has an unexpected form at interval', [tile([count]), { interval: '2m' }]],
    ['never evaluated: the server accepts alerts on a tile of type heatmap, and ignores them', [tile([count], { displayType: 'heatmap' })]],
    ['the tile has no connection', [tile([], { configType: 'sql', sqlTemplate: 'SELECT 1' })]],
    ['the query is not a SELECT', [tile([], { configType: 'sql', connectionId: 'c' })]],
    ['the tile is of type promql', [tile([count], { configType: 'promql' })]],
    ['the tile has no configuration that the API shows', [{ tile: { name: 'T' } }]],
    ['the tile has no select that the API shows', [tile([])]],
    [
      'two series of the tile have the same alias',
      [
        tile([
          { ...count, alias: 'n' },
          { ...avg, alias: 'n' },
        ]),
      ],
    ],
    ['the alias of a series is a number', [tile([{ ...count, alias: '1' }, avg])]],
    ['the tile uses variables of its dashboard', [tile([{ ...count, where: 'Env:$env' }])]],
    ['the aggregation increase cannot be requested', [tile([{ ...gauge, aggFn: 'increase' }])]],
    ['the aggregation none cannot be requested', [tile([{ ...avg, aggFn: 'none' }])]],
    ['periodAggFn delta cannot be requested', [tile([{ ...gauge, periodAggFn: 'delta' }])]],
    ['values of a metric of type sum differ after a gap', [tile([{ ...gauge, metricType: 'sum' }])]],
    [
      'the value expression contains a dot outside of a text, which the API quotes',
      [tile([{ ...avg, valueExpression: 'Duration * 0.001' }])],
    ],
    ['the formula is not valid', [tile([count], { formulas: [{ expression: 'A +' }] })]],
    ['the saved search combines filters with Lucene', [search({ filters: [{ type: 'sql', condition: "x IN ('y')" }] })]],
    ['the saved search combines filters with Lucene', [search({}, { tableFilterExpression: "env = 'prod'" })]],
    ['the saved search has a filter that is not SQL', [search({ filters: [{ type: 'lucene', condition: 'x:y' }] })]],
    ['the saved search uses an alias of its select', [search({ select: 'Timestamp, toString(Body) AS text', where: 'text:x' })]],
    ['the saved search uses an alias of its select', [search({ where: 'short:x' }, { defaultTableSelectExpression: 'lower(Body) short' })]],
  ])('%s', (reason, args) => {
    expect(reasonOf(...args)).toBe(reason)
  })
})

describe('the requested series', () => {
  it('the requested series are those of the tile, with its groups', () => {
    expect(seriesOf(tile([count, { ...avg, aggFn: 'quantile', level: 0.99 }], { groupBy: 'ServiceName, Env' }))).toEqual([
      { sourceId: 's', aggFn: 'count', where: 'a:b', whereLanguage: 'lucene', groupBy: ['ServiceName, Env'] },
      {
        sourceId: 's',
        aggFn: 'quantile',
        where: '',
        whereLanguage: 'lucene',
        groupBy: ['ServiceName, Env'],
        level: 0.99,
        field: 'Duration',
      },
    ])
  })

  it('the requested series name the metric, and no column', () => {
    expect(seriesOf(tile([gauge]))).toMatchObject([{ metricName: 'cpu', metricDataType: 'gauge' }])
    expect(seriesOf(tile([gauge]))[0]).not.toHaveProperty('field')
    expect(seriesOf(tile([{ ...avg, valueExpression: 'Value' }]))).toMatchObject([{ field: 'Value' }])
  })

  it('the requested series write dots in texts in another way, because the API quotes an expression with a dot', () => {
    expect(seriesOf(tile([{ ...avg, valueExpression: "toFloat64(A['http.status'])" }]))).toMatchObject([
      { field: "toFloat64(A['http\\x2Estatus'])" },
    ])
  })

  it('the requested series count the rows of a saved search', () => {
    expect(seriesOf(search({ select: 'Timestamp, Body' }), { groupBy: 'ServiceName' })).toEqual([
      { sourceId: 's', aggFn: 'count', where: 'a:b', whereLanguage: 'lucene', groupBy: ['ServiceName'] },
    ])
  })

  it('the requested series join the filters of a saved search and its source in SQL', () => {
    const filters = [{ type: 'sql', condition: "x IN ('y')" }]
    expect(seriesOf(search({ filters, where: 'a = 1', whereLanguage: 'sql' }, { tableFilterExpression: 'z' }))).toMatchObject([
      { where: "(a = 1) AND (z) AND (x IN ('y'))", whereLanguage: 'sql' },
    ])
    expect(seriesOf(search({ filters, where: '' }))).toMatchObject([{ where: "(x IN ('y'))", whereLanguage: 'sql' }])
  })
})

describe('the compared values', () => {
  const row = (numbers: readonly (number | null | undefined)[]): SeriesRow => ({
    startMs: 0,
    group: '',
    groupValues: [],
    numbers: new Map(numbers.flatMap((number, i) => (number === undefined ? [] : [[i, number] as const]))),
  })

  function compared(watched: { tile: Fields }, numbers: readonly (number | null | undefined)[]): GroupValue['value'] | string | undefined {
    const query = toAlertQuery(alert, watched)
    if ('reason' in query) return query.reason
    const read = query.read([row(numbers)], { fromMs: 0, untilMs: 300_000 })
    return 'reason' in read ? read.reason : read.values.get(0)?.[0]?.value
  }

  const unknown = 'a series of the tile has no rows in a window in which another one has some'

  it('the compared values are those of the last series', () => {
    expect(compared(tile([avg, count]), [1, 2])).toBe(2)
  })

  it('the compared values are 0 for a count without rows, and nothing for an average', () => {
    expect(compared(tile([avg, count]), [1, undefined])).toBe(0)
    expect(compared(tile([count, avg]), [1, undefined])).toBe(null)
    expect(compared(tile([gauge, { ...gauge, metricName: 'mem' }]), [1, undefined])).toBe(null)
  })

  it('the compared values are unknown for a maximum without rows beside another series, so that there is no estimate', () => {
    expect(compared(tile([count, { ...avg, aggFn: 'max' }]), [1, undefined])).toBe(unknown)
  })

  it('the compared values divide two series as a ratio, which has no value without a denominator', () => {
    const ratio = tile([count, count], { asRatio: true })
    expect(compared(ratio, [1, 4])).toBe(0.25)
    expect([compared(ratio, [3, 1]), compared(ratio, [3, 0])]).toEqual([3, null])
    expect(compared(ratio, [undefined, 4])).toBe(0)
    expect(compared(ratio, [1, undefined])).toBe(null)
  })

  it('the compared values are those of the last formula', () => {
    const formulas = [{ expression: 'A' }, { expression: 'A / (B - 1) * 100' }]
    expect(compared(tile([count, count], { formulas }), [1, 5])).toBe(25)
    expect(compared(tile([count, count], { formulas }), [1, 1])).toBe(null)
    expect(compared(tile([avg, count], { formulas }), [undefined, 5])).toBe(unknown)
    expect(compared(tile([gauge, gauge], { formulas }), [undefined, 5])).toBe(0)
  })
})

describe('what is known of a query without its values', () => {
  const formulas = [{ expression: '(A + 1) / B' }]
  const config = {
    configType: 'sql',
    connectionId: 'c',
    sqlTemplate: 'SELECT count() FROM t WHERE $__timeFilter(a)',
    displayType: 'number',
  }

  it('is whether only its last series counts, and by which one it divides', () => {
    const [last, ratio, formula] = [{}, { asRatio: true }, { formulas }].map((more) => toAlertQuery(alert, tile([count, count], more)))
    expect(last).toMatchObject({ comparesLast: true, divisors: [] })
    expect(ratio).toMatchObject({ comparesLast: false, divisors: [1] })
    expect(formula).toMatchObject({ comparesLast: false, divisors: [1] })
    expect(last).not.toHaveProperty('hasTextGroups')
  })

  it('is that raw SQL has a group in each row over time, and 0 for NULL as a number', () => {
    const sql = (displayType: string) => {
      const query = toAlertQuery(alert, { tile: { config: { ...config, displayType } } })
      if ('reason' in query) throw new Error(query.reason)
      const row = { startMs: 0, group: '', groupValues: [], numbers: new Map([[0, null] as const]) }
      const read = query.read([row], { fromMs: 0, untilMs: 300_000 })
      return [query.condition.isGrouped, 'values' in read && read.values.get(0)?.[0]?.value]
    }
    expect([sql('number'), sql('line')]).toEqual([
      [false, 0],
      [true, null],
    ])
  })

  it('is which tables the sources have', () => {
    const source = { id: 's', kind: 'metric', connection: 'c' }
    const sources = [
      { ...source, from: { databaseName: 'd', tableName: '' }, metricTables: { gauge: 'g', sum: '', histogram: 1 } },
      { ...source, kind: 'log', from: { databaseName: 'd', tableName: 'l' } },
    ]
    expect(toAlertQuery(alert, { tile: { config }, sources })).toMatchObject({ sql: { tables: ['d.g', 'd.l'] } })
  })

  it('is whether ClickHouse Cloud, which has no charts, can count it', () => {
    const refused = (watched: Parameters<typeof toAlertQuery>[1]) => {
      const query = toAlertQuery(alert, watched)
      return 'reason' in query ? query.reason : refuseWithoutCharts(query, watched)?.reason
    }
    expect(refused(tile([count]))).toContain('has no values of charts; its alerts on raw SQL tiles')
    expect(refused(search())).toContain('its condition is Lucene')
    expect([refused({ tile: { config } }), refused(search({ where: '' })), refused(search({ whereLanguage: 'sql' }))]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('a formula', () => {
  it.each([
    ['A + B * 2', 7],
    ['(A + B) * 2', 8],
    ['-A - -B', 2],
    ['10 / 4 / B', 2.5 / 3],
    ['.5 * A', 0.5],
    ['A / 0', null],
    ['1 + A / (B - 3)', null],
    ['C', null],
  ])('%s with A = 1 and B = 3 is %s', (text, value) => {
    expect(parseFormula(text)?.([1, 3])).toBe(value)
  })

  it.each(['', 'A +', '(A', 'A)', 'AB', 'a', 'A % B', 'A B', '1..2'])('rejects "%s"', (text) => {
    expect(parseFormula(text)).toBe(undefined)
  })

  it('has at most 1000 parts', () => {
    const sumOf = (terms: number): string => Array(terms).fill('A').join('+')
    expect(parseFormula(`-${sumOf(500)}`)?.([1])).toBe(498)
    expect(parseFormula(sumOf(501))).toBe(undefined)
  })
})

it('estimates an alert whose start is at a border of its intervals, from this start on', () => {
  const query = toAlertQuery({ ...alert, scheduleStartAt: '2026-11-09T00:05:00.000Z' }, tile([count]))
  expect('reason' in query ? query.reason : query.condition.startMs).toBe(Date.parse('2026-11-09T00:05:00Z'))
})
