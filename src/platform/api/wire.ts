import * as z from 'zod'
import { toDecimal } from '../core/decimal.ts'
import { isMapping } from '../core/keys.ts'
import { describeMismatch, formatPlace } from '../core/mismatch.ts'
import type { Headers } from '../http/rate-limit.ts'

interface Unwrapped {
  readonly payload: unknown
  readonly prefix: string
}

/** Removes `{ result }`, `{ data }` or `{ result: { data } }`. */
export function unwrap(json: unknown): Unwrapped {
  if (!isMapping(json)) return { payload: json, prefix: '' }
  const { result, data } = json
  if (isMapping(result) && isMapping(result.data) && Object.keys(result).length === 1)
    return { payload: result.data, prefix: 'result.data' }
  if (Object.hasOwn(json, 'result')) return { payload: result, prefix: 'result' }
  return Object.hasOwn(json, 'data') ? { payload: data, prefix: 'data' } : { payload: json, prefix: '' }
}

/** Lists come bare, or once more inside `{data: []}`. */
export function unwrapList(json: unknown): Unwrapped {
  const outer = unwrap(json)
  if (!isMapping(outer.payload) || !Array.isArray(outer.payload.data)) return outer
  return { payload: outer.payload.data, prefix: [outer.prefix, 'data'].filter(Boolean).join('.') }
}

export function requestIdOf(json: unknown, header: string | undefined): string | undefined {
  const candidates = [isMapping(json) ? json.requestId : undefined, header]
  // A request id goes into outputs and messages, so only a plain word is accepted.
  return candidates.find((id): id is string => typeof id === 'string' && /^\w[\w.-]{0,127}$/.test(id))
}

/** Its place depends on the dialect. */
export function errorMessageOf(json: unknown): string | undefined {
  if (!isMapping(json)) return undefined
  const candidates = [json.error, json.message, isMapping(json.error) ? json.error.message : undefined]
  return candidates.find((text): text is string => typeof text === 'string' && text.trim() !== '')
}

/** Describes a mismatch, or a refusal with status 200, instead of throwing. */
export type Reader<T> = (
  json: unknown,
  headers: Headers,
) => { readonly value: T } | { readonly mismatch: string } | { readonly refusal: string }

/** A double, for figures that are compared and shown, not for money. */
export const wireNumber = z.unknown().transform((value, context): number => {
  const number = toDecimal(value)?.toNumber()
  if (number !== undefined) return number
  context.addIssue({ code: 'custom', message: 'is not a number' })
  return z.NEVER
})

/** Accepts any single word. An id in a path is checked again there. */
export const wireId = z.string().regex(/^[\w.:~-]{1,128}$/, 'is not an id')

export const listOrEmpty = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? [])

/** The API does not guarantee names. */
export const nameOrEmpty = z
  .string()
  .nullish()
  .transform((name) => name ?? '')

export const readOne = <T>(schema: z.ZodType<T>): Reader<T> => readWith(schema, unwrap)

export interface Page<T> {
  readonly items: readonly T[]
  /** Undefined where the server does not count the objects of all pages. */
  readonly total: number | undefined
}

/** A list is read completely or not at all. */
export function readList<T>(item: z.ZodType<T>): Reader<Page<T>> {
  const read = readWith(z.array(item), unwrapList)
  return (json, headers) => {
    const items = read(json, headers)
    return !('value' in items) ? items : { value: { items: items.value, total: totalIn(json, headers) } }
  }
}

/** `meta.total` next to the list. A gateway may pass on only the header. */
function totalIn(json: unknown, headers: Headers) {
  const meta = isMapping(json) ? json.meta : undefined
  const total = isMapping(meta) && 'total' in meta ? meta.total : Number(headers['x-total-count'] || Number.NaN)
  return typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 ? total : undefined
}

/** `toPayload` removes the envelope; the location of a mismatch is stated with it. */
function readWith<T>(schema: z.ZodType<T>, toPayload: (json: unknown) => Unwrapped): Reader<T> {
  return (json) => {
    const { payload, prefix } = toPayload(json)
    const parsed = schema.safeParse(payload)
    if (parsed.success) return { value: parsed.data }
    return toMismatch(describeMismatch(parsed.error, prefix || 'the answer'))
  }
}

/** Both are places in the answer: of the payload, and of the value in it. */
export const mismatchAt = (whole: string, path: readonly PropertyKey[], reason: string): { readonly mismatch: string } =>
  toMismatch(`${formatPlace(path, whole || 'the answer')} ${reason}`)

const toMismatch = (words: string) => ({ mismatch: `the answer has an unexpected form: ${words}` })

export const typeMismatch = (value: unknown, type: string): string => (value === undefined ? 'is missing' : `is not of type ${type}`)
