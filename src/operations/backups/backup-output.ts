// Owns what is said of one backup in outputs, and its way from the API's answer.
import * as z from 'zod'
import type { Backup } from '../../api/backups.ts'
import type { BackupFacts } from '../../rules/freshness.ts'
import { toHours } from './words.ts'

export const backupOutput = z.object({
  backupId: z.string().describe('Id of the backup.'),
  backupName: z.string().optional().describe('Name of the backup, where it has one.'),
  backupStatus: z.string().optional().describe('done, error or in_progress.'),
  backupStartedAt: z.string().optional().describe('When it was started, ISO 8601 in UTC.'),
  backupFinishedAt: z.string().optional().describe('When it was finished, ISO 8601 in UTC; absent while it runs.'),
  backupAgeHours: z.number().optional().describe('Hours since it was started, which is the moment whose data it holds; two decimals.'),
  backupSizeBytes: z.number().optional().describe('Size in bytes.'),
  backupDurationSeconds: z.number().optional().describe('How long it took, or has taken so far, in seconds.'),
  backupBucketPath: z.string().optional().describe('Where it is stored, for a bucket of your own: its path, or the container of Azure.'),
})

export type BackupOutput = z.output<typeof backupOutput>

/** Without an age where the start is not told. */
export function outputsOf(backup: Backup, nowMs: number): BackupOutput {
  const { id, backupName, status, startedAt, finishedAt, bucket } = backup
  const [bytes, seconds] = [measured(backup.sizeInBytes), measured(backup.durationInSeconds)]
  return {
    backupId: id,
    ...(backupName && { backupName }),
    ...(status && { backupStatus: status }),
    ...(startedAt && { backupStartedAt: toIso(startedAt), backupAgeHours: toHours(nowMs - Date.parse(startedAt)) }),
    ...(finishedAt && { backupFinishedAt: toIso(finishedAt) }),
    ...(bytes !== undefined && { backupSizeBytes: bytes }),
    ...(seconds !== undefined && { backupDurationSeconds: seconds }),
    ...(bucketPathOf(bucket) && { backupBucketPath: bucketPathOf(bucket) }),
  }
}

/** Azure has a container where the others have a path. */
const bucketPathOf = (bucket: Backup['bucket']): string | undefined => bucket?.bucketPath || bucket?.containerName || undefined

const toIso = (text: string): string => new Date(text).toISOString()

/** A backup as the rules see it. */
export interface KnownBackup extends BackupFacts {
  readonly answer: Backup
  readonly type: string | undefined
  readonly sizeBytes: number | undefined
}

export function toKnown(answer: Backup): KnownBackup {
  const { status, startedAt, finishedAt, durationInSeconds, sizeInBytes, type } = answer
  const [startedMs, finishedMs] = [toMs(startedAt), toMs(finishedAt)]
  const seconds = measured(durationInSeconds)
  return {
    answer,
    status: status || undefined,
    startedMs,
    finishedMs,
    durationMs: seconds === undefined ? between(startedMs, finishedMs) : seconds * 1000,
    type: type || undefined,
    sizeBytes: measured(sizeInBytes),
  }
}

const toMs = (text: string | null | undefined): number | undefined => (text ? Date.parse(text) : undefined)

/** A figure below zero, or beyond all numbers, measures nothing. */
const measured = (value: number | null | undefined): number | undefined =>
  typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : undefined

const between = (startedMs: number | undefined, finishedMs: number | undefined): number | undefined =>
  startedMs === undefined || finishedMs === undefined || finishedMs < startedMs ? undefined : finishedMs - startedMs
