import * as z from 'zod'
import { isUuid } from '../platform/api/path.ts'
import { filePath, list, noted, positiveNumber } from '../platform/operation/inputs.ts'
import { backupDetails, backupOutput } from './backups.ts'
import { serviceCheck } from './service-check.ts'

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

const judgedService = serviceCheck.extend({
  problems: z.array(z.string()).describe('How it breaks the policies of the file.'),
  correction: z.string().optional().describe('The command of clickhousectl that makes its backup configuration that of the policies.'),
  needsRestore: z.literal(true).optional().describe('Present where its restores are not enough for `requireRestoreDays` of its policies.'),
  minSizeRatio: z.number().optional().describe('The highest one of its policies.'),
  restoredAt: z.string().optional().describe('The time of the newest data whose restore was verified, with `requireRestoreDays`.'),
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
  checkedAt: z.string().describe('The time of the check, ISO 8601 in UTC.'),
  worstServiceId: z.string().describe('The worst service, which the outputs are about.'),
  services: z.array(judgedService).describe('Every service with its outcome, age, limit, trend and newest backups, in the given order.'),
  leftOutFiles: z.array(z.string()).optional().describe('Files of `results` that say nothing about these services, with the reason.'),
  drills: z.array(z.string()).describe('Services of restore drills, which are left out, by name.'),
})

export type BackupsResult = z.output<typeof backupsOutput> & z.output<typeof backupsDetails>
