// Owns how sizes, spans of time and moments of backups are written for people.

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`
}

const hourMs = 3_600_000

/** The coarsest unit that still says enough: seconds, minutes, hours. Never `0` for what is more than nothing. */
export function formatSpan(ms: number): string {
  if (ms < 1000 && ms > 0) return 'less than a second'
  if (ms < 90_000) return `${Math.round(ms / 1000)} s`
  if (ms < hourMs * 1.5) return `${Math.round(ms / 60_000)} min`
  return `${Number((ms / hourMs).toFixed(1))} hours`
}

/** A limit, which is nothing that was measured. */
export const formatHours = (hours: number): string => `${Number(hours.toFixed(2))} hours`

/** `2026-03-21 06:30 UTC` */
export const formatMoment = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`

/** Hours with two decimals, for outputs. */
export const toHours = (ms: number): number => Math.round(ms / 36_000) / 100
