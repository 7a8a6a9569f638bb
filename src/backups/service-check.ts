// Reads the backups of several services and judges each service. A failed request affects the check of its own service only.

import * as z from 'zod'
import { ApiError } from '../platform/api/api-error.ts'
import { isUuid } from '../platform/api/path.ts'
import { hourMs } from '../platform/core/durations.ts'
import { type ErrorKind, toWatchkeeperError, WatchkeeperError } from '../platform/core/errors.ts'
import { filePath, list, noted, positiveNumber } from '../platform/operation/inputs.ts'
import type { Context } from '../platform/operation/operation.ts'
import {
  type Aged,
  classifyBackup,
  computeTrend,
  computeTypicalDurationMs,
  dataQualityIssues,
  defaultLimitHours,
  deriveLimitHours,
  judgeFreshness,
  judgeSize,
  outcomes,
  sizeOutcomes,
  trendSchema,
  unknownReasons,
} from './backup-rules.ts'
import {
  backupDetails,
  backupOutput,
  type KnownBackup,
  known,
  knownNumber,
  sortNewestFirst,
  toBackupOutput,
  toHours,
  toKnownBackup,
} from './backups.ts'
import { type Backup, type BackupConfiguration, backupSchema, fetchBackupConfiguration, fetchBackups } from './backups-api.ts'

const maxLimitHours = 87_600

export const maxAgeInput = positiveNumber(
  'Fails when the backup is older than this many hours, counted from its start. An equal age passes.',
  maxLimitHours,
  `a number of hours above 0 and at most ${maxLimitHours}, such as 26 or 1.5`,
).optional()

export const checksInput = filePath('Path of the file with policies for backups, and with rules and queries for restored data.').optional()

export const backupsInput = z.strictObject({
  maxAgeHours: noted(
    maxAgeInput,
    'The last successful backup counts. The default comes from the backup configuration where the API has one, otherwise it is 26.',
  ),
  services: list(
    'Checks these services, by name or id, instead of that of service-id.',
    'names or ids, one per line or separated by commas, at most 100',
    z
      .string()
      .min(1)
      .max(256)
      .regex(/^[^\u0000-\u001f\u007f]+$/)
      .transform((text) => (isUuid(text.toLowerCase()) ? text.toLowerCase() : text)),
  ).optional(),
  checks: noted(checksInput, 'A backup configuration that differs from its policies fails.'),
})

const limit = z.object({
  hours: z.number(),
  source: z.enum(['input', 'configuration', 'default']),
  defaultReason: z
    .enum(['no-configuration', 'no-period', 'unreadable'])
    .optional()
    .describe('The API has no backup configuration, the configuration has no usable period, or it could not be read.'),
  periodHours: knownNumber.describe('The period of the backup configuration.'),
  retentionHours: knownNumber.describe('How long the service keeps backups.'),
  startTime: known.describe('When backups start, HH:MM in UTC.'),
})

const failure = z.object({ kind: z.string(), message: z.string(), advice: known })

const agedBackup = z.object({ id: z.string(), ageMs: z.number() })

const serviceCheck = z.object({
  serviceId: z.string(),
  name: known.describe('Name of the service, where it is known.'),
  outcome: z.enum(outcomes),
  passes: z.boolean(),
  ageHours: knownNumber.describe('Age of the backup that decided the outcome.'),
  ageMs: knownNumber.describe('The exact age in milliseconds.'),
  limit,
  backup: backupOutput.extend(backupDetails.shape).optional().describe('The backup that decided the outcome.'),
  lastSuccessful: agedBackup.optional().describe('The last successful backup.'),
  inProgress: agedBackup.optional().describe('A backup in progress that was started after the last successful one.'),
  firstBackupDueAt: known.describe('Until then, a new service passes without a backup.'),
  unknownReason: z.enum(unknownReasons).optional().describe('Why the list of backups gives no outcome.'),
  dataQualityIssues: z.array(z.enum(dataQualityIssues)).describe('Reasons to distrust the outcome.'),
  size: trendSchema.optional().describe('Size of the last successful backup in bytes.'),
  duration: trendSchema.optional().describe('Duration of the last successful backup in milliseconds.'),
  type: known.describe('Type of the last successful backup and of the backups it is compared with.'),
  sizeOutcome: z.enum(sizeOutcomes).optional().describe('Result of `minSizeRatio`, if a policy has it.'),
  failure: failure.optional().describe('Why the backups could not be read.'),
  configurationFailure: failure.optional().describe('Why the backup configuration could not be read.'),
  count: z.int().optional().describe('Number of listed backups.'),
  backups: z.array(backupSchema).describe('The newest backups as the API returned them.'),
})

type ServiceCheck = z.output<typeof serviceCheck>

const judgedService = serviceCheck.extend({
  problems: z.array(z.string()).describe('How it breaks the policies of the file.'),
  correction: known.describe('The command of clickhousectl that makes its backup configuration that of the policies.'),
  needsRestore: z.literal(true).optional().describe('Present where its restores are not enough for `requireRestoreDays` of its policies.'),
  minSizeRatio: knownNumber.describe('The highest one of its policies.'),
  restoredAt: known.describe('The time of the newest data whose restore was verified, with `requireRestoreDays`.'),
})

export type JudgedService = z.output<typeof judgedService>

export const backupsOutput = backupOutput.partial()

export const backupsDetails = z.object({
  ...backupDetails.partial().shape,
  backupId: z
    .string()
    .optional()
    .describe(
      'Id of the backup that decided the outcome of the worst service: the last successful one, the failed one, or the first one in progress. Without such a backup, all fields about it are absent.',
    ),
  organizationId: z.string().describe('The organization.'),
  checkedAt: z.string().describe('The time of the check, ISO 8601 in UTC.'),
  worstServiceId: z.string().describe('The worst service, which the outputs are about.'),
  services: z.array(judgedService).describe('Every service with its outcome, age, limit, trend and newest backups, in the given order.'),
  leftOutFiles: z.array(z.string()).optional().describe('Files of `results` that say nothing about these services, with the reason.'),
  drills: z.array(z.string()).describe('Services of restore drills, which are left out, by name.'),
})

export type BackupsResult = z.output<typeof backupsOutput> & z.output<typeof backupsDetails>

export interface ServiceBackups {
  readonly serviceId: string
  readonly backups: readonly Backup[] | WatchkeeperError
  /** Undefined where the check does not need it. */
  readonly configuration: BackupConfiguration | WatchkeeperError | undefined
}

/** Reads all services concurrently, in the order of the ids. Throws only for a canceled run and for internal errors. */
export function readServices(
  { api, organizationId }: Context<'read', 'organization'>,
  serviceIds: readonly string[],
  needsConfiguration: boolean,
): Promise<readonly ServiceBackups[]> {
  return Promise.all(
    serviceIds.map(async (serviceId) => {
      const service = { organizationId, serviceId }
      const [backups, configuration] = await Promise.all([
        attempt(fetchBackups(api, service)),
        needsConfiguration ? attempt(fetchBackupConfiguration(api, service)) : undefined,
      ])
      return { serviceId, backups, configuration }
    }),
  )
}

async function attempt<T>(request: Promise<T>): Promise<T | WatchkeeperError> {
  try {
    return await request
  } catch (thrown) {
    const error = toWatchkeeperError(thrown)
    if (error.kind === 'canceled' || error.kind === 'bug') throw thrown
    return error
  }
}

interface CheckOptions {
  readonly maxAgeHours: number | undefined
  readonly minSizeRatio: number | undefined
  readonly nowMs: number
  /** NaN where the API does not say it. */
  readonly createdMs: number
}

const maxListedBackups = 10

export function checkService({ serviceId, backups, configuration }: ServiceBackups, options: CheckOptions): ServiceCheck {
  const answers = backups instanceof WatchkeeperError ? [] : sortNewestFirst(backups)
  const listed = answers.map(toKnownBackup)
  const limit = chooseLimit(configuration, options.maxAgeHours, listed)
  const isUnreadable = configuration instanceof WatchkeeperError && !absentKinds.has(configuration.kind)
  const common = {
    serviceId,
    limit,
    backups: answers.slice(0, maxListedBackups),
    configurationFailure: isUnreadable ? failureOf(configuration) : undefined,
  }
  if (backups instanceof WatchkeeperError)
    return { ...common, outcome: 'unknown', passes: false, dataQualityIssues: [], failure: failureOf(backups) }
  return { ...common, count: answers.length, ...judgeBackups(listed, limit.hours, options) }
}

/** Kinds of failure that mean that the API has no backup configurations. */
const absentKinds: ReadonlySet<ErrorKind> = new Set(['not-served', 'not-found'])

function chooseLimit(
  configuration: ServiceBackups['configuration'],
  maxAgeHours: number | undefined,
  listed: readonly KnownBackup[],
): ServiceCheck['limit'] {
  if (maxAgeHours !== undefined) return { hours: maxAgeHours, source: 'input' }
  if (configuration === undefined || configuration instanceof WatchkeeperError) {
    const isAbsent = configuration === undefined || absentKinds.has(configuration.kind)
    return { hours: defaultLimitHours, source: 'default', defaultReason: isAbsent ? 'no-configuration' : 'unreadable' }
  }
  const configured = configuredOf(configuration)
  const periodHours = effectivePeriodHours(configuration)
  const typicalHours = computeTypicalDurationMs(listed.filter(isSuccessful)) / hourMs
  const hours = periodHours === undefined ? undefined : deriveLimitHours(periodHours, typicalHours)
  return hours === undefined
    ? { hours: defaultLimitHours, source: 'default', defaultReason: 'no-period', ...configured }
    : { hours, source: 'configuration', ...configured }
}

export const configuredOf = ({ backupPeriodInHours, backupRetentionPeriodInHours, backupStartTime }: BackupConfiguration) => ({
  periodHours: backupPeriodInHours ?? undefined,
  retentionHours: backupRetentionPeriodInHours ?? undefined,
  startTime: backupStartTime || undefined,
})

/** The vendor's documentation says that a start time resets the period to 24 hours. The server also accepts one with 48 hours. */
export function effectivePeriodHours({ backupPeriodInHours, backupStartTime }: BackupConfiguration): number | undefined {
  const hours = backupPeriodInHours ?? undefined
  return backupStartTime ? Math.max(hours ?? 0, 24) : hours
}

function failureOf(error: WatchkeeperError): NonNullable<ServiceCheck['failure']> {
  const advice = error instanceof ApiError && error.advice !== '' ? error.advice : undefined
  return { kind: error.kind, message: error.message, advice }
}

export const isSuccessful = (backup: KnownBackup): boolean => classifyBackup(backup) === 'successful'

function judgeBackups(listed: readonly KnownBackup[], limitHours: number, { nowMs, createdMs, minSizeRatio }: CheckOptions) {
  const rules = { limitMs: Math.round(limitHours * hourMs), nowMs, createdMs }
  const { decisive, lastSuccessful, inProgress, issues, firstDueMs, ...freshness } = judgeFreshness(listed, rules)
  const toAged = ({ backup, ageMs }: Aged<KnownBackup>) => ({ id: backup.answer.id, ageMs })
  const last = lastSuccessful?.backup
  const trend = last && computeTrend([last, ...listed.filter((backup) => backup !== last && isSuccessful(backup))])
  const ageHours = decisive && toHours(decisive.ageMs)
  return {
    ...freshness,
    ...(firstDueMs !== undefined && { firstBackupDueAt: new Date(firstDueMs).toISOString() }),
    dataQualityIssues: issues,
    // The judged age is also known where the API reports no start.
    ...(decisive && {
      ageHours,
      ageMs: decisive.ageMs,
      backup: { ...toBackupOutput(decisive.backup.answer, nowMs), backupAgeHours: ageHours },
    }),
    ...(lastSuccessful && { lastSuccessful: toAged(lastSuccessful), type: last?.type }),
    ...(trend && {
      size: trend.size,
      duration: trend.duration,
      sizeOutcome: minSizeRatio === undefined ? undefined : judgeSize(trend, minSizeRatio),
    }),
    inProgress: inProgress && toAged(inProgress),
  }
}
