import { validateHeaderName, validateHeaderValue } from 'node:http'
import * as z from 'zod'

/** Values of a header; a list sends it several times. */
export type FaultHeaders = Readonly<Record<string, string | readonly string[]>>

export interface Fault {
  /** Every request matches when absent. `path` is a part of the raw path, query included. */
  readonly match?: { readonly method?: string; readonly path?: string }
  /** The first matching request that it applies to, counted from 1 since the fault was added. Default 1. */
  readonly nth?: number
  /** How many in a row, default 1; `Infinity` for ever. */
  readonly times?: number
  /**
   * `before` (default): the server does nothing. `after`: it does what was asked, and then the fault spoils the answer.
   * `delay` and `drip` give the normal answer and so always act; `late-commit` always acts late.
   */
  readonly act?: 'before' | 'after'
  readonly effect: Effect
}

export type Effect =
  /** Any status. Without a body: a JSON error, or nothing for 204, 304 and redirects. */
  | {
      readonly kind: 'status'
      readonly status: number
      readonly body?: string
      readonly contentType?: string
      readonly headers?: FaultHeaders
    }
  /** Waits, then acts and answers as usual. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** A TCP reset before any byte. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'reset-in-headers' }
  /** A TCP reset after that many bytes of the body, default half of it. */
  | { readonly kind: 'reset-in-body'; readonly bytes?: number }
  /** That many bytes of the body, default half of it, with a clean end that only the closed connection tells. */
  | { readonly kind: 'truncate'; readonly bytes?: number }
  /** A content-length that is larger than what is sent, then the end. */
  | { readonly kind: 'short-length' }
  /** A captive portal's page, default status 200. */
  | { readonly kind: 'html'; readonly status?: number }
  /** Any raw body with status 200; `bytes` as they are, or as base64. Default type is JSON. */
  | { readonly kind: 'body'; readonly text?: string; readonly bytes?: Uint8Array | string; readonly headers?: FaultHeaders }
  /** 429. Without `headers`, the four X-RateLimit ones with one second to wait; `{}` for none. */
  | { readonly kind: 'rate-limited'; readonly headers?: FaultHeaders; readonly body?: string }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** The normal answer, a few bytes at a time, default 1. */
  | { readonly kind: 'drip'; readonly bytesPerTick?: number; readonly everyMs: number }
  /** A JSON text that never ends. */
  | { readonly kind: 'endless' }
  /** A small gzip body that grows to that size, sent whether or not gzip was accepted. */
  | { readonly kind: 'gzip-bomb'; readonly mebibytes: number }
  /** Answers at once, default 504, and does what was asked after `ms`. */
  | { readonly kind: 'late-commit'; readonly status?: number; readonly ms: number }

const headers = z
  .record(z.string(), z.union([z.string(), z.array(z.string())]))
  .refine(areHeaders, 'holds what is no HTTP header')
  .exactOptional()
const status = z.int().min(200).max(599)
const count = z.int().min(1)
const bytes = z.int().min(0).exactOptional()
// A timer that is longer than this fires at once.
const ms = z
  .number()
  .min(0)
  .max(2 ** 31 - 1)

const effect = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    status,
    body: z.string().exactOptional(),
    contentType: z.string().exactOptional(),
    headers,
  }),
  z.strictObject({ kind: z.literal('delay'), ms }),
  z.strictObject({ kind: z.literal('reset') }),
  z.strictObject({ kind: z.literal('reset-in-headers') }),
  z.strictObject({ kind: z.literal('reset-in-body'), bytes }),
  z.strictObject({ kind: z.literal('truncate'), bytes }),
  z.strictObject({ kind: z.literal('short-length') }),
  z.strictObject({ kind: z.literal('html'), status: status.exactOptional() }),
  z.strictObject({
    kind: z.literal('body'),
    text: z.string().exactOptional(),
    bytes: z.union([z.instanceof(Uint8Array), z.base64()]).exactOptional(),
    headers,
  }),
  z.strictObject({ kind: z.literal('rate-limited'), headers, body: z.string().exactOptional() }),
  z.strictObject({ kind: z.literal('hang') }),
  z.strictObject({ kind: z.literal('drip'), bytesPerTick: count.exactOptional(), everyMs: ms }),
  z.strictObject({ kind: z.literal('endless') }),
  z.strictObject({ kind: z.literal('gzip-bomb'), mebibytes: count.max(4096) }),
  z.strictObject({ kind: z.literal('late-commit'), status: status.exactOptional(), ms }),
])

function areHeaders(given: FaultHeaders): boolean {
  try {
    for (const [name, value] of Object.entries(given)) {
      validateHeaderName(name)
      for (const one of [value].flat()) validateHeaderValue(name, one)
    }
    return true
  } catch {
    return false
  }
}

/** Strict, so that a misspelt fault is an error and not a test that passes for nothing. */
export const faultSchema: z.ZodType<Fault> = z.strictObject({
  match: z.strictObject({ method: z.string().exactOptional(), path: z.string().exactOptional() }).exactOptional(),
  nth: count.exactOptional(),
  times: z.union([count, z.literal(Number.POSITIVE_INFINITY)]).exactOptional(),
  act: z.enum(['before', 'after']).exactOptional(),
  effect,
})
