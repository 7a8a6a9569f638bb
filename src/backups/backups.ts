import * as z from 'zod'
import type { ReadApi } from '../api/client.ts'
import { isUuid, type Service } from '../api/path.ts'
import { WatchkeeperError } from '../core/errors.ts'
import { listOutput } from '../operation/listing.ts'
import { defineOperation, pass } from '../operation/operation.ts'
import { type Block, countOf, data, type Inline, type Line, ours, say } from '../report/blocks.ts'
import { type Backup, backupSchema, fetchBackup, fetchBackups } from './backups-api.ts'
import type { BackupFacts } from './freshness.ts'

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

// Owns what is said of one backup in outputs, and its way from the API's answer.

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

// Owns the table of backups.

export const backupTable = (backups: readonly Backup[]): Block => ({
  kind: 'table',
  columns: [
    { title: 'Started' },
    { title: 'Status' },
    { title: 'Type' },
    { title: 'Took', align: 'right' },
    { title: 'Size', align: 'right' },
    { title: 'Name' },
    { title: 'Id' },
  ],
  rows: backups.map(toRow),
})

function toRow(backup: Backup): readonly Line[] {
  const { startedMs, durationMs, sizeBytes } = toKnown(backup)
  return [
    [ours(startedMs === undefined ? '–' : formatMoment(new Date(startedMs).toISOString()))],
    [textOrDash(backup.status)],
    [textOrDash(backup.type)],
    [ours(durationMs === undefined ? '–' : formatSpan(durationMs))],
    [ours(sizeBytes === undefined ? '–' : formatBytes(sizeBytes))],
    [textOrDash(backup.backupName)],
    [data(backup.id)],
  ]
}

const textOrDash = (text: string | null | undefined): Inline => (text ? data(text) : ours('–'))

// Owns the operation that lists the backups of a service, and the order in which backups stand everywhere.

export const listBackups = defineOperation({
  summary: 'Lists the backups of a service, newest first.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({}),
  output: listOutput,
  details: z.object({ backups: z.array(backupSchema).describe('The backups, as the API answered, newest first.') }),
  example: {},
  async run({ api, service }) {
    const backups = newestFirst(await fetchBackups(api, service))
    return { count: backups.length, ids: backups.map(({ id }) => id), backups: [...backups] }
  },
  report: ({ backups }) => ({ headline: say`${countOf(backups, 'backup')}`, blocks: [backupTable(backups)] }),
})

/** Documented as the API's own order; one that nothing depends on cannot mislead. Those that tell no date stand last. */
export const newestFirst = (backups: readonly Backup[]): readonly Backup[] => backups.toSorted((a, b) => dateOf(b) - dateOf(a))

const dateOf = ({ startedAt, finishedAt }: Backup): number => Date.parse(startedAt || finishedAt || '1970-01-01')

// Owns the operation that reads one backup.

const backupId = z
  .string()
  .transform((id) => id.toLowerCase())
  .refine((id) => id === 'latest' || isUuid(id))
  .meta({
    description: 'The backup: its id, or `latest` for the one that was started last, whatever became of it.',
    accepts: 'a uuid, or latest',
  })

export const getBackup = defineOperation({
  summary: 'Reads one backup, by id or the latest.',
  effect: 'read',
  scope: 'service',
  input: z.strictObject({ backupId }),
  output: backupOutput,
  details: z.object({ backup: backupSchema.describe('The backup, as the API answered.') }),
  example: { backupId: 'latest' },
  async run({ api, service, clock }, input) {
    const backup = input.backupId === 'latest' ? await latest(api, service) : await fetchBackup(api, service, input.backupId)
    return { ...outputsOf(backup, clock.now()), backup }
  },
  judge: ({ backupStatus }) =>
    backupStatus === 'error' ? { status: 'warn', reasons: [say`it failed, and there is nothing to restore from it`] } : pass,
  report: (result) => ({
    headline: say`Backup ${data(result.backupName ?? result.backupId)} is ${data(result.backupStatus ?? 'in no known state')}${ageOf(result)}`,
    blocks: [
      {
        kind: 'facts',
        facts: [
          { label: 'Started', value: orDash(result.backupStartedAt) },
          { label: 'Finished', value: orDash(result.backupFinishedAt) },
          { label: 'Size', value: orDash(result.backupSizeBytes, formatBytes) },
          { label: 'Took', value: orDash(result.backupDurationSeconds, (seconds) => formatSpan(seconds * 1000)) },
          { label: 'Id', value: [data(result.backupId)] },
        ],
      },
    ],
  }),
})

async function latest(api: ReadApi, service: Service): Promise<Backup> {
  const [newest] = newestFirst(await fetchBackups(api, service))
  if (newest === undefined) throw new WatchkeeperError('not-found', `Service ${service.serviceId} has no backup yet.`)
  return newest
}

const ageOf = ({ backupAgeHours }: BackupOutput): Line => (backupAgeHours === undefined ? [] : say`, started ${backupAgeHours} hours ago`)

const orDash = <T>(value: T | undefined, format: (value: T) => string = String): Line => [ours(value === undefined ? '–' : format(value))]
