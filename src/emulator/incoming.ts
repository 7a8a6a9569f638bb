// Owns a request as it came in: raw path, headers, and a body read to its end within the limit.
import type { IncomingMessage } from 'node:http'
import { badRequest, Refusal } from './refusal.ts'
import type { JsonObject } from './store.ts'

export interface Incoming {
  readonly method: string
  /** As on the wire, query included. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly tooLarge: boolean
}

const longestBody = 5 * 1024 * 1024

export const headersOf = (request: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )

/** What is over the limit is read and thrown away: a client that is still sending would miss the 413. */
export async function receive(request: IncomingMessage): Promise<Incoming> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= longestBody) chunks.push(chunk)
  }
  const tooLarge = length > longestBody
  const text = tooLarge ? '' : Buffer.concat(chunks).toString()
  return { method: request.method ?? '', path: request.url ?? '', headers: headersOf(request), text, tooLarge }
}

export const pathnameOf = (path: string): string => path.split('?', 1)[0] ?? ''

export const queryOf = (path: string): URLSearchParams => new URLSearchParams(path.slice(pathnameOf(path).length))

export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The body as an object; every body of the API is one. */
export function objectOf({ headers, text, tooLarge }: Incoming): JsonObject {
  if (tooLarge) throw new Refusal(413, 'PAYLOAD_TOO_LARGE', `request body is larger than ${longestBody} bytes`)
  // The specification declares this type alone for bodies; a server of this kind does not parse any other.
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) throw badRequest('request body must be sent as application/json')
  const value = parseOrUndefined(text)
  if (value === undefined) throw badRequest('request body is not valid JSON')
  if (!isObject(value)) throw badRequest('request body must be an object')
  return value
}

const isObject = (value: unknown): value is JsonObject => value !== null && typeof value === 'object' && !Array.isArray(value)
