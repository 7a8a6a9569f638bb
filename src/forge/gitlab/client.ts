import * as z from 'zod'
import type { RetryDeps } from '../../http/deadline.ts'
import { createTransport } from '../../http/transport.ts'
import { isRead, type RequestError } from '../failure.ts'
import type { Forge, Issue, Limits } from '../forge.ts'
import { collect, createParser, createRequests, pagesOf } from '../requests.ts'
import type { GitLabRun } from './run.ts'
import { words } from './words.ts'

type Method = 'GET' | 'POST' | 'PUT'

type Query = Readonly<Record<string, string | number>>

interface Answer {
  readonly data: unknown
  readonly headers: { readonly link?: string | undefined }
}

/** In the form of Octokit's error, so that one function explains both. */
class GitLabError extends Error implements RequestError {
  readonly status: number
  readonly request: RequestError['request']
  readonly response?: NonNullable<RequestError['response']>

  constructor(
    request: RequestError['request'],
    failed: { readonly response: Response; readonly data: unknown } | { readonly cause: unknown },
  ) {
    super('the request failed', 'cause' in failed ? { cause: failed.cause } : undefined)
    this.name = 'GitLabError'
    this.request = request
    this.status = 'response' in failed ? failed.response.status : 500
    if ('response' in failed) this.response = { headers: Object.fromEntries(failed.response.headers), data: failed.data }
  }
}

/**
 * Notes of merge requests and issues of the project: https://docs.gitlab.com/api/notes/ and https://docs.gitlab.com/api/issues/. Methods
 * throw `GitLabError` and `ExchangeFailure`.
 */
export async function openGitLab({ apiUrl, proxy, projectId }: GitLabRun, token: string, deps: RetryDeps, limits: Limits): Promise<Forge> {
  const transport = createTransport(apiUrl, proxy, deps.clock)
  const { fetch, withRetries } = createRequests({ transport, deps, limits, words })
  const base = apiUrl.href.replace(/\/$/, '')
  const project = `/projects/${projectId}`
  const notesOf = (place: 'merge_requests' | 'issues', number: number): string => `${project}/${place}/${number}/notes`

  const send = async (method: Method, path: string, body?: object): Promise<Answer> => {
    const request = { method, url: `${base}${path}` }
    // All kinds of access tokens are accepted in this form: https://docs.gitlab.com/api/rest/authentication/.
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(request.url, { method, headers, ...(body && { body: JSON.stringify(body) }) }).catch((cause: unknown) => {
      throw new GitLabError(request, { cause })
    })
    const data = parseJson(await response.text())
    if (!response.ok) throw new GitLabError(request, { response, data })
    return { data, headers: { link: response.headers.get('link') ?? undefined } }
  }
  // Only reads are retried: GitLab has no idempotency keys, and the next run finds a note that this one may have written.
  const request = (method: Method, path: string, body?: object): Promise<Answer> =>
    isRead({ method, url: path }) ? withRetries(() => send(method, path, body)) : send(method, path, body)
  const list = <T>(schema: z.ZodType<readonly T[]>, path: string, query: Query = {}): AsyncGenerator<readonly T[]> =>
    pagesOf(parse(schema), (page) => request('GET', `${path}?${new URLSearchParams(toTexts({ ...query, ...page }))}`))

  return {
    async author() {
      const { id, username } = parse(userSchema)((await request('GET', '/user')).data)
      return { id, login: username }
    },
    async pullRequestsWith(commit) {
      const found = await collect(list(mergeRequestsSchema, `${project}/repository/commits/${commit}/merge_requests`))
      return found.map(({ iid, state, sha }) => ({ number: iid, isOpen: state === 'opened', headCommit: sha ?? '' }))
    },
    async findComment(number, matches) {
      // The oldest first, because new notes would move the others to another page.
      for await (const page of list(notesSchema, notesOf('merge_requests', number), { sort: 'asc', order_by: 'created_at' })) {
        const found = page
          .filter(({ system }) => !system)
          .map(({ id, body, author }) => ({ id, body: body ?? '', authorId: author?.id }))
          .find(matches)
        if (found !== undefined) return found
      }
      return undefined
    },
    async createComment(number, body) {
      await request('POST', notesOf('merge_requests', number), { body })
    },
    async updateComment(number, id, body) {
      await request('PUT', `${notesOf('merge_requests', number)}/${id}`, { body })
    },
    async openIssuesOf({ id }) {
      const pages = list(z.array(issueSchema), `${project}/issues`, { state: 'opened', scope: 'all', author_id: id })
      return (await collect(pages)).map(toIssue)
    },
    async createIssue({ title, body, label }) {
      const { data } = await request('POST', `${project}/issues`, { title, description: body, labels: label })
      return toIssue(parse(issueSchema)(data))
    },
    async updateIssue(number, { body, close }) {
      const change = { ...(body !== undefined && { description: body }), ...(close !== undefined && { state_event: 'close' }) }
      await request('PUT', `${project}/issues/${number}`, change)
    },
    async commentOnIssue(number, body) {
      await request('POST', notesOf('issues', number), { body })
    },
    close: () => transport.close(),
  }
}

const toTexts = (query: Query): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))

/** A text that is not JSON stays text, which no schema accepts. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const parse = createParser(words)

const author = z.looseObject({ id: z.int() }).nullish()
const text = z.string().nullish()

const userSchema = z.looseObject({ id: z.int(), username: z.string().min(1) })
/** System notes are entries about changes, such as a new commit. */
const notesSchema = z.array(z.looseObject({ id: z.int(), body: text, author, system: z.boolean().optional() }))
const issueSchema = z.looseObject({ iid: z.int(), description: text, author, labels: z.array(z.string()) })
const mergeRequestsSchema = z.array(z.looseObject({ iid: z.int(), state: z.string(), sha: text }))

const toIssue = ({ iid, description, author: creator, labels }: z.output<typeof issueSchema>): Issue => ({
  number: iid,
  body: description ?? '',
  authorId: creator?.id,
  labels,
})
