// What is asked of a server to see whether it can run a query.
import { describe, expect, it } from 'vitest'
import { columnsOfSearch, lookUpColumns, lookUpSeries, type Probe, toProbe } from '../../../../src/signals/backtest/probe.ts'

type Fields = Readonly<Record<string, unknown>>

const sources = [
  { id: 's', name: 'Logs', kind: 'log', connection: 'c', from: { databaseName: 'd', tableName: 'logs' }, timestampValueExpression: 'T' },
] as const

const any: Fields = { aggFn: 'any', valueExpression: 'Name' }
const asIs: Fields = { aggFn: 'none', valueExpression: 'Name' }
const avg: Fields = { aggFn: 'avg', valueExpression: 'Duration' }
const half: Fields = { aggFn: 'avg', valueExpression: 'Duration * 0.5' }

function probeOf(select: readonly Fields[], config: Fields = {}, alert?: Fields): Probe {
  const tile = { config: { displayType: 'line', sourceId: 's', select, ...config } }
  const probe = toProbe({ tile }, { interval: '1h', sources, ...(alert && { alert }) })
  if (probe === undefined || 'reason' in probe) throw new Error(probe?.reason)
  return probe
}

const table = { displayType: 'table' }

describe('the probe of a tile', () => {
  const valuesOf = (...args: Parameters<typeof probeOf>) => probeOf(...args).series?.map(({ aggFn, field }) => [aggFn, field])

  it('has its values, and a count for a column that charts cannot have', () => {
    expect(valuesOf([avg, any])).toEqual([
      ['avg', 'Duration'],
      ['any', 'Name'],
    ])
    expect(valuesOf([asIs, avg], table)).toEqual([
      ['count', undefined],
      ['avg', 'Duration'],
    ])
    // In groups of time, a column without an aggregation is an error, as it is for the server.
    for (const probed of [valuesOf([asIs]), valuesOf([asIs], { displayType: 'number' }, {})]) expect(probed).toEqual([['none', 'Name']])
  })

  it('looks up what may be a text, with its groups, and whether the alert compares nothing else', () => {
    const columnsOf = (...args: Parameters<typeof probeOf>) => probeOf(...args).columns
    const text = { sourceId: 's', expressions: ['any(Name)'], groupBy: 'tuple()' }
    expect(columnsOf([any])).toEqual([{ ...text, areValues: true }])
    expect(columnsOf([any], { formulas: [] })).toEqual([{ ...text, areValues: true }])
    for (const [select, config] of [
      [[any, avg], {}],
      [[any], { asRatio: true }],
      [[any], { formulas: [{ expression: 'A' }] }],
    ] as const)
      expect(columnsOf(select, config), JSON.stringify([select, config])).toEqual([text])
    expect(columnsOf([any], { groupBy: 'Env' })).toEqual([{ ...text, groupBy: 'Env' }])
    expect(columnsOf([asIs], table)).toEqual([{ sourceId: 's', expressions: ['Name'], areValues: true }])
    expect(columnsOf([asIs, avg], table)).toEqual([{ sourceId: 's', expressions: ['Name'], groupBy: 'tuple()' }])
    expect(columnsOf([asIs], { displayType: 'number' }, {})).toEqual([{ ...text, expressions: ['Name'], areValues: true }])
  })

  it('looks up an expression that the API would quote, and none of a metric', () => {
    expect([probeOf([avg]).columns, probeOf([{ ...any, metricName: 'cpu', metricType: 'gauge' }]).columns]).toEqual([[], []])
    expect(probeOf([half, avg]).columns).toEqual([{ sourceId: 's', expressions: ['Duration * 0.5'] }])
  })
})

it('looks up the columns of series in the table of their metrics', () => {
  const metrics = { id: 'm', name: 'Metrics', kind: 'metric', connection: 'c', timestampValueExpression: 'T' } as const
  const source = { ...metrics, from: { databaseName: 'd', tableName: '' }, metricTables: { gauge: 'gauges', sum: 'sums' } }
  const seriesOf = (type: string) =>
    probeOf([{ ...avg, where: 'Env:a', metricName: type, metricType: type }], { sourceId: 'm' }).series ?? []
  const sqlOf = (...types: readonly string[]) =>
    lookUpSeries(types.flatMap(seriesOf), [source]).map((one) => ('sql' in one ? one.sql : one))
  const [gauges, sums] = ['gauges', 'sums'].map((name) => expect.stringContaining(`FROM \`d\`.\`${name}\``))
  expect([sqlOf('gauge'), sqlOf('sum', 'gauge', 'sum')]).toEqual([[gauges], [sums, gauges]])
})

describe('the columns of a saved search', () => {
  it('are its select and its order, where it has them', () => {
    const search = { sourceId: 's', select: 'Body', orderBy: 'T DESC' }
    expect(columnsOfSearch(search)).toEqual([{ sourceId: 's', expressions: ['Body'], orderBy: 'T DESC' }])
    expect(columnsOfSearch({ ...search, orderBy: ' ' })).toEqual([{ sourceId: 's', expressions: ['Body'] }])
    expect(columnsOfSearch({ ...search, select: null })).toEqual([{ sourceId: 's', expressions: [], orderBy: 'T DESC' }])
    for (const without of [{ sourceId: 's' }, { ...search, sourceId: null }]) expect(columnsOfSearch(without)).toEqual([])
  })

  it('are looked up without rows, unless an expression could change the rest of the query', () => {
    const lookUp = (expression: string) => lookUpColumns({ sourceId: 's', expressions: [expression], orderBy: 'T DESC' }, sources)
    expect(lookUp('Body')).toEqual({ sql: 'SELECT (Body)\nFROM `d`.`logs`\nORDER BY T DESC\nLIMIT 0', connectionId: 'c' })
    expect(lookUp('Body) FROM secrets --')).toHaveProperty('reason')
    expect(lookUpColumns({ sourceId: 's', expressions: [], orderBy: 'T) --' }, sources)).toHaveProperty('reason')
  })
})
