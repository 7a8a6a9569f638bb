import * as z from 'zod'
import type { Clock } from '../core/clock.ts'
import { version } from '../core/version.ts'
import { type Cancellation, inSeconds } from '../http/deadline.ts'
import { ExchangeFailure } from '../http/exchange-failure.ts'
import { decideRetry } from '../http/retry.ts'
import { createTransport, type Exchange, type Transport } from '../http/transport.ts'
import { classifyFailure, describeAnswer, isRead } from './failure.ts'
import type { PullRequest, Run } from './run.ts'

export interface GitHubDeps {
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
}

export interface Limits {
  /** For one request; GitHub's own limit is 10 s. */
  readonly requestMs: number
  /** For all requests of a run. */
  readonly totalMs: number
}

export const defaultLimits: Limits = { requestMs: 15_000, totalMs: 60_000 }

const maxAttempts = 3

export interface Author {
  readonly login: string
  readonly id: number
}

interface Comment {
  readonly id: number
  readonly body: string
  readonly authorId: number | undefined
}

export interface Issue {
  readonly number: number
  readonly body: string
  readonly authorId: number | undefined
  readonly labels: readonly string[]
}

export interface IssueChange {
  readonly body?: string
  /** Why it is closed; absent for one that stays open. */
  readonly close?: 'completed' | 'not_planned'
}

/** The requests to GitHub. Answers are validated. Methods throw octokit's errors and `ExchangeFailure`, see `classifyFailure`. */
export type GitHub = Awaited<ReturnType<typeof openGitHub>>

/** Loads octokit, so call it only when there is something to write. Close it after use. */
export async function openGitHub(run: Run, token: string, deps: GitHubDeps, limits: Limits) {
  const { clock } = deps
  const { getOctokit } = await import('@actions/github')
  const transport = createTransport(run.apiUrl, run.proxy, clock)
  const endsAtMs = clock.monotonicMs() + limits.totalMs
  const remainingMs = (): number => endsAtMs - clock.monotonicMs()
  const fetch = createFetch(transport, { ...deps, requestMs: limits.requestMs, remainingMs })
  const octokit = getOctokit(token, { baseUrl: run.apiUrl.href.replace(/\/$/, ''), request: { fetch, log: silent }, log: silent })
  // Only reads are retried: GitHub has no idempotency keys, and the next run finds a comment that this one may have written.
  octokit.hook.wrap('request', (request, options) =>
    isRead(options) ? withRetries(() => request(options), remainingMs, deps) : request(options),
  )
  const { rest } = octokit
  const repository = { owner: run.owner, repo: run.repository }

  return {
    /** The account that the token belongs to. */
    async author(): Promise<Author> {
      const { viewer } = parseAnswer(viewerSchema, await octokit.graphql('query { viewer { login databaseId } }'))
      return { login: viewer.login, id: viewer.databaseId }
    },
    async pullRequestsWith(commit: string): Promise<readonly PullRequest[]> {
      const pages = pagesOf(pullsSchema, (page) =>
        rest.repos.listPullRequestsAssociatedWithCommit({ ...repository, commit_sha: commit, ...page }),
      )
      return (await collect(pages)).map(({ number, state, head }) => ({ number, state, headCommit: head.sha }))
    },
    /** The first match on any page. */
    async findComment(number: number, matches: (comment: Comment) => boolean): Promise<Comment | undefined> {
      const pages = pagesOf(commentsSchema, (page) => rest.issues.listComments({ ...repository, issue_number: number, ...page }))
      for await (const page of pages) {
        const found = page.map(({ id, body, user }) => ({ id, body: body ?? '', authorId: user?.id })).find(matches)
        if (found !== undefined) return found
      }
      return undefined
    },
    async createComment(number: number, body: string): Promise<void> {
      await rest.issues.createComment({ ...repository, issue_number: number, body })
    },
    async updateComment(id: number, body: string): Promise<void> {
      await rest.issues.updateComment({ ...repository, comment_id: id, body })
    },
    async openIssuesOf({ login }: Author): Promise<readonly Issue[]> {
      const pages = pagesOf(z.array(issueSchema), (page) =>
        rest.issues.listForRepo({ ...repository, state: 'open', creator: login, ...page }),
      )
      // GitHub lists pull requests among issues.
      return (await collect(pages)).filter((issue) => !issue.pull_request).map(toIssue)
    },
    async createIssue({ title, body, label }: { title: string; body: string; label: string }): Promise<Issue> {
      const { data } = await rest.issues.create({ ...repository, title, body, labels: [label] })
      return toIssue(parseAnswer(issueSchema, data))
    },
    async updateIssue(number: number, { body, close }: IssueChange): Promise<void> {
      const closing = close === undefined ? {} : { state: 'closed' as const, state_reason: close }
      await rest.issues.update({ ...repository, issue_number: number, ...(body !== undefined && { body }), ...closing })
    },
    close: (): Promise<void> => transport.close(),
  }
}

// Octokit would print text of the server to a stream in which the runner executes commands.
const nothing = (): undefined => undefined
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

async function withRetries<T>(send: () => T | Promise<T>, remainingMs: () => number, deps: GitHubDeps): Promise<T> {
  const { clock, random, note, cancellation } = deps
  for (let attempts = 1; ; attempts++) {
    try {
      return await send()
    } catch (thrown) {
      const failure = classifyFailure(thrown, clock.now())
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
      note(`Trying again in ${inSeconds(decision.waitMs)} (attempt ${attempts} of ${maxAttempts}): ${describeAnswer(failure)}`)
      await clock.sleep(decision.waitMs, cancellation.stop)
    }
  }
}

interface FetchOptions {
  readonly cancellation: Cancellation
  readonly requestMs: number
  readonly remainingMs: () => number
}

interface FetchInit {
  readonly method: Exchange['method']
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The headers that are needed. Others would make octokit print text of the server. */
const keptHeaders = ['content-type', 'link', 'retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** Sends octokit's requests over the transport of all requests: proxies, TLS, size limits, no redirects. */
const createFetch =
  (transport: Transport, { cancellation, requestMs, remainingMs }: FetchOptions) =>
  async (address: string, { method, headers, body }: FetchInit): Promise<Response> => {
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
      timeoutMs: Math.min(requestMs, leftMs),
      // After the first signal, reads stop, and a write gets time to finish.
      signal: method === 'GET' ? cancellation.stop : cancellation.abort,
    })
    if (answer.status >= 300 && answer.status < 400) throw new ExchangeFailure('REDIRECT', redirectOf(answer.headers.location, url))
    const kept = keptHeaders.flatMap((name) => (answer.headers[name] === undefined ? [] : [[name, answer.headers[name]] as const]))
    return new Response(answer.status === 204 ? null : answer.text, { status: answer.status, headers: Object.fromEntries(kept) })
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
async function* pagesOf<T>(
  schema: z.ZodType<readonly T[]>,
  ask: (page: { readonly page: number; readonly per_page: number }) => Promise<Page>,
): AsyncGenerator<readonly T[]> {
  for (let page = 1; page <= maxPages; page++) {
    const { data, headers } = await ask({ page, per_page: perPage })
    const items = parseAnswer(schema, data)
    yield items
    if (headers.link === undefined ? items.length < perPage : !/rel="next"/.test(headers.link)) return
  }
  // With an incomplete list, a second comment would be written.
  throw new ExchangeFailure('TOO_LARGE', `the list has more than ${maxPages * perPage} entries`)
}

async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const items: T[] = []
  for await (const page of pages) items.push(...page)
  return items
}

const author = z.looseObject({ id: z.number() }).nullish()
const text = z.string().nullish()

const viewerSchema = z.looseObject({ viewer: z.looseObject({ login: z.string().min(1), databaseId: z.int() }) })
const commentsSchema = z.array(z.looseObject({ id: z.int(), body: text, user: author }))
const issueSchema = z.looseObject({
  number: z.int(),
  body: text,
  user: author,
  labels: z.array(z.union([z.string(), z.looseObject({ name: text })])),
  pull_request: z.unknown().optional(),
})
const pullsSchema = z.array(z.looseObject({ number: z.int(), state: z.string(), head: z.looseObject({ sha: z.string() }) }))

const toIssue = ({ number, body, user, labels }: z.output<typeof issueSchema>): Issue => ({
  number,
  body: body ?? '',
  authorId: user?.id,
  labels: labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
})

function parseAnswer<T>(schema: z.ZodType<T>, data: unknown): T {
  const { success, data: value, error } = schema.safeParse(data)
  if (success) return value
  throw new ExchangeFailure(
    'BAD_ANSWER',
    `the answer is not from GitHub: ${error.issues[0]?.path.join('.') || 'the answer'} is not as expected`,
  )
}
