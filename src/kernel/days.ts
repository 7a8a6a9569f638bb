// Owns calendar days in UTC, as `YYYY-MM-DD`. Such texts sort as their days do. The calendar is Temporal's, the grammar is ours.
import { Temporal } from 'temporal-polyfill'

/** A real day of the calendar, 2000-01-01 or later, written `YYYY-MM-DD`. */
export type Day = string & { readonly __day: unique symbol }

const grammar = /^[2-9]\d{3}-\d{2}-\d{2}$/

export function isDay(text: string): text is Day {
  if (!grammar.test(text)) return false
  try {
    Temporal.PlainDate.from(text, { overflow: 'reject' })
    return true
  } catch {
    return false
  }
}

const toDay = (date: Temporal.PlainDate): Day => date.toString() as Day

/** The UTC day in which an instant lies. */
export const dayOf = (epochMs: number): Day =>
  toDay(Temporal.Instant.fromEpochMilliseconds(Math.floor(epochMs)).toZonedDateTimeISO('UTC').toPlainDate())

export const addDays = (day: Day, days: number): Day => toDay(Temporal.PlainDate.from(day).add({ days }))

/** A month that is too short for the day ends it on its last day. */
export const addMonths = (day: Day, months: number): Day => toDay(Temporal.PlainDate.from(day).add({ months }))

export const withDayOfMonth = (day: Day, dayOfMonth: number): Day => toDay(Temporal.PlainDate.from(day).with({ day: dayOfMonth }))

/** The last day of the month in which a day lies. */
export const endOfMonth = (day: Day): Day => withDayOfMonth(day, 31)

export const endOfYear = (day: Day): Day => toDay(Temporal.PlainDate.from(day).with({ month: 12, day: 31 }))

/** 1 for Monday to 7 for Sunday. */
export const weekdayOf = (day: Day): number => Temporal.PlainDate.from(day).dayOfWeek

export const startOfYear = (day: Day): Day => toDay(Temporal.PlainDate.from(day).with({ month: 1, day: 1 }))

/** How many days lie in the range, both ends included. */
export const countDays = (from: Day, to: Day): number => Temporal.PlainDate.from(from).until(to, { largestUnit: 'day' }).days + 1

/** Every day of the range, both ends included. */
export function* eachDay(from: Day, to: Day): Generator<Day> {
  for (let day = from; day <= to; day = addDays(day, 1)) yield day
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

/** Breaks over no lines: narrow columns would cut a day at its dashes. */
const noBreak = '\u00a0'

/** `21 Nov 2026`, for people. */
export function formatDay(day: Day): string {
  const [year, month, date] = day.split('-').map(Number)
  return [date, months[(month ?? 1) - 1], year].join(noBreak)
}

/** `1 – 21 Nov 2026`, `23 Oct – 21 Nov 2026`. */
export function formatDays(from: Day, to: Day): string {
  if (from === to) return formatDay(from)
  const shared = from.slice(0, 7) === to.slice(0, 7) ? 2 : from.slice(0, 4) === to.slice(0, 4) ? 1 : 0
  const words = formatDay(from).split(noBreak)
  return [...words.slice(0, words.length - shared), '–', formatDay(to)].join(noBreak)
}
