// Owns the wire shape of backups and of their configuration, and the three requests. The API promises none of the fields but the id.
import * as z from 'zod'
import { path, type Service } from '../api/path.ts'
import type { Profile } from '../api/profiles.ts'
import type { Requester } from '../api/requester.ts'
import { readList, readOne, wireId, wireNumber } from '../api/wire.ts'

/** All times are UTC; one without a zone would be read as local time. */
const instant = z
  .string()
  .transform((text) => (/(?:[zZ]|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`))
  .refine((text) => !Number.isNaN(Date.parse(text)), 'is not a date and time')

export const backupSchema = z.looseObject({
  id: wireId,
  status: z.string().nullish(),
  type: z.string().nullish(),
  backupName: z.string().nullish(),
  startedAt: instant.nullish(),
  finishedAt: instant.nullish(),
  sizeInBytes: wireNumber.nullish(),
  durationInSeconds: wireNumber.nullish(),
  /** Azure names a container instead of a path. */
  bucket: z.looseObject({ bucketPath: z.string().nullish(), containerName: z.string().nullish() }).nullish(),
})

export type Backup = z.output<typeof backupSchema>

/** How often a service is backed up. Every field may be missing. */
export const backupConfigurationSchema = z.looseObject({
  backupPeriodInHours: wireNumber.nullish(),
  backupRetentionPeriodInHours: wireNumber.nullish(),
  /** `HH:MM` in UTC. */
  backupStartTime: z.string().nullish(),
})

export type BackupConfiguration = z.output<typeof backupConfigurationSchema>

export interface BackupsApi {
  /** Not in the guaranteed part of the neutral contract: a server may answer `not-served`. */
  list(service: Service): Promise<readonly Backup[]>
  get(service: Service, id: string): Promise<Backup>
}

/** Served where the profile says so. */
export interface BackupConfigurationApi {
  get(service: Service): Promise<BackupConfiguration>
}

export const createBackupApis = (requester: Requester, profile: Profile) => ({
  backups: createBackupsApi(requester, profile),
  backupConfiguration: createBackupConfigurationApi(requester, profile),
})

const factsFor = ({ permissions }: Profile, noun: string) => ({ method: 'GET', noun, permission: permissions.backups }) as const

function createBackupsApi(requester: Requester, profile: Profile): BackupsApi {
  const facts = factsFor(profile, 'backup')
  return {
    async list({ organizationId, serviceId }) {
      return (
        await requester.request({
          ...facts,
          path: path`/v1/organizations/${organizationId}/services/${serviceId}/backups`,
          read: readList(backupSchema),
          missing: 'service',
        })
      ).value.items
    },
    async get({ organizationId, serviceId }, id) {
      return (
        await requester.request({
          ...facts,
          path: path`/v1/organizations/${organizationId}/services/${serviceId}/backups/${id}`,
          read: readOne(backupSchema),
        })
      ).value
    },
  }
}

function createBackupConfigurationApi(requester: Requester, profile: Profile): BackupConfigurationApi {
  const facts = factsFor(profile, 'backup configuration')
  return {
    async get({ organizationId, serviceId }) {
      return (
        await requester.request({
          ...facts,
          path: path`/v1/organizations/${organizationId}/services/${serviceId}/backupConfiguration`,
          read: readOne(backupConfigurationSchema),
        })
      ).value
    },
  }
}
