import type { IncomingMessage } from 'node:http'

/** A request as it came in, its body read to the end within the limit. */
export interface Incoming {
  readonly method: string
  /** As on the wire, query included. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly isTooLarge: boolean
}

export const headersOf = (request: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )

/** What is over the limit is read and thrown away: a client that is still sending would miss the answer. */
export async function receive(request: IncomingMessage, longestBody: number): Promise<Incoming> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= longestBody) chunks.push(chunk)
  }
  const isTooLarge = length > longestBody
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

export const isJsonType = ({ headers }: Incoming): boolean => /^application\/json\b/i.test(headers['content-type'] ?? '')
