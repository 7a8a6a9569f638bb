import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'

// What a repository on the fake GitHub holds.

interface User {
  readonly login: string
  readonly id: number
}

export const bot: User = { login: 'github-actions[bot]', id: 41_898_282 }
export const otherUser: User = { login: 'octocat', id: 583_231 }

interface StoredComment {
  readonly id: number
  /** Number of the issue or pull request. */
  readonly on: number
  body: string
  readonly user: User
  /** The turn of the last write. */
  writtenAt?: number
}

export interface StoredIssue {
  readonly number: number
  title: string
  body: string
  readonly user: User
  labels: string[]
  state: 'open' | 'closed'
  stateReason: string | null
}

interface StoredPull {
  readonly number: number
  state: 'open' | 'closed'
  /** The last one is its head. */
  commits: string[]
  body?: string
  /** The branch that it is for; main unless said otherwise. */
  base?: string
  /** The repository that it is for, which a fork shares its commits with; acme/shop unless said otherwise. */
  repository?: string
  /** The commit that a merge made. Its time does not matter here. */
  mergeCommit?: string
  /** The commits that the merge added to the branch. */
  brought?: readonly string[]
}

/** A branch, by its last commit. */
export interface StoredBranch {
  readonly name: string
  readonly committer: string
  readonly message: string
}

const branchHead = 'b'.repeat(40)

interface StoredRun {
  readonly id: number
  readonly path: string
  readonly event: string
  readonly status: string
  readonly calls?: readonly string[]
}

interface StoredDeployment {
  /** ISO 8601. */
  readonly at: string
  readonly environment: string
  readonly ref: string
}

interface Store {
  /** Whom the token belongs to. */
  viewer: User
  comments: StoredComment[]
  issues: StoredIssue[]
  pulls: StoredPull[]
  /** What the token may write, and whether it may read deployments and files. */
  may: { comments: boolean; issues: boolean; labels: boolean; deployments?: boolean; contents?: boolean }
  /** A Git repository, whose commits and branches GitHub has. Without one, the commits are those of the pull requests. */
  git?: string
  /** More files than GitHub lists at once. */
  hasManyFiles?: boolean
  branch?: StoredBranch
  runs: StoredRun[]
  deployments: StoredDeployment[]
  hasIssues: boolean
  nextId: number
  turn: number
}

const emptyStore = (): Store => ({
  viewer: bot,
  comments: [],
  issues: [],
  pulls: [{ number: 12, state: 'open', commits: ['a'.repeat(40)] }],
  may: { comments: true, issues: true, labels: true },
  runs: [],
  deployments: [],
  hasIssues: true,
  nextId: 100,
  turn: 0,
})

/** Comments of other people, oldest first. */
export const otherComments = (count: number, on = 12): StoredComment[] =>
  Array.from({ length: count }, (_, i) => ({ id: 1000 + i, on, body: `I think so too (${i})`, user: otherUser }))

// A GitHub of one repository, acme/shop, as a real HTTP server: pages, ETags, permissions, and faults that a test asks for.

export const token = 'ghs_c4n4ryQwErTyUiOpAsDfGhJkLzXcVbNmQaZw'

export interface GitHubFault {
  /** Start of `METHOD /path`. */
  readonly on: string
  /** How many times; once unless said otherwise. */
  readonly times?: number
  /** Whether the request is still carried out before the fault shows. */
  readonly afterwards?: boolean
  readonly effect:
    | { readonly kind: 'answer'; readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
    | { readonly kind: 'hang' }
    | { readonly kind: 'reset' }
    /** Something happens in the remote before the request is carried out. */
    | { readonly kind: 'meanwhile'; readonly change: (store: Store) => void }
}

interface ReceivedRequest {
  readonly call: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
}

export interface GitHubServer {
  readonly url: string
  store: Store
  readonly received: ReceivedRequest[]
  /** `METHOD /path`, in order, without the question who the token belongs to. */
  calls(): readonly string[]
  addFault(fault: GitHubFault): void
}

interface Answer {
  readonly status: number
  readonly body: unknown
  /** The server pages its lists. */
  readonly isList?: boolean
}

interface RouteContext {
  readonly store: Store
  readonly query: URLSearchParams
  readonly body: Record<string, unknown>
  readonly path: readonly string[]
}

/** `prefix` is where the API begins, as on a server of one's own. */
export function useGitHub(prefix = ''): () => GitHubServer {
  const received: ReceivedRequest[] = []
  let faults: { fault: GitHubFault; left: number }[] = []
  const github: GitHubServer = {
    url: '',
    store: emptyStore(),
    received,
    calls: () => received.map(({ call }) => call).filter((call) => !call.endsWith('/graphql')),
    addFault: (fault) => void faults.push({ fault, left: fault.times ?? 1 }),
  }
  const takeFault = (call: string): GitHubFault | undefined => {
    const found = faults.find(({ fault, left }) => left > 0 && call.startsWith(fault.on))
    if (found !== undefined) found.left -= 1
    return found?.fault
  }
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const url = new URL(request.url ?? '', github.url)
      const path = url.pathname.replace(new RegExp(`^${prefix}`), '').replace('/api/graphql', '/graphql')
      const call = `${request.method} ${path}`
      received.push({ call: `${call}${url.search}`, headers: request.headers, body })
      url.pathname = path
      const exchange = { request, response, url, body, store: github.store }
      const fault = takeFault(call)
      if (fault?.afterwards) carryOut(exchange)
      if (fault === undefined || !play(fault, exchange)) send(exchange, carryOut(exchange))
    })
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    Object.assign(github, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}` })
  })
  beforeEach(() => {
    received.length = 0
    faults = []
    github.store = emptyStore()
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return () => github
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly body: Record<string, unknown>
  readonly store: Store
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>)
}

function carryOut({ request, url, body, store }: Exchange): Answer {
  if (request.headers.authorization !== `token ${token}`) return problem(401, 'Bad credentials')
  for (const [wanted, pattern, handle] of routes) {
    const match = wanted === request.method ? pattern.exec(url.pathname) : null
    if (match) return handle({ store, query: url.searchParams, body, path: match.slice(1) })
  }
  return notFound
}

/** Whether the fault is the whole answer. */
function play({ effect }: GitHubFault, { response, store }: Exchange): boolean {
  if (effect.kind === 'meanwhile') effect.change(store)
  if (effect.kind === 'reset') response.socket?.destroy()
  if (effect.kind === 'answer') {
    const text = typeof effect.body === 'string' ? effect.body : JSON.stringify(effect.body ?? { message: 'It broke' })
    response.writeHead(effect.status, { 'content-type': 'application/json', ...effect.headers }).end(text)
  }
  return effect.kind !== 'meanwhile'
}

function send({ request, response, url }: Exchange, { status, body, isList }: Answer): void {
  const perPage = Math.min(100, Number(url.searchParams.get('per_page') ?? 30))
  const page = Number(url.searchParams.get('page') ?? 1)
  const shown = isList ? (body as unknown[]).slice((page - 1) * perPage, page * perPage) : body
  const text = JSON.stringify(shown)
  const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`
  const isLast = !isList || page * perPage >= (body as unknown[]).length
  const linkTo = (number: number, word: string): string => {
    const target = new URL(url)
    target.searchParams.set('page', String(number))
    return `<${target.href}>; rel="${word}"`
  }
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'private, max-age=60, s-maxage=60',
    etag,
    // As GitHub does: only where there is more than one page.
    ...(isLast ? page > 1 && { link: linkTo(page - 1, 'prev') } : { link: linkTo(page + 1, 'next') }),
  }
  const isKnown = request.method === 'GET' && request.headers['if-none-match'] === etag
  response.writeHead(isKnown ? 304 : status, headers).end(isKnown ? undefined : text)
}

// How the fake GitHub answers: the few routes that the action uses, with GitHub's rules and words for them.

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

function listComments({ store, path }: RouteContext): Answer {
  const on = Number(path[0])
  if (!isThread(store, on)) return notFound
  return { status: 200, isList: true, body: store.comments.filter((comment) => comment.on === on).map(commentView) }
}

function createComment({ store, path, body }: RouteContext): Answer {
  const on = Number(path[0])
  const isIssue = store.issues.some(({ number }) => number === on)
  if (!isThread(store, on)) return notFound
  if (!(isIssue ? store.may.issues : store.may.comments)) return denied
  if (isTooLong(body.body)) return bodyTooLong
  const comment = { id: store.nextId++, on, body: String(body.body), user: store.viewer, writtenAt: ++store.turn }
  store.comments.push(comment)
  return { status: 201, body: commentView(comment) }
}

function updateComment({ store, path, body }: RouteContext): Answer {
  const comment = store.comments.find(({ id }) => id === Number(path[0]))
  if (comment === undefined) return notFound
  if (!store.may.comments) return denied
  if (isTooLong(body.body)) return bodyTooLong
  comment.body = String(body.body)
  comment.writtenAt = ++store.turn
  return { status: 200, body: commentView(comment) }
}

const issuesDisabled = problem(410, 'Issues has been disabled in this repository.')

function listIssues({ store, query }: RouteContext): Answer {
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

function createIssue({ store, body }: RouteContext): Answer {
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

function updateIssue({ store, path, body }: RouteContext): Answer {
  const issue = store.issues.find(({ number }) => number === Number(path[0]))
  if (issue === undefined) return notFound
  if (!store.may.issues) return denied
  if (isTooLong(body.body ?? '')) return bodyTooLong
  if (typeof body.title === 'string') issue.title = body.title
  if (typeof body.body === 'string') issue.body = body.body
  if (body.state === 'open' || body.state === 'closed') issue.state = body.state
  if (typeof body.state_reason === 'string') issue.stateReason = body.state_reason
  return { status: 200, body: issueView(issue) }
}

function listPulls({ store, path: [commit = ''] }: RouteContext): Answer {
  const { git, pulls } = store
  const has = ({ commits, mergeCommit = '' }: StoredPull): boolean => [...commits, mergeCommit].includes(commit)
  if (git === undefined) return { status: 200, isList: true, body: pulls.filter(has).map(pullView) }
  if (objectId(git, `${commit}^{commit}`) === undefined) return problem(422, `No commit found for SHA: ${commit}`)
  // The pull request that brought the commit, or else the open ones that have it.
  const isOpen = ({ state, commits, base = 'main' }: StoredPull): boolean =>
    state === 'open' && (commits.at(-1) === commit || (isAncestor(git, commit, commits.at(-1) ?? '') && !isAncestor(git, commit, base)))
  const found = pulls.filter((pull) => pull.brought?.includes(commit) || isOpen(pull))
  return { status: 200, isList: true, body: found.map(pullView) }
}

/** What Git answers. Throws where it fails. */
export const runGit = (directory: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', directory, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  }).trim()

const objectId = (directory: string, name: string): string | undefined => {
  try {
    return runGit(directory, 'rev-parse', '--verify', '-q', name)
  } catch {
    return undefined
  }
}

export const isAncestor = (directory: string, one: string, other: string): boolean => {
  try {
    runGit(directory, 'merge-base', '--is-ancestor', one, other)
    return true
  } catch {
    return false
  }
}

function getRef({ store, path: [name = ''] }: RouteContext): Answer {
  if (store.may.contents === false) return denied
  const ref = `refs/${decodeURIComponent(name)}`
  const sha = store.git && objectId(store.git, ref)
  return sha === undefined ? notFound : { status: 200, body: { ref, object: { type: 'commit', sha } } }
}

function getTree({ store, path: [name = ''] }: RouteContext): Answer {
  if (store.may.contents === false) return denied
  if (store.git === undefined || objectId(store.git, `${name}^{commit}`) === undefined) return notFound
  const entries = runGit(store.git, 'ls-tree', '-r', '-t', '-z', name).split('\0').filter(Boolean)
  const tree = entries.map((entry) => {
    const [, mode, type, sha, path] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(entry) ?? []
    return { mode, type, sha, path }
  })
  return {
    status: 200,
    body: { sha: name, tree: tree.slice(0, store.hasManyFiles ? 1 : undefined), truncated: store.hasManyFiles === true },
  }
}

// The fields and their values as GitHub answered on 2020-03-11 for a squashed merge, in a fork of the repository of the pull request:
// PyGithub/PyGithub, tests/ReplayData/Commit.testGetPulls.txt. Asked for the commit of the merge, it returned a closed pull request with
// another head, whose base was in the other repository.
const pullView = ({ number, state, commits, base = 'main', repository = 'acme/shop', mergeCommit }: StoredPull) => ({
  number,
  state,
  merged_at: mergeCommit === undefined ? null : '2020-03-11T01:40:26Z',
  merge_commit_sha: mergeCommit ?? null,
  head: { sha: commits.at(-1) },
  base: { ref: base, repo: { full_name: repository } },
})

/** `sort=updated&direction=desc` of a server that does not note the times: the newest are the last ones. */
const newestFirst = ({ query }: RouteContext, items: readonly object[]): Answer =>
  query.get('sort') === 'updated' && query.get('direction') === 'desc'
    ? { status: 200, isList: true, body: items.toReversed() }
    : problem(422, 'the fake knows no other order')

const byTurn = (a: StoredComment, b: StoredComment): number => (a.writtenAt ?? 0) - (b.writtenAt ?? 0)

const listAllComments = (context: RouteContext): Answer =>
  newestFirst(
    context,
    context.store.comments
      .toSorted(byTurn)
      .map((one) => ({ ...commentView(one), issue_url: `https://api.github.com/repos/acme/shop/issues/${one.on}` })),
  )

function listClosedPulls(context: RouteContext): Answer {
  const { store, query } = context
  const closed = store.pulls.filter(({ state, repository }) => state === query.get('state') && repository === undefined)
  return newestFirst(context, closed.map(pullView))
}

/** The history of a commit, the newest first. */
function listCommits({ store, query }: RouteContext): Answer {
  const sha = query.get('sha') ?? ''
  if (store.git === undefined || objectId(store.git, `${sha}^{commit}`) === undefined) return notFound
  const lines = runGit(store.git, 'log', '--max-count=300', '--format=%H %P', sha).split('\n')
  const commits = lines
    .map((line) => line.trim().split(' '))
    .map(([id, ...parents]) => ({ sha: id, parents: parents.map((one) => ({ sha: one })) }))
  return { status: 200, isList: true, body: commits }
}

/** The only one beside the default branch. */
const listRefs = ({ store: { branch } }: RouteContext): Answer => ({
  status: 200,
  body: branch === undefined ? [] : [{ ref: `refs/heads/${branch.name}`, object: { type: 'commit', sha: branchHead } }],
})

const getCommit = ({ store: { branch } }: RouteContext): Answer => ({
  status: 200,
  body: { sha: branchHead, message: branch?.message, committer: { name: branch?.committer } },
})

function listRuns({ store, query }: RouteContext): Answer {
  const runs = store.runs.filter(({ status }) => status === query.get('status'))
  const view = runs.map(({ calls = [], ...run }) => ({ ...run, referenced_workflows: calls.map((path) => ({ path })) }))
  return { status: 200, body: { total_count: view.length, workflow_runs: view } }
}

/** The newest first. */
function listDeployments({ store }: RouteContext): Answer {
  if (store.may.deployments === false) return denied
  const newestFirst = store.deployments.toSorted((a, b) => b.at.localeCompare(a.at))
  const view = newestFirst.map(({ at, environment, ref }, i) => ({
    id: i + 1,
    sha: createHash('sha1').update(`${ref} ${at}`).digest('hex'),
    ref,
    task: 'deploy',
    environment,
    created_at: at,
    creator: otherUser,
  }))
  return { status: 200, isList: true, body: view }
}

const viewer = ({ store, body }: RouteContext): Answer =>
  /^\s*(?:query\s*)?\{\s*viewer\s*\{\s*login\s+databaseId\s*\}\s*\}\s*$/.test(String(body.query))
    ? { status: 200, body: { data: { viewer: { login: store.viewer.login, databaseId: store.viewer.id } } } }
    : { status: 200, body: { errors: [{ message: 'the fake knows no other query' }] } }

const routes: readonly (readonly [string, RegExp, (context: RouteContext) => Answer])[] = [
  ['POST', /^\/graphql$/, viewer],
  ['GET', /^\/repos\/acme\/shop$/, () => ({ status: 200, body: { default_branch: 'main' } })],
  ['GET', /^\/repos\/acme\/shop\/git\/ref\/(.+)$/, getRef],
  ['GET', /^\/repos\/acme\/shop\/git\/trees\/([^/]+)$/, getTree],
  ['GET', /^\/repos\/acme\/shop\/git\/matching-refs\/heads\/.+$/, listRefs],
  ['GET', /^\/repos\/acme\/shop\/git\/commits\/([0-9a-f]+)$/, getCommit],
  ['GET', /^\/repos\/acme\/shop\/actions\/runs$/, listRuns],
  ['GET', /^\/repos\/acme\/shop\/deployments$/, listDeployments],
  ['GET', /^\/repos\/acme\/shop\/issues\/(\d+)\/comments$/, listComments],
  ['POST', /^\/repos\/acme\/shop\/issues\/(\d+)\/comments$/, createComment],
  ['PATCH', /^\/repos\/acme\/shop\/issues\/comments\/(\d+)$/, updateComment],
  ['GET', /^\/repos\/acme\/shop\/issues$/, listIssues],
  ['POST', /^\/repos\/acme\/shop\/issues$/, createIssue],
  ['PATCH', /^\/repos\/acme\/shop\/issues\/(\d+)$/, updateIssue],
  ['GET', /^\/repos\/acme\/shop\/commits\/([0-9a-f]+)\/pulls$/, listPulls],
  ['GET', /^\/repos\/acme\/shop\/commits$/, listCommits],
  ['GET', /^\/repos\/acme\/shop\/pulls$/, listClosedPulls],
  ['GET', /^\/repos\/acme\/shop\/issues\/comments$/, listAllComments],
]
