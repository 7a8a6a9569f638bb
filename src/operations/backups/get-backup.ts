// Owns the operation that reads one backup.
import * as z from 'zod'
import { type Backup, backupSchema } from '../../api/backups.ts'
import type { ReadApi } from '../../api/client.ts'
import { isUuid } from '../../api/path.ts'
import type { Service } from '../../api/service.ts'
import { WatchkeeperError } from '../../kernel/errors.ts'
import { data, type Line, ours, say } from '../../report/line.ts'
import { defineOperation, pass } from '../operation.ts'
import { type BackupOutput, backupOutput, outputsOf } from './backup-output.ts'
import { newestFirst } from './list-backups.ts'
import { formatBytes, formatSpan } from './words.ts'

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
          { label: 'Size', value: orDash(result.backupSizeBytes, formatBytes) },
          { label: 'Took', value: orDash(result.backupDurationSeconds, (seconds) => formatSpan(seconds * 1000)) },
          { label: 'Id', value: [data(result.backupId)] },
        ],
      },
    ],
  }),
})

async function latest(api: ReadApi, service: Service): Promise<Backup> {
  const [newest] = newestFirst(await api.backups.list(service))
  if (newest === undefined) throw new WatchkeeperError('not-found', `Service ${service.serviceId} has no backup yet.`)
  return newest
}

const ageOf = ({ backupAgeHours }: BackupOutput): Line => (backupAgeHours === undefined ? [] : say`, started ${backupAgeHours} hours ago`)

const orDash = <T>(value: T | undefined, format: (value: T) => string = String): Line => [ours(value === undefined ? '–' : format(value))]
