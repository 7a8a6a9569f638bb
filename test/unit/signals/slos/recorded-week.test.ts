// The alerts of SLOs, as the product's own alert task evaluated them in a week of telemetry: in runs over the whole week, around its
// incidents and gaps, and with missed evaluations. The expectations are computed here from single events, and from no SQL.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type TelemetryKind, type TelemetryRow, visitTelemetry } from '../../../../src/emulator/product/telemetry.ts'
import { intervalMs } from '../../../../src/kinds/alert/schedule.ts'
import { isOf } from '../../../../src/kinds/kinds.ts'
import { digestOfText } from '../../../../src/platform/core/digest.ts'
import { type EvaluatedWindow, evaluate } from '../../../../src/signals/backtest/evaluate.ts'
import { type BacktestQuery, toAlertQuery } from '../../../../src/signals/backtest/query.ts'
import type { Refusal, SeriesRow } from '../../../../src/signals/backtest/series-api.ts'
import { readSlos, resolveSlos, sourceOf } from '../../../../src/signals/slos/expand-slos.ts'
import { findSloAlert } from '../../../../src/signals/slos/slo-alerts.ts'
import { readText } from '../../../support/declarations.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** First and last evaluation, their number, state and value: of evaluations with the same state and value. */
const stretch = z.tuple([z.string(), z.string(), z.int(), z.enum(['OK', 'ALERT']), z.number()])

const recordedAlert = z.object({
  sql: z.string(),
  notified: z.int(),
  resolved: z.int(),
  groups: z.record(z.string(), z.array(stretch)),
})

const { runs } = z
  .object({
    runs: z.array(
      z.object({
        spans: z.array(z.string()),
        stepSeconds: z.int(),
        skipped: z.array(z.string()).default([]),
        alerts: z.record(z.string(), recordedAlert),
      }),
    ),
  })
  .parse(JSON.parse(read('recorded-week.json')))

type Run = (typeof runs)[number]

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const weekStartMs = Date.parse('2026-11-09T00:00:00Z')
const weekEndMs = Date.parse('2026-11-16T00:00:00Z')

/** The week was stored twice. */
const copies = 2

interface Expectation {
  readonly kind: TelemetryKind
  readonly isCounted: (row: TelemetryRow) => boolean
  readonly isGood: (row: TelemetryRow) => boolean
  readonly isGrouped?: boolean
  readonly objective: number
  readonly minEvents?: number
}

const ofService =
  (...names: readonly string[]) =>
  ({ ServiceName }: TelemetryRow): boolean =>
    names.includes(String(ServiceName))
const isOk = ({ StatusCode }: TelemetryRow): boolean => StatusCode !== 'Error'
const isFast = ({ Duration }: TelemetryRow): boolean => Number(Duration) < 200_000_000

const payment = { kind: 'trace', isCounted: ofService('payment'), isGood: isOk } as const
const search = { kind: 'trace', isCounted: ofService('search'), isGood: isFast, objective: 99 } as const

const expectations: Readonly<Record<string, Expectation>> = {
  'payment-99': { ...payment, objective: 99 },
  'payment-99.5': { ...payment, objective: 99.5 },
  'payment-99.9': { ...payment, objective: 99.9 },
  services: { kind: 'trace', isCounted: () => true, isGood: isOk, isGrouped: true, objective: 99.9 },
  'groups-99': {
    kind: 'trace',
    isCounted: ofService('search', 'payment'),
    isGood: (row) => isOk(row) && !(row.ServiceName === 'search' && row.Duration === 200_000_000),
    isGrouped: true,
    objective: 99,
  },
  'no-traffic': search,
  little: { ...search, minEvents: 500 },
  ninety: { kind: 'trace', isCounted: ofService('cart'), isGood: isFast, objective: 90 },
  'errors-in-logs': {
    kind: 'log',
    isCounted: ofService('checkout'),
    isGood: ({ SeverityText }) => String(SeverityText).toLowerCase() !== 'error',
    objective: 99,
  },
}

/** Threshold, long and short window and interval, as in the SRE workbook. */
const policies: Readonly<Record<string, { rate: number; longMs: number; shortMs: number; intervalMs: number }>> = {
  'page-1h': { rate: 14.4, longMs: hourMs, shortMs: 5 * minuteMs, intervalMs: 5 * minuteMs },
  'page-6h': { rate: 6, longMs: 6 * hourMs, shortMs: 30 * minuteMs, intervalMs: 30 * minuteMs },
  'ticket-3d': { rate: 1, longMs: 72 * hourMs, shortMs: 6 * hourMs, intervalMs: 6 * hourMs },
}

/** Sums of events before each minute of the week, by group: a window is a difference. */
interface Sums {
  readonly total: Float64Array
  readonly bad: Float64Array
}

/** Runs and alerts share a few expectations. */
function once<T>(compute: (expectation: Expectation) => T): (expectation: Expectation) => T {
  const known = new Map<Expectation, T>()
  return (expectation) => {
    const found = known.get(expectation) ?? compute(expectation)
    known.set(expectation, found)
    return found
  }
}

const sumsOf = once(({ kind, isCounted, isGood, isGrouped }): ReadonlyMap<string, Sums> => {
  const length = (weekEndMs - weekStartMs) / minuteMs + 1
  const groups = new Map<string, Sums>()
  visitTelemetry(kind, { fromMs: weekStartMs, toMs: weekEndMs - 1 }, (row, atMs) => {
    if (!isCounted(row)) return
    const group = isGrouped === true ? String(row.ServiceName) : ''
    const sums = groups.get(group) ?? { total: new Float64Array(length), bad: new Float64Array(length) }
    groups.set(group, sums)
    const after = Math.floor((atMs - weekStartMs) / minuteMs) + 1
    sums.total[after] = (sums.total[after] ?? 0) + copies
    if (!isGood(row)) sums.bad[after] = (sums.bad[after] ?? 0) + copies
  })
  for (const { total, bad } of groups.values())
    for (const sums of [total, bad]) for (let i = 1; i < length; i++) sums[i] = (sums[i] ?? 0) + (sums[i - 1] ?? 0)
  return groups
})

const between = (sums: Float64Array, fromMs: number, toMs: number): number => {
  const at = (ms: number): number => sums[Math.min(Math.max(Math.round((ms - weekStartMs) / minuteMs), 0), sums.length - 1)] ?? 0
  return at(toMs) - at(fromMs)
}

/** When the task ran, in order. A missed evaluation is never made up for. */
const ticksOf = ({ spans, stepSeconds, skipped }: Run): readonly (readonly number[])[] => {
  const toRange = (text: string) => text.split('/').map((one) => Date.parse(one))
  return spans.map((span) => {
    const [from = 0, to = 0] = toRange(span)
    const all = Array.from({ length: Math.ceil((to - from) / (stepSeconds * 1000)) }, (_, i) => from + i * stepSeconds * 1000)
    return all.filter((ms) => !skipped.map(toRange).some(([start = 0, end = 0]) => ms >= start && ms < end))
  })
}

/** The ends of the evaluated windows of each span, each once. */
const endsOf = (run: Run, intervalMs: number): readonly number[] =>
  ticksOf(run).flatMap((ticks) => [...new Set(ticks.map((ms) => Math.floor(ms / intervalMs) * intervalMs))])

/** The value and the state of an alert at the end of its windows; undefined for a group without rows. */
function evaluateAt(
  end: number,
  { total, bad }: Sums,
  name: string,
): { readonly value: number; readonly state: 'OK' | 'ALERT' } | undefined {
  const { isGrouped, objective, minEvents = 100 } = expectationOf(name)
  const policy = policyOf(name)
  const since = policy?.longMs ?? hourMs
  const events = between(total, end - since, end)
  if (isGrouped === true && events === 0) return undefined
  if (policy === undefined) return { value: events, state: events <= 0 ? 'ALERT' : 'OK' }
  const burn = (ms: number): number => between(bad, end - ms, end) / between(total, end - ms, end) / ((100 - objective) / 100)
  const isQuiet = events < minEvents || between(total, end - policy.shortMs, end) === 0
  const value = isQuiet ? 0 : Math.min(burn(policy.longMs), burn(policy.shortMs))
  return { value, state: value >= policy.rate - 1e-9 ? 'ALERT' : 'OK' }
}

const expectationOf = (name: string): Expectation => {
  const found = expectations[name.slice(0, name.lastIndexOf('.'))]
  if (found === undefined) throw new Error(`no expectation for ${name}`)
  return found
}

/** Undefined for the alert on missing data, which is evaluated every 15 minutes. */
const policyOf = (name: string) => policies[name.slice(name.lastIndexOf('.') + 1)]

type Stretch = z.output<typeof stretch>

function expectedStretches(run: Run, name: string): Readonly<Record<string, readonly Stretch[]>> {
  const ends = endsOf(run, policyOf(name)?.intervalMs ?? 15 * minuteMs)
  const groups = [...sumsOf(expectationOf(name))].map(([group, sums]) => {
    const stretches: Stretch[] = []
    for (const end of ends) {
      const evaluated = evaluateAt(end, sums, name)
      if (evaluated !== undefined) append(stretches, new Date(end).toISOString().slice(0, 16), evaluated)
    }
    return [group, stretches] as const
  })
  return Object.fromEntries(groups.filter(([, stretches]) => stretches.length > 0))
}

function append(stretches: Stretch[], at: string, { value, state }: { readonly value: number; readonly state: 'OK' | 'ALERT' }): void {
  const shown = Number(value.toPrecision(9))
  const last = stretches.at(-1)
  if (last !== undefined && last[3] === state && last[4] === shown) stretches.splice(-1, 1, [last[0], at, last[2] + 1, state, shown])
  else stretches.push([at, at, 1, state, shown])
}

const traces = {
  id: 's1',
  name: 'Traces',
  kind: 'trace',
  connection: 'c1',
  from: { databaseName: 'default', tableName: 'otel_traces' },
  timestampValueExpression: 'Timestamp',
}

const sources = [traces, { ...traces, id: 's2', name: 'Logs', kind: 'log', from: { databaseName: 'default', tableName: 'otel_logs' } }]

describe('the alerts of SLOs in the product', () => {
  it('V8: the alerts of SLOs in the product have the values and states that are computed from single events, at every evaluation of every run', () => {
    let evaluations = 0
    let alerts = 0
    for (const [i, run] of runs.entries())
      for (const [name, { groups, notified }] of Object.entries(run.alerts)) {
        expect(groups, `run ${i}, ${name}`).toEqual(expectedStretches(run, name))
        const all = Object.values(groups).flat()
        const sum = (state: string): number => all.reduce((total, [, , count, own]) => total + (own === state ? count : 0), 0)
        evaluations += sum('OK') + sum('ALERT')
        alerts += sum('ALERT')
        // The product sends a message at every evaluation in this state.
        expect(notified, `run ${i}, ${name}`).toBe(sum('ALERT'))
      }
    expect(evaluations).toBeGreaterThan(11_000)
    expect(alerts).toBeGreaterThan(3_000)
  })

  it('V8: the alerts of SLOs in the product were recorded with the queries that SLOs have now', () => {
    const { slos, diagnostics } = readSlos(readText(read('recorded-week.yml')).slos, [])
    expect(diagnostics).toEqual([])
    const objects = resolveSlos(slos, sources)
    const boards = new Map(objects.filter(isOf('dashboard')).map(({ key, value }) => [key, value.tiles]))
    const sqlOf = new Map(
      objects.filter(isOf('alert')).map(({ key, value: { dashboard, tile } }) => {
        const config = boards.get(String(dashboard))?.find(({ name }) => name === tile)?.config
        return [key, config !== undefined && 'sqlTemplate' in config ? digestOfText(config.sqlTemplate, 16) : '']
      }),
    )
    const recorded = new Map(runs.flatMap(({ alerts }) => Object.entries(alerts)).map(([name, { sql }]) => [name, sql]))
    expect(Object.fromEntries([...sqlOf].sort())).toEqual(Object.fromEntries([...recorded].sort()))
  })

  it('send the same notifications when a backtest computes them from counts per five minutes', () => {
    const alerts = sloQueries()
    let sent = 0
    // A backtest does not know which evaluations were missed.
    for (const [i, run] of runs.entries().filter(([, { skipped }]) => skipped.length === 0))
      for (const [name, { notified, resolved }] of Object.entries(run.alerts)) {
        const windows = backtest(run, name, alerts.get(name))
        const total = (of: 'notifications' | 'resolved'): number => windows.reduce((sum, window) => sum + window[of], 0)
        expect(total('notifications'), `run ${i}, ${name}`).toBe(notified)
        // Between spans, the product remembers what it notified about.
        if (run.spans.length === 1) expect(total('resolved'), `run ${i}, ${name}, resolved`).toBe(resolved)
        sent += total('notifications')
      }
    expect(sent).toBeGreaterThan(2_500)
  })

  const queryOf = (name: string): BacktestQuery => {
    const query = sloQueries().get(name)
    if (query === undefined || 'reason' in query) throw new Error('no query')
    return query
  }

  it('have no value for a group without events, and one for a group with the least events and a single one now, in whole windows', () => {
    const query = queryOf('groups-99.page-1h')
    const row = (group: string, hours: number, total: number, good: number): SeriesRow => ({
      ...{ startMs: weekStartMs + hours * hourMs, group, groupValues: [group] },
      numbers: new Map([total, good].entries()),
    })
    // The range has a part of a window before and after the whole one.
    const fromMs = weekStartMs + 4 * hourMs
    const range = { fromMs: fromMs - minuteMs, untilMs: fromMs + lengthOf(query) + minuteMs }
    const read = query.read([row('one', 4, 1, 0), row('one', 3.5, 99, 99), row('gone', 1, 1, 1)], range)
    expect('values' in read && [...read.values]).toEqual([[fromMs, [{ group: 'one', value: 1 }]]])
    expect(query.read([], { fromMs: fromMs + minuteMs, untilMs: fromMs + 2 * minuteMs })).toEqual({ values: new Map() })
  })

  it('have groups where their SLO has some, and one on missing data counts all events alone', () => {
    const shapeOf = (name: string) => {
      const query = queryOf(name)
      return [query.condition.isGrouped, 'series' in query && query.series.map(({ groupBy }) => groupBy.length)]
    }
    expect([shapeOf('groups-99.page-1h'), shapeOf('payment-99.page-1h'), shapeOf('no-traffic.no-data')]).toEqual([
      [true, [1, 1]],
      [false, [0, 0]],
      [false, [0]],
    ])
  })
})

function sloQueries(): ReadonlyMap<string, BacktestQuery | Refusal> {
  const { slos } = readSlos(readText(read('recorded-week.yml')).slos, [])
  const objects = resolveSlos(slos, sources)
  const boards = new Map(objects.filter(isOf('dashboard')).map(({ key, value }) => [key, value.tiles]))
  const sourced = slos.map((slo) => ({ slo: slo.value, source: sourceOf(slo, sources) }))
  const find = findSloAlert(sourced.flatMap(({ slo, source }) => ('diagnostic' in source ? [] : [{ slo, source }])))
  return new Map(
    objects.filter(isOf('alert')).map(({ key, value }) => {
      const tile = boards.get(String(value.dashboard))?.find(({ name }) => name === value.tile)
      return [key, toAlertQuery({ ...value, source: 'tile' }, { tile: { ...tile } }, find)]
    }),
  )
}

function backtest(run: Run, name: string, query: BacktestQuery | Refusal | undefined): readonly EvaluatedWindow[] {
  if (query === undefined || 'reason' in query) throw new Error(`${name}: ${query?.reason}`)
  const rows = countRows(expectationOf(name))
  return ticksOf(run).flatMap((ticks) => {
    const ends = ticks.map((ms) => Math.floor(ms / lengthOf(query)) * lengthOf(query))
    const range = { fromMs: (ends[0] ?? 0) - lengthOf(query), untilMs: ends.at(-1) ?? 0 }
    const values = query.read(rows, range)
    return 'reason' in values ? [] : evaluate(query.condition, values.values, range)
  })
}

const lengthOf = ({ condition }: BacktestQuery): number => intervalMs[condition.interval]

/** As `POST /charts/series` counts: the number of series 0 is that of all events, and of series 1 that of the good ones. */
const countRows = once((expectation): readonly SeriesRow[] => {
  const stepMs = 5 * minuteMs
  return [...sumsOf(expectation)].flatMap(([group, { total, bad }]) =>
    Array.from({ length: (weekEndMs - weekStartMs) / stepMs }, (_, i) => weekStartMs + i * stepMs).flatMap((startMs) => {
      const count = between(total, startMs, startMs + stepMs)
      const good = count - between(bad, startMs, startMs + stepMs)
      const numbers = new Map([[0, count], ...(good === 0 ? [] : [[1, good] as const])])
      return count === 0 ? [] : [{ startMs, group, groupValues: [group], numbers }]
    }),
  )
})
