import * as z from 'zod'
import { ApiError } from '../api/api-error.ts'
import { type ErrorKind, type Problem, toWatchkeeperError, type WatchkeeperError } from '../core/errors.ts'
import { list, positiveNumber, uuid } from '../operation/fields.ts'
import { type Context, defineOperation, type Given } from '../operation/operation.ts'
import { type KnownBackup, newestFirst, outputsOf, toHours, toKnown } from './backups.ts'
import { type Backup, type BackupConfiguration, fetchBackupConfiguration, fetchBackups } from './backups-api.ts'
import { judgeCheck, reportCheck } from './check-report.ts'
import { checkDetails, checkOutput, type ServiceCheck } from './check-result.ts'
import { byWorst, type Dated, judgeFreshness, limitForPeriod, standardHours, stateOf } from './freshness.ts'
import { type BackupTrend, judgeSize, type Trend, trendOf, usualDurationMs } from './trend.ts'

// Owns asking the API about the backups of several services: what one of them refuses is said of that one alone.

export type Tried<T> = { readonly value: T } | { readonly error: WatchkeeperError }

export interface ServiceReading {
  readonly serviceId: string
  readonly backups: Tried<readonly Backup[]>
  /** Undefined where nobody needs it, or the API has none. */
  readonly configuration: Tried<BackupConfiguration> | undefined
}

interface Wish {
  readonly serviceIds: readonly string[]
  readonly wantsConfiguration: boolean
}

/** Side by side, within the rate limit; in the order of the ids. Throws only what is no service's fault. */
export function readServices(
  { api, organizationId }: Pick<Context<'read', 'organization'>, 'api' | 'organizationId'>,
  { serviceIds, wantsConfiguration }: Wish,
): Promise<readonly ServiceReading[]> {
  return Promise.all(
    serviceIds.map(async (serviceId) => {
      const service = { organizationId, serviceId }
      const [backups, configuration] = await Promise.all([
        attempt(fetchBackups(api, service)),
        wantsConfiguration ? attempt(fetchBackupConfiguration(api, service)) : undefined,
      ])
      return { serviceId, backups, configuration }
    }),
  )
}

/** The user's wish, and our own mistakes: no answer about backups. */
const isNoAnswer: ReadonlySet<ErrorKind> = new Set(['cancelled', 'bug'])

async function attempt<T>(request: Promise<T>): Promise<Tried<T>> {
  try {
    return { value: await request }
  } catch (thrown) {
    const error = toWatchkeeperError(thrown)
    if (isNoAnswer.has(error.kind)) throw thrown
    return { error }
  }
}

// Owns what follows from the answers about one service: limit, outcome, trend.

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

// Owns the backup gate: reads the backups of each service, judges them by their age, and says what could not be told.

const mostHours = 87_600

const checkInput = z.strictObject({
  maxAgeHours: positiveNumber(
    'Most hours since the newest backup that is done was started; equal passes. By default what follows from the backup configuration, where the API has one, else 26.',
    mostHours,
    `a number of hours above 0 and at most ${mostHours}, such as 26 or 1.5`,
  ).optional(),
  services: list(
    'The services to check, instead of the one in service-id.',
    'uuids, one a line or with commas between them, at most 100',
    uuid('A service.'),
  ).optional(),
  minSizeRatio: positiveNumber(
    'Warns when the newest backup that is done is smaller than this share of the median of earlier ones of its type.',
    1,
    'a number above 0 and at most 1, such as 0.5',
  ).optional(),
})

export const checkBackups = defineOperation({
  summary: 'Checks that each service has a fresh backup, and fails when one has none or cannot be checked.',
  effect: 'read',
  scope: 'organization',
  input: checkInput,
  output: checkOutput,
  details: checkDetails,
  example: { maxAgeHours: 26, minSizeRatio: 0.5 },
  check: checkServices,
  async run(context, { maxAgeHours, minSizeRatio, services }) {
    const { service, profile, clock } = context
    const serviceIds = [...new Set(services ?? (service === undefined ? [] : [service.serviceId]))]
    const wantsConfiguration = maxAgeHours === undefined && profile.backupConfiguration
    const readings = await readServices(context, { serviceIds, wantsConfiguration })
    // After the answers: a backup that was done while others were read is not one of the future.
    const nowMs = clock.now()
    const checks = readings.map((reading) => checkService(reading, { maxAgeHours, minSizeRatio, nowMs }))
    const worst = worstOf(checks)
    return {
      ...worst.backup,
      checkedAt: new Date(nowMs).toISOString(),
      worstServiceId: worst.serviceId,
      ...(minSizeRatio !== undefined && { minSizeRatio }),
      services: checks,
    }
  },
  judge: judgeCheck,
  report: reportCheck,
})

function checkServices({ names, hasServiceId }: Given<typeof checkInput>): readonly Problem[] {
  if (names.has('services') || hasServiceId) return []
  return [{ name: 'service-id', message: 'is missing: give the input, or set WATCHKEEPER_SERVICE_ID, or give several as services' }]
}

function worstOf(checks: readonly ServiceCheck[]): ServiceCheck {
  const [worst] = checks.toSorted((a, b) => byWorst(toJudged(a), toJudged(b)))
  if (worst === undefined) throw new Error('no service was checked')
  return worst
}

const toJudged = ({ outcome, passes, ageMs }: ServiceCheck) => ({ outcome, passes, ageMs })
