import { countDays, type Day, isDay } from '../core/dates.ts'

/** Days as a user gives them, both included. Without `to`, they end today. */
export interface GivenDays {
  readonly from: Day
  readonly to: Day | undefined
}

export const daysForm = 'a day such as 2026-01-31, or days such as 2026-01-01..2026-01-31 or 2026-01-01.. (until today)'

/** `2026-01-31`, `2026-01-01..2026-01-31` or `2026-01-01..`. Undefined for any other text, and for more than `maxDays`. */
export function parseDays(text: string, maxDays: number): GivenDays | undefined {
  const [, from = '', dots, to = dots === undefined ? from : ''] = /^([\d-]{10})(?:(\.\.)([\d-]{10})?)?$/.exec(text) ?? []
  if (!isDay(from)) return undefined
  if (to === '') return { from, to: undefined }
  return isDay(to) && from <= to && countDays(from, to) <= maxDays ? { from, to } : undefined
}

/** The N of `last-N-days`. Undefined for any other text, and for more than `maxDays`. */
export function lastDays(text: string, maxDays: number): number | undefined {
  const count = Number(/^last-([1-9]\d{0,4})-days$/.exec(text)?.[1] ?? Number.NaN)
  return count <= maxDays ? count : undefined
}
