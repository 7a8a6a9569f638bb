import type * as z from 'zod'
import { parseJsonOrUndefined } from '../../platform/core/json.ts'
import { describeMismatch } from '../../platform/core/mismatch.ts'
import { quote } from '../../platform/core/text.ts'
import { version } from '../../platform/core/version.ts'
import type { Failure } from '../../platform/http/failure.ts'
import { type RetryPolicy, retryPolicyFor } from '../../platform/http/retry.ts'
import { type SendDeps, sendOnce, sendWithRetries, startDeadline } from '../../platform/http/send.ts'
import { createTransport } from '../../platform/http/transport.ts'
import { describeAnswer, failureOfAnswer, GitHubError, messageOf } from './failure.ts'
import type { GitHubRun } from './run.ts'

/** Time limits of requests, in milliseconds. */
export interface Limits {
  /** Limit for one request; GitHub's own limit is 10 s. */
  readonly requestMs: number
  /** Limit for all requests together. */
  readonly totalMs: number
}

/** The limits of comment and issue, which are written after the deadline of the run. */
export const defaultLimits: Limits = { requestMs: 15_000, totalMs: 30_000 }

const maxAttempts = 3

/** The most that GitHub gives. */
const perPage = 100

/** Longer lists are an error. */
const maxPages = 200

interface GitHubRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly body?: unknown
}

/** Requests about the repository to the API of GitHub, with one time limit for all of them. Methods throw a GitHubError. */
export function createRequests({ apiUrl, proxy, owner, repository }: GitHubRun, token: string, deps: SendDeps, limits: Limits) {
  const { clock, cancellation } = deps
  const transport = createTransport(apiUrl, proxy, clock)
  const remainingMs = startDeadline(clock, limits.totalMs)
  const base = apiUrl.href.replace(/\/$/, '')

  /** Returns the answer, which has to be parsed, and whether a page follows it; throws for every answer but a success. */
  async function send(url: string, { method, body }: GitHubRequest, isRead = method === 'GET') {
    const tryOnce = async () => {
      if (cancellation.stop.aborted) throw new GitHubError({ detail: 'canceled before it was sent' })
      const leftMs = Math.floor(remainingMs())
      if (leftMs <= 0) throw new GitHubError({ detail: 'the time limit is reached' })
      const outcome = await sendOnce(transport, {
        ...{ method, url: new URL(url), authorization: `token ${token}` },
        body: body === undefined ? undefined : JSON.stringify(body),
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
    const repeated = isRead || method === 'PATCH' ? 'GET' : 'POST'
    const policyOf = (failure: Failure): RetryPolicy => (failure.cause === 'rate-limit' ? 'attempts' : retryPolicyFor(repeated, failure))
    const end = await sendWithRetries(tryOnce, { maxAttempts, remainingMs, policyOf, describe: describeAnswer }, deps)
    if (!('value' in end)) throw new GitHubError(end.failure, end.isOutcomeUnknown && !isRead)
    const { text, headers } = end.value
    return { data: parseJsonOrUndefined(text) ?? text, link: headers.link }
  }

  const request = (path: string, given: GitHubRequest = { method: 'GET' }) => send(`${base}/repos/${owner}/${repository}${path}`, given)

  async function readPage<T>(item: z.ZodType<T>, path: string, query: Record<string, string>, page = 1) {
    const search = new URLSearchParams({ ...query, page: `${page}`, per_page: `${perPage}` })
    const { data, link } = await request(`${path}?${search}`)
    return { items: parseAnswer(item.array(), data), link }
  }

  return {
    /** Sends a request to a path of the repository: a GET unless it says otherwise. */
    ask: async <T>(schema: z.ZodType<T>, path: string, given?: GitHubRequest): Promise<T> =>
      parseAnswer(schema, (await request(path, given)).data),
    /** Returns the first hundred items. */
    first: async <T>(item: z.ZodType<T>, path: string, query: Record<string, string>): Promise<readonly T[]> =>
      (await readPage(item, path, query)).items,
    /** Yields the items of all pages, requested by number: the token is not sent to an address from an answer. */
    async *list<T>(item: z.ZodType<T>, path: string, query: Record<string, string> = {}): AsyncGenerator<T> {
      for (let page = 1; page <= maxPages; page++) {
        const { items, link } = await readPage(item, path, query, page)
        yield* items
        if (link === undefined ? items.length < perPage : !/rel="next"/.test(link)) return
      }
      // An incomplete list would lead to a second comment.
      throw new GitHubError({ detail: `the list has more than ${maxPages * perPage} entries` })
    },
    /** Sends a query of GraphQL, which reads and is no path of the repository. */
    async query<T>(schema: z.ZodType<T>, query: string): Promise<T> {
      const { data } = await send(`${base.replace(/\/api\/v3$/, '/api')}/graphql`, { method: 'POST', body: { query } }, true)
      const message = messageOf(data)
      if (message !== '') throw new GitHubError({ detail: quote(message) })
      return parseAnswer(schema, data)
    },
    close: () => transport.close(),
  }
}

/** Throws a GitHubError for an answer that does not match. */
function parseAnswer<T>(schema: z.ZodType<T>, data: unknown): T {
  const parsed = schema.safeParse(data)
  if (parsed.success) return parsed.data
  throw new GitHubError({ cause: 'unfit', detail: describeMismatch(parsed.error, 'the answer') })
}
