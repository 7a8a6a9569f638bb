import { fromText } from '../../platform/core/decimal.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/core/durations.ts'
import type { DeclaredSlo } from './slo-file.ts'

/** An alert of "Alerting on SLOs" in Google's SRE workbook (table 5-8). A burn rate of 1 spends the budget exactly in the SLO's window. */
export interface BurnRateAlert {
  readonly id: 'page-1h' | 'page-6h' | 'ticket-3d'
  readonly recipient: 'page' | 'ticket'
  readonly rate: number
  readonly long: Span
  readonly short: Span
  /** As long as the short window, so that little data is read. */
  readonly interval: '5m' | '30m' | '6h'
}

export interface Span {
  readonly name: string
  readonly ms: number
}

const span = (name: string, ms: number): Span => ({ name, ms })

// The rates are those for 30 days, also for other windows: scaled to 7 days they would open tickets while the objective is met.
export const burnRateAlerts: readonly BurnRateAlert[] = [
  { id: 'page-1h', recipient: 'page', rate: 14.4, long: span('1h', hourMs), short: span('5m', 5 * minuteMs), interval: '5m' },
  { id: 'page-6h', recipient: 'page', rate: 6, long: span('6h', 6 * hourMs), short: span('30m', 30 * minuteMs), interval: '30m' },
  { id: 'ticket-3d', recipient: 'ticket', rate: 1, long: span('3d', 3 * dayMs), short: span('6h', 6 * hourMs), interval: '6h' },
]

export const noDataSpan: Span = span('1h', hourMs)

export const windowMs = ({ window }: Pick<DeclaredSlo, 'window'>): number => Number.parseInt(window, 10) * dayMs

/** Burn rate = bad × multiplier / (total × divisor), in whole numbers, so that it is exact up to its last division. */
export interface BurnRateFactors {
  readonly multiplier: number
  readonly divisor: number
}

/** Four digits after the point keep the product below 2^53 for a billion bad events. */
export const maxObjectiveDigits = 4

export function burnRateFactors(objective: number): BurnRateFactors {
  const scale = 10 ** digitsOf(objective)
  const budget = fromText('100').minus(String(objective)).times(scale).toNumber()
  const multiplier = 100 * scale
  const divisor = greatestCommonDivisor(multiplier, budget)
  return { multiplier: multiplier / divisor, divisor: budget / divisor }
}

export const digitsOf = (objective: number): number => {
  const [, fraction = ''] = fromText(String(objective)).toFixed().split('.')
  return fraction.length
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b))

export const maxBurnRate = (objective: number): number => {
  const { multiplier, divisor } = burnRateFactors(objective)
  return multiplier / divisor
}

/** In percent. */
export const lowestObjective = (rate: number): number => 100 - 100 / rate

/** In percent, when the alert can fire first. */
export const budgetShare = ({ rate, long }: BurnRateAlert, slo: Pick<DeclaredSlo, 'window'>): number =>
  (100 * rate * long.ms) / windowMs(slo)

/** Undefined without events. */
export function burnRate({ multiplier, divisor }: BurnRateFactors, { good, total }: Counts): number | undefined {
  return total === 0 ? undefined : ((total - good) * multiplier) / (total * divisor)
}

/** A percentage. Undefined without events. */
export function budgetLeft({ multiplier, divisor }: BurnRateFactors, { good, total }: Counts): number | undefined {
  return total === 0 ? undefined : (100 * (total * divisor - (total - good) * multiplier)) / (total * divisor)
}

/** Events in a span of time. With a sample rate, each stored event counts for several. */
export interface Counts {
  readonly good: number
  readonly total: number
}
