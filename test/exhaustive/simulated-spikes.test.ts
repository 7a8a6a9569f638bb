import { expect, it } from 'vitest'
import { addDays, type Day, weekdayOf } from '../../src/core/dates.ts'
import { totalOf } from '../../src/usage/records.ts'
import { findSpikes } from '../../src/usage/spikes.ts'
import { randomFrom } from '../support/random.ts'
import { usageRecord } from '../support/usage.ts'

const first = '2026-05-04' as Day
const days = Array.from({ length: 56 }, (_, i) => addDays(first, i))

/** Share of the organization's usage from which on a service must be found at five times its usual usage. */
const minShare = 0.005

/**
 * Two months of services of very different sizes. The smallest of those that must be found has `factor` times its usual usage on one day of
 * the second month.
 */
function simulate(seed: number, factor: number) {
  const random = randomFrom(seed)
  const chance = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const count = [5, 20, 60, 150][Math.floor(random() * 4)] ?? 1
  const deviation = 0.05 + 0.15 * random()
  const sizes = Array.from({ length: count }, () => Math.exp(1.2 * chance()))
  const sum = sizes.reduce((total, size) => total + size, 0)
  const spiking = sizes.indexOf(Math.min(...sizes.filter((size) => size >= minShare * sum)))
  const spikeDay = days[28 + Math.floor(random() * 28)]
  const weekend = 0.5 + 0.5 * random()
  const records = days.flatMap((date) =>
    sizes.map((size, k) => {
      const usual = size * (weekdayOf(date) > 5 ? weekend : 1)
      const amount = k === spiking && date === spikeDay ? factor * usual : usual * Math.max(0.1, 1 + deviation * chance())
      return usageRecord(date, amount.toFixed(6), { entityId: String(k), entityName: `service ${k}` })
    }),
  )
  const totals = days.map((date) => ({ date, total: totalOf(records.filter((one) => one.date === date)) }))
  const found = findSpikes(records, totals, addDays(first, 28))
  const isRight = (one: (typeof found)[number]): boolean => one.date === spikeDay && one.driver.entityName === `service ${spiking}`
  return { isFound: found.some(isRight), others: found.filter((one) => !isRight(one)).length }
}

const numbers = Array.from({ length: 300 }, (_, i) => i + 1)

it('a service with at least 0.5% of the usage is found on a day with five times its usual usage, in all of 300 simulated months', () => {
  const months = numbers.map((seed) => simulate(seed, 5))
  expect(numbers.filter((_, i) => !months[i]?.isFound)).toEqual([])
  expect(months.filter(({ others }) => others > 0).length).toBeLessThanOrEqual(3)
})
