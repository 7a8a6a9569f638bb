import * as z from 'zod'
import type { SendDeps } from '../../http/send.ts'
import type { Exchange } from '../../http/transport.ts'
import type { Forge, Issue, Limits } from '../forge.ts'
import { collect, createParser, createRequests, pagesOf } from '../requests.ts'
import type { GitHubRun } from './run.ts'
import { words } from './words.ts'

interface FetchInit {
  readonly method: Exchange['method']
  readonly headers: { readonly authorization: string }
  readonly body: string | undefined
}

/** The headers that are needed. Others would make octokit print text of the server. */
const keptHeaders = ['content-type', 'link']

/** Loads octokit, so call it only when there is something to write. Methods throw octokit's errors, with a ForgeError as their cause. */
export async function openOctokit(run: GitHubRun, token: string, deps: SendDeps, limits: Limits) {
  const { getOctokit } = await import('@actions/github')
  const { request, close } = createRequests(run, deps, limits, words)
  /** In the form of the global `fetch`, as far as octokit uses it. */
  const fetch = async (address: string, { method, headers, body }: FetchInit): Promise<Response> => {
    const { status, headers: answered, text } = await request({ method, url: new URL(address), authorization: headers.authorization, body })
    const kept = keptHeaders.flatMap((name) => (answered[name] === undefined ? [] : [[name, answered[name]] as const]))
    return new Response(status === 204 ? null : text, { status, headers: Object.fromEntries(kept) })
  }
  const octokit = getOctokit(token, { baseUrl: run.apiUrl.href.replace(/\/$/, ''), request: { fetch, log: silent }, log: silent })
  return { octokit, repository: { owner: run.owner, repo: run.repository }, close }
}

/** Comments, issues and pull requests of the repository: https://docs.github.com/en/rest. */
export async function openGitHub(...given: Parameters<typeof openOctokit>): Promise<Forge> {
  const { octokit, repository, close } = await openOctokit(...given)
  const { rest } = octokit
  // GitHub numbers pull requests and issues together, and comments on both in the same way.
  const createComment = async (number: number, body: string): Promise<void> => {
    await rest.issues.createComment({ ...repository, issue_number: number, body })
  }

  return {
    async author() {
      const { viewer } = parse(viewerSchema)(await octokit.graphql('query { viewer { login databaseId } }'))
      return { login: viewer.login, id: viewer.databaseId }
    },
    async pullRequestsWith(commit) {
      const pages = pagesOf(parse(pullsSchema), (page) =>
        rest.repos.listPullRequestsAssociatedWithCommit({ ...repository, commit_sha: commit, ...page }),
      )
      return (await collect(pages)).map(({ number, state, head }) => ({ number, isOpen: state === 'open', headCommit: head.sha }))
    },
    async findComment(number, matches) {
      const pages = pagesOf(parse(commentsSchema), (page) => rest.issues.listComments({ ...repository, issue_number: number, ...page }))
      for await (const page of pages) {
        const found = page.map(({ id, body, user }) => ({ id, body: body ?? '', authorId: user?.id })).find(matches)
        if (found !== undefined) return found
      }
      return undefined
    },
    createComment,
    async updateComment(_, id, body) {
      await rest.issues.updateComment({ ...repository, comment_id: id, body })
    },
    async openIssuesOf({ login }) {
      const pages = pagesOf(parse(z.array(issueSchema)), (page) =>
        rest.issues.listForRepo({ ...repository, state: 'open', creator: login, ...page }),
      )
      // GitHub lists pull requests among issues.
      return (await collect(pages)).filter((issue) => !issue.pull_request).map(toIssue)
    },
    async createIssue({ title, body, label }) {
      const { data } = await rest.issues.create({ ...repository, title, body, labels: [label] })
      return toIssue(parse(issueSchema)(data))
    },
    async updateIssue(number, { body, close }) {
      const closing = close === undefined ? {} : { state: 'closed' as const, state_reason: close }
      await rest.issues.update({ ...repository, issue_number: number, ...(body !== undefined && { body }), ...closing })
    },
    commentOnIssue: createComment,
    close,
  }
}

/** Checks answers of GitHub. */
export const parse = createParser(words)

// Octokit would print text of the server to a stream in which the runner executes commands.
const nothing = (): undefined => undefined
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

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
