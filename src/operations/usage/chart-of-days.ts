// Owns the chart of a period: a bar for each day, or for each week where days would be too thin to see.
import { fromText, sum } from '../../kernel/decimal.ts'
import type { Block, Point } from '../../report/blocks.ts'
import type { UsageResult } from './result.ts'

/** More bars than this are thinner than a line. */
const mostBars = 62

export function chartOf({ byDay, unit }: UsageResult): readonly Block[] {
  if (byDay.length < 2 || byDay.every(({ total }) => Number(total) === 0)) return []
  const isWeekly = byDay.length > mostBars
  const points = isWeekly ? byWeek(byDay) : byDay.map((day) => toPoint([day], day.date.slice(5)))
  return [{ kind: 'chart', title: `${unit} per ${isWeekly ? 'week' : 'day'}`, unit, points }]
}

type Days = UsageResult['byDay']

/** Weeks of seven days from the first day on; the last one may be shorter. */
function byWeek(days: Days): readonly Point[] {
  const starts = days.filter((_, i) => i % 7 === 0)
  return starts.map(({ date }, i) => toPoint(days.slice(i * 7, i * 7 + 7), date))
}

function toPoint(days: Days, label: string): Point {
  const total = sum(days.map((day) => fromText(day.total)))
  const open = sum(days.map((day) => fromText(day.provisional)))
  return { label, value: Number(total), settled: Number(total.minus(open)) }
}
