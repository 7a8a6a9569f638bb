// Owns handing octokit's requests to this project's own transport, with its limits: no redirect, no endless answer, a fresh
// connection for what creates, the proxies and authorities of everything else, and an end to every wait.
import { ExchangeFailure } from '../api/exchange-failure.ts'
import type { Cancellation } from '../api/requester.ts'
import type { Exchange, Transport } from '../api/transport.ts'

export interface FetchOptions {
  readonly transport: Transport
  readonly cancellation: Cancellation
  readonly userAgent: string
  /** For one request. */
  readonly timeoutMs: number
  /** Until nothing more may be sent. */
  readonly remainingMs: () => number
}

interface Init {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** All that octokit or this project looks at. Others would only make octokit print what a server wrote. */
const wantedHeaders = ['content-type', 'link', 'retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset']

export function createFetch({ transport, cancellation, userAgent, timeoutMs, remainingMs }: FetchOptions) {
  return async (address: string, { method, headers, body }: Init): Promise<Response> => {
    if (cancellation.stop.aborted) throw new ExchangeFailure('NOT_SENT', 'cancelled before it was sent')
    const left = Math.floor(remainingMs())
    if (left <= 0) throw new ExchangeFailure('DEADLINE', 'the time for comments and issues is used up')
    const url = new URL(address)
    const answer = await transport.exchange({
      method: method as Exchange['method'],
      url,
      body,
      authorization: headers.authorization ?? '',
      userAgent,
      timeoutMs: Math.min(timeoutMs, left),
      // What only asks is worth no wait once nobody wants to know any more.
      signal: method === 'GET' ? cancellation.stop : cancellation.abort,
    })
    if (answer.status >= 300 && answer.status < 400) throw new ExchangeFailure('REDIRECT', redirectOf(answer.headers.location, url))
    const kept = wantedHeaders.flatMap((name) => (answer.headers[name] === undefined ? [] : [[name, answer.headers[name]] as const]))
    return new Response(answer.status === 204 ? null : answer.text, { status: answer.status, headers: Object.fromEntries(kept) })
  }
}

function redirectOf(location: string | undefined, from: URL): string {
  const target = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from).origin : 'nowhere'
  return `${from.origin} answered with a redirect to ${target}, which is not followed`
}
