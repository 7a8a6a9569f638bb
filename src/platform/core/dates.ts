// UTC as `YYYY-MM-DD`, which sorts as a text. Date is correct in UTC and takes no time to load. Tests compare every function with Temporal.

import { dayMs } from './durations.ts'

/** A real day of the calendar, 2000-01-01 or later. */
export type Day = string & { readonly __day: unique symbol }

// Forecasts ask thousands of times, and parsing a whole time takes ten times as long.
const midnightMs = (day: string) => Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)) - 1, Number(day.slice(8)))

const midnightOf = (day: string) => new Date(midnightMs(day))

/** Throws a RangeError for an invalid time. */
export const dayOf = (epochMs: number): Day => new Date(Math.floor(epochMs)).toISOString().split('T', 1)[0] as Day // Every day is made here.

// Date accepts 30 February as 2 March.
export const isDay = (text: string): text is Day => /^[2-9]\d{3}-\d{2}-\d{2}$/.test(text) && dayOf(midnightMs(text)) === text

export const addDays = (day: Day, days: number): Day => dayOf(midnightMs(day) + days * dayMs)

const daysIn = (year: number, month: number) => new Date(Date.UTC(year, month + 1, 0)).getUTCDate()

function dayInMonth(day: Day, months: number, dayOfMonth: number) {
  const [year, month] = [midnightOf(day).getUTCFullYear(), midnightOf(day).getUTCMonth() + months]
  return dayOf(Date.UTC(year, month, Math.min(dayOfMonth, daysIn(year, month))))
}

/** Returns the same day of another month, or the last day of a shorter month. */
export const addMonths = (day: Day, months: number): Day => dayInMonth(day, months, midnightOf(day).getUTCDate())

export const withDayOfMonth = (day: Day, dayOfMonth: number): Day => dayInMonth(day, 0, dayOfMonth)

export const endOfMonth = (day: Day): Day => withDayOfMonth(day, 31)

/** Includes the day itself. */
export const daysLeftInMonth = (day: Day): number => {
  const date = midnightOf(day)
  return daysIn(date.getUTCFullYear(), date.getUTCMonth()) - date.getUTCDate() + 1
}

export const startOfYear = (day: Day): Day => dayOf(Date.UTC(midnightOf(day).getUTCFullYear(), 0, 1))

export const endOfYear = (day: Day): Day => dayOf(Date.UTC(midnightOf(day).getUTCFullYear(), 11, 31))

/** 1 for Monday to 7 for Sunday. */
export const weekdayOf = (day: Day): number => midnightOf(day).getUTCDay() || 7

/** Includes both ends. */
export const countDays = (from: Day, to: Day): number => (midnightMs(to) - midnightMs(from)) / dayMs + 1

/** Includes both ends. */
export function* eachDay(from: Day, to: Day): Generator<Day> {
  const count = countDays(from, to)
  for (let i = 0; i < count; i++) yield addDays(from, i)
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

/** Keeps narrow columns from breaking a day over two lines. */
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

/** Has ordinary spaces, for sentences. */
export const plainDay = (day: Day): string => withPlainSpaces(formatDay(day))

export const plainDays = (from: Day, to: Day): string => withPlainSpaces(formatDays(from, to))

/** `22 Nov 2026 10:48 UTC` */
export function formatMoment(at: number | string): string {
  const time = new Date(at)
  return `${plainDay(dayOf(time.getTime()))} ${time.toISOString().slice(11, 16)} UTC`
}

const withPlainSpaces = (text: string) => text.replaceAll(noBreak, ' ')

/** Days as a user gives them, both included. Without `to`, they end today. */
export interface GivenDays {
  readonly from: Day
  readonly to: Day | undefined
}

export const daysForm = 'a day such as 2026-01-31, or days such as 2026-01-01..2026-01-31 or 2026-01-01.. (until today)'

/** Undefined for a text of another form than `daysForm`, and for more than `maxDays`. */
export function parseDays(text: string, maxDays: number): GivenDays | undefined {
  const [, from = '', dots, to = dots === undefined ? from : ''] = /^([\d-]{10})(?:(\.\.)([\d-]{10})?)?$/.exec(text) ?? []
  if (!isDay(from)) return undefined
  if (to === '') return { from, to: undefined }
  return isDay(to) && from <= to && countDays(from, to) <= maxDays ? { from, to } : undefined
}

/** Undefined for another text than `last-N-days`, and for more than `maxDays`. */
export function lastDays(text: string, maxDays: number): number | undefined {
  const count = Number(/^last-([1-9]\d{0,4})-days$/.exec(text)?.[1] ?? Number.NaN)
  return count <= maxDays ? count : undefined
}
