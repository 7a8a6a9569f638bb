import * as z from 'zod'
import { parseJsonOrUndefined } from '../../platform/core/json.ts'
import { isMapping } from '../../platform/core/keys.ts'
import { describeMismatch } from '../../platform/core/mismatch.ts'
import { quoteLong } from '../../platform/core/text.ts'
import { describeFailedRequest, type Failure, failureOfStatus } from '../../platform/http/failure.ts'
import { type RetryPolicy, retryPolicyFor, type SendDeps, sendOnce, sendWithRetries, startDeadline } from '../../platform/http/send.ts'
import { type Answer, createTransport, type Exchange } from '../../platform/http/transport.ts'
import type { Deployment } from '../../platform/operation/operation.ts'
import type { GitHubRun } from './run.ts'

/** An absent field stays as it is. */
interface IssueChange {
  readonly title?: string
  readonly body?: string
  /** Absent for an issue that stays open. */
  readonly close?: 'completed' | 'not_planned'
}

/** Loads octokit, whose requests are those of this project. */
async function connectOctokit(run: GitHubRun, token: string, deps: SendDeps, limits: Limits) {
  const { getOctokit } = await import('@actions/github')
  const { request, close } = createRequests(run, deps, limits)
  /** The parser of octokit takes minutes for some answers. It calls this as the global `fetch`. */
  const fetch = async (
    url: string,
    {
      method,
      headers: { authorization },
      body,
    }: { readonly method: Exchange['method']; readonly headers: { readonly authorization: string }; readonly body: string | undefined },
  ) => {
    const { status, headers, text } = await request({ method, url: new URL(url), authorization, body })
    // Octokit would print text of other headers.
    const kept = headers.link === undefined ? [] : [['link', headers.link]]
    return { url, status, headers: kept, body: parseJsonOrUndefined(text) ?? text }
  }
  // Octokit would print text of the server to a stream in which the runner executes commands.
  const nothing = () => undefined
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
  const baseUrl = run.apiUrl.href.replace(/\/$/, '')
  return { octokit: getOctokit(token, { baseUrl, request: { fetch, parseSuccessResponseBody: false, log }, log }), close }
}

/**
 * https://docs.github.com/en/rest for the repository of the run. Methods throw what `toGitHubError` understands. Opens no connection. Close
 * it after use.
 */
export async function openGitHub(run: GitHubRun, token: string, deps: SendDeps, limits: Limits) {
  const { octokit, close } = await connectOctokit(run, token, deps, limits)
  const repository = { owner: run.owner, repo: run.repository }
  const { git, issues, pulls, repos } = octokit.rest
  const latest = { sort: 'updated', direction: 'desc', per_page: perPage } as const
  return {
    author: async (): Promise<Author> => parseAnswer(viewerSchema, await octokit.graphql('query { viewer { login databaseId } }')),
    pullRequestsWith: (commit: string) =>
      listAll(pullSchema, (page) => repos.listPullRequestsAssociatedWithCommit({ ...repository, commit_sha: commit, ...page })),
    comments: (number: number) => listAll(commentSchema, (page) => issues.listComments({ ...repository, issue_number: number, ...page })),
    /** The last hundred. */
    latestComments: async () =>
      parseAnswer(placedCommentSchema.array(), (await issues.listCommentsForRepo({ ...repository, ...latest })).data),
    /** The last hundred that were closed, or changed since then. */
    latestClosed: async () => parseAnswer(pullSchema.array(), (await pulls.list({ ...repository, ...latest, state: 'closed' })).data),
    /** Parents by commit, of the last hundred. */
    async commitsIn(commit: string): Promise<ReadonlyMap<string, readonly string[]>> {
      const { data } = await repos.listCommits({ ...repository, sha: commit, per_page: perPage })
      return new Map(
        parseAnswer(
          z
            .looseObject({ sha: z.string(), parents: z.array(z.looseObject({ sha: z.string() })) })
            .transform(({ sha, parents }) => [sha, parents.map((parent) => parent.sha)] as const)
            .array(),
          data,
        ),
      )
    },
    deployments: () => listAll(deploymentSchema, (page) => repos.listDeployments({ ...repository, ...page })),
    headOf: async (branch: string) =>
      parseAnswer(
        z.looseObject({ object: z.looseObject({ sha: z.string() }) }),
        (await git.getRef({ ...repository, ref: `heads/${branch}` })).data,
      ).object.sha,
    /** Ids by path. Throws a GitHubError for a list that is not complete. */
    async filesOf(commit: string): Promise<ReadonlyMap<string, string>> {
      const { data } = await git.getTree({ ...repository, tree_sha: commit, recursive: '1' })
      // At most 100,000 entries, and 7 MB: https://docs.github.com/en/rest/git/trees
      const { tree, truncated } = parseAnswer(
        z.looseObject({
          tree: z.array(z.looseObject({ path: z.string(), type: z.string(), sha: z.string() })),
          truncated: z.boolean(),
        }),
        data,
      )
      if (truncated) throw new GitHubError({ detail: 'the list of files is too long' })
      return new Map(tree.flatMap(({ path, type, sha }) => (type === 'tree' ? [] : [[path, sha]])))
    },
    /** GitHub numbers pull requests and issues together. */
    async createComment(number: number, body: string): Promise<void> {
      await issues.createComment({ ...repository, issue_number: number, body })
    },
    async updateComment(id: number, body: string): Promise<void> {
      await issues.updateComment({ ...repository, comment_id: id, body })
    },
    openIssuesOf: ({ login }: Author) =>
      listAll(issueSchema, (page) => issues.listForRepo({ ...repository, state: 'open', creator: login, ...page })),
    async createIssue({ title, body, label }: { readonly title: string; readonly body: string; readonly label: string }): Promise<Issue> {
      const { data } = await issues.create({ ...repository, title, body, labels: [label] })
      return parseAnswer(issueSchema, data)
    },
    async updateIssue(number: number, { close: reason, ...fields }: IssueChange): Promise<void> {
      const closing = reason === undefined ? {} : { state: 'closed' as const, state_reason: reason }
      await issues.update({ ...repository, issue_number: number, ...fields, ...closing })
    },
    close,
  }
}

export type GitHubClient = Awaited<ReturnType<typeof openGitHub>>

const author = z.looseObject({ id: z.number() }).nullish()
const text = z.string().nullish()

const viewerSchema = z
  .looseObject({ viewer: z.looseObject({ login: z.string().min(1), databaseId: z.int() }) })
  .transform(({ viewer }) => ({ login: viewer.login, id: viewer.databaseId }))

export type Author = z.output<typeof viewerSchema>

const pullSchema = z
  .looseObject({
    number: z.int(),
    state: z.string(),
    merged_at: text,
    merge_commit_sha: text,
    head: z.looseObject({ sha: z.string() }),
    base: z.looseObject({ repo: z.looseObject({ full_name: z.string() }) }),
  })
  .transform(({ number, state, merged_at: mergedAt, merge_commit_sha: mergeCommit, head, base }) => ({
    number,
    isOpen: state === 'open',
    isMerged: Boolean(mergedAt),
    headCommit: head.sha,
    /** The last commit that the merge brought to the branch, also for a squash and a rebase. */
    mergeCommit: mergeCommit ?? '',
    repository: base.repo.full_name,
  }))

/** In a fork, it may be one of another repository of the network. */
export type PullRequest = z.output<typeof pullSchema>

// https://docs.github.com/en/rest/deployments/deployments
const deploymentSchema = z
  .looseObject({ created_at: z.iso.datetime(), environment: z.string().nullish(), ref: z.string().nullish(), sha: z.string().nullish() })
  .transform(
    ({ created_at, environment, ref, sha }): Deployment => ({
      atMs: Date.parse(created_at),
      environment: environment ?? '',
      ref: ref ?? '',
      commit: sha?.slice(0, 7) ?? '',
    }),
  )

const commentFields = z.looseObject({ id: z.int(), body: text, user: author })
const toComment = ({ id, body, user }: z.output<typeof commentFields>) => ({ id, body: body ?? '', authorId: user?.id })

const commentSchema = commentFields.transform(toComment)

const placedCommentSchema = commentFields
  .extend({ issue_url: z.string() })
  .transform(({ issue_url: url, ...fields }) => ({ ...toComment(fields), on: Number(/\/issues\/(\d+)$/.exec(url)?.[1]) }))

/** `body` is Markdown. */
export type Comment = z.output<typeof commentSchema>

const issueSchema = z
  .looseObject({ number: z.int(), body: text, user: author, labels: z.array(z.union([z.string(), z.looseObject({ name: text })])) })
  .transform(({ number, body, user, labels }) => ({
    number,
    body: body ?? '',
    authorId: user?.id,
    labels: labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
  }))

export type Issue = z.output<typeof issueSchema>

export interface Limits {
  /** GitHub's own limit is 10 s. */
  readonly requestMs: number
  readonly totalMs: number
}

/** Comment and issue are written after the deadline of the run. */
export const defaultLimits: Limits = { requestMs: 15_000, totalMs: 30_000 }

type GitHubRequest = Pick<Exchange, 'method' | 'url' | 'authorization' | 'body'>

function createRequests({ apiUrl, proxy }: GitHubRun, deps: SendDeps, limits: Limits) {
  const { clock, cancellation } = deps
  const transport = createTransport(apiUrl, proxy, clock)
  const remainingMs = startDeadline(clock, limits.totalMs)

  /** Throws a GitHubError for every answer but a success. */
  async function request(given: GitHubRequest): Promise<Answer> {
    // The only request of GraphQL is a query.
    const isRead = given.method === 'GET' || given.url.pathname.endsWith('/graphql')
    const tryOnce = async () => {
      if (cancellation.stop.aborted) throw new GitHubError({ detail: 'canceled before it was sent' })
      const leftMs = Math.floor(remainingMs())
      if (leftMs <= 0) throw new GitHubError({ detail: 'the time limit is reached' })
      const outcome = await sendOnce(transport, {
        ...given,
        timeoutMs: Math.min(limits.requestMs, leftMs),
        // The first signal stops reads, and a write gets time to finish.
        signal: isRead ? cancellation.stop : cancellation.abort,
      })
      if ('failure' in outcome) return outcome
      const { answer } = outcome
      return answer.status < 300 ? { value: answer } : { failure: failureOfAnswer(answer, clock.now()) }
    }
    // A POST that may have been carried out is found by the next run; a PATCH can be repeated.
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

function parseAnswer<T>(schema: z.ZodType<T>, data: unknown): T {
  const parsed = schema.safeParse(data)
  if (parsed.success) return parsed.data
  throw new GitHubError({ cause: 'unfit', detail: describeMismatch(parsed.error, 'the answer') })
}

export type SyncTarget = 'comment' | 'issue'

export class GitHubError extends Error {
  override readonly name = 'GitHubError'
  readonly failure: Pick<Failure, 'detail'> & Partial<Failure>
  /** GitHub may have carried out the write. */
  readonly outcomeUnknown: boolean

  constructor(failure: GitHubError['failure'], outcomeUnknown = false) {
    super(failure.detail)
    this.failure = failure
    this.outcomeUnknown = outcomeUnknown
  }
}

/** Octokit has the error of a request as the cause of its own. */
export function toGitHubError(thrown: unknown): GitHubError {
  if (thrown instanceof GitHubError) return thrown
  if (!(thrown instanceof Error)) return new GitHubError({ detail: quoteLong(String(thrown)) })
  return thrown.cause instanceof GitHubError ? thrown.cause : new GitHubError({ detail: quoteLong(thrown.message) })
}

export function hasStatus(thrown: unknown, ...statuses: readonly number[]): boolean {
  const { cause, status } = toGitHubError(thrown).failure
  return cause === 'status' && status !== undefined && statuses.includes(status)
}

/** `nowMs` is the time of arrival, in milliseconds since the epoch. */
function failureOfAnswer({ status, headers, text }: Answer, nowMs: number): Failure {
  const data = parseJsonOrUndefined(text)
  const errors = isMapping(data) && Array.isArray(data.errors) ? data.errors : []
  const message = [data, ...errors]
    .filter(isMapping)
    .flatMap(({ message }) => (typeof message === 'string' ? [message] : []))
    .join(': ')
  const retryAfter = headers['retry-after']
  const failure = failureOfStatus(
    { status, headers: { 'retry-after': retryAfter } },
    message ? quoteLong(message) : 'without a message',
    nowMs,
  )
  const isSpent = headers['x-ratelimit-remaining'] === '0'
  const isRefusedByLimit = status === 403 && (retryAfter !== undefined || isSpent || /rate limit/i.test(message))
  if (failure.cause !== 'rate-limit' && !isRefusedByLimit) return failure
  // Unlike other APIs, GitHub gives the end of its rate limit window as a point in time, in seconds.
  const untilResetMs = isSpent ? Number(headers['x-ratelimit-reset']) * 1000 - nowMs : 0
  const { waitMs = untilResetMs > 0 ? untilResetMs : undefined } = failure
  return { ...failure, cause: 'rate-limit', writeOutcome: 'not-applied', waitMs }
}

/** Describes the answer of GitHub, without a full stop. */
export const describeAnswer = (failure: GitHubError['failure']): string =>
  failure.cause === 'unfit'
    ? `the answer is not from GitHub: ${failure.detail}`
    : describeFailedRequest({ ...failure, detail: failure.detail.replace(/\.$/, '') }, 'GitHub')

interface FailedSync {
  readonly target: SyncTarget
  readonly isFromFork: boolean
}

export function explainGitHubError({ failure, outcomeUnknown }: GitHubError, sync: FailedSync): string {
  const { cause, waitMs } = failure
  const answer = describeAnswer(failure)
  if (cause === 'rate-limit') {
    const when = waitMs === undefined ? '' : `. GitHub asks to wait ${Math.ceil(waitMs / 1000)} s`
    return `${answer}. This is a rate limit${when}.`
  }
  return [`${answer}.`, permissionAdvice(failure, sync), outcomeUnknown ? 'GitHub may have written it.' : '']
    .filter((text) => text !== '')
    .join(' ')
}

const grants = {
  comment: 'Give the job `permissions: pull-requests: write`. In a called workflow, the calling job needs it, too.',
  issue: 'Give the job `permissions: issues: write`. In a called workflow, the calling job needs it, too.',
} as const satisfies Record<SyncTarget, string>

function permissionAdvice({ cause, status, detail }: GitHubError['failure'], { target, isFromFork }: FailedSync) {
  if (cause === 'redirect') return 'Redirects are not followed.'
  if (status === 401) return 'The token is not valid. Check github-token.'
  // No permission helps with a locked conversation.
  if ((status !== 403 && status !== 404) || /\blocked\b/i.test(detail)) return ''
  if (isFromFork) return 'The token of a pull request from a fork can only read.'
  return status === 404 && target === 'comment'
    ? `The pull request does not exist, or the token cannot read it. ${grants.comment}`
    : grants[target]
}
