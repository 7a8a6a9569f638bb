// Which incidents are older than the data: random data of a service, and a count of its rows by hand.

import { expect, it } from 'vitest'
import { readAroundIncidents } from '../../../src/changes/backtest/incidents.ts'
import { intervalMs } from '../../../src/kinds/alert/schedule.ts'
import type { AlertCondition } from '../../../src/signals/backtest/evaluate.ts'
import type { BacktestQuery } from '../../../src/signals/backtest/query.ts'
import { type ReadSeries, rowsOf } from '../../../src/signals/backtest/series-api.ts'
import type { Incident } from '../../../src/sync/declarations/incidents.ts'
import { randomFrom } from '../../support/random.ts'

const minuteMs = 60_000
const dayMs = 1440 * minuteMs
const nowMs = Date.parse('2026-11-28T16:01:00Z')

/** A server that counts these rows, and the requests for them. */
function serve(rows: readonly number[]) {
  const counter = { requests: 0 }
  const readSeries: ReadSeries = async ({ series, granularity, fromMs, untilMs }) => {
    counter.requests += 1
    const lengthMs = intervalMs[granularity]
    const windows = Map.groupBy(
      rows.filter((atMs) => atMs >= fromMs && atMs < untilMs),
      (atMs) => Math.floor(atMs / lengthMs) * lengthMs,
    )
    return [...windows].map(([startMs, found]) => ({
      startMs,
      group: '',
      groupValues: [],
      numbers: new Map(series.map((_, i) => [i, found.length])),
    }))
  }
  return { readSeries, counter }
}

const condition = {
  thresholdType: 'above',
  threshold: 1,
  thresholdMax: undefined,
  interval: '5m',
  consecutive: 1,
  isGrouped: false,
} as const

/** Fires where the source has a row. */
const query: BacktestQuery = {
  condition,
  step: '5m',
  lookbackMs: 0,
  series: [rowsOf('logs')],
  read: (rows) => ({ values: new Map(rows.map(({ startMs, numbers }) => [startMs, [{ group: '', value: numbers.get(0) ?? null }]])) }),
}

const incidentAt = (startMs: number): Incident => ({
  key: 'down',
  name: 'Down',
  location: { file: 'a.yml' },
  startMs,
  endMs: startMs + 20 * minuteMs,
  alerts: ['errors'],
  withinMs: 10 * minuteMs,
})

async function evaluate(rows: readonly number[], startMs: number, interval: AlertCondition['interval'] = '5m') {
  const { readSeries, counter } = serve(rows)
  const api = { remainingMs: () => 600_000 } as never // Only the time that is left is read.
  const options = {
    api,
    service: { serverUrl: 'http://localhost' },
    readSeries,
    onProgress: async () => undefined,
    maxRequests: 200,
  }
  const { around } = await readAroundIncidents(
    [incidentAt(startMs)],
    new Map([['errors', { ...query, condition: { ...condition, interval } }]]),
    nowMs,
    options,
  )
  return { evaluated: around[0]?.evaluated, range: around[0]?.range, requests: counter.requests }
}

const isUntestable = async (rows: readonly number[], startMs: number): Promise<boolean> => {
  const { evaluated } = await evaluate(rows, startMs)
  return evaluated !== undefined && 'isTooOld' in evaluated && evaluated.isTooOld === true
}

const startMs = nowMs - 20 * dayMs

it('an incident is tested where its source has rows in the week before it, however long the gap before the incident is', async () => {
  const recent = nowMs - dayMs
  expect(await isUntestable([startMs - 5 * dayMs, recent], startMs)).toBe(false)
  expect(await isUntestable([startMs - 9 * dayMs, recent], startMs)).toBe(true)
  expect(await isUntestable([startMs + 10 * minuteMs, recent], startMs)).toBe(true)
  // The first row in the window that begins with the incident.
  const begin = Math.ceil(startMs / 300_000) * 300_000
  expect(await isUntestable([begin, recent], begin)).toBe(false)
  // The first rows of a new source, in the hour of the incident.
  const half = Math.floor(startMs / 3_600_000) * 3_600_000 + 30 * minuteMs
  expect(await isUntestable([half - 20 * minuteMs, half + 5 * minuteMs, recent], half)).toBe(false)
  expect(await evaluate([], startMs)).toMatchObject({ evaluated: { reason: 'its source has no data' } })
})

it('an incident is evaluated with a day or six windows on both sides, in whole windows, and until now', async () => {
  const rangeOf = async (at: string, interval?: AlertCondition['interval']) => {
    const { range } = await evaluate([], Date.parse(at), interval)
    return range && [range.fromMs, range.untilMs].map((ms) => new Date(ms).toISOString().slice(5, 16))
  }
  expect(await rangeOf('2026-11-08T16:50:00Z')).toEqual(['11-07T16:00', '11-09T18:00'])
  expect(await rangeOf('2026-11-08T16:50:00Z', '12h')).toEqual(['11-05T12:00', '11-12T00:00'])
  expect(await rangeOf('2026-11-28T15:00:00Z')).toEqual(['11-27T15:00', '11-28T16:01'])
})

it('an incident with data before it costs no request more than its values and those of its source', async () => {
  expect((await evaluate([startMs - 60 * minuteMs, nowMs - dayMs], startMs)).requests).toBe(2)
})

it('an incident is never called older than the data while its source has rows in the week before it, or none in the last week', async () => {
  const random = randomFrom(7)
  let untestable = 0
  for (let round = 0; round < 300; round++) {
    const beginMs = nowMs - Math.floor(random() * 40) * dayMs
    const count = Math.floor(random() * 6)
    const rows = Array.from({ length: count }, () => beginMs + Math.floor((random() * (nowMs - beginMs)) / minuteMs) * minuteMs)
    const at = nowMs - Math.floor((random() * 35 + 1) * 1440) * minuteMs
    const isCalled = await isUntestable(rows, at)
    const hourMs = 60 * minuteMs
    const hasBefore = rows.some((ms) => ms < at - hourMs && ms >= at - 7 * dayMs + hourMs)
    const hasRecent = rows.some((ms) => ms >= nowMs - 7 * dayMs - hourMs)
    if (isCalled) expect([hasBefore, hasRecent], JSON.stringify({ rows, at })).toEqual([false, true])
    else if (
      !rows.some((ms) => ms < at + minuteMs && ms >= at - 7 * dayMs - hourMs) &&
      rows.some((ms) => ms < nowMs - hourMs && ms >= nowMs - 7 * dayMs + hourMs)
    )
      throw new Error(`not called older than the data: ${JSON.stringify({ rows, at })}`)
    if (isCalled) untestable += 1
  }
  expect(untestable).toBeGreaterThan(20)
})
