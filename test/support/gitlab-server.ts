import { type Answer, type ForgeFault, type ForgeServer, type RouteContext, useForgeServer } from './forge-server.ts'

// A GitLab with one project, acme/platform/shop with the id 77: the few routes that are used, with GitLab's rules and words for them.

interface User {
  readonly id: number
  readonly username: string
}

/** Every project access token has a user of its own. */
export const bot: User = { id: 4001, username: 'project_77_bot_c0ffee' }
export const otherUser: User = { id: 12, username: 'tanuki' }

interface StoredNote {
  readonly id: number
  readonly place: 'merge_requests' | 'issues'
  /** The number of the merge request or issue. */
  readonly on: number
  body: string
  readonly author: User
  readonly system: boolean
}

interface StoredIssue {
  readonly iid: number
  title: string
  description: string
  readonly author: User
  labels: string[]
  state: 'opened' | 'closed'
}

interface StoredMergeRequest {
  readonly iid: number
  state: 'opened' | 'merged' | 'closed'
  sha: string
}

interface Store {
  /** Whom the token belongs to. */
  user: User
  notes: StoredNote[]
  issues: StoredIssue[]
  mergeRequests: StoredMergeRequest[]
  /** Scopes of the token. */
  scopes: readonly ('api' | 'read_api')[]
  hasIssues: boolean
  nextId: number
}

const emptyStore = (): Store => ({
  user: bot,
  notes: [],
  issues: [],
  mergeRequests: [{ iid: 12, state: 'opened', sha: 'a'.repeat(40) }],
  scopes: ['api'],
  hasIssues: true,
  nextId: 100,
})

/** Notes of other people and of GitLab itself, oldest first. */
export const otherNotes = (count: number): StoredNote[] =>
  Array.from({ length: count }, (_, i) => ({
    id: 1000 + i,
    place: 'merge_requests',
    on: 12,
    body: i % 2 === 0 ? `I think so too (${i})` : 'added 1 commit',
    author: otherUser,
    system: i % 2 === 1,
  }))

export const token = 'glpat-c4n4ryQwErTyUiOpAsDf'

export type GitLabFault = ForgeFault<Store>
export type GitLabServer = ForgeServer<Store>

export const useGitLab = (prefix = '/api/v4'): (() => GitLabServer) =>
  useForgeServer({
    emptyStore,
    prefix,
    authorization: `Bearer ${token}`,
    unauthorized: { status: 401, body: { message: '401 Unauthorized' } },
    defaultPerPage: 20,
    notFound: { status: 404, body: { error: '404 Not Found' } },
    routes,
    asksForAuthor: (call) => call === 'GET /user',
  })

type Served = RouteContext<Store>

const problem = (status: number, message: unknown): Answer => ({ status, body: { message } })

const insufficientScope: Answer = {
  status: 403,
  body: {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: 'api',
  },
}

const mayWrite = ({ scopes }: Store): boolean => scopes.includes('api')

const maxNoteCharacters = 1_000_000

const noteView = ({ id, body, author, system, on, place }: StoredNote) => ({
  id,
  body,
  author: { ...author, state: 'active' },
  system,
  noteable_iid: on,
  noteable_type: place === 'issues' ? 'Issue' : 'MergeRequest',
  internal: false,
})

const issueView = ({ iid, title, description, author, labels, state }: StoredIssue) => ({
  id: 9000 + iid,
  iid,
  title,
  description,
  author,
  labels,
  state,
})

const isThread = ({ issues, mergeRequests }: Store, place: string, on: number): boolean =>
  (place === 'issues' ? issues : mergeRequests).some(({ iid }) => iid === on)

function listNotes({ store, path: [place = '', number], query }: Served): Answer {
  const on = Number(number)
  if (!isThread(store, place, on)) return problem(404, '404 Not found')
  const notes = store.notes.filter((note) => note.place === place && note.on === on).map(noteView)
  // GitLab lists the newest first unless asked otherwise.
  return { status: 200, isList: true, body: query.get('sort') === 'asc' ? notes : notes.toReversed() }
}

/** GitLab carries out lines that start with a slash, and removes them. Whether it takes one for code depends on its own expressions. */
const withQuickActions = (body: string): { readonly kept: string; readonly actions: readonly string[] } => {
  const actions: string[] = []
  const kept = body
    .replaceAll('\r', '')
    .replaceAll(
      /(^```.+?\n```$)|(^<[^>]+?>\n.+?\n<\/[^>]+?>$)|^\/(close|merge|approve|assign|label)(?: [^\n]*)?(?:\s*\n|$)/gims,
      (whole, code, html, name) => {
        if (code !== undefined || html !== undefined) return whole
        actions.push(name)
        return ''
      },
    )
  return { kept: kept.trimEnd(), actions }
}

function createNote({ store, path: [place = '', number], body }: Served): Answer {
  const on = Number(number)
  if (!isThread(store, place, on)) return problem(404, '404 Not found')
  if (!mayWrite(store)) return insufficientScope
  if ([...String(body.body)].length > maxNoteCharacters) return problem(400, { note: ['is too long (maximum is 1000000 characters)'] })
  const { kept, actions } = withQuickActions(String(body.body))
  if (actions.includes('close')) for (const request of store.mergeRequests) if (request.iid === on) request.state = 'closed'
  const note: StoredNote = {
    id: store.nextId++,
    place: place === 'issues' ? 'issues' : 'merge_requests',
    on,
    body: kept,
    author: store.user,
    system: false,
  }
  store.notes.push(note)
  return { status: 201, body: noteView(note) }
}

function updateNote({ store, path: [place = '', number, id], body }: Served): Answer {
  const note = store.notes.find((one) => one.place === place && one.on === Number(number) && one.id === Number(id))
  if (note === undefined) return problem(404, '404 Note Not Found')
  if (!mayWrite(store)) return insufficientScope
  // Only its author may change a note.
  if (note.author.id !== store.user.id) return problem(403, '403 Forbidden')
  note.body = withQuickActions(String(body.body)).kept
  return { status: 200, body: noteView(note) }
}

const issuesDisabled = problem(404, '404 Project Not Found')

function listIssues({ store, query }: Served): Answer {
  if (!store.hasIssues) return issuesDisabled
  const [author, state] = [query.get('author_id'), query.get('state')]
  const issues = store.issues
    .filter((issue) => author === null || String(issue.author.id) === author)
    .filter((issue) => state === null || issue.state === state)
  return { status: 200, isList: true, body: issues.map(issueView).toReversed() }
}

function createIssue({ store, body }: Served): Answer {
  if (!store.hasIssues) return issuesDisabled
  if (!mayWrite(store)) return insufficientScope
  if (String(body.title).length > 255) return problem(400, { title: ['is too long (maximum is 255 characters)'] })
  const issue: StoredIssue = {
    iid: store.nextId++,
    title: String(body.title),
    description: withQuickActions(String(body.description)).kept,
    author: store.user,
    labels: String(body.labels).split(','),
    state: 'opened',
  }
  store.issues.push(issue)
  return { status: 201, body: issueView(issue) }
}

function updateIssue({ store, path: [number], body }: Served): Answer {
  const issue = store.issues.find(({ iid }) => iid === Number(number))
  if (issue === undefined) return problem(404, '404 Issue Not Found')
  if (!mayWrite(store)) return insufficientScope
  if (typeof body.title === 'string') issue.title = body.title
  if (typeof body.description === 'string') issue.description = withQuickActions(body.description).kept
  if (body.state_event === 'close') issue.state = 'closed'
  return { status: 200, body: issueView(issue) }
}

const listMergeRequests = ({ store, path: [commit] }: Served): Answer => ({
  status: 200,
  isList: true,
  body: store.mergeRequests.filter(({ sha }) => sha === commit),
})

const readUser = ({ store }: Served): Answer => ({ status: 200, body: { ...store.user, bot: true } })

const routes: readonly (readonly [string, RegExp, (context: Served) => Answer])[] = [
  ['GET', /^\/user$/, readUser],
  ['GET', /^\/projects\/77\/(merge_requests|issues)\/(\d+)\/notes$/, listNotes],
  ['POST', /^\/projects\/77\/(merge_requests|issues)\/(\d+)\/notes$/, createNote],
  ['PUT', /^\/projects\/77\/(merge_requests|issues)\/(\d+)\/notes\/(\d+)$/, updateNote],
  ['GET', /^\/projects\/77\/issues$/, listIssues],
  ['POST', /^\/projects\/77\/issues$/, createIssue],
  ['PUT', /^\/projects\/77\/issues\/(\d+)$/, updateIssue],
  ['GET', /^\/projects\/77\/repository\/commits\/([0-9a-f]+)\/merge_requests$/, listMergeRequests],
]
