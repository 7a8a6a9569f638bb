import type { Day } from '../../platform/core/dates.ts'
import { type Decimal, sum } from '../../platform/core/decimal.ts'
import type { Block, ChartLimit, Point } from '../../platform/report/blocks.ts'
import { formatMoney, formatShortDay } from '../../platform/report/format.ts'
import type { UsageResult } from './result.ts'

export function usageChart(result: UsageResult): readonly Block[] {
  const { byDay, unit, spikes, toDate, tags, records } = result
  // More bars would be thinner than a line.
  const isWeekly = byDay.length > 62
  const spikeDays = new Set(spikes.flatMap(({ of, date }) => (of === 'organization' ? date : [])))
  const recorded = new Set(records.map(({ date }) => date))
  // A bar of zero would say that nothing was used, as a day without records of a tag does.
  const known = inGroups(byDay, isWeekly).filter((days) => tags.length > 0 || days.some(({ date }) => recorded.has(date)))
  if (known.length < 2 || byDay.every(({ total }) => Number(total) === 0)) return []
  const points = known.map((days): Point => {
    const total = sum(days.map((day) => day.total))
    const provisional = sum(days.map((day) => day.provisional))
    return {
      label: chartLabel(days, toDate),
      value: Number(total),
      finalValue: Number(total.minus(provisional)),
      ...(days.some(({ date }) => spikeDays.has(date)) && { isSpike: true }),
    }
  })
  return [
    {
      kind: 'chart',
      title: `${unit} per ${isWeekly ? 'week' : 'day'}`,
      unit,
      points,
      ...chartForecast(result, isWeekly),
      ...chartLimits(result),
    },
  ]
}

/** Single days, or weeks from the first day on, of which the last may be shorter. */
function inGroups<T>(days: readonly T[], isWeekly: boolean): readonly (readonly T[])[] {
  const length = isWeekly ? 7 : 1
  return days.filter((_, i) => i % length === 0).map((_, i) => days.slice(i * length, (i + 1) * length))
}

const chartLabel = ([first]: readonly { readonly date: Day }[], reference: Day) =>
  first === undefined ? '' : formatShortDay(first.date, reference)

function chartForecast({ forecast, byDay, toDate }: UsageResult, isWeekly: boolean): { readonly forecast?: readonly Point[] } {
  if (forecast?.status !== 'expected') return {}
  const expected = new Set(forecast.byDay.map(({ date }) => date))
  const days = [...byDay.filter(({ date }) => !expected.has(date)), ...forecast.byDay]
  const groups = inGroups(days, isWeekly).filter((some) => some.some(({ date }) => expected.has(date)))
  return {
    forecast: groups.map((some) => ({ label: chartLabel(some, toDate), value: Number(sum(some.map(({ total }) => total))) })),
  }
}

function chartLimits({ budget, warnBudget, forecastBudget, budgets, fromDate, endDate, unit }: UsageResult): {
  readonly limits?: readonly ChartLimit[]
} {
  const limit = (name: string, value: Decimal | undefined): readonly ChartLimit[] =>
    value === undefined ? [] : [{ label: `${name} ${formatMoney(value)} ${unit}`, value: Number(value) }]
  const isOther = budget === undefined || forecastBudget?.eq(budget) === false
  const limits = [
    ...limit('Budget', budget),
    ...limit('Warning level', warnBudget),
    ...(isOther ? limit('Forecast budget', forecastBudget) : []),
    // Budgets of the file for all usage of the same period. Their names are untrusted.
    ...budgets
      .filter(({ scope, forecast, ...one }) => {
        return Object.keys(scope).length === 0 && one.fromDate === fromDate && (forecast?.untilDate ?? one.toDate) === endDate
      })
      .flatMap((one) => limit('Budget', one.limit)),
  ]
  const different = limits.filter(({ label }, i) => limits.findIndex((other) => other.label === label) === i)
  return different.length === 0 ? {} : { limits: different.slice(0, 3) }
}
