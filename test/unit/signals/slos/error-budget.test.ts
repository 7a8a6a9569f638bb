import { describe, expect, it } from 'vitest'
import type { ReadApi } from '../../../../src/platform/api/client.ts'
import { judgeBudget, spentByDay } from '../../../../src/signals/slos/error-budget.ts'
import type { DeclaredSlo } from '../../../../src/signals/slos/slo-file.ts'
import { readHistory, type TimedCounts } from '../../../../src/signals/slos/slo-series.ts'
import { historyColumns } from '../../../../src/signals/slos/slo-sql.ts'

const endMs = Date.parse('2026-11-12T10:00:00Z')
const hourMs = 3_600_000
const stepMs = 300_000

const slo: DeclaredSlo = {
  name: 'A',
  source: 'Traces',
  total: '1 = 1',
  good: '1 = 1',
  objective: 99.9,
  window: '7d',
  minEvents: 100,
}

/** `total` events in each step of the last three days, `bad` of them bad in the last `badSteps`. */
function history(total: number, bad: number, badSteps: number) {
  const steps = Array.from({ length: 864 }, (_, i): TimedCounts => {
    const isBad = i >= 864 - badSteps
    return { startMs: endMs - (864 - i) * stepMs, total, good: total - (isBad ? bad : 0) }
  })
  const byHour = Map.groupBy(steps, ({ startMs }) => Math.floor(startMs / hourMs) * hourMs)
  const hours = [...byHour].map(([startMs, all]) => ({
    startMs,
    total: all.reduce((sum, one) => sum + one.total, 0),
    good: all.reduce((sum, one) => sum + one.good, 0),
  }))
  return { hours, steps }
}

describe('the state of an error budget', () => {
  it('the state of an error budget is what is left, how fast it burns in each window, and when it runs out', () => {
    // 864,000 events, 120 of 12,000 bad in the last hour: 1%, ten times as fast as allowed.
    const state = judgeBudget(slo, history(1000, 10, 12), endMs)
    expect(state).toMatchObject({ total: 864_000, good: 863_880, budgetLeft: (100 * (864 - 120)) / 864, burning: [] })
    expect(state.indicator).toBeCloseTo(99.986_111, 6)
    expect(state.burnRates['5m']).toBe(10)
    expect(state.burnRates['1h']).toBe(10)
    expect(state.burnRates['6h']).toBeCloseTo(10 / 6, 12)
    expect(state.burnRates['3d']).toBeCloseTo(10 / 72, 12)
    // 86% of a budget for 7 days, at ten times the speed.
    expect(state.runsOut).toEqual({ kind: 'at', ms: endMs + ((744 / 864) * 7 * 24 * hourMs) / 10 })
  })

  it('names the alerts whose two windows are above the rate', () => {
    expect(judgeBudget(slo, history(1000, 20, 12), endMs).burning).toEqual(['page-1h'])
    expect(judgeBudget(slo, history(1000, 20, 72), endMs).burning).toEqual(['page-1h', 'page-6h', 'ticket-3d'])
    // The incident is over: the short windows are clean.
    const over = history(1000, 20, 72)
    const clean = { ...over, steps: over.steps.map((one, i) => (i >= 864 - 6 ? { ...one, good: one.total } : one)) }
    expect(judgeBudget(slo, clean, endMs).burning).toEqual(['ticket-3d'])
  })

  it('V7: the state of an error budget is exact at the limits of gates: 144 bad events of 10,000 burn 14.4 times as fast as allowed', () => {
    const one = [{ startMs: endMs - stepMs, total: 10_000, good: 9856 }]
    const state = judgeBudget(slo, { hours: one, steps: one }, endMs)
    expect(state.burnRates['1h']).toBe(14.4)
    expect(state.burning).toContain('page-1h')
    expect(judgeBudget(slo, { hours: [{ startMs: 0, total: 100_000, good: 99_910 }], steps: [] }, endMs).budgetLeft).toBe(10)
    // The last percent lasts as long as any other.
    const last = judgeBudget(slo, { hours: [{ startMs: 0, total: 100_000, good: 99_901 }], steps: one }, endMs)
    expect(last.runsOut).toEqual({ kind: 'at', ms: expect.closeTo(endMs + (0.01 * 168 * hourMs) / 14.4, 0) })
  })

  it('has a time at which it runs out within ten years, also where it burns slower than allowed', () => {
    const runsOutWith = (bad: number) => {
      const counts = [{ startMs: endMs - stepMs, total: 1_000_000_000, good: 1_000_000_000 - bad }]
      return judgeBudget(slo, { hours: counts, steps: counts }, endMs).runsOut
    }
    expect(runsOutWith(500_000)).toEqual({ kind: 'at', ms: endMs + 168 * hourMs })
    expect([runsOutWith(1950).kind, runsOutWith(1850).kind]).toEqual(['at', 'never'])
  })

  it('never runs out at a burn rate of 0, is spent at 0% and below, and is unknown with too few events', () => {
    expect(judgeBudget(slo, history(1000, 0, 0), endMs)).toMatchObject({ budgetLeft: 100, runsOut: { kind: 'never' } })
    const rounded = [{ startMs: endMs - stepMs, total: 1000, good: 1000.000_000_000_1 }]
    expect(judgeBudget(slo, { hours: rounded, steps: rounded }, endMs).runsOut).toEqual({ kind: 'never' })
    // One bad event of 120 million in the last hour: the budget would last for more years than a date can have.
    const tiny = judgeBudget({ ...slo, objective: 50 }, history(120_000_000, 1, 1), endMs)
    expect(tiny.burnRates['1h']).toBeGreaterThan(0)
    expect(tiny.runsOut).toEqual({ kind: 'never' })
    expect(judgeBudget(slo, history(1000, 1, 864), endMs)).toMatchObject({ budgetLeft: 0, runsOut: { kind: 'spent' } })
    expect(judgeBudget(slo, history(1000, 1000, 864), endMs).budgetLeft).toBe(-99_900)
    const few = judgeBudget(slo, { hours: [{ startMs: 0, total: 99, good: 0 }], steps: [] }, endMs)
    expect(few).toMatchObject({ burnRates: {}, burning: [], runsOut: { kind: 'unknown' } })
    expect(few.budgetLeft).toBeUndefined()
    expect(few.indicator).toBeUndefined()
    expect(judgeBudget({ ...slo, minEvents: 99 }, { hours: [{ startMs: 0, total: 99, good: 99 }], steps: [] }, endMs).budgetLeft).toBe(100)
  })

  it('the state of an error budget has no burn rate for a long window with too few events, and none for a short one without any', () => {
    const quiet = judgeBudget(slo, { hours: history(1, 1, 864).hours, steps: history(1, 1, 864).steps }, endMs)
    expect(Object.keys(quiet.burnRates)).toEqual(['5m', '30m', '3d'])
    const silent = history(1000, 500, 864)
    const steps = silent.steps.slice(0, -2)
    expect(Object.keys(judgeBudget(slo, { ...silent, steps }, endMs).burnRates)).toEqual(['30m', '1h', '6h', '3d'])
  })

  it('the state of an error budget is spent day by day, and the days add up', () => {
    const counts = history(1000, 3, 400)
    const days = spentByDay(slo, counts, endMs)
    expect(days.map(({ day }) => day)).toEqual([
      '2026-11-05',
      '2026-11-06',
      '2026-11-07',
      '2026-11-08',
      '2026-11-09',
      '2026-11-10',
      '2026-11-11',
      '2026-11-12',
    ])
    const sum = days.reduce((total, { spent }) => total + spent, 0)
    expect(spentByDay(slo, { hours: [], steps: [] }, endMs).map(({ spent }) => spent)).toEqual(Array(8).fill(0))
    expect(sum).toBeCloseTo(100 - (judgeBudget(slo, counts, endMs).budgetLeft ?? 0), 9)
  })
})

describe('the past of an SLO', () => {
  const grouped = { ...slo, groupBy: 'Pod' }
  const source = { id: 's', connectionId: 'c', database: 'd', table: 't', time: 'T' }
  const [old, recent] = [endMs - 100 * hourMs, endMs - hourMs]
  const request = { slo: grouped, source, endMs }

  it('is that of each group, with its own steps, from charts and from SQL', async () => {
    const bucketOf = (ms: number, pod: string | null, total: number) => ({
      __hdx_time_bucket: new Date(ms).toISOString(),
      ...{ Pod: pod, series_0: total, series_1: 1 },
    })
    const charts = {
      profile: { isSelfHosted: true },
      sqlFunctions: undefined,
      async read({ request: { body } }: { readonly request: { readonly body: { readonly granularity: string } } }) {
        // The server includes the end of the range.
        if (body.granularity === '1h') return [bucketOf(old, null, 5), bucketOf(recent, 'b', 3), bucketOf(endMs, 'b', 9)]
        return [bucketOf(recent, 'b', 3)]
      },
    }
    const rowOf = (ms: number, pod: string, total: number) => ({
      ...{ [historyColumns.start]: ms / 1000, [historyColumns.group]: pod },
      ...{ [historyColumns.total]: total, [historyColumns.good]: 1 },
    })
    const cloud = {
      profile: { isSelfHosted: false },
      async runSql(_: unknown, { sql }: { readonly sql: string }) {
        expect(sql).toMatch(/, intDiv\(toUnixTimestamp\(\(T\)\), 300\) \* 300, intDiv\(toUnixTimestamp\(\(T\)\), 3600\) \* 3600\) AS /)
        return { kind: 'rows', rows: [rowOf(old, '', 5), rowOf(recent, 'b', 3)] }
      },
    }
    for (const api of [charts, cloud]) {
      const found = await readHistory({ api: api as unknown as ReadApi, service: { kind: 'service' } as never }, request)
      const counts = (startMs: number, total: number) => expect.objectContaining({ startMs, total, good: 1 })
      expect(found, String(api.profile.isSelfHosted)).toEqual([
        { group: '', hours: [counts(old, 5)], steps: [] },
        { group: 'b', hours: [counts(recent, 3)], steps: [counts(recent, 3)] },
      ])
    }
  })
})
