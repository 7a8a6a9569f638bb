import type * as z from 'zod'
import { describeMismatch } from '../core/mismatch.ts'
import { version } from '../core/version.ts'
import type { Failure } from '../http/failure.ts'
import { type RetryPolicy, retryPolicyFor } from '../http/retry.ts'
import { attempt, type SendDeps, send, startDeadline } from '../http/send.ts'
import { type Answer, createTransport, type Exchange } from '../http/transport.ts'
import { describeAnswer, ForgeError, failureOfAnswer } from './failure.ts'
import type { ForgeWords, Limits, Run } from './forge.ts'

const maxAttempts = 3

type ForgeRequest = Pick<Exchange, 'method' | 'url' | 'authorization' | 'body'>

interface Requests {
  /** Throws a ForgeError for every answer but a success. */
  request(request: ForgeRequest): Promise<Answer>
  close(): Promise<void>
}

/** Requests to the API of a forge, with one time limit for all of them. */
export function createRequests({ apiUrl, proxy }: Run, deps: SendDeps, limits: Limits, words: ForgeWords): Requests {
  const { clock, cancellation } = deps
  const transport = createTransport(apiUrl, proxy, clock)
  const remainingMs = startDeadline(clock, limits.totalMs)

  async function request(given: ForgeRequest): Promise<Answer> {
    // The only request of GraphQL is a query.
    const isRead = given.method === 'GET' || given.url.pathname.endsWith('/graphql')
    const tryOnce = async () => {
      if (cancellation.stop.aborted) throw new ForgeError({ detail: 'canceled before it was sent' })
      const leftMs = Math.floor(remainingMs())
      if (leftMs <= 0) throw new ForgeError({ detail: 'the time limit is reached' })
      const outcome = await attempt(transport, {
        ...given,
        userAgent: `watchkeeper/${version}`,
        timeoutMs: Math.min(limits.requestMs, leftMs),
        // The first signal stops reads, and a write gets time to finish.
        signal: isRead ? cancellation.stop : cancellation.abort,
      })
      if ('failure' in outcome) return outcome
      const { answer } = outcome
      return answer.status < 300 ? { value: answer } : { failure: failureOfAnswer(answer, clock.now()) }
    }
    // Only reads are retried: forges have no idempotency keys, and the next run finds what this one may have written.
    const policyOf = (failure: Failure): RetryPolicy => {
      if (!isRead) return 'none'
      return failure.cause === 'rate-limit' ? 'attempts' : retryPolicyFor('GET', failure)
    }
    const describe = (failure: Failure): string => describeAnswer(failure, words)
    const end = await send(tryOnce, { maxAttempts, remainingMs, policyOf, describe }, deps)
    if ('value' in end) return end.value
    throw new ForgeError(end.failure, end.isOutcomeUnknown && !isRead)
  }

  return { request, close: () => transport.close() }
}

const perPage = 100

/** Longer lists are an error. */
const maxPages = 200

interface Page {
  readonly data: unknown
  readonly headers: { readonly link?: string | undefined }
}

/** The items of all pages, requested by number: the token is not sent to an address from an answer. */
export async function* listAll<T>(
  item: z.ZodType<T>,
  ask: (page: { readonly page: number; readonly per_page: number }) => Promise<Page>,
): AsyncGenerator<T> {
  for (let page = 1; page <= maxPages; page++) {
    const { data, headers } = await ask({ page, per_page: perPage })
    const items = parseAnswer(item.array(), data)
    yield* items
    if (headers.link === undefined ? items.length < perPage : !/rel="next"/.test(headers.link)) return
  }
  // An incomplete list would lead to a second comment.
  throw new ForgeError({ detail: `the list has more than ${maxPages * perPage} entries` })
}

/** Throws a ForgeError for an answer that does not match. */
export function parseAnswer<T>(schema: z.ZodType<T>, data: unknown): T {
  const parsed = schema.safeParse(data)
  if (parsed.success) return parsed.data
  throw new ForgeError({ cause: 'unfit', detail: describeMismatch(parsed.error, 'the answer') })
}
