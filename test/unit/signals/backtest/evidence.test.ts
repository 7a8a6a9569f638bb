// A second look at series without rows: what it asks for, and what it makes of the answers.
import { describe, expect, it } from 'vitest'
import type { ReadApi } from '../../../../src/platform/api/client.ts'
import type { Estimate } from '../../../../src/signals/backtest/estimate.ts'
import { evaluate } from '../../../../src/signals/backtest/evaluate.ts'
import { judgeEstimates } from '../../../../src/signals/backtest/evidence.ts'
import type { Judgement } from '../../../../src/signals/backtest/judge.ts'
import { type BacktestQuery, toAlertQuery } from '../../../../src/signals/backtest/query.ts'
import type { SeriesRow } from '../../../../src/signals/backtest/series-api.ts'

type Fields = Readonly<Record<string, unknown>>

const [hourMs, dayMs] = [3_600_000, 86_400_000]
const nowMs = Date.parse('2026-11-23T10:20:00Z')
const range = { fromMs: nowMs - dayMs, untilMs: nowMs }

const source = {
  ...{ id: 's', name: 'Logs', kind: 'log', connection: 'c', timestampValueExpression: 'T' },
  from: { databaseName: 'd', tableName: 'logs' },
}
const metrics = { ...source, kind: 'metric', from: { databaseName: 'd' }, metricTables: { gauge: 'g' } }

function queryOf(select: readonly Fields[], alert: Fields = {}, config: Fields = {}): BacktestQuery {
  const tile = { config: { displayType: 'line', sourceId: 's', select, ...config } }
  const query = toAlertQuery({ threshold: 5, thresholdType: 'above', interval: '5m', ...alert }, { tile })
  if ('reason' in query) throw new Error(query.reason)
  return query
}

/** An estimate with this number of windows with a value, which is 0. */
function silentIn(query: BacktestQuery, windows: number): Estimate {
  const series = 'series' in query ? query.series.map((item) => ({ item, windows, nonZero: 0 })) : [{ windows, nonZero: 0 }]
  const values = new Map()
  const summary = {} as never
  return { verdict: 'quiet', summary, windows: evaluate(query.condition, values, range), values, coverage: undefined, series, early: 0 }
}

interface Server {
  /** Rows by condition: times in hours before now, and their number. */
  readonly rows?: Readonly<Record<string, readonly (readonly [hoursAgo: number, number: number])[]>>
  readonly answer?: Readonly<Record<string, unknown>>
  readonly source?: Fields & { readonly id: string }
  readonly hasSql?: boolean
}

/** What is found for the queries, each with a number of windows. */
async function look(queries: readonly (readonly [BacktestQuery, number])[], server: Server = {}) {
  const counted: string[] = []
  const asked: string[] = []
  const judged = await judgeEstimates(
    queries.map(([query, windows]) => [query, silentIn(query, windows)]),
    range,
    {
      api: {
        hasSql: server.hasSql ?? true,
        profile: { isSelfHosted: true },
        async runSql(_: unknown, { sql }: { readonly sql: string }) {
          asked.push(sql)
          return { kind: 'rows', rows: [server.answer ?? {}] }
        },
      } as unknown as ReadApi,
      service: {} as never,
      sources: [server.source ?? source],
      nowMs,
      async readRows(request, step, span) {
        const where = 'template' in request ? request.template : (request[0]?.where ?? '')
        counted.push(
          `${where || 'all'} by ${step} until ${new Date(span.untilMs).toISOString().slice(8, 16)}, ${(span.untilMs - span.fromMs) / dayMs}`,
        )
        const rows = server.rows?.[where] ?? (where === '' ? [[1, 100]] : [])
        return {
          rows: rows.map(
            ([hoursAgo = 0, number = 0]): SeriesRow => ({
              ...{ startMs: nowMs - hoursAgo * hourMs, group: '', groupValues: [] },
              numbers: new Map([[0, number]]),
            }),
          ),
        }
      },
    },
  )
  return { judged, counted, asked }
}

const messagesOf = (judged: readonly (Judgement | undefined)[]) =>
  judged.flatMap((one) => one?.findings.map(({ message }) => message) ?? [])

const counting = (where: string): readonly Fields[] => [{ aggFn: 'count', where }]

describe('a second look', () => {
  it('counts the rows of a day and those of 7 days, and then the terms, each once', async () => {
    const found = await look(
      [
        [queryOf(counting('A:b C:d')), 0],
        [queryOf(counting('A:b C:d'), { threshold: 9 }), 0],
        [queryOf(counting('A:b E:f')), 0],
      ],
      { rows: { 'A:b': [[3, 1]] } },
    )
    expect(found.counted.toSorted()).toEqual([
      'A:b C:d by 1d until 24T00:00, 7',
      'A:b E:f by 1d until 24T00:00, 7',
      'A:b by 1h until 23T11:00, 1',
      'C:d by 1h until 23T11:00, 1',
      'E:f by 1h until 23T11:00, 1',
      'all by 1h until 23T11:00, 1',
    ])
    const unseen = (term: string) => expect.stringMatching(`^no row matches \`${term}\` in 7 days, of 100 rows a day`)
    expect(messagesOf(found.judged)).toEqual([unseen('C:d'), unseen('C:d'), unseen('E:f')])
  })

  it('takes a single term for the cause, and does not count more than eight', async () => {
    const terms = (count: number): string => Array.from({ length: count }, (_, i) => `A${i}:b`).join(' ')
    for (const [count, requests] of [
      [1, 2],
      [8, 10],
      [9, 2],
    ] as const) {
      const { counted, judged } = await look([[queryOf(counting(terms(count))), 0]], { rows: { 'A0:b': count === 1 ? [] : [[1, 1]] } })
      expect(counted, String(count)).toHaveLength(requests)
      const named = count === 1 ? 'A0:b' : count === 8 ? 'A1:b' : terms(9)
      expect(messagesOf(judged), String(count)).toEqual([expect.stringContaining(`no row matches \`${named}\` in 7 days`)])
    }
  })

  it('has the last day of 7 on which rows match, and no finding', async () => {
    const { judged, counted, asked } = await look([[queryOf(counting('A:b C:d')), 0]], {
      rows: {
        'A:b C:d': [
          [58, 2],
          [106, 1],
          [82, 4],
        ],
      },
    })
    expect(judged).toEqual([{ fact: expect.stringMatching(/; 7 in 7 days, last on 21 Nov 2026$/), findings: [] }])
    expect([counted.length, asked]).toEqual([2, []])
  })

  it('has nothing to say where the rows of a day are unknown or none', async () => {
    const { judged, counted } = await look([[queryOf(counting('A:b C:d')), 0]], { rows: { '': [] } })
    expect(messagesOf(judged)).toEqual(['its source has no row in 24 h'])
    expect(counted).toHaveLength(2)
  })

  it('asks which values a column and which keys a map have, where the server can run SQL on its table', async () => {
    const query = queryOf(counting('LogAttributes.kind:web'))
    const { asked, judged } = await look([[query, 0]], { answer: { c0: ['api'], c1: ['kind'] } })
    expect(asked).toEqual([
      expect.stringContaining(
        "SELECT topK(100)(substring(toString(LogAttributes['kind']), 1, 100)) AS c0, groupUniqArrayArray(300)(mapKeys(LogAttributes)) AS c1\nFROM `d`.`logs`\nWHERE T >= ",
      ),
    ])
    expect(messagesOf(judged)).toEqual([expect.stringContaining('the column has `api`')])
    for (const server of [
      { hasSql: false },
      { source: { ...source, connection: null } },
      { source: { ...source, timestampValueExpression: 'T, U' } },
      { source: { ...source, id: 'other' } },
    ])
      expect((await look([[query, 0]], server)).asked, JSON.stringify(server)).toEqual([])
  })

  it('counts the rows with a number, and judges nothing where that is unknown', async () => {
    const query = queryOf([{ aggFn: 'avg', valueExpression: 'Body' }])
    const messages = async (answer: Fields) => messagesOf((await look([[query, 9]], { answer })).judged)
    expect(await messages({ c0: '0' })).toEqual(['`Body` has no number in any of 100 rows, so its value is 0 and never reaches 5'])
    expect([await messages({ c0: '5' }), await messages({})]).toEqual([[], []])
  })

  it('counts the values of a metric, whatever they are', async () => {
    const query = queryOf([{ aggFn: 'max', valueExpression: 'Value', metricName: 'cpu.load', metricType: 'gauge' }])
    const messages = async (values: readonly (readonly [number, number])[]) =>
      messagesOf((await look([[query, 9]], { rows: { '': values }, source: metrics, answer: { c0: ['cpu.loads'] } })).judged)
    expect([
      await messages([
        [2, 0],
        [1, 0],
      ]),
      await messages([]),
    ]).toEqual([[], ['the metric `cpu.load` has no value in 24 h; did you mean `cpu.loads`?']])
  })

  it('is not at a series whose silence makes its alert fire, though another alert has the same', async () => {
    const pair = [queryOf(counting('A:b')), queryOf(counting('A:b'), { thresholdType: 'below' })].map((query) => [query, 0] as const)
    const { judged } = await look(pair, { rows: { 'A:b': [[58, 3]] } })
    expect(judged.map((one) => one?.fact.includes('; 3 in 7 days'))).toEqual([true, false])
    expect(messagesOf(judged)).toEqual(['it would fire in 288 of 288 windows of the last 24 h'])
  })

  it('is at the 7 whole days before today for raw SQL, which has one value', async () => {
    const sqlTemplate = 'SELECT count() FROM t WHERE $__timeFilter(a)'
    const query = queryOf([], {}, { configType: 'sql', displayType: 'number', connectionId: 'c', sqlTemplate })
    const { judged, counted } = await look([[query, 3]])
    expect(counted).toEqual([`${sqlTemplate} by 1d until 23T00:00, 7`])
    expect(messagesOf(judged)).toEqual(['its value was 0 in all windows of 24 h and on 7 days. Right if it is rare'])
    const seen = await look([[query, 3]], {
      rows: {
        [sqlTemplate]: [
          [106, 1],
          [82, 0],
        ],
      },
    })
    expect(seen.judged).toEqual([{ fact: expect.stringMatching(/; not 0 on 1 day of 7, last on 19 Nov 2026$/), findings: [] }])
  })
})
