// The rules of the backup gate: pure functions over a list of backups, an age limit and the current time. The API may omit every
// field of a backup; a missing value never improves an outcome.

import * as z from 'zod'
import { minuteMs } from '../platform/core/durations.ts'
import { median } from '../platform/core/statistics.ts'

/** Age limit where the backup period is unknown: daily backups plus two hours to make one. */
export const defaultLimitHours = 26

/** A backup gets at least this much time beyond its period. */
const minSlackHours = 2

const durationFactor = 2

const maxPeriodHours = 366 * 24

/**
 * Age limit in hours for backups that are made every `periodHours`. Ages count from the start, so just before a backup succeeds, the
 * previous one is as old as the period plus that backup's duration. Undefined for an invalid period.
 */
export function deriveLimitHours(periodHours: number, typicalHours: number): number | undefined {
  if (!(periodHours > 0 && periodHours <= maxPeriodHours)) return undefined
  // The cap protects against durations in the wrong unit: at most one backup can be missed before the gate fails.
  const slack = Math.min(periodHours, Math.max(minSlackHours, durationFactor * typicalHours))
  return periodHours + slack
}

export interface BackupTimes {
  readonly status: string | undefined
  readonly startedMs: number | undefined
  readonly finishedMs: number | undefined
  /** The duration, up to now for a backup in progress. */
  readonly durationMs: number | undefined
}

export const outcomes = ['fresh', 'in-progress', 'stale', 'failed', 'missing', 'unknown'] as const

export type BackupOutcome = (typeof outcomes)[number]

export const unknownReasons = ['future-date', 'missing-date', 'unknown-status'] as const

export type UnknownReason = (typeof unknownReasons)[number]

/** `missing-status`: the last successful backup has an end but no status. The other issues are about backups that were left out. */
export const dataQualityIssues = ['missing-status', 'unknown-status', 'missing-date'] as const

export type BackupDataIssue = (typeof dataQualityIssues)[number]

export interface Aged<B> {
  readonly backup: B
  readonly ageMs: number
}

interface Freshness<B> {
  readonly outcome: BackupOutcome
  readonly passes: boolean
  /** The backup that decided the outcome. Absent for `missing` and `unknown`, and for a failed backup without a date. */
  readonly decisive?: Aged<B>
  readonly lastSuccessful?: Aged<B> | undefined
  readonly inProgress?: Aged<B> | undefined
  readonly unknownReason?: UnknownReason
  /** Until then, a service without a backup is new enough to have none. */
  readonly firstDueMs?: number
  readonly issues: BackupDataIssue[]
}

/** Difference between clocks that is tolerated. A backup dated further in the future makes the outcome `unknown`. */
export const clockSkewMs = 5 * minuteMs

type BackupState = 'successful' | 'failed' | 'in-progress' | 'unknown'

const states: ReadonlyMap<string, BackupState> = new Map([
  ['done', 'successful'],
  ['error', 'failed'],
  ['in_progress', 'in-progress'],
])

/** Some APIs report no status. Their backups are successful once they have an end. */
export function classifyBackup({ status, finishedMs }: BackupTimes): BackupState {
  if (status === undefined) return finishedMs === undefined ? 'unknown' : 'successful'
  return states.get(status) ?? 'unknown'
}

interface Classified<B> extends Aged<B> {
  readonly state: BackupState
}

/** Judges `backups`, in any order. An age equal to the limit passes. */
export function judgeFreshness<B extends BackupTimes>(
  backups: readonly B[],
  { limitMs, nowMs, createdMs = Number.NaN }: { readonly limitMs: number; readonly nowMs: number; readonly createdMs?: number | undefined },
): Freshness<B> {
  if (backups.length === 0) {
    const ageMs = nowMs - createdMs
    const isNew = ageMs >= -clockSkewMs && ageMs <= limitMs
    return { outcome: 'missing', passes: isNew, issues: [], ...(isNew && { firstDueMs: createdMs + limitMs }) }
  }
  const dated: Classified<B>[] = []
  const undated: B[] = []
  for (const backup of backups) {
    const startMs = estimateStart(backup, nowMs)
    if (startMs === undefined) undated.push(backup)
    else dated.push({ backup, state: classifyBackup(backup), ageMs: nowMs - startMs })
  }
  // A wrong date or a wrong clock makes every age unreliable: a backup that looks fresh may be a day older.
  if (dated.some(({ ageMs, backup: { finishedMs = 0 } }) => Math.min(ageMs, nowMs - finishedMs) < -clockSkewMs))
    return unknownOutcome('future-date')
  // Newest first, before ages are raised to zero, so that slightly future times keep their order. At the same age, a failure is the later one.
  const sorted = dated.toSorted((a, b) => a.ageMs - b.ageMs || Number(b.state === 'failed') - Number(a.state === 'failed'))
  return decide(
    sorted.map((one) => ({ ...one, ageMs: Math.max(0, one.ageMs) })),
    undated,
    limitMs,
  )
}

/** A backup holds the data of its start. Estimated where the start itself is missing. */
function estimateStart(backup: BackupTimes, nowMs: number) {
  const { startedMs, finishedMs, durationMs } = backup
  if (startedMs !== undefined) return startedMs
  if (finishedMs !== undefined) return finishedMs - (durationMs ?? 0)
  return classifyBackup(backup) === 'in-progress' && durationMs !== undefined ? nowMs - durationMs : undefined
}

const unknownOutcome = <B>(unknownReason: UnknownReason): Freshness<B> => ({ outcome: 'unknown', passes: false, unknownReason, issues: [] })

function decide<B extends BackupTimes>(dated: readonly Classified<B>[], undated: readonly B[], limitMs: number): Freshness<B> {
  const lastSuccessful = dated.find(({ state }) => state === 'successful')
  // A backup in progress may still fail, so the last completed one decides.
  const lastCompleted = dated.find(({ state }) => state === 'successful' || state === 'failed')
  const newer = lastSuccessful === undefined ? dated : dated.slice(0, dated.indexOf(lastSuccessful))
  const issues = {
    'missing-status': lastSuccessful !== undefined && lastSuccessful.backup.status === undefined,
    'unknown-status': newer.some(({ state }) => state === 'unknown'),
    // A backup in progress changes no outcome, whatever its start.
    'missing-date': undated.some((backup) => classifyBackup(backup) !== 'in-progress'),
  }
  const context = {
    lastSuccessful,
    inProgress: newer.find(({ state }) => state === 'in-progress'),
    issues: dataQualityIssues.filter((issue) => issues[issue]),
  }
  if (lastCompleted?.state === 'failed') return { outcome: 'failed', passes: false, decisive: lastCompleted, ...context }
  if (lastSuccessful !== undefined) {
    const passes = lastSuccessful.ageMs <= limitMs
    return { outcome: passes ? 'fresh' : 'stale', passes, decisive: lastSuccessful, ...context }
  }
  if (undated.some((backup) => classifyBackup(backup) === 'failed')) return { outcome: 'failed', passes: false, ...context }
  if (undated.length > 0) return unknownOutcome('missing-date')
  // The limit counts from the oldest one: a backup should exist since then.
  const oldest = dated.findLast(({ state }) => state === 'in-progress')
  if (oldest === undefined) return unknownOutcome('unknown-status')
  return { outcome: 'in-progress', passes: oldest.ageMs <= limitMs, decisive: oldest, ...context }
}

/** Worst first. A known problem comes before a service that could not be checked. */
const severityOrder: readonly BackupOutcome[] = ['missing', 'failed', 'stale', 'in-progress', 'unknown', 'fresh']

interface JudgedOutcome {
  readonly outcome: BackupOutcome
  readonly passes: boolean
  readonly ageMs?: number | undefined
}

/** Sorts failing services before passing ones, then by outcome, then the oldest first. */
export const byWorst = (a: JudgedOutcome, b: JudgedOutcome): number =>
  Number(a.passes) - Number(b.passes) ||
  severityOrder.indexOf(a.outcome) - severityOrder.indexOf(b.outcome) ||
  (b.ageMs ?? 0) - (a.ageMs ?? 0)

export interface BackupMeasures {
  /** Full or incremental; backups are compared with others of their type only. */
  readonly type: string | undefined
  readonly sizeBytes: number | undefined
  readonly durationMs: number | undefined
}

export const trendSchema = z.object({
  latest: z.number().optional(),
  median: z.number().optional().describe('Median of the earlier backups of the same type.'),
  ratio: z.number().optional().describe('The latest divided by the median.'),
  values: z.array(z.number()).describe('All known values, oldest first, including the latest.'),
})

export type Trend = z.output<typeof trendSchema>

interface BackupTrend {
  readonly size: Trend
  readonly duration: Trend
  readonly earlierCount: number
}

/** Compares the first of `successful`, which is newest first, with the others of its type. */
export function computeTrend([latest, ...others]: readonly [BackupMeasures, ...BackupMeasures[]]): BackupTrend {
  const earlier = others.filter(({ type }) => type === latest.type)
  const trend = (measure: (backup: BackupMeasures) => number | undefined): Trend =>
    compareWithMedian(
      measure(latest),
      earlier.map(measure).filter((value) => value !== undefined),
    )
  return { size: trend(({ sizeBytes }) => sizeBytes), duration: trend(({ durationMs }) => durationMs), earlierCount: earlier.length }
}

function compareWithMedian(latest: number | undefined, earlier: readonly number[]): Trend {
  const middle = earlier.length === 0 ? undefined : median(earlier)
  return {
    latest,
    median: middle,
    ratio: latest === undefined || !middle ? undefined : latest / middle,
    values: [...earlier.toReversed(), ...(latest === undefined ? [] : [latest])],
  }
}

/** Relative rounding error of a product of two doubles. Sizes that differ by one byte are further apart. */
const roundingError = 4 * Number.EPSILON

export const sizeOutcomes = ['ok', 'too-small', 'unknown-size', 'unknown-earlier-sizes', 'no-earlier-backup'] as const

/** A size equal to the ratio is ok. */
export function judgeSize({ size, earlierCount }: BackupTrend, minRatio: number): (typeof sizeOutcomes)[number] {
  if (size.latest === undefined) return 'unknown-size'
  if (size.median === undefined) return earlierCount === 0 ? 'no-earlier-backup' : 'unknown-earlier-sizes'
  return size.latest < size.median * minRatio * (1 - roundingError) ? 'too-small' : 'ok'
}

/** Median duration of the type that takes longest; 0 when no duration is known. */
export function computeTypicalDurationMs(successful: readonly BackupMeasures[]): number {
  const medians = [...Map.groupBy(successful, ({ type }) => type).values()].map((ofType) =>
    median(ofType.flatMap(({ durationMs }) => durationMs ?? [])),
  )
  return Math.max(0, ...medians)
}
