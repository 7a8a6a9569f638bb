import * as z from 'zod'
import { createRequests, parseAnswer } from './requests.ts'

/** What changes of an issue. An absent field stays as it is. */
interface IssueChange {
  readonly title?: string
  readonly body?: string
  /** Why it is closed; absent for one that stays open. */
  readonly close?: 'completed' | 'not_planned'
}

/**
 * Comments, issues and pull requests of the repository: https://docs.github.com/en/rest. Answers are validated. Methods throw a GitHubError.
 * Opens no connection. Close it after use.
 */
export function openGitHub(...given: Parameters<typeof createRequests>) {
  const { request, first, list, query, close } = createRequests(...given)
  return {
    /** The account that the token belongs to. */
    author: (): Promise<Author> => query(viewerSchema, 'query { viewer { login databaseId } }'),
    pullRequestsWith: (commit: string) => list(pullSchema, `/commits/${commit}/pulls`),
    comments: (number: number) => list(commentSchema, `/issues/${number}/comments`),
    /** The comments of the repository that were written last, at most a hundred. */
    latestComments: (): Promise<readonly PlacedComment[]> =>
      first(placedCommentSchema, '/issues/comments', { sort: 'updated', direction: 'desc' }),
    /** The last hundred pull requests into a branch that were closed or changed since. */
    latestClosed: (branch: string): Promise<readonly PullRequest[]> =>
      first(pullSchema, '/pulls', { state: 'closed', base: branch, sort: 'updated', direction: 'desc' }),
    /** A commit, and those before it: a hundred ids. */
    commitsUntil: (commit: string): Promise<readonly string[]> =>
      first(
        z.looseObject({ sha: z.string() }).transform(({ sha }) => sha),
        '/commits',
        { sha: commit },
      ),
    /** Comments on a pull request or an issue, which GitHub numbers together. */
    async createComment(number: number, body: string): Promise<void> {
      await request(`/issues/${number}/comments`, { method: 'POST', body: { body } })
    },
    async updateComment(id: number, body: string): Promise<void> {
      await request(`/issues/comments/${id}`, { method: 'PATCH', body: { body } })
    },
    /** Lists open issues, and pull requests. */
    openIssuesOf: ({ login }: Author) => list(issueSchema, '/issues', { state: 'open', creator: login }),
    async createIssue({ label, ...fields }: { readonly title: string; readonly body: string; readonly label: string }): Promise<Issue> {
      const { data } = await request('/issues', { method: 'POST', body: { ...fields, labels: [label] } })
      return parseAnswer(issueSchema, data)
    },
    async updateIssue(number: number, { close: reason, ...fields }: IssueChange): Promise<void> {
      const closing = reason === undefined ? {} : { state: 'closed', state_reason: reason }
      await request(`/issues/${number}`, { method: 'PATCH', body: { ...fields, ...closing } })
    },
    close,
  }
}

export type GitHubClient = ReturnType<typeof openGitHub>

const author = z.looseObject({ id: z.number() }).nullish()
const text = z.string().nullish()

const viewerSchema = z
  .looseObject({ data: z.looseObject({ viewer: z.looseObject({ login: z.string().min(1), databaseId: z.int() }) }) })
  .transform(({ data: { viewer } }) => ({ login: viewer.login, id: viewer.databaseId }))

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
