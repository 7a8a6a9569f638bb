// Sizes, durations and times for people. Exact values are in outputs and result files.
import { plural } from '../core/text.ts'

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** `49 B`, `9.8 KiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${byteUnits[power]}`
}

/** `42 s`, `45 min`, `3 hours 9 min`, `26 hours`. A duration above zero is never shown as 0. */
export function formatDuration(ms: number): string {
  if (ms < 1000 && ms > 0) return 'less than a second'
  if (ms < 90_000) return `${Math.round(ms / 1000)} s`
  const totalMinutes = Math.round(ms / 60_000)
  if (totalMinutes < 60) return `${totalMinutes} min`
  const [hours, minutes] = [Math.floor(totalMinutes / 60), totalMinutes % 60]
  return `${plural(hours, 'hour')}${minutes === 0 ? '' : ` ${minutes} min`}`
}

/** `2026-03-21 06:30 UTC` of an ISO 8601 time in UTC. */
export const formatTime = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`
