// Owns how size and duration of a backup compare with those of earlier ones of its kind.
import { median } from '../core/statistics.ts'

export interface Measured {
  readonly type: string | undefined
  readonly sizeBytes: number | undefined
  readonly durationMs: number | undefined
}

export interface Trend {
  readonly latest: number | undefined
  /** Median of the earlier ones; undefined when none is known. */
  readonly usual: number | undefined
  /** Share of the usual; undefined where one of the two is not known, or the usual is nothing. */
  readonly ratio: number | undefined
  /** All that are known, oldest first, the latest among them. */
  readonly values: readonly number[]
}

export interface BackupTrend {
  readonly size: Trend
  readonly duration: Trend
  /** How many earlier ones of the same kind there are. */
  readonly earlier: number
}

/** `done` are the backups that are done, newest first. A full backup is compared with full ones, an incremental one with its like. */
export function trendOf([latest, ...others]: readonly [Measured, ...Measured[]]): BackupTrend {
  const earlier = others.filter(({ type }) => type === latest.type)
  const trend = (measure: (backup: Measured) => number | undefined): Trend => compare(measure(latest), earlier.map(measure))
  return { size: trend(({ sizeBytes }) => sizeBytes), duration: trend(({ durationMs }) => durationMs), earlier: earlier.length }
}

function compare(latest: number | undefined, earlier: readonly (number | undefined)[]): Trend {
  const known = earlier.filter((value) => value !== undefined)
  const usual = known.length === 0 ? undefined : median(known)
  const ratio = latest === undefined || !usual ? undefined : latest / usual
  return { latest, usual, ratio, values: [...known.toReversed(), ...(latest === undefined ? [] : [latest])] }
}

/** A product of two doubles is off by less than this part of it; sizes that differ by a byte are further apart. */
const rounding = 4 * Number.EPSILON

export type SizeVerdict = 'ok' | 'small' | 'size-unknown' | 'earlier-unknown' | 'nothing-earlier'

/** Just the ratio is enough. */
export function judgeSize({ size: { latest, usual }, earlier }: BackupTrend, minRatio: number): SizeVerdict {
  if (latest === undefined) return 'size-unknown'
  if (usual === undefined) return earlier === 0 ? 'nothing-earlier' : 'earlier-unknown'
  return latest < usual * minRatio * (1 - rounding) ? 'small' : 'ok'
}

/** The longest that any kind of backup usually takes; 0 when no duration is known. */
export function usualDurationMs(done: readonly Measured[]): number {
  const kinds = new Set(done.map(({ type }) => type))
  const medians = [...kinds].map((kind) =>
    median(done.flatMap(({ type, durationMs }) => (type === kind && durationMs !== undefined ? [durationMs] : []))),
  )
  return Math.max(0, ...medians)
}
