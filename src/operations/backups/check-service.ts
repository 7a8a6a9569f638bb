// Owns what follows from the answers about one service: limit, outcome, trend.
import { ApiError } from '../../api/api-error.ts'
import type { BackupConfiguration } from '../../api/backups.ts'
import type { ErrorKind, WatchkeeperError } from '../../kernel/errors.ts'
import { limitForPeriod, standardHours } from '../../rules/age-limit.ts'
import { type BackupTrend, judgeSize, type Trend, trendOf, usualDurationMs } from '../../rules/backup-trend.ts'
import { type Dated, judgeFreshness, stateOf } from '../../rules/freshness.ts'
import { type KnownBackup, outputsOf, toKnown } from './backup-output.ts'
import type { ServiceReading } from './check-reading.ts'
import type { ServiceCheck } from './check-result.ts'
import { newestFirst } from './list-backups.ts'
import { toHours } from './words.ts'

export interface Wanted {
  readonly maxAgeHours: number | undefined
  readonly minSizeRatio: number | undefined
  readonly nowMs: number
}

/** So many are kept in the result. */
const mostKept = 10

export function checkService({ serviceId, backups, configuration }: ServiceReading, wanted: Wanted): ServiceCheck {
  const answers = 'value' in backups ? newestFirst(backups.value) : []
  const known = answers.map(toKnown)
  const limit = limitOf(configuration, wanted.maxAgeHours, known)
  const isUnreadable = limit.whyStandard === 'unreadable' && configuration !== undefined && 'error' in configuration
  const common = {
    serviceId,
    limit,
    backups: answers.slice(0, mostKept),
    ...(isUnreadable && { configurationFailure: toFailure(configuration.error) }),
  }
  if ('error' in backups) return { ...common, outcome: 'unknown', passes: false, doubts: [], failure: toFailure(backups.error) }
  return { ...common, count: answers.length, ...judged(known, limit.hours, wanted) }
}

type Limit = ServiceCheck['limit']

/** Kinds of failure that say that there is nothing of the kind. */
const isAbsent: ReadonlySet<ErrorKind> = new Set(['not-served', 'not-found'])

function limitOf(configuration: ServiceReading['configuration'], given: number | undefined, known: readonly KnownBackup[]): Limit {
  if (given !== undefined) return { hours: given, source: 'given' }
  if (configuration === undefined) return { hours: standardHours, source: 'standard', whyStandard: 'no-configuration' }
  if ('error' in configuration) {
    const whyStandard = isAbsent.has(configuration.error.kind) ? 'no-configuration' : 'unreadable'
    return { hours: standardHours, source: 'standard', whyStandard }
  }
  const { backupPeriodInHours, backupRetentionPeriodInHours, backupStartTime } = configuration.value
  const facts = {
    ...(backupPeriodInHours != null && { periodHours: backupPeriodInHours }),
    ...(backupRetentionPeriodInHours != null && { retentionHours: backupRetentionPeriodInHours }),
    ...(backupStartTime && { startTime: backupStartTime }),
  }
  const usualHours = usualDurationMs(known.filter((backup) => stateOf(backup) === 'done')) / 3_600_000
  const periodHours = periodOf(configuration.value)
  const hours = periodHours === undefined ? undefined : limitForPeriod(periodHours, usualHours)
  return hours === undefined
    ? { hours: standardHours, source: 'standard', whyStandard: 'no-period', ...facts }
    : { hours, source: 'configuration', ...facts }
}

/** By the vendor's document, a start time resets the period to 24 hours; the server also takes one beside a period of 48. */
function periodOf({ backupPeriodInHours, backupStartTime }: BackupConfiguration): number | undefined {
  const hours = backupPeriodInHours ?? undefined
  return backupStartTime ? Math.max(hours ?? 0, 24) : hours
}

function toFailure(error: WatchkeeperError): NonNullable<ServiceCheck['failure']> {
  const { kind, message } = error
  return { kind, message, ...(error instanceof ApiError && error.advice !== '' && { advice: error.advice }) }
}

function judged(known: readonly KnownBackup[], limitHours: number, { nowMs, minSizeRatio }: Wanted) {
  const { outcome, passes, decisive, newestDone, inProgress, riddle, doubts } = judgeFreshness(
    known,
    Math.round(limitHours * 3_600_000),
    nowMs,
  )
  return {
    outcome,
    passes,
    doubts: [...doubts],
    ...(riddle && { riddle }),
    ...(decisive && { ageHours: toHours(decisive.ageMs), ageMs: decisive.ageMs, backup: describe(decisive, nowMs) }),
    ...(newestDone && { newestDone: brief(newestDone), ...trends(known, newestDone.backup, minSizeRatio) }),
    ...(inProgress && { inProgress: brief(inProgress) }),
  }
}

/** The age is the one that was judged, also where the start itself is not told. */
const describe = ({ backup, ageMs }: Dated<KnownBackup>, nowMs: number) => ({
  ...outputsOf(backup.answer, nowMs),
  backupAgeHours: toHours(ageMs),
})

const brief = ({ backup, ageMs }: Dated<KnownBackup>) => ({ id: backup.answer.id, ageMs })

function trends(known: readonly KnownBackup[], newest: KnownBackup, minSizeRatio: number | undefined) {
  const earlier = known.filter((backup) => backup !== newest && stateOf(backup) === 'done')
  const trend: BackupTrend = trendOf([newest, ...earlier])
  return {
    size: toTrend(trend.size),
    duration: toTrend(trend.duration),
    ...(newest.type !== undefined && { type: newest.type }),
    ...(minSizeRatio !== undefined && { sizeVerdict: judgeSize(trend, minSizeRatio) }),
  }
}

const toTrend = ({ latest, usual, ratio, values }: Trend) => ({
  ...(latest !== undefined && { latest }),
  ...(usual !== undefined && { usual }),
  ...(ratio !== undefined && { ratio }),
  values: [...values],
})
