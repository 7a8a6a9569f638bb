import type * as z from 'zod'
import { version } from '../core/version.ts'
import type { RetryDeps } from '../http/deadline.ts'
import { inSeconds } from '../http/deadline.ts'
import { ExchangeFailure } from '../http/exchange-failure.ts'
import { decideRetry } from '../http/retry.ts'
import type { Exchange, Transport } from '../http/transport.ts'
import { classifyFailure, describeAnswer } from './failure.ts'
import type { ForgeWords, Limits } from './forge.ts'

const maxAttempts = 3

interface SendOptions {
  readonly transport: Transport
  readonly deps: RetryDeps
  readonly limits: Limits
  readonly words: ForgeWords
}

interface FetchInit {
  readonly method: Exchange['method']
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The headers that are needed. Others would make octokit print text of the server. */
const keptHeaders = [
  'content-type',
  'link',
  'retry-after',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-remaining',
  'ratelimit-reset',
]

/** Requests over the transport of all requests: proxies, TLS, size limits, no redirects, one deadline for all of them. */
export function createRequests({ transport, deps, limits, words }: SendOptions) {
  const { clock, random, note, cancellation } = deps
  const endsAtMs = clock.monotonicMs() + limits.totalMs
  const remainingMs = (): number => endsAtMs - clock.monotonicMs()
  return {
    /** In the form of the global `fetch`, as far as it is used. */
    async fetch(address: string, { method, headers, body }: FetchInit): Promise<Response> {
      if (cancellation.stop.aborted) throw new ExchangeFailure('NOT_SENT', 'canceled before it was sent')
      const leftMs = Math.floor(remainingMs())
      if (leftMs <= 0) throw new ExchangeFailure('DEADLINE', 'the time limit for comments and issues is reached')
      const url = new URL(address)
      const answer = await transport.exchange({
        method,
        url,
        body,
        authorization: headers.authorization ?? '',
        userAgent: `watchkeeper/${version}`,
        timeoutMs: Math.min(limits.requestMs, leftMs),
        // After the first signal, reads stop, and a write gets time to finish.
        signal: method === 'GET' ? cancellation.stop : cancellation.abort,
      })
      if (answer.status >= 300 && answer.status < 400) throw new ExchangeFailure('REDIRECT', redirectOf(answer.headers.location, url))
      const kept = keptHeaders.flatMap((name) => (answer.headers[name] === undefined ? [] : [[name, answer.headers[name]] as const]))
      return new Response(answer.status === 204 ? null : answer.text, { status: answer.status, headers: Object.fromEntries(kept) })
    },
    async withRetries<T>(send: () => T | Promise<T>): Promise<T> {
      for (let attempts = 1; ; attempts++) {
        try {
          return await send()
        } catch (thrown) {
          const failure = classifyFailure(thrown, clock.now(), words)
          const decision = decideRetry({
            policy: failure.isTransient ? 'attempts' : 'none',
            attempts,
            sameCause: attempts,
            maxAttempts,
            serverWaitMs: failure.waitMs,
            remainingMs: remainingMs(),
            random: random(),
          })
          if (cancellation.stop.aborted || !decision.retry) throw thrown
          note(`Trying again in ${inSeconds(decision.waitMs)} (attempt ${attempts} of ${maxAttempts}): ${describeAnswer(failure, words)}`)
          await clock.sleep(decision.waitMs, cancellation.stop)
        }
      }
    },
  }
}

function redirectOf(location: string | undefined, from: URL): string {
  const target = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from).origin : 'nowhere'
  return `${from.origin} answered with a redirect to ${target}, which is not followed`
}

const perPage = 100

/** Longer lists are an error. */
const maxPages = 200

interface Page {
  readonly data: unknown
  readonly headers: { readonly link?: string | undefined }
}

/** All pages, requested by number: the token is not sent to an address from an answer. */
export async function* pagesOf<T>(
  parse: (data: unknown) => readonly T[],
  ask: (page: { readonly page: number; readonly per_page: number }) => Promise<Page>,
): AsyncGenerator<readonly T[]> {
  for (let page = 1; page <= maxPages; page++) {
    const { data, headers } = await ask({ page, per_page: perPage })
    const items = parse(data)
    yield items
    if (headers.link === undefined ? items.length < perPage : !/rel="next"/.test(headers.link)) return
  }
  // With an incomplete list, a second comment would be written.
  throw new ExchangeFailure('TOO_LARGE', `the list has more than ${maxPages * perPage} entries`)
}

export async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const items: T[] = []
  for await (const page of pages) items.push(...page)
  return items
}

/** Checks answers of the forge. */
export const createParser =
  ({ name }: ForgeWords) =>
  <T>(schema: z.ZodType<T>) =>
  (data: unknown): T => {
    const { success, data: value, error } = schema.safeParse(data)
    if (success) return value
    throw new ExchangeFailure(
      'BAD_ANSWER',
      `the answer is not from ${name}: ${error.issues[0]?.path.join('.') || 'the answer'} is not as expected`,
    )
  }
