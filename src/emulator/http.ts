import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { systemClock } from '../platform/core/clock.ts'

/** A request whose body has been read to the end, within the limit. */
export interface HttpRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly isTooLarge: boolean
}

/** An answer that is not a success. */
export class StatusError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A list is a header that is sent several times. */
export type Headers = Readonly<Record<string, string | readonly string[]>>

export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: string | Uint8Array
}

export const headersOf = (request: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )

/** A body over the limit is read and thrown away: a client that is still sending would miss the response. */
export async function readRequest(request: IncomingMessage, maxBodyBytes: number): Promise<HttpRequest> {
  const chunks: Buffer[] = []
  let length = 0
  // A request without an encoding consists of buffers.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= maxBodyBytes) chunks.push(chunk)
  }
  const isTooLarge = length > maxBodyBytes
  const text = isTooLarge ? '' : Buffer.concat(chunks).toString()
  return { method: request.method ?? '', path: request.url ?? '', headers: headersOf(request), text, isTooLarge }
}

export const pathnameOf = (path: string): string => path.split('?', 1)[0] ?? ''

export const queryOf = (path: string): URLSearchParams => new URLSearchParams(path.slice(pathnameOf(path).length))

/** A parameter that is given several times is a list. */
export function queryFieldsOf(path: string): Readonly<Record<string, string | readonly string[]>> {
  const query = queryOf(path)
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const [first = '', ...more] = query.getAll(name)
      return [name, more.length === 0 ? first : [first, ...more]]
    }),
  )
}

export const jsonType = 'application/json; charset=utf-8'

export const htmlType = 'text/html; charset=utf-8'

export const jsonResponse = (status: number, value: unknown, headers: Headers = {}): HttpResponse => ({
  status,
  headers: { 'content-type': jsonType, ...headers },
  body: JSON.stringify(value),
})

export const textResponse = (status: number, body: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})

/** The page of Express for a path without a route. */
export const noRouteResponse = (method: string, path: string): HttpResponse => ({
  status: 404,
  headers: { 'content-type': htmlType },
  body: `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Error</title>
</head>
<body>
<pre>${`Cannot ${method} ${path}`.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')}</pre>
</body>
</html>
`,
})

export type ResponseWriter = ReturnType<typeof createResponseWriter>

/** Sends one response, as HTTP requires it or, for faults, as HTTP forbids it. */
export function createResponseWriter(
  request: IncomingMessage,
  response: ServerResponse,
  { now, logStatus, signal }: { readonly now: () => number; readonly logStatus: (status: number) => void; readonly signal: AbortSignal },
) {
  const { socket } = response
  const acceptsGzip = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .some((coding) => /^\s*(gzip|\*)\s*(;|$)/i.test(coding) && !/;\s*q=0(\.0*)?\s*$/i.test(coding))
  const begin = (status: number, headers: Headers): ServerResponse => {
    logStatus(status)
    response.sendDate = false
    response.setHeader('date', new Date(now()).toUTCString())
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    return response.writeHead(status)
  }
  return {
    begin,
    send({ status, headers, body }: HttpResponse): void {
      const plain = Buffer.from(body)
      const isGzipped = acceptsGzip && plain.length > 1024 && headers['content-encoding'] === undefined
      const bytes = isGzipped ? gzipSync(plain, { level: 1 }) : plain
      const length = { 'content-length': String(bytes.length) }
      begin(status, { ...headers, ...(isGzipped && { 'content-encoding': 'gzip' }), ...length }).end(bytes)
    },
    /** Bypasses the HTTP server. Resolves when the kernel has the bytes. */
    async writeRaw(data: string | Uint8Array): Promise<void> {
      if (socket === null || socket.destroyed) return
      if (!socket.write(data)) await once(socket, 'drain')
    },
    /** A TCP reset: what the client has not read yet may be lost. */
    reset: (): void => void socket?.resetAndDestroy(),
    /** A clean end of the connection, whatever the headers promised. */
    end: (): void => void socket?.end(),
    sleep: (ms: number): Promise<void> => systemClock.sleep(ms, signal),
    /** Logs a status that was sent with `writeRaw`. */
    logStatus,
  }
}
