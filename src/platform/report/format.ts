// For people. Exact values are in outputs, JSON and files.

import { type Day, formatDay, formatMoment } from '../core/dates.ts'
import { type Decimal, formatExact, formatRounded, fromText } from '../core/decimal.ts'
import { dayMs, hourMs, minuteMs } from '../core/durations.ts'
import { andMore } from '../core/text.ts'

/** `1,234.50`, and from a million on `1,234,567`. An amount that would round to zero is shown as `<0.01`. */
export function formatMoney(value: Decimal): string {
  const isTiny = !value.eq(0) && value.abs().lt(fromText('0.005'))
  if (isTiny) return value.lt(0) ? '>-0.01' : '<0.01'
  return formatRounded(value, value.abs().gte(fromText('1000000')) ? 0 : 2)
}

/** All digits where rounding would hide that they differ. */
export function formatMoneyPair(a: Decimal, b: Decimal): readonly [string, string] {
  const rounded = [formatMoney(a), formatMoney(b)] as const
  return rounded[0] === rounded[1] && !a.eq(b) ? [formatExact(a), formatExact(b)] : rounded
}

/** `113%`. A value just above or below 0% or 100% has as many decimals as it needs to look different from it. */
export function formatPercent(value: Decimal): string {
  for (let places = 0; places <= 6; places++) {
    const rounded = value.round(places)
    const hidesDifference = [0, 100].some((limit) => rounded.eq(limit) && !value.eq(limit))
    if (!hidesDifference) return `${formatRounded(value, places)}%`
  }
  return value.gt(50) ? (value.gt(100) ? 'just over 100%' : 'just under 100%') : 'almost 0%'
}

export const formatShare = (value: Decimal): string => `${formatRounded(value, 1)}%`

/** `98.3%`, rounded down so that a value below a limit does not look equal to it. */
export function formatRatio(ratio: number): string {
  const percent = Math.floor(ratio * 1000 + 1e-9) / 10
  return percent === 0 && ratio > 0 ? 'below 0.1%' : `${percent}%`
}

/** `383–427`: whole numbers from 100 on, one decimal from 10 on, otherwise two. One number where both ends look the same. */
export function formatRange(low: Decimal, high: Decimal): string {
  const places = high.gte(100) ? 0 : high.gte(10) ? 1 : 2
  const [from, to] = [formatRounded(low, places), formatRounded(high, places)]
  return from === to ? from : `${from}–${to}`
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** `49 B`, `9.8 KiB`. */
export function formatBytes(bytes: number): string {
  // From 1023.95 on, one decimal would round to 1024.0 of the smaller unit.
  const power = bytes < 1 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log2((bytes / 1023.95) * 1024) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${byteUnits[power]}`
}

/** `42 s`, `45 min`, `3 h 9 min`, `2 d 2 h`: at most two units. A duration above zero is never shown as 0. */
export function formatDuration(ms: number): string {
  if (ms < 1000 && ms > 0) return 'less than 1 s'
  if (ms < 90_000) return `${Math.round(ms / 1000)} s`
  const minutes = Math.round(ms / minuteMs)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.round(ms / hourMs)
  return minutes < 24 * 60 ? twoUnits(minutes, 60, 'h', 'min') : twoUnits(hours, 24, 'd', 'h')
}

function twoUnits(total: number, perLarge: number, large: string, small: string) {
  const rest = total % perLarge
  return `${Math.floor(total / perLarge)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`
}

/** `3 h 9 min ago`, and from two days on `9 days ago`. A time of a clock that is ahead is `0 s ago`. */
export function formatAgo(ms: number): string {
  const days = Math.floor(ms / dayMs)
  return days < 2 ? `${formatDuration(Math.max(0, ms))} ago` : `${days} days ago`
}

/** `21 Mar 2026 06:30, 07:30, 22 Mar 2026 06:30 UTC and 5 more` of ISO 8601 times. `count` is the number of all. */
export function formatTimes(isos: readonly string[], count = isos.length): string {
  const words = isos.slice(0, maxShownTimes).map((iso, i) => {
    const [, day = '', time = ''] = /^(.*) (\S+) UTC$/.exec(formatMoment(iso)) ?? []
    return isos[i - 1]?.slice(0, 10) === iso.slice(0, 10) ? time : `${day} ${time}`
  })
  return `${words.join(', ')} UTC${andMore(count, maxShownTimes)}`
}

/** More times in one cell would hide the rest of its row. */
const maxShownTimes = 3

/** `30 Nov`, with the year where it is another one than that of `reference`. */
export function formatShortDay(day: Day, reference: Day): string {
  const words = formatDay(day).split('\u00a0')
  return (day.slice(0, 4) === reference.slice(0, 4) ? words.slice(0, 2) : words).join(' ')
}
