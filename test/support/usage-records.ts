// Owns made-up usage records and series, for tests of rules.
import Big from 'big.js'
import { addDays, type Day } from '../../src/kernel/days.ts'
import type { SpendRecord } from '../../src/rules/usage-record.ts'

export const usageRecord = (date: string, total: string | number, more: Partial<SpendRecord> = {}): SpendRecord => ({
  date: date as Day,
  entityType: 'service',
  entityId: 'a',
  entityName: 'checkout',
  warehouseId: undefined,
  serviceId: undefined,
  total: new Big(total),
  metrics: { compute: new Big(total) },
  locked: true,
  ...more,
})

/** `length` days from `first` on, each with the value that `amountOn` gives it. */
export function daySeries(first: string, length: number, amountOn: (i: number, day: Day) => number): Map<Day, Big> {
  const days = Array.from({ length }, (_, i) => addDays(first as Day, i))
  return new Map(days.map((day, i) => [day, new Big(amountOn(i, day))]))
}
