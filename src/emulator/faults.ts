import { once } from 'node:events'
import { type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import { gzipSync } from 'node:zlib'
import * as z from 'zod'
import type { Ids } from './deterministic.ts'
import type { Gateway } from './gateways/gateway.ts'
import { type Headers, type HttpResponse, htmlType, jsonType, type ResponseWriter } from './http.ts'

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

export type FaultQueue = ReturnType<typeof createFaultQueue>

export function createFaultQueue() {
  const entries: { readonly fault: Fault; matched: number }[] = []
  return {
    get size() {
      return entries.length
    },
    /** Throws when the fault is invalid. */
    add(fault: Fault): void {
      entries.push({ fault: faultSchema.parse(fault), matched: 0 })
    },
    /** Counts the request for every fault that matches it, and returns the oldest one that applies to it. */
    take(method: string, path: string): Fault | undefined {
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
    clear(): void {
      entries.length = 0
    },
  }
}

interface FaultContext {
  readonly writer: ResponseWriter
  readonly gateway: Gateway
  readonly ids: Ids
  readonly method: string
  readonly handle: () => HttpResponse
  /** The rate limit headers that the server sends with every response of its own. */
  readonly limitHeaders: Headers
}

export async function sendWithFault({ act, effect }: Fault, context: FaultContext): Promise<void> {
  const { writer, handle, method, gateway, ids } = context
  const answersItself = ['delay', 'drip', 'late-commit'].includes(effect.kind)
  const handled = act === 'after' && !answersItself ? handle() : undefined
  // When the request is not handled, reads change nothing, and a write gets what looks like success.
  const toCorrupt = () =>
    handled ?? (method === 'GET' ? handle() : gateway.toResult(ids, { id: 'ffffffffffffffffffffffff', name: 'never stored' }))
  switch (effect.kind) {
    case 'delay':
      await writer.sleep(effect.ms)
      return writer.send(handle())
    case 'drip':
      return drip(writer, handle(), effect.bytesPerTick ?? 1, effect.everyMs)
    case 'late-commit':
      writer.send(toStatusResponse({ kind: 'status', status: effect.status ?? 504 }, context))
      await writer.sleep(effect.ms)
      handle()
      return
    case 'status':
      return writer.send(toStatusResponse(effect, context))
    case 'html':
      // Sent by something between client and server, so without the server's own headers.
      return writer.send({ status: effect.status ?? 200, headers: { 'content-type': htmlType }, body: captivePortal })
    case 'body': {
      const body = typeof effect.bytes === 'string' ? Buffer.from(effect.bytes, 'base64') : (effect.bytes ?? effect.text ?? '')
      return writer.send({ status: 200, headers: { 'content-type': jsonType, ...toLowerCase(effect.headers) }, body })
    }
    case 'rate-limited': {
      const limits = effect.headers === undefined ? defaultLimitHeaders : toLowerCase(effect.headers)
      const body = effect.body ?? gateway.toTooManyRequests().body
      return writer.send({ status: 429, headers: { 'content-type': jsonType, ...limits }, body })
    }
    case 'reset':
      return writer.reset()
    case 'reset-in-headers':
      await writer.writeRaw('HTTP/1.1 200 OK\r\nContent-Type: applicat')
      await writer.sleep(beforeResetMs)
      return writer.reset()
    case 'reset-in-body':
      return sendRaw(writer, toCorrupt(), (body) => ({ 'Content-Length': String(body.length) }), effect)
    case 'truncate':
      // Neither a length nor chunks, so that the client cannot know that the body is incomplete.
      return sendRaw(writer, toCorrupt(), () => ({ Connection: 'close' }), effect)
    case 'short-length':
      return sendRaw(writer, toCorrupt(), (body) => ({ 'Content-Length': String(body.length + 64) }), {
        kind: effect.kind,
        bytes: Number.POSITIVE_INFINITY,
      })
    case 'endless':
      return sendEndlessBody(writer)
    case 'gzip-bomb':
      return sendGzipBomb(writer, effect.mebibytes)
    default:
      // `hang`: the connection stays open until one side closes it.
      return
  }
}

function toStatusResponse(
  { status, body, contentType, headers }: Extract<Effect, { kind: 'status' }>,
  { gateway, ids, limitHeaders }: FaultContext,
): HttpResponse {
  const isEmpty = body === '' || (body === undefined && (status === 204 || (status >= 300 && status < 400)))
  const type = isEmpty && contentType === undefined ? {} : { 'content-type': contentType ?? jsonType }
  const text = isEmpty ? '' : (body ?? gateway.toError(ids, status, 'INJECTED_FAULT', `status ${status} on request`).body)
  return { status, headers: { ...limitHeaders, ...type, ...toLowerCase(headers) }, body: text }
}

// Names in lower case let a given `Content-Type` replace the default.
const toLowerCase = (headers: FaultHeaders = {}): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const defaultLimitHeaders: Headers = {
  'X-RateLimit-Limit': '10',
  'X-RateLimit-Remaining': '0',
  'X-RateLimit-Reset': '1',
  'X-RateLimit-Policy': '10;w=10;comment="fixed window"',
}

const captivePortal = `<!DOCTYPE html>
<html><head><title>Welcome to the guest network</title></head>
<body><h1>Please sign in</h1><form action="/login" method="post"><button>Accept the terms</button></form></body></html>
`

// Time for the bytes to arrive: a reset overtakes what the client has not read.
const beforeResetMs = 25

/** Sends that many bytes of the body, default half of it, and ends the connection. */
async function sendRaw(
  writer: ResponseWriter,
  { status, headers, body }: HttpResponse,
  toMore: (body: Buffer) => Headers,
  { kind, bytes }: { readonly kind: Effect['kind']; readonly bytes?: number },
) {
  const whole = Buffer.from(body)
  const all = Object.entries({ ...headers, ...toMore(whole) })
  const lines = all.flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
  writer.logStatus(status)
  await writer.writeRaw(`HTTP/1.1 ${status} Corrupted\r\n${lines.join('')}\r\n`)
  await writer.writeRaw(whole.subarray(0, bytes ?? Math.floor(whole.length / 2)))
  if (kind !== 'reset-in-body') return writer.end()
  await writer.sleep(beforeResetMs)
  writer.reset()
}

async function drip(writer: ResponseWriter, { status, headers, body }: HttpResponse, bytesPerTick: number, everyMs: number) {
  const bytes = Buffer.from(body)
  const response = writer.begin(status, { ...headers, 'content-length': String(bytes.length) })
  for (let at = 0; at < bytes.length && !response.destroyed; at += bytesPerTick) {
    response.write(bytes.subarray(at, at + bytesPerTick))
    await writer.sleep(everyMs)
  }
  response.end()
}

const bodyStart = '{"status":200,"requestId":"00000000-5eed-4000-8000-00000000c0de","result":"'

const mebibyte = Buffer.alloc(1024 * 1024, 0x78)

/** Sends as fast as the client reads. */
async function sendEndlessBody(writer: ResponseWriter) {
  const response = writer.begin(200, { 'content-type': jsonType })
  response.write(bodyStart)
  while (!response.destroyed) {
    if (!response.write(mebibyte.subarray(0, 65_536))) await drained(response)
    await writer.sleep(0)
  }
}

/** A sequence of gzip members is one gzip body, so that one compressed member is all that is held in memory. */
async function sendGzipBomb(writer: ResponseWriter, mebibytes: number) {
  const response = writer.begin(200, { 'content-type': jsonType, 'content-encoding': 'gzip' })
  const member = gzipSync(mebibyte)
  response.write(gzipSync(bodyStart))
  for (let i = 0; i < mebibytes && !response.destroyed; i++) {
    if (!response.write(member)) await drained(response)
  }
  response.end(gzipSync('"}'))
}

async function drained(response: ServerResponse) {
  const settled = new AbortController()
  try {
    await Promise.race(['drain', 'close'].map((event) => once(response, event, { signal: settled.signal })))
  } finally {
    // Removes the listener of the event that did not come.
    settled.abort()
  }
}
