import { validateHeaderName, validateHeaderValue } from 'node:http'
import * as z from 'zod'

/** Values of a header; a list sends it several times. */
export type FaultHeaders = Readonly<Record<string, string | readonly string[]>>

const headers = z
  .record(z.string(), z.union([z.string(), z.array(z.string()).readonly()]))
  .refine(areHeaders, 'invalid HTTP header')
  .exactOptional()
const httpStatus = z.int().min(200).max(599)
const positiveCount = z.int().min(1)
const bytes = z.int().min(0).exactOptional()
// Node fires a longer timer at once.
const ms = z
  .number()
  .min(0)
  .max(2 ** 31 - 1)

const effect = z.discriminatedUnion('kind', [
  /** Any status. Without a body: a JSON error, or nothing for 204, 304 and redirects. */
  z.strictObject({
    kind: z.literal('status'),
    status: httpStatus,
    body: z.string().exactOptional(),
    contentType: z.string().exactOptional(),
    headers,
  }),
  /** Waits, then handles the request as usual. */
  z.strictObject({ kind: z.literal('delay'), ms }),
  /** A TCP reset before any byte. */
  z.strictObject({ kind: z.literal('reset') }),
  z.strictObject({ kind: z.literal('reset-in-headers') }),
  /** A TCP reset after that many bytes of the body, default half of it. */
  z.strictObject({ kind: z.literal('reset-in-body'), bytes }),
  /** That many bytes of the body, default half of it, then a clean end. Only the closed connection marks the end of the body. */
  z.strictObject({ kind: z.literal('truncate'), bytes }),
  /** A content-length that is larger than what is sent, then the end. */
  z.strictObject({ kind: z.literal('short-length') }),
  /** A captive portal's page, default status 200. */
  z.strictObject({ kind: z.literal('html'), status: httpStatus.exactOptional() }),
  /** Any raw body with status 200; `bytes` as they are, or as base64. Default type is JSON. */
  z.strictObject({
    kind: z.literal('body'),
    text: z.string().exactOptional(),
    bytes: z.union([z.custom<Uint8Array>((value) => value instanceof Uint8Array), z.base64()]).exactOptional(),
    headers,
  }),
  /** 429. Without `headers`, the four X-RateLimit ones with one second to wait; `{}` for none. */
  z.strictObject({ kind: z.literal('rate-limited'), headers, body: z.string().exactOptional() }),
  /** Never responds. */
  z.strictObject({ kind: z.literal('hang') }),
  /** The normal response, a few bytes at a time, default 1. */
  z.strictObject({ kind: z.literal('drip'), bytesPerTick: positiveCount.exactOptional(), everyMs: ms }),
  /** A JSON text that never ends. */
  z.strictObject({ kind: z.literal('endless') }),
  /** A small gzip body that expands to that size, sent whether or not gzip was accepted. */
  z.strictObject({ kind: z.literal('gzip-bomb'), mebibytes: positiveCount.max(4096) }),
  /** Responds at once, default 504, and handles the request after `ms`. */
  z.strictObject({ kind: z.literal('late-commit'), status: httpStatus.exactOptional(), ms }),
])

/** Strict, so that a misspelled fault is an error and not a test that passes for the wrong reason. */
export const faultSchema = z.strictObject({
  /** Without it, every request matches. `path` is a part of the raw path, query included. */
  match: z.strictObject({ method: z.string().exactOptional(), path: z.string().exactOptional() }).readonly().exactOptional(),
  /** The first matching request that it applies to, counted from 1 since the fault was added. Default 1. */
  nth: positiveCount.exactOptional(),
  /** How many matching requests in a row, default 1; `Infinity` for all that follow. */
  times: z.union([positiveCount, z.literal(Number.POSITIVE_INFINITY)]).exactOptional(),
  /**
   * `before` (default): the server does nothing. `after`: it handles the request, and then the fault corrupts the response.
   * `delay` and `drip` send the normal response and so always handle the request; `late-commit` always handles it late.
   */
  act: z.enum(['before', 'after']).exactOptional(),
  effect,
})

export type Fault = Readonly<z.output<typeof faultSchema>>

export type Effect = Fault['effect']

function areHeaders(given: FaultHeaders) {
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

export interface FaultQueue {
  readonly size: number
  /** Throws when the fault is invalid. */
  add(fault: Fault): void
  /** Counts the request for every fault that matches it, and returns the oldest one that applies to it. */
  take(method: string, path: string): Fault | undefined
  clear(): void
}

export function createFaultQueue(): FaultQueue {
  const entries: { readonly fault: Fault; matched: number }[] = []
  return {
    get size() {
      return entries.length
    },
    add(fault) {
      entries.push({ fault: faultSchema.parse(fault), matched: 0 })
    },
    take(method, path) {
      let taken: Fault | undefined
      for (const entry of entries) {
        const { match, nth = 1, times = 1 } = entry.fault
        if (match?.method !== undefined && match.method.toUpperCase() !== method) continue
        if (match?.path !== undefined && !path.includes(match.path)) continue
        entry.matched++
        if (entry.matched >= nth && entry.matched < nth + times) taken ??= entry.fault
      }
      return taken
    },
    clear() {
      entries.length = 0
    },
  }
}
