import * as z from 'zod'
import type { ReadApi } from '../platform/api/client.ts'
import { path, type Service } from '../platform/api/path.ts'
import { readList, readOne, wireId, wireNumber } from '../platform/api/wire.ts'

/** All times are UTC. Without a zone, a time would be read as local time. */
const backupInstant = z
  .string()
  .transform((text) => (/(?:[zZ]|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`))
  .refine((text) => !Number.isNaN(Date.parse(text)), 'is not a date and time')

export const backupSchema = z.looseObject({
  id: wireId,
  status: z.string().nullish(),
  type: z.string().nullish(),
  backupName: z.string().nullish(),
  startedAt: backupInstant.nullish(),
  finishedAt: backupInstant.nullish(),
  sizeInBytes: wireNumber.nullish(),
  durationInSeconds: wireNumber.nullish(),
  /** Azure names a container instead of a path. */
  bucket: z.looseObject({ bucketPath: z.string().nullish(), containerName: z.string().nullish() }).nullish(),
})

export type Backup = z.output<typeof backupSchema>

const backupConfigurationSchema = z.looseObject({
  backupPeriodInHours: wireNumber.nullish(),
  backupRetentionPeriodInHours: wireNumber.nullish(),
  /** `HH:MM` in UTC. */
  backupStartTime: z.string().nullish(),
})

export type BackupConfiguration = z.output<typeof backupConfigurationSchema>

export async function fetchBackups(api: ReadApi, { organizationId, serviceId }: Service): Promise<readonly Backup[]> {
  const page = await api.read({
    request: { method: 'GET', path: path`/v1/organizations/${organizationId}/services/${serviceId}/backups` },
    read: readList(backupSchema),
    about: { noun: 'backup', missing: 'service', permission: 'backups' },
  })
  return page.items
}

export const fetchBackup = (api: ReadApi, { organizationId, serviceId }: Service, id: string): Promise<Backup> =>
  api.read({
    request: { method: 'GET', path: path`/v1/organizations/${organizationId}/services/${serviceId}/backups/${id}` },
    read: readOne(backupSchema),
    about: { noun: 'backup', permission: 'backups' },
  })

export const fetchBackupConfiguration = (api: ReadApi, { organizationId, serviceId }: Service): Promise<BackupConfiguration> =>
  api.read({
    request: { method: 'GET', path: path`/v1/organizations/${organizationId}/services/${serviceId}/backupConfiguration` },
    read: readOne(backupConfigurationSchema),
    about: { noun: 'backup configuration', permission: 'backups' },
  })
