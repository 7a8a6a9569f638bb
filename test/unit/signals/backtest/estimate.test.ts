// What is asked of a server, and what follows from its rows.
import { describe, expect, it } from 'vitest'
import type { ReadApi } from '../../../../src/platform/api/client.ts'
import type { SqlAnswer, SqlRow } from '../../../../src/platform/api/sql-query.ts'
import { type EstimateOptions, estimateAlerts, sourceOf } from '../../../../src/signals/backtest/estimate.ts'
import type { TimeRange } from '../../../../src/signals/backtest/evaluate.ts'
import { type BacktestQuery, toAlertQuery } from '../../../../src/signals/backtest/query.ts'
import { rowsOf, type SeriesRequest, type SeriesRow } from '../../../../src/signals/backtest/series-api.ts'

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]
const fromMs = Date.UTC(2026, 10, 22)

type Fields = Readonly<Record<string, unknown>>

const errors: Fields = { aggFn: 'count', where: 'a:b' }

function queryOf(alert: Fields = {}, select: readonly Fields[] = [errors], config: Fields = {}): BacktestQuery {
  const tile = { config: { displayType: 'line', sourceId: 's', select, ...config } }
  const query = toAlertQuery({ threshold: 5, thresholdType: 'above', interval: '5m', ...alert }, { tile })
  if ('reason' in query) throw new Error(query.reason)
  return query
}

const row = (startMs: number, numbers: readonly (number | null)[], more: Partial<SeriesRow> = {}): SeriesRow => ({
  ...{ startMs, group: '', groupValues: [], numbers: new Map(numbers.entries()) },
  ...more,
})

type Answer = (request: SeriesRequest) => readonly SeriesRow[]

/** A row in each window: one of the source, and `value` of anything else. */
const always =
  (value: number): Answer =>
  ({ series, fromMs: at }) => [row(at, series[0]?.where === '' ? [1] : series.map(() => value))]

async function estimate(queries: readonly BacktestQuery[], range: TimeRange, answer: Answer, more: Partial<EstimateOptions> = {}) {
  const sent: SeriesRequest[] = []
  const progress: (readonly [number, number])[] = []
  const found = await estimateAlerts(queries, range, {
    api: { remainingMs: () => 1e6 } as unknown as ReadApi,
    service: {} as never,
    maxRequests: 100,
    async onProgress(done, total) {
      progress.push([done, total])
    },
    async readSeries(request) {
      sent.push(request)
      return answer(request)
    },
    ...more,
  })
  return { ...found, sent, progress }
}

const fiveMinutes = { fromMs, untilMs: fromMs + 5 * minuteMs }

describe('an estimate', () => {
  const estimateOf = async (answer: Answer, query = queryOf(), range: TimeRange = fiveMinutes) =>
    (await estimate([query], range, answer)).estimates[0]

  it('fires with a single notification, is quiet without one, and has no data where its source has no row', async () => {
    expect(await estimateOf(always(5))).toMatchObject({ verdict: 'fires', summary: { windows: 1, notifications: 1 } })
    expect(await estimateOf(always(4))).toMatchObject({ verdict: 'quiet', coverage: { windows: 1, windowsWithData: 1 } })
    expect(await estimateOf(() => [])).toMatchObject({ verdict: 'no-data', coverage: { windows: 1, windowsWithData: 0 } })
    expect(await estimateOf(always(5), queryOf(), { fromMs, untilMs: fromMs + 4 * minuteMs })).toMatchObject({
      verdict: 'not-estimable',
      reason: 'the range has no whole window of 5m',
    })
  })

  it('has the windows with data, and their first and last time', async () => {
    const rows = [3, 4, 7].map((i) => row(fromMs + i * minuteMs, [1]))
    const read: Answer = ({ series }) => (series[0]?.where === '' ? rows : [])
    expect(await estimateOf(read, queryOf(), { fromMs, untilMs: fromMs + 15 * minuteMs })).toMatchObject({
      coverage: { windows: 3, windowsWithData: 2, firstMs: fromMs, lastMs: fromMs + 10 * minuteMs },
    })
  })

  it('counts the windows of each series that its value depends on: with a value, and with another value than 0', async () => {
    const read: Answer = ({ series }) =>
      series[0]?.where === '' ? [row(fromMs, [1])] : [0, 1, 2].map((i) => row(fromMs + 5 * i * minuteMs, [i, i === 0 ? null : 0]))
    const range = { fromMs, untilMs: fromMs + 15 * minuteMs }
    const countsOf = async (config: Fields) => {
      const found = await estimateOf(read, queryOf({}, [errors, { aggFn: 'count', where: 'c:d' }], config), range)
      return found !== undefined && 'series' in found && found.series.map(({ windows, nonZero, divides }) => [windows, nonZero, divides])
    }
    expect(await countsOf({})).toEqual([[2, 0, false]])
    expect(await countsOf({ asRatio: true })).toEqual([
      [3, 2, false],
      [2, 0, true],
    ])
  })

  it('is refused for groups that are numbers in all rows, and not in some', async () => {
    const read =
      (...areNumeric: readonly boolean[]): Answer =>
      ({ series }) =>
        areNumeric.map((hasNumericGroup, i) =>
          row(fromMs, [9], series[0]?.where === '' ? {} : { group: `a:${i}`, groupValues: [i], hasNumericGroup }),
        )
    const grouped = queryOf({ groupBy: 'a' })
    expect(await estimateOf(read(true, false), grouped)).toMatchObject({ verdict: 'fires' })
    expect(await estimateOf(read(true, true), grouped)).toMatchObject({ reason: expect.stringContaining('the groups are numbers') })
    expect(await estimateOf(read(true, true), { ...grouped, hasTextGroups: true })).toMatchObject({ verdict: 'fires' })
  })

  it('reads what a query looks back to, and leaves out earlier rows', async () => {
    const seen: number[] = []
    const query: BacktestQuery = {
      ...queryOf({ interval: '1h' }),
      lookbackMs: 2 * hourMs,
      read: (rows) => {
        seen.push(...rows.map(({ startMs }) => (startMs - fromMs) / hourMs))
        return { values: new Map() }
      },
    }
    const read: Answer = (request) => [-3, -2, 0, 1].map((i) => row(request.untilMs - 2 * hourMs + i * hourMs, [1]))
    const { sent } = await estimate([query], { fromMs, untilMs: fromMs + 2 * hourMs }, read)
    expect(sent.map((one) => (fromMs - one.fromMs) / hourMs)).toEqual([0, 2])
    expect(seen).toEqual([-2, 0, 1])
  })
})

describe('the requests for values', () => {
  const spansOf = async (days: TimeRange) => {
    const { sent } = await estimate([queryOf()], days, always(1))
    return sent.filter(({ series }) => series[0]?.where !== '').map((one) => [one.fromMs - fromMs, one.untilMs - fromMs])
  }

  it('cover whole windows, and at most 7 days each', async () => {
    expect(await spansOf({ fromMs: fromMs - 1, untilMs: fromMs + 7 * dayMs })).toEqual([[0, 7 * dayMs]])
    expect(await spansOf({ fromMs: fromMs + 1, untilMs: fromMs + 8 * dayMs + 1 })).toEqual([
      [5 * minuteMs, 7 * dayMs + 5 * minuteMs],
      [7 * dayMs + 5 * minuteMs, 8 * dayMs],
    ])
  })

  it('are one for the rows of a source, in the shortest interval of its alerts, and tell how many are done', async () => {
    const queries = ['1h', '5m', '15m'].map((interval) => queryOf({ interval }))
    const found = await estimate(queries, { fromMs, untilMs: fromMs + hourMs }, always(1))
    expect(found.sent.filter(({ series }) => series[0]?.where === '').map(({ granularity }) => granularity)).toEqual(['5m'])
    expect([found.requests(), found.sent.length]).toEqual([4, 4])
    expect(found.progress).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ])
  })

  it('are at most as many as allowed', async () => {
    const verdicts = async (maxRequests: number) => {
      const found = await estimate([queryOf()], fiveMinutes, always(1), { maxRequests })
      return [found.estimates[0]?.verdict, found.requests()]
    }
    expect([await verdicts(2), await verdicts(1)]).toEqual([
      ['quiet', 2],
      ['not-estimable', 0],
    ])
  })

  it('have the source of the last of several series', () => {
    const metric = (metricName: string): Fields => ({ aggFn: 'avg', valueExpression: 'Value', metricName, metricType: 'gauge' })
    expect(sourceOf(queryOf({}, [metric('cpu'), metric('memory')]))).toEqual({
      ...rowsOf('s'),
      ...{ aggFn: 'max', metricName: 'memory', metricDataType: 'gauge' },
    })
  })
})

describe('an estimate of raw SQL', () => {
  const sqlOf = (interval: string, displayType = 'number') =>
    queryOf({ interval }, [], {
      ...{ configType: 'sql', displayType, connectionId: 'c', sourceId: null },
      sqlTemplate: 'SELECT count() AS n FROM t WHERE $__timeFilter(a)',
    })

  const number = { name: 'n', type: 'UInt64' }

  interface Server {
    readonly elapsedMs?: number
    /** Of 1,000 seconds, by the clock after the start. */
    readonly remainingMs?: number
    readonly answer?: Partial<Extract<SqlAnswer, { kind: 'rows' }>>
  }

  async function estimateSql(queries: readonly BacktestQuery[], hours: number, server: Server = {}, more: Partial<EstimateOptions> = {}) {
    const sizes: number[] = []
    let remaining: number | undefined
    const api = {
      profile: { isSelfHosted: true },
      remainingMs() {
        const now = remaining ?? 1e6
        remaining = server.remainingMs ?? 1e6
        return now
      },
      async runSql(_: unknown, { sql }: { readonly sql: string }): Promise<SqlAnswer> {
        // Whether it bounds its time: no row is read for a window in 1980.
        const windows = sql.startsWith('SELECT * FROM (') ? 0 : sql.split('\nUNION ALL\n').length
        sizes.push(windows)
        const rows = Array.from({ length: windows }, (__, i): SqlRow => ({ window__: i, n: 1 }))
        return { kind: 'rows', columns: [number], rows, elapsedMs: server.elapsedMs ?? 1, rowsRead: windows, ...server.answer }
      },
    }
    const range = { fromMs, untilMs: fromMs + hours * hourMs }
    const { estimates } = await estimate(queries, range, () => [], { api: api as unknown as ReadApi, ...more })
    return { estimates, sizes }
  }

  it('has windows at equal distances up to the last one, where it may not have all', async () => {
    const hoursOf = async (maxSqlWindows?: number) => {
      const { estimates } = await estimateSql([sqlOf('1h')], 24, {}, maxSqlWindows === undefined ? {} : { maxSqlWindows })
      const [found] = estimates
      return found !== undefined && 'windows' in found && found.windows.map(({ startMs }) => (startMs - fromMs) / hourMs)
    }
    expect(await hoursOf()).toHaveLength(24)
    expect(await hoursOf(10)).toEqual([2, 5, 8, 11, 14, 17, 20, 23])
    expect(await hoursOf(1)).toEqual([23])
  })

  it('is asked once for all alerts whether its SQL bounds its time', async () => {
    const { sizes } = await estimateSql([sqlOf('1h'), sqlOf('30m')], 2)
    expect(sizes.toSorted()).toEqual([0, 2, 4])
  })

  it('takes a quarter of the time of the run, and nothing of the last tenth', async () => {
    const reasonOf = async (server: Server) => {
      const [found] = (await estimateSql([sqlOf('1m')], 25, server)).estimates
      return found !== undefined && 'reason' in found ? found.reason : found?.verdict
    }
    // Four batches.
    expect(await reasonOf({ elapsedMs: 90_000 })).toBe(
      'too expensive: its SQL takes about 6 min, and one alert gets 4 min, a quarter of timeout-seconds',
    )
    expect(await reasonOf({ elapsedMs: 62_500 })).toBe('quiet')
    expect(await reasonOf({ remainingMs: 100_000 })).toBe('quiet')
    expect(await reasonOf({ remainingMs: 99_999 })).toContain('the time of the run is used up')
  })

  it('has a value other than 0 in a window where one of its rows has', async () => {
    const at = new Date(fromMs).toISOString()
    const answer = {
      columns: [{ name: 'at', type: 'DateTime' }, number],
      rows: [0, 5].map((n) => ({ window__: 0, at, n })),
    }
    const { estimates } = await estimateSql([sqlOf('1h', 'line')], 1, { answer })
    expect(estimates).toMatchObject([{ verdict: 'fires', series: [{ windows: 1, nonZero: 1 }] }])
  })
})
