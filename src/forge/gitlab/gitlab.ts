import * as z from 'zod'
import { parseJsonOrUndefined } from '../../core/json.ts'
import type { SendDeps } from '../../http/send.ts'
import type { Comment, Forge, ForgeKind, ForgeWords, Issue, Limits, PullRequest } from '../forge.ts'
import { createRequests, listAll, parseAnswer } from '../requests.ts'
import { escapeGitLabMarkdown, escapeGitLabTitle } from './escape.ts'
import { type GitLabRun, readGitLabRun } from './run.ts'

const grant = 'Use a project access token with the scope `api` and at least the role Reporter. A job token cannot write notes and issues.'

const words: ForgeWords = {
  name: 'GitLab',
  pullRequest: 'merge request',
  sign: '!',
  rest: 'the result file',
  tokenInput: 'gitlab-token',
  grants: { comment: grant, issue: grant },
}

/** Merge requests and issues of a project on GitLab. */
export const gitlab: ForgeKind<GitLabRun> = {
  words,
  readRun: readGitLabRun,
  open: openGitLab,
  escapeMarkdown: escapeGitLabMarkdown,
  escapeTitle: escapeGitLabTitle,
}

/**
 * Notes of merge requests and issues of the project: https://docs.gitlab.com/api/notes/ and https://docs.gitlab.com/api/issues/. Methods
 * throw `ForgeError`.
 */
async function openGitLab(run: GitLabRun, token: string, deps: SendDeps, limits: Limits): Promise<Forge> {
  const { request, close } = createRequests(run, deps, limits, words)
  const api = run.apiUrl.href.replace(/\/$/, '')
  const project = `${api}/projects/${run.projectId}`
  const issues = `${project}/issues`
  const notesOf = (mergeRequest: number): string => `${project}/merge_requests/${mergeRequest}/notes`

  const send = async (method: 'GET' | 'POST' | 'PUT', address: string, fields?: object) => {
    // All kinds of access tokens are accepted in this form: https://docs.gitlab.com/api/rest/authentication/.
    const authorization = `Bearer ${token}`
    const { text, headers } = await request({ method, url: new URL(address), authorization, body: fields && JSON.stringify(fields) })
    return { data: parseJsonOrUndefined(text), headers }
  }
  const write = async (...given: Parameters<typeof send>): Promise<void> => void (await send(...given))
  const list = <T>(item: z.ZodType<T>, address: string, query: Readonly<Record<string, string>> = {}): AsyncGenerator<T> =>
    listAll(item, ({ page, per_page }) =>
      send('GET', `${address}?${new URLSearchParams({ ...query, page: String(page), per_page: String(per_page) })}`),
    )

  return {
    author: async () => parseAnswer(userSchema, (await send('GET', `${api}/user`)).data),
    pullRequestsWith: (commit) => list(mergeRequestSchema, `${project}/repository/commits/${commit}/merge_requests`),
    // The oldest first, because new notes would move the others to another page.
    comments: (number) => list(noteSchema, notesOf(number), { sort: 'asc', order_by: 'created_at' }),
    createComment: (number, body) => write('POST', notesOf(number), { body }),
    updateComment: (number, id, body) => write('PUT', `${notesOf(number)}/${id}`, { body }),
    openIssuesOf: ({ id }) => list(issueSchema, issues, { state: 'opened', scope: 'all', author_id: String(id) }),
    createIssue: async ({ title, body, label }) =>
      parseAnswer(issueSchema, (await send('POST', issues, { title, description: body, labels: label })).data),
    updateIssue: (number, { title, body, close: reason }) =>
      write('PUT', `${issues}/${number}`, { title, description: body, ...(reason !== undefined && { state_event: 'close' }) }),
    commentOnIssue: (number, body) => write('POST', `${issues}/${number}/notes`, { body }),
    close,
  }
}

const author = z.looseObject({ id: z.int() }).nullish()
const text = z.string().nullish()

const userSchema = z.looseObject({ id: z.int(), username: z.string().min(1) }).transform(({ id, username }) => ({ id, login: username }))

const mergeRequestSchema = z
  .looseObject({ iid: z.int(), state: z.string(), sha: text })
  .transform(({ iid, state, sha }): PullRequest => ({ number: iid, isOpen: state === 'opened', headCommit: sha ?? '' }))

const noteSchema = z
  .looseObject({ id: z.int(), body: text, author })
  .transform(({ id, body, author: creator }): Comment => ({ id, body: body ?? '', authorId: creator?.id }))

const issueSchema = z.looseObject({ iid: z.int(), description: text, author, labels: z.array(z.string()) }).transform(
  ({ iid, description, author: creator, labels }): Issue => ({
    number: iid,
    body: description ?? '',
    authorId: creator?.id,
    labels,
  }),
)
