// What check-backups takes and returns.
import * as z from 'zod'
import { isUuid } from '../api/path.ts'
import { list, positiveNumber } from '../operation/inputs.ts'
import { backupDetails, backupOutput } from './backups.ts'
import { serviceCheck } from './service-check.ts'

const maxLimitHours = 87_600

/** The id of a service in lower case, or its name. */
const serviceReference = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\u0000-\u001f\u007f]+$/)
  .transform((text) => (isUuid(text.toLowerCase()) ? text.toLowerCase() : text))

export const backupsInput = z.strictObject({
  maxAgeHours: positiveNumber(
    'Maximum age of the last successful backup in hours, counted from its start. An equal age passes. The default comes from the backup configuration where the API has one, otherwise it is 26.',
    maxLimitHours,
    `a number of hours above 0 and at most ${maxLimitHours}, such as 26 or 1.5`,
  ).optional(),
  services: list(
    'The services to check instead of service-id, by name or id. Names require a profile with a list of services.',
    'names or ids, one per line or separated by commas, at most 100',
    serviceReference,
  ).optional(),
  minSizeRatio: positiveNumber(
    'Warns when the last successful backup is smaller than this share of the median of earlier backups of its type.',
    1,
    'a number above 0 and at most 1, such as 0.5',
  ).optional(),
})

export const backupsOutput = backupOutput.partial()

export const backupsDetails = z.object({
  ...backupDetails.partial().shape,
  backupId: z
    .string()
    .optional()
    .describe(
      'Id of the backup that decided the outcome of the worst service: the last successful one, the failed one, or the first one in progress. Without such a backup, all fields about it are absent.',
    ),
  checkedAt: z.string().describe('The time of the check, ISO 8601 in UTC.'),
  worstServiceId: z.string().describe('The worst service, which the outputs are about.'),
  minSizeRatio: z.number().optional().describe('The input min-size-ratio, if it was given.'),
  services: z.array(serviceCheck).describe('Every service with its outcome, age, limit, trend and newest backups, in the given order.'),
})

export type BackupsResult = z.output<typeof backupsOutput> & z.output<typeof backupsDetails>
