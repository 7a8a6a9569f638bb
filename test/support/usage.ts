import type { UsageRecord } from '../../src/cost/usage/records.ts'
import { addDays, type Day } from '../../src/platform/core/dates.ts'
import { type Decimal, fromText } from '../../src/platform/core/decimal.ts'

export const decimal = (value: string | number): Decimal => fromText(String(value))

export const usageRecord = (date: string, total: string | number, more: Partial<UsageRecord> = {}): UsageRecord => ({
  date: date as Day,
  entityType: 'service',
  entityId: 'a',
  entityName: 'checkout',
  total: decimal(total),
  metrics: { compute: decimal(total) },
  locked: true,
  ...more,
})

/** `length` days from `first` on, each with the value that `amountOn` gives it. */
export function daySeries(first: string, length: number, amountOn: (i: number, day: Day) => number): Map<Day, Decimal> {
  const days = Array.from({ length }, (_, i) => addDays(first as Day, i))
  return new Map(days.map((day, i) => [day, decimal(amountOn(i, day))]))
}
