// Reads the result document of a leg. It comes from an artifact, so all of its text is untrusted.

import * as z from 'zod'
import { isUuid } from '../api/path.ts'
import { type Decimal, fromText, toDecimal } from '../core/decimal.ts'
import { hourMs } from '../core/durations.ts'
import { parseJson } from '../core/json.ts'
import { describeMismatch } from '../core/mismatch.ts'
import { clip } from '../core/text.ts'
import { formatDuration, formatMoney } from '../report/format.ts'

const resultStatuses = ['pass', 'warn', 'fail', 'error'] as const

type ResultStatus = (typeof resultStatuses)[number]

/** The result of an operation for one service or organization, or for neither where the file has no ids. */
export interface TargetResult {
  readonly operation: string
  readonly status: ResultStatus
  readonly reason: string
  readonly organizationId?: string | undefined
  readonly serviceId?: string | undefined
  /** The most important number of the operation, rounded and with its unit. */
  readonly figure?: string | undefined
  readonly requestId?: string | undefined
}

/** `diagnostic` completes a sentence that begins with the name of the file. */
export type ParsedResultFile = { readonly results: readonly TargetResult[] } | { readonly diagnostic: string }

const id = z
  .string()
  .transform((text) => text.toLowerCase())
  .refine(isUuid, 'is not a uuid')

const document = z.looseObject({
  operation: z.string().max(200),
  status: z.enum(resultStatuses),
  failureReason: z.string(),
  requestId: z.string().max(200).optional(),
  organizationId: id.optional(),
  serviceId: id.optional(),
})

/** Operations on several services list each service. A list in another form is ignored, so its services count as missing. */
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
  if (pointer.safeParse(value).success) return { diagnostic: 'is the shortened output of a step. Use the file of `result-file` instead' }
  const parsed = document.safeParse(value)
  return parsed.success
    ? { results: splitByService(parsed.data) }
    : { diagnostic: `is not a result document of Watchkeeper: ${describeMismatch(parsed.error, 'the document')}` }
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

/** Short enough for a report with a thousand reasons. The report of the leg has the full text. */
function shorten(reason: string): string {
  const [first = '', ...items] = reason.split('\n')
  // `2 errors in the input:`
  return clip(first.endsWith(':') ? [first, items.map((item) => item.replace(/^- /, '')).join('; ')].join(' ') : first, 300)
}

/** Fields with the most important number of an operation, by priority, and how to show it. */
const figureFields: readonly (readonly [field: string, show: (value: Decimal, unit: string) => string])[] = [
  ['grandTotalCredits', (value, unit) => `${formatMoney(value)} ${unit}`.trim()],
  ['backupAgeHours', formatHoursOld],
  ['ageHours', formatHoursOld],
  ['count', (value) => `${value.toFixed()} found`],
]

function formatHoursOld(hours: Decimal): string {
  return `${formatDuration(hours.toNumber() * hourMs)} old`
}

function findFigure(result: Readonly<Record<string, unknown>>): string | undefined {
  for (const [field, show] of figureFields) {
    const value = result[field]
    const isAmount = typeof value === 'string' && /^-?\d{1,40}(?:\.\d{1,40})?$/.test(value)
    const number = isAmount ? fromText(value) : toDecimal(value)
    if (number !== undefined) return show(number, typeof result.unit === 'string' ? result.unit.slice(0, 20) : '')
  }
  return undefined
}
