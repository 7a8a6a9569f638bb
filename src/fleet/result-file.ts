// Owns reading what a leg wrote: a result document that came by way of an artifact, so that anything may stand in it.
import * as z from 'zod'
import { isUuid } from '../api/path.ts'
import { numberText, parseJson } from '../core/json.ts'
import { clip } from '../core/text.ts'

export const resultStatuses = ['pass', 'warn', 'fail', 'error'] as const

export type ResultStatus = (typeof resultStatuses)[number]

/** What a result says of one service or organization, or of neither. */
export interface Told {
  readonly operation: string
  readonly status: ResultStatus
  readonly reason: string
  readonly organizationId?: string | undefined
  readonly serviceId?: string | undefined
  /** The number that matters, where the operation has one. */
  readonly figure?: string | undefined
  readonly requestId?: string | undefined
}

export type LegResult = { readonly told: readonly Told[] } | { readonly complaint: string }

const id = z
  .string()
  .transform((text) => text.toLowerCase())
  .refine(isUuid)

const status = z.enum(resultStatuses)

const document = z.looseObject({
  operation: z.string().max(200),
  status,
  failureReason: z.string(),
  requestId: z.string().max(200).optional(),
  organizationId: id.optional(),
  serviceId: id.optional(),
})

/** An operation on several services tells of each. What it does not tell is not guessed. */
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

const pointer = z.looseObject({ truncated: z.literal(true) })

export function readLegResult(text: string): LegResult {
  let value: unknown
  try {
    value = parseJson(text.replace(/^\ufeff/, ''))
  } catch (thrown) {
    return { complaint: thrown instanceof Error ? `is ${thrown.message}` : 'cannot be read' }
  }
  if (pointer.safeParse(value).success)
    return { complaint: 'only says where the result is, because it was too long for an output: keep the file of `result-file` instead' }
  const parsed = document.safeParse(value)
  if (!parsed.success) return { complaint: `is no result of Watchkeeper: ${fieldsIn(parsed.error)}` }
  return { told: toldBy(parsed.data) }
}

const fieldsIn = ({ issues }: z.ZodError): string => {
  const names = [...new Set(issues.map(({ path }) => String(path[0] ?? '')))].filter((name) => name !== '')
  return names.length === 0 ? 'it is no map' : `no usable ${names.join(', ')}`
}

function toldBy(result: z.output<typeof document>): readonly Told[] {
  const { operation, status, failureReason, requestId, organizationId, serviceId } = result
  const whole = { operation, status, reason: shorten(failureReason), requestId, organizationId }
  const services = serviceList.safeParse(result.services)
  if (!services.success) return [{ ...whole, serviceId, figure: figureOf(result) }]
  const told = services.data.map((one): Told => ({ ...whole, ...judged(one, status), serviceId: one.serviceId, figure: figureOf(one) }))
  // A warning, or whatever else is said of the whole, must not get lost among services that pass.
  const isSaid = status === 'pass' || told.some((one) => one.status === status)
  return isSaid ? told : [...told, whole]
}

type OfService = z.output<typeof serviceList>[number]

/** A failure under `warn-only` is a warning here as well. */
function judged({ passes, outcome, failure }: OfService, whole: ResultStatus): Pick<Told, 'status' | 'reason'> {
  if (passes) return { status: 'pass', reason: '' }
  const words = [outcome, failure?.message].filter((word) => word !== undefined)
  return { status: whole === 'warn' ? 'warn' : 'fail', reason: shorten(words.join(': ')) }
}

/** A thousand of them stand in one report; the leg's own report has the rest. */
const shorten = (reason: string): string => clip(reason.split('\n')[0] ?? '', 300)

/** What people look for first in a list of results. */
const figures: readonly (readonly [field: string, unit: string])[] = [
  ['grandTotalCredits', ''],
  ['backupAgeHours', 'hours old'],
  ['ageHours', 'hours old'],
  ['count', 'found'],
]

function figureOf(result: Readonly<Record<string, unknown>>): string | undefined {
  for (const [field, words] of figures) {
    const value = result[field]
    const number = typeof value === 'string' && /^-?\d{1,40}(?:\.\d{1,40})?$/.test(value) ? value : numberText(value)
    const unit = words === '' && typeof result.unit === 'string' ? result.unit.slice(0, 20) : words
    if (number !== undefined) return `${number.slice(0, 80)} ${unit}`.trim()
  }
  return undefined
}
