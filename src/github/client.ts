import * as z from 'zod'
import type { Clock } from '../core/clock.ts'
import { version } from '../core/version.ts'
import type { Cancellation } from '../http/deadline.ts'
import { inSeconds } from '../http/deadline.ts'
import { ExchangeFailure } from '../http/exchange-failure.ts'
import { decideRetry } from '../http/retry.ts'
import { createTransport, type Exchange, type Transport } from '../http/transport.ts'
import { describeAnswer, GitHubFailure, toGitHubFailure } from './failure.ts'
import type { PullRequest, Run } from './run.ts'

// Owns handing octokit's requests to this project's own transport, with its limits: no redirect, no endless answer, a fresh
// connection for what creates, the proxies and authorities of everything else, and an end to every wait.

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

// Owns the conversation with GitHub's API: octokit, loaded only here and only when there is something to say, with a deadline for
// everything, and a second try for reads alone. What writes is sent once: the next run finds what this one may have written.

export interface Ports {
  readonly clock: Clock
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  readonly note: (line: string) => void
  readonly cancellation: Cancellation
}

export interface Limits {
  /** For one request, GitHub's own is 10 s. */
  readonly requestMs: number
  /** For everything that is told in one run. */
  readonly totalMs: number
}

export const usualLimits: Limits = { requestMs: 15_000, totalMs: 60_000 }

const mostAttempts = 3

export type Octokit = ReturnType<typeof import('@actions/github').getOctokit>

export interface Conversation {
  /** For what changes nothing: tried again when that may help. Throws a GitHubFailure. */
  read<T>(ask: (octokit: Octokit) => Promise<T>): Promise<T>
  /** Sent once. Throws a GitHubFailure. */
  write<T>(ask: (octokit: Octokit) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export async function openConversation({ apiUrl, proxy }: Run, token: string, ports: Ports, limits: Limits): Promise<Conversation> {
  const { clock, cancellation } = ports
  const { getOctokit } = await import('@actions/github')
  const transport = createTransport(apiUrl, proxy, clock)
  const endsAtMs = clock.monotonicMs() + limits.totalMs
  const remainingMs = (): number => endsAtMs - clock.monotonicMs()
  const fetch = createFetch({ transport, cancellation, userAgent: `watchkeeper/${version}`, timeoutMs: limits.requestMs, remainingMs })
  const octokit = getOctokit(token, { baseUrl: apiUrl.href.replace(/\/$/, ''), request: { fetch, log: silence }, log: silence })

  const write = async <T>(ask: (octokit: Octokit) => Promise<T>): Promise<T> => {
    try {
      return await ask(octokit)
    } catch (thrown) {
      throw toGitHubFailure(thrown, clock.now())
    }
  }
  const read = async <T>(ask: (octokit: Octokit) => Promise<T>): Promise<T> => {
    for (let attempts = 1; ; attempts++) {
      try {
        return await write(ask)
      } catch (thrown) {
        const failure = ofReading(thrown)
        const waitMs = waitAfter(failure, attempts, remainingMs(), ports)
        ports.note(`Trying again in ${inSeconds(waitMs)} (attempt ${attempts} of ${mostAttempts}): ${describeAnswer(failure.facts)}`)
        await clock.sleep(waitMs, cancellation.stop)
      }
    }
  }
  return { read, write, close: () => transport.close() }
}

/** What was only looked at is not changed by it, whatever became of the answer. */
function ofReading(thrown: unknown): GitHubFailure {
  if (thrown instanceof GitHubFailure) return new GitHubFailure({ ...thrown.facts, isUnknown: false }, { cause: thrown })
  throw thrown
}

/** Throws the failure when there is no point in trying again. */
function waitAfter(failure: GitHubFailure, attempts: number, remainingMs: number, { random, cancellation }: Ports): number {
  if (cancellation.stop.aborted) throw failure
  const { patience, toldMs } = failure.facts
  const decision = decideRetry({
    policy: patience,
    attempts,
    sameCause: attempts,
    maxAttempts: mostAttempts,
    serverWaitMs: toldMs,
    remainingMs,
    random: random(),
  })
  if (!decision.retry) throw failure
  return decision.waitMs
}

// Octokit would print what a server wrote, on a stream that the runner obeys.
const nothing = (): undefined => undefined
const silence = { debug: nothing, info: nothing, warn: nothing, error: nothing }

// Owns what this project asks of GitHub, one method for each request, with answers checked before anybody relies on them.

/** Whom the token belongs to. */
export interface Author {
  readonly login: string
  readonly id: number
}

export interface Comment {
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

export interface GitHub {
  author(): Promise<Author>
  pullRequestsWith(commit: string): Promise<readonly PullRequest[]>
  /** The first comment that is wanted, looked for on all pages. */
  findComment(number: number, isWanted: (comment: Comment) => boolean): Promise<Comment | undefined>
  createComment(number: number, body: string): Promise<void>
  updateComment(id: number, body: string): Promise<void>
  openIssuesOf(author: Author): Promise<readonly Issue[]>
  createIssue(issue: { readonly title: string; readonly body: string; readonly label: string }): Promise<Issue>
  updateIssue(number: number, change: IssueChange): Promise<void>
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

export function createGitHub({ owner, repository: repo }: Run, { read, write }: Conversation): GitHub {
  const here = { owner, repo }
  return {
    async author() {
      const { viewer } = await read(async (octokit) => parsed(viewerSchema, await octokit.graphql('query { viewer { login databaseId } }')))
      return { login: viewer.login, id: viewer.databaseId }
    },
    async pullRequestsWith(commit) {
      const pages = pagesOf(read, pullsSchema, (octokit, page) =>
        octokit.rest.repos.listPullRequestsAssociatedWithCommit({ ...here, commit_sha: commit, ...page }),
      )
      return (await collect(pages)).map(({ number, state, head }) => ({ number, state, headCommit: head.sha }))
    },
    async findComment(number, isWanted) {
      const pages = pagesOf(read, commentsSchema, (octokit, page) =>
        octokit.rest.issues.listComments({ ...here, issue_number: number, ...page }),
      )
      for await (const page of pages) {
        const found = page.map(({ id, body, user }) => ({ id, body: body ?? '', authorId: user?.id })).find(isWanted)
        if (found !== undefined) return found
      }
      return undefined
    },
    async createComment(number, body) {
      await write((octokit) => octokit.rest.issues.createComment({ ...here, issue_number: number, body }))
    },
    async updateComment(id, body) {
      await write((octokit) => octokit.rest.issues.updateComment({ ...here, comment_id: id, body }))
    },
    async openIssuesOf({ login }) {
      const pages = pagesOf(read, z.array(issueSchema), (octokit, page) =>
        octokit.rest.issues.listForRepo({ ...here, state: 'open', creator: login, ...page }),
      )
      // GitHub lists pull requests among issues.
      return (await collect(pages)).filter((issue) => !issue.pull_request).map(toIssue)
    },
    async createIssue({ title, body, label }) {
      return write(async (octokit) => {
        const { data } = await octokit.rest.issues.create({ ...here, title, body, labels: [label] })
        return toIssue(parsed(issueSchema, data))
      })
    },
    async updateIssue(number, { body, close }) {
      const closing = close === undefined ? {} : { state: 'closed' as const, state_reason: close }
      await write((octokit) =>
        octokit.rest.issues.update({ ...here, issue_number: number, ...(body !== undefined && { body }), ...closing }),
      )
    },
  }
}

const toIssue = ({ number, body, user, labels }: z.output<typeof issueSchema>): Issue => ({
  number,
  body: body ?? '',
  authorId: user?.id,
  labels: labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
})

const perPage = 100

/** A thread with more comments than this is not looked through. */
const mostPages = 200

interface Page {
  readonly data: unknown
  readonly headers: { readonly link?: string | undefined }
}

/** All pages, by number: an address that an answer names is not one that the token is sent to. */
async function* pagesOf<T>(
  read: Conversation['read'],
  schema: z.ZodType<readonly T[]>,
  ask: (octokit: Octokit, page: { readonly page: number; readonly per_page: number }) => Promise<Page>,
): AsyncGenerator<readonly T[]> {
  for (let page = 1; page <= mostPages; page++) {
    const { items, link } = await read(async (octokit) => {
      const { data, headers } = await ask(octokit, { page, per_page: perPage })
      return { items: parsed(schema, data), link: headers.link }
    })
    yield items
    if (link === undefined ? items.length < perPage : !/rel="next"/.test(link)) return
  }
  // Whoever took an incomplete list for a complete one would write a second time.
  throw new ExchangeFailure('TOO_LARGE', `there are more than ${mostPages * perPage} entries to look through`)
}

async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const items: T[] = []
  for await (const page of pages) items.push(...page)
  return items
}

function parsed<T>(schema: z.ZodType<T>, data: unknown): T {
  const { success, data: value, error } = schema.safeParse(data)
  if (success) return value
  throw new ExchangeFailure('BAD_ANSWER', `the answer is not GitHub's: ${error.issues[0]?.path.join('.') || 'it'} does not fit`)
}
