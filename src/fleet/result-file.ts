// Reads the result document that a leg wrote. It comes from an artifact, so all of its text is untrusted.
import * as z from 'zod'
import { isUuid } from '../api/path.ts'
import { numberText, parseJson } from '../core/json.ts'
import { clip } from '../core/text.ts'

const resultStatuses = ['pass', 'warn', 'fail', 'error'] as const

type ResultStatus = (typeof resultStatuses)[number]

/** The result of an operation for one service or organization; for neither where the file has no ids. */
export interface TargetResult {
  readonly operation: string
  readonly status: ResultStatus
  readonly reason: string
  readonly organizationId?: string | undefined
  readonly serviceId?: string | undefined
  /** The most important number, where the operation has one. */
  readonly figure?: string | undefined
  readonly requestId?: string | undefined
}

/** `diagnostic` completes a sentence that begins with the name of the file. */
export type ParsedResultFile = { readonly results: readonly TargetResult[] } | { readonly diagnostic: string }

const id = z
  .string()
  .transform((text) => text.toLowerCase())
  .refine(isUuid)

const document = z.looseObject({
  operation: z.string().max(200),
  status: z.enum(resultStatuses),
  failureReason: z.string(),
  requestId: z.string().max(200).optional(),
  organizationId: id.optional(),
  serviceId: id.optional(),
})

/** Operations on several services list each of them. A list in another form is ignored, so its services count as missing. */
const serviceList = z
  .array(
    z.looseObject({
      serviceId: id,
      passes: z.boolean(),
      outcome: z.string().optional(),
      failure: z.looseObject({ message: z.string() }).optional(),
    }),
  )
  .min(1)
  .max(1000)

type ListedService = z.output<typeof serviceList>[number]

const pointer = z.looseObject({ truncated: z.literal(true) })

export function parseResultFile(text: string): ParsedResultFile {
  let value: unknown
  try {
    value = parseJson(text.replace(/^\ufeff/, ''))
  } catch (thrown) {
    return { diagnostic: thrown instanceof Error ? `is ${thrown.message}` : 'cannot be read' }
  }
  if (pointer.safeParse(value).success)
    return { diagnostic: 'is the short output of a step, which was too long for an output: keep the file of `result-file` instead' }
  const parsed = document.safeParse(value)
  return parsed.success
    ? { results: splitByService(parsed.data) }
    : { diagnostic: `is not a result of Watchkeeper: ${describeIssues(parsed.error)}` }
}

function describeIssues({ issues }: z.ZodError): string {
  const names = [...new Set(issues.map(({ path }) => String(path[0] ?? '')))].filter((name) => name !== '')
  return names.length === 0 ? 'it is not a map' : `missing or invalid ${names.join(', ')}`
}

function splitByService(result: z.output<typeof document>): readonly TargetResult[] {
  const { operation, status, failureReason, requestId, organizationId, serviceId } = result
  const whole = { operation, status, reason: shorten(failureReason), requestId, organizationId }
  const services = serviceList.safeParse(result.services)
  if (!services.success) return [{ ...whole, serviceId, figure: findFigure(result) }]
  const results = services.data.map(
    (service): TargetResult => ({
      ...whole,
      ...judgeService(service, status),
      serviceId: service.serviceId,
      figure: findFigure(service),
    }),
  )
  // A warning about the whole run must not get lost among services that pass.
  const isCovered = status === 'pass' || results.some((one) => one.status === status)
  return isCovered ? results : [...results, whole]
}

/** A failed service is a warning where `warn-only` made the whole result one. */
function judgeService({ passes, outcome, failure }: ListedService, whole: ResultStatus): Pick<TargetResult, 'status' | 'reason'> {
  if (passes) return { status: 'pass', reason: '' }
  const words = [outcome, failure?.message].filter((word) => word !== undefined)
  return { status: whole === 'warn' ? 'warn' : 'fail', reason: shorten(words.join(': ')) }
}

/** Short enough for a report with a thousand of them; the report of the leg has the full text. */
const shorten = (reason: string): string => clip(reason.split('\n')[0] ?? '', 300)

/** Fields with the most important number of an operation, by priority, and its unit. Costs have their unit in the document. */
const figureFields: readonly (readonly [field: string, unit: string])[] = [
  ['grandTotalCredits', ''],
  ['backupAgeHours', 'hours old'],
  ['ageHours', 'hours old'],
  ['count', 'found'],
]

function findFigure(result: Readonly<Record<string, unknown>>): string | undefined {
  for (const [field, fixedUnit] of figureFields) {
    const value = result[field]
    const number = typeof value === 'string' && /^-?\d{1,40}(?:\.\d{1,40})?$/.test(value) ? value : numberText(value)
    const unit = fixedUnit === '' && typeof result.unit === 'string' ? result.unit.slice(0, 20) : fixedUnit
    if (number !== undefined) return `${number.slice(0, 80)} ${unit}`.trim()
  }
  return undefined
}
