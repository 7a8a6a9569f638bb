import * as z from 'zod'
import { uriPath } from '../../platform/core/escape.ts'
import type { Deployment } from '../../platform/operation/operation.ts'
import { GitHubError } from './failure.ts'
import { createRequests } from './requests.ts'

/** What changes of an issue. An absent field stays as it is. */
interface IssueChange {
  readonly title?: string
  readonly body?: string
  /** Why it is closed; absent for one that stays open. */
  readonly close?: 'completed' | 'not_planned'
}

const latest = { sort: 'updated', direction: 'desc' }

/**
 * The API of GitHub for the repository of the run: https://docs.github.com/en/rest. Answers are validated. Methods throw a GitHubError.
 * Opens no connection. Close it after use.
 */
export function openGitHub(...given: Parameters<typeof createRequests>) {
  const { ask, first, list, query, close } = createRequests(...given)
  return {
    /** The account that the token belongs to. */
    author: (): Promise<Author> => query(viewerSchema, 'query { viewer { login databaseId } }'),
    pullRequestsWith: (commit: string) => list(pullSchema, `/commits/${uriPath(commit)}/pulls`),
    comments: (number: number) => list(commentSchema, `/issues/${number}/comments`),
    /** The comments of the repository that were written last, at most a hundred. */
    latestComments: () => first(placedCommentSchema, '/issues/comments', latest),
    /** The pull requests that were closed, or changed since then: the last hundred. */
    latestClosed: () => first(pullSchema, '/pulls', { ...latest, state: 'closed' }),
    /** The parents of a commit and of those that it contains: of the last hundred. */
    commitsIn: async (commit: string): Promise<ReadonlyMap<string, readonly string[]>> =>
      new Map(await first(commitSchema, '/commits', { sha: commit })),
    /** The newest first. */
    deployments: () => list(deploymentSchema, '/deployments'),
    /** The last commit of a branch. */
    headOf: async (branch: string) => (await ask(refSchema, `/git/ref/heads/${uriPath(branch)}`)).object.sha,
    /** The ids of the files of a commit, by path. Throws a GitHubError for a list that is not complete. */
    async filesOf(commit: string): Promise<ReadonlyMap<string, string>> {
      const { tree, truncated } = await ask(treeSchema, `/git/trees/${commit}?recursive=1`)
      if (truncated) throw new GitHubError({ detail: 'the list of files is too long' })
      return new Map(tree.flatMap(({ path, type, sha }) => (type === 'tree' ? [] : [[path, sha]])))
    },
    /** Comments on a pull request or an issue, which GitHub numbers together. */
    async createComment(number: number, body: string): Promise<void> {
      await ask(z.unknown(), `/issues/${number}/comments`, { method: 'POST', body: { body } })
    },
    async updateComment(id: number, body: string): Promise<void> {
      await ask(z.unknown(), `/issues/comments/${id}`, { method: 'PATCH', body: { body } })
    },
    /** Lists open issues, and pull requests. */
    openIssuesOf: ({ login }: Author) => list(issueSchema, '/issues', { state: 'open', creator: login }),
    async createIssue({ label, ...fields }: { readonly title: string; readonly body: string; readonly label: string }): Promise<Issue> {
      return ask(issueSchema, '/issues', { method: 'POST', body: { ...fields, labels: [label] } })
    },
    async updateIssue(number: number, { close: reason, ...fields }: IssueChange): Promise<void> {
      const closing = reason === undefined ? {} : { state: 'closed', state_reason: reason }
      await ask(z.unknown(), `/issues/${number}`, { method: 'PATCH', body: { ...fields, ...closing } })
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

/** A pull request that contains a commit. In a fork, it may be one of another repository of the network. */
export type PullRequest = z.output<typeof pullSchema>

const commitSchema = z
  .looseObject({ sha: z.string(), parents: z.array(z.looseObject({ sha: z.string() })) })
  .transform(({ sha, parents }) => [sha, parents.map((parent) => parent.sha)] as const)

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

const refSchema = z.looseObject({ object: z.looseObject({ sha: z.string() }) })

// At most 100,000 entries, and 7 MB: https://docs.github.com/en/rest/git/trees
const treeSchema = z.looseObject({
  tree: z.array(z.looseObject({ path: z.string(), type: z.string(), sha: z.string() })),
  truncated: z.boolean(),
})

const commentFields = z.looseObject({ id: z.int(), body: text, user: author })
const toComment = ({ id, body, user }: z.output<typeof commentFields>) => ({ id, body: body ?? '', authorId: user?.id })

const commentSchema = commentFields.transform(toComment)

/** With the number of its pull request or issue. */
const placedCommentSchema = commentFields
  .extend({ issue_url: z.string() })
  .transform(({ issue_url: url, ...fields }) => ({ ...toComment(fields), on: Number(/\/issues\/(\d+)$/.exec(url)?.[1]) }))

/** A comment on a pull request. `body` is Markdown. */
export type Comment = z.output<typeof commentSchema>

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
