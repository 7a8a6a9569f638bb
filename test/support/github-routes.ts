// How the fake GitHub answers: the few routes that the action uses, with GitHub's rules and words for them.
import type { Store, StoredComment, StoredIssue } from './github-store.ts'

export interface Answer {
  readonly status: number
  readonly body: unknown
  /** A list is paged by whoever sends it. */
  readonly isList?: boolean
}

interface Asked {
  readonly store: Store
  readonly query: URLSearchParams
  readonly body: Record<string, unknown>
  readonly path: readonly string[]
}

const problem = (status: number, message: string, errors?: readonly object[]): Answer => ({
  status,
  body: { message, ...(errors && { errors }), documentation_url: 'https://docs.github.com/rest', status: String(status) },
})

const notFound = problem(404, 'Not Found')
const denied = problem(403, 'Resource not accessible by integration')
const bodyTooLong = problem(422, 'Validation Failed', [
  { resource: 'IssueComment', code: 'unprocessable', field: 'data', message: 'Body is too long (maximum is 65536 characters)' },
])

const isTooLong = (text: unknown): boolean => [...String(text)].length > 65_536

const commentView = ({ id, body, user }: StoredComment) => ({ id, body, user: { ...user, type: 'Bot' } })

const issueView = ({ number, title, body, user, labels, state, stateReason }: StoredIssue) => ({
  number,
  title,
  body,
  user,
  labels: labels.map((name) => ({ name, color: 'ededed' })),
  state,
  state_reason: stateReason,
})

const isThread = ({ issues, pulls }: Store, on: number): boolean => [...issues, ...pulls].some(({ number }) => number === on)

function listComments({ store, path }: Asked): Answer {
  const on = Number(path[0])
  if (!isThread(store, on)) return notFound
  return { status: 200, isList: true, body: store.comments.filter((comment) => comment.on === on).map(commentView) }
}

function createComment({ store, path, body }: Asked): Answer {
  const on = Number(path[0])
  const isIssue = store.issues.some(({ number }) => number === on)
  if (!isThread(store, on)) return notFound
  if (!(isIssue ? store.may.issues : store.may.comments)) return denied
  if (isTooLong(body.body)) return bodyTooLong
  const comment = { id: store.nextId++, on, body: String(body.body), user: store.viewer }
  store.comments.push(comment)
  return { status: 201, body: commentView(comment) }
}

function updateComment({ store, path, body }: Asked): Answer {
  const comment = store.comments.find(({ id }) => id === Number(path[0]))
  if (comment === undefined) return notFound
  if (!store.may.comments) return denied
  if (isTooLong(body.body)) return bodyTooLong
  comment.body = String(body.body)
  return { status: 200, body: commentView(comment) }
}

const issuesDisabled = problem(410, 'Issues has been disabled in this repository.')

function listIssues({ store, query }: Asked): Answer {
  if (!store.hasIssues) return issuesDisabled
  const [creator, labels, state] = [query.get('creator'), query.get('labels')?.split(','), query.get('state') ?? 'open']
  const issues = store.issues
    .filter(({ user }) => creator === null || user.login === creator)
    .filter((issue) => state === 'all' || issue.state === state)
    .filter((issue) => labels?.every((label) => issue.labels.includes(label)) ?? true)
  // GitHub lists pull requests among issues, newest first.
  const pulls = store.pulls.map(({ number, body = '' }) => ({
    number,
    body,
    user: store.viewer,
    labels: [{ name: 'watchkeeper' }],
    pull_request: { url: 'x' },
  }))
  return { status: 200, isList: true, body: [...pulls, ...issues.map(issueView)].sort((a, b) => b.number - a.number) }
}

function createIssue({ store, body }: Asked): Answer {
  if (!store.hasIssues) return issuesDisabled
  if (!store.may.issues) return denied
  if (isTooLong(body.body)) return bodyTooLong
  const issue: StoredIssue = {
    number: store.nextId++,
    title: String(body.title),
    body: String(body.body),
    user: store.viewer,
    labels: store.may.labels ? (body.labels as string[]) : [],
    state: 'open',
    stateReason: null,
  }
  store.issues.push(issue)
  return { status: 201, body: issueView(issue) }
}

function updateIssue({ store, path, body }: Asked): Answer {
  const issue = store.issues.find(({ number }) => number === Number(path[0]))
  if (issue === undefined) return notFound
  if (!store.may.issues) return denied
  if (isTooLong(body.body ?? '')) return bodyTooLong
  if (typeof body.body === 'string') issue.body = body.body
  if (body.state === 'open' || body.state === 'closed') issue.state = body.state
  if (typeof body.state_reason === 'string') issue.stateReason = body.state_reason
  return { status: 200, body: issueView(issue) }
}

function listPulls({ store, path }: Asked): Answer {
  const pulls = store.pulls.filter(({ commits }) => commits.includes(path[0] ?? ''))
  const view = pulls.map(({ number, state, commits }) => ({ number, state, head: { sha: commits.at(-1) } }))
  return { status: 200, isList: true, body: view }
}

const viewer = ({ store, body }: Asked): Answer =>
  /^\s*(?:query\s*)?\{\s*viewer\s*\{\s*login\s+databaseId\s*\}\s*\}\s*$/.test(String(body.query))
    ? { status: 200, body: { data: { viewer: { login: store.viewer.login, databaseId: store.viewer.id } } } }
    : { status: 200, body: { errors: [{ message: 'the fake knows no other query' }] } }

const routes: readonly (readonly [string, RegExp, (asked: Asked) => Answer])[] = [
  ['POST', /^\/graphql$/, viewer],
  ['GET', /^\/repos\/acme\/shop\/issues\/(\d+)\/comments$/, listComments],
  ['POST', /^\/repos\/acme\/shop\/issues\/(\d+)\/comments$/, createComment],
  ['PATCH', /^\/repos\/acme\/shop\/issues\/comments\/(\d+)$/, updateComment],
  ['GET', /^\/repos\/acme\/shop\/issues$/, listIssues],
  ['POST', /^\/repos\/acme\/shop\/issues$/, createIssue],
  ['PATCH', /^\/repos\/acme\/shop\/issues\/(\d+)$/, updateIssue],
  ['GET', /^\/repos\/acme\/shop\/commits\/([0-9a-f]+)\/pulls$/, listPulls],
]

export function answer(store: Store, method: string, url: URL, body: Record<string, unknown>): Answer {
  for (const [wanted, pattern, handle] of routes) {
    const match = wanted === method ? pattern.exec(url.pathname) : null
    if (match) return handle({ store, query: url.searchParams, body, path: match.slice(1) })
  }
  return notFound
}
