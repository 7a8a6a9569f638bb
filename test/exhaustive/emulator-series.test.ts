import { expect, it } from 'vitest'
import { toAlertQuery } from '../../src/backtest/query.ts'
import type { SeriesItem } from '../../src/backtest/series-api.ts'
import { ChartError, type ChartRequest, computeSeries } from '../../src/emulator/product/charts.ts'
import { intervalMs } from '../../src/kinds/alert/schedule.ts'
import { recorded, recordedRows, watchedBy } from '../unit/backtest/recorded.ts'

// The emulator has the telemetry that the recorded server had, so that it must give the recorded answers.

const sources = Object.entries({ Logs: 'log', Traces: 'trace', Metrics: 'metric' }).map(([name, kind]) => ({ id: name, name, kind }))

const stored = { oldestMs: 0, newestMs: Number.MAX_SAFE_INTEGER }

/** The recorded week, which the emulator repeats. */
const week = { startMs: Date.parse('2026-11-09T00:00:00Z'), endMs: Date.parse('2026-11-16T00:00:00Z') }

type Row = Readonly<Record<string, string | number | null>>

/** `start group series value` of the week, sorted. */
function answered(interval: ChartRequest['granularity'], lengthMs: number, series: readonly SeriesItem[]): readonly string[] | string {
  const request = { series, granularity: interval, startTime: week.startMs, endTime: week.endMs - 1, seriesReturnType: 'column' }
  const rows = compute(request as unknown as ChartRequest)
  if (typeof rows === 'string') return rows
  return rows
    .flatMap(({ __hdx_time_bucket: bucket, ...columns }) => {
      const start = Date.parse(String(bucket))
      if (start % lengthMs !== 0) throw new Error(`${bucket} is not aligned`)
      const group = Object.entries(columns).filter(([name]) => !name.startsWith('series_'))
      const values = Object.entries(columns).filter(([name]) => name.startsWith('series_'))
      return values.map(([name, value]) => line(start, group.map(([column, text]) => `${column}:${text}`).join(', '), name.slice(7), value))
    })
    .toSorted()
}

function compute(request: ChartRequest): readonly Row[] | string {
  try {
    return computeSeries(request, sources, stored) as readonly Row[] // A row has a column for each series and group.
  } catch (cause) {
    if (!(cause instanceof ChartError)) throw cause
    return cause.message
  }
}

const line = (start: number, group: string, series: string, value: unknown): string =>
  `${start} ${group} ${series} ${value === null ? null : Number(value)}`

/** What the emulator does not know, and says so. */
const unknown = /^The emulator cannot evaluate: /

const isInWeek = (startMs: number): boolean => startMs >= week.startMs && startMs < week.endMs

it('the emulator gives the recorded answers for its telemetry', () => {
  const queries = recorded.runs.flatMap(({ alerts }) =>
    alerts.flatMap((one) => {
      const { name: _, tile: __, savedSearch: ___, ...alert } = one
      const query = toAlertQuery(alert, watchedBy(one))
      return 'series' in query ? [{ name: one.name, query }] : []
    }),
  )
  let compared = 0
  for (const { name, query } of new Map(queries.map((one) => [JSON.stringify(one.query.series), one])).values()) {
    const { interval } = query.condition
    const here = answered(interval, intervalMs[interval], query.series)
    if (typeof here === 'string' && unknown.test(here)) continue
    const there = recordedRows(interval, intervalMs[interval], query.series)
    if (typeof there === 'string' || typeof here === 'string') {
      expect(there, name).toContain(typeof here === 'string' ? here.slice(0, 55) : here)
      continue
    }
    const lines = there
      .filter(({ startMs }) => isInWeek(startMs))
      .flatMap(({ startMs, group, numbers }) => [...numbers].map(([i, value]) => line(startMs, group, String(i), value)))
    // The demo has no histograms.
    if (query.series.some(({ metricDataType }) => metricDataType === 'histogram')) continue
    expect(here.join('\n') === lines.toSorted().join('\n'), name).toBe(true)
    compared++
  }
  expect(compared).toBeGreaterThan(25)
})
