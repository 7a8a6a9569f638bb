// Owns the shape of check-backups' result.
import * as z from 'zod'
import { backupOutput } from './backups.ts'
import { backupSchema } from './backups-api.ts'
import { outcomes } from './freshness.ts'

export const checkOutput = z.object({
  ...backupOutput.partial().shape,
  backupId: z
    .string()
    .optional()
    .describe(
      'Id of the backup that decided about the worst service: the newest that is done, the one that failed, or the first in progress. Absent when there is none; then so are the others.',
    ),
})

const trend = z.object({
  latest: z.number().optional(),
  usual: z.number().optional().describe('Median of the earlier ones of the same type.'),
  ratio: z.number().optional().describe('The latest as a share of the usual.'),
  values: z.array(z.number()).describe('Oldest first, the latest among them.'),
})

const limit = z.object({
  hours: z.number(),
  source: z.enum(['given', 'configuration', 'standard']),
  whyStandard: z
    .enum(['no-configuration', 'no-period', 'unreadable'])
    .optional()
    .describe('Nothing of the kind in this API; a configuration without a usable period; one that could not be read.'),
  periodHours: z.number().optional().describe('The period of the backup configuration.'),
  retentionHours: z.number().optional().describe('How long it keeps backups.'),
  startTime: z.string().optional().describe('When it starts them, HH:MM in UTC.'),
})

const failure = z.object({ kind: z.string(), message: z.string(), advice: z.string().optional() })

export const serviceCheck = z.object({
  serviceId: z.string(),
  outcome: z.enum(outcomes),
  passes: z.boolean(),
  ageHours: z.number().optional().describe('Age of the backup that decided.'),
  ageMs: z.number().optional().describe('The same, exactly.'),
  limit,
  backup: backupOutput.optional().describe('The backup that decided.'),
  newestDone: z.object({ id: z.string(), ageMs: z.number() }).optional().describe('The last one to restore from.'),
  inProgress: z.object({ id: z.string(), ageMs: z.number() }).optional().describe('One that was started since.'),
  riddle: z.enum(['ahead', 'undated', 'unclear']).optional().describe('Why the list does not tell.'),
  doubts: z.array(z.enum(['unproven', 'unclear', 'undated'])).describe('Why the outcome is trusted less.'),
  size: trend.optional().describe('Of the newest that is done, in bytes.'),
  duration: trend.optional().describe('Of the newest that is done, in milliseconds.'),
  type: z.string().optional().describe('Its type, and that of those it is compared with.'),
  sizeVerdict: z
    .enum(['ok', 'small', 'size-unknown', 'earlier-unknown', 'nothing-earlier'])
    .optional()
    .describe('Where min-size-ratio is given.'),
  failure: failure.optional().describe('Why the backups could not be read.'),
  configurationFailure: failure.optional().describe('Why the backup configuration could not be read.'),
  count: z.int().optional().describe('How many backups are listed.'),
  backups: z.array(backupSchema).describe('The newest ones, as the API answered.'),
})

export const checkDetails = z.object({
  checkedAt: z.string().describe('The moment that ages are counted to, ISO 8601 in UTC.'),
  worstServiceId: z.string().describe('The service that the outputs are about.'),
  minSizeRatio: z.number().optional().describe('Smallest share of the usual size, where one was given.'),
  services: z
    .array(serviceCheck)
    .describe('Every service: outcome, age, limit, trend and its newest backups; in the order in which they were given.'),
})

export type CheckResult = z.output<typeof checkOutput> & z.output<typeof checkDetails>
export type ServiceCheck = z.output<typeof serviceCheck>
