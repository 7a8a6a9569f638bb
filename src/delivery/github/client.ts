import * as z from 'zod'
import { parseJsonOrUndefined } from '../../platform/core/json.ts'
import type { SendDeps } from '../../platform/http/send.ts'
import type { Exchange } from '../../platform/http/transport.ts'
import type { Deployment } from '../../platform/operation/operation.ts'
import { GitHubError } from './failure.ts'
import { createRequests, type Limits, listAll, parseAnswer, perPage } from './requests.ts'
import type { GitHubRun } from './run.ts'

// Octokit would print text of the server to a stream in which the runner executes commands.
const nothing = () => undefined
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** An absent field stays as it is. */
interface IssueChange {
  readonly title?: string
  readonly body?: string
  /** Absent for an issue that stays open. */
  readonly close?: 'completed' | 'not_planned'
}

/**
 * https://docs.github.com/en/rest for the repository of the run. Methods throw what `toGitHubError` understands. Loads octokit, and opens
 * no connection. Close it after use.
 */
export async function openGitHub(run: GitHubRun, token: string, deps: SendDeps, limits: Limits) {
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
  const octokit = getOctokit(token, {
    baseUrl: run.apiUrl.href.replace(/\/$/, ''),
    request: { fetch, parseSuccessResponseBody: false, log: silent },
    log: silent,
  })
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

/** `body` is Markdown. */
export type Issue = z.output<typeof issueSchema>
