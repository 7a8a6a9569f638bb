// Owns calendar days in UTC, as `YYYY-MM-DD`. Such texts sort as their days do. Built on Date, which is right in UTC and costs nothing
// to load; tests hold every function here to Temporal.

/** A real day of the calendar, 2000-01-01 or later, written `YYYY-MM-DD`. */
export type Day = string & { readonly __day: unique symbol }

const grammar = /^[2-9]\d{3}-\d{2}-\d{2}$/

const dayMs = 86_400_000

const startOf = (day: string): Date => new Date(`${day}T00:00:00Z`)

/** The UTC day in which an instant lies. Throws a RangeError for what is no instant. */
export const dayOf = (epochMs: number): Day => new Date(Math.floor(epochMs)).toISOString().replace(/T.*$/, '') as Day

// Date takes 30 February for 2 March.
export const isDay = (text: string): text is Day =>
  grammar.test(text) && !Number.isNaN(startOf(text).getTime()) && dayOf(startOf(text).getTime()) === text

export const addDays = (day: Day, days: number): Day => dayOf(startOf(day).getTime() + days * dayMs)

/** The day of that number in a month, counted from the one in which `day` lies; a month that is too short ends it on its last day. */
function dayInMonth(day: Day, months: number, dayOfMonth: number): Day {
  const [year, month] = [startOf(day).getUTCFullYear(), startOf(day).getUTCMonth() + months]
  const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return dayOf(Date.UTC(year, month, Math.min(dayOfMonth, length)))
}

/** A month that is too short for the day ends it on its last day. */
export const addMonths = (day: Day, months: number): Day => dayInMonth(day, months, startOf(day).getUTCDate())

export const withDayOfMonth = (day: Day, dayOfMonth: number): Day => dayInMonth(day, 0, dayOfMonth)

/** The last day of the month in which a day lies. */
export const endOfMonth = (day: Day): Day => withDayOfMonth(day, 31)

export const startOfYear = (day: Day): Day => `${day.slice(0, 4)}-01-01` as Day

export const endOfYear = (day: Day): Day => `${day.slice(0, 4)}-12-31` as Day

/** 1 for Monday to 7 for Sunday. */
export const weekdayOf = (day: Day): number => startOf(day).getUTCDay() || 7

/** How many days lie in the range, both ends included. */
export const countDays = (from: Day, to: Day): number => (startOf(to).getTime() - startOf(from).getTime()) / dayMs + 1

/** Every day of the range, both ends included. */
export function* eachDay(from: Day, to: Day): Generator<Day> {
  const count = countDays(from, to)
  for (let i = 0; i < count; i++) yield addDays(from, i)
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
