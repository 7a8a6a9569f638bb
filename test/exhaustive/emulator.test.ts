import { describe, expect, it } from 'vitest'
import type { Emulator } from '../../src/emulator/index.ts'
import { ChartError, type ChartRequest, computeSeries } from '../../src/emulator/product/charts.ts'
import { intervalMs } from '../../src/kinds/alert/schedule.ts'
import { toAlertQuery } from '../../src/signals/backtest/query.ts'
import type { SeriesItem } from '../../src/signals/backtest/series-api.ts'
import {
  alertBody,
  call,
  checkoutOf,
  clickstack,
  dashboardBody,
  type Json,
  lineConfig,
  startCloud,
  tile,
} from '../integration/emulator/support.ts'
import { recorded, recordedRows, watchedBy } from '../unit/signals/backtest/recorded.ts'

const seeds = Array.from({ length: 25 }, (_, seed) => seed)

const owned = ['id', 'teamId', 'state', 'silenced', 'executionErrors', 'createdAt', 'updatedAt']

const listOf = async (emulator: Emulator, kind: string): Promise<Json[]> =>
  (await call(emulator, 'GET', `${clickstack}/${kind}`)).json.result

const bodyOf = (view: Json): Json => Object.fromEntries(Object.entries(view).filter(([name]) => !owned.includes(name)))

describe('a server whose defaults are unknown', () => {
  it('answers the same object always in the same way, and accepts every answer that is sent back', async () => {
    const emulator = await startCloud()
    emulator.saveInWebApp({ name: ' Blanks ', tiles: [{ name: ' Errors ', config: lineConfig(emulator) }], tags: ['b', 'a', 'c'] })
    for (const seed of seeds) {
      emulator.setUnknownDefaults(seed)
      for (const kind of ['dashboards', 'alerts', 'saved-searches']) {
        const listed = await listOf(emulator, kind)
        expect(await listOf(emulator, kind)).toEqual(listed)
        for (const view of listed) {
          const path = `${clickstack}/${kind}/${view.id}`
          expect((await call(emulator, 'GET', path)).json.result, `seed ${seed}`).toEqual(view)
          const { status, json } = await call(emulator, 'PUT', path, { body: bodyOf(view) })
          expect(status, `seed ${seed}: ${json.error}`).toBe(200)
          expect(bodyOf(json.result), `seed ${seed}`).toEqual(bodyOf(view))
        }
      }
      emulator.reset()
    }
  })

  it('a server whose defaults are unknown has the same default in the same place, whatever the object', async () => {
    for (const seed of seeds) {
      const emulator = await startCloud({ unknownDefaults: seed })
      const create = async (name: string): Promise<Json> => {
        const body = dashboardBody(emulator, { name, tiles: [tile(lineConfig(emulator))] })
        return (await call(emulator, 'POST', `${clickstack}/dashboards`, { body })).json.result.tiles[0].config
      }
      expect(await create('One')).toEqual(await create('Other'))
    }
  })

  it('fills in, reorders and trims', async () => {
    const seen = new Set<string>()
    for (const seed of seeds) {
      const emulator = await startCloud({ unknownDefaults: seed })
      const [first, second] = checkoutOf(emulator).webhooks.map(({ id }) => ({ type: 'webhook', webhookId: id }))
      const body = dashboardBody(emulator, {
        name: ' Trimmed ',
        tags: ['a', 'b'],
        tiles: ['A', 'B'].map((name) => tile(lineConfig(emulator), { name })),
      })
      const { json } = await call(emulator, 'POST', `${clickstack}/dashboards`, { body })
      const { channel: _, ...alert } = alertBody(emulator)
      const made = await call(emulator, 'POST', `${clickstack}/alerts`, {
        body: { ...alert, channels: [first, second], scheduleStartAt: '2026-03-01T00:00:00Z' },
      })
      expect(json.result.name).toBe('Trimmed')
      expect(made.json.result.channel).toEqual(made.json.result.channels[0])
      for (const field of Object.keys(json.result.tiles[0].config)) seen.add(field)
      seen.add(`tags ${json.result.tags}`).add(`tiles ${json.result.tiles.map(({ name }: Json) => name)}`)
      seen.add(`channels ${made.json.result.channels[0].webhookId === first?.webhookId}`)
      seen.add(`time ${made.json.result.scheduleStartAt}`)
    }
    expect([...seen]).toEqual(
      expect.arrayContaining([
        'fitYAxisToData',
        'seriesLimit',
        'tags a,b',
        'tags b,a',
        'tiles A,B',
        'tiles B,A',
        'channels true',
        'channels false',
        'time 2026-03-01T00:00:00Z',
        'time 2026-03-01T00:00:00.000Z',
      ]),
    )
  })

  it('a server whose defaults are unknown can gain its defaults later, and loses them with a reset', async () => {
    const emulator = await startCloud()
    const before = await listOf(emulator, 'dashboards')
    emulator.setUnknownDefaults(7)
    expect(await listOf(emulator, 'dashboards')).not.toEqual(before)
    emulator.setUnknownDefaults(undefined)
    expect(await listOf(emulator, 'dashboards')).toEqual(before)
    emulator.setUnknownDefaults(7)
    emulator.reset()
    expect(await listOf(emulator, 'dashboards')).toEqual(before)
  })
})

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
