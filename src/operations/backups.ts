// Owns the operation that reads one backup.
import * as z from 'zod'
import { type Backup, backupSchema } from '../api/backups.ts'
import type { ReadApi } from '../api/client.ts'
import { isUuid } from '../api/path.ts'
import type { Service } from '../api/service.ts'
import { WatchkeeperError } from '../kernel/errors.ts'
import { data, type Line, ours, say } from '../report/line.ts'
import { defineOperation, pass } from './operation.ts'

const backupId = z
  .string()
  .transform((id) => id.toLowerCase())
  .refine((id) => id === 'latest' || isUuid(id))
  .meta({
    description: 'The backup: its id, or `latest` for the one that was started last, whatever became of it.',
    accepts: 'a uuid, or latest',
  })

const backupOutput = z.object({
  backupId: z.string().describe('Id of the backup.'),
  backupName: z.string().optional().describe('Name of the backup, where it has one.'),
  backupStatus: z.string().optional().describe('done, error or in_progress.'),
  backupStartedAt: z.string().optional().describe('When it was started, ISO 8601 in UTC.'),
  backupFinishedAt: z.string().optional().describe('When it was finished, ISO 8601 in UTC; absent while it runs.'),
  backupAgeHours: z.number().optional().describe('Hours since it was started, which is the moment whose data it holds; two decimals.'),
  backupSizeBytes: z.number().optional().describe('Size in bytes.'),
  backupDurationSeconds: z.number().optional().describe('How long it took, or has taken so far, in seconds.'),
  backupBucketPath: z.string().optional().describe('Where it is stored, for a bucket of your own.'),
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
    const backup = input.backupId === 'latest' ? await latest(api, service) : await api.backups.get(service, input.backupId)
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
          { label: 'Size', value: result.backupSizeBytes === undefined ? [ours('–')] : [ours(formatBytes(result.backupSizeBytes))] },
          { label: 'Took', value: result.backupDurationSeconds === undefined ? [ours('–')] : say`${result.backupDurationSeconds} s` },
          { label: 'Id', value: [data(result.backupId)] },
        ],
      },
    ],
  }),
})

// Documented as newest first; an order that nothing depends on cannot mislead.
async function latest(api: ReadApi, service: Service): Promise<Backup> {
  const backups = await api.backups.list(service)
  const [newest] = backups.toSorted((a, b) => startOf(b) - startOf(a))
  if (newest === undefined) throw new WatchkeeperError('not-found', `Service ${service.serviceId} has no backup yet.`)
  return newest
}

const startOf = ({ startedAt }: Backup): number => (startedAt ? Date.parse(startedAt) : Number.NEGATIVE_INFINITY)

function outputsOf(backup: Backup, nowMs: number): z.output<typeof backupOutput> {
  const { id, backupName, status, startedAt, finishedAt, sizeInBytes, durationInSeconds, bucket } = backup
  return {
    backupId: id,
    ...(backupName && { backupName }),
    ...(status && { backupStatus: status }),
    ...(startedAt && { backupStartedAt: toIso(startedAt), backupAgeHours: Math.round((nowMs - Date.parse(startedAt)) / 36_000) / 100 }),
    ...(finishedAt && { backupFinishedAt: toIso(finishedAt) }),
    ...(typeof sizeInBytes === 'number' && { backupSizeBytes: sizeInBytes }),
    ...(typeof durationInSeconds === 'number' && { backupDurationSeconds: durationInSeconds }),
    ...(bucket?.bucketPath && { backupBucketPath: bucket.bucketPath }),
  }
}

const toIso = (text: string): string => new Date(text).toISOString()

const ageOf = ({ backupAgeHours }: z.output<typeof backupOutput>): Line =>
  backupAgeHours === undefined ? [] : say`, started ${backupAgeHours} hours ago`

const orDash = (text: string | undefined): Line => [text === undefined ? ours('–') : ours(text)]

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`
}
