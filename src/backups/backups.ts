// The operations list-backups and get-backup, and the form of a backup in outputs and reports.

import * as z from 'zod'
import { formatMoment } from '../platform/core/dates.ts'
import { hourMs } from '../platform/core/durations.ts'
import { WatchkeeperError } from '../platform/core/errors.ts'
import { counted, say, trusted, untrusted } from '../platform/core/line.ts'
import { idMeta, noted, uuid } from '../platform/operation/inputs.ts'
import { listOutput } from '../platform/operation/listing.ts'
import { defineOperation } from '../platform/operation/operation.ts'
import type { Block } from '../platform/report/blocks.ts'
import { formatAgo, formatBytes, formatDuration } from '../platform/report/format.ts'
import { pass } from '../platform/report/report.ts'
import { facts, shown, table } from '../platform/report/table.ts'
import type { BackupMeasures, BackupTimes } from './backup-rules.ts'
import { type Backup, backupSchema, fetchBackup, fetchBackups } from './backups-api.ts'

export const listBackups = defineOperation({
  summary: 'Lists the backups of a service, newest first.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({}),
  output: listOutput,
  details: z.object({ backups: z.array(backupSchema).describe('The backups as the API returned them, newest first.') }),
  example: {},
  async run({ api, service }) {
    const backups = sortNewestFirst(await fetchBackups(api, service))
    return { count: backups.length, ids: backups.map(({ id }) => id), backups }
  },
  report: ({ backups }) => ({ headline: say`${counted(backups.length, 'backup')}`, blocks: [backupTable(backups)] }),
})

/** Does not rely on the documented order of the API. Backups without a date come last. */
export const sortNewestFirst = (backups: readonly Backup[]): Backup[] => backups.toSorted((a, b) => dateOf(b) - dateOf(a))

const dateOf = ({ startedAt, finishedAt }: Backup) => Date.parse(startedAt || finishedAt || '1970-01-01')

/** Fields of results that are absent where they are unknown. */
export const [known, knownNumber] = [z.string().optional(), z.number().optional()]

export const backupOutput = z.object({
  backupStatus: known.describe('done, error or in_progress.'),
  backupAgeHours: knownNumber.describe('Hours since the start, which is the time of the data in the backup. Two decimals.'),
})

export const backupDetails = z.object({
  backupId: z.string().describe('Id of the backup.'),
  backupName: known.describe('Name of the backup, if it has one.'),
  backupStartedAt: known.describe('Start, ISO 8601 in UTC.'),
  backupFinishedAt: known.describe('End, ISO 8601 in UTC. Absent for a backup in progress.'),
  backupSizeBytes: knownNumber.describe('Size in bytes.'),
  backupDurationSeconds: knownNumber.describe('Duration in seconds. For a backup in progress, the time so far.'),
  backupBucketPath: known.describe('Location of a backup in your own bucket: the path, or the Azure container.'),
})

export const backupId = uuid(idMeta.description).meta(idMeta)

export const getBackup = defineOperation({
  summary: 'Reads one backup by its id, or the newest one.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({ id: noted(backupId.optional(), 'The default is the newest backup, of any status.') }),
  output: backupOutput.extend({ id: z.string().describe('Id of the backup.') }),
  details: backupDetails.omit({ backupId: true }).extend({ backup: backupSchema.describe('The backup as the API returned it.') }),
  example: {},
  async run({ api, service, clock }, input) {
    const [backup] =
      input.id === undefined ? sortNewestFirst(await fetchBackups(api, service)) : [await fetchBackup(api, service, input.id)]
    if (backup === undefined) throw new WatchkeeperError('not-found', `Service ${service.serviceId} has no backup yet.`)
    const { backupId, ...about } = toBackupOutput(backup, clock.now())
    return { id: backupId, ...about, backup }
  },
  judge: ({ backupStatus }) =>
    backupStatus === 'error' ? { status: 'warn', reasons: [], sentence: say`The backup failed and cannot be restored.` } : pass,
  report: (result) => ({
    headline: say`Backup ${untrusted(result.backupName ?? result.id)} is ${untrusted(result.backupStatus ?? 'in an unknown state')}${result.backupAgeHours === undefined ? [] : say`, started ${trusted(formatAgo(result.backupAgeHours * hourMs))}`}`,
    blocks: [
      facts({
        Started: shown(result.backupStartedAt, formatMoment),
        Finished: shown(result.backupFinishedAt, formatMoment),
        Size: shown(result.backupSizeBytes, formatBytes),
        Duration: shown(result.backupDurationSeconds, (seconds) => formatDuration(seconds * 1000)),
        Id: result.id,
      }),
    ],
  }),
})

export function toBackupOutput(answer: Backup, nowMs: number) {
  const { status, startedMs, finishedMs, sizeBytes } = toKnownBackup(answer)
  return {
    backupId: answer.id,
    backupName: answer.backupName || undefined,
    backupStatus: status,
    backupStartedAt: toIso(startedMs),
    backupFinishedAt: toIso(finishedMs),
    backupAgeHours: startedMs === undefined ? undefined : toHours(nowMs - startedMs),
    backupSizeBytes: sizeBytes,
    backupDurationSeconds: toMeasure(answer.durationInSeconds),
    backupBucketPath: answer.bucket?.bucketPath || answer.bucket?.containerName || undefined,
  }
}

const toIso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString())

/** Hours with two decimals. */
export const toHours = (ms: number): number => Math.round(ms / 36_000) / 100

/** A backup in the form that the rules use. */
export interface KnownBackup extends BackupTimes, BackupMeasures {
  /** The backup as the API returned it. */
  readonly answer: Backup
}

export function toKnownBackup(answer: Backup): KnownBackup {
  const { status, startedAt, finishedAt, sizeInBytes, type } = answer
  const [startedMs, finishedMs] = [startedAt, finishedAt].map((time) => (time ? Date.parse(time) : undefined))
  const seconds = toMeasure(answer.durationInSeconds)
  return {
    answer,
    status: status || undefined,
    startedMs,
    finishedMs,
    durationMs: seconds === undefined ? toMeasure((finishedMs ?? Number.NaN) - (startedMs ?? Number.NaN)) : seconds * 1000,
    type: type || undefined,
    sizeBytes: toMeasure(sizeInBytes),
  }
}

/** Ignores negative and infinite values, which are not valid sizes or durations. */
const toMeasure = (value: number | null | undefined) =>
  typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : undefined

export const backupTable = (backups: readonly Backup[]): Block =>
  table(undefined, backups.map(toKnownBackup), {
    Started: ({ startedMs }) => shown(toIso(startedMs), formatMoment),
    Status: ({ status }) => status,
    Type: ({ type }) => type,
    '>Duration': ({ durationMs }) => shown(durationMs, formatDuration),
    '>Size': ({ sizeBytes }) => shown(sizeBytes, formatBytes),
    Name: ({ answer }) => answer.backupName ?? undefined,
    Id: ({ answer }) => answer.id,
  })
