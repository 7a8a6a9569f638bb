// Owns the wire shape of backups and their two requests. The API promises none of the fields but the id.
import * as z from 'zod'
import { path } from './path.ts'
import type { Profile } from './profiles.ts'
import type { Requester } from './requester.ts'
import type { Service } from './service.ts'
import { readList, readOne, wireId, wireNumber } from './wire.ts'

/** All times are UTC; one without a zone would be read as local time. */
const instant = z
  .string()
  .transform((text) => (/(?:[zZ]|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`))
  .refine((text) => !Number.isNaN(Date.parse(text)), 'is not a date and time')

export const backupSchema = z.looseObject({
  id: wireId,
  status: z.string().nullish(),
  backupName: z.string().nullish(),
  startedAt: instant.nullish(),
  finishedAt: instant.nullish(),
  sizeInBytes: wireNumber.nullish(),
  durationInSeconds: wireNumber.nullish(),
  bucket: z.looseObject({ bucketPath: z.string().nullish() }).nullish(),
})

export type Backup = z.output<typeof backupSchema>

export interface BackupsApi {
  /** Not in the guaranteed part of the neutral contract: a server may answer `not-served`. */
  list(service: Service): Promise<readonly Backup[]>
  get(service: Service, id: string): Promise<Backup>
}

export function createBackupsApi(requester: Requester, profile: Profile): BackupsApi {
  const facts = { method: 'GET', noun: 'backup', permission: profile.permissions.backups } as const
  return {
    async list({ organizationId, serviceId }) {
      return (
        await requester.request({
          ...facts,
          path: path`/v1/organizations/${organizationId}/services/${serviceId}/backups`,
          read: readList(backupSchema),
          missing: 'service',
        })
      ).value
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
