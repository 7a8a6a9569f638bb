import * as z from 'zod'
import type { SendDeps } from '../../http/send.ts'
import type { Exchange } from '../../http/transport.ts'
import type { Comment, Forge, ForgeKind, ForgeWords, Issue, Limits, PullRequest } from '../forge.ts'
import { createRequests, listAll, parseAnswer } from '../requests.ts'
import { type GitHubRun, readGitHubRun } from './run.ts'

export const words: ForgeWords = {
  name: 'GitHub',
  pullRequest: 'pull request',
  sign: '#',
  rest: 'the summary of the run',
  tokenInput: 'github-token',
  grants: {
    comment: 'Give the job `permissions: pull-requests: write`.',
    issue: 'Give the job `permissions: issues: write`.',
  },
}

const unchanged = (text: string): string => text

/** Reports need no escaping beyond that of Markdown: GitHub resolves nothing in code, and has no commands in comments. */
export const github: ForgeKind<GitHubRun> = {
  words,
  readRun: readGitHubRun,
  open: openGitHub,
  escapeMarkdown: unchanged,
  escapeTitle: unchanged,
}

interface FetchInit {
  readonly method: Exchange['method']
  readonly headers: { readonly authorization: string }
  readonly body: string | undefined
}

/** The headers that are needed. Others would make octokit print text of the server. */
const keptHeaders = ['content-type', 'link']

// Octokit would print text of the server to a stream in which the runner executes commands.
const nothing = (): undefined => undefined
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** Loads octokit, so call it only when there is something to write. Methods throw octokit's errors, with a ForgeError as their cause. */
export async function openOctokit(run: GitHubRun, token: string, deps: SendDeps, limits: Limits) {
  const { getOctokit } = await import('@actions/github')
  const { request, close } = createRequests(run, deps, limits, words)
  /** Sends a request in the form of the global `fetch`, as far as octokit uses it. */
  const fetch = async (address: string, { method, headers, body }: FetchInit): Promise<Response> => {
    const { status, headers: answered, text } = await request({ method, url: new URL(address), authorization: headers.authorization, body })
    const kept = keptHeaders.flatMap((name) => (answered[name] === undefined ? [] : [[name, answered[name]] as const]))
    return new Response(status === 204 ? null : text, { status, headers: Object.fromEntries(kept) })
  }
  const octokit = getOctokit(token, { baseUrl: run.apiUrl.href.replace(/\/$/, ''), request: { fetch, log: silent }, log: silent })
  return { octokit, repository: { owner: run.owner, repo: run.repository }, close }
}

/** Comments, issues and pull requests of the repository: https://docs.github.com/en/rest. */
async function openGitHub(...given: Parameters<typeof openOctokit>): Promise<Forge> {
  const { octokit, repository, close } = await openOctokit(...given)
  const { issues, repos } = octokit.rest
  // GitHub numbers pull requests and issues together, and comments on both in the same way.
  const createComment = async (number: number, body: string): Promise<void> => {
    await issues.createComment({ ...repository, issue_number: number, body })
  }
  return {
    author: async () => parseAnswer(viewerSchema, await octokit.graphql('query { viewer { login databaseId } }')),
    pullRequestsWith: (commit) =>
      listAll(pullSchema, (page) => repos.listPullRequestsAssociatedWithCommit({ ...repository, commit_sha: commit, ...page })),
    comments: (number) => listAll(commentSchema, (page) => issues.listComments({ ...repository, issue_number: number, ...page })),
    createComment,
    async updateComment(_, id, body) {
      await issues.updateComment({ ...repository, comment_id: id, body })
    },
    openIssuesOf: ({ login }) =>
      listAll(issueSchema, (page) => issues.listForRepo({ ...repository, state: 'open', creator: login, ...page })),
    async createIssue({ title, body, label }) {
      const { data } = await issues.create({ ...repository, title, body, labels: [label] })
      return parseAnswer(issueSchema, data)
    },
    async updateIssue(number, { close: reason, ...fields }) {
      const closing = reason === undefined ? {} : { state: 'closed' as const, state_reason: reason }
      await issues.update({ ...repository, issue_number: number, ...fields, ...closing })
    },
    commentOnIssue: createComment,
    close,
  }
}

const author = z.looseObject({ id: z.number() }).nullish()
const text = z.string().nullish()

const viewerSchema = z
  .looseObject({ viewer: z.looseObject({ login: z.string().min(1), databaseId: z.int() }) })
  .transform(({ viewer }) => ({ login: viewer.login, id: viewer.databaseId }))

const pullSchema = z
  .looseObject({ number: z.int(), state: z.string(), head: z.looseObject({ sha: z.string() }) })
  .transform(({ number, state, head }): PullRequest => ({ number, isOpen: state === 'open', headCommit: head.sha }))

const commentSchema = z
  .looseObject({ id: z.int(), body: text, user: author })
  .transform(({ id, body, user }): Comment => ({ id, body: body ?? '', authorId: user?.id }))

const issueSchema = z
  .looseObject({ number: z.int(), body: text, user: author, labels: z.array(z.union([z.string(), z.looseObject({ name: text })])) })
  .transform(
    ({ number, body, user, labels }): Issue => ({
      number,
      body: body ?? '',
      authorId: user?.id,
      labels: labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
    }),
  )
