import type * as z from 'zod'
import { describeMismatch } from '../../platform/core/mismatch.ts'
import { version } from '../../platform/core/version.ts'
import type { Failure } from '../../platform/http/failure.ts'
import { type RetryPolicy, retryPolicyFor } from '../../platform/http/retry.ts'
import { type SendDeps, sendOnce, sendWithRetries, startDeadline } from '../../platform/http/send.ts'
import { type Answer, createTransport, type Exchange } from '../../platform/http/transport.ts'
import { describeAnswer, failureOfAnswer, GitHubError } from './failure.ts'
import type { GitHubRun } from './run.ts'

export interface Limits {
  /** GitHub's own limit is 10 s. */
  readonly requestMs: number
  readonly totalMs: number
}

/** Comment and issue are written after the deadline of the run. */
export const defaultLimits: Limits = { requestMs: 15_000, totalMs: 30_000 }

type GitHubRequest = Pick<Exchange, 'method' | 'url' | 'authorization' | 'body'>

interface GitHubRequests {
  /** Throws a GitHubError for every answer but a success. */
  request(request: GitHubRequest): Promise<Answer>
  close(): Promise<void>
}

export function createRequests({ apiUrl, proxy }: GitHubRun, deps: SendDeps, limits: Limits): GitHubRequests {
  const { clock, cancellation } = deps
  const transport = createTransport(apiUrl, proxy, clock)
  const remainingMs = startDeadline(clock, limits.totalMs)

  async function request(given: GitHubRequest): Promise<Answer> {
    // The only request of GraphQL is a query.
    const isRead = given.method === 'GET' || given.url.pathname.endsWith('/graphql')
    const tryOnce = async () => {
      if (cancellation.stop.aborted) throw new GitHubError({ detail: 'canceled before it was sent' })
      const leftMs = Math.floor(remainingMs())
      if (leftMs <= 0) throw new GitHubError({ detail: 'the time limit is reached' })
      const outcome = await sendOnce(transport, {
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
    // GitHub has no idempotency keys. A POST that may have been carried out is found by the next run; a PATCH can be repeated.
    const method = isRead || given.method === 'PATCH' ? 'GET' : 'POST'
    const policyOf = (failure: Failure): RetryPolicy => (failure.cause === 'rate-limit' ? 'attempts' : retryPolicyFor(method, failure))
    const end = await sendWithRetries(tryOnce, { maxAttempts: 3, remainingMs, policyOf, describe: describeAnswer }, deps)
    if ('value' in end) return end.value
    throw new GitHubError(end.failure, end.isOutcomeUnknown && !isRead)
  }

  return { request, close: () => transport.close() }
}

export const perPage = 100

/** Longer lists are an error. */
const maxPages = 200

/** Asks for pages by number: the token is not sent to an address from an answer. */
export async function* listAll<T>(
  item: z.ZodType<T>,
  ask: (page: {
    readonly page: number
    readonly per_page: number
  }) => Promise<{ readonly data: unknown; readonly headers: { readonly link?: string | undefined } }>,
): AsyncGenerator<T> {
  for (let page = 1; page <= maxPages; page++) {
    const { data, headers } = await ask({ page, per_page: perPage })
    const items = parseAnswer(item.array(), data)
    yield* items
    if (headers.link === undefined ? items.length < perPage : !/rel="next"/.test(headers.link)) return
  }
  // An incomplete list would lead to a second comment.
  throw new GitHubError({ detail: `the list has more than ${maxPages * perPage} entries` })
}

export function parseAnswer<T>(schema: z.ZodType<T>, data: unknown): T {
  const parsed = schema.safeParse(data)
  if (parsed.success) return parsed.data
  throw new GitHubError({ cause: 'unfit', detail: describeMismatch(parsed.error, 'the answer') })
}
