import * as z from 'zod'
import { type Day, weekdayOf } from '../../platform/core/dates.ts'
import { fromEstimate } from '../../platform/core/decimal.ts'
import { median, spread } from '../../platform/core/statistics.ts'
import { estimate, exactAmount } from './amounts.ts'
import { deviations, minRise, monthlyRise, weekAround } from './forecast.ts'
import { date, historyDays } from './periods.ts'
import type { DayTotal } from './readings.ts'
import { createTally, entityKey, entityOf, metricsOf, type Tally, tallyDays, type UsageRecord } from './records.ts'

type Spike = z.output<ReturnType<typeof spikeSchema>>

export const spikeSchema = () =>
  z.object({
    date,
    of: z
      .enum(['organization', 'entity'])
      .describe('Whether the usage is that of the organization, or only that of the entity of the driver.'),
    total: exactAmount('Usage of the day.'),
    usual: estimate('Usual usage of comparable days.'),
    driver: z
      .object({
        entityName: z.string(),
        entityId: z.string(),
        entityType: z.string(),
        metric: z.string(),
        total: exactAmount('Usage on that day.'),
        usual: estimate('Usual usage on comparable days.'),
      })
      .describe('The entity and metric that grew most on that day.'),
  })

const atSpike = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.array(z.object({ spike: date.describe('The day of the spike.'), at: z.string().describe('ISO 8601 in UTC.'), ...shape }))

/** What changed at the time of spikes. It is a coincidence: the API does not know the cause of usage. */
export const spikeContextSchema = () =>
  atSpike({
    change: z.string(),
    serviceName: z.string().optional(),
    actorType: z.string().optional().describe('`user`, `support`, `system` or `api`. Never a person.'),
  })

/** What was deployed at the time of spikes, as far as the workflow's repository knows. */
export const spikeDeploymentsSchema = () =>
  atSpike({
    environment: z.string(),
    ref: z.string().describe('Branch, tag or commit.'),
    commit: z.string().describe('The first characters of the commit.'),
  })

/** A day is compared with the four weeks before it. Two of them must be known. */
export const minBaselineDays = 14

/**
 * A spike of an entity is also this many times its usual usage, and a rise by this share of the organization's usual usage. So an entity
 * with half a percent of the usage is found at five times its own, also at a quiet weekend.
 */
const minEntityFactor = 3

/** `days` are all known days, in order and without gaps. Days since `from` are judged. */
export function findSpikes(records: readonly UsageRecord[], days: readonly DayTotal[], from: Day): Spike[] {
  const ofAll = spikesOf('organization', records, days, from)
  const smallest = 0.01 * median(days.map(({ total }) => Number(total)))
  const ofEntities = [...Map.groupBy(records, entityKey).values()]
    .flatMap((own) => {
      const { totals } = tallyDays(own)
      const ownDays = days.map(({ date }) => ({ date, total: totals.of(date) }))
      const mayRise = ownDays.some(({ date, total }) => date >= from && Number(total) >= smallest)
      return mayRise ? spikesOf('entity', own, ownDays, from) : []
    })
    .filter(({ total, usual }) => Number(total) >= Math.max(minEntityFactor * Number(usual), Number(usual) + smallest))
  const isExplained = ({ date, driver }: Spike) => ofAll.some((one) => one.date === date && entityKey(one.driver) === entityKey(driver))
  return [...ofAll, ...ofEntities.filter((one) => !isExplained(one))]
}

function spikesOf(of: Spike['of'], records: readonly UsageRecord[], days: readonly DayTotal[], from: Day): Spike[] {
  const values = days.map((one) => ({ weekday: weekdayOf(one.date), value: Number(one.total) }))
  const found = days.flatMap(({ date, total }, i) => {
    if (date < from || i < minBaselineDays) return []
    const start = Math.max(0, i - historyDays)
    const before = values.slice(start, i)
    const weekday = weekdayOf(date)
    // Few days of entities take the longer way.
    if (of === 'entity' && Number(total) < minEntityFactor * median(valuesOfWeekday(before, weekday))) return []
    // An entity without usage on most days has no usual usage.
    if (of === 'entity' && median(before.map(({ value }) => value)) === 0) return []
    const usual = usualBefore(before, weekday)
    const isSpike = Number(total) > usual.max && Number(total) > usual.max + monthlyRise(days.slice(0, i), date)
    return isSpike ? [{ date, total, usual: usual.value, start, i }] : []
  })
  if (found.length === 0) return []
  const series = createSeries(records)
  return found.map(({ date, total, usual, start, i }) => ({
    date,
    of,
    total,
    usual: fromEstimate(usual),
    driver: findDriver(
      series,
      date,
      days.slice(start, i).map((one) => one.date),
    ),
  }))
}

type WeekdayValue = Readonly<Record<'weekday' | 'value', number>>

const valuesOfWeekday = (days: readonly WeekdayValue[], weekday: number) =>
  days.flatMap((one) => (one.weekday === weekday ? one.value : []))

/** Weekdays are compared with the same weekday. A new level is usual as soon as it lasted for most of a week. */
const usualOn = (before: readonly WeekdayValue[], weekday: number) =>
  Math.max(median(valuesOfWeekday(before, weekday)), shareOfWeek(before, weekday) * median(before.slice(-7).map(({ value }) => value)))

function usualBefore(before: readonly WeekdayValue[], weekday: number): { readonly value: number; readonly max: number } {
  const values = before.map(({ value }) => value)
  const typical = new Map([1, 2, 3, 4, 5, 6, 7].map((each) => [each, median(valuesOfWeekday(before, each))]))
  const strays = before.map((one) => one.value - (typical.get(one.weekday) ?? 0))
  const value = usualOn(before, weekday)
  return { value, max: value + Math.max(deviations * spread(strays, 0), minRise * median(values)) }
}

/** How the weekday compares with the week around it. Of two weeks, the larger share counts, because one may have a holiday. */
function shareOfWeek(before: readonly WeekdayValue[], weekday: number) {
  const shares = before.flatMap((one, i) => {
    if (one.weekday !== weekday) return []
    const middle = median(weekAround(before, i).map(({ value }) => value))
    return middle > 0 ? one.value / middle : []
  })
  return shares.sort((a, b) => a - b)[shares.length >> 1] ?? 0
}

interface UsageSeries {
  readonly entity: UsageRecord
  readonly metric: string
  readonly byDay: Tally<Day>
}

function createSeries(records: readonly UsageRecord[]): readonly UsageSeries[] {
  const all = new Map<string, UsageSeries>()
  for (const record of records) {
    for (const [metric, amount] of metricsOf(record)) {
      const key = `${entityKey(record)}\n${metric}`
      const series = all.get(key) ?? { entity: record, metric, byDay: createTally<Day>() }
      series.byDay.add(record.date, amount)
      all.set(key, series)
    }
  }
  return [...all.values()]
}

function findDriver(all: readonly UsageSeries[], day: Day, before: readonly Day[]): Spike['driver'] {
  const rises = all.map(({ entity, metric, byDay }) => {
    const usual = usualOn(
      before.map((one) => ({ weekday: weekdayOf(one), value: Number(byDay.of(one)) })),
      weekdayOf(day),
    )
    return { entity, metric, total: byDay.of(day), usual, rise: Number(byDay.of(day)) - usual }
  })
  const { entity, metric, total, usual } = rises.reduce((highest, one) => (one.rise > highest.rise ? one : highest))
  return { ...entityOf(entity), metric, total, usual: fromEstimate(usual) }
}
