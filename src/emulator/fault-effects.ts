import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Ids } from './deterministic.ts'
import type { Effect, Fault, FaultHeaders } from './faults.ts'
import type { Gateway } from './gateways/gateway.ts'
import { type Headers, type HttpResponse, htmlType, jsonType, type ResponseWriter } from './http.ts'

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
  const { writer, handle } = context
  if (effect.kind === 'delay') {
    await writer.sleep(effect.ms)
    return writer.send(handle())
  }
  if (effect.kind === 'drip') return drip(writer, handle(), effect.bytesPerTick ?? 1, effect.everyMs)
  if (effect.kind === 'late-commit') {
    writer.send(toStatusResponse({ kind: 'status', status: effect.status ?? 504 }, context))
    await writer.sleep(effect.ms)
    handle()
    return
  }
  const handled = act === 'after' ? handle() : undefined
  const replacement = toReplacement(effect, context)
  if (replacement !== undefined) return writer.send(replacement)
  await sendCorrupted(effect, writer, () => handled ?? toUnhandled(context))
}

function toReplacement(effect: Effect, context: FaultContext): HttpResponse | undefined {
  switch (effect.kind) {
    case 'status':
      return toStatusResponse(effect, context)
    case 'html':
      // Sent by something between client and server, so without the server's own headers.
      return { status: effect.status ?? 200, headers: { 'content-type': htmlType }, body: captivePortal }
    case 'body':
      return {
        status: 200,
        headers: { 'content-type': jsonType, ...toLowerCase(effect.headers) },
        body: typeof effect.bytes === 'string' ? Buffer.from(effect.bytes, 'base64') : (effect.bytes ?? effect.text ?? ''),
      }
    case 'rate-limited':
      return {
        status: 429,
        headers: { 'content-type': jsonType, ...(effect.headers === undefined ? defaultLimitHeaders : toLowerCase(effect.headers)) },
        body: effect.body ?? context.gateway.toTooManyRequests().body,
      }
    default:
      return undefined
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

/** The response to corrupt when the request was not handled. Reads change nothing; a write gets what looks like success. */
const toUnhandled = ({ method, handle, gateway, ids }: FaultContext) =>
  method === 'GET' ? handle() : gateway.toResult(ids, { id: 'ffffffffffffffffffffffff', name: 'never stored' })

async function sendCorrupted(effect: Effect, writer: ResponseWriter, response: () => HttpResponse) {
  switch (effect.kind) {
    case 'reset':
      return writer.reset()
    case 'reset-in-headers':
      return resetInHeaders(writer)
    case 'reset-in-body':
      return resetInBody(writer, response(), effect.bytes)
    case 'truncate':
      return truncate(writer, response(), effect.bytes)
    case 'short-length':
      return overstateLength(writer, response())
    case 'endless':
      return sendEndlessBody(writer)
    case 'gzip-bomb':
      return sendGzipBomb(writer, effect.mebibytes)
    default:
      // `hang`: the connection stays open until one side closes it.
      return
  }
}

// Time for the bytes to arrive: a reset overtakes what the client has not read.
const beforeResetMs = 25

async function resetInHeaders(writer: ResponseWriter) {
  await writer.writeRaw('HTTP/1.1 200 OK\r\nContent-Type: applicat')
  await writer.sleep(beforeResetMs)
  writer.reset()
}

async function resetInBody(writer: ResponseWriter, response: HttpResponse, bytes: number | undefined) {
  const body = Buffer.from(response.body)
  await writeRawHead(writer, response, { 'Content-Length': String(body.length) })
  await writer.writeRaw(firstBytes(body, bytes))
  await writer.sleep(beforeResetMs)
  writer.reset()
}

/** Sends neither a length nor chunks, so that the client cannot know that the body is incomplete. */
async function truncate(writer: ResponseWriter, response: HttpResponse, bytes: number | undefined) {
  await writeRawHead(writer, response, { Connection: 'close' })
  await writer.writeRaw(firstBytes(Buffer.from(response.body), bytes))
  writer.end()
}

async function overstateLength(writer: ResponseWriter, response: HttpResponse) {
  const body = Buffer.from(response.body)
  await writeRawHead(writer, response, { 'Content-Length': String(body.length + 64) })
  await writer.writeRaw(body)
  writer.end()
}

const firstBytes = (body: Buffer, bytes: number | undefined) => body.subarray(0, bytes ?? Math.floor(body.length / 2))

async function writeRawHead(writer: ResponseWriter, { status, headers }: HttpResponse, more: Readonly<Record<string, string>>) {
  const lines = Object.entries({ ...headers, ...more }).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
  writer.logStatus(status)
  await writer.writeRaw(`HTTP/1.1 ${status} Corrupted\r\n${lines.join('')}\r\n`)
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
