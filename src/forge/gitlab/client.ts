import * as z from 'zod'
import type { SendDeps } from '../../http/send.ts'
import { parseJson } from '../failure.ts'
import type { Forge, Issue, Limits } from '../forge.ts'
import { collect, createParser, createRequests, pagesOf } from '../requests.ts'
import type { GitLabRun } from './run.ts'
import { words } from './words.ts'

type Method = 'GET' | 'POST' | 'PUT'

type Query = Readonly<Record<string, string | number>>

/**
 * Notes of merge requests and issues of the project: https://docs.gitlab.com/api/notes/ and https://docs.gitlab.com/api/issues/. Methods
 * throw `ForgeError`.
 */
export async function openGitLab(run: GitLabRun, token: string, deps: SendDeps, limits: Limits): Promise<Forge> {
  const { request: send, close } = createRequests(run, deps, limits, words)
  const base = run.apiUrl.href.replace(/\/$/, '')
  const project = `/projects/${run.projectId}`
  const notesOf = (place: 'merge_requests' | 'issues', number: number): string => `${project}/${place}/${number}/notes`

  const request = async (method: Method, path: string, body?: object) => {
    // All kinds of access tokens are accepted in this form: https://docs.gitlab.com/api/rest/authentication/.
    const authorization = `Bearer ${token}`
    const { text, headers } = await send({ method, url: new URL(`${base}${path}`), authorization, body: body && JSON.stringify(body) })
    return { data: parseJson(text), headers }
  }
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
    close,
  }
}

const toTexts = (query: Query): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))

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
