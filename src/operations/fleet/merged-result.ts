// Owns the shape of a merged result: what the report of a fleet says, as data.
import * as z from 'zod'

/** Worst first: what is known to be bad, then what is not known, then the rest. */
export const mergedStatuses = ['fail', 'error', 'missing', 'warn', 'pass'] as const

export type MergedStatus = (typeof mergedStatuses)[number]

const merged = z.object({
  status: z.enum(mergedStatuses),
  operation: z.string().optional(),
  organization: z.string().optional().describe('As the fleet calls it.'),
  organizationId: z.string().optional(),
  service: z.string().optional().describe('As the fleet calls it.'),
  serviceId: z.string().optional(),
  reason: z.string(),
  figure: z.string().optional(),
  requestId: z.string().optional(),
  file: z.string().optional(),
  isStranger: z.boolean().describe('The fleet has no such service or organization, or it was not chosen.'),
})

/** One result, or one that is missing. */
export type Merged = z.output<typeof merged>

export const mergedOutput = z.object({
  resultCount: z.int().describe('Number of result files that were read.'),
  serviceCount: z.int().describe('Number of services of the fleet, as far as they were chosen.'),
  passCount: z.int().describe('Number of results that are a pass.'),
  warnCount: z.int().describe('Number of results that are a warning.'),
  failCount: z.int().describe('Number of results that are a failure.'),
  errorCount: z.int().describe('Number of results that say that it could not be done.'),
  missingCount: z.int().describe('Number of results that should be there and are not.'),
  unreadableCount: z.int().describe('Number of files that are no results.'),
})

export const mergedDetails = z.object({
  results: z.array(merged).describe('Every result, and every one that is missing, worst first.'),
  unreadable: z.array(z.object({ file: z.string(), reason: z.string() })).describe('Files that are no results, and why.'),
})

export type MergedResult = z.output<typeof mergedOutput> & z.output<typeof mergedDetails>

/** How a result is called in a sentence: by the names of the fleet, else by its ids, else by the file that it stands in. */
export const nameOf = ({ organization, organizationId, service, serviceId, file }: Merged): string =>
  [organization ?? organizationId, service ?? serviceId].filter(Boolean).join('.') || (file ?? '')
