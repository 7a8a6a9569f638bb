// Owns findings as part of a result and of a report: what is wrong in files, and where.
import * as z from 'zod'
import { type Finding, formatPlace, severities } from '../core/diagnostics.ts'
import type { Block } from '../report/blocks.ts'

export const place = z.object({ file: z.string(), line: z.int().optional(), column: z.int().optional() })

export const finding = z.object({
  rule: z.string().describe('Id of the rule.'),
  severity: z.enum(severities),
  message: z.string(),
  place: place.describe('File, line and column, from 1.'),
})

export const findingToResult = ({ place: where, ...rest }: Finding): z.output<typeof finding> => ({ ...rest, place: { ...where } })

export const findingsBlock = (findings: readonly Finding[]): Block => ({
  kind: 'findings',
  findings: findings.map((one) => ({ ...one, place: formatPlace(one.place) })),
})
