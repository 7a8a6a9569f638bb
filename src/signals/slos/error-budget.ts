import { dayMs, hourMs } from '../../platform/core/durations.ts'
import type { DeclaredSlo } from './slo-file.ts'
import type { GroupHistory } from './slo-series.ts'
import { budgetLeft, burnRate, burnRateAlerts, burnRateFactors, type Counts, windowMs } from './slo-sql.ts'

export const burnRateWindows = ['5m', '30m', '1h', '6h', '3d'] as const

type BurnRateWindow = (typeof burnRateWindows)[number]

const spans = new Map(burnRateAlerts.flatMap(({ long, short }) => [long, short]).map(({ name, ms }) => [name, ms]))

export const currentWindow: BurnRateWindow = '1h'

export interface BudgetState extends Counts {
  /** Percentage of good events; undefined without enough events. */
  readonly indicator?: number
  /** A percentage, below 0 when more than all is spent; undefined without enough events. */
  readonly budgetLeft?: number
  /** Undefined for a window with too few events. */
  readonly burnRates: Readonly<Partial<Record<BurnRateWindow, number>>>
  readonly burning: string[]
  readonly runsOut: RunsOut
}

type RunsOut =
  /** `never`: not within ten years. */
  { readonly kind: 'spent' | 'never' | 'unknown' } | { readonly kind: 'at'; readonly ms: number }

export function judgeBudget(slo: DeclaredSlo, { hours, steps }: GroupHistory, endMs: number): BudgetState {
  const factors = burnRateFactors(slo.objective)
  const all = addUp(hours)
  const left = all.total >= slo.minEvents ? budgetLeft(factors, all) : undefined
  const burnRates = Object.fromEntries(
    burnRateWindows.flatMap((window) => {
      const ms = spans.get(window) ?? 0
      const counts = addUp(steps.filter(({ startMs }) => startMs >= endMs - ms))
      // Short windows need one event, as in the alerts: the long window beside them has enough.
      const rate = counts.total < (ms < hourMs ? 1 : slo.minEvents) ? undefined : burnRate(factors, counts)
      return rate === undefined ? [] : [[window, rate]]
    }),
  )
  return {
    ...all,
    ...(left !== undefined && { indicator: (100 * all.good) / all.total, budgetLeft: left }),
    burnRates,
    burning: burnRateAlerts.filter((policy) => isBurning(policy, burnRates)).map(({ id }) => id),
    runsOut: whenSpent(left, burnRates[currentWindow], { windowMs: windowMs(slo), endMs }),
  }
}

/** Decides as the alerts do, which treat too few events as a rate of 0. */
const isBurning = ({ rate, long, short }: (typeof burnRateAlerts)[number], rates: Readonly<Record<string, number>>) =>
  Math.min(rates[long.name] ?? 0, rates[short.name] ?? 0) >= rate

function whenSpent(
  left: number | undefined,
  rate: number | undefined,
  { windowMs: ms, endMs }: { readonly windowMs: number; readonly endMs: number },
): RunsOut {
  if (left === undefined) return { kind: 'unknown' }
  if (left <= 0) return { kind: 'spent' }
  if (rate === undefined) return { kind: 'unknown' }
  // Sums of sample rates may differ in their last digits, so a rate of 0 can be a bit below.
  const lastsMs = rate <= 0 ? Number.POSITIVE_INFINITY : ((left / 100) * ms) / rate
  // In more than ten years, a date says nothing, and from the year 275760 on there is none.
  return lastsMs > 3650 * dayMs ? { kind: 'never' } : { kind: 'at', ms: endMs + lastsMs }
}

function addUp(counts: Iterable<Counts>): Counts {
  let [good, total] = [0, 0]
  for (const one of counts) {
    good += one.good
    total += one.total
  }
  return { good, total }
}

/** The oldest UTC day first. Their sum is what is spent. */
export function spentByDay(slo: DeclaredSlo, { hours }: GroupHistory, endMs: number) {
  const factors = burnRateFactors(slo.objective)
  const all = addUp(hours)
  const first = Math.floor((endMs - windowMs(slo)) / dayMs)
  const days = Array.from({ length: Math.ceil(endMs / dayMs) - first }, (_, i) => (first + i) * dayMs)
  const byDay = Map.groupBy(hours, ({ startMs }) => Math.floor(startMs / dayMs) * dayMs)
  return days.map((startMs) => {
    const { good, total } = addUp(byDay.get(startMs) ?? [])
    return {
      day: new Date(startMs).toISOString().slice(0, 10),
      spent: all.total === 0 ? 0 : (100 * (total - good) * factors.multiplier) / (all.total * factors.divisor),
    }
  })
}
