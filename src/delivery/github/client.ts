import * as z from 'zod'
import { parseJsonOrUndefined } from '../../platform/core/json.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import type { Exchange } from '../../platform/http/transport.ts'
import { createRequests, type Limits, listAll, parseAnswer, perPage } from './requests.ts'
import type { GitHubRun } from './run.ts'

interface FetchInit {
  readonly method: Exchange['method']
  readonly headers: { readonly authorization: string }
  readonly body: string | undefined
}

// Octokit would print text of the server to a stream in which the runner executes commands.
const nothing = (): undefined => undefined
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** Loads octokit, so call it only when there is something to write. Methods throw octokit's errors, with a GitHubError as their cause. */
export async function openOctokit(run: GitHubRun, token: string, deps: SendDeps, limits: Limits) {
  const { getOctokit } = await import('@actions/github')
  const { request, close } = createRequests(run, deps, limits)
  /** Sends a request in the form of the global `fetch`, as far as octokit uses it, whose own parser takes minutes for some answers. */
  const fetch = async (url: string, { method, headers: { authorization }, body }: FetchInit) => {
    const { status, headers, text } = await request({ method, url: new URL(url), authorization, body })
    // Octokit would print text of other headers.
    const kept = headers.link === undefined ? [] : [['link', headers.link]]
    return { url, status, headers: kept, body: parseJsonOrUndefined(text) ?? text }
  }
  const octokit = getOctokit(token, {
    baseUrl: run.apiUrl.href.replace(/\/$/, ''),
    request: { fetch, parseSuccessResponseBody: false, log: silent },
    log: silent,
  })
  return { octokit, repository: { owner: run.owner, repo: run.repository }, close }
}

/** What changes of an issue. An absent field stays as it is. */
interface IssueChange {
  readonly title?: string
  readonly body?: string
  /** Why it is closed; absent for one that stays open. */
  readonly close?: 'completed' | 'not_planned'
}

/**
 * Comments, issues and pull requests of the repository: https://docs.github.com/en/rest. Answers are validated. Methods throw what
 * `toGitHubError` understands. Opens no connection. Close it after use.
 */
export async function openGitHub(...given: Parameters<typeof openOctokit>) {
  const { octokit, repository, close } = await openOctokit(...given)
  const { issues, pulls, repos } = octokit.rest
  return {
    /** The account that the token belongs to. */
    author: async (): Promise<Author> => parseAnswer(viewerSchema, await octokit.graphql('query { viewer { login databaseId } }')),
    pullRequestsWith: (commit: string) =>
      listAll(pullSchema, (page) => repos.listPullRequestsAssociatedWithCommit({ ...repository, commit_sha: commit, ...page })),
    comments: (number: number) => listAll(commentSchema, (page) => issues.listComments({ ...repository, issue_number: number, ...page })),
    /** The comments of the repository that were written last, at most a hundred. */
    async latestComments(): Promise<readonly PlacedComment[]> {
      const { data } = await issues.listCommentsForRepo({ ...repository, sort: 'updated', direction: 'desc', per_page: perPage })
      return parseAnswer(placedCommentSchema.array(), data)
    },
    /** The last hundred pull requests into a branch that were closed or changed since. */
    async latestClosed(branch: string): Promise<readonly PullRequest[]> {
      const { data } = await pulls.list({
        ...{ ...repository, state: 'closed', base: branch },
        ...{ sort: 'updated', direction: 'desc', per_page: perPage },
      })
      return parseAnswer(pullSchema.array(), data)
    },
    /** A commit, and those before it: a hundred ids. */
    async commitsUntil(commit: string): Promise<readonly string[]> {
      const { data } = await repos.listCommits({ ...repository, sha: commit, per_page: perPage })
      return parseAnswer(z.looseObject({ sha: z.string() }).array(), data).map(({ sha }) => sha)
    },
    /** Comments on a pull request or an issue, which GitHub numbers together. */
    async createComment(number: number, body: string): Promise<void> {
      await issues.createComment({ ...repository, issue_number: number, body })
    },
    async updateComment(id: number, body: string): Promise<void> {
      await issues.updateComment({ ...repository, comment_id: id, body })
    },
    /** Lists open issues, and pull requests. */
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

/** An account. */
export type Author = z.output<typeof viewerSchema>

const pullSchema = z
  .looseObject({
    number: z.int(),
    state: z.string(),
    merged_at: text,
    merge_commit_sha: text,
    head: z.looseObject({ sha: z.string() }),
    base: z.looseObject({ ref: z.string(), repo: z.looseObject({ full_name: z.string() }) }),
  })
  .transform(({ number, state, merged_at: mergedAt, merge_commit_sha: mergeCommit, head, base }) => ({
    number,
    isOpen: state === 'open',
    isMerged: Boolean(mergedAt),
    headCommit: head.sha,
    /** The last commit that the merge brought to the branch, also for a squash and a rebase. */
    mergeCommit: mergeCommit ?? '',
    base: { branch: base.ref, repository: base.repo.full_name },
  }))

/** A pull request that contains a commit. In a fork, it may be one of another repository of the network. */
export type PullRequest = z.output<typeof pullSchema>

const commentFields = z.looseObject({ id: z.int(), body: text, user: author })
const toComment = ({ id, body, user }: z.output<typeof commentFields>) => ({ id, body: body ?? '', authorId: user?.id })

const commentSchema = commentFields.transform(toComment)

const placedCommentSchema = commentFields
  .extend({ issue_url: z.string() })
  .transform(({ issue_url: url, ...fields }) => ({ ...toComment(fields), on: Number(/\/issues\/(\d+)$/.exec(url)?.[1]) }))

/** A comment on a pull request. `body` is Markdown. */
export type Comment = z.output<typeof commentSchema>

/** A comment with the number of its pull request or issue. */
export type PlacedComment = z.output<typeof placedCommentSchema>

const issueSchema = z
  .looseObject({ number: z.int(), body: text, user: author, labels: z.array(z.union([z.string(), z.looseObject({ name: text })])) })
  .transform(({ number, body, user, labels }) => ({
    number,
    body: body ?? '',
    authorId: user?.id,
    labels: labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
  }))

/** An open issue. `body` is Markdown. */
export type Issue = z.output<typeof issueSchema>
