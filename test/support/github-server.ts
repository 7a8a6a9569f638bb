import { createHash } from 'node:crypto'
import { type Answer, type ForgeFault, type ForgeServer, type RouteContext as ServedRequest, useForgeServer } from './forge-server.ts'

// What a repository on the fake GitHub holds.

interface User {
  readonly login: string
  readonly id: number
}

export const bot: User = { login: 'github-actions[bot]', id: 41_898_282 }
export const otherUser: User = { login: 'octocat', id: 583_231 }

interface StoredComment {
  readonly id: number
  /** Of the issue or pull request. */
  readonly on: number
  body: string
  readonly user: User
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
  /** The last one is its head; of a pull request that was opened by request, the branch says it. */
  commits: string[]
  body?: string
  title?: string
  branch?: string
  user?: User
  mergedAt?: string
}

interface StoredCommit {
  /** The files by path. */
  readonly tree: Readonly<Record<string, string>>
  readonly parents: readonly string[]
  readonly message: string
  readonly author: User
}

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
  /** What the token may write. */
  may: { comments: boolean; issues: boolean; labels: boolean; contents: boolean; createPulls: boolean; deployments?: boolean }
  /** Commits of branches. */
  refs: Map<string, string>
  commits: Map<string, StoredCommit>
  trees: Map<string, Readonly<Record<string, string>>>
  runs: StoredRun[]
  deployments: StoredDeployment[]
  hasIssues: boolean
  nextId: number
}

const emptyStore = (): Store => ({
  viewer: bot,
  comments: [],
  issues: [],
  pulls: [{ number: 12, state: 'open', commits: ['a'.repeat(40)] }],
  may: { comments: true, issues: true, labels: true, contents: true, createPulls: true },
  refs: new Map(),
  commits: new Map(),
  trees: new Map(),
  runs: [],
  deployments: [],
  hasIssues: true,
  nextId: 100,
})

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex')

interface NewCommit {
  readonly branch: string
  readonly files: Readonly<Record<string, string>>
  readonly message?: string
  readonly author?: User
}

function storeCommit({ commits }: Store, commit: StoredCommit): string {
  const sha = sha1(JSON.stringify([commits.size, commit]))
  commits.set(sha, commit)
  return sha
}

/** A person commits these files, beside those that the branch has. Returns the commit. */
export function commitTo(store: Store, { branch, files, message = 'Change files', author = otherUser }: NewCommit): string {
  const parent = store.refs.get(branch)
  const tree = { ...(parent !== undefined && store.commits.get(parent)?.tree), ...files }
  const sha = storeCommit(store, { tree, parents: parent === undefined ? [] : [parent], message, author })
  store.refs.set(branch, sha)
  return sha
}

/** The files at the head of a branch. */
export const filesAt = ({ refs, commits }: Store, branch: string): Readonly<Record<string, string>> =>
  commits.get(refs.get(branch) ?? '')?.tree ?? {}

/** Comments of other people, oldest first. */
export const otherComments = (count: number, on = 12): StoredComment[] =>
  Array.from({ length: count }, (_, i) => ({ id: 1000 + i, on, body: `I think so too (${i})`, user: otherUser }))

// A GitHub of one repository, acme/shop.

export const token = 'ghs_c4n4ryQwErTyUiOpAsDfGhJkLzXcVbNmQaZw'

export type GitHubFault = ForgeFault<Store>
export type GitHubServer = ForgeServer<Store>

/** `prefix` is where the API begins, as on a server of one's own. */
export function useGitHub(prefix = ''): () => GitHubServer {
  return useForgeServer({
    emptyStore,
    prefix,
    authorization: `token ${token}`,
    unauthorized: problem(401, 'Bad credentials'),
    defaultPerPage: 30,
    notFound,
    routes,
    asksForAuthor: (call) => call.endsWith('/graphql'),
  })
}

// How the fake GitHub answers: the few routes that the action uses, with GitHub's rules and words for them.

type RouteContext = ServedRequest<Store>

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
  const comment = { id: store.nextId++, on, body: String(body.body), user: store.viewer }
  store.comments.push(comment)
  return { status: 201, body: commentView(comment) }
}

function updateComment({ store, path, body }: RouteContext): Answer {
  const comment = store.comments.find(({ id }) => id === Number(path[0]))
  if (comment === undefined) return notFound
  if (!store.may.comments) return denied
  if (isTooLong(body.body)) return bodyTooLong
  comment.body = String(body.body)
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
  if (typeof body.body === 'string') issue.body = body.body
  if (body.state === 'open' || body.state === 'closed') issue.state = body.state
  if (typeof body.state_reason === 'string') issue.stateReason = body.state_reason
  return { status: 200, body: issueView(issue) }
}

function listPulls({ store, path }: RouteContext): Answer {
  const pulls = store.pulls.filter(({ commits }) => commits.includes(path[0] ?? ''))
  const view = pulls.map(({ number, state, commits }) => ({ number, state, head: { sha: commits.at(-1) } }))
  return { status: 200, isList: true, body: view }
}

const graphql = (context: RouteContext): Answer =>
  String(context.body.query).startsWith('mutation') ? updateRefs(context) : viewer(context)

const zero = '0'.repeat(40)

interface RefUpdate {
  readonly name: string
  readonly beforeOid: string
  readonly afterOid: string
  readonly force: boolean
}

/** https://docs.github.com/en/graphql/reference/git: all of them or none. */
function updateRefs({ store, body }: RouteContext): Answer {
  const { repositoryId, refUpdates } = body.variables as { repositoryId: string; refUpdates: RefUpdate[] }
  const refuse = (message: string): Answer => ({ status: 200, body: { data: { updateRefs: null }, errors: [{ message }] } })
  if (repositoryId !== 'R_1') return refuse('Could not resolve to a node')
  if (!store.may.contents) return refuse('Resource not accessible by integration')
  for (const { name, beforeOid, afterOid } of refUpdates) {
    const branch = name.replace('refs/heads/', '')
    if ((store.refs.get(branch) ?? zero) !== beforeOid) return refuse(`Reference ${name} is not at ${beforeOid}`)
    if (afterOid !== zero && !store.commits.has(afterOid)) return refuse('Object does not exist')
  }
  for (const { name, afterOid } of refUpdates) {
    const branch = name.replace('refs/heads/', '')
    if (afterOid === zero) store.refs.delete(branch)
    else store.refs.set(branch, afterOid)
  }
  return { status: 200, body: { data: { updateRefs: { clientMutationId: null } } } }
}

const repositoryView = (): Answer => ({ status: 200, body: { default_branch: 'main', node_id: 'R_1' } })

function getRef({ store, path }: RouteContext): Answer {
  const sha = store.refs.get(decodeURIComponent(path[0] ?? '').replace(/^heads\//, ''))
  return sha === undefined ? notFound : { status: 200, body: { object: { type: 'commit', sha } } }
}

function getCommit({ store, path }: RouteContext): Answer {
  const commit = store.commits.get(path[0] ?? '')
  if (commit === undefined) return notFound
  const sha = sha1(JSON.stringify(commit.tree))
  store.trees.set(sha, commit.tree)
  return { status: 200, body: { sha: path[0], tree: { sha } } }
}

function createTree({ store, body }: RouteContext): Answer {
  if (!store.may.contents) return denied
  const base = store.trees.get(String(body.base_tree))
  if (base === undefined) return problem(422, 'base_tree is not a valid tree')
  const entries = body.tree as { path: string; content: string }[]
  const tree = { ...base, ...Object.fromEntries(entries.map(({ path, content }) => [path, content])) }
  const sha = sha1(JSON.stringify(tree))
  store.trees.set(sha, tree)
  return { status: 201, body: { sha } }
}

function createCommit({ store, body }: RouteContext): Answer {
  if (!store.may.contents) return denied
  const tree = store.trees.get(String(body.tree))
  if (tree === undefined) return problem(422, 'Tree SHA does not exist')
  const commit = { tree, parents: body.parents as string[], message: String(body.message), author: store.viewer }
  return { status: 201, body: { sha: storeCommit(store, commit) } }
}

/** The commits that the head has and the base does not. */
function compareCommits({ store, path }: RouteContext): Answer {
  const [base = '', head = ''] = (path[0] ?? '').split('...')
  const ancestors = (sha: string): string[] => [sha, ...(store.commits.get(sha)?.parents ?? []).flatMap(ancestors)]
  const known = new Set(ancestors(base))
  const ahead = [...new Set(ancestors(head))].filter((sha) => !known.has(sha)).reverse()
  const commits = ahead.flatMap((sha) => {
    const commit = store.commits.get(sha)
    return commit === undefined ? [] : [{ sha, commit: { message: commit.message }, author: commit.author, committer: commit.author }]
  })
  return { status: 200, body: { total_commits: commits.length, commits } }
}

function getContent({ store, path, query }: RouteContext): Answer {
  const content = store.commits.get(query.get('ref') ?? '')?.tree[decodeURIComponent(path[0] ?? '')]
  return content === undefined
    ? notFound
    : { status: 200, body: { type: 'file', sha: sha1(`blob ${Buffer.byteLength(content)}\0${content}`) } }
}

const pullView = ({ number, state, title = '', body = '', user = bot, mergedAt }: StoredPull) => ({
  number,
  state,
  title,
  body,
  user,
  merged_at: mergedAt ?? null,
})

function listPullsOfBranch({ store, query }: RouteContext): Answer {
  const branch = (query.get('head') ?? '').replace(/^acme:/, '')
  const pulls = store.pulls.filter((pull) => pull.branch === branch && (query.get('state') === 'all' || pull.state === query.get('state')))
  return { status: 200, isList: true, body: pulls.map(pullView).reverse() }
}

function createPull({ store, body }: RouteContext): Answer {
  if (!store.may.createPulls) return problem(403, 'GitHub Actions is not permitted to create or approve pull requests.')
  if (isTooLong(body.body)) return bodyTooLong
  const branch = String(body.head)
  if (store.pulls.some((pull) => pull.branch === branch && pull.state === 'open'))
    return problem(422, 'Validation Failed', [{ message: `A pull request already exists for acme:${branch}.` }])
  const pull: StoredPull = {
    number: store.nextId++,
    state: 'open',
    commits: [],
    title: String(body.title),
    body: String(body.body),
    branch,
    user: store.viewer,
  }
  store.pulls.push(pull)
  return { status: 201, body: pullView(pull) }
}

function updatePull({ store, path, body }: RouteContext): Answer {
  const pull = store.pulls.find(({ number }) => number === Number(path[0]))
  if (pull === undefined) return notFound
  if (typeof body.title === 'string') pull.title = body.title
  if (typeof body.body === 'string') pull.body = body.body
  if (body.state === 'open' || body.state === 'closed') pull.state = body.state
  return { status: 200, body: pullView(pull) }
}

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
    sha: sha1(`${ref} ${at}`),
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
  ['POST', /^\/graphql$/, graphql],
  ['GET', /^\/repos\/acme\/shop$/, repositoryView],
  ['GET', /^\/repos\/acme\/shop\/git\/ref\/(.+)$/, getRef],
  ['GET', /^\/repos\/acme\/shop\/git\/commits\/([0-9a-f]+)$/, getCommit],
  ['POST', /^\/repos\/acme\/shop\/git\/trees$/, createTree],
  ['POST', /^\/repos\/acme\/shop\/git\/commits$/, createCommit],
  ['GET', /^\/repos\/acme\/shop\/compare\/(.+)$/, compareCommits],
  ['GET', /^\/repos\/acme\/shop\/contents\/(.+)$/, getContent],
  ['GET', /^\/repos\/acme\/shop\/pulls$/, listPullsOfBranch],
  ['POST', /^\/repos\/acme\/shop\/pulls$/, createPull],
  ['PATCH', /^\/repos\/acme\/shop\/pulls\/(\d+)$/, updatePull],
  ['GET', /^\/repos\/acme\/shop\/actions\/runs$/, listRuns],
  ['GET', /^\/repos\/acme\/shop\/deployments$/, listDeployments],
  ['GET', /^\/repos\/acme\/shop\/issues\/(\d+)\/comments$/, listComments],
  ['POST', /^\/repos\/acme\/shop\/issues\/(\d+)\/comments$/, createComment],
  ['PATCH', /^\/repos\/acme\/shop\/issues\/comments\/(\d+)$/, updateComment],
  ['GET', /^\/repos\/acme\/shop\/issues$/, listIssues],
  ['POST', /^\/repos\/acme\/shop\/issues$/, createIssue],
  ['PATCH', /^\/repos\/acme\/shop\/issues\/(\d+)$/, updateIssue],
  ['GET', /^\/repos\/acme\/shop\/commits\/([0-9a-f]+)\/pulls$/, listPulls],
]
