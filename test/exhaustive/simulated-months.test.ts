import { expect, it } from 'vitest'
import { addDays, type Day, weekdayOf } from '../../src/core/dates.ts'
import { forecastSpend } from '../../src/usage/forecast.ts'
import { randomFrom } from '../support/random.ts'
import { daySeries } from '../support/usage.ts'

/** Expected usage of a day, by its position since four weeks before the month. */
type Course = (i: number, day: Day) => number

/** Kinds of series. `lastKnown` is the position of the last day that the forecast sees: no forecast can know a later step. */
const courses: Readonly<Record<string, (random: () => number, lastKnown: number) => Course>> = {
  flat: () => () => 100,
  weekly: () => (_, day) => (weekdayOf(day) > 5 ? 40 : 100),
  'growing by 3% a month': () => (i) => 100 * 1.03 ** (i / 30),
  'growing by 10% a month': () => (i) => 100 * 1.1 ** (i / 30),
  stepped: (random, lastKnown) => {
    const at = 7 + Math.floor(random() * (lastKnown - 6))
    const factor = [0.5, 0.7, 1.3, 1.6, 2][Math.floor(random() * 5)] ?? 1
    return (i) => (i < at ? 100 : 100 * factor)
  },
}

const month = { from: '2026-06-01' as Day, end: '2026-06-30' as Day }
const historyDays = 28

/** Whether the range has the total of a month whose days differ by chance, with a standard deviation of 3 to 20%. */
function isCovered(kind: string, seed: number): boolean {
  const random = randomFrom(seed)
  const deviation = 0.03 + 0.17 * random()
  const knownDays = historyDays + 4 + Math.floor(random() * 24)
  const course = courses[kind]?.(random, knownDays - 1)
  const chance = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const days = daySeries(addDays(month.from, -historyDays), historyDays + 30, (i, day) =>
    Number(((course?.(i, day) ?? Number.NaN) * Math.max(0.05, 1 + deviation * chance())).toFixed(6)),
  )
  const today = addDays(month.from, knownDays - historyDays + 1)
  const known = new Map([...days].slice(0, knownDays))
  const forecast = forecastSpend({ period: { ...month, to: today }, today, known, hasHistory: true })
  if (forecast.status !== 'expected') throw new Error(forecast.status)
  const truth = [...days].reduce((sum, [day, total]) => (day < month.from ? sum : sum + Number(total)), 0)
  return Number(forecast.low) <= truth && truth <= Number(forecast.high)
}

it('the 80% range of a forecast has the total in 75 to 90% of 300 simulated months of each kind', () => {
  const numbers = Array.from({ length: 300 }, (_, i) => i + 1)
  const shares = Object.keys(courses).map(
    (kind) => [kind, numbers.filter((seed) => isCovered(kind, seed)).length / numbers.length] as const,
  )
  expect(shares.filter(([, share]) => share < 0.75 || share > 0.9)).toEqual([])
})
